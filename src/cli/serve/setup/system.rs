//! What setup does to the machine: folders and files, private, and whole or not at all; units by systemctl.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::{Failure, failed};
use crate::outside::chance;

/// A new folder that only we can enter.
pub(super) fn scratch_folder() -> io::Result<PathBuf> {
    let name = format!("context402-setup-{}", hex::encode(chance::bytes::<8>()));
    let folder = std::env::temp_dir().join(name);
    fs::DirBuilder::new().mode(0o700).create(&folder)?;
    Ok(folder)
}

pub(super) fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(path)
}

pub(super) fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.flatten().map(|entry| entry.path()).collect()
}

/// Writes a file, whole or not at all.
pub(super) fn write(path: &Path, text: &str, mode: u32) -> Result<(), Failure> {
    let place = |error: io::Error| failed(format_args!("{}: {error}", path.display()));
    let mut new = path.as_os_str().to_owned();
    new.push(".tmp");
    let new = PathBuf::from(new);
    let _ = fs::remove_file(&new);
    let mut options = fs::OpenOptions::new();
    let options = options.write(true).create_new(true).mode(mode);
    let mut file = options.open(&new).map_err(place)?;
    file.write_all(text.as_bytes()).map_err(place)?;
    file.sync_all().map_err(place)?;
    fs::rename(&new, path).map_err(place)
}

pub(super) fn is_enabled() -> bool {
    let mut command = Command::new("systemctl");
    command.args(["--quiet", "is-enabled", "context402.service"]);
    command.status().is_ok_and(|status| status.success())
}

pub(super) fn systemctl(arguments: &[&str]) -> Result<(), Failure> {
    let status = Command::new("systemctl").args(arguments).status();
    match status.is_ok_and(|status| status.success()) {
        true => Ok(()),
        false => Err(failed(format_args!(
            "systemctl {} failed; running this again continues where it stopped",
            arguments.join(" ")
        ))),
    }
}
