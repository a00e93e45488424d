//! systemd's environment variables for a service, which are absent without systemd, and those of a terminal and of the log.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use tracing_subscriber::EnvFilter;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Supervisor {
    /// The notification socket: a path, or an abstract name that begins with `@`.
    pub notify_socket: Option<OsString>,
    /// The watchdog timeout.
    pub watchdog: Option<Duration>,
}

/// What to log: as CONTEXT402_LOG says, otherwise `default`.
pub fn log_filter(default: &str) -> EnvFilter {
    let asked = std::env::var("CONTEXT402_LOG").ok();
    let asked = asked.and_then(|text| EnvFilter::try_new(text).ok());
    asked.unwrap_or_else(|| EnvFilter::new(default))
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
