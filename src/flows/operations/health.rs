//! How the service is, measured in the background and never per request. What is found here decides whether anything
//! is sold: a full disk or a failed store stops sales before a payment is looked at.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::app::Shared;
use crate::config::{self, Coin};
use crate::domain::amount::Amount;
use crate::domain::margin::GasPrice;
use crate::domain::time::UnixSeconds;
use crate::outside::chain::{Chain, ChainError};
use crate::outside::process;
use crate::state::health::Facilitator;
use crate::store;

/// Often: a disk that others fill at full speed should be found nearly full while there still is room to end sales.
const PROBE_DISK_EVERY: Duration = Duration::from_secs(1);
const PROBE_EVERY: Duration = Duration::from_secs(15);
/// A data file that leaves a read unanswered for so long cannot be sold from.
const STORE_TIME_MAX: Duration = Duration::from_secs(5);

/// What an operator is told who has set no chain.rpc_url.
pub const NO_CHAIN: &str = "chain.rpc_url is not set: the price of gas is not checked, a settlement that the facilitator \
                            cannot confirm stays unknown, a settlement that the facilitator only claims is not found \
                            out, and /v1/access sells nothing. Set it to a JSON-RPC endpoint of the network";

/// What this process takes of the machine, where the kernel says so.
pub fn usage() -> Option<process::Usage> {
    process::usage()
}

/// Looks at the disk, now and then for ever.
pub async fn watch_disk(app: Shared) {
    loop {
        tokio::time::sleep(PROBE_DISK_EVERY).await;
        probe_disk(&app);
    }
}

/// Looks at data file and facilitator, now and then for ever.
pub async fn probe(app: Shared) {
    loop {
        if probe_store(&app).await {
            probe_kept(&app).await;
        }
        probe_facilitator(&app).await;
        tokio::time::sleep(PROBE_EVERY).await;
    }
}

/// Reads one number from the file system's memory; not worth a thread of its own.
pub fn probe_disk(app: &Shared) {
    match store::free_bytes(&app.config.data_file) {
        Ok(free) => {
            let low = free < app.config.limits.free_disk_bytes_min;
            let was_low = app.health.disk_low.swap(low, Ordering::Relaxed);
            app.health.free_bytes.store(free, Ordering::Relaxed);
            match (was_low, low) {
                (false, true) => tracing::error!(
                    free_bytes = free,
                    "the disk is nearly full; nothing is sold until there is room"
                ),
                (true, false) => tracing::info!(free_bytes = free, "the disk has room again"),
                _ => {}
            }
        }
        Err(error) => tracing::warn!(error = %error, "could not read the disk's free space"),
    }
}

/// Asks the data file something small; tells whether it answers.
pub async fn probe_store(app: &Shared) -> bool {
    let asked = app.store.read(|snapshot| snapshot.backed_up_at());
    let trouble = match tokio::time::timeout(STORE_TIME_MAX, asked).await {
        Ok(Ok(at)) => {
            at.into_iter().for_each(|at| app.health.note_backup(at));
            None
        }
        Ok(Err(error)) => Some(error.to_string()),
        Err(_) => Some(format!("no answer within {STORE_TIME_MAX:?}")),
    };
    let was_silent = app
        .health
        .store_silent
        .swap(trouble.is_some(), Ordering::Relaxed);
    match &trouble {
        Some(trouble) if !was_silent => {
            tracing::error!(trouble, "the data file does not answer; nothing is sold");
        }
        None if was_silent => tracing::info!("the data file answers again"),
        _ => {}
    }
    trouble.is_none()
}

/// Asks how much is kept for those who paid for it.
pub async fn probe_kept(app: &Shared) {
    match app.store.read(|snapshot| snapshot.reports_bytes()).await {
        Ok(kept) => {
            let is_full = kept >= app.config.limits.reports_bytes_max;
            if is_full && !app.health.reports_full() {
                tracing::error!(
                    kept_bytes = kept,
                    "no more reports can be kept; none is sold until some expire or the limit is raised"
                );
            }
            app.health.kept_bytes.store(kept, Ordering::Relaxed);
            app.health.reports_full.store(is_full, Ordering::Relaxed);
        }
        Err(error) => tracing::warn!(error = %error, "could not read how much is kept"),
    }
}

/// Asks for the price of gas, now and then for ever. The first question is asked before anything is sold.
pub async fn watch_gas(app: Shared) {
    loop {
        tokio::time::sleep(PROBE_EVERY).await;
        // What it came to is noted.
        let _ = probe_gas(&app).await;
    }
}

/// Asks the chain, where there is one, for the price of gas.
pub async fn probe_gas(app: &Shared) -> Result<(), ChainError> {
    let Some(chain) = &app.outside.chain else {
        return Ok(());
    };
    let now = app.now();
    let asked = prices(app, chain, now).await;
    let mut gas = app
        .health
        .gas
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let was_in_trouble = gas.trouble.is_some();
    gas.checked_at = Some(now);
    gas.trouble = asked.as_ref().err().map(ChainError::to_string);
    match &asked {
        Ok((price, coin)) => {
            if was_in_trouble {
                tracing::info!("the price of gas is known again");
            }
            (gas.price, gas.coin, gas.known_at) = (Some(*price), *coin, now);
        }
        Err(error) if !was_in_trouble => {
            tracing::error!(error = %error, "the price of gas cannot be had");
        }
        Err(_) => {}
    }
    asked.map(|_| ())
}

/// Both or none: a settlement costs one times the other.
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

/// Asks the facilitator whether it takes our payments. Gives back what is wrong, and notes it.
pub async fn probe_facilitator(app: &Shared) -> Option<String> {
    let started = Instant::now();
    let trouble = match app.outside.facilitator.supported(app.now()).await {
        Ok(supported) if supported.takes_exact_on(app.config.payment.network) => None,
        Ok(_) => Some(format!(
            "it does not take exact payments on {}",
            app.config.payment.network
        )),
        Err(error) => Some(error.to_string()),
    };
    let found = Facilitator {
        trouble: trouble.clone(),
        latency: started.elapsed(),
        checked_at: app.now(),
    };
    let mut known = app
        .health
        .facilitator
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let was_in_trouble = known.as_ref().is_some_and(|known| known.trouble.is_some());
    match &found.trouble {
        Some(trouble) if !was_in_trouble => {
            tracing::error!(trouble, "the facilitator is of no use")
        }
        None if was_in_trouble => tracing::info!("the facilitator answers again"),
        _ => {}
    }
    *known = Some(found);
    trouble
}
