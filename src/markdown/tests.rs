//! Tests of the whole conversion: small pieces of HTML, whole pages beside their expected markdown, and pages made to
//! break it.

mod blocks;
mod bounds;
mod content;
mod corpus;
mod details;
mod forums;
mod inline;
mod kinds;

use super::*;

fn settings(kind: ContentKind) -> Settings {
    Settings {
        kind,
        url: Url::parse("https://example.org/docs/page").expect("a valid URL"),
        charset: None,
        full: true,
    }
}

fn convert(settings: Settings, bytes: &[u8]) -> Result<Page, ConvertError> {
    let mut converter = Converter::new(settings);
    converter.push(bytes)?;
    converter.finish()
}

pub(super) fn full_page(html: &str) -> Page {
    convert(settings(ContentKind::Html), html.as_bytes()).expect("the page converts")
}

/// The main content of a page.
pub(super) fn main_page(html: &str) -> Page {
    let settings = Settings {
        full: false,
        ..settings(ContentKind::Html)
    };
    convert(settings, html.as_bytes()).expect("the page converts")
}

fn check(html: &str, expected: &str) {
    assert_eq!(full_page(html).markdown.trim_end(), expected, "{html}");
}

fn check_text(kind: ContentKind, text: &str, expected: &str) {
    let page = convert(settings(kind), text.as_bytes()).expect("the text converts");
    assert_eq!(page.markdown, expected, "{text:?}");
}

fn words(count: usize) -> String {
    "word ".repeat(count)
}

/// What one pass over a page leaves.
pub(super) fn outline(html: &str) -> outline::Outline {
    let links = Links::new(settings(ContentKind::Html).url);
    let mut reader = Reader::new(Builder::new(links, false, Model::shipped()));
    reader.read(html).expect("a small page");
    reader.finish().expect("a whole page").finish().0
}

/// The texts that a rule of the selection leaves, if only those with `gate` in them were kept before.
pub(super) fn kept_by(rule: fn(&outline::Outline, &mut [bool]), html: &str) -> Vec<String> {
    let outline = outline(html);
    let text = |at: usize| outline.markdown(&outline.blocks[at]);
    let blocks = 0..outline.blocks.len();
    let mut is_kept: Vec<bool> = blocks.clone().map(|at| text(at).contains("gate")).collect();
    rule(&outline, &mut is_kept);
    let kept = blocks.filter(|&at| is_kept[at]);
    kept.map(|at| text(at).to_owned()).collect()
}
