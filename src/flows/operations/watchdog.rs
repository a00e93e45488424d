//! Watchdog notifications for systemd, sent only while data file and sockets respond. A facilitator outage is no reason for
//! a restart.

use std::time::Duration;

use crate::app::Shared;
use crate::flows::operations::health;
use crate::flows::quotes::availability;
use crate::outside::supervisor::{self, Notifier};

/// How often the status is sent without a watchdog.
const TELL_EVERY: Duration = Duration::from_secs(15);
const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);

/// Sends three notifications per watchdog timeout.
pub async fn watch(app: Shared, notifier: Notifier, time_max: Option<Duration>) {
    let every = time_max.map_or(TELL_EVERY, |time_max| time_max / 3);
    loop {
        notifier.tell(&format!("STATUS={}", status(&app)));
        if time_max.is_some() {
            match is_alive(&app, every).await {
                true => notifier.tell("WATCHDOG=1"),
                false => {
                    tracing::error!("watchdog notification withheld: the service does not respond")
                }
            }
        }
        tokio::time::sleep(every).await;
    }
}

async fn is_alive(app: &Shared, every: Duration) -> bool {
    health::probe_store(app).await
        && supervisor::answers(&app.config.socket, every.min(ANSWER_TIME_MAX)).await
}

/// One line for `systemctl status`.
pub fn status(app: &Shared) -> String {
    match app.health.is_stopping() {
        true => "Stopping".to_owned(),
        false => availability::now(app).sentence(),
    }
}
