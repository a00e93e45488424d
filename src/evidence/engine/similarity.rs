//! How close in meaning units of a page are to a question, by a small sentence encoder: what finds passages that say it in
//! other words. It orders the best candidates that the words have found, and finds none of its own.

use std::sync::LazyLock;

use entailment::{Similarity, Workspace};

use super::entail::MODEL;
use super::passage::passage;
use crate::evidence::Depth;
use crate::evidence::reading::page::Page;

/// Written by `data/evidence/entailment/similarity.py`.
static DIFFERENCES: &[u8] = include_bytes!("../../../data/evidence/entailment/similarity.bin");

static ENCODER: LazyLock<Similarity<'static>> = LazyLock::new(|| {
    Similarity::read(DIFFERENCES, &MODEL).expect("a test reads the weights that are compiled in")
});

/// The most units that are compared with one question, and pieces that are read of each and of the question: together 4 MB of
/// hidden states beside the 2 MB of a layer.
pub(crate) const COMPARED_MAX: usize = 40;
const PIECES_MAX: usize = 64;

/// How many of the best candidates of a report are compared with its question.
pub(crate) fn compared(depth: Depth) -> usize {
    match depth {
        Depth::Quick => 0,
        Depth::Standard => 16,
        Depth::Deep => 40,
    }
}

/// Cosines of the first units with a question, of at most [`COMPARED_MAX`].
pub(crate) fn similarities(page: &Page<'_>, question: &str, units: &[usize]) -> Vec<f64> {
    let units = &units[..units.len().min(COMPARED_MAX)];
    let texts: Vec<String> = units.iter().map(|unit| passage(page, &[*unit])).collect();
    let cosines = ENCODER.cosines(question, &texts, PIECES_MAX, &mut Workspace::new());
    cosines.into_iter().map(f64::from).collect()
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;
    use crate::evidence::{Examiner, Reading, Source};

    /// One sentence answers the question in other words.
    const LANTERN: &str = concat!(
        "# The Lantern\n\n",
        include_str!("../../../tests/evidence/lantern.txt")
    );
    const QUESTION: &str = "By what transport do visitors reach the Lantern?";
    const ANSWER: &str = "Tram nine stops in front of the Lantern.";

    /// Where the answer stands, from 0.
    fn found(depth: Depth, units: impl Fn(&Examiner<'_>) -> Vec<std::ops::Range<usize>>) -> usize {
        let source = Source::of_text(LANTERN);
        let units = units(&Examiner::new(&source).at(depth));
        let place = units
            .iter()
            .position(|unit| &LANTERN[unit.clone()] == ANSWER);
        place.expect("the answer is found")
    }

    #[test]
    fn the_closest_say_it_in_other_words() {
        let source = Source::of_text(LANTERN);
        let examiner = Examiner::new(&source);
        let units: Vec<usize> = (1..examiner.page.units.len()).collect();
        let closest = |question: &str| {
            let found = similarities(&examiner.page, question, &units);
            assert_eq!(similarities(&examiner.page, question, &units), found);
            let mut order: Vec<usize> = (0..units.len()).collect();
            order.sort_by(|one, other| found[*other].total_cmp(&found[*one]));
            let texts = order.into_iter().take(2);
            texts
                .map(|at| examiner.page.unit_text(units[at]).to_owned())
                .collect::<Vec<_>>()
        };
        let given = "A brewer, Ida Holt, gave the money for the Lantern.";
        let paid = "Two librarians work at the Lantern and are paid by the town.";
        assert_eq!(closest("Who financed the building?"), [given, paid]);
        let painted = "The Lantern was painted green by Paul Weiss two years ago.";
        let roof = "The roof of the Lantern is made of oak.";
        assert_eq!(
            closest("Which colour does the house have?"),
            [painted, roof]
        );
        let umbrella = "Visitors get an umbrella from the Lantern on wet days.";
        let closed = "The Lantern is closed in winter.";
        assert_eq!(
            closest("What does the Lantern do when it rains?"),
            [umbrella, closed]
        );
    }

    #[test]
    fn reports_cite_the_answer_in_other_words_earlier() {
        let place = |depth| {
            found(depth, |examiner| {
                let findings = examiner.check(QUESTION, Reading::Question).findings;
                findings.into_iter().map(|finding| finding.range).collect()
            })
        };
        let (quick, standard, deep) = (
            place(Depth::Quick),
            place(Depth::Standard),
            place(Depth::Deep),
        );
        assert!(
            standard < quick && deep < quick,
            "{quick} {standard} {deep}"
        );
    }

    #[test]
    fn excerpts_rank_the_answer_in_other_words_higher() {
        let place = |depth| {
            found(depth, |examiner| {
                examiner.ranking(QUESTION, Reading::Question)
            })
        };
        let (quick, standard) = (place(Depth::Quick), place(Depth::Standard));
        assert!(standard < quick, "{quick} {standard}");
    }

    #[test]
    fn only_so_many_units_are_compared() {
        let source = Source::of_text(LANTERN);
        let examiner = Examiner::new(&source);
        let many = vec![1; COMPARED_MAX + 5];
        assert_eq!(
            similarities(&examiner.page, "Who?", &many).len(),
            COMPARED_MAX
        );
        assert!(similarities(&examiner.page, "Who?", &[]).is_empty());
    }

    #[test]
    fn the_weights_that_are_compiled_in_belong_together() {
        let encoder = Similarity::read(DIFFERENCES, &MODEL).expect("weights");
        let entailment = include_bytes!("../../../data/evidence/entailment/weights.bin");
        assert_eq!(encoder.base_sha256(), Sha256::digest(entailment).as_slice());
    }
}
