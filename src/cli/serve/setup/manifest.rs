//! What setup has made, so that it can be taken back.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::cli::{Failure, failed};

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// SHA-256 of the configuration as setup left it.
    pub(super) configuration: String,
    /// The copy of the configuration from before setup, if there was one.
    pub(super) replaced: Option<PathBuf>,
    /// Secrets and other files that were not there before.
    pub(super) files: Vec<PathBuf>,
    /// Whether program and units were not there before.
    pub(super) installed: bool,
    /// Whether a package's units were not enabled before.
    #[serde(default)]
    pub(super) enabled: bool,
    /// Whether Caddy was made to import our file.
    #[serde(default)]
    pub(super) imported: bool,
}

impl Manifest {
    /// An empty one if there is none.
    pub(super) fn read(path: &Path) -> Result<Manifest, Failure> {
        match std::fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                let path = path.display();
                failed(format_args!(
                    "{path}: {error}. Move it away and run this again"
                ))
            }),
            Err(_) => Ok(Manifest::default()),
        }
    }

    pub(super) fn text(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        text.expect("strings and flags always serialize") + "\n"
    }

    /// Notes the configuration, and files that are new.
    pub(super) fn note(&mut self, configuration: &str, files: Vec<PathBuf>) {
        self.configuration = hash(configuration);
        for file in files {
            if !self.files.contains(&file) {
                self.files.push(file);
            }
        }
    }

    /// Whether the configuration is as setup left it.
    pub(super) fn is_ours(&self, configuration: &str) -> bool {
        self.configuration == hash(configuration)
    }
}

fn hash(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}
