//! The current state as Prometheus gauges: the facts of /health, for alerts.

use crate::api::directory::discovery::exposition::{Exposition, labels};
use crate::app::Shared;
use crate::domain::availability::Obstacle;
use crate::domain::lead::LeadStatus;
use crate::flows::operations::{certificates, health};
use crate::flows::quotes::availability;
use crate::flows::sale::verify_settlement::{self, Comparison};
use crate::store::{Snapshot, StoreError, Unpaid};

/// The public gauges, and those for the operator: stored bytes grow with sales, and free space would help an attacker.
pub(super) fn now(text: &mut Exposition, app: &Shared, operator: bool) {
    let health = &app.health;
    let availability = availability::now(app);
    let facilitator = health.facilitator();
    let mut gauges = vec![
        (
            "uptime_seconds",
            "Seconds since start.",
            app.started.elapsed().as_secs(),
        ),
        (
            "paid_enabled",
            "1 while a buyer can buy something.",
            u64::from(availability.is_open()),
        ),
        (
            "database_up",
            "1 while the data file responds.",
            u64::from(!health.store_down()),
        ),
        (
            "disk_low",
            "1 while there is too little disk space to sell.",
            u64::from(health.disk_low()),
        ),
        (
            "reports_full",
            "1 while no more reports can be stored.",
            u64::from(health.reports_full()),
        ),
    ];
    if operator {
        gauges.extend([
            (
                "disk_free_bytes",
                "Free space on the data file's disk.",
                health.free_bytes(),
            ),
            (
                "reports_kept_bytes",
                "Stored reports with their sources.",
                health.kept_bytes(),
            ),
            (
                "backup_timestamp_seconds",
                "Time of the newest backup; 0 if there is none.",
                health.backed_up_at().0,
            ),
        ]);
    }
    if let Some(found) = &facilitator {
        let is_up = found.trouble.is_none() && health.verify_trouble_at(app.now()).is_none();
        gauges.push((
            "facilitator_up",
            "1 while the facilitator responds and supports our network.",
            u64::from(is_up),
        ));
    }
    if app.outside.chain.is_some() {
        let is_up = health
            .gas_price(app.now(), app.config.guard.gas_age_max)
            .is_some();
        gauges.push((
            "gas_oracle_up",
            "1 while the gas price is known.",
            u64::from(is_up),
        ));
    }
    let settlements = verify_settlement::status(app);
    if settlements.status != Comparison::NotConfigured {
        gauges.push((
            "settlements_confirmed",
            "1 while the chain confirms reported settlements; 0 for a day after it contradicts one, and while it cannot confirm one.",
            u64::from(settlements.is_good()),
        ));
    }
    if let Some(renderer) = &app.outside.renderer {
        gauges.extend([
            (
                "renders_waiting",
                "Pages that are being rendered or wait for it.",
                renderer.waiting() as u64,
            ),
            (
                "render_places",
                "Pages that can be rendered at the same time.",
                renderer.settings().at_once_max as u64,
            ),
        ]);
    }
    if let Some(seconds) = certificates::expires_in(app) {
        gauges.push((
            "tls_expires_in_seconds",
            "Seconds until the certificate of the built-in HTTPS ends; 0 if there is none.",
            seconds,
        ));
    }
    if let Some(usage) = health::usage().filter(|_| operator) {
        gauges.push((
            "resident_memory_bytes",
            "Memory in use.",
            usage.resident_bytes,
        ));
        gauges.push((
            "open_descriptors",
            "Open files and connections.",
            usage.descriptors,
        ));
    }
    if operator {
        let summary = settlements.summary;
        gauges.extend([
            (
                "settlements_unverified",
                "Reported settlements that the chain has not confirmed yet.",
                summary.unverified,
            ),
            (
                "settlements_contradicted",
                "Reported settlements that are not on chain.",
                summary.missing,
            ),
            (
                "settlements_contradicted_units",
                "Their USDC units.",
                summary.missing_units,
            ),
        ]);
    }
    for (name, help, value) in gauges {
        text.gauge(name, help, value);
    }
    let obstacles = availability.obstacles();
    let samples = Obstacle::ALL.iter();
    let samples = samples.map(|one| {
        let stands = u64::from(obstacles.contains(one));
        (labels([("code", one.name())]), stands)
    });
    let help = "1 for each reason why a tier or pack cannot be bought.";
    text.family("sales_obstacle", "gauge", help, samples);
}

/// What the data file holds, for the operator alone; what cannot be read now is left out.
pub(super) async fn stored(
    text: &mut Exposition,
    app: &Shared,
    leads: Option<&[(LeadStatus, u64)]>,
) {
    if let Some(bytes) = app.store.stored_bytes().await.ok().flatten() {
        text.gauge("db_bytes", "Bytes in the data file's tables.", bytes);
    }
    if let Ok(sizes) = app.store.read(sizes).await {
        let samples = sizes.into_iter();
        let samples = samples.map(|(kind, bytes)| (labels([("kind", kind)]), bytes));
        let help = "Bytes in the data file, by kind.";
        text.family("data_bytes", "gauge", help, samples);
    }
    if let Some(leads) = leads {
        let samples = leads.iter();
        let samples = samples.map(|(status, count)| (labels([("status", status.name())]), *count));
        text.family("leads", "gauge", "Leads on record, by status.", samples);
    }
}

/// What the bounded kinds of records take.
fn sizes(snapshot: &Snapshot) -> Result<Vec<(&'static str, u64)>, StoreError> {
    let mut sizes = vec![
        ("blobs", snapshot.blobs_bytes()?),
        ("unsettled", snapshot.unsettled_bytes()?),
    ];
    for kind in Unpaid::ALL {
        sizes.push((kind.name(), snapshot.unpaid_bytes(kind)?));
    }
    Ok(sizes)
}
