//! A feed as a page of markdown: what it says of itself, then a section an entry, up to a length.

use url::Url;

use super::{Entry, Feed, Form, Words, absolute, cut};
use crate::markdown::escape::push_destination;
use crate::markdown::inline::Writer;
use crate::markdown::kinds::left_out;
use crate::markdown::plain;
use crate::markdown::render::push_escaped_line;
use crate::markdown::work::Work;
use crate::markdown::{
    ContentKind, Converter, Heading, LINKS_MAX, Link, Metadata, Page, Settings, Warning,
};

/// All of them together.
const MARKDOWN_BYTES_MAX: usize = 10 * 1024 * 1024;

pub(super) fn page(feed: &Feed, url: &Url, work: &Work) -> Page {
    let site = feed
        .own
        .link
        .as_deref()
        .and_then(|link| absolute(url, link));
    let base = site.as_deref().and_then(|site| Url::parse(site).ok());
    let base = base.unwrap_or_else(|| url.clone());
    let title = feed.own.title.as_ref().map(label);
    let mut page = Page::default();
    if let Some(title) = &title {
        heading(&mut page, 1, title, site.as_deref());
    }
    if let Some(summary) = feed.own.summary.as_ref() {
        body(&mut page, summary, &base, work);
    }
    let mut given = 0;
    for entry in &feed.entries {
        if page.markdown.len() > MARKDOWN_BYTES_MAX {
            break;
        }
        section(&mut page, entry, (url, &base), work);
        given += 1;
    }
    if given < feed.count {
        let left_out = left_out(given, feed.count, "entries");
        page.markdown.push_str(&left_out);
        page.warnings.push(Warning::Truncated);
    }
    page.metadata = Metadata {
        title,
        description: feed.own.summary.as_ref().map(label),
        author: feed.own.author.clone(),
        modified_at: feed.own.updated.clone().or_else(|| feed.own.date.clone()),
        language: feed.language.clone(),
        image: feed.image.as_deref().and_then(|image| absolute(url, image)),
        kind: Some("feed".to_owned()),
        ..Metadata::default()
    };
    page
}

fn section(page: &mut Page, entry: &Entry, (url, base): (&Url, &Url), work: &Work) {
    work.step();
    let link = entry.link.as_deref().and_then(|link| absolute(url, link));
    let title = entry
        .title
        .as_ref()
        .map(label)
        .filter(|title| !title.is_empty());
    let date = entry.date.as_deref().or(entry.updated.as_deref());
    let title = title
        .or_else(|| date.map(str::to_owned))
        .unwrap_or_else(|| "Untitled".to_owned());
    heading(page, 2, &title, link.as_deref());
    let facts: Vec<String> = [date, entry.author.as_deref()]
        .into_iter()
        .flatten()
        .map(|fact| inline(&cut(fact)))
        .filter(|fact| !fact.is_empty())
        .collect();
    if !facts.is_empty() {
        page.markdown.push('\n');
        push_escaped_line(&mut page.markdown, &facts.join(" · "));
        page.markdown.push('\n');
    }
    if let Some(words) = entry.content.as_ref().or(entry.summary.as_ref()) {
        body(page, words, base, work);
    }
    if let Some(file) = entry
        .enclosure
        .as_deref()
        .and_then(|file| absolute(url, file))
    {
        page.markdown.push_str("\n[Attachment](");
        push_destination(&mut page.markdown, &file);
        page.markdown.push_str(")\n");
        push_link(page, "Attachment", &file);
    }
}

pub(super) fn heading(page: &mut Page, level: u8, text: &str, link: Option<&str>) {
    if !page.markdown.is_empty() {
        page.markdown.push('\n');
    }
    for _ in 0..level {
        page.markdown.push('#');
    }
    page.markdown.push(' ');
    let label = inline(text);
    match link {
        Some(link) => {
            let label = label.replace('[', "\\[").replace(']', "\\]");
            page.markdown.push_str(&format!("[{label}]("));
            push_destination(&mut page.markdown, link);
            page.markdown.push_str(")\n");
            push_link(page, text, link);
        }
        None => {
            page.markdown.push_str(&label);
            page.markdown.push('\n');
        }
    }
    page.headings.push(Heading {
        level,
        text: text.to_owned(),
    });
}

fn push_link(page: &mut Page, text: &str, url: &str) {
    if page.links.len() < LINKS_MAX && page.links.iter().all(|link| link.url != url) {
        page.links.push(Link {
            text: text.to_owned(),
            url: url.to_owned(),
            rel: String::new(),
        });
    }
}

/// What an entry says, with its headings below the entry's own.
pub(super) fn body(page: &mut Page, words: &Words, base: &Url, work: &Work) {
    if words.form == Form::Plain {
        let text = plain::as_markdown(&plain::normalised(&words.text), work);
        if !text.is_empty() {
            page.markdown.push('\n');
            page.markdown.push_str(&text);
        }
        return;
    }
    let mut converter = Converter::new(Settings {
        kind: ContentKind::Html,
        url: words.base.clone().unwrap_or_else(|| base.clone()),
        charset: Some("utf-8".to_owned()),
        full: true,
    })
    .sharing(work);
    let converted = converter
        .push(words.text.as_bytes())
        .and_then(|()| converter.finish());
    work.look();
    // An entry of nothing but a picture has no text, and no other is the worse for it.
    let Ok(inner) = converted else { return };
    page.markdown.push('\n');
    page.markdown.push_str(&plain::lowered(&inner.markdown, 2));
    for link in &inner.links {
        push_link(page, &link.text, &link.url);
    }
    page.headings
        .extend(inner.headings.into_iter().map(|heading| Heading {
            level: (heading.level + 2).min(6),
            ..heading
        }));
}

/// A title without markup, on one line. Many feeds put HTML into it, some twice.
fn label(words: &Words) -> String {
    let text = match words.form {
        Form::Plain => words.text.clone(),
        Form::Html => without_tags(&words.text),
    };
    cut(&text)
}

fn without_tags(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        let is_tag = after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
        match after.split_once('>') {
            Some((_, behind)) if is_tag => rest = behind,
            _ => {
                out.push('<');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    htmlize::unescape(out.as_str()).into_owned()
}

fn inline(text: &str) -> String {
    let mut writer = Writer::default();
    writer.text(text);
    writer.text
}
