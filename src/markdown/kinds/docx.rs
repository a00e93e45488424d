//! DOCX (ECMA-376, WordprocessingML): paragraphs, headings, lists, tables, links, notes. Deleted text, field codes and
//! pictures are left out.

use std::collections::HashMap;

use super::super::ConvertError;
use super::markup::{Document, Html, dublin_core, is_address, local};
use super::xml::{Element, Event, walk};
use super::zip::Archive;

/// Styles, relations and notes that are remembered, of each.
const REMEMBERED_MAX: usize = 10_000;
/// Lists in lists.
const LEVELS_MAX: usize = 9;

pub(super) fn document(bytes: &[u8]) -> Result<Document, ConvertError> {
    let archive = Archive::open(bytes)?;
    let text = archive.main_text("word/document.xml")?;
    let mut writer = Writer {
        links: relations(&archive, "word/_rels/document.xml.rels"),
        headings: headings(&archive.text("word/styles.xml").unwrap_or_default()),
        ordered: numbering(&archive.text("word/numbering.xml").unwrap_or_default()),
        ..Writer::default()
    };
    let mut is_whole = walk(&text, |event| writer.take(event));
    writer.close_lists(0);
    for (part, kind) in [("footnotes", "footnote"), ("endnotes", "endnote")] {
        if writer.notes.iter().any(|(other, _)| *other == kind) {
            let text = archive.text(&format!("word/{part}.xml"));
            writer.links = relations(&archive, &format!("word/_rels/{part}.xml.rels"));
            is_whole &= walk(&text.unwrap_or_default(), |event| writer.take(event));
        }
    }
    let mut document = Document {
        is_cut: !is_whole || writer.out.is_cut || archive.is_cut(),
        html: writer.out.html,
        ..Document::default()
    };
    if let Some(text) = archive.text("docProps/core.xml") {
        dublin_core(&text, &mut document.metadata);
    }
    Ok(document)
}

/// The web addresses that a part's relations name.
pub(super) fn relations(archive: &Archive<'_>, name: &str) -> HashMap<String, String> {
    let mut found = HashMap::new();
    walk(&archive.text(name).unwrap_or_default(), |event| {
        if let Event::Open(element, _) = event
            && let (Some(id), Some(target)) = (element.attribute("Id"), element.attribute("Target"))
            && found.len() < REMEMBERED_MAX
        {
            found.insert(id.to_owned(), target.to_owned());
        }
    });
    found
}

/// Styles that are headings, and their levels.
fn headings(text: &str) -> HashMap<String, u8> {
    let mut found = HashMap::new();
    let mut style = String::new();
    walk(text, |event| {
        let Event::Open(element, _) = event else {
            return;
        };
        match local(&element.name) {
            "style" => element
                .attribute("w:styleId")
                .unwrap_or("")
                .clone_into(&mut style),
            "name" if found.len() < REMEMBERED_MAX => {
                let name = value(element).to_lowercase();
                let level = match name.strip_prefix("heading ").map(str::parse::<u8>) {
                    Some(Ok(level)) => Some(level.clamp(1, 6)),
                    _ => (name == "title").then_some(1),
                };
                if let Some(level) = level {
                    found.insert(style.clone(), level);
                }
            }
            "outlineLvl" if found.len() < REMEMBERED_MAX => {
                if let Ok(level @ 0..=5) = value(element).parse::<u8>() {
                    found.insert(style.clone(), level + 1);
                }
            }
            _ => {}
        }
    });
    found
}

/// The lists that count, by number and level.
fn numbering(text: &str) -> HashMap<(String, usize), bool> {
    let mut formats: HashMap<(String, usize), bool> = HashMap::new();
    let mut lists: HashMap<(String, usize), bool> = HashMap::new();
    let (mut kind, mut number, mut level) = (String::new(), String::new(), 0);
    walk(text, |event| {
        let Event::Open(element, _) = event else {
            return;
        };
        if formats.len() + lists.len() > REMEMBERED_MAX {
            return;
        }
        match local(&element.name) {
            "abstractNum" => element
                .attribute("w:abstractNumId")
                .unwrap_or("")
                .clone_into(&mut kind),
            "lvl" => {
                level = element
                    .attribute("w:ilvl")
                    .and_then(|level| level.parse().ok())
                    .unwrap_or(0)
            }
            "numFmt" => {
                let counts = !matches!(value(element), "bullet" | "none");
                formats.insert((kind.clone(), level), counts);
            }
            "num" => element
                .attribute("w:numId")
                .unwrap_or("")
                .clone_into(&mut number),
            "abstractNumId" => {
                for level in 0..LEVELS_MAX {
                    if formats.get(&(value(element).to_owned(), level)) == Some(&true) {
                        lists.insert((number.clone(), level), true);
                    }
                }
            }
            _ => {}
        }
    });
    lists
}

fn value(element: &Element) -> &str {
    element.attribute("w:val").unwrap_or("")
}

/// Whether a property that may be switched off is on.
fn is_on(element: &Element) -> bool {
    !matches!(value(element), "0" | "false" | "none" | "off")
}

#[derive(Default)]
struct Paragraph {
    html: Html,
    heading: Option<u8>,
    list: Option<(String, usize)>,
    /// Bold, italic, struck out: what is open.
    marks: [bool; 3],
}

const MARKS: [(&str, &str); 3] = [
    ("<strong>", "</strong>"),
    ("<em>", "</em>"),
    ("<del>", "</del>"),
];

/// What an open element is, as far as its end does something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Other,
    Paragraph,
    RunProperties,
    Run,
    Text,
    Table,
    Row,
    Cell,
    Link,
    Note,
    Skipped,
}

#[derive(Default)]
struct Writer {
    out: Html,
    links: HashMap<String, String>,
    headings: HashMap<String, u8>,
    ordered: HashMap<(String, usize), bool>,
    open: Vec<Open>,
    paragraphs: Vec<Paragraph>,
    /// Of each open list whether it counts.
    lists: Vec<bool>,
    run: [bool; 3],
    /// Notes that the text refers to, by kind and number; their places here are their numbers.
    notes: Vec<(&'static str, String)>,
}

impl Writer {
    fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Open(element, _) => {
                let is_skipped = self.open.last() == Some(&Open::Skipped);
                let open = match is_skipped {
                    true => Open::Skipped,
                    false => self.opened(element),
                };
                self.open.push(open);
            }
            Event::Text(text) if self.open.last() == Some(&Open::Text) => self.text(text),
            Event::Text(_) => {}
            Event::Close(_) => {
                if let Some(open) = self.open.pop() {
                    self.closed(open);
                }
            }
        }
    }

    fn opened(&mut self, element: &Element) -> Open {
        let in_properties = self.open.contains(&Open::RunProperties);
        match local(&element.name) {
            "p" => {
                self.paragraphs.push(Paragraph::default());
                Open::Paragraph
            }
            "pStyle" => {
                let heading = self.headings.get(value(element)).copied();
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.heading = paragraph.heading.or(heading);
                }
                Open::Other
            }
            "outlineLvl" => {
                if let (Some(paragraph), Ok(level @ 0..=5)) =
                    (self.paragraphs.last_mut(), value(element).parse::<u8>())
                {
                    paragraph.heading = Some(level + 1);
                }
                Open::Other
            }
            "ilvl" | "numId" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    let list = paragraph.list.get_or_insert_default();
                    match local(&element.name) {
                        "ilvl" => list.1 = value(element).parse().unwrap_or(0).min(LEVELS_MAX - 1),
                        _ => value(element).clone_into(&mut list.0),
                    }
                }
                Open::Other
            }
            "r" => {
                self.run = [false; 3];
                Open::Run
            }
            "rPr" if self.open.last() == Some(&Open::Run) => Open::RunProperties,
            "b" if in_properties => self.mark(0, element),
            "i" if in_properties => self.mark(1, element),
            "strike" | "dstrike" if in_properties => self.mark(2, element),
            "t" => Open::Text,
            "tab" if self.open.last() == Some(&Open::Run) => self.text_of_element(" "),
            "br" | "cr" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.html.markup("<br>");
                }
                Open::Other
            }
            "noBreakHyphen" => self.text_of_element("-"),
            "hyperlink" => {
                let target = element.attribute("r:id").and_then(|id| self.links.get(id));
                let target = target.filter(|target| is_address(target)).cloned();
                match (target, self.paragraphs.last_mut()) {
                    (Some(target), Some(paragraph)) => {
                        paragraph.mark([false; 3]);
                        paragraph.html.start("a", "href", &target);
                        Open::Link
                    }
                    _ => Open::Other,
                }
            }
            "tbl" => {
                self.close_lists(0);
                self.out.markup("<table>");
                Open::Table
            }
            "tr" => {
                self.out.markup("<tr>");
                Open::Row
            }
            "tc" => {
                self.out.markup("<td>");
                Open::Cell
            }
            "footnoteReference" => self.reference("footnote", element),
            "endnoteReference" => self.reference("endnote", element),
            "footnote" | "endnote" => self.note(element),
            // What was deleted, what a field is made from, and what stands in for what is not understood.
            "del" | "moveFrom" | "delText" | "instrText" | "Fallback" => Open::Skipped,
            _ => Open::Other,
        }
    }

    fn closed(&mut self, open: Open) {
        match open {
            Open::Paragraph => self.end_paragraph(),
            Open::Link => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.mark([false; 3]);
                    paragraph.html.markup("</a>");
                }
            }
            Open::Table => self.out.markup("</table>"),
            Open::Row => self.out.markup("</tr>"),
            Open::Cell => {
                self.close_lists(0);
                self.out.markup("</td>");
            }
            Open::Note => {
                self.close_lists(0);
                self.out.markup("</li></ol>");
            }
            Open::Other | Open::RunProperties | Open::Run | Open::Text | Open::Skipped => {}
        }
    }

    fn mark(&mut self, number: usize, element: &Element) -> Open {
        self.run[number] = is_on(element);
        Open::Other
    }

    fn text_of_element(&mut self, text: &str) -> Open {
        self.text(text);
        Open::Other
    }

    fn text(&mut self, text: &str) {
        let run = self.run;
        if let Some(paragraph) = self.paragraphs.last_mut() {
            let is_blank = text.trim().is_empty();
            if !is_blank {
                paragraph.mark(match paragraph.heading {
                    Some(_) => [false; 3],
                    None => run,
                });
            }
            paragraph.html.text(text);
        }
    }

    fn reference(&mut self, kind: &'static str, element: &Element) -> Open {
        let id = element.attribute("w:id").unwrap_or("").to_owned();
        if self.notes.len() < REMEMBERED_MAX {
            self.notes.push((kind, id));
            let number = self.notes.len();
            if let Some(paragraph) = self.paragraphs.last_mut() {
                paragraph.mark([false; 3]);
                paragraph
                    .html
                    .markup(&format!("<sup><a href=\"#fn{number}\">{number}</a></sup>"));
            }
        }
        Open::Other
    }

    fn note(&mut self, element: &Element) -> Open {
        let id = element.attribute("w:id").unwrap_or("");
        let kind = local(&element.name);
        let place = self
            .notes
            .iter()
            .position(|note| note.0 == kind && note.1 == id);
        let Some(place) = place else {
            return Open::Skipped;
        };
        self.out.markup(&format!("<ol><li id=\"fn{}\">", place + 1));
        Open::Note
    }

    fn end_paragraph(&mut self) {
        let Some(mut paragraph) = self.paragraphs.pop() else {
            return;
        };
        paragraph.mark([false; 3]);
        self.out.is_cut |= paragraph.html.is_cut;
        let html = paragraph.html.html;
        if html.trim().is_empty() {
            return;
        }
        // A text box in a paragraph.
        if let Some(around) = self.paragraphs.last_mut() {
            around.html.markup(&html);
            around.html.markup("<br>");
            return;
        }
        match (
            paragraph.heading,
            paragraph.list.filter(|(number, _)| number != "0"),
        ) {
            (Some(level), _) => {
                self.close_lists(0);
                self.out.markup(&format!("<h{level}>{html}</h{level}>"));
            }
            (None, Some(list)) => self.item(&list, &html),
            (None, None) => {
                self.close_lists(0);
                self.out.markup(&format!("<p>{html}</p>"));
            }
        }
    }

    fn item(&mut self, list: &(String, usize), html: &str) {
        let counts = self.ordered.contains_key(list);
        self.close_lists(list.1 + 1);
        if self.lists.len() == list.1 + 1 && self.lists.last() != Some(&counts) {
            self.close_lists(list.1);
        }
        if self.lists.len() == list.1 + 1 {
            self.out.markup("</li><li>");
        }
        while self.lists.len() < list.1 + 1 {
            self.out
                .markup(if counts { "<ol><li>" } else { "<ul><li>" });
            self.lists.push(counts);
        }
        self.out.markup(html);
    }

    fn close_lists(&mut self, left: usize) {
        while self.lists.len() > left {
            let counts = self.lists.pop() == Some(true);
            self.out
                .markup(if counts { "</li></ol>" } else { "</li></ul>" });
        }
    }
}

impl Paragraph {
    /// Ends marks that are over and begins new ones.
    fn mark(&mut self, wanted: [bool; 3]) {
        if self.marks == wanted {
            return;
        }
        for (open, (_, end)) in self.marks.iter().zip(MARKS).rev() {
            if *open {
                self.html.markup(end);
            }
        }
        for (begins, (start, _)) in wanted.iter().zip(MARKS) {
            if *begins {
                self.html.markup(start);
            }
        }
        self.marks = wanted;
    }
}

#[cfg(test)]
mod tests {
    use super::super::zip::tests::archive;
    use super::*;

    const STYLES: &str = r#"<w:styles><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="T"><w:name w:val="Title"/></w:style></w:styles>"#;
    const NUMBERS: &str = r#"<w:numbering><w:abstractNum w:abstractNumId="3"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="3"/></w:num></w:numbering>"#;
    const LINKS: &str = r#"<Relationships><Relationship Id="r1" Target="https://gate.example/?a=1&amp;b=2"/><Relationship Id="r2" Target="javascript:x"/></Relationships>"#;
    const NOTES: &str = r#"<w:footnotes><w:footnote w:id="0"><w:p><w:r><w:t>separator</w:t></w:r></w:p></w:footnote><w:footnote w:id="2"><w:p><w:r><w:t>See the manual.</w:t></w:r></w:p></w:footnote></w:footnotes>"#;

    fn html(body: &str) -> String {
        let text = format!("<w:document><w:body>{body}</w:body></w:document>");
        let bytes = archive(&[
            ("[Content_Types].xml", b""),
            ("word/document.xml", text.as_bytes()),
            ("word/styles.xml", STYLES.as_bytes()),
            ("word/numbering.xml", NUMBERS.as_bytes()),
            ("word/_rels/document.xml.rels", LINKS.as_bytes()),
            ("word/footnotes.xml", NOTES.as_bytes()),
        ]);
        document(&bytes).expect("a document").html
    }

    fn check(body: &str, expected: &str) {
        assert_eq!(html(body), expected, "{body}");
    }

    #[test]
    fn headings_marks_and_links() {
        check(
            r#"<w:p><w:pPr><w:pStyle w:val="H1"/></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t>Gates</w:t></w:r></w:p>"#,
            "<h1>Gates</h1>",
        );
        check(
            r#"<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>one </w:t></w:r><w:r><w:rPr><w:b/><w:i w:val="0"/></w:rPr><w:t>&lt;two</w:t></w:r><w:r><w:t> three</w:t></w:r></w:p>"#,
            "<p><strong>one &lt;two</strong> three</p>",
        );
        check(
            r#"<w:p><w:hyperlink r:id="r1"><w:r><w:t>link</w:t></w:r></w:hyperlink><w:hyperlink r:id="r2"><w:r><w:t> none</w:t></w:r></w:hyperlink></w:p>"#,
            "<p><a href=\"https://gate.example/?a=1&amp;b=2\">link</a> none</p>",
        );
    }

    #[test]
    fn lists_nest_by_level() {
        let item = |level: u8, text: &str| {
            format!(
                "<w:p><w:pPr><w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"7\"/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
            )
        };
        check(
            &[item(0, "a"), item(1, "b"), item(0, "c")].concat(),
            "<ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>",
        );
    }

    #[test]
    fn tables_notes_and_what_was_deleted() {
        check(
            "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc></w:tr></w:tbl>",
            "<table><tr><td><p>a</p></td></tr></table>",
        );
        check(
            r#"<w:p><w:r><w:t>text</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"#,
            "<p>text<sup><a href=\"#fn1\">1</a></sup></p><ol><li id=\"fn1\"><p>See the manual.</p></li></ol>",
        );
    }
}
