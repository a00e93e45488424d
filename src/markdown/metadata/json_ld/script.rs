//! The JSON values in a script, whatever stands around them or is broken in them. Knows no schema.

use serde_json::Value;

use super::ITEMS_MAX;

/// The JSON values of one script; those before a mistake that cannot be repaired.
pub(super) fn values(script: &str) -> Vec<Value> {
    let script = bare(script);
    if script.is_empty() {
        return Vec::new();
    }
    // serde_json gives up at 128 levels, so that nesting cannot exhaust the stack.
    let read = |text: &str| -> (Vec<Value>, bool) {
        let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        let mut values = Vec::new();
        let mut is_whole = true;
        for value in stream.by_ref().take(ITEMS_MAX) {
            match value {
                Ok(value) => values.push(value),
                Err(_) => is_whole = false,
            }
        }
        (values, is_whole)
    };
    let (values, is_whole) = read(script);
    if is_whole {
        return values;
    }
    let (repaired, _) = read(&repair(script));
    if repaired.len() >= values.len() {
        repaired
    } else {
        values
    }
}

/// Without the comment or CDATA markers that hide a script from old readers.
fn bare(script: &str) -> &str {
    const BEFORE: [&str; 6] = [
        "<!--",
        "//<![CDATA[",
        "/*<![CDATA[*/",
        "/* <![CDATA[ */",
        "<![CDATA[",
        "//",
    ];
    const AFTER: [&str; 7] = ["-->", "//]]>", "/*]]>*/", "/* ]]> */", "]]>", "//", ";"];
    let mut script = script.trim_start_matches('\u{feff}').trim();
    while let Some(rest) = BEFORE.iter().find_map(|mark| script.strip_prefix(mark)) {
        script = rest.trim();
    }
    while let Some(rest) = AFTER.iter().find_map(|mark| script.strip_suffix(mark)) {
        script = rest.trim();
    }
    script
}

/// The usual mistakes taken back: commas before a closing bracket, escapes that JSON does not have.
fn repair(script: &str) -> String {
    let mut out = String::with_capacity(script.len());
    let mut in_string = false;
    let mut characters = script.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                in_string = !in_string;
                out.push('"');
            }
            '\\' if in_string => match characters.next() {
                Some(escaped) if "\"\\/bfnrtu".contains(escaped) => {
                    out.push('\\');
                    out.push(escaped);
                }
                Some(escaped) => out.push(escaped),
                None => {}
            },
            '}' | ']' if !in_string => {
                let kept = out.trim_end().trim_end_matches([',', ' ']).len();
                out.truncate(kept);
                out.push(character);
            }
            _ => out.push(character),
        }
    }
    out
}
