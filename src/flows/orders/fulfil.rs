//! Makes what a paid bundle promises: every source read and examined, one report of all of them, its PDF, one e-mail.
//! An order is worked on by the one who holds its lease. What came of each source is kept at once, so that a stop costs
//! the work of a moment; report, mail and end are one transaction, so that there is one of each whatever is repeated.

mod finish;
mod sources;

use std::fmt;

use tokio::sync::OwnedSemaphorePermit;

use crate::app::Shared;
use crate::domain::ids::OrderId;
use crate::domain::order::{Order, OrderEvent, OrderState};
use crate::domain::time::UnixSeconds;
use crate::flows::orders::order_emails::OrderEmails;
use crate::store::{Due, StoreError, Tables, order_of_due};

/// How often an order is taken up before somebody has to look at it.
const ATTEMPTS_MAX: u32 = 50;
/// How long a lease lasts beyond the time for fetching; each source that is kept extends it. After a restart nobody
/// waits for it.
const LEASE_SECONDS: u64 = 300;
/// When something of ours was full.
const PAUSE_SECONDS: u64 = 30;

/// An order that was taken up.
#[derive(Clone)]
struct Job {
    app: Shared,
    id: OrderId,
    order: Order,
    /// The number of our lease.
    attempt: u32,
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("id", &self.id)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
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
        let place = app.order_workers.places.clone().try_acquire_owned();
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
        let (now, emails) = (self.app.now(), OrderEmails::of(&self.app));
        tracing::error!(order.id = %id, reason, "a paid order could not be fulfilled");
        let given_up = self.app.store.write(move |tables| {
            let Some(mut order) = held(tables, id, attempt, round)? else {
                return Ok(End::Lost);
            };
            order.note(now.0, format!("not fulfilled: {reason}"));
            emails.undeliverable(tables, id, &reason, now)?;
            order.happen(&OrderEvent::GaveUp { attempt, reason }, now.0);
            tables.put_order(id, &order)?;
            Ok(End::GaveUp)
        });
        given_up.await
    }
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
