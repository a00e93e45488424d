//! Makes the report of an Evidence Bundle that is sold over x402: reads and examines every source, then sets their
//! reports beside each other.

use crate::app::Shared;
use crate::domain::bundle::{Bundle, SOURCES_MIN, read_min};
use crate::domain::code::Code;
use crate::domain::ids::ReportId;
use crate::domain::level::{Level, LineItem};
use crate::domain::limit_reached::LimitReached;
use crate::domain::purchase::{ProofBundlePurchase, ProofPackPurchase, Purchase};
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::evidence::bundle::{
    BundleReport, BundleRequest, BundleSource, SourceReport, Unreachable, bundle_report,
};
use crate::evidence::report::Report;
use crate::evidence::report::verify::KeptText;
use crate::flows::content::report::{self, Synthesis};
use crate::flows::content::several::{self, ReadSource};
use crate::flows::content::source::{Reader, SourcePage, Trouble};
use crate::outside::chance;

/// The text of all sources together, in bytes. Each may use its share.
pub const TEXTS_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A report on several sources before the sale: without links, cost and payment.
#[derive(Debug)]
pub struct Draft {
    pub id: ReportId,
    /// Boxed, so that the futures of a sale stay small.
    pub report: Box<BundleReport>,
    /// The texts that the citations are slices of, each under its source's id.
    pub texts: Vec<KeptText>,
    pub created_at: UnixSeconds,
}

/// What was made of one source.
struct Examined {
    report: Box<Report>,
    text: String,
}

/// Reads and examines the sources. Fewer than [`read_min`] of them are not sold.
///
/// # Errors
/// Too few sources that can be read, and what keeps the service from examining them.
pub async fn draft(
    app: &Shared,
    purchase: &ProofBundlePurchase,
    payer: &str,
) -> Result<(Draft, Vec<(String, SourcePage)>), Trouble> {
    let (pack, refresh) = (purchase.bundle.pack(), purchase.choices.force_refresh);
    let question = purchase.question.clone();
    let bytes_max = TEXTS_BYTES_MAX / purchase.sources.len().max(1);
    let examine = move |app: Shared, name: String, mut page: SourcePage| {
        let asked = ProofPackPurchase::new(name, pack, Some(&question), Some(refresh), None);
        async move {
            let (_, draft) = report::draft(&app, &asked, &mut page, Synthesis::Never).await?;
            let examined = Examined {
                report: draft.report,
                text: draft.source_text,
            };
            within(&examined, bytes_max)?;
            Ok((page, examined))
        }
    };
    let bought = Purchase::ProofBundle(purchase.clone());
    let how = (bought.reading(), &bought.extent());
    let reader = Reader::of(app, payer);
    let read = several::read_all(app, &purchase.sources, how, &reader, examine).await;
    several::enough(&read, read_min(purchase.sources.len()), |readable| {
        (readable >= SOURCES_MIN)
            .then(|| LineItem::from(Level::Bundle(Bundle::for_count(readable))))
    })?;
    compare(app, purchase, read).await
}

fn within(examined: &Examined, bytes_max: usize) -> Result<(), Trouble> {
    if examined.text.len() <= bytes_max {
        return Ok(());
    }
    let message = "The source has more text than can be compared with that of the others.";
    let refusal = Refusal::new(Code::ContentTooLarge, message);
    Err(Trouble::Refused(refusal))
}

async fn compare(
    app: &Shared,
    purchase: &ProofBundlePurchase,
    read: Vec<ReadSource<Examined>>,
) -> Result<(Draft, Vec<(String, SourcePage)>), Trouble> {
    let (id, created_at) = (ReportId(chance::bytes()), app.now());
    let (bundle, question) = (purchase.bundle, purchase.question.clone());
    let compared = app.outside.checks.run(move || {
        let mut pages = Vec::new();
        let mut examined = Vec::new();
        for source in read {
            let outcome = match source.outcome {
                Ok((page, found)) => {
                    pages.extend(source.source.target_url().map(|url| (url.to_owned(), page)));
                    Ok(found)
                }
                Err(trouble) => Err(Unreachable {
                    code: trouble.refusal().code.text().to_owned(),
                    message: trouble.refusal().message.clone(),
                }),
            };
            examined.push((source.name, source.read_at, outcome));
        }
        let report = set_side_by_side(id, bundle, &question, &examined, created_at);
        let texts = examined
            .into_iter()
            .zip(1..)
            .filter_map(|((_, _, found), number)| {
                let found = found.ok()?;
                let source_id = format!("S{number}");
                Some(KeptText {
                    source_id,
                    text: found.text,
                })
            });
        let draft = Draft {
            id,
            report: Box::new(report),
            texts: texts.collect(),
            created_at,
        };
        (draft, pages)
    });
    compared.await.map_err(|LimitReached| {
        let message = "Too many sources are being examined. Try again in a few seconds.";
        Trouble::Outage(Refusal::new(Code::Overloaded, message))
    })
}

fn set_side_by_side(
    id: ReportId,
    bundle: Bundle,
    question: &str,
    examined: &[(String, UnixSeconds, Result<Examined, Unreachable>)],
    created_at: UnixSeconds,
) -> BundleReport {
    let id = id.to_string();
    let request = BundleRequest {
        order_id: &id,
        bundle: bundle.name(),
        question,
        created_at,
    };
    let sources = examined.iter().map(|(name, read_at, found)| BundleSource {
        target_url: name,
        outcome: match found {
            Ok(examined) => Ok(SourceReport {
                report: &examined.report,
                text: &examined.text,
            }),
            Err(unreachable) => Err(unreachable.clone()),
        },
        fetched_at: match found {
            // A cached page was read earlier.
            Ok(examined) => UnixSeconds(examined.report.source_profile.retrieved_at),
            Err(_) => *read_at,
        },
    });
    bundle_report(&request, &sources.collect::<Vec<_>>())
}
