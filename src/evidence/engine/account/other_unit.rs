//! The number of a claim in another unit of the same kind: "125 m" beside "38 m (125 ft)". It denies the claim more surely than
//! another number does.

use super::Compared;
use super::quantities::{Kind, quantities};
use crate::evidence::Relation;

/// Whether a passage has the number of a measure that differs, in another unit.
pub(crate) fn is_in_another_unit(compared: &[Compared], passage: &str) -> bool {
    let found = quantities(passage);
    compared.iter().any(|one| {
        let asked = &one.asked;
        let is_other =
            |factor: f64| (factor - asked.factor).abs() > 1e-9 * factor.max(asked.factor);
        let mut found = found.iter();
        one.relation == Relation::Differs
            && matches!(asked.kind, Kind::Measured(_))
            && found.any(|found| {
                found.kind == asked.kind
                    && is_other(found.factor)
                    && (found.written - asked.written).abs() < 1e-9
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::engine::account::compare;

    #[test]
    fn the_same_number_may_be_of_another_unit() {
        let check = |claim: &str, passage: &str, expected: bool| {
            let found = is_in_another_unit(&compare(claim, &[passage]), passage);
            assert_eq!(found, expected, "{claim} / {passage}");
        };
        let height = "| Elevation | 38 m (125 ft) |";
        check("The town lies 125 metres above the sea.", height, true);
        check("The town lies 125 feet above the sea.", height, false);
        check("The town lies 38 metres above the sea.", height, false);
        check("The town lies 200 metres above the sea.", height, false);
        check(
            "The pause lasts 30 hours.",
            "The pause lasts 30 minutes.",
            true,
        );
        check(
            "The pause lasts 60 minutes.",
            "The pause lasts an hour, or 60 minutes.",
            false,
        );
    }
}
