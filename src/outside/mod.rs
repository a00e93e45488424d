//! Everything outside the process: only this module uses ureq, lettre, name resolution, the clock and randomness.

pub mod acme;
mod agent;
pub mod buyer;
pub mod call;
pub mod chain;
pub mod chance;
pub mod clock;
pub mod descriptors;
pub mod disk;
pub mod facilitator;
pub mod fonts;
pub mod hooks;
pub mod llm;
#[cfg(test)]
#[allow(dead_code, reason = "tests/it uses the rest")]
#[path = "../../tests/it/harness/server.rs"]
pub(crate) mod loopback;
pub mod mailer;
pub mod memory;
mod names;
pub mod network;
pub mod probe;
pub mod process;
pub mod render;
pub mod robots;
mod roots;
pub mod supervisor;
pub mod tls_files;
pub mod web;

use crate::outside::call::{ConcurrencyLimit, KeyedLimit};
use crate::outside::chain::Chain;
use crate::outside::clock::Clock;
use crate::outside::facilitator::Facilitator;
use crate::outside::fonts::FontShelf;
use crate::outside::hooks::Hook;
use crate::outside::llm::Llm;
use crate::outside::mailer::Mailer;
use crate::outside::memory::Memory;
use crate::outside::render::Renderer;
use crate::outside::robots::RobotsFiles;
use crate::outside::web::Web;

/// The upstreams that a running service talks to.
#[derive(Clone, Debug)]
pub struct Outside {
    pub facilitator: Facilitator,
    /// The network itself, where an RPC endpoint is configured.
    pub chain: Option<Chain>,
    /// A language model, where one is configured.
    pub llm: Option<Llm>,
    /// Who hears of new leads, where somebody is configured.
    pub hook: Option<Hook>,
    pub mailer: Mailer,
    pub web: Web,
    /// The browser, where one is configured.
    pub renderer: Option<Renderer>,
    /// For pages, sources and answers that are made.
    pub memory: Memory,
    /// Places for fetches with their conversion.
    pub fetches: ConcurrencyLimit,
    /// Of those, how many one payer may have.
    pub fetches_of_payer: KeyedLimit,
    /// And how many may go to one site.
    pub fetches_of_domain: KeyedLimit,
    /// What the sites' robots.txt say, as far as it is known.
    pub robots: RobotsFiles,
    /// Places for examinations of sources that are paid for, which keep a core each.
    pub checks: ConcurrencyLimit,
    /// Places for what is free for those who have bought a report: verification, follow-up questions, PDFs.
    pub report_checks: ConcurrencyLimit,
    /// Places for what is free for everybody and takes a core as long: demos, the sample report, pages as markdown. Apart,
    /// so that it never fills the queue of what is paid for.
    pub free_checks: ConcurrencyLimit,
    /// Fonts of the machine, for documents in scripts that the embedded ones lack.
    pub fonts: FontShelf,
    pub clock: Clock,
}
