mod settlements;
mod verdicts;

use std::net::TcpListener;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::*;
use crate::domain::evm::{Address, Network, TransactionHash};
use crate::outside::loopback::{Server, Step, response};
use crate::sandbox::ledger::Ledger;
use crate::x402::proof::PaymentProof;
use crate::x402::vectors;
use crate::x402::wire::PaymentRequirements;

const NOW: UnixSeconds = UnixSeconds(1_795_248_000);
const OTHER: &str = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

/// The first vector: 12000 units from 0x7099…79C8 on Base.
fn payment() -> (PaymentProof, WrittenRequirements) {
    let vector = &vectors::all().payments[0];
    let proof = PaymentProof::decode(&vector.payment_signature_header).expect("a payment");
    let offer = serde_json::from_value(vector.payment_payload["accepted"].clone());
    let offer: PaymentRequirements = offer.expect("requirements");
    (proof, offer.into())
}

fn payer() -> Address {
    payment().0.from()
}

fn hash() -> String {
    format!("0x{}", "5a".repeat(32))
}

fn transaction() -> Option<TransactionHash> {
    TransactionHash::parse(&hash())
}

fn settings(base_url: &str) -> FacilitatorSettings {
    FacilitatorSettings {
        base_url: base_url.to_owned(),
        auth: FacilitatorAuth::None,
        connect_timeout: Duration::from_secs(2),
        verify_timeout: Duration::from_secs(5),
        settle_timeout: Duration::from_secs(5),
        calls_max: 4,
        passes_on: PassesOn::Everything,
        ca_pem: None,
    }
}

fn client(base_url: &str) -> Facilitator {
    Facilitator::new(settings(base_url)).expect("settings")
}

/// A server that answers every request with these bytes.
fn always(bytes: Vec<u8>) -> Server {
    Server::start(move |_| Step::Last(bytes.clone()))
}

fn reply(status: u16, body: &Value) -> Vec<u8> {
    response(
        status,
        &[("Content-Type", "application/json")],
        body.to_string().as_bytes(),
    )
}

/// The first vector's, for a client.
fn request(client: &Facilitator) -> PaymentRequest {
    let (proof, offer) = payment();
    client.request(&proof, &offer)
}

async fn verify(server: &Server) -> Result<Verification, CallError> {
    let client = client(&server.url);
    client.verify(&request(&client), NOW).await
}

async fn settle(server: &Server, attempt: Attempt) -> Settlement {
    let client = client(&server.url);
    client.settle(&request(&client), attempt, NOW).await
}

fn invalid(reason: &str) -> Result<Verification, CallError> {
    Ok(Verification::Invalid {
        reason: reason.to_owned(),
    })
}

/// Answers request by request from a script, then closes.
fn scripted(steps: Vec<Step>) -> Server {
    let steps = Mutex::new(steps.into_iter());
    Server::start(move |_| {
        let next = steps.lock().expect("no panic before").next();
        next.unwrap_or(Step::Last(Vec::new()))
    })
}

#[tokio::test]
async fn a_slow_facilitator_is_cut_off() {
    let server = Server::start(|_| Step::Hang(Duration::from_secs(30)));
    let mut settings = settings(&server.url);
    settings.verify_timeout = Duration::from_millis(200);
    settings.settle_timeout = Duration::from_millis(200);
    let client = Facilitator::new(settings).expect("settings");
    let (proof, offer) = payment();
    assert_eq!(
        client.verify(&client.request(&proof, &offer), NOW).await,
        Err(CallError::TimedOut)
    );
    let outcome = client
        .settle(&client.request(&proof, &offer), Attempt::First, NOW)
        .await;
    assert_eq!(outcome, unknown(CallError::TimedOut));
    assert_eq!(server.requests().len(), 2, "a timeout is not repeated");
}

#[tokio::test]
async fn the_request_is_the_buyer_s_payment_and_our_offer() {
    let server = always(reply(200, &json!({"isValid": true})));
    let mut settings = settings(&format!("{}/facilitator/", server.url));
    settings.auth = FacilitatorAuth::Bearer("token-1".to_owned());
    let (proof, offer) = payment();
    let client = Facilitator::new(settings).expect("settings");
    client
        .verify(&client.request(&proof, &offer), NOW)
        .await
        .expect("a verdict");
    let request = &server.requests()[0];
    assert_eq!(
        (request.method.as_str(), request.path.as_str()),
        ("POST", "/facilitator/verify")
    );
    assert_eq!(request.header("authorization"), Some("Bearer token-1"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    let text = String::from_utf8(request.body.clone()).expect("UTF-8");
    let offered = serde_json::to_string(&offer).expect("JSON");
    assert_eq!(
        text,
        format!(
            "{{\"x402Version\":2,\"paymentPayload\":{},\"paymentRequirements\":{offered}}}",
            proof.raw()
        )
    );
}

/// Some facilitators refuse members that the protocol has: then they are given what settlement needs.
#[tokio::test]
async fn a_bare_payment_is_what_settlement_needs() {
    let server = always(reply(200, &json!({"isValid": true})));
    let mut settings = settings(&server.url);
    settings.passes_on = PassesOn::Payment;
    let (proof, offer) = payment();
    let mut whole: Value = serde_json::from_str(proof.raw()).expect("JSON");
    whole["resource"] = json!({"url": "https://api.example.com/v1/x402/access"});
    whole["extensions"] = json!({"bazaar": {"info": {}}});
    whole["more"] = json!(1);
    let proof = PaymentProof::from_json(whole.to_string().as_bytes()).expect("a payment");
    let client = Facilitator::new(settings).expect("settings");
    client
        .verify(&client.request(&proof, &offer), NOW)
        .await
        .expect("a verdict");
    let body: Value = serde_json::from_slice(&server.requests()[0].body).expect("JSON");
    let expected =
        json!({"x402Version": 2, "accepted": whole["accepted"], "payload": whole["payload"]});
    assert_eq!(body["paymentPayload"], expected);
}

/// A signed token is bound to the method, host and path that are really asked.
#[tokio::test]
async fn a_signed_token_names_its_own_request() {
    let seed = [3; 32];
    let pair = ring::signature::Ed25519KeyPair::from_seed_unchecked(&seed).expect("a key");
    let public = ring::signature::KeyPair::public_key(&pair).as_ref();
    let server = always(reply(200, &json!({"isValid": true})));
    let mut settings = settings(&format!("{}/platform/v2/x402", server.url));
    settings.auth = FacilitatorAuth::Cdp {
        key_id: "key-1".to_owned(),
        secret: crate::x402::encoding::encode(&[&seed[..], public].concat()),
    };
    let (proof, offer) = payment();
    let client = Facilitator::new(settings).expect("settings");
    client
        .verify(&client.request(&proof, &offer), NOW)
        .await
        .expect("a verdict");
    let request = &server.requests()[0];
    let token = request
        .header("authorization")
        .and_then(|value| value.strip_prefix("Bearer "))
        .expect("a token");
    let claims = token.split('.').nth(1).expect("three parts");
    let claims = crate::x402::encoding::decode(claims).expect("base64url");
    let claims: Value = serde_json::from_slice(&claims).expect("JSON");
    let host = server.url.trim_start_matches("http://");
    assert_eq!(
        claims["uris"],
        json!([format!("POST {host}/platform/v2/x402/verify")])
    );
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let target = always(reply(200, &json!({"isValid": true})));
    let location = format!("{}/verify", target.url);
    for status in [301, 302, 307, 308] {
        let server = always(response(status, &[("Location", &location)], b""));
        assert_eq!(verify(&server).await, Err(CallError::Redirected(status)));
    }
    assert!(target.requests().is_empty());
}

/// A connection that the facilitator closed while it lay idle is not noticed by the buyer.
#[tokio::test]
async fn connections_are_reused_and_stale_ones_replaced() {
    let valid = reply(200, &json!({"isValid": true}));
    let server = scripted(vec![
        Step::Reply(valid.clone()),
        Step::Vanish(valid.clone()),
        Step::Reply(valid),
    ]);
    let client = client(&server.url);
    let (proof, offer) = payment();
    for _ in 0..3 {
        client
            .verify(&client.request(&proof, &offer), NOW)
            .await
            .expect("a verdict");
    }
    assert_eq!(server.requests().len(), 3);
}

/// Over TLS, with a certificate that is trusted or not; nobody who is not trusted is given a payment.
#[tokio::test]
async fn a_facilitator_over_tls_must_be_trusted() {
    use rustls_pki_types::pem::PemObject as _;
    use rustls_pki_types::{CertificateDer, PrivateKeyDer};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio_rustls::{TlsAcceptor, rustls::ServerConfig};

    const PEM: &[u8] = include_bytes!("../../../tests/data/loopback.pem");
    let certificate = CertificateDer::from_pem_slice(PEM).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(PEM).expect("a key");
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("they belong together");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("a free port");
    let url = format!("https://{}", listener.local_addr().expect("bound"));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                continue;
            };
            let mut request = [0; 16 * 1024];
            let _ = stream.read(&mut request).await;
            let _ = stream
                .write_all(&reply(200, &json!({"isValid": true})))
                .await;
            let _ = stream.shutdown().await;
        }
    });
    let mut trusting = settings(&url);
    trusting.ca_pem = Some(PEM.to_vec());
    let client_of = |settings| Facilitator::new(settings).expect("settings");
    let trusting = client_of(trusting);
    let verdict = trusting.verify(&request(&trusting), NOW).await;
    assert_eq!(verdict, Ok(Verification::Valid { payer: payer() }));
    let outcome = client(&url)
        .settle(&request(&client(&url)), Attempt::First, NOW)
        .await;
    let Settlement::Unknown { why, .. } = outcome else {
        panic!("{outcome:?}");
    };
    assert!(!why.was_sent(), "{why}");
}

/// A listener that hangs up on each connection after so many bytes of the request, and tells what it has read of each.
fn hangs_up_after(bytes: usize) -> (String, Arc<Mutex<Vec<usize>>>) {
    use std::io::Read as _;
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let read: Arc<Mutex<Vec<usize>>> = Arc::default();
    let noted = read.clone();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let mut begun = Vec::new();
            let _ = (&stream).take(bytes as u64).read_to_end(&mut begun);
            noted.lock().expect("no panic before").push(begun.len());
        }
    });
    (url, read)
}

/// Wherever the connection breaks, a settle of which the facilitator has read anything is unknown, never unsent.
#[tokio::test]
async fn a_settle_that_was_begun_is_never_taken_for_unsent() {
    let (proof, offer) = payment();
    let whole = body(&proof, &offer, PassesOn::Everything).len() + 200;
    for bytes in (0..64).chain((64..whole).step_by(97)) {
        let (url, read) = hangs_up_after(bytes);
        let outcome = client(&url)
            .settle(&request(&client(&url)), Attempt::First, NOW)
            .await;
        let Settlement::Unknown { why, transaction } = outcome else {
            panic!("{outcome:?} after {bytes} bytes");
        };
        assert_eq!(transaction, None);
        let seen = read.lock().expect("no panic before").clone();
        let was_read = seen.iter().any(|bytes| *bytes > 0);
        assert!(why.was_sent() || !was_read, "{why} after {seen:?} bytes");
        assert!(seen.len() <= 2, "asked {} times", seen.len());
    }
}

/// A reply that ends early at any byte decides nothing.
#[tokio::test]
async fn a_reply_that_was_cut_decides_nothing() {
    let settled = json!({"success": true, "payer": payer().to_string(), "transaction": hash(),
        "network": "eip155:8453", "amount": "12000"});
    let failed = json!({"success": false, "errorReason": "insufficient_funds", "payer": payer().to_string(),
        "transaction": "", "network": "eip155:8453"});
    for body in [settled, failed] {
        let whole = reply(200, &body);
        assert!(!matches!(
            settle(&always(whole.clone()), Attempt::First).await,
            Settlement::Unknown { .. }
        ));
        for bytes in 0..whole.len() {
            let server = always(whole[..bytes].to_vec());
            let outcome = settle(&server, Attempt::First).await;
            let Settlement::Unknown { why, .. } = &outcome else {
                panic!("{outcome:?} after {bytes} of {} bytes", whole.len());
            };
            assert!(why.was_sent(), "{why} after {bytes} bytes");
        }
    }
}

#[tokio::test]
async fn supported_is_read_and_its_failures_told() {
    let body = json!({"kinds": [{"x402Version": 2, "scheme": "exact", "network": "eip155:8453", "extra": {}},
        {"x402Version": 1, "scheme": "exact", "network": "base"}], "extensions": ["bazaar"],
        "signers": {"eip155:*": [OTHER]}});
    let server = always(reply(200, &body));
    let supported = client(&server.url).supported(NOW).await.expect("a list");
    assert!(supported.takes_exact_on(Network(8453)));
    assert!(!supported.takes_exact_on(Network(84_532)));
    assert_eq!(server.requests()[0].method, "GET");
    for (status, body, expected) in [
        (401, json!({}), CallError::Denied(401)),
        (500, body, CallError::Status(500)),
        (302, json!({}), CallError::Redirected(302)),
    ] {
        let server = always(reply(status, &body));
        assert_eq!(client(&server.url).supported(NOW).await, Err(expected));
    }
}

/// The embedded facilitator through the real client.
#[tokio::test]
async fn the_sandbox_settles_the_vectors() {
    let mut ledger = Ledger::new(Network(8453));
    // Inside the vectors' window.
    let now = UnixSeconds(4_102_444_700);
    let server = Server::start(move |request| {
        let answer = ledger.answer(&request.method, &request.path, &request.body, now);
        Step::Reply(response(answer.status, &[], &answer.json))
    });
    let client = client(&server.url);
    let (proof, offer) = payment();
    assert!(
        client
            .supported(now)
            .await
            .expect("a list")
            .takes_exact_on(offer.network)
    );
    let valid = Verification::Valid { payer: payer() };
    assert_eq!(
        client.verify(&client.request(&proof, &offer), now).await,
        Ok(valid)
    );
    let settled = client
        .settle(&client.request(&proof, &offer), Attempt::First, now)
        .await;
    assert!(matches!(settled, Settlement::Success { .. }), "{settled:?}");
    assert_eq!(
        client
            .settle(&client.request(&proof, &offer), Attempt::Repeated, now)
            .await,
        settled
    );
    assert_eq!(
        client.verify(&client.request(&proof, &offer), now).await,
        invalid("invalid_exact_evm_nonce_already_used")
    );
}

#[tokio::test]
async fn calls_beyond_the_limit_wait_and_are_then_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let mut settings = settings(&url);
    settings.calls_max = 1;
    settings.verify_timeout = Duration::from_secs(4);
    let client = Facilitator::new(settings).expect("settings");
    let request = request(&client);
    let (first, second) = tokio::join!(client.verify(&request, NOW), client.verify(&request, NOW));
    let mut outcomes = [first, second];
    outcomes.sort_by_key(|outcome| *outcome == Err(CallError::Saturated));
    assert_eq!(
        outcomes,
        [Err(CallError::TimedOut), Err(CallError::Saturated)]
    );
}

#[test]
fn settings_that_cannot_work_are_refused_and_secrets_not_printed() {
    let refused = |change: fn(&mut FacilitatorSettings)| {
        let mut settings = settings("https://facilitator.example");
        change(&mut settings);
        Facilitator::new(settings).err()
    };
    assert_eq!(refused(|_| {}), None);
    for text in [
        "",
        "facilitator.example",
        "ftp://a.example",
        "https://me:pw@a.example",
        "https://a.example/?k=v",
    ] {
        let outcome = Facilitator::new(settings(text)).err();
        assert_eq!(outcome, Some(SettingsError::BaseUrl(text.to_owned())));
    }
    assert_eq!(
        refused(|settings| settings.auth = FacilitatorAuth::Bearer("a\r\nb".to_owned())),
        Some(SettingsError::Token)
    );
    assert_eq!(
        refused(|settings| settings.ca_pem = Some(b"nothing".to_vec())),
        Some(SettingsError::TrustRoots)
    );
    assert!(matches!(
        refused(|settings| settings.auth = FacilitatorAuth::Cdp {
            key_id: "k".to_owned(),
            secret: "x".to_owned()
        }),
        Some(SettingsError::CdpKey(_))
    ));
    let bearer = FacilitatorAuth::Bearer("token-1".to_owned());
    assert_eq!(format!("{bearer:?}"), "Bearer(***)");
}
