//! Feeds: RSS 0.9 to 2.0, Atom and JSON Feed as a document with a section an entry. What an entry says in HTML goes
//! through the converter like any page.

use jiff::fmt::rfc2822;
use serde_json::Value;
use url::Url;

use super::super::escape::push_destination;
use super::super::inline::Writer;
use super::super::plain;
use super::super::render::push_escaped_line;
use super::super::{
    ContentKind, Converter, Heading, LINKS_MAX, Link, Metadata, Page, Settings, Warning,
};
use super::xml::{self, Element, Event};
use super::{fence, json};

/// Entries that are given; what is left out is said below.
const ENTRIES_MAX: usize = 200;
/// All of them together.
const MARKDOWN_BYTES_MAX: usize = 10 * 1024 * 1024;
const FIELD_BYTES_MAX: usize = 2_000;
const URL_BYTES_MAX: usize = 2_048;

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

pub(super) fn page(text: &str, url: &Url) -> Page {
    if text.trim_start().starts_with('{') {
        return match serde_json::from_str(text) {
            Ok(value) => written(&json_feed(&value), url),
            Err(_) => {
                let (markdown, metadata) = json::markdown(text);
                Page {
                    markdown,
                    metadata,
                    ..Page::default()
                }
            }
        };
    }
    let feed = xml_feed(text, url);
    if feed.own.title.is_none() && feed.entries.is_empty() {
        return Page {
            markdown: fence("xml", text),
            ..Page::default()
        };
    }
    written(&feed, url)
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

fn xml_feed(text: &str, url: &Url) -> Feed {
    let mut builder = Builder {
        source: text,
        feed: Feed::default(),
        path: Vec::new(),
        capture: None,
        entry: None,
    };
    xml::walk(text, |event| match event {
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
    fn link(&mut self, element: &Element) {
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

    fn take(&mut self, capture: Capture) {
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

fn absolute(base: &Url, address: &str) -> Option<String> {
    let url = base.join(address.trim()).ok()?;
    let is_web = matches!(url.scheme(), "http" | "https");
    (is_web && url.as_str().len() <= URL_BYTES_MAX).then(|| url.into())
}

/// Dates of mail as ISO 8601; others stay as they are.
fn date(text: &str) -> String {
    let text: String = text.chars().take(100).collect();
    match rfc2822::parse(text.trim()) {
        Ok(time) => time
            .strftime("%Y-%m-%dT%H:%M:%S%:z")
            .to_string()
            .replace("+00:00", "Z"),
        Err(_) => text.trim().to_owned(),
    }
}

fn json_feed(value: &Value) -> Feed {
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

fn written(feed: &Feed, url: &Url) -> Page {
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
        body(&mut page, summary, &base);
    }
    let mut given = 0;
    for entry in &feed.entries {
        if page.markdown.len() > MARKDOWN_BYTES_MAX {
            break;
        }
        section(&mut page, entry, url, &base);
        given += 1;
    }
    if given < feed.count {
        let count = feed.count;
        page.markdown.push_str(&format!(
            "\nThe first {given} of {count} entries are given.\n"
        ));
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

fn section(page: &mut Page, entry: &Entry, url: &Url, base: &Url) {
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
        body(page, words, base);
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

fn heading(page: &mut Page, level: u8, text: &str, link: Option<&str>) {
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
fn body(page: &mut Page, words: &Words, base: &Url) {
    if words.form == Form::Plain {
        let text = plain::as_markdown(&plain::normalised(&words.text));
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
    });
    let converted = converter
        .push(words.text.as_bytes())
        .and_then(|()| converter.finish());
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

fn inline(text: &str) -> String {
    let mut writer = Writer::default();
    writer.text(text);
    writer.text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Page {
        page(
            text,
            &Url::parse("https://example.org/feeds/a.xml").expect("a valid URL"),
        )
    }

    #[test]
    fn rss_becomes_sections() {
        let page = read(
            "<?xml version='1.0'?><rss version='2.0' xmlns:content='http://purl.org/rss/1.0/modules/content/'><channel>\
             <title>News &amp; *more*</title><link>https://example.org/news/</link><description>All of it</description>\
             <image><title>Logo</title><url>/logo.png</url><link>x</link></image><language>en</language>\
             <item><title><![CDATA[One <b>thing</b>]]></title><link>one?a=1&amp;b=2</link><pubDate>Mon, 06 Sep 2021 00:01:00 +0000</pubDate>\
             <dc:creator xmlns:dc='x'>Ann</dc:creator><description>short</description>\
             <content:encoded><![CDATA[<h1>Inside</h1><p>Go <a href='rel'>there</a>.</p><script>x</script>]]></content:encoded>\
             <enclosure url='/a.mp3'/></item>\
             <item><guid>https://example.org/two</guid><description>&lt;p&gt;Second &amp;amp; last&lt;/p&gt;</description></item>\
             </channel></rss>",
        );
        assert_eq!(
            page.markdown,
            "# [News & \\*more\\*](https://example.org/news/)\n\nAll of it\n\n\
             ## [One thing](https://example.org/feeds/one?a=1&b=2)\n\n2021-09-06T00:01:00Z · Ann\n\n\
             ### Inside\n\nGo [there](https://example.org/news/rel).\n\n[Attachment](https://example.org/a.mp3)\n\n\
             ## [Untitled](https://example.org/two)\n\nSecond & last\n"
        );
        assert_eq!(page.metadata.title.as_deref(), Some("News & *more*"));
        assert_eq!(
            page.metadata.image.as_deref(),
            Some("https://example.org/logo.png")
        );
        assert_eq!(page.metadata.language.as_deref(), Some("en"));
        let levels: Vec<u8> = page.headings.iter().map(|heading| heading.level).collect();
        assert_eq!(levels, [1, 2, 3, 2]);
        assert_eq!(page.links.len(), 5);
    }

    #[test]
    fn atom_becomes_sections() {
        let page = read(
            "<feed xmlns='http://www.w3.org/2005/Atom' xml:lang='de'><title>A &lt; B</title><subtitle>about</subtitle>\
             <link rel='self' href='/self'/><link href='https://example.org/'/><updated>2024-01-31T00:00:00Z</updated>\
             <author><name>Feed Author</name></author>\
             <entry xml:base='https://other.example/x/'><title type='html'>T &amp;amp; U</title><link href='y'/>\
             <published>2024-01-30</published><author><name>Bea</name><uri>u</uri></author>\
             <content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><p>Text &amp; <a href='z'>z</a></p></div></content></entry>\
             <entry><title>Plain</title><summary>1. a *b*</summary></entry></feed>",
        );
        assert_eq!(
            page.markdown,
            "# [A < B](https://example.org/)\n\nabout\n\n\
             ## [T & U](https://other.example/x/y)\n\n2024-01-30 · Bea\n\nText & [z](https://other.example/x/z)\n\n\
             ## Plain\n\n1\\. a \\*b\\*\n"
        );
        assert_eq!(page.metadata.author.as_deref(), Some("Feed Author"));
        assert_eq!(
            page.metadata.modified_at.as_deref(),
            Some("2024-01-31T00:00:00Z")
        );
    }

    #[test]
    fn rss_1_and_json_feed_become_sections() {
        let rss = read(
            "<rdf:RDF xmlns:rdf='r' xmlns='http://purl.org/rss/1.0/'><channel><title>C</title><link>/</link></channel>\
             <item><title>I</title><link>/i</link><dc:date>2024-01-01</dc:date></item></rdf:RDF>",
        );
        assert_eq!(
            rss.markdown,
            "# [C](https://example.org/)\n\n## [I](https://example.org/i)\n\n2024-01-01\n"
        );
        let json = read(
            "{\"version\":\"https://jsonfeed.org/version/1.1\",\"title\":\"J\",\"home_page_url\":\"https://example.org/\",\
             \"items\":[{\"url\":\"/i\",\"title\":\"I\",\"content_html\":\"<p>x <a href='y'>y</a></p>\",\"authors\":[{\"name\":\"Z\"}]},\
             {\"content_text\":\"only text\"}]}",
        );
        assert_eq!(
            json.markdown,
            "# [J](https://example.org/)\n\n## [I](https://example.org/i)\n\nZ\n\nx [y](https://example.org/y)\n\n## Untitled\n\nonly text\n"
        );
    }

    #[test]
    fn hostile_and_broken_feeds_are_bounded() {
        let many = format!(
            "<rss><channel><title>M</title>{}</channel></rss>",
            "<item><title>x</title><link>javascript:alert(1)</link></item>".repeat(300)
        );
        let page = read(&many);
        assert_eq!(page.warnings, [Warning::Truncated]);
        assert!(
            page.markdown
                .ends_with("\nThe first 200 of 300 entries are given.\n")
        );
        assert!(!page.markdown.contains("javascript"));
        // Breaks off in its second entry.
        let cut = read(
            "<rss><channel><title>C</title><item><title>a</title></item><item><title>b</title><descr",
        );
        assert!(cut.markdown.contains("## a") && cut.markdown.contains("## b"));
        let bomb = read(
            "<!DOCTYPE r [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;'>]><rss><channel><title>&b;</title></channel></rss>",
        );
        assert_eq!(bomb.markdown, "# &b\\;\n");
        assert!(read("<rss></rss>").markdown.starts_with("```xml\n"));
    }
}
