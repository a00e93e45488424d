//! Endpoints that remain from before x402 version 2.

use serde_json::json;

use crate::api::failure;
use crate::api::paid::check_media_type;
use crate::app::Shared;
use crate::domain::refusal::Refusal;
use crate::domain::schema::{Checked, ValidationError};
use crate::domain::shapes::COMPUTE_REQUEST;
use crate::flows::brokerage;
use crate::http::{Call, Reply};

const TOKEN: &str = "x402-token";

/// POST /v1/broker/compute: says what would have become of a task. The token is asked for and opens nothing.
pub async fn compute(app: Shared, call: Call) -> Reply {
    let task = match check_media_type(&call).and_then(|()| task(&call)) {
        Ok(task) => task,
        Err(refusal) => return failure::reply(&app, &refusal, &call),
    };
    let offered_fee = task.number("offered_fee").unwrap_or_default();
    let job = brokerage::offer(&app, offered_fee);
    let answer = json!({
        "status": "simulated",
        "job_id": job.id.to_string(),
        "agent_id": task.text("agent_id"),
        "accepted": job.simulated.accepted,
        "offered_fee": offered_fee,
        "estimated_cost": job.simulated.estimated_cost_usdc,
        "projected_margin": job.simulated.projected_margin,
        "simulated": true,
        "request_id": call.request_id,
    });
    Reply::json(200, answer.to_string()).fixed("cache-control", "no-store")
}

/// The body, and a complaint of everything that is missing at once.
fn task(call: &Call) -> Result<Checked, Refusal> {
    let mut errors = Vec::new();
    if call.header_count(TOKEN) == 0 {
        errors.push(ValidationError::new(
            &["header", TOKEN],
            "missing",
            "Field required",
            None,
        ));
    }
    match COMPUTE_REQUEST.validate(&call.body) {
        Ok(task) if errors.is_empty() => Ok(task),
        Ok(_) => Err(Refusal::validation(errors)),
        Err(more) => {
            errors.extend(more);
            Err(Refusal::validation(errors))
        }
    }
}
