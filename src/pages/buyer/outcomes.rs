//! What a report can come to, side by side: a supported, a contradicted and a not stated answer on one page.

use maud::{Markup, html};

use crate::evidence::Stance;
use crate::evidence::report::Report;
use crate::evidence::report::citation::Citation;
use crate::pages::buyer::demo;
use crate::pages::buyer::samples::SAMPLES;
use crate::pages::parts;

/// One card for each report, in their order.
pub(crate) fn side_by_side(reports: &[Report]) -> Markup {
    html! {
        ul.cards.three.outcomes { @for report in reports { (card(report)) } }
    }
}

/// Whether a passage speaks for or against what was asked.
fn decides(citation: &Citation) -> bool {
    matches!(citation.stance, Stance::Supports | Stance::Contradicts)
}

fn card(report: &Report) -> Markup {
    let label = report.decision.label.name();
    html! {
        li class=(parts::tone(label)) {
            p { (parts::label(label)) " " (parts::share("Confidence in this label", report.confidence_score)) }
            h3 { (report.question) }
            @if let Some(value) = &report.decision.answer_value { p { strong { (parts::capitalized(value)) } } }
            @match report.citations.iter().find(|citation| decides(citation)) {
                Some(citation) => blockquote { (citation.quote()) },
                None => p { (report.answer) },
            }
            p.small { strong { "What to do: " } (report.decision.recommended_agent_use) }
            @if let Some(sample) = SAMPLES.iter().find(|sample| report.target_url.ends_with(sample.path)) {
                p.small { a href=(demo::question_path(sample, &report.question)) { "Ask it yourself" } ", free" }
            }
        }
    }
}
