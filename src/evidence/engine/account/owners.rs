//! Whose a value is: "Ostrava's budget is 12 billion" and "the Team plan (5 seats)" say nothing of Brno and of another plan,
//! however near these stand. An owner is a name that the value's own part of the sentence begins with, has as a possessive,
//! or puts behind "of", "for" or "to".

use std::ops::Range;

use super::nearest::Passage;
use super::quantities::{Kind, Quantity, quantities};
use crate::evidence::Relation;
use crate::evidence::reading::words::{does, known};

/// Names in a sentence that are looked at; one with more of them is a list.
const NAMES_MAX: usize = 16;

/// Words with capitals that stand side by side.
struct Name {
    range: Range<usize>,
    /// Stems.
    words: Vec<String>,
    is_possessive: bool,
}

impl Name {
    /// Whether both may be of the same: "Ann Lee" and "Lee".
    fn fits(&self, other: &Name) -> bool {
        let has =
            |one: &Name, other: &Name| one.words.iter().all(|word| other.words.contains(word));
        has(self, other) || has(other, self)
    }
}

/// Whether the passages give a value of the claim only to another owner, and give the claim's own owner a different value.
/// Where each has a value of its own, neither value belongs to both.
pub(crate) fn is_of_another_owner(claim: &str, passages: &[&str]) -> bool {
    let owners = names(claim);
    let asked = quantities(claim);
    let mut asked = asked.iter().filter(|one| is_number(one));
    if owners.is_empty() {
        return false;
    }
    asked.any(|asked| {
        let of_passage = |passage: &&str| -> Vec<bool> {
            let found = quantities(passage);
            let agreeing = found.iter().filter(|one| is_same(asked, one));
            agreeing
                .map(|one| is_of_other(&owners, passage, &one.range))
                .collect()
        };
        let found: Vec<bool> = passages.iter().flat_map(of_passage).collect();
        !found.is_empty() && found.iter().all(|is_other| *is_other)
    })
}

fn is_number(one: &Quantity) -> bool {
    matches!(one.kind, Kind::Measured(_) | Kind::Count(_))
}

fn is_same(asked: &Quantity, one: &Quantity) -> bool {
    let is_bare = |one: &Quantity| matches!(&one.kind, Kind::Count(things) if things.is_empty());
    let is_like = asked.is_like(one) || is_bare(asked) || is_bare(one);
    is_number(one) && is_like && matches!(asked.relation(one), Relation::Same | Relation::Within)
}

/// Whether a value of a passage is said of another name than those of the claim, of which one has another value there.
fn is_of_other(owners: &[Name], text: &str, value: &Range<usize>) -> bool {
    if text.contains('|') {
        return false;
    }
    let passage = Passage::new(text, Vec::new());
    let part = part_of(&passage, value);
    let named = names(text);
    if named.len() > NAMES_MAX || refers_back(&passage, &part) {
        return false;
    }
    let is_inside = |name: &&Name, part: &Range<usize>| {
        part.start <= name.range.start && name.range.end <= part.end
    };
    let is_asked = |name: &Name| owners.iter().any(|owner| owner.fits(name));
    let inside = || named.iter().filter(|name| is_inside(name, &part));
    if inside().any(is_asked) || !inside().any(|name| is_owner(&passage, &part, name)) {
        return false;
    }
    let values = quantities(text);
    values.iter().any(|other| {
        let its_part = part_of(&passage, &other.range);
        let mut its_names = named.iter().filter(|name| is_inside(name, &its_part));
        its_names.any(is_asked)
    })
}

/// The part of a sentence that says a value: its clause, and before brackets what they stand behind.
fn part_of(passage: &Passage<'_>, value: &Range<usize>) -> Range<usize> {
    let clause = passage.clause(value);
    let before = passage.text[..clause.start].trim_end();
    if !before.ends_with('(') {
        return clause;
    }
    let before = before.trim_end_matches(['(', ' ']);
    let last = before.char_indices().next_back().map_or(0, |(at, _)| at);
    let holder = passage.clause(&(last..before.len()));
    holder.start..clause.end
}

/// A pronoun in this part stands for a name before it.
fn refers_back(passage: &Passage<'_>, part: &Range<usize>) -> bool {
    let inside = passage
        .words
        .iter()
        .filter(|word| part.start <= word.range.start && word.range.end <= part.end);
    let mut words = inside.map(|word| &*word.low);
    words.any(|word| {
        matches!(
            word,
            "it" | "its"
                | "they"
                | "their"
                | "them"
                | "he"
                | "his"
                | "him"
                | "she"
                | "her"
                | "this"
                | "these"
                | "both"
                | "each"
                | "all"
                | "former"
                | "latter"
                | "said"
                | "says"
                | "reported"
                | "reports"
        )
    })
}

/// Whether a name stands where an owner stands in a part of a sentence.
fn is_owner(passage: &Passage<'_>, part: &Range<usize>, name: &Name) -> bool {
    let before = passage
        .words
        .iter()
        .filter(|word| part.start <= word.range.start && word.range.end <= name.range.start);
    let before: Vec<&str> = before.map(|word| &*word.low).collect();
    let is_article = |word: &&&str| matches!(**word, "the" | "a" | "an");
    let mut told = before.iter().rev().skip_while(is_article);
    name.is_possessive
        || match told.next() {
            None => true,
            Some(last) => matches!(*last, "of" | "for" | "to" | "that"),
        }
        || passage.text[name.range.end..part.end]
            .trim_start_matches(|c: char| c.is_alphanumeric() || c == ' ')
            .starts_with('(')
}

/// The names of a text. A word that begins a sentence is one too, unless it carries nothing by itself.
fn names(text: &str) -> Vec<Name> {
    let passage = Passage::new(text, Vec::new());
    let mut names: Vec<Name> = Vec::new();
    for word in &passage.words {
        let written = &text[word.range.clone()];
        let flags = known().flags(&word.low);
        let is_name = written.starts_with(char::is_uppercase)
            && written.chars().count() > 1
            && flags
                & (does::STOP | does::QUESTION | does::AUXILIARY | does::DATE | does::PREPOSITION)
                == 0;
        let rest = &text[word.range.end..];
        let is_possessive = rest.starts_with("'s") || rest.starts_with("’s");
        let joined = names
            .last_mut()
            .filter(|last| !last.is_possessive && &text[last.range.end..word.range.start] == " ");
        match joined {
            Some(last) if is_name => {
                last.range.end = word.range.end;
                last.words.push(word.stem.clone());
                last.is_possessive = is_possessive;
            }
            _ if is_name => names.push(Name {
                range: word.range.clone(),
                words: vec![word.stem.clone()],
                is_possessive,
            }),
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_of_its_owner() {
        let check = |passage: &str, cases: &[(&str, bool)]| {
            for (claim, expected) in cases {
                assert_eq!(is_of_another_owner(claim, &[passage]), *expected, "{claim}");
            }
        };
        check(
            "Brno has 380,000 inhabitants; Ostrava's budget is 12 billion crowns.",
            &[
                ("The budget of Brno is 12 billion crowns.", true),
                ("Ostrava has 380,000 inhabitants.", true),
                ("The budget of Ostrava is 12 billion crowns.", false),
                ("Brno has 380,000 inhabitants.", false),
            ],
        );
        check(
            "We sell the Pro plan (20 seats) and the Team plan (5 seats).",
            &[
                ("The Pro plan has 5 seats.", true),
                ("The Team plan has 20 seats.", true),
                ("The Pro plan has 20 seats.", false),
                ("The Team plan has 5 seats.", false),
            ],
        );
        check(
            "The collection of the Maritime Museum counts 14,000 objects, that of the Toy Museum 3,200.",
            &[
                (
                    "The Maritime Museum has a collection of 3,200 objects.",
                    true,
                ),
                ("The Toy Museum has a collection of 3,200 objects.", false),
            ],
        );
        check(
            "Halden employs 1,200 people, while Marlow's workforce numbers 450.",
            &[
                ("Marlow employs 1,200 people.", true),
                ("Halden's workforce numbers 450.", true),
                ("Marlow employs 450 people.", false),
            ],
        );
    }

    #[test]
    fn a_name_beside_a_value_need_not_own_it() {
        for (claim, passage) in [
            // The pronoun stands for the first name.
            (
                "Mercury's diameter is 4,879 km.",
                "Mercury is the smallest planet, and NASA gives its diameter as 4,879 km.",
            ),
            (
                "Lake Orrin in Scotland is 42 metres deep.",
                "In Scotland, Lake Orrin is 42 metres deep.",
            ),
            (
                "Acme employs 300 people.",
                "Acme, which Bolt founded, employs 300 people.",
            ),
            // It is said of both.
            (
                "Marlow employs 450 people.",
                "Halden employs 450 people; Marlow employs 450 people.",
            ),
            ("Acme employs 300 people.", "Bolt employs 300 people."),
            (
                "Brno has 400,000 inhabitants.",
                "In 2021 the cities of Brno and Ostrava had 400,000 inhabitants each.",
            ),
        ] {
            assert!(!is_of_another_owner(claim, &[passage]), "{claim}");
        }
    }
}
