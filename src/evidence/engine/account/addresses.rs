//! Blanks the addresses of links and images in a markdown text, so that no number in them is read as a statement. Every
//! byte keeps its place.

use std::borrow::Cow;
use std::ops::Range;

use crate::evidence::reading::text::link_target;

/// The text with a space for each byte of an address.
pub(crate) fn without_addresses(text: &str) -> Cow<'_, str> {
    let ranges = addresses(text);
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut blanked = String::with_capacity(text.len());
    let mut from = 0;
    for range in ranges {
        blanked.push_str(&text[from..range.start]);
        blanked.extend(std::iter::repeat_n(' ', range.len()));
        from = range.end;
    }
    blanked.push_str(&text[from..]);
    Cow::Owned(blanked)
}

/// Targets of links with their brackets, and addresses that stand in the text themselves, in order.
fn addresses(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = next(text, at) {
        let end = match text.as_bytes()[start] {
            b']' => {
                let open = start + 1;
                link_target(&text[open..]).map(|length| (open, open + length))
            }
            _ => {
                let stops = |c: char| c.is_whitespace() || matches!(c, '<' | '>' | ')' | '"' | '|');
                let length = text[start..].find(stops).unwrap_or(text.len() - start);
                Some((start, start + length))
            }
        };
        at = start + 1;
        if let Some((from, to)) = end {
            found.push(from..to);
            at = to.max(at);
        }
    }
    found
}

/// Where the next address may begin: at a "](" or at "http://" or "https://".
fn next(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let link = rest.find("](");
    let web = rest.find("http").filter(|web| {
        let behind = rest[web + 4..].trim_start_matches('s');
        behind.starts_with("://")
    });
    [link, web].into_iter().flatten().min().map(|by| at + by)
}

#[cfg(test)]
mod tests {
    use crate::evidence::engine::account::addresses::*;

    #[test]
    fn addresses_are_blanked_and_all_else_stays_in_place() {
        let check = |text: &str, expected: &str| {
            let blanked = without_addresses(text);
            assert_eq!(blanked.len(), text.len(), "{text}");
            let words: Vec<&str> = blanked.split_whitespace().collect();
            assert_eq!(words.join(" "), expected, "{text}");
            for word in words {
                assert_eq!(blanked.find(word), text.find(word), "{text}");
            }
        };
        check("It costs 5 €.", "It costs 5 €.");
        check(
            "A [Pro](https://a.test/x%20y_(2)?d=9) is 5 €.",
            "A [Pro] is 5 €.",
        );
        check("A [Pro](/a \"From (3) to 7)\") is 5 €.", "A [Pro] is 5 €.");
        check("A [Pro](</a b 4>) is 5 €.", "A [Pro] is 5 €.");
        check("![Map 3](m-12.png) shows it.", "![Map 3] shows it.");
        check("See https://a.test/2024-09-12/ü now.", "See now.");
        check("A [note](see 3", "A [note](see 3");
        check("A [note](/a \"open 3) here.", "A [note](/a \"open 3) here.");
    }
}
