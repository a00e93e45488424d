//! Names and values of a JSON document as words.

use std::borrow::Cow;
use std::ops::Range;

use jiff::civil::Date;

use super::Field;
use super::tree::{Node, Value};
use crate::markdown::{JsonToken, json_tokens};

/// A member or an object in words, as a passage of JSON is cited. None if it is neither.
pub(crate) fn passage_in_words(passage: &str) -> Option<String> {
    let whole = match passage.starts_with('{') {
        true => Cow::Borrowed(passage),
        false => Cow::Owned(format!("{{{passage}}}")),
    };
    match Node::of(&whole, 0)?.value {
        Value::Object(fields) if !fields.is_empty() => {
            let fields = fields.into_iter().map(|(name, node)| Field {
                name,
                value: node.range,
            });
            Some(fields_in_words(&whole, &fields.collect::<Vec<_>>()))
        }
        _ => None,
    }
}

pub(super) fn fields_in_words(text: &str, fields: &[Field]) -> String {
    let said = fields.iter().map(|field| {
        let value = in_words(&text[field.value.clone()]);
        match words(text, &field.name) {
            name if name.is_empty() => value.into_owned(),
            name => format!("{name}: {value}"),
        }
    });
    said.collect::<Vec<_>>().join("; ")
}

/// A value as the cell of a table: a sign for true and false.
pub(super) fn cell<'a>(text: &'a str, field: &Field) -> Cow<'a, str> {
    match &text[field.value.clone()] {
        "true" => Cow::Borrowed("✓"),
        "false" => Cow::Borrowed("✗"),
        "null" => Cow::Borrowed(""),
        value => in_words(value),
    }
}

pub(super) fn unquoted(text: &str) -> &str {
    let inside = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    inside.unwrap_or(text)
}

/// What a value, or a part of a string, says.
pub(super) fn in_words(value: &str) -> Cow<'_, str> {
    match value {
        "true" => return Cow::Borrowed("yes"),
        "false" => return Cow::Borrowed("no"),
        "null" => return Cow::Borrowed("none"),
        _ => {}
    }
    if value.starts_with(['{', '[']) {
        return Cow::Owned(flat(value));
    }
    let inside = unquoted(value);
    if let Some(dated) = date_in_words(inside) {
        return Cow::Owned(dated);
    }
    if !inside.contains('\\') {
        return Cow::Borrowed(inside);
    }
    let whole: Option<String> = serde_json::from_str(&format!("\"{inside}\"")).ok();
    whole.map_or(Cow::Borrowed(inside), |whole| {
        Cow::Owned(whole.replace(['\n', '\t', '\r'], " "))
    })
}

/// A date, perhaps with a time (RFC 3339), in words: "5 March 2024, 10:00 UTC".
fn date_in_words(text: &str) -> Option<String> {
    let (date, rest) = text.split_at_checked("2024-03-05".len())?;
    let date: Date = date.parse().ok()?;
    let day = date.strftime("%-d %B %Y");
    if rest.is_empty() {
        return Some(day.to_string());
    }
    let time = rest.strip_prefix(['T', 't', ' '])?;
    let (minutes, rest) = time.split_at_checked("10:00".len())?;
    let is_time = minutes.bytes().enumerate().all(|(at, byte)| match at {
        2 => byte == b':',
        _ => byte.is_ascii_digit(),
    });
    let offset = rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ':' | '.'));
    let zone = match offset {
        "" => "",
        "Z" | "z" | "+00:00" | "+0000" => " UTC",
        _ if offset.starts_with(['+', '-']) && offset.len() <= 6 => offset,
        _ => return None,
    };
    is_time.then(|| format!("{day}, {minutes}{zone}"))
}

/// A container in words: "9716, 6", "unpacked size: 9716, file count: 6".
fn flat(value: &str) -> String {
    let (mut out, mut name) = (String::new(), None);
    let ended = json_tokens(value, |token, _| match token {
        JsonToken::Value(from, to) => {
            let before = name.replace(from..to);
            if let Some(before) = before {
                add(&mut out, &in_words(&value[before]));
            }
        }
        JsonToken::Colon => {
            if let Some(own) = name.take() {
                add(&mut out, &words(value, &own));
                out.push(':');
            }
        }
        _ => {}
    });
    if ended.is_none() {
        return value.to_owned();
    }
    if let Some(last) = name {
        add(&mut out, &in_words(&value[last]));
    }
    out
}

fn add(out: &mut String, part: &str) {
    match out.chars().last() {
        None => {}
        Some(':') => out.push(' '),
        Some(_) => out.push_str(", "),
    }
    out.push_str(part);
}

/// A name as words: "unpackedSize" and "unpacked_size" as "unpacked size".
pub(super) fn words(text: &str, name: &Range<usize>) -> String {
    let name = unquoted(&text[name.clone()]);
    let mut out = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    for c in name.chars() {
        let begins = c.is_uppercase() && before.is_lowercase();
        let parts = matches!(c, '_' | '-' | '.' | '/' | '$' | '@');
        if (parts || begins) && !out.ends_with(' ') {
            out.push(' ');
        }
        match (parts, begins) {
            (true, _) => {}
            (_, true) => out.extend(c.to_lowercase()),
            _ => out.push(c),
        }
        before = c;
    }
    out.trim().to_owned()
}
