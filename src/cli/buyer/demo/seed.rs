//! A week of invented sales, leads and orders, so that the demo's console has something to show. They go the way of real
//! records: what the ledger has of a day is the sum of that day's payments.

use sha2::{Digest as _, Sha256};

use crate::domain::bundle::Bundle;
use crate::domain::evm::{Address, Nonce};
use crate::domain::ids::{LeadId, OrderId};
use crate::domain::keys::{Fingerprint, PayloadHash, PaymentKey};
use crate::domain::lead::{By, Lead, LeadProduct, LeadStatus, LeadStep};
use crate::domain::level::Level;
use crate::domain::margin::MarginReceipt;
use crate::domain::order::{Doubt, Order, OrderState};
use crate::domain::pack::Pack;
use crate::domain::payment::{KeptAnswer, Means, Payment, State};
use crate::domain::purchase::{Choices, ContextPurchase, ProofPackPurchase, Purchase};
use crate::domain::tier::Tier;
use crate::domain::time::{DAY_SECONDS, UnixSeconds};
use crate::outside::chance;
use crate::pages::buyer::samples::{SAMPLES, Sample};
use crate::store::{Store, StoreError, Tables};

/// Payments of each of the seven days before today, the oldest first.
const PAYMENTS: [u8; 7] = [4, 5, 3, 6, 7, 8, 7];
const LEVELS: [Level; 7] = [
    Level::Tier(Tier::Fresh),
    Level::Tier(Tier::Basic),
    Level::Pack(Pack::Standard),
    Level::Tier(Tier::Fresh),
    Level::Tier(Tier::Cached),
    Level::Pack(Pack::Quick),
    Level::Tier(Tier::Deep),
];
const SOURCES: [Option<&str>; 4] = [Some("agent-card"), None, Some("directory"), Some("docs")];
const BUYERS: u8 = 6;
/// What a sale costs, in USDC units; of the order of the defaults.
const COSTS: u64 = 1_500;
const WHAT: &str = "invented for the demo";

/// Fills a data file that has no sales yet.
pub(super) async fn seed(store: &Store, now: UnixSeconds) -> Result<(), StoreError> {
    let known = store.read(|snapshot| snapshot.ledger(1)).await?;
    if !known.is_empty() {
        return Ok(());
    }
    store.write(move |tables| write(tables, now)).await
}

fn write(tables: &mut Tables<'_>, now: UnixSeconds) -> Result<(), StoreError> {
    let today = now.0 - now.0 % DAY_SECONDS;
    let days = PAYMENTS.iter().zip((1..=7).rev());
    let mut number = 0;
    for (count, back) in days {
        let begin = today.saturating_sub(back * DAY_SECONDS);
        for of_day in 0..u64::from(*count) {
            let step = DAY_SECONDS / (u64::from(*count) + 1);
            let at = begin + step * (of_day + 1);
            sale(tables, number, UnixSeconds(at))?;
            number += 1;
        }
    }
    let ago = |hours: u64| now.0.saturating_sub(hours * 3600);
    let mut asked = lead("ada@example.com", ago(5));
    asked.product = LeadProduct::Contact;
    asked.notes = "Can we have an invoice for each month?".to_owned();
    let mut open = bundle_lead("grace@example.org", ago(30));
    open.status = LeadStatus::Contacted;
    let mut paid = bundle_lead("alan@example.net", ago(3));
    paid.status = LeadStatus::Paid;
    // The service fulfils this order as soon as it runs; the other one waits for the operator.
    let queued = Order {
        lead: Some([3; 16]),
        ..order("cs_demo_1", &paid, ago(2))
    };
    let doubt = Doubt::NoLead;
    let doubted = Order {
        state: OrderState::NeedsReview { doubt },
        ..order(
            "cs_demo_2",
            &bundle_lead("mary@example.com", ago(51)),
            ago(50),
        )
    };
    for (number, lead) in [(1, asked), (2, open), (3, paid)] {
        tables.put_lead(LeadId([number; 16]), &lead)?;
    }
    tables.put_order(OrderId([1; 16]), &queued)?;
    tables.put_order(OrderId([2; 16]), &doubted)?;
    tables.schedule_order(OrderId([1; 16]), now)
}

/// A settled payment whose answer is no longer stored, as after a day.
fn sale(tables: &mut Tables<'_>, number: u8, at: UnixSeconds) -> Result<(), StoreError> {
    let level = LEVELS[usize::from(number) % LEVELS.len()];
    let sample = &SAMPLES[usize::from(number) % SAMPLES.len()];
    let target_url = address(sample);
    let purchase = match level {
        Level::Pack(pack) => Purchase::ProofPack(ProofPackPurchase {
            target_url,
            question: sample.questions[0].to_owned(),
            pack,
            choices: Choices::default(),
            screenshot: false,
        }),
        Level::Tier(tier) => Purchase::Context(ContextPurchase {
            target_url,
            tier,
            choices: Choices::default(),
            excerpt: None,
        }),
        Level::Bundle(_) | Level::Check(_) => return Ok(()),
    };
    let hash =
        |what: &str| -> [u8; 32] { Sha256::digest(format!("{what} {number} of the demo")).into() };
    let buyer = Sha256::digest(format!("buyer {} of the demo", number % BUYERS));
    let mut payer = [0; 20];
    payer.copy_from_slice(&buyer[..20]);
    let revenue = level.price().units();
    let means = Means::Authorization {
        valid_before: at.0 + 300,
    };
    let mut payment = Payment {
        fingerprint: Fingerprint(hash("fingerprint")),
        attribution: SOURCES[usize::from(number) % SOURCES.len()].map(str::to_owned),
        state: State::Settled {
            transaction: format!("0x{}", hex::encode(hash("transaction"))),
            at: at.0,
        },
        answer: Some(KeptAnswer {
            page: hash("page"),
            own: String::new(),
            content_sha256: String::new(),
            tokens: 0,
            cache_hit: false,
            margin: MarginReceipt {
                revenue,
                gas: 0,
                facilitator_fee: COSTS - 500,
                supplier: 500,
                profit: revenue.saturating_sub(COSTS),
                minimum_profit: 0,
                evaluated_at: at.0,
            },
        }),
        ..Payment::new(
            Address(payer),
            Nonce(hash("nonce")),
            means,
            PayloadHash(hash("payload")),
            purchase,
            at,
        )
    };
    tables.add_to_ledger(&payment, at)?;
    payment.answer = None;
    let key = PaymentKey(hash("key"));
    tables.list_purchase(key, &payment)?;
    tables.put_payment(key, &payment)
}

fn address(sample: &Sample) -> String {
    format!("http://{}{}", sample.host, sample.path)
}

fn lead(contact: &str, at: u64) -> Lead {
    Lead {
        contact: contact.to_owned(),
        trail: vec![LeadStep {
            at,
            by: By::Buyer,
            what: WHAT.to_owned(),
        }],
        ..Lead::of(LeadProduct::Bundle, UnixSeconds(at))
    }
}

/// For a report on the first two samples.
fn bundle_lead(contact: &str, at: u64) -> Lead {
    let samples = SAMPLES.iter().take(2);
    Lead {
        level: Bundle::Scout.name().to_owned(),
        target_urls: samples.map(address).collect(),
        question: SAMPLES[0].questions[0].to_owned(),
        ..lead(contact, at)
    }
}

/// A paid order for what a lead asks.
fn order(session_id: &str, lead: &Lead, at: u64) -> Order {
    let mut order = Order {
        session_id: session_id.to_owned(),
        lead: None,
        bundle: lead.bundle(),
        email: Some(lead.contact.clone()),
        question: lead.question.clone(),
        target_urls: lead.target_urls.clone(),
        amount_total: Some(Bundle::Scout.cents()),
        currency: "usd".to_owned(),
        livemode: false,
        state: OrderState::Queued,
        round: 0,
        resent: 0,
        link_key: chance::bytes(),
        trail: Vec::new(),
        created_at: at,
        changed_at: at,
        fulfilled_at: None,
    };
    order.note(at, WHAT);
    order
}
