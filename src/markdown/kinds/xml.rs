//! XML as it is, in a fence; a sitemap as the list of links that it is. Also the one reader of XML: quick-xml is used
//! here and nowhere else. No entity is expanded but characters by their number or their HTML name, so that no document
//! grows by being read, and nothing it refers to is fetched.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event as Raw};
use url::Url;

use super::super::escape::push_destination;
use super::super::inline::Writer;
use super::super::work::Work;
use super::super::{LINKS_MAX, Link, Page, Warning};
use super::{fence, left_out};

/// Elements in elements; what is deeper ends the reading.
const DEPTH_MAX: usize = 256;
const ATTRIBUTES_MAX: usize = 64;
/// Longer values of attributes are left out, and longer names end here: what is kept of an element may be kept for each
/// place that refers to it.
const VALUE_BYTES_MAX: usize = 4 * 1024;
const NAME_BYTES_MAX: usize = 256;
/// Entries of a sitemap that are given.
const ENTRIES_MAX: usize = 5_000;

pub(super) enum Event<'a> {
    /// With the place behind the tag.
    Open(&'a Element, usize),
    Text(&'a str),
    /// With the place before the tag.
    Close(usize),
}

#[derive(Debug)]
pub(super) struct Element {
    /// With its prefix.
    pub(super) name: String,
    attributes: Vec<(String, String)>,
}

impl Element {
    fn read(tag: &BytesStart<'_>) -> Element {
        let mut attributes = tag.attributes();
        let attributes = attributes.with_checks(false).flatten().take(ATTRIBUTES_MAX);
        let name = tag.name();
        let name: &str = name.as_ref();
        Element {
            name: name[..name.floor_char_boundary(NAME_BYTES_MAX)].to_owned(),
            attributes: attributes
                .filter(|attribute| {
                    attribute.key.as_ref().len() <= NAME_BYTES_MAX
                        && attribute.value.len() <= VALUE_BYTES_MAX
                })
                .map(|attribute| {
                    let value: &str = &attribute.value;
                    let value = htmlize::unescape_attribute(value).into_owned();
                    (attribute.key.as_ref().to_owned(), value)
                })
                .collect(),
        }
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.trim())
    }
}

/// Gives what the document holds, in order, up to its end or its first fault; whether it came to the end.
pub(super) fn walk(text: &str, work: &Work, mut take: impl FnMut(&Event<'_>)) -> bool {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let mut depth = 0usize;
    let place = |position: u64| {
        usize::try_from(position)
            .unwrap_or(usize::MAX)
            .min(text.len())
    };
    loop {
        work.step();
        let before = place(reader.buffer_position());
        match reader.read_event() {
            Ok(Raw::Start(tag)) => {
                depth += 1;
                if depth > DEPTH_MAX {
                    return false;
                }
                let after = place(reader.buffer_position());
                take(&Event::Open(&Element::read(&tag), after));
            }
            Ok(Raw::Empty(tag)) => {
                let after = place(reader.buffer_position());
                take(&Event::Open(&Element::read(&tag), after));
                take(&Event::Close(after));
            }
            Ok(Raw::End(_)) if depth > 0 => {
                depth -= 1;
                take(&Event::Close(before));
            }
            Ok(Raw::Text(text)) => take(&Event::Text(&text)),
            Ok(Raw::CData(text)) => take(&Event::Text(&text)),
            Ok(Raw::GeneralRef(name)) => {
                let name: &str = &name;
                take(&Event::Text(&htmlize::unescape(format!("&{name};"))));
            }
            Ok(Raw::Eof) => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

pub(super) fn page(text: &str, url: &Url, work: &Work) -> Page {
    sitemap(text, url, work).unwrap_or_else(|| Page {
        markdown: fence("xml", text),
        ..Page::default()
    })
}

#[derive(Default)]
struct Place {
    address: String,
    changed: String,
}

/// `None` when it is none.
fn sitemap(text: &str, url: &Url, work: &Work) -> Option<Page> {
    let mut root = String::new();
    let mut places: Vec<Place> = Vec::new();
    let mut count = 0;
    let mut path: Vec<String> = Vec::new();
    walk(text, work, |event| match event {
        Event::Open(element, _) => {
            if path.is_empty() {
                root.clone_from(&element.name);
            }
            path.push(element.name.clone());
            if path.len() == 2 {
                count += 1;
                if count <= ENTRIES_MAX {
                    places.push(Place::default());
                }
            }
        }
        Event::Text(text) if path.len() == 3 && count <= ENTRIES_MAX => {
            if let Some(place) = places.last_mut() {
                match path[2].as_str() {
                    "loc" => place.address.push_str(text.trim()),
                    "lastmod" => place.changed.push_str(text.trim()),
                    _ => {}
                }
            }
        }
        Event::Text(_) => {}
        Event::Close(_) => {
            path.pop();
        }
    });
    if !matches!(root.as_str(), "urlset" | "sitemapindex") {
        return None;
    }
    let mut page = Page::default();
    for place in &places {
        let address = url.join(&place.address).ok();
        let Some(address) = address.filter(|address| address.scheme().starts_with("http")) else {
            continue;
        };
        let address = String::from(address);
        page.markdown.push_str("- <");
        push_destination(&mut page.markdown, &address);
        page.markdown.push('>');
        if !place.changed.is_empty() {
            let mut writer = Writer::default();
            writer.text(&place.changed);
            page.markdown.push_str(&format!(" ({})", writer.text));
        }
        page.markdown.push('\n');
        if page.links.len() < LINKS_MAX {
            page.links.push(Link {
                text: address.clone(),
                url: address,
                rel: String::new(),
            });
        }
    }
    if count > ENTRIES_MAX {
        let left_out = left_out(ENTRIES_MAX, count, "entries");
        page.markdown.push_str(&left_out);
        page.warnings.push(Warning::Truncated);
    }
    (!page.markdown.is_empty()).then_some(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url() -> Url {
        Url::parse("https://example.org/a/b.xml").expect("a valid URL")
    }

    #[test]
    fn xml_stays_as_it_is() {
        let text =
            "<?xml version=\"1.0\"?>\n<!DOCTYPE a [<!ENTITY b \"c\">]>\n<a>&b; &amp; ```</a>\n";
        let page = page(text, &url(), &Work::default());
        assert_eq!(page.markdown, format!("````xml\n{text}````\n"));
    }

    #[test]
    fn a_sitemap_is_a_list_of_links() {
        let text = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc> https://example.org/x?a=1&amp;b=2 </loc>\
                    <lastmod>2024-01-31</lastmod></url><url><loc>javascript:x</loc></url><url><loc>/y</loc></url></urlset>";
        let page = page(text, &url(), &Work::default());
        assert_eq!(
            page.markdown,
            "- <https://example.org/x?a=1&b=2> (2024-01-31)\n- <https://example.org/y>\n"
        );
        assert_eq!(page.links.len(), 2);
    }

    #[test]
    fn entities_of_the_document_are_not_expanded() {
        let bomb = "<!DOCTYPE a [<!ENTITY b \"xxxxxxxxxx\"><!ENTITY c \"&b;&b;&b;\">]><a>&c;&eacute;&#65;</a>";
        let mut texts = String::new();
        assert!(walk(bomb, &Work::default(), |event| {
            if let Event::Text(text) = event {
                texts.push_str(text);
            }
        }));
        assert_eq!(texts, "&c;éA");
    }

    /// A value that is long is read once and may be referred to a million times.
    #[test]
    fn long_values_and_names_are_left_out() {
        let most = "v".repeat(VALUE_BYTES_MAX);
        let text = format!("<{} a='{most}' b='{most}x' c='y'/>", "n".repeat(100_000));
        let mut seen = Vec::new();
        walk(&text, &Work::default(), |event| {
            if let Event::Open(element, _) = event {
                let lengths = ["a", "b", "c"].map(|name| element.attribute(name).map(str::len));
                seen.push((element.name.len(), lengths));
            }
        });
        assert_eq!(
            seen,
            [(NAME_BYTES_MAX, [Some(VALUE_BYTES_MAX), None, Some(1)])]
        );
    }

    #[test]
    fn depth_ends_the_reading() {
        let mut opened = 0;
        assert!(!walk(&"<a>".repeat(100_000), &Work::default(), |_| {
            opened += 1
        }));
        assert_eq!(opened, DEPTH_MAX);
    }
}
