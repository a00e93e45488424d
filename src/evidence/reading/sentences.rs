//! Where one sentence of a block ends and the next begins. Knows abbreviations, initials, decimals, versions and
//! addresses, and the marks of scripts that put no space after a sentence.

use std::ops::Range;

use super::text::{line_break, link_target};

/// A longer piece is cut between words: nobody can cite it.
const SENTENCE_BYTES_MAX: usize = 1_200;
/// With a span at its end, and marks behind it. What else stands there is marks alone, and belongs to nothing.
const UNIT_BYTES_MAX: usize = SENTENCE_BYTES_MAX + SPAN_BYTES_MAX;
/// How far the end of a code span or of an address is looked for.
const SPAN_BYTES_MAX: usize = 300;

/// Lower case, without the dot that may end them.
const ABBREVIATIONS: &[&str] = &[
    "adm", "al", "approx", "apr", "art", "assn", "aug", "ave", "bros", "ca", "capt", "cf", "ch",
    "co", "col", "corp", "dec", "dept", "dr", "e.g", "eq", "esp", "est", "etc", "feb", "fig",
    "figs", "fr", "gen", "gov", "hon", "i.e", "inc", "jan", "jr", "jul", "jun", "lt", "ltd", "maj",
    "mar", "max", "messrs", "min", "mr", "mrs", "ms", "mt", "no", "nos", "nov", "oct", "op", "p",
    "ph.d", "pp", "prof", "rep", "rev", "sec", "sen", "sep", "sept", "sgt", "sr", "st", "tel",
    "univ", "viz", "vol", "vols", "vs", "z.b", "bzw", "usw", "nr", "str", "sig", "ej", "excl",
    "incl", "reg", "zzgl", "inkl", "oz", "lb", "lbs", "tsp", "tbsp", "ft", "sq", "det", "tägl",
    "ggf", "evtl", "sog", "allg", "geb", "av", "núm", "pág",
];

/// Months as German and English write them behind a day with a dot. Languages that write them small need none.
const MONTHS: &[&str] = &[
    "jan",
    "january",
    "januar",
    "jän",
    "jänner",
    "feb",
    "february",
    "februar",
    "mar",
    "march",
    "mär",
    "märz",
    "mrz",
    "apr",
    "april",
    "may",
    "mai",
    "jun",
    "june",
    "juni",
    "jul",
    "july",
    "juli",
    "aug",
    "august",
    "sep",
    "sept",
    "september",
    "oct",
    "october",
    "okt",
    "oktober",
    "nov",
    "november",
    "dec",
    "december",
    "dez",
    "dezember",
];

/// German words that an ordinal may follow, and that no English sentence has before a number at its end.
const BEFORE_ORDINALS: &[&str] = &[
    "beim", "das", "dem", "den", "der", "des", "die", "im", "jeden", "vom", "zum", "zur",
];

/// The sentences of a block, as bytes of the text, without the space around them.
pub(crate) fn sentences(text: &str, block: Range<usize>) -> Vec<Range<usize>> {
    let body = &text[block.clone()];
    let mut found = Vec::new();
    let mut start = 0;
    let mut at = 0;
    let mut last_space = 0;
    while let Some(c) = body[at..].chars().next() {
        let next = at + c.len_utf8();
        if c == '`' || (c == '(' && body[..at].ends_with(']')) {
            at = past_span(body, at);
            continue;
        }
        if c.is_whitespace() {
            last_space = at;
        }
        at = next;
        let is_end = match c {
            '。' | '！' | '？' | '｡' | '।' | '॥' | '۔' | '؟' => true,
            '.' | '!' | '?' | '…' => is_end_of_sentence(body, start, next, c),
            _ => false,
        };
        if is_mark(c) {
            at = closers(body, next);
            if is_end && opens_bold(body, start, at) {
                at -= BOLD.len();
            }
        }
        if is_end {
            push(&mut found, body, start..at, block.start);
            at += broken(&body[at..]).unwrap_or_default();
            start = at;
        } else if at - start >= SENTENCE_BYTES_MAX {
            let cut = if last_space > start { last_space } else { at };
            push(&mut found, body, start..cut, block.start);
            start = cut;
        }
    }
    push(&mut found, body, start..body.len(), block.start);
    found
}

/// A block that has no sentences, cut between words where it is too long.
pub(crate) fn pieces(text: &str, block: Range<usize>) -> Vec<Range<usize>> {
    let body = &text[block.clone()];
    let mut found = Vec::new();
    let (mut start, mut last_space) = (0, 0);
    for (at, c) in body.char_indices() {
        if at - start >= SENTENCE_BYTES_MAX {
            let cut = if last_space > start { last_space } else { at };
            push(&mut found, body, start..cut, block.start);
            start = cut;
        }
        if c.is_whitespace() {
            last_space = at;
        }
    }
    push(&mut found, body, start..body.len(), block.start);
    found
}

fn push(found: &mut Vec<Range<usize>>, body: &str, range: Range<usize>, offset: usize) {
    let text = &body[range.clone()];
    let start = range.start + text.len() - text.trim_start().len();
    let most = body.floor_char_boundary(start + UNIT_BYTES_MAX);
    let end = most.min(start + text.trim().len());
    if body[start..end].chars().any(char::is_alphanumeric) {
        found.push(offset + start..offset + end);
    } else if let Some(last) = found.last_mut()
        && end > start
        && offset + end - last.start <= UNIT_BYTES_MAX
    {
        // Marks alone belong to what stands before them.
        last.end = offset + end;
    }
}

/// Past a code span or a link's address; past its first mark where it does not end soon.
fn past_span(body: &str, at: usize) -> usize {
    let rest = &body[at..];
    let reach = |from: usize| {
        let mut reach = rest.len().min(from + SPAN_BYTES_MAX);
        while !rest.is_char_boundary(reach) {
            reach -= 1;
        }
        reach
    };
    if rest.starts_with('(') {
        return at + link_target(&rest[..reach(1)]).unwrap_or(1);
    }
    let ticks = rest.bytes().take_while(|&byte| byte == b'`').count();
    let mark = &rest[..ticks.min(SPAN_BYTES_MAX)];
    let close = rest[ticks..reach(ticks)].find(mark);
    at + ticks + close.map_or(0, |close| close + mark.len())
}

fn is_mark(c: char) -> bool {
    ".!?…。！？｡।॥۔؟".contains(c)
}

const BOLD: &str = "**";

/// Whether the marks of emphasis before this place open a bold run rather than close one.
fn opens_bold(body: &str, start: usize, at: usize) -> bool {
    let is_word = body[at..].starts_with(char::is_alphanumeric);
    is_word && body[..at].ends_with(BOLD) && body[start..at].matches(BOLD).count() % 2 == 1
}

/// Quotes, brackets and emphasis that close after the mark, further marks, and notes such as [12].
fn closers(body: &str, at: usize) -> usize {
    let mut end = closed(body, at);
    while let Some(note) = note(&body[end..]) {
        end += note;
    }
    end
}

fn closed(body: &str, at: usize) -> usize {
    let rest = &body[at..];
    let more = rest.trim_start_matches([
        '.', '!', '?', '…', '。', '！', '？', '"', '\'', '”', '’', '»', '」', '』', '）', ')', ']',
        '*', '_',
    ]);
    at + rest.len() - more.len()
}

fn is_end_of_sentence(body: &str, start: usize, at: usize, mark: char) -> bool {
    let end = closers(body, at);
    let rest = &body[end..];
    let broken = broken(rest);
    let line_ends =
        broken.is_some() || rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    let rest = &rest[broken.unwrap_or_default()..];
    // A bold run stands close to the sentence before it where a page shows it as a line of its own.
    let is_bold = body[at..end].ends_with(BOLD) && rest.starts_with(char::is_uppercase);
    let is_apart = rest.is_empty() || rest.starts_with(char::is_whitespace);
    if !(is_apart || broken.is_some() || (is_bold && is_long(&body[start..at]))) {
        return false;
    }
    let opened = rest
        .trim_start()
        .trim_start_matches(['"', '\'', '“', '‘', '«', '(', '*', '_', '[']);
    let next = opened.chars().next();
    let word = opened
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default();
    // Names such as macOS begin sentences as they are.
    if next.is_some_and(char::is_lowercase) && !word.chars().any(char::is_uppercase) {
        return false;
    }
    let goes_on = mark == '.' && (at == end || is_bold) && !line_ends;
    let before = &body[start..at - mark.len_utf8()];
    !(goes_on && (is_abbreviation(before, next) || is_ordinal(before, word)))
}

/// Bytes of a line break that stands here.
fn broken(rest: &str) -> Option<usize> {
    Some(line_break(rest.strip_prefix('<')?)? + 1)
}

/// Whether it is more than a word with a dot in it.
fn is_long(sentence: &str) -> bool {
    sentence.trim().contains(char::is_whitespace)
}

/// "11. Sep", "am 15. Mai", "im 3. Stock": a day or an ordinal.
fn is_ordinal(before: &str, next: &str) -> bool {
    let mut words = before.split_whitespace().rev();
    let bare = |word: &str| {
        word.trim_start_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase()
    };
    let number = words.next().map(bare).unwrap_or_default();
    if !(1..=2).contains(&number.len()) || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let before = words.next().map(bare).unwrap_or_default();
    MONTHS.contains(&next.to_lowercase().as_str()) || BEFORE_ORDINALS.contains(&before.as_str())
}

fn note(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('[')?;
    let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
    (1..=3).contains(&digits).then_some(())?;
    inner[digits..].starts_with(']').then_some(digits + 2)
}

fn is_abbreviation(before: &str, next: Option<char>) -> bool {
    let word = before
        .rsplit(|c: char| c.is_whitespace() || "([\"'“‘*_-–—".contains(c))
        .next()
        .unwrap_or_default();
    let mut letters = word.chars();
    match (letters.next(), letters.next()) {
        (None, _) => return false,
        // An initial, or the number of an ordered item.
        (Some(only), None) if only.is_uppercase() => return !is_lettered(before),
        _ => {}
    }
    let initials = word.contains('.')
        && word
            .split('.')
            .all(|part| part.len() == 1 && part.bytes().all(|byte| byte.is_ascii_alphabetic()));
    if initials {
        return true;
    }
    let lower = word.to_lowercase();
    match lower.as_str() {
        // Words of their own before anything but a number.
        "no" | "nos" | "fig" | "art" | "min" | "max" | "sec" | "p" | "mar" | "sig" | "est"
        | "co" => next.is_some_and(|c| c.is_ascii_digit()),
        "etc" => false,
        _ => ABBREVIATIONS.contains(&lower.as_str()),
    }
}

/// Whether the word before a single letter takes a letter as its number, so that a dot behind it ends the sentence: "Series C.".
fn is_lettered(before: &str) -> bool {
    const LETTERED: [&str; 18] = [
        "series",
        "vitamin",
        "hepatitis",
        "plan",
        "class",
        "type",
        "grade",
        "appendix",
        "annex",
        "schedule",
        "part",
        "section",
        "group",
        "category",
        "level",
        "figure",
        "option",
        "zone",
    ];
    let mut words = before.split_whitespace().rev().skip(1);
    words
        .next()
        .is_some_and(|word| LETTERED.contains(&word.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use crate::evidence::reading::sentences::*;

    fn check(expected: &[&str]) {
        let text = expected.join(" ");
        let found = sentences(&text, 0..text.len());
        let found: Vec<&str> = found.into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn sentences_end_where_a_reader_ends_them() {
        check(&[
            "It works.",
            "Does it?",
            "Yes!",
            "(So they say.)",
            "“Fine.”",
            "Last",
        ]);
        check(&["Cited here.[12][3]", "Next one."]);
    }

    #[test]
    fn dots_inside_of_sentences() {
        check(&[
            "Dr. J. R. Smith of the U.S. Navy paid 3.5 million, e.g. for v1.2.3 of it.",
            "Next.",
        ]);
        check(&[
            "See [the page](https://a.b/c.d?e=f) and `a. B` now.",
            "No. 5 is Mr. Lee’s.",
        ]);
        check(&["It closed its Series C.", "Samuel Brandt leads it."]);
        check(&["He said no.", "Then he left."]);
        check(&["It works on Linux.", "macOS is next."]);
    }

    /// A quote once ended in "öffnet am 15.", and another in "by galitsyn » 11.".
    #[test]
    fn days_and_ordinals_end_no_sentence() {
        check(&["Das Freibad öffnet am 15. Mai 2024.", "Es ist neu."]);
        check(&["Posted by kay » 11. Sep 2024, 08:42"]);
        check(&["Im 3. Stock und auf dem 2. Platz.", "Danach nicht."]);
        check(&["It costs $429 (reg. $499), incl. VAT.", "Next."]);
        check(&["He was 15.", "Sales rose."]);
        check(&["Only 3.", "Then he left."]);
        check(&["It closed in 1999.", "May was warm."]);
    }

    /// Two sentences were quoted as one where a page shows a bold run as a line of its own.
    #[test]
    fn bold_runs_and_line_breaks_part_sentences() {
        let check = |text: &str, expected: &[&str]| {
            let found = sentences(text, 0..text.len());
            let found: Vec<&str> = found.into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, expected, "{text}");
        };
        check(
            "The state supplies no seals.**How is it taxed?** As a firm.",
            &[
                "The state supplies no seals.",
                "**How is it taxed?**",
                "As a firm.",
            ],
        );
        check(
            "**It is closed.**Come back.",
            &["**It is closed.**", "Come back."],
        );
        check("Open now.<br>Closed then.", &["Open now.", "Closed then."]);
        check(
            "Open now.<br/>closed then.",
            &["Open now.<br/>closed then."],
        );
        check("Node.**JS** is new.", &["Node.**JS** is new."]);
        check(
            "See [a](/b \"One. Two (c).\") there. Next.",
            &["See [a](/b \"One. Two (c).\") there.", "Next."],
        );
    }

    #[test]
    fn scripts_without_spaces() {
        let text = "価格は千円です。送料は無料！本当？はい";
        let found = sentences(text, 0..text.len());
        let found: Vec<&str> = found.into_iter().map(|range| &text[range]).collect();
        assert_eq!(
            found,
            ["価格は千円です。", "送料は無料！", "本当？", "はい"]
        );
    }

    #[test]
    fn a_wall_of_text_is_cut_between_words() {
        let text = "word ".repeat(1_000);
        let found = sentences(&text, 0..text.len());
        assert!(found.len() > 3 && found.iter().all(|range| range.len() <= SENTENCE_BYTES_MAX));
        let unbroken = "ä".repeat(5_000);
        assert!(sentences(&unbroken, 0..unbroken.len()).len() > 3);
    }

    #[test]
    fn marks_without_end_make_no_long_unit() {
        for marks in ["\\", "!", "。", "[1]", "…)", "` ", "`", "](", "é("] {
            for text in [
                format!("Said. {}", marks.repeat(5_000)),
                format!("Said{}", marks.repeat(5_000)),
                format!("{} said.", marks.repeat(5_000)),
            ] {
                let found = [
                    sentences(&text, 0..text.len()),
                    pieces(&text, 0..text.len()),
                ]
                .concat();
                let longest = found.iter().map(Range::len).max().expect("a unit");
                assert!(longest <= UNIT_BYTES_MAX, "{longest} bytes of {marks}");
            }
        }
    }
}
