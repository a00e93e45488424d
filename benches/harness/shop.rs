//! What the benches sell with: pages in the service's cache, payments for them, and a facilitator that believes every
//! signature. It knows nothing of what is measured.

use sha2::{Digest as _, Sha256};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};

use context402::appliance::Appliance;
use context402::config::Config;
use context402::domain::evm::{Address, Nonce};
use context402::domain::keys::PayloadHash;
use context402::domain::level::Level;
use context402::domain::payment::{Delivery, Means, Payment, State};
use context402::domain::purchase::{Choices, ContextPurchase, Purchase};
use context402::domain::tier::Tier;
use context402::domain::time::UnixSeconds;
use context402::outside::clock::Clock;
use context402::state::offers::Offers;
use context402::state::page::unfetched_page;
use context402::store::PageRecord;
use context402::x402::eip3009::SecretKey;
use context402::x402::payer::{ReceivedChallenge, usdc};

use crate::harness::{AT_ONCE, obey, read_message, runtime};

pub(crate) const SHORT: Page = Page {
    url: "https://example.com/short",
    bytes: 4 * 1024,
};
pub(crate) const LONG: Page = Page {
    url: "https://example.com/long",
    bytes: 32 * 1024,
};

/// A page in the service's cache.
#[derive(Clone, Copy)]
pub(crate) struct Page {
    pub(crate) url: &'static str,
    pub(crate) bytes: usize,
}

/// Payments for the cached tier, each with a nonce of its own.
pub(crate) struct Signed {
    challenge: ReceivedChallenge,
    clock: Clock,
    keys: Vec<SecretKey>,
}

impl Signed {
    /// Signed at the service's time.
    pub(crate) fn new(config: &Config, clock: Clock) -> Signed {
        let offers = Offers::new(config, None, Vec::new()).expect("offers");
        let header = &offers.level(Level::Tier(Tier::Cached)).challenge.header;
        let key = |number: u8| SecretKey::from_bytes([number; 32]).expect("a key");
        Signed {
            challenge: ReceivedChallenge::decode(header).expect("our own challenge"),
            clock,
            keys: (1..=AT_ONCE)
                .map(|number| key(u8::try_from(number).expect("small")))
                .collect(),
        }
    }

    pub(crate) fn header(&self, number: usize) -> String {
        let price = Tier::Cached.price();
        let choice = self.challenge.choose(price, &usdc()).expect("payable");
        let nonce = Nonce(Sha256::digest(number.to_be_bytes()).into());
        let key = &self.keys[number % self.keys.len()];
        self.challenge
            .sign(&choice, key, self.clock.now(), nonce, None)
            .header
    }
}

/// A request for a cached page; without a payment it gets a challenge.
pub(crate) fn access_request(url: &str, payment: Option<&str>) -> Vec<u8> {
    let body = format!(r#"{{"target_url":"{url}","tier":"cached"}}"#);
    let payment = payment.map_or(String::new(), |payment| {
        format!("PAYMENT-SIGNATURE: {payment}\r\n")
    });
    format!(
        "POST /v1/x402/access HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: */*\r\n\
         User-Agent: bench\r\n{payment}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

pub(crate) async fn keep_pages(appliance: &Appliance) {
    for page in [SHORT, LONG] {
        keep_page(appliance, page).await;
    }
}

/// Puts a page into the service's cache as a fetch would.
async fn keep_page(appliance: &Appliance, Page { url, bytes }: Page) {
    let sentence = "Pages are kept as markdown, and a buyer gets them with one request. ";
    let text = sentence.repeat(bytes / sentence.len());
    let html = format!("<title>An article</title><main><h1>An article</h1><p>{text}</p></main>");
    let now = appliance.app.now();
    let (page, goods) = unfetched_page(url, &html, now).expect("a page");
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
        .write(move |tables| tables.put_page(url, &record, &goods.members));
    write.await.expect("the page is stored");
}

pub(crate) fn past(key: [u8; 32], now: UnixSeconds) -> Payment {
    let purchase = Purchase::Context(ContextPurchase {
        target_url: SHORT.url.to_owned(),
        tier: Tier::Cached,
        choices: Choices::default(),
        excerpt: None,
    });
    let mut payer = [0; 20];
    payer.copy_from_slice(&key[..20]);
    Payment {
        payer: Address(payer),
        nonce: Nonce(key),
        amount_units: Tier::Cached.price().units(),
        means: Means::Authorization {
            valid_before: now.0,
        },
        payload_hash: PayloadHash(key),
        payload: Vec::new(),
        requirements: Vec::new(),
        fingerprint: purchase.fingerprint(),
        purchase,
        identifier: None,
        attribution: None,
        state: State::Settled {
            transaction: format!("0x{}", hex::encode(key)),
            at: now.0 - 86_400,
        },
        answer: None,
        credit: None,
        redelivered: 0,
        created_at: now.0 - 86_400,
        changed_at: now.0 - 86_400,
        delivery: Delivery::default(),
    }
}

/// A facilitator that says yes.
pub(crate) fn facilitator() {
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
