//! What the machine can withhold: descriptors, room on the disk, a steady clock, and the time to finish.

use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::harness::ask::{Answer, connect, raw_bytes, read_all};
use crate::harness::{
    ARTICLE, FERRY, FERRY_CLAIM, FRESH, Page, Rig, Service, Wallet, price, until,
};

/// Far more connections than descriptors: the service keeps enough for its own work, sells on, and has them all back
/// afterwards.
#[test]
fn a_flood_of_connections_leaves_descriptors_for_sales() {
    let mut rig = Rig::today_with(|resolved| {
        resolved.set("limits.header_seconds_max", "1.5");
        resolved.set("payment.calls_max", "4");
        resolved.set("fetch.at_once_max", "4");
    });
    rig.in_process_behind("ulimit -n 200", |rig, service| {
        let log = service.log();
        buy(rig, &service, ARTICLE).expect(200);
        let before = service.descriptors();
        let held: Vec<TcpStream> = (0..400).map(|_| connect(service.address)).collect();
        // It waits for a place, which the flood's first connections give up after their time.
        for _ in 0..3 {
            buy(rig, &service, ARTICLE).expect(200);
        }
        assert!(service.descriptors() <= 200);
        drop(held);
        until("all are closed", || service.descriptors() <= before + 4);
        let log = [log, service.log()].concat().join("\n");
        assert!(!log.contains("could not accept"), "{log}");
    });
}

/// Whoever configures more connections than there are descriptors is told.
#[test]
fn too_few_descriptors_are_said_at_the_start() {
    let mut rig = Rig::today();
    let resolved = rig.resolved().clone();
    assert!(rig.stop());
    let service = Service::start_behind("ulimit -n 400", &resolved, &[]);
    let log = service.start_log.join("\n");
    assert!(log.contains("LimitNOFILE"), "{log}");
}

fn buy(rig: &Rig, service: &Service, target: &str) -> Answer {
    let payment = Wallet::new().sign_at(service.address, "fresh", rig.now(), None);
    service.order(target, "fresh").paid(&payment.header).send()
}

/// The data file cannot grow any more: no money moves for what cannot be written down, the process says so and ends for
/// its supervisor, and once there is room everything that was sold is there and selling goes on.
#[test]
fn a_data_file_that_cannot_grow_loses_nothing() {
    let mut rig = Rig::today();
    let wallet = Wallet::new();
    let bytes = std::fs::metadata(rig.resolved_data_file())
        .expect("it is there")
        .len();
    // In blocks of 512 bytes; the signal that would end the program is an error instead.
    let limit = format!("trap '' XFSZ; ulimit -f {}", (bytes + 400_000) / 512);
    let (sold, unsold) = (AtomicUsize::new(0), AtomicUsize::new(0));
    rig.in_process_behind(&limit, |rig, mut service| {
        for number in 0..400 {
            let path = format!("/page{number}");
            let text = format!("{number} ").repeat(4_000);
            rig.site
                .put(&path, Page::html("A page that takes room", &text));
            let target = format!("http://news.sample-site.org{path}");
            let payment = wallet.sign_at(service.address, "fresh", rig.now(), None);
            let ask = service.order(&target, "fresh").paid(&payment.header);
            let bytes = raw_bytes(service.address, &ask.bytes());
            if bytes.is_empty() {
                break;
            }
            match Answer::parse(&bytes).status {
                200 => sold.fetch_add(1, Ordering::SeqCst),
                503 | 500 => unsold.fetch_add(1, Ordering::SeqCst),
                status => panic!("{status}: {:?}", Answer::parse(&bytes)),
            };
            if unsold.load(Ordering::SeqCst) > 0 {
                break;
            }
        }
        assert!(!service.end().success());
        let log = service.log().join("\n");
        assert!(log.contains("the data file failed"), "{log}");
    });
    let sold = sold.load(Ordering::SeqCst) as u128;
    assert!(sold > 5, "{sold} were sold before the end");
    rig.pass(60);
    rig.work_off();
    let in_state = |state: &str| {
        let list = rig.operator(&format!("/operator/payments?state={state}&limit=1000"));
        list.expect(200).json()["payments"]
            .as_array()
            .map_or(0, Vec::len) as u128
    };
    until("everything has ended", || in_state("unknown") == 0);
    let settled = rig.facilitator.spent(wallet.address()) / price(FRESH);
    assert_eq!(in_state("settled"), settled, "of {sold} sold");
    assert!(
        settled >= sold && settled <= sold + 1,
        "{settled} settled, {sold} sold"
    );
    rig.buy(&wallet, ARTICLE, "fresh").expect(200);
}

/// A clock that jumps far ahead expires what it must; jumping back revives nothing of it.
#[test]
fn a_clock_that_jumps_revives_nothing() {
    let rig = Rig::start();
    rig.site.put("/second", Page::Status(503));
    let second = "http://news.sample-site.org/second";
    let wallet = Wallet::new();
    let credit = rig.buy(&wallet, second, "fresh").expect(503).credit();
    let sold = rig.buy_report(&Wallet::new(), FERRY, "standard", FERRY_CLAIM);
    let id = sold.expect(200).json()["report_id"].clone();
    let report = format!("/v1/proof-pack/reports/{}", id.as_str().expect("an id"));
    rig.get(&report).expect(200);
    rig.site
        .put("/second", Page::html("The second page", "Back again."));
    let years = 10 * 365 * 24 * 3_600;
    rig.pass(years);
    rig.retry(&credit, second, "fresh")
        .send()
        .refused(400, "retry_credit_invalid");
    rig.get(&report).expect(410);
    rig.work_off();
    rig.go_back(years);
    rig.retry(&credit, second, "fresh")
        .send()
        .refused(400, "retry_credit_invalid");
    let gone = rig.get(&report).status;
    assert!(matches!(gone, 404 | 410), "{gone}");
    // What is sold now is sold as ever.
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), 0);
}

/// A stop in the middle of many sales: who was answered was charged, who was not is charged once at most, and nothing is
/// left open.
#[test]
fn a_stop_in_the_middle_of_sales_leaves_none_half_way() {
    const BUYERS: usize = 12;
    let mut rig = Rig::today_with(|resolved| {
        resolved.set("fetch.seconds_max", "4");
        resolved.set("fetch.idle_seconds_max", "4");
    });
    let wallets: Vec<Wallet> = (0..BUYERS).map(|_| Wallet::new()).collect();
    let hosts = [
        "news.sample-site.org",
        "www.second-site.org",
        "www.third-site.org",
    ];
    for number in 0..BUYERS {
        let page = Page::html("A slow page", "It comes in its own time.");
        let time = Duration::from_millis(100 + 60 * number as u64);
        rig.site.put(&format!("/slow{number}"), page.slow(time));
    }
    let mut served = Vec::new();
    rig.in_process(&[], |rig, mut service| {
        // Idle, half asked and half read: none of them holds the stop up.
        let _idle: Vec<TcpStream> = (0..50).map(|_| connect(service.address)).collect();
        let asks: Vec<_> = wallets
            .iter()
            .enumerate()
            .map(|(number, wallet)| {
                let payment = wallet.sign_at(service.address, "fresh", rig.now(), None);
                let target = format!("http://{}/slow{number}", hosts[number % 3]);
                service.order(&target, "fresh").paid(&payment.header)
            })
            .collect();
        thread::scope(|scope| {
            let asked: Vec<_> = asks
                .iter()
                .map(|ask| scope.spawn(|| raw_bytes(ask.address(), &ask.bytes())))
                .collect();
            until("some are sold", || rig.facilitator.settlements() >= 2);
            service.terminate();
            served = asked
                .into_iter()
                .map(|asked| asked.join().expect("no panic"))
                .collect();
        });
        assert!(service.end().success());
    });
    rig.pass(60);
    rig.work_off();
    let open = rig.operator("/operator/payments?state=unknown").json();
    assert_eq!(open["payments"].as_array().map(Vec::len), Some(0), "{open}");
    for (wallet, bytes) in wallets.iter().zip(&served) {
        let spent = rig.facilitator.spent(wallet.address());
        match bytes.is_empty() {
            true => assert!(spent <= price(FRESH), "{spent}"),
            false => match Answer::parse(bytes).status {
                200 => assert_eq!(spent, price(FRESH)),
                503 => assert!(spent <= price(FRESH), "{spent}"),
                status => panic!("{status}"),
            },
        }
    }
    let all = served.iter().filter(|bytes| !bytes.is_empty());
    assert!(all.count() > 0);
}

/// Connections that are half way through a request do not hold a stop up beyond their own deadlines.
#[test]
fn a_stop_does_not_wait_for_a_flood() {
    let mut rig = Rig::today_with(|resolved| resolved.set("limits.header_seconds_max", "2"));
    rig.in_process(&[], |_, mut service| {
        let held: Vec<TcpStream> = (0..100)
            .map(|number| {
                let mut stream = connect(service.address);
                let start = ["", "GET / HTTP/1.1\r\nX-Slow: "][number % 2];
                std::io::Write::write_all(&mut stream, start.as_bytes()).expect("sent");
                stream
            })
            .collect();
        service.get("/health?live=1").send().expect(200);
        service.terminate();
        assert!(service.end().success());
        for mut stream in held {
            let end = read_all(&mut stream);
            assert!(end.is_empty() || Answer::parse(&end).status >= 400);
        }
    });
}
