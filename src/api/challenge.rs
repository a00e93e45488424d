//! A challenge as an HTTP answer: the headers of a 402 (specification section 7) and of a probe.

use crate::app::App;
use crate::domain::tier::Tier;
use crate::http::{HeaderText, Reply};
use crate::x402::challenge::Challenge;

/// The 402 for a request without payment. It is made once per tier: a directory may probe thousands of times.
pub fn unpaid(app: &App, tier: Tier) -> Reply {
    let replies = app.challenges.get_or_init(|| {
        Tier::ALL
            .iter()
            .map(|tier| required(app, *tier, &app.offers.tier(*tier).challenge))
            .collect()
    });
    replies[tier as usize].clone()
}

/// A 402 with this challenge.
pub fn required(app: &App, tier: Tier, challenge: &Challenge) -> Reply {
    with_headers(
        app,
        Reply::json(402, challenge.json.clone()),
        tier,
        challenge,
    )
}

/// A probe's 200 with the same challenge.
pub fn probe(app: &App, tier: Tier) -> Reply {
    let challenge = &app.offers.tier(tier).challenge;
    with_headers(
        app,
        Reply::json(200, challenge.json.clone()),
        tier,
        challenge,
    )
}

fn with_headers(app: &App, reply: Reply, tier: Tier, challenge: &Challenge) -> Reply {
    let encoded = HeaderText::new(&challenge.header);
    reply
        .prepared("payment-required", &encoded)
        .prepared("x-payment-required", &encoded)
        .fixed("x-service-payment-tier", tier.name())
        .header("x-service-paid-test", &app.url("/paid-test"))
        .header("x-service-quickstart", &app.url("/quickstart"))
        .header("x-service-quote", &app.url("/v1/x402/quote"))
        .header("x-service-buyer-example", &app.url("/quickstart#buyer"))
        .fixed("cache-control", "no-store")
}
