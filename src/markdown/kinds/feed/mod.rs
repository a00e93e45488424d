//! Feeds: RSS 0.9 to 2.0, Atom and JSON Feed as a document with a section an entry. What an entry says in HTML goes
//! through the converter like any page.

mod json_feed;
mod write;
mod xml;

#[cfg(test)]
mod tests;

use url::Url;

use super::{fence, json};
use crate::markdown::Page;
use crate::markdown::links::URL_BYTES_MAX;
use crate::markdown::work::Work;
use json_feed::json_feed;
use xml::xml_feed;

/// Entries that are given; what is left out is said below.
const ENTRIES_MAX: usize = 200;
const FIELD_BYTES_MAX: usize = 2_000;

/// What a text is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Form {
    #[default]
    Html,
    Plain,
}

#[derive(Debug, Default)]
struct Words {
    text: String,
    form: Form,
    /// Where its links start from.
    base: Option<Url>,
}

#[derive(Debug, Default)]
struct Entry {
    title: Option<Words>,
    link: Option<String>,
    date: Option<String>,
    updated: Option<String>,
    author: Option<String>,
    summary: Option<Words>,
    content: Option<Words>,
    enclosure: Option<String>,
}

#[derive(Debug, Default)]
struct Feed {
    /// What the feed says of itself.
    own: Entry,
    language: Option<String>,
    image: Option<String>,
    entries: Vec<Entry>,
    count: usize,
}

pub(super) fn page(text: &str, url: &Url, work: &Work) -> Page {
    if text.trim_start().starts_with('{') {
        return match json_feed(text) {
            Some(feed) => write::page(&feed, url, work),
            None => json::page(text, url, work),
        };
    }
    let feed = xml_feed(text, url, work);
    if feed.own.title.is_none() && feed.entries.is_empty() {
        return Page {
            markdown: fence("xml", text),
            ..Page::default()
        };
    }
    write::page(&feed, url, work)
}

/// On one line and of a bearable length.
fn cut(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut line = words.join(" ");
    if line.len() > FIELD_BYTES_MAX {
        let end = (0..=FIELD_BYTES_MAX).rfind(|at| line.is_char_boundary(*at));
        line.truncate(end.unwrap_or(0));
        line.push('…');
    }
    line
}

fn absolute(base: &Url, address: &str) -> Option<String> {
    let url = base.join(address.trim()).ok()?;
    let is_web = matches!(url.scheme(), "http" | "https");
    (is_web && url.as_str().len() <= URL_BYTES_MAX).then(|| url.into())
}
