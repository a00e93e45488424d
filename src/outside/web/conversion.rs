//! How long one conversion takes, and the note for the operator when that is long: no page takes seconds but one that was
//! made to, or that shows a flaw of ours.

use std::time::{Duration, Instant};

use crate::markdown::ContentKind;
use crate::outside::clock::thread_time;

/// A conversion that computes for longer is logged.
const SLOW: Duration = Duration::from_secs(5);

/// One conversion, from its first byte to its end, however that is.
#[derive(Debug)]
pub struct Conversion {
    /// Where the page is from.
    host: String,
    kind: ContentKind,
    pub bytes: usize,
    /// By the clock on the wall.
    pub elapsed: Duration,
    computed: Duration,
}

impl Conversion {
    pub fn of(host: &str, kind: ContentKind) -> Conversion {
        Conversion {
            host: host.to_owned(),
            kind,
            bytes: 0,
            elapsed: Duration::ZERO,
            computed: Duration::ZERO,
        }
    }

    /// Runs a part of it.
    pub fn run<T>(&mut self, part: impl FnOnce() -> T) -> T {
        let (began, computed) = (Instant::now(), thread_time());
        let outcome = part();
        self.elapsed += began.elapsed();
        self.computed += thread_time().saturating_sub(computed);
        outcome
    }

    pub fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.elapsed.as_millis()).unwrap_or(u64::MAX)
    }
}

impl Drop for Conversion {
    fn drop(&mut self) {
        if self.computed > SLOW {
            tracing::warn!(
                host = self.host,
                kind = self.kind.row().name,
                bytes = self.bytes,
                computed_ms = self.computed.as_millis(),
                "a page took long to convert"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("one thread").extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_slow_conversion_is_logged_and_no_other() {
        let logged = |computed: Duration| {
            let written = Written::default();
            let writer = written.clone();
            let subscriber = tracing_subscriber::fmt()
                .with_writer(move || writer.clone())
                .with_ansi(false)
                .finish();
            tracing::subscriber::with_default(subscriber, || {
                let mut conversion = Conversion::of("slow.example", ContentKind::Csv);
                conversion.bytes = 5_000_000;
                conversion.computed = computed;
            });
            let bytes = written.0.lock().expect("one thread").clone();
            String::from_utf8(bytes).expect("UTF-8")
        };
        assert_eq!(logged(SLOW), "");
        let line = logged(SLOW + Duration::from_millis(1));
        for part in [
            "WARN",
            "a page took long to convert",
            "host=\"slow.example\"",
            "kind=\"CSV\"",
            "bytes=5000000",
            "computed_ms=5001",
        ] {
            assert!(line.contains(part), "{line}");
        }
    }

    #[test]
    fn time_is_counted_while_a_part_runs() {
        let mut conversion = Conversion::of("a.example", ContentKind::Html);
        let outcome = conversion.run(|| {
            let began = thread_time();
            while thread_time() - began < Duration::from_millis(5) {}
            7
        });
        assert_eq!(outcome, 7);
        assert!(conversion.computed >= Duration::from_millis(5));
        assert!(conversion.elapsed >= Duration::from_millis(5));
    }
}
