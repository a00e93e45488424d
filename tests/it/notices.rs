//! That everything in the program has its license named: the crates that Cargo.lock brings, the fonts, Swagger UI and
//! WordNet. After a change of Cargo.lock run `assets/notices/make.py`, which says what it needs.

use std::collections::BTreeSet;
use std::path::Path;

use context402::pages::docs::notices::TEXT;

use crate::harness::process::run;

/// Crates that serve to build the program, those of other systems, and those that no feature of ours asks for: nothing
/// of them is in it (`cargo tree -e normal,no-proc-macro --package published` does not show them). A name stands for
/// all of its versions; an asterisk at the end for any rest of name and version.
const NOT_LINKED: &[&str] = &[
    "aho-corasick",
    "anstyle-wincon",
    "asn1-rs*",
    "autocfg",
    "bit-vec",
    "cc",
    "combine",
    "core-foundation*",
    "data-encoding",
    "der-parser",
    "euclid",
    "find-msvc-tools",
    "fnv",
    "futures-channel",
    "getrandom 0.3.*",
    "h2",
    "hyper-rustls",
    "jiff-static",
    "jni*",
    "js-sys",
    "matchgen",
    "minimal-lexical",
    "nom 7.*",
    "num-bigint",
    "num-integer",
    "oid-registry",
    "once_cell_polyfill",
    "openssl-probe",
    "phf_codegen",
    "portable-atomic*",
    "ppv-lite86",
    "r-efi",
    "rand",
    "rand_chacha",
    "rand_core",
    "rustc_version",
    "rusticata-macros",
    "rustls-native-certs",
    "rustls-platform-verifier*",
    "rustversion",
    "same-file",
    "schannel",
    "security-framework*",
    "semver",
    "shlex",
    "simd_cesu8",
    "synstructure 0.13.*",
    "tower-service",
    "uuid",
    "version_check",
    "walkdir",
    "wasi",
    "wasip2",
    "wasm-bindgen*",
    "webpki-root-certs",
    "winapi*",
    "windows*",
    "wit-bindgen",
    "x509-parser",
    "zerocopy*",
];

fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A package of Cargo.lock with the names, and the versions where names do not do, of those that it needs.
struct Package {
    name: String,
    version: String,
    needs: Vec<String>,
}

fn packages() -> Vec<Package> {
    let lock: toml::Table = file("Cargo.lock").parse().expect("TOML");
    let packages = lock["package"].as_array().expect("packages").iter();
    let text = |value: &toml::Value| value.as_str().expect("text").to_owned();
    packages
        .map(|package| Package {
            name: text(&package["name"]),
            version: text(&package["version"]),
            needs: (package.get("dependencies").and_then(toml::Value::as_array))
                .map_or_else(Vec::new, |needs| needs.iter().map(text).collect()),
        })
        .collect()
}

/// Our own packages that the published program consists of.
const OURS: [(&str, &str); 3] = [
    ("context402", "Cargo.toml"),
    ("entailment", "src/evidence/entailment/Cargo.toml"),
    ("published", "systemd/published/Cargo.toml"),
];

/// `name version` of everything that the program needs, what its tests alone need left out.
fn needed() -> BTreeSet<String> {
    let packages = packages();
    let mut found = BTreeSet::new();
    let mut open: Vec<&Package> = Vec::new();
    let of = |need: &str| {
        let (name, version) = need.split_once(' ').unwrap_or((need, ""));
        let version = version.split(' ').next().unwrap_or_default().to_owned();
        let name = name.to_owned();
        packages.iter().filter(move |package| {
            package.name == name && (version.is_empty() || package.version == version)
        })
    };
    for (package, manifest) in OURS {
        let manifest: toml::Table = file(manifest).parse().expect("TOML");
        let direct = manifest["dependencies"].as_table().expect("a table");
        let package = of(package).next().expect("our own package");
        let theirs = package.needs.iter().filter(|need| {
            let name = need.split(' ').next().unwrap_or_default();
            direct.contains_key(name) && OURS.iter().all(|(ours, _)| *ours != name)
        });
        open.extend(theirs.flat_map(|need| of(need)));
    }
    while let Some(package) = open.pop() {
        if found.insert(format!("{} {}", package.name, package.version)) {
            open.extend(package.needs.iter().flat_map(|need| of(need)));
        }
    }
    found
}

/// `name version` of every crate that the notices name.
fn named() -> BTreeSet<String> {
    let lines = TEXT.lines().filter_map(|line| line.strip_prefix("- "));
    let crates = lines.filter_map(|line| {
        let work = line.split(", ").next().unwrap_or_default();
        let (name, version) = work.split_once(' ')?;
        // Data sets have capitals in their names, crates have none.
        let is_crate = name.chars().all(|c| !c.is_ascii_uppercase())
            && version.starts_with(|c: char| c.is_ascii_digit())
            && !version.contains(' ');
        is_crate.then(|| work.to_owned())
    });
    crates.collect()
}

fn is_of(package: &str, row: &str) -> bool {
    match row.strip_suffix('*') {
        Some(start) => package.starts_with(start),
        None => package.split(' ').next() == Some(row),
    }
}

#[test]
fn every_crate_in_the_program_has_its_notice() {
    let (needed, named) = (needed(), named());
    assert!(named.len() > 150, "only {} crates are named", named.len());
    let is_linked = |package: &&String| !NOT_LINKED.iter().any(|row| is_of(package, row));
    let linked = needed.iter().filter(is_linked);
    let missing: Vec<_> = linked.filter(|package| !named.contains(*package)).collect();
    assert!(
        missing.is_empty(),
        "run assets/notices/make.py, or list what builds the program in NOT_LINKED: {missing:?}"
    );
    let gone: Vec<_> = named.difference(&needed).collect();
    assert!(gone.is_empty(), "run assets/notices/make.py: {gone:?}");
}

/// A row for a crate that is gone, or that the program contains after all, hides the next one of its name.
#[test]
fn what_is_not_linked_is_still_there_and_not_named() {
    let (needed, named) = (needed(), named());
    for row in NOT_LINKED {
        assert!(needed.iter().any(|package| is_of(package, row)), "{row}");
        assert!(!named.iter().any(|package| is_of(package, row)), "{row}");
    }
}

#[test]
fn fonts_explorer_and_data_have_their_notices() {
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let notices = flat(TEXT);
    for path in [
        "assets/fonts/OFL.txt",
        "assets/swagger/NOTICE",
        "assets/swagger/swagger-ui-bundle.js.LICENSE.txt",
    ] {
        assert!(notices.contains(&flat(&file(path))), "{path}");
    }
    for path in [
        "data/evidence/wordnet-antonyms.txt",
        "data/evidence/wordnet-synonyms.txt",
    ] {
        let text = file(path);
        let head = text.lines().take_while(|line| line.starts_with('#'));
        let license: Vec<&str> = head.skip(2).map(|line| &line[1..]).collect();
        assert!(notices.contains(&flat(&license.join("\n"))), "{path}");
    }
    for data in ["Public Suffix List", "SQuAD 2.0", "QED", "Scrapinghub"] {
        assert!(notices.contains(data), "{data}");
    }
}

#[test]
fn the_program_prints_them() {
    let printed = run(&["version", "--licenses"]).expect(0);
    assert_eq!(printed.out, TEXT);
    let line = run(&["version", "--licenses", "--json"]).failed(2);
    assert!(line.contains("--json"), "{line}");
}
