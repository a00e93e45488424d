//! Money under simulation. Each history is drawn from a seed: buyers who are honest, sign again, replay, farm credits or
//! sign two purchases with one nonce; upstreams that time out, break, lie or lose the answer; losses of power at any
//! operation of the disk, restarts and jumps of the clock. The service is the true one from its handlers to its
//! tables. `CONTEXT402_SEED=n` begins with the history of seed n.

mod buyers;
mod service;
mod world;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::runtime::Runtime;

use crate::config::Config;
use crate::domain::bundle::Bundle;
use crate::domain::check::CheckDepth;
use crate::domain::evm::Nonce;
use crate::domain::level::Level;
use crate::domain::pack::Pack;
use crate::domain::payment::State;
use crate::domain::tier::Tier;
use crate::domain::time::UnixSeconds;
use crate::outside::chance;
use crate::tests::dice::Dice;
use crate::tests::disk::{Disk, Faults};
use crate::tests::simulation::buyers::{Buyers, Message, Signed, Wish};
use crate::tests::simulation::service::{SETTINGS, Service, config, shifted};
use crate::tests::simulation::world::World;
use crate::tests::tell;

const HISTORIES: u64 = 1_000;
const BEGINNING: UnixSeconds = UnixSeconds(1_795_248_000);
const BUYERS: usize = 3;

const ONE: &str = "http://news.sample-site.org/1";
const TWO: &str = "http://news.sample-site.org/2";
const THREE: &str = "http://news.sample-site.org/3";
/// Its text is made by a script.
const APP: &str = "http://news.sample-site.org/app";

#[rustfmt::skip]
const WISHES: [Wish; 19] = [
    Wish { targets: &["http://127.0.0.1:4020/sample"], level: Level::Tier(Tier::Starter), with: &[] },
    Wish { targets: &[ONE], level: Level::Tier(Tier::Fresh), with: &[] },
    Wish { targets: &[ONE], level: Level::Tier(Tier::Cached), with: &[] },
    Wish { targets: &[TWO], level: Level::Tier(Tier::Fresh), with: &[] },
    Wish { targets: &[TWO], level: Level::Tier(Tier::Basic), with: &[] },
    Wish { targets: &[THREE], level: Level::Tier(Tier::Deep), with: &[] },
    Wish { targets: &[THREE], level: Level::Pack(Pack::Quick), with: &[] },
    Wish { targets: &[ONE, TWO], level: Level::Tier(Tier::Basic), with: &[] },
    Wish { targets: &[TWO, ONE], level: Level::Tier(Tier::Fresh), with: &[] },
    Wish { targets: &[TWO, THREE], level: Level::Bundle(Bundle::Scout), with: &[] },
    Wish { targets: &[ONE, THREE], level: Level::Check(CheckDepth::Quick), with: &[] },
    Wish { targets: &[APP], level: Level::Tier(Tier::Fresh), with: &[] },
    Wish { targets: &[APP], level: Level::Tier(Tier::Deep), with: &[] },
    Wish { targets: &[APP], level: Level::Pack(Pack::Deep), with: &[] },
    Wish { targets: &[ONE], level: Level::Tier(Tier::Fresh), with: &[("query", "\"Where do boats go?\""), ("max_tokens", "100")] },
    Wish { targets: &[ONE, TWO], level: Level::Tier(Tier::Fresh), with: &[("min_pages", "1")] },
    Wish { targets: &[ONE, APP], level: Level::Tier(Tier::Fresh), with: &[] },
    Wish { targets: &[THREE, "text:Boats come and go."], level: Level::Bundle(Bundle::Scout), with: &[] },
    Wish { targets: &[TWO, "text:It is open."], level: Level::Check(CheckDepth::Standard), with: &[] },
];
/// What must have happened in so many histories.
const OCCURRENCES: [&str; 21] = [
    "a buyer comes back",
    "a buyer leaves during its settlement",
    "a buyer loses an answer",
    "answer 200",
    "answer 402",
    "answer 409",
    "answer 503",
    "authorization ended otherwise",
    "authorization never used",
    "browser, worker or guard lost during a render",
    "delivered as a browser shows it",
    "delivered with a page unread",
    "delivered with a picture",
    "delivered without its picture",
    "doubtful answer after the money moved",
    "doubtful answer and nothing moved",
    "loss of power",
    "power lost during a render",
    "power lost during a settlement",
    "restart",
    "settlement",
];
const IDENTIFIERS: [&str; 2] = ["order-number-0001", "order-number-0002"];

/// One history under way.
struct History {
    world: Arc<World>,
    config: Config,
    dice: Dice,
    /// There but for the moments between two of them.
    service: Option<Service>,
    buyers: Buyers,
    /// How far the service's clock is ahead of the world's.
    ahead: i64,
    /// How far it may be: a clock that is wrong by more than answers are kept takes them from buyers.
    jumps: &'static [i64],
}

const SMALL_JUMPS: &[i64] = &[-20, -3, 0, 0, 3, 20];
const LARGE_JUMPS: &[i64] = &[-1_000, -20, 0, 0, 20, 1_000, 90_000];

impl History {
    async fn begin(seed: u64) -> History {
        let mut dice = Dice::new(seed);
        let world = World::new(seed, BEGINNING);
        let config = config(!dice.percent(15));
        let jumps = match dice.percent(25) {
            true => LARGE_JUMPS,
            false => SMALL_JUMPS,
        };
        let mut history = History {
            buyers: Buyers::new(world.clone(), BUYERS),
            world,
            config,
            dice,
            service: None,
            ahead: 0,
            jumps,
        };
        history.world.truth().forgets = jumps == LARGE_JUMPS;
        history.start(new_file()).await;
        history
    }

    /// Starts until it stays up.
    async fn start(&mut self, mut file: Vec<u8>) {
        for attempt in 0.. {
            let faults = Faults {
                cut_at: (attempt < 2 && self.dice.percent(10)).then(|| 1 + self.dice.below(40)),
                ..Faults::default()
            };
            let dice = Dice::new(self.dice.throw());
            let (world, config) = (&self.world, &self.config);
            match Service::start(world, config, file, (faults, dice), self.ahead).await {
                Ok(service) => {
                    // Whatever was to fail later may fail now instead.
                    self.service = Some(service);
                    return;
                }
                Err(found) => file = found,
            }
        }
    }

    fn service(&self) -> &Service {
        self.service.as_ref().expect("a service that runs")
    }

    /// Starts again if the power has failed.
    async fn mend(&mut self) {
        self.service().rest().await;
        if self.service().is_cut() {
            let service = self.service.take().expect("a service that ran");
            let found = service.lose_power().await;
            self.world.truth().see("loss of power");
            self.world.tell("power lost".to_owned());
            self.start(found).await;
        }
    }

    fn pass(&mut self, seconds: u64) {
        let mut truth = self.world.truth();
        truth.now = truth.now.plus(seconds);
        let now = shifted(truth.now, self.ahead);
        drop(truth);
        self.service().set_clock(now);
    }

    async fn step(&mut self) {
        let service_now = self.service().app.now().0;
        self.world
            .tell(format!("step, the service's clock says {service_now}"));
        match self.dice.below(26) {
            20..=23 => self.come_back().await,
            24..=25 => self.sign_side_by_side().await,
            0..=5 => self.buy().await,
            6..=8 => self.repeat().await,
            9 => self.replay().await,
            10 => self.sign_twice().await,
            11..=13 => self.redeem().await,
            14 => self.guess().await,
            15 => {
                let seconds = *self.dice.pick(&[1, 6, 20, 60, 150]);
                self.pass(seconds);
            }
            16 => {
                let seconds = *self.dice.pick(&[400, 1_000, 4_000]);
                self.pass(seconds);
            }
            17 => {
                self.ahead = *self.dice.pick(self.jumps);
                self.pass(0);
            }
            18 => self.restart().await,
            _ => {
                let operations = 1 + self.dice.below(60);
                self.service().lose_power_after(operations);
            }
        }
        if self.dice.percent(40) && !self.service().is_cut() {
            self.service().work_off().await;
        }
        self.mend().await;
        self.buyers.check_charges();
    }

    fn wish(&mut self) -> Wish {
        *self.dice.pick(&WISHES)
    }

    fn buyer(&mut self) -> usize {
        usize::try_from(self.dice.below(BUYERS as u64)).expect("few buyers")
    }

    /// A payment that was signed before; rather one whose end its buyer does not know.
    fn known(&mut self) -> Option<usize> {
        let all = 0..self.buyers.signed.len();
        let open: Vec<usize> = all
            .clone()
            .filter(|&number| !self.buyers.signed[number].is_over)
            .collect();
        let choices = match open.is_empty() || self.dice.percent(25) {
            true => all.collect(),
            false => open,
        };
        (!choices.is_empty()).then(|| *self.dice.pick(&choices))
    }

    async fn send(&mut self, messages: Vec<Message>) {
        let service = self.service.as_ref().expect("a service that runs");
        self.buyers.send(service, messages).await;
    }

    async fn sign(&mut self, buyer: usize, wish: Wish, nonce: Option<Nonce>) -> Option<usize> {
        let identifier = self.dice.percent(20).then(|| *self.dice.pick(&IDENTIFIERS));
        let service = self.service.as_ref().expect("a service that runs");
        let how = (nonce, identifier);
        self.buyers.sign(service, buyer, wish, how).await
    }

    /// The same message once, or a few times at once.
    fn times(&mut self, message: Message) -> Vec<Message> {
        let count = match self.dice.percent(75) {
            true => 1,
            false => 2 + self.dice.below(3),
        };
        (0..count).map(|_| message.clone()).collect()
    }

    async fn buy(&mut self) {
        let (buyer, wish) = (self.buyer(), self.wish());
        if let Some(signed) = self.sign(buyer, wish, None).await {
            self.buyers.want(buyer, wish);
            let messages = self.times(Message::Payment { signed, wish });
            self.send(messages).await;
        }
    }

    /// The same payment again, or a newly signed one for the same purchase.
    async fn repeat(&mut self) {
        let Some(signed) = self.known() else { return };
        let (buyer, wish) = (
            self.buyers.signed[signed].buyer,
            self.buyers.signed[signed].wish,
        );
        if self.dice.percent(25) {
            return self.sign_anew(buyer, wish).await;
        }
        let messages = self.times(Message::Payment { signed, wish });
        self.send(messages).await;
    }

    /// Signs several payments for one purchase and sends them at the same time.
    async fn sign_side_by_side(&mut self) {
        let (buyer, wish) = (self.buyer(), self.wish());
        let mut messages = Vec::new();
        for _ in 0..2 + self.dice.below(2) {
            if let Some(signed) = self.sign(buyer, wish, None).await {
                // A client that waits wants each of them. The world checks that nothing is charged while goods are owed.
                self.buyers.want(buyer, wish);
                messages.push(Message::Payment { signed, wish });
            }
        }
        self.send(messages).await;
    }

    /// What official clients do when their request has failed: a new signature for the same purchase.
    async fn sign_anew(&mut self, buyer: usize, wish: Wish) {
        self.buyers.want_still(buyer, wish);
        if let Some(signed) = self.sign(buyer, wish, None).await {
            self.send(vec![Message::Payment { signed, wish }]).await;
        }
    }

    /// Waits until the background has looked, and perhaps until the service has started again; then comes for what is
    /// still missing, with the same payment as answers advise or with a new one.
    async fn come_back(&mut self) {
        let Some(signed) = self.known() else {
            return self.buy().await;
        };
        let seconds = *self.dice.pick(&[5, 25, 35, 45, 130]);
        self.pass(seconds);
        self.service().work_off().await;
        self.mend().await;
        if self.dice.percent(30) {
            self.restart().await;
        }
        let Signed { buyer, wish, .. } = self.buyers.signed[signed].clone();
        self.world.truth().see("a buyer comes back");
        match self.dice.percent(60) {
            true => self.sign_anew(buyer, wish).await,
            false => self.send(vec![Message::Payment { signed, wish }]).await,
        }
    }

    async fn restart(&mut self) {
        self.world.truth().see("restart");
        let service = self.service.take().expect("a service that runs");
        let file = service.stop().await;
        self.start(file).await;
    }

    /// A known payment for something else, or in other bytes.
    async fn replay(&mut self) {
        let Some(signed) = self.known() else { return };
        let wish = self.wish();
        let message = match self.dice.percent(50) {
            true => Message::Payment { signed, wish },
            false => Message::Respelt { signed },
        };
        let messages = self.times(message);
        self.send(messages).await;
    }

    /// Two purchases with one nonce, at once or one after the other.
    async fn sign_twice(&mut self) {
        let (first, second) = (self.wish(), self.wish());
        let nonce = Nonce(self.dice.bytes());
        let buyer = self.buyer();
        let mut messages = Vec::new();
        for wish in [first, second] {
            let service = self.service.as_ref().expect("a service that runs");
            let how = (Some(nonce), None);
            if let Some(signed) = self.buyers.sign(service, buyer, wish, how).await {
                self.buyers.want(buyer, wish);
                messages.push(Message::Payment { signed, wish });
            }
        }
        if self.dice.percent(50) {
            return self.send(messages).await;
        }
        for message in messages {
            self.send(vec![message]).await;
            if self.service().is_cut() {
                return;
            }
        }
    }

    async fn redeem(&mut self) {
        if self.buyers.credits.is_empty() {
            return self.buy().await;
        }
        let (credit, known) = self.dice.pick(&self.buyers.credits).clone();
        let wish = match self.dice.percent(85) {
            true => self.buyers.signed[known.payment].wish,
            false => self.wish(),
        };
        let mut messages = self.times(Message::Credit { credit, wish });
        if self.dice.percent(20) {
            let signed = known.payment;
            messages.push(Message::Payment { signed, wish });
        }
        self.send(messages).await;
    }

    async fn guess(&mut self) {
        let credit = format!("rc_{}", hex::encode(self.dice.bytes::<16>()));
        let wish = self.wish();
        self.send(vec![Message::Credit { credit, wish }]).await;
    }

    /// Everybody becomes kind, the power stays, and anyone who is owed something comes for it.
    async fn end(mut self) -> Arc<World> {
        self.world.truth().is_kind = true;
        self.ahead = 0;
        let service = self.service.take().expect("a service that runs");
        let file = match self.dice.percent(50) {
            true => service.stop().await,
            false => service.lose_power().await,
        };
        self.restart_for_good(file).await;
        // Who is owed two answers to one purchase gets the older one first, even if a loss of power made the service
        // forget that it was sent.
        let rounds_max = 3 + self.buyers.signed.len();
        for round in 0..rounds_max {
            if round >= 3 && self.buyers.unserved().is_empty() {
                break;
            }
            self.pass(12);
            self.service().work_off().await;
            for (authorization, messages) in self.buyers.unserved() {
                let same = |signed: &&Signed| signed.authorization == authorization;
                let signed = self.buyers.signed.iter().find(same);
                let signed = signed.expect("it was signed").clone();
                // Of two purchases with one nonce, only the messages themselves tell which was charged.
                let is_one_purchase = messages
                    .iter()
                    .all(|sent| sent.wish().is_none_or(|wish| wish == signed.wish));
                if !signed.is_contested && is_one_purchase && self.dice.percent(50) {
                    self.sign_anew(signed.buyer, signed.wish).await;
                    continue;
                }
                for message in messages {
                    self.send(vec![message]).await;
                }
            }
            self.buyers.check_charges();
        }
        self.check_everybody_is_served().await;
        self.world.tell("the end".to_owned());
        for seconds in [1_200, 8_000, 200_000, 4_000, 4_000, 700_000] {
            self.pass(seconds);
            self.service().work_off().await;
        }
        self.check_payments().await;
        self.world
    }

    async fn restart_for_good(&mut self, file: Vec<u8>) {
        let dice = Dice::new(self.dice.throw());
        let how = (Faults::default(), dice);
        // With time to ask the chain.
        self.config = config(true);
        let started = Service::start(&self.world, &self.config, file, how, 0).await;
        self.service = Some(started.expect("no power is lost any more"));
    }

    /// Every buyer whose money has moved has the goods.
    async fn check_everybody_is_served(&self) {
        for (authorization, _) in self.buyers.unserved() {
            let payment = self.service().payment(authorization).await;
            let state = payment.as_ref().map(|payment| payment.state.clone());
            // A clock that was far ahead took the answer away.
            let was_late = self.jumps == LARGE_JUMPS
                && payment.is_some_and(|payment| payment.answer.is_none());
            match was_late {
                true => self.world.truth().see("came too late for the goods"),
                false => self.world.violation(format!(
                    "{authorization:?} was charged and not served: {state:?}"
                )),
            }
        }
    }

    /// The payments and the ledger say the same, and nothing is left open.
    async fn check_payments(&self) {
        let (payments, due) = self
            .service()
            .payments()
            .await
            .expect("the payments can be read");
        let mut wrong = Vec::new();
        let mut settled_units = 0;
        for payment in payments.values() {
            let ended = matches!(
                payment.state,
                State::Settled { .. } | State::Failed { .. } | State::Released
            );
            if !ended {
                wrong.push(format!("a payment stays {}", payment.state.name()));
            }
            if payment.credit.is_some() || payment.answer.is_some() {
                wrong.push(format!(
                    "a payment that is {} keeps something",
                    payment.state.name()
                ));
            }
            if let State::Settled { transaction, .. } = &payment.state {
                settled_units += payment.amount_units;
                let truth = self.world.truth();
                let mut moved = truth.moved.values();
                if !moved.any(|moved| moved.transaction == *transaction) {
                    wrong.push(
                        "a settlement is among the payments and not in the ledger".to_owned(),
                    );
                }
            }
        }
        let paid_units = self.world.truth().paid_units();
        if settled_units != paid_units {
            wrong.push(format!(
                "the payments say {settled_units} units, the ledger {paid_units}"
            ));
        }
        if !due.is_empty() {
            wrong.push(format!("{} looks are still due", due.len()));
        }
        for what in wrong {
            self.world.violation(what);
        }
    }
}

/// What `init` makes, made once.
fn new_file() -> Vec<u8> {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        let disk = Disk::new();
        let opened = SETTINGS.open_on(disk.clone());
        drop(opened.expect("a new file"));
        disk.live()
    })
    .clone()
}

/// Lives a history to its end; gives what it has seen, or what went wrong.
fn live(runtime: &Runtime, seed: u64) -> Result<BTreeMap<&'static str, u64>, Vec<String>> {
    chance::repeatable::seed(seed);
    let world = runtime.block_on(async {
        let mut history = History::begin(seed).await;
        let steps = 6 + history.dice.below(9);
        for _ in 0..steps {
            history.step().await;
        }
        history.end().await
    });
    let truth = world.truth();
    match truth.violations.is_empty() {
        true => Ok(truth.seen.clone().into_iter().collect()),
        false => Err([truth.story.clone(), truth.violations.clone()].concat()),
    }
}

/// The seed of the first history, and how many there are.
fn plan() -> (u64, u64) {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let seed =
        number("CONTEXT402_SEED").unwrap_or_else(|| u64::from(u32::from_be_bytes(chance::bytes())));
    (seed, number("CONTEXT402_HISTORIES").unwrap_or(HISTORIES))
}

#[test]
fn no_history_loses_money_or_gives_goods_away() {
    let (seed, histories) = plan();
    tell(&format!(
        "CONTEXT402_SEED={seed} repeats these {histories} histories"
    ));
    let next = AtomicU64::new(0);
    let one_after_another = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let mut seen = BTreeMap::<&'static str, u64>::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= histories {
                return seen;
            }
            let of_history = seed.wrapping_add(number);
            match live(&runtime, of_history) {
                Ok(more) => more
                    .into_iter()
                    .for_each(|(what, count)| *seen.entry(what).or_default() += count),
                Err(violations) => panic!("CONTEXT402_SEED={of_history}: {violations:#?}"),
            }
        }
    };
    let mut seen = BTreeMap::<&'static str, u64>::new();
    std::thread::scope(|scope| {
        let threads = [
            scope.spawn(one_after_another),
            scope.spawn(one_after_another),
        ];
        for thread in threads {
            let more = thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            more.into_iter()
                .for_each(|(what, count)| *seen.entry(what).or_default() += count);
        }
    });
    tell(&format!("{seen:?}"));
    // A simulation in which nothing goes wrong shows nothing.
    for what in OCCURRENCES {
        assert!(
            seen.contains_key(what) || histories < HISTORIES,
            "in {histories} histories there was no {what}"
        );
    }
}
