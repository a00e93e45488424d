//! Makes what a paid bundle promises: every source read and examined, one report of all of them, its PDF, one e-mail.
//! An order is worked on by whoever holds its lease. What came of each source is kept at once, so that a stop costs the
//! work of a moment; report, mail and end are one transaction, so that there is one of each whatever is repeated.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::app::Shared;
use crate::domain::bundle::Bundle;
use crate::domain::ids::{LeadId, OrderId};
use crate::domain::lead::{By, LeadEvent};
use crate::domain::order::{Order, OrderEvent, OrderState};
use crate::domain::pack::Pack;
use crate::domain::purchase::{ProofPackPurchase, Purchase};
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::UnixSeconds;
use crate::evidence::bundle::{
    BundleRequest, BundleSource, SourceReport, Unreachable, bundle_report,
};
use crate::evidence::canonical::result_hash;
use crate::flows::letters::Letters;
use crate::flows::source::{self, SourcePage, Trouble, keep_page};
use crate::flows::{pdf, report};
use crate::pdf::Rendered;
use crate::store::{Due, OrderReport, SourceRecord, StoreError, Tables, order_of_due};

/// Orders that are worked on at the same time.
const ORDERS_MAX: usize = 2;
/// How often a source that does not answer is asked.
const TRIES_MAX: u32 = 3;
/// How often an order is taken up before somebody has to look at it.
const ATTEMPTS_MAX: u32 = 50;
/// How long a lease lasts beyond the time for fetching; each source that is kept extends it. After a restart nobody
/// waits for it.
const LEASE_SECONDS: u64 = 300;
/// When something of ours was full.
const PAUSE_SECONDS: u64 = 30;

/// Places for orders that are worked on.
#[derive(Debug)]
pub struct Workshop {
    places: Arc<Semaphore>,
}

impl Default for Workshop {
    fn default() -> Self {
        Workshop {
            places: Arc::new(Semaphore::new(ORDERS_MAX)),
        }
    }
}

/// An order that was taken up.
#[derive(Clone)]
struct Job {
    app: Shared,
    id: OrderId,
    order: Order,
    /// The number of our lease.
    attempt: u32,
}

/// How a look at an order ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Delivered,
    GaveUp,
    /// Something has to be waited for.
    Paused,
    /// Somebody else has it now, or it is not to be done any more.
    Lost,
}

/// Takes up what is due, as far as there are places; the rest stays due.
pub async fn work_off(app: &Shared, rows: Vec<Due>) -> Result<(), StoreError> {
    for due in rows {
        let place = app.workshop.places.clone().try_acquire_owned();
        let (Ok(place), false) = (place, app.health.is_stopping()) else {
            return Ok(());
        };
        if let Some(job) = take_up(app, due).await? {
            app.crash_point("order_taken");
            app.tasks.spawn(run(job, place));
        }
    }
    Ok(())
}

/// At start nobody else holds a lease: the data file is ours alone. Tells how many orders go on.
pub async fn free_leases(app: &Shared) -> Result<usize, StoreError> {
    let now = app.now();
    app.store
        .write(move |tables| {
            let mut freed = 0;
            for due in tables.orders_due()? {
                let id = order_of_due(due);
                let Some(mut order) = tables.order(id)? else {
                    continue;
                };
                if order.happen(&OrderEvent::LeaseFreed, now.0) {
                    tables.put_order(id, &order)?;
                    tables.unschedule(due)?;
                    tables.schedule_order(id, now)?;
                    freed += 1;
                }
            }
            Ok(freed)
        })
        .await
}

async fn take_up(app: &Shared, due: Due) -> Result<Option<Job>, StoreError> {
    let (id, now, lease_until) = (order_of_due(due), app.now(), lease_until(app));
    let taken = app.store.write(move |tables| {
        tables.unschedule(due)?;
        let Some(mut order) = tables.order(id)? else {
            return Ok(None);
        };
        if let OrderState::Processing { lease_until, .. } = order.state
            && now.0 < lease_until
        {
            tables.schedule_order(id, UnixSeconds(lease_until))?;
            return Ok(None);
        }
        let event = OrderEvent::Taken {
            total: u32::try_from(order.target_urls.len()).unwrap_or(u32::MAX),
            now: now.0,
            lease_until: lease_until.0,
        };
        if !order.happen(&event, now.0) {
            return Ok(None);
        }
        let attempt = attempts(&order);
        if attempt == 1 {
            order.note(now.0, "taken up");
        }
        tables.put_order(id, &order)?;
        tables.schedule_order(id, lease_until)?;
        Ok(Some((order, attempt)))
    });
    Ok(taken.await?.map(|(order, attempt)| Job {
        app: app.clone(),
        id,
        order,
        attempt,
    }))
}

fn lease_until(app: &Shared) -> UnixSeconds {
    let fetching = app.config.fetch.time_max.as_secs();
    app.now().plus(LEASE_SECONDS.saturating_add(fetching))
}

fn attempts(order: &Order) -> u32 {
    match order.state {
        OrderState::Processing { attempts, .. } => attempts,
        _ => 0,
    }
}

async fn run(job: Job, place: OwnedSemaphorePermit) {
    let ended = job.work().await;
    drop(place);
    match ended {
        Ok(end) => {
            tracing::info!(order.id = %job.id, attempt = job.attempt, ?end, "worked on an order")
        }
        // The lease runs out, and it is taken up again.
        Err(error) => {
            tracing::error!(order.id = %job.id, %error, "an order could not be worked on")
        }
    }
}

impl Job {
    async fn work(&self) -> Result<End, StoreError> {
        if self.attempt > ATTEMPTS_MAX {
            let reason = format!("it was taken up {ATTEMPTS_MAX} times and came to no end");
            return self.give_up(reason).await;
        }
        loop {
            let waits = self.waits().await?;
            let now = self.app.now().0;
            let ready: Vec<_> = waits.iter().filter(|wait| wait.again_at <= now).collect();
            match (
                waits.iter().map(|wait| wait.again_at).min(),
                ready.is_empty(),
            ) {
                (None, _) => return self.finish().await,
                (Some(next), true) => return self.pause(UnixSeconds(next)).await,
                _ => {}
            }
            for pair in ready.chunks(2) {
                if self.app.health.is_stopping() {
                    return self.pause(self.app.now()).await;
                }
                let held = match pair {
                    [one, other] => {
                        let (one, other) = tokio::join!(self.source(one), self.source(other));
                        one? && other?
                    }
                    _ => self.source(pair[0]).await?,
                };
                if !held {
                    return Ok(End::Lost);
                }
            }
        }
    }

    /// The sources that have no outcome yet.
    async fn waits(&self) -> Result<Vec<Wait>, StoreError> {
        let id = self.id;
        let kept = self
            .app
            .store
            .read(move |snapshot| snapshot.order_sources(id))
            .await?;
        let places = 0..u32::try_from(self.order.target_urls.len()).unwrap_or(u32::MAX);
        let wait = |place| match kept.iter().find(|(other, _)| *other == place) {
            None => Some(Wait {
                place,
                tries: 0,
                again_at: 0,
            }),
            Some((
                _,
                SourceRecord::Waiting {
                    tries, again_at, ..
                },
            )) => Some(Wait {
                place,
                tries: *tries,
                again_at: *again_at,
            }),
            Some(_) => None,
        };
        Ok(places.filter_map(wait).collect())
    }

    /// Reads one source and keeps what came of it. `false` when the lease is lost.
    async fn source(&self, wait: &Wait) -> Result<bool, StoreError> {
        let place = usize::try_from(wait.place).unwrap_or(usize::MAX);
        let Some(target_url) = self.order.target_urls.get(place) else {
            return Ok(true);
        };
        let read = self.read(target_url).await;
        let (record, document, page) = self.outcome(wait, read);
        let (id, place, round) = (self.id, wait.place, self.order.round);
        let (attempt, now, lease_until) = (self.attempt, self.app.now(), lease_until(&self.app));
        let target_url = target_url.clone();
        let kept = self.app.store.write(move |tables| {
            let Some(mut order) = held(tables, id, attempt, round)? else {
                return Ok(false);
            };
            if let Some(page) = &page {
                keep_page(tables, &target_url, page)?;
            }
            tables.put_order_source(id, place, &record, document.as_deref())?;
            let event = OrderEvent::Progressed {
                attempt,
                done: tables.order_sources_done(id)?,
                lease_until: lease_until.0,
            };
            order.happen(&event, now.0);
            tables.put_order(id, &order)?;
            tables.schedule_order(id, lease_until)?;
            Ok(true)
        });
        let held = kept.await?;
        self.app.crash_point("source_kept");
        Ok(held)
    }

    async fn read(
        &self,
        target_url: &str,
    ) -> Result<(SourcePage, Map<String, Value>, String), Trouble> {
        let bundle = self.order.bundle.as_deref().and_then(Bundle::parse);
        let purchase = ProofPackPurchase::new(
            target_url.to_owned(),
            pack_of(bundle.unwrap_or_default()),
            Some(&self.order.question),
            None,
        );
        let reading = Purchase::ProofPack(purchase.clone()).reading();
        let payer = self.id.to_string();
        let source = source::read(&self.app, target_url, reading, &payer).await?;
        let (_, draft) = report::draft(&self.app, &purchase, &source).await?;
        let mut members = draft.members;
        let hash = result_hash(&Value::Object(members.clone()));
        members.insert("result_hash".to_owned(), hash.into());
        Ok((source, members, draft.source_text))
    }

    fn outcome(
        &self,
        wait: &Wait,
        read: Result<(SourcePage, Map<String, Value>, String), Trouble>,
    ) -> (SourceRecord, Option<Vec<u8>>, Option<SourcePage>) {
        let fetched_at = self.app.now().0;
        let tries = wait.tries + 1;
        let refusal = match read {
            Ok((page, report, text)) => {
                let document = json!({"report": report, "text": text})
                    .to_string()
                    .into_bytes();
                let record = SourceRecord::Read {
                    fetched_at,
                    document: Sha256::digest(&document).into(),
                };
                return (record, Some(document), Some(page));
            }
            Err(Trouble::Outage(refusal)) if tries < TRIES_MAX => {
                let pause = self.app.config.orders.source_pause << (2 * wait.tries);
                return (waiting(tries, fetched_at + pause, refusal), None, None);
            }
            // Ours, and no fault of the source.
            Err(Trouble::Refused(refusal))
                if matches!(refusal.code, Code::Internal | Code::Overloaded)
                    && tries < TRIES_MAX =>
            {
                return (
                    waiting(tries, fetched_at + PAUSE_SECONDS, refusal),
                    None,
                    None,
                );
            }
            Err(Trouble::Outage(refusal) | Trouble::Refused(refusal)) => refusal,
        };
        let record = SourceRecord::Unreachable {
            fetched_at,
            code: refusal.code.text().to_owned(),
            message: refusal.message,
        };
        (record, None, None)
    }

    /// Lets the order rest until `until`, when anybody may take it up again.
    async fn pause(&self, until: UnixSeconds) -> Result<End, StoreError> {
        let (id, attempt, round) = (self.id, self.attempt, self.order.round);
        let now = self.app.now();
        let paused = self.app.store.write(move |tables| {
            let Some(mut order) = held(tables, id, attempt, round)? else {
                return Ok(End::Lost);
            };
            let event = OrderEvent::Progressed {
                attempt,
                done: tables.order_sources_done(id)?,
                lease_until: until.0,
            };
            order.happen(&event, now.0);
            tables.put_order(id, &order)?;
            tables.schedule_order(id, until)?;
            Ok(End::Paused)
        });
        paused.await
    }

    async fn give_up(&self, reason: String) -> Result<End, StoreError> {
        let (id, attempt, round) = (self.id, self.attempt, self.order.round);
        let (now, letters) = (self.app.now(), Letters::of(&self.app));
        tracing::error!(order.id = %id, reason, "a paid order could not be fulfilled");
        let given_up = self.app.store.write(move |tables| {
            let Some(mut order) = held(tables, id, attempt, round)? else {
                return Ok(End::Lost);
            };
            order.note(now.0, format!("not fulfilled: {reason}"));
            letters.undeliverable(tables, id, &reason, now)?;
            order.happen(&OrderEvent::GaveUp { attempt, reason }, now.0);
            tables.put_order(id, &order)?;
            Ok(End::GaveUp)
        });
        given_up.await
    }

    /// Every source has an outcome: the report, its PDF, and the end.
    async fn finish(&self) -> Result<End, StoreError> {
        let sources = self.sources().await?;
        let read = sources
            .iter()
            .filter(|source| source.outcome.is_ok())
            .count();
        if read == 0 {
            return self
                .give_up("none of its sources could be read".to_owned())
                .await;
        }
        self.app.crash_point("sources_done");
        let (order, id, now) = (self.order.clone(), self.id, self.app.now());
        let made = self
            .app
            .outside
            .checks
            .run(move || report_of(id, &order, &sources, now));
        let Ok(report) = made.await else {
            return self.pause(now.plus(PAUSE_SECONDS)).await;
        };
        let rendered = match pdf::of_bundle(&self.app, report.clone()).await {
            Ok(rendered) => Some(rendered),
            Err(Refusal {
                code: Code::Overloaded,
                ..
            }) => {
                return self.pause(now.plus(PAUSE_SECONDS)).await;
            }
            // Page and JSON are delivered all the same.
            Err(_) => None,
        };
        self.app.crash_point("order_written");
        let end = self.deliver(&report, rendered, read).await?;
        self.app.crash_point("order_delivered");
        Ok(end)
    }

    async fn deliver(
        &self,
        report: &Map<String, Value>,
        rendered: Option<Rendered>,
        sources_read: usize,
    ) -> Result<End, StoreError> {
        let (id, attempt, round) = (self.id, self.attempt, self.order.round);
        let (now, letters) = (self.app.now(), Letters::of(&self.app));
        // Strings, numbers, lists and objects with text keys: nothing in it can fail to be written.
        let document = serde_json::to_vec(report).unwrap_or_default();
        let pdf = rendered.map(|rendered| rendered.bytes);
        let record = OrderReport {
            document: Sha256::digest(&document).into(),
            pdf: pdf.as_ref().map(|bytes| Sha256::digest(bytes).into()),
            pdf_bytes: pdf.as_ref().map_or(0, |bytes| bytes.len() as u64),
            sources_read: u32::try_from(sources_read).unwrap_or(u32::MAX),
            created_at: now.0,
        };
        let delivered = self.app.store.write(move |tables| {
            let Some(mut order) = held(tables, id, attempt, round)? else {
                return Ok(End::Lost);
            };
            order.happen(&OrderEvent::Delivered { attempt }, now.0);
            order.note(now.0, "fulfilled");
            tables.put_order_report(id, &record, &document, pdf.as_deref())?;
            tables.drop_order_sources(id)?;
            fulfil_lead(tables, &order, id, now)?;
            letters.delivered(tables, id, &order, now)?;
            tables.put_order(id, &order)?;
            Ok(End::Delivered)
        });
        delivered.await
    }

    /// What came of every source, in the buyer's order.
    async fn sources(&self) -> Result<Vec<Source>, StoreError> {
        let (id, target_urls) = (self.id, self.order.target_urls.clone());
        let read = self.app.store.read(move |snapshot| {
            let mut sources = Vec::new();
            for (place, record) in snapshot.order_sources(id)? {
                let place = usize::try_from(place).unwrap_or(usize::MAX);
                let Some(target_url) = target_urls.get(place) else {
                    continue;
                };
                let (fetched_at, outcome) = match record {
                    SourceRecord::Read {
                        fetched_at,
                        document,
                    } => match snapshot.blob(document)?.and_then(|bytes| parsed(&bytes)) {
                        Some(read) => (fetched_at, Ok(read)),
                        None => {
                            return Err(StoreError::Damaged {
                                table: "order-sources-1",
                            });
                        }
                    },
                    SourceRecord::Unreachable {
                        fetched_at,
                        code,
                        message,
                    }
                    | SourceRecord::Waiting {
                        again_at: fetched_at,
                        code,
                        message,
                        ..
                    } => (fetched_at, Err(Unreachable { code, message })),
                };
                sources.push(Source {
                    target_url: target_url.clone(),
                    fetched_at: UnixSeconds(fetched_at),
                    outcome,
                });
            }
            Ok(sources)
        });
        read.await
    }
}

/// A source without an outcome: how often it was asked, and when it may be asked again.
#[derive(Clone, Copy, Debug)]
struct Wait {
    place: u32,
    tries: u32,
    again_at: u64,
}

/// A source with its outcome.
struct Source {
    target_url: String,
    fetched_at: UnixSeconds,
    outcome: Result<(Map<String, Value>, String), Unreachable>,
}

fn parsed(document: &[u8]) -> Option<(Map<String, Value>, String)> {
    match serde_json::from_slice(document).ok()? {
        Value::Object(mut members) => match (members.remove("report")?, members.remove("text")?) {
            (Value::Object(report), Value::String(text)) => Some((report, text)),
            _ => None,
        },
        _ => None,
    }
}

fn report_of(
    id: OrderId,
    order: &Order,
    sources: &[Source],
    now: UnixSeconds,
) -> Map<String, Value> {
    let order_id = id.to_string();
    let request = BundleRequest {
        order_id: &order_id,
        bundle: order.bundle.as_deref().unwrap_or_default(),
        question: &order.question,
        created_at: now,
    };
    let sources: Vec<BundleSource<'_>> = sources
        .iter()
        .map(|source| BundleSource {
            target_url: &source.target_url,
            outcome: match &source.outcome {
                Ok((report, text)) => Ok(SourceReport { report, text }),
                Err(unreachable) => Err(unreachable.clone()),
            },
            fetched_at: source.fetched_at,
        })
        .collect();
    bundle_report(&request, &sources)
}

/// The order, as long as this lease and this round are the last.
fn held(
    tables: &Tables<'_>,
    id: OrderId,
    attempt: u32,
    round: u32,
) -> Result<Option<Order>, StoreError> {
    let order = tables.order(id)?;
    Ok(order.filter(|order| attempts(order) == attempt && order.round == round))
}

fn fulfil_lead(
    tables: &mut Tables<'_>,
    order: &Order,
    id: OrderId,
    now: UnixSeconds,
) -> Result<(), StoreError> {
    let Some(lead_id) = order.lead.map(LeadId) else {
        return Ok(());
    };
    let Some(mut lead) = tables.lead(lead_id)? else {
        return Ok(());
    };
    // One that the operator has given up stays lost; the order is delivered all the same.
    if lead
        .apply(LeadEvent::Fulfil, By::Service, &id.to_string(), now)
        .is_ok()
    {
        tables.put_lead(lead_id, &lead)?;
    }
    Ok(())
}

fn waiting(tries: u32, again_at: u64, refusal: Refusal) -> SourceRecord {
    SourceRecord::Waiting {
        tries,
        again_at,
        code: refusal.code.text().to_owned(),
        message: refusal.message,
    }
}

/// How thoroughly a bundle's sources are read.
fn pack_of(bundle: Bundle) -> Pack {
    match bundle {
        Bundle::Scout | Bundle::Builder => Pack::Standard,
        Bundle::Audit => Pack::Deep,
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("id", &self.id)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}
