//! Makes a Proof Pack's report on a page. Reading and examining are CPU-bound and run on their own threads; a language
//! model may be called in between.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::ids::ReportId;
use crate::domain::purchase::ProofPackPurchase;
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::evidence;
use crate::evidence::report::examine::{Examined, examine_page};
use crate::evidence::report::facts::Facts;
use crate::evidence::report::synthesis as language_model;
use crate::evidence::report::{Report, Request, report};
use crate::evidence::{Check, Depth, FINDINGS_MAX, Source};
use crate::flows::content::MEMORY_WAIT_MAX;
use crate::flows::content::screenshot::Png;
use crate::flows::content::source::{SourcePage, Trouble};
use crate::flows::content::synthesis::synthesise;
use crate::flows::internal;
use crate::outside::chance;
use crate::state::page::object;

/// Maximum memory of an examination per byte of the page's members: the members twice, the text, its units and index.
const EXAMINING_FACTOR: usize = 7;

/// The most citations of a report.
pub const CITATIONS_MAX: usize = FINDINGS_MAX;

/// The results of the engine's evaluation: JSON.
pub const FIGURES: &str = evidence::FIGURES;

/// A report before the sale: without links, cost and payment.
#[derive(Debug)]
pub struct Draft {
    /// Boxed, so that the futures of a sale stay small.
    pub report: Box<Report>,
    /// The markdown that the citations are slices of.
    pub source_text: String,
    pub created_at: UnixSeconds,
    /// Whether a language model was called.
    pub asked_model: bool,
    /// The picture of the page, where one was asked for and could be made.
    pub screenshot: Option<Png>,
}

/// Whether a configured language model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synthesis {
    /// If the pack says so.
    ByPack,
    Never,
}

/// Examines a page for the buyer's question. Returns the report with its future identifier.
pub async fn draft(
    app: &Shared,
    purchase: &ProofPackPurchase,
    source: &mut SourcePage,
    synthesis: Synthesis,
) -> Result<(ReportId, Draft), Trouble> {
    let full = |_| {
        let message = "Too many sources are being examined. Try again in a few seconds.";
        Trouble::Outage(Refusal::new(Code::Overloaded, message))
    };
    let broken = |error: serde_json::Error| {
        Trouble::Refused(internal("a report could not be written", &error))
    };
    let (page, hit, bought) = (
        Arc::clone(&source.page.members),
        source.cache.hit,
        purchase.clone(),
    );
    let depth = purchase.pack.depth(app.config.entailment_model);
    let checks = &app.outside.checks;
    let mut permit = source.permit.hand_over();
    let read = checks.run(move || {
        let deadline = Instant::now() + MEMORY_WAIT_MAX;
        let permitted = permit.resize(page.len() * EXAMINING_FACTOR, deadline);
        permitted?;
        let read = Read::new(&page, hit, &bought, depth);
        // The memory still needed: the page's members, its text, and the store's copies.
        permit.shrink(3 * page.len());
        Ok((read, permit))
    });
    let (read, permit) = read.await.and_then(|outcome| outcome).map_err(full)?;
    source.permit = permit;
    let read = read.map_err(broken)?;
    let asks = synthesis == Synthesis::ByPack && purchase.pack.may_synthesize();
    let synthesis = match asks {
        true => synthesise(app.outside.llm.as_ref(), &read.examined()).await,
        false => None,
    };
    let (id, now) = (ReportId(chance::bytes()), app.now());
    let pack = purchase.pack;
    let written =
        checks.run(move || read.draft(&id.to_string(), pack.name(), synthesis.as_ref(), now));
    Ok((id, written.await.map_err(full)?))
}

/// A page with the engine's findings.
#[derive(Debug)]
struct Read {
    facts: Facts,
    text: String,
    question: String,
    check: Check,
    instructions: Vec<std::ops::Range<usize>>,
}

impl Read {
    /// `members` are the JSON members of a stored page, so fetched and cached pages are examined alike.
    fn new(
        members: &[u8],
        cache_hit: bool,
        purchase: &ProofPackPurchase,
        depth: Depth,
    ) -> Result<Read, serde_json::Error> {
        let mut page = object(members)?;
        let facts = Facts::of_members(&page, &purchase.target_url, cache_hit);
        let text = match page["markdown"].take() {
            Value::String(text) => text,
            _ => String::new(),
        };
        let question = purchase.question.clone();
        let Examined {
            check,
            instructions,
            ..
        } = examine_page(source(&facts, &text), &question, &facts, depth);
        Ok(Read {
            facts,
            text,
            question,
            check,
            instructions,
        })
    }

    fn examined(&self) -> Examined<'_> {
        Examined {
            source: source(&self.facts, &self.text),
            question: &self.question,
            check: self.check.clone(),
            instructions: self.instructions.clone(),
        }
    }

    fn draft(
        self,
        id: &str,
        pack: &str,
        synthesis: Option<&language_model::Synthesis>,
        now: UnixSeconds,
    ) -> Draft {
        let request = Request {
            target_url: &self.facts.target_url,
            pack,
            report_id: id,
            now,
        };
        Draft {
            report: Box::new(report(&request, &self.examined(), &self.facts, synthesis)),
            source_text: self.text,
            created_at: now,
            asked_model: synthesis.is_some(),
            screenshot: None,
        }
    }
}

fn source<'a>(facts: &'a Facts, text: &'a str) -> Source<'a> {
    Source {
        title: facts.metadata.title.as_deref(),
        language: facts.metadata.language.as_deref(),
        text,
    }
}
