//! A facilitator that checks and settles honestly on a ledger of its own, unless it is told to do something else.

use std::collections::VecDeque;
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use context402::domain::evm::{Address, Network};
use context402::outside::clock::Clock;
use context402::sandbox::ledger::{Ledger, STARTING_BALANCE};
use serde_json::{Value, json};

use crate::harness::server::{Next, Request, Server, hang, reset, respond};

/// How one call is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    /// What the ledger says.
    Honest,
    /// What the ledger says, after a while.
    Slow(Duration),
    /// What the ledger said when it was asked, after a while.
    Late(Duration),
    /// The connection breaks; nothing was done.
    Reset,
    /// Nothing at all, until the caller gives up; nothing was done.
    Hang,
    /// A page of HTML with status 200; nothing was done.
    Garbage,
    /// A status without a verdict; nothing was done.
    Status(u16),
    /// The protocol's no, with a reason; nothing was done.
    No(&'static str),
    /// `settlement_pending` with a transaction; nothing was done yet.
    Pending,
    /// It is done, and the connection breaks before the answer.
    Lost,
    /// It is done, and the answer names another payer.
    WrongPayer,
    /// It is done, and the answer names another network.
    WrongNetwork,
    /// It is done, and the answer names no transaction.
    NoTransaction,
}

const SOMEBODY: &str = "0x00000000000000000000000000000000DeaDBeef";

#[derive(Debug)]
pub(crate) struct Facilitator {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
    _server: Server,
}

#[derive(Debug)]
struct State {
    ledger: Ledger,
    verify: InFlight,
    settle: InFlight,
}

/// One operation: what was asked, and what is answered.
#[derive(Debug)]
struct InFlight {
    asked: Vec<Value>,
    next: VecDeque<Says>,
    otherwise: Says,
}

impl Default for InFlight {
    fn default() -> Self {
        InFlight {
            asked: Vec::new(),
            next: VecDeque::new(),
            otherwise: Says::Honest,
        }
    }
}

impl Facilitator {
    pub(crate) fn start(clock: Clock) -> Facilitator {
        let state = Arc::new(Mutex::new(State {
            ledger: Ledger::new(Network(8453)),
            verify: InFlight::default(),
            settle: InFlight::default(),
        }));
        let shared = state.clone();
        let server = Server::with(move |request, stream| answer(&shared, &clock, request, stream));
        Facilitator {
            url: server.url.clone(),
            state,
            _server: server,
        }
    }

    /// From now on every verify is answered so.
    pub(crate) fn verifies(&self, says: Says) {
        self.state().verify.otherwise = says;
    }

    /// From now on every settle is answered so.
    pub(crate) fn settles(&self, says: Says) {
        self.state().settle.otherwise = says;
    }

    /// The next verifies are answered so, one each.
    pub(crate) fn next_verifies(&self, says: impl IntoIterator<Item = Says>) {
        self.state().verify.next.extend(says);
    }

    /// The next settles are answered so, one each.
    pub(crate) fn next_settles(&self, says: impl IntoIterator<Item = Says>) {
        self.state().settle.next.extend(says);
    }

    /// How often verify was asked.
    pub(crate) fn verify_calls(&self) -> usize {
        self.state().verify.asked.len()
    }

    /// How often settle was asked.
    pub(crate) fn settle_calls(&self) -> usize {
        self.state().settle.asked.len()
    }

    /// The bodies of all settles.
    pub(crate) fn settle_bodies(&self) -> Vec<Value> {
        self.state().settle.asked.clone()
    }

    /// Payments that have really moved money.
    pub(crate) fn settlements(&self) -> usize {
        self.state().ledger.settlements()
    }

    /// What an address has spent, in units.
    pub(crate) fn spent(&self, address: Address) -> u128 {
        let asset = Address::parse("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913");
        let balance = self
            .state()
            .ledger
            .balance(asset.expect("an address"), address);
        u128::from(STARTING_BALANCE.units()) - balance
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic before")
    }
}

fn answer(state: &Mutex<State>, clock: &Clock, request: &Request, stream: &TcpStream) -> Next {
    let says = {
        let mut state = state.lock().expect("no panic before");
        let answers = match request.path.as_str() {
            "/verify" => &mut state.verify,
            "/settle" => &mut state.settle,
            _ => return reply(stream, 200, &honest(&mut state.ledger, clock, request).1),
        };
        answers
            .asked
            .push(serde_json::from_slice(&request.body).unwrap_or_default());
        answers
            .next
            .pop_front()
            .unwrap_or(answers.otherwise.clone())
    };
    let ledger = || {
        let mut state = state.lock().expect("no panic before");
        honest(&mut state.ledger, clock, request)
    };
    match says {
        Says::Honest => {
            let (status, json) = ledger();
            reply(stream, status, &json)
        }
        Says::Slow(time) => {
            thread::sleep(time);
            let (status, json) = ledger();
            reply(stream, status, &json)
        }
        Says::Late(time) => {
            let (status, json) = ledger();
            thread::sleep(time);
            reply(stream, status, &json)
        }
        Says::Reset => reset(stream),
        Says::Hang => hang(stream),
        Says::Garbage => respond(stream, 200, &[], b"<html><title>Bad gateway</title></html>"),
        Says::Status(status) => reply(stream, status, &json!({"error": "no"})),
        Says::No(reason) => reply(stream, 200, &no(request, reason)),
        Says::Pending => {
            let mut json = no(request, "settlement_pending");
            json["transaction"] = json!(format!("0x{}", "ab".repeat(32)));
            reply(stream, 200, &json)
        }
        Says::Lost => {
            ledger();
            reset(stream)
        }
        Says::WrongPayer => altered(stream, ledger(), "payer", json!(SOMEBODY)),
        Says::WrongNetwork => altered(stream, ledger(), "network", json!("eip155:1")),
        Says::NoTransaction => altered(stream, ledger(), "transaction", json!("")),
    }
}

fn honest(ledger: &mut Ledger, clock: &Clock, request: &Request) -> (u16, Value) {
    let answer = ledger.answer(&request.method, &request.path, &request.body, clock.now());
    let json = serde_json::from_slice(&answer.json).expect("the ledger answers JSON");
    (answer.status, json)
}

fn no(request: &Request, reason: &str) -> Value {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let payer = &body["paymentPayload"]["payload"]["authorization"]["from"];
    match request.path.as_str() {
        "/verify" => json!({"isValid": false, "invalidReason": reason, "payer": payer}),
        _ => json!({"success": false, "errorReason": reason, "payer": payer, "transaction": "",
            "network": "eip155:8453"}),
    }
}

fn altered(stream: &TcpStream, (status, mut json): (u16, Value), name: &str, value: Value) -> Next {
    json[name] = value;
    reply(stream, status, &json)
}

fn reply(stream: &TcpStream, status: u16, json: &Value) -> Next {
    let headers = [("Content-Type", "application/json")];
    respond(stream, status, &headers, json.to_string().as_bytes())
}
