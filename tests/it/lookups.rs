//! Names of targets, looked up at a name server that does what a test tells it: which lookups may wait for which, and
//! what a failure means to whoever pays.

use std::net::Ipv4Addr;
use std::thread;
use std::time::{Duration, Instant};

use context402::config::Resolved;
use serde_json::json;

use crate::harness::name_server::{NameServer, Told};
use crate::harness::provider::{Event, lead, settle, shop_with};
use crate::harness::{
    ARTICLE, Ask, FERRY, FERRY_CLAIM, FRESH, Page, Rig, Wallet, hosts, price, until,
};

const NEWS: &str = "news.sample-site.org";
const NEWS_ADDRESS: Ipv4Addr = Ipv4Addr::new(93, 184, 216, 34);
const THIRD: &str = "www.third-site.org";
const THIRD_ADDRESS: Ipv4Addr = Ipv4Addr::new(93, 184, 216, 38);
/// Pages that are bought while strangers quote names whose servers are dead.
const SALES: u8 = 30;

/// A name server that knows the lab's site and says nothing of `www.dead-N.org`.
fn name_server() -> NameServer {
    let server = NameServer::start();
    server.put(NEWS, Told::Addresses(vec![NEWS_ADDRESS]));
    for number in 0..100 {
        server.put(&format!("www.dead-{number}.org"), Told::Silence);
    }
    server
}

fn asks(server: &NameServer) -> impl FnOnce(&mut Resolved) {
    let address = server.address.to_string();
    move |resolved| resolved.set("lab.name_server", address)
}

fn quote(rig: &Rig, target: &str) -> Ask {
    rig.ask("GET", &format!("/v1/x402/quote?target_url={target}"))
}

/// Quotes of names whose servers are dead took every place for lookups, 30 of 30 fetches of
/// honest buyers were refused, and so were all of those 25 seconds later.
#[test]
fn quotes_of_names_that_hang_keep_no_buyer_waiting() {
    let server = name_server();
    let mut rig = Rig::with(asks(&server));
    let site = rig.site.address;
    let more = (0..SALES).map(|number| {
        let address = Ipv4Addr::new(93, 184, 217, number);
        let name = format!("www.honest-{number}.org");
        server.put(&name, Told::Addresses(vec![address]));
        (name, format!("{address}@{site}"))
    });
    let hosts = hosts(&rig.site).into_iter().chain(more).collect();
    rig.reconfigure(|resolved| {
        resolved.set_map("lab.hosts", hosts);
        resolved.set("fetch.seconds_max", "10");
        resolved.set_list("trusted_proxies", vec!["127.0.0.0/8".to_owned()]);
    });
    // As many at once as there are names, from twenty clients, again and again.
    let ends = Instant::now() + Duration::from_secs(6);
    thread::scope(|scope| {
        let attackers: Vec<_> = (0..100)
            .map(|number| {
                let client = format!("203.0.113.{}", number % 20);
                let target = format!("http://www.dead-{number}.org/");
                let ask = quote(&rig, &target).header("X-Forwarded-For", client);
                scope.spawn(move || {
                    let mut answers = Vec::new();
                    while Instant::now() < ends {
                        answers.push(ask.send());
                        thread::sleep(Duration::from_millis(100));
                    }
                    answers
                })
            })
            .collect();
        until("names hang", || server.asked().len() >= 10);
        let sales: Vec<_> = (0..SALES)
            .map(|number| {
                let rig = &rig;
                scope.spawn(move || {
                    let began = Instant::now();
                    let target = format!("http://www.honest-{number}.org/article");
                    let answer = rig.buy(&Wallet::new(), &target, "fresh");
                    (answer, began.elapsed())
                })
            })
            .collect();
        for sale in sales {
            let (answer, time) = sale.join().expect("an answer");
            let answer = answer.expect(200);
            assert!(time < Duration::from_secs(5), "{time:?}: {answer:?}");
        }
        for attacker in attackers {
            for answer in attacker.join().expect("answers") {
                if answer.status == 429 {
                    continue;
                }
                // The name servers' fault, or our own shortage: never final, never charged.
                let code = answer.code();
                assert!(
                    matches!(code.as_str(), "upstream_unavailable" | "overloaded"),
                    "{answer:?}"
                );
                let answer = answer.refused(503, &code);
                assert_eq!(answer.json()["error"]["retryable"], true);
                assert_eq!(answer.json()["error"]["charged"], false);
            }
        }
    });
    assert_eq!(rig.facilitator.settle_calls(), usize::from(SALES));
    // Strangers are served again once the hanging lookups have ended.
    until("quotes are given again", || {
        quote(&rig, ARTICLE).send().status == 200
    });
}

/// One client quotes two names that hang; a third of its quotes is told to come back, and others are served.
#[test]
fn one_client_has_two_lookups_for_nothing_at_once() {
    let server = name_server();
    let rig = Rig::with(|resolved| {
        asks(&server)(resolved);
        // Longer than the wait for a share.
        resolved.set("fetch.seconds_max", "10");
        resolved.set_list("trusted_proxies", vec!["127.0.0.0/8".to_owned()]);
    });
    let ask = |target: &str, client: &str| {
        let ask = quote(&rig, target).header("X-Forwarded-For", client);
        ask.send()
    };
    thread::scope(|scope| {
        for number in 0..2 {
            let target = format!("http://www.dead-{number}.org/");
            scope.spawn(move || ask(&target, "203.0.113.1"));
        }
        until("both hang", || server.asked().len() >= 2);
        ask(ARTICLE, "203.0.113.2").expect(200);
        // By now the name is known and needs no lookup.
        ask(ARTICLE, "203.0.113.1").expect(200);
        let began = Instant::now();
        let answer = ask("http://www.dead-2.org/", "203.0.113.1");
        let answer = answer.refused(503, "overloaded");
        assert!(began.elapsed() < Duration::from_secs(3), "{answer:?}");
        assert_eq!(
            server
                .asked()
                .iter()
                .filter(|name| *name == "www.dead-2.org")
                .count(),
            0
        );
    });
}

/// Whoever pays gets a credit where the name servers failed, and is refused for good only where they said that there is
/// no such name.
#[test]
fn a_lookup_without_an_answer_is_an_outage_and_no_such_name_is_final() {
    let server = name_server();
    let rig = Rig::with(asks(&server));
    let second = ("www.second-site.org", Ipv4Addr::new(93, 184, 216, 37));
    let third = (THIRD, THIRD_ADDRESS);
    for ((name, address), told) in [(third, Told::Silence), (second, Told::Failure)] {
        let wallet = Wallet::new();
        let hits = rig.site.hits("/article");
        server.put(name, told);
        let target = format!("http://{name}/article");
        let refused = rig.buy(&wallet, &target, "fresh");
        let refused = refused.refused(503, "upstream_unavailable");
        assert_eq!(refused.json()["error"]["charged"], false);
        let credit = refused.credit();
        assert_eq!(rig.site.hits("/article"), hits);
        // Another failure in between costs an attempt and no more.
        rig.retry(&credit, &target, "fresh").send().expect(503);
        server.put(name, Told::Addresses(vec![address]));
        rig.retry(&credit, &target, "fresh").send().expect(200);
        assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    }
    let wallet = Wallet::new();
    let answer = rig.buy(&wallet, "http://nobody.sample-site.org/", "fresh");
    let answer = answer.refused(400, "dns_failed");
    assert_eq!(answer.header("x-service-retry-credit"), None);
    assert_eq!(answer.json()["error"]["charged"], false);
    let answer = quote(&rig, "http://nobody.sample-site.org/").send();
    answer.refused(400, "dns_failed");
    assert_eq!(rig.facilitator.spent(wallet.address()), 0);
}

/// A paid bundle asks for a source three times before it says that it could not be read; here its name servers answer
/// the third time.
#[test]
fn a_source_whose_name_servers_are_silent_has_its_three_tries() {
    let server = name_server();
    server.put(THIRD, Told::Silence);
    let (rig, _) = shop_with(asks(&server));
    let target = format!("http://{THIRD}/ferry");
    let tries = || server.asked().iter().filter(|name| *name == THIRD).count();
    let event = Event::paid(&lead(&rig, "builder", FERRY_CLAIM, &[FERRY, &target]));
    event.send(&rig);
    until("it was tried twice", || {
        rig.work_off();
        rig.pass(2);
        // Each try asks the name server twice.
        tries() >= 4
    });
    until("the other source is done", || {
        rig.get(&event.delivery()).json()["progress"] == json!({"done": 1, "total": 2})
    });
    server.put(THIRD, Told::Addresses(vec![THIRD_ADDRESS]));
    settle(&rig);
    let done = rig.get(&event.delivery()).expect(200).json();
    assert_eq!(done["synthesis"]["coverage"]["read_count"], 2, "{done:#}");
    assert_eq!(done["unreachable"], json!([]));
}

/// Names that exist in private networks alone are refused before anybody is asked for them, whoever asks.
#[test]
fn names_of_private_networks_are_not_looked_up() {
    let server = name_server();
    let rig = Rig::with(asks(&server));
    for name in [
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc.cluster.local",
        "api.kubesystem",
        "vault.internal",
        "nas.home.arpa",
        "printer.lan",
        "db.localhost",
        "router.fritz.box.nosuchsuffix",
    ] {
        server.put(name, Told::Addresses(vec![NEWS_ADDRESS]));
        let target = format!("http://{name}/");
        let answer = quote(&rig, &target).send().refused(400, "target_blocked");
        assert_eq!(answer.json()["error"]["charged"], false, "{name}");
        let answer = rig.buy(&Wallet::new(), &target, "fresh");
        answer.refused(400, "target_blocked");
        // Nor behind a redirect.
        rig.site.put("/away", Page::Redirect(target));
        let answer = rig.buy(&Wallet::new(), "http://news.sample-site.org/away", "fresh");
        answer.refused(400, "redirect_blocked");
    }
    let asked = server.asked();
    assert!(asked.iter().all(|name| name == NEWS), "{asked:?}");
    assert_eq!(rig.facilitator.settle_calls(), 0);
}

/// The lab's name server is no way into a private network.
#[test]
fn what_the_lab_s_name_server_answers_is_checked_like_any_answer() {
    let server = name_server();
    let rig = Rig::with(asks(&server));
    for private in [[127, 0, 0, 1], [10, 0, 0, 1], [169, 254, 169, 254]] {
        let answers = vec![THIRD_ADDRESS, Ipv4Addr::from(private)];
        server.put("mixed.second-site.org", Told::Addresses(answers));
        let target = "http://mixed.second-site.org/";
        quote(&rig, target).send().refused(400, "target_blocked");
        let answer = rig.buy(&Wallet::new(), target, "fresh");
        answer.refused(400, "target_blocked");
    }
    assert_eq!(rig.facilitator.settle_calls(), 0);
    assert_eq!(rig.site.requests().len(), 0);
}
