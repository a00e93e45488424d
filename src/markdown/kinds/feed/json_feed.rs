//! JSON Feed: an object in, entries out.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{ENTRIES_MAX, Entry, Feed, Form, Words};
use crate::markdown::kinds::values::{Text, pieces};

/// A feed or an item of one. Arrays are read only as far as they are given.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Members<'a> {
    title: Text,
    home_page_url: Text,
    description: Text,
    language: Text,
    icon: Text,
    url: Text,
    external_url: Text,
    date_published: Text,
    date_modified: Text,
    summary: Text,
    content_html: Text,
    content_text: Text,
    #[serde(borrow)]
    items: Option<&'a RawValue>,
    #[serde(borrow)]
    author: Option<&'a RawValue>,
    #[serde(borrow)]
    authors: Option<&'a RawValue>,
    #[serde(borrow)]
    attachments: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    name: Text,
    url: Text,
}

/// `None` when the text is no object.
pub(super) fn json_feed(text: &str) -> Option<Feed> {
    let feed: Members<'_> = serde_json::from_str(text).ok()?;
    let items = feed.items.and_then(|items| pieces(items, ENTRIES_MAX));
    let (items, count) = items.unwrap_or_default();
    let items = items
        .into_iter()
        .map(|item| serde_json::from_str(item.get()));
    let entries = items.map(|item| entry(item.unwrap_or_default())).collect();
    let language = non_empty(&feed.language);
    let image = non_empty(&feed.icon);
    let link = non_empty(&feed.home_page_url);
    let summary = plain(&feed.description);
    Some(Feed {
        own: Entry {
            link,
            summary,
            ..entry(feed)
        },
        language,
        image,
        entries,
        count,
    })
}

fn entry(members: Members<'_>) -> Entry {
    let author = first(members.authors).or_else(|| parse(members.author?));
    let html = non_empty(&members.content_html).map(|text| Words {
        text,
        ..Words::default()
    });
    Entry {
        title: plain(&members.title),
        link: non_empty(&members.url).or_else(|| non_empty(&members.external_url)),
        date: non_empty(&members.date_published),
        updated: non_empty(&members.date_modified),
        author: author.and_then(|author| non_empty(&author.name)),
        summary: plain(&members.summary),
        content: html.or_else(|| plain(&members.content_text)),
        enclosure: first(members.attachments).and_then(|file| non_empty(&file.url)),
    }
}

fn first(array: Option<&RawValue>) -> Option<Named> {
    let (pieces, _) = pieces(array?, 1)?;
    parse(pieces.first()?)
}

fn parse(value: &RawValue) -> Option<Named> {
    serde_json::from_str(value.get()).ok()
}

fn non_empty(text: &Text) -> Option<String> {
    let text = text.0.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn plain(text: &Text) -> Option<Words> {
    non_empty(text).map(|text| Words {
        text,
        form: Form::Plain,
        base: None,
    })
}
