//! Trust information for agents before they pay: recipient, pricing and failure policies, signatures.

use serde_json::{Value, json};

use crate::api::buyer::preview::REFUND_POLICY;
use crate::api::directory::documents::contact;
use crate::app::{App, Shared};
use crate::domain::level::Level;
use crate::domain::rate::WINDOW_SECONDS;
use crate::domain::time::{CREDIT_SECONDS, QUOTE_SECONDS, REPORT_DAYS};
use crate::flows::content::source::BYTES_MAX;
use crate::http::{Call, Reply};
use crate::signing::JWKS_PATH;
use crate::state::offers::TIMEOUT_SECONDS_MAX;

/// GET /v1/agent/trust.
pub async fn trust(app: Shared, _: Call) -> Reply {
    let mut body = facts(&app);
    body["uptime"] = json!({
        "seconds": app.started.elapsed().as_secs(),
        "started_at": app.now().0.saturating_sub(app.started.elapsed().as_secs()),
        "health": app.url("/health"),
    });
    Reply::json(200, body.to_string()).no_store()
}

fn facts(app: &App) -> Value {
    let terms = &app.config.payment;
    let quotas = app.reloaded().limits.quotas;
    let domain = url::Url::parse(&app.config.base_url);
    json!({
        "status": "success",
        "service": app.config.service_name,
        "identity": {
            "domain": domain.ok().and_then(|url| url.host_str().map(str::to_owned)),
            "pay_to": terms.pay_to, "network": terms.network, "asset": terms.asset,
            "provider": app.config.service_name, "contact": contact(app),
        },
        "uptime": null,
        "price_stability": {
            "policy": "Prices are fixed in the program, the same for everybody, and not configurable. A payment signed for an \
                       offer is honoured for as long as the offer says, across restarts.",
            "offer_seconds": TIMEOUT_SECONDS_MAX, "quote_seconds": QUOTE_SECONDS,
            "prices": Level::ALL.map(price),
        },
        "settlement_policy": "A payment is verified before any work and settled only when the response is stored on disk. The \
        same payment sent again gets the same response and is not charged again. A settlement with an \
        unknown outcome never results in a 402.",
        "refund_policy": REFUND_POLICY,
        "security": {
            "targets": "Private and reserved addresses and our own are refused, after every DNS lookup and at every redirect.",
            "receipts": "Report ids are unguessable; only clients that know the id can read a report.",
            "security_txt": app.url("/.well-known/security.txt"),
        },
        "receipts": {
            "signed": app.signer.is_some(),
            "kid": app.signer.as_ref().map(|signer| signer.kid()),
            "jwks": app.signer.as_ref().map(|_| app.url(JWKS_PATH)),
        },
        "limits": {
            "content_bytes_max": BYTES_MAX, "retry_credit_seconds_max": CREDIT_SECONDS, "report_days": REPORT_DAYS,
            "window_seconds": WINDOW_SECONDS,
            "requests": {
                "free": quotas.free, "probe": quotas.probe, "unpaid": quotas.unpaid, "quote": quotas.quote,
                "sale": quotas.sale, "credit": quotas.credit,
            },
        },
        "diagnose": app.url("/v1/agent/diagnose"),
        "sample_report": app.url("/v1/proof-pack/sample"),
        "benchmarks": app.url("/v1/proof-pack/benchmarks"),
    })
}

fn price(level: Level) -> Value {
    json!({level.product().level_word(): level.name(), "price_usdc": level.price().as_usdc()})
}
