//! Counters for /metrics, labelled by route pattern, never by raw path.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the duration histogram's buckets, in microseconds.
pub const BUCKETS_US: [u64; 9] = [
    100, 500, 1_000, 5_000, 25_000, 100_000, 500_000, 2_500_000, 10_000_000,
];

#[derive(Debug, Default)]
pub struct Metrics {
    requests: Mutex<BTreeMap<RequestLabels, Requests>>,
    payments: Mutex<BTreeMap<PaymentLabels, u64>>,
    revenue_units: AtomicU64,
    fetches: Mutex<BTreeMap<&'static str, u64>>,
    cache: [AtomicU64; 2],
    margin_rejections: Mutex<BTreeMap<&'static str, u64>>,
    refusals: Mutex<BTreeMap<&'static str, u64>>,
    credits: Mutex<BTreeMap<&'static str, u64>>,
    chain_inquiries: Mutex<BTreeMap<&'static str, u64>>,
    settlement_checks: Mutex<BTreeMap<&'static str, u64>>,
    limited: Mutex<BTreeMap<&'static str, u64>>,
    mails: Mutex<BTreeMap<&'static str, u64>>,
    ledger_checks: [AtomicU64; 2],
    missing_units: AtomicU64,
    webhooks: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    leads: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
}

/// Pattern, method, status.
pub type RequestLabels = (&'static str, &'static str, u16);

/// Product, level, outcome.
pub type PaymentLabels = (&'static str, &'static str, &'static str);

#[derive(Clone, Copy, Debug, Default)]
pub struct Requests {
    pub count: u64,
    pub duration_us_sum: u64,
    pub buckets: [u64; BUCKETS_US.len()],
}

/// A consistent copy for rendering.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub requests: BTreeMap<RequestLabels, Requests>,
    pub payments: BTreeMap<PaymentLabels, u64>,
    pub revenue_units: u64,
    pub fetches: BTreeMap<&'static str, u64>,
    pub cache_hits: u64,
    pub cache_misses: u64,
    /// Sales that were refused for their margin, by the reason.
    pub margin_rejections: BTreeMap<&'static str, u64>,
    /// Refused requests that carried a payment, by the code.
    pub refusals: BTreeMap<&'static str, u64>,
    /// Retry credits, by what became of them.
    pub credits: BTreeMap<&'static str, u64>,
    /// By what the chain said.
    pub chain_inquiries: BTreeMap<&'static str, u64>,
    /// Settlements that were looked up on chain, by the result.
    pub settlement_checks: BTreeMap<&'static str, u64>,
    /// Requests beyond a limit, by the limit.
    pub limited: BTreeMap<&'static str, u64>,
    /// Tries to send a mail, by what became of them.
    pub mails: BTreeMap<&'static str, u64>,
    /// Days held against the vault: those with something missing, and those that agreed.
    pub ledger_checks: [u64; 2],
    /// What was missing on the day that was looked at last.
    pub missing_units: u64,
    /// The payment provider's events: kind and outcome.
    pub webhooks: BTreeMap<(&'static str, &'static str), u64>,
    /// By product and what became of them: new, duplicate, robot, checkout_started.
    pub leads: BTreeMap<(&'static str, &'static str), u64>,
}

impl Snapshot {
    /// Settled payments.
    pub fn paid(&self) -> u64 {
        self.ended_as("settled")
    }

    /// Settlements whose end was not known when their buyer was answered.
    pub fn settle_unknown(&self) -> u64 {
        self.ended_as("unknown")
    }

    fn ended_as(&self, state: &str) -> u64 {
        let payments = self.payments.iter();
        let ended = payments.filter(|((_, _, outcome), _)| *outcome == state);
        ended.map(|(_, count)| count).sum()
    }
}

impl Metrics {
    pub fn request(&self, labels: RequestLabels, duration: Duration) {
        let duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let mut requests = lock(&self.requests);
        let seen = requests.entry(labels).or_default();
        seen.count += 1;
        seen.duration_us_sum = seen.duration_us_sum.saturating_add(duration_us);
        if let Some(bucket) = BUCKETS_US.iter().position(|bound| duration_us <= *bound) {
            seen.buckets[bucket] += 1;
        }
    }

    /// One sale's end: settled, failed, unknown, held or refused.
    pub fn payment(&self, product: &'static str, level: &'static str, outcome: &'static str) {
        let labels = (product, level, outcome);
        *lock(&self.payments).entry(labels).or_default() += 1;
    }

    pub fn revenue(&self, units: u64) {
        self.revenue_units.fetch_add(units, Ordering::Relaxed);
    }

    pub fn fetch(&self, outcome: &'static str) {
        *lock(&self.fetches).entry(outcome).or_default() += 1;
    }

    pub fn cache(&self, hit: bool) {
        self.cache[usize::from(hit)].fetch_add(1, Ordering::Relaxed);
    }

    /// A sale was refused for its margin: too thin, or not known.
    pub fn margin_rejection(&self, reason: &'static str) {
        *lock(&self.margin_rejections).entry(reason).or_default() += 1;
    }

    /// A request that carried a payment was refused with this code.
    pub fn refusal(&self, code: &'static str) {
        *lock(&self.refusals).entry(code).or_default() += 1;
    }

    /// A retry credit was issued, redeemed, or asked for in vain.
    pub fn credit(&self, state: &'static str) {
        *lock(&self.credits).entry(state).or_default() += 1;
    }

    /// One question to the chain about a settlement: what it said, or that it failed.
    pub fn chain_inquiry(&self, outcome: &'static str) {
        *lock(&self.chain_inquiries).entry(outcome).or_default() += 1;
    }

    /// One settlement was looked up on chain: verified, other_transaction, contradicted or undecided; or a look-up of
    /// several has failed.
    pub fn settlement_check(&self, outcome: &'static str) {
        *lock(&self.settlement_checks).entry(outcome).or_default() += 1;
    }

    pub fn limited(&self, limit: &'static str) {
        *lock(&self.limited).entry(limit).or_default() += 1;
    }

    /// One event of the payment provider.
    pub fn webhook(&self, kind: &'static str, outcome: &'static str) {
        *lock(&self.webhooks).entry((kind, outcome)).or_default() += 1;
    }

    /// One try to send a mail: sent, put off or failed for good.
    pub fn mail(&self, outcome: &'static str) {
        *lock(&self.mails).entry(outcome).or_default() += 1;
    }

    /// A lead, by its product and what became of it.
    pub fn lead(&self, product: &'static str, outcome: &'static str) {
        *lock(&self.leads).entry((product, outcome)).or_default() += 1;
    }

    /// A day's ledger was held against the vault.
    pub fn ledger_check(&self, is_balanced: bool, missing_units: u64) {
        self.ledger_checks[usize::from(is_balanced)].fetch_add(1, Ordering::Relaxed);
        self.missing_units.store(missing_units, Ordering::Relaxed);
    }

    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            requests: lock(&self.requests).clone(),
            payments: lock(&self.payments).clone(),
            revenue_units: self.revenue_units.load(Ordering::Relaxed),
            fetches: lock(&self.fetches).clone(),
            cache_hits: self.cache[1].load(Ordering::Relaxed),
            cache_misses: self.cache[0].load(Ordering::Relaxed),
            margin_rejections: lock(&self.margin_rejections).clone(),
            refusals: lock(&self.refusals).clone(),
            credits: lock(&self.credits).clone(),
            chain_inquiries: lock(&self.chain_inquiries).clone(),
            settlement_checks: lock(&self.settlement_checks).clone(),
            limited: lock(&self.limited).clone(),
            mails: lock(&self.mails).clone(),
            ledger_checks: [0, 1].map(|at| self.ledger_checks[at].load(Ordering::Relaxed)),
            missing_units: self.missing_units.load(Ordering::Relaxed),
            webhooks: lock(&self.webhooks).clone(),
            leads: lock(&self.leads).clone(),
        }
    }
}

/// A panic while a counter was being raised leaves a number behind, not a broken structure.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
