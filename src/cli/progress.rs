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
    shared: Arc<Shared>,
    shower: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    count: AtomicU64,
    is_over: AtomicBool,
}

impl Progress {
    /// `doing` as in "Verifying the backup".
    pub(in crate::cli) fn start(doing: &'static str) -> Progress {
        let shared = Arc::new(Shared::default());
        let seen = shared.clone();
        let shower = io::stderr()
            .is_terminal()
            .then(|| std::thread::spawn(move || show(doing, &seen)));
        Progress { shared, shower }
    }

    /// One more is done.
    pub(in crate::cli) fn step(&self) {
        self.shared.count.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        if let Some(shower) = self.shower.take() {
            shower.thread().unpark();
            // It only writes to the terminal.
            let _ = shower.join();
        }
    }
}

fn show(doing: &str, shared: &Shared) {
    let began = Instant::now();
    let mut is_shown = false;
    while !shared.is_over.load(Ordering::Relaxed) {
        std::thread::park_timeout(EVERY);
        if began.elapsed() < QUIET || shared.is_over.load(Ordering::Relaxed) {
            continue;
        }
        let text = line(doing, shared.count.load(Ordering::Relaxed), began.elapsed());
        is_shown |= write!(io::stderr(), "\r\x1b[K{text}").is_ok();
    }
    if is_shown {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
}

fn line(doing: &str, count: u64, took: Duration) -> String {
    let seconds = took.as_secs();
    match count {
        0 => format!("{doing}: {seconds} s"),
        count => {
            let rate = count.checked_div(seconds).unwrap_or(count);
            format!("{doing}: {count} done in {seconds} s, {rate} a second")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_it_is() {
        let took = Duration::from_millis(4_200);
        assert_eq!(line("Restoring", 0, took), "Restoring: 4 s");
        assert_eq!(
            line("Converting", 6_000, took),
            "Converting: 6000 done in 4 s, 1500 a second"
        );
    }
}
