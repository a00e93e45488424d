//! `context402 check`: checks a whole text against sources locally, without payment.

use crate::cli::buyer::report::printable;
use crate::cli::buyer::{convert, evidence, input, warnings};
use crate::cli::progress::Progress;
use crate::cli::{Failure, put, say};
use crate::domain::code::Code;
use crate::domain::figures::label_words;
use crate::evidence::Depth;
use crate::evidence::check::{
    CheckReport, CheckRequest, CheckSource, CheckedClaim, SOURCES_MAX, TEXT_CHARACTERS_MAX,
    check_report,
};
use crate::markdown::Page;
use crate::outside::clock::Clock;

/// Citations shown of each claim.
const CITATIONS_SHOWN: usize = 2;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// The text, markdown or plain, at most 8,000 characters; or - for standard input
    #[arg(value_name = "FILE")]
    input: String,
    /// What to check it against: an http or https address, or a page or text file; up to 10
    #[arg(long = "source", value_name = "URL-or-FILE", required = true, num_args = 1..)]
    sources: Vec<String>,
    /// How thoroughly to check: quick compares words only, standard adds the entailment model, deep reads more passages
    #[arg(long, value_name = "DEPTH", default_value = Depth::Standard.name(), value_parser = evidence::depth)]
    depth: Depth,
    /// Write JSON: each claim with its label, scores, citations and comparisons, and what to correct
    #[arg(long)]
    json: bool,
}

/// A source that was read.
struct Read {
    id: String,
    /// `None` for a file.
    url: Option<String>,
    page: Page,
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let text = self.text()?;
        if self.sources.len() > SOURCES_MAX {
            return Err(Failure::Usage(format!(
                "{} sources are given; at most {SOURCES_MAX} are checked at once",
                self.sources.len()
            )));
        }
        let numbered = self.sources.iter().zip(1..);
        let read = numbered.map(|(name, number)| self.read(name, number));
        let read = read.collect::<Result<Vec<Read>, Failure>>()?;
        let sources: Vec<CheckSource<'_>> = read.iter().map(Read::source).collect();
        let request = CheckRequest {
            text: &text,
            depth: self.depth,
            now: Clock::System.now(),
        };
        let progress = Progress::start("Checking the text");
        let report = check_report(&request, &sources);
        drop(progress);
        if self.json {
            say(serde_json::to_string_pretty(&report)?)?;
        } else {
            put((lines(&report, &self.sources).join("\n") + "\n").as_bytes())?;
        }
        Ok(())
    }

    fn text(&self) -> Result<String, Failure> {
        let bytes = input::bytes(&self.input)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| input::unusable(&self.input, &"it is not UTF-8"))?;
        let characters = text.chars().count();
        match characters > TEXT_CHARACTERS_MAX {
            true => Err(Failure::Usage(format!(
                "{}: it has {characters} characters; at most {TEXT_CHARACTERS_MAX} are checked at once",
                self.input
            ))),
            false => Ok(text),
        }
    }

    fn read(&self, name: &str, number: usize) -> Result<Read, Failure> {
        let id = format!("S{number}");
        if convert::is_address(name) {
            let (converted, url) = convert::fetched(name, false, Default::default())?;
            if let Some(wall) = converted.page.wall {
                let message = format!("{name}: {wall}. The service refuses to sell it.");
                warnings::note(Code::PageWalled.text(), &message);
            }
            return Ok(Read {
                id,
                url: Some(url.to_string()),
                page: converted.page,
            });
        }
        if name == "-" && self.input == "-" {
            let message = "the text and a source cannot both be standard input";
            return Err(Failure::Usage(message.to_owned()));
        }
        let bytes = input::bytes(name)?;
        let converted =
            convert::convert(&bytes, name, convert::placeholder(), convert::Kept::Content)
                .map_err(|error| input::unusable(name, &error))?;
        Ok(Read {
            id,
            url: None,
            page: converted.page,
        })
    }
}

impl Read {
    fn source(&self) -> CheckSource<'_> {
        let page = &self.page;
        let mut warnings = page.warnings.iter();
        CheckSource {
            id: &self.id,
            url: self.url.as_deref(),
            title: page.metadata.title.as_deref(),
            language: page.metadata.language.as_deref(),
            text: &page.markdown,
            is_suspected: warnings.any(|warning| warning.code() == "prompt_injection_suspected"),
        }
    }
}

/// The report for a terminal: what to correct, then every claim, without line ends. `names` are the sources as they were
/// given.
pub(in crate::cli) fn lines(report: &CheckReport, names: &[String]) -> Vec<String> {
    let score = report.score.map(|score| format!("score {score:.2}. "));
    let mut lines = vec![score.unwrap_or_default() + &report.summary];
    if report.truncated {
        lines.push("The text was not checked to its end.".to_owned());
    }
    if !report.corrections.is_empty() {
        lines.push("\nTo correct:".to_owned());
    }
    for correction in &report.corrections {
        lines.push(format!(
            "  {} [{}..{}] {}: {}",
            correction.claim_id,
            correction.start,
            correction.end,
            correction.label.name(),
            printable(&correction.text)
        ));
        lines.push(format!(
            "      {} says: \u{201c}{}\u{201d}",
            printable(&correction.citation_id),
            printable(&correction.quote)
        ));
        let figures = correction.figures.iter();
        lines.extend(figures.map(|figure| {
            format!(
                "      {} is {} in the source",
                printable(&figure.written),
                printable(&figure.found)
            )
        }));
    }
    lines.push("\nClaims:".to_owned());
    lines.extend(report.claims.iter().flat_map(claim));
    lines.push("\nSources:".to_owned());
    for (source, name) in report.sources.iter().zip(names) {
        lines.push(format!(
            "  {} {}: supports {}, contradicts {}",
            source.id,
            printable(name),
            source.supports,
            source.contradicts
        ));
    }
    let risks = report.risk_details.iter();
    lines.extend(risks.map(|risk| {
        format!(
            "  risk in {}: {}",
            printable(&risk.source_id),
            printable(&risk.risk.line())
        )
    }));
    lines
}

fn claim(claim: &CheckedClaim) -> Vec<String> {
    let label = match (claim.label, claim.no_grounding_reason) {
        (Some(label), _) => label_words(label.name()),
        (None, Some(reason)) => format!("no source needed, {}", reason.words()),
        (None, None) => String::new(),
    };
    let mut lines = vec![format!(
        "  {} {label}: {}",
        claim.id,
        printable(&claim.text)
    )];
    for cited in claim.citations.iter().take(CITATIONS_SHOWN) {
        lines.push(format!(
            "      {} {}: \u{201c}{}\u{201d}",
            printable(&cited.citation.id),
            cited.citation.stance.name(),
            printable(cited.citation.quote())
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use crate::cli::buyer::check::*;
    use crate::evidence::check::tests::example;

    #[test]
    fn the_corrections_come_first() {
        let mut report = example();
        report.claims[0].text = "\u{1b}[2Jred".to_owned();
        let names = ["plant.md".to_owned(), "news.md".to_owned()];
        let text = lines(&report, &names).join("\n");
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
        assert!(at("score 0.") < at("To correct:"));
        assert!(at("To correct:") < at("contradicted: a private firm operates it."));
        assert!(at("no private firm operates it.") < at("Claims:"));
        assert!(at("C1 no source needed, a greeting or courtesy: [2Jred") < at("Sources:"));
        assert!(at("S2 news.md: supports") < at("risk in S2: embedded_agent_instructions"));
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
    }
}
