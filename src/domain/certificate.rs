//! What an X.509 certificate states (RFC 5280), read from its DER, and when it is renewed. It checks no signature: a
//! certificate comes from the operator's files or from the certificate authority.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use sha2::{Digest as _, Sha256};

use crate::domain::time::{DAY_SECONDS, UnixSeconds};

/// The facts of one certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// Its host names and addresses, as its subject alternative names list them.
    pub names: Vec<String>,
    /// The organisation and common name of who signed it.
    pub issuer: String,
    pub not_before: UnixSeconds,
    pub not_after: UnixSeconds,
    /// The serial number's bytes, and the authority's key identifier: together they name the certificate (RFC 9773).
    pub serial: Vec<u8>,
    pub authority_key: Option<Vec<u8>>,
    /// Differs between certificates; for times that should not be the same everywhere.
    spread: u64,
}

/// Failed orders that a day may have. Certificate authorities lock out names that fail more often.
pub const FAILED_ORDERS_OF_DAY_MAX: usize = 5;
/// From the first failure to the second try; each further wait is longer by [`RETRY_FACTOR`].
const RETRY_SECONDS_MIN: u64 = 60;
const RETRY_FACTOR: u64 = 8;
const RETRY_SECONDS_MAX: u64 = 12 * 3600;
/// The part of a certificate's lifetime over which renewals are spread.
const SPREAD_PART: u64 = 30;

const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
const OBJECT: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
/// Members of a subject alternative name, and of an authority key identifier.
const DNS_NAME: u8 = 0x82;
const IP_ADDRESS: u8 = 0x87;
const KEY_IDENTIFIER: u8 = 0x80;

const ORGANISATION: [u8; 3] = [0x55, 0x04, 0x0a];
const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];
const ALTERNATIVE_NAMES: [u8; 3] = [0x55, 0x1d, 0x11];
const AUTHORITY_KEY: [u8; 3] = [0x55, 0x1d, 0x23];

impl Certificate {
    /// Reads the DER of a certificate.
    pub fn parse(der: &[u8]) -> Option<Certificate> {
        let spread = Sha256::digest(der);
        let (mut der, mut signed) = (der, &[][..]);
        for _ in 0..2 {
            signed = expect(&mut der, SEQUENCE)?;
            der = signed;
        }
        let mut rest = signed;
        if rest.first() == Some(&VERSION) {
            element(&mut rest)?;
        }
        let serial = expect(&mut rest, INTEGER)?.to_vec();
        expect(&mut rest, SEQUENCE)?;
        let issuer = name(expect(&mut rest, SEQUENCE)?)?;
        let mut validity = expect(&mut rest, SEQUENCE)?;
        let (not_before, not_after) = (time(&mut validity)?, time(&mut validity)?);
        let mut certificate = Certificate {
            names: Vec::new(),
            issuer,
            not_before,
            not_after,
            serial,
            authority_key: None,
            spread: u64::from_be_bytes(spread[..8].try_into().ok()?),
        };
        while let Some((tag, content)) = element(&mut rest) {
            if tag == EXTENSIONS {
                certificate.extend(content)?;
            }
        }
        Some(certificate)
    }

    fn extend(&mut self, mut extensions: &[u8]) -> Option<()> {
        let mut extensions = expect(&mut extensions, SEQUENCE)?;
        while !extensions.is_empty() {
            let mut extension = expect(&mut extensions, SEQUENCE)?;
            let kind = expect(&mut extension, OBJECT)?;
            let (mut tag, mut value) = element(&mut extension)?;
            if tag != OCTETS {
                // Whether it is critical stands before it.
                (tag, value) = element(&mut extension)?;
            }
            if tag != OCTETS || (kind != ALTERNATIVE_NAMES && kind != AUTHORITY_KEY) {
                continue;
            }
            let mut members = expect(&mut value, SEQUENCE)?;
            while let Some((tag, content)) = element(&mut members) {
                match tag {
                    DNS_NAME if kind == ALTERNATIVE_NAMES => {
                        let name = std::str::from_utf8(content).ok()?;
                        self.names.push(name.to_ascii_lowercase());
                    }
                    IP_ADDRESS if kind == ALTERNATIVE_NAMES => self.names.extend(address(content)),
                    KEY_IDENTIFIER if kind == AUTHORITY_KEY => {
                        self.authority_key = Some(content.to_vec());
                    }
                    _ => {}
                }
            }
        }
        Some(())
    }

    /// Whether it is for this host. An asterisk stands for one label (RFC 9525).
    pub fn is_for(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let parent = host.split_once('.').map(|(_, parent)| parent);
        let mut names = self.names.iter();
        names.any(|name| match name.strip_prefix("*.") {
            Some(rest) => parent == Some(rest),
            None => *name == host,
        })
    }

    /// Two thirds of its lifetime, and a little earlier for some, so that installations of one day do not all renew at
    /// the same moment.
    pub fn renew_at(&self) -> UnixSeconds {
        let lifetime = self.not_after.since(self.not_before);
        let early = self.spread % (lifetime / SPREAD_PART).max(1);
        self.not_before
            .plus((lifetime / 3 * 2).saturating_sub(early))
    }

    /// A moment in a window, the same for this certificate whenever it is asked for (RFC 9773, 4.2).
    pub fn renew_within(&self, start: UnixSeconds, end: UnixSeconds) -> UnixSeconds {
        start.plus(self.spread % end.since(start).max(1))
    }
}

/// When the next order may begin after these failures of the last day, oldest first.
pub fn retry_at(failed: &[UnixSeconds]) -> UnixSeconds {
    let Some((first, last)) = failed.first().zip(failed.last()) else {
        return UnixSeconds(0);
    };
    let exponent = u32::try_from(failed.len() - 1).unwrap_or(u32::MAX);
    let wait = RETRY_SECONDS_MIN.saturating_mul(RETRY_FACTOR.saturating_pow(exponent));
    let next = last.plus(wait.min(RETRY_SECONDS_MAX));
    match failed.len() >= FAILED_ORDERS_OF_DAY_MAX {
        true => next.max(first.plus(DAY_SECONDS)),
        false => next,
    }
}

/// One element from the left: its tag and its content.
fn element<'a>(bytes: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, mut rest) = rest.split_first()?;
    let mut length = usize::from(first);
    if first >= 0x80 {
        let (digits, after) = rest.split_at_checked(usize::from(first & 0x7f))?;
        if digits.is_empty() || digits.len() > 4 {
            return None;
        }
        length = digits
            .iter()
            .fold(0, |length, digit| length << 8 | usize::from(*digit));
        rest = after;
    }
    let (content, after) = rest.split_at_checked(length)?;
    *bytes = after;
    Some((tag, content))
}

fn expect<'a>(bytes: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    let (found, content) = element(bytes)?;
    (found == tag).then_some(content)
}

/// The organisation and the common name of a name.
fn name(mut parts: &[u8]) -> Option<String> {
    let mut found = Vec::new();
    while let Some((_, mut part)) = element(&mut parts) {
        let mut pair = expect(&mut part, SEQUENCE)?;
        let kind = expect(&mut pair, OBJECT)?;
        if kind == ORGANISATION || kind == COMMON_NAME {
            let text = String::from_utf8_lossy(element(&mut pair)?.1);
            found.push(text.chars().filter(|c| !c.is_control()).collect::<String>());
        }
    }
    Some(found.join(", "))
}

/// `UTCTime` with two digits of the year, or `GeneralizedTime` with four, both in UTC.
fn time(bytes: &mut &[u8]) -> Option<UnixSeconds> {
    let (tag, content) = element(bytes)?;
    let text = std::str::from_utf8(content).ok()?.strip_suffix('Z')?;
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let (year, rest) = match tag {
        UTC_TIME if is_plain && text.len() == 12 => {
            let year: i16 = text[..2].parse().ok()?;
            (year + if year < 50 { 2000 } else { 1900 }, &text[2..])
        }
        GENERALIZED_TIME if is_plain && text.len() == 14 => (text[..4].parse().ok()?, &text[4..]),
        _ => return None,
    };
    let part = |at: usize| rest[at..at + 2].parse::<i8>().ok();
    let at = DateTime::new(year, part(0)?, part(2)?, part(4)?, part(6)?, part(8)?, 0).ok()?;
    let seconds = at.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second();
    Some(UnixSeconds(u64::try_from(seconds).unwrap_or(0)))
}

fn address(bytes: &[u8]) -> Option<String> {
    let v4 = <[u8; 4]>::try_from(bytes).map(std::net::IpAddr::from);
    let v6 = <[u8; 16]>::try_from(bytes).map(std::net::IpAddr::from);
    v4.or(v6).ok().map(|address| address.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A certificate for `localhost`, `*.example.com` and 127.0.0.1, valid for ninety days.
    fn sample() -> Vec<u8> {
        let names = ["localhost", "*.Example.com", "127.0.0.1"].map(str::to_owned);
        let mut params = rcgen::CertificateParams::new(names).expect("names");
        params.not_before = rcgen::date_time_ymd(2026, 11, 1);
        params.not_after = rcgen::date_time_ymd(2027, 1, 30);
        let name = &mut params.distinguished_name;
        *name = rcgen::DistinguishedName::new();
        name.push(rcgen::DnType::OrganizationName, "Example Trust");
        name.push(rcgen::DnType::CommonName, "E7");
        params.use_authority_key_identifier_extension = true;
        let key = rcgen::KeyPair::generate().expect("a key");
        params.self_signed(&key).expect("signed").der().to_vec()
    }

    #[test]
    fn the_facts_of_a_certificate_are_read() {
        let certificate = Certificate::parse(&sample()).expect("a certificate");
        assert_eq!(
            certificate.names,
            ["localhost", "*.example.com", "127.0.0.1"]
        );
        assert_eq!(certificate.issuer, "Example Trust, E7");
        assert_eq!(certificate.not_before, UnixSeconds(1_793_491_200));
        assert_eq!(
            certificate.not_after.since(certificate.not_before),
            90 * DAY_SECONDS
        );
        assert!(!certificate.serial.is_empty() && certificate.authority_key.is_some());
        for (host, expected) in [
            ("LOCALHOST", true),
            ("a.example.com", true),
            ("example.com", false),
            ("a.b.example.com", false),
            ("127.0.0.1", true),
            ("", false),
        ] {
            assert_eq!(certificate.is_for(host), expected, "{host:?}");
        }
    }

    #[test]
    fn a_certificate_is_renewed_at_two_thirds_of_its_lifetime() {
        let certificate = Certificate::parse(&sample()).expect("a certificate");
        let after = certificate.renew_at().since(certificate.not_before);
        assert!(
            (57 * DAY_SECONDS..=60 * DAY_SECONDS).contains(&after),
            "{after}"
        );
        let (start, end) = (UnixSeconds(100), UnixSeconds(200));
        let at = certificate.renew_within(start, end);
        assert!(start <= at && at < end);
        assert_eq!(certificate.renew_within(end, start), end);
    }

    #[test]
    fn each_failure_makes_the_wait_longer_and_a_day_has_five() {
        let at = |minutes: &[u64]| -> Vec<UnixSeconds> {
            minutes.iter().map(|at| UnixSeconds(at * 60)).collect()
        };
        for (failed, expected) in [
            (&[][..], 0),
            (&[10], 11),
            (&[10, 20], 28),
            (&[10, 20, 30], 94),
            (&[10, 20, 30, 40], 552),
            (&[10, 20, 30, 40, 900], 1620),
            (&[10, 20, 30, 40, 50], 1450),
        ] {
            assert_eq!(
                retry_at(&at(failed)),
                UnixSeconds(expected * 60),
                "{failed:?}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_break_it(at in 0usize..400, byte in 0u8.., length in 0usize..600) {
            let mut der = sample();
            if let Some(place) = der.get_mut(at) {
                *place = byte;
            }
            der.truncate(length.max(1));
            let _ = Certificate::parse(&der);
        }
    }
}
