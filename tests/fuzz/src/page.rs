//! Hostile input through the converter, and what must hold whatever it was. The one body of every driver.

use context402::markdown::{ContentKind, ConvertError, Converter, PAGE_BYTES_MAX, Page, Settings};
use pulldown_cmark::{Event, Options, Parser, Tag};
use url::Url;

/// The first byte is the kind and the mode, the second how the rest is cut, and the rest is the page.
pub(crate) fn page(data: &[u8]) {
    let [mode, cut, body @ ..] = data else {
        return;
    };
    let settings = settings(*mode);
    let packed = packed(settings.kind, body);
    let body = packed.as_deref().unwrap_or(body);
    let whole = converted(&settings, std::iter::once(body));
    let cuts = body.chunks(usize::from(*cut % 61) + 1);
    let in_pieces = converted(&settings, cuts);
    assert_eq!(whole, in_pieces, "the boundaries of chunks mattered");
    if let Ok(page) = &whole {
        check(page, body.len(), settings.kind);
    }
    if mode & 0x80 != 0 {
        errors_are_final(&settings, body);
    }
}

fn settings(mode: u8) -> Settings {
    let kind = match mode >> 1 & 0x0F {
        0 => ContentKind::Markdown,
        1 => ContentKind::PlainText,
        2 => ContentKind::Json,
        3 => ContentKind::Xml,
        4 => ContentKind::Feed,
        5 => ContentKind::Csv,
        6 => ContentKind::Pdf,
        7 => ContentKind::Docx,
        8 => ContentKind::Odt,
        9 => ContentKind::Epub,
        10 => ContentKind::Xlsx,
        11 => ContentKind::Notebook,
        _ => ContentKind::Html,
    };
    let charset = match mode >> 5 & 3 {
        0 | 1 => None,
        2 => Some("utf-8"),
        _ => Some("shift_jis"),
    };
    Settings {
        kind,
        url: Url::parse("https://example.org/docs/page").expect("a valid URL"),
        charset: charset.map(str::to_owned),
        full: mode & 1 == 0,
    }
}

/// An archive of its kind that holds the page as its main part; stored, so that changes of bytes are changes of the part.
fn packed(kind: ContentKind, body: &[u8]) -> Option<Vec<u8>> {
    const CONTAINER: &[u8] = b"<rootfile full-path='b'/>";
    const PACKAGE: &[u8] = b"<item id='a' href='c'/><itemref idref='a'/>";
    const BOOK: &[u8] = b"<sheet name='a' r:id='a'/>";
    const LINKS: &[u8] = b"<Relationship Id='a' Target='a.xml'/>";
    let parts: &[(&str, &[u8])] = match kind {
        ContentKind::Docx => &[
            ("word/document.xml", body),
            ("word/footnotes.xml", body),
            ("word/numbering.xml", body),
            ("word/styles.xml", body),
        ],
        ContentKind::Odt => &[("content.xml", body), ("meta.xml", body)],
        ContentKind::Epub => &[
            ("META-INF/container.xml", CONTAINER),
            ("b", PACKAGE),
            ("c", body),
        ],
        ContentKind::Xlsx => &[
            ("xl/workbook.xml", BOOK),
            ("xl/_rels/workbook.xml.rels", LINKS),
            ("xl/a.xml", body),
            ("xl/sharedStrings.xml", body),
            ("xl/styles.xml", body),
        ],
        _ => return None,
    };
    let number = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, part) in parts {
        let size = number(part.len());
        let name_size = [&number(name.len())[..2], &[0, 0]].concat();
        let about = [&[20, 0, 0, 0, 0, 0][..], &[0; 8], &size, &size, &name_size].concat();
        let header = number(bytes.len());
        bytes.extend([b"PK\x03\x04", &about[..], name.as_bytes(), part].concat());
        let rest = [&[0; 10][..], &header].concat();
        directory.extend([b"PK\x01\x02\x14\0", &about[..], &rest, name.as_bytes()].concat());
    }
    let start = number(bytes.len());
    bytes.extend(&directory);
    bytes.extend([b"PK\x05\x06", &[0; 12][..], &start, &[0, 0]].concat());
    Some(bytes)
}

fn converted<'a>(
    settings: &Settings,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> Result<Page, ConvertError> {
    let mut converter = Converter::new(settings.clone());
    for piece in pieces {
        converter.push(piece)?;
    }
    converter.finish()
}

fn check(page: &Page, length: usize, kind: ContentKind) {
    let markdown = &page.markdown;
    assert!(!markdown.trim().is_empty(), "an empty page was given");
    let is_html = kind == ContentKind::Html;
    if kind != ContentKind::Pdf {
        // A character may become a numbered reference or a fence, and addresses become absolute.
        let most = 48 * length + 4096;
        assert!(
            markdown.len() <= most,
            "{} bytes became {}",
            length,
            markdown.len()
        );
    }
    for link in &page.links {
        let is_web = link.url.starts_with("http://") || link.url.starts_with("https://");
        assert!(is_web, "a link to {}", link.url);
    }
    // Most pages name no script at all.
    let lower = markdown.to_ascii_lowercase();
    if is_html
        && ["<script", "javascript:"]
            .iter()
            .any(|name| lower.contains(name))
    {
        shows_no_script(markdown);
    }
    let about = &page.metadata;
    let addresses = [
        &about.canonical_url,
        &about.image,
        &about.favicon,
        &about.next,
        &about.previous,
        &about.markdown_alternate,
    ];
    for address in addresses.into_iter().flatten() {
        assert!(address.starts_with("http"), "an address {address}");
    }
}

/// What a reader of markdown makes of it: code may show markup, text may say anything.
fn shows_no_script(markdown: &str) {
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                let address = dest_url.trim().to_ascii_lowercase();
                assert!(
                    !address.starts_with("javascript"),
                    "{dest_url} in {markdown}"
                );
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                let html = html.to_ascii_lowercase();
                assert!(!html.contains("<script"), "{html} in {markdown}");
            }
            _ => {}
        }
    }
}

/// A page that is too large is refused, and stays refused.
fn errors_are_final(settings: &Settings, body: &[u8]) {
    if settings.kind == ContentKind::Pdf || !body.starts_with(b"too large") {
        return;
    }
    let mut converter = Converter::new(settings.clone());
    let size = usize::try_from(PAGE_BYTES_MAX).expect("fits");
    assert_eq!(
        converter.push(&vec![b'a'; size + 1]),
        Err(ConvertError::TooLarge)
    );
    assert_eq!(converter.push(body), Err(ConvertError::TooLarge));
    assert_eq!(converter.finish(), Err(ConvertError::TooLarge));
}
