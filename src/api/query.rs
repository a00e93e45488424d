//! Query parameters, above all of quotes: each at most once, and no target under another name. Otherwise a quote could silently be for
//! the sample page, or for the first of two values.

use std::borrow::Cow;

use serde_json::Value;
use url::Url;

use crate::app::App;
use crate::domain::attribution::Attribution;
use crate::domain::figures::grouped;
use crate::domain::refusal::Refusal;
use crate::domain::schema::ValidationError;
use crate::domain::shapes::QUESTION_CHARACTERS_MAX;
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
        Some(other) => {
            let why = format!("{name} is given more than once, with different values");
            let input = Some(Value::from(other.into_owned()));
            let error = ValidationError::value(&["query", name], why, input);
            Err(Refusal::validation(vec![error]))
        }
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
        Some((name, value)) => {
            let message = format!("Extra inputs are not permitted; send the target as {wanted}");
            let input = Some(Value::from(value.into_owned()));
            let loc = &["query", &*name];
            let error = ValidationError::new(loc, "extra_forbidden", message, input);
            Err(Refusal::validation(vec![error]))
        }
    }
}

fn is_web_address(text: &str) -> bool {
    let url = Url::parse(text.trim());
    url.is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// A question in a query is no longer than one in a body.
pub fn check_length(question: &str) -> Result<(), Refusal> {
    check_question(question, &["query", "question"]).map_err(|mut refusal| {
        refusal.message = format!(
            "The question is longer than {} characters.",
            grouped(QUESTION_CHARACTERS_MAX as u64)
        );
        refusal
    })
}

pub fn check_question(question: &str, loc: &[&str]) -> Result<(), Refusal> {
    if question.chars().count() <= QUESTION_CHARACTERS_MAX {
        return Ok(());
    }
    let message = format!("String should have at most {QUESTION_CHARACTERS_MAX} characters");
    let error = ValidationError::new(loc, "string_too_long", message, None);
    Err(Refusal::validation(vec![error]))
}

/// Alias, then query, then header; an invalid label is dropped.
pub fn attribution(call: &Call) -> Option<Attribution> {
    let stated = call
        .param("source")
        .map(str::to_owned)
        .or_else(|| call.query.get("source").map(|text| text.into_owned()));
    stated
        .or_else(|| call.header("x-service-source").map(str::to_owned))
        .and_then(|text| Attribution::parse(&text))
}

/// The label of the body, else of the request.
pub fn attributed(call: &Call, source: Option<&str>) -> Option<String> {
    let labelled = source.and_then(Attribution::parse);
    let label = labelled.or_else(|| attribution(call));
    label.map(|label| label.as_str().to_owned())
}
