//! Leads: requests for a report or bundle, or messages. One pure function decides the status changes, and every change is
//! recorded in the lead's history.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::bundle::{self, Bundle};
use crate::domain::time::UnixSeconds;

/// Longest contact.
pub const CONTACT_CHARACTERS_MAX: usize = 254;
/// Longest use case, and longest notes.
pub const NOTES_CHARACTERS_MAX: usize = 4_000;
/// Longest budget, and longest name of a person.
pub const LABEL_CHARACTERS_MAX: usize = 200;
/// Most steps of a trail; beyond it the oldest but the first are forgotten.
const TRAIL_MAX: usize = 100;
/// What the step of a buyer who goes to the payment link begins with.
const CHECKOUT_STARTED: &str = "checkout started";
/// Longest account of one step.
const STEP_CHARACTERS_MAX: usize = 300;

/// What the lead is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LeadProduct {
    /// A report on one source.
    Pack,
    /// A report on several.
    Bundle,
    /// A message to the operator.
    Contact,
}

/// Where a lead stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LeadStatus {
    New,
    Contacted,
    Paid,
    Fulfilled,
    Lost,
}

/// What may happen to a lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeadEvent {
    /// The operator has written to the person, or takes a lost lead up again.
    Contact,
    /// Money has come.
    Pay,
    /// What was paid for was delivered.
    Fulfil,
    /// Nothing comes of it.
    Lose,
}

/// Who did something to a lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum By {
    Buyer,
    Operator,
    /// The payment provider.
    Provider,
    /// The service by itself.
    Service,
}

/// One step of the audit trail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeadStep {
    pub at: u64,
    pub by: By,
    /// What happened, as a short text for the operator.
    pub what: String,
}

/// A lead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lead {
    pub product: LeadProduct,
    /// The pack or the bundle by name; empty for a message.
    pub level: String,
    /// An e-mail address or whatever else reaches the person.
    pub contact: String,
    /// The person's name, where a message gave one.
    pub name: String,
    pub target_urls: Vec<String>,
    pub question: String,
    pub use_case: String,
    pub budget_usdc: String,
    /// Notes, or the message.
    pub notes: String,
    /// Where the person came from.
    pub source: Option<String>,
    /// The quote that the lead came from, as it is shown.
    pub quote: Option<String>,
    pub status: LeadStatus,
    pub created_at: u64,
    pub changed_at: u64,
    pub trail: Vec<LeadStep>,
}

/// A step that the pipeline does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAllowed {
    pub status: LeadStatus,
    pub event: LeadEvent,
}

/// The status rule: new → contacted → paid → fulfilled. A payment moves any open or lost lead to paid, a second payment
/// changes nothing; any lead can be lost, and a lost one contacted again.
pub fn next(status: LeadStatus, event: LeadEvent) -> Result<LeadStatus, NotAllowed> {
    use LeadEvent::{Contact, Fulfil, Lose, Pay};
    use LeadStatus::{Contacted, Fulfilled, Lost, New, Paid};
    match (status, event) {
        (New | Lost, Contact) => Ok(Contacted),
        (New | Contacted | Paid | Lost, Pay) => Ok(Paid),
        (Fulfilled, Pay) | (Paid | Fulfilled, Fulfil) => Ok(Fulfilled),
        (New | Contacted | Paid | Fulfilled, Lose) => Ok(Lost),
        (Contacted | Paid | Fulfilled, Contact)
        | (New | Contacted | Lost, Fulfil)
        | (Lost, Lose) => Err(NotAllowed { status, event }),
    }
}

impl Lead {
    /// A new lead of which nothing is known but what it is for.
    pub fn of(product: LeadProduct, now: UnixSeconds) -> Lead {
        Lead {
            product,
            level: String::new(),
            contact: String::new(),
            name: String::new(),
            target_urls: Vec::new(),
            question: String::new(),
            use_case: String::new(),
            budget_usdc: String::new(),
            notes: String::new(),
            source: None,
            quote: None,
            status: LeadStatus::New,
            created_at: now.0,
            changed_at: now.0,
            trail: Vec::new(),
        }
    }

    /// The bundle that it asks for; none where it is about something else.
    pub fn bundle(&self) -> Option<Bundle> {
        Bundle::parse(&self.level).filter(|_| self.product == LeadProduct::Bundle)
    }

    /// Takes the step and writes it down; the lead stays as it was where the pipeline does not have it.
    pub fn apply(
        &mut self,
        event: LeadEvent,
        by: By,
        what: &str,
        at: UnixSeconds,
    ) -> Result<(), NotAllowed> {
        let earlier = self.status;
        self.status = next(earlier, event)?;
        let step = format!("{} → {}", earlier.name(), self.status.name());
        let what = match what {
            "" => step,
            what => format!("{step}: {what}"),
        };
        self.note(by, &what, at);
        Ok(())
    }

    /// Writes down that the buyer goes to the payment link, unless that was the last step.
    pub fn note_checkout(&mut self, at: UnixSeconds) {
        let what = format!("{CHECKOUT_STARTED}: {}", self.level);
        if self.trail.last().is_none_or(|step| step.what != what) {
            self.note(By::Buyer, &what, at);
        }
    }

    /// Whether the buyer has been led to the payment link.
    pub fn has_begun_checkout(&self) -> bool {
        let begun =
            |step: &LeadStep| step.by == By::Buyer && step.what.starts_with(CHECKOUT_STARTED);
        self.trail.iter().any(begun)
    }

    /// Writes something down without a step of the pipeline.
    pub fn note(&mut self, by: By, what: &str, at: UnixSeconds) {
        if self.trail.len() >= TRAIL_MAX {
            self.trail.remove(1);
        }
        self.changed_at = at.0;
        self.trail.push(LeadStep {
            at: at.0,
            by,
            what: what.chars().take(STEP_CHARACTERS_MAX).collect(),
        });
    }
}

impl LeadProduct {
    pub const ALL: [LeadProduct; 3] =
        [LeadProduct::Pack, LeadProduct::Bundle, LeadProduct::Contact];

    pub fn name(self) -> &'static str {
        match self {
            LeadProduct::Pack => "proof_pack",
            LeadProduct::Bundle => bundle::PRODUCT,
            LeadProduct::Contact => "contact",
        }
    }

    pub fn parse(name: &str) -> Option<LeadProduct> {
        LeadProduct::ALL
            .into_iter()
            .find(|product| product.name() == name)
    }

    /// What its level is called: `pack`, `bundle`, or nothing for a message.
    pub fn level_word(self) -> Option<&'static str> {
        match self {
            LeadProduct::Pack => Some("pack"),
            LeadProduct::Bundle => Some("bundle"),
            LeadProduct::Contact => None,
        }
    }
}

impl LeadStatus {
    pub const ALL: [LeadStatus; 5] = [
        LeadStatus::New,
        LeadStatus::Contacted,
        LeadStatus::Paid,
        LeadStatus::Fulfilled,
        LeadStatus::Lost,
    ];

    pub fn name(self) -> &'static str {
        match self {
            LeadStatus::New => "new",
            LeadStatus::Contacted => "contacted",
            LeadStatus::Paid => "paid",
            LeadStatus::Fulfilled => "fulfilled",
            LeadStatus::Lost => "lost",
        }
    }

    pub fn parse(name: &str) -> Option<LeadStatus> {
        LeadStatus::ALL
            .into_iter()
            .find(|status| status.name() == name)
    }

    /// Whether the person may still buy.
    pub fn is_open(self) -> bool {
        matches!(self, LeadStatus::New | LeadStatus::Contacted)
    }
}

impl LeadEvent {
    pub const ALL: [LeadEvent; 4] = [
        LeadEvent::Contact,
        LeadEvent::Pay,
        LeadEvent::Fulfil,
        LeadEvent::Lose,
    ];

    /// The event that brings a lead there; nothing makes one new again.
    pub fn towards(status: LeadStatus) -> Option<LeadEvent> {
        match status {
            LeadStatus::New => None,
            LeadStatus::Contacted => Some(LeadEvent::Contact),
            LeadStatus::Paid => Some(LeadEvent::Pay),
            LeadStatus::Fulfilled => Some(LeadEvent::Fulfil),
            LeadStatus::Lost => Some(LeadEvent::Lose),
        }
    }
}

impl By {
    pub fn name(self) -> &'static str {
        match self {
            By::Buyer => "buyer",
            By::Operator => "operator",
            By::Provider => "provider",
            By::Service => "service",
        }
    }
}

impl fmt::Display for NotAllowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = match self.event {
            LeadEvent::Contact => "contacted",
            LeadEvent::Pay => "paid for",
            LeadEvent::Fulfil => "fulfilled",
            LeadEvent::Lose => "given up",
        };
        write!(f, "a lead that is {} cannot be {step}", self.status.name())
    }
}

impl std::error::Error for NotAllowed {}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixSeconds = UnixSeconds(1_795_000_000);

    fn lead() -> Lead {
        Lead {
            level: "builder".to_owned(),
            contact: "a@example.com".to_owned(),
            target_urls: vec!["https://example.com/".to_owned()],
            ..Lead::of(LeadProduct::Bundle, NOW)
        }
    }

    #[test]
    fn the_pipeline_has_these_steps_and_no_others() {
        use LeadEvent::{Contact, Fulfil, Lose, Pay};
        use LeadStatus::{Contacted, Fulfilled, Lost, New, Paid};
        let steps = [
            (New, Contact, Contacted),
            (Lost, Contact, Contacted),
            (New, Pay, Paid),
            (Contacted, Pay, Paid),
            (Lost, Pay, Paid),
            (Paid, Pay, Paid),
            (Fulfilled, Pay, Fulfilled),
            (Paid, Fulfil, Fulfilled),
            (Fulfilled, Fulfil, Fulfilled),
            (New, Lose, Lost),
            (Contacted, Lose, Lost),
            (Paid, Lose, Lost),
            (Fulfilled, Lose, Lost),
        ];
        for status in LeadStatus::ALL {
            for event in LeadEvent::ALL {
                let allowed = steps
                    .iter()
                    .find(|(from, by, _)| (*from, *by) == (status, event))
                    .map(|(_, _, to)| *to);
                assert_eq!(next(status, event).ok(), allowed, "{status:?} {event:?}");
            }
        }
    }

    #[test]
    fn a_refused_step_leaves_no_trace() {
        let mut lead = lead();
        let refused = lead.apply(LeadEvent::Fulfil, By::Operator, "", NOW.plus(9));
        let refused = refused.expect_err("nothing was paid");
        assert_eq!(
            refused.to_string(),
            "a lead that is new cannot be fulfilled"
        );
        assert_eq!(lead, self::lead());
        lead.apply(LeadEvent::Pay, By::Provider, "ord_1", NOW.plus(9))
            .expect("a payment is always taken");
        assert_eq!(
            (lead.status, lead.changed_at),
            (LeadStatus::Paid, NOW.0 + 9)
        );
        assert_eq!(lead.trail[0].what, "new → paid: ord_1");
    }

    #[test]
    fn a_trail_is_bounded_and_keeps_its_beginning() {
        let mut lead = lead();
        for step in 0..250 {
            lead.note(By::Buyer, &format!("step {step}"), NOW);
        }
        lead.note(By::Buyer, &"é".repeat(9_000), NOW);
        assert_eq!(lead.trail.len(), TRAIL_MAX);
        assert_eq!(lead.trail[0].what, "step 0");
        assert_eq!(lead.trail[TRAIL_MAX - 2].what, "step 249");
        assert_eq!(lead.trail[TRAIL_MAX - 1].what.chars().count(), 300);
    }

    #[test]
    fn names_read_back() {
        for status in LeadStatus::ALL {
            assert_eq!(LeadStatus::parse(status.name()), Some(status));
        }
        for product in LeadProduct::ALL {
            assert_eq!(LeadProduct::parse(product.name()), Some(product));
        }
    }
}
