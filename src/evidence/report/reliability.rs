//! How often a label was right, measured on questions with known answers. The table is `reliability` in
//! `data/evidence/figures.json`:
//!
//! ```json
//! "reliability": {"rows": [
//!   {"kind": "wh", "label": "supported", "depth": "standard", "right": 744, "of": 1042, "measured_on": "2026-11-22"}
//! ]}
//! ```
//!
//! `kind` is `claim`, `wh` or `yes_no`; `label` one of the report's; `of` counts the questions that got this label and
//! `right` those of them that deserved it; `measured_on` is a date. `depth` (`quick`, `standard` or `deep`) may be left
//! out of a row that holds for every depth without one of its own. A report of a kind, label and depth without a row has
//! no `decision.reliability`.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::report::QuestionForm;
use crate::evidence::report::citation::rounded;
use crate::evidence::{Depth, FIGURES, Label};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reliability {
    /// Of the questions of this kind that got this label, the share that deserved it.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub right_share: f64,
    /// How many questions that were.
    pub rows: u32,
    /// The date of the measurement.
    pub measured_on: String,
}

#[derive(Deserialize)]
struct Row {
    kind: QuestionForm,
    label: Label,
    depth: Option<Depth>,
    right: u32,
    of: u32,
    measured_on: String,
}

#[derive(Default, Deserialize)]
struct Table {
    rows: Vec<Row>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| table(FIGURES));

/// Empty where there is no table.
fn table(figures: &str) -> Table {
    #[derive(Deserialize)]
    struct Figures {
        #[serde(default)]
        reliability: Table,
    }
    serde_json::from_str(figures)
        .map_or_else(|_| Table::default(), |figures: Figures| figures.reliability)
}

/// As it was measured on questions of this kind.
pub(crate) fn measured(kind: QuestionForm, label: Label, depth: Depth) -> Option<Reliability> {
    TABLE.of(kind, label, depth)
}

impl Table {
    fn of(&self, kind: QuestionForm, label: Label, depth: Depth) -> Option<Reliability> {
        let rows = || {
            self.rows
                .iter()
                .filter(|row| row.kind == kind && row.label == label && row.of > 0)
        };
        let own = rows().find(|row| row.depth == Some(depth));
        let row = own.or_else(|| rows().find(|row| row.depth.is_none()))?;
        Some(Reliability {
            right_share: rounded(f64::from(row.right) / f64::from(row.of)),
            rows: row.of,
            measured_on: row.measured_on.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::report::reliability::*;

    #[test]
    fn the_row_of_the_kind_the_label_and_the_depth_is_told() {
        let table = table(
            r#"{"sets": {}, "reliability": {"rows": [
                {"kind": "wh", "label": "supported", "right": 3, "of": 4, "measured_on": "2026-11-22"},
                {"kind": "wh", "label": "supported", "depth": "deep", "right": 9, "of": 10, "measured_on": "2026-11-23"},
                {"kind": "claim", "label": "supported", "right": 0, "of": 0, "measured_on": "2026-11-22"}
            ]}}"#,
        );
        let share = |kind, label, depth| {
            table
                .of(kind, label, depth)
                .map(|told| (told.right_share, told.rows))
        };
        let (wh, supported) = (QuestionForm::Wh, Label::Supported);
        assert_eq!(share(wh, supported, Depth::Quick), Some((0.75, 4)));
        assert_eq!(share(wh, supported, Depth::Deep), Some((0.9, 10)));
        assert_eq!(share(wh, Label::Weak, Depth::Quick), None);
        assert_eq!(share(QuestionForm::Claim, supported, Depth::Quick), None);
    }

    #[test]
    fn without_a_table_nothing_is_told() {
        assert!(table(r#"{"sets": {}}"#).rows.is_empty());
    }

    /// A table that cannot be read would be none.
    #[test]
    fn the_shipped_table_can_be_read() {
        let figures: serde_json::Value = serde_json::from_str(FIGURES).expect("JSON");
        let rows = figures["reliability"]["rows"]
            .as_array()
            .map_or(0, Vec::len);
        assert_eq!(TABLE.rows.len(), rows);
        assert!(TABLE.rows.iter().all(|row| row.right <= row.of));
    }
}
