//! The store's promise to sales: what was acknowledged is there after the power has failed at any operation of the
//! disk, whole, with all that hangs on it; and after an error of the disk nothing is acknowledged any more.

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};

use crate::domain::evm::{Address, Nonce};
use crate::domain::keys::{IdentifierKey, PayloadHash, PaymentKey};
use crate::domain::margin::MarginReceipt;
use crate::domain::payment::{Event, KeptAnswer, Means, Payment, State};
use crate::domain::purchase::{Choices, ContextPurchase, Purchase};
use crate::domain::tier::Tier;
use crate::domain::time::UnixSeconds;
use crate::flows::sale::payments::{self, FreshCredit};
use crate::store::{DueKind, Settings, Store, StoreError};
use crate::tests::dice::Dice;
use crate::tests::disk::{Disk, Faults, Op, Survivors, after_power_loss};

const SETTINGS: Settings = Settings {
    cache_bytes: 1024 * 1024,
    pages_bytes_max: 1024 * 1024,
    unpaid_bytes_max: 64 * 1024 * 1024,
    unsettled_bytes_max: 64 * 1024 * 1024,
    sales_free_bytes_min: 0,
    free_bytes_min: 0,
};
const NOW: UnixSeconds = UnixSeconds(1_795_000_000);

/// What happens to one payment, in this order.
type Life = &'static [fn() -> Event];

const LIVES: [Life; 5] = [
    &[kept, succeeded],
    &[kept, unknown, succeeded],
    &[kept, failed],
    &[|| Event::Outage, kept, succeeded],
    &[
        || Event::Outage,
        kept,
        || Event::Restarted,
        || Event::ChainCanceled,
    ],
];

fn kept() -> Event {
    Event::GoodsKept
}

fn unknown() -> Event {
    Event::SettleUnknown
}

fn succeeded() -> Event {
    Event::SettleSucceeded {
        transaction: "0x1".to_owned(),
    }
}

fn failed() -> Event {
    Event::SettleFailed {
        reason: "insufficient_funds".to_owned(),
    }
}

/// One transition that was asked of the store.
#[derive(Debug)]
struct Step {
    key: PaymentKey,
    /// Entries of the disk's log when it was asked, and when it was acknowledged.
    asked: usize,
    acknowledged: Option<usize>,
    payment: Payment,
}

fn members(number: u8) -> Vec<u8> {
    format!(
        "\"markdown\":\"{}\"",
        "page ".repeat(usize::from(number) * 40)
    )
    .into_bytes()
}

fn blob(members: &[u8]) -> [u8; 32] {
    use sha2::{Digest, Sha256};
    Sha256::digest(members).into()
}

fn payment(number: u8) -> Payment {
    let purchase = Purchase::Context(ContextPurchase {
        target_url: format!("https://news.sample-site.org/{number}"),
        tier: Tier::Fresh,
        choices: Choices::default(),
        excerpt: None,
    });
    let receipt = MarginReceipt {
        revenue: 30_000,
        gas: 0,
        facilitator_fee: 1_000,
        supplier: 500,
        profit: 28_500,
        minimum_profit: 5_000,
        evaluated_at: NOW.0,
    };
    let means = Means::Authorization {
        valid_before: NOW.0 + 300,
    };
    Payment {
        payload: vec![number; 900],
        requirements: vec![number; 300],
        identifier: Some(IdentifierKey([number.wrapping_add(100); 32])),
        answer: Some(KeptAnswer {
            page: blob(&members(number)),
            own: "\"status\":\"success\"".to_owned(),
            content_sha256: "c".repeat(64),
            tokens: 9,
            cache_hit: false,
            margin: receipt,
        }),
        ..Payment::new(
            Address([number; 20]),
            Nonce([number; 32]),
            means,
            PayloadHash([number; 32]),
            purchase,
            NOW,
        )
    }
}

/// One transition, as the sale makes it: with its answer's page and its next look in the same transaction. Gives what
/// was to be written, and whether it was acknowledged.
async fn advance(
    store: &Store,
    key: PaymentKey,
    mut payment: Payment,
    event: Event,
) -> (Payment, Result<(), StoreError>) {
    let (fresh, members) = (FreshCredit::draw(), members(key.0[0]));
    let written_down = Arc::new(Mutex::new(payment.clone()));
    let for_store = written_down.clone();
    let written = store.write(move |tables| {
        if event == Event::GoodsKept {
            tables.put_blob(blob(&members), &members, NOW.plus(86_400))?;
            tables.schedule_payment(NOW.plus(120), key)?;
        }
        payments::apply(tables, key, &mut payment, &event, NOW, fresh)?;
        *for_store.lock().expect("no panic before") = payment;
        Ok(())
    });
    let outcome = written.await;
    let written_down = written_down.lock().expect("no panic before").clone();
    (written_down, outcome)
}

/// Every life, a step of each in turn; gives what was asked and what was acknowledged.
async fn work(store: &Store, disk: &Disk) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut payments: HashMap<PaymentKey, Payment> = HashMap::new();
    for turn in 0..4 {
        for (number, life) in (1..).zip(LIVES) {
            let (key, Some(event)) = (PaymentKey([number; 32]), life.get(turn)) else {
                continue;
            };
            let before = payments
                .get(&key)
                .cloned()
                .unwrap_or_else(|| payment(number));
            let asked = disk.log_length();
            let (payment, outcome) = advance(store, key, before, event()).await;
            payments.insert(key, payment.clone());
            steps.push(Step {
                key,
                asked,
                acknowledged: outcome.is_ok().then(|| disk.log_length()),
                payment,
            });
        }
    }
    steps
}

/// What is in a file that was found.
async fn read(file: Vec<u8>) -> Result<HashMap<PaymentKey, Payment>, String> {
    let disk = Disk::of(file, Faults::default(), Dice::new(0));
    let opened = SETTINGS.open_on(disk).map_err(|error| error.to_string())?;
    let store = opened.store;
    let read = store.read(|snapshot| {
        let mut found = HashMap::new();
        snapshot.payments(|key, payment| {
            found.insert(key, payment);
            Ok(())
        })?;
        let mut due = HashSet::new();
        for row in snapshot.due(DueKind::Payment, UnixSeconds(u64::MAX), 1_000)? {
            due.extend(snapshot.payment_of(row)?.map(|(key, _)| key));
        }
        let mut lacking = Vec::new();
        for (key, payment) in &found {
            let mut need = |holds: bool, what: &str| {
                if !holds {
                    lacking.push(format!("{what} of {}", payment.state.name()));
                }
            };
            if let Some(answer) = &payment.answer
                && payment.state != State::Held
            {
                need(snapshot.blob(answer.page)?.is_some(), "the page");
            }
            if let Some(credit) = &payment.credit {
                let owner = snapshot.payment_by_credit(credit.hash)?;
                need(owner == Some(*key), "the credit");
            }
            if payment.state.is_open() || payment.state == State::Held {
                need(due.contains(key), "the next look");
                let identifier = payment
                    .identifier
                    .ok_or(StoreError::Damaged { table: "payments" })?;
                let owner = snapshot.payment_by_identifier(identifier)?;
                need(owner == Some(*key), "the identifier");
            }
        }
        Ok((found, lacking))
    });
    let (found, lacking) = read.await.map_err(|error| error.to_string())?;
    match lacking.is_empty() {
        true => Ok(found),
        false => Err(format!("half a transition: {lacking:?}")),
    }
}

/// Compares a file with what had been acknowledged at a moment of the log.
fn compare(
    found: &HashMap<PaymentKey, Payment>,
    steps: &[Step],
    moment: usize,
) -> Result<(), String> {
    for number in 1..=LIVES.len() {
        let key = PaymentKey([u8::try_from(number).expect("few lives"); 32]);
        let of_key = || steps.iter().filter(|step| step.key == key);
        let is_acknowledged = |step: &&Step| step.acknowledged.is_some_and(|at| at <= moment);
        let least = of_key().rev().position(|step| is_acknowledged(&step));
        let known = found.get(&key);
        let is_good = match (least, known) {
            // The last acknowledged one, or one that was under way.
            (Some(least), Some(known)) => {
                let mut newest = of_key().rev().take(least + 1);
                newest.any(|step| step.payment == *known && step.asked <= moment)
            }
            (Some(_), None) => false,
            (None, Some(known)) => {
                of_key().any(|step| step.payment == *known && step.asked <= moment)
            }
            (None, None) => true,
        };
        if !is_good {
            return Err(format!(
                "at {moment} of the log payment {number} is {:?}",
                known.map(|payment| payment.state.name())
            ));
        }
    }
    Ok(())
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(work)
}

/// A panic of redb's own checks is a loss like another.
fn losses(file: Vec<u8>, steps: &[Step], moment: usize) -> Result<(), String> {
    let looked = std::panic::catch_unwind(AssertUnwindSafe(|| {
        block_on(async { compare(&read(file).await?, steps, moment) })
    }));
    looked.unwrap_or_else(|_| Err("it could not be read without a panic".to_owned()))
}

/// The power fails at every operation in turn; gives how many files were looked at and what was lost.
fn fail_everywhere(lies_every: Option<u64>, stride: usize) -> (usize, Vec<String>) {
    let disk = Disk::new();
    let (steps, log, beginning) = block_on(async {
        let store = SETTINGS.open_on(disk.clone()).expect("a new file").store;
        disk.keep_log();
        let beginning = disk.live();
        let steps = work(&store, &disk).await;
        store.close().await.expect("closes");
        (steps, disk.log(), beginning)
    });
    assert!(steps.iter().all(|step| step.acknowledged.is_some()));
    let mut dice = Dice::new(402);
    let (mut durable, mut pending, mut syncs) = (beginning, Vec::new(), 0_u64);
    let (mut images, mut lost) = (0, Vec::new());
    for (moment, op) in log.iter().enumerate() {
        if moment.is_multiple_of(stride) {
            for survivors in Survivors::ALL {
                let file = after_power_loss(durable.clone(), &pending, survivors, &mut dice);
                images += 1;
                if let Err(loss) = losses(file, &steps, moment) {
                    lost.push(format!("{survivors:?}: {loss}"));
                }
            }
        }
        match op {
            Op::Sync => {
                syncs += 1;
                if lies_every.is_none_or(|every| !syncs.is_multiple_of(every)) {
                    let all = std::mem::take(&mut pending);
                    durable = after_power_loss(durable, &all, Survivors::All, &mut dice);
                }
            }
            op => pending.push(op.clone()),
        }
    }
    (images, lost)
}

#[test]
fn what_was_acknowledged_survives_a_loss_of_power_at_any_moment() {
    let (images, lost) = fail_everywhere(None, 1);
    assert!(lost.is_empty(), "{} of {images}: {lost:#?}", lost.len());
    assert!(images > 500, "only {images} files were looked at");
}

/// The test above would see it: a disk that does not do what it acknowledges loses sales.
#[test]
fn a_disk_that_lies_about_its_syncs_is_found_out() {
    let (images, lost) = fail_everywhere(Some(3), 7);
    assert!(lost.len() > images / 50, "only {} of {images}", lost.len());
}

/// Everything over a disk whose `error_at`-th operation fails. Gives whether it came to that.
fn fail_once(error_at: u64, error_stays: bool) -> bool {
    let disk = Disk::new();
    let (steps, failed_at) = block_on(async {
        let store = SETTINGS.open_on(disk.clone()).expect("a new file").store;
        disk.keep_log();
        disk.set_faults(Faults {
            error_at: Some(error_at),
            error_stays,
            ..Faults::default()
        });
        let beginning = disk.operations();
        let steps = work(&store, &disk).await;
        let came = disk.operations() >= beginning + error_at;
        (steps, came)
    });
    let first_failure = steps.iter().position(|step| step.acknowledged.is_none());
    if let Some(failure) = first_failure {
        let after = &steps[failure..];
        assert!(
            after.iter().all(|step| step.acknowledged.is_none()),
            "operation {error_at}: something was acknowledged after an error"
        );
    }
    let log = disk.log();
    let mut files = vec![disk.live()];
    let mut dice = Dice::new(error_at);
    let synced = log.iter().rposition(|op| matches!(op, Op::Sync));
    let pending = &log[synced.map_or(0, |synced| synced + 1)..];
    let beginning = disk.durable();
    for survivors in [Survivors::None, Survivors::Torn] {
        files.push(after_power_loss(
            beginning.clone(),
            pending,
            survivors,
            &mut dice,
        ));
    }
    for file in files {
        if let Err(loss) = losses(file, &steps, log.len()) {
            panic!("operation {error_at} failed: {loss}");
        }
    }
    failed_at
}

/// Once the disk has failed nothing is acknowledged, whether it recovers or not, and what is read at the next start is
/// whole.
#[test]
fn after_an_error_of_the_disk_nothing_is_acknowledged() {
    for error_stays in [false, true] {
        let mut error_at = 1;
        while fail_once(error_at, error_stays) {
            error_at += 5;
        }
        assert!(error_at > 100, "the work ended after {error_at} operations");
    }
}
