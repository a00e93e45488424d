//! The tokenizer: feeds HTML to lol_html and hands elements and joined text to the [`Builder`]. The only place that
//! knows lol_html. HTML goes in as UTF-8, in slices of one size, so that nothing depends on how it arrived.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lol_html::errors::RewritingError;
use lol_html::html_content::{EndTag, TextChunk, TextType};
use lol_html::send::{Element, HtmlRewriter, Settings};
use lol_html::{DocumentContentHandlers, HandlerResult, MemorySettings, element, end_tag};

use super::ConvertError;
use super::attributes::Attributes;
use super::builder::Builder;
use super::tag::Tag;

const SLICE_BYTES: usize = 32 * 1024;

/// Several times the largest page: a page may be one single tag, and the tokenizer doubles its buffers.
const MEMORY_BYTES_MAX: usize = 64 * 1024 * 1024;

pub(super) struct Reader {
    rewriter: HtmlRewriter<'static, fn(&[u8])>,
    state: Arc<Mutex<State>>,
    slice: Vec<u8>,
}

struct State {
    builder: Builder,
    /// The text node being read: an entity may be cut between the pieces it comes in.
    text: String,
}

impl Reader {
    pub(super) fn new(builder: Builder) -> Reader {
        let state = Arc::new(Mutex::new(State {
            builder,
            text: String::new(),
        }));
        let (elements, texts) = (Arc::clone(&state), Arc::clone(&state));
        let settings = Settings::new_send()
            .append_element_content_handler(element!("*", move |element: &mut Element<'_, '_>| {
                on_element(&elements, element)
            }))
            .append_document_content_handler(DocumentContentHandlers::default().text(
                move |chunk: &mut TextChunk<'_>| {
                    lock(&texts).on_text(chunk);
                    Ok(())
                },
            ))
            .with_strict(false)
            .with_memory_settings(
                MemorySettings::new().with_max_allowed_memory_usage(MEMORY_BYTES_MAX),
            );
        let discard: fn(&[u8]) = |_| {};
        Reader {
            rewriter: HtmlRewriter::new(settings, discard),
            state,
            slice: Vec::with_capacity(SLICE_BYTES),
        }
    }

    /// After an error the reader is of no more use.
    pub(super) fn read(&mut self, html: &str) -> Result<(), ConvertError> {
        let mut rest = html.as_bytes();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(SLICE_BYTES - self.slice.len()));
            self.slice.extend_from_slice(now);
            rest = later;
            if self.slice.len() == SLICE_BYTES {
                self.rewriter.write(&self.slice).map_err(in_our_words)?;
                self.slice.clear();
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Builder, ConvertError> {
        self.rewriter.write(&self.slice).map_err(in_our_words)?;
        self.rewriter.end().map_err(in_our_words)?;
        let state = Arc::into_inner(self.state).expect("the rewriter held the other references");
        let mut state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.end_text();
        Ok(state.builder)
    }
}

/// The handlers return no errors of their own and strict parsing is off, which leaves the memory limit.
fn in_our_words(_: RewritingError) -> ConvertError {
    ConvertError::OutOfMemory
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn on_element(state: &Arc<Mutex<State>>, element: &mut Element<'_, '_>) -> HandlerResult {
    let name = element.tag_name();
    let tag = Tag::named(&name);
    let serial = {
        let raw = |attribute: &str| element.get_attribute(attribute);
        lock(state).builder.start(tag, &Attributes::new(&raw))
    };
    if let Some(serial) = serial
        && element.can_have_content()
    {
        let state = Arc::clone(state);
        element.on_end_tag(end_tag!(move |end: &mut EndTag<'_>| {
            lock(&state).builder.end(serial, tag, end.name() == name);
            Ok(())
        }))?;
    }
    Ok(())
}

impl State {
    fn on_text(&mut self, chunk: &TextChunk<'_>) {
        match chunk.text_type() {
            TextType::RawText | TextType::ScriptData => self.builder.raw_text(chunk.as_str()),
            _ => {
                self.text.push_str(chunk.as_str());
                if chunk.last_in_text_node() {
                    self.end_text();
                }
            }
        }
    }

    fn end_text(&mut self) {
        if self.text.contains('&') {
            self.builder.text(&htmlize::unescape(self.text.as_str()));
        } else {
            self.builder.text(&self.text);
        }
        self.text.clear();
    }
}
