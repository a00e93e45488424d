//! The sources of a request: addresses, texts of the buyer's own, and retained reports.

use crate::api::buyer::paid;
use crate::app::Shared;
use crate::domain::ids::ReportId;
use crate::domain::purchase::SourceInput;
use crate::domain::refusal::Refusal;
use crate::domain::requests::{AddressList, SourceBody};
use crate::domain::schema::ValidationError;

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
            Some(id) => Ok(SourceInput::Report(id.to_string())),
            None => Err(wrong(member, "a report's identifier begins with ppr_")),
        },
        // The table of the body lets none of these through.
        SourceBody::Object { .. } => Err(wrong(member, "a source has an address or a text")),
    }
}

fn page(app: &Shared, address: &str, member: &str) -> Result<SourceInput, Refusal> {
    let target_url = paid::canonical_at(app, address, &["body", member])?;
    Ok(SourceInput::Page(target_url))
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
    let message = format!("Value error, {why}");
    let error = ValidationError::new(&["body", member], "value_error", message, None);
    Refusal::validation(vec![error])
}
