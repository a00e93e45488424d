//! A report as text for a terminal. Quotes come from pages that may be hostile, so control characters are removed.

use serde_json::Value;

/// Number of citations shown.
const CITATIONS_SHOWN: usize = 5;

/// The report's lines, without line ends.
pub(in crate::cli) fn lines(report: &Value) -> Vec<String> {
    let text = |value: &Value| printable(value.as_str().unwrap_or_default());
    let decision = &report["decision"];
    let mut lines = vec![
        format!("question    {}", text(&report["question"])),
        format!(
            "decision    {} (confidence {})",
            text(&decision["label"]).replace('_', " "),
            report["confidence_score"]
        ),
        format!("answer      {}", text(&report["answer"])),
        format!("for agents  {}", text(&report["agent_action"])),
    ];
    let citations = report["citations"].as_array().into_iter().flatten();
    for citation in citations.take(CITATIONS_SHOWN) {
        let excerpt = text(&citation["excerpt"]);
        lines.push(format!(
            "{:<10}  \u{201c}{excerpt}\u{201d}",
            text(&citation["id"])
        ));
    }
    let risks = report["risks"].as_array().into_iter().flatten();
    lines.extend(risks.map(|risk| format!("risk        {}", text(risk))));
    for (name, member) in [
        ("report", "report_url"),
        ("verify", "verify_url"),
        ("page", "report_page"),
    ] {
        lines.push(format!("{name:<10}  {}", text(&report[member])));
    }
    lines
}

fn printable(text: &str) -> String {
    text.split_whitespace()
        .map(|word| word.chars().filter(|c| !c.is_control()).collect::<String>())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::cli::buyer::report::*;

    #[test]
    fn nothing_that_a_terminal_acts_on_is_printed() {
        let report = json!({
            "question": "q", "decision": {"label": "partially_supported"}, "confidence_score": 0.5,
            "answer": "a\u{1b}[2J b\r\nc", "citations": [{"id": "E1", "excerpt": "\u{9b}31mred"}],
            "risks": ["no_author: \u{7}none"],
        });
        let text = lines(&report).join("\n");
        assert!(text.contains("answer      a[2J b c"), "{text}");
        assert!(
            text.contains("partially supported (confidence 0.5)"),
            "{text}"
        );
        assert!(
            text.chars().all(|c| c == '\n' || !c.is_control()),
            "{text:?}"
        );
    }
}
