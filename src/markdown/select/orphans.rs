//! Drops headings whose section was dropped: a heading over nothing promises what the document does not hold.

use super::super::outline::{Kind, Outline};

/// Where more than these would go, and more than one in so many headings, the page is a list of titles.
const ORPHANS_FEW: usize = 2;
const HEADINGS_ONE_IN: usize = 3;
/// A longer heading, or one that is a sentence, says something by itself.
const HEADING_WORDS_MAX: u32 = 6;
const LEVELS: usize = 7;

/// What stands behind a place, before the next heading of a level or a higher one.
#[derive(Clone, Copy, Default)]
struct Section {
    has_text: bool,
    is_kept: bool,
}

pub(super) fn drop_orphans(outline: &Outline, is_kept: &mut [bool]) {
    let mut headings = 0;
    let mut orphans: Vec<usize> = Vec::new();
    // By level of the heading that would begin there.
    let mut sections = [Section::default(); LEVELS];
    for (at, block) in outline.blocks.iter().enumerate().rev() {
        let Kind::Heading(level, _) = block.kind else {
            for section in &mut sections {
                section.has_text |= block.words > 0;
                section.is_kept |= is_kept[at];
            }
            continue;
        };
        let level = usize::from(level).min(LEVELS - 1);
        let own = sections[level];
        if is_kept[at] {
            headings += 1;
            let says_itself = block.words > HEADING_WORDS_MAX || block.counts.ends_sentence;
            let may_go = level > 1 && block.link_words == 0 && !says_itself;
            if may_go && own.has_text && !own.is_kept {
                orphans.push(at);
            }
        }
        let is_orphan = orphans.last() == Some(&at);
        for (of, section) in sections.iter_mut().enumerate() {
            match of < level {
                true => section.is_kept |= is_kept[at] && !is_orphan,
                false => *section = Section::default(),
            }
        }
    }
    if orphans.len() <= ORPHANS_FEW || orphans.len() * HEADINGS_ONE_IN <= headings {
        for at in orphans {
            is_kept[at] = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::kept_by;
    use super::*;

    #[test]
    fn a_heading_whose_section_is_dropped_is_dropped() {
        let kept = |html: &str| kept_by(drop_orphans, html);
        let text = "<h2>On gates</h2><p>The gate squeaks.</p>".repeat(3);
        let orphan = "<h2>More gates</h2><p>Fences</p>";
        assert_eq!(kept(&format!("{text}{orphan}{text}")).len(), 12);
        assert_eq!(kept(&format!("{text}{orphan}")).len(), 6);
        // Its parts have text; a heading over nothing at all; a link; the title.
        let parts = "<h2>More gates</h2><p>Fences</p><h3>A gate</h3><p>The gate</p>";
        assert_eq!(kept(&format!("{text}{parts}")).len(), 9);
        let sentence = "<h2>More gates are good.</h2><p>Fences</p>";
        for heading in [
            sentence,
            "<h2>More gates</h2>",
            "<h2><a href=/a>More gates</a></h2><p>Fences</p>",
        ] {
            assert_eq!(kept(&format!("{text}{heading}")).len(), 7, "{heading}");
        }
        assert_eq!(kept("<h1>Gates</h1><p>Fences</p>").len(), 0);
        assert_eq!(kept("<h1>The gates</h1><p>Fences</p>").len(), 1);
        // Its parts are dropped, too: one of a few.
        let both = "<h2>More gates</h2><h3>A gate</h3><p>Fences</p>";
        assert_eq!(kept(&format!("{text}{text}{both}")).len(), 12);
        // A list of titles.
        assert_eq!(kept(&orphan.repeat(5)).len(), 5);
    }
}
