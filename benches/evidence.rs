//! What it costs to check a page for evidence, beside a bare BM25 pass over the same units.
//!
//! A short page of 200 sentences and the longest that is read, 5 MiB, both made of words that follow Zipf's law, with
//! headings and lists. Both sides split, lower and count the same text on one thread; the bare pass scores words as they
//! are and does nothing else. CPU time of this process.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::time::Duration;

use context402::evidence::{Examiner, Reading, Source, check};

/// As in the program that is published.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const REPETITIONS: usize = 15;
const WORDS: usize = 60_000;
const PAGE_BYTES: usize = 5 * 1024 * 1024;

fn main() {
    say(&format!(
        "{:<34} {:>9} {:>9}   CPU ms: median, least of {REPETITIONS}",
        "", "median", "least"
    ));
    for (name, text) in [
        ("200 sentences", page(200, usize::MAX)),
        ("5 MiB", page(usize::MAX, PAGE_BYTES)),
    ] {
        let question = question(&text);
        let source = Source::of_text(&text);
        let units: Vec<_> = Examiner::new(&source).units().collect();
        say(&format!(
            "{name}: {} bytes, {} units; {question}",
            text.len(),
            units.len()
        ));
        show("  evidence, from text", || {
            black_box(check(&source, &question));
        });
        let examined = Examiner::new(&source);
        show("  evidence, a second question", || {
            black_box(examined.check(&question, Reading::Question));
        });
        show("  bare BM25", || {
            black_box(bare(&text, &units, &question));
        });
    }
}

fn show(name: &str, mut work: impl FnMut()) {
    let mut times: Vec<Duration> = (0..REPETITIONS)
        .map(|_| {
            let began = cpu();
            work();
            cpu() - began
        })
        .collect();
    times.sort();
    let shown = |time: Duration| time.as_secs_f64() * 1e3;
    say(&format!(
        "{name:<34} {:>9.3} {:>9.3}",
        shown(times[REPETITIONS / 2]),
        shown(times[0])
    ));
}

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("standard output");
}

fn cpu() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let seconds = u64::try_from(used.tv_sec).expect("a time");
    Duration::new(seconds, u32::try_from(used.tv_nsec).expect("nanoseconds"))
}

/// A linear congruential generator: the same page every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % bound
    }

    /// Small numbers far more often than large ones.
    fn rank(&mut self) -> usize {
        let bits = self.below(16);
        self.below((1 << bits).min(WORDS)) + self.below(1 << bits.min(4))
    }
}

fn word(rank: usize) -> String {
    const STOPS: &[&str] = &[
        "the", "of", "and", "to", "a", "in", "is", "was", "for", "on",
    ];
    const SYLLABLES: &[&str] = &[
        "ba", "co", "di", "fu", "ge", "ha", "li", "mo", "nu", "pe", "ra", "so", "ti", "vu", "wa",
        "ze",
    ];
    if let Some(stop) = STOPS.get(rank) {
        return (*stop).to_owned();
    }
    let mut left = rank;
    let mut word = String::new();
    while left > 0 {
        word.push_str(SYLLABLES[left % SYLLABLES.len()]);
        left /= SYLLABLES.len();
    }
    word + ["", "s", "ed", "ing", "ation"][rank % 5]
}

fn page(sentences: usize, bytes: usize) -> String {
    let mut numbers = Numbers(402);
    let mut text = String::from("# A page\n\n");
    let mut count = 0;
    while count < sentences && text.len() < bytes {
        if count % 25 == 24 {
            let _ = write!(
                text,
                "\n\n## {} {}\n\n",
                word(numbers.rank() + 10),
                word(numbers.rank() + 10)
            );
        } else if count % 40 > 35 {
            text.push_str("\n- ");
        }
        for position in 0..8 + numbers.below(20) {
            let word = if numbers.below(25) == 0 {
                numbers.below(3_000).to_string()
            } else {
                word(numbers.rank())
            };
            if position > 0 {
                text.push(' ');
                text.push_str(&word);
            } else {
                text.push_str(&word[..1].to_uppercase());
                text.push_str(&word[1..]);
            }
        }
        text.push_str(". ");
        count += 1;
    }
    text
}

/// A sentence of the page, turned into a question.
fn question(text: &str) -> String {
    let middle = &text[text.len() / 2..];
    let sentence = middle.split(". ").nth(1).unwrap_or_default();
    let words: Vec<&str> = sentence.split_whitespace().take(12).collect();
    format!("What is {}?", words.join(" "))
}

/// BM25 with nothing around it.
fn bare(text: &str, units: &[std::ops::Range<usize>], question: &str) -> Vec<(usize, f64)> {
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let asked = words(question);
    let mut lengths = Vec::with_capacity(units.len());
    let mut postings: HashMap<String, Vec<(usize, f64)>> = HashMap::new();
    for (number, range) in units.iter().enumerate() {
        let found = words(&text[range.clone()]);
        lengths.push(found.len() as f64);
        for word in found {
            let list = postings.entry(word).or_default();
            match list.last_mut() {
                Some((last, count)) if *last == number => *count += 1.0,
                _ => list.push((number, 1.0)),
            }
        }
    }
    let total = units.len() as f64;
    let mean = lengths.iter().sum::<f64>() / total;
    let mut scores = vec![0.0; units.len()];
    for word in &asked {
        let Some(list) = postings.get(word) else {
            continue;
        };
        let count = list.len() as f64;
        let rarity = (1.0 + (total - count + 0.5) / (count + 0.5)).ln();
        for &(unit, frequency) in list {
            scores[unit] +=
                rarity * frequency * 2.2 / (frequency + 1.2 * (0.4 + 0.6 * lengths[unit] / mean));
        }
    }
    let mut best: Vec<(usize, f64)> = scores.into_iter().enumerate().collect();
    best.sort_by(|one, other| other.1.total_cmp(&one.1));
    best.truncate(12);
    best
}
