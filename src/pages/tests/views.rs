//! Views to try every page with.

use serde_json::{Value, json};

use super::{bundle_views, delivery_views};
use crate::domain::bundle::Bundle;
use crate::domain::check::CheckDepth;
use crate::domain::estimate::Estimate;
use crate::domain::level::{Level, Product};
use crate::domain::pack::Pack;
use crate::domain::tier::Tier;
use crate::domain::time::UnixSeconds;
use crate::evidence::check::tests::example;
use crate::evidence::report::follow_up::FollowUp;
use crate::evidence::report::{Report, Success};
use crate::pages::buyer::samples::SAMPLES;
use crate::pages::buyer::{
    check, checkout, confidence, demo, first_words, from, home, library, paid_test, pricing,
    proof_pack, quote, report, sample, wallet,
};
use crate::pages::docs::{about, explorer, faq, legal, notices, quickstart};
use crate::pages::site::{FacilitatorMode, Site};
use crate::pages::{docs, error, plain};

/// An ordinary service.
pub(in crate::pages) fn site() -> Site<'static> {
    Site {
        base_url: "https://shop.sample-site.org",
        pay_to: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
        network: "eip155:8453",
        asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        facilitator: FacilitatorMode::Sandbox,
        version: "0.1.0",
        contact: Some("ops@sample-site.org"),
        download: Some("https://releases.sample-site.org/context402/"),
        has_model: true,
        has_payment_link: true,
        is_paused: false,
    }
}

/// What every foreign text of the second round is.
const HOSTILE: &str =
    "javascript:alert(1)//\"'><script>alert(2)</script><img src=x onerror=alert(3)>";

/// The texts of a view: plausible ones, or the same hostile one everywhere.
#[derive(Clone, Copy)]
pub(in crate::pages) struct Texts {
    site: Site<'static>,
    hostile: bool,
}

impl Texts {
    pub(super) fn site(self) -> Site<'static> {
        self.site
    }

    pub(super) fn is_hostile(self) -> bool {
        self.hostile
    }

    pub(super) fn pick(self, ordinary: &'static str) -> &'static str {
        if self.hostile { HOSTILE } else { ordinary }
    }
}

pub(in crate::pages) fn ordinary() -> Texts {
    Texts {
        site: site(),
        hostile: false,
    }
}

pub(super) fn hostile() -> Texts {
    Texts {
        site: Site {
            pay_to: HOSTILE,
            network: HOSTILE,
            asset: HOSTILE,
            facilitator: FacilitatorMode::Real,
            version: HOSTILE,
            contact: Some(HOSTILE),
            download: Some(HOSTILE),
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

fn wallet_view(texts: Texts, outcome: wallet::Outcome<'static>) -> wallet::WalletView<'static> {
    wallet::WalletView {
        site: texts.site,
        typed: texts.pick("https://example.com/"),
        typed_question: texts.pick("What does it cost?"),
        tier: Tier::Fresh,
        pack: Pack::Standard,
        outcome,
    }
}

pub(super) fn docs_view(texts: Texts) -> docs::DocsView<'static> {
    let endpoint = |group, method, path, summary, price: Option<&str>| docs::Endpoint {
        group,
        method,
        // Paths are our own; each stands once for a method.
        path,
        summary: texts.pick(summary),
        price: price.map(|price| texts.pick_owned(price)),
        query: vec![docs::Parameter {
            name: texts.pick("tier"),
            doc: texts.pick("The tier to be priced."),
            one_of: &["cached", "fresh"],
        }],
        headers: Vec::new(),
        bodies: vec!["AccessRequest"],
        gives: texts.pick("application/json"),
        statuses: vec![200, 400, 503],
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
                "A saved quote.",
                None,
            ),
        ],
        bodies: vec![docs::Body {
            name: "AccessRequest",
            doc: texts.pick("Which page to convert."),
            used_by: vec!["/v1/x402/access", "/v1/x402/retry"],
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
        product: Product::Context,
        typed: texts.pick("https://news.sample-site.org/2026/03/harbour-heat-network"),
        typed_question: "",
        outcome: quote::QuoteOutcome::Quoted(quote::Quoted {
            quote_id: Some(texts.pick("qt_0123456789abcdef0123456789abcdef")),
            target_url: texts.pick("https://news.sample-site.org/2026/03/harbour-heat-network"),
            question: None,
            is_cached: false,
            is_sample: false,
            recommended: Level::Tier(Tier::default()),
            offers: Tier::ALL
                .map(|tier| quote::LevelOffer {
                    level: Level::Tier(tier),
                    unavailable: (!tier.may_fetch()).then_some(cache_only),
                })
                .to_vec(),
            expires_at: UnixSeconds(1_795_852_239),
        }),
    }
}

fn pack_quoted(texts: Texts) -> quote::QuoteView<'static> {
    let question = texts.pick("Does the network heat 4,000 homes?");
    quote::QuoteView {
        product: Product::ProofPack,
        typed_question: question,
        outcome: quote::QuoteOutcome::Quoted(quote::Quoted {
            quote_id: Some(texts.pick("qt_0123456789abcdef0123456789abcdef")),
            target_url: texts.pick("https://news.sample-site.org/2026/03/harbour-heat-network"),
            question: Some(question),
            is_cached: true,
            is_sample: false,
            recommended: Level::Pack(Pack::default()),
            offers: Pack::ALL
                .map(|pack| quote::LevelOffer {
                    level: Level::Pack(pack),
                    unavailable: None,
                })
                .to_vec(),
            expires_at: UnixSeconds(1_795_852_239),
        }),
        ..quoted(texts)
    }
}

/// The sample report; in the second round every text of it is hostile that is not of a closed set.
pub(in crate::pages) fn report(texts: Texts) -> Report {
    let mut report: Value = serde_json::from_str(SAMPLE_REPORT).expect("the sample report");
    // What the sample's question does not bring up.
    report["decision"]["answer_value"] = "the facilitator".into();
    report["decision"]["reliability"] =
        json!({"right_share": 0.7, "rows": 1042, "measured_on": "2026-11-22"});
    report["comparisons"] = json!([
        {"asked": "26 days", "found": "26 hours", "relation": "differs", "order": "more", "citation_id": "E1"},
        {"asked": "2 %", "found": null, "relation": "not_found", "citation_id": null},
    ]);
    let slice = json!({"excerpt": "It was late.", "start": 0, "end": 12});
    for (name, value) in [
        ("before", slice.clone()),
        ("after", slice),
        ("speaker", "the mayor".into()),
        ("date", "2026-05".into()),
    ] {
        report["citations"][0][name] = value;
    }
    if texts.hostile {
        poison(&mut report);
    }
    serde_json::from_value(report).expect("a report")
}

const SAMPLE_REPORT: &str = include_str!("../../../data/sample/report.json");

/// Puts the hostile text in place of every other one.
pub(super) fn poison(value: &mut Value) {
    // Words of closed sets, and identifiers, which are ours.
    const CLOSED: [&str; 25] = [
        "because",
        "id",
        "source_id",
        "source_ids",
        "citation_id",
        "citation_ids",
        "claim_id",
        "group_id",
        "status",
        "label",
        "match",
        "stance",
        "kind",
        "agent_action",
        "origin",
        "question_kind",
        "engine_label",
        "severity",
        "verdict",
        "certainty",
        "found_by",
        "relation",
        "order",
        "depth",
        "no_grounding_reason",
    ];
    match value {
        Value::String(text) => *text = HOSTILE.to_owned(),
        Value::Array(items) => items.iter_mut().for_each(poison),
        Value::Object(members) => {
            let open = members.iter_mut();
            open.filter(|(name, _)| !CLOSED.contains(&name.as_str()))
                .for_each(|(_, member)| poison(member));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn follow_up(report: &Report) -> FollowUp {
    FollowUp {
        status: Success::Success,
        report_id: report.id().to_owned(),
        question: report.question.clone(),
        answer: report.answer.clone(),
        answered_from: "retained_report",
        supported: true,
        decision: report.decision.clone(),
        citation_ids: Vec::new(),
        citations: report.citations.clone(),
        confidence: 0.7,
        gaps: report.gaps.clone(),
        comparisons: report.comparisons.clone(),
        risks: report.risks.clone(),
        risk_details: report.risk_details.clone(),
        agent_action: report.agent_action,
        source_hash: report.source_hash.clone(),
        supplier_spend: 0,
        recommended_next_call: report.agent_action.next_call(report.id()),
    }
}

fn report_page(texts: Texts) -> String {
    let report = report(texts);
    report::page(&report::ReportView {
        site: texts.site,
        path: "/proof-pack/reports/ppr_0123456789abcdef0123456789abcdef",
        report: &report,
        source: Some(texts.pick(MARKDOWN)),
        is_sample: false,
        api: Some(report::Api {
            path: "/v1/proof-pack/reports/ppr_0123456789abcdef0123456789abcdef",
            unhashed: "result_hash signature",
            pdf: None,
        }),
        follow_up: Some(&follow_up(&report)),
        checks: Some(vec![("result_hash", true), ("source_hash", false)]),
    })
}

fn check_page(texts: Texts) -> String {
    let mut report = serde_json::to_value(example()).expect("JSON");
    if texts.hostile {
        poison(&mut report);
    }
    check::page(&check::CheckView {
        checks: Some(&[("result_hash_matches", true)]),
        site: texts.site,
        path: "/proof-pack/reports/ppr_1123456789abcdef0123456789abcdef",
        report: &serde_json::from_value(report).expect("a report"),
        json: Some("/v1/proof-pack/reports/ppr_1123456789abcdef0123456789abcdef"),
    })
}

fn listed(texts: Texts) -> library::Listed<'static> {
    library::Listed {
        path: "/proof-pack/share/share_0123456789abcdef0123456789abcdef".to_owned(),
        question: texts.pick("Does the network heat 4,000 homes?"),
        target_url: texts.pick("https://news.sample-site.org/"),
        label: texts.pick("unsupported"),
        created_at: UnixSeconds(1_795_247_439),
    }
}

fn legal_view(texts: Texts, document: legal::Document) -> legal::LegalView<'static> {
    legal::LegalView {
        site: texts.site,
        document,
        operator: legal::Operator {
            name: Some(texts.pick("Sample Data Ltd")),
            address: Some(texts.pick("1 Quay Street")),
            email: Some(texts.pick("ops@sample-site.org")),
            law: Some(texts.pick("Norway")),
        },
    }
}

fn plain_view(texts: Texts) -> plain::PlainView<'static> {
    plain::PlainView {
        site: texts.site,
        path: "/proof-pack/library",
        title: "Library",
        lead: texts.pick("Reports that their buyers share."),
        noindex: false,
        parts: vec![
            plain::Part::Heading("Newest"),
            plain::Part::Text(texts.pick_owned("One.")),
            plain::Part::Facts(vec![("Count", texts.pick_owned("1"))]),
            plain::Part::List(vec![texts.pick_owned("An item")]),
            plain::Part::Links(vec![(
                texts.pick_owned("Is it open?"),
                texts.pick_owned("/proof-pack/share/share_01"),
            )]),
            plain::Part::Code {
                caption: "Shell",
                text: texts.pick_owned("true"),
            },
            plain::Part::ReportForm {
                target_url: texts.pick("https://news.sample-site.org/"),
                question: texts.pick("Is it open?"),
            },
        ],
    }
}

fn refused(texts: Texts) -> quote::QuoteView<'static> {
    quote::QuoteView {
        site: texts.site,
        product: Product::Context,
        typed: texts.pick("http://10.0.0.7/admin"),
        typed_question: "",
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
        force_refresh: None,
        target_url,
        question: None,
        level: Level::Tier(Tier::Fresh),
        created_at: UnixSeconds(1_795_247_439),
        expires_at: UnixSeconds(1_795_852_239),
    };
    checkout::CheckoutView {
        site: texts.site,
        quote_id: texts.pick("qt_0123456789abcdef0123456789abcdef"),
        state: if expired {
            checkout::CheckoutState::Expired { is_bundle: false }
        } else {
            checkout::CheckoutState::Kept(kept)
        },
    }
}

fn tried(texts: Texts, outcome: first_words::Outcome<'_>) -> String {
    first_words::page(&first_words::FirstWordsView {
        site: texts.site,
        typed: texts.pick("news.sample-site.org"),
        outcome,
    })
}

fn previews(texts: Texts) -> Vec<(&'static str, String)> {
    use first_words::Outcome;
    let receipt = [("Price", texts.pick("0.03 USDC").to_owned())];
    vec![
        ("try", tried(texts, Outcome::Nothing)),
        (
            "try-shown",
            tried(
                texts,
                Outcome::Shown {
                    target_url: texts.pick("https://news.sample-site.org/"),
                    title: Some(texts.pick("Harbour heat")),
                    markdown: texts.pick(MARKDOWN),
                    words_shown: 300,
                    word_count: 900,
                },
            ),
        ),
        (
            "try-refused",
            tried(
                texts,
                Outcome::Refused {
                    code: "rate_limited",
                    message: texts.pick("No more free previews today."),
                },
            ),
        ),
        (
            "try-bought",
            tried(
                texts,
                Outcome::Bought {
                    title: None,
                    markdown: texts.pick(MARKDOWN),
                    receipt: &receipt,
                },
            ),
        ),
    ]
}

/// Every page there is, by a name to save it under.
pub(super) fn pages(texts: Texts) -> Vec<(&'static str, String)> {
    let site = texts.site;
    let nothing_asked = quote::QuoteView {
        site,
        product: Product::Context,
        typed: "",
        typed_question: "",
        outcome: quote::QuoteOutcome::Nothing,
    };
    let all = vec![
        (
            "home",
            home::page(&home::HomeView {
                site,
                sample_markdown: texts.pick(MARKDOWN),
                outcomes: &[report(texts)],
                previews_per_day: 10,
            }),
        ),
        ("quote", quote::page(&nothing_asked)),
        ("quote-result", quote::page(&quoted(texts))),
        ("quote-refused", quote::page(&refused(texts))),
        (
            "pack-quote",
            quote::page(&quote::QuoteView {
                product: Product::ProofPack,
                ..nothing_asked.clone()
            }),
        ),
        ("pack-quote-result", quote::page(&pack_quoted(texts))),
        ("report", report_page(texts)),
        ("check", check_page(texts)),
        (
            "buy",
            wallet::page(&wallet_view(texts, wallet::Outcome::Nothing)),
        ),
        (
            "buy-offered",
            wallet::page(&wallet_view(
                texts,
                wallet::Outcome::Offered {
                    target_url: texts.pick("https://example.com/"),
                },
            )),
        ),
        (
            "buy-refused",
            wallet::page(&wallet_view(
                texts,
                wallet::Outcome::Refused {
                    code: "invalid_target",
                    message: texts.pick("The address is not a URL."),
                },
            )),
        ),
        ("plain", plain::page(&plain_view(texts))),
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
            proof_pack::page(&proof_pack::ProofPackView { site }),
        ),
        (
            "pricing",
            pricing::page(&pricing::PricingView {
                site,
                form: pricing::Form {
                    pages: texts.pick("1000"),
                    tier: texts.pick("fresh"),
                    reports: texts.pick("20"),
                    pack: texts.pick("standard"),
                    bundles: texts.pick("1"),
                    bundle: texts.pick("scout"),
                    checks: texts.pick("3"),
                    depth: texts.pick("quick"),
                },
                outcome: Ok(Estimate {
                    pages: (1_000, Tier::Fresh),
                    reports: (20, Pack::Standard),
                    bundles: (1, Bundle::Scout),
                    checks: (3, CheckDepth::Quick),
                }),
                is_asked: false,
            }),
        ),
        (
            "from",
            from::page(&from::FromView {
                site,
                source: Some(texts.pick("agent-list.org")),
            }),
        ),
        (
            "about",
            about::page(&about::AboutView {
                site,
                user_agent: texts.pick("context402/0.1 (+https://shop.sample-site.org/about)"),
            }),
        ),
        ("notices", notices::page(&notices::NoticesView { site })),
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
        (
            "confidence",
            confidence::page(&confidence::ConfidenceView {
                site,
                target_url: texts.pick("https://news.sample-site.org/"),
                level: Level::Pack(Pack::Standard),
                is_ready: false,
                checks: vec![confidence::Check {
                    label: texts.pick("Source allowed"),
                    status: "fail",
                    detail: texts.pick("Its name was not found."),
                }],
                what_you_get: &["A report"],
                refunds: texts.pick("Nothing is charged."),
                seconds: 15,
            }),
        ),
        (
            "library",
            library::page(&library::LibraryView {
                site,
                sample: listed(texts),
                outcomes: &[report(texts)],
                listed: vec![listed(texts)],
            }),
        ),
        ("faq", faq::page(&faq::FaqView { site })),
        (
            "terms",
            legal::page(&legal_view(texts, legal::Document::Terms)),
        ),
        (
            "privacy",
            legal::page(&legal_view(texts, legal::Document::Privacy)),
        ),
        (
            "refunds",
            legal::page(&legal_view(texts, legal::Document::Refunds)),
        ),
        (
            "demo",
            demo::page(&demo::DemoView {
                site,
                sample: &SAMPLES[0],
                markdown: texts.pick(MARKDOWN),
                report: &report(texts),
            }),
        ),
        ("explorer", explorer::page(&explorer::ExplorerView { site })),
    ];
    [
        all,
        previews(texts),
        bundle_views::pages(texts),
        delivery_views::pages(texts),
    ]
    .concat()
}

pub(super) fn both_rounds() -> Vec<(&'static str, String)> {
    [pages(ordinary()), pages(hostile())].concat()
}
