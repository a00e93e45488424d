//! A page's bytes in, clean markdown out. Sans-I/O: the caller pushes chunks as they arrive and the boundaries
//! between them never matter. lol_html is used here and nowhere else.

mod attributes;
mod builder;
mod charset;
mod escape;
mod inline;
mod links;
mod metadata;
mod outline;
mod plain;
mod reader;
mod render;
mod select;
mod tables;
mod tag;

#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;

use encoding_rs::{Decoder, Encoding};
use url::Url;

use builder::Builder;
use links::Links;
use outline::{Kind, Outline};
use reader::Reader;
use render::render;
use select::select;

/// The most decoded bytes of a page that are converted (specification section 8).
pub const PAGE_BYTES_MAX: u64 = 5_242_880;

/// The most links of a page that are given.
pub const LINKS_MAX: usize = 200;

/// Fewer kept words than this are worth a warning.
const THIN_WORDS: u64 = 50;

/// A page of so few words with this many scripts is most likely made by them.
const MANY_SCRIPTS: u32 = 5;

/// With fewer kept words than this, what a page says in `<noscript>` is read too, and taken if it says this much more.
const NOSCRIPT_WORDS: u64 = 100;
const NOSCRIPT_GAIN_WORDS: u64 = 50;

/// What is being read, as the response declared it and its first bytes confirm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentKind {
    /// HTML and XHTML.
    Html,
    Markdown,
    PlainText,
}

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
    bytes: u64,
    stage: Stage,
}

/// How far the reading of a page has come.
enum Stage {
    /// Not enough is read to know the encoding, or nothing declares it and all of the page is needed to tell.
    Waiting {
        bytes: Vec<u8>,
        is_text: bool,
    },
    Reading {
        decoder: Decoder,
        sink: Sink,
    },
    Failed(ConvertError),
}

/// What takes the decoded text.
enum Sink {
    Html(Box<Reader>),
    /// Markdown and plain text are looked at as a whole.
    Text(String),
}

impl Converter {
    pub fn new(settings: Settings) -> Self {
        Converter {
            settings,
            bytes: 0,
            stage: Stage::Waiting {
                bytes: Vec::new(),
                is_text: false,
            },
        }
    }

    /// Takes the next decoded (uncompressed) bytes of the page. An error is final and is given again by every later
    /// call.
    pub fn push(&mut self, chunk: &[u8]) -> Result<(), ConvertError> {
        self.bytes = self.bytes.saturating_add(chunk.len() as u64);
        let result = if self.bytes > PAGE_BYTES_MAX {
            Err(ConvertError::TooLarge)
        } else {
            self.take(chunk)
        };
        if let Err(error) = result {
            self.stage = Stage::Failed(error);
        }
        result
    }

    /// The page, once all of its bytes are pushed.
    pub fn finish(mut self) -> Result<Page, ConvertError> {
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
            self.begin(encoding, &bytes[mark_length..])?;
        }
        let (mut decoder, mut sink) = match self.stage {
            Stage::Reading { decoder, sink } => (decoder, sink),
            Stage::Failed(error) => return Err(error),
            Stage::Waiting { .. } => unreachable!("reading began above"),
        };
        sink.write(&mut decoder, &[], true)?;
        let mut page = match sink {
            Sink::Html(reader) => html_page(reader.finish()?, self.settings.full)?,
            Sink::Text(text) => text_page(&text, &self.settings),
        };
        if page.markdown.trim().is_empty() {
            return Err(ConvertError::Empty);
        }
        if was_guessed {
            page.warnings.push(Warning::CharsetGuessed);
        }
        Ok(page)
    }

    fn take(&mut self, chunk: &[u8]) -> Result<(), ConvertError> {
        match &mut self.stage {
            Stage::Failed(error) => Err(*error),
            Stage::Reading { decoder, sink } => sink.write(decoder, chunk, false),
            Stage::Waiting { bytes, is_text } => {
                bytes.extend_from_slice(chunk);
                if bytes.len() < charset::DECLARATION_BYTES || *is_text {
                    return Ok(());
                }
                if charset::is_binary(bytes, self.settings.charset.as_deref()) {
                    return Err(ConvertError::NotText);
                }
                *is_text = true;
                let bytes = std::mem::take(bytes);
                match self.declared(&bytes) {
                    Some((encoding, mark_length)) => self.begin(encoding, &bytes[mark_length..]),
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
        let is_html = self.settings.kind == ContentKind::Html;
        charset::declared(head, self.settings.charset.as_deref(), is_html)
    }

    fn begin(&mut self, encoding: &'static Encoding, bytes: &[u8]) -> Result<(), ConvertError> {
        let mut decoder = encoding.new_decoder_without_bom_handling();
        let mut sink = match self.settings.kind {
            ContentKind::Html => {
                let links = Links::new(self.settings.url.clone());
                let builder = Builder::new(links, self.settings.full);
                Sink::Html(Box::new(Reader::new(builder)))
            }
            ContentKind::Markdown | ContentKind::PlainText => Sink::Text(String::new()),
        };
        sink.write(&mut decoder, bytes, false)?;
        self.stage = Stage::Reading { decoder, sink };
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
        decoder: &mut Decoder,
        bytes: &[u8],
        last: bool,
    ) -> Result<(), ConvertError> {
        match self {
            Sink::Text(text) => {
                charset::decode(decoder, bytes, last, text);
                Ok(())
            }
            Sink::Html(reader) => {
                let mut text = String::new();
                charset::decode(decoder, bytes, last, &mut text);
                reader.read(&text)
            }
        }
    }
}

fn top_level_domain(url: &Url) -> Option<&str> {
    url.domain()?.rsplit('.').next()
}

fn html_page(builder: Builder, full: bool) -> Result<Page, ConvertError> {
    let (mut outline, collected, links) = builder.finish();
    let title = collected.title();
    let mut kept = select(&outline, full, title.as_deref());
    let mut words = kept_words(&outline, &kept);
    if words < NOSCRIPT_WORDS && !collected.noscript.is_empty() {
        // Some forums serve the whole thread to readers without scripts.
        let mut reader = Reader::new(Builder::new(links.clone(), full));
        reader.read(&collected.noscript)?;
        let (other, _, _) = reader.finish()?.finish();
        let other_kept = select(&other, full, title.as_deref());
        let other_words = kept_words(&other, &other_kept);
        if other_words > words + NOSCRIPT_GAIN_WORDS {
            (outline, kept, words) = (other, other_kept, other_words);
        }
    }
    if words == 0 {
        return Err(ConvertError::Empty);
    }
    let markdown = render(&outline, &kept).map_err(|_| ConvertError::OutOfMemory)?;
    let headings = kept_headings(&outline, &kept);
    let first_heading = headings.first().map(|heading| heading.text.as_str());
    let mut warnings = Vec::new();
    if words < THIN_WORDS {
        warnings.push(Warning::ThinContent);
        if collected.asks_for_scripts() || collected.scripts >= MANY_SCRIPTS {
            warnings.push(Warning::JsRequired);
        }
    }
    Ok(Page {
        metadata: collected.decide(&links, first_heading),
        meta_robots: collected.robots(),
        links: kept_links(&outline, &kept),
        markdown,
        headings,
        warnings,
    })
}

fn kept_words(outline: &Outline, kept: &[usize]) -> u64 {
    let words = kept.iter().map(|&block| outline.blocks[block].words);
    words.map(u64::from).sum()
}

fn kept_headings(outline: &Outline, kept: &[usize]) -> Vec<Heading> {
    let blocks = kept.iter().map(|&block| &outline.blocks[block]);
    let headings = blocks.filter_map(|block| match block.kind {
        Kind::Heading(level, plain) => Some(Heading {
            level,
            text: outline.label(plain).to_owned(),
        }),
        _ => None,
    });
    headings
        .filter(|heading| !heading.text.is_empty())
        .collect()
}

fn kept_links(outline: &Outline, kept: &[usize]) -> Vec<Link> {
    let mut is_kept = vec![false; outline.blocks.len()];
    for &block in kept {
        is_kept[block] = true;
    }
    let mut seen = HashSet::new();
    let mut links = Vec::new();
    for link in &outline.links {
        let url = &outline.text[link.url.range()];
        if links.len() < LINKS_MAX
            && is_kept[link.block as usize]
            && url.starts_with("http")
            && seen.insert(url)
        {
            links.push(Link {
                text: outline.label(link.text).to_owned(),
                url: url.to_owned(),
                rel: outline.label(link.rel).to_owned(),
            });
        }
    }
    links
}

/// Markdown is kept as it is, plain text is escaped; neither has a main content to look for.
fn text_page(text: &str, settings: &Settings) -> Page {
    let text = plain::normalised(text);
    let is_thin = (text.split_whitespace().count() as u64) < THIN_WORDS;
    let (headings, links) = match settings.kind {
        ContentKind::Markdown => plain::headings_and_links(&text, &settings.url),
        _ => (Vec::new(), Vec::new()),
    };
    Page {
        metadata: Metadata {
            title: headings.first().map(|heading| heading.text.clone()),
            ..Metadata::default()
        },
        markdown: match settings.kind {
            ContentKind::Markdown => text,
            _ => plain::as_markdown(&text),
        },
        links,
        headings,
        warnings: if is_thin {
            vec![Warning::ThinContent]
        } else {
            Vec::new()
        },
        meta_robots: Vec::new(),
    }
}

/// A converted page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    pub markdown: String,
    pub metadata: Metadata,
    pub links: Vec<Link>,
    pub headings: Vec<Heading>,
    pub warnings: Vec<Warning>,
    /// Values of `<meta name="robots">`, lower case, one directive each.
    pub meta_robots: Vec<String>,
}

/// What the page says of itself. Absent means that it did not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    pub title: Option<String>,
    pub description: Option<String>,
    pub author: Option<String>,
    pub site_name: Option<String>,
    /// As the page wrote it (ISO 8601 in all but broken pages).
    pub published_at: Option<String>,
    pub modified_at: Option<String>,
    pub language: Option<String>,
    pub canonical_url: Option<String>,
    pub image: Option<String>,
    pub favicon: Option<String>,
    /// `og:type`.
    pub kind: Option<String>,
    pub keywords: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub text: String,
    /// Absolute, http or https.
    pub url: String,
    pub rel: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    pub text: String,
}

/// Something the buyer should know about the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warning {
    ThinContent,
    CharsetGuessed,
    JsRequired,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConvertError {
    /// More than [`PAGE_BYTES_MAX`] decoded bytes.
    TooLarge,
    /// Nothing readable was left; an empty page is never sold.
    Empty,
    /// The page needs more memory than one conversion may use.
    OutOfMemory,
    /// The bytes are not text (a NUL among the first 512 bytes, or a known binary signature).
    NotText,
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ConvertError::TooLarge => "The page is larger than 5,242,880 bytes once decoded",
            ConvertError::Empty => "The page holds no readable text",
            ConvertError::OutOfMemory => {
                "The page's markup needs more memory than a conversion may use"
            }
            ConvertError::NotText => "The page's content is not text",
        })
    }
}

impl std::error::Error for ConvertError {}
