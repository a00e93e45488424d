//! The free demo: the real converter and engine on compiled-in sample pages. Nothing is fetched, paid or stored, and the
//! result is deterministic.

use sha2::{Digest, Sha256};

use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::pack::Pack;
use crate::domain::refusal::Refusal;
use crate::evidence::report::examine::examine_page;
use crate::evidence::report::facts::Facts;
use crate::evidence::report::sample::{MADE_AT, REPORT_ID};
use crate::evidence::report::{Report, Request, report};
use crate::evidence::{Depth, Source};
use crate::flows::internal;
use crate::markdown::{ContentKind, Converter, Page, Settings};
use crate::pages::buyer::samples::Sample;

/// A sample page and the question.
#[derive(Clone, Debug)]
pub struct DemoPage {
    pub markdown: String,
    /// Without what a sale adds.
    pub report: Report,
}

/// Read as the default pack reads, so that the demo shows what a report costs its price for. The places of free work bound
/// how much of the processor it takes.
const PACK: Pack = Pack::Standard;

pub async fn try_out(
    app: &Shared,
    sample: &'static Sample,
    question: String,
) -> Result<DemoPage, Refusal> {
    let depth = PACK.depth(app.config.entailment_model);
    let tried = app
        .outside
        .free_checks
        .run(move || tried(sample, &question, depth));
    match tried.await {
        Ok(Ok(tried)) => Ok(tried),
        Ok(Err(error)) => Err(internal(
            "the demo failed on a sample page",
            &error.to_string(),
        )),
        Err(_) => Err(Refusal::of(Code::Overloaded)),
    }
}

fn tried(
    sample: &Sample,
    question: &str,
    depth: Depth,
) -> Result<DemoPage, Box<dyn std::error::Error + Send + Sync>> {
    let url = format!("https://{}{}", sample.host, sample.path);
    let mut converter = Converter::new(Settings {
        kind: ContentKind::Html,
        url: url.parse()?,
        charset: Some("utf-8".to_owned()),
        full: false,
    });
    converter.push(sample.body.as_bytes())?;
    let page = converter.finish()?;
    Ok(DemoPage {
        report: examined(&page, sample, &url, question, depth),
        markdown: page.markdown,
    })
}

fn examined(page: &Page, sample: &Sample, url: &str, question: &str, depth: Depth) -> Report {
    let facts = Facts {
        http_status: 200,
        content_type: sample.content_type.to_owned(),
        content_source: "html".to_owned(),
        source_sha256: hex::encode(Sha256::digest(sample.body)),
        fetched_at: MADE_AT,
        ..Facts::of_page(page, url, url)
    };
    let source = Source::of_page(page);
    let request = Request {
        target_url: url,
        pack: PACK.name(),
        report_id: REPORT_ID,
        now: MADE_AT,
    };
    report(
        &request,
        &examine_page(source, question, &facts, depth),
        &facts,
        None,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Label;
    use crate::pages::buyer::samples::SAMPLES;

    /// The examples are one that the page supports, one that it contradicts and one that it does not answer.
    #[test]
    fn the_default_pack_answers_the_examples_as_they_are_meant() {
        assert_eq!(PACK, Pack::default());
        for sample in SAMPLES {
            let meant: [&[Label]; 3] = [
                &[Label::Supported],
                &[Label::Contradicted],
                &[Label::Unsupported, Label::Weak],
            ];
            for (question, labels) in sample.questions.iter().zip(meant) {
                let tried = tried(sample, question, PACK.depth(true)).expect("a report");
                let label = tried.report.decision.label;
                assert!(labels.contains(&label), "{question}: {label:?}");
                assert_eq!(tried.report.pack, "standard");
            }
        }
    }
}
