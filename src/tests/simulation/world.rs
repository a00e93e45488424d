//! The world around the service: a facilitator with a ledger of its own, the chain, and a web of pages. What has really
//! happened stands in the ledger; what the service is told of it is another matter.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::{Value, json};

use crate::domain::evm::{Address, Network, Nonce, TransactionHash};
use crate::domain::time::UnixSeconds;
use crate::http::Reply;
use crate::outside::chain::{self, ChainError, Fate, Inquiry};
use crate::outside::facilitator::{self, CallError};
use crate::outside::render::job::{Facts, FailureKind, Pictured, Settled};
use crate::outside::render::{self, RenderError, Rendered};
use crate::outside::web::{self, FetchError};
use crate::sandbox::ledger::Ledger;
use crate::sync::lock;
use crate::tests::dice::Dice;
use crate::tests::disk::Disk;
use crate::tests::simulation::buyers::Wish;
use crate::x402::payer::decode_settlement;

/// What the chain lets happen once.
pub(super) type Authorization = (Address, Nonce);

/// What only a browser shows of a page whose text is made by a script.
pub(super) const RENDERED: &str = "The harbour as a script shows it at";

/// Of some calls, and of some answers on their way.
pub(super) const DELAY: Duration = Duration::from_millis(5);
/// Blocks take a while to be deep enough, in seconds.
const DEPTH_SECONDS: u64 = 10;
/// And an authorization's end is believed a while after it.
const EXPIRY_MARGIN_SECONDS: u64 = 60;

#[derive(Debug)]
pub(super) struct World {
    pub(super) seed: u64,
    truth: Mutex<Truth>,
}

/// What is so, no matter who says otherwise.
#[derive(Debug)]
pub(super) struct Truth {
    pub(super) now: UnixSeconds,
    ledger: Ledger,
    /// Upstreams neither fail nor lie.
    pub(super) is_kind: bool,
    calls: HashMap<(String, Vec<u8>), u64>,
    pub(super) moved: HashMap<Authorization, Moved>,
    ended_otherwise: HashMap<Authorization, Fate>,
    /// Its buyer was told by a 402 that it was not taken, and has not presented it since.
    pub(super) turned_down: HashSet<Authorization>,
    /// The buyer and the purchase of each authorization.
    pub(super) purchases: HashMap<Authorization, (usize, Wish)>,
    /// Purchases of buyers who have presented one authorization for several things: whose charge is whose is not told.
    pub(super) ambiguous: HashSet<(usize, Wish)>,
    /// The transactions whose goods a buyer has read.
    received: HashSet<String>,
    /// The service's clock may be so far ahead that answers are forgotten before their time.
    pub(super) forgets: bool,
    pub(super) told: HashMap<Authorization, Value>,
    /// The connections of buyers who leave when their payment is sent for settlement.
    pub(super) leaving: HashMap<Authorization, Arc<()>>,
    pub(super) violations: Vec<String>,
    /// What was done and answered, for anyone who has to understand a violation.
    pub(super) story: Vec<String>,
    /// How often each kind of thing has happened.
    pub(super) seen: HashMap<&'static str, u64>,
}

/// Money that has moved.
#[derive(Clone, Debug)]
pub(super) struct Moved {
    pub(super) transaction: String,
    pub(super) units: u64,
    at: UnixSeconds,
}

/// What a facilitator does with a settle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    /// What it should.
    Honest,
    /// Answers so, before or after the money has moved.
    Says { moves: bool, reply: Says },
    /// The service's own machine loses its power meanwhile.
    PowerLoss { moves: bool },
    /// The buyer is faster: the authorization is cancelled, or used for somebody else.
    Outrun(Fate),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    TimedOut,
    Cut,
    Status(u16),
    Garbage,
    /// Ten megabytes, as the client reports them.
    Endless,
    WrongPayer,
    WrongNetwork,
    WrongAmount,
    NoTransaction,
    SuccessUnder500,
    Pending,
    Reason(&'static str),
    NotReached,
}

impl World {
    pub(super) fn new(seed: u64, now: UnixSeconds) -> Arc<World> {
        Arc::new(World {
            seed,
            truth: Mutex::new(Truth {
                now,
                ledger: Ledger::new(Network(8_453)),
                is_kind: false,
                calls: HashMap::new(),
                moved: HashMap::new(),
                ended_otherwise: HashMap::new(),
                turned_down: HashSet::new(),
                purchases: HashMap::new(),
                ambiguous: HashSet::new(),
                received: HashSet::new(),
                forgets: false,
                told: HashMap::new(),
                leaving: HashMap::new(),
                violations: Vec::new(),
                story: Vec::new(),
                seen: HashMap::new(),
            }),
        })
    }

    pub(super) fn truth(&self) -> MutexGuard<'_, Truth> {
        lock(&self.truth)
    }

    pub(super) fn violation(&self, what: String) {
        self.truth().violations.push(what);
    }

    pub(super) fn tell(&self, what: String) {
        let mut truth = self.truth();
        let now = truth.now.0;
        truth.story.push(format!("{now} {what}"));
    }

    pub(super) fn facilitator(self: &Arc<Self>, disk: &Disk) -> facilitator::Fake {
        let (world, disk) = (self.clone(), disk.clone());
        Arc::new(move |operation, body| {
            let (world, disk) = (world.clone(), disk.clone());
            let (operation, body) = (operation.to_owned(), body.to_vec());
            Box::pin(async move {
                // What is asked at the same time may be answered in any order.
                let pauses_of_100 = if operation == "settle" { 40 } else { 15 };
                if Dice::of(world.seed, &body).percent(pauses_of_100) {
                    tokio::time::sleep(DELAY).await;
                }
                let mut truth = world.truth();
                if disk.is_cut() {
                    return Err(CallError::Unreachable("no power".to_owned()));
                }
                let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
                let authorization = authorization(&asked);
                let mut dice = truth.dice(world.seed, &operation, &authorization.1.0);
                match operation.as_str() {
                    "verify" => truth.verify(&body, &authorization, &mut dice),
                    "settle" => {
                        if truth.leaving.remove(&authorization).is_some() {
                            truth.see("a buyer leaves during its settlement");
                        }
                        truth.settle(&body, &asked, authorization, &disk, &mut dice)
                    }
                    _ => Ok(truth.honest(&operation, &body)),
                }
            })
        })
    }

    pub(super) fn chain(self: &Arc<Self>, disk: &Disk) -> chain::Fake {
        let (world, disk) = (self.clone(), disk.clone());
        Arc::new(move |inquiry, now| {
            let mut truth = world.truth();
            let mut dice = truth.dice(world.seed, "fate", &inquiry.asked.nonce.0);
            if disk.is_cut() || (!truth.is_kind && dice.percent(30)) {
                return Err(ChainError::TimedOut);
            }
            Ok(truth.fate(inquiry, now))
        })
    }

    pub(super) fn web(self: &Arc<Self>) -> web::Fake {
        let world = self.clone();
        Arc::new(move |address| {
            if address.ends_with("/robots.txt") {
                return Ok((404, Vec::new()));
            }
            let mut truth = world.truth();
            let mut dice = truth.dice(world.seed, "page", address.as_bytes());
            if !truth.is_kind && dice.percent(35) {
                return Err(match dice.below(7) {
                    0 => FetchError::Refused,
                    1 => FetchError::Lost,
                    2 => FetchError::TimedOut,
                    3 => FetchError::Truncated,
                    4 => FetchError::Status(404),
                    5 => FetchError::NameNotFound,
                    _ => return Ok((503, b"later".to_vec())),
                });
            }
            let page = match address.ends_with("/app") {
                true => "<!doctype html><title>App</title><div id=root></div>".to_owned(),
                false => format!("Boats come and go at {address}."),
            };
            Ok((200, page.into_bytes()))
        })
    }

    /// Whether the service that starts now has a browser.
    pub(super) fn has_browser(&self) -> bool {
        let mut truth = self.truth();
        truth.is_kind || !truth.dice(self.seed, "browser", b"").percent(15)
    }

    /// The browser with its worker and guard, each of which is lost at times.
    pub(super) fn renderer(self: &Arc<Self>, disk: &Disk) -> render::Fake {
        let (world, disk) = (self.clone(), disk.clone());
        Arc::new(move |address, wants_picture| {
            let mut truth = world.truth();
            let mut dice = truth.dice(world.seed, "render", address.as_bytes());
            let lost = |kind, detail: &str| RenderError::Failed {
                kind,
                detail: detail.to_owned(),
            };
            if disk.is_cut() {
                return Err(lost(FailureKind::BrowserLost, "no power"));
            }
            if !truth.is_kind && dice.percent(45) {
                truth.see("browser, worker or guard lost during a render");
                return Err(match dice.below(8) {
                    0 => RenderError::Busy,
                    1 => RenderError::Unavailable("there is no worker".to_owned()),
                    2 => lost(FailureKind::BrowserLost, "the worker has ended"),
                    3 => lost(FailureKind::Crashed, "the page's process ended"),
                    4 => lost(FailureKind::NotOpened, "the guard is gone"),
                    5 => lost(FailureKind::Refused, "the guard says no"),
                    6 => lost(FailureKind::TimedOut, "the worker does not answer"),
                    _ => {
                        truth.see("power lost during a render");
                        disk.cut();
                        lost(FailureKind::BrowserLost, "no power")
                    }
                });
            }
            let picture = wants_picture.then(|| match truth.is_kind || dice.percent(60) {
                true => Ok(picture_of(address)),
                false => Err("the page's process ended".to_owned()),
            });
            Ok(rendered(address, picture))
        })
    }
}

/// A page as the browser shows it, with what came of its picture.
fn rendered(address: &str, picture: Option<Result<Vec<u8>, String>>) -> Rendered {
    let sentence = format!("{RENDERED} {address}. ");
    let html = format!(
        "<!doctype html><title>App</title><main><p>{}</p></main>",
        sentence.repeat(20)
    );
    Rendered {
        html: html.into_bytes(),
        facts: Facts {
            final_url: address.to_owned(),
            status: 200,
            settled: Settled::Quiet,
            is_cut: false,
            requests: 1,
            dialogs: 0,
            consent_dialogs: 0,
            browser: "Simulated/1".to_owned(),
            sandbox: None,
            screenshot: picture.as_ref().map(|picture| match picture {
                Ok(_) => Pictured::Taken {
                    shows_passage: false,
                },
                Err(reason) => Pictured::Failed(reason.clone()),
            }),
        },
        png: picture.and_then(Result::ok),
        render_ms: 5,
        refused: 0,
    }
}

/// A PNG by its first and last bytes.
fn picture_of(address: &str) -> Vec<u8> {
    let head = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x03\x20";
    let end = b"\0\0\0\0IEND\xae\x42\x60\x82";
    [head.as_slice(), address.as_bytes(), end].concat()
}

impl Truth {
    /// Dice for this call, whatever else is asked at the same time.
    fn dice(&mut self, seed: u64, operation: &str, thing: &[u8]) -> Dice {
        let number = self
            .calls
            .entry((operation.to_owned(), thing.to_vec()))
            .or_default();
        *number += 1;
        let mut name = operation.as_bytes().to_vec();
        name.extend_from_slice(thing);
        name.extend_from_slice(&number.to_be_bytes());
        Dice::of(seed, &name)
    }

    pub(super) fn see(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    /// What has been paid in all.
    pub(super) fn paid_units(&self) -> u64 {
        self.moved.values().map(|moved| moved.units).sum()
    }

    fn honest(&mut self, operation: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let method = if operation == "supported" {
            "GET"
        } else {
            "POST"
        };
        let path = format!("/{operation}");
        let answer = self.ledger.answer(method, &path, body, self.now);
        (answer.status, answer.json)
    }

    fn verify(
        &mut self,
        body: &[u8],
        authorization: &Authorization,
        dice: &mut Dice,
    ) -> Result<(u16, Vec<u8>), CallError> {
        if !self.is_kind && dice.percent(12) {
            return match dice.below(5) {
                0 => Err(CallError::TimedOut),
                1 => Err(CallError::Cut("cut".to_owned())),
                2 => Ok((500, b"{}".to_vec())),
                3 => Ok((200, b"<html>".to_vec())),
                _ => Ok((
                    200,
                    json!({"isValid": true, "payer": Address([9; 20]).to_string()})
                        .to_string()
                        .into_bytes(),
                )),
            };
        }
        if self.ended_otherwise.contains_key(authorization) {
            let no =
                json!({"isValid": false, "invalidReason": "invalid_exact_evm_nonce_already_used"});
            return Ok((200, no.to_string().into_bytes()));
        }
        Ok(self.honest("verify", body))
    }

    fn settle(
        &mut self,
        body: &[u8],
        asked: &Value,
        authorization: Authorization,
        disk: &Disk,
        dice: &mut Dice,
    ) -> Result<(u16, Vec<u8>), CallError> {
        let is_first = self.note_settle(asked, authorization);
        let does = match self.is_kind {
            true => Does::Honest,
            false => does(is_first, dice),
        };
        let now = self.now.0;
        self.story
            .push(format!("{now}   settle of {authorization:?}: {does:?}"));
        match does {
            Does::Honest => Ok(self.move_money(body, authorization)),
            Does::Outrun(fate) => {
                if !self.moved.contains_key(&authorization) {
                    self.see("authorization ended otherwise");
                    self.ended_otherwise.insert(authorization, fate);
                }
                Ok(self.move_money(body, authorization))
            }
            Does::PowerLoss { moves } => {
                if moves {
                    self.move_money(body, authorization);
                }
                self.see("power lost during a settlement");
                disk.cut();
                Err(CallError::Cut("no power".to_owned()))
            }
            Does::Says { moves, reply } => {
                let honest = match moves {
                    true => Some(self.move_money(body, authorization)),
                    false => None,
                };
                self.see(if moves {
                    "doubtful answer after the money moved"
                } else {
                    "doubtful answer and nothing moved"
                });
                say(reply, honest, authorization)
            }
        }
    }

    /// What every settle must be, whatever comes of it.
    fn note_settle(&mut self, asked: &Value, authorization: Authorization) -> bool {
        if self.turned_down.contains(&authorization) {
            self.violations
                .push("settled after its buyer was told by a 402 that it was not".to_owned());
        }
        match self.told.get(&authorization) {
            None => {
                self.told.insert(authorization, asked.clone());
                true
            }
            Some(before) => {
                if before != asked {
                    self.violations
                        .push("a settle was repeated with another body".to_owned());
                }
                false
            }
        }
    }

    /// What the facilitator does with an honest settle.
    fn move_money(&mut self, body: &[u8], authorization: Authorization) -> (u16, Vec<u8>) {
        if self.ended_otherwise.contains_key(&authorization) {
            let no = no(authorization, "invalid_exact_evm_nonce_already_used");
            return (200, no.to_string().into_bytes());
        }
        let (status, answer) = self.honest("settle", body);
        let said: Value = serde_json::from_slice(&answer).unwrap_or_default();
        if said["success"] == true && !self.moved.contains_key(&authorization) {
            let asked: Value = serde_json::from_slice(body).unwrap_or_default();
            let value = &asked["paymentPayload"]["payload"]["authorization"]["value"];
            self.see("settlement");
            self.check_nothing_is_owed(authorization);
            self.moved.insert(
                authorization,
                Moved {
                    transaction: said["transaction"].as_str().unwrap_or_default().to_owned(),
                    units: value
                        .as_str()
                        .and_then(|text| text.parse().ok())
                        .unwrap_or(0),
                    at: self.now,
                },
            );
        }
        (status, answer)
    }

    /// No buyer is charged for a purchase while the goods of an earlier charge for it have not been received.
    fn check_nothing_is_owed(&mut self, charged: Authorization) {
        let Some(purchase) = self.purchases.get(&charged) else {
            return;
        };
        if self.forgets || self.ambiguous.contains(purchase) {
            return;
        }
        let is_same = |other: &Authorization| self.purchases.get(other) == Some(purchase);
        let mut earlier = self.moved.iter().filter(|(other, _)| is_same(other));
        if earlier.any(|(_, moved)| !self.received.contains(&moved.transaction)) {
            let (buyer, wish) = purchase;
            self.violations.push(format!(
                "buyer {buyer} is charged for {wish:?} while an earlier charge for it is owed"
            ));
        }
    }

    /// An answer has reached its buyer.
    pub(super) fn note_received(&mut self, reply: &Reply) {
        let header = reply.headers.get("payment-response");
        let settlement = header.and_then(|value| decode_settlement(value.to_str().ok()?));
        if let (200, Some(settlement)) = (reply.status, settlement) {
            self.received.insert(settlement.transaction);
        }
    }

    fn fate(&mut self, inquiry: &Inquiry, now: UnixSeconds) -> Fate {
        let authorization = (inquiry.asked.from, inquiry.asked.nonce);
        if let Some(moved) = self.moved.get(&authorization) {
            let transaction = TransactionHash::parse(&moved.transaction);
            return match transaction {
                Some(transaction) if self.now >= moved.at.plus(DEPTH_SECONDS) => {
                    Fate::Paid { transaction }
                }
                _ => Fate::Open,
            };
        }
        if let Some(fate) = self.ended_otherwise.get(&authorization) {
            return *fate;
        }
        let over = inquiry.valid_before.plus(EXPIRY_MARGIN_SECONDS);
        if self.now >= over && now >= over {
            self.see("authorization never used");
            return Fate::NeverUsed;
        }
        Fate::Open
    }
}

/// What a facilitator that is not kind does. A first settle that fails for a reason that proves it must be true, for
/// nobody can guard against that lie; later ones may say anything.
fn does(is_first: bool, dice: &mut Dice) -> Does {
    if dice.percent(45) {
        return Does::Honest;
    }
    if dice.percent(12) {
        let moves = dice.percent(50);
        return Does::PowerLoss { moves };
    }
    if dice.percent(6) {
        return Does::Outrun(*dice.pick(&[Fate::Canceled, Fate::Elsewhere]));
    }
    if dice.percent(8) {
        let reply = Says::Reason("insufficient_funds");
        let moves = !is_first && dice.percent(50);
        return Does::Says { moves, reply };
    }
    let reply = *dice.pick(&[
        Says::TimedOut,
        Says::TimedOut,
        Says::Cut,
        Says::Status(500),
        Says::Status(502),
        Says::Status(302),
        Says::Status(429),
        Says::Garbage,
        Says::Endless,
        Says::WrongPayer,
        Says::WrongNetwork,
        Says::WrongAmount,
        Says::NoTransaction,
        Says::SuccessUnder500,
        Says::Pending,
        Says::Reason("unexpected_settle_error"),
        Says::Reason("invalid_transaction_state"),
        // Reasons that no list knows, each where the money may have moved.
        Says::Reason("settlement_timeout"),
        Says::Reason("settle_exact_node_failure"),
        Says::Reason("relayer_shrugged"),
        Says::NotReached,
    ]);
    let moves = reply != Says::NotReached && dice.percent(50);
    Does::Says { moves, reply }
}

fn say(
    reply: Says,
    honest: Option<(u16, Vec<u8>)>,
    authorization: Authorization,
) -> Result<(u16, Vec<u8>), CallError> {
    let truth = match &honest {
        Some((_, json)) => serde_json::from_slice(json).unwrap_or_default(),
        None => json!({"success": true, "payer": authorization.0.to_string(),
            "transaction": format!("0x{}", "ab".repeat(32)), "network": "eip155:8453"}),
    };
    let altered = |name: &str, value: Value| {
        let mut said: Value = truth.clone();
        said[name] = value;
        Ok((200, said.to_string().into_bytes()))
    };
    match reply {
        Says::TimedOut => Err(CallError::TimedOut),
        Says::Cut => Err(CallError::Cut("cut".to_owned())),
        Says::NotReached => Err(CallError::Unreachable("no route".to_owned())),
        Says::Endless => Err(CallError::Garbled("longer than 65536 bytes".to_owned())),
        Says::Status(status) => Ok((status, b"{\"error\":\"no\"}".to_vec())),
        Says::Garbage => Ok((200, b"<html><title>Bad gateway</title></html>".to_vec())),
        Says::WrongPayer => altered("payer", json!(Address([0xde; 20]).to_string())),
        Says::WrongNetwork => altered("network", json!("eip155:1")),
        Says::WrongAmount => altered("amount", json!("1")),
        Says::NoTransaction => altered("transaction", json!("")),
        Says::SuccessUnder500 => Ok((500, truth.to_string().into_bytes())),
        Says::Pending => {
            let mut said = no(authorization, "settlement_pending");
            said["transaction"] = json!(format!("0x{}", "ab".repeat(32)));
            Ok((200, said.to_string().into_bytes()))
        }
        Says::Reason(reason) => Ok((200, no(authorization, reason).to_string().into_bytes())),
    }
}

fn no((from, _): Authorization, reason: &str) -> Value {
    json!({"success": false, "errorReason": reason, "payer": from.to_string(), "transaction": "",
        "network": "eip155:8453"})
}

fn authorization(asked: &Value) -> Authorization {
    let authorization = &asked["paymentPayload"]["payload"]["authorization"];
    let read = |name: &str| serde_json::from_value(authorization[name].clone());
    let from = serde_json::from_value(authorization["from"].clone()).unwrap_or(Address([0; 20]));
    (from, read("nonce").unwrap_or(Nonce([0; 32])))
}
