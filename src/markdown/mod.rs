//! A page's bytes in, clean markdown out. Sans-I/O: the caller pushes chunks as they arrive and the boundaries
//! between them never matter. lol_html is used here and nowhere else.

mod attributes;
mod builder;
mod charset;
mod counts;
mod dates;
mod doubled;
mod escape;
mod fallback;
mod html;
mod injection;
mod inline;
mod kinds;
mod links;
mod markup;
mod metadata;
mod narrow;
mod omit;
mod outline;
mod page;
mod panels;
mod passages;
mod plain;
mod properties;
mod reader;
mod render;
mod scripts;
mod select;
mod selector;
mod shortcodes;
mod tables;
mod tag;
mod title;
mod walls;
mod warnings;
mod work;

#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use encoding_rs::Encoding;
use url::Url;

use crate::domain::words::{is_unseen, visible_line};
use builder::Builder;
use charset::Decoding;
use html::html_page;
use kinds::Convert;
use links::Links;
use reader::Reader;
use select::training::training_page;

pub(crate) use select::model::Model;
pub use select::training::{TrainingBlock, TrainingPage};

pub(crate) use dates::{MONTHS, WEEKDAYS};
pub use injection::{addresses_models, instructions, plainly_addresses_models};
pub use narrow::Narrowing;
pub use omit::{Omitted, without};

pub use kinds::{ContentKind, KINDS, Kind, RECOGNISED_BYTES, kind_names, may_be_read, recognised};
pub(crate) use kinds::{JsonToken, json_tokens};

pub use page::{ContentSource, ConvertError, Heading, Link, Metadata, Page};
pub use passages::{Passage, PassageKind};
pub use walls::{WALL_BYTES_MAX, Wall, of_markdown as wall_of_markdown};
pub use warnings::Warning;
pub use work::WORK_TIME_MAX;
use work::{Work, within_time};

/// The most decoded bytes of a page that are converted.
pub const PAGE_BYTES_MAX: u64 = 5_242_880;

/// Buffers are freed in pieces of this size.
const FREED_AT_ONCE_BYTES: usize = 1024 * 1024;

/// The most links of a page that are given.
pub const LINKS_MAX: usize = 200;

/// A text with fewer words than this is worth a warning.
const THIN_WORDS: u64 = 50;

/// Everything the converter must know before the first byte.
#[derive(Clone, Debug)]
pub struct Settings {
    pub kind: ContentKind,
    /// The final URL of the page; relative links resolve against it (or `<base>`).
    pub url: Url,
    /// The `charset` parameter of the Content-Type header, if any.
    pub charset: Option<String>,
    /// Keep the whole page instead of its main content.
    pub full: bool,
}

/// Streams a page into markdown.
pub struct Converter {
    settings: Settings,
    model: Arc<Model>,
    is_training: bool,
    include_comments: bool,
    narrowing: Option<Narrowing>,
    bytes: u64,
    stage: Stage,
    work: Work,
}

/// How far the reading of a page has come.
enum Stage {
    /// Not enough is read to know the encoding, or nothing declares it and all of the page is needed to tell.
    Waiting {
        bytes: Vec<u8>,
        is_text: bool,
    },
    Reading {
        decoding: Decoding,
        sink: Sink,
    },
    Failed(ConvertError),
}

/// What takes the decoded text.
enum Sink {
    Html(Box<Reader>),
    /// Every other kind of text is looked at as a whole.
    Text(String),
}

impl Converter {
    pub fn new(settings: Settings) -> Self {
        Converter::with_model(settings, Model::shipped())
    }

    /// Selects by another model than the one that is compiled in.
    pub(crate) fn with_model(settings: Settings, model: Arc<Model>) -> Self {
        Converter {
            model,
            is_training: false,
            include_comments: false,
            narrowing: None,
            settings,
            bytes: 0,
            stage: Stage::Waiting {
                bytes: Vec::new(),
                is_text: false,
            },
            work: Work::default(),
        }
    }

    /// Ends the conversion as [`ConvertError::TooComplex`] once this thread has computed for [`WORK_TIME_MAX`] longer than
    /// now. The clock tells how long it has. Before the first byte.
    #[must_use]
    pub fn timed(self, clock: impl Fn() -> Duration + 'static) -> Self {
        self.sharing(&Work::new(clock))
    }

    /// Spends the time of the conversion that this one is a part of.
    fn sharing(mut self, work: &Work) -> Self {
        self.work = work.clone();
        self
    }

    /// Keeps the comments under an article, which are left out otherwise. Before the last byte.
    pub fn include_comments(&mut self) {
        self.include_comments = true;
    }

    /// Reads only what these selectors leave of an HTML page. Before the first byte. Where elements are named, all that is
    /// in them is kept.
    #[must_use]
    pub fn narrowed(mut self, narrowing: Narrowing) -> Self {
        self.settings.full |= narrowing.selects();
        self.narrowing = Some(narrowing);
        self
    }

    /// Takes the next decoded (uncompressed) bytes of the page. An error is final and is given again by every later
    /// call.
    pub fn push(&mut self, chunk: &[u8]) -> Result<(), ConvertError> {
        self.bytes = self.bytes.saturating_add(chunk.len() as u64);
        let result = if self.bytes > PAGE_BYTES_MAX {
            Err(ConvertError::TooLarge)
        } else {
            within_time(|| self.take(chunk)).unwrap_or_else(|spent| Err(spent.into()))
        };
        if let Err(error) = result {
            self.stage = Stage::Failed(error);
        }
        result
    }

    /// The page, once all of its bytes are pushed.
    pub fn finish(self) -> Result<Page, ConvertError> {
        within_time(|| self.converted())?
    }

    fn converted(mut self) -> Result<Page, ConvertError> {
        let selects = self.narrowing.as_ref().is_some_and(Narrowing::selects);
        if selects && self.settings.kind != ContentKind::Html {
            return Err(ConvertError::SelectorUnmatched);
        }
        if self.settings.kind.is_packed() {
            return with_text(self.finish_packed()?);
        }
        let (sink, was_guessed) = self.read()?;
        let mut page = match sink {
            Sink::Html(reader) => html_page(
                reader.finish()?,
                &self.settings,
                &self.model,
                self.include_comments,
                !selects,
            )?,
            Sink::Text(text) => kinds::text_page(&text, &self.settings, &self.work)?,
        };
        if was_guessed {
            page.warnings.push(Warning::CharsetGuessed);
        }
        with_text(page)
    }

    fn finish_packed(self) -> Result<Page, ConvertError> {
        let bytes = match &self.stage {
            Stage::Waiting { bytes, .. } => bytes,
            Stage::Failed(error) => return Err(*error),
            Stage::Reading { .. } => unreachable!("what is packed waits to be whole"),
        };
        let document = match self.settings.kind.row().convert {
            Convert::Bytes(convert) => return convert(bytes, &self.settings, &self.work),
            Convert::Document(convert) => convert(bytes, &self.work)?,
            Convert::Streamed | Convert::Text(_) => return Err(ConvertError::NotText),
        };
        let settings = Settings {
            full: true,
            ..self.settings
        };
        let links = Links::new(settings.url.clone());
        let builder = Builder::new(links, true, Arc::clone(&self.model)).sharing(&self.work);
        let mut reader = Reader::new(builder);
        reader.read(&document.html)?;
        let mut page = html_page(reader.finish()?, &settings, &self.model, false, false)?;
        page.metadata = document.metadata;
        if page.metadata.title.is_none() {
            page.metadata.title = page.headings.first().map(|heading| heading.text.clone());
        }
        // What else is said of pages, such as that they are short, is not said of documents.
        page.warnings
            .retain(|warning| *warning == Warning::PromptInjectionSuspected);
        page.wall = None;
        if document.is_cut {
            page.warnings.push(Warning::Truncated);
        }
        Ok(page)
    }

    /// For training the selection: asks for what [`Converter::finish_training`] gives. Before the first byte.
    pub fn set_training(&mut self) {
        self.is_training = true;
    }

    /// An HTML page as the training of the selection sees it, in place of the page.
    pub fn finish_training(mut self) -> Result<TrainingPage, ConvertError> {
        match self.read()?.0 {
            Sink::Html(reader) => {
                let (mut outline, collected, links) = reader.finish()?.finish();
                if let Some(other) = fallback::thread(&outline, &collected, &links, &self.model)? {
                    outline = other;
                }
                let hints = collected.hints(&self.settings.url);
                Ok(training_page(&outline, &hints, &self.model))
            }
            Sink::Text(_) => Ok(TrainingPage::default()),
        }
    }

    /// Everything that was pushed, read to its end, and whether its encoding was guessed.
    fn read(&mut self) -> Result<(Sink, bool), ConvertError> {
        let mut was_guessed = false;
        if let Stage::Waiting { bytes, .. } = &mut self.stage {
            let bytes = std::mem::take(bytes);
            if charset::is_binary(&bytes, self.settings.charset.as_deref()) {
                return Err(ConvertError::NotText);
            }
            let (encoding, mark_length) = self.declared(&bytes).unwrap_or_else(|| {
                let (encoding, is_guess) =
                    charset::detected(&bytes, top_level_domain(&self.settings.url));
                was_guessed = is_guess;
                (encoding, 0)
            });
            self.begin(encoding, bytes, mark_length)?;
        }
        let stage = std::mem::replace(&mut self.stage, Stage::Failed(ConvertError::Empty));
        let (mut decoding, mut sink) = match stage {
            Stage::Reading { decoding, sink } => (decoding, sink),
            Stage::Failed(error) => return Err(error),
            Stage::Waiting { .. } => unreachable!("reading began above"),
        };
        sink.write(&mut decoding, &[], true)?;
        if let (Sink::Text(html), Some(narrowing), ContentKind::Html) =
            (&sink, &self.narrowing, self.settings.kind)
        {
            let mut reader = self.reader();
            reader.read(&narrowing.narrowed(html, &self.work)?)?;
            sink = Sink::Html(Box::new(reader));
        }
        Ok((sink, was_guessed))
    }

    fn take(&mut self, chunk: &[u8]) -> Result<(), ConvertError> {
        match &mut self.stage {
            Stage::Failed(error) => Err(*error),
            Stage::Reading { decoding, sink } => sink.write(decoding, chunk, false),
            Stage::Waiting { bytes, is_text } => {
                bytes.extend_from_slice(chunk);
                let is_whole = *is_text || self.settings.kind.is_packed();
                if bytes.len() < charset::EVIDENCE_BYTES || is_whole {
                    return Ok(());
                }
                if charset::is_binary(bytes, self.settings.charset.as_deref()) {
                    return Err(ConvertError::NotText);
                }
                *is_text = true;
                let bytes = std::mem::take(bytes);
                match self.declared(&bytes) {
                    Some((encoding, mark_length)) => self.begin(encoding, bytes, mark_length),
                    None => {
                        self.stage = Stage::Waiting {
                            bytes,
                            is_text: true,
                        };
                        Ok(())
                    }
                }
            }
        }
    }

    fn declared(&self, head: &[u8]) -> Option<(&'static Encoding, usize)> {
        let is_markup = self.settings.kind.row().is_markup;
        charset::declared(head, self.settings.charset.as_deref(), is_markup)
    }

    fn reader(&self) -> Reader {
        let links = Links::new(self.settings.url.clone());
        let mut builder =
            Builder::new(links, self.settings.full, Arc::clone(&self.model)).sharing(&self.work);
        builder.is_training = self.is_training;
        Reader::new(builder)
    }

    /// Reads what waited, without the byte order mark. A page that declares no encoding waited as a whole, and is let go as
    /// it is read.
    fn begin(
        &mut self,
        encoding: &'static Encoding,
        mut bytes: Vec<u8>,
        mark_length: usize,
    ) -> Result<(), ConvertError> {
        let mut decoding = Decoding::of_page(encoding, &bytes[mark_length..]);
        let mut sink = match self.settings.kind {
            ContentKind::Html if self.narrowing.is_none() => Sink::Html(Box::new(self.reader())),
            _ => Sink::Text(String::new()),
        };
        let mut read = mark_length;
        while read < bytes.len() {
            let end = bytes.len().min(read + FREED_AT_ONCE_BYTES);
            sink.write(&mut decoding, &bytes[read..end], false)?;
            bytes.drain(..end);
            bytes.shrink_to_fit();
            read = 0;
        }
        self.stage = Stage::Reading { decoding, sink };
        Ok(())
    }
}

impl fmt::Debug for Converter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Converter")
            .field("settings", &self.settings)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

impl Sink {
    fn write(
        &mut self,
        decoding: &mut Decoding,
        bytes: &[u8],
        last: bool,
    ) -> Result<(), ConvertError> {
        decoding.decode(bytes, last, |decoded| match self {
            Sink::Html(reader) => reader.read(decoded),
            Sink::Text(text) => {
                text.push_str(decoded);
                Ok(())
            }
        })
    }
}

/// Whether a page's markdown holds a character that can be seen.
pub fn has_text(markdown: &str) -> bool {
    let is_seen = |c: char| {
        !(c.is_whitespace()
            || c.is_control()
            || matches!(
                c,
                '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}'
            ))
    };
    markdown.contains(is_seen)
}

/// A page of any kind that has text; no other is given. What is shown of it beside its text holds nothing that nobody sees.
fn with_text(mut page: Page) -> Result<Page, ConvertError> {
    if !has_text(&page.markdown) {
        return Err(ConvertError::Empty);
    }
    page.metadata = page.metadata.visible();
    let links = page.links.iter_mut().map(|link| &mut link.text);
    let headings = page.headings.iter_mut().map(|heading| &mut heading.text);
    for text in links.chain(headings) {
        if text.contains(|c: char| c.is_control() || is_unseen(c)) {
            *text = visible_line(text);
        }
    }
    page.headings.retain(|heading| !heading.text.is_empty());
    Ok(page)
}

fn top_level_domain(url: &Url) -> Option<&str> {
    url.domain()?.rsplit('.').next()
}
