//! What a conversion gives: a page as markdown with what it says of itself, or the reason why there is none.

use std::fmt;

use super::passages::Passage;
use super::walls::Wall;
use super::warnings::Warning;
use super::work::Spent;
use crate::domain::words::visible_line;

/// A converted page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    pub markdown: String,
    /// Its pieces in order; of HTML pages only.
    pub passages: Vec<Passage>,
    pub metadata: Metadata,
    pub source: ContentSource,
    /// The F1 by words, from 0 to 1, that the selection of the content can be expected to have; of HTML pages whose
    /// content was selected only.
    pub confidence: Option<f32>,
    pub links: Vec<Link>,
    pub headings: Vec<Heading>,
    pub warnings: Vec<Warning>,
    /// What nearly all of the page is, in place of its content. Such a page is not sold.
    pub wall: Option<Wall>,
    /// Values of `<meta name="robots">`, and of the same under our name, lower case, one directive each.
    pub meta_robots: Vec<String>,
}

/// Where the markdown comes from: the page's own text, or a place that was looked at because there was so little.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentSource {
    #[default]
    Page,
    /// The `articleBody` of its JSON-LD.
    JsonLd,
    Noscript,
    /// The data that an application in it starts from.
    AppState,
    Description,
}

/// What the page says of itself. Absent means that it did not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    pub title: Option<String>,
    pub description: Option<String>,
    pub author: Option<String>,
    pub site_name: Option<String>,
    /// ISO 8601 where it can be read in one way only, else as the page wrote it.
    pub published_at: Option<String>,
    pub modified_at: Option<String>,
    pub language: Option<String>,
    pub canonical_url: Option<String>,
    pub image: Option<String>,
    pub favicon: Option<String>,
    /// `og:type`, or the JSON-LD type of what the page is about.
    pub kind: Option<String>,
    pub keywords: Vec<String>,
    /// The pages after and before this one in a series.
    pub next: Option<String>,
    pub previous: Option<String>,
    /// The same page as markdown, as the site offers it.
    pub markdown_alternate: Option<String>,
    /// All types of the page's JSON-LD items, in its order.
    pub json_ld_types: Vec<String>,
}

impl Metadata {
    /// Without control characters and those that nobody sees, which would reorder or hide what stands beside a title
    /// wherever it is shown: in reports, e-mails, terminals and on pages.
    pub(super) fn visible(mut self) -> Metadata {
        let fields = [
            &mut self.title,
            &mut self.description,
            &mut self.author,
            &mut self.site_name,
            &mut self.published_at,
            &mut self.modified_at,
            &mut self.language,
            &mut self.kind,
        ];
        for field in fields {
            let line = field.as_deref().map(visible_line);
            *field = line.filter(|line| !line.is_empty());
        }
        for words in [&mut self.keywords, &mut self.json_ld_types] {
            for word in words.iter_mut() {
                *word = visible_line(word);
            }
            words.retain(|word| !word.is_empty());
        }
        self
    }
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConvertError {
    /// More than [`PAGE_BYTES_MAX`] decoded bytes.
    TooLarge,
    /// Nothing readable was left; an empty page is never sold.
    Empty,
    /// No element of the page is one that the selector names.
    SelectorUnmatched,
    /// There is a wall in place of the content.
    Walled(Wall),
    /// The page needs more memory than one conversion may use.
    OutOfMemory,
    /// A document that is made to cost much more time than it says.
    TooComplex,
    /// The bytes are not text (a NUL among the first 512 bytes, or a known binary signature).
    NotText,
    /// A PDF that asks for a password or restricts what is done with it.
    EncryptedPdf,
    /// A PDF of pictures.
    ScannedPdf,
    /// A PDF whose fonts do not say which characters they show.
    UnmappedPdf,
    /// A PDF in which no page can be found.
    DamagedPdf,
    /// An office document or a book that is encrypted.
    EncryptedDocument,
    /// An office document or a book without the parts that it must have.
    DamagedDocument,
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ConvertError::Walled(wall) => return wall.fmt(f),
            ConvertError::TooLarge => "The page is larger than 5,242,880 bytes once decoded",
            ConvertError::Empty => "The page holds no readable text",
            ConvertError::SelectorUnmatched => "The selector matches no element of the page",
            ConvertError::OutOfMemory => {
                "The page's markup needs more memory than a conversion may use"
            }
            ConvertError::TooComplex => {
                "The document is too complex to convert: it takes much work and holds little text"
            }
            ConvertError::NotText => "The page's content is not text",
            ConvertError::EncryptedPdf => {
                "The PDF is encrypted; name a copy without a password and restrictions"
            }
            ConvertError::ScannedPdf => {
                "The PDF holds no text, only pictures such as a scan; name a copy with a text layer"
            }
            ConvertError::UnmappedPdf => {
                "The PDF's fonts do not say which characters they show; name another copy of the document"
            }
            ConvertError::EncryptedDocument => {
                "The document is encrypted. Use a copy without a password."
            }
            ConvertError::DamagedDocument => {
                "The document is damaged or is not the file type it claims to be."
            }
            ConvertError::DamagedPdf => {
                "The PDF is damaged, so that no page of it can be read; name another copy of the document"
            }
        })
    }
}

impl std::error::Error for ConvertError {}

impl From<Spent> for ConvertError {
    fn from(Spent: Spent) -> ConvertError {
        ConvertError::TooComplex
    }
}
