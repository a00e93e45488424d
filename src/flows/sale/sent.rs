//! Records which paid answers were sent. A settled payment is owed until its whole answer was written to the connection
//! once; write jobs record this in batches. If the program stops in between, the payer's next authorization for the same
//! purchase gets the answer again, uncharged.

use std::time::Duration;

use crate::app::Shared;
use crate::flows::sale::payments;
use crate::store::StoreError;

/// How often sent answers are recorded.
const WRITE_EVERY: Duration = Duration::from_millis(100);
/// Sent answers per write job.
const ANSWERS_MAX: usize = 512;

/// Records sent answers periodically.
pub async fn work(app: Shared) {
    loop {
        tokio::time::sleep(WRITE_EVERY).await;
        if let Err(error) = write_down(&app).await {
            tracing::error!(%error, "sent answers could not be recorded; their payments stay owed");
            tokio::time::sleep(10 * WRITE_EVERY).await;
        }
    }
}

/// Records all answers sent so far.
pub async fn write_down(app: &Shared) -> Result<(), StoreError> {
    loop {
        let sent = app.in_flight.answers.sent(ANSWERS_MAX);
        if sent.is_empty() {
            return Ok(());
        }
        let answers = sent.clone();
        let noted = app.store.write(move |tables| {
            let noted = answers.into_iter().map(|(key, at)| {
                let payment = payments::note_sent(tables, key, at)?;
                Ok(payment.map(|payment| (key, payment)))
            });
            noted.collect::<Result<Vec<_>, StoreError>>()
        });
        for (key, payment) in noted.await?.into_iter().flatten() {
            payments::note(app, key, &payment);
        }
        app.in_flight.answers.forget_sent(&sent);
    }
}
