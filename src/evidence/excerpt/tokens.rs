//! How many tokens a text is to a language model, estimated from above without a tokenizer. The weights were fitted so
//! that no text of the corpora is estimated below the tokenizer that makes most of it (`data/excerpts/README.md` names the
//! tokenizers and how close the estimate comes). A text unlike any of these, such as random letters, may take more.

use std::collections::HashSet;
use std::sync::LazyLock;

/// English words that are one token to every tokenizer it was measured with, as they are written.
static COMMON: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let words = include_str!("../../../data/excerpts/words.txt");
    words.split_whitespace().collect()
});

// Hundredths of a token, by `data/excerpts/tokens.py`.
const COMMON_WORD: u64 = 115;
/// Another run of letters, each letter behind its third and behind its eighth, and each letter of one in capitals.
const WORD: u64 = 152;
const LETTER_FROM_4: u64 = 30;
const LETTER_FROM_9: u64 = 75;
const CAPITAL: u64 = 11;
/// A run of digits, and each of them.
const NUMBER: u64 = 89;
const DIGIT: u64 = 101;
/// The first of a run of one sign, and each further.
const SIGN: u64 = 91;
const SIGN_AGAIN: u64 = 31;
const LINE_END: u64 = 146;
const SPACE_AGAIN: u64 = 11;

/// The estimate in whole tokens.
pub fn estimated(text: &str) -> u64 {
    hundredths(text).div_ceil(100)
}

/// The estimate in hundredths of a token. Of two texts put together at a white space it is not more than of both.
pub(super) fn hundredths(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let (mut at, mut total) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        total += match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {
                at = letters_end(bytes, at);
                word(&text[start..at])
            }
            b'0'..=b'9' => {
                at = run_end(bytes, at, |other| other.is_ascii_digit());
                NUMBER + DIGIT * (at - start) as u64
            }
            b'\n' => {
                at = run_end(bytes, at, |other| other == b'\n');
                LINE_END
            }
            b' ' | b'\t' | b'\r' => {
                at = run_end(bytes, at, |other| matches!(other, b' ' | b'\t' | b'\r'));
                SPACE_AGAIN * (at - start - 1) as u64
            }
            0..=127 => {
                at = run_end(bytes, at, |other| other == byte);
                SIGN + SIGN_AGAIN * (at - start - 1) as u64
            }
            _ => {
                let c = text[at..].chars().next().unwrap_or_default();
                at += c.len_utf8();
                beyond_ascii(c)
            }
        };
    }
    total
}

fn run_end(bytes: &[u8], from: usize, is_of_run: impl Fn(u8) -> bool) -> usize {
    let rest = bytes[from..].iter();
    from + rest.take_while(|&&byte| is_of_run(byte)).count()
}

/// The end of a run of letters. A capital behind a small letter begins another.
fn letters_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while bytes.get(at).is_some_and(u8::is_ascii_alphabetic)
        && !(bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase())
    {
        at += 1;
    }
    at
}

fn word(word: &str) -> u64 {
    let length = word.len() as u64;
    let is_capitals = word.bytes().all(|byte| byte.is_ascii_uppercase());
    if COMMON.contains(word) || (length <= 2 && !is_capitals) {
        return COMMON_WORD;
    }
    let capitals = match length > 1 && is_capitals {
        true => CAPITAL * length,
        false => 0,
    };
    WORD + LETTER_FROM_4 * length.min(8).saturating_sub(3)
        + LETTER_FROM_9 * length.saturating_sub(8)
        + capitals
}

/// By script: what the tokenizers that were measured make of a character, at the most on average.
fn beyond_ascii(c: char) -> u64 {
    match c {
        // Chinese characters.
        '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => 142,
        // Japanese syllables, and Korean ones.
        '\u{3040}'..='\u{30ff}' => 112,
        '\u{ac00}'..='\u{d7af}' => 182,
        // Wide punctuation.
        '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}' => 266,
        // Dashes, quotes, arrows, symbols.
        '\u{2000}'..='\u{2bff}' => 127,
        // Latin letters with accents.
        '\u{80}'..='\u{24f}' => 259,
        // Greek, Cyrillic, phonetic letters.
        '\u{250}'..='\u{52f}' => 157,
        // Armenian, Hebrew, Arabic.
        '\u{530}'..='\u{7ff}' => 172,
        // Each byte of these may be a token.
        '\u{800}'..='\u{ffff}' => 273,
        _ => 303,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_plain_and_in_order() {
        let words = include_str!("../../../data/excerpts/words.txt");
        let words: Vec<&str> = words.split_whitespace().collect();
        assert!(words.is_sorted() && words.len() > 20_000);
        let is_plain = |word: &&str| word[1..].bytes().all(|byte| byte.is_ascii_lowercase());
        assert!(words.iter().all(is_plain));
    }

    /// What o200k_base, cl100k_base and the vocabularies of Claude, Qwen and DeepSeek make of it: the most of them.
    #[test]
    fn the_estimate_is_not_below_the_tokenizers() {
        for (text, most) in MEASURED {
            let estimate = estimated(text);
            assert!(estimate >= *most, "{estimate} < {most}: {text}");
            assert!(estimate <= most * 3, "{estimate} > 3 * {most}: {text}");
        }
    }

    #[rustfmt::skip]
    const MEASURED: &[(&str, u64)] = &[
        ("The Amazon rainforest covers most of the Amazon basin of South America, about 5,500,000 square kilometres.", 28),
        ("# Refund policy\n\nWe refund orders within 30 days of delivery. Shipping costs are not refunded.\n\n- Send the form", 28),
        ("| Plan | Price |\n| --- | --- |\n| Free | 0.00 USD |\n| Pro | 12.50 USD |", 31),
        ("[Read the docs](https://docs.example.com/en/latest/api/#install) or see ![chart](/img/2024/chart-1.png)", 38),
        ("```rust\nfn main() {\n    println!(\"{}\", std::env::args().count());\n}\n```", 25),
        ("海底捞火锅的价格是每人一百二十元，营业时间为上午十点到晚上十一点。", 38),
        ("青葉町立図書館は四月から開館時間を午後八時まで延長します。一度に借りられる本は十冊までです。", 57),
        ("도서관은 4월부터 오후 8시까지 운영 시간을 연장합니다. 한 번에 최대 열 권까지 빌릴 수 있습니다.", 53),
        ("Das Stadtbad öffnet am 3. Mai nach zwei Jahren Umbau wieder; die Umkleiden wurden vollständig erneuert.", 33),
        ("Библиотека работает до восьми часов вечера, книги выдаются на три недели.", 40),
    ];

    #[test]
    fn parts_are_not_less_than_the_whole() {
        let text =
            "# Plans\n\nThe Pro plan costs 1,204 euros a month.\n\n- 价格，每月 12 元。\n- ok";
        for (at, _) in text.char_indices() {
            if text[at..].starts_with(char::is_whitespace) {
                let parts = hundredths(&text[..at]) + hundredths(&text[at..]);
                assert!(parts >= hundredths(text), "{at}");
            }
        }
    }
}
