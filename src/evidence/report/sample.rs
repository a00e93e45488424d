//! The built-in sample report, made by the engine like any other from the service's own sample page. Nothing in it
//! depends on when the service was started.

use crate::domain::time::UnixSeconds;
use crate::evidence::report::canonical::sha256;
use crate::evidence::report::examine::examine_page;
use crate::evidence::report::facts::Facts;
use crate::evidence::report::{Report, Request, report};
use crate::evidence::{Depth, Source};
use crate::markdown::Page;

/// It never expires.
pub const REPORT_ID: &str = "ppr_sample";
pub const PACK: &str = "standard";
const DEPTH: Depth = Depth::Standard;
pub const QUESTION: &str = "Who settles the transfer?";
/// 2026-05-01T00:00:00Z: when the report says that it was made.
pub const MADE_AT: UnixSeconds = UnixSeconds(1_777_593_600);

/// Reports that show each outcome side by side, made by the engine from `data/samples/news.html`: supported,
/// contradicted, not stated. A list of reports as JSON.
pub const OUTCOMES: &str = include_str!("../../../data/sample/outcomes.json");

/// Reads [`OUTCOMES`].
pub fn outcomes() -> Result<Vec<Report>, serde_json::Error> {
    serde_json::from_str(OUTCOMES)
}

/// The report on the sample page, converted from this HTML and served at this address.
pub fn sample_report(page: &Page, html: &str, url: &str) -> Report {
    report_on(page, html, url, QUESTION)
}

fn report_on(page: &Page, html: &str, url: &str, question: &str) -> Report {
    let facts = Facts {
        http_status: 200,
        content_type: "text/html; charset=utf-8".to_owned(),
        content_source: "html".to_owned(),
        source_sha256: sha256(html.as_bytes()),
        fetched_at: MADE_AT,
        cache_hit: true,
        ..Facts::of_page(page, url, url)
    };
    let source = Source::of_page(page);
    let request = Request {
        target_url: url,
        pack: PACK,
        report_id: REPORT_ID,
        now: MADE_AT,
    };
    report(
        &request,
        &examine_page(source, question, &facts, DEPTH),
        &facts,
        None,
    )
}

#[cfg(test)]
mod tests {
    use crate::evidence::report::sample::*;
    use crate::evidence::report::verify::{Kept, verify};
    use crate::evidence::{Label, Stance};
    use crate::markdown::{ContentKind, Converter, Settings};

    const URL: &str = "https://context.example.com/sample";
    const KEPT: &str = include_str!("../../../data/sample/report.json");

    fn converted(html: &str, url: &str) -> Page {
        let mut converter = Converter::new(Settings {
            kind: ContentKind::Html,
            url: url.parse().expect("a valid URL"),
            charset: Some("utf-8".to_owned()),
            full: false,
        });
        converter.push(html.as_bytes()).expect("HTML");
        converter.finish().expect("a page")
    }

    fn made() -> (Report, String) {
        let html = include_str!("../../../data/samples/sample.html");
        let html = html.replace("{base_url}", "https://context.example.com");
        let page = converted(&html, URL);
        (sample_report(&page, &html, URL), page.markdown)
    }

    /// What the outcomes are asked about, and the label that each shows.
    const NEWS_URL: &str = "https://news.sample-site.org/2026/03/harbour-heat-network";
    const ASKED: [(&str, Label); 3] = [
        (
            "Does the city council vote on the second phase on 2 April?",
            Label::Supported,
        ),
        (
            "Does the contract fix the price for five years?",
            Label::Contradicted,
        ),
        ("Does the plant cool flats in summer?", Label::Unsupported),
    ];

    /// `UPDATE_GOLDEN=1` regenerates them; review the diff before committing it.
    #[test]
    fn the_outcomes_are_what_the_engine_makes() {
        let html = include_str!("../../../data/samples/news.html");
        let page = converted(html, NEWS_URL);
        let made = ASKED.map(|(question, _)| report_on(&page, html, NEWS_URL, question));
        let mut text = serde_json::to_string_pretty(&made).expect("JSON");
        text.push('\n');
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/sample/outcomes.json");
            std::fs::write(path, text).expect("the file is written");
            return;
        }
        assert_eq!(text, OUTCOMES);
        let labels = outcomes().expect("reports").into_iter();
        let labels: Vec<Label> = labels.map(|report| report.decision.label).collect();
        assert_eq!(labels, ASKED.map(|(_, label)| label));
    }

    /// `UPDATE_GOLDEN=1` writes it anew; read the difference.
    #[test]
    fn the_sample_report_is_what_the_engine_makes() {
        let (report, source) = made();
        let mut text = serde_json::to_string_pretty(&report).expect("JSON");
        text.push('\n');
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/sample/report.json");
            std::fs::write(path, text).expect("the file is written");
            return;
        }
        assert_eq!(text, KEPT);
        let receipt = verify(
            &Kept {
                report: KEPT.as_bytes(),
                report_sha256: None,
                source: source.as_bytes(),
                is_sample: true,
            },
            UnixSeconds(u64::MAX),
        );
        assert!(receipt.valid, "{:?}", receipt.checks);
    }

    #[test]
    fn the_sample_shows_a_finding_to_act_on() {
        let report = made().0;
        assert!(matches!(
            report.decision.label,
            Label::Supported | Label::PartiallySupported
        ));
        let best = &report.citations[0];
        assert!(best.excerpt.contains("settles the transfer"));
        assert_eq!(best.stance, Stance::Supports);
    }
}
