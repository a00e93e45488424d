//! A buyer: a key of its own, and payments signed with it as the official clients do.

use std::net::SocketAddr;

use context402::domain::amount::Amount;
use context402::domain::evm::{Address, Nonce};
use context402::domain::time::UnixSeconds;
use context402::outside::chance;
use context402::x402::eip3009::SecretKey;
use context402::x402::payer::{ReceivedChallenge, usdc};
use context402::x402::sender_proof::personal_digest;
use context402::x402::{encoding, payer};
use serde_json::Value;

use crate::harness::{Answer, Ask, PROOF_PACK, Rig};

#[derive(Clone, Debug)]
pub(crate) struct Wallet {
    key: SecretKey,
}

/// A signed payment: the header, and what it encodes.
#[derive(Clone, Debug)]
pub(crate) struct Payment {
    pub(crate) header: String,
    pub(crate) payload: Value,
}

impl Wallet {
    pub(crate) fn new() -> Wallet {
        Wallet {
            key: SecretKey::from_bytes(chance::bytes()).expect("a number below the curve's order"),
        }
    }

    pub(crate) fn address(&self) -> Address {
        self.key.address()
    }

    /// What a wallet's personal_sign gives for a text: 0x and 130 hex digits.
    pub(crate) fn sign_text(&self, text: &str) -> String {
        self.key.sign(personal_digest(text)).to_string()
    }

    /// Asks for the price of a tier and signs it.
    pub(crate) fn sign(&self, rig: &Rig, tier: &str) -> Payment {
        self.sign_as(rig, tier, rig.now(), None)
    }

    /// Asks for the price of a pack and signs it.
    pub(crate) fn sign_pack(&self, rig: &Rig, pack: &str) -> Payment {
        let ask = rig.post(&format!("{PROOF_PACK}?pack={pack}"));
        self.sign_answer(&ask.send().expect(402), rig.now(), None)
    }

    /// The same under an identifier of the buyer's own.
    pub(crate) fn sign_identified(&self, rig: &Rig, tier: &str, identifier: &str) -> Payment {
        self.sign_as(rig, tier, rig.now(), Some(identifier))
    }

    /// The same with the buyer's clock at `now`.
    pub(crate) fn sign_as(
        &self,
        rig: &Rig,
        tier: &str,
        now: UnixSeconds,
        identifier: Option<&str>,
    ) -> Payment {
        self.sign_at(rig.address, tier, now, identifier)
    }

    /// The same for whatever service is at an address.
    pub(crate) fn sign_at(
        &self,
        address: SocketAddr,
        tier: &str,
        now: UnixSeconds,
        identifier: Option<&str>,
    ) -> Payment {
        let ask = Ask::new(address, "POST", &format!("/v1/x402/access?tier={tier}"));
        self.sign_answer(&ask.send().expect(402), now, identifier)
    }

    /// Signs what a 402 asks for.
    pub(crate) fn sign_answer(
        &self,
        answer: &Answer,
        now: UnixSeconds,
        identifier: Option<&str>,
    ) -> Payment {
        let challenge = ReceivedChallenge::decode(answer.must("payment-required"))
            .expect("a challenge that can be read");
        self.sign_challenge(&challenge, now, identifier)
    }

    pub(crate) fn sign_challenge(
        &self,
        challenge: &ReceivedChallenge,
        now: UnixSeconds,
        identifier: Option<&str>,
    ) -> Payment {
        let choice = challenge
            .choose(Amount::from_units(20_000_000), &usdc())
            .expect("an offer that can be paid");
        let nonce = Nonce(chance::bytes());
        let payer::SignedPayment {
            header, payload, ..
        } = challenge.sign(&choice, &self.key, now, nonce, identifier);
        Payment { header, payload }
    }
}

impl Payment {
    /// The same with something changed after signing.
    pub(crate) fn altered(&self, change: impl FnOnce(&mut Value)) -> Payment {
        let mut payload = self.payload.clone();
        change(&mut payload);
        Payment {
            header: encoding::encode(payload.to_string().as_bytes()),
            payload,
        }
    }
}
