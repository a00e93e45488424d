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
    clients: HashMap<IpAddr, u64>,
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
        let taken = client.and_then(|client| today.clients.get(&client).copied());
        if today.all >= quota.all || taken.unwrap_or(0) >= quota.client {
            return false;
        }
        today.all += 1;
        if let Some(client) = client {
            *today.clients.entry(client).or_default() += 1;
        }
        true
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
        let off = FreeQuota { all: 0, client: 2 };
        assert!(!fetches.take(client(9), 8, off), "switched off");
        assert_eq!(fetches.0.lock().expect("the day").clients.len(), 1);
    }
}
