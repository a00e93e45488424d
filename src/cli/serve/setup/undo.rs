//! `setup --undo`: takes back what setup has made, by its manifest.

use std::fs;

use crate::cli::serve::setup::manifest::Manifest;
use crate::cli::serve::setup::places::{Places, UNITS};
use crate::cli::serve::setup::system::systemctl;
use crate::cli::{Failure, failed, say};

/// The package's units that install.sh enables.
const ENABLED: [&str; 6] = [
    "context402-backup.timer",
    "context402.socket",
    "context402.service",
    "context402-browser.socket",
    "context402-egress.socket",
    "context402-browser.service",
];

impl Places {
    /// Takes back what the manifest names, and says what stays.
    pub(super) fn undo(&self) -> Result<(), Failure> {
        let path = self.manifest();
        if !path.exists() {
            return Err(failed(format_args!(
                "{} does not exist: setup has made nothing here",
                path.display()
            )));
        }
        let manifest = Manifest::read(&path)?;
        let mut left = vec![format!("{} (data and backups)", self.state.display())];
        match manifest.installed {
            true => self.installer(&["--uninstall"])?,
            false => left.push("the program and its units, which were there before".to_owned()),
        }
        if manifest.imported {
            self.stop_importing()?;
        }
        match (manifest.installed, manifest.enabled) {
            (_, true) => systemctl(&[&["disable", "--now"], &ENABLED[..]].concat())?,
            (false, false) => {
                left.push("the running service, unchanged until it is restarted".to_owned())
            }
            (true, false) => {}
        }
        match (self.configuration()?, &manifest.replaced) {
            (Some(text), _) if !manifest.is_ours(&text) => left.push(format!(
                "{}, because it was changed after setup",
                self.config.display()
            )),
            (Some(_), Some(before)) => {
                fs::rename(before, &self.config)?;
                say(format_args!(
                    "{} was restored to its state before setup.",
                    self.config.display()
                ))?;
            }
            (Some(_), None) => {
                fs::remove_file(&self.config)?;
                say(format_args!("{} removed.", self.config.display()))?;
            }
            (None, _) => {}
        }
        for file in &manifest.files {
            if file.exists() {
                fs::remove_file(file)?;
                say(format_args!("{} removed.", file.display()))?;
            }
        }
        let units = self.root.join(UNITS);
        let drop_ins = manifest
            .files
            .iter()
            .filter(|file| file.starts_with(&units));
        let mut folders: Vec<_> = drop_ins.filter_map(|file| file.parent()).collect();
        folders.dedup();
        for folder in &folders {
            // It stays if it has other files.
            let _ = fs::remove_dir(folder);
        }
        if !folders.is_empty() {
            systemctl(&["daemon-reload"])?;
        }
        fs::remove_file(&path)?;
        Ok(say(format_args!("Still there: {}.", left.join("; ")))?)
    }
}
