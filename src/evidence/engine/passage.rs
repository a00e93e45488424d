//! What is read beside a question: units of a page as plain statements, with the title and the heading they stand under.
//! `data/evidence/entailment/build.py` writes the texts that the entailment model is trained on in the same way.

use super::reservations::{denies_as_heading, denies_what_follows};
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
        let over = page.headings_over(first);
        let heading = over.last().map(|over| head(over));
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

/// The heading right over an item, or over a paragraph that goes on with its sentence, where it denies what follows.
pub(crate) fn denying_heading(page: &Page<'_>, unit: usize) -> Option<String> {
    let block = page.block(unit);
    if block.context.is_some() || !goes_on(block.kind, page.unit_text(unit)) {
        return None;
    }
    let heading = plain(page.unit_text(page.heading_units(block).last()?));
    denies_as_heading(&heading).then_some(heading)
}

/// Whether a passage may go on with the sentence that its heading begins.
pub(crate) fn goes_on(kind: PassageKind, text: &str) -> bool {
    match kind {
        PassageKind::Item => true,
        PassageKind::Paragraph => text.starts_with(char::is_lowercase),
        _ => false,
    }
}

/// "Do not take it" over "if you are pregnant", "Not included" over "Breakfast".
pub(crate) fn denied(heading: &str, text: String) -> String {
    let heading = heading.trim_end_matches([':', '.']);
    match text.starts_with(char::is_lowercase) {
        true => format!("{heading} {text}"),
        false => format!("{heading}: {text}"),
    }
}

fn head(text: &str) -> String {
    plain(text).chars().take(HEAD_CHARS).collect()
}

/// A unit as a plain statement: a table's row with the names of its columns and its signs in words, an item of a list with
/// what leads it in where that denies it.
pub(crate) fn statement(page: &Page<'_>, unit: usize) -> String {
    if page.blocks.json.is_some() {
        return page.unit_said(unit).chars().take(UNIT_CHARS).collect();
    }
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
        (PassageKind::Item | PassageKind::Paragraph, None) => match denying_heading(page, unit) {
            Some(heading) => denied(&heading, plain_unit(text)),
            None => plain_unit(text),
        },
        _ => plain_unit(text),
    };
    match statement.char_indices().nth(UNIT_CHARS) {
        Some((end, _)) => statement[..end].to_owned(),
        None => statement,
    }
}

/// A paragraph without the number that it begins with: "3.1 The", "(a) The", "§ 4 The".
pub(crate) fn without_number(text: &str) -> &str {
    let begun = text.trim_start();
    let is_section = begun.starts_with('§');
    let begun = begun.trim_start_matches('§').trim_start();
    let Some((number, rest)) = begun.split_once(' ') else {
        return text;
    };
    let has_sign = is_section || number.contains(['.', ')']);
    let is_number = number
        .chars()
        .all(|c| c.is_ascii_digit() || matches!(c, '.' | '(' | ')'))
        && number.contains(|c: char| c.is_ascii_digit());
    let is_letter =
        number.len() <= 3 && number.ends_with(')') && number.trim_matches(['(', ')']).len() == 1;
    match has_sign && (is_number || is_letter) && rest.starts_with(char::is_uppercase) {
        true => rest,
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_paragraph_is_no_part_of_it() {
        let check = |text: &str, expected: &str| assert_eq!(without_number(text), expected);
        check("3.1 The fee is due in May.", "The fee is due in May.");
        check("(a) The fee is due in May.", "The fee is due in May.");
        check("§ 4 The fee is due in May.", "The fee is due in May.");
        check("12 People came.", "12 People came.");
        check("3.5 litres are enough.", "3.5 litres are enough.");
    }
}
