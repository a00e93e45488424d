//! The kinds of text beside HTML, and how each becomes markdown. HTML streams; these are looked at as a whole, once
//! all of their bytes are there.

mod csv;
mod docx;
mod epub;
mod feed;
mod inflate;
mod json;
mod markup;
mod notebook;
mod odt;
mod pdf;
mod recognise;
mod table;
mod text;
mod values;
mod xlsx;
mod xml;
mod zip;

use crate::domain::figures::grouped;
use crate::domain::words;

use super::escape::longest_backtick_run;
use super::plain;
use super::work::Work;
use super::{ConvertError, Page, Settings, THIN_WORDS, Warning};

pub(crate) use json::{Token as JsonToken, walk as json_tokens};
pub use recognise::{RECOGNISED_BYTES, may_be_read, recognised};
pub(super) use table::Convert;
pub use table::{ContentKind, KINDS, Kind, kind_names};
#[cfg(test)]
pub(super) use zip::tests::archive;

/// The markdown of a kind that is looked at as a whole, from decoded text.
pub(super) fn text_page(
    text: &str,
    settings: &Settings,
    work: &Work,
) -> Result<Page, ConvertError> {
    let row = settings.kind.row();
    let Convert::Text(convert) = row.convert else {
        return Err(ConvertError::NotText);
    };
    let text = plain::normalised(text);
    let mut page = convert(&text, &settings.url, work);
    work.look();
    if text.is_empty() {
        return Err(ConvertError::Empty);
    }
    if (words::count(&text) as u64) < THIN_WORDS && row.is_prose {
        page.warnings.push(Warning::ThinContent);
    }
    Ok(page)
}

/// What stands below a list or a table of which a bound kept something out.
fn left_out(shown: usize, all: usize, what: &str) -> String {
    let [shown, all] = [shown, all].map(|count| grouped(count as u64));
    format!("\nShowing the first {shown} of {all} {what}.\n")
}

/// Text in a fence that nothing inside of it ends.
fn fence(language: &str, text: &str) -> String {
    let fence = "`".repeat((longest_backtick_run(text) + 1).max(3));
    let text = text.trim_end_matches('\n');
    format!("{fence}{language}\n{text}\n{fence}\n")
}
