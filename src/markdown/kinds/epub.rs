//! EPUB 2 and 3: the chapters of a book in the order in which they are read. Their markup is XHTML already; what is
//! kept of it are the elements, and the attributes that lead to notes and out of the book.

use std::collections::HashMap;

use super::super::ConvertError;
use super::markup::{Document, Html, dublin_core, is_address, local};
use super::xml::{Event, walk};
use super::zip::Archive;

/// Chapters that are read.
const CHAPTERS_MAX: usize = 2_000;
/// Elements whose content is no text of the book.
const SKIPPED: [&str; 7] = ["head", "script", "style", "svg", "img", "audio", "video"];
/// Elements that are written as they are.
const KEPT: [&str; 34] = [
    "aside",
    "b",
    "blockquote",
    "br",
    "caption",
    "cite",
    "code",
    "dd",
    "del",
    "dl",
    "dt",
    "em",
    "figcaption",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "ol",
    "p",
    "pre",
    "q",
    "section",
    "strong",
    "sub",
    "sup",
    "table",
    "td",
    "th",
    "tr",
    "ul",
];

pub(super) fn document(bytes: &[u8]) -> Result<Document, ConvertError> {
    let archive = Archive::open(bytes)?;
    let container = archive.main_text("META-INF/container.xml")?;
    let mut package = String::new();
    walk(&container, |event| {
        if let Event::Open(element, _) = event
            && local(&element.name) == "rootfile"
            && package.is_empty()
        {
            element
                .attribute("full-path")
                .unwrap_or("")
                .clone_into(&mut package);
        }
    });
    let text = archive.main_text(&package)?;
    if archive.text("META-INF/rights.xml").is_some() {
        return Err(ConvertError::EncryptedDocument);
    }
    let (chapters, mut is_cut) = chapters(
        &text,
        package.rsplit_once('/').map_or("", |(folder, _)| folder),
    );
    let mut out = Html::default();
    for (number, chapter) in chapters.iter().enumerate() {
        if let Some(text) = archive.text(chapter) {
            is_cut |= !write(&text, number, &mut out);
        }
    }
    let mut document = Document {
        is_cut: is_cut || out.is_cut || archive.is_cut(),
        html: out.html,
        ..Document::default()
    };
    dublin_core(&text, &mut document.metadata);
    Ok(document)
}

/// The paths of the chapters, and whether there are more than are read.
fn chapters(package: &str, folder: &str) -> (Vec<String>, bool) {
    let mut files: HashMap<String, String> = HashMap::new();
    let mut order: Vec<String> = Vec::new();
    walk(package, |event| {
        let Event::Open(element, _) = event else {
            return;
        };
        match local(&element.name) {
            "item" if files.len() < CHAPTERS_MAX => {
                let is_text = element
                    .attribute("media-type")
                    .is_none_or(|kind| kind.contains("html"));
                if let (Some(id), Some(path)) = (element.attribute("id"), element.attribute("href"))
                    && is_text
                {
                    files.insert(id.to_owned(), place(folder, path));
                }
            }
            "itemref" if element.attribute("linear") != Some("no") => {
                order.extend(element.attribute("idref").map(str::to_owned));
            }
            _ => {}
        }
    });
    let is_cut = order.len() > CHAPTERS_MAX;
    order.truncate(CHAPTERS_MAX);
    let found = order.iter().filter_map(|id| files.get(id).cloned());
    (found.collect(), is_cut)
}

/// A path in the archive; names in it may be written as in addresses.
fn place(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let path = path.replace("%20", " ");
    for part in path.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Writes a chapter; whether all of it could be read. Its ids are its own, so they get its number.
fn write(text: &str, chapter: usize, out: &mut Html) -> bool {
    let mut skipped = 0usize;
    let mut open: Vec<String> = Vec::new();
    let is_whole = walk(text, |event| match event {
        Event::Open(element, _) => {
            let name = local(&element.name).to_ascii_lowercase();
            skipped += usize::from(skipped > 0 || SKIPPED.contains(&name.as_str()));
            let mut end = String::new();
            if skipped == 0 {
                let target = element.attribute("href").unwrap_or("");
                let own = target
                    .split_once('#')
                    .map(|(_, id)| format!("#fn{chapter}x{}", plain_id(id)));
                match name.as_str() {
                    "a" if is_address(target) => {
                        out.start("a", "href", target);
                        "</a>".clone_into(&mut end);
                    }
                    "a" => {
                        if let Some(own) = own {
                            out.start("a", "href", &own);
                            "</a>".clone_into(&mut end);
                        }
                    }
                    "li" | "div" => {
                        let id = element.attribute("id").map_or(String::new(), plain_id);
                        out.start(&name, "id", &format!("fn{chapter}x{id}"));
                        end = format!("</{name}>");
                    }
                    name if KEPT.contains(&name) => {
                        out.markup(&format!("<{name}>"));
                        end = match name {
                            "br" | "hr" => String::new(),
                            _ => format!("</{name}>"),
                        };
                    }
                    _ => {}
                }
            }
            open.push(end);
        }
        Event::Text(text) => {
            if skipped == 0 {
                out.text(text);
            }
        }
        Event::Close(_) => {
            skipped = skipped.saturating_sub(1);
            out.markup(&open.pop().unwrap_or_default());
        }
    });
    while let Some(end) = open.pop() {
        out.markup(&end);
    }
    is_whole
}

fn plain_id(id: &str) -> String {
    id.chars()
        .filter(char::is_ascii_alphanumeric)
        .take(40)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::zip::tests::archive;
    use super::*;

    #[test]
    fn chapters_come_in_the_order_of_reading() {
        let container = r#"<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>"#;
        let package = r#"<package><metadata><dc:title>Gates</dc:title><dc:creator>Ada</dc:creator></metadata><manifest>
            <item id="b" href="two.xhtml" media-type="application/xhtml+xml"/><item id="a" href="text/one.xhtml" media-type="application/xhtml+xml"/>
            <item id="c" href="x.css" media-type="text/css"/></manifest><spine><itemref idref="a"/><itemref idref="c"/><itemref idref="b"/></spine></package>"#;
        let one = r##"<html><head><title>x</title></head><body><h1 class="t">One</h1><p onclick="x()">a<script>y()</script> <a href="https://gate.example/">b</a> <a href="two.xhtml">c</a></p></body></html>"##;
        let bytes = archive(&[
            ("mimetype", b"application/epub+zip"),
            ("META-INF/container.xml", container.as_bytes()),
            ("OEBPS/book.opf", package.as_bytes()),
            ("OEBPS/text/one.xhtml", one.as_bytes()),
            ("OEBPS/two.xhtml", b"<html><body><h1>Two</h1><p>cut"),
        ]);
        let document = document(&bytes).expect("a book");
        assert_eq!(
            document.html,
            "<h1>One</h1><p>a <a href=\"https://gate.example/\">b</a> c</p><h1>Two</h1><p>cut</p>"
        );
        assert_eq!(document.metadata.title.as_deref(), Some("Gates"));
        assert_eq!(document.metadata.author.as_deref(), Some("Ada"));
    }
}
