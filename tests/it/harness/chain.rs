//! A chain with a block every two seconds of everybody's clock, and one token on it. It knows what a test has written
//! on it, and says something else when it is told to.

use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard};

use context402::domain::keccak::keccak256;
use context402::outside::clock::Clock;
use serde_json::{Value, json};

use crate::harness::buyer::Payment;
use crate::harness::server::{Next, Request, Server, hang, respond};
use crate::harness::{ASSET, PAY_TO};

/// How calls are answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tells {
    Honest,
    /// Nothing at all, until the caller gives up.
    Hang,
    /// A page of HTML with status 200.
    Garbage,
    Status(u16),
    /// Ten megabytes of JSON.
    Endless,
    /// Another network's id, and the truth about everything else.
    AnotherNetwork,
    /// Blocks of next year, in which nothing is used.
    Future,
    /// Logs of blocks that are no longer those of their transactions.
    Reorganised,
    /// The truth, but for at most so many blocks of logs at once.
    Logs {
        blocks_max: u64,
    },
}

impl Tells {
    /// From which nothing can be learnt.
    pub(crate) const LIES: [Tells; 7] = [
        Tells::Hang,
        Tells::Garbage,
        Tells::Status(500),
        Tells::Status(429),
        Tells::Endless,
        Tells::AnotherNetwork,
        Tells::Future,
    ];
}

/// What an authorization has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Paid,
    Canceled,
    /// Used by its signer for a transfer to himself.
    Elsewhere,
}

/// A transaction that somebody has sent.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) moves: Vec<Move>,
    pub(crate) succeeded: bool,
    /// Whether an authorization is used in it.
    pub(crate) settles: bool,
}

/// A transfer of a token.
#[derive(Clone, Debug)]
pub(crate) struct Move {
    pub(crate) token: String,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) units: u128,
}

impl Move {
    /// Of the token, by a buyer, to the vault.
    pub(crate) fn to_us(units: u128) -> Move {
        Move {
            token: ASSET.to_owned(),
            from: format!("0x{}", "70".repeat(20)),
            to: PAY_TO.to_owned(),
            units,
        }
    }
}

impl Sent {
    pub(crate) fn of(moves: Vec<Move>) -> Sent {
        Sent {
            moves,
            succeeded: true,
            settles: false,
        }
    }

    fn receipt(&self, hash: &str, block: u64) -> Value {
        let log = |position: usize, address: &str, topics: Value, data: String| {
            json!({"address": address.to_lowercase(), "topics": topics, "data": data,
                "logIndex": quantity(3 + position as u64), "transactionHash": hash,
                "blockNumber": quantity(block), "blockHash": block_hash(block), "removed": false})
        };
        let mut logs = Vec::new();
        if self.settles {
            let topics = json!([
                topic("AuthorizationUsed(address,bytes32)"),
                word(PAY_TO),
                hash
            ]);
            logs.push(log(0, ASSET, topics, "0x".to_owned()));
        }
        for moved in &self.moves {
            let topics = json!([
                topic("Transfer(address,address,uint256)"),
                word(&moved.from),
                word(&moved.to)
            ]);
            let data = format!("0x{:064x}", moved.units);
            logs.push(log(logs.len(), &moved.token, topics, data));
        }
        json!({"transactionHash": hash, "blockNumber": quantity(block), "blockHash": block_hash(block),
            "status": if self.succeeded { "0x1" } else { "0x0" },
            "logs": if self.succeeded { logs } else { Vec::new() }})
    }
}

fn block_hash(block: u64) -> String {
    hex(&keccak256(&[&block.to_be_bytes()]))
}

#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
    _server: Server,
}

#[derive(Debug)]
struct State {
    clock: Clock,
    tells: Tells,
    ends: Vec<Written>,
    sent: Vec<(String, u64, Sent)>,
    gas_price_wei: u64,
    /// Of the coin in cents, and when that was said last.
    coin: (u64, u64),
    calls: usize,
}

/// Where the chain's price feed stands.
pub(crate) const FEED: &str = "0xfeedfeedfeedfeedfeedfeedfeedfeedfeedfeed";

#[derive(Clone, Debug)]
struct Written {
    from: String,
    nonce: String,
    value: u128,
    end: End,
    block: u64,
    /// Of a facilitator's own; else it follows from the nonce.
    transaction: Option<String>,
    /// Units that the same transaction sends to the vault beside it.
    beside: u128,
}

impl Chain {
    pub(crate) fn start(clock: Clock) -> Chain {
        let state = Arc::new(Mutex::new(State {
            clock,
            tells: Tells::Honest,
            ends: Vec::new(),
            sent: Vec::new(),
            gas_price_wei: 10_000_000,
            coin: (0, 0),
            calls: 0,
        }));
        let shared = state.clone();
        let server = Server::with(move |request, stream| answer(&shared, request, stream));
        Chain {
            url: server.url.clone(),
            state,
            _server: server,
        }
    }

    /// From now on every call is answered so.
    pub(crate) fn tells(&self, tells: Tells) {
        self.state().tells = tells;
    }

    pub(crate) fn gas_costs(&self, wei: u64) {
        self.state().gas_price_wei = wei;
    }

    /// The feed says now that a coin costs so many cents.
    pub(crate) fn coin_costs(&self, cents: u64) {
        let mut state = self.state();
        state.coin = (cents, state.clock.now().0);
    }

    pub(crate) fn calls(&self) -> usize {
        self.state().calls
    }

    /// Writes the end of an authorization into the newest block, and gives its transaction.
    pub(crate) fn write(&self, payment: &Payment, end: End) -> String {
        let authorization = &payment.payload["payload"]["authorization"];
        let text = |name: &str| authorization[name].as_str().expect("text").to_lowercase();
        let mut state = self.state();
        let written = Written {
            from: text("from"),
            nonce: text("nonce"),
            value: text("value").parse().expect("a number"),
            end,
            block: state.head(),
            transaction: None,
            beside: 0,
        };
        state.ends.push(written.clone());
        written.transaction()
    }

    /// The same in the transaction that the facilitator has told.
    pub(crate) fn write_as(&self, payment: &Payment, end: End, transaction: &str) {
        self.write(payment, end);
        let mut state = self.state();
        let last = state.ends.last_mut().expect("just written");
        last.transaction = Some(transaction.to_lowercase());
    }

    /// The same in a transaction that also sends so many units from the payer to the vault.
    pub(crate) fn write_beside(&self, payment: &Payment, end: End, units: u128) -> String {
        let transaction = self.write(payment, end);
        self.state().ends.last_mut().expect("just written").beside = units;
        transaction
    }

    /// Puts a transaction into the newest block, and gives its hash.
    pub(crate) fn send(&self, sent: Sent) -> String {
        let mut state = self.state();
        let hash = hex(&keccak256(&[b"sent", &state.sent.len().to_be_bytes()]));
        let block = state.head();
        state.sent.push((hash.clone(), block, sent));
        hash
    }

    /// Puts a transaction of this hash, as a facilitator has told it, into the newest block: so many units to the vault.
    pub(crate) fn settle(&self, transaction: &str, units: u128) {
        let mut state = self.state();
        let block = state.head();
        let sent = Sent::of(vec![Move::to_us(units)]);
        state.sent.push((transaction.to_lowercase(), block, sent));
    }

    /// A transfer of so many units to the vault.
    pub(crate) fn transfer(&self, units: u128) -> String {
        self.send(Sent::of(vec![Move::to_us(units)]))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic before")
    }
}

impl State {
    fn head(&self) -> u64 {
        self.clock.now().0 / 2
    }

    /// The logs of every transfer in these blocks: a node need not apply the whole filter.
    fn transfers(&self, from: u64, to: u64) -> Value {
        let sent = self
            .sent
            .iter()
            .filter(|(_, block, _)| (from..=to).contains(block));
        let ends = self
            .ends
            .iter()
            .filter(|end| end.end != End::Canceled && (from..=to).contains(&end.block));
        let receipts = sent.map(|(hash, block, sent)| sent.receipt(hash, *block));
        receipts
            .chain(ends.map(Written::receipt))
            .flat_map(|receipt| receipt["logs"].as_array().cloned().unwrap_or_default())
            .collect()
    }
}

impl Written {
    fn transaction(&self) -> String {
        if let Some(transaction) = &self.transaction {
            return transaction.clone();
        }
        hex(&keccak256(&[self.nonce.as_bytes()]))
    }

    fn log(&self, index: u64, topics: &Value, data: &str) -> Value {
        json!({"address": ASSET.to_lowercase(), "topics": topics, "data": data, "logIndex": quantity(index),
            "transactionHash": self.transaction(), "blockNumber": quantity(self.block),
            "blockHash": block_hash(self.block), "removed": false})
    }

    fn mark(&self) -> Value {
        let name = match self.end {
            End::Canceled => "AuthorizationCanceled(address,bytes32)",
            End::Paid | End::Elsewhere => "AuthorizationUsed(address,bytes32)",
        };
        self.log(7, &json!([topic(name), word(&self.from), self.nonce]), "0x")
    }

    fn receipt(&self) -> Value {
        let to = match self.end {
            End::Elsewhere => &self.from,
            End::Paid | End::Canceled => PAY_TO,
        };
        let topics = json!([
            topic("Transfer(address,address,uint256)"),
            word(&self.from),
            word(to)
        ]);
        let moved = self.log(8, &topics, &format!("0x{:064x}", self.value));
        let mark = self.mark();
        let mut logs = vec![mark.clone(), moved];
        if self.beside > 0 {
            let topics = json!([
                topic("Transfer(address,address,uint256)"),
                word(&self.from),
                word(PAY_TO)
            ]);
            logs.push(self.log(9, &topics, &format!("0x{:064x}", self.beside)));
        }
        json!({"transactionHash": self.transaction(), "blockNumber": mark["blockNumber"],
            "blockHash": mark["blockHash"], "status": "0x1", "logs": logs})
    }
}

fn answer(state: &Mutex<State>, request: &Request, stream: &TcpStream) -> Next {
    let asked: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let (tells, told) = {
        let mut state = state.lock().expect("no panic before");
        state.calls += 1;
        (state.tells.clone(), tell(&state, &asked))
    };
    let headers = [("Content-Type", "application/json")];
    let reply = |status: u16, body: &str| respond(stream, status, &headers, body.as_bytes());
    match tells {
        Tells::Hang => hang(stream),
        Tells::Garbage => reply(200, "<html><title>Bad gateway</title></html>"),
        Tells::Status(status) => reply(status, "{}"),
        Tells::Endless => reply(
            200,
            &format!("{{\"result\":\"0x{}\"}}", "0".repeat(10 << 20)),
        ),
        Tells::Honest
        | Tells::AnotherNetwork
        | Tells::Future
        | Tells::Reorganised
        | Tells::Logs { .. } => {
            let told = match told {
                Ok(result) => json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}),
                Err(message) => {
                    json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32602, "message": message}})
                }
            };
            reply(200, &told.to_string())
        }
    }
}

fn tell(state: &State, asked: &Value) -> Result<Value, &'static str> {
    let params = &asked["params"];
    Ok(match asked["method"].as_str().unwrap_or_default() {
        "eth_chainId" if state.tells == Tells::AnotherNetwork => json!("0x1"),
        "eth_chainId" => json!("0x2105"),
        "eth_gasPrice" => quantity(state.gas_price_wei),
        "eth_getBlockByNumber" => {
            let number = match params[0].as_str() {
                Some("latest") => state.head(),
                _ => number(&params[0]),
            };
            let ahead = if state.tells == Tells::Future {
                365 * 86_400
            } else {
                0
            };
            json!({"number": quantity(number), "timestamp": quantity(2 * number + ahead), "hash": block_hash(number)})
        }
        "eth_call" if params[0]["to"] == json!(FEED) => {
            let (cents, at) = state.coin;
            let is_round = params[0]["data"] == json!("0xfeaf968c");
            let word = |number: u64| format!("{number:064x}");
            json!(match is_round {
                // Eight decimals.
                true => [
                    "0x".to_owned(),
                    word(7),
                    word(cents * 1_000_000),
                    word(at),
                    word(at),
                    word(7)
                ]
                .concat(),
                false => format!("0x{}", word(8)),
            })
        }
        "eth_call" if params[0]["to"] != json!(ASSET.to_lowercase()) => json!("0x"),
        "eth_call"
            if params[0]["data"]
                .as_str()
                .is_some_and(|call| call.starts_with("0x70a08231")) =>
        {
            let received = state.sent.iter().flat_map(|(_, _, sent)| &sent.moves);
            let received = received.filter(|moved| moved.to == PAY_TO && moved.token == ASSET);
            json!(format!(
                "0x{:064x}",
                received.map(|moved| moved.units).sum::<u128>()
            ))
        }
        "eth_call" => {
            let (call, block) = (
                params[0]["data"].as_str().unwrap_or_default(),
                number(&params[1]),
            );
            let used = state.tells != Tells::Future
                && state
                    .ends
                    .iter()
                    .any(|end| call.ends_with(&end.nonce[2..]) && end.block <= block);
            json!(format!("0x{:064x}", u8::from(used)))
        }
        "eth_getLogs" => {
            let filter = &params[0];
            let (from, to) = (number(&filter["fromBlock"]), number(&filter["toBlock"]));
            if matches!(state.tells, Tells::Logs { blocks_max } if to - from >= blocks_max) {
                return Err("block range is too large");
            }
            if filter["topics"][0] == json!(topic("Transfer(address,address,uint256)")) {
                return Ok(state.transfers(from, to));
            }
            // One nonce, or any of several.
            let wanted = &filter["topics"][2];
            let asks_for = |nonce: &str| {
                *wanted == json!(nonce)
                    || wanted
                        .as_array()
                        .is_some_and(|several| several.contains(&json!(nonce)))
            };
            let found = state
                .ends
                .iter()
                .filter(|end| asks_for(&end.nonce) && (from..=to).contains(&end.block));
            found.map(Written::mark).collect()
        }
        "eth_getTransactionReceipt" => {
            let found = state
                .ends
                .iter()
                .find(|end| params[0] == json!(end.transaction()));
            let sent = state
                .sent
                .iter()
                .find(|(hash, ..)| params[0] == json!(hash));
            let sent = sent.map(|(hash, block, sent)| sent.receipt(hash, *block));
            let mut receipt = found.map(Written::receipt).or(sent).unwrap_or_default();
            if state.tells == Tells::Reorganised && !receipt.is_null() {
                receipt["blockHash"] = json!(hex(&[0xcc; 32]));
            }
            receipt
        }
        _ => return Err("no such method"),
    })
}

fn quantity(number: u64) -> Value {
    json!(format!("{number:#x}"))
}

fn number(value: &Value) -> u64 {
    let digits = value.as_str().and_then(|text| text.strip_prefix("0x"));
    digits
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .expect("a quantity")
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

fn topic(signature: &str) -> String {
    hex(&keccak256(&[signature.as_bytes()]))
}

fn word(address: &str) -> String {
    format!("0x{:0>64}", address[2..].to_lowercase())
}
