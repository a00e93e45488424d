//! A report as text for a terminal. Quotes come from pages that may be hostile, so control characters are removed.

use crate::domain::figures::label_words;
use crate::domain::words::is_unseen;
use crate::evidence::bundle::BundleReport;
use crate::evidence::report::Report;

/// Number of citations shown.
const CITATIONS_SHOWN: usize = 5;

/// The report's lines, without line ends.
pub(in crate::cli) fn lines(report: &Report) -> Vec<String> {
    let mut lines = vec![
        format!("question    {}", printable(&report.question)),
        format!(
            "decision    {} (estimate: {:.0} %)",
            label_words(report.decision.label.name()),
            100.0 * report.confidence_score
        ),
        format!("answer      {}", printable(&report.answer)),
        format!("for agents  {}", report.agent_action),
    ];
    if let Some(measured) = &report.decision.reliability {
        lines.push(format!(
            "measured    in tests, this label was right in {:.0} % of {} such questions",
            100.0 * measured.right_share,
            measured.rows
        ));
    }
    if let Some(value) = &report.decision.answer_value {
        lines.push(format!("in short    {}", printable(value)));
    }
    for compared in &report.comparisons {
        let found = compared.found.as_deref().unwrap_or("none");
        lines.push(format!(
            "compared    {} asked, {} in the source: {}",
            printable(&compared.asked),
            printable(found),
            compared.result()
        ));
    }
    for citation in report.citations.iter().take(CITATIONS_SHOWN) {
        lines.push(format!(
            "{:<10}  \u{201c}{}\u{201d}",
            printable(&citation.id),
            printable(citation.quote())
        ));
    }
    let risks = report.risk_details.iter();
    lines.extend(risks.map(|risk| format!("risk        {}", printable(&risk.line()))));
    if let Some(access) = &report.access {
        for (name, url) in [
            ("report", &access.report_url),
            ("verify", &access.verify_url),
            ("page", &access.report_page),
        ] {
            lines.push(format!("{name:<10}  {}", printable(url)));
        }
    }
    lines.extend(picture(report));
    lines
}

/// What came of the screenshot, if one was asked for.
fn picture(report: &Report) -> Option<String> {
    let asked = report.screenshot.as_ref()?;
    let url = report
        .access
        .as_ref()
        .and_then(|access| access.screenshot_url.as_deref());
    let text = match (&asked.image, &asked.warning, url) {
        (Some(image), _, Some(url)) => {
            format!(
                "{} ({} x {} pixels)",
                printable(url),
                image.width,
                image.height
            )
        }
        (Some(_), _, None) => "taken, but the seller does not say where it is".to_owned(),
        (None, Some(warning), _) => format!(
            "none ({}): {}",
            warning.code.name(),
            printable(&warning.message)
        ),
        (None, None, _) => "none, and the seller does not say why".to_owned(),
    };
    Some(format!("screenshot  {text}"))
}

/// The same of a bundle's report.
pub(in crate::cli) fn bundle_lines(report: &BundleReport) -> Vec<String> {
    let coverage = &report.synthesis.coverage;
    let mut lines = vec![
        format!("question    {}", printable(&report.question)),
        format!(
            "decision    {} (estimate: {:.0} %)",
            label_words(report.decision.label.name()),
            100.0 * report.confidence_score
        ),
        format!("answer      {}", printable(&report.answer)),
        format!("for agents  {}", report.agent_action),
        format!(
            "sources     {} of {} read, {} independent",
            coverage.read_count, coverage.source_count, coverage.independent_count
        ),
    ];
    let unread = report.unreachable.iter();
    lines.extend(unread.map(|unread| {
        let (url, message) = (printable(&unread.target_url), printable(&unread.message));
        format!("not fetched {url}: {message}")
    }));
    for cited in report.citations.iter().take(CITATIONS_SHOWN) {
        let (id, quote) = (printable(&cited.id), printable(cited.quote()));
        lines.push(format!("{id:<10}  \u{201c}{quote}\u{201d}"));
    }
    if let Some(links) = &report.links {
        for (name, url) in [
            ("report", &links.report_url),
            ("verify", &links.verify_url),
            ("page", &links.report_page),
        ] {
            lines.push(format!("{name:<10}  {}", printable(url)));
        }
        let pdf = links.pdf_url.iter();
        lines.extend(pdf.map(|url| format!("pdf         {}", printable(url))));
    }
    lines
}

/// Text in one line, without what a terminal acts on.
pub(in crate::cli) fn printable(text: &str) -> String {
    let is_seen = |c: &char| !c.is_control() && !is_unseen(*c);
    text.split_whitespace()
        .map(|word| word.chars().filter(is_seen).collect::<String>())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use crate::cli::buyer::report::*;
    use crate::evidence::report::Access;
    use crate::evidence::report::risks::{Risk, RiskDetail};
    use crate::evidence::report::screenshot::{Image, MediaType, NoImage, NoImageCode, Screenshot};

    /// A buyer who asked for a picture must learn where it is, or why there is none.
    #[test]
    fn the_screenshot_is_told() {
        let mut report = Report::parse(include_bytes!("../../../data/sample/report.json"))
            .expect("the sample report");
        report.screenshot = None;
        assert!(!lines(&report).join("\n").contains("screenshot"));
        report.screenshot = Some(Screenshot {
            image: None,
            warning: Some(NoImage {
                code: NoImageCode::Failed,
                message: "The page took\u{7} too long.".to_owned(),
            }),
        });
        let told = lines(&report).pop();
        assert_eq!(
            told.as_deref(),
            Some("screenshot  none (screenshot_failed): The page took too long.")
        );
        report.screenshot = Some(Screenshot {
            image: Some(Image {
                sha256: "0".repeat(64),
                media_type: MediaType::Png,
                bytes: 1,
                width: 1280,
                height: 800,
                final_url: "https://example.com/".to_owned(),
                captured_at: 0,
                citation_id: None,
            }),
            warning: None,
        });
        let url = |name: &str| format!("https://shop.example.com/{name}");
        report.access = Some(Access {
            signature: None,
            verify_url: url("verify"),
            follow_up_url: url("follow-up"),
            source_text_url: None,
            screenshot_url: Some(url("screenshot")),
            refresh_url: url("refresh"),
            report_url: url("report"),
            report_page: url("page"),
        });
        let told = lines(&report).pop();
        assert_eq!(
            told.as_deref(),
            Some("screenshot  https://shop.example.com/screenshot (1280 x 800 pixels)")
        );
    }

    #[test]
    fn nothing_that_a_terminal_acts_on_is_printed() {
        let mut report = Report::parse(include_bytes!("../../../data/sample/report.json"))
            .expect("the sample report");
        report.answer = "a\u{1b}[2J b\r\nc".to_owned();
        report.citations[0].quote = "\u{9b}31mred".to_owned();
        let mut risk = RiskDetail::of(Risk::NoAuthor);
        risk.text = "\u{7}none".to_owned();
        report.risk_details = vec![risk];
        let text = lines(&report).join("\n");
        assert!(text.contains("answer      a[2J b c"), "{text}");
        assert!(text.contains("supported (estimate: "), "{text}");
        assert!(
            text.chars().all(|c| c == '\n' || !c.is_control()),
            "{text:?}"
        );
    }
}
