//! A text cut into its statements, each with its place and as it is put to sources: without the marks of markdown and notes,
//! behind the line that leads it in, with the subject that its pronoun stands for. Knows no source.

use std::ops::Range;

use super::grounding::{NoGrounding, needs_none};
use super::subject::{resolved, subject};
use crate::evidence::engine::claims::{clauses, is_verb};
use crate::evidence::reading::blocks::{Block, Blocks};
use crate::evidence::reading::sentences::{pieces, sentences};
use crate::evidence::reading::text::plain;
use crate::evidence::report::citation::row;
use crate::markdown::PassageKind;

/// A heading with more words names no subject.
const HEADING_WORDS_MAX: usize = 6;

/// A part of a text that a source may bear out by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// Bytes of the text.
    pub(super) range: Range<usize>,
    /// Why it needs no source.
    pub(super) reason: Option<NoGrounding>,
    /// As it is put to sources.
    pub(super) read_as: String,
    /// Words that do not stand in it were put in.
    pub(super) is_completed: bool,
}

/// The first statements of a text in its order, at most so many, and whether there are more.
pub(super) fn cut(text: &str, most: usize) -> (Vec<Statement>, bool) {
    let blocks = Blocks::of(text);
    let mut cutter = Cutter {
        text,
        blocks: &blocks.blocks,
        statements: Vec::new(),
        subject: None,
    };
    for number in 0..blocks.blocks.len() {
        if cutter.statements.len() > most {
            break;
        }
        cutter.block(number);
    }
    let mut statements = cutter.statements;
    let is_cut = blocks.is_cut || statements.len() > most;
    statements.truncate(most);
    (statements, is_cut)
}

struct Cutter<'a> {
    text: &'a str,
    blocks: &'a [Block],
    statements: Vec<Statement>,
    /// What the last claim was about.
    subject: Option<String>,
}

impl Cutter<'_> {
    fn block(&mut self, number: usize) {
        let block = &self.blocks[number];
        match block.kind {
            PassageKind::Heading => {
                let heading = plain(&self.text[block.range.clone()]);
                let is_name = heading.split_whitespace().count() <= HEADING_WORDS_MAX;
                if self.subject.is_none() && is_name {
                    self.subject = Some(heading);
                }
                self.pieces(block);
            }
            PassageKind::Code => self.pieces(block),
            PassageKind::Row => self.row(number),
            PassageKind::Paragraph | PassageKind::Item | PassageKind::Quote => {
                let lead_in = self.lead_in(block);
                for sentence in sentences(self.text, block.range.clone()) {
                    self.sentence(block.kind, &sentence, lead_in.as_deref());
                }
            }
        }
    }

    /// What is neither prose nor claimed.
    fn pieces(&mut self, block: &Block) {
        for range in pieces(self.text, block.range.clone()) {
            let read_as = plain(&self.text[range.clone()]);
            self.statements.push(Statement {
                reason: needs_none(&read_as, block.kind),
                range,
                read_as,
                is_completed: false,
            });
        }
    }

    /// A row says of its first cell what the header of the table names.
    fn row(&mut self, number: usize) {
        let block = &self.blocks[number];
        let next = self.blocks.get(number + 1);
        let is_header =
            next.is_some_and(|next| next.context == Some(number) && next.kind == PassageKind::Row);
        if is_header {
            self.statements.push(Statement {
                range: block.range.clone(),
                reason: Some(NoGrounding::Heading),
                read_as: plain(&self.text[block.range.clone()]),
                is_completed: false,
            });
            return;
        }
        let header = block
            .context
            .map(|header| &self.text[self.blocks[header].range.clone()]);
        for range in pieces(self.text, block.range.clone()) {
            let own = &self.text[range.clone()];
            let read_as = match header {
                Some(header) => row(header, own, &[]),
                None => plain(own),
            };
            self.statements.push(Statement {
                reason: needs_none(&read_as, block.kind),
                is_completed: header.is_some(),
                range,
                read_as,
            });
        }
    }

    /// "The plan includes" of "The plan includes:" before a list.
    fn lead_in(&self, block: &Block) -> Option<String> {
        let context = &self.blocks[block.context.filter(|_| block.kind == PassageKind::Item)?];
        let last = sentences(self.text, context.range.clone()).pop()?;
        let lead_in = read(&self.text[last]);
        let lead_in = lead_in.trim_end().strip_suffix([':', '：'])?;
        Some(lead_in.to_owned())
    }

    fn sentence(&mut self, kind: PassageKind, sentence: &Range<usize>, lead_in: Option<&str>) {
        let whole = read(&self.text[sentence.clone()]);
        // An item without a verb goes on with what leads it in: "single sign-on".
        let is_led = |words: &str| !words.split_whitespace().any(is_verb);
        let lead_in = lead_in.filter(|_| is_led(&whole));
        let reason = needs_none(&whole, kind)
            .filter(|reason| lead_in.is_none() || *reason != NoGrounding::Fragment);
        if reason.is_some() {
            self.statements.push(Statement {
                range: sentence.clone(),
                reason,
                read_as: whole,
                is_completed: false,
            });
            return;
        }
        for clause in clauses(self.text, sentence.clone()) {
            let own = read(&self.text[clause.range.clone()]);
            let mut read_as = read(&clause.text);
            if let Some(lead_in) = lead_in {
                read_as = format!("{lead_in} {read_as}");
            } else if let Some(subject) = &self.subject
                && let Some(resolved) = resolved(&read_as, subject)
            {
                read_as = resolved;
            }
            let reason = needs_none(&read_as, kind);
            if reason.is_none()
                && let Some(subject) = subject(&read_as)
            {
                self.subject = Some(subject);
            }
            self.statements.push(Statement {
                range: clause.range,
                reason,
                is_completed: read_as != own,
                read_as,
            });
        }
    }
}

/// What a reader sees of a piece of markdown, without the numbers of notes, which would be taken for figures.
fn read(markdown: &str) -> String {
    let mut text = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some(at) = rest.find('[') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = note(rest).unwrap_or(1);
        if length == 1 {
            text.push('[');
        }
        rest = &rest[length..];
    }
    text.push_str(rest);
    plain(&text)
}

/// The bytes of a note such as `[12]` or `[^a]`; the text of a link is none.
fn note(text: &str) -> Option<usize> {
    let end = text.find(']')?;
    let inner = &text[1..end];
    let is_number =
        (1..=3).contains(&inner.len()) && inner.bytes().all(|byte| byte.is_ascii_digit());
    let is_note = is_number || inner.starts_with('^');
    (is_note && !text[end + 1..].starts_with('(')).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use crate::evidence::check::cut::*;

    fn seen(text: &str) -> Vec<(&str, Option<NoGrounding>, String)> {
        let (statements, is_cut) = cut(text, 100);
        assert!(!is_cut);
        let seen = statements.into_iter();
        seen.map(|one| (&text[one.range], one.reason, one.read_as))
            .collect()
    }

    #[test]
    fn sentences_fall_into_clauses_that_know_their_subject() {
        let text = "Acme was founded in 1999 [1]. It employs **forty** people and exports bikes. Is it large?";
        assert_eq!(
            seen(text),
            [
                (
                    "Acme was founded in 1999 [1].",
                    None,
                    "Acme was founded in 1999 .".to_owned()
                ),
                (
                    "It employs **forty** people",
                    None,
                    "Acme employs forty people".to_owned()
                ),
                ("exports bikes.", None, "Acme exports bikes.".to_owned()),
                (
                    "Is it large?",
                    Some(NoGrounding::Question),
                    "Is it large?".to_owned()
                ),
            ]
        );
    }

    #[test]
    fn lists_and_tables_are_read_with_what_leads_them_in() {
        let text = "# Plans\n\nThe Pro plan includes:\n\n- single sign-on\n- It costs 20 dollars.\n\n\
            | Plan | Price |\n|---|---|\n| Pro | $20 |\n\n```\nlet a = 1;\n```";
        let seen = seen(text);
        let read: Vec<(Option<NoGrounding>, &str)> =
            seen.iter().map(|one| (one.1, one.2.as_str())).collect();
        assert_eq!(
            read,
            [
                (Some(NoGrounding::Heading), "Plans"),
                (Some(NoGrounding::Transition), "The Pro plan includes:"),
                (None, "The Pro plan includes single sign-on"),
                (None, "The Pro plan costs 20 dollars."),
                (Some(NoGrounding::Heading), "Plan · Price"),
                (None, "Pro · Price: $20"),
                (Some(NoGrounding::Code), "let a = 1;"),
            ]
        );
    }

    #[test]
    fn there_are_so_many_statements_at_most() {
        let text = "Ten cats sat there. ".repeat(20);
        let (statements, is_cut) = cut(&text, 7);
        assert_eq!((statements.len(), is_cut), (7, true));
        assert_eq!(cut("", 7), (Vec::new(), false));
    }
}
