//! Checks a whole text for a sale: reads every source, then each claim of the text against all of them.

use serde::Deserialize;

use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::ids::ReportId;
use crate::domain::level::{Level, LineItem};
use crate::domain::limit_reached::LimitReached;
use crate::domain::purchase::{CheckPurchase, Purchase, SourceInput};
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::evidence::check::{CheckReport, CheckRequest, CheckSource, check_report};
use crate::evidence::report::verify::KeptText;
use crate::flows::content::MEMORY_WAIT_MAX;
use crate::flows::content::several::{self, ReadSource};
use crate::flows::content::source::{Reader, SourcePage, Trouble};
use crate::outside::chance;
use crate::state::page::object;

/// Maximum memory of a check per byte of its sources' members: the members twice, the texts, their units and index.
const CHECKING_FACTOR: usize = 7;

/// The code of the converter's warning about text for AI systems.
const SUSPECTED: &str = "prompt_injection_suspected";

/// A checked text before the sale: without links, cost and payment.
#[derive(Debug)]
pub struct Draft {
    pub id: ReportId,
    /// Boxed, so that the futures of a sale stay small.
    pub report: Box<CheckReport>,
    /// The texts that the citations are slices of, each under its source's id.
    pub texts: Vec<KeptText>,
    pub created_at: UnixSeconds,
}

/// Reads the sources and checks the text. All of them must be readable: each is paid for.
///
/// # Errors
/// Sources that cannot be read, and what keeps the service from checking.
pub async fn draft(
    app: &Shared,
    purchase: &CheckPurchase,
    payer: &str,
) -> Result<(Draft, Vec<(String, SourcePage)>), Trouble> {
    let bought = Purchase::Check(purchase.clone());
    let how = (bought.reading(), &bought.extent());
    let room = several::Room::of_check();
    let make = move |_, _, mut page: SourcePage| {
        let room = room.clone();
        async move {
            room.take(&mut page)?;
            Ok((page, ()))
        }
    };
    let reader = Reader::of(app, payer);
    let read = several::read_all(app, &purchase.sources, how, &reader, make).await;
    several::enough(&read, purchase.sources.len(), |readable| {
        LineItem::new(Level::Check(purchase.depth), readable)
    })?;
    examine(app, purchase, read, &reader).await
}

async fn examine(
    app: &Shared,
    purchase: &CheckPurchase,
    read: Vec<ReadSource<()>>,
    reader: &Reader,
) -> Result<(Draft, Vec<(String, SourcePage)>), Trouble> {
    let overloaded = || {
        let message = "Too many texts are being checked. Try again in a few seconds.";
        Trouble::Outage(Refusal::new(Code::Overloaded, message))
    };
    let mut sources = Vec::new();
    let mut pages = Vec::new();
    for source in read {
        let (page, ()) = source.outcome?;
        sources.push((source.source.clone(), page.page.members.clone()));
        pages.extend(source.source.target_url().map(|url| (url.to_owned(), page)));
    }
    let bytes: usize = sources.iter().map(|(_, members)| members.len()).sum();
    let mut permit = reader.memory.nothing();
    let permitted = permit.resized(bytes.saturating_mul(CHECKING_FACTOR), MEMORY_WAIT_MAX);
    permitted.await.map_err(|LimitReached| overloaded())?;
    let (id, created_at) = (ReportId(chance::bytes()), app.now());
    let depth = purchase.depth.reading(app.config.entailment_model);
    let text = purchase.text.clone();
    let checked = app.outside.checks.run(move || {
        let _permit = permit;
        let read = sources.iter().zip(1..);
        let read: Result<Vec<Source>, serde_json::Error> = read
            .map(|((input, members), number)| Source::read(number, input, members))
            .collect();
        let read = read?;
        let request = CheckRequest {
            text: &text,
            depth,
            now: created_at,
        };
        let sources: Vec<CheckSource<'_>> = read.iter().map(Source::checked).collect();
        let report = Box::new(check_report(&request, &sources));
        let texts = read.into_iter().map(|source| KeptText {
            source_id: source.id,
            text: source.markdown,
        });
        Ok::<_, serde_json::Error>((report, texts.collect()))
    });
    let checked = checked.await.map_err(|LimitReached| overloaded())?;
    let (report, texts) = checked.map_err(|error| {
        Trouble::Refused(crate::flows::internal(
            "a source could not be read as JSON",
            &error,
        ))
    })?;
    let draft = Draft {
        id,
        report,
        texts,
        created_at,
    };
    Ok((draft, pages))
}

/// A source as the check reads it.
struct Source {
    id: String,
    url: Option<String>,
    title: Option<String>,
    language: Option<String>,
    markdown: String,
    is_suspected: bool,
}

#[derive(Deserialize)]
struct Members {
    markdown: String,
    final_url: String,
    metadata: Metadata,
    warnings: Vec<Warned>,
}

#[derive(Deserialize)]
struct Metadata {
    title: Option<String>,
    language: Option<String>,
}

#[derive(Deserialize)]
struct Warned {
    code: String,
}

impl Source {
    fn read(number: usize, input: &SourceInput, members: &[u8]) -> serde_json::Result<Source> {
        let page: Members = serde_json::from_value(object(members)?)?;
        Ok(Source {
            id: format!("S{number}"),
            // A text of the buyer's own has no address.
            url: (!matches!(input, SourceInput::Text { .. })).then_some(page.final_url),
            title: page.metadata.title,
            language: page.metadata.language,
            markdown: page.markdown,
            is_suspected: page
                .warnings
                .iter()
                .any(|warning| warning.code == SUSPECTED),
        })
    }

    fn checked(&self) -> CheckSource<'_> {
        CheckSource {
            id: &self.id,
            url: self.url.as_deref(),
            title: self.title.as_deref(),
            language: self.language.as_deref(),
            text: &self.markdown,
            is_suspected: self.is_suspected,
        }
    }
}
