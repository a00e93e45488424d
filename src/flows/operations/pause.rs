//! Pause and resume of sales by the operator. While paused, no sale starts; paid orders are still delivered. The pause
//! survives a restart.

use crate::app::Shared;
use crate::domain::time::UnixSeconds;
use crate::store::StoreError;

/// Pauses or resumes sales; returns since when they are paused.
pub async fn set(app: &Shared, is_paused: bool) -> Result<Option<UnixSeconds>, StoreError> {
    let now = app.now();
    let earlier = app.store.read(|snapshot| snapshot.paused_since()).await?;
    let since = is_paused.then(|| earlier.unwrap_or(now));
    app.store
        .write(move |tables| tables.set_paused(since))
        .await?;
    app.health.note_paused(since);
    match since {
        Some(_) => tracing::warn!("sales paused by the operator"),
        None => tracing::warn!("sales resumed by the operator"),
    }
    Ok(since)
}

/// Restores the pause at start.
pub async fn restore(app: &Shared) -> Result<(), StoreError> {
    let since = app.store.read(|snapshot| snapshot.paused_since()).await?;
    app.health.note_paused(since);
    if since.is_some() {
        tracing::warn!("sales are still paused from before the restart");
    }
    Ok(())
}
