//! Sales in progress, in memory: identical requests share one sale, and payments are reserved. A reservation becomes
//! durable when the goods are stored.

mod answers;
mod arrivals;
pub mod delivered;
mod payers;
mod payloads;
mod unfinished;

pub use answers::Answers;
pub use arrivals::{Arrival, Arrivals};
pub use payers::{FailingPayers, PaymentEnd};
pub use payloads::{Clients, Joined, Outcome, Payloads, Run};
pub use unfinished::{HELD_MAX, HELD_OF_PAYER_MAX, Unfinished};

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit};
use tokio::time::Instant;

use crate::domain::code::Code;
use crate::domain::evm::Address;
use crate::domain::keys::{Fingerprint, IdentifierKey, PaymentKey};
use crate::domain::refusal::Refusal;
use crate::outside::call::KeyedLimit;
use crate::outside::clock::Clock;
use crate::state::unknown::Unknown;
use crate::sync::lock;

/// Sales of one payer that are worked on and settled at the same time; further ones wait. One balance may have been
/// promised to all of them.
const SALES_OF_PAYER_MAX: usize = 8;
const SALE_WAIT_MAX: Duration = Duration::from_secs(5);

/// Everything that is known of sales in progress.
#[derive(Debug)]
pub struct InFlight {
    /// Requests being worked on, by what they pay with.
    pub payloads: Payloads,
    /// What they say they buy.
    pub arrivals: Arrivals,
    /// Payments that a payer's next one has to be compared with.
    pub unfinished: Unfinished,
    /// Answers on their way.
    pub answers: Answers,
    /// Payers whose payments fail.
    pub failing: FailingPayers,
    /// The unknown settlements of each payer.
    pub unknown: Unknown,
    reservations: Mutex<HashSet<PaymentKey>>,
    identifiers: Mutex<HashSet<IdentifierKey>>,
    /// Woken whenever a reservation ends.
    reservation_ended: Notify,
    /// Verified sales that are being worked on or settled, by what is bought.
    under_way: Mutex<HashMap<(Address, Fingerprint), Vec<UnderWay>>>,
    sales_of_payer: KeyedLimit,
}

#[derive(Debug)]
struct UnderWay {
    payment: PaymentKey,
    clients: Clients,
    /// Its turn to be settled has come.
    is_settling: bool,
}

impl Default for InFlight {
    fn default() -> Self {
        InFlight {
            payloads: Payloads::default(),
            arrivals: Arrivals::default(),
            unfinished: Unfinished::default(),
            answers: Answers::default(),
            failing: FailingPayers::default(),
            unknown: Unknown::default(),
            reservations: Mutex::default(),
            identifiers: Mutex::default(),
            reservation_ended: Notify::new(),
            under_way: Mutex::default(),
            sales_of_payer: KeyedLimit::new(SALES_OF_PAYER_MAX, SALE_WAIT_MAX),
        }
    }
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

impl InFlight {
    /// This payer's payments for this purchase that may concern the next one: unfinished, or under way for clients that have
    /// left. They are to be looked at again: what is known here may be older than the record.
    pub fn earlier(&self, purchase: (Address, Fingerprint)) -> Vec<PaymentKey> {
        let mut earlier = self.unfinished.of(purchase);
        if let Some(sales) = lock(&self.under_way).get(&purchase) {
            let left = sales.iter().filter(|sale| sale.clients.have_left());
            earlier.extend(left.map(|sale| sale.payment));
        }
        earlier.sort_unstable();
        earlier.dedup();
        earlier
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
            is_settling: false,
        };
        lock(&self.table.under_way)
            .entry(purchase)
            .or_default()
            .push(sale);
        self.purchase = Some(purchase);
    }

    /// Waits until no other sale of the same purchase is being settled, until `end` at most, and takes the turn for as long as
    /// the reservation lives. `false`: it has not come.
    pub async fn wait_for_turn(&self, end: Instant) -> bool {
        loop {
            let mut ended = std::pin::pin!(self.table.reservation_ended.notified());
            ended.as_mut().enable();
            if self.take_turn() {
                return true;
            }
            if tokio::time::timeout_at(end, ended).await.is_err() {
                return false;
            }
        }
    }

    fn take_turn(&self) -> bool {
        let mut under_way = lock(&self.table.under_way);
        let Some(sales) = self
            .purchase
            .and_then(|purchase| under_way.get_mut(&purchase))
        else {
            return true;
        };
        let mut others = sales.iter().filter(|sale| sale.payment != self.key);
        let is_free = !others.any(|sale| sale.is_settling);
        for sale in sales.iter_mut().filter(|sale| sale.payment == self.key) {
            sale.is_settling |= is_free;
        }
        is_free
    }

    /// Whether nobody waits for this sale, while another payment for the same purchase is worked on for somebody, or was
    /// settled after this one arrived. The buyer has signed a new payment, so settling this one would charge twice.
    pub fn yields(&self, arrival: &Arrival) -> bool {
        let under_way = lock(&self.table.under_way);
        let Some(sales) = self.purchase.and_then(|purchase| under_way.get(&purchase)) else {
            return false;
        };
        let (own, others): (Vec<_>, Vec<_>) =
            sales.iter().partition(|sale| sale.payment == self.key);
        let is_left = own.iter().all(|sale| sale.clients.have_left());
        is_left && (arrival.is_superseded() || others.iter().any(|sale| !sale.clients.have_left()))
    }

    /// The payment stays among those that a next one for the same purchase is compared with, although its record could not
    /// be written.
    pub fn leave_unfinished(&self) {
        if let Some(purchase) = self.purchase {
            let unfinished = &self.table.unfinished;
            unfinished.note(purchase, self.key, true, false);
        }
    }

    /// The purchase is settled.
    pub fn supersede_others(&self) {
        if let Some(purchase) = self.purchase {
            self.table.arrivals.supersede(purchase);
        }
    }

    /// Waits for one of the places that a payer's sales may take, and holds it until the settlement's end is known.
    pub async fn queue(&mut self, payer: Address, clock: &Clock) -> Result<(), Refusal> {
        let in_flight = &self.table;
        in_flight.unknown.check(payer)?;
        in_flight.failing.check(payer, clock.now())?;
        let place = in_flight.sales_of_payer.place(&hex::encode(payer.0)).await;
        self.place = Some(place.map_err(|_| {
            Refusal::new(
                Code::RateLimited,
                "Too many payments of this payer are under way. This one was not used: repeat the same request later.",
            )
        })?);
        // Those before it may have failed meanwhile.
        in_flight.failing.check(payer, clock.now())
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

#[cfg(test)]
mod tests {
    use super::*;

    const PURCHASE: (Address, Fingerprint) = (Address([1; 20]), Fingerprint([2; 32]));

    fn entered(table: &Arc<InFlight>, payment: u8, clients: Clients) -> Reservation {
        let mut reservation =
            Reservation::take(table, PaymentKey([payment; 32])).expect("a free key");
        reservation.enter(PURCHASE.0, PURCHASE.1, clients);
        reservation
    }

    /// The clients of a sale that nobody waits for.
    fn left() -> Clients {
        let clients = Clients::default();
        assert!(clients.have_left());
        clients
    }

    fn waiting(payloads: &Payloads, payload: u8) -> Run<'_> {
        let hash = crate::domain::keys::PayloadHash([payload; 32]);
        match payloads.join(hash, PURCHASE.1, None, None) {
            Joined::First(run) => run,
            _ => panic!("nobody else works on it"),
        }
    }

    #[test]
    fn a_sale_yields_when_its_client_has_left_and_asked_again() {
        let table = Arc::new(InFlight::default());
        let arrival = Arrival::enter(&table, PURCHASE);
        let first = entered(&table, 1, left());
        assert!(!first.yields(&arrival), "nobody has asked again");
        let run = waiting(&table.payloads, 2);
        let second = entered(&table, 2, run.clients());
        assert!(first.yields(&arrival), "another is worked on");
        assert!(!second.yields(&arrival), "its client waits");
        drop(second);
        assert!(!first.yields(&arrival));
        entered(&table, 3, left()).supersede_others();
        assert!(first.yields(&arrival), "another was settled");
        let later = Arrival::enter(&table, PURCHASE);
        assert!(!first.yields(&later), "before this one came");
    }

    #[tokio::test]
    async fn sales_of_one_purchase_are_settled_one_after_the_other() {
        let table = Arc::new(InFlight::default());
        let (first, second) = (entered(&table, 1, left()), entered(&table, 2, left()));
        let soon = || Instant::now() + Duration::from_millis(20);
        assert!(first.wait_for_turn(soon()).await);
        assert!(first.wait_for_turn(soon()).await, "it has it already");
        assert!(!second.wait_for_turn(soon()).await);
        let mut other = Reservation::take(&table, PaymentKey([3; 32])).expect("a free key");
        other.enter(Address([4; 20]), PURCHASE.1, left());
        assert!(other.wait_for_turn(soon()).await, "of another payer");
        let later = Instant::now() + Duration::from_secs(60);
        let (turn, ()) = tokio::join!(second.wait_for_turn(later), async { drop(first) });
        assert!(turn);
    }

    #[test]
    fn a_payment_whose_outcome_is_not_recorded_is_found() {
        let table = Arc::new(InFlight::default());
        let run = waiting(&table.payloads, 1);
        let sale = entered(&table, 1, run.clients());
        assert_eq!(table.earlier(PURCHASE), []);
        sale.leave_unfinished();
        drop(sale);
        let found = table.earlier(PURCHASE);
        assert_eq!(found, [PaymentKey([1; 32])]);
    }
}
