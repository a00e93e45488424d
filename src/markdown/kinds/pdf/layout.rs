//! Lines of all pages become paragraphs and headings: what the page's space and sizes say, since a PDF says nothing
//! else. Running heads and feet are left out, words cut at the end of a line are joined.

use std::collections::{BTreeSet, HashMap};

use super::lexer::whole;
use super::lines::Line;

/// A paragraph of a page.
#[derive(Debug, PartialEq)]
pub(super) struct Paragraph {
    pub(super) text: String,
    /// 0 for text, 1 to 4 for headings.
    pub(super) level: u8,
    pub(super) is_item: bool,
    /// Lines of a listing, to be kept as they are.
    pub(super) is_code: bool,
}

/// Larger than the text by this much is a heading.
const HEADING_RATIO: f64 = 1.15;
const HEADING_BYTES_MAX: usize = 200;
const HEADING_LEVELS: usize = 4;
/// A running head stands on this many pages and on half of all. Fewer pages that look alike are forms or invoices.
const REPEATED_PAGES: usize = 4;
/// In percent: a page that would be left with less of its letters keeps all of them.
const LETTERS_KEPT_MIN: usize = 50;
/// Letters of a page of prose. Where there are fewer, a text with a number that rises from page to page may be an
/// invoice's or a form's own number, unless it can be the page's.
const LETTERS_PROSE: usize = 1_500;
/// How many lines at the top and at the foot may be running heads.
const MARGIN_LINES: usize = 2;
/// Longer ones are none; copies of them and of their numbers are made.
const RUNNING_BYTES_MAX: usize = 1_000;
/// The factor on the usual distance of lines beyond which a paragraph begins.
const LEADING_SLACK: f64 = 1.3;

pub(super) fn paragraphs(mut pages: Vec<Vec<Line>>) -> Vec<Vec<Paragraph>> {
    leave_running_heads(&mut pages);
    let body = body_size(&pages);
    let mut pages: Vec<Vec<(Paragraph, f64)>> = pages
        .into_iter()
        .map(|lines| paragraphs_of_page(&lines))
        .collect();
    let mut sizes: BTreeSet<i64> = BTreeSet::new();
    for (paragraph, size) in pages.iter().flatten() {
        let is_heading = *size > body * HEADING_RATIO
            && paragraph.text.len() <= HEADING_BYTES_MAX
            && !paragraph.is_code
            && paragraph.text.chars().any(char::is_alphabetic);
        if is_heading {
            sizes.insert(key(*size));
        }
    }
    // The largest first.
    let sizes: Vec<i64> = sizes.into_iter().rev().collect();
    for (paragraph, size) in pages.iter_mut().flatten() {
        let rank = sizes.binary_search_by(|known| key(*size).cmp(known)).ok();
        let is_short = paragraph.text.len() <= HEADING_BYTES_MAX;
        if let Some(rank) = rank
            && is_short
            && !paragraph.is_code
            && paragraph.text.chars().any(char::is_alphabetic)
        {
            paragraph.level = u8::try_from(rank.min(HEADING_LEVELS - 1) + 1).unwrap_or(1);
            paragraph.is_item = false;
        }
    }
    let plain = |page: Vec<(Paragraph, f64)>| page.into_iter().map(|(p, _)| p).collect();
    pages.into_iter().map(plain).collect()
}

/// Sizes are compared in half points.
fn key(size: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "sizes are bounded")]
    let key = (size * 2.0).round() as i64;
    key
}

/// The size of most of the text.
fn body_size(pages: &[Vec<Line>]) -> f64 {
    let mut letters: HashMap<i64, usize> = HashMap::new();
    for line in pages.iter().flatten() {
        *letters.entry(key(line.size)).or_default() += line.text.len();
    }
    let most = letters
        .into_iter()
        .max_by_key(|(size, letters)| (*letters, *size));
    #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
    let size = |key: i64| key as f64 / 2.0;
    most.map_or(10.0, |(key, _)| size(key))
}

/// Takes out lines at the top and at the foot that many pages share, word for word or but for the page's number. The
/// first page keeps what is the same on all: whose letter it is, what the report is called.
fn leave_running_heads(pages: &mut [Vec<Line>]) {
    if pages.len() < REPEATED_PAGES {
        return;
    }
    let size_max = body_size(pages) * HEADING_RATIO;
    let margins: Vec<Vec<MarginLine>> = pages.iter().map(|lines| margin(lines, size_max)).collect();
    let mut groups: HashMap<&str, Vec<(usize, &MarginLine)>> = HashMap::new();
    for (page, line) in margins
        .iter()
        .enumerate()
        .flat_map(|(page, lines)| lines.iter().map(move |line| (page, line)))
    {
        groups.entry(&line.pattern).or_default().push((page, line));
    }
    let enough = REPEATED_PAGES.max(pages.len() / 2);
    let mut heads: Vec<Vec<usize>> = vec![Vec::new(); pages.len()];
    for lines in groups.into_values().filter(|lines| lines.len() >= enough) {
        let alike = alike(&lines, pages);
        if alike.len() >= enough {
            let is_said_once = match (alike.first(), alike.last()) {
                (Some((_, first)), Some((_, last))) => {
                    first.has_letters() && first.numbers == last.numbers
                }
                _ => false,
            };
            for (page, line) in alike.into_iter().skip(usize::from(is_said_once)) {
                heads[page].push(line.at);
            }
        }
    }
    for (lines, mut heads) in pages.iter_mut().zip(heads) {
        let taken: usize = heads.iter().map(|at| letters(&lines[*at])).sum();
        let all: usize = lines.iter().map(letters).sum();
        if (all - taken) * 100 < all * LETTERS_KEPT_MIN {
            continue;
        }
        heads.sort_unstable();
        for at in heads.into_iter().rev() {
            lines.remove(at);
        }
    }
}

fn letters(line: &Line) -> usize {
    line.text.chars().filter(|c| !c.is_whitespace()).count()
}

/// A line at the top or at the foot of a page.
struct MarginLine {
    /// Its place among the page's lines.
    at: usize,
    /// Its side and its text, with `#` for each number.
    pattern: String,
    numbers: Vec<String>,
}

impl MarginLine {
    fn has_letters(&self) -> bool {
        self.pattern.chars().skip(1).any(char::is_alphabetic)
    }
}

/// Of lines with one pattern, those that are one running head: each of their numbers is the same on every page or
/// rises with the pages. Amounts that differ do neither.
fn alike<'a>(
    lines: &[(usize, &'a MarginLine)],
    pages: &[Vec<Line>],
) -> Vec<(usize, &'a MarginLine)> {
    let places = lines.first().map_or(0, |(_, line)| line.numbers.len());
    let rules: Vec<Rule> = (0..places)
        .map(|place| {
            let numbers = lines
                .iter()
                .filter_map(|(page, line)| Some((*page, line.numbers.get(place)?.as_str())));
            Rule::of(&numbers.collect::<Vec<_>>())
        })
        .collect();
    let mut out = lines.to_vec();
    out.retain(|(page, line)| {
        let is_prose = || pages[*page].iter().map(letters).sum::<usize>() >= LETTERS_PROSE;
        let is_plain = !line.has_letters();
        line.numbers.len() == rules.len()
            && line.numbers.iter().zip(&rules).all(|(number, rule)| {
                rule.allows(*page, number) && (rule.may_count_pages() || is_plain || is_prose())
            })
    });
    out
}

/// What the numbers at one place of a running head have in common.
enum Rule {
    Same(String),
    /// The number less the pages before it.
    Rising(i64),
}

impl Rule {
    /// What most of the numbers, each with its page, have in common.
    fn of(numbers: &[(usize, &str)]) -> Rule {
        let mut same: HashMap<&str, usize> = HashMap::new();
        let mut rising: HashMap<i64, usize> = HashMap::new();
        for (page, number) in numbers {
            *same.entry(number).or_default() += 1;
            if let Some(first) = first_of(*page, number) {
                *rising.entry(first).or_default() += 1;
            }
        }
        let most_same = same.into_iter().max_by_key(|(text, count)| (*count, *text));
        let most_rising = rising
            .into_iter()
            .max_by_key(|(first, count)| (*count, *first));
        match (most_same, most_rising) {
            (Some((_, fewer)), Some((first, count))) if count > fewer => Rule::Rising(first),
            (same, _) => Rule::Same(same.map_or_else(String::new, |(text, _)| text.to_owned())),
        }
    }

    fn allows(&self, page: usize, number: &str) -> bool {
        match self {
            Rule::Same(text) => text == number,
            Rule::Rising(first) => first_of(page, number) == Some(*first),
        }
    }

    /// Whether it is the same everywhere, or a count of pages that begins in this file.
    fn may_count_pages(&self) -> bool {
        match self {
            Rule::Same(_) => true,
            Rule::Rising(first) => *first <= 1,
        }
    }
}

/// The number that the first page would have.
fn first_of(page: usize, number: &str) -> Option<i64> {
    let number: i64 = number.parse().ok()?;
    number.checked_sub(i64::try_from(page).ok()?)
}

/// Marks of an amount of money, which is never part of a running head.
const CURRENCIES: [&str; 9] = ["€", "$", "£", "¥", "₹", "EUR", "USD", "GBP", "CHF"];

/// The outermost lines of a page that can be running heads: they stand apart from the text, none is larger than it, and
/// none names a price.
fn margin(lines: &[Line], size_max: f64) -> Vec<MarginLine> {
    let mut by_height: Vec<usize> = (0..lines.len())
        .filter(|at| lines[*at].turn == lines[0].turn)
        .collect();
    by_height.sort_by(|one, other| lines[*other].up.total_cmp(&lines[*one].up));
    let count = by_height.len();
    let leading = leading(lines);
    let is_gap = |above: usize| {
        let (above, below) = (&lines[by_height[above]], &lines[by_height[above + 1]]);
        let size = above.size.max(below.size);
        key(above.size) != key(below.size) || above.up - below.up > leading * LEADING_SLACK * size
    };
    // Whether a gap lies between a line and the text, with none but outer lines before it.
    let is_apart = |rank: usize| {
        let last = count.saturating_sub(1);
        (rank < MARGIN_LINES && (rank..MARGIN_LINES.min(last)).any(is_gap))
            || (rank + MARGIN_LINES >= count
                && (last.saturating_sub(MARGIN_LINES)..rank).any(is_gap))
    };
    let is_outer = |rank: usize| count == 1 || is_apart(rank);
    let outer = by_height
        .iter()
        .enumerate()
        .filter(|(rank, _)| is_outer(*rank));
    let may_run = |line: &Line| {
        line.size <= size_max
            && line.text.len() <= RUNNING_BYTES_MAX
            && !CURRENCIES.iter().any(|mark| line.text.contains(mark))
    };
    outer
        .filter(|(_, at)| may_run(&lines[**at]))
        .map(|(rank, &at)| {
            let mut pattern = String::from(if rank < MARGIN_LINES { 'T' } else { 'F' });
            let mut numbers: Vec<String> = Vec::new();
            let mut in_number = false;
            for c in lines[at].text.chars() {
                match (c.is_ascii_digit(), in_number) {
                    (true, true) => numbers.last_mut().into_iter().for_each(|n| n.push(c)),
                    (true, false) => {
                        numbers.push(c.to_string());
                        pattern.push('#');
                    }
                    (false, _) => pattern.push(c),
                }
                in_number = c.is_ascii_digit();
            }
            MarginLine {
                at,
                pattern,
                numbers,
            }
        })
        .collect()
}

/// The paragraphs of one page and the size of each.
fn paragraphs_of_page(lines: &[Line]) -> Vec<(Paragraph, f64)> {
    let leading = leading(lines);
    let mut out: Vec<(Paragraph, f64)> = Vec::new();
    // Where the paragraph's lines begin and end.
    let (mut start, mut end) = (0.0, 0.0);
    for (at, line) in lines.iter().enumerate() {
        if line.is_fixed {
            code(
                &mut out,
                at.checked_sub(1).map(|before| &lines[before]),
                line,
                leading,
            );
            continue;
        }
        let item = item(&line.text);
        let last = at.checked_sub(1).map(|before| &lines[before]);
        let continues =
            item.is_none() && last.is_some_and(|last| follows(last, line, leading, start, end));
        match out.last_mut() {
            Some((paragraph, _)) if continues && !paragraph.is_code => {
                append(&mut paragraph.text, &line.text);
                start = line.start.min(start);
                end = line.end.max(end);
            }
            _ => {
                let paragraph = Paragraph {
                    text: item.unwrap_or(&line.text).trim().to_owned(),
                    level: 0,
                    is_item: item.is_some(),
                    is_code: false,
                };
                out.push((paragraph, line.size));
                (start, end) = (line.start, line.end);
            }
        }
    }
    out.retain(|(paragraph, _)| !paragraph.text.is_empty());
    out.shrink_to_fit();
    out
}

/// Adds a line of a listing, indented by how far right it begins.
fn code(out: &mut Vec<(Paragraph, f64)>, last: Option<&Line>, line: &Line, leading: f64) {
    let step = |last: &Line| last.up - line.up;
    let is_near = |last: &Line| {
        let steps = step(last) / (leading * line.size);
        last.is_fixed && last.turn == line.turn && (-0.1..2.6).contains(&steps)
    };
    let near = last.filter(|last| is_near(last));
    if let (Some(last), Some((paragraph, left))) = (near, out.last_mut())
        && paragraph.is_code
    {
        if step(last).abs() < 0.4 * line.size {
            paragraph.text.push(' ');
        } else {
            let is_gap = step(last) > 1.7 * leading * line.size;
            paragraph.text.push_str(if is_gap { "\n\n" } else { "\n" });
            let columns = ((line.start - *left) / (0.6 * line.size))
                .clamp(0.0, 80.0)
                .round();
            paragraph
                .text
                .push_str(&" ".repeat(whole(columns).unwrap_or(0)));
        }
        paragraph.text.push_str(line.text.trim_end());
        return;
    }
    let paragraph = Paragraph {
        text: line.text.trim_end().to_owned(),
        level: 0,
        is_item: false,
        is_code: true,
    };
    // In the place of the size, which no listing needs: where its lines begin.
    out.push((paragraph, line.start));
}

/// The usual distance of lines that follow each other, in parts of their size.
fn leading(lines: &[Line]) -> f64 {
    let mut steps: Vec<f64> = lines
        .windows(2)
        .filter(|pair| pair[0].turn == pair[1].turn)
        .map(|pair| (pair[0].up - pair[1].up) / pair[0].size.max(pair[1].size))
        .filter(|step| (0.8..3.5).contains(step))
        .collect();
    steps.sort_by(f64::total_cmp);
    steps.get(steps.len() / 2).copied().unwrap_or(1.2)
}

/// Whether a line goes on with the paragraph of the last one, which stands between `start` and `end`.
fn follows(last: &Line, line: &Line, leading: f64, start: f64, end: f64) -> bool {
    let size = last.size.max(line.size);
    let step = last.up - line.up;
    if last.turn != line.turn || (key(last.size) - key(line.size)).abs() > 1 {
        // A word in another size beside the line still belongs to it.
        return last.turn == line.turn && step.abs() < 0.4 * size && line.start >= last.end;
    }
    if step.abs() < 0.4 * size {
        return true;
    }
    if last.text.contains(" … ") {
        return false;
    }
    let is_next_column = step < 0.0 || line.start > end + size;
    if is_next_column {
        return goes_on(&last.text, &line.text);
    }
    if step > leading * LEADING_SLACK * size {
        return false;
    }
    let overlaps = line.start < end && line.end > start;
    let is_indented = line.start > start + 0.8 * size && (last.start - start).abs() < 0.5 * size;
    let is_short = last.end < end.max(line.end) - 0.25 * (end - start).max(0.0);
    let is_end = last.text.ends_with(['.', ':', '!', '?', '。', '！', '？']);
    overlaps && !(is_indented && is_end) && !(is_short && is_end)
}

/// Whether a sentence is in the middle at the end of the one and the start of the other.
fn goes_on(last: &str, next: &str) -> bool {
    let is_open = last
        .chars()
        .next_back()
        .is_some_and(|c| c.is_alphanumeric() || matches!(c, ',' | '-'));
    is_open && next.chars().next().is_some_and(char::is_lowercase)
}

/// Adds a line to a paragraph; a word cut by a hyphen becomes whole.
fn append(text: &mut String, line: &str) {
    let line = line.trim();
    let before = text.trim_end_matches(['-', '\u{AD}', '\u{2010}']);
    let is_cut = before.len() < text.len()
        && before.chars().next_back().is_some_and(char::is_alphabetic)
        && line.chars().next().is_some_and(char::is_lowercase);
    let hyphen = match before.len() < text.len() && !text.ends_with('\u{AD}') {
        true => Hyphen::of(before, line),
        false => Hyphen::Line,
    };
    let is_dense = |c: Option<char>| c.is_some_and(|c| ('\u{2E80}'..='\u{FFEF}').contains(&c));
    let is_beside = is_dense(text.chars().next_back()) && is_dense(line.chars().next());
    // `Austria-Hungary` keeps its hyphen.
    let is_compound = before.len() < text.len()
        && before
            .chars()
            .next_back()
            .is_some_and(char::is_alphanumeric)
        && line.chars().next().is_some_and(char::is_alphanumeric);
    if is_cut && hyphen == Hyphen::Line {
        text.truncate(before.len());
    } else if !(is_beside || is_compound) || hyphen == Hyphen::Part {
        text.push(' ');
    }
    text.push_str(line);
}

/// What a hyphen at the end of a line belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hyphen {
    /// The line alone: it cuts a word.
    Line,
    /// A word made of several: `state-of-the-` with `art` below.
    Word,
    /// A part that shares the end of a word further on: `pre-` with `and post-war` below.
    Part,
}

impl Hyphen {
    fn of(before: &str, next: &str) -> Hyphen {
        const JOINTS: [&str; 14] = [
            "and", "bis", "e", "en", "et", "nor", "och", "oder", "of", "og", "or", "ou", "to",
            "und",
        ];
        const SMALL: [&str; 12] = [
            "a", "an", "and", "at", "by", "in", "of", "on", "or", "the", "to", "with",
        ];
        let next = next.split(|c: char| !c.is_alphabetic()).next();
        let word = before.rsplit(char::is_whitespace).next();
        let parts = word.and_then(|word| word.rsplit_once('-'));
        if next.is_some_and(|next| JOINTS.contains(&next)) {
            Hyphen::Part
        } else if parts.is_some_and(|(_, last)| SMALL.contains(&last)) {
            Hyphen::Word
        } else {
            Hyphen::Line
        }
    }
}

/// What follows the mark of a list.
fn item(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let rest = text.strip_prefix([
        '•', '◦', '▪', '■', '●', '○', '‣', '·', '∙', '\u{F0B7}', '\u{F0A7}',
    ])?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace) || text.starts_with('•'))
        .then(|| rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, start: f64, up: f64, size: f64) -> Line {
        Line::test(text, start, up, size)
    }

    fn check(lines: &[Line], expected: &[(&str, u8, bool)]) {
        let pages = paragraphs(vec![lines.to_vec()]);
        let found: Vec<_> = pages[0]
            .iter()
            .map(|p| (p.text.as_str(), p.level, p.is_item))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn lines_become_paragraphs_headings_and_items() {
        check(
            &[
                line("Large title", 50.0, 700.0, 20.0),
                line(
                    "The first line of some text with a hyphen-",
                    50.0,
                    660.0,
                    10.0,
                ),
                line("ated word and more.", 50.0, 648.0, 10.0),
                line("Another paragraph begins after a gap", 50.0, 620.0, 10.0),
                line("and goes on with Austria-", 50.0, 608.0, 10.0),
                line("Hungary.", 50.0, 596.0, 10.0),
                line("• one", 60.0, 584.0, 10.0),
                line("goes on", 60.0, 572.0, 10.0),
                line("• two", 60.0, 560.0, 10.0),
            ],
            &[
                ("Large title", 1, false),
                (
                    "The first line of some text with a hyphenated word and more.",
                    0,
                    false,
                ),
                (
                    "Another paragraph begins after a gap and goes on with Austria-Hungary.",
                    0,
                    false,
                ),
                ("one goes on", 0, true),
                ("two", 0, true),
            ],
        );
    }

    #[test]
    fn hyphens_at_the_end_of_a_line_are_told_apart() {
        for (text, next, expected) in [
            ("a hyphen-", "ated word", "a hyphenated word"),
            (
                "the pre-",
                "and post-war years",
                "the pre- and post-war years",
            ),
            ("Vor-", "und Nachteile", "Vor- und Nachteile"),
            ("a state-of-the-", "art plan", "a state-of-the-art plan"),
            ("soft\u{AD}", "ened", "softened"),
            ("20-", "year-olds", "20-year-olds"),
        ] {
            let mut text = text.to_owned();
            append(&mut text, next);
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn listings_keep_their_lines() {
        let code = |text: &str, start: f64, up: f64| {
            let mut line = line(text, start, up, 10.0);
            line.is_fixed = true;
            line
        };
        let lines = [
            line("Text before", 50.0, 700.0, 10.0),
            line("a listing", 50.0, 688.0, 10.0),
            code("if x {", 50.0, 676.0),
            code("y();", 74.0, 664.0),
            code("}", 50.0, 652.0),
            line("Text behind", 50.0, 640.0, 10.0),
        ];
        check(
            &lines,
            &[
                ("Text before a listing", 0, false),
                ("if x {\n    y();\n}", 0, false),
                ("Text behind", 0, false),
            ],
        );
    }

    #[test]
    fn a_sentence_goes_on_in_the_next_column() {
        check(
            &[
                line(
                    "The text of the left column breaks in the",
                    50.0,
                    100.0,
                    10.0,
                ),
                line("middle of a sentence.", 400.0, 700.0, 10.0),
                line("Other text stands by itself", 50.0, 720.0, 10.0),
            ],
            &[
                (
                    "The text of the left column breaks in the middle of a sentence.",
                    0,
                    false,
                ),
                ("Other text stands by itself", 0, false),
            ],
        );
    }

    #[test]
    fn running_heads_are_left_out() {
        let page = |number: usize| {
            vec![
                line("The running head", 50.0, 800.0, 8.0),
                line(
                    &format!("Chapter {}", "x".repeat(number)),
                    50.0,
                    700.0,
                    10.0,
                ),
                line("text of the page in the middle", 50.0, 688.0, 10.0),
                line(&format!("more {}", "y".repeat(number)), 50.0, 676.0, 10.0),
                line(&format!("page {number}"), 50.0, 20.0, 8.0),
            ]
        };
        let pages = paragraphs((1..=6).map(page).collect());
        let all: Vec<&str> = pages.iter().flatten().map(|p| p.text.as_str()).collect();
        // The first page keeps it.
        assert_eq!(all.len(), 7);
        assert_eq!(all[0], "The running head");
        assert!(
            all[1..]
                .iter()
                .all(|text| text.starts_with("Chapter") && !text.contains("page 1"))
        );
    }

    /// All paragraphs of pages whose lines are one below the other in one size.
    fn texts(pages: &[Vec<String>]) -> Vec<String> {
        let page = |texts: &Vec<String>| {
            let mut up = 800.0;
            let lines = texts.iter().map(|text| {
                up -= 40.0;
                line(text, 50.0, up, 10.0)
            });
            lines.collect::<Vec<_>>()
        };
        let pages = paragraphs(pages.iter().map(page).collect());
        pages.into_iter().flatten().map(|p| p.text).collect()
    }

    fn all(pages: &[Vec<String>]) -> Vec<String> {
        pages.iter().flatten().cloned().collect()
    }

    /// Three invoices that differ in the total lost every line, and the empty page was sold.
    #[test]
    fn a_few_pages_that_look_alike_keep_all_their_lines() {
        for count in [2, 3, 4, 12] {
            let invoice = |number: usize| {
                vec![
                    "Harbour Supplies".to_owned(),
                    "Invoice".to_owned(),
                    format!("Total {}.50", 100 + number * number * 7),
                    "Thank you".to_owned(),
                ]
            };
            let pages: Vec<Vec<String>> = (0..count).map(invoice).collect();
            assert_eq!(texts(&pages), all(&pages), "{count} invoices");
        }
    }

    #[test]
    fn totals_and_numbers_of_invoices_are_kept_where_the_heads_around_them_go() {
        let invoice = |number: usize| {
            let mut lines = vec![
                "Harbour Supplies, 4 Quay Street".to_owned(),
                format!("Invoice 20{:02}", 41 + number),
            ];
            lines.extend((0..8).map(|at| format!("{at} coils of rope for boat {}", number * 31)));
            lines.extend([
                format!("Total {}.00", 90 + number * 13 % 7),
                "EUR 20.00 were paid before".to_owned(),
            ]);
            lines
        };
        let pages: Vec<Vec<String>> = (0..6).map(invoice).collect();
        let expected: Vec<String> = all(&pages)
            .into_iter()
            .enumerate()
            .filter(|(at, text)| *at == 0 || !text.starts_with("Harbour"))
            .map(|(_, text)| text)
            .collect();
        assert_eq!(texts(&pages), expected);
    }

    /// Five invoices with the same total lost it: it was their first line.
    #[test]
    fn lines_that_do_not_stand_apart_from_the_text_are_no_running_heads() {
        let texts = |name: &str| {
            [
                "Invoice total due: 120".to_owned(),
                format!("{name} owes this for services in the month of May."),
                "Please pay within 14 days of receipt.".to_owned(),
                "Item one 50".to_owned(),
                "Item two 70".to_owned(),
            ]
        };
        let page = |name: &&str| {
            let mut up = 720.0;
            let lines = texts(name).map(|text| {
                up -= 14.0;
                line(&text, 50.0, up, 11.0)
            });
            lines.to_vec()
        };
        let pages = paragraphs(
            ["Ada", "Bob", "Cyd", "Dan", "Eve"]
                .iter()
                .map(page)
                .collect(),
        );
        for page in pages {
            let all: Vec<&str> = page.iter().map(|p| p.text.as_str()).collect();
            let all = all.join(" ");
            assert!(
                all.contains("total due: 120") && all.contains("Item two 70"),
                "{all}"
            );
        }
    }

    #[test]
    fn page_numbers_go_wherever_they_begin() {
        let page = |first: usize, text: &str, at: usize| {
            let mut lines = vec![text.replace('#', &(first + at).to_string())];
            lines.extend((0..40).map(|n| {
                let letter = char::from(b'a' + u8::try_from(at).unwrap_or_default());
                format!(
                    "Line {n} of the text on this page {}",
                    letter.to_string().repeat(30)
                )
            }));
            lines
        };
        for (first, text) in [
            (1, "Page # of 6"),
            (0, "#"),
            (1017, "- # -"),
            (1017, "# A. Writer and B. Writer"),
        ] {
            let pages: Vec<_> = (0..6).map(|at| page(first, text, at)).collect();
            let found = texts(&pages);
            assert_eq!(found.len(), 6 * 40, "{text} from {first}");
        }
    }

    #[test]
    fn titles_of_pages_are_kept() {
        let page = |at: usize| {
            let mut lines = vec![line(&format!("Lesson {at}"), 50.0, 800.0, 20.0)];
            lines.extend((0..6u8).map(|n| {
                let text = format!("Something to learn {}", "x".repeat(at + 3 * usize::from(n)));
                line(&text, 50.0, 760.0 - 30.0 * f64::from(n), 10.0)
            }));
            lines
        };
        let pages = paragraphs((1..=8).map(page).collect());
        for (at, page) in pages.iter().enumerate() {
            assert_eq!(page[0].text, format!("Lesson {}", at + 1));
        }
    }
}
