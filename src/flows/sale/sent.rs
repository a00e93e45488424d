//! Whether a paid answer has reached its buyer's connection. A settled payment is owed until its whole answer was
//! handed over once; then that is written down, for many answers in one job of the writer. If the program stops between
//! the two, the payer's next authorization for the same purchase gets the answer a second time, uncharged.

use std::time::Duration;

use crate::app::Shared;
use crate::flows::sale::payments;
use crate::store::StoreError;

/// How often sent answers are written down.
const WRITE_EVERY: Duration = Duration::from_millis(100);
/// Sent answers that one job of the writer notes.
const ANSWERS_MAX: usize = 512;

/// Writes down, for ever, what was sent.
pub async fn work(app: Shared) {
    loop {
        tokio::time::sleep(WRITE_EVERY).await;
        if let Err(error) = write_down(&app).await {
            tracing::error!(%error, "sent answers could not be noted; their payments stay owed");
            tokio::time::sleep(10 * WRITE_EVERY).await;
        }
    }
}

/// Notes every answer that was sent so far.
pub async fn write_down(app: &Shared) -> Result<(), StoreError> {
    loop {
        let sent = app.in_flight.sent_answers(ANSWERS_MAX);
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
        app.in_flight.forget_sent(&sent);
    }
}
