//! The peer of the benches: x402-axum selling one page, with the requirements, the page and the facilitator that it is given.
//! It stores nothing. Started and asked by the harness, as the benches' own servers are.
//!
//! usage: peer REQUIREMENTS.json PAGE FACILITATOR_URL

use std::io::{self, Write as _};
use std::net::Ipv4Addr;

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;
use x402_axum::X402Middleware;
use x402_types::proto::v2::{PaymentRequirements, PriceTag};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [requirements, page, facilitator] = &arguments[..] else {
        panic!("usage: peer REQUIREMENTS.json PAGE FACILITATOR_URL");
    };
    let requirements = std::fs::read(requirements).expect("the requirements");
    let requirements: PaymentRequirements =
        serde_json::from_slice(&requirements).expect("payment requirements");
    let page = Bytes::from(std::fs::read(page).expect("the page"));
    let price = PriceTag {
        requirements,
        enricher: None,
    };
    // What our service does: the money moves before the page is given.
    let sold = X402Middleware::new(facilitator)
        .settle_before_execution()
        .with_price_tag(price);
    let sell = move |_body: Bytes| async move { ([(CONTENT_TYPE, "application/json")], page) };
    let router = Router::new().route("/v1/x402/access", post(sell).layer(sold));

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("threads");
    let listener = runtime
        .block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
        .expect("a free port");
    say(&listener.local_addr().expect("bound").to_string());
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    runtime.spawn(async move { axum::serve(listener, router).await });
    for _ in io::stdin().lines().map_while(Result::ok) {
        let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        let nanoseconds = i128::from(used.tv_sec) * 1_000_000_000 + i128::from(used.tv_nsec);
        say(&nanoseconds.to_string());
    }
}

fn say(line: &str) {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .expect("standard output");
}
