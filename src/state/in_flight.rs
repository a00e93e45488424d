//! Sales in progress, in memory: identical requests share one sale, and payments are reserved. A reservation becomes
//! durable when the goods are stored.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, watch};
use tokio::time::Instant;

use crate::domain::evm::Address;
use crate::domain::keys::{Fingerprint, IdentifierKey, PayloadHash, PaymentKey};
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::UnixSeconds;
use crate::outside::call::KeyedLimit;
use crate::outside::clock::Clock;
use crate::state::delivered::Delivered;
use crate::state::unknown::Unknown;

/// Requests that may wait for the outcome of one identical request.
const WAITING_MAX: usize = 128;
/// Payments of one client that may be under way: until they are verified, an address is all that is known of it.
const PAYLOADS_OF_CLIENT_MAX: usize = 256;

/// Sales of one payer that are worked on and settled at the same time; further ones wait. One balance may have been
/// promised to all of them (safety A43).
const SALES_OF_PAYER_MAX: usize = 8;
const SALE_WAIT_MAX: Duration = Duration::from_secs(5);
/// Settlements of one payer that may fail for good, one after the other, before no more is done for it (safety A9).
const FAILURES_MAX: u8 = 3;
/// An outage of a target or supplier after verification counts as a part of a failed settlement: the payer may have
/// chosen a target that never answers.
const FAILURE_WEIGHT: u8 = 3;
const OUTAGE_WEIGHT: u8 = 1;
/// Payments of one payer that retry credits may hold at the same time.
pub const HELD_OF_PAYER_MAX: usize = 8;
/// Payments of all payers that retry credits may hold at the same time.
pub const HELD_MAX: usize = 4096;
/// When a payer's last failure is forgotten.
const FAILURE_SECONDS: u64 = 600;
/// Payers whose failures are remembered; beyond that the oldest failure is forgotten.
const FAILING_PAYERS_MAX: usize = 4096;

pub type Outcome = Result<Delivered, Refusal>;

#[derive(Debug)]
pub struct InFlight {
    entries: Mutex<Entries>,
    reservations: Mutex<HashSet<PaymentKey>>,
    identifiers: Mutex<HashSet<IdentifierKey>>,
    /// Woken whenever a reservation ends.
    reservation_ended: Notify,
    unfinished: Mutex<Unfinished>,
    /// Verified sales that are being worked on or settled, by what is bought.
    under_way: Mutex<HashMap<(Address, Fingerprint), Vec<UnderWay>>>,
    answers: Mutex<Answers>,
    sales_of_payer: KeyedLimit,
    failures: Mutex<HashMap<Address, Failures>>,
    /// The unknown settlements of each payer.
    pub unknown: Unknown,
}

/// Payments that a payer's next payment for the same purchase has to be compared with.
#[derive(Debug, Default)]
struct Unfinished {
    by_purchase: HashMap<(Address, Fingerprint), Vec<PaymentKey>>,
    /// Those that a retry credit holds.
    held: HashMap<PaymentKey, Address>,
    held_of_payer: HashMap<Address, usize>,
}

#[derive(Debug)]
struct UnderWay {
    payment: PaymentKey,
    clients: Clients,
}

/// Alive as long as a client waits for its answer. `None`: nobody can leave.
type Waiting = Option<Weak<()>>;

/// The clients that wait for one sale: the one that began it and those that sent the same request meanwhile.
#[derive(Clone, Debug, Default)]
pub struct Clients(Arc<Mutex<Vec<Waiting>>>);

impl Clients {
    fn of(waiting: Waiting) -> Clients {
        Clients(Arc::new(Mutex::new(vec![waiting])))
    }

    fn join(&self, waiting: Waiting) {
        lock(&self.0).push(waiting);
    }

    fn have_left(&self) -> bool {
        let mut clients = lock(&self.0);
        // `None` never leaves.
        clients.retain(|client| {
            client
                .as_ref()
                .is_none_or(|client| client.strong_count() > 0)
        });
        clients.is_empty()
    }
}

/// Answers on their way to their buyers.
#[derive(Debug, Default)]
struct Answers {
    /// How many copies of a payment's answer are being sent.
    being_sent: HashMap<PaymentKey, usize>,
    /// Payments whose answer was sent, and when, which is not written down yet.
    sent: HashMap<PaymentKey, UnixSeconds>,
}

impl Default for InFlight {
    fn default() -> Self {
        InFlight {
            entries: Mutex::default(),
            reservations: Mutex::default(),
            identifiers: Mutex::default(),
            reservation_ended: Notify::new(),
            unfinished: Mutex::default(),
            under_way: Mutex::default(),
            answers: Mutex::default(),
            sales_of_payer: KeyedLimit::new(SALES_OF_PAYER_MAX, SALE_WAIT_MAX),
            failures: Mutex::default(),
            unknown: Unknown::default(),
        }
    }
}

/// What has gone wrong with a payer's payments since the last that was settled.
#[derive(Clone, Copy, Debug)]
struct Failures {
    weight: u8,
    last: UnixSeconds,
}

#[derive(Debug, Default)]
struct Entries {
    by_payload: HashMap<PayloadHash, Entry>,
    by_client: HashMap<IpAddr, usize>,
}

#[derive(Debug)]
struct Entry {
    fingerprint: Fingerprint,
    client: Option<IpAddr>,
    waiting: usize,
    clients: Clients,
    outcome: watch::Receiver<Option<Outcome>>,
}

/// What joining gave.
#[derive(Debug)]
pub enum Joined<'a> {
    /// Ours to work on.
    First(Run<'a>),
    /// The same payload for the same purchase is being worked on: its outcome is ours too.
    Waits(watch::Receiver<Option<Outcome>>),
    /// The same payload is being used for something else.
    Other,
    /// Too many wait already.
    Full,
    /// This client has too many others under way.
    TooMany,
}

/// The one run of a payload. Dropped without landing, its waiting see the channel close.
#[derive(Debug)]
pub struct Run<'a> {
    in_flight: &'a InFlight,
    payload_hash: PayloadHash,
    clients: Clients,
    sender: watch::Sender<Option<Outcome>>,
    has_finished: bool,
}

/// A key that nobody else works on as long as this lives.
#[derive(Debug)]
pub struct Reservation {
    table: Arc<InFlight>,
    key: PaymentKey,
    /// Among the sales of its payer.
    place: Option<OwnedSemaphorePermit>,
    /// Under which purchase it is known as under way.
    purchase: Option<(Address, Fingerprint)>,
}

/// A buyer's `payment-identifier` under which nobody else is served as long as this lives.
#[derive(Debug)]
pub struct ReservedIdentifier {
    table: Arc<InFlight>,
    key: IdentifierKey,
}

/// What a payer's settled, failed or blocked payment counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Settled,
    Failed,
    /// A target or supplier did not answer; a retry credit was issued.
    Outage,
}

impl InFlight {
    /// Single flight by the hash of the payload's bytes: before verification nothing else may be held, since a forged
    /// signature could otherwise block somebody's nonce.
    /// `client` is `None` for the operator.
    pub fn join(
        &self,
        payload_hash: PayloadHash,
        fingerprint: Fingerprint,
        client: Option<IpAddr>,
        waiting: Waiting,
    ) -> Joined<'_> {
        let mut entries = lock(&self.entries);
        if let Some(entry) = entries.by_payload.get_mut(&payload_hash) {
            if entry.fingerprint != fingerprint {
                return Joined::Other;
            }
            if entry.waiting >= WAITING_MAX {
                return Joined::Full;
            }
            entry.waiting += 1;
            entry.clients.join(waiting);
            return Joined::Waits(entry.outcome.clone());
        }
        if let Some(client) = client {
            let others = entries.by_client.entry(client).or_default();
            if *others >= PAYLOADS_OF_CLIENT_MAX {
                return Joined::TooMany;
            }
            *others += 1;
        }
        let clients = Clients::of(waiting);
        let (sender, outcome) = watch::channel(None);
        entries.by_payload.insert(
            payload_hash,
            Entry {
                fingerprint,
                client,
                waiting: 0,
                clients: clients.clone(),
                outcome,
            },
        );
        Joined::First(Run {
            in_flight: self,
            payload_hash,
            clients,
            sender,
            has_finished: false,
        })
    }

    /// This payer's payments for this purchase that may concern the next one: held by a credit, of unknown settlement,
    /// settled with an answer that is owed, or under way for clients that have left. They are to be looked at again:
    /// what is known here may be older than the record.
    pub fn earlier(&self, payer: Address, fingerprint: Fingerprint) -> Vec<PaymentKey> {
        let purchase = (payer, fingerprint);
        let mut earlier = Vec::new();
        if let Some(keys) = lock(&self.unfinished).by_purchase.get(&purchase) {
            earlier.clone_from(keys);
        }
        if let Some(sales) = lock(&self.under_way).get(&purchase) {
            let left = sales.iter().filter(|sale| sale.clients.have_left());
            earlier.extend(left.map(|sale| sale.payment));
        }
        earlier.sort_unstable();
        earlier.dedup();
        earlier
    }

    /// Whether a retry credit may hold one more payment of this payer.
    pub fn check_held(&self, payer: Address) -> Result<(), Refusal> {
        let unfinished = lock(&self.unfinished);
        if unfinished.held_of_payer.get(&payer).copied().unwrap_or(0) >= HELD_OF_PAYER_MAX {
            return Err(Refusal::new(
                Code::RateLimited,
                "Retry credits hold several payments of this payer. This payment was not used: redeem the credits at \
                 /v1/x402/retry, or wait until they expire.",
            ));
        }
        match unfinished.held.len() >= HELD_MAX {
            true => Err(Refusal::of(Code::Overloaded)),
            false => Ok(()),
        }
    }

    /// An answer sets out to its buyer.
    pub fn begin_answer(&self, payment: PaymentKey) {
        *lock(&self.answers).being_sent.entry(payment).or_default() += 1;
    }

    /// An answer has been sent at this time, or its connection has ended before.
    pub fn end_answer(&self, payment: PaymentKey, sent_at: Option<UnixSeconds>) {
        let mut answers = lock(&self.answers);
        if let Some(at) = sent_at {
            answers.sent.entry(payment).or_insert(at);
        }
        if let Some(copies) = answers.being_sent.get_mut(&payment) {
            *copies -= 1;
            if *copies == 0 {
                answers.being_sent.remove(&payment);
            }
        }
    }

    /// Whether a payment's answer is being sent to its buyer, or was and that is not written down yet. To be asked
    /// before the record is read: in between it may be written down.
    pub fn is_answered(&self, payment: PaymentKey) -> bool {
        let answers = lock(&self.answers);
        answers.being_sent.contains_key(&payment) || answers.sent.contains_key(&payment)
    }

    /// Payments whose answer was sent, and when, which is still to be written down; so many at most.
    pub fn sent_answers(&self, payments_max: usize) -> Vec<(PaymentKey, UnixSeconds)> {
        let answers = lock(&self.answers);
        let sent = answers.sent.iter().take(payments_max);
        sent.map(|(payment, at)| (*payment, *at)).collect()
    }

    /// That these answers were sent is written down.
    pub fn forget_sent(&self, payments: &[(PaymentKey, UnixSeconds)]) {
        let mut answers = lock(&self.answers);
        for (payment, _) in payments {
            answers.sent.remove(payment);
        }
    }

    /// Remembers how a payer's payment has ended: a payer whose payments fail is worked for a few times only.
    pub fn note_end(&self, payer: Address, end: End, now: UnixSeconds) {
        let mut failures = lock(&self.failures);
        let weight = match end {
            End::Settled => {
                failures.remove(&payer);
                return;
            }
            End::Failed => FAILURE_WEIGHT,
            End::Outage => OUTAGE_WEIGHT,
        };
        if failures.len() >= FAILING_PAYERS_MAX {
            failures.retain(|_, failures| now.since(failures.last) < FAILURE_SECONDS);
            let oldest = failures.iter().min_by_key(|(_, failures)| failures.last);
            if let Some(oldest) = oldest.map(|(payer, _)| *payer)
                && failures.len() >= FAILING_PAYERS_MAX
            {
                failures.remove(&oldest);
            }
        }
        let of_payer = failures.entry(payer).or_insert(Failures {
            weight: 0,
            last: now,
        });
        of_payer.weight = of_payer.weight.saturating_add(weight);
        of_payer.last = now;
    }

    fn check_payer(&self, payer: Address, now: UnixSeconds) -> Result<(), Refusal> {
        let mut failures = lock(&self.failures);
        match failures.get(&payer) {
            Some(of_payer) if now.since(of_payer.last) >= FAILURE_SECONDS => {
                failures.remove(&payer);
                Ok(())
            }
            Some(of_payer) if of_payer.weight >= FAILURES_MAX * FAILURE_WEIGHT => {
                Err(Refusal::new(
                    Code::RateLimited,
                    "Payments of this payer could not be settled or served several times, so nothing was done for this one \
                 and it was not used. Try again in ten minutes.",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Notes whether a payment is unfinished, and whether a retry credit holds it.
    pub fn note(
        &self,
        (payer, fingerprint): (Address, Fingerprint),
        key: PaymentKey,
        is_unfinished: bool,
        is_held: bool,
    ) {
        let mut unfinished = lock(&self.unfinished);
        unfinished.note_held(payer, key, is_held);
        let keys = &mut unfinished.by_purchase;
        if is_unfinished {
            let keys = keys.entry((payer, fingerprint)).or_default();
            if !keys.contains(&key) {
                keys.push(key);
            }
        } else if let Some(of_purchase) = keys.get_mut(&(payer, fingerprint)) {
            of_purchase.retain(|unfinished| *unfinished != key);
            if of_purchase.is_empty() {
                keys.remove(&(payer, fingerprint));
            }
        }
    }
}

impl Unfinished {
    fn note_held(&mut self, payer: Address, key: PaymentKey, is_held: bool) {
        let was_held = match is_held {
            true => self.held.insert(key, payer).is_some(),
            false => self.held.remove(&key).is_some(),
        };
        if is_held && !was_held {
            *self.held_of_payer.entry(payer).or_default() += 1;
        } else if was_held
            && !is_held
            && let Some(held) = self.held_of_payer.get_mut(&payer)
        {
            *held -= 1;
            if *held == 0 {
                self.held_of_payer.remove(&payer);
            }
        }
    }
}

impl Entries {
    fn remove(&mut self, payload_hash: &PayloadHash) {
        let Some(client) = self
            .by_payload
            .remove(payload_hash)
            .and_then(|entry| entry.client)
        else {
            return;
        };
        if let Some(others) = self.by_client.get_mut(&client) {
            *others -= 1;
            if *others == 0 {
                self.by_client.remove(&client);
            }
        }
    }
}

impl Run<'_> {
    /// Who waits for this run.
    pub fn clients(&self) -> Clients {
        self.clients.clone()
    }

    pub fn finish(mut self, outcome: &Outcome) {
        // Out of the table first: who comes now reads the store.
        self.leave();
        let _ = self.sender.send(Some(outcome.clone()));
    }

    /// Once: what stands under the same payload afterwards is somebody else's entry.
    fn leave(&mut self) {
        if !std::mem::replace(&mut self.has_finished, true) {
            lock(&self.in_flight.entries).remove(&self.payload_hash);
        }
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Reservation {
    /// `None` while somebody else holds the key.
    pub fn take(table: &Arc<InFlight>, key: PaymentKey) -> Option<Reservation> {
        lock(&table.reservations).insert(key).then(|| Reservation {
            table: table.clone(),
            key,
            place: None,
            purchase: None,
        })
    }

    /// Waits while somebody else holds the key, until `end` at most.
    pub async fn wait(table: &Arc<InFlight>, key: PaymentKey, end: Instant) -> Option<Reservation> {
        loop {
            let mut ended = std::pin::pin!(table.reservation_ended.notified());
            ended.as_mut().enable();
            if let Some(reservation) = Reservation::take(table, key) {
                return Some(reservation);
            }
            tokio::time::timeout_at(end, ended).await.ok()?;
        }
    }

    /// Makes the verified sale known as under way, as long as the reservation lives.
    pub fn enter(&mut self, payer: Address, fingerprint: Fingerprint, clients: Clients) {
        let purchase = (payer, fingerprint);
        let sale = UnderWay {
            payment: self.key,
            clients,
        };
        lock(&self.table.under_way)
            .entry(purchase)
            .or_default()
            .push(sale);
        self.purchase = Some(purchase);
    }

    /// Waits for one of the places that a payer's sales may take, and holds it until the settlement's end is known.
    pub async fn queue(&mut self, payer: Address, clock: &Clock) -> Result<(), Refusal> {
        let in_flight = &self.table;
        in_flight.unknown.check(payer)?;
        in_flight.check_payer(payer, clock.now())?;
        let place = in_flight.sales_of_payer.place(&hex::encode(payer.0)).await;
        self.place = Some(place.map_err(|_| {
            Refusal::new(
                Code::RateLimited,
                "Too many payments of this payer are under way. This one was not used: repeat the same request later.",
            )
        })?);
        // Those before it may have failed meanwhile.
        in_flight.check_payer(payer, clock.now())
    }

    pub fn key(&self) -> PaymentKey {
        self.key
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(purchase) = self.purchase {
            let mut under_way = lock(&self.table.under_way);
            if let Some(sales) = under_way.get_mut(&purchase) {
                sales.retain(|sale| sale.payment != self.key);
                if sales.is_empty() {
                    under_way.remove(&purchase);
                }
            }
        }
        lock(&self.table.reservations).remove(&self.key);
        self.table.reservation_ended.notify_waiters();
    }
}

impl ReservedIdentifier {
    /// `None` while somebody else holds it.
    pub fn take(table: &Arc<InFlight>, key: IdentifierKey) -> Option<ReservedIdentifier> {
        let is_free = lock(&table.identifiers).insert(key);
        is_free.then(|| ReservedIdentifier {
            table: table.clone(),
            key,
        })
    }

    pub fn key(&self) -> IdentifierKey {
        self.key
    }
}

impl Drop for ReservedIdentifier {
    fn drop(&mut self) {
        lock(&self.table.identifiers).remove(&self.key);
    }
}

/// The maps are changed by single operations: a panic elsewhere leaves them whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: Option<IpAddr> = Some(IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 7)));

    fn refused() -> Outcome {
        Err(Refusal::of(Code::Conflict))
    }

    #[test]
    fn a_landed_flight_does_not_clear_the_next_one_away() {
        let in_flight = InFlight::default();
        let Joined::First(first) =
            in_flight.join(PayloadHash([1; 32]), Fingerprint([2; 32]), CLIENT, None)
        else {
            panic!("the first works")
        };
        let Joined::Waits(mut outcome) =
            in_flight.join(PayloadHash([1; 32]), Fingerprint([2; 32]), CLIENT, None)
        else {
            panic!("it waits")
        };
        assert!(matches!(
            in_flight.join(PayloadHash([1; 32]), Fingerprint([3; 32]), CLIENT, None),
            Joined::Other
        ));
        first.finish(&refused());
        assert_eq!(outcome.borrow_and_update().clone(), Some(refused()));
        let Joined::First(second) =
            in_flight.join(PayloadHash([1; 32]), Fingerprint([2; 32]), CLIENT, None)
        else {
            panic!("the second works")
        };
        assert!(matches!(
            in_flight.join(PayloadHash([1; 32]), Fingerprint([2; 32]), CLIENT, None),
            Joined::Waits(_)
        ));
        drop(second);
        assert!(matches!(
            in_flight.join(PayloadHash([1; 32]), Fingerprint([2; 32]), CLIENT, None),
            Joined::First(_)
        ));
    }

    #[test]
    fn failures_are_remembered_for_a_while_and_within_bounds() {
        let in_flight = InFlight::default();
        let payer = |number: usize| {
            let mut payer = [0; 20];
            payer[..8].copy_from_slice(&number.to_be_bytes());
            payer
        };
        let at = |seconds: u64| UnixSeconds(1_795_000_000).plus(seconds);
        let is_served =
            |number: usize, now| in_flight.check_payer(Address(payer(number)), now).is_ok();
        for count in 0..FAILURES_MAX {
            assert!(is_served(0, at(0)), "after {count} failures");
            in_flight.note_end(Address(payer(0)), End::Failed, at(0));
        }
        assert!(!is_served(0, at(FAILURE_SECONDS - 1)) && is_served(1, at(0)));
        in_flight.note_end(Address(payer(0)), End::Settled, at(1));
        assert!(is_served(0, at(1)), "a settlement makes up for it");
        for _ in 0..FAILURES_MAX {
            in_flight.note_end(Address(payer(2)), End::Failed, at(2));
        }
        assert!(is_served(2, at(2 + FAILURE_SECONDS)));
        for number in 0..2 * FAILING_PAYERS_MAX {
            in_flight.note_end(Address(payer(number)), End::Failed, at(3));
        }
        assert!(lock(&in_flight.failures).len() <= FAILING_PAYERS_MAX);
    }

    #[test]
    fn one_client_has_so_many_payments_under_way_and_no_more() {
        let in_flight = InFlight::default();
        let payload = |number: usize| {
            let mut hash = [0; 32];
            hash[..8].copy_from_slice(&number.to_be_bytes());
            hash
        };
        let mut entries: Vec<_> = (0..PAYLOADS_OF_CLIENT_MAX)
            .map(|number| {
                in_flight.join(
                    PayloadHash(payload(number)),
                    Fingerprint([0; 32]),
                    CLIENT,
                    None,
                )
            })
            .collect();
        assert!(
            entries
                .iter()
                .all(|entry| matches!(entry, Joined::First(_)))
        );
        assert!(matches!(
            in_flight.join(PayloadHash([255; 32]), Fingerprint([0; 32]), CLIENT, None),
            Joined::TooMany
        ));
        assert!(matches!(
            in_flight.join(PayloadHash([255; 32]), Fingerprint([0; 32]), None, None),
            Joined::First(_)
        ));
        entries.pop();
        assert!(matches!(
            in_flight.join(PayloadHash([254; 32]), Fingerprint([0; 32]), CLIENT, None),
            Joined::First(_)
        ));
        entries.clear();
        assert!(
            lock(&in_flight.entries).by_client.is_empty(),
            "nothing is left behind"
        );
    }
}
