//! Why a page could not be delivered, as a refusal: what is final, and what earns a retry credit.

use crate::domain::cache::CachePolicy;
use crate::domain::code::Code;
use crate::domain::refusal::{Refusal, With};
use crate::domain::target::{TargetError, explained};
use crate::domain::tier::Tier;
use crate::flows::content::rendering::Attempt;
use crate::outside::render::RenderError;
use crate::outside::web::FetchError;

/// Why delivery fails.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble {
    /// Final: nothing is owed.
    Refused(Refusal),
    /// Transient: an accepted payment earns a retry credit.
    Outage(Refusal),
}

impl Trouble {
    pub fn refusal(&self) -> &Refusal {
        let (Trouble::Refused(refusal) | Trouble::Outage(refusal)) = self;
        refusal
    }

    /// The refusal where nothing was paid, so that nothing is owed.
    pub fn into_refusal(self) -> Refusal {
        let (Trouble::Refused(refusal) | Trouble::Outage(refusal)) = self;
        refusal
    }
}

/// Refuses a target with the policy's explanation.
pub fn refused_target(text: &str, error: TargetError) -> Trouble {
    Trouble::Refused(Refusal::new(
        error.code(),
        format!("{}.", explained(text, error)),
    ))
}

/// What to say in place of a page that cannot be sold, if the browser is to blame.
pub(super) fn render_trouble(attempt: &Attempt) -> Option<Trouble> {
    let error = attempt.error.as_ref()?;
    Some(match error {
        RenderError::Busy => Trouble::Outage(Refusal::new(
            Code::Overloaded,
            "The page's text is made by scripts, and too many pages are being rendered. Try again in a few seconds.",
        )),
        RenderError::Unavailable(_) => Trouble::Refused(Refusal::of(Code::RenderUnavailable)),
        RenderError::Failed { detail, .. } => Trouble::Refused(Refusal::new(
            Code::RenderFailed,
            format!("The page's text is made by scripts, and it could not be rendered: {detail}."),
        )),
    })
}

/// `FetchError` decides what is transient and what is final.
pub fn fetch_trouble(error: &FetchError) -> Trouble {
    let refusal = Refusal::new(error.code(), format!("{error}."));
    match error.is_transient() {
        true => Trouble::Outage(refusal),
        false => Trouble::Refused(refusal),
    }
}

/// The sample page is also sold by the starter tier.
pub(super) fn cache_miss(is_sample: bool) -> Refusal {
    let message =
        "This tier only reads the cache, and the page is not cached. The payment was not used.";
    let delivers = |tier: &Tier| match tier.cache() {
        CachePolicy::CacheOnly { sample } => sample && is_sample,
        CachePolicy::UpTo { .. } | CachePolicy::Bypass => true,
    };
    let alternatives = Tier::ALL.into_iter().filter(delivers).collect();
    Refusal::new(Code::CacheMiss, message).with(With::Alternatives(alternatives))
}
