//! Balances and used nonces of test USDC, and the checks of a facilitator and the token's contract. Error reasons are those
//! of the protocol's official packages.

use std::collections::HashMap;

use crate::domain::amount::Amount;
use crate::domain::evm::{Address, Network, Nonce, TransactionHash};
use crate::domain::keccak::keccak256;
use crate::domain::time::UnixSeconds;
use crate::x402::eip3009::{self, Domain, SignatureError};
use crate::x402::proof::PaymentProof;
use crate::x402::wire::PaymentRequirements;

/// What each payer has before its first payment: 10 USDC.
pub const STARTING_BALANCE: Amount = Amount::from_units(10_000_000);
/// How long an authorization must still live for a facilitator to take it, in seconds.
const SETTLE_SECONDS_MIN: u64 = 6;
/// Settlements that are remembered; test funds end there.
const SETTLEMENTS_MAX: usize = 1_000_000;

/// The facilitator's state for one network.
#[derive(Debug)]
pub struct Ledger {
    network: Network,
    accounts: HashMap<(Address, Address), Account>,
    settled: HashMap<(Address, Address, Nonce), Settled>,
}

/// What one address has spent and received of one token.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    spent: u128,
    received: u128,
}

#[derive(Clone, Copy, Debug)]
struct Settled {
    digest: eip3009::Digest,
    transaction: TransactionHash,
}

impl Ledger {
    pub fn new(network: Network) -> Self {
        Ledger {
            network,
            accounts: HashMap::new(),
            settled: HashMap::new(),
        }
    }

    pub fn network(&self) -> Network {
        self.network
    }

    /// What `address` could spend of the token `asset`, in atomic units.
    pub fn balance(&self, asset: Address, address: Address) -> u128 {
        let account = self
            .accounts
            .get(&(asset, address))
            .copied()
            .unwrap_or_default();
        (u128::from(STARTING_BALANCE.units()) + account.received).saturating_sub(account.spent)
    }

    /// Payments that have been settled.
    pub fn settlements(&self) -> usize {
        self.settled.len()
    }

    /// Whether this payment would settle now; else the reason.
    pub fn verify(
        &self,
        proof: &PaymentProof,
        requirements: &PaymentRequirements,
        now: UnixSeconds,
    ) -> Result<(), &'static str> {
        let authorization = proof.authorization();
        if requirements.network != self.network {
            return Err("invalid_exact_evm_network_mismatch");
        }
        let digest = Domain::of(requirements).digest(authorization);
        match eip3009::recover(digest, &proof.payload().payload.signature) {
            Ok(signer) if signer == authorization.from => {}
            // The contract refuses the malleable twin, which a facilitator learns by trying.
            Err(SignatureError::HighS) => {
                return Err("invalid_exact_evm_transaction_simulation_failed");
            }
            Ok(_) | Err(_) => return Err("invalid_exact_evm_signature"),
        }
        if authorization.to != requirements.pay_to {
            return Err("invalid_exact_evm_recipient_mismatch");
        }
        if authorization.valid_before < u128::from(now.plus(SETTLE_SECONDS_MIN).0) {
            return Err("invalid_exact_evm_payload_authorization_valid_before");
        }
        if authorization.valid_after > u128::from(now.0) {
            return Err("invalid_exact_evm_payload_authorization_valid_after");
        }
        if authorization.value != u128::from(requirements.amount.units()) {
            return Err("invalid_exact_evm_payload_authorization_value_mismatch");
        }
        if self.settled.contains_key(&key(proof, requirements)) {
            return Err("invalid_exact_evm_nonce_already_used");
        }
        if self.balance(requirements.asset, authorization.from) < authorization.value {
            return Err("invalid_exact_evm_insufficient_balance");
        }
        Ok(())
    }

    /// Moves the money and gives the transaction. The same authorization again gives the same transaction; another
    /// one with its nonce is refused.
    pub fn settle(
        &mut self,
        proof: &PaymentProof,
        requirements: &PaymentRequirements,
        now: UnixSeconds,
    ) -> Result<TransactionHash, &'static str> {
        let authorization = proof.authorization();
        let digest = Domain::of(requirements).digest(authorization);
        let key = key(proof, requirements);
        match self.settled.get(&key) {
            Some(settled) if settled.digest == digest => return Ok(settled.transaction),
            _ => self.verify(proof, requirements, now)?,
        }
        if self.settled.len() >= SETTLEMENTS_MAX {
            return Err("unexpected_settle_error");
        }
        let transaction = TransactionHash(keccak256(&[b"sandbox settlement", &digest.0]));
        self.settled.insert(
            key,
            Settled {
                digest,
                transaction,
            },
        );
        let asset = requirements.asset;
        let payer = self
            .accounts
            .entry((asset, authorization.from))
            .or_default();
        payer.spent += authorization.value;
        let payee = self.accounts.entry((asset, authorization.to)).or_default();
        payee.received += authorization.value;
        Ok(transaction)
    }
}

fn key(proof: &PaymentProof, requirements: &PaymentRequirements) -> (Address, Address, Nonce) {
    (requirements.asset, proof.from(), proof.nonce())
}
