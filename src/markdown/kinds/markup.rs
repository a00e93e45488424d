//! Documents on their way to markdown: what their formats say becomes simple HTML, which is then converted like a page
//! without anything to leave out. So headings, lists, tables, links and notes come out as they do everywhere.

use super::super::work::Work;
use super::super::{Metadata, PAGE_BYTES_MAX};
use super::xml::{Event, walk};

/// A document as HTML.
#[derive(Debug, Default)]
pub(in crate::markdown) struct Document {
    pub(in crate::markdown) html: String,
    pub(in crate::markdown) metadata: Metadata,
    /// A bound kept something out.
    pub(in crate::markdown) is_cut: bool,
}

/// The HTML is never longer, so that it is converted within the memory of a page.
pub(super) const HTML_BYTES_MAX: usize = 4_000_000;

const _: () = assert!((HTML_BYTES_MAX as u64) < PAGE_BYTES_MAX);

/// Writes well-formed HTML up to a bound: room for an end tag is set aside when its start tag is written, and an element
/// without room for both is left out.
#[derive(Debug, Default)]
pub(super) struct Html {
    html: String,
    is_cut: bool,
    /// The elements that are open; `None` for one that is left out.
    open: Vec<Option<&'static str>>,
    /// Bytes of the end tags that are still to come.
    end_bytes: usize,
}

impl Html {
    pub(super) fn open(&mut self, name: &'static str) {
        self.start(name, &format!("<{name}>"));
    }

    /// A start tag with one attribute.
    pub(super) fn open_with(&mut self, name: &'static str, attribute: &str, value: &str) {
        // A value may be long, and what refers to it may come a million times.
        if self.is_cut {
            self.open.push(None);
            return;
        }
        let mut tag = format!("<{name} {attribute}=\"");
        value.chars().for_each(|c| push_escaped(&mut tag, c));
        tag.push_str("\">");
        self.start(name, &tag);
    }

    fn start(&mut self, name: &'static str, tag: &str) {
        let end_bytes = "</>".len() + name.len();
        let fits = self.fits(tag.len() + end_bytes);
        if fits {
            self.html.push_str(tag);
            self.end_bytes += end_bytes;
        }
        self.open.push(fits.then_some(name));
    }

    /// Ends the innermost element that is open.
    pub(super) fn close(&mut self) {
        if let Some(Some(name)) = self.open.pop() {
            self.end_bytes -= "</>".len() + name.len();
            self.html.push_str(&format!("</{name}>"));
        }
    }

    /// An element that is empty, such as a line break.
    pub(super) fn void(&mut self, name: &str) {
        if self.fits("<>".len() + name.len()) {
            self.html.push_str(&format!("<{name}>"));
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        for c in text.chars() {
            if !self.fits(escaped(c).map_or(c.len_utf8(), str::len)) {
                return;
            }
            push_escaped(&mut self.html, c);
        }
    }

    /// Whether the bound kept something out; then nothing more is written.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Where the next element begins, for [`Html::repeat`].
    pub(super) fn place(&self) -> usize {
        self.html.len()
    }

    /// Writes the whole elements since a place again, so that they stand there as often as this.
    pub(super) fn repeat(&mut self, from: usize, times: usize) {
        let piece = self.html[from..].to_owned();
        for _ in 1..times {
            if !self.fits(piece.len()) {
                return;
            }
            self.html.push_str(&piece);
        }
    }

    fn fits(&mut self, bytes: usize) -> bool {
        self.is_cut |= self.html.len() + self.end_bytes + bytes > HTML_BYTES_MAX;
        !self.is_cut
    }

    /// With every element ended.
    pub(super) fn document(mut self, is_cut: bool) -> Document {
        while !self.open.is_empty() {
            self.close();
        }
        Document {
            is_cut: self.is_cut || is_cut,
            html: self.html,
            ..Document::default()
        }
    }
}

fn push_escaped(html: &mut String, c: char) {
    match escaped(c) {
        Some(entity) => html.push_str(entity),
        None => html.push(c),
    }
}

fn escaped(c: char) -> Option<&'static str> {
    match c {
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '&' => Some("&amp;"),
        '"' => Some("&quot;"),
        _ => None,
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
pub(super) fn dublin_core(text: &str, work: &Work, metadata: &mut Metadata) {
    // A value comes in pieces: an entity is one of its own.
    let (mut name, mut value) = (String::new(), String::new());
    walk(text, work, |event| match event {
        Event::Open(element, _) => {
            local(&element.name).clone_into(&mut name);
            value.clear();
        }
        Event::Text(text) => {
            if !name.is_empty() && value.len() + text.len() <= TEXT_BYTES_MAX {
                value.push_str(text);
            } else {
                name.clear();
            }
        }
        Event::Close(_) => {
            let field = match std::mem::take(&mut name).as_str() {
                "title" => &mut metadata.title,
                "creator" | "initial-creator" => &mut metadata.author,
                "description" => &mut metadata.description,
                "language" => &mut metadata.language,
                "created" | "creation-date" => &mut metadata.published_at,
                "modified" => &mut metadata.modified_at,
                _ => return,
            };
            let value = value.trim();
            if !value.is_empty() {
                field.get_or_insert_with(|| value.to_owned());
            }
        }
    });
}

/// No title or name is longer.
const TEXT_BYTES_MAX: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// The bound once looked at what was already written: escaping and end tags came on top of it.
    #[test]
    fn the_bound_is_exact_and_what_is_written_is_well_formed() {
        for (text, depth) in [("\"", 1), ("a", 3), ("&é", 200)] {
            let mut html = Html::default();
            for _ in 0..depth {
                html.open("ol");
                html.open_with("li", "id", "\"");
            }
            html.text(&text.repeat(HTML_BYTES_MAX));
            html.open("p");
            html.text("x");
            html.void("br");
            html.close();
            html.repeat(0, 2);
            let document = html.document(false);
            assert!(document.is_cut);
            let length = document.html.len();
            assert!(
                (HTML_BYTES_MAX - 8..=HTML_BYTES_MAX).contains(&length),
                "{length}"
            );
            assert!(!document.html.contains("<p>") && !document.html.contains("</p>"));
            assert!(document.html.ends_with(&"</li></ol>".repeat(depth)));
        }
        let mut html = Html::default();
        while !html.is_cut {
            html.open("strong");
        }
        let document = html.document(false);
        let (starts, ends) = (
            document.html.matches("<s").count(),
            document.html.matches("</").count(),
        );
        assert_eq!(starts, ends);
        assert!(document.html.len() <= HTML_BYTES_MAX);
    }

    #[test]
    fn metadata_is_read_in_pieces() {
        let mut metadata = Metadata::default();
        let long = "x".repeat(TEXT_BYTES_MAX + 1);
        dublin_core(
            &format!(
                "<a><dc:title> R&amp;D report </dc:title><dc:title>No</dc:title><dc:creator>A<b/>B</dc:creator><dc:description>{long}</dc:description></a>"
            ),
            &Work::default(),
            &mut metadata,
        );
        assert_eq!(metadata.title.as_deref(), Some("R&D report"));
        assert_eq!((metadata.author, metadata.description), (None, None));
    }
}
