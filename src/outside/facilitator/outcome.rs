//! The outcome of a facilitator call: decided, certainly not done, or unknown.

use std::fmt;

use crate::domain::evm::{Address, TransactionHash};
use crate::domain::limit_reached::LimitReached;

/// What the facilitator says of a payment before the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verification {
    Valid {
        payer: Address,
    },
    /// A machine reason, safe to show.
    Invalid {
        reason: String,
    },
}

/// Whether a settle of a payment was sent before. Only a first one can fail for certain: what refuses a repeated one may
/// be the success of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    First,
    Repeated,
}

/// What became of a payment after the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// The money is ours.
    Success { transaction: TransactionHash },
    /// The money certainly has not moved. A machine reason, safe to show.
    Failed { reason: String },
    /// Nobody knows yet. Never to be answered with 402: the buyer would sign again and pay twice.
    Unknown {
        why: SettleDoubt,
        /// A transaction that the reply named. It proves nothing by itself.
        transaction: Option<TransactionHash>,
    },
}

/// Why an outcome is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettleDoubt {
    /// No answer that can be believed.
    Call(CallError),
    /// An answer that does not say for certain that the money has not moved.
    Indefinite { status: u16, reason: String },
    /// The facilitator refused, and the chain shows the authorization as used.
    UsedOnChain { reason: String },
}

impl SettleDoubt {
    /// Whether the facilitator can have seen the request at all.
    pub fn was_sent(&self) -> bool {
        match self {
            SettleDoubt::Call(failure) => failure.was_sent(),
            SettleDoubt::Indefinite { .. } | SettleDoubt::UsedOnChain { .. } => true,
        }
    }
}

impl fmt::Display for SettleDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettleDoubt::Call(failure) => failure.fmt(f),
            SettleDoubt::UsedOnChain { reason } => write!(
                f,
                "The facilitator refused with {reason}, but the authorization is used on chain"
            ),
            SettleDoubt::Indefinite { status, reason } => write!(
                f,
                "The facilitator answered {status} with {reason}, which leaves the outcome open"
            ),
        }
    }
}

/// Why a call has no usable answer. `Display` is for the operator's log, never for buyers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallError {
    /// Our own limit of calls at once; nothing was sent.
    Saturated,
    /// No connection; nothing was sent.
    Unreachable(String),
    TimedOut,
    /// The connection broke before the whole reply was there.
    Cut(String),
    /// 401 or 403: our credentials, so no payment can succeed until the operator acts.
    Denied(u16),
    /// 3xx. Redirects are not followed: the payment would go to a stranger.
    Redirected(u16),
    /// 429.
    Busy,
    /// Another status without an answer in it.
    Status(u16),
    /// A reply that is no answer of the protocol.
    Garbled(String),
    /// An answer that disagrees with what we asked or with itself.
    Contradiction(&'static str),
    /// The facilitator says that it failed itself.
    Faulty(String),
}

impl From<LimitReached> for CallError {
    fn from(LimitReached: LimitReached) -> Self {
        CallError::Saturated
    }
}

impl CallError {
    /// Whether the same call may succeed later without anyone changing anything.
    pub fn is_retryable(&self) -> bool {
        match self {
            CallError::Saturated
            | CallError::Unreachable(_)
            | CallError::TimedOut
            | CallError::Cut(_)
            | CallError::Busy
            | CallError::Faulty(_) => true,
            CallError::Status(status) => *status >= 500,
            CallError::Denied(_)
            | CallError::Redirected(_)
            | CallError::Garbled(_)
            | CallError::Contradiction(_) => false,
        }
    }

    /// Whether the facilitator can have seen the request.
    pub fn was_sent(&self) -> bool {
        !matches!(self, CallError::Saturated | CallError::Unreachable(_))
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Saturated => {
                f.write_str("Too many calls to the facilitator are under way already")
            }
            CallError::Unreachable(detail) => {
                write!(f, "The facilitator cannot be reached: {detail}")
            }
            CallError::TimedOut => f.write_str("The facilitator did not answer in time"),
            CallError::Cut(detail) => {
                write!(f, "The connection to the facilitator broke: {detail}")
            }
            CallError::Denied(status) => write!(
                f,
                "The facilitator refused our credentials with {status}; check payment.facilitator_auth, no payment can succeed"
            ),
            CallError::Redirected(status) => write!(
                f,
                "The facilitator answered {status}; redirects are not followed, check payment.facilitator_url"
            ),
            CallError::Busy => f.write_str("The facilitator answered 429, too many requests"),
            CallError::Status(status) => {
                write!(f, "The facilitator answered {status} without a verdict")
            }
            CallError::Garbled(detail) => {
                write!(
                    f,
                    "The facilitator's reply is not of the protocol: {detail}"
                )
            }
            CallError::Contradiction(detail) => {
                write!(f, "The facilitator's reply cannot be true: {detail}")
            }
            CallError::Faulty(reason) => write!(f, "The facilitator failed with {reason}"),
        }
    }
}

impl std::error::Error for CallError {}
