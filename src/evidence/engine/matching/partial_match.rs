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
    add_numbers(page, question, &mut found);
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

/// A number is carried by its value, in digits or words: "ten" by "10", and both words of "forty-seven" by "47".
fn add_numbers(page: &Page<'_>, question: &Question, found: &mut [Vec<(u32, f64)>]) {
    let values: Vec<Option<f64>> = question
        .terms
        .iter()
        .map(|&at| value(question, at))
        .collect();
    if values.iter().all(Option::is_none) {
        return;
    }
    for form in &page.lexicon.forms {
        let Some(number) = form.number.filter(|_| !form.is_stop()) else {
            continue;
        };
        for (found, value) in found.iter_mut().zip(&values) {
            let is_known = found.iter().any(|(stem, _)| *stem == form.stem);
            if *value == Some(number) && !is_known {
                found.push((form.stem, 1.0));
            }
        }
    }
}

/// The value of a number, of all the words that spell it: a ten and a one together.
fn value(question: &Question, at: usize) -> Option<f64> {
    let is_word = |at: usize| {
        let form = question.tokens.get(at).map(|_| question.form(at));
        let written = form.filter(|form| !form.low.starts_with(|c: char| c.is_ascii_digit()));
        written.and_then(|form| form.number)
    };
    let is_ten = |value: &f64| *value >= 20.0 && *value < 100.0 && *value % 10.0 == 0.0;
    let is_one = |value: &f64| *value >= 1.0 && *value < 10.0;
    let value = question.form(at).number?;
    if is_word(at).is_none() {
        return Some(value);
    }
    let one = is_word(at + 1).filter(is_one);
    let ten = at.checked_sub(1).and_then(is_word).filter(is_ten);
    match (is_ten(&value), one, is_one(&value), ten) {
        (true, Some(one), _, _) => Some(value + one),
        (_, _, true, Some(ten)) => Some(ten + value),
        _ => Some(value),
    }
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
    fn numbers_are_carried_by_their_value() {
        let carried = |text: &str, question: &str| {
            let page = Page::of(&Source::of_text(text), &[]);
            let question = Question::new(question, true, Language::English);
            let found = credits(&page, &question, COMPARISONS_MAX);
            let full = |credits: &Vec<(u32, f64)>| credits.iter().any(|(_, credit)| *credit >= 1.0);
            let terms = question.terms.iter().zip(&found);
            let carried = terms.filter(|(_, credits)| full(credits));
            let carried: Vec<String> = carried
                .map(|(at, _)| question.form(*at).low.to_string())
                .collect();
            carried.join(" ")
        };
        assert_eq!(carried("The 10 acres.", "Ten acres lie."), "ten acres");
        assert_eq!(carried("All twelve went.", "There were 12."), "12");
        assert_eq!(
            carried("It has 47 members.", "Forty-seven members"),
            "forty seven members"
        );
        assert_eq!(carried("It has 40, not 7.", "Forty-seven members"), "");
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
