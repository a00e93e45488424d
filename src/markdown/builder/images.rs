//! Images, also those that a script would load later: what they are until then, and which of the two that stand for
//! one picture is taken. Knows where images were written; which address an image has is the answer of `links`.

use super::Builder;
use crate::markdown::attributes::{self, Attributes};
use crate::markdown::markup::{self, Markup, Place};
use crate::markdown::tag::{Name, Tag};

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
        if self.preformatted.is_none()
            && let Some(sign) = attributes::emoji(attributes)
        {
            self.writer.text(&sign);
            return;
        }
        if self.preformatted.is_some()
            || self.image_of_math(attributes)
            || (!self.full && attributes::is_hidden(attributes))
            || attributes::is_tracking_pixel(attributes)
            || (!self.full && self.tables.is_empty() && attributes::is_decoration(attributes))
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
        let mut places = Vec::new();
        let Some(attributes) = image_alone(noscript.trim(), &mut places) else {
            return;
        };
        if self.preformatted.is_some() {
            return;
        }
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

/// The attributes of the image that the markup begins with.
fn image_alone<'a>(html: &'a str, places: &'a mut Vec<Place>) -> Option<Attributes<'a>> {
    if !html.starts_with('<') {
        return None;
    }
    match markup::next(html, places)?.0 {
        Markup::Start { name, .. } if Tag::named(Name::new(name)) == Tag::Image => {
            Some(Attributes::new(html, places))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_a_start_tag() {
        let html = "<img a=1 b = \"x src='no'\" hidden SRC='/i.png' alt=\"\" data-src=/l.png>";
        let mut places = Vec::new();
        let tag = image_alone(html, &mut places).expect("an image");
        assert_eq!(tag.get("src").as_deref(), Some("/i.png"));
        assert_eq!(tag.get("data-src").as_deref(), Some("/l.png"));
        assert_eq!(tag.get("alt").as_deref(), Some(""));
        assert_eq!(tag.get("b").as_deref(), Some("x src='no'"));
        assert!(tag.get("width").is_none());
        for other in ["", "<img src='open", "x<img src=a>", "<p><img src=a></p>"] {
            assert!(image_alone(other, &mut Vec::new()).is_none(), "{other}");
        }
    }
}
