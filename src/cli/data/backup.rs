//! `context402 backup` and `context402 verify-backup`: a copy of the running service's data file, or of a stopped
//! one's, that bears its name only once it was looked through.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::app::store_settings;
use crate::cli::{ConfigFile, Failure, config_failure, failed, run_async, say, socket};
use crate::config::Config;
use crate::domain::time::UnixSeconds;
use crate::outside::clock::Clock;
use crate::store::{CopyOptions, Settings, Verified};

/// How long the service may take for its copy.
const COPY_TIME_MAX: Duration = Duration::from_secs(3600);
/// Between looks whether a second is over.
const NAME_PAUSE: Duration = Duration::from_millis(100);
const PREFIX: &str = "context402-";
const SUFFIX: &str = ".redb";

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    file: ConfigFile,
    /// A new file, or an existing folder, where the backup is named by its time
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
        let config =
            Config::load(self.file.config.as_deref()).map_err(|error| config_failure(&error))?;
        let is_folder = self.path.is_dir();
        if self.keep.is_some() && !is_folder {
            return Err(Failure::Usage(format!(
                "--keep is for a folder, and {} is none",
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
                "the folder {folder} is not there; make it first: `mkdir -m 700 {folder}`"
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
        let verified = write(&config, &partial).and_then(|()| {
            let verified = store_settings(&config).verify(&partial).map_err(failed)?;
            std::fs::rename(&partial, &path)?;
            sync(&path)?;
            Ok(verified)
        });
        let verified = verified.inspect_err(|_| {
            // Half a backup is none; the failure says what happened.
            let _ = std::fs::remove_file(&partial);
        })?;
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
        check_is_there(&self.path)?;
        let verified = settings.verify(&self.path).map_err(failed)?;
        say(line(&self.path, &verified))?;
        for (table, rows) in &verified.rows {
            say(format_args!("{rows:>12} {table}"))?;
        }
        Ok(())
    }
}

/// A backup that is missing is no new installation.
pub(in crate::cli) fn check_is_there(path: &Path) -> Result<(), Failure> {
    match path.exists() {
        true => Ok(()),
        false => Err(Failure::Failed(format!(
            "{} does not exist; name a file that `context402 backup` has made",
            path.display()
        ))),
    }
}

/// What is told of a sound file in one line.
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
        "{} is verified: {taken}, schema {}, {} bytes, {} payments, {} reports.",
        path.display(),
        verified.schema,
        verified.bytes,
        rows("payments-1"),
        rows("reports-1")
    )
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
        .ok_or_else(|| failed("the clock is far off; set it first"))?;
    Ok(format!(
        "{PREFIX}{}{SUFFIX}",
        now.strftime("%Y%m%dT%H%M%SZ")
    ))
}

/// The copy itself, under a name that says that nobody has looked at it yet.
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

/// The service writes where it may; what comes from there is moved to where the operator wants it.
fn fetch(stream: UnixStream, partial: &Path) -> Result<(), Failure> {
    // Whether we may write there is known before the service is put to work.
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut to = options
        .open(partial)
        .map_err(|error| failed(format_args!("{}: {error}", partial.display())))?;
    let answer = socket::post_within(stream, "/operator/backup", COPY_TIME_MAX)?;
    let snapshot = answer["path"].as_str().map(PathBuf::from);
    let snapshot = snapshot.ok_or_else(|| failed("the service does not say where its copy is"))?;
    if std::fs::rename(&snapshot, partial).is_err() {
        let copied = File::open(&snapshot).and_then(|mut from| io::copy(&mut from, &mut to));
        // It is in the way of the next one, whether or not it was read.
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

/// What interrupted backups have left, once none can be at it any more.
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
                "{} is removed: it was never finished.",
                file.path().display()
            ))?;
        }
    }
    Ok(())
}

/// Only what this command has named; other files in the folder are not its business.
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
        say(format_args!("{} is removed.", path.display()))?;
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
