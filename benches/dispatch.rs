//! CPU time of a 402: the real service beside a bare hyper server that reads the same body and answers the same
//! bytes. What lies between them is everything that the service does for a request: limits, ids, routing, the
//! challenge, metrics and the access log.

#[path = "harness/ask.rs"]
mod ask;
mod harness;

use std::convert::Infallible;
use std::sync::Arc;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use context402::outside::clock::Clock;

use ask::one_answer;
use harness::{
    AT_ONCE, Folder, Series, Server, child, obey, runtime, say, say_machine, send_all, serve,
};

/// Short and many: the machine's own speed changes from second to second.
const REQUESTS: usize = 5_000;
const REPETITIONS: usize = 41;
const GOAL: f64 = 1.3;
const BODY: &str = r#"{"target_url":"https://example.com/article","tier":"fresh"}"#;

fn main() {
    match child() {
        None => compare(),
        Some((role, arguments)) if role == "service" => serve(
            &arguments[0],
            "sandbox",
            Clock::System,
            async |_| (),
            async |_, line| panic!("unknown order {line}"),
        ),
        Some((_, arguments)) => bare(&arguments[0]),
    }
}

fn compare() {
    let folder = Folder::new("dispatch");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let request = format!(
        "POST /v1/x402/access HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: */*\r\n\
         User-Agent: bench\r\nContent-Length: {}\r\n\r\n{BODY}",
        BODY.len()
    );
    let requests = Arc::new(vec![request.into_bytes()]);
    let mut service = Server::start("service", &folder, &[folder.text()]);
    let answer = runtime.block_on(one_answer(&service.ready, &requests[0]));
    let answer_path = folder.0.join("answer");
    std::fs::write(&answer_path, &answer).expect("a file");
    let mut bare = Server::start(
        "bare",
        &folder,
        &[answer_path.to_str().expect("a path in UTF-8")],
    );

    let (mut service_us, mut bare_us) = (Series::default(), Series::default());
    for repetition in 0..=REPETITIONS {
        for (server, series) in [(&mut service, &mut service_us), (&mut bare, &mut bare_us)] {
            let before = server.cpu();
            runtime.block_on(send_all(
                &server.ready,
                requests.clone(),
                AT_ONCE,
                REQUESTS,
                "402",
            ));
            let used = server.cpu() - before;
            // The first is for warming up.
            if repetition > 0 {
                series.add(used, REQUESTS);
            }
        }
    }
    say_machine();
    say(&format!(
        "A 402 of {} bytes, {AT_ONCE} connections, {REPETITIONS} repetitions of {REQUESTS}: CPU for each, median (middle half, least)",
        answer.len()
    ));
    service_us.show("the service, with its access log", "µs");
    bare_us.show("bare hyper, the same bytes", "µs");
    service_us
        .with(&bare_us, |service, bare| service / bare)
        .show(&format!("ratio (goal: at most {GOAL})"), "");
}

/// Answers every request with the headers and the body of a recorded answer.
fn bare(answer_path: &str) {
    let recorded = std::fs::read_to_string(answer_path).expect("the recorded answer");
    let (head, body) = recorded.split_once("\r\n\r\n").expect("a head");
    let own = |name: &str| matches!(name, "date" | "content-length");
    let headers: HeaderMap = head
        .lines()
        .filter_map(|line| line.split_once(": "))
        .filter(|(name, _)| !own(name))
        .map(|(name, value)| {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
            (name, HeaderValue::from_str(value).expect("a value"))
        })
        .collect();
    let answer = Arc::new((headers, Bytes::from(body.to_owned())));
    let runtime = runtime(8);
    let listener = runtime
        .block_on(TcpListener::bind("127.0.0.1:0"))
        .expect("a free port");
    let address = listener.local_addr().expect("bound");
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let answer = answer.clone();
            let service = service_fn(move |request| read_and_answer(request, answer.clone()));
            tokio::spawn(
                hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service),
            );
        }
    });
    obey(&address.to_string(), |line| panic!("unknown order {line}"));
}

async fn read_and_answer(
    request: Request<Incoming>,
    answer: Arc<(HeaderMap, Bytes)>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request
        .into_body()
        .collect()
        .await
        .map_or_else(|_| Bytes::new(), |body| body.to_bytes());
    let mut response = Response::new(Full::new(answer.1.clone()));
    if !body.is_empty() {
        *response.status_mut() = StatusCode::PAYMENT_REQUIRED;
    }
    *response.headers_mut() = answer.0.clone();
    Ok(response)
}
