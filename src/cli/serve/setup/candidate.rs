//! The new configuration, read and checked before anything is written where it counts.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::cli::Failure;
use crate::cli::serve::setup::places::Places;
use crate::cli::serve::setup::system::{entries, private_folder, scratch_folder, write};
use crate::config::Config;

/// A folder of its own in which the new configuration is read with the secrets it will have, before anything is written
/// where it counts.
pub(super) struct Candidate {
    folder: PathBuf,
}

impl Candidate {
    pub(super) fn open(places: &Places) -> Result<Self, Failure> {
        let candidate = Candidate {
            folder: scratch_folder()?,
        };
        for section in entries(&places.credentials) {
            let shown = candidate
                .credentials()
                .join(section.file_name().unwrap_or_default());
            private_folder(&shown)?;
            for secret in entries(&section) {
                symlink(&secret, shown.join(secret.file_name().unwrap_or_default()))?;
            }
        }
        Ok(candidate)
    }

    fn credentials(&self) -> PathBuf {
        self.folder.join("credentials")
    }

    /// The configuration that the text makes with these new secrets.
    pub(super) fn check(
        &self,
        text: &str,
        secrets: &[(PathBuf, String)],
        places: &Places,
    ) -> Result<Config, Failure> {
        for (path, secret) in secrets {
            let Ok(name) = path.strip_prefix(&places.credentials) else {
                continue;
            };
            let path = self.credentials().join(name);
            path.parent().map_or(Ok(()), private_folder)?;
            write(&path, secret, 0o600)?;
        }
        let candidate = self.folder.join("config.toml");
        write(&candidate, text, 0o644)?;
        Config::load(Some(&candidate)).map_err(|error| {
            let ours = self.folder.display().to_string();
            let shown = places.etc.display().to_string();
            Failure::Config(error.to_string().replace(&ours, &shown))
        })
    }
}

impl Drop for Candidate {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
