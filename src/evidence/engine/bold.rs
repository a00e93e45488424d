//! Interviews, whose questions stand in bold without always a question mark: "**Your rent has doubled, people say.**"

use crate::evidence::reading::page::Page;
use crate::markdown::PassageKind;

/// Bold paragraphs that make an interview.
const BOLD_MIN: usize = 3;
/// Blocks that are looked at.
const BLOCKS_MAX: usize = 1_000;

/// Whether a unit stands in one of the bold paragraphs of a page, each before a plain one, most of which ask.
pub(crate) fn is_asked_in_bold(page: &Page<'_>, unit: usize) -> bool {
    let own = page.units[unit].block;
    let blocks = &page.blocks.blocks;
    let text = |at: usize| page.text[blocks[at].range.clone()].trim();
    let is_bold = |at: usize| {
        blocks[at].kind == PassageKind::Paragraph
            && text(at)
                .strip_prefix("**")
                .and_then(|rest| rest.strip_suffix("**"))
                .is_some_and(|inside| !inside.is_empty() && !inside.contains("**"))
    };
    let is_plain = |at: usize| {
        blocks
            .get(at)
            .is_some_and(|block| block.kind == PassageKind::Paragraph)
            && !is_bold(at)
    };
    if !is_bold(own) || !is_plain(own + 1) {
        return false;
    }
    let all = (0..blocks.len().min(BLOCKS_MAX)).filter(|at| is_bold(*at) && is_plain(at + 1));
    let all: Vec<usize> = all.collect();
    let asks = |at: &&usize| text(**at).trim_end_matches('*').ends_with(['?', '？']);
    all.len() >= BOLD_MIN && all.iter().filter(asks).count() * 2 > all.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Source;

    fn asked(markdown: &str, begins: &str) -> bool {
        let page = Page::of(&Source::of_text(markdown), &[]);
        let unit = (0..page.units.len()).find(|unit| page.unit_text(*unit).contains(begins));
        is_asked_in_bold(&page, unit.expect("the unit"))
    }

    #[test]
    fn bold_paragraphs_of_an_interview_ask() {
        let interview = "# A talk\n\n**How did you begin?**\n\nWith a stall.\n\n**Your rent has doubled, people say.**\n\nIt \
                         rose a little.\n\n**Who cooks?**\n\nMy brother does.\n";
        assert!(asked(interview, "Your rent"));
        assert!(!asked(interview, "It rose"));
        let notice = "# Notice\n\n**The bridge is closed.**\n\nIt opens in May.\n\n**Buses run hourly.**\n\nThey stop at \
                      noon.\n\n**Questions?**\n\nCall us.\n";
        assert!(!asked(notice, "The bridge"));
    }
}
