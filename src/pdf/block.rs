//! The blocks of a document before layout: headings, paragraphs, quotes, tables.

use crate::pdf::words::bounded;

/// Characters of an address that are shown; the link has all of it.
const ADDRESS_CHARS_MAX: usize = 220;

/// The colour of text and of what stands behind it. Never the only bearer of a meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tone {
    #[default]
    Ink,
    Muted,
    Accent,
    Rule,
    Sunken,
}

impl Tone {
    /// Red, green, blue: those of the service's pages.
    pub(super) fn rgb(self) -> (u8, u8, u8) {
        match self {
            Tone::Ink => (0x1c, 0x1f, 0x21),
            Tone::Muted => (0x5a, 0x61, 0x66),
            Tone::Accent => (0x08, 0x4c, 0x3a),
            Tone::Rule => (0xc9, 0xc5, 0xb9),
            Tone::Sunken => (0xf3, 0xf1, 0xeb),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Style {
    pub(super) size: f32,
    pub(super) bold: bool,
    pub(super) italic: bool,
    pub(super) mono: bool,
    pub(super) tone: Tone,
}

impl Style {
    pub(super) const BODY: Style = Style {
        size: 9.5,
        bold: false,
        italic: false,
        mono: false,
        tone: Tone::Ink,
    };
    pub(super) const SMALL: Style = Style {
        size: 8.0,
        ..Style::BODY
    };
    pub(super) const NOTE: Style = Style {
        size: 7.5,
        tone: Tone::Muted,
        ..Style::BODY
    };
    pub(super) const CODE: Style = Style {
        size: 7.5,
        mono: true,
        ..Style::BODY
    };

    pub(super) const fn bold(self) -> Style {
        Style { bold: true, ..self }
    }

    pub(super) const fn sized(self, size: f32) -> Style {
        Style { size, ..self }
    }

    pub(super) const fn toned(self, tone: Tone) -> Style {
        Style { tone, ..self }
    }
}

/// Where a piece of text leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Address(String),
    /// The anchor of a heading.
    Place(String),
}

/// Text of one style.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Span {
    pub(super) text: String,
    pub(super) style: Style,
    pub(super) link: Option<Link>,
}

impl Span {
    pub(super) fn new(text: impl Into<String>, style: Style) -> Span {
        Span {
            text: text.into(),
            style,
            link: None,
        }
    }

    /// A link where the text is an address that may be followed, else plain text.
    pub(super) fn address(url: &str, style: Style) -> Span {
        Span::leading(bounded(url, ADDRESS_CHARS_MAX), url, style)
    }

    /// A text that leads to an address, if that may be followed.
    pub(super) fn leading(text: impl Into<String>, url: &str, style: Style) -> Span {
        let is_web = url.starts_with("https://") || url.starts_with("http://");
        let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic());
        let style = if is_web {
            style.toned(Tone::Accent)
        } else {
            style
        };
        Span {
            link: (is_web && is_plain).then(|| Link::Address(url.to_owned())),
            ..Span::new(text, style)
        }
    }

    pub(super) fn place(text: impl Into<String>, anchor: impl Into<String>, style: Style) -> Span {
        Span {
            link: Some(Link::Place(anchor.into())),
            ..Span::new(text, style.toned(Tone::Accent))
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Paragraph,
    /// A line that stands on the same page as what follows.
    Lead,
    /// Set in, with a rule beside it.
    Quote,
    /// With a dot before it; neighbours make one list.
    Item,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Block {
    Heading(Heading),
    Text {
        kind: Kind,
        spans: Vec<Span>,
        /// White space below.
        after: f32,
    },
    Table(Table),
    /// Paragraphs on a ground of their own, which is never broken.
    Panel(Vec<Vec<Span>>),
    /// The headings of the first two levels that follow, with their pages.
    Contents,
    /// A place that links lead to, at the top of what follows.
    Anchor(String),
    /// A new page, unless it is one.
    Page,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Heading {
    /// 1 to 3; 0 is the title.
    pub(super) level: u16,
    pub(super) text: String,
    /// By which links find it; bookmarks and contents do so by themselves.
    pub(super) anchor: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Table {
    /// What it is about, for those who hear it.
    pub(super) summary: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Vec<Span>>>,
    pub(super) after: f32,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    /// Nothing in any column: a table without a header, whose first column names its rows.
    pub(super) name: String,
    /// Of the page's width, beside the others'.
    pub(super) share: f32,
}

impl Block {
    pub(super) fn heading(level: u16, text: impl Into<String>, anchor: impl Into<String>) -> Block {
        Block::Heading(Heading {
            level,
            text: text.into(),
            anchor: anchor.into(),
        })
    }

    pub(super) fn paragraph(spans: Vec<Span>) -> Block {
        Block::Text {
            kind: Kind::Paragraph,
            spans,
            after: 6.0,
        }
    }

    pub(super) fn text(text: impl Into<String>) -> Block {
        Block::paragraph(vec![Span::new(text, Style::BODY)])
    }

    pub(super) fn lead(spans: Vec<Span>) -> Block {
        Block::Text {
            kind: Kind::Lead,
            spans,
            after: 1.0,
        }
    }

    pub(super) fn item(spans: Vec<Span>) -> Block {
        Block::Text {
            kind: Kind::Item,
            spans,
            after: 3.0,
        }
    }

    pub(super) fn quote(text: impl Into<String>) -> Block {
        Block::Text {
            kind: Kind::Quote,
            spans: vec![Span::new(text, Style::BODY)],
            after: 8.0,
        }
    }
}

impl Table {
    pub(super) fn has_header(&self) -> bool {
        self.columns.iter().any(|column| !column.name.is_empty())
    }
}
