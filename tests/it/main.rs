//! Everything that is tested from outside: the whole service over real sockets, against upstreams that really listen.

/// The service, its upstreams and its clock, for the tests below.
mod harness;

/// The fuzzers' chance, for the short runs below.
#[path = "../fuzz/src/random.rs"]
mod random;

/// The paid operation: asking for the price, paying, and what the buyer gets.
mod access;
/// What agents find: the card, free messages, and help before they pay.
mod agent;
/// What operators do with a service: back it up, restore it, restart it, ask how it is.
mod appliance;
/// Every known attack on sellers, with the tests that show what becomes of it.
mod attacks;
/// Evidence Bundles before they are paid.
mod bundles;
/// What the chain knows: settlements that nobody else can tell, and the price of gas.
mod chain;
/// Being asked for money: the 402 of an unpaid request and the probes of directories.
mod challenge;
/// The program's commands, as child processes.
mod cli;
/// Answers in gzip and brotli.
mod codings;
/// The operator's commands for outbox, ledger, data and pause.
mod commands;
/// The operator over the network: the token, the console with its forms, and the pause of sales.
mod console;
/// The endpoints as a list.
mod contract;
/// Pages made to break the converter.
mod conversion;
/// What programs read about the service.
mod discovery;
/// The documents that crawlers, directories and browsers look for by themselves.
mod documents;
/// What buyers ask of pages, and whether they are told the truth.
mod evidence;
/// Parts of pages: passages within a budget, and what is left out.
mod excerpts;
/// Requests that cannot be served as they are.
mod failure;
/// Everything that the outside can do to a service to wear it down.
mod hostile;
/// The shell around every endpoint: what HTTP itself may do to a service, and what every answer carries.
mod http;
/// The real program, killed two hundred times while it sells.
mod kills;
/// Requests and messages of people, and what the operator makes of them.
mod leads;
/// The operator's ledger: each day's ledger, held against what the vault has received.
mod ledger;
/// What remains from before x402 version 2.
mod legacy;
/// Pages paid by the buyer's own transfer, before x402 version 2.
mod legacy_access;
/// Transfers that only their sender can buy with.
mod legacy_proof;
/// What a service under load, attack or orders to stop still does.
mod limits;
/// Names of targets: looked up, hanging, failing, private.
mod lookups;
/// Mail: sent once, put off and given up, by a server with manners of every kind.
mod mail;
/// The Model Context Protocol: tools that are endpoints.
mod mcp;
/// Language models behind reports, and what the dishonest among them achieve.
mod models;
/// Settlements that go wrong in every way, and what the buyer is told.
mod money;
/// That everything in the program has its license named.
mod notices;
/// What the service signs: offers and receipts.
mod offer_receipt;
/// Paid bundles, from the payment to the delivered report.
mod orders;
/// Settled payments whose answers were lost, and buyers who sign anew.
mod owed;
/// What pages offer beyond reading: markdown twins, the demo, evidence and checks, the operator's details.
mod pages;
/// That the documents agree with each other and with the live 402.
mod parity;
/// What sites say about the use of their pages, and hosts that the operator has blocked.
mod policy;
/// Proof Packs: a report on a page instead of the page.
mod proof_packs;
/// What was paid, read again by the wallet that signs in.
mod purchases;
/// Texts and questions made to break the evidence engine.
mod questions;
/// Quotes: what a page would cost, for nothing.
mod quotes;
/// How often whom is served, and where nobody is turned away.
mod rates;
/// That the README and the guides say what is so: prices, figures, links, commands, settings.
mod readme;
/// What the operator can find out about a payment that was refused.
mod refusals;
/// Pages whose text is made by scripts: the browser, and what becomes of a sale when it fails.
mod render;
/// The same payment again, at once and later.
mod replay;
/// Reports after their sale: read again, checked, asked, refreshed, shared, expired.
mod reports;
/// Stops, crashes and other configurations over one data file.
mod restart;
/// Retry credits: earned by outages, spent once.
mod retry;
/// Reported settlements beside the chain, and those whose end nobody can tell.
mod settlements;
/// Setting up a machine with one command.
mod setup;
/// Several pages or sources in one purchase.
mod several;
/// Pages for people.
mod site;
/// Conventions that matter, as tests.
mod tidy;
/// HTTPS without a reverse proxy.
mod tls;
/// What the wire and the disk may bring, by the thousand.
mod untrusted;
/// Pages without text, and walls in place of content.
mod walls;
/// The payment provider's events.
mod webhook;
