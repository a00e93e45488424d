//! Reloads the configuration. The settings in `config::live::LIVE` change at once; other changed settings are reported and
//! wait for a restart.

use crate::app::Shared;
use crate::config::live::{CONSOLE, LIVE, Live};
use crate::config::{Config, Origin};
use crate::domain::code::Code;
use crate::domain::refusal::Refusal;
use crate::flows::operations::overrides;

/// The result of a reload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reloaded {
    /// Settings whose value in force has changed now.
    pub changed: Vec<&'static str>,
    /// Changed settings that wait for a restart. Secrets are not compared.
    pub waiting: Vec<&'static str>,
    /// Settings whose configured value has no effect, because the console has another. Defaults are left out.
    pub overridden: Vec<&'static str>,
}

/// Reloads the configuration.
///
/// # Errors
/// `Conflict` if the service was started without a configuration file, or the configuration is invalid. Then nothing
/// changes.
pub async fn reload(app: &Shared) -> Result<Reloaded, Refusal> {
    let _place = app
        .setting_changes
        .enter()
        .await
        .map_err(|_| Refusal::of(Code::Overloaded))?;
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
    let waiting = waiting(&app.config, &config);
    let changed = overrides::put_in_force(app, config).await?;
    let reloaded = Reloaded {
        changed,
        waiting,
        overridden: overridden(&app.configured(), &app.reloaded()),
    };
    tracing::info!(changed = ?reloaded.changed, waiting = ?reloaded.waiting, "configuration reloaded");
    if !reloaded.overridden.is_empty() {
        tracing::info!(
            settings = ?reloaded.overridden,
            "the configured values of these settings have no effect: the console overrides them"
        );
    }
    Ok(reloaded)
}

/// The settings that a source sets and the console overrides. Defaults are left out.
fn overridden(configured: &Config, effective: &Config) -> Vec<&'static str> {
    let is_set = |origin: &str| !origin.is_empty() && origin != Origin::Default.to_string();
    let keys = LIVE.iter().map(|live| live.key);
    keys.filter(|key| {
        let [configured, effective] =
            [configured, effective].map(|config| config.line(key).unwrap_or_default());
        effective.1 == CONSOLE && is_set(configured.1) && configured.0 != effective.0
    })
    .collect()
}

/// The settings that differ and are not live.
fn waiting(started_with: &Config, read: &Config) -> Vec<&'static str> {
    let keys = read.lines.iter().map(|(key, ..)| *key);
    let differs = |key: &str| {
        let [one, other] =
            [started_with, read].map(|config| config.line(key).map(|(value, _)| value));
        one != other
    };
    keys.filter(|key| Live::find(key).is_none() && differs(key))
        .collect()
}
