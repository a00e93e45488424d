//! JSON Feed: an object in, entries out.

use serde_json::Value;

use super::{ENTRIES_MAX, Entry, Feed, Form, Words};

pub(super) fn json_feed(value: &Value) -> Feed {
    let items = value["items"].as_array().map_or(&[][..], Vec::as_slice);
    let mut own = json_entry(value);
    own.link = member(value, "home_page_url");
    own.summary = plain_member(value, "description");
    Feed {
        own,
        language: member(value, "language"),
        image: member(value, "icon"),
        entries: items.iter().take(ENTRIES_MAX).map(json_entry).collect(),
        count: items.len(),
    }
}

fn json_entry(value: &Value) -> Entry {
    let author = value["authors"].get(0).unwrap_or(&value["author"]);
    let html = member(value, "content_html").map(|text| Words {
        text,
        ..Words::default()
    });
    Entry {
        title: plain_member(value, "title"),
        link: member(value, "url").or_else(|| member(value, "external_url")),
        date: member(value, "date_published"),
        updated: member(value, "date_modified"),
        author: member(author, "name"),
        summary: plain_member(value, "summary"),
        content: html.or_else(|| plain_member(value, "content_text")),
        enclosure: value["attachments"]
            .get(0)
            .and_then(|file| member(file, "url")),
    }
}

fn member(value: &Value, name: &str) -> Option<String> {
    let text = value.get(name)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn plain_member(value: &Value, name: &str) -> Option<Words> {
    member(value, name).map(|text| Words {
        text,
        form: Form::Plain,
        base: None,
    })
}
