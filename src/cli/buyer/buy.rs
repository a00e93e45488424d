//! `context402 buy`: buys from any x402 version 2 seller, up to a maximum price.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

use crate::cli::buyer::{complaint, report, warnings};
use crate::cli::{Failure, failed, say};
use crate::domain::amount::Amount;
use crate::domain::level::Level;
use crate::domain::pack::Pack;
use crate::domain::tier::Tier;
use crate::evidence::report::Report;
use crate::evidence::report::canonical::result_hash;
use crate::outside::buyer::{
    BuyError, Buyer, BuyerSettings, Proof, Proofs, Purchase, SellerRequest, Wallet,
};
use crate::outside::clock::Clock;
use crate::x402::address::{Address, Network};
use crate::x402::offer_receipt::Receipt;
use crate::x402::payer::Choice;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// The page to buy
    #[arg(value_parser = parse_address)]
    url: String,
    /// starter, cached, basic, fresh or deep
    #[arg(long, default_value = "fresh", value_parser = parse_tier)]
    tier: Tier,
    /// Buy a report on the page instead: quick, standard or deep
    #[arg(long, conflicts_with = "tier", value_parser = parse_pack)]
    pack: Option<Pack>,
    /// The question or claim to check against the page
    #[arg(long, requires = "pack")]
    question: Option<String>,
    /// Skip the seller's cache; =false lets a deep pack use it
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    force_refresh: Option<bool>,
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

/// The address as typed; the seller validates it, too.
pub(in crate::cli) fn parse_address(text: &str) -> Result<String, String> {
    let url = Url::parse(text).ok();
    url.filter(|url| matches!(url.scheme(), "http" | "https"))
        .map(|_| text.to_owned())
        .ok_or_else(|| "write an http or https address such as https://example.com/".to_owned())
}

fn parse_tier(name: &str) -> Result<Tier, String> {
    Tier::parse(name).ok_or_else(|| format!("use one of {}", Tier::NAMES.join(", ")))
}

fn parse_pack(name: &str) -> Result<Pack, String> {
    Pack::parse(name).ok_or_else(|| format!("use one of {}", Pack::NAMES.join(", ")))
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
        let wallet = self.wallet()?;
        let mut settings = BuyerSettings::default();
        settings.tokens.extend(&self.token);
        let buyer = Buyer::new(settings).map_err(failed)?;
        let (level, request) = (self.level(), self.request());
        let max = self.max_usdc.unwrap_or_else(|| level.price());
        let now = Clock::System.now();
        match buyer.pay_telling(&wallet, &request, max, now, None, note_price) {
            Ok(purchase) => {
                let proofs = purchase
                    .paid
                    .as_ref()
                    .map(|paid| buyer.check(&request, paid, Clock::System.now()));
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
        self.pack.map_or(Level::Tier(self.tier), Level::Pack)
    }

    fn request(&self) -> SellerRequest {
        let (level, product) = (self.level(), self.level().product());
        let address = format!("{}{}", self.seller.trim_end_matches('/'), product.path());
        let mut body = json!({"target_url": self.url, product.level_word(): level.name()});
        if let Some(question) = &self.question {
            body["question"] = question.as_str().into();
        }
        if let Some(refresh) = self.force_refresh {
            body["force_refresh"] = refresh.into();
        }
        SellerRequest::post_json(&address, &body)
    }

    fn wallet(&self) -> Result<Wallet, Failure> {
        let place = self.key_file.display();
        let read = |error: std::io::Error| {
            Failure::Failed(format!(
                "{place}: {error}. The file must contain your wallet's private key, 0x and 64 hex digits, with mode 0600"
            ))
        };
        let mode = std::fs::metadata(&self.key_file)
            .map_err(read)?
            .permissions()
            .mode();
        if mode & 0o077 != 0 {
            return Err(Failure::Failed(format!(
                "{place} contains a private key but is readable by others; run `chmod 600 {place}`"
            )));
        }
        let text = std::fs::read_to_string(&self.key_file).map_err(read)?;
        Wallet::parse(text.trim()).ok_or_else(|| {
            Failure::Failed(format!("{place} does not contain 0x and 64 hex digits"))
        })
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
            return Err(Failure::Failed(complaint::of(reply)));
        }
        let answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        if let Some(proofs) = proofs {
            note_proofs(proofs, &answer);
        }
        warnings::note_all(&answer);
        match (answer["markdown"].as_str(), Report::parse(&reply.body)) {
            (Some(markdown), _) if !self.json => say(markdown.trim_end())?,
            (_, Ok(report)) if !self.json => say(report::lines(&report).join("\n"))?,
            _ => say(text)?,
        }
        Ok(())
    }
}

/// Before anything is signed.
fn note_price(choice: &Choice) {
    let asked = &choice.requirements;
    note(format_args!(
        "price     {} USDC to {}",
        asked.amount, asked.pay_to
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
    let found = match answer["markdown"].as_str() {
        Some(markdown) => hex::encode(Sha256::digest(markdown)),
        None => result_hash(answer),
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
