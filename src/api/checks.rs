//! The preconditions of a purchase, and the pages that show them.

use serde_json::{Value, json};

use crate::api::frame;
use crate::app::App;
use crate::domain::refusal::Refusal;
use crate::http::Reply;
use crate::pages::buyer::confidence;
use crate::pages::plain::{self, Part, PlainView};
use crate::state::health::NotSelling;

/// One precondition.
#[derive(Debug)]
pub struct Check {
    id: &'static str,
    label: &'static str,
    status: Status,
    detail: String,
}

/// What came of a check; a warning does not stop a purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Pass,
    Warn,
    Fail,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Status::Pass => "pass",
            Status::Warn => "warn",
            Status::Fail => "fail",
        }
    }
}

impl Check {
    /// For the HTML page.
    pub fn view(&self) -> confidence::Check<'_> {
        confidence::Check {
            label: self.label,
            status: self.status.name(),
            detail: &self.detail,
        }
    }

    /// For the JSON answer.
    pub fn to_json(&self) -> Value {
        json!({"id": self.id, "label": self.label, "status": self.status.name(), "detail": self.detail})
    }
}

/// No check fails.
pub fn is_ready(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.status != Status::Fail)
}

/// The share of passed checks; a warning counts half.
pub fn score(checks: &[Check]) -> f64 {
    let points = checks.iter().map(|check| match check.status {
        Status::Pass => 1.0,
        Status::Warn => 0.5,
        Status::Fail => 0.0,
    });
    let share = points.sum::<f64>() / f64::from(u32::try_from(checks.len()).unwrap_or(1).max(1));
    (share * 100.0).round() / 100.0
}

/// Whether the service accepts payments.
pub fn service(can_sell: Result<(), NotSelling>) -> Check {
    let (status, detail) = match can_sell {
        Ok(()) => (Status::Pass, "Payments are accepted.".to_owned()),
        Err(reason) => (Status::Fail, Refusal::from(reason).message),
    };
    check("service", "Service available", status, detail)
}

/// Puts a precondition together.
pub fn check(
    id: &'static str,
    label: &'static str,
    status: Status,
    detail: impl Into<String>,
) -> Check {
    Check {
        id,
        label,
        status,
        detail: detail.into(),
    }
}

/// A page of facts and checks.
pub fn page(app: &App, path: &str, title: &str, lead: &str, parts: Vec<Part<'_>>) -> Reply {
    let texts = frame::Texts::of(app);
    let view = PlainView {
        site: frame::site(app, &texts),
        path,
        title,
        lead,
        noindex: true,
        parts,
    };
    hidden(Reply::html(200, plain::page(&view)))
}

/// A page that is neither indexed nor cached.
pub fn hidden(page: Reply) -> Reply {
    frame::with_page_headers(page)
        .no_store()
        .fixed("x-robots-tag", "noindex")
}
