//! What one pass over a page leaves: blocks of finished markdown text in document order, and the tree of block
//! elements they stood in. Selection reads it to choose blocks, rendering to write them. No HTML is left in here.

use std::collections::HashSet;
use std::ops::Range;

use super::counts::Counts;
use super::tag::Tag;
use super::work::Work;

/// An index into [`Outline::nodes`]; 0 is the page itself.
pub(super) type NodeId = u32;

pub(super) const PAGE: NodeId = 0;

/// From so many blocks on, the rest of the page is one more: each takes memory beside its text.
pub(super) const BLOCKS_MAX: usize = 18_432;

#[derive(Debug)]
pub(super) struct Outline {
    /// Parents stand before their children.
    pub(super) nodes: Vec<Node>,
    pub(super) blocks: Vec<Block>,
    /// The markdown of all blocks, one after the other.
    pub(super) text: String,
    /// Plain text beside it: headings, link texts, code languages.
    pub(super) labels: String,
    pub(super) links: Vec<LinkSpan>,
    pub(super) tables: Vec<TableFacts>,
    /// Elements that a generator of reference pages named as declarations.
    pub(super) declarations: u32,
    /// Posts of a discussion, as far as names tell; the first stands for what is in none.
    pub(super) posts: Vec<Post>,
    /// The blocks that hold a link to what a player plays, in order.
    pub(super) players: Vec<usize>,
    /// What tabs show, in order.
    pub(super) panels: Vec<Panel>,
    /// Elements that are hidden and do not say what would show them.
    pub(super) concealed: Vec<Concealed>,
    /// Hashes of the ids of elements that others control.
    pub(super) controlled: HashSet<u64>,
    /// Names and dates outside of posts, with the number of the block that they stand in.
    pub(super) loose: Vec<(usize, Said)>,
    /// For training only: the numbers of the names on each node.
    pub(super) bins: Vec<(NodeId, Vec<u16>)>,
    /// Of the conversion that it is a part of.
    pub(super) work: Work,
}

/// An element that a tab shows.
#[derive(Debug)]
pub(super) struct Panel {
    /// The text of its tab, in [`Outline::labels`].
    pub(super) name: Span,
    /// The blocks in it.
    pub(super) blocks: Range<usize>,
    pub(super) node: NodeId,
}

#[derive(Debug)]
pub(super) struct Concealed {
    pub(super) node: NodeId,
    /// The hash of its id.
    pub(super) id: Option<u64>,
}

/// The names of an element, weighed. Weights are log-odds of content in sixteenths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Weighed {
    pub(super) mean: i8,
    pub(super) least: i8,
    pub(super) most: i8,
}

/// An index into [`Outline::posts`]; 0 is what stands in no post.
pub(super) type PostId = u32;

/// An element that is named for a post, an answer or a comment.
#[derive(Debug, Default)]
pub(super) struct Post {
    /// The post that it stands in.
    pub(super) around: PostId,
    /// How many replies up the first post is, where the page says so and elements do not stand in each other.
    pub(super) level: u8,
    /// A remark on a post, of a kind of its own.
    pub(super) is_remark: bool,
    pub(super) said: Said,
}

/// What an element is to the post that it stands in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PostPart {
    /// Its head, its buttons, or not known.
    #[default]
    Other,
    /// Its text.
    Body,
    /// What stands below or above each post of its author, or repeats the post that it answers.
    Signature,
}

/// Who wrote a post, and when. Each with a rank: what is marked more clearly takes the place of what is not.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    pub(super) author: Option<(u8, String)>,
    pub(super) date: Option<(u8, String)>,
}

/// A block element that holds text. Elements without any leave no node.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) parent: NodeId,
    /// How many nodes stand above it.
    pub(super) depth: u16,
    pub(super) tag: Tag,
    /// Of the class attribute; elements that look alike have equal ones.
    pub(super) class_hash: u32,
    pub(super) names: Weighed,
    pub(super) role: Role,
    /// It is named for comments on something else.
    pub(super) is_comment: bool,
    /// The innermost post that it is of.
    pub(super) post: PostId,
    pub(super) part: PostPart,
    pub(super) shape: Shape,
    /// The nearest node, itself included, whose shape is not [`Shape::Plain`]; [`PAGE`] when there is none.
    pub(super) container: NodeId,
}

/// What a node is for, as its tag, `role`, `class` and `id` say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Role {
    #[default]
    None,
    Main,
    Article,
    Navigation,
    Header,
    Footer,
    Aside,
    Form,
    Consent,
    Hidden,
    /// Ingredients or steps.
    Recipe,
}

/// What a node does to the markdown of the blocks in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Plain,
    Quote,
    List {
        ordered: bool,
    },
    Item {
        /// Absent in a bullet list.
        number: Option<u32>,
    },
    Note {
        /// In [`Outline::labels`].
        label: Span,
        /// A single word: where footnotes are not known it would be taken for the address of a link.
        is_word: bool,
    },
    /// An index into [`Outline::tables`].
    Table(u32),
    Row {
        head: bool,
        /// Its place among the rows of its table, from 1 on.
        number: u32,
    },
    Cell {
        column: u16,
        /// How many columns and rows it covers.
        columns: u16,
        rows: u16,
    },
    Caption,
}

#[derive(Debug)]
pub(super) struct Block {
    pub(super) kind: Kind,
    pub(super) node: NodeId,
    pub(super) text: Span,
    pub(super) words: u32,
    pub(super) link_words: u32,
    /// It says who wrote what stands beside it, or when.
    pub(super) is_byline: bool,
    pub(super) counts: Counts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Paragraph,
    /// The span is the plain text, in [`Outline::labels`].
    Heading(u8, Span),
    /// The span is the language, in [`Outline::labels`]; empty when unknown.
    Code(Span),
    Rule,
}

impl Kind {
    pub(super) fn is_heading(self) -> bool {
        matches!(self, Kind::Heading(..))
    }

    pub(super) fn is_code(self) -> bool {
        matches!(self, Kind::Code(_))
    }
}

/// Bytes of one of the outline's two strings. Pages are under 4 GiB by far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    pub(super) fn new(start: usize, end: usize) -> Span {
        let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span {
            start: narrow(start),
            end: narrow(end),
        }
    }

    /// Follows text of which `length` bytes at `at` were taken out.
    pub(super) fn move_back(&mut self, at: usize, length: usize) {
        if self.start as usize > at {
            *self = Span::new(self.start as usize - length, self.end as usize - length);
        }
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

#[derive(Debug)]
pub(super) struct LinkSpan {
    /// An index into [`Outline::blocks`].
    pub(super) block: u32,
    /// In [`Outline::labels`].
    pub(super) text: Span,
    /// In [`Outline::text`].
    pub(super) url: Span,
    /// In [`Outline::labels`].
    pub(super) rel: Span,
}

/// What tells a table of data from one that only arranges the page.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TableFacts {
    pub(super) rows: u32,
    pub(super) columns: u16,
    pub(super) cells: u32,
    pub(super) header_cells: u32,
    pub(super) words: u32,
    /// `role=presentation`, a nested table, a heading, long code: nothing that a markdown table can hold.
    pub(super) arranges: bool,
    /// A few lines of code, as tables of options have and tables that arrange the page too.
    pub(super) has_code: bool,
}

impl TableFacts {
    pub(super) fn is_data(&self) -> bool {
        let words_max = if self.columns == 1 { 25 } else { 40 };
        !self.arranges
            && self.rows >= 2
            && (!self.has_code || (self.header_cells > 0 && self.columns > 1))
            && ((self.header_cells > 0 && self.columns > 1)
                || self.words < self.cells.saturating_mul(words_max))
    }
}

impl Outline {
    pub(super) fn new() -> Outline {
        Outline {
            nodes: vec![Node {
                parent: PAGE,
                depth: 0,
                tag: Tag::Division,
                class_hash: 0,
                names: Weighed::default(),
                role: Role::None,
                is_comment: false,
                post: 0,
                part: PostPart::Other,
                shape: Shape::Plain,
                container: PAGE,
            }],
            blocks: Vec::new(),
            text: String::new(),
            labels: String::new(),
            links: Vec::new(),
            tables: Vec::new(),
            declarations: 0,
            posts: vec![Post::default()],
            loose: Vec::new(),
            players: Vec::new(),
            panels: Vec::new(),
            concealed: Vec::new(),
            controlled: HashSet::new(),
            bins: Vec::new(),
            work: Work::default(),
        }
    }

    /// A post in another one, or in none.
    pub(super) fn begin_post(&mut self, around: PostId) -> PostId {
        let id = PostId::try_from(self.posts.len()).unwrap_or_default();
        self.posts.push(Post {
            around,
            ..Post::default()
        });
        id
    }

    /// Words of the whole page.
    pub(super) fn words(&self) -> u64 {
        self.blocks.iter().map(|block| u64::from(block.words)).sum()
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    pub(super) fn is_data_table(&self, id: NodeId) -> bool {
        match self.node(id).shape {
            Shape::Table(facts) => self.tables[facts as usize].is_data(),
            _ => false,
        }
    }

    pub(super) fn markdown(&self, block: &Block) -> &str {
        &self.text[block.text.range()]
    }

    pub(super) fn label(&self, span: Span) -> &str {
        &self.labels[span.range()]
    }

    /// The containers a node stands in, outermost first. Few: deeper ones are made plain when they open.
    pub(super) fn containers(&self, node: NodeId, chain: &mut Vec<NodeId>) {
        chain.clear();
        let mut at = self.node(node).container;
        while at != PAGE {
            chain.push(at);
            at = self.node(self.node(at).parent).container;
        }
        chain.reverse();
    }
}
