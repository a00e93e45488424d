//! Prints a page's warnings to standard error, so that the page can be piped.

use std::io::Write as _;

use serde_json::Value;

use crate::domain::words::is_unseen;

/// Limits for a seller's warnings: their number, and characters each.
const WARNINGS_MAX: usize = 20;
const SHOWN_CHARACTERS_MAX: usize = 300;

/// Prints the warnings of a response.
pub(in crate::cli) fn note_all(answer: &Value) {
    for (code, message) in of(answer) {
        note(&code, &message);
    }
}

pub(in crate::cli) fn note(code: &str, message: &str) {
    // A closed standard error is no failure: the page goes to standard output.
    let _ = writeln!(std::io::stderr(), "warning   {code}: {message}");
}

/// Code and message of each warning.
fn of(answer: &Value) -> Vec<(String, String)> {
    let warnings = answer["warnings"].as_array().into_iter().flatten();
    let shown = |value: &Value| {
        let text = value.as_str().unwrap_or_default();
        let words: Vec<&str> = text.split_whitespace().collect();
        let visible = words.join(" ");
        let visible = visible.chars();
        let visible = visible.filter(|c| !c.is_control() && !is_unseen(*c));
        visible.take(SHOWN_CHARACTERS_MAX).collect::<String>()
    };
    warnings
        .take(WARNINGS_MAX)
        .map(|warning| match warning {
            Value::String(_) => ("note".to_owned(), shown(warning)),
            _ => (shown(&warning["code"]), shown(&warning["message"])),
        })
        .filter(|(code, message)| !(code.is_empty() && message.is_empty()))
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::cli::buyer::warnings::*;

    fn check(answer: &str, expected: &[(&str, &str)]) {
        let answer = serde_json::from_str(answer).expect("JSON");
        let found = of(&answer);
        let found: Vec<_> = found
            .iter()
            .map(|(code, message)| (code.as_str(), message.as_str()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn warnings_of_any_seller_are_one_line_each() {
        check(
            r#"{"warnings":[{"code":"paywall","message":"Some is\nmissing."},"Old copy.",{},7]}"#,
            &[("paywall", "Some is missing."), ("note", "Old copy.")],
        );
        check(r#"{"warnings":"no"}"#, &[]);
        check("{}", &[]);
        check(
            r#"{"warnings":[{"code":"a","message":"\u001b[31mred"}]}"#,
            &[("a", "[31mred")],
        );
    }

    #[test]
    fn no_more_is_shown_than_a_reader_reads() {
        let long = serde_json::json!({"warnings": vec![serde_json::json!({"code": "a", "message": "b".repeat(999)}); 99]});
        let found = of(&long);
        assert_eq!(
            (found.len(), found[0].1.len()),
            (WARNINGS_MAX, SHOWN_CHARACTERS_MAX)
        );
    }
}
