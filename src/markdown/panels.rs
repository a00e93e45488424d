//! Writes above the first kept text of each panel which tab shows it: "**Linux**".

use super::inline::Mark;
use super::outline::{Kind, Outline, Panel};
use super::properties::push_block;

/// `kept` is in document order.
pub(super) fn name_panels(outline: &mut Outline, kept: &mut Vec<usize>) {
    let panels = std::mem::take(&mut outline.panels);
    let mut waiting = panels.iter().peekable();
    let mut named = Vec::with_capacity(kept.len());
    for at in kept.drain(..) {
        while let Some(panel) = waiting.next_if(|panel| panel.blocks.start <= at) {
            if panel.blocks.contains(&at) && !is_called_so(outline, at, panel) {
                let name = outline.label(panel.name).to_owned();
                named.extend(push_block(outline, panel.node, |writer| {
                    writer.begin(Mark::Strong);
                    writer.text(&name);
                    writer.end(Mark::Strong);
                }));
            }
        }
        named.push(at);
    }
    *kept = named;
}

/// Whether the first text of a panel is its name: shops write it as a heading.
fn is_called_so(outline: &Outline, at: usize, panel: &Panel) -> bool {
    let block = &outline.blocks[at];
    let text = match block.kind {
        Kind::Heading(_, label) => outline.label(label),
        _ => outline.markdown(block).trim_matches(['*', '_', ' ', '\n']),
    };
    text.eq_ignore_ascii_case(outline.label(panel.name))
}
