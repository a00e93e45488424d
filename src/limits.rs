//! Rate limits: token buckets by key in tables of bounded size, per client and class, and per domain for free lookups.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher as _, Hash};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, RwLock};
use std::time::Duration;

use ratelimit::{Builder, Clock, Ratelimiter, TryWaitError};

use crate::domain::rate::{OF_DOMAIN, RateClass, Standing, WINDOW_SECONDS};
use crate::outside::clock::Stopwatch;
use crate::sync::{lock, read_lock, write_lock};

/// Requests of each kind in a minute; 0 is no limit.
#[derive(Clone, Copy, Debug)]
pub struct Quotas {
    pub free: u64,
    pub probe: u64,
    pub unpaid: u64,
    pub quote: u64,
    pub lead: u64,
    pub sale: u64,
    pub credit: u64,
    pub login: u64,
    pub recovery: u64,
    /// Unpaid lookups of names under one registrable domain, by whomever.
    pub domain: u64,
    /// Keys that each limit remembers.
    pub keys_max: usize,
}

/// Every limit of the service.
#[derive(Debug)]
pub struct Limits {
    clients: [Limit<IpAddr>; RateClass::ALL.len()],
    domains: Limit<Box<str>>,
    keys_max: usize,
    stopwatch: Stopwatch,
}

/// `None` is no limit.
type Limit<K> = RwLock<Option<Buckets<K>>>;

impl Quotas {
    /// Requests of a class that one client may send in a minute; 0 is no limit.
    pub fn of(&self, class: RateClass) -> u64 {
        match class {
            RateClass::Free => self.free,
            RateClass::Probe => self.probe,
            RateClass::Unpaid => self.unpaid,
            RateClass::Quote => self.quote,
            RateClass::Lead => self.lead,
            RateClass::Sale => self.sale,
            RateClass::Credit => self.credit,
            RateClass::Login => self.login,
            RateClass::Recovery => self.recovery,
        }
    }
}

impl Limits {
    pub fn new(quotas: &Quotas, stopwatch: &Stopwatch) -> Self {
        Limits {
            clients: RateClass::ALL.map(|class| {
                RwLock::new(Buckets::new(quotas.of(class), quotas.keys_max, stopwatch))
            }),
            domains: RwLock::new(Buckets::new(quotas.domain, quotas.keys_max, stopwatch)),
            keys_max: quotas.keys_max,
            stopwatch: stopwatch.clone(),
        }
    }

    /// Puts other quotas in force. Where one has changed, every client starts with the full quota; the others keep their counts.
    pub fn set(&self, quotas: &Quotas) {
        for class in RateClass::ALL {
            self.replace(&self.clients[class as usize], quotas.of(class));
        }
        self.replace(&self.domains, quotas.domain);
    }

    fn replace<K: Eq + Hash>(&self, limit: &Limit<K>, quota: u64) {
        let former = read_lock(limit).as_ref().map_or(0, |buckets| buckets.quota);
        if former != quota {
            *write_lock(limit) = Buckets::new(quota, self.keys_max, &self.stopwatch);
        }
    }

    /// Counts a client's request. `Ok(None)` where there is no limit.
    pub fn admit(&self, class: RateClass, client: IpAddr) -> Result<Option<Standing>, Standing> {
        take(&self.clients[class as usize], class.name(), client)
    }

    /// Counts work for a registrable domain that nobody pays for.
    pub fn admit_domain(&self, domain: &str) -> Result<Option<Standing>, Standing> {
        take(&self.domains, OF_DOMAIN, domain.into())
    }
}

fn take<K: Eq + Hash>(
    buckets: &Limit<K>,
    limit: &'static str,
    key: K,
) -> Result<Option<Standing>, Standing> {
    let buckets = read_lock(buckets);
    let Some(buckets) = &*buckets else {
        return Ok(None);
    };
    let taken = buckets.take(key);
    let (TokenTaken::Yes { remaining } | TokenTaken::No { remaining, .. }) = taken;
    let standing = |reset_seconds| Standing {
        limit,
        quota: buckets.quota,
        remaining,
        reset_seconds,
    };
    match taken {
        TokenTaken::Yes { .. } => {
            let missing = buckets.quota.saturating_sub(remaining);
            Ok(Some(standing(
                (missing * WINDOW_SECONDS).div_ceil(buckets.quota),
            )))
        }
        TokenTaken::No { wait, .. } => Err(standing(seconds_up(wait))),
    }
}

/// Whole seconds after which a wait is over.
fn seconds_up(wait: Duration) -> u64 {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
}

const WINDOW: Duration = Duration::from_secs(WINDOW_SECONDS);
/// Parts of the table that are locked apart.
const SHARDS: usize = 16;
/// A full shard is searched for idle buckets no more often than this.
const SWEEP_PAUSE: Duration = Duration::from_secs(1);

/// One bucket for each key. A bucket that nobody took from for a whole window is full again, so that forgetting it
/// changes nothing. When a shard is full of busy ones, further keys share one more bucket, as if they were one client:
/// anyone who brings many addresses fills the table, but gets no more than that bucket gives, and no memory.
struct Buckets<K> {
    quota: u64,
    keys_of_shard_max: usize,
    stopwatch: Stopwatch,
    /// Keyed at random: nobody can aim at one shard.
    hasher: RandomState,
    shards: Vec<Mutex<Shard<K>>>,
}

struct Shard<K> {
    by_key: HashMap<K, Bucket>,
    overflow: Bucket,
    swept_at: Duration,
}

struct Bucket {
    tokens: Ratelimiter<Stopwatch>,
    used_at: Duration,
}

enum TokenTaken {
    Yes { remaining: u64 },
    No { remaining: u64, wait: Duration },
}

impl<K: Eq + Hash> Buckets<K> {
    /// `None` for a quota of 0.
    fn new(quota: u64, keys_max: usize, stopwatch: &Stopwatch) -> Option<Self> {
        let shard = || {
            Some(Mutex::new(Shard {
                by_key: HashMap::new(),
                overflow: Bucket::full(quota, stopwatch)?,
                swept_at: Duration::ZERO,
            }))
        };
        Some(Buckets {
            quota,
            keys_of_shard_max: keys_max.div_ceil(SHARDS),
            stopwatch: stopwatch.clone(),
            hasher: RandomState::new(),
            shards: (0..SHARDS).map(|_| shard()).collect::<Option<_>>()?,
        })
    }

    fn take(&self, key: K) -> TokenTaken {
        let now = self.stopwatch.elapsed();
        let mut shard = self.shard(&key);
        let shard = &mut *shard;
        if shard.by_key.len() >= self.keys_of_shard_max && !shard.by_key.contains_key(&key) {
            shard.forget_idle(now);
            if shard.by_key.len() >= self.keys_of_shard_max {
                return shard.overflow.take(now);
            }
        }
        if let Some(bucket) = shard.by_key.get_mut(&key) {
            return bucket.take(now);
        }
        match Bucket::full(self.quota, &self.stopwatch) {
            Some(bucket) => shard.by_key.entry(key).or_insert(bucket).take(now),
            None => shard.overflow.take(now),
        }
    }

    fn shard(&self, key: &K) -> MutexGuard<'_, Shard<K>> {
        // The map uses the hash's other end.
        let hash = self.hasher.hash_one(key) >> 32;
        let position = usize::try_from(hash).unwrap_or_default() % SHARDS;
        lock(&self.shards[position])
    }

    #[cfg(test)]
    fn keys(&self) -> usize {
        let shards = self.shards.iter();
        shards
            .map(|shard| shard.lock().expect("not poisoned").by_key.len())
            .sum()
    }
}

impl<K: Eq + Hash> Shard<K> {
    fn forget_idle(&mut self, now: Duration) {
        if now.saturating_sub(self.swept_at) >= SWEEP_PAUSE {
            self.swept_at = now;
            self.by_key
                .retain(|_, bucket| now.saturating_sub(bucket.used_at) < WINDOW);
        }
    }
}

impl Bucket {
    /// A bucket begins full: who comes for the first time is not turned away.
    fn full(quota: u64, stopwatch: &Stopwatch) -> Option<Self> {
        if quota == 0 {
            return None;
        }
        let tokens = Builder::with_clock(quota, stopwatch.clone())
            .period(WINDOW)
            .max_tokens(quota)
            .initial_available(quota);
        Some(Bucket {
            // It fails for quotas and periods of nothing alone.
            tokens: tokens.build().ok()?,
            used_at: stopwatch.elapsed(),
        })
    }

    fn take(&mut self, now: Duration) -> TokenTaken {
        self.used_at = now;
        let taken = self.tokens.try_wait();
        let remaining = self.tokens.available();
        match taken {
            Ok(()) => TokenTaken::Yes { remaining },
            Err(TryWaitError::Insufficient(wait)) => TokenTaken::No { remaining, wait },
            Err(_) => TokenTaken::No {
                remaining,
                wait: WINDOW,
            },
        }
    }
}

impl Clock for Stopwatch {
    fn elapsed(&self) -> Duration {
        Stopwatch::elapsed(self)
    }
}

impl<K> fmt::Debug for Buckets<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buckets")
            .field("quota", &self.quota)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::domain::time::UnixSeconds;

    struct Time(Arc<AtomicU64>);

    impl Time {
        fn stopwatch(&self) -> Stopwatch {
            Stopwatch::Manual {
                clock: self.0.clone(),
                began: UnixSeconds(0),
            }
        }

        fn pass(&self, seconds: u64) {
            self.0.fetch_add(seconds, Ordering::SeqCst);
        }
    }

    fn buckets(quota: u64, keys_max: usize) -> (Buckets<Ipv4Addr>, Time) {
        let time = Time(Arc::default());
        let buckets = Buckets::new(quota, keys_max, &time.stopwatch()).expect("a limit");
        (buckets, time)
    }

    fn granted(buckets: &Buckets<Ipv4Addr>, key: u32) -> bool {
        matches!(buckets.take(Ipv4Addr::from(key)), TokenTaken::Yes { .. })
    }

    #[test]
    fn each_key_has_its_quota_and_gets_it_back() {
        let (buckets, time) = buckets(3, 1000);
        for _ in 0..3 {
            assert!(granted(&buckets, 1));
        }
        let TokenTaken::No { remaining, wait } = buckets.take(Ipv4Addr::from(1)) else {
            panic!("a fourth was granted")
        };
        assert_eq!((remaining, seconds_up(wait)), (0, 20));
        assert!(granted(&buckets, 2));
        time.pass(19);
        assert!(!granted(&buckets, 1));
        time.pass(1);
        assert!(granted(&buckets, 1) && !granted(&buckets, 1));
        time.pass(3600);
        assert!((0..3).all(|_| granted(&buckets, 1)));
        assert!(!granted(&buckets, 1), "more than a quota was saved up");
    }

    #[test]
    fn a_hundred_thousand_clients_take_no_more_memory_than_the_bound() {
        let (buckets, time) = buckets(10, 1600);
        assert!(
            (0..10).all(|_| granted(&buckets, 7)),
            "the first of them all"
        );
        let served = (1000..101_000)
            .filter(|key| granted(&buckets, *key))
            .count();
        assert!(buckets.keys() <= 1600, "{} keys", buckets.keys());
        // Those in the table, and what the common buckets gave.
        assert!(served <= 1600 + SHARDS * 10, "{served} were served");
        assert!(served >= 1000, "{served} were served");
        assert!(
            !granted(&buckets, 7),
            "a flood has cleared a client's count"
        );
        // Anyone who has been idle for a whole window makes room.
        time.pass(WINDOW_SECONDS);
        let served = (200_000..200_100)
            .filter(|key| granted(&buckets, *key))
            .count();
        assert_eq!(served, 100);
        assert!(buckets.keys() <= 200, "{} keys", buckets.keys());
    }

    #[test]
    fn nought_is_no_limit() {
        let time = Time(Arc::default());
        assert!(Buckets::<Ipv4Addr>::new(0, 1000, &time.stopwatch()).is_none());
    }

    #[test]
    fn waits_are_told_in_seconds_that_suffice() {
        for (millis, seconds) in [(1, 1), (1000, 1), (1001, 2), (59_999, 60)] {
            assert_eq!(seconds_up(Duration::from_millis(millis)), seconds);
        }
    }
}
