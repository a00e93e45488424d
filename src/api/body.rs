//! Reads a request's body by its table of fields: JSON, or a browser's form.

use serde_json::{Map, Value, json};

use crate::app::App;
use crate::domain::code::Code;
use crate::domain::refusal::Refusal;
use crate::domain::requests::Request;
use crate::domain::schema::{Kind, Object, without_mark};
use crate::http::Call;

/// Maximum number of ignored members listed in a response.
const IGNORED_MAX: usize = 32;
const IGNORED_CHARACTERS_MAX: usize = 64;

/// Whether the body is a browser's form.
pub fn is_form(call: &Call) -> bool {
    let media = call.header("content-type");
    media.is_some_and(|media| media.starts_with("application/x-www-form-urlencoded"))
}

/// A body of JSON, or of a browser's form. An absent body is an empty object.
///
/// # Errors
/// Validation errors, and `ForeignOrigin` for a form from another site's page. A browser sends JSON to another site only
/// after a preflight.
pub fn read_body<T: Request>(app: &App, call: &Call) -> Result<T, Refusal> {
    if !call.header("content-type").is_some_and(is_json) {
        check_origin(app, call)?;
    }
    check_coding(call)?;
    let text = match (call.body.is_empty(), is_form(call)) {
        (true, _) => json!({}),
        (false, true) => form(&call.body, T::TABLE),
        (false, false) => {
            check_media_type(call)?;
            return T::read(&call.body).map_err(Refusal::validation);
        }
    };
    T::read(text.to_string().as_bytes()).map_err(Refusal::validation)
}

/// The names of a JSON body's unknown, ignored members, up to a limit.
pub fn ignored(call: &Call, object: &Object) -> Vec<String> {
    let members = serde_json::from_slice::<Map<String, Value>>(without_mark(&call.body));
    let names = members.into_iter().flatten().map(|(name, _)| name);
    let is_known = |name: &String| object.fields.iter().any(|field| field.name == name);
    let unknown = names.filter(|name| !is_known(name));
    let shown = unknown.map(|name| name.chars().take(IGNORED_CHARACTERS_MAX).collect());
    shown.take(IGNORED_MAX).collect()
}

/// A form's fields as members.
fn form(bytes: &[u8], object: &Object) -> Value {
    let mut members = Map::new();
    for (name, text) in url::form_urlencoded::parse(bytes) {
        let field = object.fields.iter().find(|field| field.name == name);
        let kind = field.map(|field| field.kind);
        let value = match (kind, &*text) {
            (Some(Kind::Flag), "true" | "on" | "1") => true.into(),
            (Some(Kind::Flag), "false" | "off" | "0") => false.into(),
            // Nothing was chosen.
            (Some(Kind::OneOf(_)), "") => continue,
            (Some(Kind::Texts { .. }), text) => joined(members.get(&*name), text),
            _ => Value::from(text.into_owned()),
        };
        members.insert(name.into_owned(), value);
    }
    members.into()
}

/// A list in a form, which may repeat the field.
fn joined(earlier: Option<&Value>, text: &str) -> Value {
    match earlier.and_then(Value::as_str) {
        Some(earlier) => format!("{earlier}\n{text}").into(),
        None => text.into(),
    }
}

/// Refuses cross-site forms. Programs other than browsers send neither `Sec-Fetch-Site` nor `Origin`; a browser sends at least one of them with every POST.
pub fn check_origin(app: &App, call: &Call) -> Result<(), Refusal> {
    let is_ours = match (call.header("sec-fetch-site"), call.header_count("origin")) {
        (Some(site), _) => matches!(site, "same-origin" | "none"),
        (None, 0) => true,
        (None, _) => call.header("origin") == Some(app.config.base_url.as_str()),
    };
    match is_ours {
        true => Ok(()),
        false => Err(Refusal::of(Code::ForeignOrigin)),
    }
}

/// Whether a body claims to be JSON.
pub fn check_media_type(call: &Call) -> Result<(), Refusal> {
    check_coding(call)?;
    match call.header("content-type") {
        None if call.header_count("content-type") == 0 => Ok(()),
        Some(media) if is_json(media) => Ok(()),
        _ => Err(Refusal::of(Code::UnsupportedMediaType)),
    }
}

/// Bodies are small, so compressed ones are refused, with an error that says so.
fn check_coding(call: &Call) -> Result<(), Refusal> {
    let codings = call.headers.get_all("content-encoding").iter();
    let is_plain = |coding: &[u8]| coding.eq_ignore_ascii_case(b"identity");
    match codings
        .into_iter()
        .all(|coding| is_plain(coding.as_bytes()))
    {
        true => Ok(()),
        false => Err(Refusal::new(
            Code::UnsupportedMediaType,
            "The body is compressed; send it without Content-Encoding.",
        )),
    }
}

fn is_json(media: &str) -> bool {
    let essence = media.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
        || (essence.len() > 17
            && essence[..12].eq_ignore_ascii_case("application/")
            && essence[essence.len() - 5..].eq_ignore_ascii_case("+json"))
}
