use serde_json::{Map, Value, json};

use super::*;
use crate::domain::evm::Network;
use crate::outside::loopback::{Request, Server, Step, response};
use crate::sandbox::ledger::Ledger;
use crate::x402::challenge::{Bazaar, Challenge, ChallengeInputs};
use crate::x402::encoding;
use crate::x402::proof::PaymentProof;
use crate::x402::resource::Resource;
use crate::x402::wire::{Extra, PaymentRequirements, Scheme};

const NOW: UnixSeconds = UnixSeconds(1_795_248_000);
const PRICE: Amount = Amount::from_units(30_000);

fn offer() -> PaymentRequirements {
    PaymentRequirements {
        scheme: Scheme::Exact,
        network: Network(8453),
        amount: PRICE,
        asset: Address::parse("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913").expect("USDC"),
        pay_to: Address([0x42; 20]),
        max_timeout_seconds: 300,
        extra: Extra::domain("USD Coin", "2"),
    }
}

fn challenge() -> Challenge {
    Challenge::new(&ChallengeInputs {
        resource_url: "https://api.example.com/v1/x402/access",
        description: "A page",
        service_name: "context402",
        tags: &["markdown"],
        icon_url: None,
        requirements: &[offer()],
        bazaar: Bazaar {
            body_example: json!({"target_url": "https://example.com/"}),
            body_schema: json!({"type": "object"}),
            output_example: json!({"status": "success"}),
        },
        further_extensions: Map::new(),
        error: "PAYMENT-SIGNATURE header is required",
    })
    .expect("fits")
}

/// A seller in a few lines: challenge, check, settle in the sandbox, answer.
fn sell(request: &Request, ledger: &mut Ledger) -> Vec<u8> {
    let challenge = challenge();
    let required = [("PAYMENT-REQUIRED", challenge.header.as_str())];
    let Some(header) = request.header("payment-signature") else {
        return response(402, &required, &challenge.json);
    };
    let resource = Resource::new("https://api.example.com", "/v1/x402/access").expect("a base");
    let proof = PaymentProof::decode(header).expect("a payment");
    let offers = [offer().into()];
    let offer = proof
        .check(&offers, &resource, NOW, 60)
        .expect("our own offer");
    let (status, settled) = match ledger.settle(&proof, offer, NOW) {
        Ok(transaction) => {
            let body = json!({"success": true, "transaction": transaction, "network": offer.network,
                "payer": proof.from()});
            (200, body)
        }
        Err(reason) => {
            let body = json!({"success": false, "errorReason": reason, "transaction": "", "network": offer.network});
            (402, body)
        }
    };
    let settled = encoding::encode(settled.to_string().as_bytes());
    let identifier = proof.payment_identifier().unwrap_or("none");
    response(
        status,
        &[("PAYMENT-RESPONSE", &settled)],
        identifier.as_bytes(),
    )
}

fn shop() -> Server {
    let mut ledger = Ledger::new(Network(8453));
    Server::start(move |request| Step::Reply(sell(request, &mut ledger)))
}

fn buyer() -> Buyer {
    Buyer::new(BuyerSettings {
        timeout: Duration::from_secs(5),
        ..BuyerSettings::default()
    })
    .expect("settings")
}

fn buy(server: &Server, max: Amount) -> Result<Purchase, BuyError> {
    let wallet = Wallet::throwaway().expect("random bytes");
    let url = format!("{}/v1/x402/access?tier=fresh", server.url);
    let request = SellerRequest::post_json(&url, &json!({"target_url": "https://example.com/"}));
    buyer().pay(&wallet, &request, max, NOW, Some("pay_0123456789abcdef"))
}

#[test]
fn a_402_is_paid_once_and_settled() {
    let server = shop();
    let purchase = buy(&server, PRICE).expect("an answer");
    assert_eq!(purchase.reply.status, 200);
    assert_eq!(purchase.reply.body, b"pay_0123456789abcdef");
    let paid = purchase.paid.expect("paid");
    assert_eq!(paid.choice.requirements, offer());
    assert_eq!(paid.payment.authorization.value, 30_000);
    let settlement = paid.settlement.expect("a receipt");
    assert!(settlement.success);
    assert_eq!(
        settlement.payer,
        Some(paid.payment.authorization.from.to_string())
    );
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].body, requests[1].body);
    assert_eq!(requests[0].path, "/v1/x402/access?tier=fresh");
    assert_eq!(requests[0].header("payment-signature"), None);
    assert_eq!(
        requests[1].header("payment-signature"),
        Some(paid.payment.header.as_str())
    );
}

#[test]
fn nothing_above_the_limit_is_signed() {
    let server = shop();
    let refusal = buy(&server, Amount::from_units(29_999)).expect_err("too dear");
    assert!(
        matches!(refusal, BuyError::NotPaid(PayerError::TooDear { price, .. }) if price == PRICE),
        "{refusal}"
    );
    assert_eq!(server.requests().len(), 1);
}

fn answering(status: u16, headers: &'static [(&'static str, &'static str)]) -> Server {
    Server::start(move |_| Step::Last(response(status, headers, b"body")))
}

#[test]
fn an_answer_that_asks_for_nothing_is_given_as_it_is() {
    for status in [200, 404, 302, 503] {
        let server = answering(status, &[("Location", "/elsewhere"), ("X-Odd", "1")]);
        let purchase = buy(&server, PRICE).expect("an answer");
        assert!(purchase.paid.is_none());
        assert_eq!(purchase.reply.status, status);
        assert_eq!(purchase.reply.header("x-odd"), Some("1"));
        assert_eq!(purchase.reply.body, b"body");
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn a_402_that_is_no_challenge_is_not_paid() {
    for server in [
        answering(402, &[]),
        answering(402, &[("PAYMENT-REQUIRED", "e30=")]),
    ] {
        let refusal = buy(&server, PRICE).expect_err("no challenge");
        assert!(
            matches!(refusal, BuyError::NotPaid(PayerError::Challenge(_))),
            "{refusal}"
        );
        assert_eq!(server.requests().len(), 1);
    }
}

/// The payment may have been taken: the error carries it, so that the same one is sent again.
#[test]
fn a_lost_answer_keeps_the_payment() {
    let mut ledger = Ledger::new(Network(8453));
    let mut losses = 1;
    let server = Server::start(move |request| {
        let reply = sell(request, &mut ledger);
        if request.header("payment-signature").is_some() && losses > 0 {
            losses -= 1;
            return Step::Last(Vec::new());
        }
        Step::Reply(reply)
    });
    let refusal = buy(&server, PRICE).expect_err("lost");
    let BuyError::Lost { payment, .. } = refusal else {
        panic!("{refusal}");
    };
    let url = format!("{}/v1/x402/access", server.url);
    let request = SellerRequest::post_json(&url, &Value::Null);
    let reply = buyer().ask(&request, Some(&payment)).expect("an answer");
    let settled = reply.header(PAYMENT_RESPONSE).and_then(decode_settlement);
    assert!(settled.is_some_and(|settled| settled.success));
}

#[test]
fn what_cannot_be_sent_is_told() {
    let wallet = Wallet::parse(&"01".repeat(32)).expect("a key");
    assert!(Wallet::parse("a password").is_none());
    let request = |method: &str, url: &str| SellerRequest {
        method: method.to_owned(),
        url: url.to_owned(),
        headers: Vec::new(),
        body: None,
    };
    for (method, url) in [
        ("GET", "not an address"),
        ("G T", "http://127.0.0.1/"),
        ("GET", "/path"),
    ] {
        let refusal = buyer().pay(&wallet, &request(method, url), PRICE, NOW, None);
        assert!(
            matches!(refusal, Err(BuyError::Request(_))),
            "{method} {url}: {refusal:?}"
        );
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("bound"));
    drop(listener);
    let refusal = buyer().pay(&wallet, &request("GET", &url), PRICE, NOW, None);
    assert!(
        matches!(refusal, Err(BuyError::Unreachable(_))),
        "{refusal:?}"
    );
}
