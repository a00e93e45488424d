//! The real program is killed over and over, at random moments and at each named point of a sale, while buyers buy. The
//! facilitator's own ledger is the truth: whoever was charged gets what was paid for, and nothing is honoured twice.
//! `CONTEXT402_SEED=n` repeats the moments, as far as real processes can repeat anything.

use std::collections::{HashMap, HashSet};
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::ExitStatusExt as _;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use context402::outside::chance;
use context402::outside::clock::Clock;

use crate::harness::ask::read_all;
use crate::harness::{ARTICLE, Answer, Ask, Page, Rig, Says, Service, Wallet, Wish};

const ROUNDS: usize = 200;
/// Services that are killed side by side; most of the time they only start.
const WORKERS: usize = 2;
const BUYERS: usize = 4;
/// Requests of a buyer in a round.
const REQUESTS: usize = 5;
/// A named point that is not met by then is not met in this round.
const POINT_TIME_MAX: Duration = Duration::from_millis(1_500);
const FLAKY: &str = "http://news.sample-site.org/flaky";
/// The signal of `kill -9`.
const KILLED: i32 = 9;

/// More rounds for the points that were not met: which sales a round has is chance.
const FURTHER_ROUNDS: usize = 40;

/// Where the program can be made to end.
const POINTS: [&str; 7] = [
    "verified",
    "fetched",
    "held",
    "redeeming",
    "kept",
    "settled",
    "recorded",
];

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// One purchase with a wallet of its own, and what its buyer has seen of it.
struct Purchase {
    wallet: Wallet,
    /// All that was signed for it: official clients sign anew when a request has failed.
    headers: Vec<String>,
    wish: Wish,
    credits: Vec<String>,
    /// Transaction and body of every delivery.
    delivered: Vec<(String, Vec<u8>)>,
    delivered_for_credit: Vec<String>,
    /// Told by a 402 that nothing was charged; not presented again.
    is_turned_down: bool,
}

impl Purchase {
    fn sign(address: SocketAddr, wish: Wish) -> Option<Purchase> {
        let wallet = Wallet::new();
        let header = signed(address, &wallet, &wish)?;
        Some(Purchase {
            wallet,
            headers: vec![header],
            wish,
            credits: Vec::new(),
            delivered: Vec::new(),
            delivered_for_credit: Vec::new(),
            is_turned_down: false,
        })
    }

    fn is_open(&self) -> bool {
        self.delivered.is_empty() && !self.is_turned_down
    }

    /// A new signature for the same purchase.
    fn sign_anew(&mut self, address: SocketAddr) {
        self.headers
            .extend(signed(address, &self.wallet, &self.wish));
    }

    /// Sends the newest payment, or a credit, and remembers the answer. `false` when there was none.
    fn try_once(&mut self, address: SocketAddr, by_credit: bool) -> bool {
        let credit = self.credits.last().filter(|_| by_credit).cloned();
        let ask = match &credit {
            Some(credit) => self.wish.retry(address, credit),
            None => {
                let header = self.headers.last().expect("it was signed");
                self.wish.ask(address).paid(header)
            }
        };
        let Some(answer) = try_send(&ask) else {
            return false;
        };
        if let Some(credit) = answer.header("x-service-retry-credit") {
            self.credits.push(credit.to_owned());
        }
        match answer.status {
            200 => {
                let transaction = answer.settlement()["transaction"].clone();
                let transaction = transaction.as_str().unwrap_or_default().to_owned();
                self.delivered.push((transaction, answer.body));
                self.delivered_for_credit.extend(credit);
            }
            402 => self.is_turned_down = true,
            400 | 409 | 503 => {}
            status => panic!("{status}: {answer:?}"),
        }
        true
    }
}

/// A payment header for the price of a purchase.
fn signed(address: SocketAddr, wallet: &Wallet, wish: &Wish) -> Option<String> {
    let challenge = try_send(&wish.ask(address))?;
    let challenge =
        context402::x402::payer::ReceivedChallenge::decode(challenge.must("payment-required"))
            .expect("a challenge");
    let payment = wallet.sign_challenge(&challenge, Clock::System.now(), None);
    Some(payment.header)
}

/// A whole answer, or none.
fn try_send(ask: &Ask) -> Option<Answer> {
    let mut stream = TcpStream::connect(ask.address()).ok()?;
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .ok()?;
    stream.write_all(&ask.bytes()).ok()?;
    let bytes = read_all(&mut stream);
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let length = text.split("content-length: ").nth(1)?;
    let length: usize = length.split("\r\n").next()?.trim().parse().ok()?;
    (bytes.len() == head + 4 + length).then(|| Answer::parse(&bytes))
}

/// How a round ends.
#[derive(Clone, Copy, Debug)]
enum End {
    At(&'static str),
    After(Duration),
}

fn end_of(round: usize, dice: &mut Dice) -> End {
    // Every other round ends at a named point.
    match round % 2 {
        0 => End::At(POINTS[(round / 2) % POINTS.len()]),
        _ => End::After(Duration::from_millis(5 + dice.below(250))),
    }
}

/// What the facilitator does in a round.
fn says(dice: &mut Dice) -> Says {
    match dice.below(6) {
        0 | 1 => Says::Honest,
        2 | 3 => Says::Slow(Duration::from_millis(20 + dice.below(80))),
        4 => Says::Lost,
        _ => Says::Status(503),
    }
}

/// A purchase of any kind, of a page that is there or of one that comes and goes.
fn picked(dice: &mut Dice) -> Wish {
    let target = if dice.below(3) == 0 { FLAKY } else { ARTICLE };
    let mut kinds = Wish::all(target);
    let kind = dice.below(kinds.len() as u64);
    kinds.swap_remove(usize::try_from(kind).expect("a small number"))
}

/// One buyer's round: what was left open before, then something new.
fn shop(address: SocketAddr, purchases: &Mutex<Vec<Purchase>>, mut dice: Dice) {
    for _ in 0..REQUESTS {
        let open = {
            let mut all = purchases.lock().expect("no panic before");
            let found = all.iter().position(Purchase::is_open);
            found.map(|place| all.swap_remove(place))
        };
        let wish = picked(&mut dice);
        let purchase = match open {
            Some(purchase) if dice.below(4) > 0 => Some(purchase),
            Some(purchase) => {
                purchases.lock().expect("no panic before").push(purchase);
                Purchase::sign(address, wish)
            }
            None => Purchase::sign(address, wish),
        };
        let Some(mut purchase) = purchase else { return };
        if dice.below(3) == 0 {
            purchase.sign_anew(address);
        }
        let answered = purchase.try_once(address, dice.below(2) == 0);
        purchases.lock().expect("no panic before").push(purchase);
        if !answered {
            return;
        }
    }
}

struct KillTest {
    rig: Rig,
    purchases: Mutex<Vec<Purchase>>,
    dice: Dice,
    met: HashMap<&'static str, usize>,
}

/// What a test has seen: how often each named point was met, and what was delivered of each kind.
#[derive(Default)]
struct Seen {
    met: HashMap<&'static str, usize>,
    delivered: HashMap<&'static str, usize>,
}

impl KillTest {
    fn new(seed: u64) -> KillTest {
        let mut rig = Rig::today_with(|resolved| {
            resolved.set("limits.sales_per_minute", "0");
            resolved.set("limits.credits_per_minute", "0");
        });
        assert!(rig.stop(), "the service stops in order");
        KillTest {
            rig,
            purchases: Mutex::new(Vec::new()),
            dice: Dice(seed),
            met: HashMap::new(),
        }
    }

    fn keep_time(&self) {
        let late = Clock::System.now().since(self.rig.now());
        self.rig.pass(late);
    }

    fn round(&mut self, end: End) {
        self.keep_time();
        self.rig.facilitator.settles(says(&mut self.dice));
        let page = match self.dice.below(2) {
            0 => Page::Status(503),
            _ => Page::html("The page that came back", "It was away for a while."),
        };
        self.rig.site.put("/flaky", page);
        let more: &[(&str, &str)] = match &end {
            End::At(point) => &[("lab.crash_at", point)],
            End::After(_) => &[],
        };
        let mut service = Service::start(self.rig.resolved(), more);
        let seeds: Vec<u64> = (0..BUYERS).map(|_| self.dice.below(u64::MAX)).collect();
        let purchases = &self.purchases;
        thread::scope(|scope| {
            let buyers: Vec<_> = seeds
                .into_iter()
                .map(|seed| {
                    let address = service.address;
                    scope.spawn(move || shop(address, purchases, Dice(seed)))
                })
                .collect();
            match end {
                End::After(time) => thread::sleep(time),
                End::At(_) => {
                    let late = Instant::now() + POINT_TIME_MAX;
                    while buyers.iter().any(|buyer| !buyer.is_finished()) && Instant::now() < late {
                        thread::sleep(Duration::from_millis(2));
                    }
                }
            }
            service.cut();
            for buyer in buyers {
                buyer.join().expect("no buyer panics");
            }
        });
        // At a named point it aborts by itself.
        let ended = service.end().signal() != Some(KILLED);
        if let (End::At(point), true) = (end, ended) {
            *self.met.entry(point).or_default() += 1;
        }
    }

    /// Everybody gets what is owed, and the ledger is held against what everybody has seen.
    fn close(mut self) -> Seen {
        self.keep_time();
        self.rig.facilitator.settles(Says::Honest);
        let page = Page::html("The page that came back", "It was away for a while.");
        self.rig.site.put("/flaky", page);
        let mut service = Service::start(self.rig.resolved(), &[]);
        let mut purchases = self.purchases.into_inner().expect("no panic before");
        for purchase in purchases.iter_mut().filter(|purchase| purchase.is_open()) {
            if self.dice.below(2) == 0 {
                purchase.sign_anew(service.address);
            }
            for attempt in 0..6 {
                assert!(
                    purchase.try_once(service.address, attempt == 5),
                    "it is up now"
                );
                if !purchase.is_open() {
                    break;
                }
                thread::sleep(Duration::from_millis(50));
            }
        }
        service.terminate();
        service.end();
        self.rig.run();
        let book = self.rig.operator("/operator/payments").json();
        let mut transactions = HashSet::new();
        for purchase in &purchases {
            judge(&self.rig, purchase, &mut transactions);
        }
        let settled = self.rig.facilitator.settlements();
        assert_eq!(
            transactions.len(),
            settled,
            "every settlement was delivered"
        );
        assert!(settled > purchases.len() / 4, "{settled} were settled");
        let payments = book["payments"].as_array().expect("a list").len();
        assert!(payments >= settled.min(50), "{payments} in the book");
        let mut delivered = HashMap::new();
        for purchase in purchases.iter().filter(|one| !one.delivered.is_empty()) {
            *delivered.entry(purchase.wish.path).or_default() += 1;
        }
        Seen {
            met: self.met,
            delivered,
        }
    }
}

/// Charged once and served, or not charged and not served.
fn judge(rig: &Rig, purchase: &Purchase, transactions: &mut HashSet<String>) {
    let who = purchase.wallet.address();
    let spent = rig.facilitator.spent(who);
    let expected = match purchase.delivered.is_empty() {
        true => 0,
        false => purchase.wish.units,
    };
    assert_eq!(
        spent,
        expected,
        "{who}: charged {spent} for {:?}, delivered {} times, turned down: {}",
        purchase.wish,
        purchase.delivered.len(),
        purchase.is_turned_down
    );
    let Some((transaction, body)) = purchase.delivered.first() else {
        return;
    };
    assert!(
        purchase
            .delivered
            .iter()
            .all(|(other, bytes)| other == transaction && bytes == body),
        "{who}: the same goods each time"
    );
    assert!(
        transactions.insert(transaction.clone()),
        "{who}: somebody else's settlement"
    );
    let credits: HashSet<_> = purchase.delivered_for_credit.iter().collect();
    assert_eq!(
        credits.len(),
        purchase.delivered_for_credit.len(),
        "{who}: a credit was redeemed twice"
    );
}

/// Seen even when the test succeeds.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[test]
fn two_hundred_kills_lose_nothing_and_honour_nothing_twice() {
    let seed = std::env::var("CONTEXT402_SEED")
        .ok()
        .and_then(|text| text.parse::<u64>().ok())
        .unwrap_or_else(|| u64::from(u32::from_be_bytes(chance::bytes())));
    tell(&format!("CONTEXT402_SEED={seed}"));
    let seen: Vec<Seen> = thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| {
                scope.spawn(move || {
                    let mut test = KillTest::new(seed + worker as u64);
                    for round in 0..ROUNDS / WORKERS {
                        let end = end_of(round * WORKERS + worker, &mut test.dice);
                        test.round(end);
                    }
                    for _ in 0..FURTHER_ROUNDS {
                        let is_new = |point: &&&str| !test.met.contains_key(**point);
                        let Some(point) = POINTS.iter().find(is_new) else {
                            break;
                        };
                        test.round(End::At(point));
                    }
                    test.close()
                })
            })
            .collect();
        let seen = workers.into_iter().map(|worker| worker.join());
        seen.map(|seen| seen.expect("nothing is lost")).collect()
    });
    for point in POINTS {
        let count: usize = seen.iter().filter_map(|seen| seen.met.get(point)).sum();
        tell(&format!("ended at {point}: {count} times"));
        assert!(count > 0, "no round ended at {point}");
    }
    let paths: HashSet<&str> = Wish::all(ARTICLE).iter().map(|wish| wish.path).collect();
    for path in paths {
        let of_path = seen.iter().filter_map(|seen| seen.delivered.get(path));
        let count: usize = of_path.sum();
        tell(&format!("delivered by {path}: {count}"));
        assert!(count > 0, "nothing was delivered by {path}");
    }
}
