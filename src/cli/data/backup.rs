//! `context402 backup` and `context402 verify-backup`: copies the data file of a running or stopped service. The copy gets
//! its final name after it has been verified.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::app::store_settings;
use crate::cli::progress::Progress;
use crate::cli::{ConfigFile, Failure, failed, run_async, say, socket};
use crate::config::Config;
use crate::domain::figures::size;
use crate::domain::time::UnixSeconds;
use crate::outside::clock::Clock;
use crate::store::{CopyOptions, RestoreError, Settings, Verified, is_data_file};

/// Maximum time for the service's copy.
const COPY_TIME_MAX: Duration = Duration::from_secs(3600);
/// Poll interval for the next second.
const NAME_PAUSE: Duration = Duration::from_millis(100);
const PREFIX: &str = "context402-";
const SUFFIX: &str = ".redb";

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    file: ConfigFile,
    /// A folder, where the backup is named by its time, or a new file whose name ends in .redb
    path: PathBuf,
    /// In a folder: keep this many of the newest backups and delete older ones
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    keep: Option<u16>,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct VerifyArgs {
    /// The backup file
    path: PathBuf,
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let config = self.file.load()?;
        let is_folder = self.path.is_dir();
        if self.keep.is_some() && !is_folder {
            return Err(Failure::Usage(format!(
                "--keep needs a folder, and {} is not one",
                self.path.display()
            )));
        }
        let folder = match self.path.to_string_lossy().ends_with('/') {
            true => Some(self.path.as_path()),
            false => self.path.parent().filter(|_| !is_folder),
        };
        if let Some(folder) = folder
            && !folder.as_os_str().is_empty()
            && !folder.is_dir()
        {
            let folder = folder.display();
            return Err(failed(format_args!(
                "the folder {folder} does not exist; create it first: `mkdir -m 700 {folder}`"
            )));
        }
        // A folder that was mistyped, or is not made yet, must not become a file of that name.
        if !is_folder && self.path.extension().is_none_or(|ending| ending != "redb") {
            let path = self.path.display();
            return Err(failed(format_args!(
                "{path} is not a folder: create it first with `mkdir -m 700 {path}`, or name a file that ends in .redb"
            )));
        }
        let path = match is_folder {
            true => new_in(&self.path)?,
            false => self.path.clone(),
        };
        if path.exists() {
            return Err(failed(format_args!(
                "{} already exists and was not changed",
                path.display()
            )));
        }
        let partial = path.with_added_extension("partial");
        if partial.exists() {
            return Err(failed(format_args!(
                "{} exists: another backup is being written, or one was interrupted; wait for it, or delete the file",
                partial.display()
            )));
        }
        let progress = Progress::start("Copying and verifying the data file");
        let verified = write(&config, &partial).and_then(|()| {
            let verified = store_settings(&config).verify(&partial).map_err(failed)?;
            std::fs::rename(&partial, &path)?;
            sync(&path)?;
            Ok(verified)
        });
        let verified = verified.inspect_err(|_| {
            // Delete an incomplete backup; the failure is reported.
            let _ = std::fs::remove_file(&partial);
        })?;
        drop(progress);
        say(line(&path, &verified))?;
        match self.keep {
            Some(keep) => remove_older(&self.path, usize::from(keep)),
            None => Ok(()),
        }
    }
}

impl VerifyArgs {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let settings = Settings {
            cache_bytes: 16 * 1024 * 1024,
            pages_bytes_max: 0,
            unpaid_bytes_max: u64::MAX,
            unsettled_bytes_max: u64::MAX,
            sales_free_bytes_min: 0,
            free_bytes_min: 0,
        };
        check_is_backup(&self.path)?;
        let progress = Progress::start("Verifying all checksums and records");
        let verified = settings.verify(&self.path);
        let verified = verified.map_err(|error| failed(RestoreError::Backup(error)))?;
        drop(progress);
        Ok(say(line(&self.path, &verified))?)
    }
}

/// A file that was never a backup is called just that. A missing one must not become a new data file.
pub(in crate::cli) fn check_is_backup(path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    let refused = |why: &str| {
        Err(failed(format_args!(
            "{shown} {why}; give a file made by `context402 backup`"
        )))
    };
    if !path.exists() {
        return refused("does not exist");
    }
    if path.is_dir() {
        return refused("is a folder");
    }
    let place = |error: io::Error| failed(format_args!("{shown}: {error}"));
    let is_empty = std::fs::metadata(path).map_err(place)?.len() == 0;
    match is_empty || is_data_file(path).map_err(place)? {
        true => Ok(()),
        false => refused("is not a backup of context402 and cannot be used"),
    }
}

/// A verified file in one line.
pub(in crate::cli) fn line(path: &Path, verified: &Verified) -> String {
    let rows = |table: &str| {
        let found = verified.rows.iter().find(|(name, _)| *name == table);
        found.map_or(0, |(_, rows)| *rows)
    };
    let taken = match verified.taken_at.and_then(UnixSeconds::timestamp) {
        Some(at) => format!("taken at {at}"),
        None => "a data file, not a backup".to_owned(),
    };
    format!(
        "{} is verified: {taken}, schema {}, {}, {}, {}.",
        path.display(),
        verified.schema,
        size(verified.bytes),
        counted(rows("payment-places-1") + rows("payments-1"), "payment"),
        counted(rows("reports-1"), "report")
    )
}

/// `1 payment`, `2 payments`.
fn counted(count: u64, one: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {one}{ending}")
}

/// A new file, named by this second or, where that name is taken, by the next.
fn new_in(folder: &Path) -> Result<PathBuf, Failure> {
    loop {
        let path = folder.join(name(Clock::System.now())?);
        if !path.exists() {
            return Ok(path);
        }
        std::thread::sleep(NAME_PAUSE);
    }
}

/// Names that sort by time.
fn name(now: UnixSeconds) -> Result<String, Failure> {
    let now = now
        .timestamp()
        .ok_or_else(|| failed("the system clock is wrong; set it first"))?;
    Ok(format!(
        "{PREFIX}{}{SUFFIX}",
        now.strftime("%Y%m%dT%H%M%SZ")
    ))
}

/// The unverified copy, under a temporary name.
fn write(config: &Config, partial: &Path) -> Result<(), Failure> {
    match socket::connect(&config.socket) {
        Some(stream) => fetch(stream, partial),
        None => {
            let opened = socket::opened(config)?;
            let now = Clock::System.now();
            let options = CopyOptions {
                free_bytes_min: config.limits.free_disk_bytes_min,
                goes_on: Arc::new(|| true),
            };
            let copied = opened.store.copy_to(partial, now, &options);
            run_async(1, async {
                let store = opened.store;
                if copied.is_ok() {
                    let noted = store.write(move |tables| tables.note_backup(now));
                    noted.await.map_err(failed)?;
                }
                store.close().await.map_err(failed)
            })?;
            copied.map(drop).map_err(failed)
        }
    }
}

/// Moves the service's copy to the destination.
fn fetch(stream: UnixStream, partial: &Path) -> Result<(), Failure> {
    // Check write access before the service starts copying.
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut to = options
        .open(partial)
        .map_err(|error| failed(format_args!("{}: {error}", partial.display())))?;
    let answer = socket::post_within(stream, "/operator/backup", COPY_TIME_MAX)?;
    let snapshot = answer["path"].as_str().map(PathBuf::from);
    let snapshot =
        snapshot.ok_or_else(|| failed("the service did not report the path of its copy"))?;
    if std::fs::rename(&snapshot, partial).is_err() {
        let copied = File::open(&snapshot).and_then(|mut from| io::copy(&mut from, &mut to));
        // Remove it in any case: it would block the next backup.
        let _ = std::fs::remove_file(&snapshot);
        copied.map_err(|error| failed(format_args!("{}: {error}", snapshot.display())))?;
        to.sync_all()?;
    }
    Ok(())
}

fn sync(path: &Path) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Removes leftovers of interrupted backups.
fn remove_left_overs(folder: &Path) -> Result<(), Failure> {
    let now = Clock::System.now().0;
    for file in std::fs::read_dir(folder)? {
        let file = file?;
        let name = file.file_name();
        let whole = name.to_str().and_then(|name| name.strip_suffix(".partial"));
        let changed_at = u64::try_from(file.metadata()?.mtime()).unwrap_or(0);
        if whole.is_some_and(is_ours) && changed_at + COPY_TIME_MAX.as_secs() < now {
            std::fs::remove_file(file.path())?;
            say(format_args!(
                "{} removed: incomplete backup.",
                file.path().display()
            ))?;
        }
    }
    Ok(())
}

/// Deletes only files named by this command.
fn remove_older(folder: &Path, keep: usize) -> Result<(), Failure> {
    let mut backups: Vec<PathBuf> = Vec::new();
    for file in std::fs::read_dir(folder)? {
        let path = file?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_some_and(is_ours) {
            backups.push(path);
        }
    }
    remove_left_overs(folder)?;
    backups.sort();
    let old = backups.len().saturating_sub(keep);
    for path in &backups[..old] {
        std::fs::remove_file(path)?;
        say(format_args!("{} removed.", path.display()))?;
    }
    Ok(())
}

fn is_ours(name: &str) -> bool {
    let time = name
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.strip_suffix(SUFFIX));
    time.is_some_and(|time| {
        time.len() == "20261121T000000Z".len()
            && time
                .bytes()
                .all(|byte| byte.is_ascii_digit() || matches!(byte, b'T' | b'Z'))
    })
}

#[cfg(test)]
mod tests {
    use crate::cli::data::backup::*;

    #[test]
    fn only_names_of_our_own_are_ever_removed() {
        let own = name(UnixSeconds(1_795_248_000)).expect("a time");
        assert_eq!(own, "context402-20261121T080000Z.redb");
        assert!(is_ours(&own));
        for other in [
            "context402.redb",
            "context402-mine.redb",
            "context402-20261121T080000Z.redb.partial",
            "context402-20261121T080000Z-old.redb",
            "20261121T080000Z.redb",
        ] {
            assert!(!is_ours(other), "{other}");
        }
    }
}
