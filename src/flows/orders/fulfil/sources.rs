//! The sources of an order: each is examined, retried later, or unreachable. Results are stored at once.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Job, PAUSE_SECONDS, held, lease_until};
use crate::domain::code::Code;
use crate::domain::order::OrderEvent;
use crate::domain::purchase::{ProofPackPurchase, Purchase};
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::evidence::bundle::Unreachable;
use crate::evidence::report::Report;
use crate::flows::content::report::{self, Synthesis};
use crate::flows::content::source::{self, Reader, SourcePage, Trouble, keep_page};
use crate::store::{SourceRecord, StoreError};

/// Attempts for a source that does not respond.
const TRIES_MAX: u32 = 3;

/// Maximum text of all sources of an order; each may use its share.
pub(super) const TEXTS_BYTES_MAX: usize = 24 * 1024 * 1024;

/// A source without a result: attempts so far, and time of the next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    place: u32,
    tries: u32,
    pub(super) again_at: u64,
}

/// A source with its result.
pub(super) struct Source {
    pub(super) target_url: String,
    pub(super) fetched_at: UnixSeconds,
    pub(super) outcome: Result<SourceDocument, Unreachable>,
}

/// The report on a source and the text that it was made of, as they are stored until the order ends.
#[derive(Serialize, Deserialize)]
pub(super) struct SourceDocument {
    pub(super) report: Box<Report>,
    pub(super) text: String,
}

impl Job {
    /// The longest that a source waits for its next try.
    pub(super) fn pause_max(&self) -> u64 {
        let pause = self.app.config.orders.source_pause << (2 * TRIES_MAX);
        pause.max(PAUSE_SECONDS)
    }

    /// The sources without a result.
    pub(super) async fn waits(&self) -> Result<Vec<Wait>, StoreError> {
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

    /// Reads one source and stores the result. `false` if the lease is lost.
    pub(super) async fn source(&self, wait: &Wait) -> Result<bool, StoreError> {
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
                keep_page(tables, &target_url, page, now)?;
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

    async fn read(&self, target_url: &str) -> Result<(SourcePage, SourceDocument), Trouble> {
        let purchase = ProofPackPurchase::new(
            target_url.to_owned(),
            self.order.bundle.unwrap_or_default().pack(),
            Some(&self.order.question),
            None,
            None,
        );
        let reading = Purchase::ProofPack(purchase.clone()).reading();
        let reader = Reader::of(&self.app, &self.id.to_string());
        let mut source = source::read(&self.app, target_url, reading, &reader).await?;
        let (_, draft) =
            report::draft(&self.app, &purchase, &mut source, Synthesis::ByPack).await?;
        if draft.source_text.len() > TEXTS_BYTES_MAX / self.order.target_urls.len().max(1) {
            let message = format!(
                "The page has more text than can be compared with that of {} sources.",
                self.order.target_urls.len()
            );
            return Err(Trouble::Refused(Refusal::new(
                Code::ContentTooLarge,
                message,
            )));
        }
        let document = SourceDocument {
            report: draft.report,
            text: draft.source_text,
        };
        Ok((source, document))
    }

    fn outcome(
        &self,
        wait: &Wait,
        read: Result<(SourcePage, SourceDocument), Trouble>,
    ) -> (SourceRecord, Option<Vec<u8>>, Option<SourcePage>) {
        let fetched_at = self.app.now().0;
        let tries = wait.tries + 1;
        let refusal = match read {
            Ok((page, document)) => {
                // Strings, numbers, lists and objects with text keys: nothing in it can fail to be written.
                let document = serde_json::to_vec(&document).unwrap_or_default();
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
            // Our failure, not the source's.
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
            Err(trouble) => trouble.into_refusal(),
        };
        let record = SourceRecord::Unreachable {
            fetched_at,
            code: refusal.code.text().to_owned(),
            message: refusal.message,
        };
        (record, None, None)
    }

    /// The results of all sources, in the buyer's order.
    pub(super) async fn sources(&self) -> Result<Vec<Source>, StoreError> {
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
                    } => match snapshot
                        .blob(document)?
                        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
                    {
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

fn waiting(tries: u32, again_at: u64, refusal: Refusal) -> SourceRecord {
    SourceRecord::Waiting {
        tries,
        again_at,
        code: refusal.code.text().to_owned(),
        message: refusal.message,
    }
}
