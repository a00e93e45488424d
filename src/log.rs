//! Logging with tracing to standard error: readable on a terminal, otherwise a JSON object per line, with a priority for the
//! journal.
//!
//! JSON lines go into a buffer that is flushed ten times a second, and at once for warnings and errors, so that an access
//! line does not cost a system call. A killed process loses at most a tenth of a second of access lines.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal, Write as _};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter};
use tracing_subscriber::registry::LookupSpan;

use crate::outside::clock::Clock;
use crate::sync::lock;

const FLUSH_EVERY: Duration = Duration::from_millis(100);
/// A buffer this full is written at once.
const BUFFER_BYTES_MAX: usize = 64 * 1024;
/// Warnings and errors that are remembered, and the longest of them.
const TROUBLES_MAX: usize = 50;
const TROUBLE_BYTES_MAX: usize = 2 * 1024;

/// The latest warnings and errors as they were logged, one JSON object each. A terminal's are not remembered: anyone who
/// sits there has seen them.
#[derive(Debug, Default)]
pub struct Troubles(Mutex<VecDeque<String>>);

impl Troubles {
    /// Oldest first.
    pub fn list(&self) -> Vec<String> {
        lock(&self.0).iter().cloned().collect()
    }

    fn remember(&self, line: &[u8]) {
        // What stands in front is for the journal.
        let begin = line.iter().position(|byte| *byte == b'{').unwrap_or(0);
        let end = line.len().min(begin + TROUBLE_BYTES_MAX);
        let line = String::from_utf8_lossy(&line[begin..end]);
        let mut troubles = lock(&self.0);
        if troubles.len() == TROUBLES_MAX {
            troubles.pop_front();
        }
        troubles.push_back(line.trim_end().to_owned());
    }
}

/// Starts logging for the whole process. Keep what it returns until the end: dropping it writes the rest.
pub fn start(filter: EnvFilter, to_journal: bool, clock: Clock) -> LogGuard {
    let lines = Lines::default();
    if io::stderr().is_terminal() {
        // A second start, as in a test, leaves the first in place.
        let _ = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(io::stderr)
            .compact()
            .try_init();
    } else {
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .event_format(Json { to_journal, clock })
            .with_writer(lines.clone());
        let _ = subscriber.try_init();
        let flushed = lines.clone();
        let _ = std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || {
                loop {
                    std::thread::sleep(FLUSH_EVERY);
                    flushed.flush();
                }
            });
    }
    std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "panicked")));
    LogGuard(lines)
}

/// Writes what is buffered when it is dropped.
#[derive(Debug)]
pub struct LogGuard(Lines);

impl Drop for LogGuard {
    fn drop(&mut self) {
        self.0.flush();
    }
}

impl LogGuard {
    /// The latest warnings and errors, also those still to come.
    pub fn troubles(&self) -> Arc<Troubles> {
        self.0.troubles.clone()
    }
}

#[derive(Clone, Debug, Default)]
struct Lines {
    buffer: Arc<Mutex<Vec<u8>>>,
    troubles: Arc<Troubles>,
}

impl Lines {
    fn flush(&self) {
        let bytes = std::mem::take(&mut *lock(&self.buffer));
        if !bytes.is_empty() {
            // Nobody is left to tell when standard error is gone.
            let _ = io::stderr().write_all(&bytes);
        }
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line {
            lines: self,
            urgent: false,
        }
    }

    fn make_writer_for(&'a self, metadata: &Metadata<'_>) -> Line<'a> {
        Line {
            lines: self,
            urgent: *metadata.level() <= Level::WARN,
        }
    }
}

#[derive(Debug)]
struct Line<'a> {
    lines: &'a Lines,
    urgent: bool,
}

impl io::Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let buffered = {
            let mut buffer = lock(&self.lines.buffer);
            buffer.extend_from_slice(bytes);
            buffer.len()
        };
        if self.urgent {
            self.lines.troubles.remember(bytes);
        }
        if self.urgent || buffered >= BUFFER_BYTES_MAX {
            self.lines.flush();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.lines.flush();
        Ok(())
    }
}

/// One JSON object a line: time, level, target, message, then the event's fields.
struct Json {
    to_journal: bool,
    clock: Clock,
}

impl<S, N> FormatEvent<S, N> for Json
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let metadata = event.metadata();
        if self.to_journal {
            write!(writer, "<{}>", priority(metadata))?;
        }
        write!(
            writer,
            "{{\"time\":\"{:.3}\",\"level\":\"{}\",\"target\":\"{}\"",
            self.clock.timestamp(),
            metadata.level(),
            metadata.target()
        )?;
        let mut members = Members {
            writer: &mut writer,
            outcome: Ok(()),
        };
        event.record(&mut members);
        members.outcome?;
        writer.write_str("}\n")
    }
}

/// As syslog numbers them. A request's line ranks below all other messages, so that `journalctl -p notice` leaves it
/// out.
fn priority(metadata: &Metadata<'_>) -> u8 {
    match *metadata.level() {
        Level::ERROR => 3,
        Level::WARN => 4,
        Level::INFO if metadata.target() != "access" => 5,
        Level::INFO => 6,
        _ => 7,
    }
}

struct Members<'a, 'writer> {
    writer: &'a mut Writer<'writer>,
    outcome: fmt::Result,
}

impl Members<'_, '_> {
    fn member(&mut self, field: &Field, value: impl FnOnce(&mut Writer<'_>) -> fmt::Result) {
        if self.outcome.is_ok() {
            self.outcome =
                write!(self.writer, ",\"{}\":", field.name()).and_then(|()| value(self.writer));
        }
    }
}

impl Visit for Members<'_, '_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.member(field, |writer| {
            writer.write_char('"')?;
            write!(Escaped(writer), "{value:?}")?;
            writer.write_char('"')
        });
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.member(field, |writer| {
            writer.write_char('"')?;
            Escaped(writer).write_str(value)?;
            writer.write_char('"')
        });
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.member(field, |writer| write!(writer, "{value}"));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.member(field, |writer| write!(writer, "{value}"));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.member(field, |writer| write!(writer, "{value}"));
    }
}

/// Text inside a JSON string. Control bytes never reach the log as they are.
struct Escaped<'a, 'writer>(&'a mut Writer<'writer>);

impl fmt::Write for Escaped<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut plain = 0;
        for (position, byte) in text.bytes().enumerate() {
            if byte >= 0x20 && byte != b'"' && byte != b'\\' && byte != 0x7f {
                continue;
            }
            self.0.write_str(&text[plain..position])?;
            match byte {
                b'"' | b'\\' => {
                    self.0.write_char('\\')?;
                    self.0.write_char(char::from(byte))?;
                }
                _ => write!(self.0, "\\u{byte:04x}")?,
            }
            plain = position + 1;
        }
        self.0.write_str(&text[plain..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::UnixSeconds;

    fn json(to_journal: bool) -> Json {
        let clock = Clock::manual(UnixSeconds(1_790_000_000));
        Json { to_journal, clock }
    }

    #[test]
    fn a_line_is_json_whatever_it_carries() {
        let lines = Lines::default();
        let subscriber = tracing_subscriber::fmt()
            .event_format(json(false))
            .with_writer(lines.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(target: "t", hostile = "a\"b\\c\r\n\u{1b}[31m\u{7f}é", count = 3_u64, error = %"x\ny", "said \"so\"");
        });
        let text =
            String::from_utf8(lines.buffer.lock().expect("not poisoned").clone()).expect("UTF-8");
        assert_eq!(text.matches('\n').count(), 1);
        let line: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(line["hostile"], "a\"b\\c\r\n\u{1b}[31m\u{7f}é");
        assert_eq!(line["time"], "2026-09-21T14:13:20.000Z");
        assert_eq!(line["count"], 3);
        assert_eq!(line["message"], "said \"so\"");
    }

    #[test]
    fn the_latest_warnings_and_errors_are_remembered() {
        let lines = Lines::default();
        let troubles = lines.troubles.clone();
        for number in 0..TROUBLES_MAX {
            troubles.remember(format!("<4>{{\"number\":{number}}}\n").as_bytes());
        }
        troubles.remember(&[b'x'; 2 * TROUBLE_BYTES_MAX]);
        let subscriber = tracing_subscriber::fmt()
            .event_format(json(true))
            .with_writer(lines)
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!("passing");
            tracing::warn!("remembered");
        });
        let troubles = troubles.list();
        assert_eq!(troubles.len(), TROUBLES_MAX);
        assert_eq!(troubles[0], "{\"number\":2}");
        assert_eq!(troubles[TROUBLES_MAX - 2].len(), TROUBLE_BYTES_MAX);
        assert!(troubles[TROUBLES_MAX - 1].ends_with("\"message\":\"remembered\"}"));
    }

    /// Unlike [`Lines`], it writes nothing on.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("not poisoned").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_journal_can_tell_what_matters_from_requests() {
        let kept = Kept::default();
        let writer = kept.clone();
        let subscriber = tracing_subscriber::fmt()
            .event_format(json(true))
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            tracing::error!("e");
            tracing::warn!(target: "access", "w");
            tracing::info!("i");
            tracing::info!(target: "access", "a");
        });
        let text = String::from_utf8(kept.0.lock().expect("not poisoned").clone()).expect("UTF-8");
        let priorities: Vec<&str> = text.lines().map(|line| &line[..4]).collect();
        assert_eq!(priorities, ["<3>{", "<4>{", "<5>{", "<6>{"]);
    }
}
