//! POST /v1/agent/diagnose: checks a payment header, free. The header is not stored.

use serde_json::{Value, json};

use crate::api::body::read_body;
use crate::api::failure;
use crate::app::{App, Shared};
use crate::domain::refusal::Refusal;
use crate::domain::requests::DiagnoseRequest;
use crate::flows::quotes::diagnose::{self, Diagnosis};
use crate::http::{Call, Reply};

/// POST /v1/agent/diagnose.
pub async fn diagnose(app: Shared, call: Call) -> Reply {
    match diagnosed(&app, &call) {
        Ok(diagnosis) => Reply::json(200, diagnosis_json(&app, &diagnosis).to_string()).no_store(),
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

fn diagnosed(app: &App, call: &Call) -> Result<Diagnosis, Refusal> {
    let body: DiagnoseRequest = read_body(app, call)?;
    Ok(diagnose::diagnose(app, &body.header))
}

fn diagnosis_json(app: &App, diagnosis: &Diagnosis) -> Value {
    let findings = diagnosis.findings.iter().map(|found| {
        json!({"status": found.result.name(), "code": found.code, "message": found.message})
    });
    json!({
        "status": "success",
        "kind": diagnosis.kind,
        "valid": diagnosis.is_good(),
        "findings": findings.collect::<Vec<_>>(),
        "decoded": diagnosis.decoded,
        "now": app.now().0,
        "next_step": match diagnosis.is_good() {
            true => "Send it in a request; only the facilitator and the chain can check the rest.",
            false => "Correct what failed, or request a new 402 and sign that.",
        },
        "quickstart": app.url("/quickstart"),
    })
}
