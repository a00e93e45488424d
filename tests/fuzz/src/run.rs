//! Makes input until it is told to stop or something does not hold: `[--executions N] [--seconds N] [--seed N]
//! [--threads N] [FILE...]`. With files, only these are read: what a failed run wrote.

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use super::random::Random;

/// What is made, and what must hold of it.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    /// The fixtures below this folder of tests/ are what it begins from.
    pub(crate) folder: &'static str,
    pub(crate) corpus: fn(&Path) -> Vec<Vec<u8>>,
    pub(crate) input: fn(&mut Random, &[Vec<u8>]) -> Vec<u8>,
    pub(crate) body: fn(&[u8]),
}

struct Options {
    executions: u64,
    time: Duration,
    seed: u64,
    threads: u64,
    files: Vec<PathBuf>,
}

/// The input that ended a thread.
struct Failure {
    thread: u64,
    execution: u64,
    data: Vec<u8>,
}

/// What the program was started with, after its name and what else was read of it.
pub(crate) fn main(target: Target, arguments: impl Iterator<Item = String>) -> ExitCode {
    let options = match options(arguments) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::from(2);
        }
    };
    if !options.files.is_empty() {
        return again(target, &options.files);
    }
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let pages = (target.corpus)(&tests.join(target.folder));
    let start = Instant::now();
    let ended: Vec<(u64, u64, Option<Failure>)> = std::thread::scope(|scope| {
        let run = |thread| {
            let (options, pages) = (&options, &pages);
            scope.spawn(move || run(target, options, pages, thread, start))
        };
        let threads: Vec<_> = (0..options.threads).map(run).collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        ended
            .map(|result| result.expect("panics are caught"))
            .collect()
    });
    let executions: u64 = ended.iter().map(|(executions, ..)| executions).sum();
    let bytes: u64 = ended.iter().map(|(_, bytes, _)| bytes).sum();
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{executions} executions of {} bytes on average in {seconds:.1} seconds, {:.0} a second, {} threads, seed {}",
        bytes / executions.max(1),
        executions as f64 / seconds,
        options.threads,
        options.seed
    );
    let failures: Vec<Failure> = ended
        .into_iter()
        .filter_map(|(.., failure)| failure)
        .collect();
    for failure in &failures {
        let name = format!(
            "crash-{}-{}-{}",
            options.seed, failure.thread, failure.execution
        );
        match std::fs::write(&name, &failure.data) {
            Ok(()) => println!("failed: {name}"),
            Err(error) => println!("failed: {:?} ({name}: {error})", failure.data),
        }
    }
    ExitCode::from(u8::from(!failures.is_empty()))
}

fn run(
    target: Target,
    options: &Options,
    pages: &[Vec<u8>],
    thread: u64,
    start: Instant,
) -> (u64, u64, Option<Failure>) {
    let mut random = Random::new(options.seed.wrapping_mul(1_000_003).wrapping_add(thread));
    let share = options.executions / options.threads
        + u64::from(thread < options.executions % options.threads);
    let mut bytes = 0;
    for execution in 0..share {
        if execution % 1024 == 0 && start.elapsed() > options.time {
            return (execution, bytes, None);
        }
        let data = (target.input)(&mut random, pages);
        bytes += data.len() as u64;
        if catch_unwind(|| (target.body)(&data)).is_err() {
            let failure = Failure {
                thread,
                execution,
                data,
            };
            return (execution + 1, bytes, Some(failure));
        }
    }
    (share, bytes, None)
}

fn again(target: Target, files: &[PathBuf]) -> ExitCode {
    let mut failed = 0;
    for file in files {
        match std::fs::read(file) {
            Ok(data) => failed += u8::from(catch_unwind(|| (target.body)(&data)).is_err()),
            Err(error) => {
                eprintln!("{}: {error}", file.display());
                return ExitCode::from(2);
            }
        }
    }
    println!("{} read, {failed} failed", files.len());
    ExitCode::from(u8::from(failed > 0))
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        executions: u64::MAX,
        time: Duration::MAX,
        seed: 1,
        threads: 1,
        files: Vec::new(),
    };
    while let Some(argument) = arguments.next() {
        if !argument.starts_with("--") {
            options.files.push(argument.into());
            continue;
        }
        let value = arguments.next().and_then(|value| value.parse().ok());
        let value: u64 = value.ok_or_else(|| format!("{argument} needs a number"))?;
        match argument.as_str() {
            "--executions" => options.executions = value,
            "--seconds" => options.time = Duration::from_secs(value),
            "--seed" => options.seed = value,
            "--threads" => options.threads = value.max(1),
            _ => return Err(format!("{argument} is not known")),
        }
    }
    if options.executions == u64::MAX && options.time == Duration::MAX {
        options.executions = 1_000_000;
    }
    Ok(options)
}
