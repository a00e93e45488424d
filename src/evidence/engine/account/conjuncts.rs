//! Which verb of a sentence a place, time or name belongs to: "born in Lagos and raised in Leeds" says that nobody was born
//! in Leeds. A part of a sentence is what stands between its commas and its words such as "and".

use std::ops::Range;

use super::nearest::{Passage, Word};
use crate::evidence::engine::claims::is_verb;
use crate::evidence::reading::text::negates;
use crate::evidence::reading::words::{does, known};

/// Whether a claim has behind its verb what a sentence has behind another one, where the claim's verb has one of its own of the
/// same kind.
pub(crate) fn is_of_another_verb(claim: &str, sentence: &str) -> bool {
    if negates(claim) || negates(sentence) || sentence.contains('|') {
        return false;
    }
    let (claim, sentence) = (Sentence::new(claim), Sentence::new(sentence));
    let mut complements = claim.complements(0..claim.words().len());
    complements.any(|complement| {
        let verb = claim.verb_of(&complement, &sentence);
        verb.is_some_and(|verb| sentence.has_of_another(verb, &complement))
    })
}

#[derive(Clone, Copy, PartialEq)]
enum Class {
    Name,
    Time,
    Thing,
}

/// A preposition with the words behind it.
struct Complement {
    at: usize,
    preposition: String,
    class: Class,
    stems: Vec<String>,
}

struct Sentence<'a> {
    passage: Passage<'a>,
    /// Places of words.
    parts: Vec<Range<usize>>,
}

impl<'a> Sentence<'a> {
    fn new(text: &'a str) -> Sentence<'a> {
        let passage = Passage::new(text, Vec::new());
        let words = &passage.words;
        let mut parts = Vec::new();
        let mut start = 0;
        for at in 1..words.len() {
            let gap = &text[words[at - 1].range.end..words[at].range.start];
            let is_sign = gap.contains([';', ':', '(', ')', '–', '—']) || gap.contains(", ");
            let joins = matches!(
                &*words[at].low,
                "and"
                    | "but"
                    | "then"
                    | "while"
                    | "whereas"
                    | "before"
                    | "after"
                    | "who"
                    | "which"
                    | "where"
            );
            if is_sign || joins {
                parts.push(start..at);
                start = at;
            }
        }
        parts.push(start..words.len());
        Sentence { passage, parts }
    }

    fn words(&self) -> &[Word] {
        &self.passage.words
    }

    fn is_capital(&self, at: usize) -> bool {
        let range = &self.words()[at].range;
        at > 0 && self.passage.text[range.clone()].starts_with(char::is_uppercase)
    }

    fn is_time(&self, at: usize) -> bool {
        let low = &*self.words()[at].low;
        let is_year = low.len() == 4
            && low.starts_with(['1', '2'])
            && low.bytes().all(|byte| byte.is_ascii_digit());
        is_year || known().flags(low) & does::DATE != 0
    }

    /// The places, times and names behind prepositions in these places.
    fn complements(&self, places: Range<usize>) -> impl Iterator<Item = Complement> {
        let end = places.end;
        places.filter_map(move |at| self.complement(at, end))
    }

    fn complement(&self, at: usize, end: usize) -> Option<Complement> {
        let words = self.words();
        let preposition = &*words[at].low;
        let is_article = |at: &usize| known().flags(&words[*at].low) & does::STOP != 0;
        let first = (at + 1..end).take(3).find(|at| !is_article(at))?;
        let class = match preposition {
            "in" | "on" | "since" | "until" if self.is_time(first) => Class::Time,
            "in" | "at" | "to" | "from" | "by" | "for" | "into" if self.is_capital(first) => {
                Class::Name
            }
            "to" | "from" | "by" | "into" if !self.is_time(first) => Class::Thing,
            _ => return None,
        };
        let is_more = |at: &usize| match class {
            Class::Name => self.is_capital(*at) && !self.is_time(*at),
            Class::Time => self.is_time(*at),
            Class::Thing => *at == first,
        };
        let stems = (first..end).take_while(is_more);
        Some(Complement {
            at,
            preposition: preposition.to_owned(),
            class,
            stems: stems.map(|at| words[at].stem.clone()).collect(),
        })
    }

    fn part_of(&self, at: usize) -> Range<usize> {
        let part = self.parts.iter().find(|part| part.contains(&at));
        part.cloned().unwrap_or_default()
    }

    /// The stem of the verb nearest before a complement, else behind it, that the other sentence has too.
    fn verb_of(&self, complement: &Complement, other: &Sentence<'_>) -> Option<&str> {
        let part = self.part_of(complement.at);
        let before = (part.start..complement.at).rev();
        let mut places = before.chain(complement.at..part.end);
        let is_shared = |at: usize| {
            let stem = &self.words()[at].stem;
            let mut others = other.words().iter().filter(|word| word.stem == *stem);
            let is_content =
                known().flags(&self.words()[at].low) & (does::STOP | does::AUXILIARY) == 0;
            is_content
                && !complement.stems.contains(stem)
                && others.any(|word| is_verb_form(word) || is_verb_form(&self.words()[at]))
        };
        let verb = places.find(|at| is_shared(*at))?;
        Some(&self.words()[verb].stem)
    }

    /// Whether a complement stands only in parts of other verbs, and the parts of this one have others of its kind.
    fn has_of_another(&self, verb: &str, asked: &Complement) -> bool {
        let stems = |part: &Range<usize>| self.words()[part.clone()].iter().map(|word| &word.stem);
        let has_it = |part: &&Range<usize>| {
            let has = |stem: &String| stems(part).any(|own| own == stem);
            asked.stems.iter().all(has)
        };
        let is_of_verb = |part: &&Range<usize>| stems(part).any(|own| own == verb);
        let is_like =
            |own: Complement| own.class == asked.class && own.preposition == asked.preposition;
        let mut of_verb = self.parts.iter().filter(is_of_verb).peekable();
        let mut with_it = self.parts.iter().filter(has_it).peekable();
        let is_of_others = |part: &Range<usize>| {
            let mut words = self.words()[part.clone()].iter();
            words.any(|word| is_verb_form(word) && word.stem != verb)
        };
        of_verb.peek().is_some()
            && of_verb.all(|part| !has_it(&part) && self.complements(part.clone()).any(is_like))
            && with_it.peek().is_some()
            && with_it.all(is_of_others)
    }
}

fn is_verb_form(word: &Word) -> bool {
    let low = &*word.low;
    low.len() > 3 && low.ends_with("ed") || is_verb(low) || known().is_irregular(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(claim: &str, sentence: &str, expected: bool) {
        let found = is_of_another_verb(claim, sentence);
        assert_eq!(found, expected, "{claim} / {sentence}");
    }

    #[test]
    fn a_place_or_time_is_of_its_verb() {
        let marrow = "She died of pneumonia in Montreal and was buried in Kirkwall.";
        check("Did Marrow die in Kirkwall?", marrow, true);
        check("Marrow died in Montreal.", marrow, false);
        check("Marrow was buried in Kirkwall.", marrow, false);
        check("Marrow was buried in Montreal.", marrow, true);
        let okafor = "Okafor was born in Lagos and grew up in Leeds.";
        check("Okafor was born in Leeds.", okafor, true);
        check("Okafor grew up in Leeds.", okafor, false);
        let firm = "He sold the firm in 2010 and retired in 2014.";
        check("He retired in 2010.", firm, true);
        check("In 2014 he sold the firm.", firm, true);
        check("He retired in 2014.", firm, false);
        let fee = "The fee is charged to the seller and refunded to the buyer.";
        check("The fee is refunded to the seller.", fee, true);
        check("The fee is refunded to the buyer.", fee, false);
        let novel = "Written in 1929, the novel was published in 1931.";
        check("The novel was published in 1929.", novel, true);
        check("The novel was published in 1931.", novel, false);
        check("The novel was written in 1929.", novel, false);
    }

    #[test]
    fn verbs_may_share_a_place() {
        let vienna = "He was born and educated in Vienna.";
        check("He was born in Vienna.", vienna, false);
        check("He was educated in Vienna.", vienna, false);
        let book = "In 1929 the book was finished and published.";
        check("In 1929 the book was published.", book, false);
        check(
            "Parcels are sent from Leeds.",
            "Parcels are packed and sent from Leeds.",
            false,
        );
        let firm = "The firm closed its plant in Hull and opened an office in York.";
        check("The firm opened an office in York.", firm, false);
        check("The firm closed its plant in Hull.", firm, false);
        let shops = "It opened shops in Lagos and later in Leeds.";
        check("It opened shops in Leeds.", shops, false);
        let both = "She won in Oslo in 2010 and won in Rome in 2014.";
        check("She won in Rome.", both, false);
        check(
            "He did not die in Kirkwall.",
            "He died in Rome and lived in Kirkwall.",
            false,
        );
    }
}
