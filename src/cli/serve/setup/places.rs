//! Where everything lies on the machine, and what of it is there already.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::cli::serve::setup::system::{systemctl, write};
use crate::cli::{Failure, config_failure, failed, say};
use crate::config::Config;
use crate::outside::clock::Clock;

/// Where a Debian package has its units.
const PACKAGED_UNIT: &str = "usr/lib/systemd/system/context402.service";
/// Where an administrator's units lie.
pub(super) const UNITS: &str = "etc/systemd/system";
/// What install.sh adds there to a package's units.
const DROP_INS: [&str; 3] = [
    "context402.socket.d/listen.conf",
    "context402.socket.d/tls.conf",
    "context402.service.d/browser.conf",
];

/// Where everything lies.
pub(super) struct Places {
    pub(super) prefix: Option<PathBuf>,
    pub(super) root: PathBuf,
    pub(super) etc: PathBuf,
    pub(super) config: PathBuf,
    pub(super) credentials: PathBuf,
    pub(super) state: PathBuf,
}

impl Places {
    pub(super) fn below(prefix: Option<PathBuf>) -> Places {
        let root = prefix.clone().unwrap_or_else(|| PathBuf::from("/"));
        let etc = root.join("etc/context402");
        Places {
            config: etc.join("config.toml"),
            credentials: etc.join("credentials"),
            state: root.join("var/lib/context402"),
            etc,
            root,
            prefix,
        }
    }

    pub(super) fn manifest(&self) -> PathBuf {
        self.etc.join("setup.json")
    }

    /// The configuration of an installed Caddy.
    pub(super) fn caddy(&self) -> PathBuf {
        self.root.join("etc/caddy/Caddyfile")
    }

    /// The line by which Caddy imports our file.
    pub(super) fn import_line(&self) -> String {
        format!("import {}", self.etc.join("Caddyfile").display())
    }

    /// Has Caddy import our file, once. Whether the line was added.
    pub(super) fn import(&self, is_started: bool) -> Result<bool, Failure> {
        let (path, line) = (self.caddy(), self.import_line());
        let before = fs::read_to_string(&path)?;
        let is_new = !before.lines().any(|found| found.trim() == line);
        if is_new {
            let end = if before.ends_with('\n') { "" } else { "\n" };
            write(&path, &format!("{before}{end}{line}\n"), 0o644)?;
            say(format_args!("{}: added the line `{line}`.", path.display()))?;
        }
        if is_started && systemctl(&["reload-or-restart", "caddy"]).is_err() {
            // Caddy would not start again with it.
            if is_new {
                write(&path, &before, 0o644)?;
            }
            return Err(failed(format_args!(
                "Caddy could not load {}; it is as it was before this run. See `journalctl -u caddy`. Often it already has this domain",
                path.display()
            )));
        }
        Ok(is_new)
    }

    /// Takes the line back.
    pub(super) fn stop_importing(&self) -> Result<(), Failure> {
        let line = self.import_line();
        let Ok(text) = fs::read_to_string(self.caddy()) else {
            return Ok(());
        };
        let rest = text.lines().filter(|found| found.trim() != line);
        let rest: String = rest.flat_map(|line| [line, "\n"]).collect();
        write(&self.caddy(), &rest, 0o644)?;
        say(format_args!(
            "{}: `{line}` removed.",
            self.caddy().display()
        ))?;
        match systemctl(&["reload-or-restart", "caddy"]) {
            Ok(()) => Ok(()),
            Err(why) => Ok(say(why)?),
        }
    }

    /// The text of the configuration, if there is one.
    pub(super) fn configuration(&self) -> Result<Option<String>, Failure> {
        match fs::read_to_string(&self.config) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(format_args!("{}: {error}", self.config.display()))),
        }
    }

    pub(super) fn broken(&self) -> Failure {
        match Config::load(Some(&self.config)) {
            Err(error) => config_failure(&error),
            Ok(_) => failed(format_args!("{} cannot be read", self.config.display())),
        }
    }

    pub(super) fn units_exist(&self) -> bool {
        let unit = self.root.join(UNITS).join("context402.service");
        unit.exists() || self.is_packaged()
    }

    /// Whether dpkg installed the program and its units.
    pub(super) fn is_packaged(&self) -> bool {
        self.root.join(PACKAGED_UNIT).exists()
    }

    /// The additions to a package's units that are there.
    pub(super) fn drop_ins(&self) -> Vec<PathBuf> {
        let units = self.root.join(UNITS);
        let all = DROP_INS.map(|name| units.join(name)).into_iter();
        all.filter(|file| self.is_packaged() && file.exists())
            .collect()
    }

    /// A dated copy of the configuration.
    pub(super) fn copy_configuration(&self) -> Result<PathBuf, Failure> {
        let now = Clock::System.now().timestamp().map(|at| {
            let at = at.strftime("%Y%m%dT%H%M%SZ");
            self.etc.join(format!("config.toml.{at}"))
        });
        let copy = now.ok_or_else(|| failed("the clock is wrong"))?;
        fs::copy(&self.config, &copy)?;
        Ok(copy)
    }
}
