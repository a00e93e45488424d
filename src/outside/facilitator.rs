//! The client of the x402 facilitator: verify, settle, supported. It separates three outcomes that cost money if mixed up:
//! decided, certainly not done, and unknown.

mod cdp;
mod client;
mod connections;
mod outcome;
mod reply;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Bytes;
use tokio::time::Instant;

use crate::domain::time::UnixSeconds;
use crate::outside::call::ConcurrencyLimit;
use crate::x402::proof::PaymentProof;
use crate::x402::wire::{Supported, WrittenRequirements};

pub use cdp::CdpKeyError;
use client::Client;
pub use outcome::{Attempt, CallError, SettleDoubt, Settlement, Verification};
use reply::Expected;

/// How long a verify may wait for a place: nothing is lost yet when it finds none.
const VERIFY_WAIT_MAX: Duration = Duration::from_secs(2);
/// How long a settle may wait for a place: the work is done, so longer.
const SETTLE_WAIT_MAX: Duration = Duration::from_secs(10);

/// Where the facilitator is and how long it may take.
#[derive(Clone, Debug)]
pub struct FacilitatorSettings {
    /// Base address; `/verify` and so on are appended.
    pub base_url: String,
    pub auth: FacilitatorAuth,
    pub connect_timeout: Duration,
    /// From the first byte sent to the last received; also for /supported.
    pub verify_timeout: Duration,
    /// Longer than a facilitator waits for its receipt (60 to 90 s), or money is taken that we do not hear of.
    pub settle_timeout: Duration,
    /// Verify calls at once, and as many settle calls beside them.
    pub calls_max: usize,
    /// How much of the buyer's payment is passed on.
    pub passes_on: PassesOn,
    /// Trust roots in PEM, in place of the compiled-in ones.
    pub ca_pem: Option<Vec<u8>>,
}

/// How much of the buyer's payment a facilitator is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassesOn {
    /// All of it, by which directories find us.
    Everything,
    /// What is needed to verify and settle: some have refused the protocol's own members.
    Payment,
}

/// How we say who we are.
#[derive(Clone)]
pub enum FacilitatorAuth {
    None,
    /// A fixed token in `Authorization: Bearer`.
    Bearer(String),
    /// Coinbase's developer platform: a signed token per request. The secret is 64 bytes of Ed25519 in base64 or an
    /// EC key in PEM.
    Cdp {
        key_id: String,
        secret: String,
    },
}

impl fmt::Debug for FacilitatorAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FacilitatorAuth::None => "None",
            FacilitatorAuth::Bearer(_) => "Bearer(***)",
            FacilitatorAuth::Cdp { .. } => "Cdp(***)",
        })
    }
}

/// Why the settings cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsError {
    BaseUrl(String),
    Token,
    CdpKey(CdpKeyError),
    TrustRoots,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingsError::BaseUrl(text) => {
                write!(
                    f,
                    "The facilitator's address {text:?} is not an http or https address"
                )
            }
            SettingsError::Token => {
                f.write_str("The facilitator's token is empty or not printable ASCII")
            }
            SettingsError::CdpKey(refusal) => refusal.fmt(f),
            SettingsError::TrustRoots => {
                f.write_str("The trust roots for the facilitator hold no certificate in PEM")
            }
        }
    }
}

impl std::error::Error for SettingsError {}

/// The client. Cheap to clone; clones share connections and places.
#[derive(Clone, Debug)]
pub struct Facilitator {
    client: Arc<Client>,
    passes_on: PassesOn,
    verifying: ConcurrencyLimit,
    settling: ConcurrencyLimit,
    verify_timeout: Duration,
    settle_timeout: Duration,
}

/// In unit tests: answers an operation's body in the facilitator's place, with a status and a body.
#[cfg(test)]
pub(crate) type Fake = Arc<dyn Fn(&str, &[u8]) -> FakeReply + Send + Sync>;
#[cfg(test)]
pub(crate) type FakeReply =
    std::pin::Pin<Box<dyn Future<Output = Result<(u16, Vec<u8>), CallError>> + Send>>;

/// What /verify and /settle are asked with: the buyer's payment verbatim, and our own offer, never the buyer's copy of it.
#[derive(Clone, Debug)]
pub struct PaymentRequest {
    body: Bytes,
    expected: Expected,
}

impl Facilitator {
    pub fn new(settings: FacilitatorSettings) -> Result<Self, SettingsError> {
        Ok(Facilitator {
            client: Arc::new(Client::open(&settings)?),
            passes_on: settings.passes_on,
            verifying: ConcurrencyLimit::new(settings.calls_max, VERIFY_WAIT_MAX),
            settling: ConcurrencyLimit::new(settings.calls_max, SETTLE_WAIT_MAX),
            verify_timeout: settings.verify_timeout,
            settle_timeout: settings.settle_timeout,
        })
    }

    /// The same, but nothing is sent.
    #[cfg(test)]
    pub(crate) fn replaced(settings: FacilitatorSettings, fake: Fake) -> Self {
        let mut facilitator = Facilitator::new(settings).expect("good settings");
        let client = Arc::get_mut(&mut facilitator.client).expect("not shared yet");
        client.fake = Some(fake);
        facilitator
    }

    /// What both calls are asked with, for this payment and the offer that it pays.
    pub fn request(&self, proof: &PaymentProof, offer: &WrittenRequirements) -> PaymentRequest {
        PaymentRequest {
            body: body(proof, offer, self.passes_on),
            expected: Expected {
                payer: proof.from(),
                network: offer.network,
                amount: offer.amount,
            },
        }
    }

    /// Asks whether this payment would settle as the offer. A connection that breaks is tried once more: asking twice
    /// changes nothing.
    pub async fn verify(
        &self,
        request: &PaymentRequest,
        now: UnixSeconds,
    ) -> Result<Verification, CallError> {
        let _place = self.verifying.enter().await?;
        let deadline = Instant::now() + self.verify_timeout;
        let ask = || {
            let body = Some(request.body.clone());
            self.client.exchange("verify", body, deadline, now)
        };
        let reply = match ask().await {
            Err(CallError::Cut(_)) => ask().await,
            other => other,
        }?;
        reply::verification(&reply, request.expected.payer)
    }

    /// Asks for the money. Only the failure of a first attempt can be definite.
    ///
    /// The identical request is repeated once when the connection broke or the answer was `settlement_pending`: the
    /// authorization can be used once on chain, so a second request cannot take money twice. Whatever the repetition
    /// says is read as the answer to a settle that is not the first.
    pub async fn settle(
        &self,
        request: &PaymentRequest,
        attempt: Attempt,
        now: UnixSeconds,
    ) -> Settlement {
        let Ok(_place) = self.settling.enter().await else {
            return unknown(CallError::Saturated);
        };
        let deadline = Instant::now() + self.settle_timeout;
        let ask = async |attempt: Attempt| {
            let body = Some(request.body.clone());
            match self.client.exchange("settle", body, deadline, now).await {
                Ok(reply) => reply::settlement(&reply, &request.expected, attempt),
                Err(failure) => unknown(failure),
            }
        };
        let outcome = ask(attempt).await;
        if is_worth_repeating(&outcome) && Instant::now() < deadline {
            return both(outcome, ask(Attempt::Repeated).await);
        }
        outcome
    }

    /// What the facilitator takes; asked at start and by `doctor`.
    pub async fn supported(&self, now: UnixSeconds) -> Result<Supported, CallError> {
        let _place = self.verifying.enter().await?;
        let deadline = Instant::now() + self.verify_timeout;
        let reply = self
            .client
            .exchange("supported", None, deadline, now)
            .await?;
        reply::supported(&reply)
    }
}

fn unknown(failure: CallError) -> Settlement {
    Settlement::Unknown {
        why: SettleDoubt::Call(failure),
        transaction: None,
    }
}

fn is_worth_repeating(outcome: &Settlement) -> bool {
    match outcome {
        Settlement::Unknown { why, .. } => match why {
            SettleDoubt::Call(failure) => matches!(failure, CallError::Cut(_)),
            SettleDoubt::Indefinite { reason, .. } => reason == "settlement_pending",
            SettleDoubt::UsedOnChain { .. } => false,
        },
        Settlement::Success { .. } | Settlement::Failed { .. } => false,
    }
}

/// What both outcomes together say. A repetition that was never sent adds nothing, and one that names no transaction
/// does not make us forget the first one's.
fn both(earlier: Settlement, later: Settlement) -> Settlement {
    match (earlier, later) {
        (earlier, Settlement::Unknown { why, .. }) if !why.was_sent() => earlier,
        (
            Settlement::Unknown { transaction, .. },
            Settlement::Unknown {
                why,
                transaction: None,
            },
        ) => Settlement::Unknown { why, transaction },
        (_, later) => later,
    }
}

fn body(proof: &PaymentProof, offer: &WrittenRequirements, passes_on: PassesOn) -> Bytes {
    let bare = match passes_on {
        PassesOn::Everything => None,
        PassesOn::Payment => proof.bare(),
    };
    let payment = bare.as_deref().unwrap_or(proof.raw());
    let parts = [
        r#"{"x402Version":2,"paymentPayload":"#,
        payment,
        r#","paymentRequirements":"#,
        offer.json(),
        "}",
    ];
    parts.concat().into()
}

#[cfg(test)]
mod tests;
