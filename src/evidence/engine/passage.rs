//! What is read beside a question: units of a page as plain statements, with the title and the heading they stand under.
//! `data/evidence/entailment/build.py` writes the texts that the entailment model is trained on in the same way.

use super::reservations::denies_what_follows;
use super::tabled::{TableRow, sign};
use crate::evidence::reading::page::Page;
use crate::evidence::reading::text::{cells, plain, plain_unit, unstruck};
use crate::markdown::PassageKind;

/// Characters of a title and of a heading.
const HEAD_CHARS: usize = 80;
/// Characters of one unit; the model reads fewer.
const UNIT_CHARS: usize = 1_200;

/// Units with what stands over them: "Title : Heading : text". They stand in the order of the page.
pub(crate) fn passage(page: &Page<'_>, units: &[usize]) -> String {
    let mut passage = String::new();
    let mut add = |part: &str, between: &str| {
        if !part.is_empty() {
            if !passage.is_empty() {
                passage.push_str(between);
            }
            passage.push_str(part);
        }
    };
    let title = head(page.title_text.unwrap_or_default());
    add(&title, " : ");
    if let Some(&first) = units.first() {
        let heading = page.heading_units(page.block(first)).last();
        let heading = heading
            .filter(|unit| *unit != first)
            .map(|unit| head(page.unit_text(unit)));
        add(
            &heading
                .filter(|heading| *heading != title)
                .unwrap_or_default(),
            " : ",
        );
    }
    for (number, &unit) in units.iter().enumerate() {
        add(
            &statement(page, unit),
            if number == 0 { " : " } else { " " },
        );
    }
    passage
}

fn head(text: &str) -> String {
    plain(text).chars().take(HEAD_CHARS).collect()
}

/// A unit as a plain statement: a table's row with the names of its columns and its signs in words, an item of a list with
/// what leads it in where that denies it.
pub(crate) fn statement(page: &Page<'_>, unit: usize) -> String {
    let text = &*unstruck(page.unit_text(unit));
    let block = page.block(unit);
    let statement = match (block.kind, page.context_unit(block)) {
        (PassageKind::Row, Some(header)) => {
            let names = cells(page.unit_text(header));
            let has_signs = TableRow::of(page, unit).is_some_and(|row| row.has_signs());
            let said = |cell: &str| match sign(cell).filter(|_| has_signs) {
                Some(true) => "yes".to_owned(),
                Some(false) => "no".to_owned(),
                None => plain(cell),
            };
            let named = cells(text)
                .into_iter()
                .enumerate()
                .filter(|(_, cell)| !cell.is_empty());
            let named =
                named.map(
                    |(at, cell)| match names.get(at).filter(|name| !name.is_empty()) {
                        Some(name) => format!("{}: {}", plain(name), said(cell)),
                        None => said(cell),
                    },
                );
            named.collect::<Vec<_>>().join("; ")
        }
        (PassageKind::Item, Some(lead_in)) if denies_what_follows(page.unit_text(lead_in)) => {
            let lead_in = plain_unit(page.unit_text(lead_in));
            format!("{} {}", lead_in.trim_end_matches(':'), plain_unit(text))
        }
        _ => plain_unit(text),
    };
    match statement.char_indices().nth(UNIT_CHARS) {
        Some((end, _)) => statement[..end].to_owned(),
        None => statement,
    }
}
