//! A buyer: sends a request, pays the 402 up to a limit, and returns the whole exchange. Used by `context402 buy`, the demo
//! and the tests. It signs at most once per purchase; [`crate::x402::payer`] chooses the offer.

mod proofs;

use std::fmt;
use std::io::Read;
use std::time::Duration;

use ureq::http;

use crate::domain::amount::Amount;
use crate::domain::evm::{Address, Nonce};
use crate::domain::time::UnixSeconds;
use crate::outside::roots;
use crate::x402::eip3009::SecretKey;
use crate::x402::payer::{
    self, Choice, PayerError, ReceivedChallenge, SignedPayment, Token, decode_settlement,
};
use crate::x402::wire::SettleResponse;
use crate::x402::{PAYMENT_REQUIRED, PAYMENT_RESPONSE, PAYMENT_SIGNATURE};

pub use proofs::{Proof, Proofs};

/// Longest answer of a seller that is read, in bytes after decompression.
const REPLY_BYTES_MAX: u64 = 16 * 1024 * 1024;
const REPLY_HEADER_BYTES_MAX: usize = 64 * 1024;

/// A key that holds money. Never printed.
#[derive(Clone, Debug)]
pub struct Wallet {
    key: SecretKey,
}

impl Wallet {
    pub fn new(key: SecretKey) -> Self {
        Wallet { key }
    }

    /// The content of a key file: 64 hex digits. `None` when it is no key.
    pub fn parse(text: &str) -> Option<Self> {
        SecretKey::parse(text).map(Wallet::new)
    }

    /// A key that nobody else knows and that is gone with the process. `None` when the system gives no random bytes.
    pub fn throwaway() -> Option<Self> {
        // A number outside the curve's order comes up once in 2^128 draws.
        SecretKey::from_bytes(random()?).map(Wallet::new)
    }

    pub fn address(&self) -> Address {
        self.key.address()
    }

    pub fn key(&self) -> &SecretKey {
        &self.key
    }
}

fn random() -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes)
}

/// How a buyer behaves.
#[derive(Clone, Debug)]
pub struct BuyerSettings {
    pub connect_timeout: Duration,
    /// For one request with its answer; a sale holds the buyer until it is settled.
    pub timeout: Duration,
    /// What may be paid with; [`payer::usdc`] unless a test network's token is meant.
    pub tokens: Vec<Token>,
    /// Trust roots in PEM, in place of the compiled-in ones.
    pub ca_pem: Option<Vec<u8>>,
}

impl Default for BuyerSettings {
    fn default() -> Self {
        BuyerSettings {
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(120),
            tokens: payer::usdc(),
            ca_pem: None,
        }
    }
}

/// What a seller is asked, twice: without and with a payment.
#[derive(Clone, Debug)]
pub struct SellerRequest {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
}

impl SellerRequest {
    /// A POST of JSON.
    pub fn post_json(url: &str, body: &serde_json::Value) -> Self {
        SellerRequest {
            method: "POST".to_owned(),
            url: url.to_owned(),
            headers: vec![("Content-Type".to_owned(), "application/json".to_owned())],
            body: Some(body.to_string().into_bytes()),
        }
    }
}

/// A seller's answer. Header names are lower case; a value that is not text is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SellerReply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl SellerReply {
    /// The first value of a header, by its name in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

/// How a purchase went, whatever its status says.
#[derive(Clone, Debug)]
pub struct Purchase {
    /// `None` when the seller did not ask for money.
    pub paid: Option<Box<Paid>>,
    /// The last answer.
    pub reply: SellerReply,
}

/// The steps of a payment, for showing.
#[derive(Clone, Debug)]
pub struct Paid {
    pub challenge: ReceivedChallenge,
    pub choice: Choice,
    pub payment: SignedPayment,
    /// PAYMENT-RESPONSE, if it came and could be read.
    pub settlement: Option<SettleResponse>,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum BuyError {
    /// The request cannot be written, such as a wrong address.
    Request(String),
    /// No answer to the first request; nothing was signed.
    Unreachable(String),
    /// The challenge was not paid.
    NotPaid(PayerError),
    Random,
    /// The payment was sent and no answer came. Send the same payment again; a new one could pay twice.
    Lost {
        payment: Box<SignedPayment>,
        detail: String,
    },
    TrustRoots,
}

impl fmt::Display for BuyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuyError::Request(detail) => write!(f, "The request cannot be sent: {detail}"),
            BuyError::Unreachable(detail) => {
                write!(
                    f,
                    "The seller did not answer: {detail}; nothing was paid. Look at its address, or try again later"
                )
            }
            BuyError::NotPaid(refusal) => refusal.fmt(f),
            BuyError::Random => f.write_str("The system gives no random bytes; nothing was paid"),
            BuyError::Lost { detail, .. } => write!(
                f,
                "The payment was sent and no answer came: {detail}; repeat the same payment, do not sign another"
            ),
            BuyError::TrustRoots => f.write_str("The trust roots hold no certificate in PEM"),
        }
    }
}

impl std::error::Error for BuyError {}

/// A blocking client that pays.
#[derive(Clone, Debug)]
pub struct Buyer {
    agent: ureq::Agent,
    tokens: Vec<Token>,
}

impl Buyer {
    pub fn new(settings: BuyerSettings) -> Result<Self, BuyError> {
        let roots = match &settings.ca_pem {
            None => ureq::tls::RootCerts::WebPki,
            Some(pem) => roots::certs_of_pem(pem).ok_or(BuyError::TrustRoots)?,
        };
        // No redirects: the payment would go to anyone who is named there.
        let config = ureq::Agent::config_builder()
            .proxy(None)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .user_agent(concat!("context402-buyer/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(settings.connect_timeout))
            .timeout_global(Some(settings.timeout))
            .max_response_header_size(REPLY_HEADER_BYTES_MAX)
            .tls_config(ureq::tls::TlsConfig::builder().root_certs(roots).build())
            .build();
        Ok(Buyer {
            agent: ureq::Agent::new_with_config(config),
            tokens: settings.tokens,
        })
    }

    /// Asks, pays a 402 with at most `max`, asks again with the payment. `identifier` is the buyer's own id for this
    /// purchase, sent where the seller takes one.
    pub fn pay(
        &self,
        wallet: &Wallet,
        request: &SellerRequest,
        max: Amount,
        now: UnixSeconds,
        identifier: Option<&str>,
    ) -> Result<Purchase, BuyError> {
        self.pay_telling(wallet, request, max, now, identifier, |_| {})
    }

    /// The same; `tell` learns what is going to be paid before it is signed.
    pub fn pay_telling(
        &self,
        wallet: &Wallet,
        request: &SellerRequest,
        max: Amount,
        now: UnixSeconds,
        identifier: Option<&str>,
        tell: impl FnOnce(&Choice),
    ) -> Result<Purchase, BuyError> {
        let reply = self.ask(request, None)?;
        if reply.status != 402 {
            return Ok(Purchase { paid: None, reply });
        }
        let header = reply.header(PAYMENT_REQUIRED).unwrap_or_default();
        let challenge = ReceivedChallenge::decode(header).map_err(BuyError::NotPaid)?;
        let choice = challenge
            .choose(max, &self.tokens)
            .map_err(BuyError::NotPaid)?;
        tell(&choice);
        let nonce = Nonce(random().ok_or(BuyError::Random)?);
        let payment = challenge.sign(&choice, wallet.key(), now, nonce, identifier);
        let reply = match self.ask(request, Some(&payment)) {
            Err(BuyError::Unreachable(detail)) => {
                let payment = Box::new(payment);
                return Err(BuyError::Lost { payment, detail });
            }
            other => other?,
        };
        let settlement = reply.header(PAYMENT_RESPONSE).and_then(decode_settlement);
        let paid = Some(Box::new(Paid {
            challenge,
            choice,
            payment,
            settlement,
        }));
        Ok(Purchase { paid, reply })
    }

    /// One request, with a payment or without.
    pub fn ask(
        &self,
        request: &SellerRequest,
        payment: Option<&SignedPayment>,
    ) -> Result<SellerReply, BuyError> {
        let mut head = http::Request::builder()
            .method(request.method.as_str())
            .uri(request.url.as_str());
        for (name, value) in &request.headers {
            head = head.header(name, value);
        }
        if let Some(payment) = payment {
            head = head.header(PAYMENT_SIGNATURE, payment.header.as_str());
        }
        let refused = |failure: http::Error| BuyError::Request(failure.to_string());
        let outcome = match &request.body {
            Some(body) => self.agent.run(head.body(body.as_slice()).map_err(refused)?),
            None => self.agent.run(head.body(()).map_err(refused)?),
        };
        match outcome {
            Ok(response) => read(response),
            Err(failure @ (ureq::Error::BadUri(_) | ureq::Error::Http(_))) => {
                Err(BuyError::Request(failure.to_string()))
            }
            Err(failure) => Err(BuyError::Unreachable(failure.to_string())),
        }
    }
}

fn read(mut response: http::Response<ureq::Body>) -> Result<SellerReply, BuyError> {
    let mut body = Vec::new();
    // One cap on the bytes of the wire, one on what decompression makes of them.
    response
        .body_mut()
        .with_config()
        .limit(REPLY_BYTES_MAX + 1)
        .reader()
        .take(REPLY_BYTES_MAX + 1)
        .read_to_end(&mut body)
        .map_err(|broken| BuyError::Unreachable(broken.to_string()))?;
    if body.len() as u64 > REPLY_BYTES_MAX {
        let detail = format!("the answer is longer than {REPLY_BYTES_MAX} bytes");
        return Err(BuyError::Unreachable(detail));
    }
    let headers = response
        .headers()
        .iter()
        .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
        .collect();
    Ok(SellerReply {
        status: response.status().as_u16(),
        headers,
        body,
    })
}

#[cfg(test)]
mod tests;
