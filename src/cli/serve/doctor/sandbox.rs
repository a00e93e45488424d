//! Addresses that systemd keeps the service from. Doctor runs outside of the unit and reaches them, so that a name server
//! or an upstream with a private address looks fine to it.

use std::net::IpAddr;
use std::process::Command;

use crate::cli::serve::doctor::Finding;
use crate::outside::probe;

const SHOW: [&str; 5] = [
    "show",
    "context402.service",
    "--property=LoadState",
    "--property=IPAddressAllow",
    "--property=IPAddressDeny",
];

/// What the unit's rules say of name servers and of these hosts. `None` without the unit.
pub(super) fn sandbox(hosts: &[(&'static str, String)]) -> Option<Finding> {
    let shown = Command::new("systemctl").args(SHOW).output().ok()?;
    let shown = String::from_utf8(shown.stdout).ok()?;
    let rules = Rules::of(&shown)?;
    let mut needed: Vec<(&str, IpAddr)> = probe::name_servers()
        .into_iter()
        .map(|address| ("name server", address))
        .collect();
    // Buyers come to our own name; the service does not.
    for (what, host) in hosts.iter().filter(|(what, _)| *what != super::OWN_NAME) {
        let found = probe::resolve(host).unwrap_or_default();
        needed.extend(found.into_iter().map(|address| (*what, address)));
    }
    Some(rules.judge(&needed))
}

/// An address and the length of its prefix.
type Range = (IpAddr, u32);

#[derive(Debug, Default)]
struct Rules {
    allow: Vec<Range>,
    deny: Vec<Range>,
}

impl Rules {
    /// As `systemctl show` prints them. `None` for a unit that is not loaded.
    fn of(shown: &str) -> Option<Rules> {
        let value = |name: &str| {
            let mut lines = shown.lines();
            lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
        };
        let ranges = |name| {
            let ranges = value(name).unwrap_or_default().split_ascii_whitespace();
            ranges.filter_map(range).collect()
        };
        (value("LoadState") == Some("loaded")).then(|| Rules {
            allow: ranges("IPAddressAllow"),
            deny: ranges("IPAddressDeny"),
        })
    }

    fn bars(&self, address: IpAddr) -> bool {
        let is_in = |ranges: &[Range]| ranges.iter().any(|range| contains(*range, address));
        is_in(&self.deny) && !is_in(&self.allow)
    }

    fn judge(&self, needed: &[(&str, IpAddr)]) -> Finding {
        let barred = needed.iter().filter(|(_, address)| self.bars(*address));
        let named: Vec<String> = barred
            .clone()
            .map(|(what, address)| format!("{address} ({what})"))
            .collect();
        let allowed: Vec<String> = barred.map(|(_, address)| address.to_string()).collect();
        match named.is_empty() {
            true => {
                Finding::Good("the unit's IPAddressDeny bars nothing that is needed".to_owned())
            }
            false => Finding::Bad(format!(
                "the unit blocks the service from {}, which this command can reach: run `systemctl edit context402` and \
                 write [Service] and IPAddressAllow={}",
                named.join(", "),
                allowed.join(" ")
            )),
        }
    }
}

fn range(text: &str) -> Option<Range> {
    let (address, length) = text.split_once('/')?;
    Some((address.parse().ok()?, length.parse().ok()?))
}

fn contains((base, length): Range, address: IpAddr) -> bool {
    let same = |one: u128, other: u128, bits: u32| {
        let rest = bits.saturating_sub(length);
        one.checked_shr(rest) == other.checked_shr(rest)
    };
    match (base, address) {
        (IpAddr::V4(base), IpAddr::V4(address)) => same(
            u128::from(u32::from(base)),
            u128::from(u32::from(address)),
            32,
        ),
        (IpAddr::V6(base), IpAddr::V6(address)) => same(base.into(), address.into(), 128),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_unit_bars_is_named_with_the_line_that_allows_it() {
        let shown =
            "LoadState=loaded\nIPAddressAllow=10.0.0.53/32\nIPAddressDeny=10.0.0.0/8 fc00::/7\n";
        let rules = Rules::of(shown).expect("a loaded unit");
        for (address, is_barred) in [
            ("10.0.0.2", true),
            ("10.0.0.53", false),
            ("11.0.0.2", false),
            ("127.0.0.53", false),
            ("fd00::1", true),
            ("2606:4700::1111", false),
        ] {
            assert_eq!(
                rules.bars(address.parse().expect("an address")),
                is_barred,
                "{address}"
            );
        }
        let needed = |text: &str| [("name server", text.parse().expect("an address"))];
        let Finding::Bad(text) = rules.judge(&needed("10.0.0.2")) else {
            panic!("it is not named")
        };
        assert!(text.contains("10.0.0.2 (name server)"), "{text}");
        assert!(text.ends_with("IPAddressAllow=10.0.0.2"), "{text}");
        assert!(matches!(rules.judge(&needed("1.1.1.1")), Finding::Good(_)));
        // Everything, as systemd writes `any`.
        let any = Rules::of("LoadState=loaded\nIPAddressDeny=::/0 0.0.0.0/0\n").expect("loaded");
        assert!(any.bars("1.1.1.1".parse().expect("an address")));
        assert!(any.bars("::1".parse().expect("an address")));
        assert!(Rules::of("LoadState=not-found\n").is_none());
    }
}
