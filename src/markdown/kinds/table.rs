//! The kinds of documents that are converted, one a row. A new kind is a row here and a file of its own beside it.

use url::Url;

use super::super::work::Work;
use super::super::{ConvertError, Page, Settings};
use super::markup::Document;
use super::{csv, docx, epub, feed, json, notebook, odt, pdf, text, xlsx, xml};

/// What is being read, as the response declared it and its first bytes confirm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentKind {
    /// HTML and XHTML.
    Html,
    Markdown,
    PlainText,
    Json,
    Xml,
    /// RSS, Atom and JSON Feed.
    Feed,
    /// Values separated by commas, semicolons or tabs.
    Csv,
    Pdf,
    Docx,
    Odt,
    Epub,
    Xlsx,
    /// Jupyter notebooks.
    Notebook,
}

/// How a kind becomes markdown.
#[derive(Clone, Copy, Debug)]
pub(in crate::markdown) enum Convert {
    /// While it arrives.
    Streamed,
    /// From the whole of its text, without control characters.
    Text(fn(&str, &Url, &Work) -> Page),
    /// From the whole of its bytes, which are no text.
    Bytes(fn(&[u8], &Settings, &Work) -> Result<Page, ConvertError>),
    /// The same, by way of HTML, which is then converted like a page.
    Document(fn(&[u8], &Work) -> Result<Document, ConvertError>),
}

/// What is known of a kind before a byte of it is read.
#[derive(Debug)]
pub struct Kind {
    pub kind: ContentKind,
    pub(in crate::markdown) convert: Convert,
    /// As people call it.
    pub name: &'static str,
    /// What answers call the source of its content.
    pub source: &'static str,
    /// Its media types; the first one is said of a body that does not say its own.
    pub types: &'static [&'static str],
    /// What names of files end with.
    pub endings: &'static [&'static str],
    /// A ZIP archive with one of these texts among its first bytes.
    pub is_archive: bool,
    pub signs: &'static [&'static str],
    /// The document may declare its encoding inside.
    pub is_markup: bool,
    /// Written to be read, so that very little of it is worth a warning.
    pub is_prose: bool,
    /// Bytes of memory that each byte takes at most, until it is converted.
    pub reading_factor: usize,
    /// What it takes while it is converted, however small it is: what it holds is packed.
    pub unpacked_bytes: usize,
    /// And for each of its bytes.
    pub unpacked_factor: usize,
}

impl Kind {
    /// Bytes of memory that a whole page of so many bytes takes while it is converted, beside what [`Kind::reading_factor`]
    /// says of kinds that are not packed.
    pub fn converting_bytes(&self, bytes: usize) -> usize {
        self.unpacked_bytes + self.unpacked_factor * bytes
    }
}

/// Looked at as a whole: its bytes, its characters, these without controls, and the markdown, which may be twice as long.
const TEXT: Kind = Kind {
    kind: ContentKind::PlainText,
    convert: Convert::Text(text::plain),
    name: "plain text",
    source: "text",
    types: &[],
    endings: &[],
    is_archive: false,
    signs: &[],
    is_markup: false,
    is_prose: false,
    reading_factor: 6,
    unpacked_bytes: 0,
    unpacked_factor: 0,
};

/// Unpacked part by part, each up to a bound (`zip.rs`), and written as HTML of at most 4 MB.
const ARCHIVE: Kind = Kind {
    is_archive: true,
    reading_factor: 2,
    unpacked_bytes: 40 * 1024 * 1024,
    ..TEXT
};

/// Every kind, in the order of [`ContentKind`].
pub const KINDS: [Kind; 13] = [
    Kind {
        kind: ContentKind::Html,
        convert: Convert::Streamed,
        name: "HTML",
        source: "html",
        types: &["text/html", "application/xhtml+xml"],
        endings: &["htm", "html", "xhtml"],
        is_markup: true,
        // Streamed: what is kept is its text.
        reading_factor: 4,
        ..TEXT
    },
    Kind {
        kind: ContentKind::Markdown,
        convert: Convert::Text(text::markdown),
        name: "markdown",
        source: "origin_markdown",
        types: &["text/markdown", "text/x-markdown", "application/markdown"],
        endings: &["md", "markdown", "mdown", "mkd"],
        is_prose: true,
        ..TEXT
    },
    Kind {
        types: &["text/plain"],
        is_prose: true,
        ..TEXT
    },
    Kind {
        kind: ContentKind::Json,
        convert: Convert::Text(json::page),
        name: "JSON",
        source: "json",
        types: &[
            "application/json",
            "text/json",
            "text/x-json",
            "application/x-ndjson",
            "application/jsonl",
            "application/json-seq",
            "application/x-jsonlines",
        ],
        endings: &["json", "jsonl", "ndjson", "geojson"],
        ..TEXT
    },
    Kind {
        kind: ContentKind::Xml,
        convert: Convert::Text(xml::page),
        name: "XML",
        source: "xml",
        types: &["application/xml", "text/xml"],
        endings: &["xml"],
        is_markup: true,
        // And the elements that are open.
        reading_factor: 9,
        ..TEXT
    },
    Kind {
        kind: ContentKind::Feed,
        convert: Convert::Text(feed::page),
        name: "feeds",
        source: "feed",
        types: &[
            "application/rss+xml",
            "application/atom+xml",
            "application/rdf+xml",
            "application/feed+json",
        ],
        is_markup: true,
        is_prose: true,
        reading_factor: 9,
        ..TEXT
    },
    Kind {
        kind: ContentKind::Csv,
        convert: Convert::Text(csv::page),
        name: "CSV",
        types: &[
            "text/csv",
            "application/csv",
            "text/tab-separated-values",
            "text/x-csv",
        ],
        endings: &["csv", "tsv"],
        ..TEXT
    },
    Kind {
        kind: ContentKind::Pdf,
        convert: Convert::Bytes(pdf::page),
        name: "PDF",
        source: "pdf",
        types: &["application/pdf", "application/x-pdf"],
        // Its streams are packed. A manual of thousands of pages has a hundred thousand objects.
        reading_factor: 2,
        unpacked_bytes: 40 * 1024 * 1024,
        unpacked_factor: 6,
        ..TEXT
    },
    Kind {
        kind: ContentKind::Docx,
        convert: Convert::Document(docx::document),
        name: "DOCX",
        source: "docx",
        types: &[
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "application/vnd.ms-word.document.macroenabled.12",
        ],
        endings: &["docx", "docm"],
        signs: &["word/"],
        ..ARCHIVE
    },
    Kind {
        kind: ContentKind::Odt,
        convert: Convert::Document(odt::document),
        name: "ODT",
        source: "odt",
        types: &["application/vnd.oasis.opendocument.text"],
        endings: &["odt"],
        signs: &["mimetypeapplication/vnd.oasis.opendocument.text"],
        ..ARCHIVE
    },
    Kind {
        kind: ContentKind::Epub,
        convert: Convert::Document(epub::document),
        name: "EPUB",
        source: "epub",
        types: &["application/epub+zip"],
        endings: &["epub"],
        signs: &["mimetypeapplication/epub+zip"],
        ..ARCHIVE
    },
    Kind {
        kind: ContentKind::Xlsx,
        convert: Convert::Bytes(|bytes, _, work| xlsx::page(bytes, work)),
        name: "XLSX",
        source: "xlsx",
        types: &[
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "application/vnd.ms-excel.sheet.macroenabled.12",
        ],
        endings: &["xlsx", "xlsm"],
        signs: &["xl/"],
        ..ARCHIVE
    },
    Kind {
        kind: ContentKind::Notebook,
        convert: Convert::Text(notebook::page),
        name: "Jupyter notebooks",
        source: "notebook",
        types: &["application/x-ipynb+json"],
        endings: &["ipynb"],
        // And one cell, before and after it is cleaned.
        reading_factor: 8,
        ..TEXT
    },
];

impl ContentKind {
    /// What is known of it.
    pub fn row(self) -> &'static Kind {
        static ROWS: [Kind; KINDS.len()] = KINDS;
        &ROWS[self as usize]
    }

    /// The type of a body that does not say its own.
    pub fn content_type(self) -> &'static str {
        match self {
            // Most readers of feeds take it, whichever kind the feed is.
            ContentKind::Feed => ContentKind::Xml.content_type(),
            _ => self.row().types.first().copied().unwrap_or("text/plain"),
        }
    }

    /// Whether it is no text, and waits to be whole.
    pub(in super::super) fn is_packed(self) -> bool {
        matches!(self.row().convert, Convert::Bytes(_) | Convert::Document(_))
    }
}

/// The names of all kinds, as a sentence lists them.
pub fn kind_names() -> String {
    let names = KINDS.map(|row| row.name);
    let [others @ .., last] = &names;
    format!("{} and {last}", others.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_kinds() {
        for (at, row) in KINDS.iter().enumerate() {
            assert_eq!(row.kind as usize, at, "{}", row.name);
            assert_eq!(row.kind.row().name, row.name);
            assert_eq!(row.unpacked_bytes > 0, row.kind.is_packed(), "{}", row.name);
        }
        assert!(kind_names().starts_with("HTML, markdown, "));
        assert!(kind_names().ends_with("XLSX and Jupyter notebooks"));
    }

    #[test]
    fn no_type_and_no_ending_stands_twice() {
        let mut all: Vec<&str> = KINDS
            .iter()
            .flat_map(|row| row.types.iter().chain(row.endings))
            .copied()
            .collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
