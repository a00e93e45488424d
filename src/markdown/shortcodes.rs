//! Shortcodes: what a page builder of WordPress writes into a text for itself, `[vc_row css="…"]`. Readers see them where
//! the builder is gone. Only names of known builders count, never brackets alone.

use std::borrow::Cow;

use memchr::memchr;

/// A longer one is text.
const BYTES_MAX: usize = 2_048;

/// What the names of builders begin with.
const BUILDERS: [&str; 8] = [
    "vc_", "et_pb_", "fusion_", "nectar_", "tatsu_", "mk_", "av_", "su_",
];

/// Names of others, which are words as well: they count with attributes only.
const OTHERS: [&str; 8] = [
    "caption",
    "contact-form-7",
    "gallery",
    "gravityform",
    "ninja_form",
    "playlist",
    "rev_slider",
    "wpforms",
];

/// The text without them.
pub(super) fn without(text: &str) -> Cow<'_, str> {
    let mut out: Option<String> = None;
    let (mut written, mut at) = (0, 0);
    while let Some(found) = memchr(b'[', &text.as_bytes()[at..]) {
        at += found;
        match length(&text[at..]) {
            Some(length) => {
                out.get_or_insert_default().push_str(&text[written..at]);
                at += length;
                written = at;
            }
            None => at += 1,
        }
    }
    match out {
        Some(mut out) => {
            out.push_str(&text[written..]);
            Cow::Owned(out)
        }
        None => Cow::Borrowed(text),
    }
}

/// The bytes of the shortcode that the text begins with.
fn length(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('[')?;
    let ends = inside.strip_prefix('/');
    let inside = ends.unwrap_or(inside);
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let (name, rest) = inside.split_at(inside.find(|c| !is_of_name(c))?);
    let is_builder = BUILDERS.iter().any(|prefix| name.starts_with(prefix));
    if !is_builder && !OTHERS.contains(&name) {
        return None;
    }
    let mut is_quoted = false;
    let end = rest.bytes().take(BYTES_MAX).position(|byte| {
        is_quoted ^= byte == b'"';
        byte == b']' && !is_quoted
    })?;
    let attributes = &rest[..end];
    let is_shortcode = ends.is_some()
        || attributes.contains('=')
        || (is_builder && (name.starts_with("vc_") || name.starts_with("et_pb_")));
    is_shortcode.then_some(text.len() - rest.len() + end + 1)
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn shortcodes_of_known_builders_are_left_out() {
        for (text, expected) in [
            (
                "[vc_row css=\".a[b]\"][vc_column]Text[/vc_column][/vc_row]",
                "Text",
            ),
            ("a [et_pb_text admin_label=”Text”]b[/et_pb_text] c", "a b c"),
            ("[caption id=\"a\" width=\"3\"]A boat.[/caption]", "A boat."),
            ("[contact-form-7 id=\"1\" title=\"Ask\"]", ""),
            ("[su_button url=\"x\"]Go[/su_button]", "Go"),
        ] {
            assert_eq!(without(text), expected, "{text}");
        }
    }

    #[test]
    fn other_brackets_are_text() {
        for text in [
            "",
            "[1] [sic] [citation needed] [quote]a[/quote]",
            "[caption] and [gallery] are words",
            "array[av_x] and list[su_]",
            "[vc_row css=\"open",
            "[vc_row",
            "[[vc]",
            "é[",
        ] {
            assert_eq!(without(text), text);
        }
        let long = format!("[vc_row css=\"{}\"]", "a".repeat(3_000));
        assert_eq!(without(&long), long);
    }
}
