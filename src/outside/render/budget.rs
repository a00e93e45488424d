//! What one render may take from the web, counted where its traffic passes.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::domain::limit_reached::LimitReached;
use crate::sync::lock;

/// The most that one render may take.
#[derive(Clone, Copy, Debug)]
pub struct BudgetLimits {
    /// Plain requests and tunnels together. Requests inside a tunnel are not seen.
    pub requests_max: u32,
    /// Different hosts.
    pub hosts_max: usize,
    /// Connections to one host at a time; further ones wait.
    pub of_host_max: usize,
    /// Bytes from all sites together.
    pub down_bytes_max: u64,
    /// Bytes to all sites together.
    pub up_bytes_max: u64,
    /// Names that are looked up at a time; further ones wait.
    pub lookups_max: usize,
}

impl Default for BudgetLimits {
    fn default() -> Self {
        BudgetLimits {
            requests_max: 300,
            hosts_max: 40,
            of_host_max: 6,
            down_bytes_max: 20 * 1024 * 1024,
            up_bytes_max: 1024 * 1024,
            lookups_max: 4,
        }
    }
}

/// What one render has taken so far.
#[derive(Debug)]
pub struct Budget {
    limits: BudgetLimits,
    requests: AtomicU32,
    refused: AtomicU32,
    down_bytes: AtomicU64,
    up_bytes: AtomicU64,
    hosts: Mutex<HashMap<String, Arc<Semaphore>>>,
    pub(super) lookups: Semaphore,
    ended: watch::Sender<bool>,
}

impl Budget {
    pub fn new(limits: BudgetLimits) -> Self {
        Budget {
            limits,
            requests: AtomicU32::new(0),
            refused: AtomicU32::new(0),
            down_bytes: AtomicU64::new(0),
            up_bytes: AtomicU64::new(0),
            hosts: Mutex::default(),
            lookups: Semaphore::new(limits.lookups_max),
            ended: watch::channel(false).0,
        }
    }

    /// Counts a request to a host, and waits for a connection of the host's share.
    ///
    /// # Errors
    /// The render has had all its requests, or all its hosts.
    pub async fn request(&self, host: &str) -> Result<OwnedSemaphorePermit, LimitReached> {
        if self.requests.fetch_add(1, Ordering::Relaxed) >= self.limits.requests_max {
            return Err(LimitReached);
        }
        let share = {
            let mut hosts = lock(&self.hosts);
            let room = hosts.len() < self.limits.hosts_max;
            match hosts.entry(host.to_owned()) {
                Entry::Occupied(known) => known.get().clone(),
                Entry::Vacant(_) if !room => return Err(LimitReached),
                Entry::Vacant(new) => new
                    .insert(Arc::new(Semaphore::new(self.limits.of_host_max)))
                    .clone(),
            }
        };
        share.acquire_owned().await.map_err(|_| LimitReached)
    }

    /// Counts bytes that a site has sent, before they are passed on.
    pub fn count_received(&self, bytes: usize) -> Result<(), LimitReached> {
        within(&self.down_bytes, bytes, self.limits.down_bytes_max)
    }

    /// Counts bytes that go to a site, before they are passed on.
    pub fn count_sent(&self, bytes: usize) -> Result<(), LimitReached> {
        within(&self.up_bytes, bytes, self.limits.up_bytes_max)
    }

    /// Counts something that was not let through.
    pub fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub fn refused(&self) -> u32 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Ends every connection of the render.
    pub fn end(&self) {
        self.ended.send_replace(true);
    }

    /// Resolves when the render is over.
    pub async fn ended(&self) {
        let mut ended = self.ended.subscribe();
        // An error: the sender is gone, and the render with it.
        let _ = ended.wait_for(|ended| *ended).await;
    }
}

fn within(count: &AtomicU64, bytes: usize, most: u64) -> Result<(), LimitReached> {
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    let before = count.fetch_add(bytes, Ordering::Relaxed);
    match before.saturating_add(bytes) <= most {
        true => Ok(()),
        false => Err(LimitReached),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_render_has_so_many_requests_hosts_and_bytes() {
        let budget = Budget::new(BudgetLimits {
            requests_max: 4,
            hosts_max: 2,
            of_host_max: 1,
            down_bytes_max: 10,
            up_bytes_max: 5,
            lookups_max: 1,
        });
        let held = budget.request("a.org").await.expect("room");
        let waits = tokio::time::timeout(Duration::from_millis(20), budget.request("a.org"));
        assert!(waits.await.is_err(), "one connection to a host at a time");
        drop(held);
        assert!(budget.request("b.org").await.is_ok());
        assert_eq!(
            budget.request("c.org").await.err(),
            Some(LimitReached),
            "a third host"
        );
        assert_eq!(
            budget.request("a.org").await.err(),
            Some(LimitReached),
            "a fifth request"
        );
        assert_eq!(
            (budget.count_received(10), budget.count_received(1)),
            (Ok(()), Err(LimitReached))
        );
        assert_eq!(
            (budget.count_sent(6), budget.count_sent(0)),
            (Err(LimitReached), Err(LimitReached))
        );
    }

    #[tokio::test]
    async fn the_end_is_heard_by_who_asks_before_and_after() {
        let budget = Arc::new(Budget::new(BudgetLimits::default()));
        let waiting = tokio::spawn({
            let budget = budget.clone();
            async move { budget.ended().await }
        });
        tokio::task::yield_now().await;
        budget.end();
        waiting.await.expect("no panic");
        budget.ended().await;
    }
}
