//! Challenges as HTTP responses: the headers of a 402 and of a probe.

use crate::app::App;
use crate::domain::level::{Level, LineItem, Product};
use crate::http::{HeaderText, Reply};
use crate::x402::challenge::Challenge;

/// The 402 for a request without payment. Cached for each level once, because directories probe often.
pub fn unpaid(app: &App, item: LineItem) -> Reply {
    if item.quantity > 1 {
        return required(app, item.level, &app.offers.item(item).challenge);
    }
    let replies = app.challenges.get_or_init(|| {
        Level::ALL
            .iter()
            .map(|level| required(app, *level, &app.offers.level(*level).challenge))
            .collect()
    });
    replies[item.level.position()].clone()
}

/// A 402 with this challenge.
pub fn required(app: &App, level: Level, challenge: &Challenge) -> Reply {
    let reply = Reply::json(402, challenge.json.clone());
    with_headers(app, reply, level, challenge)
}

/// Refuses an unreadable payment, with a new challenge to sign.
pub fn beside(app: &App, refused: Reply, item: LineItem) -> Reply {
    let fresh = app.offers.challenge_because(item, "invalid_payload");
    with_headers(app, refused, item.level, &fresh)
}

/// A probe's 200 with the same challenge.
pub fn probe(app: &App, level: Level) -> Reply {
    let challenge = &app.offers.level(level).challenge;
    let reply = Reply::json(200, challenge.json.clone());
    with_headers(app, reply, level, challenge)
}

fn with_headers(app: &App, reply: Reply, level: Level, challenge: &Challenge) -> Reply {
    let encoded = HeaderText::new(&challenge.header);
    let reply = reply
        .prepared("payment-required", &encoded)
        .prepared("x-payment-required", &encoded)
        .fixed(level.product().paid_header(), level.name())
        .no_store();
    help(level.product())
        .iter()
        .fold(reply, |reply, (name, path)| {
            reply.header(name, &app.url(path))
        })
}

/// Links that help to pay.
pub fn help(product: Product) -> &'static [(&'static str, &'static str)] {
    match product {
        Product::Context => &[
            ("x-service-paid-test", "/paid-test"),
            ("x-service-quickstart", "/quickstart"),
            ("x-service-quote", "/v1/x402/quote"),
            ("x-service-buyer-example", "/quickstart#buyer"),
        ],
        Product::ProofPack => &[
            ("x-service-proof-pack", "/proof-pack"),
            ("x-service-proof-pack-quote", "/v1/proof-pack/quote"),
        ],
        Product::ProofBundle => &[
            ("x-service-proof-bundle", "/proof-pack/bundle"),
            (
                "x-service-proof-bundle-quote",
                "/v1/proof-pack/bundle/quote",
            ),
        ],
        Product::Check => &[("x-service-docs", "/docs")],
    }
}
