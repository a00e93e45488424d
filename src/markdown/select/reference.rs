//! Keeps reference pages whole. The model judges block by block, and of a long reference page it doubts what is not
//! prose: declarations, parameters, examples. There the unit is the element that holds the page's text: all of it is
//! kept but for what stands apart in it, such as menus.

use super::super::outline::{Block, NodeId, Outline, PAGE, Role};
use super::super::tag::Tag;
use super::hints::Hints;
use super::scale::count;

/// So many of a hundred words that are no links, or of those that the model kept, stand in the element that is taken
/// for the container of the content.
const CONTAINED: u64 = 85;
/// A page without a known generator is technical from so many code blocks on,
const CODE_BLOCKS_MIN: u32 = 3;
/// or if one in so many of its blocks names code.
const CODE_NAMES_ONE_IN: u32 = 4;
const CODE_NAMES_MIN: u32 = 8;
/// So many declarations make a reference page: few if code is named or shown on it.
const DECLARATIONS_MIN: u32 = 2;
const DECLARATIONS_MANY: u32 = 5;
const CODE_NAMES_FEW: u32 = 3;
/// The model is right about most of such a page.
const KEPT_PERCENT_MIN: u64 = 50;
/// The title stands at most so many levels above the text.
const TITLE_HOPS_MAX: usize = 5;
/// A longer header holds the site's menus.
const HEADER_WORDS_MAX: u32 = 60;
/// A block with so many words beside its links is text.
const TEXT_WORDS: u32 = 8;
/// Links that belong to a declaration and not to the text.
const TOOL_WORDS_MAX: u32 = 8;

/// The most blocks that stand below a page.
const IMPRINT_BLOCKS_MAX: usize = 16;
/// How they begin.
const IMPRINTS: [&str; 13] = [
    "built with",
    "copyright",
    "created using",
    "distributed under",
    "documentation generated",
    "generated ",
    "last modified",
    "last update",
    "page last",
    "powered by",
    "produced by",
    "©",
    "© [copyright",
];

#[derive(Clone, Copy, Default)]
struct Sums {
    words: u64,
    link_words: u64,
    text_words: u64,
    kept_words: u64,
    code: u32,
    /// Blocks with code in a line.
    names: u32,
    blocks: u32,
}

/// Which blocks of a reference page belong to its content; none of a page of another kind.
pub(super) fn keep_whole(
    outline: &Outline,
    hints: &Hints,
    title: Option<usize>,
    is_kept: &mut [bool],
) -> bool {
    let words = words(outline);
    let is_apart = apart(outline, &words);
    let sums = sums(outline, &is_apart, is_kept);
    let container = container(outline, &sums, title);
    let within = sums[container as usize];
    let has_code = within.code > 0 || within.names >= CODE_NAMES_FEW;
    let declarations = if has_code {
        DECLARATIONS_MIN
    } else {
        DECLARATIONS_MANY
    };
    let is_other = hints.is_article || hints.is_talk;
    let is_made = hints.is_reference || !is_other && outline.declarations >= declarations;
    if !is_made {
        let is_technical = within.code >= CODE_BLOCKS_MIN
            || within.names >= CODE_NAMES_MIN && within.names * CODE_NAMES_ONE_IN >= within.blocks;
        let is_mostly_kept = within.kept_words * 100 >= within.words * KEPT_PERCENT_MIN;
        if is_other || !is_technical || !is_mostly_kept && !hints.is_documentation {
            return false;
        }
    }
    let container = if is_made {
        widened(outline, &sums, container)
    } else {
        container
    };
    let Some((first, last)) = edges(outline, &is_apart, container, is_kept, is_made) else {
        return false;
    };
    let mut inside = vec![false; outline.nodes.len()];
    inside[container as usize] = true;
    for (id, node) in outline
        .nodes
        .iter()
        .enumerate()
        .skip(container as usize + 1)
    {
        inside[id] = inside[node.parent as usize] && !is_apart[id];
    }
    let end = imprint(outline);
    let menus = menus(outline, &sums, &inside);
    for (at, block) in outline.blocks.iter().enumerate() {
        let node = block.node as usize;
        if !inside[node] {
            // What the model took from the menus of a page that it did not understand.
            is_kept[at] &= !(is_made && block.link_words * 2 > block.words);
            continue;
        }
        let is_within = (first..=last).contains(&at);
        is_kept[at] |=
            at < end && (is_within || is_made && !menus[node]) && !is_tool(outline, block);
    }
    true
}

/// The first and the last block that are text of the container; where the generator is not known, that were kept.
fn edges(
    outline: &Outline,
    is_apart: &[bool],
    container: NodeId,
    is_kept: &[bool],
    is_made: bool,
) -> Option<(usize, usize)> {
    let is_edge = |at: &usize| {
        let block = &outline.blocks[*at];
        let is_text =
            block.kind.is_code() || block.words.saturating_sub(block.link_words) >= TEXT_WORDS;
        !is_apart[block.node as usize]
            && holds(outline, container, block.node)
            && if is_made { is_text } else { is_kept[*at] }
    };
    let first = (0..outline.blocks.len()).find(is_edge)?;
    let last = (0..outline.blocks.len()).rfind(is_edge)?;
    Some((first, last))
}

fn words(outline: &Outline) -> Vec<u32> {
    let mut words = vec![0u32; outline.nodes.len()];
    for block in &outline.blocks {
        words[block.node as usize] += block.words;
    }
    for id in (1..outline.nodes.len()).rev() {
        words[outline.nodes[id].parent as usize] += words[id];
    }
    words
}

/// Of each node whether it or one around it is no content by its role.
fn apart(outline: &Outline, words: &[u32]) -> Vec<bool> {
    let mut is_apart = vec![false; outline.nodes.len()];
    for (id, node) in outline.nodes.iter().enumerate().skip(1) {
        let is_so = matches!(
            node.role,
            Role::Hidden | Role::Consent | Role::Navigation | Role::Form | Role::Footer
        ) || node.tag == Tag::Button
            || node.role == Role::Header && words[id] > HEADER_WORDS_MAX;
        is_apart[id] = is_so || is_apart[node.parent as usize];
    }
    is_apart
}

fn sums(outline: &Outline, is_apart: &[bool], is_kept: &[bool]) -> Vec<Sums> {
    let mut sums = vec![Sums::default(); outline.nodes.len()];
    for (block, &is_kept) in outline.blocks.iter().zip(is_kept) {
        if is_apart[block.node as usize] {
            continue;
        }
        let sum = &mut sums[block.node as usize];
        let words = u64::from(block.words);
        sum.words += words;
        sum.link_words += u64::from(block.link_words);
        sum.text_words += u64::from(block.words.saturating_sub(block.link_words));
        sum.blocks += 1;
        sum.code += u32::from(block.kind.is_code());
        sum.names += u32::from(!block.kind.is_code() && outline.markdown(block).contains('`'));
        if is_kept {
            sum.kept_words += words;
        }
    }
    for id in (1..outline.nodes.len()).rev() {
        let inner = sums[id];
        let outer = &mut sums[outline.nodes[id].parent as usize];
        outer.words += inner.words;
        outer.link_words += inner.link_words;
        outer.text_words += inner.text_words;
        outer.kept_words += inner.kept_words;
        outer.code += inner.code;
        outer.names += inner.names;
        outer.blocks += inner.blocks;
    }
    sums
}

/// The deepest element that holds nearly all of the text, or one around it that has the page's title, too.
fn container(outline: &Outline, sums: &[Sums], title: Option<usize>) -> NodeId {
    let total = sums[PAGE as usize].text_words;
    let mut container = PAGE;
    for (id, node) in outline.nodes.iter().enumerate() {
        let holds = sums[id].text_words * 100 >= total * CONTAINED;
        if holds && node.depth >= outline.node(container).depth {
            container = count(id);
        }
    }
    let Some(title) = title else {
        return container;
    };
    let mut around = container;
    for _ in 0..TITLE_HOPS_MAX {
        if holds(outline, around, outline.blocks[title].node) {
            return around;
        }
        around = outline.node(around).parent;
    }
    container
}

/// The element around the container, if it adds more text than links: a summary before the details.
fn widened(outline: &Outline, sums: &[Sums], container: NodeId) -> NodeId {
    let around = outline.node(container).parent;
    let (outer, inner) = (sums[around as usize], sums[container as usize]);
    let words = outer.words - inner.words;
    let text_words = outer.text_words - inner.text_words;
    match text_words * 2 >= words {
        true => around,
        false => container,
    }
}

fn holds(outline: &Outline, outer: NodeId, mut node: NodeId) -> bool {
    while node != outer && node != PAGE {
        node = outline.node(node).parent;
    }
    node == outer
}

/// Of each node in the container whether it is or stands in a list of links.
fn menus(outline: &Outline, sums: &[Sums], inside: &[bool]) -> Vec<bool> {
    let mut menus = vec![false; outline.nodes.len()];
    for (id, node) in outline.nodes.iter().enumerate().skip(1) {
        let sum = &sums[id];
        let is_menu = inside[id]
            && sum.link_words * 4 >= sum.words * 3
            && !matches!(
                node.tag,
                Tag::Heading(_)
                    | Tag::Row
                    | Tag::Cell
                    | Tag::HeaderCell
                    | Tag::Item
                    | Tag::Term
                    | Tag::Definition
                    | Tag::Preformatted
            );
        menus[id] = is_menu || menus[node.parent as usize];
    }
    menus
}

/// A link to the source or to a place where an example runs.
fn is_tool(outline: &Outline, block: &Block) -> bool {
    let text = outline.markdown(block);
    let has = |label: &str| text.contains(label);
    block.words <= TOOL_WORDS_MAX
        && block.link_words > 0
        && !block.kind.is_heading()
        && [
            "[Source](",
            "[source](",
            "[src](",
            "[\\[src\\]](",
            "[\\[source\\]](",
            "[Run](",
            "[Edit on",
            "[Edit this",
            "[View source",
            "[Improve this",
        ]
        .iter()
        .any(|label| has(label))
        || text == "Expand description"
}

/// Where begins what generators write below a page.
fn imprint(outline: &Outline) -> usize {
    let begins = |text: &str, start: &&str| {
        let head = text.get(..start.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(start))
    };
    let blocks = &outline.blocks;
    let mut end = blocks.len();
    for (at, block) in blocks.iter().enumerate().rev().take(IMPRINT_BLOCKS_MAX) {
        if block.kind.is_heading() || block.kind.is_code() {
            break;
        }
        let text = outline.markdown(block);
        if IMPRINTS.iter().any(|start| begins(text, start)) {
            end = at;
        }
    }
    end
}
