//! The conventions that matter, as tests: imports go one way, each technique lives in one folder, the clock is read in
//! one place.

use std::path::{Path, PathBuf};

/// Who may import whom. A module may always import itself.
const LAYERS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("http", &[]),
    ("sync", &[]),
    ("log", &["sync"]),
    ("metrics", &["sync"]),
    ("limits", &["domain", "outside", "sync"]),
    ("bounds", &[]),
    ("markdown", &["domain"]),
    ("evidence", &["domain", "markdown"]),
    ("signing", &[]),
    ("x402", &["domain", "signing"]),
    ("pages", &["domain", "evidence"]),
    ("pdf", &["domain", "evidence"]),
    ("sandbox", &["domain", "x402"]),
    ("store", &["domain", "sync"]),
    (
        "outside",
        &["domain", "markdown", "signing", "sync", "x402"],
    ),
    (
        "config",
        &["domain", "limits", "outside", "signing", "x402"],
    ),
    (
        "state",
        &[
            "config", "domain", "evidence", "markdown", "outside", "pages", "signing", "store",
            "sync", "x402",
        ],
    ),
    (
        "flows",
        &[
            "app", "config", "domain", "evidence", "markdown", "outside", "pages", "pdf",
            "signing", "state", "store", "sync", "x402",
        ],
    ),
    (
        "app",
        &[
            "config", "domain", "http", "limits", "metrics", "outside", "signing", "state", "store",
        ],
    ),
    (
        "api",
        &[
            "app", "domain", "evidence", "flows", "http", "log", "metrics", "pages", "signing",
            "state", "store", "sync", "x402",
        ],
    ),
    (
        "routes",
        &["api", "app", "domain", "http", "pages", "signing"],
    ),
    (
        "appliance",
        &[
            "api", "app", "config", "domain", "flows", "http", "outside", "routes", "sandbox",
            "sync",
        ],
    ),
    (
        "cli",
        &[
            "api",
            "app",
            "appliance",
            "config",
            "domain",
            "evidence",
            "flows",
            "http",
            "log",
            "markdown",
            "outside",
            "pages",
            "routes",
            "sandbox",
            "signing",
            "state",
            "store",
            "sync",
            "x402",
        ],
    ),
];

/// What stands in one place alone.
const HOMES: &[(&str, &str)] = &[
    ("hyper::", "http/ outside/facilitator"),
    ("redb::", "store/"),
    ("ureq::", "outside/"),
    ("maud::", "pages/"),
    ("lettre::", "outside/mailer"),
    ("TlsAcceptor", "http/tls.rs"),
    ("TlsConnector", "outside/facilitator/connections.rs"),
    ("instant_acme::", "outside/acme.rs"),
    ("rcgen::", "outside/acme.rs"),
    ("lol_html::", "markdown/"),
    ("krilla::", "pdf/"),
    ("parley::", "pdf/"),
    ("quick_xml::", "markdown/kinds/xml.rs"),
    (
        "flate2::",
        "markdown/kinds/pdf/ markdown/kinds/zip.rs http/coding.rs",
    ),
    ("brotli::", "http/coding.rs"),
    ("bincode::", "store/record.rs"),
    ("ratelimit::", "limits.rs"),
    ("psl::", "domain/target.rs"),
    ("domain::base::", "outside/network/dns.rs"),
    ("tiny_keccak::", "domain/keccak.rs"),
    ("getrandom::", "outside/"),
    ("listenfd::", "outside/supervisor.rs"),
    ("SystemTime::now", "outside/clock.rs"),
    ("env::var", "config/"),
    ("std::process::exit", "nowhere"),
];

/// The pure middle: it never waits, so it cannot fail for outside reasons.
const PURE: &[&str] = &[
    "domain", "evidence", "markdown", "signing", "x402", "pages", "pdf", "sandbox",
];

/// Names that only this program had, each with the field's own, which is to be used.
const PRIVATE_WORDS: &[(&str, &str)] = &[
    ("Allotment", "MemoryPermit"),
    ("Boarding", "Joined"),
    ("Crowd", "ConnectionLimit"),
    ("Desk", "InFlight"),
    ("Errand", "Sending"),
    ("Lane", "ConcurrencyLimit"),
    ("LaneFull", "Saturated"),
    ("Letters", "OrderEmails"),
    ("Lingering", "LingeringClose"),
    ("Manners", "CopyOptions"),
    ("Outgoing", "ResponseBudget"),
    ("Overlay", "CopyOnWrite"),
    ("Reckoning", "LedgerCheck"),
    ("Shares", "KeyedLimit"),
    ("Speaking", "RequestInProgress"),
    ("StandIn", "Fake"),
    ("Workshop", "OrderWorkers"),
    ("reckoning", "ledger_check"),
    ("guardian", "margin_guard"),
];

struct Source {
    /// Below src/.
    path: String,
    /// Without tests and comments.
    code: String,
}

impl Source {
    fn module(&self) -> &str {
        let first = self.path.split('/').next().unwrap_or_default();
        first.trim_end_matches(".rs")
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("src can be read") {
            let path: PathBuf = entry.expect("an entry").path();
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default()
                .to_owned();
            if path.is_dir() && name == "tests" {
                continue;
            } else if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".rs") && name != "tests.rs" && name != "loopback.rs" {
                let text = std::fs::read_to_string(&path).expect("UTF-8");
                let path = path
                    .strip_prefix(&root)
                    .expect("below src")
                    .to_string_lossy()
                    .into_owned();
                found.push(Source {
                    path,
                    code: code(&text),
                });
            }
        }
    }
    assert!(found.len() > 50, "only {} files were found", found.len());
    found
}

fn code(text: &str) -> String {
    let before_tests = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    let lines = before_tests
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Every `crate::name` in a file.
fn imports(code: &str) -> impl Iterator<Item = &str> {
    code.split("crate::").skip(1).map(|rest| {
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        &rest[..end]
    })
}

#[test]
fn imports_go_one_way() {
    for source in sources() {
        let module = source.module();
        // A package of its own imports nothing of ours.
        if matches!(module, "lib" | "main") || source.path.starts_with("evidence/entailment/") {
            continue;
        }
        let allowed = LAYERS
            .iter()
            .find(|(name, _)| *name == module)
            .map(|(_, allowed)| *allowed);
        let allowed = allowed.unwrap_or_else(|| panic!("{module} has no row in LAYERS"));
        // `crate::tests` is there in tests alone, which the compiler sees to.
        let outward = |import: &&str| *import != module && *import != "tests";
        for import in imports(&source.code).filter(outward) {
            assert!(
                allowed.contains(&import),
                "{} imports {import}",
                source.path
            );
        }
    }
}

#[test]
fn the_layers_have_no_circle() {
    let mut below: Vec<&str> = Vec::new();
    while below.len() < LAYERS.len() {
        let next = LAYERS.iter().find(|(name, allowed)| {
            !below.contains(name) && allowed.iter().all(|import| below.contains(import))
        });
        let (name, _) = next.unwrap_or_else(|| panic!("a circle above {below:?}"));
        below.push(name);
    }
}

#[test]
fn names_are_the_field_s_own() {
    for source in sources() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut words = source.code.split(|c: char| !is_word(c));
        let found = words.find_map(|word| PRIVATE_WORDS.iter().find(|(name, _)| *name == word));
        assert!(
            found.is_none(),
            "{} has a private word: {found:?}",
            source.path
        );
    }
}

#[test]
fn each_technique_lives_in_one_place() {
    for source in sources() {
        for (technique, home) in HOMES {
            let at_home = home.split(' ').any(|home| source.path.starts_with(home));
            assert!(
                at_home || !source.code.contains(technique),
                "{} uses {technique} outside {home}",
                source.path
            );
        }
    }
    for (technique, home) in HOMES.iter().filter(|(_, home)| *home != "nowhere") {
        for home in home.split(' ') {
            let used = sources()
                .iter()
                .any(|source| source.path.starts_with(home) && source.code.contains(technique));
            assert!(
                used,
                "nothing in {home} uses {technique}: its row guards nothing"
            );
        }
    }
}

#[test]
fn the_middle_never_waits() {
    for source in sources()
        .iter()
        .filter(|source| PURE.contains(&source.module()))
    {
        for word in [
            "async fn",
            "async move",
            ".await",
            "Instant::now",
            "thread::",
            "std::fs",
            "std::net::Tcp",
        ] {
            assert!(
                !source.code.contains(word),
                "{} holds {word:?}",
                source.path
            );
        }
    }
}

#[test]
fn every_module_says_what_it_knows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for source in sources() {
        let text = std::fs::read_to_string(root.join(&source.path)).expect("UTF-8");
        assert!(
            text.starts_with("//!"),
            "{} does not open with //!",
            source.path
        );
    }
}

#[test]
fn every_table_is_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store/tables.rs");
    let text = std::fs::read_to_string(root).expect("UTF-8");
    let lines: Vec<&str> = text.lines().collect();
    // A line of the list: NAME field "name": key => value;
    let is_row = |line: &str| {
        line.trim_start()
            .starts_with(|c: char| c.is_ascii_uppercase())
            && line.contains("\": ")
            && line.contains(" => ")
    };
    let rows = lines.iter().enumerate().filter(|(_, line)| is_row(line));
    let mut count = 0;
    for (position, line) in rows {
        let above = lines[position - 1].trim_start();
        assert!(above.starts_with("/// "), "{line}");
        count += 1;
    }
    assert!(count >= 25, "only {count} tables were found");
}
