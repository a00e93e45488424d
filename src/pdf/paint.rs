//! Draws the laid-out document: glyphs, rules, links, page footers, bookmarks, tags and the attached JSON.

mod pieces;

use std::collections::HashMap;

use krilla::action::{Action, LinkAction};
use krilla::annotation::{Annotation, LinkAnnotation, Target};
use krilla::color::rgb;
use krilla::configure::{Accessibility, Archival, ConfigurationBuilder};
use krilla::destination::XyzDestination;
use krilla::embed::{AssociationKind, EmbeddedFile, MimeType};
use krilla::geom::{PathBuilder, Point, Rect};
use krilla::metadata::{DateTime, Metadata};
use krilla::outline::{Outline, OutlineNode};
use krilla::page::PageSettings;
use krilla::paint::Fill;
use krilla::surface::Surface;
use krilla::tagging::{
    Artifact, ArtifactType, ContentTag, Identifier, Node as TagNode, SpanTag, Tag, TagGroup,
    TagTree,
};
use krilla::text::Font;
use krilla::{Document, SerializeSettings};

use crate::pdf::PdfError;
use crate::pdf::block::{Link, Span, Style, Tone};
use crate::pdf::flow::{BODY_WIDTH, Flow, HEIGHT, Item, MARGIN, Node, Page, WIDTH};
use crate::pdf::paint::pieces::{Piece, Run, pieces};
use crate::pdf::shape::{Set, Typesetter};

const FOOT: f32 = HEIGHT - 38.0;

/// What stands around the text.
pub(super) struct Frame<'a> {
    pub(super) title: &'a str,
    pub(super) subject: &'a str,
    /// BCP 47.
    pub(super) language: &'a str,
    pub(super) created_at: DateTime,
    /// The beginning of every foot.
    pub(super) id: &'a str,
    /// The end of every foot.
    pub(super) sha256: &'a str,
    pub(super) attachment: Attachment<'a>,
}

pub(super) struct Attachment<'a> {
    pub(super) name: &'a str,
    pub(super) bytes: Vec<u8>,
}

/// Writes the document, as PDF/A-3a and PDF/UA-1 where `is_strict`: they allow no character without a glyph.
pub(super) fn paint(
    flow: &Flow,
    frame: &Frame<'_>,
    typesetter: &mut Typesetter,
    is_strict: bool,
) -> Result<Vec<u8>, PdfError> {
    let unwritable = |error: &dyn std::fmt::Debug| {
        PdfError::Unwritable(format!("{error:?}").chars().take(300).collect())
    };
    let mut configuration = ConfigurationBuilder::new();
    if is_strict {
        configuration = configuration
            .with_archival_validator(Archival::A3_A)
            .with_accessibility_validator(Accessibility::UA1);
    }
    let configuration = configuration.finish().map_err(|error| unwritable(&error))?;
    let mut document = Document::new_with(SerializeSettings {
        configuration,
        ..SerializeSettings::default()
    });
    let mut brush = Painter {
        flow,
        fonts: HashMap::new(),
        leaves: vec![Vec::new(); flow.leaves],
    };
    for (number, page) in flow.pages.iter().enumerate() {
        let foot = foot(frame, number + 1, flow.pages.len(), typesetter);
        brush.page(&mut document, page, &foot, typesetter);
    }
    document.set_tag_tree(brush.tree(frame.language));
    document.set_outline(outline(flow));
    document.set_metadata(metadata(frame));
    document.embed_file(EmbeddedFile {
        path: frame.attachment.name.to_owned(),
        mime_type: MimeType::new("application/json"),
        description: Some(
            "The report as data; its SHA-256 stands at the foot of every page.".to_owned(),
        ),
        association_kind: AssociationKind::Source,
        data: frame.attachment.bytes.clone().into(),
        modification_date: Some(frame.created_at),
        compress: Some(true),
        location: None,
    });
    document.finish().map_err(|error| unwritable(&error))
}

fn metadata(frame: &Frame<'_>) -> Metadata {
    Metadata::new()
        .title(frame.title.to_owned())
        .description(frame.subject.to_owned())
        .language(frame.language.to_owned())
        .creator("context402".to_owned())
        .producer("context402".to_owned())
        .authors(vec!["context402".to_owned()])
        .creation_date(frame.created_at)
        .document_id(frame.sha256.to_owned())
}

/// Three pieces of text: left, middle, right.
fn foot(frame: &Frame<'_>, page: usize, pages: usize, typesetter: &mut Typesetter) -> [Set; 2] {
    let style = Style::NOTE.sized(6.5);
    let left = format!("{} · page {page} of {pages}", frame.id);
    let right = format!("sha256 {}", frame.sha256);
    [
        typesetter.set(&[Span::new(left, style)], BODY_WIDTH),
        typesetter.set(
            &[Span::new(
                right,
                Style {
                    mono: true,
                    ..style.sized(6.0)
                },
            )],
            BODY_WIDTH,
        ),
    ]
}

struct Painter<'a> {
    flow: &'a Flow,
    fonts: HashMap<(u64, u32), Option<Font>>,
    /// What was drawn for each leaf, in order.
    leaves: Vec<Vec<TagNode>>,
}

/// A link that is drawn, until the page can take it.
struct Linked {
    leaf: usize,
    at: usize,
    rect: Rect,
    link: Link,
    text: String,
}

impl Painter<'_> {
    fn page(
        &mut self,
        document: &mut Document,
        page: &Page,
        foot: &[Set; 2],
        typesetter: &mut Typesetter,
    ) {
        let Some(settings) = PageSettings::from_wh(WIDTH, HEIGHT) else {
            return;
        };
        let mut sheet = document.start_page_with(settings);
        let mut links: Vec<Linked> = Vec::new();
        let mut surface = sheet.surface();
        for item in &page.items {
            match item {
                Item::Fill {
                    x,
                    y,
                    width,
                    height,
                    tone,
                } => {
                    surface.start_tagged(artifact(ArtifactType::Layout));
                    fill(&mut surface, (*x, *y, *width, *height), *tone);
                    surface.end_tagged();
                }
                Item::Line {
                    set,
                    line,
                    x,
                    y,
                    leaf,
                } => {
                    let set = &self.flow.sets[*set];
                    self.line(&mut surface, set, *line, (*x, *y), *leaf, &mut links);
                }
                Item::PageOf {
                    anchor,
                    baseline,
                    leaf,
                } => {
                    let place = self
                        .flow
                        .headings
                        .iter()
                        .find(|placed| placed.heading.anchor == *anchor);
                    let page =
                        place.map_or_else(String::new, |placed| (placed.page + 1).to_string());
                    let set = typesetter.set(&[Span::new(page, Style::SMALL)], 40.0);
                    let top = baseline
                        - set
                            .layout
                            .get(0)
                            .map_or(0.0, |line| line.metrics().baseline);
                    let x = WIDTH - MARGIN - set.width();
                    self.line(&mut surface, &set, 0, (x, top), Some(*leaf), &mut links);
                }
            }
        }
        surface.start_tagged(artifact(ArtifactType::Footer));
        fill(
            &mut surface,
            (MARGIN, FOOT - 6.0, BODY_WIDTH, 0.5),
            Tone::Rule,
        );
        surface.end_tagged();
        let right = WIDTH - MARGIN - foot[1].width();
        self.line(&mut surface, &foot[0], 0, (MARGIN, FOOT), None, &mut links);
        self.line(&mut surface, &foot[1], 0, (right, FOOT), None, &mut links);
        surface.finish();
        for linked in links {
            if let Some(annotation) = self.annotation(&linked) {
                let id = sheet.add_tagged_annotation(annotation);
                if let Some(TagNode::Group(group)) = self.leaves[linked.leaf].get_mut(linked.at) {
                    group.push(id);
                }
            }
        }
        sheet.finish();
    }

    /// One line, in pieces that lead to the same place. `leaf` is nothing for what repeats on every page.
    fn line(
        &mut self,
        surface: &mut Surface<'_>,
        set: &Set,
        line: usize,
        (x, y): (f32, f32),
        leaf: Option<usize>,
        links: &mut Vec<Linked>,
    ) {
        for piece in pieces(set, line, x) {
            let tag = match leaf {
                Some(_) => ContentTag::Span(SpanTag::empty()),
                None => artifact(ArtifactType::Footer),
            };
            let id = surface.start_tagged(tag);
            for run in &piece.runs {
                self.run(surface, set, run, y);
            }
            surface.end_tagged();
            if let Some(leaf) = leaf {
                self.file(leaf, id, set, &piece, y, links);
            }
        }
    }

    /// Notes what a piece belongs to.
    fn file(
        &mut self,
        leaf: usize,
        id: Identifier,
        set: &Set,
        piece: &Piece,
        y: f32,
        links: &mut Vec<Linked>,
    ) {
        let nodes = &mut self.leaves[leaf];
        let Some(link) = piece.link.and_then(|link| set.links.get(link)) else {
            nodes.push(id.into());
            return;
        };
        if matches!(link, Link::Place(anchor) if self.flow.place(anchor).is_none()) {
            nodes.push(id.into());
            return;
        }
        nodes.push(TagGroup::with_children(Tag::Link, vec![id.into()]).into());
        let rect = Rect::from_ltrb(
            piece.start,
            y + piece.top,
            piece.end.max(piece.start + 0.1),
            y + piece.bottom,
        );
        if let Some(rect) = rect {
            links.push(Linked {
                leaf,
                at: nodes.len() - 1,
                rect,
                link: link.clone(),
                text: piece.text.clone(),
            });
        }
    }

    fn run(&mut self, surface: &mut Surface<'_>, set: &Set, run: &Run, y: f32) {
        let key = (run.font.data.id(), run.font.index);
        let font = self.fonts.entry(key).or_insert_with(|| {
            let (data, _) = run.font.data.clone().into_raw_parts();
            Font::new(data.into(), run.font.index)
        });
        let Some(font) = font else { return };
        surface.set_fill(Some(ink(run.tone)));
        let start = Point::from_xy(run.x, y + run.baseline);
        surface.draw_glyphs(start, &run.glyphs, font.clone(), &set.text, run.size, false);
    }

    fn annotation(&self, linked: &Linked) -> Option<Annotation> {
        let target = match &linked.link {
            Link::Address(url) => Target::Action(Action::Link(LinkAction::new(url.clone()))),
            Link::Place(anchor) => {
                let (page, y) = self.flow.place(anchor)?;
                Target::Destination(place_of(page, y).into())
            }
        };
        let alt = match &linked.link {
            Link::Address(url) => format!("{} ({url})", linked.text),
            Link::Place(_) => linked.text.clone(),
        };
        Some(Annotation::new_link(
            LinkAnnotation::new(linked.rect, target),
            Some(alt),
        ))
    }

    /// The text in the order in which it is read.
    fn tree(self, language: &str) -> TagTree {
        let mut leaves: Vec<Option<Vec<TagNode>>> = self.leaves.into_iter().map(Some).collect();
        let mut tree = TagTree::new().with_lang(Some(language.to_owned()));
        for node in &self.flow.nodes {
            for child in tagged(node, &mut leaves) {
                tree.push(child);
            }
        }
        tree
    }
}

fn tagged(node: &Node, leaves: &mut [Option<Vec<TagNode>>]) -> Vec<TagNode> {
    match node {
        Node::Leaf(leaf) => leaves[*leaf].take().unwrap_or_default(),
        Node::Group(tag, children) => {
            let children = children.iter().flat_map(|child| tagged(child, leaves));
            let children: Vec<TagNode> = children.collect();
            vec![TagGroup::with_children(tag.clone(), children).into()]
        }
    }
}

fn outline(flow: &Flow) -> Outline {
    let mut outline = Outline::new();
    let mut open: Option<OutlineNode> = None;
    for placed in &flow.headings {
        let node = OutlineNode::new(placed.heading.text.clone(), place_of(placed.page, placed.y));
        match (placed.heading.level, &mut open) {
            (2, Some(parent)) => parent.push_child(node),
            (0..=2, _) => {
                if let Some(done) = open.replace(node) {
                    outline.push_child(done);
                }
            }
            _ => {}
        }
    }
    if let Some(done) = open {
        outline.push_child(done);
    }
    outline
}

fn place_of(page: usize, y: f32) -> XyzDestination {
    XyzDestination::new(page, Point::from_xy(0.0, (y - 8.0).max(0.0)))
}

fn artifact(kind: ArtifactType) -> ContentTag<'static> {
    ContentTag::Artifact(Artifact::with_kind(kind))
}

fn ink(tone: Tone) -> Fill {
    let (red, green, blue) = tone.rgb();
    Fill {
        paint: rgb::Color::new(red, green, blue).into(),
        ..Fill::default()
    }
}

fn fill(surface: &mut Surface<'_>, (x, y, width, height): (f32, f32, f32, f32), tone: Tone) {
    let mut path = PathBuilder::new();
    if let Some(rect) = Rect::from_xywh(x, y, width, height) {
        path.push_rect(rect);
    }
    surface.set_fill(Some(ink(tone)));
    if let Some(path) = path.finish() {
        surface.draw_path(&path);
    }
}
