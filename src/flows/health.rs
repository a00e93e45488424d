//! How the service is, measured in the background and never per request. What is found here decides whether anything
//! is sold: a full disk or a failed store stops sales before a payment is looked at.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::app::Shared;
use crate::config::{self, Coin};
use crate::domain::amount::Amount;
use crate::domain::level::Product;
use crate::domain::margin::GasPrice;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::UnixSeconds;
use crate::outside::chain::{Chain, ChainError};
use crate::outside::process;
use crate::store;

/// Often: a disk that others fill at full speed should be found nearly full while there still is room to end sales.
const PROBE_DISK_EVERY: Duration = Duration::from_secs(1);
const PROBE_EVERY: Duration = Duration::from_secs(15);
/// A data file that leaves a read unanswered for so long cannot be sold from.
const STORE_TIME_MAX: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub struct Health {
    stopping: AtomicBool,
    /// Since when the operator has paused what is paid for; 0 when it is not paused.
    paused_since: AtomicU64,
    store_failed: AtomicBool,
    /// Whether the data file has left a question unanswered.
    store_silent: AtomicBool,
    /// In Unix seconds; 0 when there is none.
    backed_up_at: AtomicU64,
    free_bytes: AtomicU64,
    disk_low: AtomicBool,
    kept_bytes: AtomicU64,
    reports_full: AtomicBool,
    facilitator: Mutex<Option<Facilitator>>,
    gas: Mutex<Gas>,
    mail: Mutex<Option<MailTry>>,
}

/// What came of the last try to hand a mail over.
#[derive(Clone, Copy, Debug)]
pub struct MailTry {
    pub is_taken: bool,
    pub at: UnixSeconds,
}

/// What the last probe of the facilitator has found.
#[derive(Clone, Debug)]
pub struct Facilitator {
    /// `None` when it answers and takes our network.
    pub trouble: Option<String>,
    pub latency: Duration,
    pub checked_at: UnixSeconds,
}

/// What the chain was last heard to say about gas.
#[derive(Clone, Debug, Default)]
pub struct Gas {
    pub price: Option<GasPrice>,
    /// What the coin costs, where a feed on the chain is asked for it.
    pub coin: Option<Amount>,
    /// When that was.
    pub known_at: UnixSeconds,
    /// Why the last question had no answer.
    pub trouble: Option<String>,
    pub checked_at: Option<UnixSeconds>,
}

impl Health {
    /// Whether a sale may begin.
    pub fn check_can_sell(&self, app: &Shared) -> Result<(), Refusal> {
        let refuse = |message: &str| Err(Refusal::new(Code::Overloaded, message));
        if self.stopping.load(Ordering::Relaxed) || app.tasks.is_closed() {
            return refuse(
                "The service is restarting. The payment was not used: repeat the same request.",
            );
        }
        if self.paused_since().is_some() {
            return Err(paused());
        }
        if self.store_down() || self.disk_low.load(Ordering::Relaxed) {
            return refuse(
                "The service cannot record sales at the moment. The payment was not used: try again later.",
            );
        }
        Ok(())
    }

    /// Whether this product may be sold: what is paid for is never dropped to make room, so there must be room.
    pub fn check_can_sell_product(&self, app: &Shared, product: Product) -> Result<(), Refusal> {
        self.check_can_sell(app)?;
        if product == Product::ProofPack && self.reports_full() {
            return Err(Refusal::new(
                Code::Overloaded,
                "There is no room for another report at the moment. The payment was not used: try again later, or buy \
                 the page alone.",
            ));
        }
        Ok(())
    }

    pub fn paused_since(&self) -> Option<UnixSeconds> {
        let since = self.paused_since.load(Ordering::Relaxed);
        (since > 0).then_some(UnixSeconds(since))
    }

    pub fn note_paused(&self, since: Option<UnixSeconds>) {
        let since = since.map_or(0, |since| since.0.max(1));
        self.paused_since.store(since, Ordering::Relaxed);
    }

    pub fn note_stopping(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    pub fn note_store_failed(&self) {
        self.store_failed.store(true, Ordering::Relaxed);
    }

    /// Whether the data file has failed, or does not answer.
    pub fn store_down(&self) -> bool {
        self.store_failed.load(Ordering::Relaxed) || self.store_silent.load(Ordering::Relaxed)
    }

    pub fn note_mail(&self, is_taken: bool, at: UnixSeconds) {
        let mut mail = self.mail.lock().unwrap_or_else(PoisonError::into_inner);
        *mail = Some(MailTry { is_taken, at });
    }

    /// `None` while no mail has been due.
    pub fn mail(&self) -> Option<MailTry> {
        *self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn note_backup(&self, at: UnixSeconds) {
        self.backed_up_at.store(at.0, Ordering::Relaxed);
    }

    /// When the newest backup was made; zero when there is none.
    pub fn backed_up_at(&self) -> UnixSeconds {
        UnixSeconds(self.backed_up_at.load(Ordering::Relaxed))
    }

    pub fn free_bytes(&self) -> u64 {
        self.free_bytes.load(Ordering::Relaxed)
    }

    pub fn disk_low(&self) -> bool {
        self.disk_low.load(Ordering::Relaxed)
    }

    pub fn kept_bytes(&self) -> u64 {
        self.kept_bytes.load(Ordering::Relaxed)
    }

    pub fn reports_full(&self) -> bool {
        self.reports_full.load(Ordering::Relaxed)
    }

    pub fn facilitator(&self) -> Option<Facilitator> {
        self.facilitator
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub fn gas(&self) -> Gas {
        self.gas
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The price of gas, unless it is too old to be believed.
    pub fn gas_price(&self, app: &Shared) -> Option<GasPrice> {
        let gas = self.gas.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = app.now().since(gas.known_at) <= app.config.guard.gas_age_max;
        gas.price.filter(|_| is_fresh)
    }

    /// What a feed says that the coin costs, as long as the price of gas beside it is believed.
    pub fn coin_price(&self, app: &Shared) -> Option<Amount> {
        self.gas_price(app)?;
        self.gas().coin
    }
}

/// What a buyer is told while the operator has paused what is paid for.
pub fn paused() -> Refusal {
    Refusal::new(
        Code::Paused,
        "The operator has paused sales for the moment. Nothing was charged and no payment was used: come back later.",
    )
}

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
    match app.store.read(|snapshot| snapshot.kept_bytes()).await {
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
