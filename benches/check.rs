//! What it costs to check a whole text: an answer of 20 sentences against 3 sources of 200 sentences each.
//!
//! The sources are made of the documents of `data/evidence/nearmiss`, the sentences are statements about them, true and false.
//! CPU time of this process, from the texts to the report. It ends with exit code 1 where a goal is missed. Last, without a
//! goal, stands what the largest request costs: the most statements and sources that are read.

use std::hint::black_box;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use context402::domain::time::UnixSeconds;
use context402::evidence::check::{
    CheckRequest, CheckSource, SOURCE_BYTES_MAX, SOURCES_MAX, STATEMENTS_MAX, check_report,
};
use context402::evidence::{Depth, Examiner, Source};

/// As in the program that is published.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const REPETITIONS: usize = 7;
const SOURCES: usize = 3;
const SENTENCES: usize = 200;
const CLAIMS: usize = 20;

/// By depth: what a check may take at most.
const GOALS: [(Depth, Duration); 2] = [
    (Depth::Quick, Duration::from_millis(50)),
    (Depth::Standard, Duration::from_millis(1_000)),
];

fn main() -> ExitCode {
    let made = made();
    let text = made.claims.join(" ");
    let ids: Vec<String> = (1..=SOURCES).map(|number| format!("S{number}")).collect();
    let sources: Vec<CheckSource<'_>> = ids
        .iter()
        .zip(&made.sources)
        .map(|(id, text)| CheckSource {
            id,
            url: None,
            title: None,
            language: None,
            text,
            is_suspected: false,
        })
        .collect();
    let mut is_met = true;
    for (depth, most) in GOALS {
        let request = CheckRequest {
            text: &text,
            depth,
            now: UnixSeconds(0),
        };
        let report = check_report(&request, &sources);
        let mut times: Vec<Duration> = (0..REPETITIONS)
            .map(|_| {
                let began = cpu();
                black_box(check_report(&request, &sources));
                cpu() - began
            })
            .collect();
        times.sort();
        let median = times[REPETITIONS / 2];
        is_met &= median <= most;
        say(&format!(
            "{:<9} CPU ms: median {:>8.1}, least {:>8.1}, goal {:>5}   {:?}",
            depth.name(),
            median.as_secs_f64() * 1e3,
            times[0].as_secs_f64() * 1e3,
            most.as_millis(),
            report.counts
        ));
    }
    largest(&made.sources.join("\n\n"));
    match is_met {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// The most statements against ten sources of the greatest size.
fn largest(text: &str) {
    let source = text.repeat(SOURCE_BYTES_MAX / text.len() + 1);
    let statements = "The river festival costs 20 euros. ".repeat(STATEMENTS_MAX);
    let ids: Vec<String> = (1..=SOURCES_MAX)
        .map(|number| format!("S{number}"))
        .collect();
    let sources: Vec<CheckSource<'_>> = ids
        .iter()
        .map(|id| CheckSource {
            id,
            url: None,
            title: None,
            language: None,
            text: &source,
            is_suspected: false,
        })
        .collect();
    for (depth, _) in GOALS {
        let request = CheckRequest {
            text: &statements,
            depth,
            now: UnixSeconds(0),
        };
        let began = cpu();
        let report = check_report(&request, &sources);
        let used = cpu() - began;
        say(&format!(
            "{:<9} CPU s of the largest request: {:.1}   {} claims",
            depth.name(),
            used.as_secs_f64(),
            report.claims.len()
        ));
    }
}

struct Made {
    sources: Vec<String>,
    claims: Vec<String>,
}

/// Each source is as many documents as have the sentences, under a heading each; each claim is of another document.
fn made() -> Made {
    let mut documents = documents().into_iter();
    let mut made = Made {
        sources: Vec::new(),
        claims: Vec::new(),
    };
    let mut turn = 0;
    for _ in 0..SOURCES {
        let mut source = String::new();
        while Examiner::new(&Source::of_text(&source)).units().count() < SENTENCES {
            let document = documents.next().expect("there are enough documents");
            source += &std::fs::read_to_string(&document).expect("a document");
            source.push_str("\n\n");
            let rows = std::fs::read_to_string(document.with_extension("tsv")).expect("its rows");
            let claims = rows.lines().map(|row| row.split('\t').collect::<Vec<_>>());
            let claims: Vec<_> = claims.filter(|row| row[1] == "claim").collect();
            let own = claims.iter().cycle().skip(turn).take(2);
            made.claims.extend(own.map(|row| row[5].to_owned()));
            turn += 7;
        }
        made.sources.push(source);
    }
    let all = std::mem::take(&mut made.claims);
    assert!(all.len() >= CLAIMS, "{}", all.len());
    // From all of the sources alike.
    made.claims = (0..CLAIMS)
        .map(|number| all[number * all.len() / CLAIMS].clone())
        .collect();
    made
}

fn documents() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/evidence/nearmiss");
    let files = std::fs::read_dir(folder).expect("the near-misses");
    let files = files.map(|file| file.expect("a file").path());
    let mut documents: Vec<PathBuf> = files
        .filter(|file| file.extension().is_some_and(|end| end == "md"))
        .filter(|file| file.with_extension("tsv").exists())
        .collect();
    documents.sort();
    documents
}

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("standard output");
}

fn cpu() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let seconds = u64::try_from(used.tv_sec).expect("a time");
    Duration::new(seconds, u32::try_from(used.tv_nsec).expect("nanoseconds"))
}
