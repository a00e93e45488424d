//! Fetches and caches robots.txt files, with one request per site at a time.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::OnceCell;

use crate::domain::robots::Robots;
use crate::domain::target::TargetUrl;
use crate::domain::time::UnixSeconds;
use crate::outside::call::ConcurrencyLimit;
use crate::outside::clock::Clock;
use crate::outside::web::Web;
use crate::sync::lock;

/// Sites that are asked at the same time.
pub const LOOKUPS_MAX: usize = 8;
/// Wait for one of those places; without one the site is not asked.
const PLACE_WAIT_MAX: Duration = Duration::from_secs(1);
/// For one site, redirects included.
const TIME_MAX: Duration = Duration::from_secs(3);

/// RFC 9309 section 2.4: not longer than a day.
const KEPT_SECONDS: u64 = 24 * 3600;
/// A site that did not answer is asked again after this.
const FAILURE_SECONDS: u64 = 10 * 60;
/// Our own shortage passes sooner.
const SHORTAGE_SECONDS: u64 = 10;

const SITES_MAX: usize = 2_048;
/// Of all that is kept together.
const BYTES_MAX: usize = 16 * 1024 * 1024;

/// What is known. Cheap to clone.
#[derive(Clone)]
pub struct RobotsFiles {
    web: Web,
    clock: Clock,
    places: ConcurrencyLimit,
    sites: Arc<Mutex<HashMap<String, Site>>>,
}

struct Site {
    asked_at: UnixSeconds,
    file: Arc<OnceCell<File>>,
}

/// What a site said, or that it did not.
struct File {
    robots: Option<Arc<Robots>>,
    until: UnixSeconds,
    bytes: usize,
}

impl RobotsFiles {
    pub fn new(web: Web, clock: Clock) -> Self {
        RobotsFiles {
            web,
            clock,
            places: ConcurrencyLimit::new(LOOKUPS_MAX, PLACE_WAIT_MAX),
            sites: Arc::default(),
        }
    }

    /// What is known of the target's site without asking it.
    pub fn known(&self, target: &TargetUrl) -> Option<Arc<Robots>> {
        let now = self.clock.now();
        let sites = self.lock();
        let file = sites.get(&origin(target))?.file.get()?;
        file.robots.clone().filter(|_| file.until > now)
    }

    /// What the target's site says, from memory or from the site. `None` when that cannot be told.
    pub async fn read(&self, target: &TargetUrl) -> Option<Arc<Robots>> {
        let cell = self.cell(target);
        let file = cell.get_or_init(|| self.ask(target)).await;
        file.robots.clone()
    }

    /// The place of a site's answer, which may still be on its way.
    fn cell(&self, target: &TargetUrl) -> Arc<OnceCell<File>> {
        let now = self.clock.now();
        let mut sites = self.lock();
        let origin = origin(target);
        if let Some(site) = sites.get(&origin)
            && site.file.get().is_none_or(|file| file.until > now)
        {
            return site.file.clone();
        }
        sites.remove(&origin);
        make_room(&mut sites, now);
        let file = Arc::<OnceCell<File>>::default();
        let site = Site {
            asked_at: now,
            file: file.clone(),
        };
        sites.insert(origin, site);
        file
    }

    async fn ask(&self, target: &TargetUrl) -> File {
        let (web, target) = (self.web.clone(), target.clone());
        let asked = self.places.run(move || web.robots(&target, TIME_MAX)).await;
        let (robots, seconds) = match asked {
            Ok(Some(robots)) => (Some(Arc::new(robots)), KEPT_SECONDS),
            Ok(None) => (None, FAILURE_SECONDS),
            Err(_) => (None, SHORTAGE_SECONDS),
        };
        File {
            bytes: robots.as_ref().map_or(0, |robots| robots.bytes()),
            until: self.clock.now().plus(seconds),
            robots,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Site>> {
        lock(&self.sites)
    }
}

/// Forgets what is too old, and when that is not enough the older half.
fn make_room(sites: &mut HashMap<String, Site>, now: UnixSeconds) {
    let bytes = |sites: &HashMap<String, Site>| -> usize {
        let files = sites.values().filter_map(|site| site.file.get());
        files.map(|file| file.bytes).sum()
    };
    let is_full =
        |sites: &HashMap<String, Site>| sites.len() >= SITES_MAX || bytes(sites) > BYTES_MAX;
    if is_full(sites) {
        sites.retain(|_, site| site.file.get().is_none_or(|file| file.until > now));
    }
    if is_full(sites) {
        let mut times: Vec<(UnixSeconds, String)> = sites
            .iter()
            .map(|(origin, site)| (site.asked_at, origin.clone()))
            .collect();
        times.sort();
        for (_, origin) in times.iter().take(times.len().div_ceil(2)) {
            sites.remove(origin);
        }
    }
}

/// Scheme, host and port, as RFC 9309 section 2.3 has it.
fn origin(target: &TargetUrl) -> String {
    target.url().origin().ascii_serialization()
}

impl fmt::Debug for RobotsFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RobotsFiles")
            .field("sites", &self.lock().len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(bytes: usize, until: u64) -> Site {
        let file = File {
            robots: None,
            until: UnixSeconds(until),
            bytes,
        };
        Site {
            asked_at: UnixSeconds(until),
            file: Arc::new(OnceCell::new_with(Some(file))),
        }
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_oldest_leaves_first() {
        let mut sites: HashMap<String, Site> = (0..SITES_MAX as u64)
            .map(|number| (number.to_string(), kept(10, 1_000 + number)))
            .collect();
        make_room(&mut sites, UnixSeconds(1_100));
        assert_eq!(sites.len(), SITES_MAX - 101);
        sites.insert("large".to_owned(), kept(BYTES_MAX, 9_000));
        make_room(&mut sites, UnixSeconds(1_100));
        assert!(sites.len() <= SITES_MAX / 2 && sites.contains_key("large"));
        assert!(!sites.contains_key("101"));
    }
}
