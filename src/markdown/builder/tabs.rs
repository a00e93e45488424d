//! Tabs: which panel is which ("Linux", "macOS") is said by the tabs alone, and they stand elsewhere on the page.

use super::Builder;
use super::effects::Effect;
use crate::markdown::attributes::{Attributes, PartOfTabs, part_of_tabs};
use crate::markdown::outline::{PAGE, Panel};
use crate::markdown::tag::Name;

use crate::domain::words::folded;

/// A longer text is not the name of a panel.
const TEXT_BYTES_MAX: usize = 80;
/// A longer id is not looked for.
const ID_BYTES_MAX: usize = 200;
/// Tabs of one list that are known.
const TABS_MAX: usize = 64;
/// Panels of one page that get a name.
const PANELS_MAX: usize = 2_000;

#[derive(Debug, Default)]
pub(super) struct Tabs {
    /// Those of the last list.
    list: Vec<Tab>,
    /// The element whose text is that of the last of them.
    open: Option<Name>,
    /// How many panels have come since.
    panels: usize,
    /// Open panels in which no block stands yet: the open element, and the panel.
    unplaced: Vec<(usize, usize)>,
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
                unplaced: std::mem::take(&mut tabs.unplaced),
                ..Tabs::default()
            };
        }
        if is_tab && tabs.list.len() < TABS_MAX {
            let value = |name| {
                let id = attributes.get(name)?;
                (id.len() <= ID_BYTES_MAX).then(|| id.trim().to_owned())
            };
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

    /// Remembers the name of a panel, if the element that was opened last is one.
    pub(super) fn begin_panel(&mut self, name: Name, attributes: &Attributes<'_>) {
        if part_of_tabs(name, attributes) != Some(PartOfTabs::Panel)
            || !self.tables.is_empty()
            || self.outline.panels.len() >= PANELS_MAX
        {
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
        let text = tab.map(|tab| folded(&tab.text)).unwrap_or_default();
        tabs.panels += 1;
        let (Some(depth), true) = (self.open.len().checked_sub(1), is_name(&text)) else {
            return;
        };
        tabs.unplaced.push((depth, self.outline.panels.len()));
        self.open[depth].effect = Effect::Panel(self.outline.panels.len());
        self.outline.panels.push(Panel {
            name: self.writer.label(&text),
            blocks: self.outline.blocks.len()..usize::MAX,
            node: PAGE,
        });
    }

    pub(super) fn end_panel(&mut self, panel: usize) {
        self.tabs.unplaced.retain(|(_, other)| *other != panel);
        self.outline.panels[panel].blocks.end = self.outline.blocks.len();
    }

    /// The first block of open panels has its place, and so have they.
    pub(super) fn place_panels(&mut self) {
        for (depth, panel) in self.tabs.unplaced.drain(..) {
            if let Some(open) = self.open.get(depth) {
                self.outline.panels[panel].node = open.node;
            }
        }
    }
}

/// Whether the text of a tab says anything of its panel. Pictures that are shown in turn have "Item 3" or "Slide 3 of 5".
fn is_name(text: &str) -> bool {
    let mut words = text.split(' ').map(|word| word.trim_matches(['#', ':']));
    let is_counted = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    const COUNTERS: [&str; 8] = ["go", "to", "of", "item", "slide", "page", "tab", "image"];
    text.len() <= TEXT_BYTES_MAX
        && words.any(|word| !is_counted(word) && !COUNTERS.contains(&&*word.to_lowercase()))
}
