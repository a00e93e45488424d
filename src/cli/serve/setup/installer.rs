//! Runs install.sh with this program and its units, and the programs that it installs.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::serve::setup::Args;
use crate::cli::serve::setup::places::Places;
use crate::cli::serve::setup::system::scratch_folder;
use crate::cli::{Failure, failed};

/// The script that installs the program, its units and its manual: the only place that knows how.
const INSTALLER: &str = include_str!("../../../../install.sh");
/// What it installs beside the program, below `systemd`.
const FILES: [(&str, &str); 14] = [
    (
        "context402.service",
        include_str!("../../../../systemd/context402.service"),
    ),
    (
        "context402.socket",
        include_str!("../../../../systemd/context402.socket"),
    ),
    (
        "context402-init.service",
        include_str!("../../../../systemd/context402-init.service"),
    ),
    (
        "context402-backup.service",
        include_str!("../../../../systemd/context402-backup.service"),
    ),
    (
        "context402-backup.timer",
        include_str!("../../../../systemd/context402-backup.timer"),
    ),
    (
        "context402.socket.d/tls.conf",
        include_str!("../../../../systemd/context402.socket.d/tls.conf"),
    ),
    (
        "context402-browser.service",
        include_str!("../../../../systemd/context402-browser.service"),
    ),
    (
        "context402-browser.socket",
        include_str!("../../../../systemd/context402-browser.socket"),
    ),
    (
        "context402-egress.socket",
        include_str!("../../../../systemd/context402-egress.socket"),
    ),
    (
        "context402.service.d/browser.conf",
        include_str!("../../../../systemd/context402.service.d/browser.conf"),
    ),
    (
        "OPERATING.md",
        include_str!("../../../../systemd/OPERATING.md"),
    ),
    ("TLS.md", include_str!("../../../../systemd/TLS.md")),
    ("caddy/Caddyfile", CADDYFILE),
    ("nginx/context402.conf", NGINX),
];
pub(super) const CADDYFILE: &str = include_str!("../../../../systemd/caddy/Caddyfile");
pub(super) const NGINX: &str = include_str!("../../../../systemd/nginx/context402.conf");

impl Places {
    /// The installed program with a command and this configuration. Whether it succeeded.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<bool, Failure> {
        let program = match (&self.prefix, self.is_packaged()) {
            (_, true) => self.root.join("usr/bin/context402"),
            (Some(prefix), false) => prefix.join("bin/context402"),
            (None, false) => PathBuf::from("/usr/local/bin/context402"),
        };
        let mut command = Command::new(program);
        command.args(arguments).arg("--config").arg(&self.config);
        Ok(command.status()?.success())
    }

    pub(super) fn install(&self, args: &Args) -> Result<(), Failure> {
        let mut arguments = Vec::new();
        if self.is_packaged() {
            if args.no_start {
                return Ok(());
            }
            arguments.push("--start-package");
        } else if args.no_start {
            arguments.push("--no-start");
        }
        let flags = [("--tls", args.tls), ("--with-browser", args.with_browser)];
        arguments.extend(
            flags
                .iter()
                .filter(|(_, given)| *given)
                .map(|(flag, _)| flag),
        );
        self.installer(&arguments)
    }

    /// Runs install.sh with this program and its units.
    pub(super) fn installer(&self, arguments: &[&str]) -> Result<(), Failure> {
        let folder = scratch_folder()?;
        let outcome = self.installer_in(&folder, arguments);
        fs::remove_dir_all(&folder)?;
        match outcome? {
            true => Ok(()),
            false => Err(failed(
                "install.sh failed, see above; running this again continues where it stopped",
            )),
        }
    }

    fn installer_in(&self, folder: &Path, arguments: &[&str]) -> io::Result<bool> {
        let script = folder.join("install.sh");
        fs::write(&script, INSTALLER)?;
        for (name, text) in FILES {
            let file = folder.join("systemd").join(name);
            fs::create_dir_all(file.parent().unwrap_or(folder))?;
            fs::write(file, text)?;
        }
        symlink(std::env::current_exe()?, folder.join("context402"))?;
        let mut command = Command::new("sh");
        command.arg(&script).args(arguments);
        if let Some(prefix) = &self.prefix {
            command.arg("--prefix").arg(prefix);
        }
        Ok(command.status()?.success())
    }
}
