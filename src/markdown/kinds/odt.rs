//! ODT (OpenDocument 1.3): the elements of its text are nearly those of HTML.

use std::collections::HashMap;

use super::super::ConvertError;
use super::super::work::Work;
use super::markup::{Document, Html, dublin_core, is_address, local};
use super::xml::{Element, Event, walk};
use super::zip::Archive;

/// Styles and notes that are remembered, of each.
const REMEMBERED_MAX: usize = 10_000;
/// A repeated cell or space is written so often at most.
const REPEATED_MAX: usize = 64;

pub(super) fn document(bytes: &[u8], work: &Work) -> Result<Document, ConvertError> {
    let archive = Archive::open(bytes)?;
    // Where all of a package is encrypted, the manifest is all that can be read (part 2, 3.4.3).
    if archive
        .text("META-INF/manifest.xml")
        .is_some_and(|manifest| manifest.contains("encryption-data"))
    {
        return Err(ConvertError::EncryptedDocument);
    }
    let text = archive.main_text("content.xml")?;
    let mut writer = Writer {
        styles: styles(&text, work),
        ..Writer::default()
    };
    let is_whole = walk(&text, work, |event| writer.take(event));
    writer.begin_notes();
    walk(&text, work, |event| writer.take(event));
    let mut document = writer.out.document(archive.finish()? || !is_whole);
    if let Some(text) = archive.text("meta.xml") {
        dublin_core(&text, work, &mut document.metadata);
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

fn styles(text: &str, work: &Work) -> HashMap<String, Style> {
    let mut found: HashMap<String, Style> = HashMap::new();
    let mut name = String::new();
    walk(text, work, |event| {
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

/// Goes through the text, and then once more for its notes, which stand at the end.
#[derive(Default)]
struct Writer {
    out: Html,
    styles: HashMap<String, Style>,
    is_at_notes: bool,
    note_count: usize,
    open: Vec<Open>,
    /// How many open elements are of the text, and of a note.
    in_text: usize,
    in_note: usize,
}

/// What the end of an open element does.
enum Open {
    /// What stands in it is left out.
    Skipped,
    /// Ends so many elements.
    Elements(usize),
    /// Ends a cell, which then stands there so often.
    Cell { from: usize, times: usize },
}

impl Writer {
    fn begin_notes(&mut self) {
        while let Some(open) = self.open.pop() {
            self.close(&open);
        }
        (self.in_text, self.in_note, self.note_count) = (0, 0, 0);
        self.is_at_notes = true;
    }

    fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Open(element, _) => {
                let open = match self.open.last() {
                    Some(Open::Skipped) => Open::Skipped,
                    _ => self.open(element),
                };
                self.open.push(open);
                let name = local(&element.name);
                self.in_text += usize::from(self.in_text > 0 || name == "text");
                self.in_note += usize::from(self.in_note > 0 || name == "note-body");
            }
            Event::Text(text) => {
                if self.writes() && !matches!(self.open.last(), Some(Open::Skipped)) {
                    self.out.text(text);
                }
            }
            Event::Close(_) => {
                if let Some(open) = self.open.pop() {
                    self.close(&open);
                }
                self.in_text = self.in_text.saturating_sub(1);
                self.in_note = self.in_note.saturating_sub(1);
            }
        }
    }

    /// Whether it is this turn's: the text, or the notes.
    fn writes(&self) -> bool {
        self.in_text > 0 && self.is_at_notes == (self.in_note > 0)
    }

    fn close(&mut self, open: &Open) {
        match *open {
            Open::Skipped => {}
            Open::Elements(count) => (0..count).for_each(|_| self.out.close()),
            Open::Cell { from, times } => {
                self.out.close();
                self.out.repeat(from, times);
            }
        }
    }

    fn open(&mut self, element: &Element) -> Open {
        let name = local(&element.name);
        // A picture's title; a document's title in its own text has another prefix.
        let is_about_a_picture = matches!(element.name.as_str(), "svg:title" | "svg:desc");
        match name {
            "note-citation" | "annotation" | "tracked-changes" | "sequence-decls" | "image"
            | "object" | "object-ole" | "plugin" | "applet" => return Open::Skipped,
            _ if is_about_a_picture => return Open::Skipped,
            "note-body" if self.in_text > 0 => return self.note(),
            _ if !self.writes() => return Open::Elements(0),
            _ => {}
        }
        let style = |name: &str| {
            let style = element
                .attribute(name)
                .and_then(|name| self.styles.get(name));
            style.copied().unwrap_or_default()
        };
        match name {
            "h" => self.elements(&[heading(element)]),
            "p" => self.elements(&["p"]),
            "list" if style("text:style-name").counts => self.elements(&["ol"]),
            "list" => self.elements(&["ul"]),
            "list-item" | "list-header" => self.elements(&["li"]),
            "span" => match style("text:style-name") {
                Style {
                    is_bold: true,
                    is_italic: true,
                    ..
                } => self.elements(&["strong", "em"]),
                Style { is_bold: true, .. } => self.elements(&["strong"]),
                Style {
                    is_italic: true, ..
                } => self.elements(&["em"]),
                _ => Open::Elements(0),
            },
            "a" => {
                let target = element.attribute("xlink:href").unwrap_or("");
                if !is_address(target) {
                    return Open::Elements(0);
                }
                self.out.open_with("a", "href", target);
                Open::Elements(1)
            }
            "table" => self.elements(&["table"]),
            "table-row" => self.elements(&["tr"]),
            "table-cell" | "covered-table-cell" => {
                let from = self.out.place();
                self.out.open("td");
                let times = repeated(element, "table:number-columns-repeated");
                Open::Cell { from, times }
            }
            "s" => self.text(&" ".repeat(repeated(element, "text:c"))),
            "tab" => self.text(" "),
            "line-break" => {
                self.out.void("br");
                Open::Elements(0)
            }
            _ => Open::Elements(0),
        }
    }

    fn elements(&mut self, names: &[&'static str]) -> Open {
        names.iter().for_each(|name| self.out.open(name));
        Open::Elements(names.len())
    }

    fn text(&mut self, text: &str) -> Open {
        self.out.text(text);
        Open::Elements(0)
    }

    /// In the text its number, among the notes itself. Notes in notes are left out.
    fn note(&mut self) -> Open {
        if self.in_note > 0 {
            return Open::Skipped;
        }
        self.note_count += 1;
        let number = self.note_count;
        if self.is_at_notes {
            self.out.open("ol");
            self.out.open_with("li", "id", &format!("fn{number}"));
            return Open::Elements(2);
        }
        self.out.open("sup");
        self.out.open_with("a", "href", &format!("#fn{number}"));
        self.out.text(&number.to_string());
        self.out.close();
        self.out.close();
        Open::Skipped
    }
}

fn heading(element: &Element) -> &'static str {
    match element.attribute("text:outline-level") {
        Some("2") => "h2",
        Some("3") => "h3",
        Some("4") => "h4",
        Some("5") => "h5",
        Some("6" | "7" | "8" | "9" | "10") => "h6",
        _ => "h1",
    }
}

fn repeated(element: &Element, name: &str) -> usize {
    let count = element.attribute(name).and_then(|count| count.parse().ok());
    count.unwrap_or(1usize).clamp(1, REPEATED_MAX)
}

#[cfg(test)]
mod tests {
    use super::super::markup::HTML_BYTES_MAX;
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
            document(&bytes, &Work::default()).expect("a document").html,
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

    #[test]
    fn repeated_cells_keep_their_text_and_the_others_their_place() {
        check(
            "<table:table><table:table-row><table:table-cell table:number-columns-repeated=\"2\"><text:p>a</text:p></table:table-cell>\
             <table:covered-table-cell table:number-columns-repeated=\"2\"/><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>",
            "<table><tr><td><p>a</p></td><td><p>a</p></td><td></td><td></td><td><p>b</p></td></tr></table>",
        );
    }

    #[test]
    fn text_boxes_are_text_and_pictures_are_none() {
        check(
            "<text:p>a<draw:frame><svg:title>x</svg:title><draw:text-box><text:p>in</text:p></draw:text-box></draw:frame>\
             <draw:frame><draw:object><text:p>x</text:p></draw:object><draw:image><text:p>x</text:p></draw:image><svg:desc>x</svg:desc></draw:frame>\
             <text:title>T</text:title></text:p>",
            "<p>a<p>in</p>T</p>",
        );
    }

    #[test]
    fn encrypted_packages_are_recognised_by_their_manifest() {
        let manifest: &[u8] = b"<manifest:manifest><manifest:file-entry manifest:full-path='encrypted-package'><manifest:encryption-data/></manifest:file-entry></manifest:manifest>";
        let parts = [("mimetype", &b"x"[..]), ("META-INF/manifest.xml", manifest)];
        for part in ["content.xml", "encrypted-package"] {
            let bytes = archive(&[&parts[..], &[(part, &[0xFF, 0, 1])]].concat());
            assert_eq!(
                document(&bytes, &Work::default()).err(),
                Some(ConvertError::EncryptedDocument)
            );
        }
    }

    /// Text and notes share one bound; once each had its own.
    #[test]
    fn text_notes_and_repeated_cells_share_the_bound() {
        let long = "\"".repeat(400_000);
        let cell = format!(
            "<table:table-cell table:number-columns-repeated='99'><text:p>{long}</text:p></table:table-cell>"
        );
        let note = format!(
            "<text:p>{long}<text:note><text:note-body><text:p>{long}</text:p></text:note-body></text:note></text:p>"
        );
        for body in [cell, note] {
            let text = format!("<office:text>{body}</office:text>");
            let parts: [(&str, &[u8]); 2] = [("mimetype", b"x"), ("content.xml", text.as_bytes())];
            let document = document(&archive(&parts), &Work::default());
            let document = document.expect("a document");
            assert!(document.is_cut);
            assert!(
                document.html.len() <= HTML_BYTES_MAX,
                "{}",
                document.html.len()
            );
        }
    }
}
