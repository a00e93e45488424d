//! The address of a passage: the page's own with a text fragment (WICG Scroll To Text Fragment). Browsers that know it
//! scroll to the passage and highlight it; others open the page.

use crate::evidence::reading::text::{cells, plain};
use crate::markdown::PassageKind;

/// A longer passage is named by its first and last words.
const EXACT_CHARS_MAX: usize = 160;
const END_CHARS_MAX: usize = 40;

/// Nothing for an address that no browser opens, and for a passage without words. `slice` is the passage's markdown.
pub(crate) fn link(url: &str, kind: PassageKind, slice: &str) -> Option<String> {
    if !(url.starts_with("https://") || url.starts_with("http://")) {
        return None;
    }
    let (start, end) = ends(kind, slice)?;
    let mut link = url.to_owned();
    link.push_str(if url.contains('#') {
        ":~:text="
    } else {
        "#:~:text="
    });
    encode(&start, &mut link);
    if let Some(end) = end {
        link.push(',');
        encode(&end, &mut link);
    }
    Some(link)
}

/// What the fragment names: the whole text, or the text that it starts with and the one that it ends with.
fn ends(kind: PassageKind, slice: &str) -> Option<(String, Option<String>)> {
    if kind == PassageKind::Row {
        // Text of two cells is never one run of text on the page.
        let mut cells = cells(slice)
            .into_iter()
            .map(plain)
            .filter(|cell| !cell.is_empty());
        let first = cells.next()?;
        return Some((first, cells.next_back()));
    }
    // Nor is that of a label and its value.
    if kind == PassageKind::Paragraph
        && let Some((label, value)) = slice.split_once("\n\n")
    {
        return Some((plain(label), Some(plain(value))));
    }
    let text = plain(slice);
    if text.is_empty() {
        return None;
    }
    if text.chars().nth(EXACT_CHARS_MAX).is_none() {
        return Some((text, None));
    }
    let after = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
    let first = &text[..after(END_CHARS_MAX)];
    let last = &text[after(text.chars().count() - END_CHARS_MAX)..];
    // A fragment begins and ends at words.
    let first = first.rsplit_once(' ').map_or(first, |(first, _)| first);
    let last = last.split_once(' ').map_or(last, |(_, last)| last);
    Some((first.to_owned(), Some(last.to_owned())))
}

/// Percent-encodes all but letters, digits and three marks; `-`, `,` and `&` mean something in a fragment.
fn encode(text: &str, link: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'~' => {
                link.push(char::from(byte));
            }
            other => link.push_str(&format!("%{other:02X}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::report::fragment::*;

    fn check(url: &str, kind: PassageKind, slice: &str, expected: Option<&str>) {
        assert_eq!(link(url, kind, slice).as_deref(), expected, "{slice}");
    }

    #[test]
    fn a_passage_has_an_address() {
        let page = "https://x.test/a";
        check(
            page,
            PassageKind::Paragraph,
            "**Well-known**, 4 % & é",
            Some("https://x.test/a#:~:text=Well%2Dknown%2C%204%20%25%20%26%20%C3%A9"),
        );
        check(
            "http://x.test/a#plans",
            PassageKind::Row,
            "| Basalt | | €9.20 |",
            Some("http://x.test/a#plans:~:text=Basalt,%E2%82%AC9.20"),
        );
        check(
            page,
            PassageKind::Paragraph,
            "Weight\n\n653 g",
            Some("https://x.test/a#:~:text=Weight,653%20g"),
        );
        check(
            page,
            PassageKind::Row,
            "| Basalt |",
            Some("https://x.test/a#:~:text=Basalt"),
        );
        let long = format!(
            "It begins here and {}goes on to its end.",
            "then ".repeat(60)
        );
        check(
            page,
            PassageKind::Paragraph,
            &long,
            Some(
                "https://x.test/a#:~:text=It%20begins%20here%20and%20then%20then%20then%20then,then%20then%20then%20then%20goes%20on%20to%20its%20end.",
            ),
        );
        check(page, PassageKind::Paragraph, "", None);
        check("ftp://x.test/", PassageKind::Paragraph, "a", None);
        check("", PassageKind::Paragraph, "a", None);
    }
}
