//! From spans to lines of glyphs. parley does what is hard: scripts, directions, breaks and the choice of fonts.

use std::collections::BTreeSet;

use parley::LayoutContext;
use parley::layout::{Alignment, AlignmentOptions, Layout};
use parley::style::{FontStyle, FontWeight, LineHeight, OverflowWrap, StyleProperty};

use crate::pdf::block::{Link, Span, Tone};
use crate::pdf::fonts::{Fonts, Shelf};

/// Of the size of the letters.
const LINE_HEIGHT: f32 = 1.42;
/// Characters of a paragraph that are set; a document that says more in one has gone wrong.
const CHARS_MAX: usize = 20_000;

/// What a glyph is drawn with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Brush {
    pub(super) tone: Tone,
    /// An index into the links of its text.
    pub(super) link: Option<usize>,
}

/// A text in lines.
pub(super) struct Set {
    pub(super) text: String,
    pub(super) layout: Layout<Brush>,
    pub(super) links: Vec<Link>,
}

impl Set {
    pub(super) fn lines(&self) -> usize {
        self.layout.len()
    }

    /// Top and bottom of a line, from the text's top.
    pub(super) fn extent(&self, line: usize) -> (f32, f32) {
        let line = self.layout.get(line);
        line.map_or((0.0, 0.0), |line| {
            let metrics = line.metrics();
            (metrics.block_min_coord, metrics.block_max_coord)
        })
    }

    pub(super) fn height(&self) -> f32 {
        let (top, _) = self.extent(0);
        let (_, bottom) = self.extent(self.lines().saturating_sub(1));
        bottom - top
    }

    pub(super) fn width(&self) -> f32 {
        self.layout.width()
    }
}

/// Sets texts, and counts what no font can show.
pub(super) struct Typesetter {
    shelf: Shelf,
    layouts: LayoutContext<Brush>,
    pub(super) missing: usize,
    pub(super) missing_kinds: BTreeSet<char>,
}

impl Typesetter {
    pub(super) fn new(fonts: &Fonts) -> Typesetter {
        Typesetter {
            shelf: fonts.shelf(),
            layouts: LayoutContext::new(),
            missing: 0,
            missing_kinds: BTreeSet::new(),
        }
    }

    pub(super) fn set(&mut self, spans: &[Span], width: f32) -> Set {
        let (text, ranges) = joined(spans);
        let mut links = Vec::new();
        let mut builder = self
            .layouts
            .ranged_builder(&mut self.shelf.context, &text, 1.0, false);
        builder.push_default(StyleProperty::LineHeight(LineHeight::FontSizeRelative(
            LINE_HEIGHT,
        )));
        // No line is lower than one of the text's smallest letters.
        let sizes = spans.iter().map(|span| span.style.size);
        builder.push_default(StyleProperty::FontSize(sizes.fold(24.0, f32::min)));
        builder.push_default(StyleProperty::OverflowWrap(OverflowWrap::Anywhere));
        builder.push_default(StyleProperty::FontFamily(self.shelf.text.clone()));
        for (span, range) in spans.iter().zip(&ranges) {
            let style = span.style;
            let link = span.link.clone().map(|link| {
                links.push(link);
                links.len() - 1
            });
            builder.push(StyleProperty::FontSize(style.size), range.clone());
            builder.push(
                StyleProperty::Brush(Brush {
                    tone: style.tone,
                    link,
                }),
                range.clone(),
            );
            if style.bold {
                builder.push(StyleProperty::FontWeight(FontWeight::BOLD), range.clone());
            }
            if style.italic {
                builder.push(StyleProperty::FontStyle(FontStyle::Italic), range.clone());
            }
            if style.mono {
                let family = self.shelf.mono.clone();
                builder.push(StyleProperty::FontFamily(family), range.clone());
            }
        }
        let mut layout = builder.build(&text);
        layout.break_all_lines(Some(width));
        layout.align(Alignment::Start, AlignmentOptions::default());
        let set = Set {
            text,
            layout,
            links,
        };
        self.count_missing(&set);
        set
    }

    fn count_missing(&mut self, set: &Set) {
        for line in set.layout.lines() {
            for cluster in line
                .runs()
                .flat_map(|run| run.clusters().collect::<Vec<_>>())
            {
                let shown = set.text.get(cluster.text_range()).unwrap_or_default();
                let Some(c) = shown.chars().find(|c| !is_invisible(*c)) else {
                    continue;
                };
                if cluster.glyphs().any(|glyph| glyph.id == 0) {
                    self.missing += 1;
                    self.missing_kinds.insert(c);
                }
            }
        }
    }
}

/// The text of all spans, and where each lies in it. Control characters, which no font has, are spaces.
fn joined(spans: &[Span]) -> (String, Vec<std::ops::Range<usize>>) {
    let mut text = String::new();
    let mut ranges = Vec::new();
    let mut left = CHARS_MAX;
    for span in spans {
        let start = text.len();
        let before = text.len();
        for c in span.text.chars().take(left) {
            match c {
                '\n' => text.push('\n'),
                '\r' => {}
                c if c.is_control() => text.push(' '),
                c => text.push(c),
            }
        }
        left = left.saturating_sub(text[before..].chars().count());
        ranges.push(start..text.len());
    }
    (text, ranges)
}

/// What shows nothing in any font: white space, joiners and marks of direction.
fn is_invisible(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}')
}
