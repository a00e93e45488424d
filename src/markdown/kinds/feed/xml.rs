//! RSS and Atom: elements in, entries out. A feed that breaks off is read as far as it goes.

use jiff::fmt::rfc2822;
use url::Url;

use super::{ENTRIES_MAX, Entry, Feed, Form, Words, absolute};
use crate::markdown::kinds::xml::{self, Element, Event};
use crate::markdown::links::URL_BYTES_MAX;
use crate::markdown::work::Work;

/// Elements of a feed or an entry whose text is given.
const FIELDS: [&str; 27] = [
    "title",
    "itunes:title",
    "dc:title",
    "link",
    "guid",
    "pubDate",
    "published",
    "dc:date",
    "issued",
    "lastBuildDate",
    "updated",
    "modified",
    "dcterms:modified",
    "dc:creator",
    "itunes:author",
    "managingEditor",
    "description",
    "summary",
    "subtitle",
    "itunes:summary",
    "tagline",
    "content",
    "content:encoded",
    "xhtml:body",
    "body",
    "language",
    "dc:language",
];

pub(super) fn xml_feed(text: &str, url: &Url, work: &Work) -> Feed {
    let mut builder = Builder {
        source: text,
        feed: Feed::default(),
        path: Vec::new(),
        capture: None,
        entry: None,
    };
    xml::walk(text, work, |event| match event {
        Event::Open(element, after) => builder.open(element, *after, url),
        Event::Text(text) => {
            if let Some(capture) = &mut builder.capture {
                capture.words.text.push_str(text);
            }
        }
        Event::Close(before) => builder.close(*before),
    });
    // A feed that breaks off in an entry still has it.
    builder.end_entry();
    builder.feed
}

/// Text that is being collected.
struct Capture {
    name: String,
    depth: usize,
    /// Where the element's content begins, if that is markup.
    markup_from: Option<usize>,
    words: Words,
}

struct Builder<'a> {
    source: &'a str,
    feed: Feed,
    /// Names and bases of the open elements.
    path: Vec<(String, Url)>,
    capture: Option<Capture>,
    entry: Option<Entry>,
}

impl Builder<'_> {
    fn open(&mut self, element: &Element, after: usize, url: &Url) {
        let above = self.path.last().map_or(url, |(_, base)| base);
        let base = element
            .attribute("xml:base")
            .and_then(|base| above.join(base).ok())
            .filter(|base| base.as_str().len() <= URL_BYTES_MAX)
            .unwrap_or_else(|| above.clone());
        let parent = self
            .path
            .last()
            .map(|(name, _)| name.clone())
            .unwrap_or_default();
        self.path.push((element.name.clone(), base));
        if self.capture.is_some() {
            return;
        }
        let name = element.name.strip_prefix("atom:").unwrap_or(&element.name);
        match name {
            "item" | "entry" => self.entry = Some(Entry::default()),
            "feed" | "rss" | "rdf:RDF" => {
                self.feed.language = element.attribute("xml:lang").map(str::to_owned);
            }
            "link" if element.attribute("href").is_some() => self.link(element),
            "enclosure" | "media:content" => {
                let (entry, base) = self.place();
                let address = element
                    .attribute("url")
                    .and_then(|url| absolute(&base, url));
                entry.enclosure = entry.enclosure.take().or(address);
            }
            _ if is_field(name, &parent) => self.begin(name, element, after),
            _ => {}
        }
    }

    /// Whose members are being read, and where addresses start from.
    fn place(&mut self) -> (&mut Entry, Url) {
        let base = self.path.last().map(|(_, base)| base.clone());
        let entry = self.entry.as_mut().unwrap_or(&mut self.feed.own);
        (entry, base.expect("an element is open"))
    }

    /// Atom's links: the page itself, or the file that belongs to it.
    pub(super) fn link(&mut self, element: &Element) {
        let relation = element.attribute("rel").unwrap_or("alternate").to_owned();
        let (entry, base) = self.place();
        let address = element
            .attribute("href")
            .and_then(|href| absolute(&base, href));
        let place = match relation.as_str() {
            "alternate" => &mut entry.link,
            "enclosure" => &mut entry.enclosure,
            _ => return,
        };
        *place = place.take().or(address);
    }

    fn begin(&mut self, name: &str, element: &Element, after: usize) {
        let base = self
            .path
            .iter()
            .find(|(_, base)| Some(base) != self.path.first().map(|(_, b)| b));
        let has_base = base.is_some() || element.attribute("xml:base").is_some();
        let kind = element.attribute("type").unwrap_or_default();
        let is_atom = matches!(name, "summary" | "content" | "subtitle" | "title")
            && self
                .path
                .first()
                .is_some_and(|(root, _)| root.ends_with("feed"));
        let is_markup = kind == "xhtml" || kind == "application/xhtml+xml";
        self.capture = Some(Capture {
            name: name.to_owned(),
            depth: self.path.len(),
            markup_from: is_markup.then_some(after),
            words: Words {
                text: String::new(),
                form: if is_atom && !is_markup && !kind.contains("html") {
                    Form::Plain
                } else {
                    Form::Html
                },
                base: self
                    .path
                    .last()
                    .map(|(_, base)| base.clone())
                    .filter(|_| has_base),
            },
        });
    }

    fn close(&mut self, before: usize) {
        let is_end = |capture: &Capture| capture.depth == self.path.len();
        if self.capture.as_ref().is_some_and(is_end)
            && let Some(mut capture) = self.capture.take()
        {
            if let Some(from) = capture.markup_from {
                let markup = self.source.get(from..before).unwrap_or_default();
                capture.words.text = markup.to_owned();
            }
            self.take(capture);
        }
        let closed = self.path.pop().map(|(name, _)| name).unwrap_or_default();
        if self.capture.is_none() && matches!(closed.trim_start_matches("atom:"), "item" | "entry")
        {
            self.end_entry();
        }
    }

    fn end_entry(&mut self) {
        if let Some(entry) = self.entry.take() {
            self.feed.count += 1;
            if self.feed.entries.len() < ENTRIES_MAX {
                self.feed.entries.push(entry);
            }
        }
    }

    pub(super) fn take(&mut self, capture: Capture) {
        let words = capture.words;
        let text = words.text.trim().to_owned();
        if text.is_empty() {
            return;
        }
        match capture.name.as_str() {
            "language" | "dc:language" => {
                self.feed.language = Some(text);
                return;
            }
            "url" => {
                let (_, base) = self.place();
                self.feed.image = absolute(&base, &text);
                return;
            }
            _ => {}
        }
        let (entry, base) = self.place();
        match capture.name.as_str() {
            "title" => entry.title = Some(words),
            "media:title" | "itunes:title" | "dc:title" if entry.title.is_none() => {
                entry.title = Some(words)
            }
            "link" => entry.link = entry.link.take().or(absolute(&base, &text)),
            "guid" if entry.link.is_none() && text.starts_with("http") => entry.link = Some(text),
            "pubDate" | "published" | "dc:date" | "issued" | "lastBuildDate" => {
                entry.date = entry.date.take().or(Some(date(&text)));
            }
            "updated" | "modified" | "dcterms:modified" => entry.updated = Some(date(&text)),
            "name" | "author" | "dc:creator" | "itunes:author" | "managingEditor" => {
                entry.author = entry.author.take().or(Some(text));
            }
            "description" | "summary" | "subtitle" | "itunes:summary" | "media:description"
            | "tagline"
                if entry.summary.is_none() =>
            {
                entry.summary = Some(words);
            }
            "content" | "content:encoded" | "xhtml:body" | "body" => entry.content = Some(words),
            _ => {}
        }
    }
}

/// Whether an element of this name below that parent says something that is given.
fn is_field(name: &str, parent: &str) -> bool {
    let parent = parent.trim_start_matches("atom:");
    match name {
        "name" => parent == "author",
        "url" => parent == "image",
        "media:title" | "media:description" => matches!(parent, "media:group" | "item" | "entry"),
        "author" => parent == "item",
        _ => FIELDS.contains(&name) && matches!(parent, "item" | "entry" | "channel" | "feed"),
    }
}

/// Dates of mail as ISO 8601; others stay as they are.
pub(super) fn date(text: &str) -> String {
    let text: String = text.chars().take(100).collect();
    match rfc2822::parse(text.trim()) {
        Ok(time) => time
            .strftime("%Y-%m-%dT%H:%M:%S%:z")
            .to_string()
            .replace("+00:00", "Z"),
        Err(_) => text.trim().to_owned(),
    }
}
