//! Who does what to whom, by order and voice: two statements with the same words around the same verb or preposition, but
//! on the other sides of it, say different things.

use crate::evidence::reading::text::number;
use crate::evidence::reading::words::{does, known};

/// Words of a side that are looked at.
const SIDE: usize = 12;

struct Word {
    low: String,
    stem: String,
    is_content: bool,
    is_number: bool,
    /// Written with a capital.
    is_name: bool,
    /// A sentence or a clause ends before it.
    begins: bool,
}

fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut begins = true;
    let mut rest = text;
    while let Some(at) = rest.find(char::is_alphanumeric) {
        let gap = &rest[..at];
        rest = &rest[at..];
        // "Castor Inc. sued", "Node.js", "U.S. exports": a dot ends a sentence before a space and a capital.
        let is_stop = gap.starts_with('.')
            && gap.len() > 1
            && !rest.starts_with(char::is_lowercase)
            && words.last().is_none_or(|word| !is_shortened(&word.low));
        begins |= is_stop || gap.contains([';', '!', '?', '\n', '|']);
        let end = end_of_word(rest);
        let low = rest[..end].to_lowercase();
        let low = low.trim_end_matches("'s").trim_end_matches("’s").to_owned();
        let stop = known().flags(&low) & (does::STOP | does::QUESTION | does::AUXILIARY) != 0;
        words.push(Word {
            stem: known().stem(&low),
            is_number: number(&low).is_some(),
            is_name: rest.starts_with(char::is_uppercase),
            is_content: !stop,
            low,
            begins,
        });
        begins = false;
        rest = &rest[end..];
    }
    words
}

/// Where a word ends that the text begins with: a dot within it is a part of it.
fn end_of_word(text: &str) -> usize {
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_joined = c == '.' && chars.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        if !is_inside(c) && !is_joined {
            return at;
        }
    }
    text.len()
}

/// Whether a dot behind a word is its own.
fn is_shortened(low: &str) -> bool {
    const SHORT: [&str; 16] = [
        "inc", "ltd", "co", "corp", "llc", "plc", "dr", "mr", "mrs", "ms", "prof", "st", "vs",
        "jr", "sr", "no",
    ];
    low.chars().count() == 1 || low.contains('.') || SHORT.contains(&low)
}

/// Words that part two sides and are no verbs.
const PIVOTS: &[&str] = &[
    "than", "from", "before", "after", "by", "to", "over", "against", "into",
];

fn is_be(word: &Word) -> bool {
    matches!(
        &*word.low,
        "is" | "are" | "was" | "were" | "been" | "being" | "be" | "got"
    )
}

/// Whether the verb at a place is passive: a form of "to be" before it, "by" behind it.
fn is_passive(words: &[Word], at: usize) -> bool {
    let before = words[at.saturating_sub(3)..at].iter().any(is_be);
    let mut behind = words[at + 1..]
        .iter()
        .take(7)
        .take_while(|word| !word.begins);
    let by = behind.position(|word| word.low == "by");
    let is_participle = words[at].low.ends_with("ed") || words[at].low.ends_with("en");
    by.is_some_and(|by| by <= BY_NEAR || before || is_participle)
}

/// Whether a verb is passive without a "by": a participle right behind a form of "to be".
fn is_passive_without_agent(words: &[Word], at: usize) -> bool {
    let before = words[at.saturating_sub(2)..at].iter();
    let is_participle = words[at].low.ends_with("ed") || words[at].low.ends_with("en");
    is_participle && before.into_iter().any(is_be)
}

/// Right before `by` it is passive whatever its form: "built by", "sold off by".
const BY_NEAR: usize = 1;

/// The content words on each side of a place within its clause, nearest first.
fn sides(words: &[Word], at: usize) -> [Vec<&str>; 2] {
    let is_telling = |word: &Word| {
        word.low.len() > 2 || word.is_name || word.low.contains(|c: char| c.is_ascii_digit())
    };
    let is_named = |word: &&Word| word.is_content && !word.is_number && is_telling(word);
    let mut start = at;
    while start > 0 && !words[start].begins && at - start < SIDE {
        start -= 1;
    }
    let left = words[start..at].iter().rev().filter(is_named);
    let right = words[at + 1..]
        .iter()
        .take(SIDE)
        .take_while(|word| !word.begins)
        .filter(is_named);
    [
        left.map(|word| &*word.stem).collect(),
        right.map(|word| &*word.stem).collect(),
    ]
}

/// Content words beside one that tell it from another.
const BESIDE: usize = 3;

/// The words on each side of a content word, nearest first, within its clause.
fn beside(words: &[Word], at: usize) -> [Vec<&str>; 2] {
    let is_named = |word: &&Word| word.is_content && word.low.len() > 1;
    let mut start = at;
    while start > 0 && !words[start].begins && at - start < SIDE {
        start -= 1;
    }
    let left = words[start..at].iter().rev().filter(is_named).take(BESIDE);
    let right = words[at + 1..]
        .iter()
        .take(SIDE)
        .take_while(|word| !word.begins)
        .filter(is_named)
        .take(BESIDE);
    [
        left.map(|word| &*word.stem).collect(),
        right.map(|word| &*word.stem).collect(),
    ]
}

/// Whether two names or numbers of a claim stand in each other's places in a passage: each beside the words that the
/// other one has beside it in the claim.
pub(crate) fn are_exchanged(claim: &str, passage: &str) -> bool {
    let (claim, passage) = (words(claim), words(passage));
    let is_voiced =
        |words: &[Word]| (1..words.len()).any(|at| words[at].is_content && is_passive(words, at));
    if is_voiced(&claim) != is_voiced(&passage) {
        return false;
    }
    let single = |words: &[Word], stem: &str| {
        let mut places = (0..words.len()).filter(|at| words[*at].stem == stem);
        let first = places.next()?;
        places.next().is_none().then_some(first)
    };
    let shared: Vec<(usize, usize)> = (0..claim.len())
        .filter(|at| claim[*at].is_content && (claim[*at].is_name || claim[*at].is_number))
        .filter_map(|at| {
            single(&claim, &claim[at].stem)?;
            Some((at, single(&passage, &claim[at].stem)?))
        })
        .take(12)
        .collect();
    let agree = |one: usize, other: usize, not: [&str; 2]| {
        let (mine, its) = (beside(&claim, one), beside(&passage, other));
        let pairs = mine.iter().zip(&its);
        let common = |(mine, its): (&Vec<&str>, &Vec<&str>)| {
            mine.iter()
                .filter(|stem| its.contains(stem) && !not.contains(stem))
                .count()
        };
        pairs.map(common).sum::<usize>()
    };
    for (number, &(one, its_one)) in shared.iter().enumerate() {
        for &(other, its_other) in &shared[number + 1..] {
            let not = [&*claim[one].stem, &*claim[other].stem];
            if claim[one].is_number != claim[other].is_number
                || other == one + 1
                || its_one.abs_diff(its_other) == 1
            {
                continue;
            }
            let (crossed_one, crossed_other) =
                (agree(one, its_other, not), agree(other, its_one, not));
            let (straight_one, straight_other) =
                (agree(one, its_one, not), agree(other, its_other, not));
            if crossed_one > 0
                && crossed_other > 0
                && crossed_one + crossed_other > straight_one + straight_other
            {
                return true;
            }
        }
    }
    false
}

/// So many content words on each side of a verb or preposition of a claim play a role beside it,
const ROLES: usize = 2;
/// and so many of a passage, which says more.
const ROLES_OF_PASSAGE: usize = 4;

fn near<'a>(side: &'a [&'a str]) -> &'a [&'a str] {
    &side[..side.len().min(ROLES_OF_PASSAGE)]
}

/// The first content words behind "by" after a passive verb: who does it.
fn agents(words: &[Word], verb: usize) -> Vec<&str> {
    let behind = words[verb + 1..].iter().take_while(|word| !word.begins);
    let after = behind.skip_while(|word| word.low != "by").skip(1);
    after
        .filter(|word| word.is_content)
        .take(ROLES)
        .map(|word| &*word.stem)
        .collect()
}

/// Whether a claim turns round what a passage says: of two words, one left and one right of a shared verb or preposition,
/// each stands on the other side in the passage, in the same voice; or both keep their places and the voice changes. Two that
/// stand as they should beside any other verb or preposition are not turned.
pub(crate) fn are_swapped(claim: &str, passage: &str) -> bool {
    let (claim, passage) = (words(claim), words(passage));
    let is_single = |words: &[Word], stem: &str| {
        let mut places = words
            .iter()
            .filter(|word| word.is_content && word.stem == stem);
        places.next().is_some() && places.next().is_none()
    };
    let shared: Vec<&str> = claim.iter().map(|word| &*word.stem).collect();
    let shared: Vec<&str> = shared
        .into_iter()
        .filter(|stem| is_single(&claim, stem) && is_single(&passage, stem))
        .collect();
    let (mut turned, mut kept) = (Vec::new(), Vec::new());
    for (at, pivot) in claim.iter().enumerate() {
        let is_preposition = PIVOTS.contains(&&*pivot.low);
        if (!pivot.is_content && !is_preposition) || pivot.is_number {
            continue;
        }
        let is_pivot = |word: &Word| match is_preposition {
            true => word.low == pivot.low,
            false => word.is_content && word.stem == pivot.stem,
        };
        let [left, right] = sides(&claim, at).map(|mut side| {
            side.truncate(ROLES);
            side.retain(|stem| shared.contains(stem));
            side
        });
        if left.is_empty() || right.is_empty() {
            continue;
        }
        for (other, _) in passage
            .iter()
            .enumerate()
            .filter(|(_, word)| is_pivot(word))
        {
            let [its_left, its_right] = sides(&passage, other);
            let (is_voiced, was_voiced) = (is_passive(&claim, at), is_passive(&passage, other));
            // "It is not approved in any country" beside "No country has approved it".
            if !is_preposition
                && !is_voiced
                && !was_voiced
                && is_passive_without_agent(&claim, at) != is_passive_without_agent(&passage, other)
            {
                continue;
            }
            // Only who does it changes sides with the voice.
            let agents = match (is_preposition, is_voiced, was_voiced) {
                (false, true, false) => Some(agents(&claim, at)),
                (false, false, true) => Some(agents(&passage, other)),
                _ => None,
            };
            for (one, two) in left
                .iter()
                .flat_map(|one| right.iter().map(move |two| (*one, *two)))
            {
                let is_straight = its_left.contains(&one) && its_right.contains(&two);
                let is_crossed = its_right.contains(&one) && its_left.contains(&two);
                let is_near = near(&its_right).contains(&one) && near(&its_left).contains(&two);
                let (is_turned, is_kept) = match &agents {
                    None => (is_crossed && is_near, is_straight),
                    Some(agents) => (is_straight && agents.contains(&two), is_crossed),
                };
                turned.extend(is_turned.then_some((one, two)));
                kept.extend(is_kept.then_some((one, two)));
            }
        }
    }
    turned.iter().any(|pair| !kept.contains(pair))
}

#[cfg(test)]
mod tests {
    use crate::evidence::engine::account::roles::*;

    #[test]
    fn roles_that_are_swapped_are_seen() {
        for (claim, passage, expected) in [
            (
                "Nordpumpe sued Aldersund in August.",
                "Aldersund sued the Danish company Nordpumpe in August.",
                true,
            ),
            (
                "Aldersund was sued by Nordpumpe.",
                "Aldersund sued the Danish company Nordpumpe in August.",
                true,
            ),
            (
                "Nordpumpe was sued by Aldersund.",
                "Aldersund sued the Danish company Nordpumpe in August.",
                false,
            ),
            (
                "In August Aldersund sued Nordpumpe.",
                "Aldersund sued Nordpumpe in August.",
                false,
            ),
            (
                "Gwenllian Rees bought the inn from Evan Pugh.",
                "Evan Pugh bought the inn from the widow Gwenllian Rees.",
                true,
            ),
            (
                "The lake is deeper than the river.",
                "The river is deeper than the lake.",
                true,
            ),
            // Another word between the two stands as it should.
            (
                "The bank sued the auditor over the report.",
                "The auditor sued the bank over the report.",
                true,
            ),
            (
                "The agency has issued warning letters to companies.",
                "Companies have issued warning letters to the agency.",
                true,
            ),
            (
                "The firefighters thanked the mayor.",
                "The mayor thanked the firefighters.",
                true,
            ),
            (
                "Fergus Ashe built the bridge over the Lune.",
                "The bridge over the Lune was built by Fergus Ashe in 1911.",
                false,
            ),
            (
                "No country has approved lumorexin.",
                "Lumorexin is not approved in any country.",
                false,
            ),
            (
                "The court rejected the claim of the heirs.",
                "A claim of the heirs was rejected by the court in 1972.",
                false,
            ),
        ] {
            assert_eq!(are_swapped(claim, passage), expected, "{claim}");
        }
    }

    #[test]
    fn names_in_each_others_places_are_seen() {
        for (claim, passage, expected) in [
            (
                "It went off sale in Holland but goes on selling in Belgium.",
                "It went off sale in Belgium but goes on selling in Holland.",
                true,
            ),
            (
                "It went off sale in Belgium.",
                "It went off sale in Belgium but goes on selling in Holland.",
                false,
            ),
            (
                "Ann leads the north and Bob the south.",
                "Bob leads the north and Ann the south.",
                true,
            ),
        ] {
            assert_eq!(are_exchanged(claim, passage), expected, "{claim}");
        }
    }
}
