//! Pages as the common engines of forums and trackers write them: every post stands below who wrote it and when.

use std::path::Path;

use super::*;

/// The page, and the address by which its engine is known where nothing else tells.
const PAGES: [(&str, &str); 16] = [
    ("bbpress", "https://garden.example/forums/topic/gate/"),
    ("discourse", "https://forum.garden.example/t/gate/7"),
    ("fluxbb", "https://garden.example/forum/viewtopic.php?id=7"),
    ("github", "https://github.com/garden/gate/issues/7"),
    ("gitlab", "https://gitlab.com/garden/gate/-/issues/7"),
    ("hackernews", "https://news.ycombinator.com/item?id=7"),
    ("lemmy", "https://lemmy.garden.example/post/7"),
    (
        "oldreddit",
        "https://old.reddit.com/r/garden/comments/7/gate/",
    ),
    ("phpbb", "https://garden.example/forum/viewtopic.php?t=7"),
    ("reddit", "https://www.reddit.com/r/garden/comments/7/gate/"),
    (
        "simplemachines",
        "https://forum.garden.example/index.php?topic=7.0",
    ),
    (
        "stackexchange",
        "https://garden.stackexchange.com/questions/7/gate",
    ),
    ("unknown", "https://garden.example/forum/7"),
    (
        "vbulletin3",
        "https://garden.example/forum/showthread.php?t=7",
    ),
    (
        "vbulletin4",
        "https://garden.example/forum/showthread.php?7",
    ),
    ("xenforo", "https://garden.example/threads/gate.7/"),
];

const POSTS: [(&str, &str); 3] = [
    (
        "**alice** · 2024-05-01",
        "The hinge of my gate squeaks whenever it rains, and oil helps for a day only.",
    ),
    (
        "**bob** · 2024-05-02",
        "Take the pin out, clean it with a wire brush, and use graphite in place of oil.",
    ),
    (
        "**carol** · 2024-05-03",
        "Graphite worked here too; mine has been silent for two winters now.",
    ),
];

/// Engines on whose pages the second post answers the first.
const NESTED: [&str; 4] = ["hackernews", "lemmy", "oldreddit", "reddit"];

fn markdown(name: &str, url: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/forums");
    let page = std::fs::read(folder.join(format!("{name}.html"))).expect("a page of the folder");
    let settings = Settings {
        url: Url::parse(url).expect("a valid URL"),
        full: false,
        ..settings(ContentKind::Html)
    };
    convert(settings, &page)
        .expect("the page converts")
        .markdown
}

#[test]
fn each_post_stands_below_who_wrote_it_and_when() {
    for (name, url) in PAGES {
        let markdown = markdown(name, url);
        let bare: Vec<&str> = markdown
            .lines()
            .map(|line| line.trim_start_matches(['>', ' ', '-']))
            .filter(|line| !line.is_empty())
            .collect();
        let mut from = 0;
        for (said, text) in POSTS {
            let place = |wanted: &str| bare[from..].iter().position(|line| *line == wanted);
            let line = place(said).unwrap_or_else(|| panic!("{name}: {said} in {markdown}"));
            let post = place(text).unwrap_or_else(|| panic!("{name}: {text} in {markdown}"));
            assert!(line < post && post - line <= 3, "{name}: {markdown}");
            from += post + 1;
        }
        assert!(markdown.starts_with("# "), "{name}: {markdown}");
        for noise in ["singing", "Click to expand", "Joined", "Member"] {
            assert!(!markdown.contains(noise), "{name}: {noise} in {markdown}");
        }
    }
}

#[test]
fn replies_stand_in_quotes_or_lists() {
    for (name, url) in PAGES.iter().filter(|(name, _)| NESTED.contains(name)) {
        let markdown = markdown(name, url);
        let reply = markdown
            .lines()
            .find(|line| line.contains("**bob**"))
            .expect("the reply");
        assert!(
            reply.starts_with("> ") || reply.starts_with("  "),
            "{name}: {markdown}"
        );
    }
}

/// A list of threads names who began them, and is no discussion.
#[test]
fn a_list_of_threads_stays_a_list() {
    let row = "<tr class=athing><td><a href=/x>The hinge of a gate squeaks</a></td></tr>\
               <tr><td>by <a class=hnuser href=/u>alice</a> <span class=age title=2024-05-01>2 years ago</span></td></tr>";
    let html = format!("<title>New</title><table>{}</table>", row.repeat(5));
    let settings = Settings {
        url: Url::parse("https://news.ycombinator.com/newest").expect("a valid URL"),
        full: false,
        ..settings(ContentKind::Html)
    };
    let page = convert(settings, html.as_bytes()).expect("the page converts");
    assert!(!page.markdown.contains("**alice**"), "{}", page.markdown);
}

/// The comments under an article are no discussion unless they are asked for; then each has its author.
#[test]
fn comments_that_are_asked_for_have_their_authors() {
    let html = "<title>Gates</title><article><h1>Gates</h1><p>Every gate squeaks in its own way, and all of them squeak when it \
                rains for longer than a day, which is what this article is about.</p></article><div id=comments>\
                <div class=comment><span class=comment-author>alice</span> <time datetime=2024-05-01>May</time>\
                <div class=comment-content><p>Mine is silent since I use graphite.</p></div></div>\
                <div class=comment><span class=comment-author>bob</span> <time datetime=2024-05-02>May</time>\
                <div class=comment-content><p>Oil helps for one day, then it is back.</p></div></div></div>";
    let mut converter = Converter::new(Settings {
        full: false,
        ..settings(ContentKind::Html)
    });
    converter.include_comments();
    converter.push(html.as_bytes()).expect("a small page");
    let page = converter.finish().expect("the page converts");
    assert!(
        page.markdown
            .contains("**alice** · 2024-05-01\n\nMine is silent"),
        "{}",
        page.markdown
    );
}

/// What is submitted is a link, a text or both; its author stands in a row of its own.
#[test]
fn a_submission_to_hacker_news_keeps_its_link_author_and_text() {
    let comment = |author: &str, text: &str| {
        format!(
            "<tr class='athing comtr'><td><table><tr><td class=ind indent=0><td class=default><span class=comhead>\
             <a href=/u class=hnuser>{author}</a> <span class=age title=2024-05-02>1 day ago</span></span>\
             <div class=comment><div class=commtext>{text}</div></div></table>"
        )
    };
    let html = format!(
        "<title>A tiny database in 500 lines | Hacker News</title><table><tr><td><table class=fatitem>\
         <tr class='athing submission'><td class=title><td class=votelinks><td class=title><span class=titleline>\
         <a href=https://github.com/x/tinydb>A tiny database in 500 lines</a><span class='sitebit comhead'> \
         (<a href='from?site=github.com/x'><span class=sitestr>github.com/x</span></a>)</span></span>\
         <tr><td colspan=2><td class=subtext><span class=subline><span class=score>212 points</span> by \
         <a href=/u class=hnuser>alice</a> <span class=age title=2024-05-01T10:00:00><a href='item?id=1'>3 hours ago</a></span>\
          | <a href=hide>hide</a> | <a href='item?id=1'>3&nbsp;comments</a></span>\
         <tr><td colspan=2><td><div class=toptext>I wrote this to understand how trees of pages work on a disk.\
         <p>It is not meant for production.</div></table>\
         <table class=comment-tree>{}{}</table></table>",
        comment(
            "bob",
            "How do you handle page splits? In my experience that is where most of them go wrong."
        ),
        comment(
            "carol",
            "Does it support range scans? That would make it useful for my log viewer."
        )
    );
    let settings = Settings {
        url: Url::parse("https://news.ycombinator.com/item?id=1").expect("a valid URL"),
        full: false,
        ..settings(ContentKind::Html)
    };
    let markdown = convert(settings, html.as_bytes()).expect("a page").markdown;
    let begins = "# [A tiny database in 500 lines](https://github.com/x/tinydb) \
                  ([github.com/x](https://news.ycombinator.com/from?site=github.com/x))\n\n**alice** · 2024-05-01\n\n\
                  I wrote this to understand how trees of pages work on a disk.\n\nIt is not meant for production.\n\n\
                  **bob** · 2024-05-02\n\nHow do you";
    assert!(markdown.starts_with(begins), "{markdown}");
    assert!(
        markdown.contains("**carol** · 2024-05-02\n\nDoes"),
        "{markdown}"
    );
}
