//! Makes the report that a Proof Pack buys of a page that was read. Reading and examining take a core for a while and so
//! run on threads of their own; a language model may be asked in between.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use crate::app::Shared;
use crate::domain::ids::ReportId;
use crate::domain::purchase::ProofPackPurchase;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::UnixSeconds;
use crate::evidence;
use crate::evidence::report::examine::{Examined, examine_page};
use crate::evidence::report::facts::Facts;
use crate::evidence::report::{Report, Request, report};
use crate::evidence::synthesis::Synthesis;
use crate::evidence::{Check, FINDINGS_MAX, Source};
use crate::flows::content::source::{MEMORY_WAIT_MAX, SourcePage, Trouble};
use crate::flows::content::synthesis::synthesise;
use crate::flows::internal;
use crate::outside::call::Saturated;
use crate::outside::chance;
use crate::outside::memory::MemoryFull;
use crate::state::page::object;

/// How many bytes an examination takes at most for each byte of the page's members: these, twice, the text, its units
/// and their index.
const EXAMINING_FACTOR: usize = 7;

/// The most citations of a report.
pub const CITATIONS_MAX: usize = FINDINGS_MAX;

/// How good the engine's answers are, as its evaluation has written it: JSON.
pub const FIGURES: &str = evidence::FIGURES;

/// A report before it is sold: without its addresses, its cost and its payment.
#[derive(Debug)]
pub struct Draft {
    /// Boxed, so that the futures of a sale stay small.
    pub report: Box<Report>,
    /// The markdown that every citation is a slice of.
    pub source_text: String,
    pub created_at: UnixSeconds,
    /// A language model was asked.
    pub asked_model: bool,
}

/// Examines a page for what the buyer asks. Gives the report with the identifier under which it will be retained.
pub async fn draft(
    app: &Shared,
    purchase: &ProofPackPurchase,
    source: &mut SourcePage,
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
    let checks = &app.outside.checks;
    let mut permit = source.permit.hand_over();
    let read = checks.run(move || {
        let deadline = Instant::now() + MEMORY_WAIT_MAX;
        let permitted = permit.resize(page.len() * EXAMINING_FACTOR, deadline);
        permitted.map_err(|MemoryFull| Saturated)?;
        let read = Read::new(&page, hit, &bought);
        // What is kept of it: the page's members, its text, and the store's copies.
        permit.shrink(3 * page.len());
        Ok((read, permit))
    });
    let (read, permit) = read.await.and_then(|outcome| outcome).map_err(full)?;
    source.permit = permit;
    let read = read.map_err(broken)?;
    let synthesis = match purchase.pack().may_synthesize() {
        true => synthesise(app.outside.llm.as_ref(), &read.examined()).await,
        false => None,
    };
    let (id, now) = (ReportId(chance::bytes()), app.now());
    let pack = purchase.pack.clone();
    let written = checks.run(move || read.draft(&id.to_string(), &pack, synthesis.as_ref(), now));
    Ok((id, written.await.map_err(full)?))
}

/// A page as it was read, with what the engine found in it.
#[derive(Debug)]
struct Read {
    facts: Facts,
    text: String,
    question: String,
    check: Check,
    instructions: Vec<std::ops::Range<usize>>,
}

impl Read {
    /// `members` are the JSON members under which a converted page is kept: a page is examined in the same way whether
    /// it was fetched now or before.
    fn new(
        members: &[u8],
        cache_hit: bool,
        purchase: &ProofPackPurchase,
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
        } = examine_page(source(&facts, &text), &question, &facts);
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

    fn draft(self, id: &str, pack: &str, synthesis: Option<&Synthesis>, now: UnixSeconds) -> Draft {
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
