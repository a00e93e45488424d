//! How the service stands this moment, as Prometheus gauges: the same facts as /health, for alerts.

use crate::app::Shared;
use crate::domain::lead::LeadStatus;
use crate::flows::{guardian, health};

/// Lines to be put after the counters. No revenue and no payers: anybody may read them.
pub(super) fn text(app: &Shared) -> String {
    let health = &app.health;
    let facilitator = health.facilitator();
    let mut gauges = vec![
        (
            "uptime_seconds",
            "Since the start.",
            app.started.elapsed().as_secs(),
        ),
        (
            "paid_enabled",
            "1 while sales are made.",
            u64::from(health.check_can_sell(app).is_ok() && guardian::can_judge(app)),
        ),
        (
            "database_up",
            "1 while the data file answers.",
            u64::from(!health.store_down()),
        ),
        (
            "disk_free_bytes",
            "Free space beside the data file.",
            health.free_bytes(),
        ),
        (
            "disk_low",
            "1 while there is too little of it to sell.",
            u64::from(health.disk_low()),
        ),
        (
            "reports_full",
            "1 while no more reports can be kept.",
            u64::from(health.reports_full()),
        ),
        (
            "reports_kept_bytes",
            "Bytes kept for those who paid for them.",
            health.kept_bytes(),
        ),
        (
            "backup_timestamp_seconds",
            "When the newest backup was made; 0 when there is none.",
            health.backed_up_at().0,
        ),
    ];
    if let Some(found) = &facilitator {
        let is_up = found.trouble.is_none();
        gauges.push((
            "facilitator_up",
            "1 while it answers and takes our network.",
            u64::from(is_up),
        ));
    }
    if app.outside.chain.is_some() {
        let is_up = health.gas_price(app).is_some();
        gauges.push((
            "gas_oracle_up",
            "1 while the price of gas is known.",
            u64::from(is_up),
        ));
    }
    if let Some(usage) = health::usage() {
        gauges.push((
            "resident_memory_bytes",
            "Memory in use.",
            usage.resident_bytes,
        ));
        gauges.push((
            "open_descriptors",
            "Files and connections.",
            usage.descriptors,
        ));
    }
    gauges
        .into_iter()
        .map(|(name, help, value)| gauge(name, help, value))
        .collect()
}

/// Where the leads stand; for the operator alone.
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
