//! All refusals, independent of HTTP: a code for programs, a message for the client, and extras such as a challenge, a
//! credit or alternatives.

use crate::domain::code::Code;
use crate::domain::ids::CreditId;
use crate::domain::level::LineItem;
use crate::domain::rate::{OF_DOMAIN, Standing, WINDOW_SECONDS};
use crate::domain::schema::ValidationError;
use crate::domain::tier::Tier;
use crate::domain::time::UnixSeconds;

/// A refusal on its way to the client.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub code: Code,
    /// What happened, as a sentence for the client.
    pub message: String,
    pub with: With,
    /// The payment of the request is held for this; with [`With::Earlier`], the earlier payment is.
    pub credit: Option<Box<RetryCredit>>,
}

/// What a refusal carries beside its code.
#[derive(Clone, Debug, PartialEq)]
pub enum With {
    Nothing,
    /// The payment was taken, or may have been.
    Charged,
    /// This payment was not used; an earlier one for the same purchase may have been taken.
    Earlier,
    /// A fresh challenge for this item; `error` is x402's machine word for what is wrong.
    Challenge {
        item: LineItem,
        error: String,
        settlement: Option<Box<FailedSettlement>>,
    },
    /// Tiers that would deliver.
    Alternatives(Vec<Tier>),
    Validation(Vec<ValidationError>),
    /// Sources that cannot be read, each with the reason.
    Rejected(Vec<(String, String)>),
    /// What became of several sources.
    Sources(Box<SourcesUnread>),
    /// A limit that was reached.
    Limit(Standing),
    /// A text that the buyer is to sign.
    TextToSign(String),
}

/// Sources of which too few could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcesUnread {
    pub unread: Vec<UnreadSource>,
    /// Those that could be read.
    pub readable: Vec<String>,
    /// What would buy these alone.
    pub instead: Option<LineItem>,
}

/// A source that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadSource {
    pub source: String,
    pub code: Code,
    pub message: String,
}

/// A settlement that is known to have moved nothing, for PAYMENT-RESPONSE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedSettlement {
    pub reason: String,
    /// Checksummed address.
    pub payer: String,
}

/// A retry credit as the buyer gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryCredit {
    pub id: CreditId,
    pub expires_at: UnixSeconds,
    pub attempts_left: u8,
}

impl Refusal {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Refusal {
            code,
            message: message.into(),
            with: With::Nothing,
            credit: None,
        }
    }

    /// The code's own meaning as the message.
    pub fn of(code: Code) -> Self {
        Refusal::new(code, code.meaning())
    }

    pub fn with(mut self, with: With) -> Self {
        self.with = with;
        self
    }

    /// With the credit, where one was granted.
    pub fn with_credit(mut self, credit: Option<RetryCredit>) -> Self {
        self.credit = credit.map(Box::new).or(self.credit);
        self
    }

    /// What broke on our side where the money may have moved, after the goods were kept or before anything was looked up: the
    /// answer must not deny it.
    pub fn after_settlement(self) -> Self {
        match self.code {
            Code::Internal | Code::Overloaded => self.with(With::Charged),
            _ => self,
        }
    }

    /// Whether it says that the payment was taken, or may have been.
    pub fn may_be_charged(&self) -> bool {
        self.with == With::Charged || self.code == Code::SettlementUnknown
    }

    /// A limit was reached: which, and when to come back.
    pub fn limited(standing: Standing) -> Self {
        let Standing {
            quota,
            reset_seconds,
            ..
        } = standing;
        let whose = if standing.limit == OF_DOMAIN {
            "for pages of this domain"
        } else {
            "of this kind from your address"
        };
        let message = format!(
            "More than {quota} requests {whose} in {WINDOW_SECONDS} seconds. Nothing was charged; retry in \
             {reset_seconds} s."
        );
        Refusal::new(Code::RateLimited, message).with(With::Limit(standing))
    }

    pub fn validation(errors: Vec<ValidationError>) -> Self {
        Refusal::of(Code::ValidationFailed).with(With::Validation(errors))
    }
}
