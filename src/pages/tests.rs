//! What holds for every page, tried with an ordinary view and with one whose every text is hostile.

mod bundle_views;
mod delivery_views;
pub(in crate::pages) mod views;

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::Digest as _;

use crate::domain::pack::Pack;
use crate::domain::tier::Tier;
use crate::domain::time;
use crate::pages::docs::quickstart;
use crate::pages::{assets, docs, layout, parts};

pub(super) use self::views::site;
use self::views::{both_rounds, docs_view, hostile, ordinary, pages};

/// The start tags of a document, without the brackets: `a href="/docs"`.
fn tags(document: &str) -> impl Iterator<Item = &str> {
    document
        .split('<')
        .skip(1)
        .filter(|piece| !piece.starts_with(['/', '!']))
        .map(|piece| piece.split('>').next().unwrap_or(piece))
}

/// The value of an attribute in a start tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()
}

#[test]
fn every_page_has_one_title_one_heading_and_one_canonical_address() {
    for (name, page) in both_rounds() {
        assert!(page.starts_with("<!DOCTYPE html>"), "{name}");
        for (tag, count) in [
            ("<title>", 1),
            ("<h1", 1),
            (
                r#"<link rel="canonical" href="https://shop.sample-site.org"#,
                1,
            ),
        ] {
            assert_eq!(page.matches(tag).count(), count, "{name}: {tag}");
        }
    }
}

#[test]
fn hostile_text_is_only_ever_text() {
    for (name, page) in pages(hostile()) {
        assert!(!page.contains("<script>alert"), "{name}");
        assert!(!page.contains("<img src=x"), "{name}");
        for tag in tags(&page) {
            for scheme in ["href", "src", "action"] {
                let value = attribute(tag, scheme).unwrap_or_default();
                assert!(
                    !value.to_lowercase().starts_with("javascript"),
                    "{name}: {tag}"
                );
            }
        }
    }
}

/// Scripts stand in a page only as the policies know them; styles and handlers never.
#[test]
fn no_page_carries_script_or_style_that_its_policy_does_not_know() {
    for (name, page) in both_rounds() {
        for tag in tags(&page) {
            let element = tag.split([' ', '/']).next().unwrap_or(tag);
            assert!(
                !matches!(element, "style" | "iframe" | "base" | "object"),
                "{name}: {tag}"
            );
            assert_eq!(attribute(tag, "style"), None, "{name}: {tag}");
            assert!(
                !tag.split('"').step_by(2).any(|part| part.contains(" on")),
                "{name}: {tag}"
            );
        }
        for piece in page.split("<script").skip(1) {
            let (tag, rest) = piece.split_once('>').expect("a whole tag");
            let script = rest.split("</script>").next().unwrap_or(rest);
            // Data, which no browser runs.
            if attribute(tag, "type") == Some("application/ld+json") {
                assert!(
                    serde_json::from_str::<serde_json::Value>(script).is_ok(),
                    "{name}"
                );
                continue;
            }
            let known = match attribute(tag, "src") {
                Some(file) => {
                    name == "explorer" && file.starts_with("/assets/") && script.is_empty()
                }
                None => [layout::REPORT_CSP, layout::WALLET_CSP]
                    .iter()
                    .any(|policy| policy.contains(&hash(script))),
            };
            assert!(known, "{name}: {tag} {script}");
        }
    }
}

/// As a policy names a script.
fn hash(script: &str) -> String {
    let hash = sha2::Sha256::digest(script);
    format!("'sha256-{}'", STANDARD.encode(hash))
}

#[test]
fn pages_load_only_from_the_service_itself() {
    for (name, page) in both_rounds() {
        for tag in tags(&page) {
            if let Some(source) = attribute(tag, "src") {
                assert!(
                    source.starts_with('/') && !source.starts_with("//"),
                    "{name}: {tag}"
                );
            }
            if matches!(attribute(tag, "rel"), Some("stylesheet" | "icon")) {
                let own = [
                    assets::STYLE_PATH,
                    assets::FAVICON_PATH,
                    assets::EXPLORER_STYLE_PATH,
                ];
                assert!(
                    own.contains(&attribute(tag, "href").unwrap_or_default()),
                    "{name}: {tag}"
                );
            }
            if tag.starts_with("form") {
                let action = attribute(tag, "action").unwrap_or_default();
                let ours = [
                    "/quote",
                    "/buy",
                    "/try",
                    "/demo#answer",
                    "/pricing#calculator",
                    "/proof-pack/quote",
                    "/proof-pack/bundle/quote",
                    "/proof-pack/bundle/recover",
                    "/v1/proof-pack/bundle/leads",
                ];
                let own = ours.contains(&action) || action.starts_with("/proof-pack/reports/ppr_");
                assert!(own, "{name}: {action}");
            }
        }
    }
    for outside in ["url(", "@import", "@font-face", "http"] {
        let mentions = assets::STYLE.matches(outside).count();
        let allowed = assets::STYLE.matches(r#"a[href^="http"]"#).count();
        assert!(
            mentions == 0 || (outside == "http" && mentions == allowed),
            "{outside}"
        );
    }
}

#[test]
fn no_page_names_two_things_alike() {
    for (name, page) in both_rounds() {
        let ids: Vec<&str> = tags(&page).filter_map(|tag| attribute(tag, "id")).collect();
        let unique: std::collections::BTreeSet<&&str> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "{name}: {ids:?}");
    }
}

/// An anchor that an error's `docs_url` or a 402's header names must exist.
#[test]
fn advertised_anchors_exist() {
    let page = docs::page(&docs_view(ordinary()));
    for error in docs_view(ordinary()).errors {
        assert!(
            page.contains(&format!(r#"<tr id="{}">"#, error.code)),
            "{}",
            error.code
        );
    }
    let quickstart = quickstart::page(&quickstart::QuickstartView { site: site() });
    assert!(quickstart.contains(r#"id="buyer""#));
    for (name, page) in pages(ordinary()) {
        for anchor in tags(&page).filter_map(|tag| attribute(tag, "href")?.strip_prefix('#')) {
            assert!(
                page.contains(&format!(r#"id="{anchor}""#)),
                "{name}: #{anchor}"
            );
        }
    }
}

#[test]
fn every_tier_and_its_price_stand_on_the_pages_that_sell() {
    for (name, page) in pages(ordinary()) {
        if matches!(name, "home" | "quote" | "quote-result" | "docs" | "from") {
            for tier in Tier::ALL {
                assert!(
                    page.contains(&format!("{} USDC", tier.price())),
                    "{name}: {}",
                    tier.name()
                );
            }
        }
    }
}

#[test]
fn only_public_pages_ask_to_be_indexed() {
    for (name, page) in pages(ordinary()) {
        let hidden = matches!(
            name,
            "quote-result"
                | "pack-quote-result"
                | "report"
                | "check"
                | "quote-refused"
                | "try-shown"
                | "try-refused"
                | "try-bought"
                | "buy-offered"
                | "buy-refused"
                | "checkout"
                | "checkout-expired"
                | "from"
                | "confidence"
                | "error"
        ) || bundle_views::HIDDEN.contains(&name)
            || delivery_views::HIDDEN.contains(&name);
        assert_eq!(
            page.contains(r#"<meta name="robots" content="noindex">"#),
            hidden,
            "{name}"
        );
    }
}

#[test]
fn a_sandbox_says_so_and_a_real_service_does_not() {
    for (name, page) in pages(ordinary()) {
        assert_eq!(
            page.contains("test funds; nothing reaches a chain"),
            name != "sample",
            "{name}"
        );
    }
    for (name, page) in pages(hostile()) {
        // The page of a test purchase is only made in a sandbox.
        let is_told = page.contains("test funds") && name != "try-bought";
        assert!(!is_told, "{name}");
    }
}

#[test]
fn every_pack_and_its_price_stand_on_the_pages_that_sell_reports() {
    for (name, page) in pages(ordinary()) {
        if matches!(
            name,
            "pack-quote" | "pack-quote-result" | "docs" | "pricing"
        ) {
            for pack in Pack::ALL {
                assert!(
                    page.contains(&format!("{} USDC", parts::cents(pack.price()))),
                    "{name}: {}",
                    pack.name()
                );
                assert!(page.contains(&pack.reads(true)), "{name}: {}", pack.name());
            }
        }
        if name == "proof-pack" {
            for price in ["0.10", "0.25", "1.00"] {
                assert!(page.contains(price), "{price}");
            }
        }
    }
}

/// The pages say these lifetimes in words.
#[test]
fn lifetimes_are_still_what_the_pages_say() {
    assert_eq!(time::QUOTE_SECONDS, 7 * 24 * 3600, "7 days");
    assert_eq!(time::PAGE_SECONDS, 24 * 3600, "24 hours");
    assert_eq!(time::CREDIT_SECONDS, 15 * 60, "15 minutes");
    assert_eq!(time::REPORT_SECONDS, 30 * 24 * 3600, "30 days");
}

/// A page waits for its stylesheets; the console has both.
#[test]
fn the_stylesheets_are_small() {
    let bytes = assets::STYLE.len() + assets::CONSOLE_STYLE.len();
    assert!(bytes <= 40_000, "{bytes} bytes");
}

#[test]
fn the_policies_for_browsers_know_our_scripts_and_no_others() {
    let policies = [
        layout::CSP,
        layout::REPORT_CSP,
        layout::WALLET_CSP,
        layout::EXPLORER_CSP,
    ];
    for policy in policies {
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(
            !policy.contains("unsafe") && !policy.contains("http"),
            "{policy}"
        );
    }
    assert!(layout::CSP.contains(&hash(assets::COPY_SCRIPT)));
    assert!(!layout::CSP.contains(&hash(assets::VERIFY_SCRIPT)));
    assert!(!layout::CSP.contains(&hash(assets::WALLET_SCRIPT)));
    for (script, policy) in [
        (assets::COPY_SCRIPT, layout::REPORT_CSP),
        (assets::VERIFY_SCRIPT, layout::REPORT_CSP),
        (assets::COPY_SCRIPT, layout::WALLET_CSP),
        (assets::WALLET_SCRIPT, layout::WALLET_CSP),
    ] {
        assert!(policy.contains(&hash(script)));
        assert!(
            !script.contains("</") && !script.contains("<!--"),
            "it ends its own element"
        );
    }
}

/// The answer stands at the end of a long page.
#[test]
fn a_report_shows_the_short_answer_the_figures_and_who_says_what() {
    let report = pages(ordinary())
        .into_iter()
        .find(|(name, _)| *name == "report");
    let report = report.expect("the page").1;
    for shown in [
        "<strong>the facilitator</strong>",
        "Figures compared",
        "26 hours",
        "more than in the source",
        "attributed to <bdi>the mayor</bdi>",
        "date: 2026-05",
        "Show on the page",
        "right in 70 % of 1,042 such questions",
        ">Source text</a>",
    ] {
        assert!(report.contains(shown), "{shown}");
    }
}

#[test]
fn a_follow_up_leads_to_its_answer() {
    let found = pages(ordinary()).into_iter();
    let mut reports = found
        .map(|(_, page)| page)
        .filter(|page| page.contains("id=\"follow-up\""));
    let report = reports.next().expect("a report");
    assert!(report.contains("#follow-up\" method=\"get\""), "{report}");
}

/// Writes every page and the assets under `CONTEXT402_PAGES_OUT`, to be looked at in a browser.
#[test]
fn pages_can_be_written_out_to_be_looked_at() {
    let Ok(folder) = std::env::var("CONTEXT402_PAGES_OUT") else {
        return;
    };
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder.join("assets")).expect("the folder can be made");
    let save = |path: &str, text: &str| {
        std::fs::write(folder.join(path), text).expect("the file can be written");
    };
    save("assets/style.css", &assets::STYLE);
    save("favicon.svg", assets::FAVICON);
    for (name, page) in pages(ordinary()) {
        save(&format!("{name}.html"), &page);
    }
    for (name, page) in pages(hostile()) {
        save(&format!("hostile-{name}.html"), &page);
    }
}
