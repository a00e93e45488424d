"""How forums' engines mark posts, their authors, their dates and their texts.

The measure reads the original pages by these selectors; the converter has rules of its own. The first engine of which a
page has two posts with a text is the page's.
"""

# name, post, authors, dates, text: CSS selectors; of authors and dates the first that finds something counts.
# `@name` is the value of the post's own attribute.
ENGINES = [
    ("Discourse, crawler view", ".crawler-post", ["[itemprop=author] [itemprop=name]", ".creator"], ["time.post-time", "time"], ".post"),
    ("Discourse", "article[data-post-id], .topic-post article", [".names .username", ".username"], [".relative-date", "time"], ".cooked"),
    ("XenForo 2", "article.message--post", ["@data-author", ".message-name .username"], [".message-attribution time", "time.u-dt"], ".message-body .bbWrapper"),
    ("XenForo 1", "li.message[data-author]", ["@data-author"], [".DateTime"], ".messageText"),
    ("Stack Exchange", "#question, .answer", [".user-details[itemprop=author] a", ".user-details[itemprop=author]", ".post-signature:last-child .user-details a"],
     ["time[itemprop=dateCreated]", ".post-signature:last-child .relativetime"], ".js-post-body"),
    ("Hacker News", "tr.athing.comtr", [".hnuser"], [".age"], ".commtext"),
    ("Reddit, old", ".thing.comment[data-author], .thing.link.self[data-author]", ["@data-author"], ["time"], ".usertext-body .md"),
    ("Reddit", "shreddit-comment[author]", ["@author"], ["time", "faceplate-timeago"], "[slot=comment]"),
    ("Lemmy", ".comment-node", [".person-listing"], [".moment-time"], ".comment-content, .md-div"),
    ("bbPress", "div.reply, div.topic", [".bbp-author-name"], [".bbp-reply-post-date"], ".bbp-reply-content, .bbp-topic-content"),
    ("GitHub", ".timeline-comment, .js-comment", ["a.author"], ["relative-time"], ".comment-body"),
    ("GitHub, new", ".react-issue-body, .react-issue-comment", ["[data-testid=issue-body-header-author]", "[data-testid=avatar-link]"], ["relative-time"], "[data-testid=markdown-body]"),
    ("GitLab", "li.note", [".note-header-author-name", ".author-name-link"], ["time"], ".note-text"),
    ("Invision", "article.ipsComment, article.ipsEntry", [".cAuthorPane_author a", ".cAuthorPane_author strong", ".ipsEntry__username", ".ipsComment_author h3"], ["time"], "[data-role=commentContent]"),
    ("phpBB", "div.post[id^=p]", [".author .username, .author .username-coloured", ".postprofile .username, .postprofile .username-coloured", ".postauthor"],
     [".author time", ".author"], ".content"),
    ("vBulletin 5", "li.b-post", [".author [itemprop=name]", ".author"], [".b-post__timestamp time", "time"], ".js-post__content-text"),
    ("vBulletin 4", "li.postcontainer, li.postbitlegacy", [".username"], [".postdate .date"], ".postcontent"),
    ("vBulletin 3", "table[id^=post]", [".bigusername"], ["td.thead"], "[id^=post_message_]"),
    ("MyBB", "div.post[id^=post_]", [".author_information .largetext"], [".post_date"], ".post_body"),
    ("FluxBB", ".blockpost", ["dt strong"], ["h2 a"], ".postmsg"),
    ("Simple Machines", ".post_wrapper", [".poster h4 a", ".poster h4"], [".keyinfo a.smalltext", ".keyinfo .smalltext"], ".post .inner"),
    ("NodeBB", "[component=post]", ["@data-username"], ["[itemprop=datePublished]", ".timeago"], "[component='post/content']"),
    ("Flarum", "article:has(.Post-body), .Post", [".PostUser-name", "h3"], ["time"], ".Post-body"),
    ("Vanilla", ".ItemComment, .ItemDiscussion", [".Author .Username", ".Author a[title]"], ["time"], ".Message"),
    ("Lobsters", "div.comment[data-shortid]", [".byline a[href^='/~']:not([aria-hidden])", ".byline a[href^='/u/']"], [".byline time", ".byline span[title]"], ".comment_text"),
    ("Slashdot", "li.comment", [".by a"], [".otherdetails"], ".commentBody"),
    ("GameFAQs", "td.msg", [".user .name b"], [".post_time"], ".msg_text"),
    ("WordPress comments", "li.comment, .comment.even, .comment.odd", [".comment-author .fn", ".fn", ".comment-author"], ["time", ".comment-meta a"],
     ".comment-content, .comment-body > p"),
    ("schema.org", "[itemtype$='/Comment'], [itemtype$='/Answer'], [itemtype$='/Question'], [itemtype$='/DiscussionForumPosting']",
     ["[itemprop=author] [itemprop=name]", "[itemprop=author]"], ["[itemprop=dateCreated]", "[itemprop=datePublished]"], "[itemprop=text]"),
]
