//! A line of a set text in the pieces that it is drawn in: by where they lead, by font, size and colour.

use krilla::text::{GlyphId, KrillaGlyph};

use crate::pdf::block::Tone;
use crate::pdf::shape::Set;

/// Neighbouring glyphs that lead to the same place.
pub(super) struct Piece {
    pub(super) link: Option<usize>,
    pub(super) runs: Vec<Run>,
    pub(super) start: f32,
    pub(super) end: f32,
    /// From the text's top.
    pub(super) top: f32,
    pub(super) bottom: f32,
    pub(super) text: String,
}

/// Neighbouring glyphs of one font, size and colour.
pub(super) struct Run {
    pub(super) font: parley::FontData,
    pub(super) size: f32,
    pub(super) tone: Tone,
    pub(super) x: f32,
    pub(super) baseline: f32,
    pub(super) glyphs: Vec<KrillaGlyph>,
}

pub(super) fn pieces(set: &Set, line: usize, x: f32) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let Some(line) = set.layout.get(line) else {
        return pieces;
    };
    let metrics = line.metrics();
    let mut x = x + metrics.offset;
    for run in line.runs() {
        let size = run.font_size();
        let mut is_new = true;
        for cluster in run.visual_clusters() {
            let text = set.text.get(cluster.text_range()).unwrap_or_default();
            if cluster.is_ligature_continuation() {
                let last = pieces.last_mut().and_then(|piece| piece.runs.last_mut());
                if let Some(glyph) = last.and_then(|run| run.glyphs.last_mut()) {
                    let range = cluster.text_range();
                    glyph.text_range = glyph.text_range.start.min(range.start)
                        ..glyph.text_range.end.max(range.end);
                }
                continue;
            }
            if text.starts_with('\n') {
                continue;
            }
            let brush = cluster.style().brush;
            if pieces.last().is_none_or(|piece| piece.link != brush.link) {
                pieces.push(Piece {
                    link: brush.link,
                    runs: Vec::new(),
                    start: x,
                    end: x,
                    top: metrics.block_min_coord,
                    bottom: metrics.block_max_coord,
                    text: String::new(),
                });
                is_new = true;
            }
            let Some(piece) = pieces.last_mut() else {
                continue;
            };
            if is_new || piece.runs.last().is_none_or(|run| run.tone != brush.tone) {
                piece.runs.push(Run {
                    font: run.font().clone(),
                    size,
                    tone: brush.tone,
                    x,
                    baseline: metrics.baseline,
                    glyphs: Vec::new(),
                });
                is_new = false;
            }
            piece.text.push_str(text);
            let Some(drawn) = piece.runs.last_mut() else {
                continue;
            };
            for glyph in cluster.glyphs() {
                drawn.glyphs.push(KrillaGlyph::new(
                    GlyphId::new(glyph.id),
                    glyph.advance / size,
                    glyph.x / size,
                    glyph.y / size,
                    0.0,
                    cluster.text_range(),
                    None,
                ));
                x += glyph.advance;
            }
            piece.end = x;
        }
    }
    pieces.retain(|piece| piece.runs.iter().any(|run| !run.glyphs.is_empty()));
    pieces
}
