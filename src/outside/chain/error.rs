//! Chain errors. `Display` is for the operator's log, never for buyers, and never shows the node's URL, which may contain a
//! key.

use std::fmt;

use crate::domain::evm::{Network, TransactionHash};

/// Why the settings cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsError {
    RpcUrl,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("chain.rpc_url is not an http or https address")
    }
}

impl std::error::Error for SettingsError {}

/// Why an inquiry has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainError {
    /// Our own limit of inquiries at once; nothing was sent.
    Saturated,
    Unreachable(String),
    TimedOut,
    /// A status without an answer in it; 401 and 403 are about our key, 429 about how often we ask.
    Status(u16),
    /// The node's own no.
    Refused {
        code: i64,
        message: String,
    },
    /// Longer than anything we ask for.
    TooLong,
    /// No answer of the protocol.
    Garbled(&'static str),
    /// An answer that disagrees with what we asked or with itself.
    Contradiction(&'static str),
    WrongNetwork {
        expected: Network,
        found: Network,
    },
    /// The authorization has ended, and its log is not in the blocks that we may look at.
    NoLog,
    /// This transaction has used the authorization, in a way that does not show whether we were paid.
    Unclear(TransactionHash),
    /// A price that was brought up to date so long ago.
    Stale {
        seconds: u64,
    },
    /// So many calls for one inquiry are enough.
    TooManyCalls,
}

impl ChainError {
    /// Whether fewer blocks at once may be answered. Nodes agree neither on the number nor on how to say so.
    pub(super) fn is_about_size(&self) -> bool {
        match self {
            ChainError::Refused { .. } | ChainError::TooLong => true,
            ChainError::Status(status) => matches!(status, 400 | 413 | 422 | 500),
            _ => false,
        }
    }
}

impl fmt::Display for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChainError::Saturated => f.write_str("too many inquiries at the chain are under way already"),
            ChainError::Unreachable(detail) => write!(f, "the RPC endpoint cannot be reached: {detail}"),
            ChainError::TimedOut => f.write_str("the RPC endpoint did not answer in time"),
            ChainError::Status(status) => write!(f, "the RPC endpoint answered with status {status}"),
            ChainError::Refused { code, message } => write!(f, "the RPC endpoint refused with {code}: {message}"),
            ChainError::TooLong => f.write_str("the RPC endpoint's answer is too long"),
            ChainError::Garbled(what) => write!(f, "the RPC endpoint's answer cannot be read: {what}"),
            ChainError::Contradiction(what) => write!(f, "the RPC endpoint's answer cannot be true: {what}"),
            ChainError::WrongNetwork { expected, found } => write!(
                f,
                "the RPC endpoint is of network {found}, but payment.network is {expected}; set chain.rpc_url to an \
                 endpoint of {expected}"
            ),
            ChainError::NoLog => f.write_str(
                "the authorization has ended, but its log was not found; the endpoint may not keep logs that old",
            ),
            ChainError::Unclear(transaction) => write!(
                f,
                "transaction {transaction} has used the authorization, but its logs do not show whether we were paid"
            ),
            ChainError::Stale { seconds } => write!(f, "the price feed's last answer is {seconds} s old"),
            ChainError::TooManyCalls => f.write_str("the inquiry took too many calls"),
        }
    }
}

impl std::error::Error for ChainError {}
