//! `/llms.txt` (llmstxt.org): a short text on what the service does, what it costs and how to buy. Parsers of the format
//! treat every line below a second-level heading as a link, so prices come first.

use crate::api::directory::documents::{document_of, documents};
use crate::api::frame::made_once;
use crate::api::orders::bundles;
use crate::app::{App, Shared};
use crate::domain::bundle::{READ_RULE, payment_of_people};
use crate::domain::figures::cents;
use crate::domain::level::{Level, PAGES_MAX, Product};
use crate::http::{Call, Reply};
use crate::pages::price_lists;

/// GET /llms.txt.
pub async fn llms(app: Shared, call: Call) -> Reply {
    made_once(&app, &call, |app| {
        document_of("text/plain; charset=utf-8", text(app))
    })
}

pub fn text(app: &App) -> String {
    format!(
        "{}\n## Docs\n\n{}\n## API\n\n{}\n## Discovery\n\n{}\n## Optional\n\n{}",
        introduction(app),
        links(app, DOCS),
        links(app, API),
        documents(app)
            .filter(|row| !ELSEWHERE.contains(&row.path))
            .map(|row| link(app, row.path, row.path, row.about.summary))
            .collect::<String>(),
        links(app, OPTIONAL),
    )
}

/// Title, summary, how to buy, prices.
pub fn introduction(app: &App) -> String {
    let [access, proof_pack, proof_bundle, check] =
        Product::ALL.map(|product| app.url(product.path()));
    let [tiers, packs, bundles, depths] = Product::ALL.map(|product| prices(app, product));
    format!(
        "# {name}\n\n> {description}.\n\n\
         A page, in three steps:\n\n\
         1. `curl -i {access} -H 'Content-Type: application/json' -d '{{\"target_url\":\"https://example.com/\",\
         \"tier\":\"fresh\"}}'` returns 402; the header PAYMENT-REQUIRED is base64 of the price and how to pay it.\n\
         2. Sign it: x402 version 2, scheme exact, network {network}. Any x402 v2 client does this; {quickstart} has \
         it in TypeScript and Python.\n\
         3. Repeat the same request with the signed payment in the header PAYMENT-SIGNATURE. The answer is JSON with the \
         page as markdown, or markdown itself with `Accept: text/markdown`. You are charged only for what is delivered.\n\n\
         Tiers of a page, in USDC:\n\n{tiers}\n\
         To check whether a page supports a claim, POST {proof_pack} with `{{\"target_url\":\"https://example.com/\",\
         \"question\":\"Is it free to use?\",\"pack\":\"standard\"}}`, paid the same way. The response is a report with a \
         decision, exact citations, gaps, risks and hashes; it is stored for 30 days and can be verified.\n\n\
         Packs of a report, in USDC:\n\n{packs}\n\
         To buy several pages at once, send `target_urls` (2 to {PAGES_MAX}) in place of `target_url`: one payment of as \
         many times the price, and only if all of them can be read.\n\n\
         To check several sources together, POST {proof_bundle} with `{{\"target_urls\":[\"https://example.com/\",\
         \"https://example.org/\"],\"question\":\"Is it free to use?\"}}`, paid the same way. GET {bundle_quote} with \
         target_urls and question says beforehand, free, which addresses are allowed. {READ_RULE} People can pay for a bundle in dollars \
         {payment_of_people} instead.\n\n\
         Bundles, in USDC:\n\n{bundles}\n\
         To check a whole answer before you give it, POST {check} with `{{\"text\":\"It is free to use.\",\
         \"sources\":[\"https://example.com/\"]}}`: each claim of the text is checked against the sources, and the \
         response lists what to correct.\n\n\
         Depths of a check, in USDC for each source:\n\n{depths}",
        bundle_quote = app.url(bundles::QUOTE_PATH),
        payment_of_people = payment_of_people(app.has_payment_link()),
        name = app.config.service_name,
        description = env!("CARGO_PKG_DESCRIPTION"),
        network = app.config.payment.network,
        quickstart = app.url("/quickstart"),
    )
}

fn prices(app: &App, product: Product) -> String {
    let row = |level: Level| {
        let words = price_lists::in_words(level, app.config.entailment_model);
        let words = match level {
            Level::Bundle(bundle) => format!("Up to {} sources. {words}", bundle.source_limit()),
            _ => words,
        };
        format!("- {}: {} ({words})\n", level.name(), cents(level.price()))
    };
    product.levels().map(row).collect()
}

/// Path, title, note.
type Link = (&'static str, &'static str, &'static str);

const DOCS: &[Link] = &[
    ("/docs", "Reference", "every endpoint, field and error"),
    (
        "/quickstart",
        "Quickstart",
        "the same purchase in curl, TypeScript and Python",
    ),
    ("/pricing", "Prices", "all prices and a cost estimate"),
    (
        "/llms-full.txt",
        "Everything in one file",
        "the complete reference as markdown",
    ),
    (
        "/openapi.json",
        "OpenAPI",
        "the reference for machines, OpenAPI 3.1",
    ),
];

const API: &[Link] = &[
    (
        "/v1/x402/quote",
        "Quote",
        "the price and availability of every tier for one page, free",
    ),
    (
        "/v1/proof-pack/quote",
        "Proof Pack quote",
        "the price of every pack for one source, free",
    ),
    (
        // Its JSON needs the list of sources in the query.
        "/proof-pack/bundle/quote",
        "Bundle quote",
        "which addresses are allowed, and which bundle fits them, free",
    ),
    (
        "/v1/proof-pack/sample",
        "Sample report",
        "a complete report, free",
    ),
    (
        "/v1/x402/access",
        "Page, probe",
        "the challenge of a page without buying; buy with POST",
    ),
    (
        "/v1/x402/proof-pack",
        "Proof Pack, probe",
        "the challenge of a Proof Pack without buying; buy with POST",
    ),
];

const OPTIONAL: &[Link] = &[
    (
        "/sample",
        "Sample page",
        "the page that the starter tier always delivers",
    ),
    ("/about", "About", "how we fetch, and how to opt out"),
    ("/contact", "Contact", "a message to the operator"),
];

/// Documents under another heading, or not meant for reading.
const ELSEWHERE: [&str; 3] = ["/llms.txt", "/llms-full.txt", "/openapi.json"];

fn links(app: &App, links: &[Link]) -> String {
    let links = links.iter();
    links
        .map(|(path, title, note)| link(app, path, title, note))
        .collect()
}

fn link(app: &App, path: &str, title: &str, note: &str) -> String {
    format!("- [{title}]({}): {note}\n", app.url(path))
}
