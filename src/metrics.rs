//! Counters for /metrics and the console, labelled by route pattern, never by raw path.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::sync::lock;

/// Upper bounds of the duration histogram's buckets, in microseconds.
pub const BUCKETS_US: [u64; 12] = [
    100,
    500,
    1_000,
    5_000,
    25_000,
    100_000,
    500_000,
    2_500_000,
    10_000_000,
    30_000_000,
    60_000_000,
    120_000_000,
];

/// The most labels that a family has.
const LABELS_MAX: usize = 3;

/// One row per family, in the order of /metrics: the field, the name after `context402_`, the kind, what it counts, its
/// labels, and the label values that begin at 0. Who runs the service sees them, and nobody else.
macro_rules! families {
    ($($field:ident: $name:literal, $kind:literal, $help:literal, $labels:expr, $zero:expr;)*) => {
        #[derive(Debug)]
        pub struct Metrics {
            requests: Mutex<RequestCounts>,
            $(#[doc = $help] pub $field: Family,)*
        }

        impl Default for Metrics {
            fn default() -> Self {
                Metrics {
                    requests: Mutex::default(),
                    $($field: Family::new($name, $kind, $help, $labels, $zero),)*
                }
            }
        }

        impl Metrics {
            /// Every family but the requests.
            pub fn families(&self) -> impl Iterator<Item = &Family> {
                [$(&self.$field),*].into_iter()
            }
        }
    };
}

families! {
    cache: "cache_requests_total", "counter", "Deliveries by whether the cache had the page.",
        &["result"], &[["hit", "", ""], ["miss", "", ""]];
    fetches: "fetch_total", "counter", "Fetches by outcome.", &["outcome"], &[];
    extractions: "extractions_total", "counter",
        "Fetched pages by the expected word F1 of their main content, rounded down to a tenth.", &["confidence"], &[];
    renders: "renders_total", "counter", "Pages rendered in a browser, by outcome.", &["outcome"], &[];
    render_milliseconds: "render_milliseconds_total", "counter",
        "Time from a render request to the page's text, including the wait for a free browser.", &[], &[];
    render_refused: "render_requests_refused_total", "counter",
        "Requests of the browser that the address guard blocked.", &[], &[];
    margin_rejections: "ueg_rejections_total", "counter", "Sales refused for their margin.", &["reason"], &[];
    refusals: "refusals_total", "counter", "Refused requests that carried a payment, by error code.", &["code"], &[];
    settle_unknown: "settle_unknown_total", "counter",
        "Settlements whose outcome was unknown when the buyer got a response.", &[], &[UNLABELLED];
    credits: "retry_credits", "gauge", "Retry credits since start, by state.", &["state"], &[];
    limited: "rate_limited_total", "counter", "Requests refused for a rate limit, by the limit.", &["limit"], &[];
    mails: "emails_total", "counter", "Attempts to send an e-mail, by outcome.", &["outcome"], &[];
    ledger_checks: "ledger_checks_total", "counter", "Days whose ledger was reconciled with transfers to the receiving address.",
        &["outcome"], &[["missing", "", ""], ["balanced", "", ""]];
    missing_units: "ledger_check_missing_units", "gauge",
        "USDC units that the ledger records as settled and the receiving address did not receive, on the day reconciled last.",
        &[], &[UNLABELLED];
    payments: "payments_total", "counter", "Payments by product, level and outcome.",
        &["product", "level", "outcome"], &[];
    leads: "leads_total", "counter", "Leads by product and outcome.", &["product", "outcome"], &[];
    webhooks: "webhook_events_total", "counter", "Events of the payment provider, by type and outcome.",
        &["type", "outcome"], &[];
    chain_inquiries: "chain_inquiries_total", "counter",
        "Chain queries about unknown settlements, by outcome.", &["outcome"], &[];
    settlement_checks: "settlement_checks_total", "counter",
        "Settlements verified on chain, by outcome.", &["outcome"], &[];
    revenue_units: "revenue_units_total", "counter", "Settled USDC units.", &[], &[UNLABELLED];
}

/// Label values in the order of the family's labels; those that it lacks are empty.
type Values = [&'static str; LABELS_MAX];

const UNLABELLED: Values = [""; LABELS_MAX];

/// One figure for each combination of its labels' values.
#[derive(Debug)]
pub struct Family {
    pub name: &'static str,
    pub kind: &'static str,
    pub help: &'static str,
    pub labels: &'static [&'static str],
    counts: Mutex<BTreeMap<Values, u64>>,
}

impl Family {
    fn new(
        name: &'static str,
        kind: &'static str,
        help: &'static str,
        labels: &'static [&'static str],
        zero: &[Values],
    ) -> Self {
        Family {
            name,
            kind,
            help,
            labels,
            counts: Mutex::new(zero.iter().map(|values| (*values, 0)).collect()),
        }
    }

    pub fn count<const N: usize>(&self, values: [&'static str; N]) {
        self.add(values, 1);
    }

    pub fn add<const N: usize>(&self, values: [&'static str; N], number: u64) {
        let mut counts = lock(&self.counts);
        let count = counts.entry(self.padded(values)).or_default();
        *count = count.saturating_add(number);
    }

    pub fn set<const N: usize>(&self, values: [&'static str; N], number: u64) {
        lock(&self.counts).insert(self.padded(values), number);
    }

    fn padded<const N: usize>(&self, values: [&'static str; N]) -> Values {
        assert_eq!(N, self.labels.len(), "{}", self.name);
        std::array::from_fn(|at| values.get(at).copied().unwrap_or_default())
    }

    pub fn get<const N: usize>(&self, values: [&str; N]) -> u64 {
        let counts = self.counts();
        let found = counts.iter().find(|(known, _)| *known == values);
        found.map_or(0, |(_, count)| *count)
    }

    /// All figures together.
    pub fn sum(&self) -> u64 {
        lock(&self.counts).values().sum()
    }

    /// Each figure with its labels' values.
    pub fn counts(&self) -> Vec<(Vec<&'static str>, u64)> {
        let counts = lock(&self.counts);
        let values = |values: &Values| values[..self.labels.len()].to_vec();
        counts
            .iter()
            .map(|(of, count)| (values(of), *count))
            .collect()
    }

    /// An object of the figures, by their labels' values with spaces between.
    pub fn json(&self) -> Value {
        let counts = self.counts().into_iter();
        let members = counts.map(|(values, count)| (values.join(" "), count.into()));
        members.collect::<Map<String, Value>>().into()
    }
}

/// Pattern, method, status.
pub type RequestLabels = (&'static str, &'static str, u16);

/// Every answered request.
pub type RequestCounts = BTreeMap<RequestLabels, Requests>;

#[derive(Clone, Copy, Debug, Default)]
pub struct Requests {
    pub count: u64,
    pub duration_us_sum: u64,
    pub buckets: [u64; BUCKETS_US.len()],
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

    pub fn requests(&self) -> RequestCounts {
        lock(&self.requests).clone()
    }

    /// One sale's end: settled, failed, unknown, held or refused.
    pub fn payment(&self, product: &'static str, level: &'static str, outcome: &'static str) {
        self.payments.count([product, level, outcome]);
        if outcome == "unknown" {
            self.settle_unknown.count([]);
        }
    }

    /// Settled payments.
    pub fn paid(&self) -> u64 {
        let payments = self.payments.counts().into_iter();
        let settled = payments.filter(|(values, _)| values.last() == Some(&"settled"));
        settled.map(|(_, count)| count).sum()
    }

    /// A page's main content was selected. `confidence` is a share.
    pub fn extraction(&self, confidence: f32) {
        const TENTHS: [&str; 11] = [
            "0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1.0",
        ];
        let reached = TENTHS
            .iter()
            .zip(0_u8..)
            .take_while(|(_, tenths)| f32::from(*tenths) <= confidence * 10.0);
        let label = reached.last().map_or(TENTHS[0], |(label, _)| label);
        self.extractions.count([label]);
    }

    /// A day's ledger was reconciled.
    pub fn ledger_check(&self, is_balanced: bool, missing_units: u64) {
        let outcome = if is_balanced { "balanced" } else { "missing" };
        self.ledger_checks.count([outcome]);
        self.missing_units.set([], missing_units);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_is_counted_by_tenths() {
        for (confidence, label) in [
            (0.0, "0.0"),
            (0.099, "0.0"),
            (0.6, "0.6"),
            (0.7, "0.7"),
            (0.95, "0.9"),
            (1.0, "1.0"),
        ] {
            let metrics = Metrics::default();
            metrics.extraction(confidence);
            assert_eq!(metrics.extractions.get([label]), 1, "{confidence}");
        }
    }
}
