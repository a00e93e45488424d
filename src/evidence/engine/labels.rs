//! The last decision: from the signals to the probabilities that a page states or contradicts what is asked, and the
//! bounds from which they are told. Read from `data/evidence/labels.txt`, which `data/evidence/labels.py` writes; fitted
//! on documents that the entailment model never saw.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::model::{Decision, ModelError};
use super::question::Asked;
use super::signals;

/// One decision with the bounds of its labels.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub(crate) decision: Decision,
    /// From this probability on it is plainly so, or partly.
    plain: f64,
    /// The same of a question for yes or no.
    plain_asked: f64,
    pub(crate) partly: f64,
}

impl Section {
    pub(crate) fn plain(&self, asked: Asked) -> f64 {
        match asked {
            Asked::YesNo => self.plain_asked,
            _ => self.plain,
        }
    }
}

/// The decisions for one way of reading: with the entailment model or by the words alone.
#[derive(Clone, Debug)]
pub(crate) struct Sections {
    pub(crate) claim: Section,
    pub(crate) denial: Section,
    pub(crate) question: Section,
}

#[derive(Clone, Debug)]
pub(crate) struct Labels {
    pub(crate) with_model: Sections,
    pub(crate) by_words: Sections,
}

static SHIPPED: LazyLock<Labels> = LazyLock::new(|| {
    let text = include_str!("../../../data/evidence/labels.txt");
    Labels::read(text).expect("a test reads the decisions that are compiled in")
});

impl Labels {
    pub(crate) fn shipped() -> &'static Labels {
        &SHIPPED
    }

    /// Reads `section NAME` and under each what [`Decision`] reads, with `plain`, `plain_asked` and `partly`.
    pub(crate) fn read(text: &str) -> Result<Labels, ModelError> {
        let names = signals::names();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut sections: BTreeMap<&str, Section> = BTreeMap::new();
        let mut here = "";
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix("section ") {
                here = name;
                continue;
            }
            let section = sections.entry(here).or_insert_with(|| Section {
                decision: Decision::new(names.len()),
                plain: 1.0,
                plain_asked: 1.0,
                partly: 1.0,
            });
            let value = |word: &str| line.strip_prefix(word).and_then(|value| value.parse().ok());
            let mut bounds = [
                ("plain ", &mut section.plain),
                ("plain_asked ", &mut section.plain_asked),
                ("partly ", &mut section.partly),
            ];
            let found = bounds
                .iter_mut()
                .find_map(|(word, bound)| Some((bound, value(word)?)));
            match found {
                Some((bound, value)) => **bound = value,
                None => section.decision.read(line, &names)?,
            }
        }
        let mut section = |name: String| {
            let found = sections.remove(name.as_str());
            found.ok_or_else(|| ModelError::of(&name))
        };
        let mut sections_of = |suffix: &str| -> Result<Sections, ModelError> {
            Ok(Sections {
                claim: section(format!("claim{suffix}"))?,
                denial: section(format!("denial{suffix}"))?,
                question: section(format!("question{suffix}"))?,
            })
        };
        Ok(Labels {
            with_model: sections_of("")?,
            by_words: sections_of(".words")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::engine::labels::*;

    #[test]
    fn the_decisions_that_are_compiled_in_can_be_read() {
        let labels =
            Labels::read(include_str!("../../../data/evidence/labels.txt")).expect("decisions");
        for section in [
            &labels.with_model.claim,
            &labels.by_words.claim,
            &labels.with_model.question,
        ] {
            assert!(section.partly < section.plain && section.plain < 1.0);
        }
    }

    #[test]
    fn what_is_no_decision_is_refused() {
        assert!(Labels::read("section claim\ntree nothing>1 0 1").is_err());
        assert!(Labels::read("").is_err());
    }
}
