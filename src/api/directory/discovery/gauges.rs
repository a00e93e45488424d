//! The current state as Prometheus gauges: the facts of /health, for alerts.

use crate::app::Shared;
use crate::domain::lead::LeadStatus;
use crate::flows::operations::health;
use crate::flows::quotes::availability;
use crate::flows::sale::verify_settlement;
use crate::store::{StoreError, Unpaid};

/// The public gauges, and those for the operator: stored bytes grow with sales, and free space would help an attacker.
pub(super) fn text(app: &Shared, operator: bool) -> String {
    let health = &app.health;
    let facilitator = health.facilitator();
    let mut gauges = vec![
        (
            "uptime_seconds",
            "Seconds since start.",
            app.started.elapsed().as_secs(),
        ),
        (
            "paid_enabled",
            "1 while the service sells.",
            u64::from(availability::now(app).is_open()),
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
        let is_up = found.trouble.is_none();
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
    let settlements = verify_settlement::standing(app);
    if settlements.status != "not_configured" {
        gauges.push((
            "settlements_confirmed",
            "1 while the chain confirms reported settlements; 0 for a day after it contradicts one, and while it cannot confirm one.",
            u64::from(settlements.is_good()),
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
    gauges
        .into_iter()
        .map(|(name, help, value)| gauge(name, help, value))
        .collect()
}

/// Reported settlements compared with the chain; only for the operator.
pub(super) fn settlements(app: &Shared) -> String {
    let summary = verify_settlement::standing(app).summary;
    [
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
    ]
    .into_iter()
    .map(|(name, help, value)| gauge(name, help, value))
    .collect()
}

/// Size of the bounded kinds of records in the data file; only for the operator.
pub(super) async fn data(app: &Shared) -> Result<String, StoreError> {
    const NAME: &str = "context402_data_bytes";
    let sizes = app.store.read(|snapshot| {
        let mut sizes = vec![
            ("blobs", snapshot.blobs_bytes()?),
            ("unsettled", snapshot.unsettled_bytes()?),
        ];
        for kind in Unpaid::ALL {
            sizes.push((kind.name(), snapshot.unpaid_bytes(kind)?));
        }
        Ok(sizes)
    });
    let head = format!("# HELP {NAME} Bytes in the data file, by kind.\n# TYPE {NAME} gauge\n");
    let lines = sizes.await?.into_iter();
    let lines = lines.map(|(kind, bytes)| format!("{NAME}{{kind=\"{kind}\"}} {bytes}\n"));
    Ok(head + &lines.collect::<String>())
}

/// Leads by status; only for the operator.
pub(super) fn leads(by_status: &[(LeadStatus, u64)]) -> String {
    const NAME: &str = "context402_leads";
    let head = format!("# HELP {NAME} Leads on record, by status.\n# TYPE {NAME} gauge\n");
    let line = |(status, count): &(LeadStatus, u64)| {
        format!("{NAME}{{status=\"{}\"}} {count}\n", status.name())
    };
    head + &by_status.iter().map(line).collect::<String>()
}

fn gauge(name: &str, help: &str, value: u64) -> String {
    format!(
        "# HELP context402_{name} {help}\n# TYPE context402_{name} gauge\ncontext402_{name} {value}\n"
    )
}
