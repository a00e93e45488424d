//! The robots.txt of a sold page's site. It is fetched in parallel with the page and waited for only briefly, so that it
//! neither fails nor slows a sale.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use crate::app::Shared;
use crate::domain::robots::{Permission, Robots};
use crate::domain::signals::Signals;
use crate::domain::target::TargetUrl;
use crate::domain::usage::Usage;

/// Maximum wait after the page has arrived. A later answer is cached for the next sale.
const WAIT_MAX: Duration = Duration::from_millis(250);

/// A running request.
#[derive(Debug)]
pub struct PendingRobots {
    target: TargetUrl,
    answer: JoinHandle<Option<Arc<Robots>>>,
}

/// Fetches the site's robots.txt unless it is cached. The fetch completes even if nobody waits any more.
pub fn ask(app: &Shared, target: &TargetUrl) -> PendingRobots {
    let (files, asked) = (app.outside.robots.clone(), target.clone());
    PendingRobots {
        target: target.clone(),
        answer: app.tasks.spawn(async move { files.read(&asked).await }),
    }
}

/// Adds the rules of robots.txt for the requested page and for the final one.
pub async fn complete(app: &Shared, usage: Usage, asked: PendingRobots, last: &TargetUrl) -> Usage {
    let until = Instant::now() + WAIT_MAX;
    if asked.target == *last {
        let (permission, signals) = asked.before(until).await;
        return usage.with_robots(permission, signals);
    }
    let asked_last = ask(app, last);
    let (first, _) = asked.before(until).await;
    let (permission, signals) = asked_last.before(until).await;
    usage.with_robots(first.and(permission), signals)
}

/// What robots.txt says of a page, as far as it is read in time.
pub async fn permission(app: &Shared, target: &TargetUrl) -> Permission {
    ask(app, target).before(Instant::now() + WAIT_MAX).await.0
}

/// The cached rules.
pub fn known(app: &Shared, target: &TargetUrl) -> Permission {
    let robots = app.outside.robots.known(target);
    robots.map_or(Permission::Unknown, |robots| {
        robots.permission(&path(target))
    })
}

impl PendingRobots {
    async fn before(self, until: Instant) -> (Permission, Signals) {
        match timeout_at(until, self.answer).await {
            Ok(Ok(Some(robots))) => {
                let path = path(&self.target);
                (robots.permission(&path), robots.signals(&path))
            }
            _ => (Permission::Unknown, Signals::default()),
        }
    }
}

/// The path with its query.
fn path(target: &TargetUrl) -> String {
    let url = target.url();
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    }
}
