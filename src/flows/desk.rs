//! The sales under way, in memory: what must not happen twice at the same time. Nothing here survives the process,
//! and nothing here needs to: a claim becomes durable when the goods are kept.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use tokio::sync::watch;

use crate::app::Shared;
use crate::domain::payment::PaymentKey;
use crate::domain::purchase::Fingerprint;
use crate::domain::refusal::Refusal;
use crate::flows::sale::Delivered;

/// Requests that may wait for the outcome of one identical request.
const FOLLOWERS_MAX: usize = 128;

pub type Outcome = Result<Delivered, Refusal>;

#[derive(Debug, Default)]
pub struct Desk {
    flights: Mutex<HashMap<[u8; 32], Flight>>,
    claims: Mutex<HashSet<PaymentKey>>,
    unfinished: Mutex<HashMap<(Payer, Fingerprint), PaymentKey>>,
}

type Payer = [u8; 20];

#[derive(Debug)]
struct Flight {
    fingerprint: Fingerprint,
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
}

/// The one run of a payload. Dropped without landing, its followers see the channel close.
#[derive(Debug)]
pub struct Leader<'a> {
    desk: &'a Desk,
    payload_hash: [u8; 32],
    land: watch::Sender<Option<Outcome>>,
}

/// A key that nobody else works on as long as this lives.
#[derive(Debug)]
pub struct Claim {
    app: Shared,
    key: PaymentKey,
}

impl Desk {
    /// Single flight by the hash of the payload's bytes: before verification nothing else may be held, since a forged
    /// signature could otherwise block somebody's nonce.
    pub fn board(&self, payload_hash: [u8; 32], fingerprint: Fingerprint) -> Boarding<'_> {
        let mut flights = lock(&self.flights);
        match flights.get_mut(&payload_hash) {
            Some(flight) if flight.fingerprint != fingerprint => Boarding::Other,
            Some(flight) if flight.followers >= FOLLOWERS_MAX => Boarding::Full,
            Some(flight) => {
                flight.followers += 1;
                Boarding::Follower(flight.landed.clone())
            }
            None => {
                let (land, landed) = watch::channel(None);
                flights.insert(
                    payload_hash,
                    Flight {
                        fingerprint,
                        followers: 0,
                        landed,
                    },
                );
                Boarding::Leader(Leader {
                    desk: self,
                    payload_hash,
                    land,
                })
            }
        }
    }

    /// This buyer's payment for this purchase that is held by a credit or whose settlement is not known.
    pub fn unfinished(&self, payer: Payer, fingerprint: Fingerprint) -> Option<PaymentKey> {
        lock(&self.unfinished).get(&(payer, fingerprint)).copied()
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

impl Leader<'_> {
    pub fn land(self, outcome: &Outcome) {
        // Out of the table first: who comes now reads the store.
        lock(&self.desk.flights).remove(&self.payload_hash);
        let _ = self.land.send(Some(outcome.clone()));
    }
}

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        lock(&self.desk.flights).remove(&self.payload_hash);
    }
}

impl Claim {
    /// `None` while somebody else holds the key.
    pub fn take(app: &Shared, key: PaymentKey) -> Option<Claim> {
        lock(&app.desk.claims).insert(key).then(|| Claim {
            app: app.clone(),
            key,
        })
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
