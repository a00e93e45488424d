//! A page's HTML narrowed to the elements that CSS selectors name, before it is read. Selectors mean what they mean to
//! lol_html, which builds no tree: an element whose end tag is missing lasts until what it stands in ends.

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use lol_html::errors::RewritingError;
use lol_html::html_content::{ContentType, Element, TextChunk};
use lol_html::{
    DocumentContentHandlers, ElementContentHandlers, HandlerResult, HtmlRewriter, MemorySettings,
    Selector, Settings,
};

use super::work::Work;
use super::{ConvertError, PAGE_BYTES_MAX};

/// What the rewriter may hold of a page at once.
const MEMORY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// A narrowed page with its marks is no larger.
const NARROWED_BYTES_MAX: usize = 4 * 5_242_880;
const _: () = assert!(NARROWED_BYTES_MAX as u64 == 4 * PAGE_BYTES_MAX);

/// The attribute that marks what was selected.
const MARK: &str = "data-context402-selected";
const MARKED: &str = "[data-context402-selected]";
const IN_MARKED: &str = "[data-context402-selected] *";

/// Selectors that were parsed.
#[derive(Debug)]
pub struct Narrowing {
    include: Option<Selector>,
    exclude: Option<Selector>,
}

impl Narrowing {
    /// Reads a selector.
    ///
    /// # Errors
    /// Why it cannot be used, as a sentence without a period.
    pub fn parse_selector(selector: &str) -> Result<Selector, String> {
        selector
            .parse::<Selector>()
            .map_err(|error| error.to_string().trim_end_matches('.').to_owned())
    }

    /// # Errors
    /// Why one of the selectors cannot be used.
    pub fn new(include: Option<&str>, exclude: Option<&str>) -> Result<Narrowing, String> {
        Ok(Narrowing {
            include: include.map(Narrowing::parse_selector).transpose()?,
            exclude: exclude.map(Narrowing::parse_selector).transpose()?,
        })
    }

    /// Whether only named elements are read.
    pub(super) fn selects(&self) -> bool {
        self.include.is_some()
    }

    /// The HTML of what is read, with the page's own head for its metadata.
    pub(super) fn narrowed(&self, html: &str, work: &Work) -> Result<String, ConvertError> {
        let (html, found) = self.mark(html, work)?;
        match self.include {
            None => Ok(html),
            Some(_) if found == 0 => Err(ConvertError::SelectorUnmatched),
            Some(_) => only_marked(&html, work),
        }
    }

    /// Without what is excluded and with marks on what is included, and how many of these there are.
    fn mark(&self, html: &str, work: &Work) -> Result<(String, usize), ConvertError> {
        let found = Rc::new(Cell::new(0));
        let all = selector("*");
        let mut settings = settings().append_element_content_handler((
            Cow::Borrowed(&all),
            ElementContentHandlers::default().element(|element: &mut Element<'_, '_>| {
                work.step();
                // SECURITY: a page must not select itself.
                element.remove_attribute(MARK);
                Ok(())
            }),
        ));
        if let Some(include) = &self.include {
            let found = Rc::clone(&found);
            let mark = move |element: &mut Element<'_, '_>| -> HandlerResult {
                found.set(found.get() + 1);
                element.set_attribute(MARK, "")?;
                Ok(())
            };
            settings = settings.append_element_content_handler((
                Cow::Borrowed(include),
                ElementContentHandlers::default().element(mark),
            ));
        }
        if let Some(exclude) = &self.exclude {
            let remove = |element: &mut Element<'_, '_>| -> HandlerResult {
                element.remove();
                Ok(())
            };
            settings = settings.append_element_content_handler((
                Cow::Borrowed(exclude),
                ElementContentHandlers::default().element(remove),
            ));
        }
        let html = rewrite(html, settings)?;
        Ok((html, found.get()))
    }
}

/// The marked elements with all that is in them, and the head.
fn only_marked(html: &str, work: &Work) -> Result<String, ConvertError> {
    let (is_kept, has_text) = (Rc::new(Cell::new(false)), Rc::new(Cell::new(false)));
    let keep = |kept: &Rc<Cell<bool>>| {
        let kept = Rc::clone(kept);
        move |_: &mut Element<'_, '_>| -> HandlerResult {
            kept.set(true);
            Ok(())
        }
    };
    let keep_text = |kept: &Rc<Cell<bool>>| {
        let kept = Rc::clone(kept);
        move |_: &mut TextChunk<'_>| -> HandlerResult {
            kept.set(true);
            Ok(())
        }
    };
    let [marked, in_marked, head, in_head, all] =
        [MARKED, IN_MARKED, "head", "head *", "*"].map(selector);
    let of_all = Rc::clone(&is_kept);
    let drop_others = move |element: &mut Element<'_, '_>| -> HandlerResult {
        work.step();
        if of_all.replace(false) {
            // What was apart stays apart.
            if element.has_attribute(MARK) && element.can_have_content() {
                element.before("<div>", ContentType::Html);
                element.after("</div>", ContentType::Html);
            }
            return Ok(());
        }
        match element.tag_name().as_str() {
            "html" | "body" | "meta" | "link" | "base" => {}
            "script" | "style" | "svg" | "math" | "noscript" | "template" | "iframe" | "object" => {
                element.remove();
            }
            _ => element.remove_and_keep_content(),
        }
        Ok(())
    };
    let of_text = Rc::clone(&has_text);
    let drop_text = move |text: &mut TextChunk<'_>| -> HandlerResult {
        if !of_text.replace(false) {
            text.remove();
        }
        Ok(())
    };
    let handlers = ElementContentHandlers::default;
    let settings = settings()
        .append_element_content_handler((
            Cow::Borrowed(&marked),
            handlers()
                .element(keep(&is_kept))
                .text(keep_text(&has_text)),
        ))
        .append_element_content_handler((
            Cow::Borrowed(&in_marked),
            handlers().element(keep(&is_kept)),
        ))
        .append_element_content_handler((
            Cow::Borrowed(&head),
            handlers()
                .element(keep(&is_kept))
                .text(keep_text(&has_text)),
        ))
        .append_element_content_handler((
            Cow::Borrowed(&in_head),
            handlers().element(keep(&is_kept)),
        ))
        .append_element_content_handler((Cow::Borrowed(&all), handlers().element(drop_others)))
        .append_document_content_handler(DocumentContentHandlers::default().text(drop_text));
    rewrite(html, settings)
}

fn selector(text: &'static str) -> Selector {
    text.parse().expect("a constant that is a selector")
}

fn settings<'h>() -> Settings<'h, 'h> {
    Settings::new()
        .with_strict(false)
        .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(MEMORY_BYTES_MAX))
}

fn rewrite(html: &str, settings: Settings<'_, '_>) -> Result<String, ConvertError> {
    let mut written = Vec::with_capacity(html.len());
    let mut is_too_long = false;
    let mut rewriter = HtmlRewriter::new(settings, |bytes: &[u8]| {
        match written.len() + bytes.len() <= NARROWED_BYTES_MAX {
            true => written.extend_from_slice(bytes),
            false => is_too_long = true,
        }
    });
    let in_our_words = |_: RewritingError| ConvertError::OutOfMemory;
    rewriter.write(html.as_bytes()).map_err(in_our_words)?;
    rewriter.end().map_err(in_our_words)?;
    match is_too_long {
        true => Err(ConvertError::OutOfMemory),
        // What goes in as UTF-8 comes out as UTF-8.
        false => String::from_utf8(written).map_err(|_| ConvertError::NotText),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::{ContentKind, Converter, Page, Settings};

    const PAGE: &str = "<!DOCTYPE html><html lang=en><head><title>Shop</title><meta name=description content='All kettles.'></head>\
        <body><nav><a href=/a>Home</a></nav><h1>Kettles</h1><ul><li class=item>Small <b class=price>12</b>\
        <li class=item>Large <b class=price>30</b></ul><div id=reviews><p>Fine kettle.</p><p class=ad>Buy cups!</p></div>\
        <script type='application/ld+json'>{\"@type\":\"Article\",\"articleBody\":\"Something else entirely that is long enough.\"}</script></body></html>";

    fn read(
        html: &str,
        include: Option<&str>,
        exclude: Option<&str>,
    ) -> Result<Page, ConvertError> {
        let settings = Settings {
            kind: ContentKind::Html,
            url: "https://shop.example/".parse().expect("a URL"),
            charset: Some("utf-8".to_owned()),
            full: false,
        };
        let narrowing = Narrowing::new(include, exclude).expect("selectors");
        let mut converter = Converter::new(settings).narrowed(narrowing);
        for chunk in html.as_bytes().chunks(7) {
            converter.push(chunk)?;
        }
        converter.finish()
    }

    #[test]
    fn only_what_is_selected_is_read() {
        let page = read(PAGE, Some("#reviews"), None).expect("it matches");
        assert_eq!(page.markdown.trim(), "Fine kettle.\n\nBuy cups!");
        assert_eq!(page.metadata.title.as_deref(), Some("Shop"));
        let page = read(PAGE, Some("#reviews"), Some(".ad")).expect("it matches");
        assert_eq!(page.markdown.trim(), "Fine kettle.");
        let page = read(PAGE, Some(".price"), None).expect("it matches");
        assert_eq!(page.markdown.trim(), "**12**\n\n**30**");
    }

    #[test]
    fn what_matches_nothing_is_said() {
        let nothing = Some(ConvertError::SelectorUnmatched);
        assert_eq!(read(PAGE, Some("#nowhere"), None).err(), nothing);
        let forged = PAGE.replace("<nav>", &format!("<nav {MARK}>"));
        assert_eq!(read(&forged, Some("#nowhere"), None).err(), nothing);
        assert!(read(PAGE, None, Some("#nowhere")).is_ok());
    }

    #[test]
    fn a_selector_that_cannot_be_read_is_refused() {
        for text in ["", "a >", "a:hover", "a{}", "[", "::before"] {
            assert!(Narrowing::parse_selector(text).is_err(), "{text}");
        }
        assert!(Narrowing::parse_selector("main > p:nth-child(2), [data-x='a,b']").is_ok());
    }
}
