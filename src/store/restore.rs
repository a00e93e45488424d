//! Restores a backup. The replaced file is saved; a file in use is never replaced, and a newer one only on request.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};

use crate::domain::time::UnixSeconds;
use crate::store::Settings;
use crate::store::files::{durable, make_folder, private, sync_folder};
use crate::store::open_error::OpenError;
use crate::store::verify::{Verified, verify};

/// A backup that now is the data file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    pub backup: Verified,
    /// Where the file lies that was there before.
    pub replaced: Option<PathBuf>,
}

#[derive(Debug)]
pub enum RestoreError {
    /// The backup is missing, damaged, foreign or newer.
    Backup(OpenError),
    /// The data file is in use, or cannot be looked at.
    DataFile(OpenError),
    /// The data file is sound, and was written to after the backup was made.
    KnowsMore {
        path: PathBuf,
        changed_at: UnixSeconds,
        taken_at: UnixSeconds,
    },
    Io {
        path: PathBuf,
        error: io::Error,
    },
}

pub(in crate::store) fn restore(
    backup: &Path,
    data_file: &Path,
    settings: Settings,
    now: UnixSeconds,
    discard_newer: bool,
) -> Result<Restored, RestoreError> {
    let verified = verify(backup, settings).map_err(RestoreError::Backup)?;
    let taken_at = verified.taken_at.map_or_else(|| changed_at(backup), Ok)?;
    let is_there = is_there(data_file)?;
    if is_there {
        refuse_loss(data_file, settings, taken_at, discard_newer)?;
    }
    // Held until the end, so that no service starts on the file that is being replaced.
    let _lock = is_there.then(|| lock(data_file)).transpose()?;
    make_folder(data_file).map_err(at(data_file))?;
    let incoming = beside(data_file, "restoring");
    place(backup, &incoming).map_err(|error| {
        // Half a file would only take the room that there was too little of.
        let _ = std::fs::remove_file(&incoming);
        at(&incoming)(error)
    })?;
    let replaced = is_there.then(|| beside(data_file, &format!("replaced-{now}")));
    if let Some(aside) = &replaced {
        std::fs::hard_link(data_file, aside).map_err(at(aside))?;
    }
    std::fs::rename(&incoming, data_file).map_err(at(data_file))?;
    sync_folder(data_file).map_err(at(data_file))?;
    Ok(Restored {
        backup: verified,
        replaced,
    })
}

/// A file that cannot be used has nothing to lose.
fn refuse_loss(
    data_file: &Path,
    settings: Settings,
    taken_at: UnixSeconds,
    discard_newer: bool,
) -> Result<(), RestoreError> {
    match verify(data_file, settings) {
        Err(error @ OpenError::InUse(_)) => Err(RestoreError::DataFile(error)),
        Err(error @ OpenError::Newer { .. }) if !discard_newer => {
            Err(RestoreError::DataFile(error))
        }
        Err(_) => Ok(()),
        Ok(_) => {
            let changed_at = changed_at(data_file)?;
            // Seconds tell no more: what was written in the same one counts as written after.
            match changed_at >= taken_at && !discard_newer {
                true => Err(RestoreError::KnowsMore {
                    path: data_file.to_owned(),
                    changed_at,
                    taken_at,
                }),
                false => Ok(()),
            }
        }
    }
}

fn is_there(path: &Path) -> Result<bool, RestoreError> {
    path.try_exists().map_err(at(path))
}

fn lock(path: &Path) -> Result<File, RestoreError> {
    let file = File::open(path).map_err(at(path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => {
            Err(RestoreError::DataFile(OpenError::InUse(path.to_owned())))
        }
        Err(std::fs::TryLockError::Error(error)) => Err(at(path)(error)),
    }
}

/// A copy that the service may open: it runs as the folder's owner, no matter who restores.
fn place(backup: &Path, incoming: &Path) -> io::Result<()> {
    match std::fs::remove_file(incoming) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut from = File::open(backup)?;
    let mut to = private(OpenOptions::new().write(true).create_new(true)).open(incoming)?;
    io::copy(&mut from, &mut to)?;
    let folder = incoming
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let owner = std::fs::metadata(folder.unwrap_or(Path::new(".")))?;
    let own = to.metadata()?;
    if (own.uid(), own.gid()) != (owner.uid(), owner.gid()) {
        chown(incoming, Some(owner.uid()), Some(owner.gid()))?;
    }
    durable(incoming).map(drop)
}

fn changed_at(path: &Path) -> Result<UnixSeconds, RestoreError> {
    let changed = std::fs::metadata(path).map_err(at(path))?.mtime();
    Ok(UnixSeconds(u64::try_from(changed).unwrap_or(0)))
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> RestoreError {
    let path = path.to_owned();
    move |error| RestoreError::Io { path, error }
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RestoreError::Backup(OpenError::Damaged { path, why }) => write!(
                f,
                "the backup {} cannot be used: {why}. Give another one",
                path.display()
            ),
            RestoreError::Backup(error) => write!(f, "the backup cannot be used: {error}"),
            RestoreError::DataFile(error) => error.fmt(f),
            RestoreError::KnowsMore {
                path,
                changed_at,
                taken_at,
            } => write!(
                f,
                "{} is intact and was written to {} s after the backup was made: it may know payments that the backup \
                 does not. To put it aside all the same, give --discard-newer",
                path.display(),
                changed_at.since(*taken_at)
            ),
            RestoreError::Io { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for RestoreError {}
