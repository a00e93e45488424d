//! Whether a kept report is still what was sold: hashes recomputed, citations compared with the kept source, byte by
//! byte. Knows no store: who calls brings both as they were read.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::domain::time::UnixSeconds;
use crate::evidence::report::canonical::{
    UNHASHED, UNHASHED_OF_BUNDLE, bundle_hash, result_hash, sha256,
};

/// A report and its source as they are kept.
#[derive(Clone, Copy, Debug)]
pub struct Kept<'a> {
    /// The JSON that is served.
    pub report: &'a [u8],
    /// Hex SHA-256 that was recorded of it, where it was: it also covers what the result hash leaves out.
    pub report_sha256: Option<&'a str>,
    /// The text that the citations are slices of.
    pub source: &'a [u8],
    /// It is the built-in sample, which never expires.
    pub is_sample: bool,
}

/// The answer of `/verify`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Receipt {
    pub status: &'static str,
    pub report_id: String,
    /// Every check matches.
    pub valid: bool,
    pub retained: bool,
    pub checks: Vec<Check>,
    pub result_hash: String,
    pub source_hash: String,
    pub hash_algorithm: &'static str,
    pub canonicalization: &'static str,
    /// Members of the report that the result hash leaves out.
    pub excluded_members: &'static [&'static str],
    pub created_at: u64,
    pub expires_at: u64,
    pub seconds_left: u64,
    pub verified_at: u64,
    /// As the report carries it.
    pub signature: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    pub id: &'static str,
    pub expected: Value,
    pub actual: Value,
    #[serde(rename = "match")]
    pub matches: bool,
}

impl Check {
    fn of(id: &'static str, expected: Value, actual: Value) -> Check {
        Check {
            id,
            matches: expected == actual,
            expected,
            actual,
        }
    }
}

/// Checks a kept report. Never fails: what cannot be read counts as a mismatch.
pub fn verify(kept: &Kept<'_>, now: UnixSeconds) -> Receipt {
    let report = Parsed::of(kept);
    let json = &report.json;
    let (result, source) = (result_hash(json), sha256(kept.source));
    let checks = vec![
        Check::of("source_hash", json["source_hash"].clone(), json!(source)),
        Check::of(
            "source_profile",
            json["source_profile"]["content_sha256"].clone(),
            json!(source),
        ),
        citations(json, kept.source),
    ];
    report.receipt(kept, (result, source), checks, &UNHASHED, now)
}

/// The text of a source, as it is kept with a report on several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptText {
    /// `S1`, `S2` …, as the report names its sources.
    pub source_id: String,
    pub text: String,
}

/// The same as [`verify`] of a report on several sources. What is kept as its source is a list of [`KeptText`].
pub fn verify_several(kept: &Kept<'_>, now: UnixSeconds) -> Receipt {
    let report = Parsed::of(kept);
    let json = &report.json;
    let texts: Vec<KeptText> = serde_json::from_slice(kept.source).unwrap_or_default();
    let result = bundle_hash(json.as_object().unwrap_or(&Map::new()));
    let hashes = source_hashes(json);
    let recomputed: Vec<(String, String)> = texts
        .iter()
        .map(|kept| (kept.source_id.clone(), sha256(kept.text.as_bytes())))
        .collect();
    let text_of = |id: &str| {
        let found = texts.iter().find(|kept| kept.source_id == id);
        found.map_or(&b""[..], |kept| kept.text.as_bytes())
    };
    let mut cited = Vec::new();
    all_citations(json, &mut cited);
    let is_exact = |citation: &&&Value| {
        let source_id = citation["source_id"].as_str();
        source_id.is_some_and(|id| is_slice(citation, text_of(id)))
    };
    let exact = cited.iter().filter(is_exact).count();
    let checks = vec![
        Check::of("source_hashes", json!(hashes), json!(recomputed)),
        Check::of("citations", json!(cited.len()), json!(exact)),
    ];
    let hashes = (result, sha256(kept.source));
    report.receipt(kept, hashes, checks, &UNHASHED_OF_BUNDLE, now)
}

/// A kept report as JSON.
struct Parsed {
    is_readable: bool,
    json: Value,
}

impl Parsed {
    fn of(kept: &Kept<'_>) -> Parsed {
        let json: Option<Value> = serde_json::from_slice(kept.report).ok();
        Parsed {
            is_readable: json.as_ref().is_some_and(Value::is_object),
            json: json.unwrap_or_default(),
        }
    }

    /// The receipt: the checks that every report has, around those of its kind.
    fn receipt(
        &self,
        kept: &Kept<'_>,
        (result_hash, source_hash): (String, String),
        of_kind: Vec<Check>,
        excluded_members: &'static [&'static str],
        now: UnixSeconds,
    ) -> Receipt {
        let report = &self.json;
        let expires_at = report["expires_at"].as_u64().unwrap_or_default();
        let retained = kept.is_sample || now.0 < expires_at;
        let mut checks = vec![
            Check::of("readable", json!(true), json!(self.is_readable)),
            Check::of(
                "result_hash",
                report["result_hash"].clone(),
                json!(result_hash),
            ),
        ];
        checks.extend(of_kind);
        checks.push(Check::of("retention", json!(true), json!(retained)));
        if let Some(recorded) = kept.report_sha256 {
            let stored = json!(sha256(kept.report));
            checks.push(Check::of("stored_bytes", json!(recorded), stored));
        }
        Receipt {
            status: "success",
            report_id: text(&report["report_id"]),
            valid: checks.iter().all(|check| check.matches),
            retained,
            checks,
            result_hash,
            source_hash,
            hash_algorithm: "sha256",
            canonicalization: "RFC8785",
            excluded_members,
            created_at: report["created_at"].as_u64().unwrap_or_default(),
            expires_at,
            seconds_left: expires_at.saturating_sub(now.0),
            verified_at: now.0,
            signature: report["signature"].clone(),
        }
    }
}

/// The sources of a report on several, each with the hash of its text.
fn source_hashes(report: &Value) -> Vec<(String, String)> {
    let of = |list: &Value, id: &str, hash: &str| -> Vec<(String, String)> {
        let rows = list.as_array().map_or(&[][..], Vec::as_slice);
        let row = |row: &Value| Some((text(&row[id]), row[hash].as_str()?.to_owned()));
        rows.iter().filter_map(row).collect()
    };
    match report["source_hashes"].is_array() {
        true => of(&report["source_hashes"], "source_id", "sha256"),
        false => of(&report["sources"], "id", "content_sha256"),
    }
}

/// The citations of a report on several sources: its own, and those of its claims.
fn all_citations<'a>(report: &'a Value, found: &mut Vec<&'a Value>) {
    found.extend(report["citations"].as_array().into_iter().flatten());
    let claims = report["claims"].as_array().into_iter().flatten();
    found.extend(claims.flat_map(|claim| claim["citations"].as_array().into_iter().flatten()));
}

fn text(value: &Value) -> String {
    crate::evidence::reading::text::bounded(value.as_str().unwrap_or_default(), 64)
}

/// How many of the report's citations are the slices that they say they are.
fn citations(report: &Value, source: &[u8]) -> Check {
    let cited = report["citations"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let exact = cited
        .iter()
        .filter(|citation| is_slice(citation, source))
        .count();
    let mut check = Check::of("citations", json!(cited.len()), json!(exact));
    check.matches &= report["citations"].is_array();
    check
}

fn is_slice(citation: &Value, source: &[u8]) -> bool {
    let place = |value: &Value, name: &str| usize::try_from(value[name].as_u64()?).ok();
    let slice = |value: &Value| {
        let range = place(value, "start")?..place(value, "end")?;
        Some(source.get(range)? == value["excerpt"].as_str()?.as_bytes())
    };
    let around = ["context", "before", "after"].map(|name| &citation[name]);
    let is_whole = |part: &&Value| part.is_null() || slice(part) == Some(true);
    slice(citation) == Some(true) && around.iter().all(is_whole)
}

#[cfg(test)]
mod tests {
    use crate::evidence::report::tests::{NOW, PAGE, facts, made};
    use crate::evidence::report::verify::*;

    fn report() -> Value {
        let mut report = made(
            PAGE,
            "Are orders refunded within 30 days of delivery?",
            &facts(),
        );
        report["payment"] = json!({"transaction": "0xab"});
        report
    }

    fn verified(report: &Value, source: &str, now: UnixSeconds) -> Receipt {
        let report = report.to_string();
        let kept = Kept {
            report: report.as_bytes(),
            report_sha256: None,
            source: source.as_bytes(),
            is_sample: false,
        };
        verify(&kept, now)
    }

    /// The checks that do not match.
    fn failed(receipt: &Receipt) -> Vec<&'static str> {
        let failed = receipt.checks.iter().filter(|check| !check.matches);
        failed.map(|check| check.id).collect()
    }

    #[test]
    fn what_was_changed_is_named() {
        let check = |change: &dyn Fn(&mut Value), expected: &[&str]| {
            let mut report = report();
            change(&mut report);
            let receipt = verified(&report, PAGE, NOW);
            assert_eq!(failed(&receipt), expected);
            assert_eq!(receipt.valid, expected.is_empty());
        };
        check(&|_| {}, &[]);
        check(&|report| report["payment"] = json!(null), &[]);
        check(
            &|report| report["answer"] = json!("other"),
            &["result_hash"],
        );
        check(&|report| report["extra"] = json!(1), &["result_hash"]);
        check(
            &|report| report["result_hash"] = json!("00"),
            &["result_hash"],
        );
        check(
            &|report| report["source_hash"] = json!("00"),
            &["result_hash", "source_hash"],
        );
        check(
            &|report| report["citations"][0]["start"] = json!(0),
            &["result_hash", "citations"],
        );
        check(
            &|report| report["citations"][0]["excerpt"] = json!("x"),
            &["result_hash", "citations"],
        );
        check(
            &|report| report["citations"][0]["end"] = json!(u64::MAX),
            &["result_hash", "citations"],
        );
        check(
            &|report| report["citations"] = json!("none"),
            &["result_hash", "citations"],
        );
    }

    #[test]
    fn another_source_is_found() {
        let receipt = verified(&report(), &PAGE.replace("30", "31"), NOW);
        assert_eq!(
            failed(&receipt),
            ["source_hash", "source_profile", "citations"]
        );
    }

    #[test]
    fn retention_ends() {
        let end = UnixSeconds(NOW.0 + 30 * 86_400);
        assert_eq!(
            verified(&report(), PAGE, UnixSeconds(end.0 - 1)).seconds_left,
            1
        );
        let over = verified(&report(), PAGE, end);
        assert_eq!(
            (failed(&over), over.retained, over.seconds_left),
            (vec!["retention"], false, 0)
        );
    }

    #[test]
    fn the_sample_never_expires_and_stored_bytes_count_whole() {
        let report = report().to_string();
        let recorded = sha256(report.as_bytes());
        let kept = Kept {
            report: report.as_bytes(),
            report_sha256: Some(&recorded),
            source: PAGE.as_bytes(),
            is_sample: true,
        };
        assert!(verify(&kept, UnixSeconds(u64::MAX)).valid);
        let changed = report.replace("0xab", "0xac");
        let receipt = verify(
            &Kept {
                report: changed.as_bytes(),
                ..kept
            },
            NOW,
        );
        assert_eq!(failed(&receipt), ["stored_bytes"]);
    }

    #[test]
    fn nothing_that_is_kept_makes_it_fail() {
        for report in [
            "",
            "{",
            "[]",
            "null",
            "3",
            "{\"citations\":[{},3,null]}",
            "{\"expires_at\":-1}",
        ] {
            let kept = Kept {
                report: report.as_bytes(),
                report_sha256: None,
                source: b"\xff",
                is_sample: false,
            };
            assert!(!verify(&kept, NOW).valid, "{report}");
        }
    }
}
