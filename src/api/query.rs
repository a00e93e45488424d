//! Query parameters of quotes: each at most once, and no target under another name. Otherwise a quote could silently be for
//! the sample page, or for the first of two values.

use std::borrow::Cow;

use serde_json::Value;
use url::Url;

use crate::app::App;
use crate::domain::refusal::Refusal;
use crate::domain::schema::ValidationError;
use crate::http::Call;

/// Parts of names that clients use for a target.
const TARGET_WORDS: [&str; 6] = ["url", "uri", "target", "link", "href", "site"];

/// The value of a parameter. Repeated equal values count once; different ones are refused (422).
pub fn once<'a>(call: &'a Call, name: &'static str) -> Result<Option<Cow<'a, str>>, Refusal> {
    let mut values = call.query.all(name);
    let first = values.next();
    match first
        .as_ref()
        .and_then(|first| values.find(|other| other != first))
    {
        None => Ok(first),
        Some(other) => Err(refused(
            name,
            "value_error",
            format!("Value error, {name} is given more than once, with different values"),
            other.into_owned(),
        )),
    }
}

/// Refuses (422) a query whose target has an unknown name, such as `url` for `target_url`. Other unknown parameters are
/// ignored, because links carry campaign labels.
pub fn check_names_target(app: &App, call: &Call, wanted: &'static str) -> Result<(), Refusal> {
    let row = app.rows.iter().find(|row| row.path == call.pattern);
    let known = row.map_or(&[][..], |row| row.about.query);
    let pairs = url::form_urlencoded::parse(call.query.0.as_bytes());
    let mut unknown =
        pairs.filter(|(name, _)| !known.iter().any(|parameter| parameter.name == name));
    let meant = unknown.find(|(name, value)| {
        let name = name.to_ascii_lowercase();
        TARGET_WORDS.iter().any(|word| name.contains(word)) || is_web_address(value)
    });
    match meant {
        None => Ok(()),
        Some((name, value)) => Err(refused(
            &name,
            "extra_forbidden",
            format!("Extra inputs are not permitted; send the target as {wanted}"),
            value.into_owned(),
        )),
    }
}

fn is_web_address(text: &str) -> bool {
    let url = Url::parse(text.trim());
    url.is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

fn refused(name: &str, kind: &'static str, message: String, input: String) -> Refusal {
    let error = ValidationError::new(&["query", name], kind, message, Some(Value::from(input)));
    Refusal::validation(vec![error])
}
