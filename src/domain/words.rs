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
