//! The conventions that matter, as tests: imports go one way, each technique lives in one folder, the clock is read in
//! one place.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use context402::domain::code::Code;
use context402::domain::shapes;
use context402::flows::content::several;
use context402::metrics::Metrics;
use context402::routes::ROUTES;

/// Who may import whom. A module may always import itself.
const LAYERS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("sync", &[]),
    ("http", &["sync"]),
    ("log", &["outside", "sync"]),
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
            "config", "domain", "http", "limits", "log", "metrics", "outside", "signing", "state",
            "store", "sync",
        ],
    ),
    (
        "api",
        &[
            "app", "domain", "evidence", "flows", "http", "metrics", "pages", "signing", "state",
            "store", "sync", "x402",
        ],
    ),
    (
        "routes",
        &["api", "app", "domain", "http", "pages", "signing"],
    ),
    (
        "appliance",
        &[
            "api", "app", "config", "domain", "flows", "http", "log", "outside", "routes",
            "sandbox", "sync",
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

/// Words for which the field has others, each with what readers know instead. They are looked for in what the documents
/// and the metrics say, not in names.
const REFUSED_WORDS: &[(&str, &str)] = &[
    ("kept", "saved, stored or cached"),
    ("vault", "receiving address"),
    ("book", "ledger"),
    ("whom", "another sentence"),
    ("whoever", "anyone who"),
    ("anew", "again"),
    ("told", "another sentence"),
    ("forget", "delete"),
    ("refulfil", "retry the fulfilment"),
    ("in force", "apply"),
    ("held against", "reconciled with"),
    ("for nothing", "free"),
    ("became of", "outcome"),
    ("if asked", "optionally"),
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
        "markdown/kinds/inflate.rs markdown/kinds/zip.rs http/coding.rs",
    ),
    ("brotli::", "http/coding.rs"),
    ("bincode::", "store/record.rs"),
    ("ratelimit::", "limits.rs"),
    ("psl::", "domain/target.rs"),
    ("domain::base::", "outside/network/dns.rs"),
    ("tiny_keccak::", "domain/keccak.rs"),
    ("getrandom::", "outside/"),
    ("listenfd::", "outside/supervisor.rs"),
    ("PoisonError", "sync.rs"),
    ("SystemTime::now", "outside/clock.rs"),
    ("Timestamp::now", "nowhere"),
    ("env::var", "config/"),
    ("try_from_env", "nowhere"),
    ("std::process::exit", "nowhere"),
];

/// The pure middle: it never waits, so it cannot fail for outside reasons.
const PURE: &[&str] = &[
    "domain", "evidence", "markdown", "signing", "x402", "pages", "pdf", "sandbox",
];

/// Names that only this program had, each with the field's own, which is to be used.
const PRIVATE_WORDS: &[(&str, &str)] = &[
    ("Allotment", "MemoryPermit"),
    ("Asker", "Requester"),
    ("Boarding", "Joined"),
    ("Crowd", "ConnectionLimit"),
    ("Desk", "InFlight"),
    ("Errand", "SendPermit"),
    ("Lane", "ConcurrencyLimit"),
    ("LaneFull", "LimitReached"),
    ("Letters", "OrderEmails"),
    ("Lingering", "LingeringClose"),
    ("Manners", "CopyOptions"),
    ("Outgoing", "ResponseBudget"),
    ("Overlay", "CopyOnWrite"),
    ("Reckoning", "LedgerCheck"),
    ("Shares", "KeyedLimit"),
    ("Speaking", "RequestInProgress"),
    ("StandIn", "Fake"),
    ("Trial", "TestOrder"),
    ("Workshop", "OrderWorkers"),
    ("door", "admission"),
    ("guardian", "margin_guard"),
    ("lane", "concurrency_limit"),
    ("overlay", "copy_on_write"),
    ("reckoning", "ledger_check"),
    ("speaking", "in_progress"),
    ("trials", "self_tests"),
];

/// Bare participles say neither what a function does nor what it gives.
const PARTICIPLES: [&str; 6] = ["asked", "kept", "said", "shown", "taken", "told"];

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

/// Below a layer whose folders are rooms: the room of a path after `crate::api::` or `crate::flows::`.
fn rooms(code: &str, layer: &str) -> Vec<String> {
    let mut found = Vec::new();
    for rest in code.split(&format!("crate::{layer}::")).skip(1) {
        let word = |text: &str| -> String {
            let is_word = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
            text.trim_start().chars().take_while(is_word).collect()
        };
        match rest.strip_prefix('{') {
            None => found.push(word(rest)),
            Some(list) => {
                let mut depth = 0;
                let end = list.find(|c| {
                    depth += i32::from(c == '{') - i32::from(c == '}');
                    depth < 0
                });
                let mut depth = 0;
                let items = list[..end.unwrap_or(list.len())].split(|c| {
                    depth += i32::from(c == '{') - i32::from(c == '}');
                    c == ',' && depth == 0
                });
                found.extend(items.map(word).filter(|name| !name.is_empty()));
            }
        }
    }
    found
}

/// Folders whose files and folders import each other one way.
const LAYERS_WITHOUT_CIRCLE: &[&str] = &[
    "api",
    "api/buyer",
    "api/directory",
    "api/directory/discovery",
    "api/operator",
    "api/orders",
    "cli",
    "config",
    "domain",
    "evidence",
    "evidence/bundle",
    "evidence/check",
    "evidence/engine",
    "evidence/reading",
    "evidence/report",
    "flows",
    "flows/content",
    "flows/operations",
    "flows/sale",
    "http",
    "markdown",
    "markdown/builder",
    "markdown/kinds",
    "markdown/select",
    "outside",
    "pages",
    "pages/buyer",
    "state",
    "store",
    "x402",
];

#[test]
fn the_folders_of_a_layer_have_no_circle() {
    for layer in LAYERS_WITHOUT_CIRCLE {
        let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for source in sources() {
            let Some(below) = source.path.strip_prefix(&format!("{layer}/")) else {
                continue;
            };
            let below = below.trim_end_matches(".rs").trim_end_matches("/mod");
            let room = below.split('/').next().unwrap_or_default().to_owned();
            let module = layer.replace('/', "::");
            // From a file so deep, so many steps up lead to the layer.
            let up = "super::".repeat(below.split('/').count());
            let code = source.code.replace(&up, &format!("crate::{module}::"));
            let others = rooms(&code, &module);
            let others = others.into_iter().filter(|other| *other != room);
            imports.entry(room.clone()).or_default().extend(others);
        }
        // What is imported and is no file or folder is a function of the layer's own module.
        let names: BTreeSet<String> = imports.keys().cloned().collect();
        assert!(names.len() >= 5, "{layer} has only {names:?}");
        let mut below: BTreeSet<String> = BTreeSet::new();
        while below.len() < names.len() {
            let next = imports.iter().find(|(name, others)| {
                let mut needed = others.iter().filter(|other| names.contains(*other));
                !below.contains(*name) && needed.all(|other| below.contains(other))
            });
            let Some((name, _)) = next else {
                panic!("{layer} has a circle among those that are not {below:?}");
            };
            below.insert(name.clone());
        }
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

/// Summaries, parameters, fields, refusals and metrics are read by people and models who know the field's words.
#[test]
fn documents_use_the_field_s_words() {
    let parameters = ROUTES
        .iter()
        .flat_map(|row| row.about.query.iter().chain(row.about.needs));
    let mut texts: Vec<&str> = parameters.map(|parameter| parameter.doc).collect();
    texts.extend(ROUTES.iter().map(|row| row.about.summary));
    for object in shapes::ALL {
        texts.push(object.doc);
        texts.extend(object.fields.iter().map(|field| field.doc));
    }
    for code in Code::ALL {
        texts.extend([code.meaning(), code.next_step()]);
    }
    let metrics = Metrics::default();
    texts.extend(metrics.families().map(|family| family.help));
    assert!(texts.len() > 300, "only {} texts were found", texts.len());
    for text in texts {
        let words: Vec<String> = text
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_ascii_lowercase)
            .collect();
        let text_in_words = format!(" {} ", words.join(" "));
        for (refused, better) in REFUSED_WORDS {
            let is_there = text_in_words.contains(&format!(" {refused} "));
            assert!(!is_there, "{text:?} says {refused:?}; say {better}");
        }
    }
}

/// What the documents say about the time of a purchase of several sources is what the sale gives it.
#[test]
fn the_time_of_several_sources_is_stated() {
    let words = format!("within {} seconds", several::WORK_MAX.as_secs());
    for object in [
        &shapes::PAGES_REQUEST,
        &shapes::PROOF_BUNDLE_REQUEST,
        &shapes::CHECK_REQUEST,
    ] {
        assert!(
            object.doc.contains(&words),
            "{}: {}",
            object.name,
            object.doc
        );
    }
}

#[test]
fn no_function_is_a_bare_participle() {
    let found = |source: &Source| {
        let defines = |word: &&&str| {
            let starts = ["(", "<"].map(|end| format!("fn {word}{end}"));
            starts.iter().any(|start| source.code.contains(start))
        };
        PARTICIPLES.iter().find(defines).copied()
    };
    for source in sources() {
        let word = found(&source);
        assert!(word.is_none(), "{} has fn {word:?}", source.path);
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

/// Global state: two services in one process would share it.
#[test]
fn no_static_can_change() {
    let is_static = |line: &&str| {
        let line = line.trim_start();
        let line = line.strip_prefix("pub ").unwrap_or(line);
        line.starts_with("static ") || line.starts_with("pub(crate) static ")
    };
    for source in sources() {
        // Each thread's generator of random bytes: nobody can tell whether it is shared.
        if source.path == "outside/chance.rs" {
            continue;
        }
        for line in source.code.lines().filter(is_static) {
            for cell in ["Mutex", "RwLock", "Atomic", "OnceLock", "Cell<"] {
                assert!(!line.contains(cell), "{}: {line}", source.path);
            }
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
