//! Live settings that the operator changes in the console. A value of the console goes before the configuration's, file
//! and environment alike, until the operator takes it back; it survives a restart. Every change of a live setting is
//! recorded, whether it came from the console or from a reload.

use crate::app::{App, Shared};
use crate::config::Config;
use crate::config::live::Live;
pub use crate::config::live::{CONSOLE, LIVE, LiveKind, NOT_SET};
use crate::domain::code::Code;
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::store::{Change, Override, Snapshot, StoreError};

/// The longest value of a setting.
pub const TEXT_CHARACTERS_MAX: usize = 20_000;
/// Of a longer old or new value, the record of changes has the beginning.
const SHOWN_CHARACTERS_MAX: usize = 2_000;

/// Gives a live setting a value, or with `None` leaves it to the configuration again, and puts it in force.
///
/// # Errors
/// `InvalidRequest` for another setting or a value that the configuration would refuse. Then nothing changes.
pub async fn set(app: &Shared, key: &str, text: Option<String>) -> Result<(), Refusal> {
    let invalid = |message: String| Refusal::new(Code::InvalidRequest, message);
    let Some(Live { key, .. }) = Live::find(key) else {
        return Err(invalid(format!("{key} cannot be changed in the console.")));
    };
    if text
        .as_ref()
        .is_some_and(|text| text.chars().count() > TEXT_CHARACTERS_MAX)
    {
        return Err(invalid(format!(
            "{key} is longer than {TEXT_CHARACTERS_MAX} characters."
        )));
    }
    let _place = app
        .setting_changes
        .enter()
        .await
        .map_err(|_| Refusal::of(Code::Overloaded))?;
    let now = app.now();
    let value = text.map(|text| Override { text, at: now.0 });
    let (configured, former) = (app.configured(), app.reloaded());
    let mut values = app.store.read(Snapshot::overrides).await?;
    values.retain(|(known, _)| known != key);
    let effective = applied(app, &configured, &values);
    let effective = match &value {
        None => effective,
        Some(value) => (effective.with_live(key, &value.text))
            .map_err(|error| invalid(format!("Nothing has changed: {error}.")))?,
    };
    let act = if value.is_some() { "set" } else { "unset" };
    let changes = changes(act, &former, &effective, now);
    let written = app.store.write(move |tables| {
        tables.put_override(key, value.as_ref())?;
        changes
            .iter()
            .try_for_each(|change| tables.note_change(change))
    });
    written.await?;
    tracing::info!(setting = key, act, "live setting changed in the console");
    app.put_in_force(configured, effective.into());
    Ok(())
}

/// Puts a configuration that was just read in force, with the console's values on top; returns the live settings that
/// have changed. The caller holds a place of `setting_changes`.
pub(super) async fn put_in_force(
    app: &Shared,
    configured: Config,
) -> Result<Vec<&'static str>, StoreError> {
    let values = app.store.read(Snapshot::overrides).await?;
    let effective = applied(app, &configured, &values);
    let changes = changes("reload", &app.reloaded(), &effective, app.now());
    let changed = (LIVE.iter().map(|live| live.key))
        .filter(|key| changes.iter().any(|change| change.setting == *key));
    let changed = changed.collect();
    if !changes.is_empty() {
        let written = app.store.write(move |tables| {
            changes
                .iter()
                .try_for_each(|change| tables.note_change(change))
        });
        written.await?;
    }
    app.put_in_force(configured.into(), effective.into());
    Ok(changed)
}

/// Puts the console's values in force at start.
pub async fn restore(app: &Shared) -> Result<(), StoreError> {
    let values = app.store.read(Snapshot::overrides).await?;
    if !values.is_empty() {
        let configured = app.configured();
        let effective = applied(app, &configured, &values);
        app.put_in_force(configured, effective.into());
    }
    Ok(())
}

/// The configuration at start with the live settings that were read and the console's values. One that this version
/// refuses is left out and logged.
fn applied(app: &App, configured: &Config, values: &[(String, Override)]) -> Config {
    let config = app.config.clone().with_live_of(configured.clone());
    values.iter().fold(config, |config, (key, value)| {
        match config.clone().with_live(key, &value.text) {
            Ok(config) => config,
            Err(error) => {
                tracing::error!(setting = %key, %error, "a value of the console is not used: set it again");
                config
            }
        }
    })
}

/// A record for each live setting whose value differs.
fn changes(act: &str, old: &Config, new: &Config, now: UnixSeconds) -> Vec<Change> {
    let value = |config: &Config, key: &str| {
        let (value, _) = config.line(key).unwrap_or_default();
        match value.char_indices().nth(SHOWN_CHARACTERS_MAX) {
            Some((end, _)) => format!("{} …", &value[..end]),
            None => value.to_owned(),
        }
    };
    let differing = LIVE.iter().map(|live| live.key).filter(|key| {
        let [old, new] = [old, new].map(|config| config.line(key).unwrap_or_default().0);
        old != new
    });
    let change = |key: &'static str| Change {
        at: now.0,
        act: act.to_owned(),
        setting: key.to_owned(),
        old: value(old, key),
        new: value(new, key),
    };
    differing.map(change).collect()
}
