use super::*;
use proptest::prelude::*;

use crate::domain::time::UnixSeconds;
use crate::evidence::bundle::tests::{Made, made, read};
use crate::evidence::bundle::{BundleRequest, BundleSource, Unreachable, bundle_report};
use crate::evidence::report::canonical::sha256;

const QUESTION: &str =
    "How much does the Lantern Pro plan cost per month, and can it be cancelled at any time?";

fn page(language: &str, title: &str, body: &str) -> String {
    format!(
        "<html lang={language}><head><title>{title}</title><meta name=author content='R. Okafor'>\
         <meta property='article:modified_time' content='2026-02-11T08:00:00Z'></head><body><main><h1>{title}</h1>{body}</main></body></html>"
    )
}

fn sources() -> Vec<Made> {
    let own = "<p>Lantern is a reading room for engineering teams.</p><h2>Plans</h2><table><tr><th>Plan</th><th>Price per month</th><th>Seats</th></tr>\
        <tr><td>Start</td><td>$0</td><td>2</td></tr><tr><td>Pro</td><td>$24</td><td>10</td></tr></table>\
        <p>The Lantern Pro plan costs $24 per month. You can cancel the Lantern Pro plan at any time; what is paid for the month stays paid.</p>";
    let review = "<p>We used Lantern for eleven weeks with a team of nine. The Lantern Pro plan costs $24 per month, billed to a card.</p>\
        <p>The Lantern Pro plan can be cancelled at any time from the settings page, which took us two clicks.</p>\
        <p>What we missed was an export in plain text; the support team said in March 2026 that it is planned.</p>";
    let old = "<p>Prices as of last spring: the Lantern Pro plan costs $29 per month.</p><p>Cancelling the plan takes a notice of 30 days.</p>";
    let foreign = "<p>تكلف خطة Lantern Pro مبلغ 24 دولارا في الشهر، ويمكن إلغاؤها في أي وقت.</p>\
        <p>תוכנית Lantern Pro עולה 24 דולר לחודש, וניתן לבטל אותה בכל עת.</p>\
        <p>लैंटर्न प्रो योजना की लागत 24 डॉलर प्रति माह है।</p><p>แผน Lantern Pro ราคา 24 ดอลลาร์ต่อเดือน</p>\
        <p>План Lantern Pro стоит 24 доллара в месяц; его можно отменить в любое время.</p>";
    let chinese = "<p>Lantern Pro 套餐每月 24 美元，可随时取消。</p><p>The Lantern Pro plan costs $24 per month (每月).</p>";
    vec![
        made(
            "https://lantern.example.com/pricing",
            &page("en", "Plans and prices – Lantern", own),
            QUESTION,
        ),
        made(
            "https://reviews.example.org/lantern",
            &page("en", "Eleven weeks with Lantern", review),
            QUESTION,
        ),
        made(
            "https://mirror.example.net/copy/of/lantern",
            &page("en", "Eleven weeks with Lantern", review),
            QUESTION,
        ),
        made(
            "https://old.example.org/a-very-long-address/that-has-no-space/and-goes-on-and-on/2024/11/07/what-we-paid-for-lantern-and-why-we-stayed?ref=newsletter",
            &page("en", "What we paid for Lantern", old),
            QUESTION,
        ),
        made(
            "https://world.example.org/lantern",
            &page(
                "en",
                "Lantern in five scripts: العربية עברית हिन्दी ไทย Русский",
                foreign,
            ),
            QUESTION,
        ),
        made(
            "https://zh.example.cn/lantern",
            &page("zh", "Lantern 价格", chinese),
            QUESTION,
        ),
    ]
}

fn bundle() -> BundleReport {
    let made = sources();
    let mut sources: Vec<BundleSource<'_>> = made.iter().map(read).collect();
    sources.push(BundleSource {
        target_url: "https://down.example.org/pricing",
        outcome: Err(Unreachable {
            code: "upstream_unavailable".to_owned(),
            message: "The target did not answer in time.".to_owned(),
        }),
        fetched_at: UnixSeconds(1_772_323_200),
    });
    let request = BundleRequest {
        order_id: "ord_8fJ2kQpX0aZrT5bN7cVd1w",
        bundle: "builder",
        question: QUESTION,
        created_at: UnixSeconds(1_772_323_200),
    };
    bundle_report(&request, &sources)
}

/// Two sources, with everything that a bundle can have.
fn small() -> BundleReport {
    let made = sources();
    let sources: Vec<BundleSource<'_>> = [&made[0], &made[3]].into_iter().map(read).collect();
    let request = BundleRequest {
        order_id: "ord_small",
        bundle: "scout",
        question: QUESTION,
        created_at: UnixSeconds(0),
    };
    bundle_report(&request, &sources)
}

fn keep(name: &str, bytes: &[u8]) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tmp");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join(name), bytes).expect("the file is written");
}

/// Look at target/tmp/bundle.pdf; tests/interop/checks/pdf.py reads it.
#[test]
fn a_bundle_becomes_the_same_document_again() {
    let report = bundle();
    let rendered = render(&report, &Fonts::embedded()).expect("a document");
    keep("bundle.pdf", &rendered.bytes);
    keep(
        "bundle.json",
        &serde_json::to_vec_pretty(&report).expect("JSON"),
    );
    assert!(rendered.pages >= 6, "{}", rendered.pages);
    assert!(rendered.missing_glyphs > 0, "no CJK font is embedded");
    assert_eq!(
        rendered,
        render(&report, &Fonts::embedded()).expect("a document")
    );
    assert_eq!(report.result_hash, sha256(&bundle_text(&report.members())));
}

fn has(rendered: &Rendered, needle: &str) -> bool {
    let needle = needle.as_bytes();
    rendered
        .bytes
        .windows(needle.len())
        .any(|window| window == needle)
}

#[test]
fn a_single_report_becomes_a_document_for_archives_and_readers_who_listen() {
    let made = sources().remove(0);
    let rendered = render_report(&made.report.members(), &Fonts::embedded()).expect("a document");
    keep("report.pdf", &rendered.bytes);
    assert_eq!(rendered.missing_glyphs, 0);
    assert!(has(&rendered, "pdfaid:part") && has(&rendered, "pdfuaid:part"));
    assert!(has(&rendered, "/Lang(en)"), "the language is named");
    assert_eq!(
        rendered,
        render_report(&made.report.members(), &Fonts::embedded()).expect("a document")
    );
}

#[test]
fn characters_without_a_glyph_are_counted_and_stop_nothing() {
    let mut report = sources().remove(0).report;
    report.answer = "价格 \u{e000} \u{1f4a9} \u{200b}\u{202e}\u{7}".to_owned();
    let rendered = render_report(&report.members(), &Fonts::embedded()).expect("a document");
    assert_eq!(rendered.missing_glyphs, 4);
    assert!(
        !has(&rendered, "pdfaid:part"),
        "no promise that is not kept"
    );
    assert!(has(&rendered, "/StructTreeRoot"), "but tagged it is");
}

#[test]
fn what_is_no_report_is_refused() {
    let refused = render_report(&Map::new(), &Fonts::embedded()).err();
    assert_eq!(
        refused,
        Some(PdfError::NotAReport("missing field `status`".to_owned()))
    );
}

/// The largest bundle, of pages that have much to say in long words.
#[test]
fn the_largest_bundle_fits() {
    let body: String = (0..24)
        .map(|n| {
            format!(
                "<p>The Lantern Pro plan costs ${n} per month, {} and more in case {n}.</p>",
                "x".repeat(900)
            )
        })
        .collect();
    let made: Vec<Made> = (0..25)
        .map(|n| {
            made(
                &format!("https://s{n}.example.org/{}", "a/".repeat(400)),
                &page("en", &format!("Page {n} {}", "wort".repeat(60)), &body),
                QUESTION,
            )
        })
        .collect();
    let sources: Vec<BundleSource<'_>> = made.iter().map(read).collect();
    let request = BundleRequest {
        order_id: "ord_large",
        bundle: "audit",
        question: &"Is it so? ".repeat(100),
        created_at: UnixSeconds(u64::MAX),
    };
    let rendered =
        render(&bundle_report(&request, &sources), &Fonts::embedded()).expect("a document");
    keep("largest.pdf", &rendered.bytes);
    assert!((20..200).contains(&rendered.pages), "{}", rendered.pages);
}

/// Any text in any place of a report, and any list empty.
fn damaged(whole: BundleReport, path: &[usize], text: &str) -> BundleReport {
    fn at<'a>(value: &'a mut Value, path: &[usize]) -> &'a mut Value {
        let Some((step, rest)) = path.split_first() else {
            return value;
        };
        let is_deep = match value {
            Value::Array(items) => !items.is_empty(),
            Value::Object(members) => !members.is_empty(),
            _ => false,
        };
        if !is_deep {
            return value;
        }
        match value {
            Value::Array(items) => {
                let index = step % items.len();
                at(&mut items[index], rest)
            }
            Value::Object(members) => {
                let name = members
                    .keys()
                    .nth(step % members.len())
                    .cloned()
                    .unwrap_or_default();
                at(&mut members[&name], rest)
            }
            other => other,
        }
    }
    let mut members = Value::Object(whole.members());
    let leaf = at(&mut members, path);
    match leaf {
        Value::String(_) | Value::Null => *leaf = Value::from(text),
        Value::Array(items) => items.clear(),
        _ => {}
    }
    // A word of a closed set is refused when the report is read.
    serde_json::from_value(members).unwrap_or(whole)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn no_report_breaks_the_press(
        path in prop::collection::vec(0usize..40, 1..6),
        text in prop_oneof![
            Just(String::new()),
            "\\PC{0,80}",
            "[\\u{590}-\\u{7ff}\\u{900}-\\u{97f}\\u{e00}-\\u{e7f} \\n\\t\\u{0}\\u{200d}\\u{202a}-\\u{202e}a-z]{0,60}",
        ],
    ) {
        use std::sync::OnceLock;
        static WHOLE: OnceLock<BundleReport> = OnceLock::new();
        let report = damaged(WHOLE.get_or_init(small).clone(), &path, &text);
        let rendered = render(&report, &Fonts::embedded());
        prop_assert!(rendered.is_ok(), "{:?}", rendered.err());
    }
}
