//! Documents on their way to markdown: what their formats say becomes simple HTML, which is then converted like a page
//! without anything to leave out. So headings, lists, tables, links and notes come out as they do everywhere.

use super::super::{Metadata, PAGE_BYTES_MAX};

/// A document as HTML.
#[derive(Debug, Default)]
pub(in crate::markdown) struct Document {
    pub(in crate::markdown) html: String,
    pub(in crate::markdown) metadata: Metadata,
    /// A bound kept something out.
    pub(in crate::markdown) is_cut: bool,
}

/// More than this is cut: behind it only end tags follow.
const HTML_BYTES_MAX: usize = 4_000_000;

/// Writes HTML up to a bound.
#[derive(Debug, Default)]
pub(super) struct Html {
    pub(super) html: String,
    pub(super) is_cut: bool,
}

impl Html {
    /// Markup that is well formed.
    pub(super) fn markup(&mut self, markup: &str) {
        if self.has_space() || markup.starts_with("</") {
            self.html.push_str(markup);
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        if self.has_space() {
            push_escaped(&mut self.html, text);
        }
    }

    /// A start tag with one attribute.
    pub(super) fn start(&mut self, name: &str, attribute: &str, value: &str) {
        if self.has_space() {
            self.html.push_str(&format!("<{name} {attribute}=\""));
            push_escaped(&mut self.html, value);
            self.html.push_str("\">");
        }
    }

    fn has_space(&mut self) -> bool {
        self.is_cut |= self.html.len() > HTML_BYTES_MAX;
        !self.is_cut
    }
}

const _: () = assert!((HTML_BYTES_MAX as u64) < PAGE_BYTES_MAX);

pub(super) fn push_escaped(html: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '&' => html.push_str("&amp;"),
            '"' => html.push_str("&quot;"),
            _ => html.push(c),
        }
    }
}

/// An element's name without its prefix.
pub(super) fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// Where a link out of a document leads; places in the document itself and in other files of it are none.
pub(super) fn is_address(target: &str) -> bool {
    ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| target.starts_with(scheme))
}

/// The metadata that Dublin Core names say, in an office document or a book.
pub(super) fn dublin_core(text: &str, metadata: &mut Metadata) {
    use super::xml::{Event, walk};
    let mut name = String::new();
    walk(text, |event| match event {
        Event::Open(element, _) => local(&element.name).clone_into(&mut name),
        Event::Close(_) => name.clear(),
        Event::Text(text) => {
            let text = text.trim();
            if text.is_empty() || text.len() > TEXT_BYTES_MAX {
                return;
            }
            let field = match name.as_str() {
                "title" => &mut metadata.title,
                "creator" | "initial-creator" => &mut metadata.author,
                "description" => &mut metadata.description,
                "language" => &mut metadata.language,
                "created" | "creation-date" => &mut metadata.published_at,
                "modified" => &mut metadata.modified_at,
                _ => return,
            };
            field.get_or_insert_with(|| text.to_owned());
        }
    });
}

/// No title or name is longer.
const TEXT_BYTES_MAX: usize = 1_000;
