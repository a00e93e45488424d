//! ODT (OpenDocument 1.3): the elements of its text are nearly those of HTML.

use std::collections::HashMap;

use super::super::ConvertError;
use super::markup::{Document, Html, dublin_core, is_address, local};
use super::xml::{Element, Event, walk};
use super::zip::Archive;

/// Styles and notes that are remembered, of each.
const REMEMBERED_MAX: usize = 10_000;
/// A repeated cell or space is written so often.
const REPEATED_MAX: usize = 64;

pub(super) fn document(bytes: &[u8]) -> Result<Document, ConvertError> {
    let archive = Archive::open(bytes)?;
    let text = archive.main_text("content.xml")?;
    if archive
        .text("META-INF/manifest.xml")
        .is_some_and(|manifest| manifest.contains("encryption-data"))
    {
        return Err(ConvertError::EncryptedDocument);
    }
    let mut writer = Writer {
        styles: styles(&text),
        ..Writer::default()
    };
    let is_whole = walk(&text, |event| writer.take(event));
    let notes = std::mem::take(&mut writer.notes.html);
    writer.out.markup(&notes);
    let mut document = Document {
        is_cut: !is_whole || writer.out.is_cut || archive.is_cut(),
        html: writer.out.html,
        ..Document::default()
    };
    if let Some(text) = archive.text("meta.xml") {
        dublin_core(&text, &mut document.metadata);
    }
    Ok(document)
}

/// What a style does to text, or to the items of a list.
#[derive(Clone, Copy, Default)]
struct Style {
    is_bold: bool,
    is_italic: bool,
    /// Its first level counts.
    counts: bool,
}

fn styles(text: &str) -> HashMap<String, Style> {
    let mut found: HashMap<String, Style> = HashMap::new();
    let mut name = String::new();
    walk(text, |event| {
        let Event::Open(element, _) = event else {
            return;
        };
        match local(&element.name) {
            "style" | "list-style" => {
                element
                    .attribute("style:name")
                    .unwrap_or("")
                    .clone_into(&mut name);
            }
            "text-properties" if found.len() < REMEMBERED_MAX => {
                let style = found.entry(name.clone()).or_default();
                style.is_bold |= element.attribute("fo:font-weight") == Some("bold");
                style.is_italic |= element.attribute("fo:font-style") == Some("italic");
            }
            "list-level-style-number" if found.len() < REMEMBERED_MAX => {
                let is_first = element.attribute("text:level") == Some("1");
                found.entry(name.clone()).or_default().counts |= is_first;
            }
            _ => {}
        }
    });
    found
}

#[derive(Default)]
struct Writer {
    out: Html,
    notes: Html,
    note_count: usize,
    styles: HashMap<String, Style>,
    /// What each open element writes at its end; `None` leaves out what stands in it.
    open: Vec<Option<&'static str>>,
    /// How many open elements are of the text, and of a note.
    in_text: usize,
    in_note: usize,
}

impl Writer {
    fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Open(element, _) => {
                let end = match self.open.last() {
                    Some(None) => None,
                    _ => self.opened(element),
                };
                self.open.push(end);
                self.in_text += usize::from(self.in_text > 0 || local(&element.name) == "text");
                self.in_note +=
                    usize::from(self.in_note > 0 || local(&element.name) == "note-body");
            }
            Event::Text(text) => {
                if self.in_text > 0 && !matches!(self.open.last(), Some(None)) {
                    self.target().text(text);
                }
            }
            Event::Close(_) => {
                if let Some(Some(end)) = self.open.pop() {
                    self.target().markup(end);
                }
                self.in_text = self.in_text.saturating_sub(1);
                self.in_note = self.in_note.saturating_sub(1);
            }
        }
    }

    fn target(&mut self) -> &mut Html {
        match self.in_note {
            0 => &mut self.out,
            _ => &mut self.notes,
        }
    }

    fn opened(&mut self, element: &Element) -> Option<&'static str> {
        if self.in_text == 0 {
            return Some("");
        }
        let style = |name: &str| {
            let style = element
                .attribute(name)
                .and_then(|name| self.styles.get(name));
            style.copied().unwrap_or_default()
        };
        let (start, end) = match local(&element.name) {
            "h" => heading(element),
            "p" => ("<p>", "</p>"),
            "list" if style("text:style-name").counts => ("<ol>", "</ol>"),
            "list" => ("<ul>", "</ul>"),
            "list-item" | "list-header" => ("<li>", "</li>"),
            "span" => match style("text:style-name") {
                Style {
                    is_bold: true,
                    is_italic: true,
                    ..
                } => ("<strong><em>", "</em></strong>"),
                Style { is_bold: true, .. } => ("<strong>", "</strong>"),
                Style {
                    is_italic: true, ..
                } => ("<em>", "</em>"),
                _ => ("", ""),
            },
            "a" => {
                let target = element.attribute("xlink:href").unwrap_or("");
                if is_address(target) {
                    let target = target.to_owned();
                    self.target().start("a", "href", &target);
                    return Some("</a>");
                }
                ("", "")
            }
            "table" => ("<table>", "</table>"),
            "table-row" => ("<tr>", "</tr>"),
            "table-cell" => {
                for _ in 1..repeated(element, "table:number-columns-repeated") {
                    self.target().markup("<td></td>");
                }
                ("<td>", "</td>")
            }
            "covered-table-cell" => ("<td>", "</td>"),
            "s" => {
                let spaces = " ".repeat(repeated(element, "text:c"));
                self.target().text(&spaces);
                ("", "")
            }
            "tab" => (" ", ""),
            "line-break" => ("<br>", ""),
            "note-body" => {
                self.note_count += 1;
                let number = self.note_count;
                self.out
                    .markup(&format!("<sup><a href=\"#fn{number}\">{number}</a></sup>"));
                self.notes.markup(&format!("<ol><li id=\"fn{number}\">"));
                return Some("</li></ol>");
            }
            "note-citation" | "annotation" | "tracked-changes" | "frame" | "sequence-decls" => {
                return None;
            }
            _ => ("", ""),
        };
        self.target().markup(start);
        Some(end)
    }
}

fn heading(element: &Element) -> (&'static str, &'static str) {
    match element.attribute("text:outline-level") {
        Some("2") => ("<h2>", "</h2>"),
        Some("3") => ("<h3>", "</h3>"),
        Some("4") => ("<h4>", "</h4>"),
        Some("5") => ("<h5>", "</h5>"),
        Some("6" | "7" | "8" | "9" | "10") => ("<h6>", "</h6>"),
        _ => ("<h1>", "</h1>"),
    }
}

fn repeated(element: &Element, name: &str) -> usize {
    let count = element.attribute(name).and_then(|count| count.parse().ok());
    count.unwrap_or(1usize).clamp(1, REPEATED_MAX)
}

#[cfg(test)]
mod tests {
    use super::super::zip::tests::archive;
    use super::*;

    fn check(body: &str, expected: &str) {
        let text = format!(
            "<office:document-content><office:automatic-styles><style:style style:name=\"B\"><style:text-properties fo:font-weight=\"bold\"/></style:style>\
             <text:list-style style:name=\"N\"><text:list-level-style-number text:level=\"1\"/></text:list-style></office:automatic-styles>\
             <office:body><office:text>{body}</office:text></office:body></office:document-content>"
        );
        let bytes = archive(&[("mimetype", b"x"), ("content.xml", text.as_bytes())]);
        assert_eq!(
            document(&bytes).expect("a document").html,
            expected,
            "{body}"
        );
    }

    #[test]
    fn text_becomes_html() {
        check(
            "<text:h text:outline-level=\"2\">Gates</text:h><text:p>a <text:span text:style-name=\"B\">b&amp;c</text:span><text:line-break/>d</text:p>",
            "<h2>Gates</h2><p>a <strong>b&amp;c</strong><br>d</p>",
        );
        check(
            "<text:list text:style-name=\"N\"><text:list-item><text:p>a</text:p></text:list-item></text:list>",
            "<ol><li><p>a</p></li></ol>",
        );
        check(
            "<text:p><text:a xlink:href=\"https://gate.example/\">a</text:a><text:a xlink:href=\"javascript:x\">b</text:a></text:p>",
            "<p><a href=\"https://gate.example/\">a</a>b</p>",
        );
        check(
            "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row></table:table>",
            "<table><tr><td><p>a</p></td></tr></table>",
        );
    }

    #[test]
    fn notes_stand_at_the_end() {
        check(
            "<text:p>a<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>n</text:p></text:note-body></text:note> b<office:annotation><text:p>x</text:p></office:annotation></text:p>",
            "<p>a<sup><a href=\"#fn1\">1</a></sup> b</p><ol><li id=\"fn1\"><p>n</p></li></ol>",
        );
    }
}
