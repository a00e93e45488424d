//! Tabs: which panel is which ("Linux", "macOS") is said by the tabs alone, and they stand elsewhere on the page. Each
//! panel begins with the text of its tab, unless it repeats that itself.

use super::Builder;
use super::effects::Effect;
use crate::markdown::attributes::{Attributes, PartOfTabs, part_of_tabs};
use crate::markdown::inline::Mark;
use crate::markdown::outline::Block;
use crate::markdown::tag::Name;

/// A longer text is not the name of a panel.
const TEXT_BYTES_MAX: usize = 80;
/// Tabs of one list that are known.
const TABS_MAX: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Tabs {
    /// Those of the last list.
    list: Vec<Tab>,
    /// The element whose text is that of the last of them.
    open: Option<Name>,
    /// How many panels have come since.
    panels: usize,
    /// The block that names the open panel, while nothing stands behind it.
    named: Option<usize>,
}

#[derive(Debug)]
struct Tab {
    text: String,
    id: Option<String>,
    panel_id: Option<String>,
}

impl Builder {
    pub(super) fn begin_tab(&mut self, name: Name, attributes: &Attributes<'_>) {
        let part = part_of_tabs(name, attributes);
        let is_tab = part == Some(PartOfTabs::Tab);
        let tabs = &mut self.tabs;
        if part == Some(PartOfTabs::List) || (is_tab && tabs.panels > 0) {
            *tabs = Tabs {
                named: tabs.named.take(),
                ..Tabs::default()
            };
        }
        if is_tab && tabs.list.len() < TABS_MAX {
            let value = |name| Some(attributes.get(name)?.trim().to_owned());
            tabs.open = Some(name);
            tabs.list.push(Tab {
                text: String::new(),
                id: value("id"),
                panel_id: value("aria-controls"),
            });
        }
    }

    pub(super) fn tab_text(&mut self, text: &str) {
        let tabs = &mut self.tabs;
        if let (Some(_), Some(tab)) = (tabs.open, tabs.list.last_mut())
            && tab.text.len() <= TEXT_BYTES_MAX
        {
            tab.text
                .push_str(&text[..text.floor_char_boundary(TEXT_BYTES_MAX + 1)]);
        }
    }

    pub(super) fn end_tab(&mut self, name: Name) {
        self.tabs.open.take_if(|open| *open == name);
    }

    /// Begins a panel with the name that its tab has, if the element is one.
    pub(super) fn begin_panel(&mut self, name: Name, attributes: &Attributes<'_>) {
        if part_of_tabs(name, attributes) != Some(PartOfTabs::Panel) || self.is_full() {
            return;
        }
        let tabs = &mut self.tabs;
        tabs.open = None;
        let by = |id: Option<&str>, of: fn(&Tab) -> Option<&str>| {
            let id = id?.trim();
            tabs.list.iter().find(|tab| of(tab) == Some(id))
        };
        let tab = by(attributes.raw("aria-labelledby"), |tab| tab.id.as_deref())
            .or_else(|| by(attributes.raw("id"), |tab| tab.panel_id.as_deref()))
            .or_else(|| tabs.list.get(tabs.panels));
        let text = tab.map(|tab| tab.text.trim().to_owned());
        tabs.panels += 1;
        let Some(text) = text.filter(|text| !text.is_empty() && text.len() <= TEXT_BYTES_MAX)
        else {
            return;
        };
        self.writer.begin(Mark::Strong);
        self.writer.text(&text);
        self.writer.end(Mark::Strong);
        self.finish_block();
        self.tabs.named = self.outline.blocks.len().checked_sub(1);
        if let Some(panel) = self.open.last_mut() {
            panel.effect = Effect::Panel;
        }
    }

    /// A panel that nothing stands in needs no name.
    pub(super) fn end_panel(&mut self) {
        if let Some(at) = self.tabs.named.take()
            && at + 1 == self.outline.blocks.len()
        {
            self.outline.blocks.pop();
        }
    }

    /// Whether a block says what the name of its panel says, and can stand in its place.
    pub(super) fn repeats_panel_name(&mut self, block: &Block) -> bool {
        let (Some(at), Some(last)) = (self.tabs.named.take(), self.outline.blocks.last()) else {
            return false;
        };
        let text = |block: &Block| self.writer.text[block.text.range()].trim_matches(['*', ' ']);
        at + 1 == self.outline.blocks.len()
            && block.link_words == 0
            && text(last).eq_ignore_ascii_case(text(block))
    }
}
