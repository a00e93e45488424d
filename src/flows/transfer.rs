//! A sale that the buyer has paid by a transfer of its own (the legacy endpoint): its hash is looked up on chain, and
//! the rest is the life of any sale, without a settlement. A transfer is known by its transaction and the place of its
//! log, and buys once. Anybody can read the hash, so that nothing is given out again for the hash alone.

use sha2::{Digest as _, Sha256};

use crate::app::Shared;
use crate::domain::payment::{Means, NO_END, Payment, PaymentKey, State};
use crate::domain::purchase::Purchase;
use crate::domain::rate::RateClass;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::UnixSeconds;
use crate::flows::deliver::Goods;
use crate::flows::desk::{Claim, Outcome};
use crate::flows::guardian::Judged;
use crate::flows::recall::{self, Recalled};
use crate::flows::sale::{self, Delivered, PaidRequest, in_use};
use crate::flows::source::Trouble;
use crate::flows::{internal, payments};
use crate::outside::chain::{Chain, Written};
use crate::x402::address::TransactionHash;
use crate::x402::keccak::keccak256;
use crate::x402::onchain::{Received, received};
use crate::x402::wire::PaymentRequirements;

/// Transfers of one transaction that are looked at.
const TRANSFERS_MAX: usize = 64;

/// What the buyer shows for a payment.
#[derive(Clone, Debug)]
pub struct TransferProof {
    pub transaction: TransactionHash,
    /// The buyer's own secret for this purchase (Idempotency-Key): who shows it again is given the answer again.
    pub secret: Option<String>,
}

impl TransferProof {
    /// What the kept answer is given out for. Without a secret it is never met again.
    fn hash(&self, request_id: &str) -> [u8; 32] {
        let (kind, text) = match &self.secret {
            Some(secret) => (&b"secret"[..], secret.as_str()),
            None => (&b"request"[..], request_id),
        };
        let mut hash = Sha256::new();
        for part in [&b"transfer"[..], &self.transaction.0, kind, text.as_bytes()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }
}

/// Transfers that stand on chain and would pay for the purchase, each with the terms that it was made by.
#[derive(Debug)]
struct Standing {
    since: UnixSeconds,
    transfers: Vec<(Received, PaymentRequirements)>,
}

/// Sells one page for a transfer.
pub async fn sell(app: &Shared, request: PaidRequest, proof: TransferProof) -> Outcome {
    let chain = app
        .outside
        .chain
        .as_ref()
        .ok_or_else(|| Refusal::of(Code::TransfersNotTaken))?;
    // Each look costs calls to the node, whatever stands there.
    app.admit(RateClass::Credit, request.client)?;
    app.health.check_can_sell(app)?;
    let standing = look_up(app, chain, &request.purchase, &proof).await?;
    let (claim, payment) = match take(app, &request, &proof, &standing).await? {
        Taken::Again(delivered) => return Ok(delivered),
        Taken::Free(claim, payment) => (claim, *payment),
    };
    let key = claim.key();
    let margin = sale::check_margin(app, &payment.purchase, Means::Transfer)?;
    let goods = match sale::deliver_goods(app, &payment).await {
        Ok(goods) => goods,
        Err(Trouble::Refused(refusal)) => return Err(refusal),
        Err(Trouble::Outage(refusal)) => return Err(sale::hold(app, key, payment, refusal).await),
    };
    deliver(app, key, payment, goods, margin, &request.request_id).await
}

/// Asks the chain. What it does not show clearly is no payment.
async fn look_up(
    app: &Shared,
    chain: &Chain,
    purchase: &Purchase,
    proof: &TransferProof,
) -> Result<Standing, Refusal> {
    let hash = proof.transaction;
    let written = chain.written(hash, app.now()).await.map_err(|error| {
        tracing::warn!(error = %error, transaction = %hash, "a transfer could not be looked up");
        let message = "The transfer could not be looked up just now. It was not used: repeat the same request.";
        Refusal::new(Code::NetworkUnavailable, message)
    })?;
    let (since, logs) = match written {
        Written::Deep { since, logs } => (since, logs),
        Written::Missing => return Err(Refusal::of(Code::PaymentHashUnconfirmed)),
        Written::Shallow { confirmations } => {
            let message = format!(
                "The transaction stands in {confirmations} blocks so far and needs {}. It was not used: repeat the \
                 same request in a few seconds.",
                app.config
                    .chain
                    .as_ref()
                    .map_or(1, |chain| chain.confirmations)
            );
            return Err(Refusal::new(Code::PaymentHashUnconfirmed, message));
        }
        Written::Failed => {
            return Err(invalid("The transaction failed, so that nothing was paid."));
        }
    };
    // A vault that was ours when the transfer was made is honoured after a change of configuration.
    let offer = app.offers.of(purchase);
    let mut honoured = app.offers.honoured(offer, since);
    honoured.retain(|terms| terms.network == offer.requirements.network);
    let mut transfers = Vec::new();
    for terms in honoured {
        let Some(found) = received(&logs, terms.asset, terms.pay_to) else {
            return Err(invalid(
                "The transaction settles a signed authorization, which pays for what it was signed for alone.",
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
        _ if !transfers.is_empty() => Ok(Standing { since, transfers }),
        Some(most) => Err(invalid(&format!(
            "The transaction transfers {most} USDC; this purchase costs {price} USDC."
        ))),
        None => Err(invalid(&format!(
            "The transaction transfers nothing of the token {} to {}.",
            today.asset, today.pay_to
        ))),
    }
}

fn invalid(message: &str) -> Refusal {
    Refusal::new(Code::InvalidPaymentHash, message)
}

/// What the records leave of a transaction's transfers.
enum Taken {
    /// Bought before, by whoever shows the same secret.
    Again(Delivered),
    /// Free for this purchase, and ours as long as the claim lives.
    Free(Claim, Box<Payment>),
}

async fn take(
    app: &Shared,
    request: &PaidRequest,
    proof: &TransferProof,
    standing: &Standing,
) -> Result<Taken, Refusal> {
    let (hash, fingerprint) = (
        proof.hash(&request.request_id),
        request.purchase.fingerprint(),
    );
    let (mut is_busy, mut is_held) = (false, false);
    for (transfer, terms) in &standing.transfers {
        let key = transfer_key(app, proof.transaction, transfer);
        let Some(claim) = Claim::take(app, key) else {
            is_busy = true;
            continue;
        };
        let stored = app
            .store
            .read(move |snapshot| snapshot.payment(key))
            .await?;
        let fresh = payment(app, request, proof, (transfer, terms))?;
        match stored {
            None if app.now().since(standing.since) > age_max(app) => {
                return Err(invalid("The transfer is too old to be used."));
            }
            None => return Ok(Taken::Free(claim, Box::new(fresh))),
            // Let go unused: whoever sends the hash has it, for whatever purchase.
            Some(stored) if stored.state == State::Released => {
                let created_at = stored.created_at;
                return Ok(Taken::Free(
                    claim,
                    Box::new(Payment {
                        created_at,
                        ..fresh
                    }),
                ));
            }
            Some(stored) if !stored.is_of(hash, fingerprint) => {
                is_held |= stored.state == State::Held;
            }
            Some(stored) if stored.state == State::Held => {
                return Ok(Taken::Free(claim, Box::new(stored)));
            }
            Some(_) => {
                let recalled = recall::recall(app, key, hash, fingerprint).await;
                if let Ok(Recalled::Answer(delivered)) = recalled {
                    return Ok(Taken::Again(delivered));
                }
            }
        }
    }
    Err(match (is_busy, is_held) {
        (true, _) => in_use(),
        (_, true) => Refusal::new(
            Code::PaymentHashReplayed,
            "This transfer is held by the retry credit that came with a 503. Redeem that at /v1/x402/retry; once it has \
             run out, the hash can be sent again.",
        ),
        _ => Refusal::of(Code::PaymentHashReplayed),
    })
}

fn age_max(app: &Shared) -> u64 {
    app.config
        .chain
        .as_ref()
        .map_or(0, |chain| chain.transfer_age_max)
}

/// The key of a transfer: a transaction may hold several, and each buys once.
fn transfer_key(app: &Shared, transaction: TransactionHash, transfer: &Received) -> PaymentKey {
    keccak256(&[
        b"context402 transfer 1",
        &app.config.payment.network.0.to_be_bytes(),
        &transaction.0,
        &transfer.index.to_be_bytes(),
    ])
}

fn payment(
    app: &Shared,
    request: &PaidRequest,
    proof: &TransferProof,
    (transfer, terms): (&Received, &PaymentRequirements),
) -> Result<Payment, Refusal> {
    let now = app.now().0;
    let requirements = serde_json::to_vec(terms)
        .map_err(|error| internal("a payment could not be written down", &error))?;
    Ok(Payment {
        payer: transfer.from.0,
        nonce: proof.transaction.0,
        amount_units: transfer.amount.units(),
        valid_before: NO_END,
        payload_hash: proof.hash(&request.request_id),
        payload: Vec::new(),
        requirements,
        purchase: request.purchase.clone(),
        fingerprint: request.purchase.fingerprint(),
        identifier: None,
        attribution: request.attribution.clone(),
        state: State::New,
        answer: None,
        credit: None,
        redelivered: 0,
        created_at: now,
        changed_at: now,
    })
}

/// Keeps the finished answer, which spends the transfer in the same breath, and gives it out.
pub async fn deliver(
    app: &Shared,
    key: PaymentKey,
    payment: Payment,
    goods: Goods,
    margin: Judged,
    request_id: &str,
) -> Outcome {
    debug_assert_eq!(payment.means(), Means::Transfer);
    let kept = sale::keep_answer(app, key, payment, goods, margin, request_id).await;
    let members = kept.map_err(|refusal| match refusal.code {
        Code::PaymentReplayed => Refusal::of(Code::PaymentHashReplayed),
        _ => refusal,
    })?;
    let stored = app
        .store
        .read(move |snapshot| snapshot.payment(key))
        .await
        .map_err(|error| Refusal::from(error).after_settlement())?;
    let payment = stored
        .ok_or_else(|| internal("a kept payment is gone", &hex::encode(key)).after_settlement())?;
    payments::note(app, key, &payment);
    payments::count(app, &payment);
    recall::delivered(app, key, &payment, members).await
}
