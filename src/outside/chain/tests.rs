//! The client against a node on loopback that knows one authorization, and lies where a test wants it to.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::*;
use crate::domain::amount::Amount;
use crate::domain::evm::{Address, Nonce};
use crate::outside::loopback::{Server, Step, response};
use crate::x402::abi::address_word;
use crate::x402::onchain::{canceled_topic, used_topic};

const TOKEN: Address = Address([0x83; 20]);
const PAYER: Address = Address([0x70; 20]);
const US: Address = Address([0x40; 20]);
const NONCE: Nonce = Nonce([7; 32]);
const TRANSACTION: TransactionHash = TransactionHash([0xaa; 32]);
const HEAD: u64 = 1_000_000;
const NOW: UnixSeconds = UnixSeconds(1_795_000_000);

/// A chain with a block every two seconds, the newest one now.
#[derive(Clone, Debug)]
struct Node {
    chain_id: u64,
    head: u64,
    head_time: u64,
    /// The block in which the authorization ended, and how.
    end: Option<(u64, [u8; 32])>,
    paid_to: Address,
    paid_units: u64,
    /// Blocks of logs that it gives at once.
    log_blocks_max: u64,
    receipt_block_hash: u8,
    /// A method, and the whole answer to it.
    lie: Option<(&'static str, Vec<u8>)>,
}

impl Node {
    fn honest() -> Node {
        Node {
            chain_id: 8453,
            head: HEAD,
            head_time: NOW.0,
            end: None,
            paid_to: US,
            paid_units: 30_000,
            log_blocks_max: u64::MAX,
            receipt_block_hash: 0xbb,
            lie: None,
        }
    }

    fn used_in(block: u64) -> Node {
        Node {
            end: Some((block, used_topic())),
            ..Node::honest()
        }
    }

    fn lying(method: &'static str, result: &Value) -> Node {
        let body = json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string();
        Node::saying(method, response(200, &[], body.as_bytes()))
    }

    fn saying(method: &'static str, bytes: Vec<u8>) -> Node {
        Node {
            lie: Some((method, bytes)),
            ..Node::used_in(HEAD - 50)
        }
    }

    fn answer(&self, body: &[u8]) -> Vec<u8> {
        let asked: Value = serde_json::from_slice(body).expect("JSON");
        let method = asked["method"].as_str().expect("a method");
        if let Some((lied_about, bytes)) = &self.lie
            && *lied_about == method
        {
            return bytes.clone();
        }
        let answer = match self.result(method, &asked["params"]) {
            Ok(result) => json!({"jsonrpc": "2.0", "id": 1, "result": result}),
            Err(message) => {
                json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": message}})
            }
        };
        response(200, &[], answer.to_string().as_bytes())
    }

    fn result(&self, method: &str, params: &Value) -> Result<Value, &'static str> {
        Ok(match method {
            "eth_chainId" => hex(self.chain_id),
            "eth_gasPrice" => hex(12_000_000),
            "eth_getBlockByNumber" => {
                let number = match params[0].as_str() {
                    Some("latest") => self.head,
                    _ => unhex(&params[0]),
                };
                let time = self.head_time - 2 * (self.head - number);
                json!({"number": hex(number), "timestamp": hex(time), "transactions": [], "hash": text(&[0xbb; 32])})
            }
            "eth_call"
                if params[0]["to"] == json!("0x420000000000000000000000000000000000000f") =>
            {
                json!("0x")
            }
            "eth_call" => {
                let block = unhex(&params[1]);
                if block > self.head {
                    return Err("header not found");
                }
                let used = self.end.is_some_and(|(end, _)| end <= block);
                json!(format!("0x{:064x}", u8::from(used)))
            }
            "eth_getLogs" => {
                let (from, to) = (unhex(&params[0]["fromBlock"]), unhex(&params[0]["toBlock"]));
                if to - from + 1 > self.log_blocks_max {
                    return Err("query returned more than allowed");
                }
                match self.end {
                    Some((block, topic)) if (from..=to).contains(&block) => {
                        json!([self.mark(block, topic)])
                    }
                    _ => json!([]),
                }
            }
            "eth_getTransactionReceipt" => {
                let Some((block, topic)) = self.end else {
                    return Ok(Value::Null);
                };
                let transfer =
                    hex::decode("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");
                let mut moved = self.mark(block, [0; 32]);
                moved["topics"] = json!([
                    text(&transfer.expect("hex")),
                    text(&address_word(PAYER)),
                    text(&address_word(self.paid_to))
                ]);
                moved["data"] = json!(format!("0x{:064x}", self.paid_units));
                moved["logIndex"] = json!("0x4");
                json!({"transactionHash": TRANSACTION.to_string(), "blockNumber": hex(block), "status": "0x1",
                    "blockHash": text(&[self.receipt_block_hash; 32]), "logs": [self.mark(block, topic), moved]})
            }
            other => panic!("nobody asks for {other}"),
        })
    }

    fn mark(&self, block: u64, topic: [u8; 32]) -> Value {
        json!({"address": text(&TOKEN.0), "topics": [text(&topic), text(&address_word(PAYER)), text(&NONCE.0)],
            "data": "0x", "logIndex": "0x3", "transactionHash": TRANSACTION.to_string(), "blockNumber": hex(block),
            "blockHash": text(&[0xbb; 32]), "removed": false})
    }
}

fn hex(number: u64) -> Value {
    json!(format!("{number:#x}"))
}

fn unhex(value: &Value) -> u64 {
    let digits = value.as_str().and_then(|text| text.strip_prefix("0x"));
    u64::from_str_radix(digits.expect("a quantity"), 16).expect("hex")
}

fn text(bytes: &[u8]) -> String {
    format!("0x{}", ::hex::encode(bytes))
}

fn client(server: &Server, time_max: Duration) -> Chain {
    Chain::new(ChainSettings {
        rpc_url: format!("{}/v1/key?x=1", server.url),
        network: Network(8453),
        time_max,
        confirmations: 5,
    })
    .expect("an address")
}

/// The window of the authorization: seen `age` seconds ago, valid for 300 from then.
fn inquiry(age: u64) -> Inquiry {
    Inquiry {
        asked: ExpectedPayment {
            network: Network(8453),
            token: TOKEN,
            from: PAYER,
            nonce: NONCE,
            pay_to: US,
            amount: Amount::from_units(30_000),
        },
        since: UnixSeconds(NOW.0 - age),
        valid_before: UnixSeconds(NOW.0 - age + 300),
    }
}

async fn ask(node: Node, age: u64) -> (Result<Fate, ChainError>, usize) {
    let server = Server::start(move |request| Step::Reply(node.answer(&request.body)));
    let fate = client(&server, Duration::from_secs(5))
        .fate(inquiry(age), NOW)
        .await;
    (fate, server.requests().len())
}

async fn check(node: Node, age: u64, expected: Result<Fate, ChainError>) {
    let (fate, _) = ask(node.clone(), age).await;
    assert_eq!(fate, expected, "{node:?}");
}

const PAID: Result<Fate, ChainError> = Ok(Fate::Paid {
    transaction: TRANSACTION,
});

#[tokio::test]
async fn a_used_authorization_is_paid_cancelled_or_gone_elsewhere() {
    check(Node::used_in(HEAD - 50), 110, PAID).await;
    let canceled = Node {
        end: Some((HEAD - 50, canceled_topic())),
        ..Node::honest()
    };
    check(canceled, 110, Ok(Fate::Canceled)).await;
    let elsewhere = Node {
        paid_to: Address([1; 20]),
        ..Node::used_in(HEAD - 50)
    };
    check(elsewhere, 110, Ok(Fate::Elsewhere)).await;
    let less = Node {
        paid_units: 29_999,
        ..Node::used_in(HEAD - 50)
    };
    check(less, 110, Ok(Fate::Elsewhere)).await;
}

/// A fact counts once it stands in the fifth block from the top, and not before: a reorganisation may undo it.
#[tokio::test]
async fn only_what_is_deep_enough_is_decided() {
    check(Node::used_in(HEAD - 3), 10, Ok(Fate::Open)).await;
    check(Node::used_in(HEAD - 4), 10, PAID).await;
    let reorganised = Node {
        receipt_block_hash: 0xcc,
        ..Node::used_in(HEAD - 50)
    };
    let (fate, _) = ask(reorganised, 110).await;
    assert!(
        matches!(fate, Err(ChainError::Contradiction(_))),
        "{fate:?}"
    );
    let undone = Node::lying("eth_getLogs", &json!([{"removed": true}]));
    check(undone, 110, Err(ChainError::NoLog)).await;
}

/// Unused is final only when a deep block is out of the window, by its own time.
#[tokio::test]
async fn an_unused_authorization_has_failed_once_its_window_is_over_on_chain() {
    check(Node::honest(), 10, Ok(Fate::Open)).await;
    check(Node::honest(), 300, Ok(Fate::Open)).await;
    // The margin of 30 seconds, and four blocks of two seconds above the one that counts.
    check(Node::honest(), 337, Ok(Fate::Open)).await;
    check(Node::honest(), 338, Ok(Fate::NeverUsed)).await;
    let behind = Node {
        head_time: NOW.0 - 3_600,
        ..Node::honest()
    };
    check(behind, 1_000, Ok(Fate::Open)).await;
    let ahead = Node {
        head_time: NOW.0 + 3_600,
        ..Node::honest()
    };
    let (fate, _) = ask(ahead, 10).await;
    assert!(
        matches!(fate, Err(ChainError::Contradiction(_))),
        "{fate:?}"
    );
}

#[tokio::test]
async fn logs_are_asked_for_in_as_few_blocks_as_the_node_allows() {
    for (log_blocks_max, calls_max) in [(u64::MAX, 20), (500, 30), (10, 40)] {
        let node = Node {
            log_blocks_max,
            ..Node::used_in(HEAD - 1_750)
        };
        let (fate, calls) = ask(node, 3_510).await;
        assert_eq!(fate, PAID, "{log_blocks_max}");
        assert!(calls <= calls_max, "{calls} calls at {log_blocks_max}");
    }
    // A node that gives no logs at all ends the inquiry, and one that hardly gives any does not hold it for ever.
    let (fate, _) = ask(
        Node {
            log_blocks_max: 0,
            ..Node::used_in(HEAD - 50)
        },
        110,
    )
    .await;
    assert!(
        matches!(fate, Err(ChainError::Refused { code: -32_000, .. })),
        "{fate:?}"
    );
    let few = Node {
        log_blocks_max: 1,
        ..Node::used_in(HEAD - 50)
    };
    check(few, 40_000, Err(ChainError::TooManyCalls)).await;
}

#[tokio::test]
async fn a_node_of_another_network_is_not_listened_to() {
    let node = Node {
        chain_id: 1,
        ..Node::used_in(HEAD - 50)
    };
    let (fate, calls) = ask(node, 110).await;
    let expected = ChainError::WrongNetwork {
        expected: Network(8453),
        found: Network(1),
    };
    assert_eq!((fate, calls), (Err(expected), 1));
}

#[tokio::test]
async fn answers_that_cannot_be_believed_decide_nothing() {
    let long = format!("\"{}\"", "0".repeat(5 * 1024 * 1024));
    let deep = "[".repeat(100_000);
    for bytes in [
        response(200, &[], b"<html>"),
        response(200, &[], b""),
        response(200, &[], b"[]"),
        response(200, &[], b"{}"),
        response(200, &[], deep.as_bytes()),
        response(200, &[], long.as_bytes()),
        response(200, &[], br#"{"result":null}"#),
        response(200, &[], br#"{"result":"0x"}"#),
        response(200, &[], br#"{"result":"0x-1"}"#),
        response(
            200,
            &[],
            br#"{"result":"0x10000000000000000000000000000000000"}"#,
        ),
        response(200, &[], br#"{"result":{"number":"0x1","timestamp":7}}"#),
        response(200, &[], br#"{"result":[{"topics":[[]]}]}"#),
        response(200, &[], br#"{"error":"no"}"#),
        response(301, &[("Location", "http://127.0.0.1:9/")], b""),
        response(429, &[], br#"{"result":"0x2105"}"#),
        response(503, &[], b"later"),
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{".to_vec(),
        b"nonsense\r\n\r\n".to_vec(),
    ] {
        for method in [
            "eth_chainId",
            "eth_getBlockByNumber",
            "eth_call",
            "eth_getLogs",
            "eth_getTransactionReceipt",
        ] {
            let node = Node::saying(method, bytes.clone());
            let last = Arc::new(Mutex::new(bytes.clone()));
            let server = Server::start(move |request| {
                let answer = node.answer(&request.body);
                if answer == *last.lock().expect("no panic before") {
                    Step::Last(answer)
                } else {
                    Step::Reply(answer)
                }
            });
            let fate = client(&server, Duration::from_secs(5))
                .fate(inquiry(110), NOW)
                .await;
            assert!(
                fate.is_err(),
                "{method} {:?} {fate:?}",
                String::from_utf8_lossy(&bytes[..bytes.len().min(100)])
            );
        }
    }
}

#[tokio::test]
async fn a_node_that_stalls_is_given_up() {
    let server = Server::start(|_| Step::Hang(Duration::from_secs(10)));
    let fate = client(&server, Duration::from_millis(200))
        .fate(inquiry(110), NOW)
        .await;
    assert_eq!(fate, Err(ChainError::TimedOut));
}

#[tokio::test]
async fn gas_is_what_the_network_and_the_layer_below_ask() {
    let price = |node: Node| async move {
        let server = Server::start(move |request| Step::Reply(node.answer(&request.body)));
        client(&server, Duration::from_secs(5)).gas_price().await
    };
    let expected = |l1_fee_wei| GasPrice {
        wei_per_gas: 12_000_000,
        l1_fee_wei,
    };
    assert_eq!(price(Node::honest()).await, Ok(expected(0)));
    let fee = json!(format!("0x{:064x}", 5_000_000_000_u64));
    assert_eq!(
        price(Node::lying("eth_call", &fee)).await,
        Ok(expected(5_000_000_000))
    );
    let reverted = br#"{"error":{"code":3,"message":"execution reverted"}}"#;
    let node = Node::saying("eth_call", response(200, &[], reverted));
    assert_eq!(price(node).await, Ok(expected(0)));
    let busy = Node::saying("eth_call", response(429, &[], b"{}"));
    assert_eq!(price(busy).await, Err(ChainError::Status(429)));
}

async fn look_up(node: Node) -> Result<Written, ChainError> {
    let server = Server::start(move |request| Step::Reply(node.answer(&request.body)));
    let client = client(&server, Duration::from_secs(5));
    client.written(TRANSACTION, NOW).await
}

#[tokio::test]
async fn a_transaction_stands_once_it_is_deep_enough() {
    for (depth, expected) in [(0, 1), (3, 4)] {
        let written = look_up(Node::used_in(HEAD - depth)).await;
        let expected = Written::Shallow {
            confirmations: expected,
        };
        assert_eq!(written, Ok(expected));
    }
    match look_up(Node::used_in(HEAD - 4)).await {
        Ok(Written::Deep { since, logs }) => {
            assert_eq!(since, UnixSeconds(NOW.0 - 8));
            assert_eq!(logs.len(), 2);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(look_up(Node::honest()).await, Ok(Written::Missing));
    // A node that lags behind another one.
    let lagging = Node {
        head: HEAD - 10,
        ..Node::used_in(HEAD - 4)
    };
    let expected = Written::Shallow { confirmations: 0 };
    assert_eq!(look_up(lagging).await, Ok(expected));
}

#[tokio::test]
async fn a_transaction_of_a_block_that_was_replaced_is_missing() {
    let reorganised = Node {
        receipt_block_hash: 0xcc,
        ..Node::used_in(HEAD - 50)
    };
    assert_eq!(look_up(reorganised).await, Ok(Written::Missing));
}

#[tokio::test]
async fn receipts_that_cannot_be_believed_are_errors() {
    let receipt = |change: &dyn Fn(&mut Value)| {
        let node = Node::used_in(HEAD - 50);
        let mut receipt = node
            .result("eth_getTransactionReceipt", &json!([]))
            .expect("a receipt");
        change(&mut receipt);
        Node::lying("eth_getTransactionReceipt", &receipt)
    };
    assert!(matches!(
        look_up(receipt(&|_| {})).await,
        Ok(Written::Deep { .. })
    ));
    let failed = receipt(&|receipt| receipt["status"] = json!("0x0"));
    assert_eq!(look_up(failed).await, Ok(Written::Failed));
    let other = text(&[0xab; 32]);
    for (member, value) in [
        ("transactionHash", json!(other)),
        ("transactionHash", Value::Null),
        ("blockNumber", json!(7)),
        ("blockHash", json!("0x12")),
        ("status", Value::Null),
        ("logs", json!({})),
        ("logs", json!([{}])),
    ] {
        let lied = look_up(receipt(&|receipt| receipt[member] = value.clone())).await;
        assert!(lied.is_err(), "{member} {value} {lied:?}");
    }
    let foreign = receipt(&|receipt| receipt["logs"][0]["transactionHash"] = json!(other));
    assert!(look_up(foreign).await.is_err());
}

#[tokio::test]
async fn a_price_feed_is_asked_for_a_price_that_is_new() {
    let price = |answer: Value, age_max: u64| async move {
        let node = Node::lying("eth_call", &answer);
        let server = Server::start(move |request| Step::Reply(node.answer(&request.body)));
        let client = client(&server, Duration::from_secs(5));
        client.coin_price(TOKEN, age_max, NOW).await
    };
    // The same answer to both questions is one of them in no form.
    let word = json!(format!("0x{:064x}", 8));
    assert!(matches!(price(word, 60).await, Err(ChainError::Garbled(_))));
    assert!(matches!(
        price(json!("0x"), 60).await,
        Err(ChainError::Garbled(_))
    ));
}

#[test]
fn the_node_s_address_is_shown_nowhere() {
    let client =
        Client::open("https://rpc.example.com/v2/secret-key?token=secret").expect("an address");
    assert_eq!(format!("{client:?}"), "Client(rpc.example.com)");
}
