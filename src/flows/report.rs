//! Makes the report that a Proof Pack buys of a page that was read. The examination takes a core for a while and so
//! runs on a thread of its own.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::app::Shared;
use crate::domain::ids::ReportId;
use crate::domain::purchase::ProofPackPurchase;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::{REPORT_DAYS, REPORT_SECONDS, UnixSeconds};
use crate::evidence::{self, Label, Source};
use crate::flows::internal;
use crate::flows::source::{SourcePage, Trouble};
use crate::outside::chance;

/// A report before it is sold: without its addresses, its cost and its payment.
#[derive(Debug)]
pub struct Draft {
    pub id: ReportId,
    pub members: Map<String, Value>,
    /// The markdown that every citation is a slice of.
    pub source_text: String,
    pub title: Option<String>,
    /// The decision.
    pub label: String,
    pub created_at: UnixSeconds,
}

/// Examines a page for what the buyer asks.
pub async fn draft(
    app: &Shared,
    purchase: &ProofPackPurchase,
    source: &SourcePage,
) -> Result<Draft, Trouble> {
    let (now, id) = (app.now(), ReportId(chance::bytes()));
    let (purchase, page) = (purchase.clone(), Arc::clone(&source.page.members));
    let written = app
        .outside
        .checks
        .run(move || write(id, &purchase, &page, now));
    match written.await {
        Ok(Ok(draft)) => Ok(draft),
        Ok(Err(error)) => Err(Trouble::Refused(internal(
            "a report could not be written",
            &error,
        ))),
        Err(_) => Err(Trouble::Outage(Refusal::of(Code::Overloaded))),
    }
}

fn write(
    id: ReportId,
    purchase: &ProofPackPurchase,
    page: &[u8],
    now: UnixSeconds,
) -> Result<Draft, serde_json::Error> {
    let page: Value = serde_json::from_slice(&[b"{", page, b"}"].concat())?;
    let text = page["markdown"].as_str().unwrap_or_default();
    let title = page["metadata"]["title"].as_str();
    let source = Source {
        title,
        language: page["metadata"]["language"].as_str(),
        text,
    };
    let check = evidence::check(&source, &purchase.question);
    let label = match check.label {
        Label::Supported => "supported",
        Label::PartiallySupported => "partially_supported",
        Label::Weak => "weak",
        Label::Unsupported => "unsupported",
        Label::Contradicted => "contradicted",
    };
    let members = json!({
        "status": "success",
        "target_url": purchase.target_url,
        "question": purchase.question,
        "pack": purchase.pack,
        "report_id": id.to_string(),
        "source_hash": page["content_sha256"],
        "created_at": now.0,
        "expires_at": now.plus(REPORT_SECONDS).0,
        "retention_days": REPORT_DAYS,
        "decision": {"label": label},
    });
    let Value::Object(members) = members else {
        unreachable!("an object")
    };
    Ok(Draft {
        id,
        members,
        source_text: text.to_owned(),
        title: title.map(str::to_owned),
        label: label.to_owned(),
        created_at: now,
    })
}
