//! Reports as PDF documents. Pure: a report's members and the fonts in, the same bytes for the same input out. krilla
//! and parley are used here and nowhere else. Knows no order and no store; what it says, the report says.

mod block;
mod bundle;
mod flow;
mod fonts;
mod paint;
mod parts;
mod report;
mod shape;
#[cfg(test)]
mod tests;
mod words;

use std::fmt;

use serde::Deserialize as _;
use serde_json::{Map, Value};

use crate::evidence::bundle::BundleReport;
use crate::evidence::report::Report;
use crate::evidence::report::canonical::{bundle_text, report_text};
use crate::pdf::block::Block;
use crate::pdf::flow::Flow;
use crate::pdf::paint::{Attachment, Frame, paint};
use crate::pdf::shape::Typesetter;
use crate::pdf::words::{bounded, date_time};

pub use crate::pdf::fonts::{FontFile, Fonts};

/// A finished document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    pub bytes: Vec<u8>,
    pub pages: usize,
    /// Characters that no font could show. The document says so itself.
    pub missing_glyphs: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PdfError {
    /// The report lacks a member that every report has, in the parser's words.
    NotAReport(String),
    /// More pages than any report needs.
    TooLong,
    /// The library could not write it, in its own words.
    Unwritable(String),
}

impl fmt::Display for PdfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PdfError::NotAReport(why) => write!(f, "this is not a report: {why}"),
            PdfError::TooLong => {
                f.write_str("the report fills more pages than a document may have")
            }
            PdfError::Unwritable(why) => write!(f, "the document could not be written: {why}"),
        }
    }
}

impl std::error::Error for PdfError {}

/// The document's own words are English; the sources speak for themselves.
const LANGUAGE: &str = "en";
const TITLE_CHARS_MAX: usize = 200;

/// The document of a bundle's report.
pub fn render(report: &BundleReport, fonts: &Fonts) -> Result<Rendered, PdfError> {
    let cover = Cover {
        product: "Evidence Bundle",
        id: &report.order_id,
        question: &report.question,
        sha256: &report.result_hash,
        created_at: report.created_at,
        attachment: Attachment {
            name: "bundle.json",
            bytes: bundle_text(&report.members()),
        },
    };
    let blocks = bundle::blocks(report, cover.attachment.name);
    document(cover, blocks, fonts)
}

/// The document of a single Proof Pack report, of its JSON as it was sold.
pub fn render_report(members: &Map<String, Value>, fonts: &Fonts) -> Result<Rendered, PdfError> {
    let report = Report::deserialize(members);
    let report = report.map_err(|error| PdfError::NotAReport(error.to_string()))?;
    let cover = Cover {
        product: "Proof Pack",
        id: report.id(),
        question: &report.question,
        sha256: &report.result_hash,
        created_at: report.created_at,
        attachment: Attachment {
            name: "report.json",
            bytes: report_text(members),
        },
    };
    let blocks = report::blocks(&report, cover.attachment.name);
    document(cover, blocks, fonts)
}

/// What stands in a document's frame.
struct Cover<'a> {
    product: &'static str,
    id: &'a str,
    question: &'a str,
    sha256: &'a str,
    created_at: u64,
    attachment: Attachment<'static>,
}

fn document(cover: Cover<'_>, mut blocks: Vec<Block>, fonts: &Fonts) -> Result<Rendered, PdfError> {
    let mut typesetter = Typesetter::new(fonts);
    let mut flow = Flow::of(&blocks, &mut typesetter)?;
    let missing_glyphs = typesetter.missing;
    if missing_glyphs > 0 {
        let kinds: Vec<char> = typesetter.missing_kinds.iter().copied().collect();
        let facts = blocks
            .iter()
            .position(|block| matches!(block, Block::Table(_)));
        let below = facts.map_or(blocks.len(), |facts| facts + 1);
        blocks.insert(below, parts::missing(missing_glyphs, &kinds));
        flow = Flow::of(&blocks, &mut typesetter)?;
    }
    let Cover {
        product,
        id,
        sha256,
        ..
    } = cover;
    let title = format!("{product}: {}", bounded(cover.question, TITLE_CHARS_MAX));
    let subject = format!("{product} {id}, SHA-256 {sha256}");
    let frame = Frame {
        title: &title,
        subject: &subject,
        language: LANGUAGE,
        created_at: date_time(cover.created_at),
        id,
        sha256,
        attachment: cover.attachment,
    };
    let is_strict = missing_glyphs == 0;
    let painted = paint(&flow, &frame, &mut typesetter, is_strict);
    let bytes = match painted {
        // Characters of private use, for one, are against the standards and no reason to deliver nothing.
        Err(PdfError::Unwritable(_)) if is_strict => paint(&flow, &frame, &mut typesetter, false)?,
        painted => painted?,
    };
    Ok(Rendered {
        bytes,
        pages: flow.pages.len(),
        missing_glyphs,
    })
}
