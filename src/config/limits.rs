//! The settings `limits.…`: sizes, concurrency and rate limits.

use std::time::Duration;

use crate::config::{ConfigError, Resolved};
use crate::domain::rate::FreeQuota;
use crate::limits::Quotas;

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub connections_max: usize,
    pub connections_of_client_max: usize,
    pub header_time_max: Duration,
    pub body_time_max: Duration,
    pub write_stall_max: Duration,
    pub stop_grace: Duration,
    pub store_cache_bytes: usize,
    pub bodies_bytes_max: usize,
    pub work_memory_bytes: usize,
    pub pages_bytes_max: u64,
    pub reports_bytes_max: u64,
    pub unpaid_bytes_max: u64,
    pub unsettled_bytes_max: u64,
    pub free_disk_bytes_min: u64,
    pub quotas: Quotas,
    pub free_fetches: FreeQuota,
}

pub(in crate::config) fn limits(resolved: &Resolved) -> Result<Limits, ConfigError> {
    Ok(Limits {
        connections_max: resolved.count("limits.connections_max")?,
        connections_of_client_max: resolved.count("limits.connections_of_client_max")?,
        header_time_max: resolved.seconds("limits.header_seconds_max")?,
        body_time_max: resolved.seconds("limits.body_seconds_max")?,
        write_stall_max: resolved.seconds("limits.write_stall_seconds_max")?,
        stop_grace: resolved.seconds("limits.stop_grace_seconds")?,
        store_cache_bytes: resolved.count("limits.store_cache_mib")? * 1024 * 1024,
        bodies_bytes_max: resolved.count("limits.request_bodies_mib")? * 1024 * 1024,
        work_memory_bytes: resolved.count("limits.work_memory_mib")? * 1024 * 1024,
        pages_bytes_max: resolved.mebibytes("limits.page_cache_mib")?,
        reports_bytes_max: resolved.mebibytes("limits.report_store_mib")?,
        unpaid_bytes_max: resolved.mebibytes("limits.unpaid_records_mib")?,
        unsettled_bytes_max: resolved.mebibytes("limits.unsettled_mib")?,
        free_disk_bytes_min: resolved.mebibytes("limits.free_disk_mib_min")?,
        quotas: Quotas {
            free: resolved.quota("limits.free_per_minute")?,
            probe: resolved.quota("limits.probes_per_minute")?,
            unpaid: resolved.quota("limits.unpaid_per_minute")?,
            quote: resolved.quota("limits.quotes_per_minute")?,
            lead: resolved.quota("limits.leads_per_minute")?,
            sale: resolved.quota("limits.sales_per_minute")?,
            credit: resolved.quota("limits.credits_per_minute")?,
            login: resolved.quota("limits.logins_per_minute")?,
            recovery: resolved.quota("limits.recoveries_per_minute")?,
            domain: resolved.quota("limits.quotes_of_domain_per_minute")?,
            keys_max: resolved.count("limits.clients_max")?,
        },
        free_fetches: FreeQuota {
            all: resolved.quota("limits.free_fetches_per_day")?,
            client: resolved.quota("limits.free_fetches_of_client_per_day")?,
        },
    })
}
