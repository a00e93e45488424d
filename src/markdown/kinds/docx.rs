//! DOCX (ECMA-376, WordprocessingML): paragraphs, headings, lists, tables, links, notes. Deleted text, field codes and
//! pictures are left out.

use std::collections::{HashMap, HashSet};

use super::super::ConvertError;
use super::super::work::Work;
use super::markup::{Document, Html, dublin_core, is_address, local};
use super::xml::{Element, Event, walk};
use super::zip::Archive;

/// Styles, relations and notes that are remembered, of each.
const REMEMBERED_MAX: usize = 10_000;
/// Lists in lists.
const LEVELS_MAX: usize = 9;
/// Columns that one cell may take.
const SPAN_MAX: usize = 64;

pub(super) fn document(bytes: &[u8], work: &Work) -> Result<Document, ConvertError> {
    let archive = Archive::open(bytes)?;
    let text = archive.main_text("word/document.xml")?;
    let mut writer = Writer {
        links: relations(&archive, "word/_rels/document.xml.rels", work),
        headings: headings(&archive.text("word/styles.xml").unwrap_or_default(), work),
        ordered: numbering(
            &archive.text("word/numbering.xml").unwrap_or_default(),
            work,
        ),
        ..Writer::default()
    };
    writer.read(&text, work);
    drop(text);
    for (part, kind) in [("footnotes", "footnote"), ("endnotes", "endnote")] {
        if writer.notes.keys().any(|(other, _)| *other == kind) {
            let text = archive.text(&format!("word/{part}.xml"));
            let relations_name = format!("word/_rels/{part}.xml.rels");
            writer.links = relations(&archive, &relations_name, work);
            writer.is_cut |= text.is_none();
            writer.read(&text.unwrap_or_default(), work);
        }
    }
    let mut document = writer.out.document(archive.finish()? || writer.is_cut);
    if let Some(text) = archive.text("docProps/core.xml") {
        dublin_core(&text, work, &mut document.metadata);
    }
    Ok(document)
}

/// The web addresses that a part's relations name.
pub(super) fn relations(archive: &Archive<'_>, name: &str, work: &Work) -> HashMap<String, String> {
    let mut found = HashMap::new();
    walk(&archive.text(name).unwrap_or_default(), work, |event| {
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
fn headings(text: &str, work: &Work) -> HashMap<String, u8> {
    let mut found = HashMap::new();
    let mut style = String::new();
    walk(text, work, |event| {
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

/// A list's number, and the level in it.
type Level = (u32, usize);

/// The levels that count.
fn numbering(text: &str, work: &Work) -> HashSet<Level> {
    let mut formats: HashSet<Level> = HashSet::new();
    let mut lists: HashSet<Level> = HashSet::new();
    let (mut kind, mut number, mut level) = (None, None, 0);
    walk(text, work, |event| {
        let Event::Open(element, _) = event else {
            return;
        };
        if formats.len() + lists.len() > REMEMBERED_MAX {
            return;
        }
        let attribute = |name: &str| element.attribute(name).and_then(|id| id.parse().ok());
        match local(&element.name) {
            "abstractNum" => kind = attribute("w:abstractNumId"),
            "lvl" => level = level_of(element.attribute("w:ilvl")),
            "numFmt" if !matches!(value(element), "bullet" | "none") => {
                formats.extend(kind.map(|kind| (kind, level)));
            }
            "num" => number = attribute("w:numId"),
            "abstractNumId" => {
                if let (Some(number), Some(kind)) = (number, attribute("w:val")) {
                    let levels = (0..LEVELS_MAX).filter(|level| formats.contains(&(kind, *level)));
                    lists.extend(levels.map(|level| (number, level)));
                }
            }
            _ => {}
        }
    });
    lists
}

fn level_of(value: Option<&str>) -> usize {
    let level = value.and_then(|level| level.parse().ok());
    level.unwrap_or(0).min(LEVELS_MAX - 1)
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
    heading: Option<u8>,
    /// `None` and the list with the number 0 are none.
    list: Option<Level>,
    /// Bold, italic, struck out: what is open.
    marks: [bool; 3],
    begun: Option<Begun>,
}

/// How a paragraph with content began.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begun {
    /// As an element of its own.
    Block,
    /// As the item of a list, which may go on behind it.
    Item,
    /// In a text box, whose paragraph goes on around it.
    Inline,
}

const MARKS: [&str; 3] = ["strong", "em", "del"];
const HEADINGS: [&str; 6] = ["h1", "h2", "h3", "h4", "h5", "h6"];

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
    is_cut: bool,
    links: HashMap<String, String>,
    headings: HashMap<String, u8>,
    ordered: HashSet<Level>,
    open: Vec<Open>,
    paragraphs: Vec<Paragraph>,
    /// Of each open cell how many columns it takes.
    spans: Vec<usize>,
    /// Of each open list whether it counts.
    lists: Vec<bool>,
    run: [bool; 3],
    /// The numbers of the notes that the text refers to, by kind and number there.
    notes: HashMap<(&'static str, i64), usize>,
}

impl Writer {
    /// Reads a part, and ends what it left open.
    fn read(&mut self, text: &str, work: &Work) {
        self.is_cut |= !walk(text, work, |event| self.take(event));
        while let Some(open) = self.open.pop() {
            self.close(open);
        }
        self.close_lists(0);
    }

    fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Open(element, _) => {
                let is_skipped = self.open.last() == Some(&Open::Skipped);
                let open = match is_skipped {
                    true => Open::Skipped,
                    false => self.open(element),
                };
                self.open.push(open);
            }
            Event::Text(text) if self.open.last() == Some(&Open::Text) => self.text(text),
            Event::Text(_) => {}
            Event::Close(_) => {
                if let Some(open) = self.open.pop() {
                    self.close(open);
                }
            }
        }
    }

    fn open(&mut self, element: &Element) -> Open {
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
            name @ ("ilvl" | "numId") => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    let list = paragraph.list.get_or_insert_default();
                    match name {
                        "ilvl" => list.1 = level_of(Some(value(element))),
                        _ => list.0 = value(element).parse().unwrap_or(0),
                    }
                }
                Open::Other
            }
            "r" => {
                self.run = [false; 3];
                Open::Run
            }
            "rPr" if self.open.last() == Some(&Open::Run) => Open::RunProperties,
            "b" if in_properties => self.switch(0, element),
            "i" if in_properties => self.switch(1, element),
            "strike" | "dstrike" if in_properties => self.switch(2, element),
            "t" => Open::Text,
            "tab" if self.open.last() == Some(&Open::Run) => self.text_of_element(" "),
            "noBreakHyphen" => self.text_of_element("-"),
            "br" | "cr" => {
                if self.paragraphs.last().is_some_and(|it| it.begun.is_some()) {
                    self.out.void("br");
                }
                Open::Other
            }
            "hyperlink" => self.link(element),
            "tbl" => {
                self.close_lists(0);
                self.out.open("table");
                Open::Table
            }
            "tr" => {
                self.close_lists(0);
                self.out.open("tr");
                Open::Row
            }
            "tc" => {
                self.close_lists(0);
                self.out.open("td");
                self.spans.push(1);
                Open::Cell
            }
            "gridSpan" => {
                if let (Some(span), Ok(columns)) = (self.spans.last_mut(), value(element).parse()) {
                    *span = SPAN_MAX.min(columns);
                }
                Open::Other
            }
            "footnoteReference" => self.reference("footnote", element),
            "endnoteReference" => self.reference("endnote", element),
            "footnote" => self.note("footnote", element),
            "endnote" => self.note("endnote", element),
            // What was deleted, what a field is made from, and what stands in for what is not understood.
            "del" | "moveFrom" | "delText" | "instrText" | "Fallback" => Open::Skipped,
            // Formats as they were before a change that is tracked.
            name if name.ends_with("PrChange") => Open::Skipped,
            _ => Open::Other,
        }
    }

    fn close(&mut self, open: Open) {
        match open {
            Open::Paragraph => self.end_paragraph(),
            Open::Link => {
                self.mark([false; 3]);
                self.out.close();
            }
            Open::Table | Open::Row => {
                self.close_lists(0);
                self.out.close();
            }
            Open::Cell => {
                self.close_lists(0);
                self.out.close();
                // The columns behind it keep their place.
                for _ in 1..self.spans.pop().unwrap_or(1) {
                    self.out.open("td");
                    self.out.close();
                }
            }
            Open::Note => {
                self.close_lists(0);
                self.out.close();
                self.out.close();
            }
            Open::Other | Open::RunProperties | Open::Run | Open::Text | Open::Skipped => {}
        }
    }

    fn switch(&mut self, number: usize, element: &Element) -> Open {
        self.run[number] = is_on(element);
        Open::Other
    }

    fn text_of_element(&mut self, text: &str) -> Open {
        self.text(text);
        Open::Other
    }

    fn text(&mut self, text: &str) {
        let is_blank = text.trim().is_empty();
        let Some(paragraph) = self.paragraphs.last() else {
            return;
        };
        if is_blank && paragraph.begun.is_none() {
            return;
        }
        let is_heading = paragraph.heading.is_some();
        self.begin();
        if !is_blank {
            self.mark(if is_heading { [false; 3] } else { self.run });
        }
        self.out.text(text);
    }

    fn link(&mut self, element: &Element) -> Open {
        let id = element.attribute("r:id").unwrap_or("");
        let has_target = self.links.get(id).is_some_and(|target| is_address(target));
        if !has_target || self.paragraphs.is_empty() {
            return Open::Other;
        }
        self.begin();
        self.mark([false; 3]);
        let target = self.links.get(id).map_or("", String::as_str);
        self.out.open_with("a", "href", target);
        Open::Link
    }

    fn reference(&mut self, kind: &'static str, element: &Element) -> Open {
        let id = element.attribute("w:id").and_then(|id| id.parse().ok());
        let Some(id) = id.filter(|_| !self.paragraphs.is_empty()) else {
            return Open::Other;
        };
        let next = self.notes.len() + 1;
        if next > REMEMBERED_MAX && !self.notes.contains_key(&(kind, id)) {
            self.is_cut = true;
            return Open::Other;
        }
        let number = *self.notes.entry((kind, id)).or_insert(next);
        self.begin();
        self.mark([false; 3]);
        self.out.open("sup");
        self.out.open_with("a", "href", &format!("#fn{number}"));
        self.out.text(&number.to_string());
        self.out.close();
        self.out.close();
        Open::Other
    }

    fn note(&mut self, kind: &'static str, element: &Element) -> Open {
        let id = element.attribute("w:id").and_then(|id| id.parse().ok());
        let Some(number) = id.and_then(|id| self.notes.get(&(kind, id))) else {
            return Open::Skipped;
        };
        self.out.open("ol");
        self.out.open_with("li", "id", &format!("fn{number}"));
        Open::Note
    }

    /// Writes the starts of the open paragraphs that have none yet: what they are is known when their content comes.
    fn begin(&mut self) {
        for at in 0..self.paragraphs.len() {
            let paragraph = &self.paragraphs[at];
            if paragraph.begun.is_some() {
                continue;
            }
            let list = paragraph.list.filter(|(number, _)| *number != 0);
            let begun = match (at, paragraph.heading, list) {
                (1.., _, _) => {
                    self.out.void("br");
                    Begun::Inline
                }
                (0, None, Some(list)) => {
                    self.item(list);
                    Begun::Item
                }
                (0, heading, _) => {
                    self.close_lists(0);
                    let name = heading.and_then(|level| HEADINGS.get(usize::from(level) - 1));
                    self.out.open(name.copied().unwrap_or("p"));
                    Begun::Block
                }
            };
            self.paragraphs[at].begun = Some(begun);
        }
    }

    fn end_paragraph(&mut self) {
        self.mark([false; 3]);
        let paragraph = self.paragraphs.pop();
        match paragraph.and_then(|paragraph| paragraph.begun) {
            Some(Begun::Block) => self.out.close(),
            Some(Begun::Inline) => self.out.void("br"),
            Some(Begun::Item) | None => {}
        }
    }

    fn item(&mut self, list: Level) {
        let counts = self.ordered.contains(&list);
        self.close_lists(list.1 + 1);
        if self.lists.len() == list.1 + 1 && self.lists.last() != Some(&counts) {
            self.close_lists(list.1);
        }
        if self.lists.len() == list.1 + 1 {
            self.out.close();
            self.out.open("li");
        }
        while self.lists.len() < list.1 + 1 {
            self.out.open(if counts { "ol" } else { "ul" });
            self.out.open("li");
            self.lists.push(counts);
        }
    }

    fn close_lists(&mut self, left: usize) {
        while self.lists.len() > left {
            self.lists.pop();
            self.out.close();
            self.out.close();
        }
    }

    /// Ends marks that are over and begins new ones.
    fn mark(&mut self, wanted: [bool; 3]) {
        let Some(paragraph) = self.paragraphs.last_mut() else {
            return;
        };
        let open = std::mem::replace(&mut paragraph.marks, wanted);
        if open == wanted {
            return;
        }
        for _ in open.iter().filter(|is_open| **is_open) {
            self.out.close();
        }
        for (begins, name) in wanted.iter().zip(MARKS) {
            if *begins {
                self.out.open(name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::markup::HTML_BYTES_MAX;
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
        document(&bytes, &Work::default()).expect("a document").html
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
        // Two references to one note have one number.
        let reference = r#"<w:p><w:r><w:t>a</w:t><w:footnoteReference w:id="2"/></w:r></w:p>"#;
        let text = html(&reference.repeat(2));
        assert_eq!(text.matches("<sup><a href=\"#fn1\">1</a></sup>").count(), 2);
        assert_eq!(text.matches("<li").count(), 1);
    }

    #[test]
    fn cells_of_several_columns_keep_the_others_in_place() {
        let cell = |properties: &str, text: &str| {
            format!(
                "<w:tc><w:tcPr>{properties}</w:tcPr><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>"
            )
        };
        check(
            &format!(
                "<w:tbl><w:tr>{}{}</w:tr></w:tbl>",
                cell("<w:gridSpan w:val=\"2\"/>", "a"),
                cell("", "b")
            ),
            "<table><tr><td><p>a</p></td><td></td><td><p>b</p></td></tr></table>",
        );
        let wide = format!(
            "<w:tbl><w:tr>{}</w:tr></w:tbl>",
            cell("<w:gridSpan w:val=\"99999999\"/>", "a")
        );
        assert_eq!(html(&wide).matches("<td>").count(), SPAN_MAX);
    }

    #[test]
    fn formats_from_before_a_change_do_not_count() {
        check(
            r#"<w:p><w:pPr><w:pPrChange><w:pPr><w:pStyle w:val="H1"/></w:pPr></w:pPrChange></w:pPr><w:r><w:rPr><w:i/><w:rPrChange><w:rPr><w:b/></w:rPr></w:rPrChange></w:rPr><w:t>a</w:t></w:r></w:p>"#,
            "<p><em>a</em></p>",
        );
    }

    #[test]
    fn text_boxes_stand_in_their_paragraph() {
        let inside = "<w:txbxContent><w:p><w:r><w:t>in</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>cell</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:txbxContent>";
        check(
            &format!(
                "<w:p><w:r><w:t>a</w:t></w:r><w:r><w:rPr><w:b/></w:rPr>{inside}</w:r><w:r><w:t>b</w:t></w:r></w:p>"
            ),
            "<p>a<br>in<br><table><tr><td><br>cell<br></td></tr></table>b</p>",
        );
    }

    /// Everything that once grew with the number of references: targets of links, numbers of lists, notes, paragraphs in
    /// paragraphs.
    #[test]
    fn what_is_referred_to_often_stays_within_the_bound() {
        let long = "x".repeat(4_000);
        let links = format!("<a><Relationship Id='r' Target='https://gate.example/{long}'/></a>");
        let link = "<w:hyperlink r:id='r'><w:r><w:t>a</w:t></w:r></w:hyperlink>";
        let boxes = format!("{}{}", "<w:p><w:r><w:t>a".repeat(60), link.repeat(50));
        let numbers = format!(
            "<a><w:abstractNum w:abstractNumId='{long}'>{}</w:abstractNum></a>",
            "<w:lvl w:ilvl='0'><w:numFmt w:val='decimal'/></w:lvl>".repeat(50_000)
        );
        assert!(numbering(&numbers, &Work::default()).is_empty());
        let references: String = (0..REMEMBERED_MAX + 5)
            .map(|id| format!("<w:p><w:r><w:footnoteReference w:id='{id}'/></w:r></w:p>"))
            .collect();
        for body in [
            format!("<w:p>{}</w:p>", link.repeat(5_000)),
            boxes.repeat(100),
            references,
        ] {
            let bytes = archive(&[
                ("[Content_Types].xml", b""),
                ("word/document.xml", body.as_bytes()),
                ("word/_rels/document.xml.rels", links.as_bytes()),
            ]);
            let document = document(&bytes, &Work::default()).expect("a document");
            assert!(document.is_cut);
            assert!(document.html.len() <= HTML_BYTES_MAX);
        }
    }
}
