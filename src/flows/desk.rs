//! The sales under way, in memory: what must not happen twice at the same time. Nothing here survives the process,
//! and nothing here needs to: a claim becomes durable when the goods are kept.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::app::Shared;
use crate::domain::payment::PaymentKey;
use crate::domain::purchase::Fingerprint;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::UnixSeconds;
use crate::flows::sale::Delivered;
use crate::outside::call::Shares;

/// Requests that may wait for the outcome of one identical request.
const FOLLOWERS_MAX: usize = 128;
/// Payments of one client that may be under way: until they are verified, an address is all that is known of it.
const FLIGHTS_OF_CLIENT_MAX: usize = 256;

/// Sales of one payer that are worked on and settled at the same time; further ones wait. One balance may have been
/// promised to all of them (safety A43).
const SALES_OF_PAYER_MAX: usize = 8;
const SALE_WAIT_MAX: Duration = Duration::from_secs(5);
/// Settlements of one payer that may fail for good, one after the other, before no more is done for it (safety A9).
const FAILURES_MAX: u8 = 3;
/// When a payer's last failure is forgotten.
const FAILURE_SECONDS: u64 = 600;
/// Payers whose failures are remembered; beyond that the oldest failure is forgotten.
const FAILING_PAYERS_MAX: usize = 4096;

pub type Outcome = Result<Delivered, Refusal>;

#[derive(Debug)]
pub struct Desk {
    flights: Mutex<Flights>,
    claims: Mutex<HashSet<PaymentKey>>,
    unfinished: Mutex<HashMap<(Payer, Fingerprint), PaymentKey>>,
    sales_of_payer: Shares,
    failures: Mutex<HashMap<Payer, Failures>>,
}

impl Default for Desk {
    fn default() -> Self {
        Desk {
            flights: Mutex::default(),
            claims: Mutex::default(),
            unfinished: Mutex::default(),
            sales_of_payer: Shares::new(SALES_OF_PAYER_MAX, SALE_WAIT_MAX),
            failures: Mutex::default(),
        }
    }
}

/// Settlements of a payer that have failed for good since the last that succeeded.
#[derive(Clone, Copy, Debug)]
struct Failures {
    count: u8,
    last: UnixSeconds,
}

type Payer = [u8; 20];

#[derive(Debug, Default)]
struct Flights {
    by_payload: HashMap<[u8; 32], Flight>,
    by_client: HashMap<IpAddr, usize>,
}

#[derive(Debug)]
struct Flight {
    fingerprint: Fingerprint,
    client: Option<IpAddr>,
    followers: usize,
    landed: watch::Receiver<Option<Outcome>>,
}

/// What boarding gave.
#[derive(Debug)]
pub enum Boarding<'a> {
    /// Ours to fly.
    Leader(Leader<'a>),
    /// The same payload for the same purchase is in the air: its outcome is ours too.
    Follower(watch::Receiver<Option<Outcome>>),
    /// The same payload is being used for something else.
    Other,
    /// Too many wait already.
    Full,
    /// This client has too many others in the air.
    TooMany,
}

/// The one run of a payload. Dropped without landing, its followers see the channel close.
#[derive(Debug)]
pub struct Leader<'a> {
    desk: &'a Desk,
    payload_hash: [u8; 32],
    land: watch::Sender<Option<Outcome>>,
    has_landed: bool,
}

/// A key that nobody else works on as long as this lives.
#[derive(Debug)]
pub struct Claim {
    app: Shared,
    key: PaymentKey,
    /// Among the sales of its payer.
    place: Option<OwnedSemaphorePermit>,
}

impl Desk {
    /// Single flight by the hash of the payload's bytes: before verification nothing else may be held, since a forged
    /// signature could otherwise block somebody's nonce.
    /// `client` is `None` for the operator.
    pub fn board(
        &self,
        payload_hash: [u8; 32],
        fingerprint: Fingerprint,
        client: Option<IpAddr>,
    ) -> Boarding<'_> {
        let mut flights = lock(&self.flights);
        if let Some(flight) = flights.by_payload.get_mut(&payload_hash) {
            if flight.fingerprint != fingerprint {
                return Boarding::Other;
            }
            if flight.followers >= FOLLOWERS_MAX {
                return Boarding::Full;
            }
            flight.followers += 1;
            return Boarding::Follower(flight.landed.clone());
        }
        if let Some(client) = client {
            let others = flights.by_client.entry(client).or_default();
            if *others >= FLIGHTS_OF_CLIENT_MAX {
                return Boarding::TooMany;
            }
            *others += 1;
        }
        let (land, landed) = watch::channel(None);
        flights.by_payload.insert(
            payload_hash,
            Flight {
                fingerprint,
                client,
                followers: 0,
                landed,
            },
        );
        Boarding::Leader(Leader {
            desk: self,
            payload_hash,
            land,
            has_landed: false,
        })
    }

    /// This buyer's payment for this purchase that is held by a credit or whose settlement is not known.
    pub fn unfinished(&self, payer: Payer, fingerprint: Fingerprint) -> Option<PaymentKey> {
        lock(&self.unfinished).get(&(payer, fingerprint)).copied()
    }

    /// Remembers how a payer's settlement has ended: whose settlements fail is worked for a few times only.
    pub fn note_end(&self, payer: Payer, has_failed: bool, now: UnixSeconds) {
        let mut failures = lock(&self.failures);
        if !has_failed {
            failures.remove(&payer);
            return;
        }
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
            count: 0,
            last: now,
        });
        of_payer.count = of_payer.count.saturating_add(1);
        of_payer.last = now;
    }

    fn check_payer(&self, payer: Payer, now: UnixSeconds) -> Result<(), Refusal> {
        let mut failures = lock(&self.failures);
        match failures.get(&payer) {
            Some(of_payer) if now.since(of_payer.last) >= FAILURE_SECONDS => {
                failures.remove(&payer);
                Ok(())
            }
            Some(of_payer) if of_payer.count >= FAILURES_MAX => Err(Refusal::new(
                Code::RateLimited,
                "Payments of this payer could not be settled several times, so nothing was done for this one and it was \
                 not used. Try again in ten minutes.",
            )),
            _ => Ok(()),
        }
    }

    pub fn note(
        &self,
        payer: Payer,
        fingerprint: Fingerprint,
        key: PaymentKey,
        is_unfinished: bool,
    ) {
        let mut unfinished = lock(&self.unfinished);
        if is_unfinished {
            unfinished.insert((payer, fingerprint), key);
        } else if unfinished.get(&(payer, fingerprint)) == Some(&key) {
            unfinished.remove(&(payer, fingerprint));
        }
    }
}

impl Flights {
    fn remove(&mut self, payload_hash: &[u8; 32]) {
        let Some(client) = self
            .by_payload
            .remove(payload_hash)
            .and_then(|flight| flight.client)
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

impl Leader<'_> {
    pub fn land(mut self, outcome: &Outcome) {
        // Out of the table first: who comes now reads the store.
        self.leave();
        let _ = self.land.send(Some(outcome.clone()));
    }

    /// Once: what stands under the same payload afterwards is somebody else's flight.
    fn leave(&mut self) {
        if !std::mem::replace(&mut self.has_landed, true) {
            lock(&self.desk.flights).remove(&self.payload_hash);
        }
    }
}

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Claim {
    /// `None` while somebody else holds the key.
    pub fn take(app: &Shared, key: PaymentKey) -> Option<Claim> {
        lock(&app.desk.claims).insert(key).then(|| Claim {
            app: app.clone(),
            key,
            place: None,
        })
    }

    /// Waits for one of the places that a payer's sales may take, and holds it until the settlement's end is known.
    pub async fn queue(&mut self, payer: Payer) -> Result<(), Refusal> {
        let desk = &self.app.desk;
        desk.check_payer(payer, self.app.now())?;
        let place = desk.sales_of_payer.place(&hex::encode(payer)).await;
        self.place = Some(place.map_err(|_| {
            Refusal::new(
                Code::RateLimited,
                "Too many payments of this payer are under way. This one was not used: repeat the same request later.",
            )
        })?);
        // Those before it may have failed meanwhile.
        desk.check_payer(payer, self.app.now())
    }

    pub fn key(&self) -> PaymentKey {
        self.key
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        lock(&self.app.desk.claims).remove(&self.key);
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
        let desk = Desk::default();
        let Boarding::Leader(first) = desk.board([1; 32], [2; 32], CLIENT) else {
            panic!("the first leads")
        };
        let Boarding::Follower(mut landed) = desk.board([1; 32], [2; 32], CLIENT) else {
            panic!("it follows")
        };
        assert!(matches!(
            desk.board([1; 32], [3; 32], CLIENT),
            Boarding::Other
        ));
        first.land(&refused());
        assert_eq!(landed.borrow_and_update().clone(), Some(refused()));
        let Boarding::Leader(second) = desk.board([1; 32], [2; 32], CLIENT) else {
            panic!("the second leads")
        };
        assert!(matches!(
            desk.board([1; 32], [2; 32], CLIENT),
            Boarding::Follower(_)
        ));
        drop(second);
        assert!(matches!(
            desk.board([1; 32], [2; 32], CLIENT),
            Boarding::Leader(_)
        ));
    }

    #[test]
    fn failures_are_remembered_for_a_while_and_within_bounds() {
        let desk = Desk::default();
        let payer = |number: usize| {
            let mut payer = [0; 20];
            payer[..8].copy_from_slice(&number.to_be_bytes());
            payer
        };
        let at = |seconds: u64| UnixSeconds(1_795_000_000).plus(seconds);
        let is_served = |number: usize, now| desk.check_payer(payer(number), now).is_ok();
        for count in 0..FAILURES_MAX {
            assert!(is_served(0, at(0)), "after {count} failures");
            desk.note_end(payer(0), true, at(0));
        }
        assert!(!is_served(0, at(FAILURE_SECONDS - 1)) && is_served(1, at(0)));
        desk.note_end(payer(0), false, at(1));
        assert!(is_served(0, at(1)), "a settlement makes up for it");
        for _ in 0..FAILURES_MAX {
            desk.note_end(payer(2), true, at(2));
        }
        assert!(is_served(2, at(2 + FAILURE_SECONDS)));
        for number in 0..2 * FAILING_PAYERS_MAX {
            desk.note_end(payer(number), true, at(3));
        }
        assert!(lock(&desk.failures).len() <= FAILING_PAYERS_MAX);
    }

    #[test]
    fn one_client_has_so_many_payments_in_the_air_and_no_more() {
        let desk = Desk::default();
        let payload = |number: usize| {
            let mut hash = [0; 32];
            hash[..8].copy_from_slice(&number.to_be_bytes());
            hash
        };
        let mut flights: Vec<_> = (0..FLIGHTS_OF_CLIENT_MAX)
            .map(|number| desk.board(payload(number), [0; 32], CLIENT))
            .collect();
        assert!(
            flights
                .iter()
                .all(|flight| matches!(flight, Boarding::Leader(_)))
        );
        assert!(matches!(
            desk.board([255; 32], [0; 32], CLIENT),
            Boarding::TooMany
        ));
        assert!(matches!(
            desk.board([255; 32], [0; 32], None),
            Boarding::Leader(_)
        ));
        flights.pop();
        assert!(matches!(
            desk.board([254; 32], [0; 32], CLIENT),
            Boarding::Leader(_)
        ));
        flights.clear();
        assert!(
            lock(&desk.flights).by_client.is_empty(),
            "nothing is left behind"
        );
    }
}
