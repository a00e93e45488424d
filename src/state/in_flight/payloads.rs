//! Single flight: identical requests share one sale.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::domain::keys::{Fingerprint, PayloadHash};
use crate::domain::refusal::Refusal;
use crate::state::in_flight::delivered::Delivered;
use crate::sync::lock;

/// Requests that may wait for the outcome of one identical request.
const WAITING_MAX: usize = 128;
/// Payments of one client that may be under way: until they are verified, an address is all that is known of it.
const PAYLOADS_OF_CLIENT_MAX: usize = 256;
/// How often it is looked whether clients have left.
const LOOK: Duration = Duration::from_millis(20);

pub type Outcome = Result<Delivered, Refusal>;

/// Alive as long as a client waits for its answer. `None`: nobody can leave.
type Waiting = Option<Weak<()>>;

/// The clients that wait for one sale: the one that began it and those that sent the same request meanwhile.
#[derive(Clone, Debug, Default)]
pub struct Clients(Arc<Mutex<Vec<Waiting>>>);

impl Clients {
    pub fn of(waiting: Waiting) -> Clients {
        Clients(Arc::new(Mutex::new(vec![waiting])))
    }

    fn join(&self, waiting: Waiting) {
        lock(&self.0).push(waiting);
    }

    /// Whether all of them leave within this time.
    pub async fn leave_within(&self, time_max: Duration) -> bool {
        let end = Instant::now() + time_max;
        while !self.have_left() {
            if Instant::now() >= end {
                return false;
            }
            tokio::time::sleep(LOOK).await;
        }
        true
    }

    pub(super) fn have_left(&self) -> bool {
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

/// The payloads being worked on.
#[derive(Debug, Default)]
pub struct Payloads(Mutex<Entries>);

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
    payloads: &'a Payloads,
    payload_hash: PayloadHash,
    clients: Clients,
    sender: watch::Sender<Option<Outcome>>,
    has_finished: bool,
}

impl Payloads {
    /// Whether nothing is being worked on.
    pub fn is_empty(&self) -> bool {
        lock(&self.0).by_payload.is_empty()
    }

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
        let mut entries = lock(&self.0);
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
            payloads: self,
            payload_hash,
            clients,
            sender,
            has_finished: false,
        })
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
            lock(&self.payloads.0).remove(&self.payload_hash);
        }
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::code::Code;

    const CLIENT: Option<IpAddr> = Some(IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 7)));

    fn refused() -> Outcome {
        Err(Refusal::of(Code::Conflict))
    }

    #[test]
    fn a_landed_flight_does_not_clear_the_next_one_away() {
        let payloads = Payloads::default();
        let Joined::First(first) =
            payloads.join(PayloadHash([1; 32]), Fingerprint([2; 32]), CLIENT, None)
        else {
            panic!("the first works")
        };
        let Joined::Waits(mut outcome) =
            payloads.join(PayloadHash([1; 32]), Fingerprint([2; 32]), CLIENT, None)
        else {
            panic!("it waits")
        };
        assert!(matches!(
            payloads.join(PayloadHash([1; 32]), Fingerprint([3; 32]), CLIENT, None),
            Joined::Other
        ));
        first.finish(&refused());
        assert_eq!(outcome.borrow_and_update().clone(), Some(refused()));
        let Joined::First(second) =
            payloads.join(PayloadHash([1; 32]), Fingerprint([2; 32]), CLIENT, None)
        else {
            panic!("the second works")
        };
        assert!(matches!(
            payloads.join(PayloadHash([1; 32]), Fingerprint([2; 32]), CLIENT, None),
            Joined::Waits(_)
        ));
        drop(second);
        assert!(matches!(
            payloads.join(PayloadHash([1; 32]), Fingerprint([2; 32]), CLIENT, None),
            Joined::First(_)
        ));
    }

    #[test]
    fn one_client_has_so_many_payments_under_way_and_no_more() {
        let payloads = Payloads::default();
        let payload = |number: usize| {
            let mut hash = [0; 32];
            hash[..8].copy_from_slice(&number.to_be_bytes());
            hash
        };
        let mut entries: Vec<_> = (0..PAYLOADS_OF_CLIENT_MAX)
            .map(|number| {
                payloads.join(
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
            payloads.join(PayloadHash([255; 32]), Fingerprint([0; 32]), CLIENT, None),
            Joined::TooMany
        ));
        assert!(matches!(
            payloads.join(PayloadHash([255; 32]), Fingerprint([0; 32]), None, None),
            Joined::First(_)
        ));
        entries.pop();
        assert!(matches!(
            payloads.join(PayloadHash([254; 32]), Fingerprint([0; 32]), CLIENT, None),
            Joined::First(_)
        ));
        entries.clear();
        assert!(
            lock(&payloads.0).by_client.is_empty(),
            "nothing is left behind"
        );
    }
}
