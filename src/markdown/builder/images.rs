//! Images, also those that a script would load later: what they are until then, and which of the two that stand for
//! one picture is taken. Knows where images were written; which address an image has is the answer of `links`.

use super::Builder;
use crate::markdown::attributes::{self, Attributes};

/// The longest `<noscript>` that is looked through for an image.
const NOSCRIPT_BYTES_MAX: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Images {
    /// What the `<source>` before an image offers.
    pub(super) source: Option<String>,
    /// The text of the open `<noscript>`, while it may be an image.
    noscript: String,
    /// Where the last image ended, whether it was one for browsers without scripts or one to be loaded by a script,
    /// and its address.
    last: Option<(usize, Origin, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Plain,
    Lazy,
    Noscript,
}

impl Images {
    pub(super) fn noscript_text(&mut self, text: &str) {
        if self.noscript.len() + text.len() <= NOSCRIPT_BYTES_MAX {
            self.noscript.push_str(text);
        }
    }
}

impl Builder {
    pub(super) fn image(&mut self, attributes: &Attributes<'_>) {
        let source = self.images.source.take();
        if self.preformatted.is_some()
            || self.image_of_math(attributes)
            || (!self.full && attributes::is_hidden(attributes))
            || attributes::is_tracking_pixel(attributes)
        {
            return;
        }
        let own = self.links.image(attributes);
        let Some((url, is_lazy)) = own.or_else(|| Some((source?, true))) else {
            self.images.last = None;
            return;
        };
        let alt = attributes.get("alt").unwrap_or_default();
        let origin = if is_lazy { Origin::Lazy } else { Origin::Plain };
        self.write_image(url, &alt, origin);
    }

    /// A `<noscript>` that holds nothing but an image shows what its neighbour is a placeholder for.
    pub(super) fn noscript_image(&mut self) {
        let noscript = std::mem::take(&mut self.images.noscript);
        let html = noscript.trim();
        if self.preformatted.is_some() || !html.starts_with("<img") {
            return;
        }
        let tag = html.split('>').next().unwrap_or("");
        let raw = |name: &str| attribute(tag, name).map(str::to_owned);
        let attributes = Attributes::new(&raw);
        if attributes::is_tracking_pixel(&attributes) || attributes::is_hidden(&attributes) {
            return;
        }
        if let Some((url, _)) = self.links.image(&attributes) {
            let alt = attributes.get("alt").unwrap_or_default();
            self.write_image(url, &alt, Origin::Noscript);
        }
    }

    /// Of two images with nothing between them that stand for the same picture the first is enough.
    fn write_image(&mut self, url: String, alt: &str, origin: Origin) {
        let here = self.writer.position().0;
        if let Some((end, before, last)) = &self.images.last
            && *end == here
            && (*before == Origin::Noscript) != (origin == Origin::Noscript)
            && (*last == url || *before == Origin::Lazy || origin == Origin::Lazy)
        {
            return;
        }
        self.writer.image(alt, &url);
        self.images.last = Some((self.writer.position().0, origin, url));
    }
}

/// The value of an attribute in a start tag, as it is written.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = tag.trim_start_matches(|c: char| !c.is_ascii_whitespace());
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        let end = rest.find(|c: char| c == '=' || c.is_ascii_whitespace())?;
        let (found, after) = rest.split_at(end);
        let Some(value) = after.trim_start().strip_prefix('=') else {
            rest = after;
            continue;
        };
        let value = value.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (value, after) = match quote {
            Some(quote) => value[1..].split_once(quote)?,
            None => {
                let end = value.find(|c: char| c.is_ascii_whitespace());
                value.split_at(end.unwrap_or(value.len()))
            }
        };
        if found.eq_ignore_ascii_case(name) {
            return Some(value);
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::attribute;

    #[test]
    fn attributes_of_a_start_tag() {
        let tag = "<img a=1 b = \"x src='no'\" hidden SRC='/i.png' alt=\"\" data-src=/l.png";
        assert_eq!(attribute(tag, "src"), Some("/i.png"));
        assert_eq!(attribute(tag, "data-src"), Some("/l.png"));
        assert_eq!(attribute(tag, "alt"), Some(""));
        assert_eq!(attribute(tag, "b"), Some("x src='no'"));
        assert_eq!(attribute(tag, "width"), None);
        assert_eq!(attribute("<img src='open", "src"), None);
    }
}
