//! `context402 buy`: buys from any x402 version 2 seller, up to a maximum price.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

use crate::cli::buyer::{check, complaint, report, warnings};
use crate::cli::progress::Progress;
use crate::cli::{Failure, failed, say};
use crate::domain::amount::Amount;
use crate::domain::bundle::Bundle;
use crate::domain::check::CheckDepth;
use crate::domain::evm::{Address, Network};
use crate::domain::figures::{cents, network_name};
use crate::domain::level::{Level, LineItem};
use crate::domain::pack::Pack;
use crate::domain::render::Render;
use crate::domain::tier::Tier;
use crate::evidence::bundle::BundleReport;
use crate::evidence::check::CheckReport;
use crate::evidence::report::Report;
use crate::evidence::report::canonical::{bundle_hash, result_hash};
use crate::flows::sale::answer::hash_of_pages;
use crate::outside::buyer::{
    BuyError, Buyer, BuyerSettings, Paid, Proof, Proofs, Purchase, SellerReply, SellerRequest,
    Wallet,
};
use crate::outside::clock::Clock;
use crate::x402::offer_receipt::Receipt;
use crate::x402::payer::Choice;

/// What facilitators call it.
const INSUFFICIENT_FUNDS: &str = "insufficient_funds";

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// The page to buy, or several in one purchase
    #[arg(value_parser = parse_address, required = true, num_args = 1..)]
    url: Vec<String>,
    /// starter, cached, basic, fresh or deep
    #[arg(long, default_value = "fresh")]
    tier: Tier,
    /// Buy a report on the page instead: quick, standard or deep
    #[arg(long, conflicts_with = "tier")]
    pack: Option<Pack>,
    /// Buy a report on what several pages say together: scout, builder or audit
    #[arg(long, conflicts_with_all = ["tier", "pack"])]
    bundle: Option<Bundle>,
    /// Check each claim of the text in this file against the pages; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tier", "pack", "bundle", "question"])]
    check: Option<PathBuf>,
    /// How thoroughly to check a text: quick or standard
    #[arg(long, requires = "check", default_value = "standard")]
    depth: CheckDepth,
    /// The question or claim to check against the page or pages
    #[arg(long)]
    question: Option<String>,
    /// Skip the seller's cache; =false lets a deep pack use it
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    force_refresh: Option<bool>,
    /// Whether the seller opens the page in a browser: never, auto or always
    #[arg(long, value_name = "never|auto|always", value_parser = parse_render)]
    render: Option<Render>,
    /// Also read the comments under articles
    #[arg(long)]
    include_comments: bool,
    /// Add a screenshot of the page to a deep report
    #[arg(long, requires = "pack")]
    screenshot: bool,
    /// The seller's base address
    #[arg(long, value_name = "BASE", value_parser = parse_address)]
    seller: String,
    /// A file with the wallet's private key: 0x and 64 hex digits
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    /// The most to pay, in USDC; the list price by default
    #[arg(long, value_name = "N", value_parser = parse_usdc)]
    max_usdc: Option<Amount>,
    /// An additional token to pay with, for test networks: NETWORK=ADDRESS, such as eip155:31337=0x…
    #[arg(long, value_name = "NETWORK=ADDRESS", value_parser = parse_token)]
    token: Vec<(Network, Address)>,
    /// Print the seller's whole JSON response instead of the markdown or the report's text
    #[arg(long)]
    json: bool,
}

fn parse_render(text: &str) -> Result<Render, String> {
    Render::parse(text).ok_or_else(|| "write never, auto or always".to_owned())
}

/// The address as typed; the seller validates it, too.
pub(in crate::cli) fn parse_address(text: &str) -> Result<String, String> {
    let url = Url::parse(text).ok();
    url.filter(|url| matches!(url.scheme(), "http" | "https"))
        .map(|_| text.to_owned())
        .ok_or_else(|| "write an http or https address such as https://example.com/".to_owned())
}

fn parse_usdc(text: &str) -> Result<Amount, String> {
    Amount::parse_usdc(text).ok_or_else(|| "write an amount of USDC such as 0.03".to_owned())
}

fn parse_token(text: &str) -> Result<(Network, Address), String> {
    text.split_once('=')
        .and_then(|(network, address)| {
            Some((
                Network::parse(network)?,
                Address::parse_checksummed(address)?,
            ))
        })
        .ok_or_else(|| {
            "write NETWORK=ADDRESS such as eip155:84532=0x036CbD53842c5426634e7929541eC2318f3dCF7e"
                .to_owned()
        })
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let wallet = wallet(&self.key_file)?;
        let mut settings = BuyerSettings::default();
        settings.tokens.extend(&self.token);
        let buyer = Buyer::new(settings).map_err(failed)?;
        let (item, request) = (self.item()?, self.request()?);
        let max = self.max_usdc.unwrap_or_else(|| item.price());
        let now = Clock::System.now();
        let mut progress = Some(Progress::start("Asking for the price"));
        let outcome = buyer.pay_telling(&wallet, &request, max, now, None, |choice| {
            drop(progress.take());
            note(format_args!("wallet    {}", wallet.address()));
            note_price(choice);
            progress = Some(Progress::start("Paying, and waiting for the response"));
        });
        match outcome {
            Ok(purchase) => {
                let proofs = purchase
                    .paid
                    .as_ref()
                    .map(|paid| buyer.check(&request, paid, Clock::System.now()));
                drop(progress);
                self.report(&purchase, proofs.as_ref())
            }
            Err(BuyError::Lost { payment, detail }) => Err(Failure::Failed(format!(
                "the seller received the payment and then could not be reached ({detail}). You may have been charged: \
                before you sign again, repeat the request with this header: PAYMENT-SIGNATURE: {}",
                payment.header
            ))),
            Err(error) => Err(failed(error)),
        }
    }

    fn level(&self) -> Level {
        match (self.pack, self.bundle, &self.check) {
            (Some(pack), ..) => Level::Pack(pack),
            (_, Some(bundle), _) => Level::Bundle(bundle),
            (.., Some(_)) => Level::Check(self.depth),
            _ => Level::Tier(self.tier),
        }
    }

    /// What is bought: one report or bundle, or a level for each page.
    fn item(&self) -> Result<LineItem, Failure> {
        let (level, pages) = (self.level(), self.url.len());
        let usage = |message: String| Err(Failure::Usage(message));
        if self.question.is_some() && !matches!(level, Level::Pack(_) | Level::Bundle(_)) {
            return usage("--question belongs to --pack or --bundle".to_owned());
        }
        match level {
            Level::Pack(_) if pages > 1 => {
                usage("a pack reports on one page; use --bundle for several".to_owned())
            }
            Level::Bundle(_) if pages < 2 => {
                usage("a bundle reports on several pages; use --pack for one".to_owned())
            }
            Level::Bundle(_) | Level::Pack(_) => Ok(level.into()),
            Level::Tier(_) | Level::Check(_) => match LineItem::new(level, pages) {
                Some(item) => Ok(item),
                None => {
                    let most = level.product().quantity_max();
                    usage(format!("at most {most} pages in one purchase"))
                }
            },
        }
    }

    fn request(&self) -> Result<SellerRequest, Failure> {
        let (level, product) = (self.level(), self.level().product());
        let address = format!("{}{}", self.seller.trim_end_matches('/'), product.path());
        let mut body = match (level, self.url.as_slice()) {
            (Level::Check(_), pages) => json!({"text": self.text()?, "sources": pages}),
            (Level::Bundle(_), pages) => json!({"target_urls": pages}),
            (_, [page]) => json!({"target_url": page}),
            (_, pages) => json!({"target_urls": pages}),
        };
        body[product.level_word()] = level.name().into();
        if let Some(question) = &self.question {
            body["question"] = question.as_str().into();
        }
        if let Some(refresh) = self.force_refresh {
            body["force_refresh"] = refresh.into();
        }
        if let Some(render) = self.render {
            body["render"] = render.name().into();
        }
        if self.include_comments {
            body["include_comments"] = true.into();
        }
        if self.screenshot {
            body["screenshot"] = true.into();
        }
        Ok(SellerRequest::post_json(&address, &body))
    }

    /// The text to check.
    fn text(&self) -> Result<String, Failure> {
        let Some(file) = &self.check else {
            return Ok(String::new());
        };
        let read = match file.as_os_str() == "-" {
            true => std::io::read_to_string(std::io::stdin()),
            false => std::fs::read_to_string(file),
        };
        read.map_err(|error| Failure::Failed(format!("{}: {error}", file.display())))
    }

    /// Prints the result to standard output and the receipt to standard error, so that the page can be piped.
    fn report(&self, purchase: &Purchase, proofs: Option<&Proofs>) -> Result<(), Failure> {
        let reply = &purchase.reply;
        let text = String::from_utf8_lossy(&reply.body);
        if let Some(paid) = &purchase.paid {
            match &paid.settlement {
                Some(settlement) if settlement.success => {
                    note(format_args!("receipt   {}", settlement.transaction))
                }
                Some(settlement) => {
                    note(format_args!(
                        "not paid  {}",
                        settlement
                            .error_reason
                            .as_deref()
                            .unwrap_or("no reason given")
                    ));
                }
                None if reply.status == 200 => {
                    note(format_args!("receipt   missing in the response"));
                }
                None => {}
            }
        }
        if reply.status != 200 {
            let lacks = purchase
                .paid
                .as_ref()
                .and_then(|paid| lacks_funds(paid, reply));
            return Err(Failure::Failed(
                lacks.unwrap_or_else(|| complaint::of(reply)),
            ));
        }
        let answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        if let Some(proofs) = proofs {
            note_proofs(proofs, &answer);
        }
        warnings::note_all(&answer);
        if self.json {
            return Ok(say(text)?);
        }
        match (answer["markdown"].as_str(), answer["pages"].as_array()) {
            (Some(markdown), _) => say(markdown.trim_end())?,
            (_, Some(pages)) => say(side_by_side(pages))?,
            _ => match (
                Report::parse(&reply.body),
                BundleReport::deserialize(&answer),
            ) {
                (Ok(report), _) => say(report::lines(&report).join("\n"))?,
                (_, Ok(report)) => say(report::bundle_lines(&report).join("\n"))?,
                _ => match CheckReport::parse(&reply.body) {
                    Ok(report) => say(check::lines(&report, &self.url).join("\n"))?,
                    Err(_) => say(text)?,
                },
            },
        }
        Ok(())
    }
}

/// The wallet whose key a file holds.
pub(in crate::cli) fn wallet(key_file: &Path) -> Result<Wallet, Failure> {
    let place = key_file.display();
    let read = |error: std::io::Error| {
        Failure::Failed(format!(
            "{place}: {error}. The file must contain your wallet's private key, 0x and 64 hex digits, with mode 0600"
        ))
    };
    let metadata = std::fs::metadata(key_file).map_err(read)?;
    if metadata.permissions().mode() & 0o077 != 0 {
        return Err(Failure::Failed(format!(
            "{place} is readable by others, and a private key must not be; run `chmod 600 {place}`"
        )));
    }
    let text = std::fs::read_to_string(key_file).map_err(read)?;
    let wallet = Wallet::parse(text.trim());
    wallet.ok_or_else(|| {
        failed(format_args!(
            "{place} does not contain 0x and 64 hex digits"
        ))
    })
}

/// The markdown of several pages, each behind a line with its address.
fn side_by_side(pages: &[Value]) -> String {
    let pages = pages.iter().map(|page| {
        let [address, markdown] = ["target_url", "markdown"].map(|name| page[name].as_str());
        let markdown = markdown.unwrap_or_default().trim_end();
        format!("<!-- {} -->\n\n{markdown}", address.unwrap_or_default())
    });
    pages.collect::<Vec<_>>().join("\n\n")
}

/// Who pays, and what is missing, if the payment was refused for lack of funds.
fn lacks_funds(paid: &Paid, reply: &SellerReply) -> Option<String> {
    let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    (reply.status == 402 && body["error"] == INSUFFICIENT_FUNDS).then(|| {
        let asked = &paid.choice.requirements;
        format!(
            "the wallet {} does not have {} USDC on {}; send USDC there. Nothing was charged.",
            paid.payment.authorization.from,
            cents(asked.amount),
            network_name(&asked.network.to_string())
        )
    })
}

/// Before anything is signed.
fn note_price(choice: &Choice) {
    let asked = &choice.requirements;
    note(format_args!(
        "price     {} USDC to {}",
        cents(asked.amount),
        asked.pay_to
    ));
}

/// Checks the signed offer and receipt.
fn note_proofs(proofs: &Proofs, answer: &Value) {
    match &proofs.offer {
        Proof::None => {}
        Proof::Good { by, .. } => note(format_args!("offer     signed by {by}")),
        Proof::Bad(why) => note(format_args!("offer     invalid signature: {why}")),
    }
    match &proofs.receipt {
        Proof::None => {}
        Proof::Good { by, says } if is_of(says, answer) => {
            note(format_args!("proof     valid receipt, signed by {by}"));
        }
        Proof::Good { .. } => {
            note(format_args!(
                "proof     the receipt does not match the content"
            ));
        }
        Proof::Bad(why) => note(format_args!("proof     invalid receipt: {why}")),
    }
}

/// Whether the receipt's content hash matches.
fn is_of(receipt: &Receipt, answer: &Value) -> bool {
    let several = answer
        .as_object()
        .filter(|answer| answer.contains_key("sources"));
    let found = match (
        answer["markdown"].as_str(),
        answer["pages"].as_array(),
        several,
    ) {
        (Some(markdown), ..) => hex::encode(Sha256::digest(markdown)),
        (_, Some(pages), _) => {
            let hashes = pages
                .iter()
                .filter_map(|page| page["content_sha256"].as_str());
            hash_of_pages(hashes)
        }
        (.., Some(several)) => bundle_hash(several),
        _ => result_hash(answer),
    };
    receipt
        .content_sha256
        .as_ref()
        .is_none_or(|named| *named == found)
}

fn note(text: std::fmt::Arguments<'_>) {
    use std::io::Write as _;
    // A closed standard error is no failure: the page is paid and goes to standard output.
    let _ = writeln!(std::io::stderr(), "{text}");
}
