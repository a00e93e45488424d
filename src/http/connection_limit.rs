//! Limits the connections of each client, an IPv4 address or an IPv6 /64. There are never more entries than connections.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::sync::lock;

/// The open connections of all clients. Cheap to clone.
#[derive(Clone, Debug)]
pub(in crate::http) struct ConnectionLimit {
    /// `None` counts nobody.
    of_client_max: Option<usize>,
    open: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// One connection of a client; it is counted until this is gone.
#[derive(Debug)]
pub(in crate::http) struct ConnectionPermit {
    connection_limit: ConnectionLimit,
    client: IpAddr,
}

/// The client has as many connections as it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) struct Full;

impl ConnectionLimit {
    pub(in crate::http) fn new(of_client_max: Option<usize>) -> ConnectionLimit {
        ConnectionLimit {
            of_client_max,
            open: Arc::default(),
        }
    }

    /// Counts a connection; `Ok(None)` where nobody is counted.
    pub(in crate::http) fn join(&self, address: IpAddr) -> Result<Option<ConnectionPermit>, Full> {
        let Some(most) = self.of_client_max else {
            return Ok(None);
        };
        let client = client(address);
        let mut open = self.open();
        let count = open.get(&client).copied().unwrap_or(0);
        if count >= most {
            return Err(Full);
        }
        open.insert(client, count + 1);
        Ok(Some(ConnectionPermit {
            connection_limit: self.clone(),
            client,
        }))
    }

    /// Nothing panics while it is held.
    fn open(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        lock(&self.open)
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut open = self.connection_limit.open();
        match open.get_mut(&self.client) {
            Some(count) if *count > 1 => *count -= 1,
            _ => {
                open.remove(&self.client);
            }
        }
    }
}

/// Anyone who has one address of an IPv6 network mostly has all of its /64.
fn client(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << 64))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn a_client_s_connections_are_counted_until_they_end() {
        let connection_limit = ConnectionLimit::new(Some(2));
        let first = connection_limit.join(address("192.0.2.1"));
        let second = connection_limit.join(address("192.0.2.1"));
        assert!(matches!((&first, &second), (Ok(Some(_)), Ok(Some(_)))));
        assert!(connection_limit.join(address("192.0.2.1")).is_err());
        assert!(connection_limit.join(address("192.0.2.2")).is_ok());
        drop(first);
        assert!(connection_limit.join(address("192.0.2.1")).is_ok());
        drop(second);
        assert_eq!(connection_limit.open().len(), 0, "nobody is remembered");
    }

    #[test]
    fn a_network_of_ipv6_is_one_client() {
        let connection_limit = ConnectionLimit::new(Some(1));
        let held = connection_limit.join(address("2001:db8:0:1::1"));
        assert!(
            connection_limit
                .join(address("2001:db8:0:1:ffff::2"))
                .is_err()
        );
        assert!(connection_limit.join(address("2001:db8:0:2::1")).is_ok());
        drop(held);
    }

    #[test]
    fn where_nobody_is_counted_everybody_gets_in() {
        let connection_limit = ConnectionLimit::new(None);
        assert!(matches!(
            connection_limit.join(address("192.0.2.1")),
            Ok(None)
        ));
    }
}
