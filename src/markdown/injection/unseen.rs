//! Characters that nobody sees: those that part a word, and those that carry text of their own. Knows no phrase.

use std::borrow::Cow;

/// Hidden text in the tag characters of Unicode: this many in a row are no flag.
const TAGS_MIN: u32 = 12;

/// Without the characters that nobody sees.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    let is_seen = |c: &char| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}' | '\u{e0000}'..='\u{e007f}');
    match text.is_ascii() {
        true => Cow::Borrowed(text),
        false => text.chars().filter(is_seen).collect(),
    }
}

/// Length of a character that nobody sees and that would part a word.
pub(super) fn unseen_bytes(bytes: &[u8]) -> usize {
    match bytes {
        [0xe2, 0x80, 0x8b..=0x8f, ..] | [0xe2, 0x81, 0xa0..=0xa4, ..] | [0xef, 0xbb, 0xbf, ..] => 3,
        [0xc2, 0xad, ..] => 2,
        _ => 0,
    }
}

/// Letters written in Unicode's tag characters, which are shown as nothing. Flags of regions use few of them.
pub(super) fn has_tag_text(text: &str) -> bool {
    // In UTF-8 all of them begin with this byte, and few characters else do.
    if !text.as_bytes().contains(&0xf3) {
        return false;
    }
    let mut row = 0;
    text.chars().any(|character| {
        row = if matches!(character, '\u{e0020}'..='\u{e007e}') {
            row + 1
        } else {
            0
        };
        row >= TAGS_MIN
    })
}
