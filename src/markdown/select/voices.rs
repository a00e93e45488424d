//! The posts of a discussion, each below a line that says who wrote it and when: "**alice** · 2024-05-01". No corpus has
//! such lines in its gold, so no model keeps them; the names that engines give to posts, authors and dates are known,
//! and where they are not, what repeats with an author in it is a post. Replies stand in quotes.

use std::collections::HashMap;

use super::super::dates::day;
use super::super::inline::{Mark, Writer};
use super::super::outline::{
    Block, Kind, NodeId, Outline, PAGE, PostId, PostPart, Role, Said, Shape, Span,
};
use super::super::tag::Tag;
use super::facts::is_good;

/// Fewer posts are no discussion.
const POSTS_MIN: usize = 2;
/// The same of posts that are told by repetition alone.
const REPEATED_MIN: usize = 3;
/// What stands in a post beside its text and is not longer says something about it.
const BESIDE_WORDS_MAX: u32 = 8;
/// A post says at least so much somewhere.
const TEXT_WORDS_MIN: u32 = 6;
/// A line in the head of a post that may hold its date, and the words of a date.
const HEAD_WORDS_MAX: u32 = 24;
const DATE_WORDS_MAX: usize = 4;
/// A date that stands before its post is not further away.
const NEAR_BLOCKS: usize = 4;
/// Replies to replies are quoted so deep.
const QUOTES_MAX: u8 = 5;

/// The posts of a page.
#[derive(Debug)]
pub(in crate::markdown) struct Voices {
    /// By node: the post it is of; 0 is none.
    posts: Vec<PostId>,
    said: Vec<Said>,
    /// By post: whether an element of its own holds its text.
    has_body: Vec<bool>,
    /// By post: it is less than a post, and need not be kept.
    is_remark: Vec<bool>,
    /// By post: how many quotes it stands in, and the first node of it.
    place: Vec<(u8, NodeId)>,
}

impl Voices {
    /// `None` if the page cannot be divided into posts.
    pub(super) fn of(outline: &Outline) -> Option<Voices> {
        named(outline).or_else(|| repeated(outline))
    }

    /// Whose words a block's are: those in a quote are nobody's own.
    pub(super) fn speaker(&self, outline: &Outline, block: &Block) -> PostId {
        let mut node = block.node;
        while node != PAGE && outline.node(node).shape != Shape::Quote {
            node = outline.node(node).parent;
        }
        match node {
            PAGE => self.post_of(block.node),
            _ => 0,
        }
    }

    fn post_of(&self, node: NodeId) -> PostId {
        self.posts.get(node as usize).copied().unwrap_or_default()
    }

    /// Keeps the texts of the posts, and leaves out what the line above them will say.
    pub(super) fn keep(&self, outline: &Outline, is_kept: &mut [bool]) {
        let mut has_kept = vec![false; self.said.len()];
        for (at, block) in outline.blocks.iter().enumerate() {
            let post = self.post_of(block.node) as usize;
            if post == 0 {
                continue;
            }
            let part = outline.node(block.node).part;
            if part == PostPart::Body {
                is_kept[at] |= !is_apart(outline, block.node);
            } else if part == PostPart::Signature
                || block.is_byline
                || (self.has_body[post]
                    && block.kind == Kind::Paragraph
                    && block.words <= BESIDE_WORDS_MAX)
            {
                is_kept[at] = false;
            }
            has_kept[post] |= is_kept[at];
        }
        let kept = has_kept.iter().filter(|has_kept| **has_kept).count();
        if kept * 2 < self.said.len() - 1 {
            return;
        }
        for (at, block) in outline.blocks.iter().enumerate() {
            let post = self.post_of(block.node) as usize;
            if post != 0
                && !has_kept[post]
                && !self.is_remark[post]
                && outline.node(block.node).part != PostPart::Signature
                && !block.is_byline
                && block.words * 2 > block.link_words * 3
                && (is_good(block) || block.words >= 3)
                && !is_apart(outline, block.node)
            {
                is_kept[at] = true;
            }
        }
    }

    /// Writes above the first kept text of each post who wrote it, and when.
    pub(in crate::markdown) fn write(&self, outline: &mut Outline, kept: &mut Vec<usize>) {
        let mut announced = vec![false; self.said.len()];
        announced[0] = true;
        let mut written = Vec::with_capacity(kept.len() + self.said.len());
        for at in kept.drain(..) {
            let block = &outline.blocks[at];
            let (node, is_heading) = (block.node, matches!(block.kind, Kind::Heading(..)));
            let post = self.post_of(node) as usize;
            if !announced[post] && !is_heading && !stands_in_table(outline, node) {
                announced[post] = true;
                let (quotes, first) = self.place[post];
                let place = quote(outline, node, first, quotes);
                if let Some(line) = line(outline, &self.said[post], place) {
                    written.push(outline.blocks.len());
                    outline.blocks.push(line);
                }
            }
            written.push(at);
        }
        *kept = written;
        contain(outline);
    }
}

/// The posts that names tell: those that have an author. What is named a post and has none is part of the one around it.
fn named(outline: &Outline) -> Option<Voices> {
    let mut own_words: Vec<u32> = vec![0; outline.posts.len()];
    for block in outline.blocks.iter().filter(|block| !block.is_byline) {
        own_words[outline.node(block.node).post as usize] += block.words;
    }
    let author = |post: PostId| {
        let said = &outline.posts[post as usize].said;
        said.author.as_ref().map(|(_, author)| author)
    };
    let mut counting: Vec<PostId> = vec![0; outline.posts.len()];
    for id in 1..outline.posts.len() {
        let around = counting[outline.posts[id].around as usize];
        let own = PostId::try_from(id).unwrap_or_default();
        // Two elements around the same text.
        let is_same =
            author(own) == author(around) && own_words[around as usize] <= BESIDE_WORDS_MAX;
        counting[id] = match author(own) {
            Some(_) if !is_same => own,
            _ => around,
        };
    }
    let mut said: Vec<Said> = outline.posts.iter().map(|post| post.said.clone()).collect();
    for (post, inner) in counting.iter().zip(&outline.posts) {
        let said = &mut said[*post as usize];
        if *post != 0 && said.date.is_none() {
            said.date.clone_from(&inner.said.date);
        }
    }
    let posts: Vec<PostId> = outline
        .nodes
        .iter()
        .map(|node| counting[node.post as usize])
        .collect();
    date_by_head(outline, &posts, &mut said);
    let mut has_body = vec![false; outline.posts.len()];
    let mut place = vec![(0, PAGE); outline.posts.len()];
    for (id, node) in outline.nodes.iter().enumerate() {
        let post = posts[id] as usize;
        has_body[post] |= node.part == PostPart::Body;
        if post != 0 && place[post].1 == PAGE {
            place[post].1 = NodeId::try_from(id).unwrap_or(PAGE);
        }
    }
    let standing = |post: usize| post != 0 && place[post].1 != PAGE;
    let count = (1..place.len()).filter(|&post| counting[post] as usize == post && standing(post));
    if count.count() < POSTS_MIN {
        return None;
    }
    // The first post of some engines holds all others.
    let first = posts
        .iter()
        .copied()
        .find(|post| *post != 0)
        .unwrap_or_default();
    let outer = |post: usize| counting[outline.posts[post].around as usize];
    let holds_all = (1..place.len())
        .filter(|&post| counting[post] as usize == post && post != first as usize)
        .all(|post| {
            let mut at = outer(post);
            while at != 0 && at != first {
                at = outer(at as usize);
            }
            at == first
        });
    for post in 1..place.len() {
        let around = outer(post) as usize;
        let level = match (outline.posts[post].level, around) {
            (0, 0) => 0,
            (0, around) if holds_all && around == first as usize => 0,
            (0, around) => place[around].0 + 1,
            (level, _) => level,
        };
        place[post].0 = level.min(QUOTES_MAX);
    }
    Some(Voices {
        posts,
        said,
        is_remark: outline.posts.iter().map(|post| post.is_remark).collect(),
        has_body,
        place,
    })
}

/// The posts of an engine that is not known: siblings of one kind with an author in each. What stands between two of
/// them belongs to the one before.
fn repeated(outline: &Outline) -> Option<Voices> {
    let node_of = |block: usize| outline.blocks.get(block).map(|block| block.node);
    let mut holds_author = vec![false; outline.nodes.len()];
    for (block, said) in &outline.loose {
        let mut node = node_of(*block).unwrap_or(PAGE);
        while said.author.is_some() && node != PAGE && !holds_author[node as usize] {
            holds_author[node as usize] = true;
            node = outline.node(node).parent;
        }
    }
    let mut groups: HashMap<(NodeId, u8), usize> = HashMap::new();
    for (id, node) in outline.nodes.iter().enumerate().skip(1) {
        if holds_author[id] {
            *groups.entry((node.parent, node.tag.rank())).or_default() += 1;
        }
    }
    let depth = |(parent, _): (NodeId, u8)| outline.node(parent).depth;
    let (group, count) = groups
        .into_iter()
        .max_by_key(|(group, count)| (*count, std::cmp::Reverse((depth(*group), *group))))?;
    if count < REPEATED_MIN {
        return None;
    }
    let mut posts: Vec<PostId> = vec![0; outline.nodes.len()];
    let (mut said, mut place) = (vec![Said::default()], vec![(0, PAGE)]);
    for (id, node) in outline.nodes.iter().enumerate().skip(1) {
        posts[id] = match node.parent == group.0 {
            true => {
                if holds_author[id] && node.tag.rank() == group.1 {
                    said.push(Said::default());
                    place.push((0, NodeId::try_from(id).unwrap_or(PAGE)));
                }
                PostId::try_from(said.len() - 1).unwrap_or_default()
            }
            false => posts[node.parent as usize],
        };
    }
    let mut has_text = vec![false; said.len()];
    for block in &outline.blocks {
        let is_text = block.words >= TEXT_WORDS_MIN && block.link_words * 2 < block.words;
        has_text[posts[block.node as usize] as usize] |= is_text && !block.is_byline;
    }
    // A list of threads names who began them, too.
    if has_text.iter().filter(|has_text| **has_text).count() * 2 < said.len() {
        return None;
    }
    for (block, loose) in &outline.loose {
        let post = node_of(*block).map_or(0, |node| posts[node as usize]) as usize;
        if post != 0 {
            let said = &mut said[post];
            said.author = said.author.take().or_else(|| loose.author.clone());
            said.date = said.date.take().or_else(|| loose.date.clone());
        }
    }
    Some(Voices {
        has_body: vec![false; said.len()],
        is_remark: vec![false; said.len()],
        posts,
        said,
        place,
    })
}

/// Gives posts without a date the one that a line in their heads holds, though nothing names it: a line that is named
/// for an author or a date before any other. Then what stands right before them.
fn date_by_head(outline: &Outline, posts: &[PostId], said: &mut [Said]) {
    for is_byline in [true, false] {
        for block in &outline.blocks {
            let node = outline.node(block.node);
            let said = &mut said[posts[block.node as usize] as usize];
            if said.author.is_some()
                && said.date.is_none()
                && node.part == PostPart::Other
                && block.is_byline == is_byline
                && block.words <= HEAD_WORDS_MAX
            {
                said.date = day_in(outline.markdown(block)).map(|day| (0, day));
            }
        }
    }
    for (at, loose) in &outline.loose {
        let after = outline.blocks.iter().skip(*at).take(NEAR_BLOCKS);
        let post = after
            .map(|block| posts[block.node as usize])
            .find(|post| *post != 0);
        let said = post.and_then(|post| said.get_mut(post as usize));
        if let Some(said) = said.filter(|said| said.author.is_some() && said.date.is_none()) {
            said.date.clone_from(&loose.date);
        }
    }
}

/// Whether a line says since when somebody is a member.
fn is_of_member(line: &str) -> bool {
    let line = line.to_lowercase();
    ["join", "regist", "member since", "dabei seit", "inscri"]
        .iter()
        .any(|word| line.contains(word))
}

/// The first day that a line names beyond doubt.
fn day_in(line: &str) -> Option<String> {
    if is_of_member(line) {
        return None;
    }
    // Without the destinations of links.
    let plain = line.split("](").enumerate().map(|(at, part)| match at {
        0 => part,
        _ => part.split_once(')').map_or("", |(_, rest)| rest),
    });
    let plain = plain.collect::<Vec<_>>().join(" ");
    let words: Vec<&str> = plain
        .split(|c: char| c.is_whitespace() || "[]()»«*|·•—–".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    (0..words.len()).find_map(|start| {
        (1..=DATE_WORDS_MAX)
            .filter_map(|count| words.get(start..start + count))
            .find_map(|words| day(&words.join(" ")))
    })
}

fn stands_in_table(outline: &Outline, node: NodeId) -> bool {
    let mut chain = Vec::new();
    outline.containers(node, &mut chain);
    chain.iter().any(|&id| outline.is_data_table(id))
}

/// Makes quotes of so many of the elements from the first one of a post on to the one of its text; gives the innermost.
/// In a list the items show already what replies to what.
fn quote(outline: &mut Outline, node: NodeId, first: NodeId, quotes: u8) -> NodeId {
    let mut way = vec![node];
    let mut at = node;
    while at != first && at != PAGE {
        at = outline.node(at).parent;
        way.push(at);
    }
    if at == PAGE {
        return node;
    }
    let is_item = matches!(outline.node(first).shape, Shape::Item { .. });
    let (mut around, mut at) = (0, first);
    while at != PAGE {
        around += usize::from(outline.node(at).shape == Shape::Quote);
        at = outline.node(at).parent;
    }
    let missing = usize::from(quotes).saturating_sub(around);
    if is_item || missing == 0 {
        return first;
    }
    let mut innermost = first;
    for &id in way.iter().rev().take(missing) {
        let shape = &mut outline.nodes[id as usize].shape;
        if matches!(
            shape,
            Shape::Plain | Shape::Row { .. } | Shape::Cell { .. } | Shape::Table(_)
        ) {
            *shape = Shape::Quote;
            innermost = id;
        }
    }
    innermost
}

/// Which containers the nodes stand in, after shapes have changed.
fn contain(outline: &mut Outline) {
    for id in 1..outline.nodes.len() {
        let node = &outline.nodes[id];
        let container = match node.shape {
            Shape::Plain => outline.nodes[node.parent as usize].container,
            _ => NodeId::try_from(id).unwrap_or(PAGE),
        };
        outline.nodes[id].container = container;
    }
}

fn line(outline: &mut Outline, said: &Said, node: NodeId) -> Option<Block> {
    let mut writer = Writer::default();
    if let Some((_, author)) = &said.author {
        writer.begin(Mark::Strong);
        writer.text(author);
        writer.end(Mark::Strong);
    }
    if let Some((_, date)) = &said.date {
        if said.author.is_some() {
            writer.text(" · ");
        }
        writer.text(date);
    }
    let finished = writer.finish(u32::MAX)?;
    let start = outline.text.len();
    outline.text.push_str(&writer.text[finished.text.range()]);
    Some(Block {
        kind: Kind::Paragraph,
        node,
        text: Span::new(start, outline.text.len()),
        words: finished.words,
        link_words: 0,
        is_byline: true,
        counts: finished.counts,
    })
}

/// What readers do not see of a post, or press.
fn is_apart(outline: &Outline, mut node: NodeId) -> bool {
    while node != PAGE {
        let about = outline.node(node);
        if matches!(about.role, Role::Hidden | Role::Consent | Role::Navigation)
            || about.tag == Tag::Button
        {
            return true;
        }
        node = about.parent;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::outline;
    use super::*;

    const TEXTS: [(&str, &str, &str); 3] = [
        (
            "alice",
            "2024-05-01",
            "The hinge of my gate squeaks whenever it rains.",
        ),
        (
            "bob",
            "2024-05-02",
            "Take the pin out and clean it with a brush.",
        ),
        (
            "carol",
            "2024-05-03",
            "Graphite worked here, for two winters now.",
        ),
    ];

    fn thread(post: impl Fn(&str, &str, &str) -> String) -> String {
        TEXTS
            .map(|(author, date, text)| post(author, date, text))
            .concat()
    }

    /// The lines of a page, each post below its author; `None` if it is no discussion.
    fn written(html: &str) -> Option<Vec<String>> {
        let mut outline = outline(html);
        let voices = Voices::of(&outline)?;
        let mut is_kept = vec![false; outline.blocks.len()];
        for (is_kept, block) in is_kept.iter_mut().zip(&outline.blocks) {
            *is_kept = block.words >= TEXT_WORDS_MIN;
        }
        voices.keep(&outline, &mut is_kept);
        let mut kept = (0..is_kept.len()).filter(|&at| is_kept[at]).collect();
        voices.write(&mut outline, &mut kept);
        let lines = kept.iter().map(|&at| outline.markdown(&outline.blocks[at]));
        Some(lines.map(str::to_owned).collect())
    }

    fn expected() -> Vec<String> {
        let said = |(author, date, text): (&str, &str, &str)| {
            [format!("**{author}** · {date}"), text.to_owned()]
        };
        TEXTS.map(said).concat()
    }

    #[test]
    fn named_posts_stand_below_their_authors() {
        let html = thread(|author, date, text| {
            format!(
                "<div class=post><span class=author>{author}</span> <time datetime={date}>May</time>\
                 <div class=post-content><p>{text}</p></div><div class=signature>Sent from my shed, with love</div></div>"
            )
        });
        assert_eq!(written(&html), Some(expected()));
    }

    #[test]
    fn posts_that_nothing_names_are_known_by_repetition() {
        let html = thread(|author, date, text| {
            format!(
                "<li><b class=author>{author}</b> <time datetime={date}>May</time><p>{text}</p></li>"
            )
        });
        assert_eq!(written(&format!("<ul>{html}</ul>")), Some(expected()));
        // An author alone, a text with one author, and a list of names are no discussion.
        assert_eq!(
            written("<p class=author>alice</p><p>The hinge of my gate squeaks.</p>"),
            None
        );
        let names = "<li><b class=author>alice</b></li>".repeat(4);
        assert_eq!(written(&format!("<ul>{names}</ul>")), None);
    }

    #[test]
    fn days_are_read_only_where_there_is_no_doubt() {
        for (line, expected) in [
            ("Posted on May 1, 2024 at 4:28 pm", Some("2024-05-01")),
            ("2024-05-01T10:00:00Z", Some("2024-05-01")),
            (
                "[May 1, 2024](https://a.example/2020-01-01)",
                Some("2024-05-01"),
            ),
            ("Joined May 1, 2024", None),
            ("Dabei seit 2024-05-01", None),
            ("Post 12 of 40", None),
            ("", None),
        ] {
            assert_eq!(day_in(line).as_deref(), expected, "{line}");
        }
    }
}
