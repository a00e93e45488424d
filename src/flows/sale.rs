//! The paid pipeline, in the order of the specification (4.1 rule 2) and of `decisions` "Money": a payment is looked
//! up, verified, judged for its margin, worked for, kept on disk, settled, and only then delivered. Each step takes
//! what the step before it gives, so that none can be skipped.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::app::Shared;
use crate::domain::level::Level;
use crate::domain::payment::{Event, Means, Payment, PaymentKey, State};
use crate::domain::purchase::{Fingerprint, Purchase};
use crate::domain::rate::RateClass;
use crate::domain::refusal::{Code, FailedSettlement, Refusal, With};
use crate::domain::time::UnixSeconds;
use crate::flows::answer::{self, Body, Members, Sold};
use crate::flows::deliver::{self, Goods};
use crate::flows::desk::{Boarding, Claim, Outcome};
use crate::flows::guardian::{self, Judged, Unsold, Work};
use crate::flows::internal;
use crate::flows::payments::{self, FreshCredit, KEPT_LOOK_SECONDS, payment_key};
use crate::flows::recall::{Recalled, claim_identifier, known_purchase, recall};
use crate::flows::settle::{self, Settling};
use crate::flows::source::{self, Trouble, keep_page};
use crate::outside::facilitator::Verdict;
use crate::store::{ANSWER_SECONDS_MAX, Due, DueKind};
use crate::x402::address::{Address, TransactionHash};
use crate::x402::proof::PaymentProof;
use crate::x402::wire::PaymentRequirements;

/// A paid request that has passed validation.
#[derive(Clone, Debug)]
pub struct PaidRequest {
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
    pub body: Arc<Body>,
    pub transaction: String,
    pub settled_at: UnixSeconds,
    pub means: Means,
    /// Checksummed address.
    pub payer: String,
    pub level: Level,
    /// Hex SHA-256 of what was sold: a page's markdown, or a report.
    pub content_sha256: String,
    /// Of a page's markdown.
    pub tokens: u64,
    pub cache_hit: bool,
    /// The payment whose redelivery this is, if it counts as one.
    pub redelivery_of: Option<PaymentKey>,
}

/// A settlement needs this long on chain.
const SETTLE_SECONDS_MIN: u64 = 6;

/// Sells one page or report. Identical requests that arrive meanwhile share the outcome: one piece of work, one settlement.
pub async fn sell(app: &Shared, request: PaidRequest, proof: PaymentProof) -> Outcome {
    let fingerprint = request.purchase.fingerprint();
    match app
        .desk
        .board(proof.payload_hash(), fingerprint, request.client)
    {
        Boarding::Leader(leader) => {
            let outcome = lead(app, request, proof).await;
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

async fn lead(app: &Shared, request: PaidRequest, proof: PaymentProof) -> Outcome {
    let terms = check_terms(app, &request.purchase, &proof);
    let offered = terms
        .as_ref()
        .unwrap_or(&app.offers.of(&request.purchase).requirements);
    let key = payment_key(offered, proof.from(), proof.nonce());
    // Before anything else, its time window included: a payment whose settlement is unknown must never meet a 402.
    let (payload_hash, fingerprint) = (proof.payload_hash(), request.purchase.fingerprint());
    let recalled = recall(app, key, payload_hash, fingerprint);
    let count = || app.admit(RateClass::Sale, request.client);
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
    let offer = match terms {
        Ok(offer) => offer,
        Err(refusal) => {
            return turned_down(app, key, (payload_hash, fingerprint), refusal).await;
        }
    };
    app.health
        .check_can_sell_product(app, request.purchase.product())?;
    let verified = match verify(app, proof, offer, &request).await {
        Ok(verified) => verified,
        Err(refusal) => {
            return turned_down(app, key, (payload_hash, fingerprint), refusal).await;
        }
    };
    let mut claim = Claim::take(app, key).ok_or_else(in_use)?;
    let identifier = claim_identifier(app, &verified)?;
    if let Some(known) = known_purchase(app, &verified, identifier.as_ref(), key).await? {
        return known;
    }
    claim.queue(verified.payment.payer).await?;
    let margin = check_margin(app, &request.purchase, Means::Authorization)?;
    let goods = match deliver_goods(app, &verified.payment).await {
        Ok(goods) => goods,
        Err(Trouble::Refused(refusal)) => return Err(refusal),
        Err(Trouble::Outage(refusal)) => {
            return Err(hold(app, key, verified.payment, refusal).await);
        }
    };
    app.crash_point("fetched");
    match keep(app, claim, verified, goods, margin, &request).await {
        Ok(kept) => settle::settle(app, kept, true).await,
        // A credit was redeemed for it after it was looked up: what it bought is this buyer's.
        Err(refusal) if refusal.code == Code::PaymentReplayed => {
            turned_down(app, key, (payload_hash, fingerprint), refusal).await
        }
        Err(refusal) => Err(refusal),
    }
}

/// A refusal of a payment that was looked up before. Its credit may have been redeemed meanwhile, or be at it: then it is
/// charged, and asking for money again would be a lie.
async fn turned_down(
    app: &Shared,
    key: PaymentKey,
    (payload_hash, fingerprint): ([u8; 32], Fingerprint),
    refusal: Refusal,
) -> Outcome {
    // Only what is on record has been verified: a forged payment claims nothing.
    let stored = app.store.read(move |snapshot| snapshot.payment(key));
    if stored.await?.is_none() {
        return Err(refusal);
    }
    let claim = Claim::take(app, key).ok_or_else(in_use)?;
    match recall(app, key, payload_hash, fingerprint).await? {
        Recalled::Answer(delivered) => Ok(delivered),
        Recalled::Unknown => settle::resolve(app, claim).await,
        Recalled::Nothing => Err(refusal),
    }
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
    /// Where the answer is made of a page, and there is memory for it.
    pub members: Option<Members>,
}

/// The checks that need nobody else (decisions, Money 2). A payment that does not fit is answered with a challenge.
fn check_terms(
    app: &Shared,
    purchase: &Purchase,
    proof: &PaymentProof,
) -> Result<PaymentRequirements, Refusal> {
    let offer = app.offers.of(purchase);
    // Work, plus the time that the facilitator may take to verify.
    let model = app.config.llm.as_ref();
    let model = model.filter(|_| purchase.level().may_synthesize());
    let work = app.config.fetch.time_max
        + model.map_or(Duration::ZERO, |llm| llm.time_max)
        + app.config.payment.verify_time_max;
    let offers = app.offers.honoured(offer, app.now());
    let resource = app.offers.resource(purchase.product());
    let checked = proof.check(&offers, resource, app.now(), work.as_secs());
    let echo = proof.check_echo(&offer.challenge.advertised);
    match checked.and_then(|terms| echo.map(|()| terms)) {
        Ok(terms) => Ok(terms.clone()),
        Err(mismatch) => Err(challenge(
            offer.level,
            mismatch.reason(),
            format!("{mismatch}."),
        )),
    }
}

/// A 402: the payment was not taken, and here is what to sign.
pub fn challenge(level: Level, error: &str, message: String) -> Refusal {
    let with = With::Challenge {
        level,
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
        // Whoever waited on it has no redelivery counted.
        Ok(outcome) => outcome
            .clone()
            .unwrap_or_else(|| Err(in_use()))
            .map(|delivered| Delivered {
                redelivery_of: None,
                ..delivered
            }),
        // The leader's run ended without a word: it panicked. The same request starts anew.
        Err(_) => Err(Refusal::of(Code::Internal)),
    }
}

/// The definite failure of a settlement: nothing moved, nothing is delivered.
pub fn not_settled(payment: &Payment, reason: &str) -> Refusal {
    let settlement = FailedSettlement {
        reason: reason.to_owned(),
        payer: Address(payment.payer).to_string(),
    };
    let message = format!("The payment could not be settled ({reason}); nothing was charged.");
    Refusal::new(Code::PaymentRequired, message).with(With::Challenge {
        level: payment.purchase.level(),
        error: reason.to_owned(),
        settlement: Some(settlement),
    })
}

async fn verify(
    app: &Shared,
    proof: PaymentProof,
    offer: PaymentRequirements,
    request: &PaidRequest,
) -> Result<Verified, Refusal> {
    match app
        .outside
        .facilitator
        .verify(&proof, &offer, app.now())
        .await
    {
        Ok(Verdict::Valid { .. }) => {}
        Ok(Verdict::Invalid { reason }) => {
            let message = format!("The payment is not valid ({reason}); nothing was charged.");
            return Err(challenge(request.purchase.level(), &reason, message));
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
        request.purchase.clone(),
        request.attribution.clone(),
        app.now(),
    )
    .map_err(|error| internal("a payment could not be written down", &error))?;
    Ok(Verified {
        settling: Settling { proof, offer },
        payment,
    })
}

/// The Unit Economic Guardian, before any work.
pub fn check_margin(app: &Shared, purchase: &Purchase, means: Means) -> Result<Judged, Refusal> {
    let (reading, target_url) = (purchase.reading(), purchase.target_url());
    let work = Work {
        fetches: source::may_fetch(reading, target_url, &app.sample.url),
        asks_model: app.outside.llm.is_some() && purchase.level().may_synthesize(),
        settles: means == Means::Authorization,
    };
    let price = purchase.price();
    guardian::judge(app, price, work).map_err(|unsold| {
        let reason = match unsold {
            Unsold::TooThin(_) => "too_thin",
            Unsold::GasUnknown => "gas_unknown",
        };
        app.metrics.margin_rejection(reason);
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
    deliver::deliver(app, &payment.purchase, &hex::encode(payment.payer)).await
}

/// A transient outage after verification: the payment is held by a retry credit (decisions, Retry credits).
pub async fn hold(
    app: &Shared,
    key: PaymentKey,
    mut payment: Payment,
    refusal: Refusal,
) -> Refusal {
    let (now, fresh) = (app.now(), FreshCredit::draw());
    let is_transfer = payment.means() == Means::Transfer;
    let lets_go = move |stored: &Payment| is_transfer && stored.state == State::Released;
    let written = app.store.write(move |tables| match tables.payment(key)? {
        stored if stored.as_ref().is_none_or(lets_go) => {
            let credit = payments::apply(tables, key, &mut payment, &Event::Outage, now, fresh)?;
            Ok((payment, credit, true))
        }
        // Presented again while a credit holds it: that credit stands as it is.
        stored => Ok((stored.unwrap_or(payment), None, false)),
    });
    match written.await {
        Ok((payment, credit, has_moved)) => {
            app.crash_point("held");
            payments::note(app, key, &payment);
            if has_moved {
                payments::count(app, &payment);
            }
            credit.map_or(refusal.clone(), |credit| refusal.with(With::Credit(credit)))
        }
        Err(error) => error.into(),
    }
}

/// Writes the finished answer down, which from now on means: settle may have been sent.
async fn keep(
    app: &Shared,
    claim: Claim,
    verified: Verified,
    goods: Goods,
    margin: Judged,
    request: &PaidRequest,
) -> Result<Kept, Refusal> {
    let Verified {
        settling, payment, ..
    } = verified;
    let members = keep_answer(
        app,
        claim.key(),
        payment,
        goods,
        margin,
        &request.request_id,
    )
    .await?;
    Ok(Kept {
        claim,
        settling,
        members,
    })
}

/// The same for a payment from whichever source: gives the page's members back once all is durable, if they may stay.
pub async fn keep_answer(
    app: &Shared,
    key: PaymentKey,
    mut payment: Payment,
    mut goods: Goods,
    margin: Judged,
    request_id: &str,
) -> Result<Option<Members>, Refusal> {
    let now = app.now();
    if payment.valid_before < now.plus(SETTLE_SECONDS_MIN).0 {
        let message =
            "The authorization ran out while the work was done; nothing was charged.".to_owned();
        let reason = "invalid_exact_evm_payload_authorization_valid_before";
        return Err(challenge(payment.purchase.level(), reason, message));
    }
    let mut allotment = goods.source.allotment.hand_over();
    // Where it took less than was reckoned with, the receipt says what the sale really earned.
    let means = payment.means();
    let margin = match goods.work(means) {
        took if took == margin.work => margin,
        took => guardian::judge(app, payment.purchase.price(), took).unwrap_or(margin),
    };
    let Sold {
        answer,
        members,
        source,
        report,
    } = answer::sold(app, key, &payment, goods, &margin, request_id)
        .map_err(|error| internal("an answer could not be written as JSON", &error))?;
    let (blob, for_store, fresh) = (answer.page, members.clone(), FreshCredit::draw());
    let is_page = report.is_none();
    payment.answer = Some(answer);
    let durable = app.store.write(move |tables| {
        payment.credit = match tables.payment(key)? {
            None => None,
            // What the buyer holds stays good until the answer is delivered. A credit that holds the authorization for
            // another purchase was issued since we looked.
            Some(stored)
                if stored.state == State::Held
                    && stored.is_of(payment.payload_hash, payment.fingerprint) =>
            {
                stored.credit
            }
            // Unlike an authorization, a transfer that was let go can be taken up again: the money is here.
            Some(stored) if stored.state == State::Released && means == Means::Transfer => None,
            // Another request has used the same authorization since we looked.
            Some(_) => return Ok(false),
        };
        keep_page(tables, payment.purchase.target_url(), &source)?;
        let answer_end = now.plus(ANSWER_SECONDS_MAX);
        tables.put_blob(blob, &for_store, answer_end)?;
        if let Some(report) = report {
            tables.put_report(report.id, &report.record, &report.source_text, answer_end)?;
        }
        payments::apply(tables, key, &mut payment, &Event::GoodsKept, now, fresh)?;
        if means == Means::Transfer {
            // The money came first: nothing is left to settle.
            let transaction = TransactionHash(payment.nonce).to_string();
            let settled = Event::ChainUsed { transaction };
            payments::apply(tables, key, &mut payment, &settled, now, fresh)?;
        }
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
    let stays = is_page && allotment.rest(members.len());
    Ok(stays.then_some(Members {
        bytes: members,
        allotment,
    }))
}
