//! What holds for every page, tried with an ordinary view and with one whose every text is hostile.

use std::path::Path;

use crate::domain::tier::Tier;
use crate::domain::time::UnixSeconds;
use crate::pages::site::{FacilitatorMode, Site};
use crate::pages::{
    about, assets, checkout, docs, error, from, home, layout, paid_test, proof_pack, quickstart,
    quote, sample,
};

/// An ordinary service.
pub(super) fn site() -> Site<'static> {
    Site {
        base_url: "https://shop.sample-site.org",
        pay_to: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
        network: "eip155:8453",
        asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        facilitator: FacilitatorMode::Sandbox,
        version: "0.1.0",
        contact: Some("ops@sample-site.org"),
    }
}

/// What every foreign text of the second round is.
const HOSTILE: &str =
    "javascript:alert(1)//\"'><script>alert(2)</script><img src=x onerror=alert(3)>";

/// The texts of a view: plausible ones, or the same hostile one everywhere.
#[derive(Clone, Copy)]
struct Texts {
    site: Site<'static>,
    hostile: bool,
}

impl Texts {
    fn pick(self, ordinary: &'static str) -> &'static str {
        if self.hostile { HOSTILE } else { ordinary }
    }
}

const ORDINARY: fn() -> Texts = || Texts {
    site: site(),
    hostile: false,
};

fn hostile() -> Texts {
    Texts {
        site: Site {
            pay_to: HOSTILE,
            network: HOSTILE,
            asset: HOSTILE,
            facilitator: FacilitatorMode::Real,
            version: HOSTILE,
            contact: Some(HOSTILE),
            ..site()
        },
        hostile: true,
    }
}

const MARKDOWN: &str = "# How HTTP 402 works with x402\n\nHTTP has carried the status code 402, Payment Required, \
    since the nineties. The standard reserved it for later and said no more.\n\n## The four steps\n\n\
    1. **Ask.** The client sends an ordinary request and gets a 402.\n2. **Sign.** Nothing has moved yet.\n\n\
    ```json\n{\n  \"x402Version\": 2\n}\n```\n\n| Party | Knows | Does |\n| --- | --- | --- |\n\
    | Buyer | A private key | Reads the price and signs |\n";

const CHALLENGE: &str = r#"{"x402Version":2,"error":"PAYMENT-SIGNATURE header is required","resource":{"url":"https://shop.sample-site.org/v1/x402/access","description":"Convert a public web page into clean markdown (tier starter, 0.012 USDC).","mimeType":"application/json"},"accepts":[{"scheme":"exact","network":"eip155:8453","amount":"12000","asset":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","payTo":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","maxTimeoutSeconds":300,"extra":{"name":"USD Coin","version":"2"}}]}"#;

fn docs_view(texts: Texts) -> docs::DocsView<'static> {
    let endpoint = |group, method, path, summary, price: Option<&str>| docs::Endpoint {
        group,
        method,
        path: texts.pick(path),
        summary: texts.pick(summary),
        price: price.map(|price| texts.pick_owned(price)),
    };
    docs::DocsView {
        site: texts.site,
        endpoints: vec![
            endpoint(
                "Paid",
                "POST",
                "/v1/x402/access",
                "Buy the clean markdown of one page.",
                Some("0.012 to 0.05 USDC"),
            ),
            endpoint(
                "Paid",
                "GET",
                "/v1/x402/access",
                "The challenge, for directories; accepts no payment.",
                None,
            ),
            endpoint(
                "Quotes",
                "GET",
                "/v1/x402/quote",
                "What a page costs at every tier.",
                None,
            ),
            endpoint(
                "Quotes",
                "GET",
                "/v1/quotes/{quote_id}",
                "A kept quote.",
                None,
            ),
        ],
        bodies: vec![docs::Body {
            name: "AccessRequest",
            used_by: "Taken by POST /v1/x402/access and /v1/x402/retry.",
            closed: true,
            fields: vec![
                docs::Field {
                    name: "target_url",
                    kind: "string (URI)".into(),
                    required: true,
                    rules: texts.pick_owned("at most 2,048 characters"),
                    doc: texts.pick("The public page to convert."),
                },
                docs::Field {
                    name: "tier",
                    kind: "string".into(),
                    required: false,
                    rules: "starter, cached, basic, fresh or deep; default fresh".into(),
                    doc: "Freshness against price.",
                },
            ],
        }],
        errors: vec![
            docs::ErrorCode {
                code: "target_blocked",
                status: 400,
                meaning: texts.pick("The target resolves to a private address."),
                next_step: "Send a public address.",
            },
            docs::ErrorCode {
                code: "cache_miss",
                status: 400,
                meaning: "Nothing is kept for this page, and the tier does not fetch.",
                next_step: texts.pick("Choose one of the tiers in `alternatives`."),
            },
            docs::ErrorCode {
                code: "payment_replayed",
                status: 400,
                meaning: "This signature was used for something else.",
                next_step: "Sign a new payment.",
            },
            docs::ErrorCode {
                code: "upstream_unavailable",
                status: 503,
                meaning: "The target did not answer.",
                next_step: "Retry with the credit you were given.",
            },
        ],
    }
}

impl Texts {
    fn pick_owned(self, ordinary: &str) -> String {
        if self.hostile {
            HOSTILE.to_owned()
        } else {
            ordinary.to_owned()
        }
    }
}

fn quoted(texts: Texts) -> quote::QuoteView<'static> {
    let cache_only = texts.pick("Nothing is kept for this page.");
    quote::QuoteView {
        site: texts.site,
        typed: texts.pick("https://news.sample-site.org/2026/03/harbour-heat-network"),
        outcome: quote::QuoteOutcome::Quoted(quote::TierQuote {
            quote_id: texts.pick("qt_0123456789abcdef0123456789abcdef"),
            target_url: texts.pick("https://news.sample-site.org/2026/03/harbour-heat-network"),
            kept_age_seconds: None,
            recommended: Tier::default(),
            offers: Tier::ALL
                .map(|tier| quote::TierOffer {
                    tier,
                    unavailable: (!tier.may_fetch()).then_some(cache_only),
                })
                .to_vec(),
            expires_at: UnixSeconds(1_795_852_239),
        }),
    }
}

fn refused(texts: Texts) -> quote::QuoteView<'static> {
    quote::QuoteView {
        site: texts.site,
        typed: texts.pick("http://10.0.0.7/admin"),
        outcome: quote::QuoteOutcome::Refused {
            code: texts.pick("target_blocked"),
            message: texts
                .pick("This address leads to a private network, which this service does not read."),
        },
    }
}

fn checkout_view(texts: Texts, expired: bool) -> checkout::CheckoutView<'static> {
    let target_url = texts.pick("https://docs.sample-site.org/guides/rate-limits");
    let kept = checkout::KeptQuote {
        target_url,
        tier: Tier::Fresh,
        created_at: UnixSeconds(1_795_247_439),
        expires_at: UnixSeconds(1_795_852_239),
    };
    checkout::CheckoutView {
        site: texts.site,
        quote_id: texts.pick("qt_0123456789abcdef0123456789abcdef"),
        state: if expired {
            checkout::CheckoutState::Expired {
                target_url: Some(target_url),
            }
        } else {
            checkout::CheckoutState::Kept(kept)
        },
    }
}

/// Every page there is, by a name to save it under.
fn pages(texts: Texts) -> Vec<(&'static str, String)> {
    let site = texts.site;
    let nothing_asked = quote::QuoteView {
        site,
        typed: "",
        outcome: quote::QuoteOutcome::Nothing,
    };
    vec![
        (
            "home",
            home::page(&home::HomeView {
                site,
                sample_markdown: texts.pick(MARKDOWN),
            }),
        ),
        ("quote", quote::page(&nothing_asked)),
        ("quote-result", quote::page(&quoted(texts))),
        ("quote-refused", quote::page(&refused(texts))),
        ("checkout", checkout::page(&checkout_view(texts, false))),
        (
            "checkout-expired",
            checkout::page(&checkout_view(texts, true)),
        ),
        ("docs", docs::page(&docs_view(texts))),
        (
            "quickstart",
            quickstart::page(&quickstart::QuickstartView { site }),
        ),
        (
            "paid-test",
            paid_test::page(&paid_test::PaidTestView {
                site,
                tier: Tier::Starter,
                challenge_json: texts.pick(CHALLENGE),
            }),
        ),
        (
            "proof-pack",
            proof_pack::page(&proof_pack::ProofPackView {
                site,
                on_sale: texts.hostile,
            }),
        ),
        (
            "from",
            from::page(&from::FromView {
                site,
                source: texts.pick("agent-list.org"),
            }),
        ),
        (
            "about",
            about::page(&about::AboutView {
                site,
                user_agent: texts.pick("context402/0.1 (+https://shop.sample-site.org/about)"),
            }),
        ),
        (
            "error",
            error::page(&error::ErrorView {
                site,
                path: texts.pick("/nowhere"),
                status: 404,
                code: Some(texts.pick("report_not_found")),
                message: texts.pick("There is no page at this address."),
                next_step: texts.pick("Check the address, or begin at the home page."),
                request_id: Some(texts.pick("req_0123456789abcdef0123456789abcdef")),
            }),
        ),
        ("sample", sample::page(&site)),
    ]
}

fn both_rounds() -> Vec<(&'static str, String)> {
    [pages(ORDINARY()), pages(hostile())].concat()
}

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
            ("<h1>", 1),
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

#[test]
fn no_page_carries_script_or_style_of_its_own() {
    for (name, page) in both_rounds() {
        for tag in tags(&page) {
            let element = tag.split([' ', '/']).next().unwrap_or(tag);
            assert!(
                !matches!(element, "script" | "style" | "iframe" | "base" | "object"),
                "{name}: {tag}"
            );
            assert_eq!(attribute(tag, "style"), None, "{name}: {tag}");
            assert!(
                !tag.split('"').step_by(2).any(|part| part.contains(" on")),
                "{name}: {tag}"
            );
        }
    }
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
                let own = [assets::STYLE_PATH, assets::FAVICON_PATH];
                assert!(
                    own.contains(&attribute(tag, "href").unwrap_or_default()),
                    "{name}: {tag}"
                );
            }
            if tag.starts_with("form") {
                assert_eq!(attribute(tag, "action"), Some("/quote"), "{name}");
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

/// An anchor that an error's `docs_url` or a 402's header names must exist.
#[test]
fn advertised_anchors_exist() {
    let page = docs::page(&docs_view(ORDINARY()));
    for error in docs_view(ORDINARY()).errors {
        assert!(
            page.contains(&format!(r#"<tr id="{}">"#, error.code)),
            "{}",
            error.code
        );
    }
    let quickstart = quickstart::page(&quickstart::QuickstartView { site: site() });
    assert!(quickstart.contains(r#"id="buyer""#));
    for (name, page) in pages(ORDINARY()) {
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
    for (name, page) in pages(ORDINARY()) {
        if matches!(name, "home" | "quote" | "quote-result" | "docs" | "from") {
            for tier in Tier::ALL {
                assert!(
                    page.contains(&format!("{} USDC", tier.price())),
                    "{name}: {}",
                    tier.name()
                );
                assert!(page.contains(tier.policy()), "{name}: {}", tier.name());
            }
        }
    }
}

#[test]
fn only_public_pages_ask_to_be_indexed() {
    for (name, page) in pages(ORDINARY()) {
        let hidden = matches!(
            name,
            "quote-result" | "quote-refused" | "checkout" | "checkout-expired" | "from" | "error"
        );
        assert_eq!(
            page.contains(r#"<meta name="robots" content="noindex">"#),
            hidden,
            "{name}"
        );
    }
}

#[test]
fn a_sandbox_says_so_and_a_real_service_does_not() {
    for (name, page) in pages(ORDINARY()) {
        assert_eq!(
            page.contains("play money; nothing reaches a chain"),
            name != "sample",
            "{name}"
        );
    }
    for (name, page) in pages(hostile()) {
        assert!(!page.contains("play money"), "{name}");
    }
}

#[test]
fn proof_packs_are_not_offered_before_they_are_sold() {
    let page = |on_sale| {
        proof_pack::page(&proof_pack::ProofPackView {
            site: site(),
            on_sale,
        })
    };
    assert!(page(false).contains("Not on sale in this version yet"));
    assert!(!page(true).contains("Not on sale"));
    for price in ["0.10", "0.25", "1.00"] {
        assert!(page(true).contains(price), "{price}");
    }
}

#[test]
fn the_policy_for_browsers_allows_no_script() {
    assert!(layout::CSP.starts_with("default-src 'none'; "));
    assert!(!layout::CSP.contains("script") && !layout::CSP.contains("unsafe"));
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
    save("assets/style.css", assets::STYLE);
    save("favicon.svg", assets::FAVICON);
    for (name, page) in pages(ORDINARY()) {
        save(&format!("{name}.html"), &page);
    }
    for (name, page) in pages(hostile()) {
        save(&format!("hostile-{name}.html"), &page);
    }
}
