//! A page's bytes in, clean markdown out. Sans-I/O: the caller pushes chunks as they arrive and the boundaries
//! between them never matter. lol_html is used here and nowhere else.

use std::fmt;

use url::Url;

/// The most decoded bytes of a page that are converted (specification section 8).
pub const PAGE_BYTES_MAX: u64 = 5_242_880;

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
#[derive(Debug)]
pub struct Converter {
    settings: Settings,
    bytes: Vec<u8>,
}

impl Converter {
    pub fn new(settings: Settings) -> Self {
        Converter {
            settings,
            bytes: Vec::new(),
        }
    }

    /// Takes the next decoded (uncompressed) bytes of the page.
    pub fn push(&mut self, chunk: &[u8]) -> Result<(), ConvertError> {
        self.bytes.extend_from_slice(chunk);
        Ok(())
    }

    pub fn finish(self) -> Result<Page, ConvertError> {
        let _ = self.settings.full;
        Err(ConvertError::Empty)
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
