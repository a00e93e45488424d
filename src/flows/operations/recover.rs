//! Recovery at start: resumes every interrupted sale. A payment with a stored answer may have been settled, so it counts as
//! unknown until the facilitator or the chain resolves it.

use crate::app::Shared;
use crate::domain::payment::{Event, State};
use crate::domain::time::UnixSeconds;
use crate::flows::orders::fulfil;
use crate::flows::sale::payments;
use crate::store::{DueKind, StoreError};

/// The recovered work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    pub unknown: usize,
    pub held: usize,
    /// Paid bundles in progress.
    pub orders: usize,
}

/// Visits all unfinished payments. Must run before the first request is accepted.
pub async fn recover(app: &Shared) -> Result<Recovered, StoreError> {
    let due = app
        .store
        .read(|snapshot| snapshot.due(DueKind::Payment, UnixSeconds(u64::MAX), usize::MAX))
        .await?;
    // A payment may be due several times.
    let mut due: Vec<_> = due.into_iter().map(|due| (due.key, due)).collect();
    due.sort_unstable_by_key(|(key, _)| *key);
    due.dedup_by_key(|(key, _)| *key);
    let mut recovered = Recovered {
        orders: fulfil::free_leases(app).await?,
        ..Recovered::default()
    };
    let mut unknown = Vec::new();
    for (_, due) in due {
        let read = app.store.read(move |snapshot| snapshot.payment_of(due));
        let Some((key, payment)) = read.await? else {
            continue;
        };
        match payment.state {
            State::Kept => {
                payments::advance(app, key, Event::Restarted).await?;
                unknown.push(key);
            }
            State::Settled { .. } => payments::note(app, key, &payment),
            State::Unknown => {
                payments::note(app, key, &payment);
                unknown.push(key);
            }
            State::Held => {
                payments::note(app, key, &payment);
                recovered.held += 1;
            }
            _ => {}
        }
    }
    recovered.unknown = unknown.len();
    if !unknown.is_empty() {
        // A clock that was ahead may have put off the next look for as long as it was.
        let now = app.now();
        let scheduled = app.store.write(move |tables| {
            let mut unknown = unknown.into_iter();
            unknown.try_for_each(|key| tables.schedule_payment(now, key))
        });
        scheduled.await?;
    }
    Ok(recovered)
}
