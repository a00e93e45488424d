//! How much a text reads like words to a model: the marks of the patterns in it, which count less in quotes. Knows no
//! page.

use memchr::memmem;

use super::anchors::may_match;
use super::hashes::{Hashes, hash_of};
use super::tongues::{MARKERS, PAIR_CHARACTERS, PAIRS};
use super::unseen::plain;
use super::{Pattern, STRONG, WEAK, english, tongues};

/// An instruction stands near the beginning of what is addressed; longer blocks are cut here.
const BLOCK_CHARACTERS_MAX: usize = 16 * 1024;

/// All patterns, by language.
pub(super) const PATTERNS: [&[Pattern]; 2] = [english::PATTERNS, tongues::PATTERNS];

pub(super) fn marks_of(text: &str) -> u32 {
    if may_match(text) {
        marks_of_matching(text, false)
    } else {
        0
    }
}

/// The marks of one text: each pattern once.
pub(super) fn marks_of_matching(text: &str, is_quoted: bool) -> u32 {
    let text = plain(text);
    let cut = text.char_indices().nth(BLOCK_CHARACTERS_MAX);
    let text = text[..cut.map_or(text.len(), |(at, _)| at)].to_lowercase();
    let words = words(&text);
    let starts = starts(&words);
    let found = PATTERNS.into_iter().flatten().filter_map(|pattern| {
        let (start, end) = find(pattern, &words, &starts)?;
        Some((pattern.marks, is_in_quotes(&text, start, end)))
    });
    // The pairs are in scripts whose characters begin so.
    let is_wide = text.bytes().any(|byte| byte >= 0xe3);
    let pairs = PAIRS.iter().filter(|_| is_wide).filter_map(|pair| {
        let (start, end) = find_pair(pair, &text)?;
        Some((STRONG, is_in_quotes(&text, start, end)))
    });
    let markers = MARKERS.iter().filter_map(|marker| {
        let start = memmem::find(text.as_bytes(), marker.as_bytes())?;
        Some((WEAK, is_in_quotes(&text, start, start + marker.len())))
    });
    let weigh = |(marks, in_quotes): (u32, bool)| {
        if in_quotes || is_quoted {
            marks / 4
        } else {
            marks
        }
    };
    found.chain(pairs).chain(markers).map(weigh).sum()
}

/// Words with where they stand.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, character) in text.char_indices() {
        match (character.is_alphanumeric(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push((from, &text[from..at]));
                start = None;
            }
            _ => {}
        }
    }
    if let Some(from) = start {
        words.push((from, &text[from..]));
    }
    words
}

/// Numbers of the words that a pattern may begin with.
fn starts(words: &[(usize, &str)]) -> Vec<usize> {
    let words = words.iter().enumerate();
    words
        .filter(|(_, (_, word))| FIRSTS.may_have(hash_of(word.as_bytes())))
        .map(|(at, _)| at)
        .collect()
}

/// The patterns' first words.
static FIRSTS: Hashes = {
    let (mut firsts, mut language) = (Hashes::NONE, 0);
    while language < PATTERNS.len() {
        let mut pattern = 0;
        while pattern < PATTERNS[language].len() {
            firsts = firsts.with(PATTERNS[language][pattern].steps[0]);
            pattern += 1;
        }
        language += 1;
    }
    firsts
};

/// Where the pattern begins and ends, for the first time.
fn find(pattern: &Pattern, words: &[(usize, &str)], starts: &[usize]) -> Option<(usize, usize)> {
    let (first, rest) = pattern.steps.split_first()?;
    for &at in starts {
        let (start, word) = &words[at];
        if !first.contains(word) {
            continue;
        }
        let mut last = at;
        let is_whole = rest.iter().all(|step| {
            let near = words
                .iter()
                .enumerate()
                .skip(last + 1)
                .take(pattern.gap + 1);
            match near.into_iter().find(|(_, (_, word))| step.contains(word)) {
                Some((found, _)) => {
                    last = found;
                    true
                }
                None => false,
            }
        });
        if is_whole {
            return Some((*start, words[last].0 + words[last].1.len()));
        }
    }
    None
}

fn find_pair((first, second): &(&[&str], &[&str]), text: &str) -> Option<(usize, usize)> {
    for part in *first {
        for (start, _) in text.match_indices(part) {
            let after = &text[start + part.len()..];
            let near: usize = after
                .chars()
                .take(PAIR_CHARACTERS)
                .map(char::len_utf8)
                .sum();
            if let Some(end) = second
                .iter()
                .find_map(|other| Some(after[..near].find(other)? + other.len()))
            {
                return Some((start, start + part.len() + end));
            }
        }
    }
    None
}

/// Whether an opening quotation mark or a backtick stands before the words and its partner behind them.
fn is_in_quotes(text: &str, start: usize, end: usize) -> bool {
    const OPENING: [char; 10] = ['"', '“', '„', '«', '‘', '「', '『', '`', '\'', '”'];
    const CLOSING: [char; 10] = ['"', '”', '“', '»', '’', '」', '』', '`', '\'', '“'];
    let before: Vec<char> = text[..start].chars().rev().take(120).collect();
    let after: Vec<char> = text[end..].chars().take(240).collect();
    before.iter().enumerate().any(|(at, mark)| {
        // An apostrophe stands between letters.
        let is_apostrophe =
            matches!(mark, '\'' | '’') && before.get(at + 1).is_some_and(|c| c.is_alphanumeric());
        let Some(pair) = OPENING
            .iter()
            .position(|open| open == mark)
            .filter(|_| !is_apostrophe)
        else {
            return false;
        };
        let is_closed_before = before[..at].contains(&CLOSING[pair]);
        !is_closed_before && after.contains(&CLOSING[pair])
    })
}
