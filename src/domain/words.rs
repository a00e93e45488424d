//! How many words a text has. Chinese, Japanese, Thai and some other scripts put no spaces between words: there, each
//! character counts as one.

use std::ops::ControlFlow;

/// Every run of white space as one space, none at the ends.
pub fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded
}

/// Text as one line of a title, a name or a description shows it: every run of white space as one space, without control
/// characters and without those that nobody sees.
pub fn visible_line(text: &str) -> String {
    match text.contains(|c: char| c.is_control() || is_unseen(c)) {
        false => folded(text),
        true => {
            let spaced = text.chars().map(|c| match c.is_control() {
                true => ' ',
                false => c,
            });
            folded(&spaced.filter(|c| !is_unseen(*c)).collect::<String>())
        }
    }
}

/// Whether a character shows nothing and hides or reorders what stands beside it: `exe.fdp` reads `exe.pdf` behind one.
/// Joiners and single marks of direction are none: Persian, Hindi and Hebrew are written with them.
pub fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// Words of a text: each character of a script without spaces, each run of other letters and digits that touches one,
/// and whatever else stands between spaces.
pub fn count(text: &str) -> usize {
    let mut count = 0;
    let _ = each_end(text, |_| {
        count += 1;
        ControlFlow::Continue(())
    });
    count
}

/// The text up to the end of its first words.
pub fn first(text: &str, words_max: usize) -> &str {
    let (mut count, mut end) = (0, 0);
    let _ = each_end(text, |at| {
        if count == words_max {
            return ControlFlow::Break(());
        }
        (count, end) = (count + 1, at);
        ControlFlow::Continue(())
    });
    // All of it, with the marks after the last word.
    match count < words_max {
        true => text.trim_end(),
        false => &text[..end],
    }
}

/// The beginning of markdown: the whole blocks within its first words, so that no table, list or paragraph breaks off and
/// no heading stands last. Where that leaves less than half of the words, the whole lines within them; where that does,
/// too, all of the words.
pub fn first_blocks(markdown: &str, words_max: usize) -> &str {
    let beginning = first(markdown, words_max);
    if beginning.len() == markdown.trim_end().len() {
        return beginning;
    }
    let is_enough = |part: &&str| count(part) * 2 >= words_max;
    let (blocks, lines) = whole_blocks_and_lines(markdown, beginning.len());
    let parts = [blocks, lines].map(|end| markdown[..end].trim_end());
    parts.into_iter().find(is_enough).unwrap_or(beginning)
}

/// Where the last block, and the last line of one, end within so many bytes. A heading goes with the block below it.
fn whole_blocks_and_lines(markdown: &str, most: usize) -> (usize, usize) {
    let (mut blocks, mut lines, mut at) = (0, 0, 0);
    let (mut in_fence, mut after_heading) = (false, true);
    for line in markdown.split_inclusive('\n') {
        let text = line.trim();
        let is_rule_of_fence = text.starts_with("```") || text.starts_with("~~~");
        if text.is_empty() && !in_fence && !after_heading {
            blocks = at;
        }
        at += line.len();
        if at > most.saturating_add(line.len() - line.trim_end().len()) {
            break;
        }
        in_fence ^= is_rule_of_fence;
        if !text.is_empty() {
            after_heading = !in_fence && text.starts_with('#');
            if !after_heading && !in_fence {
                lines = at;
            }
        }
    }
    (blocks, lines)
}

/// Calls with the offset at which each word ends, in order.
fn each_end(text: &str, mut found: impl FnMut(usize) -> ControlFlow<()>) -> ControlFlow<()> {
    for piece in text.split_whitespace() {
        let from = piece.as_ptr() as usize - text.as_ptr() as usize;
        if !piece.contains(is_unspaced) {
            found(from + piece.len())?;
            continue;
        }
        let mut word = None;
        for (at, c) in piece.char_indices() {
            let end = from + at + c.len_utf8();
            match c.is_alphanumeric() {
                true if !is_unspaced(c) => word = Some(end),
                is_word => {
                    if let Some(end) = word.take() {
                        found(end)?;
                    }
                    if is_word {
                        found(end)?;
                    }
                }
            }
        }
        if let Some(end) = word {
            found(end)?;
        }
    }
    ControlFlow::Continue(())
}

/// Whether a character is of a script that puts no spaces between words. Korean does.
pub fn is_unspaced(c: char) -> bool {
    matches!(
        u32::from(c),
        // Thai and Lao, Myanmar, Khmer.
        0x0e00..=0x0eff
            | 0x1000..=0x109f
            | 0x1780..=0x17ff
            // Chinese and Japanese.
            | 0x3005..=0x3007
            | 0x3040..=0x30ff
            | 0x31f0..=0x31ff
            | 0x3400..=0x4dbf
            | 0x4e00..=0x9fff
            | 0xf900..=0xfaff
            | 0x20000..=0x3ffff
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_what_stands_in_it() {
        let check = |text: &str, expected: &str| assert_eq!(visible_line(text), expected);
        check(" a\n\t b ", "a b");
        check("abc\u{202e}fdp", "abcfdp");
        check("\u{2066}a\u{2069}\u{feff} b\u{200b}c\u{ad}d", "a bcd");
        check("a\u{1b}[1mb\u{7}", "a [1mb");
        check("A\u{e0049}\u{e0067} B", "A B");
        // As Persian, Hebrew and families are written.
        check(
            "می\u{200c}خواهم \u{200f}שלום 👩\u{200d}👧",
            "می\u{200c}خواهم \u{200f}שלום 👩\u{200d}👧",
        );
    }

    #[test]
    fn words_are_counted_in_every_script() {
        for (text, expected) in [
            ("", 0),
            (" \n", 0),
            ("# One, two-three\u{a0}four\n\n- five", 6),
            ("[a link](https://a.example/b-c)", 2),
            ("退款政策", 4),
            ("**退款**政策。", 4),
            ("东京2024年 ok", 5),
            ("iPhoneを買う", 4),
            ("東京タワーは、高い。", 8),
            ("人々", 2),
            ("환불 정책은 다음과 같습니다.", 4),
            ("ภาษา", 4),
            ("。。 、", 2),
        ] {
            assert_eq!(count(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_preview_ends_with_a_block() {
        for (text, words, expected) in [
            ("# One\n\ntwo three\n", 9, "# One\n\ntwo three"),
            (
                "one two\n\nthree four\n\nfive six",
                5,
                "one two\n\nthree four",
            ),
            ("one two\n\nthree four", 4, "one two\n\nthree four"),
            // A heading does not stand last.
            ("one two three\n\n## Four\n\nfive six", 6, "one two three"),
            // Nor does a part of a table, or of code.
            (
                "one two three four\n\n| a |\n| - |\n| b c |",
                7,
                "one two three four",
            ),
            (
                "one two three\n\n```\nx\n\ny z\n```\n\nlast",
                6,
                "one two three",
            ),
            // Of a long list, whole items.
            (
                "- one two\n- three four\n- five six",
                7,
                "- one two\n- three four",
            ),
            // Of a long paragraph, all of the words.
            ("# A\n\none two three four five", 5, "# A\n\none two three"),
        ] {
            assert_eq!(first_blocks(text, words), expected, "{text:?}");
        }
    }

    #[test]
    fn a_text_begins_with_its_first_words() {
        for (text, words, expected) in [
            ("one two three", 2, "one two"),
            ("# one\n\ntwo\u{a0}three", 2, "# one"),
            (" é\n", 5, " é"),
            ("", 3, ""),
            ("one", 0, ""),
            ("退款政策。", 2, "退款"),
            ("退款政策。", 4, "退款政策"),
            ("退款政策。\n", 5, "退款政策。"),
            ("见OpenAPI 3.1版", 3, "见OpenAPI 3"),
        ] {
            assert_eq!(first(text, words), expected, "{text:?}");
        }
    }
}
