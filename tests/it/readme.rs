//! What the README and the guides for operators and developers say, held against the program and the files that they name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use context402::domain::amount::Amount;
use context402::domain::bundle::Bundle;
use context402::domain::check::CheckDepth;
use context402::domain::pack::Pack;
use context402::domain::tier::Tier;
use context402::evidence::FIGURES;
use serde_json::Value;

use crate::harness::Folder;
use crate::harness::process::run;

const README: &str = "README.md";
const OPERATING: &str = "systemd/OPERATING.md";
/// What is written for people and has links.
const GUIDES: [&str; 9] = [
    README,
    OPERATING,
    "tests/README.md",
    "tests/interop/README.md",
    "benches/README.md",
    "data/README.md",
    "data/evidence/README.md",
    "data/evidence/nearmiss/README.md",
    "data/selection/README.md",
];
/// What names commands and settings for operators.
const FOR_OPERATORS: [&str; 3] = [README, OPERATING, "data/ops/alerts.yml"];
const LINES_MAX: usize = 130;
const WORDS_MAX: usize = 1_300;
const PICTURE_BYTES_MAX: usize = 150_000;

fn bytes(file: impl AsRef<Path>) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", file.as_ref().display()))
}

fn read(file: impl AsRef<Path>) -> String {
    String::from_utf8(bytes(file)).expect("UTF-8")
}

/// The text below a heading of the second level.
fn part<'t>(text: &'t str, heading: &str) -> &'t str {
    let (_, rest) = text
        .split_once(&format!("\n## {heading}\n"))
        .unwrap_or_else(|| panic!("no part {heading}"));
    rest.split("\n## ").next().unwrap_or_default()
}

/// The cells of a table's rows, without its head.
fn rows(part: &str) -> Vec<Vec<&str>> {
    let lines = part.lines().filter(|line| line.starts_with('|'));
    lines
        .skip(2)
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

/// What stands between `open` and `close`, wherever it does.
fn between<'t>(text: &'t str, open: &str, close: &str) -> Vec<&'t str> {
    text.split(open)
        .skip(1)
        .filter_map(|rest| rest.split_once(close))
        .map(|(inner, _)| inner)
        .collect()
}

/// What stands between backticks, line by line, and the lines of code blocks.
fn code(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            found.push(line);
        } else {
            found.extend(line.split('`').skip(1).step_by(2));
        }
    }
    found
}

/// A heading as a link names it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    kept.chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        })
        .collect()
}

/// A kind of document is a row of one table; these lists are written by hand, each in one line.
#[test]
fn every_kind_of_document_is_named() {
    for file in [
        README,
        OPERATING,
        "src/domain/code.rs",
        "src/pages/docs/faq.rs",
    ] {
        let text = read(file);
        let lists: Vec<&str> = text.lines().filter(|line| line.contains("EPUB")).collect();
        assert_eq!(lists.len(), 1, "{file}");
        for row in context402::markdown::KINDS {
            assert!(
                lists[0].contains(row.name),
                "{file} does not name {}",
                row.name
            );
        }
    }
}

#[test]
fn the_readme_is_short() {
    let text = read(README);
    let (lines, words) = (text.lines().count(), text.split_whitespace().count());
    assert!(lines <= LINES_MAX, "{lines} lines");
    assert!(words <= WORDS_MAX, "{words} words");
}

#[test]
fn every_link_and_picture_is_there() {
    let mut pictures = 0;
    for guide in GUIDES {
        let text = read(guide);
        let folder = Path::new(guide).parent().expect("a folder");
        for link in between(&text, "](", ")") {
            if link.starts_with("https://") {
                continue;
            }
            let (file, wanted) = link.split_once('#').unwrap_or((link, ""));
            let path = if file.is_empty() {
                Path::new(guide).to_owned()
            } else {
                folder.join(file)
            };
            let found = bytes(&path);
            if file.ends_with(".png") {
                assert!(found.starts_with(b"\x89PNG"), "{file}");
                assert!(
                    found.len() <= PICTURE_BYTES_MAX,
                    "{file}: {} bytes",
                    found.len()
                );
                pictures += 1;
            }
            let found = String::from_utf8_lossy(&found);
            let mut headings = found.lines().filter_map(|line| line.strip_prefix('#'));
            assert!(
                wanted.is_empty() || headings.any(|h| anchor(h.trim_start_matches('#')) == wanted),
                "{guide} links to {link}"
            );
        }
    }
    assert_eq!(pictures, 3, "terminal, report, console");
}

#[test]
fn prices_are_those_of_the_tables() {
    let text = read(README);
    let sold = rows(part(&text, "What it sells"));
    let tiers = Tier::ALL.map(|tier| (tier.name(), tier.price(), "USDC"));
    let packs = Pack::ALL.map(|pack| (pack.name(), pack.price(), "USDC"));
    let bundles = Bundle::ALL.map(|bundle| (bundle.name(), bundle.price(), "USDC"));
    let depths = CheckDepth::ALL.map(|depth| (depth.name(), depth.price(), "USDC"));
    let all = tiers.into_iter().chain(packs).chain(bundles);
    let all: Vec<_> = all.chain(depths).collect();
    assert_eq!(sold.len(), all.len());
    for (row, (name, price, unit)) in sold.iter().zip(&all) {
        assert_eq!(row[1], format!("`{name}`"));
        let (amount, told) = row[2].split_once(' ').expect("a price and its unit");
        assert_eq!(Amount::parse_usdc(amount), Some(*price), "{name}");
        assert_eq!(told, *unit, "{name}");
    }
    let first = tiers.len() + packs.len();
    for (row, bundle) in sold[first..].iter().zip(Bundle::ALL) {
        let limit = format!("up to {} sources", bundle.source_limit());
        assert!(row[3].starts_with(&limit), "{row:?}");
    }
}

/// Near-misses as they were measured, in the README and beside the engine's data, and every other figure of the README as
/// it stands in the file that the README links to.
#[test]
fn figures_are_those_that_were_measured() {
    let figures: Value = serde_json::from_str(FIGURES).expect("JSON");
    let measured = figures["near_misses"]["rows"].as_array().expect("rows");
    let of = |set: &str, asked: &str, depth: &str| {
        let is = |row: &&Value| row["set"] == set && row["asked"] == asked && row["depth"] == depth;
        let row = measured
            .iter()
            .find(is)
            .unwrap_or_else(|| panic!("{set} {asked} {depth}"));
        let count = row["rows"].as_u64().expect("a count");
        let figures = ["false_plain", "true_plain", "auroc"]
            .map(|name| row[name].as_f64().expect("a figure"));
        (count, figures)
    };
    let share = |value: f64| format!("{value:.3}").trim_start_matches('0').to_owned();
    let thousands = |count: u64| match count / 1_000 {
        0 => count.to_string(),
        many => format!("{many},{:03}", count % 1_000),
    };
    let text = read(README);
    let numbers = part(&text, "Numbers");
    let told = rows(numbers);
    assert_eq!(told.len(), 3);
    for (row, set) in told.iter().zip(["cases", "others", "ours"]) {
        let (count, [false_plain, true_plain, auroc]) = of(set, "claims", "standard");
        assert!(
            row[0].ends_with(&format!(": {} claims", thousands(count))),
            "{row:?}"
        );
        assert_eq!(row[1], format!("**{:.1} %**", false_plain * 100.0));
        assert_eq!(row[2], format!("**{:.1} %**", true_plain * 100.0));
        assert_eq!(row[3], format!("**{}**", share(auroc)));
    }
    let mut looked_up = 0;
    for point in numbers.split("\n- ").skip(1) {
        let links = between(point, "](", ")").into_iter();
        let files: Vec<String> = links
            .filter_map(|link| link.split('#').next())
            .map(read)
            .collect();
        for figure in point.split("**").skip(1).step_by(2) {
            assert!(files.iter().any(|file| file.contains(figure)), "{figure}");
            looked_up += 1;
        }
    }
    assert!(looked_up >= 4, "{looked_up} figures");

    let text = read("data/evidence/README.md");
    let results = part(&text, "Results")
        .split("\n### ")
        .nth(1)
        .expect("near-misses");
    let kinds = [
        ("others", "claims", "standard"),
        ("ours", "claims", "standard"),
        ("ours", "yes_no", "standard"),
        ("cases", "claims", "standard"),
        ("cases", "questions", "standard"),
        ("own_cases", "claims", "standard"),
        ("others", "claims", "quick"),
        ("ours", "claims", "quick"),
        ("others", "questions", "standard"),
        ("ours", "questions", "standard"),
        ("ours", "questions", "quick"),
        ("fm2", "claims", "standard"),
        ("wice", "claims", "standard"),
        ("feversym", "claims", "standard"),
        ("bnli", "claims", "standard"),
        ("squad2_doc", "questions", "standard"),
        ("squad2_para", "questions", "standard"),
        ("offtopic", "questions", "standard"),
    ];
    let told = rows(results);
    assert_eq!(told.len(), kinds.len());
    for (row, (set, asked, depth)) in told.iter().zip(kinds) {
        let (count, measured) = of(set, asked, depth);
        let expected: Vec<String> = std::iter::once(thousands(count))
            .chain(measured.map(share))
            .collect();
        assert_eq!(row[1..], expected, "{set} {asked} {depth}");
    }
}

/// Every command that operators are told to run is one, with the options that are given.
#[test]
fn every_command_that_is_named_is_there() {
    let mut named: BTreeMap<Vec<String>, BTreeSet<String>> = BTreeMap::new();
    for file in FOR_OPERATORS {
        // A command in an annotation may go on in the next line.
        let text = match file {
            yaml if yaml.ends_with(".yml") => read(yaml).replace("\n            ", " "),
            other => read(other),
        };
        for piece in code(&text) {
            let piece = piece.trim_start();
            let piece = piece.strip_prefix("sudo ").unwrap_or(piece);
            let Some(rest) = piece.strip_prefix("context402 ") else {
                continue;
            };
            let rest = rest.split('#').next().unwrap_or_default();
            let is_word = |word: &&str| {
                word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-')
            };
            let words: Vec<String> = rest
                .split_whitespace()
                .take_while(is_word)
                .map(str::to_owned)
                .collect();
            let options = rest
                .split_whitespace()
                .filter(|word| word.starts_with("--"));
            if !words.is_empty() {
                named
                    .entry(words)
                    .or_default()
                    .extend(options.map(str::to_owned));
            }
        }
    }
    assert!(named.len() > 25, "{} commands", named.len());
    for (words, options) in named {
        let mut arguments: Vec<&str> = words.iter().map(String::as_str).collect();
        arguments.push("--help");
        let help = run(&arguments).expect(0).out;
        for option in options {
            assert!(help.contains(&option), "{words:?} has no {option}");
        }
    }
}

#[test]
fn every_setting_that_is_named_is_there() {
    let folder = Folder::new();
    let path = folder.path("config.toml");
    run(&["config", "init", &path.display().to_string()]).expect(0);
    let mut settings = BTreeSet::new();
    for line in std::fs::read_to_string(path).expect("written").lines() {
        if let Some((key, _)) = line.trim_start_matches('#').split_once(" = ") {
            let (section, key) = key.split_once('.').unwrap_or(("", key));
            settings.insert((section.to_owned(), key.to_owned()));
        }
    }
    let sections = settings.iter().map(|(section, _)| section.as_str());
    let sections: BTreeSet<&str> = sections.filter(|section| !section.is_empty()).collect();
    let mut looked_up = 0;
    for file in FOR_OPERATORS {
        let text = read(file);
        for piece in code(&text) {
            let piece = piece.split(' ').next().unwrap_or_default();
            let Some((section, key)) = piece.split_once('.') else {
                continue;
            };
            if !sections.contains(section) {
                continue;
            }
            let has = |key: &str| settings.contains(&(section.to_owned(), key.to_owned()));
            assert!(has(key) || has(&format!("{key}_file")), "{file}: {piece}");
            looked_up += 1;
        }
    }
    assert!(looked_up > 30, "{looked_up} settings");
}

/// The guide for operators is on the machine with the program.
#[test]
fn the_operating_guide_comes_with_the_program() {
    assert_eq!(run(&["man", "operating"]).expect(0).out, read(OPERATING));
    run(&["man", "nothing"]).expect(2);
}
