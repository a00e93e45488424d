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
