//! Buyers, honest and other, and what they have been told. Every answer is held against what has really happened.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::domain::amount::Amount;
use crate::domain::level::Product;
use crate::domain::time::UnixSeconds;
use crate::http::Reply;
use crate::outside::chance;
use crate::tests::simulation::service::{Request, Service};
use crate::tests::simulation::world::{Authorization, World};
use crate::x402::address::Nonce;
use crate::x402::eip3009::SecretKey;
use crate::x402::encoding;
use crate::x402::payer::{ReceivedChallenge, decode_settlement, usdc};

pub(super) const RETRY: &str = "/v1/x402/retry";

/// What is asked for: an address, and a tier or a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Wish {
    pub(super) target: &'static str,
    pub(super) level: &'static str,
}

impl Wish {
    fn product(self) -> Product {
        let mut products = Product::ALL.into_iter();
        let product = products.find(|product| product.level(self.level).is_some());
        product.expect("a tier or a pack")
    }

    fn price_units(self) -> Option<u64> {
        let level = self.product().level(self.level);
        level.map(|level| level.price().units())
    }

    fn body(self) -> String {
        json!({"target_url": self.target, self.product().level_word(): self.level}).to_string()
    }
}

/// A signed payment, and the purchase that it is meant for.
#[derive(Clone, Debug)]
pub(super) struct Signed {
    pub(super) wish: Wish,
    pub(super) authorization: Authorization,
    header: String,
    /// For what, and in which bytes, it was presented.
    sent: Vec<Message>,
    /// Its nonce was signed for something else too: whoever comes first has it.
    is_contested: bool,
    /// The buyer knows how it ended.
    pub(super) is_over: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct KnownCredit {
    pub(super) payment: usize,
}

/// All buyers of a history, with everything they remember.
#[derive(Debug)]
pub(super) struct Buyers {
    world: Arc<World>,
    keys: Vec<SecretKey>,
    prices: HashMap<&'static str, ReceivedChallenge>,
    pub(super) signed: Vec<Signed>,
    pub(super) credits: Vec<(String, KnownCredit)>,
    /// Goods by the transaction that paid for them: what, and which bytes.
    goods: HashMap<String, (Wish, [u8; 32])>,
    spent_credits: HashSet<String>,
}

/// What a buyer sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// A payment, for the purchase it was signed for or for another.
    Payment {
        signed: usize,
        wish: Wish,
    },
    /// The same authorization in other bytes.
    Respelt {
        signed: usize,
    },
    Credit {
        credit: String,
        wish: Wish,
    },
}

impl Buyers {
    pub(super) fn new(world: Arc<World>, count: usize) -> Buyers {
        let key = |_| SecretKey::from_bytes(chance::bytes()).expect("below the curve's order");
        Buyers {
            world,
            keys: (0..count).map(key).collect(),
            prices: HashMap::new(),
            signed: Vec::new(),
            credits: Vec::new(),
            goods: HashMap::new(),
            spent_credits: HashSet::new(),
        }
    }

    /// Asks for the price and signs it; `None` when there is no answer.
    pub(super) async fn sign(
        &mut self,
        service: &Service,
        buyer: usize,
        wish: Wish,
        (nonce, identifier): (Option<Nonce>, Option<&str>),
    ) -> Option<usize> {
        let challenge = self.price(service, wish).await?;
        let choice = challenge
            .choose(Amount::from_units(1_000_000), &usdc())
            .expect("an offer that can be paid");
        let is_contested = nonce.is_some();
        let nonce = nonce.unwrap_or_else(|| Nonce(chance::bytes()));
        let now = self.world.truth().now;
        let payment = challenge.sign(&choice, &self.keys[buyer], now, nonce, identifier);
        let authorization = (payment.authorization.from, nonce);
        if is_contested {
            let same = |signed: &&mut Signed| signed.authorization == authorization;
            for signed in self.signed.iter_mut().filter(same) {
                signed.is_contested = true;
            }
        }
        self.world.tell(format!(
            "  payment {} of buyer {buyer} for {wish:?}: {authorization:?}, contested: {is_contested}",
            self.signed.len()
        ));
        self.signed.push(Signed {
            wish,
            authorization,
            header: payment.header,
            sent: Vec::new(),
            is_contested,
            is_over: false,
        });
        Some(self.signed.len() - 1)
    }

    /// The price of a tier is the same all the time, and asked for once.
    async fn price(&mut self, service: &Service, wish: Wish) -> Option<ReceivedChallenge> {
        if let Some(known) = self.prices.get(wish.level) {
            return Some(known.clone());
        }
        let request = Request {
            path: wish.product().path(),
            headers: Vec::new(),
            body: wish.body(),
        };
        let reply = service.ask(vec![request]).await.pop().flatten()?;
        if reply.status != 402 {
            self.world
                .violation(format!("an unpaid request got {}", reply.status));
            return None;
        }
        let challenge = reply.headers.get("payment-required")?.to_str().ok()?;
        let challenge = ReceivedChallenge::decode(challenge).expect("a challenge");
        self.prices.insert(wish.level, challenge.clone());
        Some(challenge)
    }

    /// Sends messages at the same time and judges the answers. Gives the statuses.
    pub(super) async fn send(
        &mut self,
        service: &Service,
        messages: Vec<Message>,
    ) -> Vec<Option<u16>> {
        let mut requests = Vec::with_capacity(messages.len());
        for message in &messages {
            requests.push(self.request(message));
        }
        let replies = service.ask(requests).await;
        let statuses: Vec<Option<u16>> = replies
            .iter()
            .map(|reply| reply.as_ref().map(|reply| reply.status))
            .collect();
        for (place, (message, reply)) in messages.iter().zip(replies).enumerate() {
            let told = reply.as_ref().map(|reply| {
                let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
                (reply.status, body["error"]["code"].clone())
            });
            self.world.tell(format!("  {message:?}: {told:?}"));
            if let Some(reply) = reply {
                // What was true when it was said may be over since, by another of these messages: the facilitator may turn
                // a payment down that it takes when it is asked again at once.
                let of = self.of(message);
                let others = messages.iter().zip(&statuses).enumerate();
                let is_outdated = others
                    .filter(|(other, (message, _))| *other != place && self.of(message) == of)
                    .any(|(_, (_, status))| *status != Some(402));
                let is_credit = matches!(message, Message::Credit { .. });
                if reply.status == 402 && is_outdated && !is_credit {
                    continue;
                }
                let is_alone = messages.len() == 1;
                self.judge(service, message, &reply, is_alone).await;
            }
        }
        statuses
    }

    fn request(&mut self, message: &Message) -> Request {
        let paid = |header: String, wish: Wish| Request {
            path: wish.product().path(),
            headers: vec![("payment-signature", header)],
            body: wish.body(),
        };
        if let Some(signed) = self.of(message) {
            // Whatever it was told before, its owner wants it to be taken now.
            let authorization = self.signed[signed].authorization;
            self.world.truth().turned_down.remove(&authorization);
            let sent = &mut self.signed[signed].sent;
            if !matches!(message, Message::Credit { .. }) && !sent.contains(message) {
                sent.push(message.clone());
            }
        }
        match message {
            Message::Payment { signed, wish } => paid(self.signed[*signed].header.clone(), *wish),
            Message::Respelt { signed } => {
                let signed = &self.signed[*signed];
                let bytes = encoding::decode(&signed.header).expect("base64");
                let payload: Value = serde_json::from_slice(&bytes).expect("JSON");
                let respelt = serde_json::to_vec_pretty(&payload).expect("JSON");
                paid(encoding::encode(&respelt), signed.wish)
            }
            Message::Credit { credit, wish } => Request {
                path: RETRY,
                headers: vec![("x-service-retry-credit", credit.clone())],
                body: wish.body(),
            },
        }
    }

    /// The payment that a message is about.
    fn of(&self, message: &Message) -> Option<usize> {
        match message {
            Message::Payment { signed, .. } | Message::Respelt { signed } => Some(*signed),
            Message::Credit { credit, .. } => {
                let known = self.credits.iter().find(|(known, _)| known == credit);
                known.map(|(_, known)| known.payment)
            }
        }
    }

    async fn judge(&mut self, service: &Service, message: &Message, reply: &Reply, is_alone: bool) {
        let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let signed = self.of(message);
        let header = |name: &str| {
            let value = reply.headers.get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        self.world.truth().see(match reply.status {
            200 => "answer 200",
            402 => "answer 402",
            409 => "answer 409",
            500 => "answer 500",
            503 => "answer 503",
            _ => "answer 4xx",
        });
        if let (Some(credit), Some(payment)) = (header("x-service-retry-credit"), signed)
            && !self.credits.iter().any(|(known, _)| *known == credit)
        {
            self.credits.push((credit, KnownCredit { payment }));
        }
        match reply.status {
            200 => {
                let settlement =
                    header("payment-response").and_then(|text| decode_settlement(&text));
                let transaction = settlement.map(|settlement| settlement.transaction);
                self.judge_goods(
                    message,
                    signed,
                    &transaction.unwrap_or_default(),
                    &body,
                    reply,
                );
            }
            402 => self.judge_demand(service, message, signed).await,
            500 => self.world.violation(format!("{message:?} got 500: {body}")),
            _ if is_alone => self.judge_refusal(message, signed, &body),
            _ => {}
        }
    }

    /// What was delivered was paid for, once, by whom and for what it says.
    fn judge_goods(
        &mut self,
        message: &Message,
        signed: Option<usize>,
        transaction: &str,
        body: &Value,
        reply: &Reply,
    ) {
        let Some(signed) = signed else {
            return self
                .world
                .violation(format!("{message:?} was delivered for nothing"));
        };
        let (wish, known) = (self.wish(message), self.signed[signed].clone());
        let mut wrong = Vec::new();
        let mut need = |holds: bool, what: &str| {
            if !holds {
                wrong.push(what.to_owned());
            }
        };
        {
            let truth = self.world.truth();
            let mut paid = truth.moved.iter();
            let paid = paid.find(|(_, moved)| moved.transaction == transaction);
            need(paid.is_some(), "for a settlement that never was");
            if let Some((authorization, moved)) = paid {
                need(
                    authorization.0 == known.authorization.0,
                    "for somebody else's money",
                );
                need(Some(moved.units) == wish.price_units(), "at another price");
            }
        }
        need(body["target_url"] == wish.target, "another target");
        let word = wish.product().level_word();
        need(body[word] == wish.level, "another tier or pack");
        let bytes: [u8; 32] = Sha256::digest(&reply.body).into();
        match self.goods.get(transaction) {
            Some(before) => need(*before == (wish, bytes), "other goods than before"),
            None => {
                self.goods.insert(transaction.to_owned(), (wish, bytes));
            }
        }
        if let Message::Credit { credit, .. } = message {
            need(
                self.spent_credits.insert(credit.clone()),
                "for a credit that was spent",
            );
        }
        self.signed[signed].is_over = true;
        for what in wrong {
            self.world
                .violation(format!("{message:?}: delivered {what}"));
        }
    }

    /// A 402 says: you were not charged, sign anew. So it must be true, and stay true.
    async fn judge_demand(&mut self, service: &Service, message: &Message, signed: Option<usize>) {
        let Some(signed) = signed.filter(|_| !matches!(message, Message::Credit { .. })) else {
            return self
                .world
                .violation(format!("{message:?} was answered with a 402"));
        };
        let known = &mut self.signed[signed];
        // Whose nonce was signed for two things is told which of them came first.
        if known.is_contested {
            return;
        }
        known.is_over = true;
        let authorization = known.authorization;
        let state = service.payment(authorization).await;
        if state.is_some_and(|payment| payment.state.is_open()) {
            self.world.violation(format!(
                "{message:?}: a 402 while its settlement is not known"
            ));
        }
        let mut truth = self.world.truth();
        if truth.moved.contains_key(&authorization) {
            truth
                .violations
                .push(format!("{message:?}: a 402 for what was charged"));
        }
        truth.turned_down.insert(authorization);
    }

    /// "charged": false must be true, too, unless the refusal is about this request alone.
    fn judge_refusal(&mut self, message: &Message, signed: Option<usize>, body: &Value) {
        let code = body["error"]["code"].as_str().unwrap_or_default();
        let about_the_request = [
            "payment_replayed",
            "conflict",
            "retry_credit_invalid",
            "rate_limited",
            "invalid_payment",
        ];
        let Some(signed) = signed else { return };
        let known = &mut self.signed[signed];
        if about_the_request.contains(&code) || known.is_contested {
            return;
        }
        let moved = self.world.truth().moved.contains_key(&known.authorization);
        if moved && body["error"]["charged"] == false {
            self.world.violation(format!(
                "{message:?}: {code} says that nothing was charged, but it was"
            ));
        }
        if code == "settlement_unknown" && body["error"]["charged"] != true {
            self.world
                .violation(format!("{message:?}: an unknown settlement says uncharged"));
        }
    }

    fn wish(&self, message: &Message) -> Wish {
        match message {
            Message::Payment { wish, .. } | Message::Credit { wish, .. } => *wish,
            Message::Respelt { signed } => self.signed[*signed].wish,
        }
    }

    /// Each payment whose money has moved and whose goods nobody has seen, with all that was sent for it.
    pub(super) fn unserved(&self) -> Vec<(Authorization, Vec<Message>)> {
        let truth = self.world.truth();
        let served = |transaction: &str| self.goods.contains_key(transaction);
        let mut unserved: Vec<_> = truth
            .moved
            .iter()
            .filter(|(_, moved)| !served(&moved.transaction))
            .map(|(authorization, _)| {
                let same = |signed: &&Signed| signed.authorization == *authorization;
                let sent = self.signed.iter().filter(same);
                let sent = sent.flat_map(|signed| signed.sent.iter().cloned());
                (*authorization, sent.collect())
            })
            .collect();
        unserved.sort_unstable_by_key(|(authorization, _)| *authorization);
        unserved
    }

    /// When a payment runs out, as far as the buyer knows it.
    pub(super) fn now(&self) -> UnixSeconds {
        self.world.truth().now
    }
}
