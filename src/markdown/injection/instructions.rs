//! Where markdown reads like instructions to a model, as ranges of it, for a reader that passes it on to one. Knows no
//! phrase.

use std::ops::Range;

use super::anchors::may_match;
use super::marks::marks_of_matching;
use super::unseen::has_tag_text;
use super::{BLOCKS_MAX, STRONG, SUSPECTED, WEAK, begins_with, marks_about};

/// Where markdown reads like instructions to an AI system: paragraphs, items, rows and headings of it as bytes, in
/// order, with the list that one of them introduces. Nothing on a page that is about such attacks, and nothing that is
/// quoted, as for a page. Of a page that is suspected already, for what its readers do not see, less is enough.
pub fn instructions(markdown: &str, is_page_suspected: bool) -> Vec<Range<usize>> {
    let pieces = pieces(markdown);
    let mut suspicious: Vec<(usize, u32)> = Vec::new();
    for (number, piece) in pieces.iter().enumerate() {
        let text = &markdown[piece.range.clone()];
        let is_smuggled = has_tag_text(text);
        if !is_smuggled && !may_match(text) {
            continue;
        }
        let marks = match is_smuggled {
            true => STRONG,
            false => marks_of_matching(text, piece.is_quoted),
        };
        if marks >= WEAK {
            suspicious.push((number, marks));
        }
        if suspicious.len() >= BLOCKS_MAX {
            break;
        }
    }
    let visible = suspicious.iter().map(|(_, marks)| marks).sum();
    let is_enough = visible >= SUSPECTED && marks_about(markdown, visible) >= SUSPECTED;
    if !is_enough && !is_page_suspected {
        return Vec::new();
    }
    let mut found: Vec<Range<usize>> = Vec::new();
    for (number, _) in suspicious {
        let end = with_list(markdown, &pieces, number);
        let range = pieces[number].range.start..pieces[end].range.end;
        match found.last_mut() {
            // What an introduced piece introduces in turn belongs to the instruction too.
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => found.push(range),
        }
    }
    found
}

/// What an instruction can fill: lines that belong together.
struct Piece {
    range: Range<usize>,
    is_item: bool,
    is_quoted: bool,
}

fn pieces(markdown: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let (mut at, mut is_fenced, mut goes_on) = (0, false, false);
    for line in markdown.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let body = line.trim();
        let range = start..start + line.trim_end().len();
        if body.is_empty() {
            goes_on = false;
            continue;
        }
        let is_fence = body.starts_with("```") || body.starts_with("~~~");
        let digits = body.bytes().take_while(u8::is_ascii_digit).count();
        let is_item = match digits {
            0 => ["- ", "* ", "+ "].iter().any(|mark| body.starts_with(mark)),
            _ => body[digits..].starts_with(['.', ')']),
        };
        let begins = is_item || is_fence || body.starts_with(['#', '|']);
        match pieces.last_mut() {
            Some(piece) if goes_on && !begins => piece.range.end = range.end,
            _ => pieces.push(Piece {
                range,
                is_item,
                is_quoted: is_fenced || is_fence || body.starts_with('>'),
            }),
        }
        is_fenced ^= is_fence;
        // A heading or a row ends with its line.
        goes_on = is_fence || !body.starts_with(['#', '|']);
    }
    pieces
}

/// The last piece that belongs to an instruction: of the list, or the one piece, that it introduces with a colon, and of
/// the turns of a chat that go on with it. Its own number if there are none.
fn with_list(markdown: &str, pieces: &[Piece], number: usize) -> usize {
    let text = |piece: &Piece| &markdown[piece.range.clone()];
    let rest = &pieces[number + 1..];
    let introduces = text(&pieces[number])
        .trim_end_matches(['*', '_', ' '])
        .ends_with([':', '：']);
    let introduced = match introduces {
        true => {
            let items = rest.iter().take_while(|piece| piece.is_item).count();
            items.max(usize::from(!rest.is_empty()))
        }
        false => 0,
    };
    let turns = rest[introduced..].iter();
    let turns =
        turns.take_while(|piece| begins_with(text(piece), &["system:", "assistant:", "user:"]));
    number + introduced + turns.count()
}
