//! Backup of the running service: one copy at a time, beside the data file, and only if enough disk space remains for
//! sales. The caller moves the file to its destination, where the service may have no write access.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::flows::internal;
use crate::outside::{chance, disk};
use crate::store::{self, BackupError, CopyOptions};

/// A copy older than this is abandoned.
const LEFTOVER_SECONDS: u64 = 3600;

/// A copy waiting to be collected.
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
        // It may take minutes; a stop does not wait for it.
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
                "Another backup is in progress; wait until it has finished.",
            ));
        }
        Ok(Err(error @ BackupError::Stopped)) => {
            return Err(Refusal::new(Code::Overloaded, format!("{error}.")));
        }
        Ok(Err(error)) => {
            tracing::error!(error = %error, "backup failed");
            return Err(Refusal::new(Code::Internal, error.to_string()));
        }
        Ok(Ok(bytes)) => bytes,
    };
    app.store
        .write(move |tables| tables.note_backup(now))
        .await?;
    app.health.note_backup(now);
    tracing::info!(bytes, "backup copy made");
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
                "A copy of the data file needs up to {needed} bytes and {floor} must stay free for sales \
                (limits.free_disk_mib_min), but only {free} are free. Free space on the data file's disk."
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
