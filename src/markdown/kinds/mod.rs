//! The kinds of text beside HTML, and how each becomes markdown. HTML streams; these are looked at as a whole, once
//! all of their bytes are there.

mod csv;
mod docx;
mod epub;
mod feed;
mod json;
mod markup;
mod notebook;
mod odt;
mod pdf;
mod recognise;
mod table;
mod xlsx;
mod xml;
mod zip;

use crate::domain::words;

use super::escape::longest_backtick_run;
use super::plain;
use super::{ConvertError, Metadata, Page, Settings, THIN_WORDS, Warning, wall_of_markdown};

pub(super) use markup::Document;
pub use recognise::{RECOGNISED_BYTES, may_be_read, recognised};
pub use table::{ContentKind, KINDS, Kind};
#[cfg(test)]
pub(super) use zip::tests::archive;

/// The markdown of any kind but HTML and what is packed, from decoded text.
pub(super) fn text_page(text: &str, settings: &Settings) -> Result<Page, ConvertError> {
    let text = plain::normalised(text);
    let mut page = match settings.kind {
        ContentKind::Markdown => {
            let markdown = plain::clean(&text, &settings.url);
            let (headings, links) = plain::headings_and_links(&markdown, &settings.url);
            Page {
                metadata: Metadata {
                    title: headings.first().map(|heading| heading.text.clone()),
                    ..Metadata::default()
                },
                markdown,
                links,
                headings,
                ..Page::default()
            }
        }
        ContentKind::Json => {
            let (markdown, metadata) = json::markdown(&text);
            Page {
                markdown,
                metadata,
                ..Page::default()
            }
        }
        ContentKind::Xml => xml::page(&text, &settings.url),
        ContentKind::Feed => feed::page(&text, &settings.url),
        ContentKind::Csv => {
            let written = csv::markdown(&text);
            let mut page = Page {
                markdown: written.markdown,
                ..Page::default()
            };
            if written.is_cut {
                page.warnings.push(Warning::Truncated);
            }
            page
        }
        ContentKind::Notebook => notebook::page(&text, &settings.url).unwrap_or_else(|| {
            let (markdown, metadata) = json::markdown(&text);
            Page {
                markdown,
                metadata,
                ..Page::default()
            }
        }),
        _ => Page {
            markdown: plain::as_markdown(&text),
            ..Page::default()
        },
    };
    if text.is_empty() {
        return Err(ConvertError::Empty);
    }
    if (words::count(&text) as u64) < THIN_WORDS && settings.kind.row().is_prose {
        page.warnings.push(Warning::ThinContent);
    }
    if matches!(
        settings.kind,
        ContentKind::Markdown | ContentKind::PlainText
    ) {
        page.wall = wall_of_markdown(page.metadata.title.as_deref(), &page.markdown);
    }
    Ok(page)
}

/// What is made of the bytes of a kind that is no text.
pub(super) enum Unpacked {
    Page(Page),
    /// To be converted like an HTML page.
    Document(Document),
}

/// The markdown, or HTML that says the same, of a kind that is no text.
pub(super) fn unpacked(bytes: &[u8], settings: &Settings) -> Result<Unpacked, ConvertError> {
    Ok(match settings.kind {
        ContentKind::Docx => Unpacked::Document(docx::document(bytes)?),
        ContentKind::Odt => Unpacked::Document(odt::document(bytes)?),
        ContentKind::Epub => Unpacked::Document(epub::document(bytes)?),
        ContentKind::Xlsx => Unpacked::Page(xlsx::page(bytes)?),
        _ => Unpacked::Page(pdf::page(bytes, settings)?),
    })
}

/// Text in a fence that nothing inside of it ends.
fn fence(language: &str, text: &str) -> String {
    let fence = "`".repeat((longest_backtick_run(text) + 1).max(3));
    let text = text.trim_end_matches('\n');
    format!("{fence}{language}\n{text}\n{fence}\n")
}
