//! EPUB 2 and 3: the chapters of a book in the order in which they are read. Their markup is XHTML already; what is
//! kept of it are the elements, and the attributes that lead to notes and out of the book.

use std::collections::{HashMap, HashSet};

use super::super::ConvertError;
use super::super::work::Work;
use super::markup::{Document, Html, dublin_core, is_address, local};
use super::xml::{Element, Event, walk};
use super::zip::Archive;

/// Chapters that are read.
const CHAPTERS_MAX: usize = 2_000;
/// Files of a book that are looked at: pictures and fonts are among them.
const FILES_MAX: usize = 10_000;
/// Elements whose content is no text of the book.
const SKIPPED: [&str; 7] = ["head", "script", "style", "svg", "img", "audio", "video"];
/// Elements that are written as they are.
const KEPT: [&str; 32] = [
    "aside",
    "b",
    "blockquote",
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

pub(super) fn document(bytes: &[u8], work: &Work) -> Result<Document, ConvertError> {
    let archive = Archive::open(bytes)?;
    let container = archive.main_text("META-INF/container.xml")?;
    let mut package = String::new();
    walk(&container, work, |event| {
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
    let folder = package.rsplit_once('/').map_or("", |(folder, _)| folder);
    let (chapters, mut is_cut) = chapters(&text, folder, work);
    let encryption = archive.text("META-INF/encryption.xml");
    let encrypted = encrypted(&encryption.unwrap_or_default(), work);
    if chapters.iter().any(|path| encrypted.contains(path)) {
        return Err(ConvertError::EncryptedDocument);
    }
    let mut out = Html::default();
    let mut seen = HashSet::new();
    for (number, chapter) in chapters.iter().enumerate() {
        if out.is_cut() {
            break;
        }
        // A chapter that the order names again has been read, and is not given twice.
        if !seen.insert(chapter) {
            is_cut = true;
            continue;
        }
        match archive.text(chapter) {
            Some(text) => is_cut |= !write(&text, number, work, &mut out),
            None => is_cut = true,
        }
    }
    let mut document = out.document(archive.finish()? || is_cut);
    dublin_core(&text, work, &mut document.metadata);
    Ok(document)
}

/// The files that are encrypted (OCF 4.2.6.3.2). Fonts often are, so that nobody takes them out of the book.
fn encrypted(text: &str, work: &Work) -> HashSet<String> {
    let mut found = HashSet::new();
    walk(text, work, |event| {
        if let Event::Open(element, _) = event
            && local(&element.name) == "CipherReference"
            && found.len() < FILES_MAX
        {
            found.extend(element.attribute("URI").map(|path| place("", path)));
        }
    });
    found
}

/// The paths of the chapters, and whether some are left out.
fn chapters(package: &str, folder: &str, work: &Work) -> (Vec<String>, bool) {
    // `None` for a file that is no text.
    let mut files: HashMap<String, Option<String>> = HashMap::new();
    let mut order: Vec<String> = Vec::new();
    let is_whole = walk(package, work, |event| {
        let Event::Open(element, _) = event else {
            return;
        };
        match local(&element.name) {
            "item" if files.len() < FILES_MAX => {
                let is_text = element
                    .attribute("media-type")
                    .is_none_or(|kind| kind.contains("html"));
                if let (Some(id), Some(path)) = (element.attribute("id"), element.attribute("href"))
                {
                    let path = is_text.then(|| place(folder, path));
                    files.insert(id.to_owned(), path);
                }
            }
            "itemref" if element.attribute("linear") != Some("no") => {
                let id = element.attribute("idref").unwrap_or("");
                if order.len() <= CHAPTERS_MAX {
                    order.push(id.to_owned());
                }
            }
            _ => {}
        }
    });
    let mut is_cut = !is_whole || order.len() > CHAPTERS_MAX;
    let mut found = Vec::new();
    for id in order.iter().take(CHAPTERS_MAX) {
        match files.get(id) {
            Some(path) => found.extend(path.clone()),
            None => is_cut = true,
        }
    }
    (found, is_cut)
}

/// A path in the archive; names in it may be written as in addresses.
fn place(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let path = percent_decoded(path);
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

fn percent_decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).filter(|_| *first == b'%');
        match digits.and_then(|digits| hex::decode(digits).ok()) {
            Some(byte) => {
                bytes.extend(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Writes a chapter; whether all of it could be read. Its ids are its own, so they get its number.
fn write(text: &str, chapter: usize, work: &Work, out: &mut Html) -> bool {
    let mut skipped = 0usize;
    // Of each open element whether it is written.
    let mut open: Vec<bool> = Vec::new();
    let is_whole = walk(text, work, |event| match event {
        Event::Open(element, _) => {
            let name = local(&element.name).to_ascii_lowercase();
            skipped += usize::from(skipped > 0 || SKIPPED.contains(&name.as_str()));
            open.push(skipped == 0 && begin(&name, element, chapter, out));
        }
        Event::Text(text) => {
            if skipped == 0 {
                out.text(text);
            }
        }
        Event::Close(_) => {
            skipped = skipped.saturating_sub(1);
            if open.pop() == Some(true) {
                out.close();
            }
        }
    });
    for _ in open.iter().filter(|is_written| **is_written) {
        out.close();
    }
    is_whole
}

/// Writes the start of an element, and whether it is to be ended.
fn begin(name: &str, element: &Element, chapter: usize, out: &mut Html) -> bool {
    let own_id = |id: &str| format!("fn{chapter}x{}", plain_id(id));
    match name {
        "a" => {
            let target = element.attribute("href").unwrap_or("");
            if is_address(target) {
                out.open_with("a", "href", target);
            } else if let Some((_, id)) = target.split_once('#') {
                out.open_with("a", "href", &format!("#{}", own_id(id)));
            } else {
                return false;
            }
        }
        "li" => out.open_with("li", "id", &own_id(element.attribute("id").unwrap_or(""))),
        "div" => out.open_with("div", "id", &own_id(element.attribute("id").unwrap_or(""))),
        "br" | "hr" => {
            out.void(name);
            return false;
        }
        _ => match KEPT.iter().find(|kept| **kept == name) {
            Some(kept) => out.open(kept),
            None => return false,
        },
    }
    true
}

fn plain_id(id: &str) -> String {
    id.chars()
        .filter(char::is_ascii_alphanumeric)
        .take(40)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::markup::HTML_BYTES_MAX;
    use super::super::zip::tests::{archive, bomb};
    use super::*;

    const CONTAINER: &str =
        r#"<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>"#;

    fn book(package: &str, parts: &[(&str, &str)]) -> Result<Document, ConvertError> {
        let package = format!("<package>{package}</package>");
        let parts = parts.iter().map(|(name, text)| (*name, text.as_bytes()));
        let first = [
            ("mimetype", &b"application/epub+zip"[..]),
            ("META-INF/container.xml", CONTAINER.as_bytes()),
            ("OEBPS/book.opf", package.as_bytes()),
        ];
        let parts = first.into_iter().chain(parts).collect::<Vec<_>>();
        document(&archive(&parts), &Work::default())
    }

    #[test]
    fn chapters_come_in_the_order_of_reading() {
        let package = r#"<metadata><dc:title>Gates</dc:title><dc:creator>Ada</dc:creator></metadata><manifest>
            <item id="b" href="two.xhtml" media-type="application/xhtml+xml"/><item id="a" href="text/one.xhtml" media-type="application/xhtml+xml"/>
            <item id="c" href="x.css" media-type="text/css"/></manifest><spine><itemref idref="a"/><itemref idref="c"/><itemref idref="b"/></spine>"#;
        let one = r##"<html><head><title>x</title></head><body><h1 class="t">One</h1><p onclick="x()">a<script>y()</script> <a href="https://gate.example/">b</a> <a href="two.xhtml">c</a></p></body></html>"##;
        let two = "<html><body><h1>Two</h1><p>whole</p></body></html>";
        let parts = [("OEBPS/text/one.xhtml", one), ("OEBPS/two.xhtml", two)];
        let document = book(package, &parts).expect("a book");
        assert_eq!(
            document.html,
            "<h1>One</h1><p>a <a href=\"https://gate.example/\">b</a> c</p><h1>Two</h1><p>whole</p>"
        );
        assert!(!document.is_cut);
        assert_eq!(document.metadata.title.as_deref(), Some("Gates"));
        assert_eq!(document.metadata.author.as_deref(), Some("Ada"));
    }

    #[test]
    fn names_of_files_are_percent_decoded() {
        let package = r#"<item id="a" href="./Kapitel%20%c3%BC%2.xhtml"/><itemref idref="a"/>"#;
        let document = book(package, &[("OEBPS/Kapitel ü%2.xhtml", "<p>a</p>")]).expect("a book");
        assert_eq!(
            (document.html.as_str(), document.is_cut),
            ("<p>a</p>", false)
        );
    }

    #[test]
    fn what_is_missing_is_said() {
        let item = r#"<item id="a" href="a"/>"#;
        let others: String = (0..FILES_MAX)
            .map(|number| format!("<item id='i{number}' href='i'/>"))
            .collect();
        for package in [
            format!(r#"{item}<item id="b" href="b"/><itemref idref="a"/><itemref idref="b"/>"#),
            format!(r#"{item}<itemref idref="a"/><itemref idref="b"/>"#),
            format!(
                r#"{item}{others}<item id="b" href="a"/><itemref idref="a"/><itemref idref="b"/>"#
            ),
            format!(
                r#"{item}{}"#,
                r#"<itemref idref="a"/>"#.repeat(CHAPTERS_MAX + 1)
            ),
        ] {
            let document = book(&package, &[("OEBPS/a", "<p>a</p>")]).expect("a book");
            assert!(document.html.starts_with("<p>a</p>"));
            assert!(document.is_cut);
        }
    }

    #[test]
    fn encrypted_chapters_are_refused_and_encrypted_fonts_are_not() {
        let package = r#"<item id="a" href="a%20b.xhtml"/><itemref idref="a"/>"#;
        let encryption = |path: &str| {
            format!(
                "<encryption><enc:EncryptedData><enc:CipherData><enc:CipherReference URI='{path}'/></enc:CipherData></enc:EncryptedData></encryption>"
            )
        };
        let read = |path: &str| {
            let encryption = encryption(path);
            let parts = [
                ("META-INF/encryption.xml", encryption.as_str()),
                ("OEBPS/a b.xhtml", "<p>a</p>"),
            ];
            book(package, &parts).map(|document| document.html)
        };
        assert_eq!(
            read("OEBPS/a%20b.xhtml"),
            Err(ConvertError::EncryptedDocument)
        );
        assert_eq!(read("OEBPS/font.otf").as_deref(), Ok("<p>a</p>"));
    }

    #[test]
    fn a_chapter_of_blocks_that_hold_nothing_is_refused() {
        let package = r#"<package><item id="a" href="a"/><itemref idref="a"/></package>"#;
        let bytes = bomb(
            "OEBPS/a",
            &[
                ("META-INF/container.xml", CONTAINER.as_bytes()),
                ("OEBPS/book.opf", package.as_bytes()),
            ],
        );
        assert_eq!(
            document(&bytes, &Work::default()).err(),
            Some(ConvertError::TooComplex)
        );
    }

    /// One chapter that the order names again and again, and one whose text is longer in HTML than in its file.
    #[test]
    fn a_book_stays_within_the_bound() {
        let chapter = format!("<ol>{}", "<li>&lt;&gt;\"".repeat(200_000));
        let package = format!(
            r#"<item id="a" href="a"/>{}"#,
            r#"<itemref idref="a"/>"#.repeat(CHAPTERS_MAX)
        );
        let document = book(&package, &[("OEBPS/a", &chapter)]).expect("a book");
        assert!(document.is_cut);
        assert!(document.html.len() <= HTML_BYTES_MAX);
    }
}
