//! A document begins with its title, once and as `#`: the page's own heading if it has one, else the line that says
//! the same, else what the page's head calls itself.

use crate::domain::words;

use super::inline::Writer;
use super::outline::{Block, Kind, Outline, PAGE, Role, Span};

/// The title stands among so many of the first kept blocks.
const FIRST_BLOCKS: usize = 6;
/// A longer line above the title is text.
const LINE_WORDS_MAX: u32 = 12;
/// No title is longer.
const TITLE_BYTES_MAX: usize = 300;
/// What stands between a page's title and its site's name.
const BEFORE_SITE: [&str; 9] = [
    " | ", " - ", " — ", " – ", " · ", " :: ", " » ", " • ", " « ",
];
/// The same without spaces around it, in scripts that put none between words, and how many words a title has at least
/// before it.
const BEFORE_SITE_UNSPACED: [(char, usize); 5] =
    [('_', 3), ('|', 3), ('｜', 3), ('-', 8), ('－', 8)];
/// A name of a site or of its section is not longer, and a title has no more of them.
const SITE_WORDS_MAX: usize = 12;
const SITES_MAX: usize = 3;

/// Makes sure that the first of the kept blocks is a heading of the first level. `title` is what the page's head says,
/// `site` the name of its site.
pub(super) fn begin_with_title(
    outline: &mut Outline,
    kept: &mut Vec<usize>,
    title: Option<&str>,
    site: Option<&str>,
) {
    let is_first =
        |block: &Block| matches!(block.kind, Kind::Heading(1, label) if !is_blank(label));
    let said = title
        .map(|title| without_site(title, site))
        .unwrap_or_default();
    let likeness = |at: usize| likeness(&plain(outline, &outline.blocks[at]), said);
    // A line at the beginning that says it.
    let beginning = kept.iter().copied().take(FIRST_BLOCKS);
    let line = beginning
        .filter(|&at| !stands_in_container(outline, at) && !is_first(&outline.blocks[at]))
        .find(|&at| likeness(at) >= 80);
    let is_first = |at: usize| is_first(&outline.blocks[at]);
    if kept.iter().any(|&at| is_first(at)) {
        // A link elsewhere, such as to the forum that the thread is in, is no title where the thread has one.
        let is_link = |at: usize| outline.blocks[at].link_words == outline.blocks[at].words;
        let is_other = |at: usize| is_link(at) && likeness(at) < 40;
        if let Some(line) = line.filter(|_| kept.iter().all(|&at| !is_first(at) || is_other(at))) {
            kept.retain(|&at| !is_first(at));
            as_heading(outline, line);
            return;
        }
        // Above it stand dates, labels and pictures.
        let is_line = |at: usize| outline.blocks[at].words <= LINE_WORDS_MAX;
        let title = kept.iter().take(FIRST_BLOCKS).position(|&at| is_first(at));
        let title = title.filter(|&place| !stands_in_container(outline, kept[place]));
        if let Some(place) = title.filter(|&place| kept[..place].iter().all(|&at| is_line(at))) {
            kept[..=place].rotate_right(1);
        }
        return;
    }
    // The page's own heading, which was left out.
    let first = kept.first().copied().unwrap_or(usize::MAX);
    let headings: Vec<usize> = (0..outline.blocks.len())
        .filter(|&at| is_first(at))
        .collect();
    let own = headings
        .iter()
        .copied()
        .filter(|&at| !is_hidden(outline, at))
        .max_by_key(|&at| (likeness(at), at < first, std::cmp::Reverse(at)));
    // The same in a heading of a part, such as the recipe in a page about it, stands where it is.
    let own_is_before =
        |line: usize| own.is_some_and(|own| own < first && first < line && likeness(own) >= 80);
    if let Some(line) = line.filter(|&line| !own_is_before(line)) {
        as_heading(outline, line);
        return;
    }
    if let Some(at) = own.filter(|&at| likeness(at) >= 40 || (headings.len() == 1 && at < first)) {
        kept.insert(0, at);
        return;
    }
    if said.is_empty() {
        return;
    }
    // What a discussion is about: the line of its first post that links to it.
    let is_subject = |at: usize| {
        let block = &outline.blocks[at];
        block.link_words > 0
            && outline.node(block.node).post != 0
            && likeness(at) >= 60
            && !is_hidden(outline, at)
    };
    if let Some(at) = (0..first.min(outline.blocks.len())).find(|&at| is_subject(at)) {
        as_heading(outline, at);
        kept.insert(0, at);
        return;
    }
    let at = outline.blocks.len();
    if let Some(block) = heading_block(outline, said) {
        outline.blocks.push(block);
        kept.insert(0, at);
    }
}

fn is_blank(label: Span) -> bool {
    label.range().is_empty()
}

fn stands_in_container(outline: &Outline, at: usize) -> bool {
    outline.node(outline.blocks[at].node).container != PAGE
}

fn is_hidden(outline: &Outline, at: usize) -> bool {
    let mut node = outline.blocks[at].node;
    while node != PAGE {
        if matches!(
            outline.node(node).role,
            Role::Hidden | Role::Consent | Role::Footer
        ) {
            return true;
        }
        node = outline.node(node).parent;
    }
    false
}

/// A block's text without markup, nearly.
fn plain(outline: &Outline, block: &Block) -> String {
    match block.kind {
        Kind::Heading(_, label) => outline.label(label).to_owned(),
        // A longer one is no title, and may be the whole page.
        Kind::Paragraph if block.text.range().len() <= 2 * TITLE_BYTES_MAX => {
            without_addresses(outline.markdown(block)).replace(['*', '\\', '`'], "")
        }
        _ => String::new(),
    }
}

/// Markdown with the texts of its links in their place.
fn without_addresses(markdown: &str) -> String {
    let mut plain = String::with_capacity(markdown.len());
    for (number, part) in markdown.split("](").enumerate() {
        let rest = part
            .split_once(')')
            .filter(|_| number > 0)
            .map_or(part, |(_, rest)| rest);
        plain.push_str(rest);
        plain.push(' ');
    }
    plain.replace(['[', ']'], "")
}

/// The two parts of a title on both sides of each mark that may stand between the title and the name of a site.
pub(super) struct TitleParts<'a> {
    title: &'a str,
    /// Before and behind the mark.
    parts: Vec<(&'a str, &'a str)>,
}

/// A domain's label that has fewer letters says nothing as a part of a longer name, and such a name has no more words.
const DOMAIN_LETTERS_MIN: usize = 5;
const DOMAIN_WORDS_MAX: usize = 5;
/// More marks are no marks between a title and its site.
const TITLE_MARKS_MAX: usize = 8;

impl<'a> TitleParts<'a> {
    pub(super) fn of(title: &'a str) -> TitleParts<'a> {
        let marks = BEFORE_SITE
            .into_iter()
            .chain([": ", " : ", "_", "|", "｜", "－"]);
        let places = marks.flat_map(|mark| title.match_indices(mark).take(TITLE_MARKS_MAX));
        let parts = places.map(|(at, mark)| (title[..at].trim(), title[at + mark.len()..].trim()));
        TitleParts {
            title,
            parts: parts
                .filter(|(before, behind)| !before.is_empty() && !behind.is_empty())
                .collect(),
        }
    }

    /// The part that is what another source gives as the title, unless that is the name of the site.
    pub(super) fn own(&self, other: &str, site: Option<&str>) -> Option<&'a str> {
        if is_same(self.title, other) || site.is_some_and(|site| is_same(other, site)) {
            return None;
        }
        let both = self
            .parts
            .iter()
            .flat_map(|(before, behind)| [*before, *behind]);
        both.into_iter().find(|part| is_same(part, other))
    }

    /// Whether the part before a mark is this heading, which is not the name of the site.
    pub(super) fn begins_with(&self, heading: &str, site: Option<&str>) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|(before, _)| is_same(before, heading))
            && !site.is_some_and(|site| is_same(heading, site))
    }

    /// The part beside the name of the site.
    pub(super) fn beside(&self, site: &str) -> Option<&'a str> {
        self.beside_either(|part| part.eq_ignore_ascii_case(site.trim()))
    }

    /// The part beside one that names the site's domain, as in "Boats | Harbour News" at harbournews.example.
    pub(super) fn beside_domain(&self, domain: &str) -> Option<&'a str> {
        let domain = squeezed(domain);
        let label = domain.split('.').next().unwrap_or_default();
        let whole = domain.replace('.', "");
        let is_domain = |part: &str| {
            let part = squeezed(part).replace('.', "");
            !label.is_empty() && (part == label || part == whole)
        };
        let tells = |(before, behind): &&(&str, &str)| {
            let words = words::count(behind);
            let behind = squeezed(behind);
            label.len() >= DOMAIN_LETTERS_MIN
                && (behind.starts_with(label) || behind.ends_with(label))
                && words <= DOMAIN_WORDS_MAX.min(words::count(before))
        };
        self.beside_either(is_domain)
            .or_else(|| Some(self.parts.iter().find(tells)?.0))
    }

    fn beside_either(&self, is_site: impl Fn(&str) -> bool) -> Option<&'a str> {
        self.parts.iter().find_map(
            |(before, behind)| match (is_site(before), is_site(behind)) {
                (false, true) => Some(*before),
                (true, false) => Some(*behind),
                _ => None,
            },
        )
    }
}

fn is_same(part: &str, other: &str) -> bool {
    part.trim().to_lowercase() == other.trim().to_lowercase()
}

/// Letters, digits and dots alone, in lower case: "Cookin’ Canuck" as "cookincanuck".
fn squeezed(text: &str) -> String {
    let is_part = |c: &char| c.is_alphanumeric() || *c == '.';
    text.to_lowercase().chars().filter(is_part).collect()
}

/// Words as [`words::count`] counts them: each character of a script without spaces is one.
fn words(text: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(text.len());
    for c in text.to_lowercase().chars() {
        match c {
            c if words::is_unspaced(c) => spaced.extend([' ', c, ' ']),
            c if c.is_alphanumeric() => spaced.push(c),
            _ => spaced.push(' '),
        }
    }
    spaced.split_whitespace().map(str::to_owned).collect()
}

/// How many of a hundred words two short texts share, in the longer of both.
fn likeness(text: &str, title: &str) -> usize {
    if text.len() > TITLE_BYTES_MAX || title.is_empty() {
        return 0;
    }
    let (own, other) = (words(text), words(title));
    let both = own.iter().filter(|word| other.contains(word)).count();
    both * 100 / own.len().max(other.len()).max(1)
}

/// A title without the name of the site before or after it.
fn without_site<'a>(title: &'a str, site: Option<&str>) -> &'a str {
    let mut title = title.trim();
    for mark in BEFORE_SITE {
        let Some((before, after)) = title.rsplit_once(mark) else {
            continue;
        };
        let is_site =
            |part: &str| site.is_some_and(|site| part.trim().eq_ignore_ascii_case(site.trim()));
        if is_site(before) {
            title = after.trim();
        } else if is_site(after) || words::count(before) > words::count(after) {
            title = before.trim();
        }
    }
    for _ in 0..SITES_MAX {
        let Some(shorter) = without_section(title) else {
            break;
        };
        title = shorter;
    }
    match title.len() > TITLE_BYTES_MAX {
        true => "",
        false => title,
    }
}

/// A title without the last of what follows it in a script without spaces: "标题_频道_网站".
fn without_section(title: &str) -> Option<&str> {
    let is_mark = |c: char| BEFORE_SITE_UNSPACED.iter().any(|(mark, _)| *mark == c);
    let at = title.rfind(is_mark)?;
    let (before, after) = title.split_at(at);
    let mark = after.chars().next()?;
    let (_, words_min) = BEFORE_SITE_UNSPACED.iter().find(|row| row.0 == mark)?;
    let before = before.trim_end_matches(is_mark).trim_end();
    let after = after.trim_start_matches(is_mark).trim_start();
    let (said, site) = (words::count(before), words::count(after));
    let is_site = after.starts_with(words::is_unspaced) && site <= SITE_WORDS_MAX && site < said;
    (is_site && said >= *words_min).then_some(before)
}

fn as_heading(outline: &mut Outline, at: usize) {
    let label = match outline.blocks[at].kind {
        Kind::Heading(_, label) => label,
        _ => {
            let plain = plain(outline, &outline.blocks[at]);
            let start = outline.labels.len();
            outline.labels.push_str(&plain);
            Span::new(start, outline.labels.len())
        }
    };
    outline.blocks[at].kind = Kind::Heading(1, label);
}

fn heading_block(outline: &mut Outline, title: &str) -> Option<Block> {
    let mut writer = Writer::default();
    writer.text(title);
    let finished = writer.finish(u32::MAX)?;
    let start = outline.text.len();
    outline.text.push_str(&writer.text[finished.text.range()]);
    let text = Span::new(start, outline.text.len());
    let start = outline.labels.len();
    outline.labels.push_str(title);
    Some(Block {
        kind: Kind::Heading(1, Span::new(start, outline.labels.len())),
        node: PAGE,
        text,
        words: finished.words,
        link_words: 0,
        is_byline: false,
        counts: finished.counts,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::outline;
    use super::*;

    #[test]
    fn the_name_of_the_site_is_no_part_of_a_title() {
        for (title, site, expected) in [
            ("Boats - Harbour", Some("Harbour"), "Boats"),
            ("harbour | Boats", Some("Harbour"), "Boats"),
            (
                "The old boats of Orrin | News",
                None,
                "The old boats of Orrin",
            ),
            (
                "News | The old boats of Orrin",
                None,
                "News | The old boats of Orrin",
            ),
            ("Boats - Nets", None, "Boats - Nets"),
            ("Boats-Nets", Some("Nets"), "Boats-Nets"),
            ("  ", None, ""),
        ] {
            assert_eq!(without_site(title, site), expected, "{title}");
        }
        assert_eq!(without_site(&"a".repeat(TITLE_BYTES_MAX + 1), None), "");
        for (title, expected) in [
            ("港口的旧船与新网_新闻频道_海岸网", "港口的旧船与新网"),
            (
                "港口的旧船还在海上航行(图)--海岸新闻",
                "港口的旧船还在海上航行(图)",
            ),
            ("港口的旧船还在海上航行-海岸财经", "港口的旧船还在海上航行"),
            ("港口的旧船｜海岸网", "港口的旧船"),
            (
                "港口的旧船还在海上航行 - 要闻 - 海岸日报",
                "港口的旧船还在海上航行",
            ),
            (
                "Orrin - 港口的旧船还在海上航行",
                "Orrin - 港口的旧船还在海上航行",
            ),
            ("海岸——港口的旧船还在海上", "海岸——港口的旧船还在海上"),
            ("上海-北京", "上海-北京"),
            ("COVID-19", "COVID-19"),
            ("snake_case", "snake_case"),
        ] {
            assert_eq!(without_site(title, None), expected, "{title}");
        }
    }

    #[test]
    fn likeness_is_the_share_of_common_words() {
        for (text, title, expected) in [
            ("The Boats, of Orrin!", "the boats of orrin", 100),
            ("Boats", "The boats of Orrin", 25),
            ("Nets", "Boats", 0),
            ("港口的旧船", "港口的新船", 80),
            ("", "Boats", 0),
            ("Boats", "", 0),
        ] {
            assert_eq!(likeness(text, title), expected, "{text}");
        }
    }

    /// `kept` are the blocks before, the result the text of the first one, and whether it is a title.
    fn check(html: &str, kept: &[usize], title: Option<&str>, expected: (&str, bool)) {
        let mut outline = outline(html);
        let mut kept = kept.to_vec();
        let before = kept.len();
        begin_with_title(&mut outline, &mut kept, title, Some("Harbour"));
        let first = &outline.blocks[kept[0]];
        let is_title = matches!(first.kind, Kind::Heading(1, _));
        assert_eq!((outline.markdown(first), is_title), expected, "{html}");
        let titles = kept
            .iter()
            .filter(|&&at| matches!(outline.blocks[at].kind, Kind::Heading(1, _)));
        assert!(titles.count() <= 1, "{html}");
        assert!(kept.len() <= before + 1, "{html}");
    }

    #[test]
    fn a_document_begins_with_its_title() {
        let own = "<h1>Boats</h1><p>One boat.</p>";
        check(own, &[0, 1], Some("Other"), ("Boats", true));
        // Left out by the selection.
        check(own, &[1], Some("Boats - Harbour"), ("Boats", true));
        check(own, &[1], Some("Something else"), ("Boats", true));
        check(own, &[1], None, ("Boats", true));
        // A line that says it.
        check(
            "<p>The boats<p>One boat.",
            &[0, 1],
            Some("The boats"),
            ("The boats", true),
        );
        check(
            "<h2>The boats</h2><p>One boat.",
            &[0, 1],
            Some("The boats"),
            ("The boats", true),
        );
        // Only the head says it.
        check(
            "<p>One boat.",
            &[0],
            Some("The boats - Harbour"),
            ("The boats", true),
        );
        check(
            "<footer><h1>Boats</h1></footer><p>One boat.",
            &[1],
            Some("Boats"),
            ("Boats", true),
        );
        // Several headings, none of them like the title.
        check(
            "<h1>Nets</h1><h1>Ropes</h1><p>One boat.",
            &[2],
            Some("The boats"),
            ("The boats", true),
        );
        // Nothing says it.
        check("<p>One boat.", &[0], None, ("One boat.", false));
        // Below a date and a picture, and below text.
        check(
            "<p>May 1<p><img src=/i.png><h1>Boats</h1><p>One boat.",
            &[0, 1, 2, 3],
            Some("Boats"),
            ("Boats", true),
        );
        let text = "One boat leaves the harbour of Orrin in the morning, two of them at noon.";
        check(
            &format!("<p>{text}<h1>Boats</h1>"),
            &[0, 1],
            Some("Boats"),
            (text, false),
        );
        // The own heading before a later line that says the same, and a line in place of a link elsewhere.
        check(
            "<h1>The boats</h1><p>One boat.<h2>The boats</h2>",
            &[1, 2],
            Some("The boats"),
            ("The boats", true),
        );
        check(
            "<h1><a href=/>Harbour</a></h1><p><a href=/a>The boats</a><p>One boat.",
            &[0, 1, 2],
            Some("The boats"),
            ("[The boats](https://example.org/a)", true),
        );
        check(
            "<h1><a href=/a>The boats of Orrin</a></h1><p>The boats<p>One boat.",
            &[0, 1, 2],
            Some("The boats"),
            ("[The boats of Orrin](https://example.org/a)", true),
        );
        // An item of a list is no title.
        check(
            "<ul><li>The boats</ul><p>One boat.",
            &[0, 1],
            Some("The boats"),
            ("The boats", true),
        );
    }

    #[test]
    fn a_line_in_a_list_stays_there() {
        let mut outline = outline("<ul><li>The boats</ul><p>One boat.");
        let mut kept = vec![0, 1];
        begin_with_title(&mut outline, &mut kept, Some("The boats"), None);
        assert_eq!(kept, [2, 0, 1]);
        assert_eq!(outline.blocks[0].kind, Kind::Paragraph);
    }
}
