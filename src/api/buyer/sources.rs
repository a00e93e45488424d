//! The sources of a request: addresses, texts of the buyer's own, and retained reports.

use crate::app::Shared;
use crate::domain::ids::ReportId;
use crate::domain::purchase::SourceInput;
use crate::domain::refusal::Refusal;
use crate::domain::requests::{AddressList, SourceBody};
use crate::domain::schema::ValidationError;
use crate::domain::shapes::TARGET_URL_CHARACTERS_MAX;
use crate::domain::target::explained;
use crate::evidence::report::sample::REPORT_ID as SAMPLE_ID;
use crate::flows::content::source::Target;

/// The sources that a body names under `member`.
///
/// # Errors
/// 422 for an address that is none, an identifier that is none, and a source that is named twice.
pub fn of_bodies(
    app: &Shared,
    bodies: &[SourceBody],
    member: &str,
) -> Result<Vec<SourceInput>, Refusal> {
    let sources = bodies.iter().map(|body| one(app, body, member));
    distinct(sources.collect::<Result<_, _>>()?, member)
}

/// The same of a list of addresses.
///
/// # Errors
/// As [`of_bodies`].
pub fn of_addresses(
    app: &Shared,
    addresses: &AddressList,
    member: &str,
) -> Result<Vec<SourceInput>, Refusal> {
    let addresses = addresses.addresses();
    let pages = addresses.iter().map(|address| page(app, address, member));
    distinct(pages.collect::<Result<_, _>>()?, member)
}

fn one(app: &Shared, body: &SourceBody, member: &str) -> Result<SourceInput, Refusal> {
    match body {
        SourceBody::Address(address)
        | SourceBody::Object {
            url: Some(address), ..
        } => page(app, address, member),
        SourceBody::Object {
            text: Some(text),
            title,
            ..
        } => Ok(SourceInput::Text {
            title: title.clone(),
            text: text.clone(),
        }),
        SourceBody::Object {
            report_id: Some(id),
            ..
        } => match ReportId::parse(id) {
            None if id == SAMPLE_ID => {
                let why = format!(
                    "the sample report cannot be a source; send the page that it is on, {}",
                    app.sample.url
                );
                Err(wrong(member, &why))
            }
            Some(id) => Ok(SourceInput::Report(id.to_string())),
            None => Err(wrong(member, "a report's identifier begins with ppr_")),
        },
        // The table of the body lets none of these through.
        SourceBody::Object { .. } => Err(wrong(member, "a source has an address or a text")),
    }
}

fn page(app: &Shared, address: &str, member: &str) -> Result<SourceInput, Refusal> {
    let target_url = canonical_at(app, address, &["body", member])?;
    Ok(SourceInput::Page(target_url))
}

/// The canonical target. Text that is not a URL is a validation error; a target that policy refuses is refused later,
/// after the payment check.
pub fn canonical_target(app: &Shared, text: &str) -> Result<String, Refusal> {
    canonical_at(app, text, &["body", "target_url"])
}

/// The same of an address that stands elsewhere in the body.
fn canonical_at(app: &Shared, text: &str, loc: &[&str]) -> Result<String, Refusal> {
    match Target::parse(app, text) {
        Ok(target) if target.canonical(app).len() <= TARGET_URL_CHARACTERS_MAX => {
            Ok(target.canonical(app).to_owned())
        }
        Err(error) if !error.is_unparseable() => Ok(text.to_owned()),
        Ok(_) => Err(target_error(
            loc,
            text,
            "The URL has more than 2,048 characters once it is percent-encoded".to_owned(),
        )),
        Err(error) => Err(target_error(loc, text, explained(text, error))),
    }
}

fn target_error(loc: &[&str], text: &str, why: String) -> Refusal {
    let message = format!("Input should be a valid URL: {why}");
    Refusal::validation(vec![ValidationError::new(
        loc,
        "url_parsing",
        message,
        Some(text.into()),
    )])
}

/// Nobody pays for a source twice.
fn distinct(sources: Vec<SourceInput>, member: &str) -> Result<Vec<SourceInput>, Refusal> {
    let is_twice = |(position, source): (usize, &SourceInput)| sources[..position].contains(source);
    match sources.iter().enumerate().any(is_twice) {
        true => Err(wrong(member, "a source is named twice")),
        false => Ok(sources),
    }
}

/// 422 for a member of the body.
pub fn wrong(member: &str, why: &str) -> Refusal {
    Refusal::validation(vec![ValidationError::value(&["body", member], why, None)])
}
