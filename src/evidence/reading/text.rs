//! Small readings of text that reports and the check of claims share: bounds, white space, markdown's marks, numbers,
//! names and word stems. Coarser than the engine's own reading, and but for the words of numbers on purpose independent
//! of it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::domain::words::{folded, is_unseen, is_unspaced};
use crate::evidence::reading::words::number_of_word;

/// An address; longer ones are refused long before.
pub(crate) const URL_CHARS_MAX: usize = 2_048;

/// At most so many characters, an ellipsis included; control characters become spaces, and those that nobody sees are left
/// out.
pub(crate) fn bounded(text: &str, characters: usize) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let all = || text.chars().filter(|c| !is_unseen(*c)).map(clean);
    match all().nth(characters) {
        None => all().collect(),
        Some(_) => {
            let mut kept: String = all().take(characters.saturating_sub(1)).collect();
            kept.truncate(kept.trim_end().len());
            kept.push('…');
            kept
        }
    }
}

/// The longest head of so many bytes that ends between characters.
pub(crate) fn head(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// What a reader sees of a piece of markdown, in one line: without emphasis, code marks, link addresses and the marks
/// at the beginnings of lines; the cells of a row are parted by a dot.
pub(crate) fn plain(markdown: &str) -> String {
    let mut plain = String::with_capacity(markdown.len());
    for line in markdown.lines() {
        let line = line.trim();
        let is_row = line.starts_with('|') && line.len() > 1;
        let line = match is_row {
            true => {
                let mut cells = cells(line);
                cells.retain(|cell| !cell.is_empty());
                Cow::Owned(cells.join(" · "))
            }
            false => Cow::Borrowed(without_mark(line)),
        };
        inline(&line, &mut plain);
        plain.push(' ');
    }
    folded(&plain)
}

/// The same of a unit, which holds a blank line only between a label and its value.
pub(crate) fn plain_unit(markdown: &str) -> String {
    match markdown.split_once("\n\n") {
        Some((label, value)) => {
            format!("{}: {}", plain(label).trim_end_matches(':'), plain(value))
        }
        None => plain(markdown),
    }
}

/// The text with blanks in the place of what is struck out, byte for byte.
pub(crate) fn unstruck(markdown: &str) -> Cow<'_, str> {
    const MARK: &str = "~~";
    let mut parts = markdown.split(MARK);
    let mut text = match parts.next() {
        Some(first) if first.len() < markdown.len() => first.to_owned(),
        _ => return Cow::Borrowed(markdown),
    };
    while let Some(part) = parts.next() {
        if let Some(next) = parts.next() {
            text.extend(std::iter::repeat_n(' ', part.len() + 2 * MARK.len()));
            text.push_str(next);
        } else {
            // The last mark opens nothing.
            text.push_str(MARK);
            text.push_str(part);
        }
    }
    Cow::Owned(text)
}

/// The cells of a table's row. A pipe in a cell is escaped.
pub(crate) fn cells(row: &str) -> Vec<&str> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').unwrap_or(row);
    let mut cells = Vec::new();
    let (mut start, mut is_escaped) = (0, false);
    for (at, byte) in row.bytes().enumerate() {
        if byte == b'|' && !is_escaped {
            cells.push(row[start..at].trim());
            start = at + 1;
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
    cells.push(row[start..].trim());
    cells
}

fn without_mark(line: &str) -> &str {
    let line = line.trim_start_matches(['#', '>', ' ']);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    for mark in ["- ", "* ", "+ ", ". ", ") "] {
        let is_number = matches!(mark, ". " | ") ");
        if is_number == (digits > 0)
            && digits <= 9
            && let Some(rest) = line[digits..].strip_prefix(mark)
        {
            return rest;
        }
    }
    line
}

fn inline(line: &str, plain: &mut String) {
    let mut rest = line;
    // Of each open bracket whether it begins a link.
    let mut brackets: Vec<bool> = Vec::new();
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' if rest.starts_with(|c: char| c.is_ascii_punctuation()) => {
                plain.push_str(&rest[..1]);
                rest = &rest[1..];
            }
            '`' => rest = code_span(rest, plain),
            // Between spaces it is a sign (CommonMark 6.2).
            '*' if is_spaced(plain, rest) => plain.push('*'),
            '*' => {}
            '~' if rest.starts_with('~') => rest = &rest[1..],
            '!' if rest.starts_with('[') => {}
            '[' => {
                let is_link = begins_link(rest);
                brackets.push(is_link);
                if !is_link {
                    plain.push('[');
                }
            }
            '<' if line_break(rest).is_some() => {
                plain.push(' ');
                rest = &rest[line_break(rest).unwrap_or_default()..];
            }
            // An address between angle brackets, which are escaped otherwise.
            '<' if rest.starts_with("http") => match rest.find('>') {
                Some(end) => {
                    plain.push_str(&rest[..end]);
                    rest = &rest[end + 1..];
                }
                None => plain.push(c),
            },
            ']' => match brackets.pop() {
                // The address behind a link's text.
                Some(true) => rest = &rest[link_target(rest).unwrap_or_default()..],
                _ => plain.push(']'),
            },
            _ => plain.push(c),
        }
    }
}

/// How far the end of a link's text or of a code span is looked for, so that many beginnings without an end cost little.
const SPAN_BYTES_MAX: usize = 4096;

/// The text of a code span, in which no mark means anything (CommonMark 6.1); gives what follows it.
fn code_span<'a>(rest: &'a str, plain: &mut String) -> &'a str {
    let more = rest.bytes().take_while(|byte| *byte == b'`').count();
    let fence = &"`".repeat(more + 1);
    let inside = &rest[more..];
    let end = head(inside, SPAN_BYTES_MAX)
        .match_indices(fence)
        .map(|(at, _)| at)
        .find(|&at| {
            let is_tick = |byte: Option<&u8>| byte == Some(&b'`');
            !is_tick(inside.as_bytes().get(at + fence.len()))
                && !is_tick(at.checked_sub(1).and_then(|at| inside.as_bytes().get(at)))
        });
    match end {
        Some(end) => {
            plain.push_str(inside[..end].trim());
            &inside[end + fence.len()..]
        }
        None => inside,
    }
}

fn is_spaced(before: &str, after: &str) -> bool {
    let ends = before.chars().next_back().is_none_or(char::is_whitespace);
    ends && after.chars().next().is_some_and(char::is_whitespace)
}

/// Whether the bracket before this text opens a link: an address follows the bracket that closes it.
fn begins_link(rest: &str) -> bool {
    let (mut depth, mut is_escaped) = (1, false);
    for (at, byte) in rest.bytes().enumerate().take(SPAN_BYTES_MAX) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'[' => depth += 1,
            b']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return link_target(&rest[at + 1..]).is_some();
        }
    }
    false
}

/// Bytes of what stands behind a link's text: an address and perhaps a title between brackets (CommonMark 6.3). Brackets
/// in an address are escaped or come in pairs; a title may hold any.
pub(crate) fn link_target(rest: &str) -> Option<usize> {
    let rest = head(rest, SPAN_BYTES_MAX);
    let inner = rest.strip_prefix('(')?;
    let space = |from: usize| rest.len() - rest[from..].trim_start().len();
    let mut at = space(rest.len() - inner.len());
    at += match rest[at..].strip_prefix('<') {
        Some(address) => 1 + marked(address, |c| c == '>')? + 1,
        None => address(&rest[at..]),
    };
    let title = space(at);
    if title > at
        && let Some(mark) = rest[title..].chars().next()
        && matches!(mark, '"' | '\'' | '(')
    {
        let close = if mark == '(' { ')' } else { mark };
        at = title + 1 + marked(&rest[title + 1..], |c| c == close)? + 1;
    }
    let end = space(at);
    rest[end..].starts_with(')').then_some(end + 1)
}

/// Bytes of an address without spaces, up to a bracket that closes none of its own.
fn address(rest: &str) -> usize {
    let mut depth = 0_usize;
    let is_end = |c: char| {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return true,
            ')' => depth -= 1,
            _ => {}
        }
        c.is_whitespace()
    };
    marked(rest, is_end).unwrap_or(rest.len())
}

/// Where the first such character stands that is not escaped.
fn marked(text: &str, mut is_mark: impl FnMut(char) -> bool) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        if !is_escaped && c == '\\' {
            is_escaped = true;
        } else if !std::mem::take(&mut is_escaped) && is_mark(c) {
            return Some(at);
        }
    }
    None
}

/// Bytes of what follows the `<` of a line break in HTML.
pub(crate) fn line_break(rest: &str) -> Option<usize> {
    let tag = rest.get(..2)?;
    let end = rest[2..].trim_start().strip_prefix('/');
    let end = end.unwrap_or(rest[2..].trim_start());
    let is_break = tag.eq_ignore_ascii_case("br") && end.starts_with('>');
    is_break.then(|| rest.len() - end.len() + 1)
}

/// A word of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    /// It is the first of a sentence.
    pub(crate) begins: bool,
}

/// Runs of letters and digits, with dots and commas between digits; characters of scripts without spaces one by one.
pub(crate) fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let (mut start, mut begins) = (None, true);
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map(|(_, c)| *c);
        let before = text[..at].chars().next_back();
        let is_within = c.is_alphanumeric() && !is_unspaced(c);
        let joins = matches!(c, '.' | ',')
            && before.is_some_and(|c| c.is_ascii_digit())
            && next.is_some_and(|c| c.is_ascii_digit());
        let joins = joins
            || (matches!(c, '\'' | '’')
                && start.is_some()
                && next.is_some_and(char::is_alphabetic));
        match (is_within || (joins && start.is_some()), start) {
            (true, None) => start = Some(at),
            (true, Some(_)) => {}
            (false, Some(from)) => {
                words.push(Word {
                    text: &text[from..at],
                    begins,
                });
                (start, begins) = (None, false);
            }
            (false, None) => {}
        }
        if is_unspaced(c) {
            words.push(Word {
                text: &text[at..at + c.len_utf8()],
                begins,
            });
            begins = false;
        } else if matches!(c, '.' | '!' | '?' | ':' | '\n' | '。' | '！' | '？') && start.is_none()
        {
            begins = true;
        }
    }
    if let Some(from) = start {
        words.push(Word {
            text: &text[from..],
            begins,
        });
    }
    words
}

/// A number as it compares: thousands unparted, no zeros at either end that say nothing.
pub(crate) fn number(word: &str) -> Option<String> {
    if !word.contains(|c: char| c.is_ascii_digit()) {
        return number_of_word(&word.to_lowercase()).map(|number| number.to_string());
    }
    let digits: String = word.chars().filter(|c| *c != ',').collect();
    let digits = digits.trim_end_matches(|c: char| c.is_alphabetic());
    if !digits.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    let digits = match digits.contains('.') && digits.matches('.').count() == 1 {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    };
    Some(match digits.is_empty() {
        true => "0".to_owned(),
        false => digits.to_owned(),
    })
}

/// What two forms of a word most often share. A coarse fold of English; words of other languages mostly stay.
pub(crate) fn stem(word: &str) -> String {
    let mut stem = word.to_lowercase().replace('’', "'");
    stem.truncate(stem.strip_suffix("'s").unwrap_or(&stem).len());
    if !stem.is_ascii() {
        return stem;
    }
    for (suffix, least) in SUFFIXES {
        if stem.len() >= suffix.len() + least && stem.ends_with(suffix) {
            stem.truncate(stem.len() - suffix.len());
            break;
        }
    }
    // "stopp" and "stop", "price" and "pric".
    let bytes = stem.as_bytes();
    if let [.., one, other] = bytes
        && one == other
        && !b"aeious".contains(other)
        && bytes.len() > 3
    {
        stem.pop();
    }
    if stem.len() > 3 && stem.ends_with(['e', 'y', 'i']) {
        stem.pop();
    }
    stem
}

const SUFFIXES: [(&str, usize); 12] = [
    ("ations", 4),
    ("ation", 4),
    ("ments", 4),
    ("ment", 4),
    ("ings", 3),
    ("ing", 3),
    ("ies", 3),
    ("ied", 3),
    ("es", 3),
    ("ed", 3),
    ("ly", 4),
    ("s", 3),
];

/// Words that carry nothing by themselves.
pub(crate) fn is_stop(lower: &str) -> bool {
    STOP.binary_search(&lower).is_ok()
}

/// The stems of what tells, numbers by their value.
pub(crate) fn content(text: &str) -> BTreeSet<String> {
    let words = words(text);
    let own = words
        .iter()
        .filter(|word| !is_stop(&word.text.to_lowercase()));
    own.map(|word| number(word.text).unwrap_or_else(|| stem(word.text)))
        .collect()
}

const STOP: [&str; 112] = [
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "been", "before", "being", "between", "both", "but", "by", "can", "could", "did", "do", "does",
    "doing", "during", "each", "for", "from", "further", "had", "has", "have", "having", "he",
    "her", "here", "his", "how", "i", "if", "in", "into", "is", "it", "its", "itself", "may",
    "might", "more", "most", "must", "my", "of", "on", "only", "onto", "or", "other", "our", "own",
    "page", "per", "shall", "she", "should", "so", "some", "source", "such", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "through", "to", "too",
    "under", "up", "upon", "us", "use", "very", "via", "was", "we", "were", "what", "when",
    "where", "which", "while", "who", "whom", "whose", "why", "will", "with", "within", "would",
    "yes", "you", "your", "yours",
];

/// Words that turn a sentence round.
pub(crate) fn is_negation(lower: &str) -> bool {
    matches!(
        lower,
        "no" | "not"
            | "never"
            | "none"
            | "nobody"
            | "nothing"
            | "neither"
            | "nor"
            | "without"
            | "cannot"
            | "fails"
            | "failed"
            | "lacks"
            | "lack"
            | "except"
            | "unless"
            | "nicht"
            | "kein"
            | "keine"
            | "ne"
            | "pas"
            | "non"
            | "sin"
            | "nunca"
            | "jamais"
            | "不"
            | "没"
            | "沒"
            | "無"
            | "无"
            | "未"
            | "非"
    ) || lower.ends_with("n't")
        || lower.ends_with("n’t")
}

/// Words in lower case; "doesn’t" is one, with a straight apostrophe.
pub(crate) fn lower_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase().replace('’', "'");
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// Whether a word of a text turns it round.
pub(crate) fn negates(text: &str) -> bool {
    let words = words(text);
    let mut words = words.iter();
    words.any(|word| is_negation(&word.text.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use crate::evidence::reading::text::*;

    #[test]
    fn a_bound_counts_characters_and_shows_that_it_cut() {
        assert_eq!(bounded("añb", 3), "añb");
        assert_eq!(bounded("añbc", 3), "añ…");
        assert_eq!(bounded("a\nb\u{7}c", 9), "a b c");
        assert_eq!(bounded("a\u{202e}\u{2066}b", 2), "ab");
        assert_eq!(head("añb", 2), "a");
    }

    #[test]
    fn plain_text_is_what_a_reader_sees() {
        let check = |markdown, expected| assert_eq!(plain(markdown), expected);
        check(
            "## A **bold** [link](https://x.test/a) here",
            "A bold link here",
        );
        check("- item `code`\n  more", "item code more");
        check("12. twelve", "twelve");
        check("| Pro | $9 \\| month |", "Pro · $9 | month");
        check("![alt](i.png) 3\\*4", "alt 3*4");
        check("at <https://x.test/a_b>.", "at https://x.test/a_b.");
        check("2 * 3 is ***six***, ~~not~~ 5", "2 * 3 is six, not 5");
        check("`2*3` and ``a ` b``, `f(*p)`", "2*3 and a ` b, f(*p)");
        check(
            "as said [1], [[2](#n)] and [here [now]](/a)",
            "as said [1], [2] and here [now]",
        );
        check("[^1] a] b[ `c", "[^1] a] b[ c");
        check("> quoted\n> more", "quoted more");
        check("3.5 is no list", "3.5 is no list");
        assert_eq!(plain_unit("Weight\n\n**653** g"), "Weight: 653 g");
        assert_eq!(plain_unit("Weight of\nit"), "Weight of it");
        check("one<br>two <br /> three <b", "one two three <b");
    }

    /// A quote once read "put a MacBook Pro") under the tree", from a link whose title holds a bracket.
    #[test]
    fn links_end_behind_their_titles() {
        let check = |markdown, expected| assert_eq!(plain(markdown), expected);
        check("a [b](/c \"Now (new) :)\") d", "a b d");
        check("a [b](/c '1) two') d (e)", "a b d (e)");
        check("a [b](/c (title)) d", "a b d");
        check("a [b](/wiki/C_(d)) e)", "a b e)");
        check("a [b](</c d)> \"e\") f", "a b f");
        check("a [b](/c\\)d) e", "a b e");
        check("a [b]() c", "a b c");
        check("[1](see the note) c", "[1](see the note) c");
        check("[a](/b \"c) d", "[a](/b \"c) d");
    }

    #[test]
    fn words_keep_numbers_whole() {
        let texts: Vec<&str> = words("It's $1,299.50, v2. Next—退款 don't")
            .iter()
            .map(|word| word.text)
            .collect();
        assert_eq!(
            texts,
            ["It's", "1,299.50", "v2", "Next", "退", "款", "don't"]
        );
        let begins: Vec<bool> = words("One two. Three")
            .iter()
            .map(|word| word.begins)
            .collect();
        assert_eq!(begins, [true, false, true]);
    }

    #[test]
    fn what_is_struck_out_is_left_out() {
        assert_eq!(unstruck("It is ~~£129~~ £99."), "It is           £99.");
        assert_eq!(unstruck("a ~~ b"), "a ~~ b");
        assert_eq!(unstruck("~~a~~b~~c"), "     b~~c");
        let many = "~~é".repeat(500_000);
        assert_eq!(unstruck(&many).len(), many.len());
    }

    #[test]
    fn numbers_compare_by_value() {
        let same = |one, other| assert_eq!(number(one), number(other), "{one} {other}");
        same("1,299.50", "1299.5");
        same("007", "7");
        same("three", "3");
        same("30th", "30");
        same("2.0", "2");
        assert_ne!(number("1.2.0"), number("1.2"));
        assert_eq!(number("v2"), None);
        assert_eq!(number("word"), None);
    }

    #[test]
    fn stems_fold_common_endings() {
        let same = |one, other| assert_eq!(stem(one), stem(other), "{one} {other}");
        same("refunds", "refund");
        same("stopped", "stop");
        same("prices", "pricing");
        same("Company's", "companies");
        same("cancelled", "cancels");
        assert_ne!(stem("refund"), stem("return"));
    }

    #[test]
    fn the_stop_list_is_in_order() {
        assert!(STOP.is_sorted());
        assert!(is_stop("the") && !is_stop("refund"));
    }
}
