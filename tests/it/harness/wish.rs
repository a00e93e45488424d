//! One purchase of each kind. What is sold is verified, kept, settled and given out in one way, so the tests of that way
//! go through all of them.

use std::net::SocketAddr;

use context402::domain::bundle::Bundle;
use context402::domain::check::CheckDepth;
use context402::domain::level::Level;
use context402::domain::time::UnixSeconds;
use serde_json::{Value, json};

use crate::harness::buyer::Payment;
use crate::harness::{
    ACCESS, Ask, FERRY, FERRY_CLAIM, FRESH, PROOF_PACK, QUICK, RETRY, Wallet, order, price,
    report_order,
};

const PROOF_BUNDLE: &str = "/v1/x402/proof-bundle";
const CHECK: &str = "/v1/x402/check";

#[derive(Clone, Debug)]
pub(crate) struct Wish {
    pub(crate) path: &'static str,
    pub(crate) body: Value,
    /// What it costs, in units.
    pub(crate) units: u128,
}

impl Wish {
    /// A page, a part of it, a report on it, two pages, a bundle and a check: each reads this page, and no text of it
    /// stands in the request.
    pub(crate) fn all(target_url: &str) -> Vec<Wish> {
        let part = json!({"target_url": target_url, "tier": "fresh", "query": "Who comes here?", "max_tokens": 100});
        let pages = json!({"target_urls": [target_url, FERRY], "tier": "fresh", "max_tokens": 400});
        let own = json!({"title": "Notes", "text": FERRY_CLAIM});
        let bundle = json!({"sources": [target_url, FERRY, own], "question": FERRY_CLAIM});
        let check =
            json!({"text": FERRY_CLAIM, "sources": [target_url, {"url": FERRY}], "depth": "quick"});
        let wish = |path, body, units| Wish { path, body, units };
        vec![
            wish(ACCESS, order(target_url, "fresh"), price(FRESH)),
            wish(ACCESS, part, price(FRESH)),
            wish(
                PROOF_PACK,
                report_order(target_url, "quick", FERRY_CLAIM),
                price(QUICK),
            ),
            wish(ACCESS, pages, 2 * price(FRESH)),
            wish(PROOF_BUNDLE, bundle, price(Level::Bundle(Bundle::Scout))),
            wish(CHECK, check, 2 * price(Level::Check(CheckDepth::Quick))),
        ]
    }

    /// The request without a payment.
    pub(crate) fn ask(&self, address: SocketAddr) -> Ask {
        Ask::new(address, "POST", self.path).json(&self.body)
    }

    /// The request with a retry credit.
    pub(crate) fn retry(&self, address: SocketAddr, credit: &str) -> Ask {
        Ask::new(address, "POST", RETRY)
            .header("X-Service-Retry-Credit", credit)
            .json(&self.body)
    }

    /// Asks for its price and signs it.
    pub(crate) fn sign(
        &self,
        address: SocketAddr,
        wallet: &Wallet,
        now: UnixSeconds,
        identifier: Option<&str>,
    ) -> Payment {
        wallet.sign_answer(&self.ask(address).send().expect(402), now, identifier)
    }
}
