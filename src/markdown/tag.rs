//! HTML's element names, as far as the conversion treats them differently. Knows which start a block, which are never
//! read and how far an end tag reaches; knows nothing of attributes or of what is open.

/// An element, named by what it does to the text inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    // Blocks that only group.
    Division,
    Section,
    Article,
    Main,
    Navigation,
    Header,
    Footer,
    Aside,
    Form,
    Dialog,
    Button,
    // Blocks that become markdown.
    Paragraph,
    Heading(u8),
    Preformatted,
    Quote,
    List,
    OrderedList,
    Item,
    DefinitionList,
    Term,
    Definition,
    FigureCaption,
    Table,
    TableHead,
    TableBody,
    Row,
    Cell,
    HeaderCell,
    Caption,
    // Inline.
    Anchor,
    Strong,
    Emphasis,
    Strike,
    Code,
    Quotation,
    Superscript,
    Subscript,
    /// A text with its pronunciation, and the pronunciation.
    Ruby,
    RubyText,
    Time,
    Math,
    /// An element of a formula that does more than group its parts.
    MathPart(MathKind),
    MathAnnotation,
    /// What a renderer puts around a formula, and what it draws.
    MathContainer,
    MathDrawing,
    /// Any other element: it neither starts a block nor changes its text.
    Inline,
    // Without content.
    Break,
    Rule,
    Image,
    /// A picture's candidate.
    Source,
    Input,
    Meta,
    Link,
    Base,
    Void,
    // Never part of the text.
    Html,
    Title,
    Script,
    Noscript,
    /// Styles, drawings, players, menus of choices: nothing in them is prose.
    Skipped,
}

/// What an element of a formula makes of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MathKind {
    Identifier,
    Operator,
    Text,
    Fraction,
    SquareRoot,
    Root,
    Superscript,
    Subscript,
    Scripts,
    Over,
    Under,
    UnderOver,
    Fenced,
    Table,
    Row,
    /// Takes room and is not shown.
    Unseen,
}

/// An element's name in lower case: up to eight bytes as they are, the few longer ones as a number made of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name(u64);

impl Name {
    pub(super) const fn new(name: &str) -> Name {
        let bytes = name.as_bytes();
        let (mut packed, mut at) = (0u64, 0);
        while at < bytes.len() {
            if at >= 8 {
                packed = packed.wrapping_mul(0x0100_0000_01B3).rotate_left(8);
            }
            packed = packed << 8 ^ bytes[at].to_ascii_lowercase() as u64;
            at += 1;
        }
        Name(packed)
    }

    const fn slot(self) -> usize {
        (self.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 55) as usize
    }
}

/// The elements that are treated differently from [`Tag::Inline`].
const NAMES: [(Tag, &[&str]); 79] = [
    (Tag::Anchor, &["a"]),
    (
        Tag::Division,
        &[
            "div",
            "body",
            "center",
            "address",
            "details",
            "summary",
            "dir",
            "fieldset",
            "figure",
            "hgroup",
            "legend",
            "shreddit-comment",
            "shreddit-post",
        ],
    ),
    (Tag::Section, &["section"]),
    (Tag::Article, &["article"]),
    (Tag::Main, &["main"]),
    (Tag::Navigation, &["nav"]),
    (Tag::Header, &["header"]),
    (Tag::Footer, &["footer"]),
    (Tag::Aside, &["aside"]),
    (Tag::Form, &["form", "search"]),
    (Tag::Dialog, &["dialog"]),
    (Tag::Paragraph, &["p"]),
    (Tag::Heading(1), &["h1"]),
    (Tag::Heading(2), &["h2"]),
    (Tag::Heading(3), &["h3"]),
    (Tag::Heading(4), &["h4"]),
    (Tag::Heading(5), &["h5"]),
    (Tag::Heading(6), &["h6"]),
    (Tag::Preformatted, &["pre", "listing"]),
    (Tag::Quote, &["blockquote"]),
    (Tag::List, &["ul", "menu"]),
    (Tag::OrderedList, &["ol"]),
    (Tag::Item, &["li"]),
    (Tag::DefinitionList, &["dl"]),
    (Tag::Term, &["dt"]),
    (Tag::Definition, &["dd"]),
    (Tag::FigureCaption, &["figcaption"]),
    (Tag::Table, &["table"]),
    (Tag::TableHead, &["thead"]),
    (Tag::TableBody, &["tbody", "tfoot"]),
    (Tag::Row, &["tr"]),
    (Tag::Cell, &["td"]),
    (Tag::HeaderCell, &["th"]),
    (Tag::Caption, &["caption"]),
    (Tag::Strong, &["strong", "b"]),
    (Tag::Emphasis, &["em", "i"]),
    (Tag::Strike, &["del", "s", "strike"]),
    (Tag::Code, &["code", "kbd", "samp"]),
    (Tag::Quotation, &["q"]),
    (Tag::Superscript, &["sup"]),
    (Tag::Subscript, &["sub"]),
    (Tag::Ruby, &["ruby"]),
    (Tag::RubyText, &["rt"]),
    (Tag::Button, &["button"]),
    (Tag::Time, &["time"]),
    (Tag::Math, &["math"]),
    (Tag::MathAnnotation, &["annotation", "annotation-xml"]),
    (Tag::MathPart(MathKind::Identifier), &["mi"]),
    (Tag::MathPart(MathKind::Operator), &["mo"]),
    (Tag::MathPart(MathKind::Text), &["mtext", "ms"]),
    (Tag::MathPart(MathKind::Fraction), &["mfrac"]),
    (Tag::MathPart(MathKind::SquareRoot), &["msqrt"]),
    (Tag::MathPart(MathKind::Root), &["mroot"]),
    (Tag::MathPart(MathKind::Superscript), &["msup"]),
    (Tag::MathPart(MathKind::Subscript), &["msub"]),
    (Tag::MathPart(MathKind::Scripts), &["msubsup"]),
    (Tag::MathPart(MathKind::Over), &["mover"]),
    (Tag::MathPart(MathKind::Under), &["munder"]),
    (Tag::MathPart(MathKind::UnderOver), &["munderover"]),
    (Tag::MathPart(MathKind::Fenced), &["mfenced"]),
    (Tag::MathPart(MathKind::Table), &["mtable"]),
    (Tag::MathPart(MathKind::Row), &["mtr"]),
    (Tag::MathPart(MathKind::Unseen), &["mphantom"]),
    (Tag::MathContainer, &["mjx-container"]),
    (Tag::MathDrawing, &["mjx-math"]),
    (Tag::Break, &["br"]),
    (Tag::Rule, &["hr"]),
    (Tag::Image, &["img", "amp-img"]),
    (Tag::Source, &["source"]),
    (Tag::Input, &["input"]),
    (Tag::Meta, &["meta"]),
    (Tag::Link, &["link"]),
    (Tag::Base, &["base"]),
    (
        Tag::Void,
        &["area", "col", "embed", "param", "track", "wbr"],
    ),
    (Tag::Html, &["html"]),
    (Tag::Title, &["title"]),
    (Tag::Script, &["script"]),
    (Tag::Noscript, &["noscript"]),
    (
        Tag::Skipped,
        &[
            "style", "template", "svg", "textarea", "select", "datalist", "iframe", "object",
            "video", "audio", "canvas", "noembed", "noframes", "xmp",
        ],
    ),
];

const SLOTS: usize = 512;

/// [`NAMES`] by [`Name::slot`]; a taken slot leads on to the next.
static TABLE: [Option<(Name, Tag)>; SLOTS] = {
    let mut table: [Option<(Name, Tag)>; SLOTS] = [None; SLOTS];
    let mut row = 0;
    while row < NAMES.len() {
        let (tag, names) = NAMES[row];
        let mut at = 0;
        while at < names.len() {
            let name = Name::new(names[at]);
            let mut slot = name.slot();
            while table[slot].is_some() {
                slot = (slot + 1) % SLOTS;
            }
            table[slot] = Some((name, tag));
            at += 1;
        }
        row += 1;
    }
    table
};

impl Tag {
    pub(super) fn named(name: Name) -> Tag {
        let mut slot = name.slot();
        while let Some((found, tag)) = TABLE[slot] {
            if found == name {
                return tag;
            }
            slot = (slot + 1) % SLOTS;
        }
        Tag::Inline
    }

    /// Whether the element begins on a line of its own.
    pub(super) fn is_block(self) -> bool {
        self.rank() > 0
    }

    /// Whether everything inside is left out of the text.
    pub(super) fn is_skipped(self) -> bool {
        matches!(
            self,
            Tag::Title | Tag::Script | Tag::Noscript | Tag::Skipped
        )
    }

    /// Whether no end tag belongs to the element.
    pub(super) fn is_void(self) -> bool {
        use Tag::*;
        matches!(
            self,
            Break | Rule | Image | Source | Input | Meta | Link | Base | Void
        )
    }

    /// Whether an end tag of this name ends nothing outside of `open` (HTML Standard 13.2.4.2, "in scope").
    pub(super) fn is_bounded_by(self, open: Tag) -> bool {
        use Tag::*;
        match self {
            _ if self.is_part_of_table() => open == Table,
            Item if open.is_list() => true,
            _ => matches!(open, Table | Cell | HeaderCell | Caption),
        }
    }

    /// Whether the element can't stand in a drawing and so ends it (HTML Standard 13.2.6.5).
    pub(super) fn ends_drawing(self) -> bool {
        use Tag::*;
        matches!(
            self,
            Paragraph
                | Heading(_)
                | Division
                | Preformatted
                | Quote
                | List
                | OrderedList
                | Item
                | DefinitionList
                | Term
                | Definition
                | Table
                | Strong
                | Emphasis
                | Code
                | Superscript
                | Subscript
                | Ruby
                | Break
                | Rule
                | Image
        )
    }

    /// Whether the element ends with its parent and goes on after it (HTML Standard 13.2.4.3).
    pub(super) fn is_formatting(self, name: Name) -> bool {
        const OTHERS: [Name; 3] = [Name::new("del"), Name::new("kbd"), Name::new("samp")];
        let tags = matches!(
            self,
            Tag::Anchor | Tag::Strong | Tag::Emphasis | Tag::Strike | Tag::Code
        );
        tags && !OTHERS.contains(&name)
    }

    pub(super) fn is_cell(self) -> bool {
        matches!(self, Tag::Cell | Tag::HeaderCell)
    }

    /// A table or what it is made of.
    pub(super) fn is_part_of_table(self) -> bool {
        use Tag::*;
        matches!(
            self,
            Table | TableHead | TableBody | Row | Cell | HeaderCell | Caption
        )
    }

    pub(super) fn is_list(self) -> bool {
        matches!(self, Tag::List | Tag::OrderedList)
    }

    /// A small number for the selection's features; 0 is what is no block. Like stands beside like; the numbers are part
    /// of the trained model.
    pub(super) fn rank(self) -> u8 {
        match self {
            Tag::Paragraph => 10,
            Tag::Quote => 11,
            Tag::Preformatted => 12,
            Tag::Heading(level) => 20 + level,
            Tag::Term => 30,
            Tag::Definition => 31,
            Tag::DefinitionList => 32,
            Tag::Item => 33,
            Tag::List => 34,
            Tag::OrderedList => 35,
            Tag::Cell => 40,
            Tag::HeaderCell => 41,
            Tag::Row => 42,
            Tag::TableBody => 43,
            Tag::TableHead => 44,
            Tag::Table => 45,
            Tag::Caption => 46,
            Tag::FigureCaption => 47,
            Tag::Article => 50,
            Tag::Main => 51,
            Tag::Section => 52,
            Tag::Division => 53,
            Tag::Form => 60,
            Tag::Button => 59,
            Tag::Dialog => 61,
            Tag::Aside => 62,
            Tag::Header => 63,
            Tag::Footer => 64,
            Tag::Navigation => 65,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case() {
        for (tag, names) in NAMES {
            for name in names {
                assert_eq!(Tag::named(Name::new(name)), tag, "{name}");
                assert_eq!(Tag::named(Name::new(&name.to_uppercase())), tag, "{name}");
            }
        }
        for name in [
            "",
            "x",
            "span",
            "blockquot",
            "blockquotes",
            "h7",
            "di\u{F6}",
        ] {
            assert_eq!(Tag::named(Name::new(name)), Tag::Inline, "{name}");
        }
    }
}
