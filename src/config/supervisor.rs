//! systemd's environment variables for a service, which are absent without systemd, and those of a terminal and of the log.

use std::env::VarError;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::{Directive, LevelFilter};

use crate::config::values::ConfigError;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Supervisor {
    /// The notification socket: a path, or an abstract name that begins with `@`.
    pub notify_socket: Option<OsString>,
    /// The watchdog timeout.
    pub watchdog: Option<Duration>,
}

/// What to log: as CONTEXT402_LOG says, otherwise `default`.
///
/// # Errors
/// The directive that cannot be read: a filter in its place could leave out what the operator wants to see.
pub fn log_filter(default: &str) -> Result<EnvFilter, ConfigError> {
    match std::env::var("CONTEXT402_LOG") {
        Err(VarError::NotPresent) => parse_filter(default),
        Ok(text) => parse_filter(&text),
        Err(VarError::NotUnicode(text)) => parse_filter(&text.to_string_lossy()),
    }
}

pub(in crate::config) fn parse_filter(text: &str) -> Result<EnvFilter, ConfigError> {
    let mut directives = text.split(',').filter(|directive| !directive.is_empty());
    let bad = directives.find(|directive| !is_directive(directive));
    match (bad, EnvFilter::try_new(text)) {
        (None, Ok(filter)) => Ok(filter),
        (bad, _) => Err(ConfigError::new(format!(
            "environment CONTEXT402_LOG: \"{}\" is not a log directive: write a level (error, warn, info, debug, \
             trace, off) or target=level, separated by commas, such as info,context402::outside=debug",
            bad.unwrap_or(text)
        ))),
    }
}

/// A word alone is a level or a module of this program: the parser takes any other, such as a mistyped level, for a target
/// that never logs.
fn is_directive(text: &str) -> bool {
    let is_known = text.contains(['=', '['])
        || text.starts_with(env!("CARGO_PKG_NAME"))
        || text.parse::<LevelFilter>().is_ok();
    is_known && text.parse::<Directive>().is_ok()
}

/// Whether standard error goes to the journal, which reads priority prefixes.
pub fn journal_listens() -> bool {
    let stream = std::env::var("JOURNAL_STREAM").unwrap_or_default();
    std::fs::metadata("/proc/self/fd/2")
        .is_ok_and(|ours| format!("{}:{}", ours.dev(), ours.ino()) == stream)
}

/// Whether the user wants colours on a terminal, by the convention of NO_COLOR and TERM.
pub fn wants_colour() -> bool {
    let is_set = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !is_set && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

impl Supervisor {
    pub fn from_environment() -> Supervisor {
        let text = |name: &str| std::env::var(name).ok();
        let process = text("WATCHDOG_PID");
        let is_ours = process.is_none_or(|id| id == std::process::id().to_string());
        let watchdog = text("WATCHDOG_USEC").and_then(|text| text.parse().ok());
        Supervisor {
            notify_socket: std::env::var_os("NOTIFY_SOCKET").filter(|name| !name.is_empty()),
            watchdog: watchdog
                .filter(|microseconds| is_ours && *microseconds > 0)
                .map(Duration::from_micros),
        }
    }
}
