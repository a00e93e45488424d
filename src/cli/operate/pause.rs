//! `context402 pause` and `resume`: pauses and resumes sales.

use serde_json::{Value, json};

use crate::cli::{ConfigFile, Failure, failed, say, socket};
use crate::outside::clock::Clock;

pub(in crate::cli) fn pause(file: &ConfigFile) -> Result<(), Failure> {
    set(file, true)?;
    Ok(say(
        "Sales are paused: paid requests return 503 and are not charged. `context402 resume` resumes them.",
    )?)
}

pub(in crate::cli) fn resume(file: &ConfigFile) -> Result<(), Failure> {
    set(file, false)?;
    Ok(say("Sales resumed.")?)
}

fn set(file: &ConfigFile, is_paused: bool) -> Result<Value, Failure> {
    let config = file.load()?;
    let path = match is_paused {
        true => "/operator/pause",
        false => "/operator/resume",
    };
    socket::ask_or_open(&config, ("POST", path), async |store| {
        let earlier = store.read(|snapshot| snapshot.paused_since()).await;
        let earlier = earlier.map_err(failed)?;
        let since = is_paused.then(|| earlier.unwrap_or_else(|| Clock::System.now()));
        let written = store.write(move |tables| tables.set_paused(since)).await;
        written.map(|()| json!({})).map_err(failed)
    })
}
