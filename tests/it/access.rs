//! The paid operation: asking for the price, paying, and what the buyer gets.

use serde_json::json;

use crate::harness::{ACCESS, ARTICLE, BASE_URL, Rig, Wallet};

const TIERS: [(&str, u64); 5] = [
    ("starter", 12_000),
    ("cached", 15_000),
    ("basic", 20_000),
    ("fresh", 30_000),
    ("deep", 50_000),
];

#[test]
fn every_tier_is_sold_at_its_price_wherever_it_is_stated() {
    let rig = Rig::start();
    // Somebody has to fetch the page before the tiers that only read the cache can sell it.
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    for (tier, units) in TIERS {
        let in_query = rig
            .post(&format!("{ACCESS}?tier={tier}"))
            .json(&json!({"target_url": ARTICLE}));
        let in_header = rig
            .post(ACCESS)
            .header("X-Service-Tier", tier)
            .json(&json!({"target_url": ARTICLE}));
        let in_body = rig.order(ARTICLE, tier);
        for ask in [in_query, in_header, in_body] {
            let asked = ask.send().expect(402);
            assert_eq!(
                asked.challenge()["accepts"][0]["amount"],
                units.to_string(),
                "{tier}"
            );
            assert_eq!(asked.must("x-service-payment-tier"), tier);
            let wallet = Wallet::new();
            let payment = wallet.sign(&rig, tier);
            let answer = ask.paid(&payment.header).send().expect(200);
            let body = answer.json();
            assert_eq!(body["tier"], tier);
            assert_eq!(body["payment"]["amount_units"], units.to_string());
            assert_eq!(rig.facilitator.spent(wallet.address()), u128::from(units));
        }
    }
    assert_eq!(rig.facilitator.settlements(), 16);
}

#[test]
fn a_sale_without_a_stated_tier_is_a_fresh_one() {
    let rig = Rig::start();
    let ask = rig.post(ACCESS).json(&json!({"target_url": ARTICLE}));
    let asked = ask.send().expect(402);
    assert_eq!(asked.challenge()["accepts"][0]["amount"], "30000");
    assert_eq!(
        asked.challenge()["resource"]["url"],
        format!("{BASE_URL}{ACCESS}")
    );
    let payment = Wallet::new().sign(&rig, "fresh");
    let answer = ask.paid(&payment.header).send().expect(200);
    assert_eq!(answer.json()["tier"], "fresh");
    assert_eq!(rig.site.hits("/article"), 1);
}
