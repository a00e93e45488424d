//! Buyers, honest and other, and what they have been told. Every answer is held against what has really happened.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::domain::amount::Amount;
use crate::domain::evm::Nonce;
use crate::domain::ids::CreditId;
use crate::domain::level::{Level, LineItem, Product};
use crate::domain::pack::Pack;
use crate::http::Reply;
use crate::outside::chance;
use crate::store::credit_hash;
use crate::tests::dice::Dice;
use crate::tests::simulation::APP;
use crate::tests::simulation::service::{Reading, Request, Service};
use crate::tests::simulation::world::{Authorization, RENDERED, World};
use crate::x402::eip3009::SecretKey;
use crate::x402::encoding;
use crate::x402::payer::{ReceivedChallenge, decode_settlement, usdc};

pub(super) const RETRY: &str = "/v1/x402/retry";

/// What is asked for: one source or two, a level, and what else the request says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Wish {
    /// Addresses, and texts of the buyer's own behind [`OWN`].
    pub(super) targets: &'static [&'static str],
    pub(super) level: Level,
    /// Further members of the request, each with its JSON.
    pub(super) with: &'static [(&'static str, &'static str)],
}

/// What stands before a text of the buyer's own.
const OWN: &str = "text:";

impl Wish {
    fn product(self) -> Product {
        self.level.product()
    }

    fn price_units(self) -> Option<u64> {
        let quantity = self.targets.len().min(self.product().quantity_max());
        Some(LineItem::new(self.level, quantity)?.price().units())
    }

    fn body(self) -> String {
        let (word, level) = (self.product().level_word(), self.level.name());
        let sources = self
            .targets
            .iter()
            .map(|target| match target.strip_prefix(OWN) {
                Some(text) => json!({"text": text}),
                None => json!(target),
            });
        let sources: Value = sources.collect();
        let mut body = match (self.level, self.targets) {
            (Level::Check(_), _) => json!({"text": "It is open.", "sources": sources, word: level}),
            (Level::Bundle(_), _) => {
                json!({"question": "Is it open?", "sources": sources, word: level})
            }
            (Level::Pack(Pack::Deep), [target]) => {
                json!({"target_url": target, word: level, "screenshot": true})
            }
            (_, [target]) => json!({"target_url": target, word: level}),
            (_, targets) => json!({"target_urls": targets, word: level}),
        };
        for (member, value) in self.with {
            body[*member] = serde_json::from_str(value).expect("JSON");
        }
        body.to_string()
    }

    /// Whether an answer names the addresses that were asked for, where it names them.
    fn is_answered_by(self, body: &Value) -> bool {
        let of = |list: &str, member: &str| -> Vec<String> {
            let rows = body[list].as_array().into_iter().flatten();
            let named = rows.filter_map(|row| row[member].as_str());
            named
                .filter(|name| !name.starts_with("urn:"))
                .map(str::to_owned)
                .collect()
        };
        let mut named = match (self.level, self.targets) {
            (Level::Tier(_), [_, _, ..]) => of("pages", "target_url"),
            (Level::Bundle(_), _) => of("sources", "target_url"),
            (Level::Check(_), _) => of("sources", "url"),
            _ => body["target_url"]
                .as_str()
                .into_iter()
                .map(str::to_owned)
                .collect(),
        };
        let mut wanted: Vec<&str> = self.targets.to_vec();
        wanted.retain(|target| !target.starts_with(OWN));
        if self.takes_fewer() {
            let is_some = !named.is_empty();
            named.extend(of("unread", "target_url"));
            named.sort_unstable();
            wanted.sort_unstable();
            return is_some && named == wanted;
        }
        named == wanted
    }

    /// Whether some of its pages will do.
    fn takes_fewer(self) -> bool {
        self.with.iter().any(|(member, _)| *member == "min_pages")
    }
}

/// A signed payment, and the purchase that it is meant for.
#[derive(Clone, Debug)]
pub(super) struct Signed {
    pub(super) buyer: usize,
    pub(super) wish: Wish,
    pub(super) authorization: Authorization,
    header: String,
    /// For what, and in which bytes, it was presented.
    sent: Vec<Message>,
    /// Its nonce was signed for something else too: anyone who comes first has it.
    pub(super) is_contested: bool,
    /// Its request got goods: sent again, it must not be charged for the same purchase once more.
    is_served: bool,
    /// Payments of which its request was told that it gets their goods if they were settled: those without a known end.
    bound_to: Vec<usize>,
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
    prices: HashMap<Wish, ReceivedChallenge>,
    pub(super) signed: Vec<Signed>,
    pub(super) credits: Vec<(String, KnownCredit)>,
    /// Goods by the transaction that paid for them: what, and which bytes.
    goods: HashMap<String, (Wish, [u8; 32])>,
    spent_credits: HashSet<String>,
    /// How often each buyer has wanted each purchase: it may be charged so often and no more, however often it signs.
    wanted: HashMap<(usize, Wish), usize>,
    dice: Dice,
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

impl Message {
    /// The purchase that it names, where it may be another than the one that was signed for.
    pub(super) fn wish(&self) -> Option<Wish> {
        match self {
            Message::Payment { wish, .. } | Message::Credit { wish, .. } => Some(*wish),
            Message::Respelt { .. } => None,
        }
    }
}

/// Whether a buyer waits for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stay {
    LeavesAtOnce,
    LeavesDuringSettlement,
    LosesTheAnswer,
    Reads,
}

impl Buyers {
    pub(super) fn new(world: Arc<World>, count: usize) -> Buyers {
        let dice = Dice::of(world.seed, b"buyers");
        let key = |_| SecretKey::from_bytes(chance::bytes()).expect("below the curve's order");
        Buyers {
            world,
            keys: (0..count).map(key).collect(),
            prices: HashMap::new(),
            signed: Vec::new(),
            credits: Vec::new(),
            goods: HashMap::new(),
            spent_credits: HashSet::new(),
            wanted: HashMap::new(),
            dice,
        }
    }

    /// The buyer wants the purchase once more.
    pub(super) fn want(&mut self, buyer: usize, wish: Wish) {
        *self.wanted.entry((buyer, wish)).or_default() += 1;
    }

    /// The buyer signs anew for a purchase: the same one, unless it has all that it wanted.
    pub(super) fn want_still(&mut self, buyer: usize, wish: Wish) {
        let wanted = self.wanted.get(&(buyer, wish)).copied().unwrap_or(0);
        if self.served(buyer, wish) >= wanted {
            self.want(buyer, wish);
        }
    }

    /// How often the buyer has got the purchase, each for a transaction of its own.
    fn served(&self, buyer: usize, wish: Wish) -> usize {
        let truth = self.world.truth();
        let is_own = |authorization: &Authorization| {
            let same = |signed: &&Signed| signed.authorization == *authorization;
            self.signed
                .iter()
                .find(same)
                .is_some_and(|signed| signed.buyer == buyer)
        };
        let own = truth
            .moved
            .iter()
            .filter(|(authorization, _)| is_own(authorization));
        own.filter(|(_, moved)| {
            self.goods
                .get(&moved.transaction)
                .is_some_and(|goods| goods.0 == wish)
        })
        .count()
    }

    /// Nobody is charged more often than they wanted something.
    pub(super) fn check_charges(&self) {
        let mut charged: HashMap<(usize, Wish), usize> = HashMap::new();
        let mut truth = self.world.truth();
        for authorization in truth.moved.keys() {
            let same = |signed: &&Signed| signed.authorization == *authorization;
            if let Some(signed) = self.signed.iter().find(same) {
                *charged.entry((signed.buyer, signed.wish)).or_default() += 1;
            }
        }
        for (purchase, charged) in charged {
            let wanted = self.wanted.get(&purchase).copied().unwrap_or(0);
            if charged > wanted && !truth.ambiguous.contains(&purchase) {
                let (buyer, wish) = purchase;
                truth.violations.push(format!(
                    "buyer {buyer} wanted {wish:?} {wanted} times and was charged {charged} times"
                ));
            }
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
            .choose(Amount::from_units(20_000_000), &usdc())
            .expect("an offer that can be paid");
        let is_contested = nonce.is_some();
        let nonce = nonce.unwrap_or_else(|| Nonce(chance::bytes()));
        let now = self.world.truth().now;
        let payment = challenge.sign(&choice, &self.keys[buyer], now, nonce, identifier);
        let authorization = (payment.authorization.from, nonce);
        if is_contested {
            let same = |signed: &&mut Signed| signed.authorization == authorization;
            let ambiguous = &mut self.world.truth().ambiguous;
            for signed in self.signed.iter_mut().filter(same) {
                signed.is_contested = true;
                ambiguous.insert((buyer, signed.wish));
            }
            ambiguous.insert((buyer, wish));
        }
        self.world.tell(format!(
            "  payment {} of buyer {buyer} for {wish:?}: {authorization:?}, contested: {is_contested}",
            self.signed.len()
        ));
        let purchases = &mut self.world.truth().purchases;
        purchases.insert(authorization, (buyer, wish));
        self.signed.push(Signed {
            buyer,
            wish,
            authorization,
            header: payment.header,
            sent: Vec::new(),
            is_contested,
            is_served: false,
            bound_to: Vec::new(),
            is_over: false,
        });
        Some(self.signed.len() - 1)
    }

    /// The price of a purchase is the same all the time, and asked for once.
    async fn price(&mut self, service: &Service, wish: Wish) -> Option<ReceivedChallenge> {
        if let Some(known) = self.prices.get(&wish) {
            return Some(known.clone());
        }
        let request = Request {
            path: wish.product().path(),
            headers: Vec::new(),
            body: wish.body(),
            waiting: None,
            reading: Reading::AtOnce,
        };
        let reply = service.ask(vec![request]).await.pop().flatten()?;
        if reply.status != 402 {
            self.world
                .violation(format!("an unpaid request got {}", reply.status));
            return None;
        }
        let challenge = reply.headers.get("payment-required")?.to_str().ok()?;
        let challenge = ReceivedChallenge::decode(challenge).expect("a challenge");
        self.prices.insert(wish, challenge.clone());
        Some(challenge)
    }

    /// Sends messages at the same time and judges the answers. Gives the statuses.
    pub(super) async fn send(
        &mut self,
        service: &Service,
        messages: Vec<Message>,
    ) -> Vec<Option<u16>> {
        let mut requests = Vec::with_capacity(messages.len());
        let stays_here = Arc::new(());
        for message in &messages {
            let stay = self.stay();
            let mut request = self.request(message);
            request.waiting = Some(match (stay, self.of(message)) {
                (Stay::LeavesAtOnce, _) => Weak::new(),
                (Stay::LeavesDuringSettlement, Some(signed)) => {
                    let authorization = self.signed[signed].authorization;
                    let leaving = &mut self.world.truth().leaving;
                    Arc::downgrade(leaving.entry(authorization).or_default())
                }
                _ => Arc::downgrade(&stays_here),
            });
            request.reading = match stay {
                Stay::LosesTheAnswer => Reading::Never,
                _ if self.dice.percent(25) => Reading::Late,
                _ => Reading::AtOnce,
            };
            requests.push(request);
        }
        let replies = service.ask(requests).await;
        self.world.truth().leaving.clear();
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
                // What was true when it was said may be over since, by another of these messages: the facilitator may
                // turn a payment down that it takes when it is asked again at once.
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

    fn stay(&mut self) -> Stay {
        let is_kind = self.world.truth().is_kind;
        let stay = match self.dice.below(12) {
            0 if !is_kind => Stay::LeavesAtOnce,
            1 if !is_kind => Stay::LosesTheAnswer,
            2 if !is_kind => Stay::LeavesDuringSettlement,
            _ => Stay::Reads,
        };
        if stay != Stay::Reads {
            self.world.truth().see("a buyer loses an answer");
            self.world.tell(format!("  the next buyer {stay:?}"));
        }
        stay
    }

    fn request(&mut self, message: &Message) -> Request {
        let paid = |header: String, wish: Wish| Request {
            path: wish.product().path(),
            headers: vec![("payment-signature", header)],
            body: wish.body(),
            waiting: None,
            reading: Reading::AtOnce,
        };
        if let Some(signed) = self.of(message) {
            // Whatever it was told before, its owner wants it to be taken now.
            let authorization = self.signed[signed].authorization;
            self.world.truth().turned_down.remove(&authorization);
            let sent = &mut self.signed[signed].sent;
            if !matches!(message, Message::Credit { .. }) && !sent.contains(message) {
                sent.push(message.clone());
            }
            let (buyer, own) = (self.signed[signed].buyer, self.signed[signed].wish);
            let wish = self.wish(message);
            if !self.signed[signed].is_served && !self.stands_for_earlier(signed) {
                self.want_still(buyer, own);
            }
            if wish != own {
                let ambiguous = &mut self.world.truth().ambiguous;
                ambiguous.extend([(buyer, own), (buyer, wish)]);
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
                waiting: None,
                reading: Reading::AtOnce,
            },
        }
    }

    /// Whether a payment may not buy, because it is bound to an earlier one that was settled.
    fn stands_for_earlier(&self, signed: usize) -> bool {
        let bound = &self.signed[signed];
        let truth = self.world.truth();
        let mut earlier = bound.bound_to.iter().map(|number| &self.signed[*number]);
        earlier.any(|earlier| truth.moved.contains_key(&earlier.authorization))
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
        if let (Some(signed), true) = (signed, body["earlier_payment"].is_object()) {
            let bound = &self.signed[signed];
            let earlier = self.signed[..signed]
                .iter()
                .enumerate()
                .filter(|(_, earlier)| {
                    (earlier.buyer, earlier.wish) == (bound.buyer, bound.wish) && !earlier.is_over
                });
            let open: Vec<usize> = earlier.map(|(number, _)| number).collect();
            self.signed[signed].bound_to.extend(open);
        }
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
            let payment = match body["earlier_payment"].is_object() {
                true => self.holder(service, &credit).await.unwrap_or(payment),
                false => payment,
            };
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
            _ if is_alone => {
                let authorization = signed.map(|signed| self.signed[signed].authorization);
                let payment = match authorization {
                    Some(authorization) => service.payment(authorization).await,
                    None => None,
                };
                let may_move = payment.is_some_and(|payment| payment.may_have_moved());
                self.judge_refusal(message, signed, &body, may_move);
            }
            _ => {}
        }
    }

    /// The payment that a credit was issued on.
    async fn holder(&self, service: &Service, credit: &str) -> Option<usize> {
        let hash = credit_hash(CreditId::parse(credit)?);
        for (number, signed) in self.signed.iter().enumerate() {
            let payment = service.payment(signed.authorization).await;
            let issued = payment.and_then(|payment| payment.credit);
            if issued.is_some_and(|issued| issued.hash == hash) {
                return Some(number);
            }
        }
        None
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
        let known = self.signed[signed].clone();
        let stated = self.wish(message);
        // What the request of a credit does not state is as it was bought.
        let is_partly_stated = matches!(message, Message::Credit { .. })
            && (stated.targets, stated.level) == (known.wish.targets, known.wish.level)
            && stated.with.is_empty();
        let wish = match is_partly_stated {
            true => known.wish,
            false => stated,
        };
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
        need(wish.is_answered_by(body), "another target");
        let word = wish.product().level_word();
        // A check names the depth at which it was made: without the entailment model only words are compared.
        let is_of_words = matches!(wish.level, Level::Check(_)) && body[word] == "quick";
        let is_level = body[word] == wish.level.name() || is_of_words;
        need(is_level, "another level");
        if wish.takes_fewer() && body["unread"] != json!([]) {
            self.world.truth().see("delivered with a page unread");
        }
        if wish.targets.contains(&APP) {
            // Nobody pays for the shell of an application.
            let texts = [&body["markdown"], &body["citations"], &body["pages"]];
            let shows = texts.iter().any(|text| text.to_string().contains(RENDERED));
            need(shows, "a page without its text");
            self.world.truth().see("delivered as a browser shows it");
        }
        if wish.level == Level::Pack(Pack::Deep) {
            let (image, warning) = (&body["screenshot"]["image"], &body["screenshot"]["warning"]);
            need(
                image.is_object() != warning.is_object(),
                "neither picture nor warning",
            );
            self.world.truth().see(match image.is_object() {
                true => "delivered with a picture",
                false => "delivered without its picture",
            });
        }
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
        self.signed[signed].is_served = true;
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
    fn judge_refusal(
        &mut self,
        message: &Message,
        signed: Option<usize>,
        body: &Value,
        may_move: bool,
    ) {
        let code = body["error"]["code"].as_str().unwrap_or_default();
        let about_the_request = ["retry_credit_invalid", "rate_limited", "invalid_payment"];
        let Some(signed) = signed else { return };
        let known = &mut self.signed[signed];
        if about_the_request.contains(&code) || known.is_contested {
            return;
        }
        let authorization = known.authorization;
        let (moved, sent_to_settle) = {
            let truth = self.world.truth();
            (
                truth.moved.contains_key(&authorization),
                truth.told.contains_key(&authorization),
            )
        };
        if body["error"]["charged"] == true && !sent_to_settle && !may_move {
            self.world.violation(format!(
                "{message:?}: {code} says that it was charged, but it is not up for settlement"
            ));
        }
        if moved && body["error"]["charged"] == false {
            self.world.violation(format!(
                "{message:?}: {code} says that nothing was charged, but it was"
            ));
        }
        if code == "settlement_unknown" && may_move && body["error"]["charged"] != true {
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
}
