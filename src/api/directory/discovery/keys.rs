//! The service's public signing key.

use serde_json::Value;

use crate::api::failure;
use crate::app::{App, Shared};
use crate::domain::code::Code;
use crate::domain::refusal::Refusal;
use crate::http::{Call, Reply};
use crate::signing::Signer;

/// GET /.well-known/jwks.json: the public signing key.
pub async fn key_set(app: Shared, call: Call) -> Reply {
    published(&app, &call, "application/jwk-set+json", Signer::key_set)
}

/// GET /.well-known/did.json: the same as a DID document.
pub async fn did_document(app: Shared, call: Call) -> Reply {
    published(&app, &call, "application/did+json", Signer::did_document)
}

fn published(
    app: &App,
    call: &Call,
    media_type: &'static str,
    document: impl Fn(&Signer) -> Value,
) -> Reply {
    match &app.signer {
        Some(signer) => {
            Reply::new(200, media_type, document(signer).to_string()).public("public, max-age=300")
        }
        None => failure::reply(
            app,
            &Refusal::new(Code::NotFound, "This service has no signing key."),
            call,
        ),
    }
}
