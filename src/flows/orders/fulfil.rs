//! Fulfils a paid bundle: reads and examines every source, makes one report, its PDF and one e-mail. Only the lease holder
//! works on an order. Each source's result is stored at once, so a stop loses little work; report, e-mail and final state
//! are written in one transaction, so retries produce one of each.

mod finish;
mod sources;

use std::fmt;

use crate::app::Shared;
use crate::domain::ids::OrderId;
use crate::domain::order::{Order, OrderEvent, OrderState};
use crate::domain::time::UnixSeconds;
use crate::flows::orders::order_emails::OrderEmails;
use crate::outside::call::Permit;
use crate::store::{Due, StoreError, Tables};

/// Attempts before the order fails.
const ATTEMPTS_MAX: u32 = 50;
/// Lease time beyond the fetch time; each stored source extends it. A restart ends all leases.
const LEASE_SECONDS: u64 = 300;
/// Delay after an overload.
const PAUSE_SECONDS: u64 = 30;

/// An order being processed.
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

/// The outcome of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AttemptOutcome {
    Delivered,
    GaveUp,
    /// It has to wait for something.
    Paused,
    /// The lease is lost, or the order has been cancelled.
    Lost,
}

/// Starts due orders up to the concurrency limit; the rest stays due.
pub async fn work_off(app: &Shared, rows: Vec<Due>) -> Result<(), StoreError> {
    for due in rows {
        let place = app.order_places.try_enter();
        let (Some(place), false) = (place, app.health.is_stopping()) else {
            return Ok(());
        };
        if let Some(job) = lease(app, due).await? {
            app.crash_point("order_taken");
            app.tasks.spawn(run(job, place));
        }
    }
    Ok(())
}

/// At start all leases are void, because the data file has one user. Returns the number of resumed orders.
pub async fn free_leases(app: &Shared) -> Result<usize, StoreError> {
    let now = app.now();
    app.store
        .write(move |tables| {
            let mut freed = 0;
            for due in tables.orders_due()? {
                let id = OrderId(due.id());
                let Some(mut order) = tables.order(id)? else {
                    continue;
                };
                let is_freed = order.happen(&OrderEvent::LeaseFreed, now.0);
                if is_freed {
                    tables.put_order(id, &order)?;
                    freed += 1;
                }
                // A clock that was ahead may have put it off for as long as it was.
                if is_freed || due.at > now.plus(LEASE_SECONDS) {
                    tables.unschedule(due)?;
                    tables.schedule_order(id, now)?;
                }
            }
            Ok(freed)
        })
        .await
}

async fn lease(app: &Shared, due: Due) -> Result<Option<Job>, StoreError> {
    let (id, now, lease_until) = (OrderId(due.id()), app.now(), lease_until(app));
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
            order.note(now.0, "processing started");
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

async fn run(job: Job, place: Permit) {
    let ended = job.work().await;
    drop(place);
    match ended {
        Ok(end) => {
            tracing::info!(order.id = %job.id, attempt = job.attempt, ?end, "order processed")
        }
        // The lease expires, and the order is tried again.
        Err(error) => {
            tracing::error!(order.id = %job.id, %error, "order processing failed")
        }
    }
}

impl Job {
    async fn work(&self) -> Result<AttemptOutcome, StoreError> {
        if self.attempt > ATTEMPTS_MAX {
            let reason = format!("{ATTEMPTS_MAX} attempts did not finish");
            return self.give_up(reason).await;
        }
        loop {
            let waits = self.waits().await?;
            let now = self.app.now().0;
            // What lies further ahead than the longest pause was put off by a clock that has been set back.
            let latest = now.saturating_add(self.pause_max());
            let is_ready = |again_at: u64| again_at <= now || again_at > latest;
            let ready = waits.iter().filter(|wait| is_ready(wait.again_at));
            let ready: Vec<_> = ready.collect();
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
                    return Ok(AttemptOutcome::Lost);
                }
            }
        }
    }

    /// Releases the order until `until`.
    async fn pause(&self, until: UnixSeconds) -> Result<AttemptOutcome, StoreError> {
        let (id, attempt, round) = (self.id, self.attempt, self.order.round);
        let now = self.app.now();
        let paused = self.app.store.write(move |tables| {
            let Some(mut order) = held(tables, id, attempt, round)? else {
                return Ok(AttemptOutcome::Lost);
            };
            let event = OrderEvent::Progressed {
                attempt,
                done: tables.order_sources_done(id)?,
                lease_until: until.0,
            };
            order.happen(&event, now.0);
            tables.put_order(id, &order)?;
            tables.schedule_order(id, until)?;
            Ok(AttemptOutcome::Paused)
        });
        paused.await
    }

    async fn give_up(&self, reason: String) -> Result<AttemptOutcome, StoreError> {
        let (id, attempt, round) = (self.id, self.attempt, self.order.round);
        let (now, emails) = (self.app.now(), OrderEmails::of(&self.app));
        tracing::error!(order.id = %id, reason, "paid order could not be fulfilled");
        let given_up = self.app.store.write(move |tables| {
            let Some(mut order) = held(tables, id, attempt, round)? else {
                return Ok(AttemptOutcome::Lost);
            };
            order.note(now.0, format!("not fulfilled: {reason}"));
            emails.undeliverable(tables, id, &reason, now)?;
            emails.failed(tables, id, &order, now)?;
            order.happen(&OrderEvent::GaveUp { attempt, reason }, now.0);
            tables.put_order(id, &order)?;
            Ok(AttemptOutcome::GaveUp)
        });
        given_up.await
    }
}

/// The order, if this lease and round are still current.
fn held(
    tables: &Tables<'_>,
    id: OrderId,
    attempt: u32,
    round: u32,
) -> Result<Option<Order>, StoreError> {
    let order = tables.order(id)?;
    Ok(order.filter(|order| attempts(order) == attempt && order.round == round))
}
