//! Fetch errors: the facts, whether they are transient, and messages for the buyer.

use std::fmt;
use std::io::{self, ErrorKind};

use crate::domain::code::Code;
use crate::domain::target::TargetError;
use crate::markdown::{ConvertError, Wall, kind_names};
use crate::outside::network::ResolveError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchError {
    /// The policy refuses the target or its addresses.
    Target(TargetError),
    /// Our own host, the facilitator's, or one that the operator forbids.
    OwnHost,
    /// A name server answered that the host's name does not exist or has no address.
    NameNotFound,
    /// The name servers could not tell whether the name exists.
    LookupFailed,
    /// The name servers did not answer in time.
    LookupTimedOut,
    /// Our own shortage: too many lookups wait, or too many large pages.
    Overloaded,
    Redirect(RedirectError),
    /// More than this many.
    TooManyRedirects(usize),
    Refused,
    /// Reset or closed before the response was complete.
    Lost,
    TimedOut,
    /// Less of the body came than was announced.
    Truncated,
    /// Our own network: no route, no socket.
    Network,
    /// No trusted connection: certificate, host name or handshake.
    Tls,
    /// The response is not HTTP/1.1.
    Protocol,
    HeadersTooLarge,
    /// The compressed body cannot be decoded.
    Corrupt,
    Status(u16),
    TooLarge,
    ContentEncoding(String),
    ContentType(String),
    Convert(ConvertError),
}

/// Why a redirect was not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectError {
    Target(TargetError),
    OwnHost,
    /// From https to http.
    Downgrade,
    Loop,
    /// The Location header is not UTF-8.
    NotText,
}

impl FetchError {
    /// Whether the same request may succeed later: such a failure of an accepted payment earns a retry credit (503);
    /// every other is final and charges nothing (400).
    pub fn is_transient(&self) -> bool {
        match self {
            FetchError::Overloaded
            | FetchError::LookupFailed
            | FetchError::LookupTimedOut
            | FetchError::Refused
            | FetchError::Lost
            | FetchError::TimedOut
            | FetchError::Truncated
            | FetchError::Network => true,
            FetchError::Status(status) => matches!(status, 408 | 425 | 429 | 500..=599),
            FetchError::Target(_)
            | FetchError::OwnHost
            | FetchError::NameNotFound
            | FetchError::Redirect(_)
            | FetchError::TooManyRedirects(_)
            | FetchError::Tls
            | FetchError::Protocol
            | FetchError::HeadersTooLarge
            | FetchError::Corrupt
            | FetchError::TooLarge
            | FetchError::ContentEncoding(_)
            | FetchError::ContentType(_)
            | FetchError::Convert(_) => false,
        }
    }

    /// The code of the API's error bodies.
    pub fn code(&self) -> Code {
        match self {
            FetchError::Target(error) => error.code(),
            FetchError::OwnHost => Code::TargetBlocked,
            FetchError::NameNotFound => Code::DnsFailed,
            FetchError::Overloaded => Code::Overloaded,
            FetchError::Network => Code::NetworkUnavailable,
            FetchError::Redirect(RedirectError::Loop) | FetchError::TooManyRedirects(_) => {
                Code::TooManyRedirects
            }
            FetchError::Redirect(_) => Code::RedirectBlocked,
            FetchError::LookupFailed
            | FetchError::LookupTimedOut
            | FetchError::Refused
            | FetchError::Lost
            | FetchError::TimedOut
            | FetchError::Truncated
            | FetchError::Tls
            | FetchError::Protocol
            | FetchError::HeadersTooLarge
            | FetchError::Corrupt
            | FetchError::Status(_) => match self.is_transient() {
                true => Code::UpstreamUnavailable,
                false => Code::UpstreamRefused,
            },
            FetchError::TooLarge
            | FetchError::Convert(
                ConvertError::TooLarge | ConvertError::OutOfMemory | ConvertError::TooComplex,
            ) => Code::ContentTooLarge,
            FetchError::Convert(ConvertError::SelectorUnmatched) => Code::SelectorUnmatched,
            FetchError::Convert(ConvertError::Empty | ConvertError::ScannedPdf) => {
                Code::NothingReadable
            }
            // Somebody who runs scripts could read it: there is no choice or right that is missing.
            FetchError::Convert(ConvertError::Walled(Wall::Scripts)) => Code::NothingReadable,
            FetchError::Convert(ConvertError::Walled(_)) => Code::PageWalled,
            FetchError::ContentEncoding(_)
            | FetchError::ContentType(_)
            | FetchError::Convert(
                ConvertError::NotText
                | ConvertError::EncryptedPdf
                | ConvertError::UnmappedPdf
                | ConvertError::DamagedPdf
                | ConvertError::EncryptedDocument
                | ConvertError::DamagedDocument,
            ) => Code::UnsupportedContentType,
        }
    }

    /// The failure of clearing a target, when a redirect named that target.
    pub(super) fn behind_redirect(self) -> Self {
        match self {
            FetchError::Target(error) => FetchError::Redirect(RedirectError::Target(error)),
            FetchError::OwnHost => FetchError::Redirect(RedirectError::OwnHost),
            other => other,
        }
    }

    /// A failure before the body.
    pub(super) fn from_ureq(error: ureq::Error) -> Self {
        match error {
            ureq::Error::Timeout(_) => FetchError::TimedOut,
            ureq::Error::Io(error) => FetchError::from_io(&error),
            ureq::Error::LargeResponseHeader(..) => FetchError::HeadersTooLarge,
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) | ureq::Error::TlsRequired => {
                FetchError::Tls
            }
            ureq::Error::Decompress(_, error) => FetchError::from_coding(&error),
            ureq::Error::BodyExceedsLimit(_) => FetchError::TooLarge,
            // A chunk cut short in its size line.
            ureq::Error::BodyStalled => FetchError::Truncated,
            ureq::Error::ConnectionFailed => FetchError::Lost,
            _ => FetchError::Protocol,
        }
    }

    /// A failure while the body was read.
    pub(super) fn from_body(error: io::Error) -> Self {
        match FetchError::from_ureq(ureq::Error::from(error)) {
            FetchError::Lost => FetchError::Truncated,
            other => other,
        }
    }

    fn from_io(error: &io::Error) -> Self {
        match error.kind() {
            ErrorKind::ConnectionRefused => FetchError::Refused,
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::NotConnected
            | ErrorKind::UnexpectedEof => FetchError::Lost,
            ErrorKind::TimedOut | ErrorKind::WouldBlock => FetchError::TimedOut,
            // How rustls reports a certificate or a handshake that it does not accept.
            ErrorKind::InvalidData => FetchError::Tls,
            _ => FetchError::Network,
        }
    }

    /// The decoders wrap what the socket said.
    fn from_coding(error: &io::Error) -> Self {
        match FetchError::from_io(error) {
            FetchError::Lost => FetchError::Truncated,
            FetchError::TimedOut => FetchError::TimedOut,
            _ => FetchError::Corrupt,
        }
    }
}

impl From<ResolveError> for FetchError {
    fn from(error: ResolveError) -> Self {
        match error {
            ResolveError::OwnHost => FetchError::OwnHost,
            ResolveError::NotFound => FetchError::NameNotFound,
            ResolveError::Failed => FetchError::LookupFailed,
            ResolveError::TimedOut => FetchError::LookupTimedOut,
            ResolveError::Busy => FetchError::Overloaded,
            ResolveError::Refused(error) => FetchError::Target(error),
        }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FetchError::Target(error) => error.fmt(f),
            FetchError::OwnHost => {
                f.write_str("The target's host is one that this service does not read")
            }
            FetchError::NameNotFound => f.write_str("The target's host name was not found"),
            FetchError::LookupFailed => f.write_str(
                "The target's name servers failed to answer for its host name; try again later",
            ),
            FetchError::LookupTimedOut => {
                f.write_str("The target's name servers did not answer in time; try again later")
            }
            FetchError::Overloaded => f.write_str(
                "This service is reading too many pages at the moment; try again in a few seconds",
            ),
            FetchError::Redirect(error) => error.fmt(f),
            FetchError::TooManyRedirects(count) => {
                write!(
                    f,
                    "The target redirects more than {count} times; name the page that it leads to"
                )
            }
            FetchError::Refused => {
                f.write_str("The target's server refused the connection; try again later")
            }
            FetchError::Lost => {
                f.write_str("The target's server closed the connection; try again later")
            }
            FetchError::TimedOut => {
                f.write_str("The target did not answer in time; try again later")
            }
            FetchError::Truncated => {
                f.write_str("The target's answer ended before it was complete; try again later")
            }
            FetchError::Network => {
                f.write_str("The target cannot be reached from here now; try again later")
            }
            FetchError::Tls => f.write_str(
                "The target's server has no certificate that can be trusted for its host name",
            ),
            FetchError::Protocol => f.write_str("The target's server does not answer in HTTP"),
            FetchError::HeadersTooLarge => {
                f.write_str("The target's answer has too large a header")
            }
            FetchError::Corrupt => f.write_str("The target's compressed answer cannot be decoded"),
            FetchError::Status(status) if self.is_transient() => {
                write!(
                    f,
                    "The target answered with status {status}; try again later"
                )
            }
            FetchError::Status(status @ (401 | 403 | 451)) => {
                write!(f, "The target's server refused us (status {status})")
            }
            FetchError::Status(status @ (404 | 410)) => {
                write!(f, "There is no such page (status {status})")
            }
            FetchError::Status(status) => write!(
                f,
                "The target answered with status {status} instead of a page"
            ),
            FetchError::TooLarge => f.write_str("The target is larger than 5 MB (5,242,880 bytes)"),
            FetchError::ContentEncoding(coding) => {
                write!(
                    f,
                    "The target is sent in the content coding \"{coding}\", which is not supported"
                )
            }
            FetchError::ContentType(kind) => write!(
                f,
                "The target is {kind}. Use a page or a document with text: {} are converted",
                kind_names()
            ),
            FetchError::Convert(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FetchError {}

impl fmt::Display for RedirectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RedirectError::Target(error) => write!(f, "The target redirects to a URL that is refused: {error}"),
            RedirectError::OwnHost => {
                f.write_str("The target redirects to a host that this service does not read")
            }
            RedirectError::Downgrade => f.write_str(
                "The target redirects from https to http; name the http page if that is what you want",
            ),
            RedirectError::Loop => f.write_str("The target redirects in a circle"),
            RedirectError::NotText => f.write_str("The target redirects to a URL that is not text"),
        }
    }
}

impl std::error::Error for RedirectError {}
