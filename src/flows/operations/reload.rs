//! Reloads the configuration. Blocked hosts and payment links change at once; other changed settings are reported and wait
//! for a restart.

use crate::app::Shared;
use crate::config::Config;
use crate::domain::refusal::{Code, Refusal};

/// The settings that change without a restart.
pub const SETTINGS: [&str; 4] = [
    "fetch.blocklist",
    "bundles.scout_link",
    "bundles.builder_link",
    "bundles.audit_link",
];

/// The result of a reload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reloaded {
    /// Settings that have changed now.
    pub changed: Vec<&'static str>,
    /// Changed settings that wait for a restart. Secrets are not compared.
    pub waiting: Vec<&'static str>,
}

/// Reloads the configuration.
///
/// # Errors
/// `Conflict` if the service was started without a configuration file, or the configuration is invalid. Then nothing
/// changes.
pub async fn reload(app: &Shared) -> Result<Reloaded, Refusal> {
    let app_in_call = app.clone();
    let read = app
        .backups
        .run(move || app_in_call.read_config.get().map(|read| read()));
    let read = read.await.map_err(|_| Refusal::of(Code::Overloaded))?;
    let Some(read) = read else {
        let message = "The service was started without a configuration that can be reloaded.";
        return Err(Refusal::new(Code::Conflict, message));
    };
    let config = read
        .map_err(|error| Refusal::new(Code::Conflict, format!("Nothing has changed: {error}.")))?;
    let reloaded = Reloaded {
        changed: differing(&app.reloaded(), &config, |key| SETTINGS.contains(&key)),
        waiting: differing(&app.config, &config, |key| !SETTINGS.contains(&key)),
    };
    tracing::info!(changed = ?reloaded.changed, waiting = ?reloaded.waiting, "configuration reloaded");
    app.reload(config);
    Ok(reloaded)
}

/// The given keys whose values differ.
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
