//! The tokenizer: lol_html says which bytes of a page are text, what lies between is read by `markup`, and both go to
//! the [`Builder`] in order. The only place that knows lol_html. Its own elements and attributes would each be a copy,
//! and twice the time.
//!
//! HTML goes in as UTF-8, in slices of one size, so that nothing depends on how it arrived.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use lol_html::errors::RewritingError;
use lol_html::html_content::{TextChunk, TextType};
use lol_html::{DocumentContentHandlers, HtmlRewriter, MemorySettings, Settings};
use memchr::memchr;

use super::ConvertError;
use super::attributes::Attributes;
use super::builder::Builder;
use super::markup::{self, Markup, Place};
use super::tag::{Name, Tag};

const SLICE_BYTES: usize = 32 * 1024;

/// Twice the largest page: a page may be one single tag, beside which the tokenizer notes its attributes.
const MEMORY_BYTES_MAX: usize = 10 * 1024 * 1024;

/// Longer texts are handed on in pieces, so that a page of one text is not held twice.
const TEXT_BYTES: usize = 64 * 1024;

/// The longest character reference by name, and more.
const REFERENCE_BYTES: usize = 64;

pub(super) struct Reader {
    rewriter: HtmlRewriter<'static, fn(&[u8])>,
    /// Where the rewriter found text in the last slice.
    texts: Rc<RefCell<Vec<Text>>>,
    source: Source,
    slice_bytes: usize,
}

/// A piece of text.
#[derive(Debug)]
struct Text {
    /// Bytes of the whole page.
    place: Range<usize>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Characters,
    /// Text in which `&` means nothing.
    WithoutEntities,
    /// Scripts, styles, `<noscript>`.
    Raw,
}

/// The part of the page that is not read to its end, and what is made of it.
struct Source {
    builder: Builder,
    window: String,
    /// Where in the page the window begins.
    offset: usize,
    /// How much of the window the rewriter has.
    given: usize,
    /// How much of the window is read.
    read: usize,
    /// The text that may go on, from `read` on, as far as it is known: an entity may be cut between its pieces.
    open: Option<(Kind, usize)>,
    /// Markup behind the last text is looked at again when there are so many bytes of it: it had no end before.
    fruitless: usize,
    places: Vec<Place>,
    /// The tag read last begins an element whose text may look like markup.
    is_in_raw: bool,
}

impl Reader {
    pub(super) fn new(builder: Builder) -> Reader {
        Reader::with_slices(builder, SLICE_BYTES)
    }

    /// A slice holds at least one character.
    fn with_slices(builder: Builder, slice_bytes: usize) -> Reader {
        let texts = Rc::new(RefCell::new(Vec::new()));
        let found = Rc::clone(&texts);
        let on_text = move |chunk: &mut TextChunk<'_>| {
            note(&mut found.borrow_mut(), chunk);
            Ok(())
        };
        let settings = Settings::new()
            .append_document_content_handler(DocumentContentHandlers::default().text(on_text))
            .with_strict(false)
            .with_memory_settings(
                MemorySettings::new().with_max_allowed_memory_usage(MEMORY_BYTES_MAX),
            );
        let discard: fn(&[u8]) = |_| {};
        Reader {
            rewriter: HtmlRewriter::new(settings, discard),
            texts,
            slice_bytes,
            source: Source {
                builder,
                window: String::with_capacity(2 * slice_bytes),
                offset: 0,
                given: 0,
                read: 0,
                open: None,
                fruitless: 0,
                places: Vec::new(),
                is_in_raw: false,
            },
        }
    }

    /// After an error the reader is of no more use.
    pub(super) fn read(&mut self, mut html: &str) -> Result<(), ConvertError> {
        while !html.is_empty() {
            let space = self.slice_bytes - self.source.waiting();
            let mut now = html.len().min(space);
            while !html.is_char_boundary(now) {
                now -= 1;
            }
            self.source.window.push_str(&html[..now]);
            html = &html[now..];
            // The next character may not fit.
            if !html.is_empty() || self.source.waiting() == self.slice_bytes {
                self.give()?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Builder, ConvertError> {
        let slice_bytes = self.slice_bytes;
        let mut builder = self.end()?;
        // Once: what is in there may begin a title without an end again.
        let Some(page) = builder.end_title() else {
            return Ok(builder);
        };
        let mut reader = Reader::with_slices(builder, slice_bytes);
        reader.read(&page)?;
        drop(page);
        reader.end()
    }

    fn end(mut self) -> Result<Builder, ConvertError> {
        self.give()?;
        self.rewriter.end().map_err(in_our_words)?;
        self.source.read_on(&mut self.texts.borrow_mut(), true);
        Ok(self.source.builder)
    }

    fn give(&mut self) -> Result<(), ConvertError> {
        let slice = &self.source.window[self.source.given..];
        self.rewriter
            .write(slice.as_bytes())
            .map_err(in_our_words)?;
        self.source.given = self.source.window.len();
        self.source.builder.work().look();
        self.source.read_on(&mut self.texts.borrow_mut(), false);
        match self.source.builder.is_too_long() {
            true => Err(ConvertError::OutOfMemory),
            false => Ok(()),
        }
    }
}

/// The handlers return no errors of their own and strict parsing is off, which leaves the memory limit.
fn in_our_words(_: RewritingError) -> ConvertError {
    ConvertError::OutOfMemory
}

fn note(texts: &mut Vec<Text>, chunk: &TextChunk<'_>) {
    let place = chunk.source_location().bytes();
    if place.is_empty() {
        return;
    }
    let kind = match chunk.text_type() {
        TextType::RawText | TextType::ScriptData => Kind::Raw,
        TextType::PlainText | TextType::CDataSection => Kind::WithoutEntities,
        TextType::Data | TextType::RCData => Kind::Characters,
    };
    match texts.last_mut() {
        Some(last) if last.place.end == place.start && last.kind == kind => {
            last.place.end = place.end;
        }
        _ => texts.push(Text { place, kind }),
    }
}

impl Source {
    fn waiting(&self) -> usize {
        self.window.len() - self.given
    }

    /// Reads the texts and what lies between them, as far as all of it is there.
    fn read_on(&mut self, texts: &mut Vec<Text>, is_all: bool) {
        for text in texts.drain(..) {
            let start = text.place.start - self.offset;
            let end = text.place.end - self.offset;
            match self.open {
                Some((kind, until)) if until == start && kind == text.kind => {}
                _ => {
                    self.end_text();
                    self.read_markup(start, false);
                    self.read = start;
                }
            }
            self.open = Some((text.kind, end));
            if text.kind == Kind::Raw {
                let raw = self.window.get(self.read..end).unwrap_or_default();
                self.builder.raw_text(raw);
                self.read = end;
            }
        }
        if is_all {
            self.end_text();
            self.read_markup(self.window.len(), false);
            return;
        }
        self.read_ahead();
        self.write_long_text();
        self.drop_read();
    }

    /// Reads the markup behind the last text, which is not all there. In a script that could be text after all: the
    /// rewriter keeps back what it is not sure of.
    fn read_ahead(&mut self) {
        if self.is_in_raw {
            return;
        }
        let start = self.open.map_or(self.read, |(_, until)| until);
        let rest = self.window.len() - start;
        if rest < self.fruitless {
            return;
        }
        if markup::next(&self.window[start..], &mut self.places).is_some() {
            self.end_text();
            self.read_markup(self.window.len(), true);
            self.fruitless = 2 * (self.window.len() - self.read);
        } else {
            self.fruitless = 2 * rest;
        }
    }

    fn end_text(&mut self) {
        if let Some((kind, until)) = self.open.take() {
            self.write_text(kind, until);
        }
    }

    /// Hands on the beginning of a long text that goes on: up to its last space, or else where no character reference
    /// may be cut.
    fn write_long_text(&mut self) {
        let Some((kind, until)) = self.open else {
            return;
        };
        if until - self.read < TEXT_BYTES {
            return;
        }
        let text = self.window.get(self.read..until).unwrap_or_default();
        let end = text.floor_char_boundary(text.len() - REFERENCE_BYTES);
        let spaced = text[..end].rfind(|c: char| c.is_ascii_whitespace());
        let cut = match spaced {
            Some(space) if end - space < TEXT_BYTES / 2 => space + 1,
            _ => {
                let start = text.floor_char_boundary(end - REFERENCE_BYTES);
                text[start..end].find('&').map_or(end, |at| start + at)
            }
        };
        self.write_text(kind, self.read + cut);
    }

    fn write_text(&mut self, kind: Kind, until: usize) {
        let text = self.window.get(self.read..until).unwrap_or_default();
        if kind == Kind::Characters {
            self.builder.title_source(text);
        }
        match kind {
            Kind::Raw => {}
            Kind::Characters if memchr(b'&', text.as_bytes()).is_some() => {
                self.builder.text(&htmlize::unescape(text));
            }
            Kind::Characters | Kind::WithoutEntities => self.builder.text(text),
        }
        self.read = until;
    }

    /// Reads markup until there is no more of it before `end`.
    fn read_markup(&mut self, end: usize, is_ahead: bool) {
        self.fruitless = 0;
        while self.read < end && !(is_ahead && self.is_in_raw) {
            let source = self.window.get(self.read..end).unwrap_or_default();
            let Some((found, length)) = markup::next(source, &mut self.places) else {
                return;
            };
            self.builder.work().step();
            match found {
                Markup::Start {
                    name,
                    closes_itself,
                } => {
                    let name = Name::new(name);
                    let attributes = Attributes::new(source, &self.places);
                    let tag = Tag::named(name);
                    self.is_in_raw = tag.is_skipped();
                    self.builder.start(name, tag, closes_itself, &attributes);
                }
                Markup::End { name } => {
                    let name = Name::new(name);
                    self.is_in_raw = false;
                    self.builder.end(name, Tag::named(name));
                }
                Markup::Other => {
                    if let Some(comment) =
                        source.get(..length).and_then(|it| it.strip_prefix("<!--"))
                    {
                        self.builder.comment(comment);
                    }
                }
            }
            self.read += length;
        }
    }

    fn drop_read(&mut self) {
        self.window.drain(..self.read);
        self.offset += self.read;
        self.given -= self.read;
        if let Some((_, until)) = &mut self.open {
            *until -= self.read;
        }
        self.read = 0;
    }
}

#[cfg(test)]
mod tests {
    use lol_html::html_content::Element;
    use lol_html::{HandlerResult, element};
    use proptest::prelude::*;
    use url::Url;

    use super::super::links::Links;
    use super::super::select::model::Model;
    use super::*;

    /// Markup that is hard to tell from text, and to cut.
    fn any_markup() -> impl Strategy<Value = String> {
        const PIECES: [&str; 76] = [
            "<p>",
            "</p>",
            "<P ",
            "</P\t>",
            "<b/>",
            "</b/x>",
            "<i",
            "<",
            ">",
            "/",
            "=",
            "'",
            "\"",
            " ",
            "\n",
            "-",
            "--",
            "-->",
            "--!>",
            "!",
            "?",
            "]",
            "]]>",
            "a",
            "é漢",
            "&amp;",
            "&am",
            "</",
            "</>",
            "</ >",
            "</1>",
            "<1",
            "<!",
            "<!>",
            "<!->",
            "<!-->",
            "<!--->",
            "<!---->",
            "<!--",
            "<!-- a -- b --!> ",
            "<!--<!-->",
            "<!--<!->",
            "<!DOCTYPE html>",
            "<!doctype html PUBLIC \"a>\" ",
            "<?php ?>",
            "<?",
            "<![CDATA[",
            "<![CDATA[x>y]]>",
            "<svg>",
            "</svg>",
            "<math>",
            "<mi>",
            "<desc>",
            "</desc>",
            "<br>",
            "</br>",
            "<a href='x>y' HREF=z b c = \"d'\" =e>",
            "<a b=c/d>",
            "<a b=>",
            "<a\n/ / b=\"x\"y>",
            "<script>",
            "</script>",
            "</scrip",
            "<style>",
            "</style >",
            "<textarea>",
            "</textarea>",
            "<title>",
            "</title",
            "<noscript>",
            "</noscript>",
            "<plaintext>",
            "<xmp>",
            "</xmp>",
            "<select>",
            "<table><td>",
        ];
        proptest::collection::vec(proptest::sample::select(&PIECES[..]), 1..25)
            .prop_map(|pieces| pieces.concat())
    }

    type Tag = (usize, String, Vec<(String, String)>);

    /// The start tags and the places of text in lol_html's own words.
    fn as_lol_html_has_it(html: &str) -> (Vec<Tag>, Vec<Text>) {
        let tags = Rc::new(RefCell::new(Vec::new()));
        let texts = Rc::new(RefCell::new(Vec::new()));
        let (found, noted) = (Rc::clone(&tags), Rc::clone(&texts));
        let on_element = move |element: &mut Element<'_, '_>| -> HandlerResult {
            let mut attributes = Vec::<(String, String)>::new();
            for attribute in element.attributes() {
                if !attributes.iter().any(|(name, _)| *name == attribute.name()) {
                    attributes.push((attribute.name(), attribute.value()));
                }
            }
            let start = element.source_location().bytes().start;
            found
                .borrow_mut()
                .push((start, element.tag_name(), attributes));
            Ok(())
        };
        let on_text = move |chunk: &mut TextChunk<'_>| {
            note(&mut noted.borrow_mut(), chunk);
            Ok(())
        };
        let settings = Settings::new()
            .append_element_content_handler(element!("*", on_element))
            .append_document_content_handler(DocumentContentHandlers::default().text(on_text))
            .with_strict(false);
        let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
        rewriter.write(html.as_bytes()).expect("a small page");
        rewriter.end().expect("a small page");
        (tags.take(), texts.take())
    }

    /// The start tags in what lies between the texts. What is left over at the end of such a piece is given back.
    fn as_we_have_it<'a>(html: &'a str, texts: &[Text]) -> (Vec<Tag>, Vec<&'a str>) {
        let (mut tags, mut left_over, mut at) = (Vec::new(), Vec::new(), 0);
        let mut places = Vec::new();
        let starts = texts.iter().map(|text| text.place.clone());
        for text in starts.chain(std::iter::once(html.len()..html.len())) {
            while let Some((found, length)) = markup::next(&html[at..text.start], &mut places) {
                if let Markup::Start { name, .. } = found {
                    let attributes = Attributes::new(&html[at..], &places);
                    let owned = attributes
                        .iter()
                        .map(|(name, value)| (name.to_lowercase(), value.to_owned()));
                    let skipped = html[at..].find('<').unwrap_or(0);
                    tags.push((at + skipped, name.to_lowercase(), owned.collect()));
                }
                at += length;
            }
            if at < text.start && text.start < html.len() {
                left_over.push(&html[at..text.start]);
            }
            at = text.end;
        }
        (tags, left_over)
    }

    fn read_in_slices(html: &str, slice_bytes: usize) -> String {
        let url = Url::parse("https://example.org/").expect("a valid URL");
        let builder = Builder::new(Links::new(url), true, Model::shipped());
        let mut reader = Reader::with_slices(builder, slice_bytes);
        reader.read(html).expect("a small page");
        format!("{:?}", reader.finish().expect("a small page").finish())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn markup_is_read_as_lol_html_reads_it(html in any_markup()) {
            let (expected, texts) = as_lol_html_has_it(&html);
            let (found, left_over) = as_we_have_it(&html, &texts);
            prop_assert_eq!(found, expected);
            for rest in left_over {
                prop_assert!(matches!(rest, "<![CDATA[" | "]]>" | "]]><![CDATA["), "{}", rest);
            }
        }

        #[test]
        fn slices_never_matter(html in any_markup(), slice_bytes in 4usize..40) {
            prop_assert_eq!(read_in_slices(&html, slice_bytes), read_in_slices(&html, SLICE_BYTES));
        }
    }
}
