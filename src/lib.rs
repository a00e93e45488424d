//! context402 sells clean markdown of public web pages to AI agents, and reports on what a page establishes, paid per
//! call in USDC by the x402 protocol (version 2, scheme exact). One program, one data file; the library exists so that
//! tests and benches drive the true service.
//!
//! # Words
//!
//! - **Product**: a page (context) or a report on one (Proof Pack). **Level**: at which a product is sold and priced: a
//!   **tier** says how fresh a page must be, a **pack** how thorough a report is. **Amount**: USDC in atomic units.
//! - **Target**: the address that a buyer names. **Cleared**: its name was looked up and every answer is public.
//! - **Purchase**: what exactly is paid for, once query, header and body agree. **Fingerprint**: its hash.
//! - **Offer**: our payment requirements for a level. **Challenge**: an offer as a 402 carries it.
//! - **Payment proof**: the signed payload in PAYMENT-SIGNATURE. **Payment**: our record of it.
//! - **Transfer**: money that a buyer has sent to the receiving address directly; the buyer presents its hash (legacy).
//! - **Signer**: the key that signs offers, receipts and reports in the service's name.
//! - **Owed**: a settled payment whose answer was never sent completely. The payer's next authorization for the same
//!   purchase gets it uncharged.
//! - **Retry credit**: what a buyer gets when an accepted payment could not be served; it holds that payment.
//! - **Report**: what a Proof Pack sells; **retained** as the bytes that were sold, **shared** under a slug of its own.
//!   **Source**: the page that a report cites. **Quote**: what a purchase would cost, kept for a while.
//! - **Bundle report**: what several sources say together. **Group**: sources that carry one text and count as one.
//! - **Answer check**: a whole text held against sources. **Statement**: a part of it; a **claim** where a source must bear
//!   it out. **Correction**: a claim that a source contradicts, with the passage.
//! - **Finding**: a passage that bears on a question. **Citation**: a finding as a report shows it. **Synthesis**: what
//!   is left of a language model's claims once they are checked.
//! - **Bundle**: a report on several sources. **Order**: one that is paid for through a payment link.
//!   **Lead**: a request or message by a potential buyer. **Notice**: the webhook message about it.
//! - **Margin**: whether a sale earns its minimum (the Unit Economic Guardian). **Refusal**: every way to say no.
//! - **Tool**: a row of the table as MCP offers it to agents, and the agent card as a skill.
//! - **Attribution**: where a buyer came from (wire name: `source`).
//! - **Outbox**: e-mails to send. **Ledger**: daily revenue. **Ledger check**: its reconciliation with the transfers to the
//!   receiving address. **Console**: the operator's pages.
//! - **Client**: an IPv4 address or an IPv6 /64, as the connection or a trusted proxy says. **Standing**: how much of a
//!   rate limit a client has left.
//! - **Upstream**: another process that we call. **Concurrency limit**: the places that calls to one upstream may take.
//!
//! # Layers: a module imports only modules listed above it
//!
//! - [`domain`], [`markdown`], [`evidence`], [`signing`], [`x402`], [`pages`], [`pdf`], [`sandbox`]: pure. Bytes,
//!   values, the time and random bytes come in as arguments, values go out. A rule belongs here first.
//! - [`http`]: hyper's shell and its TLS, which know no product. [`store`]: redb, one writer thread. [`outside`]: everything that
//!   leaves the process. [`config`]: from settings to checked values. [`limits`]: how often a client is served.
//!   [`bounds`]: the table of everything that strangers can make the service hold.
//!   [`metrics`], [`log`], [`sync`] (locks).
//! - [`state`]: what the running service knows beside its data file: sales in flight, health, offers.
//! - [`app`]: what handlers and flows share.
//! - [`flows`]: what can happen, a folder for each part: [`flows::sale`], [`flows::content`] (what is sold),
//!   [`flows::quotes`], [`flows::orders`] (bundles), [`flows::operations`]. They wait and decide, and know no status
//!   code.
//! - [`api`]: thin handlers, a folder for each reader: buyer, orders, operator, directory, site; what they share stands
//!   beside the folders. [`routes`]: the table.
//!   [`appliance`]: all of it running.
//! - [`cli`]: the commands.
//!
//! # What the code does not contain (held by `tests/it/tidy.rs`)
//!
//! No clock, randomness or waiting in the pure layers. hyper outside `http`, redb outside `store`, ureq and lettre
//! outside `outside`, maud outside `pages`, lol_html outside `markdown`, krilla and parley outside `pdf`. A second
//! place that reads the clock or the environment. A status code in `flows`. A switch that allows private targets.
//! Global state. A circle between layers, between the folders of `api` or of `flows`, or between the files of
//! `api::buyer` or of `flows::sale`.
//!
//! # How a paid request is handled
//!
//! [`http::service`] reads it within limits, finds its row in [`routes`] and counts its client ([`api::admission`]);
//! the row is detached, so that nothing stops half way when the client leaves. [`api::buyer::paid`] answers 402 if
//! there is no payment; else it reads payment and body and hands the paid request to [`flows::sale`], which goes
//! through the steps in this order: join an identical request under way; recall what the records say of this
//! authorization; count it, if it is new; compare the terms; have it verified; claim it; give what an earlier payment
//! of the same payer for the same purchase is owed ([`flows::sale::recall`]); wait for a place among its payer's; judge
//! the margin; clear the target; fetch and convert, or read the cache; write the report, if that is what is sold; keep
//! the finished answer durably; settle; deliver. Both products go through the same steps. A sale for a transfer
//! ([`flows::sale::transfer`]) asks the chain in place of the facilitator and has nothing to settle. What may follow
//! what is decided by [`domain::payment::next`] alone. A settled payment is owed until its answer was handed over to
//! the connection ([`flows::sale::sent`]). Anything between keeping and a known end is taken up again by
//! [`flows::operations::due`] and, after a stop, by [`flows::operations::recover`]; what the facilitator cannot tell of
//! it, the chain may ([`flows::sale::reconcile`]). "Unknown" is never "failed".

pub mod domain;
pub mod evidence;
pub mod markdown;
pub mod signing;
pub mod x402;

pub mod pages;
pub mod pdf;
pub mod sandbox;

pub mod sync;

pub mod bounds;
pub mod config;
pub mod http;
pub mod limits;
pub mod log;
pub mod metrics;
pub mod outside;
pub mod store;

pub mod state;

pub mod app;
pub mod flows;

pub mod api;
pub mod routes;

pub mod appliance;
pub mod cli;

#[cfg(test)]
mod tests;
