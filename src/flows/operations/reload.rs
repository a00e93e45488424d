//! Reads the configuration again while the service runs, and puts in force what can change without a restart: which
//! hosts are blocked, and where bundles are paid for. Everything else of it waits for the next start, and is named.

use crate::app::Shared;
use crate::config::Config;
use crate::domain::refusal::{Code, Refusal};

/// The settings that are put in force without a restart.
pub const SETTINGS: [&str; 4] = [
    "fetch.blocklist",
    "bundles.scout_link",
    "bundles.builder_link",
    "bundles.audit_link",
];

/// What a further look at the configuration has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reloaded {
    /// Settings that hold now and did not before.
    pub changed: Vec<&'static str>,
    /// Settings that differ from those in force and wait for a restart. Secrets are not compared.
    pub waiting: Vec<&'static str>,
}

/// Reads the configuration again and puts in force what can be.
///
/// # Errors
/// `Conflict` where the service was started without a configuration to be read again, or where there is an error in it.
/// Then everything stays as it is.
pub async fn reload(app: &Shared) -> Result<Reloaded, Refusal> {
    let app_in_lane = app.clone();
    let read = app
        .backups
        .run(move || app_in_lane.read_config.get().map(|read| read()));
    let read = read.await.map_err(|_| Refusal::of(Code::Overloaded))?;
    let Some(read) = read else {
        let message = "The service was not started from a configuration that can be read again.";
        return Err(Refusal::new(Code::Conflict, message));
    };
    let config = read
        .map_err(|error| Refusal::new(Code::Conflict, format!("Nothing has changed: {error}.")))?;
    let reloaded = Reloaded {
        changed: differing(&app.reloaded(), &config, |key| SETTINGS.contains(&key)),
        waiting: differing(&app.config, &config, |key| !SETTINGS.contains(&key)),
    };
    tracing::info!(changed = ?reloaded.changed, waiting = ?reloaded.waiting, "the configuration was read again");
    app.reload(config);
    Ok(reloaded)
}

/// Keys whose values differ, of those that are meant.
fn differing(one: &Config, other: &Config, meant: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let keys = other.lines.iter().map(|(key, ..)| *key);
    let value = |config: &Config, wanted: &str| {
        let mut lines = config.lines.iter();
        let line = lines.find(|(key, ..)| *key == wanted);
        line.map(|(_, value, _)| value.clone())
    };
    keys.filter(|key| meant(key) && value(one, key) != value(other, key))
        .collect()
}
