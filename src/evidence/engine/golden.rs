//! The features against those of the recipe that the engine follows, on paragraphs of SQuAD 2.0 (CC BY-SA 4.0, see
//! `tests/evidence/README.md`).

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;

use super::features::{Features, candidates};
use super::matching::Matching;
use super::question::Question;
use crate::evidence::Source;
use crate::evidence::reading::language::Language;
use crate::evidence::reading::page::Page;
use crate::evidence::reading::tokens::Form;
use crate::evidence::reading::words::known;

#[derive(Deserialize)]
struct Row {
    query: String,
    title: String,
    sentences: Vec<String>,
    features: BTreeMap<String, Vec<f64>>,
}

#[test]
fn features_are_those_of_the_recipe() {
    let rows: Vec<Row> = serde_json::from_str(include_str!("../../../tests/evidence/golden.json"))
        .expect("the fixture");
    let mut wrong = Vec::new();
    let mut compared = 0;
    for row in &rows {
        let text = row.sentences.join("\n");
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for sentence in &row.sentences {
            let start = ranges.last().map_or(0, |range| range.end + 1);
            ranges.push(start..start + sentence.len());
        }
        let source = Source {
            title: Some(&row.title),
            ..Source::of_text(&text)
        };
        let page = Page::of_sentences(&source, &ranges);
        let question = Question::new(&row.query, false, Language::English);
        // The recipe knows no derived synonyms.
        let derived = |at: &usize| {
            let mut stems = known().derived_synonyms(question.stem(*at));
            stems.any(|stem| page.lexicon.stem_of(stem).is_some())
        };
        // Nor that "4" and "four" are the same.
        let is_number = |at: &usize| {
            let form = question.form(*at);
            let mut forms = page.lexicon.forms.iter();
            let has_value = |other: &Form| other.number == form.number && other.low != form.low;
            form.number.is_some() && forms.any(has_value)
        };
        if question.terms.iter().any(|at| derived(at) || is_number(at)) {
            continue;
        }
        let matching = Matching::new(&page, &question);
        for (unit, candidate) in candidates(&matching).iter().enumerate() {
            for (name, value) in Features::NAMES.iter().zip(candidate.features.values()) {
                // Ours alone are not in the fixture.
                let Some(expected) = row.features.get(*name).map(|values| values[unit]) else {
                    continue;
                };
                compared += 1;
                if (value - expected).abs() > 2e-4 {
                    wrong.push(format!(
                        "{}: {unit} {name} {value} not {expected}",
                        row.query
                    ));
                }
            }
        }
    }
    assert!(compared > 9_000, "{compared}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
