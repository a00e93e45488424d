//! HTML's element names, as far as the conversion treats them differently. Knows which start a block and which are
//! never read; knows nothing of attributes or of what is open.

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
    Button,
    Math,
    /// An element of a formula whose parts this sign joins.
    MathJoin(char),
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
    // Never part of the text.
    Html,
    Title,
    Script,
    Noscript,
    /// Styles, drawings, players, menus of choices: nothing in them is prose.
    Skipped,
}

impl Tag {
    /// `name` is in lower case.
    pub(super) fn named(name: &str) -> Tag {
        match name {
            "a" => Tag::Anchor,
            "div" | "body" | "center" | "address" | "details" | "summary" | "dir" | "fieldset"
            | "figure" | "hgroup" | "legend" => Tag::Division,
            "section" => Tag::Section,
            "article" => Tag::Article,
            "main" => Tag::Main,
            "nav" => Tag::Navigation,
            "header" => Tag::Header,
            "footer" => Tag::Footer,
            "aside" => Tag::Aside,
            "form" | "search" => Tag::Form,
            "dialog" => Tag::Dialog,
            "p" => Tag::Paragraph,
            "h1" => Tag::Heading(1),
            "h2" => Tag::Heading(2),
            "h3" => Tag::Heading(3),
            "h4" => Tag::Heading(4),
            "h5" => Tag::Heading(5),
            "h6" => Tag::Heading(6),
            "pre" | "listing" => Tag::Preformatted,
            "blockquote" => Tag::Quote,
            "ul" | "menu" => Tag::List,
            "ol" => Tag::OrderedList,
            "li" => Tag::Item,
            "dl" => Tag::DefinitionList,
            "dt" => Tag::Term,
            "dd" => Tag::Definition,
            "figcaption" => Tag::FigureCaption,
            "table" => Tag::Table,
            "thead" => Tag::TableHead,
            "tbody" | "tfoot" => Tag::TableBody,
            "tr" => Tag::Row,
            "td" => Tag::Cell,
            "th" => Tag::HeaderCell,
            "caption" => Tag::Caption,
            "strong" | "b" => Tag::Strong,
            "em" | "i" => Tag::Emphasis,
            "del" | "s" | "strike" => Tag::Strike,
            "code" | "kbd" | "samp" => Tag::Code,
            "q" => Tag::Quotation,
            "sup" => Tag::Superscript,
            "button" => Tag::Button,
            "math" => Tag::Math,
            "annotation" | "annotation-xml" => Tag::MathAnnotation,
            "mfrac" => Tag::MathJoin('/'),
            "msup" | "mover" => Tag::MathJoin('^'),
            "msub" | "munder" => Tag::MathJoin('_'),
            "msubsup" | "munderover" => Tag::MathJoin('±'),
            "msqrt" => Tag::MathJoin('√'),
            "mtr" => Tag::MathJoin(';'),
            "mjx-container" => Tag::MathContainer,
            "mjx-math" => Tag::MathDrawing,
            "br" => Tag::Break,
            "hr" => Tag::Rule,
            "img" | "amp-img" => Tag::Image,
            "source" => Tag::Source,
            "input" => Tag::Input,
            "meta" => Tag::Meta,
            "link" => Tag::Link,
            "base" => Tag::Base,
            "html" => Tag::Html,
            "title" => Tag::Title,
            "script" => Tag::Script,
            "noscript" => Tag::Noscript,
            "style" | "template" | "svg" | "textarea" | "select" | "datalist" | "iframe"
            | "object" | "video" | "audio" | "canvas" | "noembed" | "noframes" | "xmp" => {
                Tag::Skipped
            }
            _ => Tag::Inline,
        }
    }

    /// Whether the element begins on a line of its own.
    pub(super) fn is_block(self) -> bool {
        use Tag::*;
        matches!(
            self,
            Division
                | Section
                | Article
                | Main
                | Navigation
                | Header
                | Footer
                | Aside
                | Form
                | Dialog
                | Paragraph
                | Heading(_)
                | Preformatted
                | Quote
                | List
                | OrderedList
                | Item
                | DefinitionList
                | Term
                | Definition
                | FigureCaption
                | Table
                | TableHead
                | TableBody
                | Row
                | Cell
                | HeaderCell
                | Caption
        )
    }

    /// Whether everything inside is left out of the text.
    pub(super) fn is_skipped(self) -> bool {
        matches!(
            self,
            Tag::Title | Tag::Script | Tag::Noscript | Tag::Skipped
        )
    }

    pub(super) fn is_cell(self) -> bool {
        matches!(self, Tag::Cell | Tag::HeaderCell)
    }

    pub(super) fn is_list(self) -> bool {
        matches!(self, Tag::List | Tag::OrderedList)
    }
}
