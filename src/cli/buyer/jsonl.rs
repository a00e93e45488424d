//! Processes JSON lines in order, on several threads, with a short queue.

use std::io::{self, BufRead as _, Write as _};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use clap::builder::RangedI64ValueParser;

use crate::cli::buyer::input;
use crate::cli::progress::Progress;
use crate::cli::{Failure, heard};
use crate::sync::lock;

/// Queued lines per thread.
const LINES_AHEAD: usize = 4;

/// The allowed numbers of threads.
pub(in crate::cli) fn threads() -> RangedI64ValueParser<u16> {
    RangedI64ValueParser::new().range(1..=1024)
}

/// Processes every line of an input to standard output. Bytes that are not UTF-8 become U+FFFD.
pub(in crate::cli) fn run(
    name: &str,
    threads: Option<u16>,
    answer: impl Fn(&str) -> String + Sync,
) -> Result<(), Failure> {
    let threads = match threads {
        Some(threads) => usize::from(threads),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let progress = Progress::beside_output("Working through the lines", || count(name));
    let lines = input::open(name)?.split(b'\n');
    let (jobs, waiting) = sync_channel::<(String, SyncSender<String>)>(threads * LINES_AHEAD);
    let (answers, in_order) = sync_channel::<Receiver<String>>(threads * LINES_AHEAD);
    let waiting = Mutex::new(waiting);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let job = lock(&waiting).recv();
                    let Ok((line, reply)) = job else { return };
                    let _ = reply.send(answer(&line));
                    progress.step();
                }
            });
        }
        let writer = scope.spawn(move || -> io::Result<()> {
            let mut out = io::BufWriter::new(io::stdout().lock());
            while let Some(answer) = next(&in_order, &mut out)? {
                if let Some(line) = next(&answer, &mut out)? {
                    writeln!(out, "{line}")?;
                }
            }
            out.flush()
        });
        for line in lines {
            let line = String::from_utf8_lossy(&line?).into_owned();
            if line.trim().is_empty() {
                continue;
            }
            let (answer, answered) = sync_channel(1);
            if answers.send(answered).is_err() || jobs.send((line, answer)).is_err() {
                break;
            }
        }
        drop((jobs, answers));
        match writer.join() {
            Ok(written) => Ok(heard(written)?),
            Err(_) => Err(Failure::Failed(
                "the output could not be written".to_owned(),
            )),
        }
    })
}

/// How many lines a file has that are not empty. `None` for what can be read only once.
fn count(name: &str) -> Option<u64> {
    let is_file = std::fs::metadata(name).is_ok_and(|found| found.is_file());
    let lines = input::open(name).ok().filter(|_| is_file)?.split(b'\n');
    let full = lines
        .map_while(Result::ok)
        .filter(|line| !line.trim_ascii().is_empty());
    u64::try_from(full.count()).ok()
}

/// The next result. Flushes the output before waiting, for interactive use.
fn next<T>(from: &Receiver<T>, out: &mut impl io::Write) -> io::Result<Option<T>> {
    if let Ok(ready) = from.try_recv() {
        return Ok(Some(ready));
    }
    out.flush()?;
    Ok(from.recv().ok())
}
