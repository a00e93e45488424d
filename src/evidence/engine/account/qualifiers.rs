//! Words that qualify a statement: its certainty, time, quantifier, condition and speaker.

/// A class of qualifiers. Two statements that differ in one seldom say the same.
struct Class {
    name: &'static str,
    words: &'static [&'static str],
}

#[rustfmt::skip]
static CLASSES: [Class; 16] = [
    Class { name: "possible", words: &["may", "might", "could", "possibly", "perhaps", "maybe", "potentially", "likely", "unlikely", "probably", "suspected", "suspects", "appears", "seems", "reportedly", "allegedly", "presumably", "thought", "believed", "whether", "unclear", "can"] },
    Class { name: "intended", words: &["will", "plan", "plans", "planned", "intends", "intended", "proposes", "proposed", "proposal", "expected", "expects", "aims", "hopes", "hoped", "considering", "would", "should", "negotiated", "negotiating", "scheduled", "depends", "promised", "recommends", "recommended", "advises", "advised", "asked", "wants", "wished", "shall", "upcoming"] },
    Class { name: "required", words: &["must", "required", "requires", "require", "mandatory", "compulsory", "obliged", "needs", "need", "have to", "has to", "had to"] },
    Class { name: "voluntary", words: &["optional", "voluntary", "voluntarily", "free to", "allowed", "permitted", "optionally"] },
    Class { name: "former", words: &["formerly", "former", "previously", "used to", "once", "earlier", "until", "originally", "at first", "initially", "no longer", "then", "before", "ago", "had been", "old"] },
    Class { name: "now", words: &["now", "currently", "today", "still", "since", "at present", "nowadays", "already", "new", "current"] },
    Class { name: "corrected", words: &["correction", "corrected", "wrongly", "mistakenly", "mistake", "error", "incorrectly", "misread", "misprint", "erroneously", "correct", "given as", "in fact", "contrary"] },
    Class { name: "all", words: &["all", "every", "each", "whole", "entire", "always", "everyone", "everything", "any", "both", "entirely", "completely", "fully", "throughout"] },
    Class { name: "most", words: &["most", "majority", "mostly", "mainly", "usually", "largely", "nearly all", "almost all", "generally"] },
    Class { name: "some", words: &["some", "several", "many", "sometimes", "often", "partly", "partially", "various", "half", "part of"] },
    Class { name: "few", words: &["few", "rarely", "seldom", "hardly", "little", "minority", "scarcely"] },
    Class { name: "none", words: &["no", "none", "never", "neither", "nor", "not", "nobody", "nothing", "without", "cannot", "nowhere"] },
    Class { name: "only", words: &["only", "solely", "exclusively", "just", "alone", "sole", "single"] },
    Class { name: "except", words: &["except", "unless", "excluding", "apart from", "other than", "but not", "provided", "if", "only if", "on condition", "subject to", "as long as", "save for", "even"] },
    Class { name: "speaker", words: &["said", "says", "according to", "claims", "claimed", "argues", "argued", "believes", "believe", "thinks", "told", "stated", "reported", "doubts", "denies", "denied", "suggested", "suggests", "called", "opinion", "calls", "announced", "insists", "writes", "wrote"] },
    Class { name: "sole_rank", words: &["first", "last", "largest", "smallest", "highest", "lowest", "oldest", "youngest", "longest", "shortest", "best", "worst", "biggest", "fastest", "slowest", "cheapest"] },
];

/// The number of classes.
pub(crate) const CLASSES_COUNT: usize = CLASSES.len();

/// The names of the classes, in order.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    CLASSES.iter().map(|class| class.name)
}

/// Which classes a text has words of. "May" is mostly a month where it is written large inside a sentence.
pub(crate) fn classes(text: &str) -> [bool; CLASSES_COUNT] {
    let mut low = String::with_capacity(text.len() + 2);
    low.push(' ');
    for (at, word) in text
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’')))
        .filter(|word| !word.is_empty())
        .enumerate()
    {
        if at > 0 && word == "May" {
            continue;
        }
        let word = word.to_lowercase().replace('’', "'");
        match word.strip_suffix("n't") {
            Some(rest) => {
                low.push_str(rest);
                low.push_str(" not");
            }
            None => low.push_str(&word),
        }
        low.push(' ');
    }
    let has = |word: &str| low.contains(&format!(" {word} "));
    std::array::from_fn(|at| CLASSES[at].words.iter().any(|word| has(word)))
}
