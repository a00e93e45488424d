//! What a long command is doing, on a terminal's standard error: after a second, with the time and a count. Nothing is
//! shown where standard error is no terminal.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Quick commands show nothing.
const QUIET: Duration = Duration::from_secs(1);
const EVERY: Duration = Duration::from_millis(200);

/// Shown until it is dropped.
#[derive(Debug)]
pub(in crate::cli) struct Progress {
    inner: Arc<Inner>,
    shower: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Inner {
    count: AtomicU64,
    /// How many there will be; 0 if unknown.
    total: u64,
    is_over: AtomicBool,
}

impl Progress {
    /// `doing` as in "Verifying the backup".
    pub(in crate::cli) fn start(doing: &'static str) -> Progress {
        Progress::begin(doing, Inner::default(), io::stderr().is_terminal())
    }

    /// For a command that writes its output meanwhile. On a terminal that output shows how far it is.
    pub(in crate::cli) fn beside_output(
        doing: &'static str,
        total: impl FnOnce() -> Option<u64>,
    ) -> Progress {
        let is_shown = io::stderr().is_terminal() && !io::stdout().is_terminal();
        let total = if is_shown { total() } else { None };
        let inner = Inner {
            total: total.unwrap_or_default(),
            ..Inner::default()
        };
        Progress::begin(doing, inner, is_shown)
    }

    fn begin(doing: &'static str, inner: Inner, is_shown: bool) -> Progress {
        let inner = Arc::new(inner);
        let seen = inner.clone();
        let shower = is_shown.then(|| std::thread::spawn(move || show(doing, &seen)));
        Progress { inner, shower }
    }

    /// One more is done.
    pub(in crate::cli) fn step(&self) {
        self.inner.count.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.inner.is_over.store(true, Ordering::Relaxed);
        if let Some(shower) = self.shower.take() {
            shower.thread().unpark();
            // It only writes to the terminal.
            let _ = shower.join();
        }
    }
}

fn show(doing: &str, inner: &Inner) {
    let began = Instant::now();
    let mut is_shown = false;
    while !inner.is_over.load(Ordering::Relaxed) {
        std::thread::park_timeout(EVERY);
        if began.elapsed() < QUIET || inner.is_over.load(Ordering::Relaxed) {
            continue;
        }
        let count = inner.count.load(Ordering::Relaxed);
        let text = line(doing, count, inner.total, began.elapsed());
        is_shown |= write!(io::stderr(), "\r\x1b[K{text}").is_ok();
    }
    if is_shown {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
}

fn line(doing: &str, count: u64, total: u64, took: Duration) -> String {
    let seconds = took.as_secs();
    let rate = count.checked_div(seconds).unwrap_or(count);
    match (count, total) {
        (0, _) => format!("{doing}: {seconds} s"),
        (_, 0) => format!("{doing}: {count} done in {seconds} s, {rate} a second"),
        _ => format!("{doing}: {count} of {total} done in {seconds} s, {rate} a second"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_it_is() {
        let took = Duration::from_millis(4_200);
        assert_eq!(line("Restoring", 0, 9, took), "Restoring: 4 s");
        assert_eq!(
            line("Converting", 6_000, 0, took),
            "Converting: 6000 done in 4 s, 1500 a second"
        );
        assert_eq!(
            line("Converting", 6_000, 9_000, took),
            "Converting: 6000 of 9000 done in 4 s, 1500 a second"
        );
    }
}
