//! `context402 demo`: runs the whole service on loopback with test funds, buys a page step by step, and a report on it.

mod seed;

use std::fmt;
use std::fs::DirBuilder;
use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::signal;

use crate::app::{blocking_threads, user_agent};
use crate::appliance::{Appliance, Start};
use crate::cli::buyer::buy::parse_address;
use crate::cli::buyer::{complaint, report};
use crate::cli::{Failure, config_failure, failed, run_async, say};
use crate::config::{Config, Resolved, log_filter, wants_colour};
use crate::domain::amount::Amount;
use crate::domain::figures::{cents, label_words};
use crate::domain::level::Product;
use crate::domain::pack::Pack;
use crate::domain::purchase::DEFAULT_QUESTION;
use crate::domain::tier::Tier;
use crate::evidence::report::Report;
use crate::flows::operations::sign_in;
use crate::http::server::{self, Transport};
use crate::http::{Call, Method, Reply, Route};
use crate::log::{self, Troubles};
use crate::outside::buyer::{Buyer, BuyerSettings, Proof, Purchase, SellerRequest, Wallet};
use crate::outside::chance;
use crate::outside::clock::Clock;
use crate::outside::render;
use crate::pages::buyer::samples::SAMPLES;
use crate::sandbox::ledger::STARTING_BALANCE;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Where to listen on loopback, such as 4403 or 127.0.0.1:4403; by default 127.0.0.1:4020, or any free port
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = parse_listen)]
    listen: Option<SocketAddr>,
    /// Keep the data in this file; by default it is deleted when the demo ends
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Buy this page from the real web instead of the built-in one
    #[arg(long, value_parser = parse_address)]
    url: Option<String>,
    /// Show every step with its headers and the whole page
    #[arg(long, short)]
    verbose: bool,
    /// Exit after the purchases, with code 0 if they succeeded
    #[arg(long)]
    once: bool,
}

const LISTEN: &str = "127.0.0.1:4020";
/// The invented public address of the sample pages.
/// The console's link is good for as long as anybody leaves a demo running.
const CONSOLE_LINK_SECONDS: u64 = 30 * 24 * 3600;
const SAMPLE_ADDRESS: &str = "93.184.216.34";
/// A receiving address for test funds.
const PAY_TO: &str = "0x4020402040204020402040204020402040204020";
/// Lines shown of the page with --verbose, and without.
const SHOWN_LINES: usize = 200;
const FIRST_LINES: usize = 4;
/// Characters of such a line.
const LINE_CHARACTERS: usize = 96;

/// A port alone is one on loopback.
fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix(':').unwrap_or(text).parse::<u16>();
    match port {
        Ok(port) => Ok(([127, 0, 0, 1], port).into()),
        Err(_) => text.parse().map_err(|_| {
            "write a port, or an address and a port such as 127.0.0.1:4403".to_owned()
        }),
    }
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let filter = log_filter("warn").map_err(|error| config_failure(&error))?;
        let log = log::start(filter, false, Clock::System);
        // Enough threads for the purchase and for visitors.
        run_async(256, self.show(log.troubles()))
    }

    async fn show(self, troubles: Arc<Troubles>) -> Result<(), Failure> {
        let web = serve_samples().await?;
        let (listener, folder) = (self.listener().await?, self.folder()?);
        let config = self.config(listener.local_addr()?, web, &folder)?;
        assert!(blocking_threads(&config) <= 256);
        let start = Start {
            config,
            clock: Clock::System,
            create: true,
            check: false,
            listener: Some(listener),
            http_listener: None,
            egress: None,
            troubles,
        };
        let appliance = Appliance::start(start).await.map_err(failed)?;
        if !self.once {
            let store = &appliance.app.store;
            let seeded = seed::seed(store, Clock::System.now()).await;
            seeded.map_err(failed)?;
        }
        let base_url = appliance.app.config.base_url.clone();
        say(format_args!(
            "context402 sells web pages as markdown, and reports on them. It now runs at {base_url} with test funds.\n"
        ))?;
        let verbose = self.verbose;
        let (target, question) = match &self.url {
            Some(url) => (url.clone(), DEFAULT_QUESTION),
            None => (
                format!("http://{}{}", SAMPLES[0].host, SAMPLES[0].path),
                SAMPLES[0].questions[0],
            ),
        };
        let bought = purchases(&appliance, target, question, verbose).await;
        if bought.is_ok() && !self.once {
            say(format_args!(
                "\nTry it      {base_url}/demo (your own questions)"
            ))?;
            say(format_args!(
                "Buy         openssl rand -hex 32 > buyer.key && chmod 600 buyer.key\n            {} buy {base_url}/sample \
                 --tier starter --seller {base_url} --key-file buyer.key",
                program()
            ))?;
            if let Some((link, _)) = sign_in::issue_link(&appliance.app, CONSOLE_LINK_SECONDS) {
                say(format_args!(
                    "Console     {link} (works once, until you stop the demo)"
                ))?;
            }
            say(format_args!("Browser     {}", browser(&appliance).await))?;
            say(format_args!(
                "Docs        {base_url}/quickstart\nStop it with Ctrl-C."
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
                .map_err(|error| {
                    Failure::Failed(format!(
                        "{address} cannot be used: {error}. Stop what listens there, or choose another port with --listen"
                    ))
                });
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
        // Of nobody else: it holds the operator's socket.
        let made = DirBuilder::new().mode(0o700).create(&folder);
        made.map_err(|error| {
            failed(format!(
                "{}: {error}. Name a data file with --data.",
                folder.display()
            ))
        })?;
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
        // Nobody is shown it: the console opens by a link.
        resolved.set("operator.token", hex::encode(chance::bytes::<32>()));
        resolved.set("listen", listen.to_string());
        resolved.set("data_file", data_file.display().to_string());
        resolved.set("payment.pay_to", PAY_TO);
        if render::find("auto").is_some() {
            resolved.set("render.browser", "auto");
        }
        let hosts = SAMPLES
            .iter()
            .map(|sample| (sample.host.to_owned(), format!("{SAMPLE_ADDRESS}@{web}")))
            .collect();
        resolved.set_map("lab.hosts", hosts);
        Config::from_resolved(&resolved).map_err(|error| config_failure(&error))
    }
}

/// This program as it was called.
fn program() -> String {
    std::env::args()
        .next()
        .unwrap_or_else(|| "context402".to_owned())
}

/// Whether pages are rendered that scripts make.
async fn browser(appliance: &Appliance) -> String {
    let Some(renderer) = &appliance.app.outside.renderer else {
        return "none, so scripts of pages are not run: apt-get install chromium-headless-shell"
            .to_owned();
    };
    match renderer.check().await {
        Ok(facts) => format!(
            "{} runs the scripts of pages that need them, in a sandbox without a network",
            facts.browser
        ),
        Err(error) => format!("it failed, so scripts of pages are not run: {error}"),
    }
}

async fn purchases(
    appliance: &Appliance,
    target: String,
    question: &'static str,
    verbose: bool,
) -> Result<(), Failure> {
    let app = &appliance.app;
    let (base_url, agent) = (app.config.base_url.clone(), user_agent(&app.config));
    let bought = tokio::task::spawn_blocking(move || {
        let wallet = Wallet::throwaway()
            .ok_or_else(|| Failure::Failed("no random bytes for a wallet".to_owned()))?;
        if verbose {
            buy(&wallet, &base_url, &target, &agent)?;
            return buy_report(&wallet, &base_url, &target, question);
        }
        show_page(&wallet, &base_url, &target)?;
        show_report(&wallet, &base_url, &target, question)
    });
    let bought = bought.await.map_err(failed)?;
    bought.map_err(|failure| Failure::Failed(format!("the purchase failed: {failure}")))
}

/// A line with a tick.
fn tick(step: &str, text: impl fmt::Display) -> std::io::Result<()> {
    let mark = match std::io::stdout().is_terminal() && wants_colour() {
        true => "\x1b[32m✓\x1b[0m",
        false => "✓",
    };
    say(format_args!("{mark} {step:<10} {text}"))
}

/// The beginning and the end of something long.
fn abridged(text: &str) -> String {
    match text.get(..6).zip(text.get(text.len().saturating_sub(4)..)) {
        Some((head, tail)) if text.len() > 12 => format!("{head}…{tail}"),
        _ => text.to_owned(),
    }
}

/// A real purchase, a line for each step.
fn show_page(wallet: &Wallet, base_url: &str, target: &str) -> Result<(), Failure> {
    let address = format!("{base_url}{}", Product::Context.path());
    let body = json!({"target_url": target, "tier": Tier::Fresh.name()});
    let request = SellerRequest::post_json(&address, &body);
    let buyer = Buyer::new(BuyerSettings::default()).map_err(failed)?;
    let started = Instant::now();
    let bought = buyer.pay(
        wallet,
        &request,
        Tier::Fresh.price(),
        Clock::System.now(),
        None,
    );
    let Purchase { paid, reply } = bought.map_err(failed)?;
    let took = started.elapsed().as_millis();
    let paid = paid.ok_or_else(|| {
        failed(format_args!(
            "expected a 402 with the price, got {}",
            reply.status
        ))
    })?;
    let settled = paid.settlement.as_ref().filter(|settled| settled.success);
    let answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    let (200, Some(settlement), Some(markdown)) =
        (reply.status, settled, answer["markdown"].as_str())
    else {
        return Err(Failure::Failed(complaint::of(&reply)));
    };
    let offer = &paid.choice.requirements;
    let left = STARTING_BALANCE.checked_sub(offer.amount);
    let left = left.unwrap_or(Amount::ZERO);
    tick("Asked", format_args!("for {target}, without payment"))?;
    tick(
        "402",
        format_args!("{} USDC on {}", offer.amount, offer.network),
    )?;
    tick(
        "Signed",
        "a transfer authorization (EIP-3009): no gas, nothing sent yet",
    )?;
    let words = &answer["stats"]["word_count"];
    tick(
        "Delivered",
        format_args!("{words} words of markdown, {took} ms for all of it"),
    )?;
    let transaction = abridged(&settlement.transaction);
    tick(
        "Settled",
        format_args!("in {transaction}; {left} of {STARTING_BALANCE} USDC left"),
    )?;
    say("")?;
    let lines: Vec<&str> = markdown.lines().filter(|line| !line.is_empty()).collect();
    for line in lines.iter().take(FIRST_LINES) {
        let shown: String = line.chars().take(LINE_CHARACTERS).collect();
        let more = if shown.len() < line.len() { "…" } else { "" };
        say(format_args!("  | {shown}{more}"))?;
    }
    let rest = lines.len().saturating_sub(FIRST_LINES);
    Ok(say(format_args!(
        "  | … {rest} more lines (--verbose shows all)\n"
    ))?)
}

/// A report on the same page, in two lines.
fn show_report(
    wallet: &Wallet,
    base_url: &str,
    target: &str,
    question: &str,
) -> Result<(), Failure> {
    let pack = Pack::default();
    let body = json!({"target_url": target, "question": question, "pack": pack.name()});
    let address = format!("{base_url}{}", Product::ProofPack.path());
    let request = SellerRequest::post_json(&address, &body);
    let buyer = Buyer::new(BuyerSettings::default()).map_err(failed)?;
    let bought = buyer.pay(wallet, &request, pack.price(), Clock::System.now(), None);
    let Purchase { paid, reply } = bought.map_err(failed)?;
    let settlement = paid.as_ref().and_then(|paid| paid.settlement.as_ref());
    if reply.status != 200 || !settlement.is_some_and(|settled| settled.success) {
        return Err(Failure::Failed(complaint::of(&reply)));
    }
    let report = Report::parse(&reply.body).map_err(failed)?;
    let label = label_words(report.decision.label.name());
    tick(
        "Checked",
        format_args!("“{question}” for {} USDC: {label}", cents(pack.price())),
    )?;
    match &report.access {
        Some(access) => Ok(say(format_args!("  Report     {}", access.report_page))?),
        None => Ok(()),
    }
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
