//! A report as text for a terminal. Quotes come from pages that may be hostile, so control characters are removed.

use crate::evidence::bundle::BundleReport;
use crate::evidence::report::Report;

/// Number of citations shown.
const CITATIONS_SHOWN: usize = 5;

/// The report's lines, without line ends.
pub(in crate::cli) fn lines(report: &Report) -> Vec<String> {
    let mut lines = vec![
        format!("question    {}", printable(&report.question)),
        format!(
            "decision    {} (confidence {:.0} %)",
            report.decision.label.name().replace('_', " "),
            100.0 * report.confidence_score
        ),
        format!("answer      {}", printable(&report.answer)),
        format!("for agents  {}", report.agent_action),
    ];
    if let Some(value) = &report.decision.answer_value {
        lines.push(format!("in short    {}", printable(value)));
    }
    for compared in &report.comparisons {
        let found = compared.found.as_deref().unwrap_or("none");
        lines.push(format!(
            "compared    {}: {} in the source ({})",
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
    lines
}

/// The same of a bundle's report.
pub(in crate::cli) fn bundle_lines(report: &BundleReport) -> Vec<String> {
    let coverage = &report.synthesis.coverage;
    let mut lines = vec![
        format!("question    {}", printable(&report.question)),
        format!(
            "decision    {} (confidence {:.0} %)",
            report.decision.label.name().replace('_', " "),
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
    }
    lines
}

/// Text in one line, without what a terminal acts on.
pub(in crate::cli) fn printable(text: &str) -> String {
    text.split_whitespace()
        .map(|word| word.chars().filter(|c| !c.is_control()).collect::<String>())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use crate::cli::buyer::report::*;
    use crate::evidence::report::risks::{Risk, RiskDetail};

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
        assert!(text.contains("supported (confidence "), "{text}");
        assert!(
            text.chars().all(|c| c == '\n' || !c.is_control()),
            "{text:?}"
        );
    }
}
