//! Health probes, run in the background and never per request. The results decide whether sales are open: a full disk or a
//! failed store stops sales before a payment is touched.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::app::Shared;
use crate::config::{self, Coin};
use crate::domain::amount::Amount;
use crate::domain::code::Code;
use crate::domain::margin::GasPrice;
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::flows::quotes::availability;
use crate::outside::chain::{Chain, ChainError};
use crate::outside::process;
use crate::state::health::{Facilitator, NotSelling};
use crate::store;
use crate::sync::lock;

/// Short, so that a quickly filling disk is noticed while there is still space to finish sales.
const PROBE_DISK_EVERY: Duration = Duration::from_secs(1);
const PROBE_EVERY: Duration = Duration::from_secs(15);
/// Sales stop if the data file takes longer than this for a read.
const STORE_TIME_MAX: Duration = Duration::from_secs(5);

/// The warning if chain.rpc_url is not set.
pub const NO_CHAIN: &str = "chain.rpc_url is not set: gas prices are not checked, settlements that the facilitator cannot \
confirm stay unknown, false settlement reports go undetected, and /v1/access is disabled. \
Set it to a JSON-RPC endpoint of the network";

impl From<NotSelling> for Refusal {
    fn from(reason: NotSelling) -> Refusal {
        let (code, message) = match reason {
            NotSelling::Stopping => (
                Code::Overloaded,
                "The service is restarting. The payment was not used.",
            ),
            NotSelling::Paused => (
                Code::Paused,
                "The operator has paused sales for the moment. Nothing was charged and no payment was used.",
            ),
            NotSelling::StoreDown | NotSelling::DiskLow => (
                Code::Overloaded,
                "The service cannot record sales at the moment. The payment was not used.",
            ),
            NotSelling::ReportsFull => (
                Code::Overloaded,
                "There is no room for another report at the moment. The payment was not used; the page alone can be bought.",
            ),
        };
        Refusal::new(code, message)
    }
}

/// This process's resource usage, as reported by the kernel.
pub fn usage() -> Option<process::Usage> {
    process::usage()
}

/// Probes the disk periodically.
pub async fn watch_disk(app: Shared) {
    loop {
        tokio::time::sleep(PROBE_DISK_EVERY).await;
        probe_disk(&app);
        // Notes since when.
        availability::now(&app);
    }
}

/// Probes data file and facilitator periodically.
pub async fn probe(app: Shared) {
    loop {
        if probe_store(&app).await {
            probe_kept(&app).await;
        }
        probe_facilitator(&app).await;
        tokio::time::sleep(PROBE_EVERY).await;
    }
}

/// One fast system call; needs no thread of its own.
pub fn probe_disk(app: &Shared) {
    match store::free_bytes(&app.config.data_file) {
        Ok(free) => {
            let low = free < app.config.limits.free_disk_bytes_min;
            let was_low = app.health.disk_low.swap(low, Ordering::Relaxed);
            app.health.free_bytes.store(free, Ordering::Relaxed);
            match (was_low, low) {
                (false, true) => {
                    tracing::error!(free_bytes = free, "disk nearly full; sales stopped")
                }
                (true, false) => tracing::info!(free_bytes = free, "disk space available again"),
                _ => {}
            }
        }
        Err(error) => tracing::warn!(error = %error, "free disk space could not be read"),
    }
}

/// Probes the data file with a small read.
pub async fn probe_store(app: &Shared) -> bool {
    let asked = app.store.read(|snapshot| snapshot.backed_up_at());
    let trouble = match tokio::time::timeout(STORE_TIME_MAX, asked).await {
        Ok(Ok(at)) => {
            at.into_iter().for_each(|at| app.health.note_backup(at));
            None
        }
        Ok(Err(error)) => Some(error.to_string()),
        Err(_) => Some(format!("no response within {STORE_TIME_MAX:?}")),
    };
    let was_silent = app
        .health
        .store_silent
        .swap(trouble.is_some(), Ordering::Relaxed);
    match &trouble {
        Some(trouble) if !was_silent => {
            tracing::error!(trouble, "data file not responding; sales stopped");
        }
        None if was_silent => tracing::info!("data file responding again"),
        _ => {}
    }
    trouble.is_none()
}

/// Measures the size of paid content in the store, and of what is not settled yet.
pub async fn probe_kept(app: &Shared) {
    let asked = app
        .store
        .read(|snapshot| Ok((snapshot.reports_bytes()?, snapshot.unsettled_bytes()?)));
    match asked.await {
        Ok((kept, unsettled)) => {
            let unsettled_full = unsettled >= app.config.limits.unsettled_bytes_max;
            let was_full = app
                .health
                .unsettled_full
                .swap(unsettled_full, Ordering::Relaxed);
            if unsettled_full && !was_full {
                tracing::error!(
                    unsettled_bytes = unsettled,
                    "too many settlements without an outcome; sales stopped"
                );
            }
            let is_full = kept >= app.config.limits.reports_bytes_max;
            if is_full && !app.health.reports_full() {
                tracing::error!(
                    kept_bytes = kept,
                    "report storage full; no reports are sold until some expire or limits.report_store_mib is raised"
                );
            }
            app.health.kept_bytes.store(kept, Ordering::Relaxed);
            app.health.reports_full.store(is_full, Ordering::Relaxed);
        }
        Err(error) => tracing::warn!(error = %error, "stored bytes could not be read"),
    }
}

/// Probes the gas price periodically, first before any sale.
pub async fn watch_gas(app: Shared) {
    loop {
        tokio::time::sleep(PROBE_EVERY).await;
        // The probe records its result.
        let _ = probe_gas(&app).await;
    }
}

/// Gets the gas price from the chain, if configured.
pub async fn probe_gas(app: &Shared) -> Result<(), ChainError> {
    let Some(chain) = &app.outside.chain else {
        return Ok(());
    };
    let now = app.now();
    let asked = prices(app, chain, now).await;
    let mut gas = lock(&app.health.gas);
    let was_in_trouble = gas.trouble.is_some();
    gas.checked_at = Some(now);
    gas.trouble = asked.as_ref().err().map(ChainError::to_string);
    match &asked {
        Ok((price, coin)) => {
            if was_in_trouble {
                tracing::info!("gas price available again");
            }
            (gas.price, gas.coin, gas.known_at) = (Some(*price), *coin, now);
        }
        Err(error) if !was_in_trouble => {
            tracing::error!(error = %error, "gas price unavailable");
        }
        Err(_) => {}
    }
    asked.map(|_| ())
}

/// Both or none: the cost of a settlement is their product.
async fn prices(
    app: &Shared,
    chain: &Chain,
    now: UnixSeconds,
) -> Result<(GasPrice, Option<Amount>), ChainError> {
    let price = chain.gas_price().await?;
    let coin = match app.config.guard.gas {
        config::Gas::Live {
            coin: Coin::Feed { address, age_max },
            ..
        } => Some(chain.coin_price(address, age_max, now).await?),
        _ => None,
    };
    Ok((price, coin))
}

/// Checks that the facilitator supports our payments. Returns and records the problem, if any.
pub async fn probe_facilitator(app: &Shared) -> Option<String> {
    let started = Instant::now();
    let trouble = match app.outside.facilitator.supported(app.now()).await {
        Ok(supported) if supported.takes_exact_on(app.config.payment.network) => None,
        Ok(_) => Some(format!(
            "it does not support exact payments on {}",
            app.config.payment.network
        )),
        Err(error) => Some(error.to_string()),
    };
    let found = Facilitator {
        trouble: trouble.clone(),
        latency: started.elapsed(),
        checked_at: app.now(),
    };
    let mut known = lock(&app.health.facilitator);
    let was_in_trouble = known.as_ref().is_some_and(|known| known.trouble.is_some());
    match &found.trouble {
        Some(trouble) if !was_in_trouble => {
            tracing::error!(trouble, "facilitator unusable")
        }
        None if was_in_trouble => tracing::info!("facilitator available again"),
        _ => {}
    }
    *known = Some(found);
    trouble
}
