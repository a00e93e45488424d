//! `context402 demo`: runs the whole service on loopback with test funds, buys a page step by step, and a report on it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::signal;

use crate::app::{blocking_threads, user_agent};
use crate::appliance::{Appliance, Start};
use crate::cli::buyer::buy::parse_address;
use crate::cli::buyer::{complaint, report};
use crate::cli::{Failure, config_failure, failed, run_async, say};
use crate::config::{Config, Resolved};
use crate::domain::amount::Amount;
use crate::domain::level::Product;
use crate::domain::pack::Pack;
use crate::domain::purchase::DEFAULT_QUESTION;
use crate::domain::tier::Tier;
use crate::evidence::report::Report;
use crate::http::server::{self, Transport};
use crate::http::{Call, Method, Reply, Route};
use crate::log;
use crate::outside::buyer::{Buyer, BuyerSettings, Proof, Purchase, SellerRequest, Wallet};
use crate::outside::chance;
use crate::outside::clock::Clock;
use crate::pages::buyer::samples::SAMPLES;
use crate::sandbox::ledger::STARTING_BALANCE;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Address to listen on; 127.0.0.1:4020 by default, or any free port if that is in use
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Keep the data in this file; by default it is deleted when the demo ends
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Buy this page from the real web instead of the built-in one
    #[arg(long, value_parser = parse_address)]
    url: Option<String>,
    /// Exit after the purchases, with code 0 if they succeeded
    #[arg(long)]
    once: bool,
}

const LISTEN: &str = "127.0.0.1:4020";
/// The invented public address of the sample pages.
const SAMPLE_ADDRESS: &str = "93.184.216.34";
/// A receiving address for test funds.
const PAY_TO: &str = "0x4020402040204020402040204020402040204020";
/// Lines shown of the page.
const SHOWN_LINES: usize = 200;
/// The question for the report.
const QUESTION: &str = "Did the harbour heat network deliver 4.1 gigawatt hours to 900 flats?";

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let _log = log::start("warn", false);
        // Enough threads for the purchase and for visitors.
        run_async(256, self.show())
    }

    async fn show(self) -> Result<(), Failure> {
        let web = serve_samples().await?;
        let (listener, folder) = (self.listener().await?, self.folder()?);
        let config = self.config(listener.local_addr()?, web, &folder)?;
        debug_assert!(blocking_threads(&config) <= 256);
        let start = Start {
            config,
            clock: Clock::System,
            create: true,
            check: false,
            listener: Some(listener),
            http_listener: None,
        };
        let appliance = Appliance::start(start).await.map_err(failed)?;
        let base_url = appliance.app.config.base_url.clone();
        say(format_args!(
            "context402 sells web pages as markdown, and reports on them. It now runs at {base_url} with test funds.\n"
        ))?;
        let (target, question) = match &self.url {
            Some(url) => (url.clone(), DEFAULT_QUESTION),
            None => (
                format!("http://{}{}", SAMPLES[0].host, SAMPLES[0].path),
                QUESTION,
            ),
        };
        let bought = purchases(&appliance, target, question).await;
        if bought.is_ok() && !self.once {
            say(format_args!(
                "\nThe service is still running. Open {base_url} in a browser, or read {base_url}/quickstart.\nStop it with Ctrl-C."
            ))?;
            signal::ctrl_c().await?;
        }
        appliance.stop().await;
        if self.data.is_none() {
            let _ = std::fs::remove_dir_all(&folder);
        }
        bought
    }

    async fn listener(&self) -> Result<TcpListener, Failure> {
        if let Some(address) = self.listen {
            if !address.ip().is_loopback() {
                let text = "the demo uses test funds and listens only on loopback, such as --listen 127.0.0.1:4020";
                return Err(Failure::Usage(text.to_owned()));
            }
            return TcpListener::bind(address)
                .await
                .map_err(|error| Failure::Failed(format!("{address}: {error}")));
        }
        match TcpListener::bind(LISTEN).await {
            Ok(listener) => Ok(listener),
            Err(_) => Ok(TcpListener::bind("127.0.0.1:0").await?),
        }
    }

    /// The folder of the data file and the operator's socket.
    fn folder(&self) -> Result<PathBuf, Failure> {
        if let Some(file) = &self.data {
            return Ok(file.parent().map(PathBuf::from).unwrap_or_default());
        }
        let folder = std::env::temp_dir().join(format!("context402-demo-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    fn config(
        &self,
        listen: SocketAddr,
        web: SocketAddr,
        folder: &std::path::Path,
    ) -> Result<Config, Failure> {
        let mut resolved = Resolved::defaults();
        let data_file = self
            .data
            .clone()
            .unwrap_or_else(|| folder.join("demo.redb"));
        resolved.set("base_url", format!("http://{listen}"));
        resolved.set("signing.key", hex::encode(chance::bytes::<32>()));
        resolved.set("listen", listen.to_string());
        resolved.set("data_file", data_file.display().to_string());
        resolved.set("payment.pay_to", PAY_TO);
        let hosts = SAMPLES
            .iter()
            .map(|sample| (sample.host.to_owned(), format!("{SAMPLE_ADDRESS}@{web}")))
            .collect();
        resolved.set_map("lab.hosts", hosts);
        Config::from_resolved(&resolved).map_err(|error| config_failure(&error))
    }
}

async fn purchases(
    appliance: &Appliance,
    target: String,
    question: &'static str,
) -> Result<(), Failure> {
    let app = &appliance.app;
    let (base_url, agent) = (app.config.base_url.clone(), user_agent(&app.config));
    let bought = tokio::task::spawn_blocking(move || {
        let wallet = Wallet::throwaway()
            .ok_or_else(|| Failure::Failed("no random bytes for a wallet".to_owned()))?;
        buy(&wallet, &base_url, &target, &agent)?;
        buy_report(&wallet, &base_url, &target, question)
    });
    let bought = bought.await.map_err(failed)?;
    bought.map_err(|failure| Failure::Failed(format!("the purchase failed: {failure}")))
}

/// A real purchase, with every step explained.
fn buy(wallet: &Wallet, base_url: &str, target: &str, agent: &str) -> Result<(), Failure> {
    let address = format!("{base_url}{}", Product::Context.path());
    let request = SellerRequest::post_json(
        &address,
        &json!({"target_url": target, "tier": Tier::Fresh.name()}),
    );
    let now = Clock::System.now();
    say(format_args!(
        "1. A throwaway wallet: {}, with {STARTING_BALANCE} USDC of test funds.",
        wallet.address()
    ))?;
    say(format_args!(
        "\n2. An agent requests a page without payment:\n   POST {address}"
    ))?;
    say(format_args!(
        "   {}",
        String::from_utf8_lossy(request.body.as_deref().unwrap_or_default())
    ))?;
    let buyer = Buyer::new(BuyerSettings::default()).map_err(failed)?;
    let Purchase { paid, reply } = buyer
        .pay(wallet, &request, Tier::Fresh.price(), now, None)
        .map_err(failed)?;
    let Some(paid) = paid else {
        return Err(Failure::Failed(format!(
            "expected a 402 with the price, got {}",
            reply.status
        )));
    };
    let offer = &paid.choice.requirements;
    say("\n3. The response is 402 Payment Required. Its PAYMENT-REQUIRED header, decoded:")?;
    say(format_args!(
        "   {} atomic units ({} USDC) to {}",
        offer.amount.units(),
        offer.amount,
        offer.pay_to
    ))?;
    say(format_args!(
        "   in token {} on {}, within {} s",
        offer.asset, offer.network, offer.max_timeout_seconds
    ))?;
    let signed = &paid.payment.authorization;
    say(
        "\n4. The wallet signs a transfer authorization (EIP-3009). Nothing is sent to a chain, no gas is paid:",
    )?;
    say(format_args!("   from {} to {}", signed.from, signed.to))?;
    say(format_args!(
        "   value {}, valid until {}, nonce {}",
        signed.value, signed.valid_before, signed.nonce
    ))?;
    say("\n5. The agent repeats the request with the signature in PAYMENT-SIGNATURE.")?;
    say(
        "   The service verifies it, fetches and converts the page, stores the response on disk, and only then",
    )?;
    say(format_args!(
        "   settles the payment. Its User-Agent for the site: {agent}"
    ))?;
    let body: Value = serde_json::from_slice(&reply.body)
        .map_err(|error| Failure::Failed(format!("answer {}: not JSON: {error}", reply.status)))?;
    let settled = paid
        .settlement
        .as_ref()
        .filter(|settlement| settlement.success);
    let (200, Some(settlement), Some(markdown)) =
        (reply.status, settled, body["markdown"].as_str())
    else {
        return Err(Failure::Failed(complaint::of(&reply)));
    };
    say("\n6. The response is 200. Its PAYMENT-RESPONSE header is the receipt:")?;
    say(format_args!(
        "   settled in transaction {}",
        settlement.transaction
    ))?;
    if let Proof::Good { by, .. } = buyer.check(&request, &paid, Clock::System.now()).receipt {
        say(format_args!("   with a receipt signed by {by}"))?;
    }
    let left = STARTING_BALANCE
        .checked_sub(offer.amount)
        .unwrap_or(Amount::ZERO);
    say(format_args!("   the wallet has {left} USDC left\n"))?;
    say(format_args!(
        "7. The page, {} words:\n",
        body["stats"]["word_count"]
    ))?;
    let lines: Vec<&str> = markdown.lines().collect();
    for line in lines.iter().take(SHOWN_LINES) {
        say(format_args!("   | {line}"))?;
    }
    if lines.len() > SHOWN_LINES {
        say(format_args!(
            "   | … and {} lines more",
            lines.len() - SHOWN_LINES
        ))?;
    }
    Ok(())
}

/// A report on the same page: the same exchange in short.
fn buy_report(
    wallet: &Wallet,
    base_url: &str,
    target: &str,
    question: &str,
) -> Result<(), Failure> {
    let (product, pack) = (Product::ProofPack, Pack::default());
    let body = json!({"target_url": target, "question": question, "pack": pack.name()});
    let request = SellerRequest::post_json(&format!("{base_url}{}", product.path()), &body);
    say(format_args!(
        "\n8. The agent checks a claim against the page: a {} Proof Pack, {} USDC.\n   POST {}\n   {body}",
        pack.name(),
        pack.price(),
        request.url
    ))?;
    let buyer = Buyer::new(BuyerSettings::default()).map_err(failed)?;
    let now = Clock::System.now();
    let Purchase { paid, reply } = buyer
        .pay(wallet, &request, pack.price(), now, None)
        .map_err(failed)?;
    let settlement = paid.as_ref().and_then(|paid| paid.settlement.as_ref());
    let (200, Some(settlement)) = (
        reply.status,
        settlement.filter(|settlement| settlement.success),
    ) else {
        return Err(Failure::Failed(complaint::of(&reply)));
    };
    say(format_args!(
        "   402, signed, repeated, settled in transaction {}\n",
        settlement.transaction
    ))?;
    let report = Report::parse(&reply.body).map_err(failed)?;
    for line in report::lines(&report) {
        say(format_args!("   | {line}"))?;
    }
    Ok(())
}

/// The sample pages: several sites on one loopback port, by Host.
async fn serve_samples() -> Result<SocketAddr, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = server::plain(SAMPLE_ROUTES, Arc::new(()), chance::bytes());
    server.listen(listener, Transport::Plain);
    Ok(address)
}

static SAMPLE_ROUTES: &[Route<(), ()>] = &[
    sample_route(SAMPLES[0].path),
    sample_route(SAMPLES[1].path),
    sample_route(SAMPLES[2].path),
    sample_route(SAMPLES[3].path),
];

const fn sample_route(path: &'static str) -> Route<(), ()> {
    Route::new(Method::Get, path, |_, call| Box::pin(sample(call)), ())
}

async fn sample(call: Call) -> Reply {
    let host = call.header("host").unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    match SAMPLES
        .iter()
        .find(|sample| sample.host == host && sample.path == call.path)
    {
        Some(sample) => Reply::new(200, sample.content_type, sample.body),
        None => Reply::text(404, "No such page.\n"),
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::buyer::demo::*;

    #[test]
    fn every_sample_has_its_route() {
        for sample in SAMPLES {
            assert!(
                SAMPLE_ROUTES.iter().any(|route| route.path == sample.path),
                "{}",
                sample.path
            );
        }
    }
}
