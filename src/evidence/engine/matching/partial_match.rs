//! Which words of a page carry a term of the question without being it, and how well: its family, its abbreviation, its
//! synonyms.

use std::collections::HashMap;

use crate::evidence::engine::question::Question;
use crate::evidence::reading::page::Page;
use crate::evidence::reading::stem::root;
use crate::evidence::reading::words::known;

/// Pairs of words that begin alike and are compared; a page that people read has some thousands of them.
pub(crate) const COMPARISONS_MAX: usize = 200_000;

/// What a match counts that is not the same stem.
mod credit {
    pub(crate) const ROOT: f64 = 0.85;
    pub(crate) const SHORT_FORM: f64 = 0.8;
    pub(crate) const START: f64 = 0.7;
    pub(crate) const SPELLING: f64 = 0.6;
    pub(crate) const SYNONYM: f64 = 0.5;
    pub(crate) const LONG_FORM: f64 = 0.5;
}

/// For each term the stems of the page that carry it, and how well.
pub(crate) fn credits(
    page: &Page<'_>,
    question: &Question,
    comparisons_max: usize,
) -> Vec<Vec<(u32, f64)>> {
    let lexicon = &page.lexicon;
    let mut by_start: HashMap<[u8; 4], Vec<usize>> = HashMap::new();
    let mut firsts = [false; 256];
    let mut found: Vec<Vec<(u32, f64)>> = Vec::new();
    for (number, &at) in question.terms.iter().enumerate() {
        let stem = question.stem(at);
        let exact = lexicon.stem_of(stem);
        found.push(exact.map(|stem| (stem, 1.0)).into_iter().collect());
        if let Some(start) = start(stem).filter(|start| !start[0].is_ascii_digit()) {
            firsts[usize::from(start[0])] = true;
            by_start.entry(start).or_default().push(number);
        }
    }
    // SECURITY: page and question may be made of words that all begin alike; further ones carry nothing.
    let mut left = comparisons_max;
    for (other, number) in lexicon.stems.iter().zip(0_u32..) {
        let first = other.as_bytes().first().copied().unwrap_or_default();
        if !firsts[usize::from(first)] {
            continue;
        }
        let Some(terms) = start(other).and_then(|start| by_start.get(&start)) else {
            continue;
        };
        let Some(rest) = left.checked_sub(terms.len()) else {
            break;
        };
        left = rest;
        for &term in terms {
            let stem = question.stem(question.terms[term]);
            if let Some(credit) = family(stem, other)
                && stem != &**other
            {
                found[term].push((number, credit));
            }
        }
    }
    for (number, &at) in question.terms.iter().enumerate() {
        let stem = question.stem(at);
        if stem.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        let mut add = |word: &str, credit: f64| {
            if let Some(word) = lexicon.stem_of(word)
                && !found[number].iter().any(|(known, _)| *known == word)
            {
                found[number].push((word, credit));
            }
        };
        for (short, long) in &page.abbreviations {
            if long.iter().any(|word| word == stem) {
                add(short, credit::SHORT_FORM);
            }
        }
        for (short, long) in &page.abbreviations {
            if short == stem {
                long.iter().for_each(|word| add(word, credit::LONG_FORM));
            }
        }
        for word in known().synonyms(stem) {
            add(word, credit::SYNONYM);
        }
    }
    found
}

fn start(stem: &str) -> Option<[u8; 4]> {
    stem.as_bytes().get(..4)?.try_into().ok()
}

/// The credit between words that look alike; both begin with the same four bytes.
fn family(one: &str, other: &str) -> Option<f64> {
    if root(one) == root(other) {
        return Some(credit::ROOT);
    }
    let (one_length, other_length) = (one.chars().count(), other.chars().count());
    if one_length < 5 || other_length < 5 {
        return None;
    }
    let pairs = one.chars().zip(other.chars());
    let shared = pairs.take_while(|(one, other)| one == other).count();
    if shared >= 5 && shared * 10 >= one_length.max(other_length) * 7 {
        return Some(credit::START);
    }
    (one_length >= 6 && other_length >= 6 && likeness(one, other) >= 0.65)
        .then_some(credit::SPELLING)
}

/// Dice's measure over the distinct runs of three bytes.
fn likeness(one: &str, other: &str) -> f64 {
    let runs = |word: &str| {
        let mut runs: Vec<[u8; 3]> = word
            .as_bytes()
            .windows(3)
            .map(|run| [run[0], run[1], run[2]])
            .collect();
        runs.sort_unstable();
        runs.dedup();
        runs
    };
    let (one, other) = (runs(one), runs(other));
    let shared = one
        .iter()
        .filter(|run| other.binary_search(run).is_ok())
        .count();
    2.0 * shared as f64 / (one.len() + other.len()).max(1) as f64
}

#[cfg(test)]
mod tests {
    use crate::evidence::Source;
    use crate::evidence::engine::matching::partial_match::*;
    use crate::evidence::reading::language::Language;

    /// A page and a question of words that all begin alike took ten seconds of a core, for nothing.
    #[test]
    fn words_that_begin_alike_are_compared_so_many_times_at_most() {
        let text: String = ('a'..='z').map(|c| format!("calibrat{c} ")).collect();
        let page = Page::of(&Source::of_text(&text), &[]);
        let question = Question::new("calibration calibrates calibre", true, Language::English);
        let count = |most| {
            let found = credits(&page, &question, most);
            found.iter().map(Vec::len).sum::<usize>()
        };
        assert!(count(COMPARISONS_MAX) > 20);
        assert!((1..=10).contains(&count(10)));
    }

    #[test]
    fn words_of_a_family_are_credited() {
        assert_eq!(family("mathemat", "mathematician"), Some(credit::ROOT));
        assert_eq!(family("organ", "organ"), Some(credit::ROOT));
        assert_eq!(family("generat", "general"), Some(credit::START));
        assert_eq!(family("generos", "genetic"), None);
        assert_eq!(family("telephon", "telephoni"), Some(credit::ROOT));
    }
}
