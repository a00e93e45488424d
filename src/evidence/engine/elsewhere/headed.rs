//! Whether a passage stands under the name of something else than what is asked about: a price under another product's
//! heading, a post under another writer's name.

use std::collections::BTreeSet;

use crate::evidence::Relation;
use crate::evidence::engine::account::quantities::{Kind, Quantity, quantities};
use crate::evidence::engine::passage::statement;
use crate::evidence::reading::blocks::Block;
use crate::evidence::reading::page::Page;
use crate::evidence::reading::text::{content, plain};
use crate::markdown::PassageKind;

/// Headings, or names of writers, beside the own one that are compared.
const OTHERS_MAX: usize = 200;
const FRAGMENT_WORDS_MAX: usize = 8;
const BYLINE_BYTES_MAX: usize = 100;
/// Blocks of a post that are gone back to find who wrote it.
const POST_BLOCKS_MAX: usize = 50;
/// What a line begins with that names a writer.
const WRITERS: [&str; 8] = [
    "by ",
    "posted by ",
    "written by ",
    "asked by ",
    "answered by ",
    "von ",
    "par ",
    "por ",
];

/// What the object of a list in a JSON document is about that a unit stands in, and what the others of the list are about.
fn objects(page: &Page<'_>, unit: usize) -> Option<(BTreeSet<String>, Vec<BTreeSet<String>>)> {
    let json = page.blocks.json.as_ref()?;
    let (own, others) = json.subjects(page.text, page.units[unit].block)?;
    let others = others.take(OTHERS_MAX).map(|other| content(&plain(&other)));
    Some((content(&plain(&own)), others.collect()))
}

/// Whether what is asked names another heading of the page of the same rank, or another writer, and not the one that this
/// unit stands under. A sentence under a heading has a subject of its own; a price or a size has not.
pub(super) fn is_of_another(page: &Page<'_>, question: &str, unit: usize) -> bool {
    let (own, others) = match byline_over(page, unit) {
        _ if page.blocks.json.is_some() => match objects(page, unit) {
            Some((own, others)) => (own, others),
            None => return false,
        },
        Some(own) => (own, other_bylines(page)),
        None if is_sentence(page.unit_text(unit)) => return false,
        None => match heading_over(page, unit) {
            Some((own, others)) => (own, others),
            None => return false,
        },
    };
    let asked = content(question);
    let is_of_all = |word: &String| {
        let mut names = others.iter().chain([&own]);
        names.all(|name| name.contains(word))
    };
    let telling = |name: &BTreeSet<String>| -> BTreeSet<String> {
        name.iter()
            .filter(|word| !is_of_all(word))
            .cloned()
            .collect()
    };
    let own = telling(&own);
    if own.is_empty() || own.iter().any(|word| asked.contains(word)) {
        return false;
    }
    let here = said_of(page, unit);
    others.iter().any(|other| {
        let name = telling(other);
        let is_named = name.iter().all(|word| asked.contains(word));
        !name.is_empty() && is_named && !name.iter().any(|word| here.contains(word))
    })
}

/// Whether what is asked is of another day than the one that the unit stands under, and that the unit does not name.
pub(super) fn is_of_another_day(page: &Page<'_>, question: &str, unit: usize) -> bool {
    let days = |text: &str| -> Vec<Quantity> {
        let found = quantities(text).into_iter();
        let is_day = |one: &Quantity| matches!(one.kind, Kind::Date([_, month, day]) if month > 0 && day > 0);
        found.filter(is_day).collect()
    };
    let asked = days(question);
    if asked.is_empty() || !days(&statement(page, unit)).is_empty() {
        return false;
    }
    let headings = page.heading_units(page.block(unit));
    let Some(over) = headings.last().map(|heading| days(page.unit_text(heading))) else {
        return false;
    };
    !over.is_empty()
        && asked.iter().all(|one| {
            let mut over = over.iter();
            over.all(|day| one.relation(day) == Relation::Differs)
        })
}

fn is_sentence(text: &str) -> bool {
    text.trim_end().ends_with(['.', '!', '?', '…', ':'])
        || text.split_whitespace().count() > FRAGMENT_WORDS_MAX
}

/// What a unit, its lead-in, the title and the headings above say.
fn said_of(page: &Page<'_>, unit: usize) -> BTreeSet<String> {
    let block = page.block(unit);
    let mut said = content(page.title_text.unwrap_or_default());
    let units = page.heading_units(block).chain(page.context_unit(block));
    for other in units.chain([unit]) {
        said.append(&mut content(&plain(page.unit_text(other))));
    }
    said
}

/// The name over a unit, and those of the other headings of its rank under the same heading.
fn heading_over(page: &Page<'_>, unit: usize) -> Option<(BTreeSet<String>, Vec<BTreeSet<String>>)> {
    let block = page.block(unit);
    if block.kind == PassageKind::Heading {
        return None;
    }
    let (own, outer) = {
        let mut path = page.blocks.path(block);
        (path.pop()?, path)
    };
    let heading = |number: usize| &page.blocks.headings[number];
    let level = heading(own).level;
    let name = |number: usize| content(&plain(&page.text[heading(number).range.clone()]));
    // As far as the next heading of a higher rank.
    let begin = outer.last().map_or(0, |outer| outer + 1);
    let others = (begin..page.blocks.headings.len())
        .take_while(|number| *number <= own || heading(*number).level >= level)
        .filter(|number| *number != own && heading(*number).level == level);
    Some((name(own), others.take(OTHERS_MAX).map(name).collect()))
}

fn byline_over(page: &Page<'_>, unit: usize) -> Option<BTreeSet<String>> {
    let number = page.units[unit].block;
    let headings = page.blocks.blocks[number].headings;
    let before = page.blocks.blocks[..number].iter().rev();
    before
        .take(POST_BLOCKS_MAX)
        .take_while(|block| block.headings == headings)
        .find_map(|block| writer(page, block))
}

fn other_bylines(page: &Page<'_>) -> Vec<BTreeSet<String>> {
    let blocks = page.blocks.blocks.iter();
    let mut writers: Vec<_> = blocks
        .filter_map(|block| writer(page, block))
        .take(OTHERS_MAX)
        .collect();
    writers.sort_unstable();
    writers.dedup();
    writers
}

/// Of a line such as "by **kabu** » 12. Sep 2024, 08:42" or "kabu wrote:" the name.
fn writer(page: &Page<'_>, block: &Block) -> Option<BTreeSet<String>> {
    let text = &page.text[block.range.clone()];
    if block.kind == PassageKind::Heading || text.len() > BYLINE_BYTES_MAX || text.contains('\n') {
        return None;
    }
    let text = plain(text);
    let lower = text.to_lowercase();
    let name = match WRITERS.iter().find(|begin| lower.starts_with(**begin)) {
        Some(begin) => text.get(begin.len()..)?,
        None => ["wrote:", "writes:", "said:", "says:"]
            .iter()
            .find_map(|end| text.strip_suffix(end))?,
    };
    let is_end = |c: char| !c.is_alphabetic() && !matches!(c, ' ' | '.' | '_' | '-' | '\'' | '’');
    let end = name.find(is_end).unwrap_or(name.len());
    let name = name[..end].split(" on ").next().unwrap_or_default();
    let name = content(name);
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use crate::evidence::Source;
    use crate::evidence::engine::elsewhere::headed::*;

    fn check(text: &str, said: &str, question: &str, expected: bool) {
        let page = Page::of(&Source::of_text(text), &[]);
        let mut units = 0..page.units.len();
        let unit = units
            .find(|unit| page.unit_text(*unit) == said)
            .expect("a unit");
        assert_eq!(is_of_another(&page, question, unit), expected, "{question}");
    }

    #[test]
    fn a_price_is_of_the_product_that_it_stands_under() {
        let page = "# Watches\n\n## Noire Watch\n\n$399.00 now\n\n## Griffin Watch\n\n$499.00 now\n\n# Help\n\n## Returns\n\nWithin 30 days.";
        check(page, "$499.00 now", "The Noire Watch costs $499.00.", true);
        check(page, "$399.00 now", "The Noire Watch costs $399.00.", false);
        check(page, "$499.00 now", "The watches cost $499.00.", false);
        // It compares the two.
        check(
            page,
            "$499.00 now",
            "The Griffin costs more than the Noire.",
            false,
        );
        let prose = "# Act\n\n## Copies\n\nIt is for 14 years.\n\n## Books\n\nIt was for 21.";
        check(prose, "It was for 21.", "Copies are for 21 years.", false);
    }

    #[test]
    fn an_incident_is_of_the_day_that_it_stands_under() {
        let page = "# Status\n\n## Aug 21 — Mails delayed\n\nAbout 2,300 customers were hit.\n\n## Sep 9 — Search slow\n\nIt was slow.";
        let page = Page::of(&Source::of_text(page), &[]);
        let mut units = 0..page.units.len();
        let unit = units.find(|unit| page.unit_text(*unit).contains("2,300"));
        let check = |question: &str, expected: bool| {
            let found = is_of_another_day(&page, question, unit.expect("a unit"));
            assert_eq!(found, expected, "{question}");
        };
        check("How many customers were hit on September 9?", true);
        check("How many customers were hit on August 21?", false);
        check("How many customers were hit on 21 August 2025?", false);
        check("How many customers were hit?", false);
    }

    #[test]
    fn a_post_is_of_the_one_who_wrote_it() {
        let page = "# Forum\n\nby **kabu** » 12. Sep 2024, 08:42\n\nI found it.\n\nby **ant** » 11. Sep 2024, 10:00\n\nI use Arch.";
        check(page, "I use Arch.", "kabu uses Arch.", true);
        check(page, "I use Arch.", "ant uses Arch.", false);
        check(page, "I use Arch.", "Somebody uses Arch.", false);
        let other = "# Forum\n\nkabu wrote:\n\nI found it.\n\nant wrote:\n\nI use Arch.";
        check(other, "I use Arch.", "kabu uses Arch.", true);
    }

    #[test]
    fn a_member_is_of_its_own_object() {
        let long = "words ".repeat(70);
        let text = format!(
            "```json\n{{\"plans\": [{{\"name\": \"Grove\", \"text\": \"{long}\", \"mails\": 60000}}, \
             {{\"name\": \"Canopy\", \"text\": \"{long}\", \"mails\": 300000}}]}}\n```"
        );
        let page = Page::of(&Source::of_text(&text), &[]);
        let mut units = 0..page.units.len();
        let unit = units.find(|unit| page.unit_text(*unit).contains("300000"));
        let check = |question: &str, expected: bool| {
            let unit = unit.expect("a unit");
            assert_eq!(is_of_another(&page, question, unit), expected, "{question}");
        };
        check("Grove allows 300,000 mails.", true);
        check("Canopy allows 300,000 mails.", false);
        check("A plan allows 300,000 mails.", false);
    }
}
