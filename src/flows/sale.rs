//! The paid pipeline, in the order of the specification (4.1 rule 2) and of `decisions` "Money": a payment is looked
//! up, verified, judged for its margin, worked for, kept on disk, settled, and only then delivered. Each step takes
//! what the step before it gives, so that none can be skipped.

use std::net::IpAddr;
use std::sync::Arc;

use tokio::sync::watch;

use crate::app::Shared;
use crate::domain::payment::{Event, KeptAnswer, Payment, PaymentKey, State};
use crate::domain::purchase::{ContextPurchase, Purchase};
use crate::domain::rate::RateClass;
use crate::domain::refusal::{Code, FailedSettlement, Refusal, With};
use crate::domain::tier::Tier;
use crate::flows::answer::{self, Own};
use crate::flows::deliver::{self, Goods, Storing, Trouble};
use crate::flows::desk::{Boarding, Claim, Outcome};
use crate::flows::guardian::{self, Judged, Unsold};
use crate::flows::internal;
use crate::flows::payments::{self, FreshCredit, KEPT_LOOK_SECONDS, payment_key};
use crate::flows::recall::{Recalled, claim_identifier, known_purchase, recall};
use crate::flows::settle::{self, Settling};
use crate::outside::facilitator::Verdict;
use crate::store::{ANSWER_SECONDS_MAX, Due, DueKind};
use crate::x402::address::Address;
use crate::x402::proof::PaymentProof;
use crate::x402::wire::PaymentRequirements;

/// A paid request that has passed validation.
#[derive(Clone, Debug)]
pub struct Order {
    pub purchase: Purchase,
    pub attribution: Option<String>,
    /// The address under which a client is counted.
    pub client: Option<IpAddr>,
    pub request_id: String,
}

/// A finished sale.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivered {
    /// The whole JSON answer.
    pub body: Arc<Vec<u8>>,
    pub transaction: String,
    /// Checksummed address.
    pub payer: String,
    pub tier: Tier,
    pub content_sha256: String,
    pub tokens: u64,
    pub cache_hit: bool,
}

/// A settlement needs this long on chain.
const SETTLE_SECONDS_MIN: u64 = 6;

/// Sells one page. Identical requests that arrive meanwhile share the outcome: one piece of work, one settlement.
pub async fn sell(app: &Shared, order: Order, proof: PaymentProof) -> Outcome {
    let fingerprint = order.purchase.fingerprint();
    match app
        .desk
        .board(proof.payload_hash(), fingerprint, order.client)
    {
        Boarding::Leader(leader) => {
            let outcome = lead(app, order, proof).await;
            leader.land(&outcome);
            outcome
        }
        Boarding::Follower(landed) => follow(landed).await,
        Boarding::Other => Err(replayed("This payment is being used for another purchase.")),
        Boarding::Full => Err(in_use()),
        Boarding::TooMany => Err(Refusal::new(
            Code::RateLimited,
            "Too many payments of yours are under way. This one was not used: repeat the same request later.",
        )),
    }
}

async fn lead(app: &Shared, order: Order, proof: PaymentProof) -> Outcome {
    let terms = check_terms(app, &order.purchase, &proof);
    let offered = terms
        .as_ref()
        .unwrap_or(&app.offers.of(&order.purchase).requirements);
    let key = payment_key(offered, proof.from(), proof.nonce());
    // Before anything else, its time window included: a payment whose settlement is unknown must never meet a 402.
    let (payload_hash, fingerprint) = (proof.payload_hash(), order.purchase.fingerprint());
    let recalled = recall(app, key, payload_hash, fingerprint);
    let count = || app.admit(RateClass::Sale, order.client);
    match recalled.await {
        // What was paid for, or may have been, is given out whatever the limit says: nobody loses money to somebody
        // else behind the same address. There is an end to it, for an answer is given again a few times only.
        Ok(Recalled::Answer(delivered)) => return Ok(delivered),
        Ok(Recalled::Unknown) => {
            return settle::resolve(app, Claim::take(app, key).ok_or_else(in_use)?).await;
        }
        // A credit may hold it: presented again, it is worked on, and counted, like a new one.
        Ok(Recalled::Nothing) => count()?,
        Err(refusal) => {
            count()?;
            return Err(refusal);
        }
    }
    let offer = terms?;
    app.health.check_can_sell(app)?;
    let verified = match verify(app, proof, offer, &order).await {
        Ok(verified) => verified,
        Err(refusal) => {
            // Its credit may have been redeemed meanwhile: then it is not valid any more because it was charged.
            return match recall(app, key, payload_hash, fingerprint).await? {
                Recalled::Answer(delivered) => Ok(delivered),
                Recalled::Unknown => {
                    settle::resolve(app, Claim::take(app, key).ok_or_else(in_use)?).await
                }
                Recalled::Nothing => {
                    let _unused = Claim::take(app, key).ok_or_else(in_use)?;
                    Err(refusal)
                }
            };
        }
    };
    let mut claim = Claim::take(app, key).ok_or_else(in_use)?;
    let identifier = claim_identifier(app, &verified)?;
    if let Some(known) = known_purchase(app, &verified, identifier.as_ref(), key).await? {
        return known;
    }
    claim.queue(verified.payment.payer).await?;
    let margin = check_margin(app, &order.purchase)?;
    let goods = match deliver_goods(app, &verified.payment).await {
        Ok(goods) => goods,
        Err(Trouble::Refused(refusal)) => return Err(refusal),
        Err(Trouble::Outage(refusal)) => return Err(hold(app, key, verified, refusal).await),
    };
    app.crash_point("fetched");
    let kept = keep(app, claim, verified, goods, margin, &order).await?;
    settle::settle(app, kept, true).await
}

/// A payment that the facilitator has verified. Only `verify` makes one.
#[derive(Debug)]
pub struct Verified {
    settling: Settling,
    pub payment: Payment,
}

/// A payment whose answer is on disk: what may be settled.
#[derive(Debug)]
pub struct Kept {
    pub claim: Claim,
    pub settling: Settling,
    pub members: Option<Vec<u8>>,
}

/// The checks that need nobody else (decisions, Money 2). A payment that does not fit is answered with a challenge.
fn check_terms(
    app: &Shared,
    purchase: &Purchase,
    proof: &PaymentProof,
) -> Result<PaymentRequirements, Refusal> {
    let offer = app.offers.of(purchase);
    // Work, plus the time that the facilitator may take to verify.
    let work = app.config.fetch.time_max + app.config.payment.verify_time_max;
    let offers = app.offers.honoured(offer, app.now());
    match proof.check(&offers, &app.offers.access, app.now(), work.as_secs()) {
        Ok(offer) => Ok(offer.clone()),
        Err(mismatch) => Err(challenge(
            offer.tier,
            mismatch.reason(),
            format!("{mismatch}."),
        )),
    }
}

/// A 402: the payment was not taken, and here is what to sign.
pub fn challenge(tier: Tier, error: &str, message: String) -> Refusal {
    let with = With::Challenge {
        tier,
        error: error.to_owned(),
        settlement: None,
    };
    Refusal::new(Code::PaymentRequired, message).with(with)
}

/// The authorization has been used for something.
pub fn replayed(message: &str) -> Refusal {
    Refusal::new(Code::PaymentReplayed, message)
}

/// Somebody else is at it this very moment.
pub fn in_use() -> Refusal {
    Refusal::of(Code::Conflict)
}

async fn follow(mut landed: watch::Receiver<Option<Outcome>>) -> Outcome {
    match landed.wait_for(Option::is_some).await {
        Ok(outcome) => outcome.clone().unwrap_or_else(|| Err(in_use())),
        // The leader's run ended without a word: it panicked. The same request starts anew.
        Err(_) => Err(Refusal::of(Code::Internal)),
    }
}

/// The definite failure of a settlement: nothing moved, nothing is delivered.
pub fn not_settled(payment: &Payment, reason: &str) -> Refusal {
    let Purchase::Context(context) = &payment.purchase;
    let settlement = FailedSettlement {
        reason: reason.to_owned(),
        payer: Address(payment.payer).to_string(),
    };
    let message = format!("The payment could not be settled ({reason}); nothing was charged.");
    Refusal::new(Code::PaymentRequired, message).with(With::Challenge {
        tier: context.tier(),
        error: reason.to_owned(),
        settlement: Some(settlement),
    })
}

async fn verify(
    app: &Shared,
    proof: PaymentProof,
    offer: PaymentRequirements,
    order: &Order,
) -> Result<Verified, Refusal> {
    match app
        .outside
        .facilitator
        .verify(&proof, &offer, app.now())
        .await
    {
        Ok(Verdict::Valid { .. }) => {}
        Ok(Verdict::Invalid { reason }) => {
            let Purchase::Context(context) = &order.purchase;
            let message = format!("The payment is not valid ({reason}); nothing was charged.");
            return Err(challenge(context.tier(), &reason, message));
        }
        Err(error) => {
            tracing::error!(error = %error, "the facilitator could not verify a payment");
            let message = "The payment could not be verified just now. It was not used: repeat the same request.";
            return Err(Refusal::new(Code::NetworkUnavailable, message));
        }
    }
    app.crash_point("verified");
    let payment = payments::verified(
        &proof,
        &offer,
        order.purchase.clone(),
        order.attribution.clone(),
        app.now(),
    )
    .map_err(|error| internal("a payment could not be written down", &error))?;
    Ok(Verified {
        settling: Settling { proof, offer },
        payment,
    })
}

/// The Unit Economic Guardian, before any work.
pub fn check_margin(app: &Shared, purchase: &Purchase) -> Result<Judged, Refusal> {
    let Purchase::Context(context) = purchase;
    margin(app, context, deliver::may_fetch(context, &app.sample.url))
}

fn margin(app: &Shared, context: &ContextPurchase, fetches: bool) -> Result<Judged, Refusal> {
    let price = context.tier().price();
    guardian::judge(app, price, fetches).map_err(|unsold| {
        app.metrics.margin_rejection();
        let message = match unsold {
            Unsold::TooThin(rejected) => format!(
                "At {price} USDC this sale would not cover its costs ({} USDC); nothing was charged.",
                rejected.needed
            ),
            Unsold::GasUnknown => {
                "What a settlement costs is not known at the moment, so nothing is sold; nothing was charged. Try again \
                 in a minute."
                    .to_owned()
            }
        };
        Refusal::new(Code::MarginRejected, message)
    })
}

/// Target safety, then the work.
pub async fn deliver_goods(app: &Shared, payment: &Payment) -> Result<Goods, Trouble> {
    let Purchase::Context(context) = &payment.purchase;
    deliver::deliver(app, context, &hex::encode(payment.payer)).await
}

/// A transient outage after verification: the authorization is held by a retry credit (decisions, Retry credits).
async fn hold(app: &Shared, key: PaymentKey, verified: Verified, refusal: Refusal) -> Refusal {
    let Verified { mut payment, .. } = verified;
    let (now, fresh) = (app.now(), FreshCredit::draw());
    let written = app.store.write(move |tables| match tables.payment(key)? {
        None => {
            let credit = payments::apply(tables, key, &mut payment, &Event::Outage, now, fresh)?;
            Ok((payment, credit))
        }
        // Presented again while a credit holds it: that credit stands as it is.
        Some(stored) => Ok((stored, None)),
    });
    match written.await {
        Ok((payment, credit)) => {
            app.crash_point("held");
            payments::note(app, key, &payment);
            app.metrics.payment(payment_tier(&payment).name(), "held");
            credit.map_or(refusal.clone(), |credit| refusal.with(With::Credit(credit)))
        }
        Err(error) => error.into(),
    }
}

pub fn payment_tier(payment: &Payment) -> Tier {
    let Purchase::Context(context) = &payment.purchase;
    context.tier()
}

/// Writes the finished answer down, which from now on means: settle may have been sent.
async fn keep(
    app: &Shared,
    claim: Claim,
    verified: Verified,
    goods: Goods,
    margin: Judged,
    order: &Order,
) -> Result<Kept, Refusal> {
    let Verified {
        settling, payment, ..
    } = verified;
    let members = keep_answer(app, claim.key(), payment, goods, margin, &order.request_id).await?;
    Ok(Kept {
        claim,
        settling,
        members: Some(members),
    })
}

/// The same for a payment from whichever source: gives the page's members back once all is durable.
pub async fn keep_answer(
    app: &Shared,
    key: PaymentKey,
    mut payment: Payment,
    goods: Goods,
    margin: Judged,
    request_id: &str,
) -> Result<Vec<u8>, Refusal> {
    let now = app.now();
    if payment.valid_before < now.plus(SETTLE_SECONDS_MIN).0 {
        let message =
            "The authorization ran out while the work was done; nothing was charged.".to_owned();
        let reason = "invalid_exact_evm_payload_authorization_valid_before";
        return Err(challenge(payment_tier(&payment), reason, message));
    }
    let Purchase::Context(context) = payment.purchase.clone();
    let margin = if goods.cache.hit {
        actual_margin(app, &context, margin)
    } else {
        margin
    };
    payment.answer = Some(KeptAnswer {
        page: goods.page.blob,
        own: answer::own(&Own {
            purchase: &context,
            cache: &goods.cache,
            margin: &margin,
            now,
            request_id,
        })
        .map_err(|error| internal("an answer could not be written as JSON", &error))?,
        content_sha256: goods.page.content_sha256,
        tokens: goods.page.tokens,
        cache_hit: goods.cache.hit,
        margin: margin.receipt,
    });
    let members = Arc::new(goods.page.members);
    let (storing, blob, for_store, fresh) = (
        goods.storing,
        goods.page.blob,
        members.clone(),
        FreshCredit::draw(),
    );
    let target_url = context.target_url;
    let durable = app.store.write(move |tables| {
        payment.credit = match tables.payment(key)? {
            None => None,
            // What the buyer holds stays good until the answer is delivered.
            Some(stored) if stored.state == State::Held => stored.credit,
            // Another request has used the same authorization since we looked.
            Some(_) => return Ok(false),
        };
        match storing {
            Storing::Nothing | Storing::Blob => {}
            Storing::Page(record) => tables.put_page(&target_url, &record, &for_store)?,
            Storing::Unchanged { fetched_at } => tables.touch_page(&target_url, fetched_at)?,
        }
        tables.put_blob(blob, &for_store, now.plus(ANSWER_SECONDS_MAX))?;
        payments::apply(tables, key, &mut payment, &Event::GoodsKept, now, fresh)?;
        tables.schedule(Due {
            at: now.plus(KEPT_LOOK_SECONDS),
            kind: DueKind::Payment,
            key,
        })?;
        Ok(true)
    });
    if !durable.await? {
        return Err(replayed(
            "This authorization was already used for another request.",
        ));
    }
    app.crash_point("kept");
    Ok(Arc::unwrap_or_clone(members))
}

/// A cache hit costs no fetch; the receipt says what the sale really earned.
fn actual_margin(app: &Shared, context: &ContextPurchase, judged: Judged) -> Judged {
    margin(app, context, false).unwrap_or(judged)
}
