//! The table: every endpoint at a glance. Dispatch, 405 and Allow, openapi.json, /docs, metrics labels and the
//! operator's `routes` command are made from it.

use crate::api::buyer::{
    diagnose, first_words, legacy, paid, preview, purchases, quotes, reports, retry,
    several_quotes, wallet,
};
use crate::api::directory::discovery::{
    crawlers, figures, full, health, keys, llms, manifest, trust,
};
use crate::api::directory::documents::{A2A_PATH, AGENT_CARD_PATH};
use crate::api::directory::{agent, catalogue, discovery, mcp, pricing};
use crate::api::operator::{console, leads as operator_leads};
use crate::api::orders::{bundle_pay, bundles, delivery, leads, webhook};
use crate::api::{operator, site};
use crate::app::Row;
use crate::domain::bundle::Bundle;
use crate::domain::check::CheckDepth;
use crate::domain::endpoint::{Endpoint, HTML, MCP_PATH, Parameter, Price, Schema, Tag};
use crate::domain::level::Product;
use crate::domain::pack::Pack;
use crate::domain::rate::RateClass;
use crate::domain::shapes::{
    ACCESS_REQUEST, BUNDLE_LEAD_REQUEST, CHECK_REQUEST, COMPUTE_REQUEST, CONTACT_REQUEST,
    DIAGNOSE_REQUEST, FOLLOW_UP_REQUEST, PACK_LEAD_REQUEST, PAGES_REQUEST, PROOF_BUNDLE_REQUEST,
    PROOF_PACK_REQUEST, QUOTE_REQUEST, RECOVER_REQUEST, REFRESH_REQUEST, SHARE_REQUEST,
};
use crate::domain::tier::Tier;
use crate::http::route::Run;
use crate::http::{Guard, Method, Route};
use crate::pages::assets::{
    CONSOLE_STYLE_PATH, EXPLORER_SCRIPT_PATH, EXPLORER_START_PATH, EXPLORER_STYLE_PATH,
    FAVICON_ICO_PATH, FAVICON_PATH, ICON_PATH, SOCIAL_PATH, STYLE_PATH,
};
use crate::signing::{DID_PATH, JWKS_PATH};

/// A handler as the table holds it.
macro_rules! run {
    ($handler:path) => {
        |app, call| Box::pin($handler(app, call))
    };
}

/// The same for a page whose facts are a JSON document elsewhere: anyone who asks for JSON gets that.
macro_rules! page_or_json {
    ($page:path, $json:path) => {
        |app, call| {
            Box::pin(async move {
                match call.asks_json() {
                    true => $json(app, call).await.fixed("vary", "Accept"),
                    false => $page(app, call).await,
                }
            })
        }
    };
}

const SOURCE: Parameter = Parameter {
    name: "source",
    doc: "The referral source: a label, not a credential.",
    one_of: &[],
};
const TIER: Parameter = Parameter {
    name: "tier",
    doc: "The tier to be priced; on a paid operation it must agree with header and body.",
    one_of: &Tier::NAMES,
};
const PACK: Parameter = Parameter {
    name: "pack",
    doc: "The pack to be priced; on a paid operation it must agree with header and body.",
    one_of: &Pack::NAMES,
};
const QUESTION: Parameter = Parameter {
    name: "question",
    doc: "The question or claim that the source is to be examined for, at most 1,000 characters.",
    one_of: &[],
};
const PRODUCT: Parameter = Parameter {
    name: "product",
    doc: "What is to be bought; a Proof Pack when absent. A check is judged for one source at its default depth; GET \
          /v1/x402/check/quote prices any, and GET /v1/x402/quote with target_urls several pages.",
    one_of: &Product::NAMES,
};
const TYPE: Parameter = Parameter {
    name: "type",
    doc: "Only resources of this type; all of ours are http.",
    one_of: &[],
};
const LIMIT: Parameter = Parameter {
    name: "limit",
    doc: "The most items of an answer, 1 to 100; 20 when absent.",
    one_of: &[],
};
const BEFORE: Parameter = Parameter {
    name: "before",
    doc: "Only purchases before this purchase_id, to go on where a list ended.",
    one_of: &[],
};
const SIGN_IN: Parameter = Parameter {
    name: "SIGN-IN-WITH-X",
    doc: "The paying wallet's signed statement (sign-in-with-x): base64 JSON over the challenge that a request without it gets. Each nonce works once.",
    one_of: &[],
};
const OFFSET: Parameter = Parameter {
    name: "offset",
    doc: "How many items to pass over; 0 when absent.",
    one_of: &[],
};
const TARGET_URL: Parameter = Parameter {
    name: "target_url",
    doc: "The page to be quoted; a sample page when absent.",
    one_of: &[],
};

const PAGES: Parameter = Parameter {
    name: "target_urls",
    doc: "Pages to be quoted together, at most 10, separated by line breaks, commas or spaces; instead of target_url.",
    one_of: &[],
};
const TEXTS: Parameter = Parameter {
    name: "texts",
    doc: "Number of your own texts to check against, in addition to target_urls: at most 10 sources in all. Default: 0.",
    one_of: &[],
};
const CHECKED_AGAINST: Parameter = Parameter {
    name: "target_urls",
    doc: "The pages to check against, separated by line breaks, commas or spaces; a sample page when both this and texts are absent.",
    one_of: &[],
};
const CHECKED_SOURCES: Parameter = Parameter {
    name: "sources",
    doc: "The same as target_urls, by the name that the purchase has for it.",
    one_of: &[],
};
const TARGET_URLS: Parameter = Parameter {
    name: "target_urls",
    doc: "Public URLs separated by line breaks, commas or spaces; a bare domain is read over https.",
    one_of: &[],
};
const BUNDLE: Parameter = Parameter {
    name: "bundle",
    doc: "The bundle to be priced; builder when absent, or audit for more sources than builder takes. recommended_bundle in the answer is the smallest that fits, which a purchase without a bundle is of.",
    one_of: &Bundle::NAMES,
};
const OF_BUNDLE: Parameter = Parameter {
    name: "bundle",
    doc: "The bundle to be priced; on a paid operation it must agree with header and body.",
    one_of: &Bundle::NAMES,
};
const DEPTH: Parameter = Parameter {
    name: "depth",
    doc: "The depth to be priced, for one source; on a paid operation it must agree with header and body.",
    one_of: &CheckDepth::NAMES,
};

const LEAD_ID: Parameter = Parameter {
    name: "lead_id",
    doc: "The lead to pay for.",
    one_of: &[],
};
const QUOTE_ID: Parameter = Parameter {
    name: "quote_id",
    doc: "The saved bundle quote to pay for.",
    one_of: &[],
};

const SESSION_ID: Parameter = Parameter {
    name: "session_id",
    doc: "The checkout session that the payment page led back with; anyone who has it may read the delivery.",
    one_of: &[],
};
const RECOVERY: Parameter = Parameter {
    name: "recovery",
    doc: "The secret part of a link that was mailed, instead of session_id.",
    one_of: &[],
};
const FORMAT: Parameter = Parameter {
    name: "format",
    doc: "The report alone, as a file.",
    one_of: &["json", "pdf"],
};
const EMAIL: Parameter = Parameter {
    name: "email",
    doc: "The e-mail address that was given at the checkout.",
    one_of: &[],
};
const SUBMITTED: Parameter = Parameter {
    name: "target_url",
    doc: "One of the sources that were submitted.",
    one_of: &[],
};

/// Largest event of the payment provider.
const EVENT_BYTES_MAX: usize = 256 * 1024;

const TOKEN: Parameter = Parameter {
    name: "x402-token",
    doc: "The legacy token; any text.",
    one_of: &[],
};

const fn get(
    path: &'static str,
    handler: crate::http::route::Handler<crate::app::App>,
    about: Endpoint,
) -> Row {
    Route::new(Method::Get, path, handler, about)
}

const fn post(
    path: &'static str,
    handler: crate::http::route::Handler<crate::app::App>,
    about: Endpoint,
) -> Row {
    Route::new(Method::Post, path, handler, about)
}

const fn delete(
    path: &'static str,
    handler: crate::http::route::Handler<crate::app::App>,
    about: Endpoint,
) -> Row {
    Route::new(Method::Delete, path, handler, about)
}

const fn paid(summary: &'static str) -> Endpoint {
    Endpoint::new(Tag::Paid, summary)
}

const fn text(tag: Tag, summary: &'static str, gives: &'static str) -> Endpoint {
    Endpoint {
        gives,
        in_openapi: false,
        ..Endpoint::new(tag, summary)
    }
}

/// A page of the documentation, with its markdown for programs at the same address and `.md`.
const fn guide(
    path: &'static str,
    handler: crate::http::route::Handler<crate::app::App>,
    summary: &'static str,
) -> Row {
    Row {
        has_markdown: true,
        ..get(path, handler, Endpoint::page(summary))
    }
}

/// A document to be read, not an operation of the API.
const fn file(summary: &'static str, gives: &'static str) -> Endpoint {
    text(Tag::Discovery, summary, gives)
}

const fn operator(
    path: &'static str,
    handler: crate::http::route::Handler<crate::app::App>,
    summary: &'static str,
) -> Row {
    let about = Endpoint {
        in_openapi: false,
        ..Endpoint::new(Tag::Operator, summary)
    };
    Row {
        guard: Guard::Operator,
        ..get(path, handler, about)
    }
}

/// A page of the operator's console, which sees for itself who asks.
const fn console(
    method: Method,
    path: &'static str,
    handler: crate::http::route::Handler<crate::app::App>,
    summary: &'static str,
) -> Row {
    let about = Endpoint {
        gives: HTML,
        in_openapi: false,
        ..Endpoint::new(Tag::Operator, summary)
    };
    Route::new(method, path, handler, about)
}

#[rustfmt::skip]
pub static ROUTES: &[Row] = &[
    // Paid
    Row { from_alias: true, ..post("/v1/x402/access", run!(paid::buy_access), Endpoint {
        takes: Some(&ACCESS_REQUEST), or_takes: &[&PAGES_REQUEST], query: &[TIER, SOURCE], price: Price::Of(Product::Context), answers: &[Schema::Page, Schema::Pages],
        statuses: &[400, 402, 409, 413, 415, 422, 503], rate: RateClass::Sale, tool: Some("web_to_markdown"), ..paid("Buy the clean markdown of one page, or of several") }) },
    Row { from_alias: true, ..get("/v1/x402/access", run!(paid::probe_access), Endpoint {
        query: &[TIER, SOURCE], price: Price::Of(Product::Context), answers: &[Schema::PaymentRequired], statuses: &[422], rate: RateClass::Probe,
        ..paid("The challenge of the paid operation, for directories; takes no payment") }) },
    Row { from_alias: true, ..post("/v1/x402/proof-pack", run!(paid::buy_proof_pack), Endpoint {
        takes: Some(&PROOF_PACK_REQUEST), query: &[PACK, SOURCE], price: Price::Of(Product::ProofPack), answers: &[Schema::Report],
        statuses: &[400, 402, 409, 413, 415, 422, 503], rate: RateClass::Sale, tool: Some("proof_pack"),
        ..paid("Buy a report on whether one source supports what you ask") }) },
    Row { from_alias: true, ..get("/v1/x402/proof-pack", run!(paid::probe_proof_pack), Endpoint {
        query: &[PACK, SOURCE], price: Price::Of(Product::ProofPack), answers: &[Schema::PaymentRequired], statuses: &[422], rate: RateClass::Probe,
        ..paid("The challenge of a Proof Pack, for directories; takes no payment") }) },
    post("/v1/x402/proof-bundle", run!(paid::buy_proof_bundle), Endpoint {
        takes: Some(&PROOF_BUNDLE_REQUEST), query: &[OF_BUNDLE, SOURCE], price: Price::Of(Product::ProofBundle), answers: &[Schema::BundleReport],
        statuses: &[400, 402, 409, 413, 415, 422, 503], rate: RateClass::Sale, tool: Some("proof_bundle"),
        ..paid("Buy a report on what several sources say together") }),
    get("/v1/x402/proof-bundle", run!(paid::probe_proof_bundle), Endpoint {
        query: &[OF_BUNDLE, SOURCE], price: Price::Of(Product::ProofBundle), answers: &[Schema::PaymentRequired], statuses: &[422], rate: RateClass::Probe,
        ..paid("The challenge of an Evidence Bundle, for directories; takes no payment") }),
    post("/v1/x402/check", run!(paid::buy_check), Endpoint {
        takes: Some(&CHECK_REQUEST), query: &[DEPTH, SOURCE], price: Price::Of(Product::Check), answers: &[Schema::CheckReport],
        statuses: &[400, 402, 404, 409, 410, 413, 415, 422, 503], rate: RateClass::Sale, tool: Some("check_text"),
        ..paid("Buy a check of each claim of a text against sources") }),
    get("/v1/x402/check", run!(paid::probe_check), Endpoint {
        query: &[DEPTH, SOURCE], price: Price::Of(Product::Check), answers: &[Schema::PaymentRequired], statuses: &[422], rate: RateClass::Probe,
        ..paid("The challenge of a check, for directories; takes no payment") }),
    post("/v1/x402/retry", run!(retry::redeem), Endpoint {
        takes: Some(&ACCESS_REQUEST), or_takes: &[&PAGES_REQUEST, &PROOF_PACK_REQUEST, &PROOF_BUNDLE_REQUEST, &CHECK_REQUEST],
        price: Price::Credit, answers: &[Schema::Page, Schema::Report, Schema::BundleReport, Schema::CheckReport], rate: RateClass::Credit,
        statuses: &[400, 402, 409, 413, 415, 422, 503],
        ..paid("Redeem the retry credit of an accepted payment, with the body that was sent with it") }),

    // Reading again what was paid
    get("/v1/x402/purchases", run!(purchases::list), Endpoint {
        query: &[LIMIT, BEFORE], needs: &[SIGN_IN], answers: &[Schema::Purchases], statuses: &[402, 422, 503], rate: RateClass::Quote,
        tool: Some("list_purchases"),
        ..Endpoint::new(Tag::Reports, "Your purchases of the last 30 days, for the wallet that paid; spends nothing") }),
    get("/v1/x402/purchases/{purchase_id}", run!(purchases::read), Endpoint {
        needs: &[SIGN_IN], answers: &[Schema::Page, Schema::Pages, Schema::Report, Schema::BundleReport, Schema::CheckReport],
        statuses: &[402, 404, 410, 503], rate: RateClass::Quote, tool: Some("read_purchase"),
        ..Endpoint::new(Tag::Reports, "Read the answer of one of your purchases again, while it is stored; spends nothing") }),

    // Legacy
    post("/v1/access", run!(legacy::access), Endpoint {
        takes: Some(&ACCESS_REQUEST), price: Price::Transfer, answers: &[Schema::Page], rate: RateClass::Credit,
        statuses: &[400, 402, 409, 413, 415, 422, 503],
        ..Endpoint::new(Tag::Legacy, "Buy the clean markdown of one page for a transfer that you have made") }),
    post("/v1/broker/compute", run!(legacy::compute), Endpoint {
        takes: Some(&COMPUTE_REQUEST), needs: &[TOKEN], statuses: &[413, 415, 422, 503], in_openapi: false,
        ..Endpoint::new(Tag::Legacy, "Simulate whether a task would be accepted for a fee") }),

    // Quotes
    get("/v1/x402/quote", run!(quotes::tiers), Endpoint {
        query: &[TARGET_URL, PAGES, SOURCE], statuses: &[400, 422, 503], rate: RateClass::Quote,
        tool: Some("quote_page"), ..Endpoint::new(Tag::Quotes, "Price and availability of every tier for one page, or for several; spends nothing") }),
    get("/v1/x402/check/quote", run!(several_quotes::checks), Endpoint {
        query: &[CHECKED_AGAINST, CHECKED_SOURCES, TEXTS, SOURCE], statuses: &[400, 422, 503], rate: RateClass::Quote,
        tool: Some("quote_check"), ..Endpoint::new(Tag::Quotes, "Price of every depth for a check against given sources; spends nothing") }),
    get("/v1/proof-pack/quote", run!(quotes::packs), Endpoint {
        query: &[TARGET_URL, QUESTION, PACK, SOURCE], statuses: &[400, 422, 503], rate: RateClass::Quote,
        tool: Some("quote_report"), ..Endpoint::new(Tag::Quotes, "Price of every pack for a report on one source; spends nothing") }),
    get("/v1/proof-pack/preview", run!(preview::preview), Endpoint {
        query: &[TARGET_URL, PACK, SOURCE], statuses: &[400, 422, 503], rate: RateClass::Quote,
        tool: Some("preview_report"), ..Endpoint::new(Tag::Quotes, "What a report on one source would hold; spends nothing") }),
    get("/v1/checkout/confidence", run!(preview::confidence), Endpoint {
        query: &[PRODUCT, TARGET_URL, TARGET_URLS, TIER, PACK, BUNDLE, SOURCE], statuses: &[400, 422, 503], rate: RateClass::Quote,
        tool: Some("checkout_confidence"), ..Endpoint::new(Tag::Quotes, "Whether everything is in place for a purchase; spends nothing") }),
    post("/v1/quotes", run!(quotes::create), Endpoint {
        takes: Some(&QUOTE_REQUEST), gives_status: 201, statuses: &[400, 403, 413, 415, 422, 503], rate: RateClass::Quote,
        ..Endpoint::new(Tag::Quotes, "Save a quote for a page, a report or a bundle; spends nothing") }),
    get("/v1/quotes/{quote_id}", run!(quotes::receipt), Endpoint {
        statuses: &[404, 410], ..Endpoint::new(Tag::Quotes, "A saved quote, for 7 days") }),
    get("/quote", page_or_json!(quotes::tiers_page, quotes::tiers), Endpoint {
        query: &[TARGET_URL, SOURCE], statuses: &[400, 422, 503], rate: RateClass::Quote, ..Endpoint::page("Ask what a page would cost") }),
    get("/proof-pack/quote", page_or_json!(quotes::packs_page, quotes::packs), Endpoint {
        query: &[TARGET_URL, QUESTION, PACK, SOURCE], statuses: &[400, 422, 503], rate: RateClass::Quote, ..Endpoint::page("Ask what a report would cost") }),
    get("/proof-pack/preview", page_or_json!(preview::preview_page, preview::preview), Endpoint {
        query: &[TARGET_URL, PACK, SOURCE], statuses: &[400, 422, 503], rate: RateClass::Quote, ..Endpoint::page("What a report would hold") }),
    get("/checkout/confidence", page_or_json!(preview::confidence_page, preview::confidence), Endpoint {
        query: &[PRODUCT, TARGET_URL, TARGET_URLS, TIER, PACK, BUNDLE, SOURCE], statuses: &[400, 422, 503], rate: RateClass::Quote, ..Endpoint::page("Whether everything is in place for a purchase") }),
    get("/buy", run!(wallet::page), Endpoint {
        query: &[TARGET_URL, QUESTION, TIER, PACK, SOURCE], statuses: &[400, 422], rate: RateClass::Quote, ..Endpoint::page("Buy a page or a report with a browser's wallet") }),
    get("/checkout/{quote_id}", page_or_json!(quotes::resume_page, quotes::receipt), Endpoint {
        statuses: &[404, 410], ..Endpoint::page("Resume a saved quote") }),

    // Retained reports
    get("/v1/proof-pack/sample", run!(reports::sample), Endpoint {
        query: &[SOURCE], answers: &[Schema::Report], tool: Some("sample_report"), ..Endpoint::new(Tag::Reports, "A complete sample report") }),
    get("/v1/proof-pack/reports/{report_id}", run!(reports::read), Endpoint {
        answers: &[Schema::Report, Schema::BundleReport, Schema::CheckReport], statuses: &[404, 410], tool: Some("read_report"), ..Endpoint::new(Tag::Reports, "A retained report, as it was sold, for 30 days") }),
    get("/v1/proof-pack/reports/{report_id}/pdf", run!(reports::pdf), Endpoint {
        gives: "application/pdf", statuses: &[404, 410, 503], rate: RateClass::Quote, ..Endpoint::new(Tag::Reports, "Read a bought report as a PDF") }),
    get("/v1/proof-pack/reports/{report_id}/source", run!(reports::source_text), Endpoint {
        gives: "text/markdown", or_gives: Some("application/json"), statuses: &[404, 410, 503], rate: RateClass::Quote,
        tool: Some("report_source"), ..Endpoint::new(Tag::Reports, "The text that a report's citations are slices of; for several sources, JSON with the text of each") }),
    get("/v1/proof-pack/reports/{report_id}/screenshot", run!(reports::screenshot), Endpoint {
        gives: "image/png", statuses: &[404, 410, 503], rate: RateClass::Quote,
        ..Endpoint::new(Tag::Reports, "The picture of the page that a report was bought with") }),
    get("/v1/proof-pack/reports/{report_id}/verify", run!(reports::verify), Endpoint {
        statuses: &[404, 410, 503], rate: RateClass::Quote,
        tool: Some("verify_report"), ..Endpoint::new(Tag::Reports, "Recompute a report's hashes and check its citations against the stored source") }),
    post("/v1/proof-pack/reports/{report_id}/follow-up", run!(reports::follow_up), Endpoint {
        takes: Some(&FOLLOW_UP_REQUEST), statuses: &[403, 404, 410, 413, 415, 422, 503], rate: RateClass::Quote,
        tool: Some("ask_report"), ..Endpoint::new(Tag::Reports, "Ask the stored source a further question; spends nothing") }),
    post("/v1/proof-pack/reports/{report_id}/refresh", run!(reports::refresh), Endpoint {
        takes: Some(&REFRESH_REQUEST), statuses: &[400, 403, 404, 410, 413, 415, 422, 503], rate: RateClass::Quote,
        tool: Some("refresh_report"), ..Endpoint::new(Tag::Reports, "Quote a fresh report, with the findings of the earlier one") }),
    post("/v1/proof-pack/reports/{report_id}/share", run!(reports::share), Endpoint {
        takes: Some(&SHARE_REQUEST), statuses: &[403, 404, 410, 413, 415, 422], rate: RateClass::Quote,
        ..Endpoint::new(Tag::Reports, "Share a report under a name of its own, listed among the public reports or not") }),
    delete("/v1/proof-pack/reports/{report_id}/share", run!(reports::unshare), Endpoint {
        statuses: &[404, 410], rate: RateClass::Quote,
        ..Endpoint::new(Tag::Reports, "Stop sharing a report") }),
    get("/v1/proof-pack/benchmarks", run!(reports::benchmarks),
        Endpoint::new(Tag::Reports, "Measured quality of the evidence engine")),
    Row { has_markdown: true, ..get("/proof-pack/sample", page_or_json!(reports::sample_page, reports::sample),
        Endpoint { rate: RateClass::Quote, ..Endpoint::page("The sample report") }) },
    get("/proof-pack/reports/{report_id}", page_or_json!(reports::page, reports::read), Endpoint {
        statuses: &[404, 410, 503], rate: RateClass::Quote, ..Endpoint::page("A retained report") }),
    get("/proof-pack/share/{slug}", run!(reports::shared_page), Endpoint {
        statuses: &[404, 410], ..Endpoint::page("A report that its buyer shares") }),
    get("/proof-pack/library", run!(reports::library_page), Endpoint::page("Reports that their buyers list")),

    // Bundles and leads
    get("/v1/proof-pack/bundle/quote", run!(bundles::quote), Endpoint {
        query: &[TARGET_URLS, QUESTION, BUNDLE, SOURCE], needs_query: &["target_urls"], statuses: &[400, 414, 422, 503],
        rate: RateClass::Quote, tool: Some("quote_bundle"), ..Endpoint::new(Tag::Bundles, "Which addresses are allowed, and which bundle takes them; spends nothing") }),
    post("/v1/proof-pack/bundle/leads", run!(leads::bundle), Endpoint {
        takes: Some(&BUNDLE_LEAD_REQUEST), gives_status: 202, statuses: &[400, 403, 413, 415, 422, 503], rate: RateClass::Lead,
        ..Endpoint::new(Tag::Bundles, "Request a bundle; the response says where to pay") }),
    post("/v1/proof-pack/leads", run!(leads::pack), Endpoint {
        takes: Some(&PACK_LEAD_REQUEST), gives_status: 202, statuses: &[400, 403, 413, 415, 422, 503], rate: RateClass::Lead,
        ..Endpoint::new(Tag::Bundles, "Request a report, for manual follow-up") }),
    post("/v1/contact", run!(leads::contact), Endpoint {
        takes: Some(&CONTACT_REQUEST), gives_status: 202, statuses: &[403, 413, 415, 422, 503], rate: RateClass::Lead,
        in_openapi: false, ..Endpoint::new(Tag::Bundles, "Send a message to the operator") }),
    guide("/proof-pack/bundle", run!(bundles::about_page), "What Evidence Bundles are and cost"),
    get("/proof-pack/bundle/quote", page_or_json!(bundles::quote_page, bundles::quote), Endpoint {
        query: &[TARGET_URLS, QUESTION, BUNDLE, SOURCE], statuses: &[400, 422, 503], rate: RateClass::Quote, ..Endpoint::page("Ask what a bundle would cost") }),
    post("/proof-pack/bundle/quote", run!(bundles::quote_page), Endpoint {
        query: &[TARGET_URLS, QUESTION, BUNDLE, SOURCE], statuses: &[400, 403, 408, 413, 415, 422, 503], rate: RateClass::Quote, ..Endpoint::page("The same with a longer list, as the form sends it") }),
    get("/proof-pack/bundle/checkout", run!(bundles::checkout_page), Endpoint {
        query: &[TARGET_URLS, BUNDLE, SOURCE], gives_status: 303, statuses: &[400, 422, 503], rate: RateClass::Quote, ..Endpoint::page("Go on with a bundle that was selected") }),
    get("/proof-pack/bundle/pay", run!(bundle_pay::pay), Endpoint {
        query: &[BUNDLE, LEAD_ID, QUOTE_ID, SOURCE], gives_status: 303, statuses: &[400, 404, 409, 410, 422, 503], rate: RateClass::Lead, ..Endpoint::page("On to the payment link of a bundle") }),
    get("/proof-pack/request", run!(leads::request_page), Endpoint::page("Ask for a bundle or a report")),
    get("/contact", run!(leads::contact_page), Endpoint::page("Write to the operator")),
    // What was bought through the payment link
    get("/v1/proof-pack/bundle/delivery", run!(delivery::read), Endpoint {
        query: &[SESSION_ID, RECOVERY, FORMAT], statuses: &[202, 404, 410, 503], rate: RateClass::Quote,
        ..Endpoint::new(Tag::Bundles, "A paid bundle: its progress, then its report") }),
    get("/proof-pack/bundle/delivery", page_or_json!(delivery::page, delivery::read), Endpoint {
        query: &[SESSION_ID, RECOVERY], statuses: &[202, 404, 410, 503], rate: RateClass::Quote, ..Endpoint::page("A paid bundle") }),
    get("/v1/proof-pack/bundle/recover", run!(delivery::recover), Endpoint {
        query: &[EMAIL, SUBMITTED], needs_query: &["email", "target_url"], gives_status: 202, statuses: &[409, 422, 503], rate: RateClass::Recovery,
        ..Endpoint::new(Tag::Bundles, "Send the link to a paid bundle again; prefer POST") }),
    post("/v1/proof-pack/bundle/recover", run!(delivery::recover), Endpoint {
        takes: Some(&RECOVER_REQUEST), gives_status: 202, statuses: &[403, 409, 413, 415, 422, 503], rate: RateClass::Recovery,
        ..Endpoint::new(Tag::Bundles, "Send the link to a paid bundle again, to its buyer's address") }),
    get("/proof-pack/bundle/recover", run!(delivery::recover_page), Endpoint {
        query: &[EMAIL, SUBMITTED], statuses: &[202, 409, 422, 503], rate: RateClass::Recovery, ..Endpoint::page("Find a delivery again") }),
    post("/proof-pack/bundle/recover", run!(delivery::recover_page), Endpoint {
        query: &[EMAIL, SUBMITTED], statuses: &[202, 400, 403, 408, 409, 413, 415, 422, 503], rate: RateClass::Recovery, ..Endpoint::page("Find a delivery again") }),
    Row { body_bytes_max: Some(EVENT_BYTES_MAX), ..post(webhook::PATH, run!(webhook::stripe), Endpoint {
        in_openapi: false, statuses: &[400, 408, 413, 503],
        ..Endpoint::new(Tag::Bundles, "Webhook for the payment provider's checkout events") }) },

    // Discovery
    // Directories take 40 operations of OpenAPI. The brief, the counters and the contact form are left out, as what agents
    // call least.
    get("/", run!(discovery::root), Endpoint { in_openapi: false, ..Endpoint::new(Tag::Discovery, "The service in brief; a page for browsers") }),
    get("/health", run!(health::health), Endpoint {
        statuses: &[503], tool: Some("service_health"), ..Endpoint::new(Tag::Discovery, "Health of the service") }),
    get("/metrics", run!(figures::metrics), Endpoint { in_openapi: false, ..Endpoint::new(Tag::Discovery, "Counters, as JSON or Prometheus text") }),
    get("/discovery/resources", run!(catalogue::resources), Endpoint {
        query: &[TYPE, LIMIT, OFFSET], statuses: &[422], tool: Some("list_resources"),
        ..Endpoint::new(Tag::Discovery, "What is for sale, as directories of x402 list it") }),
    get("/.well-known/x402", run!(catalogue::well_known),
        file("What is for sale, at the address where x402 clients look", "application/json")),
    get(catalogue::X402_PATH, run!(catalogue::well_known), file("The same as /.well-known/x402", "application/json")),
    get("/openapi.json", run!(discovery::openapi), file("This API as OpenAPI 3.1", "application/json")),
    get("/manifest.json", run!(manifest::manifest),
        file("The service, its endpoints and prices in one object; a web app manifest too", "application/json")),
    get(AGENT_CARD_PATH, run!(agent::card::card), file("The agent card, for A2A 1.0 and 0.3", "application/json")),
    get(agent::OLD_CARD_PATH, run!(agent::card::card), file("The agent card, where older clients look", "application/json")),
    get(mcp::card::PATH, run!(mcp::card::card), file("The MCP server card", mcp::card::MEDIA_TYPE)),
    get(mcp::card::PATH_BESIDE, run!(mcp::card::card), file("The MCP server card, beside the endpoint", mcp::card::MEDIA_TYPE)),
    get("/.well-known/api-catalog", run!(manifest::api_catalog),
        file("Where the API is described (RFC 9727)", "application/linkset+json")),
    get("/.well-known/ai-catalog.json", run!(manifest::ai_catalog),
        file("What there is for agents, for catalogues of them", "application/json")),
    get("/.well-known/ard.json", run!(manifest::ai_catalog),
        file("The same as /.well-known/ai-catalog.json", "application/json")),
    get(JWKS_PATH, run!(keys::key_set), Endpoint {
        statuses: &[404], ..file("The key that signs offers and receipts, as a JWK set", "application/jwk-set+json") }),
    get(DID_PATH, run!(keys::did_document), Endpoint {
        statuses: &[404], ..file("The same key as a did:web document", "application/did+json") }),
    get("/llms.txt", run!(llms::llms), file("The service for language models", "text/plain")),
    get("/llms-full.txt", run!(full::full), file("The whole reference for language models", "text/plain")),
    get("/robots.txt", run!(crawlers::robots), file("What crawlers may read", "text/plain")),
    get("/sitemap.xml", run!(crawlers::sitemap), file("The pages that a search may lead to", "application/xml")),
    get("/.well-known/security.txt", run!(crawlers::security), file("Where to report a weakness (RFC 9116)", "text/plain")),
    get("/v1/agent/trust", run!(trust::trust), Endpoint {
        tool: Some("agent_trust"), ..Endpoint::new(Tag::Discovery, "Who is paid, how failures are dealt with, what is signed") }),
    post("/v1/agent/diagnose", run!(diagnose::diagnose), Endpoint {
        takes: Some(&DIAGNOSE_REQUEST), statuses: &[403, 413, 415, 422], rate: RateClass::Quote, tool: Some("diagnose_payment"),
        ..Endpoint::new(Tag::Discovery, "Diagnose a payment header; nothing is forwarded or stored") }),
    post(MCP_PATH, run!(mcp::post), Endpoint {
        in_openapi: false, statuses: &[202, 400, 408, 413, 415], ..Endpoint::new(Tag::Discovery, "The Model Context Protocol, over streamable HTTP") }),
    post(A2A_PATH, run!(agent::message::rpc), Endpoint {
        in_openapi: false, statuses: &[400, 408, 413, 415], ..Endpoint::new(Tag::Discovery, "The free message interface of the agent card, as JSON-RPC") }),
    post(agent::SEND_PATH, run!(agent::message::send), Endpoint {
        in_openapi: false, statuses: &[400, 408, 413, 415], ..Endpoint::new(Tag::Discovery, "The same as HTTP and JSON") }),

    // Pages
    guide("/docs", run!(site::docs), "The reference"),
    guide("/quickstart", run!(site::quickstart), "Buy a page from the shell, TypeScript or Python"),
    guide("/paid-test", run!(site::paid_test), "A live challenge, step by step"),
    guide("/pricing", run!(pricing::page), "Every price, and what a month comes to"),
    guide("/proof-pack", run!(site::proof_pack), "What Proof Packs are and cost"),
    guide("/about", run!(site::about), "How we fetch, and how to opt out"),
    guide("/faq", run!(site::faq), "Short answers"),
    guide("/notices", run!(site::notices), "Whose work is in the program, and under which licenses"),
    Row { has_markdown: true, ..get("/demo", run!(site::demo), Endpoint {
        rate: RateClass::Quote, ..Endpoint::page("The converter and the evidence check on sample pages, free") }) },
    Row { has_markdown: true, ..get("/try", run!(first_words::show), Endpoint {
        rate: RateClass::Quote, ..Endpoint::page("The beginning of a page as markdown, free") }) },
    post("/try", run!(first_words::buy), Endpoint {
        rate: RateClass::Quote, ..Endpoint::page("In a sandbox: a page bought with test funds") }),
    get("/swagger", run!(site::explorer), Endpoint::page("This API, to be tried in the browser")),
    guide("/terms", run!(site::terms), "What you buy and what is promised"),
    guide("/privacy", run!(site::privacy), "Which personal data is stored, why, and for how long"),
    guide("/refunds", run!(site::refunds), "When a payment is taken and when not"),
    guide("/sample", run!(site::sample), "The sample page"),
    get("/from/{source}", run!(site::from), Endpoint::page("Welcome from elsewhere")),
    get(STYLE_PATH, run!(site::style), text(Tag::Pages, "The stylesheet", "text/css")),
    get(CONSOLE_STYLE_PATH, run!(site::console_style), text(Tag::Pages, "The console's stylesheet", "text/css")),
    get(EXPLORER_SCRIPT_PATH, run!(site::explorer_script), text(Tag::Pages, "The API explorer's program", "text/javascript")),
    get(EXPLORER_STYLE_PATH, run!(site::explorer_style), text(Tag::Pages, "The API explorer's look", "text/css")),
    get(EXPLORER_START_PATH, run!(site::explorer_start), text(Tag::Pages, "The API explorer's start", "text/javascript")),
    get(FAVICON_PATH, run!(site::favicon), text(Tag::Pages, "The icon", "image/svg+xml")),
    get(FAVICON_ICO_PATH, run!(site::favicon_ico), text(Tag::Pages, "The icon, at the path that browsers request by default", "image/x-icon")),
    get(SOCIAL_PATH, run!(site::social), text(Tag::Pages, "The picture of links to us", "image/png")),
    get(ICON_PATH, run!(site::icon), text(Tag::Pages, "The icon as PNG", "image/png")),

    // The operator's console: who may look is decided by its cookie
    console(Method::Get, "/operator", run!(console::home), "The operator's console"),
    console(Method::Get, "/operator/console/{name}", run!(console::view), "A view of the console"),
    console(Method::Post, "/operator/console/{name}", run!(console::act), "What a form of the console does"),
    post("/operator/login", run!(console::sign_in), Endpoint {
        gives: HTML, in_openapi: false, rate: RateClass::Login, ..Endpoint::new(Tag::Operator, "Sign in to the console") }),
    console(Method::Post, "/operator/logout", run!(console::sign_out), "Sign out of the console"),

    // The operator, over the socket or with the token
    operator("/operator/today", run!(operator::ledger::today), "Today's sales, and what needs attention"),
    operator("/operator/ledger", run!(operator::ledger::ledger), "Daily ledger, reconciled with the receiving address"),
    Row { method: Method::Post, ..operator("/operator/ledger/{day}/check", run!(operator::ledger::check),
        "Reconcile a day's ledger with the chain, now") },
    Row { method: Method::Post, ..operator("/operator/pause", run!(operator::ledger::pause), "Pause sales") },
    Row { method: Method::Post, ..operator("/operator/resume", run!(operator::ledger::resume), "Resume sales") },
    Row { method: Method::Post, ..operator("/operator/sign-in-link", run!(console::link), "A one-time sign-in link to the console") },
    Row { method: Method::Post, run: Run::Detached, ..operator("/operator/reload", run!(operator::reload),
        "Reload the configuration, and apply what needs no restart") },
    operator("/operator/mails", run!(operator::mails::mails), "The newest e-mails of the outbox, optionally by state"),
    operator("/operator/mails/{key}", run!(operator::mails::mail), "One e-mail"),
    Row { method: Method::Post, ..operator("/operator/mails/{key}/retry", run!(operator::mails::retry_mail),
        "Retry an unsent e-mail") },
    Row { method: Method::Post, ..operator("/operator/mails/{key}/delete", run!(operator::mails::delete_mail), "Delete an e-mail") },
    operator("/operator/export/{what}", run!(operator::export::export), "All records of a kind, as JSON or CSV"),
    operator("/operator/person", run!(operator::data::show_person), "All data about an e-mail address, or about a payer's address"),
    Row { method: Method::Post, ..operator("/operator/forget", run!(operator::data::forget_person),
        "Delete all data about an e-mail address") },
    operator("/operator/payments", run!(operator::payments), "The newest payments, optionally by state"),
    operator("/operator/payments/refused", run!(operator::refused_payments), "The last refusals of paid requests"),
    operator("/operator/payments/{key}", run!(operator::payment), "One payment"),
    Row { method: Method::Post, ..operator("/operator/payments/{key}/reconcile", run!(operator::reconcile_payment),
        "Look up the outcome of an unknown settlement, now") },
    Row { method: Method::Post, ..operator("/operator/payments/{key}/end", run!(operator::end_payment),
        "Record the outcome of a settlement that stays unknown") },
    Row { method: Method::Post, ..operator("/operator/backup", run!(operator::backup),
        "Write a snapshot beside the data file, for the backup command") },
    operator("/operator/reports", run!(operator::reports), "The newest reports, optionally by state"),
    operator("/operator/reports/{report_id}", run!(operator::report), "One report"),
    operator("/operator/orders", run!(operator::orders::orders), "The newest orders, optionally by state"),
    operator("/operator/orders/{order_id}", run!(operator::orders::order), "One order with its history"),
    Row { method: Method::Post, ..operator("/operator/orders/{order_id}/refulfil", run!(operator::orders::refulfil),
        "Retry the fulfilment of a delivered or failed order") },
    Row { method: Method::Post, ..operator("/operator/orders/{order_id}/resend", run!(operator::orders::resend),
        "Send the e-mail of a delivered order again") },
    Row { method: Method::Post, ..operator("/operator/orders/{order_id}/attach", run!(operator::orders::attach),
        "Attach a payment in review to a lead's request") },
    Row { method: Method::Post, ..operator("/operator/orders/{order_id}/refund", run!(operator::orders::refund),
        "Record that an order was refunded") },
    Row { method: Method::Post, ..operator("/operator/orders/{order_id}/delete", run!(operator::orders::delete),
        "Delete an order, its report and its buyer's data") },
    operator("/operator/events", run!(operator::orders::events), "Events received from the payment provider"),
    Row { method: Method::Post, ..operator("/operator/reports/{report_id}/purge", run!(operator::purge_report),
        "Delete a report at once, with its text") },
    Row { method: Method::Post, ..operator("/operator/reports/{report_id}/approve", run!(operator::approve_report),
        "Approve a report for the library, as its buyer asked") },
    Row { method: Method::Post, ..operator("/operator/reports/{report_id}/unlist", run!(operator::unlist_report),
        "Remove a report from the library") },
    operator("/operator/leads", run!(operator_leads::list), "The newest leads, optionally by status or product"),
    operator("/operator/leads/export", run!(operator_leads::export), "Every lead in full, in parts"),
    operator("/operator/leads/{lead_id}", run!(operator_leads::show), "One lead with its history"),
    Row { method: Method::Post, ..operator("/operator/leads/{lead_id}/move", run!(operator_leads::advance),
        "Change a lead's status") },
    Row { method: Method::Post, ..operator("/operator/leads/{lead_id}/note", run!(operator_leads::annotate),
        "Add a note to a lead's history") },
    Row { method: Method::Post, ..operator("/operator/leads/{lead_id}/delete", run!(operator_leads::delete),
        "Delete a lead") },
    Row { method: Method::Post, ..operator("/operator/leads/delete", run!(operator_leads::delete_of),
        "Delete all leads of a contact") },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_rows_answer_the_same_request() {
        for (position, row) in ROUTES.iter().enumerate() {
            let same = |other: &&Row| other.method == row.method && other.path == row.path;
            assert!(
                ROUTES[..position].iter().find(same).is_none(),
                "{} {}",
                row.method.name(),
                row.path
            );
        }
    }

    #[test]
    fn every_row_says_what_it_is_for() {
        for row in ROUTES {
            assert!(
                row.path.starts_with('/')
                    && !row.about.summary.is_empty()
                    && !row.about.summary.ends_with('.'),
                "{}",
                row.path
            );
        }
    }
}
