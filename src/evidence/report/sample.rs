//! The built-in sample report, made by the engine like any other from the service's own sample page. Nothing in it
//! depends on when the service was started.

use crate::domain::time::UnixSeconds;
use crate::evidence::report::canonical::sha256;
use crate::evidence::report::examine::examine_page;
use crate::evidence::report::facts::Facts;
use crate::evidence::report::{Report, Request, report};
use crate::evidence::{Depth, Source};
use crate::markdown::Page;

/// It never expires (decisions, Addresses and samples).
pub const REPORT_ID: &str = "ppr_sample";
pub const PACK: &str = "standard";
const DEPTH: Depth = Depth::Standard;
pub const QUESTION: &str = "Who settles the transfer?";
/// 2026-05-01T00:00:00Z: when the report says that it was made.
pub const MADE_AT: UnixSeconds = UnixSeconds(1_777_593_600);

/// The report on the sample page, converted from this HTML and served at this address.
pub fn sample_report(page: &Page, html: &str, url: &str) -> Report {
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
        &examine_page(source, QUESTION, &facts, DEPTH),
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

    fn made() -> (Report, String) {
        let html = include_str!("../../../data/samples/sample.html");
        let html = html.replace("{base_url}", "https://context.example.com");
        let mut converter = Converter::new(Settings {
            kind: ContentKind::Html,
            url: URL.parse().expect("a valid URL"),
            charset: Some("utf-8".to_owned()),
            full: false,
        });
        converter.push(html.as_bytes()).expect("HTML");
        let page = converter.finish().expect("a page");
        (sample_report(&page, &html, URL), page.markdown)
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
