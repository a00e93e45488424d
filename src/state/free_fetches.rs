//! Pages that were fetched for free previews today, in all and for each client.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;

use crate::domain::rate::FreeQuota;
use crate::sync::lock;

/// Since every client that is remembered had a fetch, there are no more of them than fetches in a day.
#[derive(Debug, Default)]
pub struct FreeFetches(Mutex<Day>);

#[derive(Debug, Default)]
struct Day {
    number: u64,
    all: u64,
    clients: HashMap<IpAddr, Fetches>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Fetches {
    counted: u64,
    given_back: u64,
}

impl FreeFetches {
    /// Counts a fetch on a day if the quota allows one. The operator has no address and counts among all.
    pub fn take(&self, client: Option<IpAddr>, day: u64, quota: FreeQuota) -> bool {
        let mut today = lock(&self.0);
        if today.number != day {
            *today = Day {
                number: day,
                ..Day::default()
            };
        }
        let taken = client.and_then(|client| today.clients.get(&client));
        if today.all >= quota.all || taken.is_some_and(|taken| taken.counted >= quota.client) {
            return false;
        }
        today.all += 1;
        if let Some(client) = client {
            today.clients.entry(client).or_default().counted += 1;
        }
        true
    }

    /// A fetch that showed nothing does not count; as many of them as a client has fetches, so that nobody fetches without
    /// end.
    pub fn give_back(&self, client: Option<IpAddr>, day: u64, quota: FreeQuota) {
        let today = &mut *lock(&self.0);
        let Some(taken) = client.and_then(|client| today.clients.get_mut(&client)) else {
            return;
        };
        if today.number == day && taken.given_back < quota.client && taken.counted > 0 {
            taken.given_back += 1;
            taken.counted -= 1;
            today.all = today.all.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_so_many_for_each_and_for_all() {
        let fetches = FreeFetches::default();
        let client = |last: u8| Some(IpAddr::from([192, 0, 2, last]));
        let quota = FreeQuota { all: 3, client: 2 };
        let took = |last: u8, day: u64| fetches.take(client(last), day, quota);
        assert!(took(1, 7) && took(1, 7) && !took(1, 7), "two for a client");
        assert!(took(2, 7) && !took(3, 7), "three in all");
        assert!(took(1, 8), "the next day begins anew");
        for _ in 0..4 {
            fetches.give_back(client(1), 7, quota);
            fetches.give_back(client(7), 8, quota);
        }
        assert!(took(1, 8) && !took(1, 8), "that was another day, or nobody");
        let failed = |day| {
            let was_taken = took(1, day);
            fetches.give_back(client(1), day, quota);
            was_taken
        };
        assert!(failed(9) && failed(9), "what showed nothing does not count");
        assert!(failed(9) && failed(9) && !failed(9), "but not without end");
        let off = FreeQuota { all: 0, client: 2 };
        assert!(!fetches.take(client(9), 9, off), "switched off");
        assert_eq!(fetches.0.lock().expect("the day").clients.len(), 1);
    }
}
