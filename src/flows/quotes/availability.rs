//! Whether buyers can buy now, for /health, the metrics, systemd, the console and `context402 healthcheck`. It uses the
//! results of the background probes and calls nobody.

use crate::app::Shared;
use crate::domain::availability::{Availability, Obstacle};
use crate::domain::level::{Level, Product};
use crate::flows::quotes::quote::work;
use crate::flows::sale::margin_guard::{self, Unsold};

/// The current availability. A level that covers its costs only for cached pages counts as unavailable.
pub fn now(app: &Shared) -> Availability {
    let all = of_everything(app);
    let unavailable = Level::ALL.into_iter().filter_map(|level| {
        let obstacle = all.or_else(|| of_level(app, level));
        obstacle.map(|obstacle| (level, obstacle))
    });
    let mut availability = Availability {
        unavailable: unavailable.collect(),
        since: app.now(),
    };
    availability.since = app.health.note_selling(availability.is_open(), app.now());
    availability
}

/// What stops every sale.
fn of_everything(app: &Shared) -> Option<Obstacle> {
    let health = &app.health;
    let facilitator = health.facilitator();
    let denies = health.verify_trouble_at(app.now()).is_some();
    let stands = [
        (Obstacle::Stopping, health.is_stopping()),
        (Obstacle::DatabaseDown, health.store_down()),
        (Obstacle::DiskLow, health.disk_low()),
        (Obstacle::Paused, health.paused_since().is_some()),
        (Obstacle::FacilitatorUnchecked, facilitator.is_none()),
        (
            Obstacle::FacilitatorDown,
            denies || facilitator.is_some_and(|found| found.trouble.is_some()),
        ),
        (Obstacle::UnsettledFull, health.unsettled_full()),
    ];
    let mut found = stands.into_iter().filter(|(_, stands)| *stands);
    found.next().map(|(obstacle, _)| obstacle)
}

fn of_level(app: &Shared, level: Level) -> Option<Obstacle> {
    match margin_guard::judge(app, level.price(), work(app, level, 1)) {
        Err(Unsold::GasUnknown) => Some(Obstacle::GasUnknown),
        Err(Unsold::TooThin(_)) => Some(Obstacle::Margin),
        Ok(_) if level.product() != Product::Context && app.health.reports_full() => {
            Some(Obstacle::ReportsFull)
        }
        Ok(_) => None,
    }
}
