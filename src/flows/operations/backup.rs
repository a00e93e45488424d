//! A backup of the running service: one copy at a time, beside the data file, and only where it leaves room to go on
//! selling. Who asked takes the file away; it may not be writable for us where it belongs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::app::Shared;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::UnixSeconds;
use crate::flows::internal;
use crate::outside::{chance, disk};
use crate::store::{self, BackupError, CopyOptions};

/// After so long nobody comes for a copy any more.
const LEFTOVER_SECONDS: u64 = 3600;

/// A copy that waits to be taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub path: PathBuf,
    pub bytes: u64,
    pub taken_at: UnixSeconds,
}

pub async fn snapshot(app: &Shared) -> Result<Snapshot, Refusal> {
    let (data_file, now) = (&app.config.data_file, app.now());
    let path = beside(data_file, &hex::encode(chance::bytes::<8>()));
    refuse_without_room(app).await?;
    let (store, copy, leftovers) = (app.store.clone(), path.clone(), beside(data_file, ""));
    let serving = app.clone();
    let options = CopyOptions {
        free_bytes_min: app.config.limits.free_disk_bytes_min,
        // It may take minutes; nobody waits for it on a stop.
        goes_on: Arc::new(move || !serving.health.is_stopping()),
    };
    let copied = app.backups.run(move || {
        disk::remove_older(&leftovers, now, LEFTOVER_SECONDS);
        store.copy_to(&copy, now, &options)
    });
    let bytes = match copied.await {
        Err(_) => {
            return Err(Refusal::new(
                Code::Conflict,
                "Another backup is being made; wait for its end.",
            ));
        }
        Ok(Err(error @ BackupError::Stopped)) => {
            return Err(Refusal::new(Code::Overloaded, format!("{error}.")));
        }
        Ok(Err(error)) => {
            tracing::error!(error = %error, "the backup could not be made");
            return Err(Refusal::new(Code::Internal, error.to_string()));
        }
        Ok(Ok(bytes)) => bytes,
    };
    app.store
        .write(move |tables| tables.note_backup(now))
        .await?;
    app.health.note_backup(now);
    tracing::info!(bytes, "a copy of the data file was made for a backup");
    Ok(Snapshot {
        path,
        bytes,
        taken_at: now,
    })
}

/// A full disk stops all sales; a backup must not be what fills it.
async fn refuse_without_room(app: &Shared) -> Result<(), Refusal> {
    let needed = app.store.count_bytes().await?;
    let free = store::free_bytes(&app.config.data_file)
        .map_err(|error| internal("the disk's free space could not be read", &error))?;
    let floor = app.config.limits.free_disk_bytes_min;
    if needed.saturating_add(floor) > free {
        return Err(Refusal::new(
            Code::Overloaded,
            format!(
                "A copy of the data file takes up to {needed} bytes and {floor} must stay free for sales \
                 (limits.free_disk_mib_min), but only {free} are free. Make room on the data file's disk."
            ),
        ));
    }
    Ok(())
}

fn beside(data_file: &Path, tag: &str) -> PathBuf {
    let mut name = data_file.as_os_str().to_owned();
    name.push(".snapshot-");
    name.push(tag);
    PathBuf::from(name)
}
