//! What every page needs to know of the running service.

/// The product's name, as it stands in titles and in the header.
pub const NAME: &str = "context402";

/// Who verifies and settles payments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FacilitatorMode {
    /// The embedded one: test funds, nothing reaches a chain.
    Sandbox,
    /// An external facilitator: real money.
    Real,
}

/// The part of the configuration that is public and that pages print.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// Without a trailing slash.
    pub base_url: &'a str,
    /// The address that payments go to.
    pub pay_to: &'a str,
    /// CAIP-2, such as `eip155:8453`.
    pub network: &'a str,
    /// The token contract.
    pub asset: &'a str,
    pub facilitator: FacilitatorMode,
    /// The program's version.
    pub version: &'a str,
    /// An e-mail address or an https address, when the operator states one.
    pub contact: Option<&'a str>,
}

impl Site<'_> {
    /// The absolute address of a path that begins with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }

    /// The name people use for the network, or its identifier.
    pub fn network_name(&self) -> &str {
        match self.network {
            "eip155:8453" => "Base",
            "eip155:84532" => "Base Sepolia",
            other => other,
        }
    }

    /// The page of our own that the starter tier always delivers (decisions, Addresses and samples).
    pub fn sample_url(&self) -> String {
        self.url("/sample")
    }
}
