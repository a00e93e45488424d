//! CPU time of a purchase: the service's process for one paid answer of a cached page, beside the same two calls of
//! the facilitator alone, by the same client and as many at once. What lies between them is the sale itself: HTTP,
//! parsing, two durable commits, the answer. The calls are measured without an HTTP server in front of them.
//!
//! The facilitator runs in a process of its own, whose time does not count; it believes every signature.

mod harness;

use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use context402::appliance::Appliance;
use context402::config::Config;
use context402::domain::level::Level;
use context402::domain::tier::Tier;
use context402::domain::time::UnixSeconds;
use context402::domain::usage::Usage;
use context402::flows::offer::Offers;
use context402::flows::page::{PageFacts, page_goods};
use context402::markdown::{ContentKind, Converter, Settings};
use context402::outside::clock::Clock;
use context402::outside::facilitator::{
    Facilitator, FacilitatorAuth, FacilitatorSettings, Settlement, Verdict,
};
use context402::store::PageRecord;
use context402::x402::address::Nonce;
use context402::x402::eip3009::SecretKey;
use context402::x402::payer::{ReceivedChallenge, usdc};
use context402::x402::proof::PaymentProof;
use context402::x402::wire::PaymentRequirements;

use harness::{
    AT_ONCE, Folder, Series, Server, child, config, obey, read_message, runtime, say, say_machine,
    send_all, serve,
};

/// Short and many: the machine's own speed changes from second to second.
const PURCHASES: usize = 1_000;
const REPETITIONS: usize = 21;
const GOAL_US: f64 = 100.0;
const STRETCH_US: f64 = 60.0;
const PAGE_URL: &str = "https://example.com/article";
const PAGE_BYTES: usize = 4096;

fn main() {
    match child() {
        None => compare(),
        Some((role, arguments)) => match role.as_str() {
            "service" => serve(&arguments[0], &arguments[1], keep_page),
            "calls" => calls(&arguments[0], &arguments[1]),
            _ => facilitator(),
        },
    }
}

fn compare() {
    let folder = Folder::new("sale");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let facilitator = Server::start("facilitator", &folder, &[]);
    let facilitator_url = format!("http://{}", facilitator.ready);
    let mut service = Server::start("service", &folder, &[folder.text(), &facilitator_url]);
    let mut calls = Server::start("calls", &folder, &[folder.text(), &facilitator_url]);
    let signed = Signed::new(&config(&folder.0, &facilitator_url));

    let (mut sale_us, mut calls_us) = (Series::default(), Series::default());
    for repetition in 0..=REPETITIONS {
        let headers = (0..PURCHASES).map(|turn| signed.header(repetition * PURCHASES + turn));
        let requests = Arc::new(headers.map(|header| paid_request(&header)).collect());
        let before = service.cpu();
        runtime.block_on(send_all(&service.ready, requests, PURCHASES, "200"));
        let sale = service.cpu() - before;
        let before = calls.cpu();
        calls.order("call");
        let call = calls.cpu() - before;
        // The first is for warming up.
        if repetition > 0 {
            sale_us.add(sale, PURCHASES);
            calls_us.add(call, PURCHASES);
        }
    }
    say_machine();
    say(&format!(
        "A paid answer of a cached page of {PAGE_BYTES} bytes, {AT_ONCE} at once, {REPETITIONS} repetitions of {PURCHASES}: \
         CPU for each, median (middle half, least)"
    ));
    sale_us.show("the purchase", "µs");
    calls_us.show("verify and settle alone", "µs");
    let own = sale_us.with(&calls_us, |sale, calls| sale - calls);
    own.show(
        &format!("the sale itself (goal {GOAL_US}, stretch {STRETCH_US})"),
        "µs",
    );
}

/// Payments for the cached tier, each with a nonce of its own.
struct Signed {
    challenge: ReceivedChallenge,
    keys: Vec<SecretKey>,
    now: UnixSeconds,
}

impl Signed {
    fn new(config: &Config) -> Signed {
        let offers = Offers::new(config, None, Vec::new()).expect("offers");
        let header = &offers.level(Level::Tier(Tier::Cached)).challenge.header;
        let key = |number: u8| SecretKey::from_bytes([number; 32]).expect("a key");
        Signed {
            challenge: ReceivedChallenge::decode(header).expect("our own challenge"),
            keys: (1..=AT_ONCE)
                .map(|number| key(u8::try_from(number).expect("small")))
                .collect(),
            now: Clock::System.now(),
        }
    }

    fn header(&self, number: usize) -> String {
        let price = Tier::Cached.price();
        let choice = self.challenge.choose(price, &usdc()).expect("payable");
        let nonce = Nonce(Sha256::digest(number.to_be_bytes()).into());
        let key = &self.keys[number % self.keys.len()];
        self.challenge
            .sign(&choice, key, self.now, nonce, None)
            .header
    }
}

fn paid_request(header: &str) -> Vec<u8> {
    let body = format!(r#"{{"target_url":"{PAGE_URL}","tier":"cached"}}"#);
    format!(
        "POST /v1/x402/access HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: */*\r\n\
         User-Agent: bench\r\nPAYMENT-SIGNATURE: {header}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Puts the page into the service's cache as a fetch would.
async fn keep_page(appliance: &Appliance) {
    let mut converter = Converter::new(Settings {
        kind: ContentKind::Html,
        url: PAGE_URL.parse().expect("a URL"),
        charset: Some("utf-8".to_owned()),
        full: false,
    });
    let sentence = "Pages are kept as markdown, and a buyer gets them with one request. ";
    let text = sentence.repeat(PAGE_BYTES / sentence.len());
    let html = format!("<title>An article</title><main><h1>An article</h1><p>{text}</p></main>");
    converter.push(html.as_bytes()).expect("HTML");
    let page = converter.finish().expect("a page");
    let now = appliance.app.now();
    let facts = PageFacts {
        final_url: PAGE_URL,
        status: 200,
        content_type: "text/html; charset=utf-8",
        kind: ContentKind::Html,
        source_sha256: Sha256::digest(&html).into(),
        bytes_fetched: html.len() as u64,
        fetch_time: Duration::ZERO,
        extract_time: Duration::ZERO,
        usage: &Usage::default(),
        fetched_at: now,
    };
    let goods = page_goods(&page, &facts).expect("goods");
    let record = PageRecord {
        blob: goods.blob,
        blob_bytes: goods.members.len() as u64,
        content_sha256: goods.content_sha256,
        tokens: goods.tokens,
        title: page.metadata.title,
        fetched_at: now.0,
        etag: None,
        last_modified: None,
    };
    let write = appliance
        .app
        .store
        .write(move |tables| tables.put_page(PAGE_URL, &record, &goods.members));
    write.await.expect("the page is stored");
}

/// The facilitator's calls of as many purchases, and nothing else. The payments were read before.
fn calls(folder: &str, facilitator_url: &str) {
    let config = config(folder.as_ref(), facilitator_url);
    let settings = FacilitatorSettings {
        base_url: facilitator_url.to_owned(),
        auth: FacilitatorAuth::None,
        connect_timeout: Duration::from_secs(5),
        verify_timeout: config.payment.verify_time_max,
        settle_timeout: config.payment.settle_time_max,
        calls_max: config.payment.calls_max,
        passes_on: context402::outside::facilitator::PassesOn::Everything,
        ca_pem: None,
    };
    let facilitator = Facilitator::new(settings).expect("a client");
    let offer = Offers::new(&config, None, Vec::new())
        .expect("offers")
        .level(Level::Tier(Tier::Cached))
        .requirements
        .clone();
    let signed = Signed::new(&config);
    let read = |number| PaymentProof::decode(&signed.header(number)).expect("our own payment");
    let proofs: Arc<Vec<PaymentProof>> = Arc::new((0..PURCHASES).map(read).collect());
    let runtime = runtime(context402::app::blocking_threads(&config));
    obey("ready", |_| {
        runtime.block_on(call_all(&facilitator, &proofs, &offer));
        "done".to_owned()
    });
}

async fn call_all(
    facilitator: &Facilitator,
    proofs: &Arc<Vec<PaymentProof>>,
    offer: &PaymentRequirements,
) {
    let mut tasks = JoinSet::new();
    for first in 0..AT_ONCE {
        let (facilitator, proofs, offer) = (facilitator.clone(), proofs.clone(), offer.clone());
        tasks.spawn(async move {
            for proof in proofs.iter().skip(first).step_by(AT_ONCE) {
                let now = Clock::System.now();
                let verdict = facilitator.verify(proof, &offer, now).await;
                assert!(matches!(verdict, Ok(Verdict::Valid { .. })), "{verdict:?}");
                let settlement = facilitator.settle(proof, &offer, true, now).await;
                assert!(
                    matches!(settlement, Settlement::Success { .. }),
                    "{settlement:?}"
                );
            }
        });
    }
    while let Some(task) = tasks.join_next().await {
        task.expect("no call fails");
    }
}

/// A facilitator that says yes.
fn facilitator() {
    let runtime = runtime(8);
    let listener = runtime
        .block_on(TcpListener::bind("127.0.0.1:0"))
        .expect("a free port");
    let address = listener.local_addr().expect("bound");
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(say_yes(stream));
        }
    });
    obey(&address.to_string(), |line| panic!("unknown order {line}"));
}

async fn say_yes(mut stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let mut buffer = Vec::new();
    while let Some(length) = read_message(&mut stream, &mut buffer).await {
        let request = String::from_utf8_lossy(&buffer[..length]);
        let member = |name: &str| {
            let after = request
                .split_once(&format!("\"{name}\":\""))
                .map_or("", |(_, after)| after);
            after.split('"').next().unwrap_or_default().to_owned()
        };
        let (payer, network) = (member("from"), member("network"));
        let body = if request.starts_with("POST /verify ") {
            format!(r#"{{"isValid":true,"payer":"{payer}"}}"#)
        } else if request.starts_with("POST /settle ") {
            // A nonce has the form of a transaction, and is as unique.
            let transaction = member("nonce");
            format!(
                r#"{{"success":true,"payer":"{payer}","transaction":"{transaction}","network":"{network}"}}"#
            )
        } else {
            r#"{"kinds":[{"x402Version":2,"scheme":"exact","network":"eip155:8453"}],"extensions":[],"signers":{}}"#.to_owned()
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        if stream
            .write_all(&[head, body].concat().into_bytes())
            .await
            .is_err()
        {
            return;
        }
        buffer.drain(..length);
    }
}
