//! The page of a report.

use crate::api::frame;
use crate::app::App;
use crate::domain::time::UnixSeconds;
use crate::evidence::report::Report;
use crate::evidence::report::follow_up::FollowUp;
use crate::flows::content::reports::UNHASHED;
use crate::http::Reply;
use crate::pages::buyer::library::Listed;
use crate::pages::buyer::report::{self, Api, ReportView};
use crate::pages::layout::REPORT_CSP;

/// Options of a report's page.
#[derive(Debug, Default)]
pub struct PageOptions<'a> {
    pub path: String,
    /// The path of its JSON, unless private.
    pub api: Option<String>,
    pub is_sample: bool,
    /// The answer to a follow-up question.
    pub answer: Option<&'a FollowUp>,
    /// The text of the source, if it is stored and the reader may see it.
    pub source: Option<String>,
    /// The result of a check, if requested.
    pub checks: Option<Vec<(&'static str, bool)>>,
}

pub fn page(app: &App, report: &Report, shown: &PageOptions<'_>) -> Reply {
    let texts = frame::Texts::of(app);
    let unhashed = UNHASHED.join(" ");
    let pdf = shown.api.as_ref().map(|path| format!("{path}/pdf"));
    let view = ReportView {
        site: frame::site(app, &texts),
        path: &shown.path,
        report,
        source: shown.source.as_deref(),
        is_sample: shown.is_sample,
        api: shown.api.as_deref().map(|path| Api {
            path,
            unhashed: &unhashed,
            pdf: pdf.as_deref(),
        }),
        follow_up: shown.answer,
        checks: shown.checks.clone(),
    };
    let reply = frame::with_page_headers(Reply::html(200, report::page(&view)));
    reply
        .fixed("content-security-policy", REPORT_CSP)
        .fixed("referrer-policy", "no-referrer")
}

/// The report's entry in the library.
pub fn listed<'a>(report: &'a Report, path: &str) -> Listed<'a> {
    Listed {
        path: path.to_owned(),
        question: &report.question,
        target_url: &report.target_url,
        label: report.decision.label.name(),
        created_at: UnixSeconds(report.created_at),
    }
}
