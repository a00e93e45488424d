//! The results of the background probes, and whether sales are open.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use crate::domain::amount::Amount;
use crate::domain::certificate::Certificate;
use crate::domain::level::Product;
use crate::domain::margin::GasPrice;
use crate::domain::time::UnixSeconds;
use crate::outside::facilitator::CallError;
use crate::sync::lock;

#[derive(Debug, Default)]
pub struct Health {
    stopping: AtomicBool,
    /// Since when the operator has paused what is paid for; 0 when it is not paused.
    paused_since: AtomicU64,
    store_failed: AtomicBool,
    /// Whether the data file has left a question unanswered.
    pub(crate) store_silent: AtomicBool,
    /// In Unix seconds; 0 when there is none.
    backed_up_at: AtomicU64,
    pub(crate) free_bytes: AtomicU64,
    pub(crate) disk_low: AtomicBool,
    pub(crate) kept_bytes: AtomicU64,
    pub(crate) reports_full: AtomicBool,
    pub(crate) facilitator: Mutex<Option<Facilitator>>,
    pub(crate) unsettled_full: AtomicBool,
    /// Why the latest verification had no answer, and when.
    verify_trouble: Mutex<Option<(CallError, UnixSeconds)>>,
    /// Since when nothing can be bought; 0 while anything can.
    not_selling_since: AtomicU64,
    pub(crate) gas: Mutex<Gas>,
    mail: Mutex<Option<MailTry>>,
    renderer: Mutex<RendererHealth>,
    tls: Mutex<TlsHealth>,
}

/// The browser, where one is configured.
#[derive(Clone, Debug, Default)]
pub struct RendererHealth {
    /// Its name and version, once it has answered.
    pub browser: Option<String>,
    /// Why it does not work.
    pub trouble: Option<String>,
    pub checked_at: Option<UnixSeconds>,
}

/// The certificate of our own HTTPS.
#[derive(Clone, Debug, Default)]
pub struct TlsHealth {
    /// As it is served.
    pub certificate: Option<Certificate>,
    /// When it is due for renewal.
    pub renew_at: UnixSeconds,
    /// Why the last renewal failed.
    pub trouble: Option<String>,
}

/// Why no sale may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotSelling {
    Stopping,
    /// By the operator.
    Paused,
    /// The data file has failed, or does not answer.
    StoreDown,
    DiskLow,
    /// No room for another report.
    ReportsFull,
}

/// How long a refusal of our credentials is believed without another try: a buyer tries again only if we seem to sell.
const DENIED_SECONDS: u64 = 900;
/// The same for an outage during a verification, which the probe may not see.
const OUTAGE_SECONDS: u64 = 60;

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
    /// Whether the browser works, by its latest use or check.
    pub fn note_renderer(&self, now: UnixSeconds, trouble: Option<String>) {
        let mut renderer = self.renderer_mut();
        renderer.trouble = trouble;
        renderer.checked_at = Some(now);
    }

    /// What the browser calls itself.
    pub fn note_browser(&self, browser: &str) {
        self.renderer_mut().browser = Some(browser.to_owned());
    }

    pub fn renderer(&self) -> RendererHealth {
        self.renderer_mut().clone()
    }

    fn renderer_mut(&self) -> MutexGuard<'_, RendererHealth> {
        lock(&self.renderer)
    }

    /// Whether a sale may begin.
    pub fn check_can_sell(&self) -> Result<(), NotSelling> {
        if self.is_stopping() {
            return Err(NotSelling::Stopping);
        }
        if self.paused_since().is_some() {
            return Err(NotSelling::Paused);
        }
        if self.store_down() {
            return Err(NotSelling::StoreDown);
        }
        if self.disk_low() {
            return Err(NotSelling::DiskLow);
        }
        Ok(())
    }

    /// Whether this product may be sold: what is paid for is never dropped to make room, so there must be room.
    pub fn check_can_sell_product(&self, product: Product) -> Result<(), NotSelling> {
        self.check_can_sell()?;
        if product != Product::Context && self.reports_full() {
            return Err(NotSelling::ReportsFull);
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
        let mut mail = lock(&self.mail);
        *mail = Some(MailTry { is_taken, at });
    }

    /// `None` while no mail has been due.
    pub fn mail(&self) -> Option<MailTry> {
        *lock(&self.mail)
    }

    pub fn tls(&self) -> TlsHealth {
        lock(&self.tls).clone()
    }

    pub fn change_tls(&self, change: impl FnOnce(&mut TlsHealth)) {
        change(&mut lock(&self.tls));
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
        lock(&self.facilitator).clone()
    }

    /// What came of a verification. What a strange payment can provoke says nothing about the facilitator.
    pub fn note_verification(&self, outcome: Result<(), &CallError>, now: UnixSeconds) {
        let trouble = match outcome {
            Ok(()) => None,
            Err(CallError::Saturated) => return,
            Err(error) if error.is_retryable() || is_denial(error) => Some((error.clone(), now)),
            Err(_) => return,
        };
        *self.verify_trouble() = trouble;
    }

    /// Why payments cannot be verified, by the latest one: what the facilitator's own word does not show.
    pub fn verify_trouble_at(&self, now: UnixSeconds) -> Option<CallError> {
        let trouble = self.verify_trouble();
        let (error, at) = trouble.as_ref()?;
        let believed = match is_denial(error) {
            true => DENIED_SECONDS,
            false => OUTAGE_SECONDS,
        };
        (now.since(*at) <= believed).then(|| error.clone())
    }

    fn verify_trouble(&self) -> MutexGuard<'_, Option<(CallError, UnixSeconds)>> {
        lock(&self.verify_trouble)
    }

    pub fn unsettled_full(&self) -> bool {
        self.unsettled_full.load(Ordering::Relaxed)
    }

    /// Notes whether anything can be bought. Since when nothing can; `now` while something can.
    pub fn note_selling(&self, sells: bool, now: UnixSeconds) -> UnixSeconds {
        if sells {
            self.not_selling_since.store(0, Ordering::Relaxed);
            return now;
        }
        let at = now.0.max(1);
        let since = &self.not_selling_since;
        let known = since.compare_exchange(0, at, Ordering::Relaxed, Ordering::Relaxed);
        UnixSeconds(known.map_or_else(|since| since, |_| at))
    }

    pub fn gas(&self) -> Gas {
        lock(&self.gas).clone()
    }

    /// The price of gas, unless it is too old to be believed.
    pub fn gas_price(&self, now: UnixSeconds, age_max: u64) -> Option<GasPrice> {
        let gas = lock(&self.gas);
        let is_fresh = now.since(gas.known_at) <= age_max;
        gas.price.filter(|_| is_fresh)
    }

    /// What a feed says that the coin costs, as long as the price of gas beside it is believed.
    pub fn coin_price(&self, now: UnixSeconds, age_max: u64) -> Option<Amount> {
        self.gas_price(now, age_max)?;
        self.gas().coin
    }
}

/// Whether only the operator can end it.
fn is_denial(error: &CallError) -> bool {
    matches!(error, CallError::Denied(_) | CallError::Redirected(_))
}
