//! The target policy: which URLs are allowed, by their text and by the addresses of their host. DNS lookups and connections
//! are in `outside::network` and `outside::web`.
//!
//! There is one parser, `url::Url` (WHATWG). What is fetched is its canonical text, never the raw one, so that no
//! second reading of the same text can name another host.

mod address;
mod name;
#[cfg(test)]
mod tests;

use std::fmt;
use std::net::IpAddr;

use url::{Host, ParseError, Url};

use crate::domain::code::Code;
use crate::domain::source_list;

pub use crate::domain::target::address::{AddressVerdict, classify};

/// The most characters of a target's raw text.
pub const CHARACTERS_MAX: usize = 2_048;
/// The ports that a target may name.
const PORTS: [u16; 2] = [80, 443];

/// An absolute http or https URL whose text the policy allows, without its fragment, which is never sent.
///
/// A host given as an address is public. A host given as a name has not been looked up yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TargetUrl(Url);

impl TargetUrl {
    /// Applies the whole policy to what a buyer wrote.
    ///
    /// Fails with an error that [`TargetError::is_unparseable`] tells from a refusal.
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        // Counted first: nothing below looks at text of any length.
        if text.chars().nth(CHARACTERS_MAX).is_some() {
            return Err(TargetError::TooLong);
        }
        let mut url = Url::parse(text).map_err(TargetError::Unparseable)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(TargetError::Scheme);
        }
        check_characters(text)?;
        let authority = authority(text).ok_or(TargetError::Slashes)?;
        check_authority(authority)?;
        match url.port_or_known_default() {
            Some(port) if PORTS.contains(&port) => {}
            Some(port) => return Err(TargetError::PortNotAllowed(port)),
            None => return Err(TargetError::Scheme),
        }
        let absolute_name = check_host(&url, authority)?;
        if let Some(name) = absolute_name {
            url.set_host(Some(&name))
                .map_err(TargetError::Unparseable)?;
        }
        url.set_fragment(None);
        // An empty query stays, as in `/a?`: it is another address than `/a` (RFC 3986, 6.2.3), which a site may answer
        // in another way, and what is kept of one is not sold for the other.
        // What is kept can be read again: percent-encoding makes it longer.
        if url.as_str().len() > CHARACTERS_MAX {
            return Err(TargetError::TooLong);
        }
        Ok(TargetUrl(url))
    }

    /// Where a `Location` header of this page leads, after the whole policy.
    ///
    /// A space is read as `%20`, because servers send it; everything else is as strict as for a buyer's own text.
    pub fn redirect(&self, location: &str) -> Result<Self, TargetError> {
        if location.chars().nth(CHARACTERS_MAX).is_some() {
            return Err(TargetError::TooLong);
        }
        let location = location.replace(' ', "%20");
        check_characters(&location)?;
        // A host in the header is read from its raw text, as a buyer's is: joining would hide how it was written.
        if location.starts_with("//") {
            return TargetUrl::parse(&format!("{}:{location}", self.0.scheme()));
        }
        if has_scheme(&location) {
            return TargetUrl::parse(&location);
        }
        let joined = self.0.join(&location).map_err(TargetError::Unparseable)?;
        TargetUrl::parse(joined.as_str())
    }

    pub fn url(&self) -> &Url {
        &self.0
    }

    /// The canonical text, without a fragment: what is fetched, compared and kept.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The canonical host: a lowercase ASCII name without a final dot, an IPv4 address, or an IPv6 address in
    /// brackets.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The registrable domain, such as `example.co.uk`: what one owner holds, however many names lie under it. The host
    /// itself where there is none, as for an address.
    pub fn domain(&self) -> &str {
        let host = self.host();
        match self.literal_address() {
            Some(_) => host,
            None => registrable_domain(host).unwrap_or(host),
        }
    }

    /// 80 or 443.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or_default()
    }

    /// The address, when the host is one and not a name.
    pub fn literal_address(&self) -> Option<IpAddr> {
        match self.0.host()? {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(IpAddr::V4(address)),
            Host::Ipv6(address) => Some(IpAddr::V6(address)),
        }
    }

    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }
}

impl fmt::Display for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The rule for a name's answers: there is one at least, and every one is public.
///
/// One address that is not refuses the whole host. Choosing the public ones among mixed answers would let anyone who
/// owns the name decide, request by request, what is dialled.
pub fn check_answers(addresses: &[IpAddr]) -> Result<(), TargetError> {
    if addresses.is_empty() {
        return Err(TargetError::NoAddress);
    }
    addresses
        .iter()
        .try_for_each(|&address| check_address(address))
}

fn check_address(address: IpAddr) -> Result<(), TargetError> {
    match classify(address) {
        AddressVerdict::Public => Ok(()),
        AddressVerdict::Refused(kind) => Err(TargetError::AddressRefused(kind)),
    }
}

/// Parsers disagree about what these mean or drop them silently; people cannot see them.
fn check_characters(text: &str) -> Result<(), TargetError> {
    let refused = |&character: &char| {
        character.is_control()
            || character.is_whitespace()
            || character == '\\'
            || matches!(character,
                '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}'
                | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    match text.chars().find(refused) {
        Some(character) => Err(TargetError::Character(character)),
        None => Ok(()),
    }
}

/// Characters that the name mapping (UTS 46) drops, so that two texts would name one host.
fn is_dropped_in_hosts(character: char) -> bool {
    matches!(character,
        '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

fn check_authority(authority: &str) -> Result<(), TargetError> {
    // SECURITY: user information is where URL readers differ most, and ureq would send it as a password.
    if authority.contains('@') {
        return Err(TargetError::Credentials);
    }
    if authority.contains('%') {
        return Err(TargetError::PercentInHost);
    }
    match authority
        .chars()
        .find(|&character| is_dropped_in_hosts(character))
    {
        Some(character) => Err(TargetError::Character(character)),
        None => Ok(()),
    }
}

/// The raw text between `http://` or `https://` and the path, if it is not empty. Any other count of slashes is
/// refused, although WHATWG reads over it.
fn authority(text: &str) -> Option<&str> {
    let rest = ["http://", "https://"].into_iter().find_map(|prefix| {
        let head = text.get(..prefix.len())?;
        head.eq_ignore_ascii_case(prefix)
            .then(|| &text[prefix.len()..])
    })?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}

/// RFC 3986 section 3.1, up to the colon.
fn has_scheme(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
    })
}

/// Gives the name without its final dot when it has one.
fn check_host(url: &Url, authority: &str) -> Result<Option<String>, TargetError> {
    match url.host() {
        None => Err(TargetError::Scheme),
        Some(Host::Ipv4(address)) => {
            check_address(IpAddr::V4(address))?;
            let written = authority.split(':').next().unwrap_or_default();
            if written == address.to_string() {
                Ok(None)
            } else {
                Err(TargetError::AddressNotation)
            }
        }
        Some(Host::Ipv6(address)) => check_address(IpAddr::V6(address)).map(|()| None),
        Some(Host::Domain(host)) => {
            let absolute = host.strip_suffix('.');
            let name = absolute.unwrap_or(host);
            name::check(name)?;
            check_suffix(name)?;
            Ok(absolute.map(str::to_owned))
        }
    }
}

/// The name that one owner holds, and the host lies under: "example.co.uk" of "shop.example.co.uk".
pub fn registrable_domain(host: &str) -> Option<&str> {
    psl::domain_str(host)
}

/// SECURITY: a name whose end is no public suffix, such as `kubernetes.default`, exists in private networks alone, and a
/// lookup would ask their name servers. Top-level domains that are newer than the list need a newer list.
fn check_suffix(name: &str) -> Result<(), TargetError> {
    match psl::suffix(name.as_bytes()) {
        Some(suffix) if suffix.is_known() => Ok(()),
        _ => Err(TargetError::UnknownSuffix),
    }
}

/// The canonical form of a host name, public or not: lower case, ASCII, without a final dot.
pub fn host_name(text: &str) -> Option<String> {
    match Host::parse(text.strip_suffix('.').unwrap_or(text)).ok()? {
        Host::Domain(name) => name::check_spelling(&name).is_ok().then_some(name),
        Host::Ipv4(_) | Host::Ipv6(_) => None,
    }
}

/// What to tell anyone who wrote a text that is no target. A bare domain is not guessed at, because what is paid for is
/// named in full; the sentence gives the address to send instead.
pub fn explained(text: &str, error: TargetError) -> String {
    let meant = source_list::address(text)
        .filter(|address| error.is_unparseable() && address.strip_prefix("https://") == Some(text))
        .and_then(|address| TargetUrl::parse(&address).ok());
    match meant {
        Some(target) => {
            format!("The target is not an absolute http or https URL; send {target} instead")
        }
        None => error.to_string(),
    }
}

/// Why a text is not a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetError {
    TooLong,
    Unparseable(ParseError),
    /// A URL, but not of http or https.
    Scheme,
    /// Not exactly two slashes and a host after the scheme.
    Slashes,
    Character(char),
    Credentials,
    PercentInHost,
    PortNotAllowed(u16),
    /// An IPv4 address that is not four plain decimal numbers.
    AddressNotation,
    /// What kind of address it is, with its article.
    AddressRefused(&'static str),
    /// The host name breaks a rule of domain names; the rule.
    Name(&'static str),
    SingleLabel,
    /// The suffix that never is a public site.
    SpecialName(&'static str),
    /// The name does not end in a public suffix (publicsuffix.org).
    UnknownSuffix,
    MetadataName,
    /// The name has no address.
    NoAddress,
}

impl TargetError {
    /// True for text that is no absolute http or https URL at all (answered 422), false for a URL that the policy
    /// refuses (answered 400).
    pub fn is_unparseable(self) -> bool {
        matches!(self, TargetError::Unparseable(_) | TargetError::Scheme)
    }

    /// The code of the API's error bodies.
    pub fn code(self) -> Code {
        match self {
            TargetError::TooLong
            | TargetError::Unparseable(_)
            | TargetError::Scheme
            | TargetError::Slashes
            | TargetError::Character(_)
            | TargetError::Credentials
            | TargetError::PercentInHost
            | TargetError::AddressNotation
            | TargetError::Name(_) => Code::InvalidTarget,
            TargetError::PortNotAllowed(_) => Code::PortNotAllowed,
            TargetError::AddressRefused(_)
            | TargetError::SingleLabel
            | TargetError::SpecialName(_)
            | TargetError::UnknownSuffix
            | TargetError::MetadataName => Code::TargetBlocked,
            TargetError::NoAddress => Code::DnsFailed,
        }
    }
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetError::TooLong => write!(
                f,
                "The target URL is longer than {CHARACTERS_MAX} characters, counted as it is sent, percent-encoded"
            ),
            TargetError::Unparseable(error) => write!(
                f,
                "The target is not an absolute http or https URL ({error}); write it like https://example.com/page"
            ),
            TargetError::Scheme => {
                f.write_str("The target URL must begin with http:// or https://")
            }
            TargetError::Slashes => {
                f.write_str("The target URL must begin with http:// or https:// and a host")
            }
            TargetError::Character(character) => write!(
                f,
                "The target URL contains the character U+{:04X}; percent-encode it in the path or query, or remove it",
                u32::from(*character)
            ),
            TargetError::Credentials => f.write_str(
                "The target URL contains a user name or password; only public pages can be read",
            ),
            TargetError::PercentInHost => f.write_str(
                "The target URL's host contains a percent sign; write the host in plain characters",
            ),
            TargetError::PortNotAllowed(port) => {
                write!(
                    f,
                    "The target URL names port {port}; only ports 80 and 443 are allowed"
                )
            }
            TargetError::AddressNotation => f.write_str(
                "The target URL's IPv4 address must be written as four plain decimal numbers",
            ),
            TargetError::AddressRefused(kind) => {
                write!(f, "The target is {kind}; only public addresses are read")
            }
            TargetError::Name(rule) => {
                write!(f, "The target URL's host is not a domain name: {rule}")
            }
            TargetError::SingleLabel => f.write_str(
                "The target URL's host is a single word; only public domain names are read",
            ),
            TargetError::SpecialName(suffix) => {
                write!(
                    f,
                    "The target URL's host ends in {suffix}, which is never a public site"
                )
            }
            TargetError::UnknownSuffix => f.write_str(
                "The target URL's host does not end in a public domain suffix; only public domain names are read",
            ),
            TargetError::MetadataName => {
                f.write_str("The target URL's host is a cloud metadata service")
            }
            TargetError::NoAddress => f.write_str("The target's host name has no address"),
        }
    }
}

impl std::error::Error for TargetError {}
