//! Everything that leaves the process. ureq, name resolution, the clock and randomness are used here only.

mod agent;
pub mod buyer;
pub mod call;
pub mod chain;
pub mod chance;
pub mod clock;
pub mod descriptors;
pub mod disk;
pub mod facilitator;
pub mod llm;
#[cfg(test)]
pub(crate) mod loopback;
mod names;
pub mod network;
pub mod robots;
mod roots;
pub mod web;

use crate::outside::call::{Lane, Shares};
use crate::outside::chain::Chain;
use crate::outside::clock::Clock;
use crate::outside::facilitator::Facilitator;
use crate::outside::llm::Llm;
use crate::outside::robots::RobotsFiles;
use crate::outside::web::Web;

/// The neighbours that a running service talks to.
#[derive(Clone, Debug)]
pub struct Outside {
    pub facilitator: Facilitator,
    /// The network itself, where an RPC endpoint is configured.
    pub chain: Option<Chain>,
    /// A language model, where one is configured.
    pub llm: Option<Llm>,
    pub web: Web,
    /// Places for fetches with their conversion; each bounds its own memory.
    pub fetches: Lane,
    /// Of those, how many one payer may have.
    pub fetches_of_payer: Shares,
    /// And how many may go to one site.
    pub fetches_of_domain: Shares,
    /// What the sites' robots.txt say, as far as it is known.
    pub robots: RobotsFiles,
    /// Places for name lookups of quotes.
    pub lookups: Lane,
    /// Places for examinations of sources, which keep a core each.
    pub checks: Lane,
    pub clock: Clock,
}
