//! The operator's brake: while it is on, nothing that is paid for is begun. It outlives the process. What is paid
//! already is delivered all the same.

use crate::app::Shared;
use crate::domain::time::UnixSeconds;
use crate::store::StoreError;

/// Puts the brake on or off; since when it is on now.
pub async fn set(app: &Shared, is_paused: bool) -> Result<Option<UnixSeconds>, StoreError> {
    let now = app.now();
    let earlier = app.store.read(|snapshot| snapshot.paused_since()).await?;
    let since = is_paused.then(|| earlier.unwrap_or(now));
    app.store
        .write(move |tables| tables.set_paused(since))
        .await?;
    app.health.note_paused(since);
    match since {
        Some(_) => tracing::warn!("the operator has paused what is paid for"),
        None => tracing::warn!("the operator has resumed what is paid for"),
    }
    Ok(since)
}

/// Takes up what the process before this one was told.
pub async fn take_up(app: &Shared) -> Result<(), StoreError> {
    let since = app.store.read(|snapshot| snapshot.paused_since()).await?;
    app.health.note_paused(since);
    if since.is_some() {
        tracing::warn!("what is paid for is paused, as it was before the start");
    }
    Ok(())
}
