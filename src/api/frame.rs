//! What frames every answer: the facts that each page shows, headers of pages, documents that are made once.

use url::Url;

use crate::app::App;
use crate::flows::content::sample::facilitator_mode;
use crate::http::{Call, Reply};
use crate::pages;
use crate::pages::site::Site;

/// The strings that a `Site` borrows.
#[derive(Clone, Debug)]
pub struct Texts {
    pay_to: String,
    network: String,
    asset: String,
    contact: Option<String>,
    download: Option<String>,
}

impl Texts {
    pub fn of(app: &App) -> Self {
        let (payment, effective) = (&app.config.payment, app.reloaded());
        Texts {
            pay_to: payment.pay_to.to_string(),
            network: payment.network.to_string(),
            asset: payment.asset.to_string(),
            contact: effective.contact.clone(),
            download: effective.download_url.as_ref().map(Url::to_string),
        }
    }
}

/// The facts that every page needs.
pub fn site<'a>(app: &'a App, texts: &'a Texts) -> Site<'a> {
    Site {
        base_url: &app.config.base_url,
        pay_to: &texts.pay_to,
        network: &texts.network,
        asset: &texts.asset,
        facilitator: facilitator_mode(&app.config),
        version: env!("CARGO_PKG_VERSION"),
        contact: texts.contact.as_deref(),
        download: texts.download.as_deref(),
        has_model: app.config.entailment_model,
        has_payment_link: app.has_payment_link(),
        is_paused: app.health.paused_since().is_some(),
    }
}

/// Discovery links for programs (RFC 8288, RFC 8631, RFC 9727).
pub const LINKS: &str = "</openapi.json>; rel=\"service-desc\"; type=\"application/vnd.oai.openapi+json;version=3.1\", \
                         </docs>; rel=\"service-doc\", </.well-known/api-catalog>; rel=\"api-catalog\", \
                         </.well-known/ai-catalog.json>; rel=\"ard ai-catalog\", </llms.txt>; rel=\"alternate\"; type=\"text/markdown\"";

/// The headers of every HTML response.
pub fn with_page_headers(reply: Reply) -> Reply {
    reply
        .fixed("content-security-policy", pages::layout::CSP)
        .fixed("referrer-policy", "strict-origin-when-cross-origin")
        .fixed("cross-origin-opener-policy", "same-origin")
        .fixed("vary", "Accept")
        .fixed("link", LINKS)
}

/// A document or page that is made once, until a live setting changes, and shared by all responses.
pub fn made_once(app: &App, call: &Call, make: impl FnOnce(&App) -> Reply) -> Reply {
    app.document(call.pattern, make)
}
