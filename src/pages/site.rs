//! The facts about the running service that every page needs.

use crate::domain::bundle::payment_of_people;
use crate::domain::figures;

/// The product name, for titles and the header.
pub const NAME: &str = "context402";

/// Who verifies and settles payments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FacilitatorMode {
    /// The embedded facilitator: test funds, nothing reaches a chain.
    Sandbox,
    /// An external facilitator: real money.
    Real,
}

/// The public part of the configuration.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// Without a trailing slash.
    pub base_url: &'a str,
    /// The receiving address.
    pub pay_to: &'a str,
    /// CAIP-2, such as `eip155:8453`.
    pub network: &'a str,
    /// The token contract.
    pub asset: &'a str,
    pub facilitator: FacilitatorMode,
    /// The program's version.
    pub version: &'a str,
    /// An e-mail address or an https address, if configured.
    pub contact: Option<&'a str>,
    /// Where buyers can download the program, if configured.
    pub download: Option<&'a str>,
    /// Whether the entailment model is used.
    pub has_model: bool,
    /// Whether a bundle can be paid for through a payment link.
    pub has_payment_link: bool,
    /// Whether the operator has paused sales.
    pub is_paused: bool,
}

impl Site<'_> {
    /// The absolute address of a path that begins with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }

    /// The network's common name, or its identifier.
    pub fn network_name(&self) -> &str {
        figures::network_name(self.network)
    }

    /// Whether a buyer has the program: where it can be downloaded, and in a sandbox, which it runs.
    pub fn has_program(&self) -> bool {
        self.download.is_some() || self.facilitator == FacilitatorMode::Sandbox
    }

    /// How people without a wallet pay for a bundle.
    pub fn payment_of_people(&self) -> &'static str {
        payment_of_people(self.has_payment_link)
    }

    /// The sample page, which the starter tier always delivers.
    pub fn sample_url(&self) -> String {
        self.url("/sample")
    }
}
