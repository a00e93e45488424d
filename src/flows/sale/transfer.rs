//! Sales paid by direct transfer (the legacy endpoint): the transaction is looked up on chain; the rest is a sale without
//! settlement. A transfer is identified by transaction and log index, and buys once. Hashes are public, so the hash alone
//! never gets a redelivery.

use sha2::{Digest as _, Sha256};

use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::evm::{Address, Nonce, Signature, TransactionHash};
use crate::domain::keccak::keccak256;
use crate::domain::keys::{PayloadHash, PaymentKey};
use crate::domain::payment::{Means, Payment, State};
use crate::domain::purchase::Purchase;
use crate::domain::rate::RateClass;
use crate::domain::refusal::{Refusal, With};
use crate::domain::time::UnixSeconds;
use crate::flows::content::rendering;
use crate::flows::content::source::Trouble;
use crate::flows::internal;
use crate::flows::sale::deliver::{self, Goods};
use crate::flows::sale::margin_guard::{self, Judged};
use crate::flows::sale::payments;
use crate::flows::sale::recall::{self, Presenter, Recalled};
use crate::flows::sale::refusals::{PaidAttempt, in_use};
use crate::flows::sale::request::PaidRequest;
use crate::flows::sale::{response, stored};
use crate::outside::chain::{Chain, Written};
use crate::state::in_flight::delivered::Delivered;
use crate::state::in_flight::{Outcome, Reservation};
use crate::store::Overpayment;
use crate::x402::onchain::{Received, received};
use crate::x402::sender_proof::Statement;
use crate::x402::wire::WrittenRequirements;

/// Maximum number of transfers to check per transaction.
const TRANSFERS_MAX: usize = 64;

/// The buyer's proof of payment.
#[derive(Clone, Debug)]
pub struct TransferProof {
    pub transaction: TransactionHash,
    /// The buyer's secret for this purchase (Idempotency-Key), which allows redelivery.
    pub secret: Option<String>,
    /// The sender's signature over purchase and transaction.
    pub signature: Option<Signature>,
}

impl TransferProof {
    /// The key for redelivery. Unreachable without a secret or a signature.
    fn hash(&self, signer: Option<Address>, request_id: &str) -> PayloadHash {
        let signer = signer.map(|signer| signer.to_string());
        let (kind, text) = match (&self.secret, &signer) {
            (Some(secret), _) => (&b"secret"[..], secret.as_str()),
            (None, Some(signer)) => (&b"signer"[..], signer.as_str()),
            (None, None) => (&b"request"[..], request_id),
        };
        let mut hash = Sha256::new();
        for part in [&b"transfer"[..], &self.transaction.0, kind, text.as_bytes()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        PayloadHash(hash.finalize().into())
    }
}

/// Transfers on chain that would pay for the purchase, each with its terms.
#[derive(Debug)]
struct Candidates {
    since: UnixSeconds,
    transfers: Vec<(Received, WrittenRequirements)>,
}

/// Sells one page for a transfer.
pub async fn sell(
    app: &Shared,
    request: PaidRequest,
    proof: TransferProof,
    seen: &mut PaidAttempt,
) -> Outcome {
    let chain = app
        .outside
        .chain
        .as_ref()
        .filter(|_| app.config.legacy.access)
        .ok_or_else(|| Refusal::of(Code::TransfersNotTaken))?;
    let signer = signer(app, &request.purchase, &proof)?;
    seen.payer = signer;
    // Each lookup costs calls to the node.
    app.admit(RateClass::Credit, request.client)?;
    app.health.check_can_sell()?;
    let mut candidates = look_up(app, chain, &request.purchase, &proof).await?;
    if let Some(signer) = signer {
        candidates
            .transfers
            .retain(|(transfer, _)| transfer.from == signer);
        if candidates.transfers.is_empty() {
            let message = "The signer of X-Service-Payment-Proof did not send this transfer. It was not used.";
            return Err(unsigned(app, &request.purchase, &proof, message));
        }
    }
    if let [(transfer, _)] = &*candidates.transfers {
        seen.payer = Some(transfer.from);
    }
    let reserved = reserve(app, &request, &proof, signer, &candidates).await?;
    let (reservation, payment, overpaid) = match reserved {
        TransferState::Again(delivered) => return Ok(delivered),
        TransferState::Free(reservation, payment, overpaid) => (reservation, *payment, overpaid),
    };
    let key = reservation.key();
    rendering::check_available(app, &payment.purchase, payment.means)?;
    let margin = margin_guard::check(app, &payment.purchase, payment.means)?;
    let goods = match deliver::deliver(app, &payment).await {
        Ok(goods) => goods,
        Err(Trouble::Refused(refusal)) => return Err(refusal),
        Err(Trouble::Outage(refusal)) => {
            note_overpayment(app, key, overpaid).await?;
            return Err(payments::hold(app, key, payment, refusal).await);
        }
    };
    note_overpayment(app, key, overpaid).await?;
    deliver(app, key, payment, goods, margin, &request.request_id).await
}

/// The signer of the transfer; `None` if no signature is required and none was sent.
fn signer(
    app: &Shared,
    purchase: &Purchase,
    proof: &TransferProof,
) -> Result<Option<Address>, Refusal> {
    let Some(signature) = &proof.signature else {
        return match app.config.legacy.wants_proof {
            false => Ok(None),
            true => {
                let message = "Only the sender can use a transfer, because its hash is public. It was not used.";
                Err(unsigned(app, purchase, proof, message))
            }
        };
    };
    let signer = statement(app, purchase, proof).signer(signature);
    signer.map(Some).map_err(|error| {
        let message = format!("{error}. The transfer was not used.");
        unsigned(app, purchase, proof, &message)
    })
}

/// The text for the sender to sign.
fn statement<'a>(app: &'a Shared, purchase: &'a Purchase, proof: &TransferProof) -> Statement<'a> {
    Statement {
        service: &app.config.base_url,
        transaction: proof.transaction,
        target_url: purchase.target_url(),
        tier: purchase.level().name(),
        force_refresh: purchase.reading().refresh,
    }
}

fn unsigned(app: &Shared, purchase: &Purchase, proof: &TransferProof, message: &str) -> Refusal {
    let text = statement(app, purchase, proof).text();
    Refusal::new(Code::PaymentProofRequired, message).with(With::TextToSign(text))
}

/// Records an overpayment before the sale; the ledger counts it after the sale.
async fn note_overpayment(app: &Shared, key: PaymentKey, units: u64) -> Result<(), Refusal> {
    let known = app.store.read(move |snapshot| snapshot.overpayment(key));
    if units == 0 && known.await?.is_none() {
        return Ok(());
    }
    let at = app.now().0;
    let noted = app.store.write(move |tables| match units {
        // A transfer held for a cheaper purchase buys this one.
        0 => tables.drop_overpayment(key),
        _ => tables.put_overpayment(key, Overpayment { units, at }),
    });
    Ok(noted.await?)
}

/// Looks up the transfer on chain. Anything ambiguous is not a payment.
async fn look_up(
    app: &Shared,
    chain: &Chain,
    purchase: &Purchase,
    proof: &TransferProof,
) -> Result<Candidates, Refusal> {
    let hash = proof.transaction;
    let written = chain.written(hash, app.now()).await.map_err(|error| {
        tracing::warn!(error = %error, transaction = %hash, "transfer lookup failed");
        let message = "The transfer could not be looked up right now. It was not used.";
        Refusal::new(Code::NetworkUnavailable, message)
    })?;
    let (since, logs) = match written {
        Written::Deep { since, logs } => (since, logs),
        Written::Missing => return Err(Refusal::of(Code::PaymentHashUnconfirmed)),
        Written::Shallow { confirmations } => {
            let message = format!(
                "The transaction has {confirmations} confirmations and needs {}. It was not used.",
                app.config
                    .chain
                    .as_ref()
                    .map_or(1, |chain| chain.confirmations)
            );
            return Err(Refusal::new(Code::PaymentHashUnconfirmed, message));
        }
        Written::Failed => {
            return Err(invalid("The transaction failed, so nothing was paid."));
        }
    };
    // A former receiving address is honoured if it was current at the time of the transfer.
    let offer = app.offers.of(purchase);
    let mut honoured = app.offers.honoured(offer, since);
    honoured.retain(|terms| terms.network == offer.requirements.network);
    let mut transfers = Vec::new();
    for terms in honoured {
        let Some(found) = received(&logs, terms.asset, terms.pay_to) else {
            return Err(invalid(
                "The transaction settles a signed authorization, which pays only for the purchase it was signed for.",
            ));
        };
        transfers.extend(found.into_iter().map(|transfer| (transfer, terms.clone())));
    }
    let price = purchase.price();
    let most = transfers.iter().map(|(transfer, _)| transfer.amount).max();
    transfers.retain(|(transfer, _)| transfer.amount >= price);
    transfers.truncate(TRANSFERS_MAX);
    let today = &offer.requirements;
    match most {
        _ if !transfers.is_empty() => Ok(Candidates { since, transfers }),
        Some(most) => Err(invalid(&format!(
            "The transaction transfers {most} USDC; this purchase costs {price} USDC."
        ))),
        None => Err(invalid(&format!(
            "The transaction does not transfer the token {} to {}.",
            today.asset, today.pay_to
        ))),
    }
}

fn invalid(message: &str) -> Refusal {
    Refusal::new(Code::InvalidPaymentHash, message)
}

/// The state of a transaction's transfers in the records.
enum TransferState {
    /// Used before, by the owner of the same secret.
    Again(Delivered),
    /// Available for this purchase and reserved; with the overpaid units.
    Free(Reservation, Box<Payment>, u64),
}

async fn reserve(
    app: &Shared,
    request: &PaidRequest,
    proof: &TransferProof,
    signer: Option<Address>,
    candidates: &Candidates,
) -> Result<TransferState, Refusal> {
    let presenter = Presenter {
        payload_hash: proof.hash(signer, &request.request_id),
        fingerprint: request.purchase.fingerprint(),
        origin: None,
    };
    let (mut is_busy, mut is_held) = (false, false);
    for (transfer, terms) in &candidates.transfers {
        let key = transfer_key(app, proof.transaction, transfer);
        let Some(reservation) = Reservation::take(&app.in_flight, key) else {
            is_busy = true;
            continue;
        };
        let stored = app
            .store
            .read(move |snapshot| snapshot.payment(key))
            .await?;
        let fresh = Payment {
            requirements: terms.json().as_bytes().to_vec(),
            attribution: request.attribution.clone(),
            // An overpayment is the sender's mistake, not revenue: the amount is the price.
            ..Payment::new(
                transfer.from,
                Nonce(proof.transaction.0),
                Means::Transfer,
                presenter.payload_hash,
                request.purchase.clone(),
                app.now(),
            )
        };
        let price = request.purchase.price().units();
        let overpaid = transfer.amount.units().saturating_sub(price);
        match stored {
            None if app.now().since(candidates.since) > age_max(app) => {
                return Err(invalid("The transfer is too old to be used."));
            }
            None => return Ok(TransferState::Free(reservation, Box::new(fresh), overpaid)),
            // Released unused: available to any request and purchase.
            Some(stored) if stored.state == State::Released => {
                let created_at = stored.created_at;
                return Ok(TransferState::Free(
                    reservation,
                    Box::new(Payment {
                        created_at,
                        ..fresh
                    }),
                    overpaid,
                ));
            }
            Some(stored) if !stored.is_of(presenter.payload_hash, presenter.fingerprint) => {
                is_held |= stored.state == State::Held;
            }
            Some(stored) if stored.state == State::Held => {
                return Ok(TransferState::Free(reservation, Box::new(stored), overpaid));
            }
            Some(_) => {
                match recall::recall(app, key, presenter).await {
                    Ok(Recalled::Answer(delivered)) => {
                        return Ok(TransferState::Again(delivered));
                    }
                    // The answer is there, and could not be read or sent now.
                    Err(refusal) if refusal.code.is_retryable() => {
                        return Err(refusal.after_settlement());
                    }
                    Ok(_) | Err(_) => {}
                }
            }
        }
    }
    Err(match (is_busy, is_held) {
        (true, _) => in_use(),
        (_, true) => Refusal::new(
            Code::PaymentHashHeld,
            "This transfer is held by the retry credit from a 503. Redeem that at /v1/x402/retry; once it has expired, \
            you can send the hash again.",
        )
        .with(With::Charged),
        _ => replayed(),
    })
}

/// The transfer was used before and is charged.
fn replayed() -> Refusal {
    Refusal::of(Code::PaymentHashReplayed).with(With::Charged)
}

fn age_max(app: &Shared) -> u64 {
    app.config
        .chain
        .as_ref()
        .map_or(0, |chain| chain.transfer_age_max)
}

/// The key of a transfer: a transaction may contain several, and each buys once.
fn transfer_key(app: &Shared, transaction: TransactionHash, transfer: &Received) -> PaymentKey {
    PaymentKey(keccak256(&[
        b"context402 transfer 1",
        &app.config.payment.network.0.to_be_bytes(),
        &transaction.0,
        &transfer.index.to_be_bytes(),
    ]))
}

/// Stores the finished answer, which spends the transfer in the same transaction, and delivers it.
pub async fn deliver(
    app: &Shared,
    key: PaymentKey,
    payment: Payment,
    goods: Goods,
    margin: Judged,
    request_id: &str,
) -> Outcome {
    assert_eq!(payment.means, Means::Transfer);
    let kept = stored::keep_answer(app, key, payment, goods, margin, request_id).await;
    let members = kept.map_err(|refusal| match refusal.code {
        Code::PaymentReplayed => replayed(),
        _ => refusal,
    })?;
    let stored = app
        .store
        .read(move |snapshot| snapshot.payment(key))
        .await
        .map_err(|error| Refusal::from(error).after_settlement())?;
    let payment =
        stored.ok_or_else(|| internal("a payment record is missing", &key).after_settlement())?;
    payments::note(app, key, &payment);
    payments::count(app, &payment);
    response::respond(app, key, &payment, members).await
}
