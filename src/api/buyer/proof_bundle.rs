//! The Evidence Bundle endpoint: buy a report on several sources.

use crate::api::buyer::sources;
use crate::app::Shared;
use crate::domain::bundle::{Bundle, SOURCES_MAX, SOURCES_MIN};
use crate::domain::purchase::{ProofBundlePurchase, Purchase};
use crate::domain::refusal::Refusal;
use crate::domain::requests::{AddressList, ProofBundleRequest};
use crate::domain::shapes::QUESTION_CHARACTERS_MAX;

/// The purchase, of the smallest bundle that takes the sources where none is stated.
pub fn purchase(
    app: &Shared,
    body: &ProofBundleRequest,
    stated: Option<Bundle>,
) -> Result<Purchase, Refusal> {
    let named = match (&body.target_urls, &body.sources) {
        (Some(addresses), None) => sources::of_addresses(app, addresses, "target_urls")?,
        (None, Some(bodies)) => sources::of_bodies(app, bodies, "sources")?,
        _ => {
            return Err(sources::wrong(
                "sources",
                "name either target_urls or sources",
            ));
        }
    };
    let bundle = stated.unwrap_or_else(|| Bundle::for_count(named.len()));
    let (count, limit) = (named.len(), bundle.source_limit());
    if !(SOURCES_MIN..=limit).contains(&count) {
        let why = match count {
            _ if count > SOURCES_MAX => format!("at most {SOURCES_MAX} sources, not {count}"),
            _ if count > limit => format!(
                "the bundle {} takes at most {limit} sources; {} takes {count}",
                bundle.name(),
                Bundle::for_count(count).name()
            ),
            _ => format!("at least {SOURCES_MIN} sources; a Proof Pack checks one"),
        };
        return Err(sources::wrong("sources", &why));
    }
    let question = question(body)?;
    let mut purchase = ProofBundlePurchase::new(
        named,
        bundle,
        question.as_deref(),
        body.force_refresh,
        body.render,
    );
    let comments = body.include_comments.unwrap_or(false);
    purchase.choices = purchase.choices.with_comments(comments);
    Ok(Purchase::ProofBundle(purchase))
}

/// The question, or the claims as sentences of one.
fn question(body: &ProofBundleRequest) -> Result<Option<String>, Refusal> {
    let claims = match (&body.question, &body.claims) {
        (question, None) => return Ok(question.clone()),
        (None, Some(AddressList::Array(claims))) => claims.clone(),
        (None, Some(AddressList::Text(claim))) => vec![claim.clone()],
        (Some(_), Some(_)) => {
            return Err(sources::wrong("claims", "send either a question or claims"));
        }
    };
    let claims = claims.iter().map(|claim| claim.trim());
    let claims: Vec<String> = claims
        .filter(|claim| !claim.is_empty())
        .map(|claim| match claim.ends_with(['.', '!', '?', '。']) {
            true => claim.to_owned(),
            false => format!("{claim}."),
        })
        .collect();
    let question = claims.join(" ");
    if question.chars().count() > QUESTION_CHARACTERS_MAX {
        let why = format!("at most {QUESTION_CHARACTERS_MAX} characters in all claims");
        return Err(sources::wrong("claims", &why));
    }
    Ok(Some(question))
}
