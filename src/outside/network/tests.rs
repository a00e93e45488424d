use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::name_server::{NameServer, Told};
use super::*;
use crate::domain::caa::CaaRecord;

const PUBLIC: &str = "93.184.216.34";

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address in a test")
}

fn target(text: &str) -> TargetUrl {
    TargetUrl::parse(text).expect("a target in a test")
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(5)
}

fn plain(lab: HashMap<String, LabHost>) -> Network {
    let settings = NetworkSettings::default();
    let forbidden = ForbiddenHosts::default();
    Network::new(settings, NameServers::System, lab, forbidden).expect("a thread")
}

fn network(
    settings: NetworkSettings,
    lookup: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static,
) -> Network {
    let forbidden =
        ForbiddenHosts::new(["Shop.Sample-Site.org.", "[2606:4700::99]", "93.184.216.99"]);
    Network::with_lookup(settings, HashMap::new(), forbidden, lookup).expect("threads")
}

#[test]
fn a_lab_host_dials_loopback_only() {
    assert_eq!(
        LabHost::parse("93.184.216.34@127.0.0.1:8081"),
        Ok(LabHost {
            address: address(PUBLIC),
            dial: "127.0.0.1:8081".parse().expect("a socket"),
        })
    );
    assert!(LabHost::parse("93.184.216.34@[::1]:8081").is_ok());
    for refused in [
        "93.184.216.34",
        "93.184.216.34@127.0.0.1",
        "127.0.0.1:8081",
        "name@127.0.0.1:1",
        "93.184.216.34@10.0.0.1:8081",
        "93.184.216.34@93.184.216.34:80",
        "93.184.216.34@0.0.0.0:80",
    ] {
        assert!(LabHost::parse(refused).is_err(), "{refused}");
    }
}

#[test]
fn a_lab_host_is_mapped_for_its_own_name_and_address_only() {
    let lab = LabHost::parse("93.184.216.34@127.0.0.1:8081").expect("a lab host");
    let hosts = HashMap::from([("news.sample-site.org".to_owned(), lab)]);
    let network = plain(hosts);
    let news = target("https://news.sample-site.org/");
    let found = network.checked_addresses(&news, soon());
    assert_eq!(found, Ok(vec![address(PUBLIC)]));
    let check = |host: &str, ip: &str, expected: &str| {
        let dialled = network.dialled(host, address(ip), 443);
        assert_eq!(dialled.to_string(), expected);
    };
    check("news.sample-site.org", PUBLIC, "127.0.0.1:8081");
    check("news.sample-site.org", "93.184.216.35", "93.184.216.35:443");
    check("other.sample-site.org", PUBLIC, "93.184.216.34:443");
}

#[test]
fn a_lab_host_on_a_private_address_is_refused_like_any_other() {
    let lab = LabHost::parse("10.0.0.1@127.0.0.1:8081").expect("a lab host");
    let hosts = HashMap::from([("news.sample-site.org".to_owned(), lab)]);
    let network = plain(hosts);
    let outcome = network.checked_addresses(&target("http://news.sample-site.org/"), soon());
    assert!(matches!(
        outcome,
        Err(ResolveError::Refused(TargetError::AddressRefused(_)))
    ));
}

#[test]
fn our_own_hosts_are_refused_by_name_and_by_address() {
    let network = network(NetworkSettings::default(), |name| {
        Ok(vec![address(match name {
            "alias.sample-site.org" => "93.184.216.99",
            _ => PUBLIC,
        })])
    });
    let check = |url: &str, refused: bool| {
        let outcome = network.checked_addresses(&target(url), soon());
        assert_eq!(
            outcome == Err(ResolveError::OwnHost),
            refused,
            "{url}: {outcome:?}"
        );
    };
    check("http://shop.sample-site.org/", true);
    check("http://SHOP.sample-site.org./", true);
    check("http://alias.sample-site.org/", true);
    check("http://93.184.216.99/", true);
    check("http://[2606:4700::99]/", true);
    check("http://www.shop.sample-site.org/", true);
    check("http://order_workers.sample-site.org/", false);
    check("http://93.184.216.98/", false);
}

#[test]
fn a_listed_host_is_refused_in_every_spelling_with_its_subdomains() {
    let forbidden = ForbiddenHosts::new(["*.Example.net", "BÜCHER.org", "[2606:4700::99]"]);
    let settings = NetworkSettings::default();
    let public = |_: &str| Ok(vec![address(PUBLIC)]);
    let network =
        Network::with_lookup(settings, HashMap::new(), forbidden, public).expect("threads");
    let check = |url: &str, refused: bool| {
        assert_eq!(network.is_forbidden(&target(url)), refused, "{url}");
        let outcome = network.checked_addresses(&target(url), soon());
        assert_eq!(outcome == Err(ResolveError::OwnHost), refused, "{url}");
    };
    check("http://example.net/", true);
    check("https://a.b.EXAMPLE.net./x", true);
    check("http://bücher.org/", true);
    check("http://www.xn--bcher-kva.org/", true);
    check("http://[2606:4700:0::99]/", true);
    check("http://example.net.sample-site.org/", false);
    check("http://myexample.net/", false);
}

#[test]
fn an_answer_and_a_failure_are_remembered_for_their_time() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    let settings = NetworkSettings {
        positive_max: Duration::from_millis(200),
        negative_max: Duration::from_millis(200),
        ..NetworkSettings::default()
    };
    let network = network(settings, move |name| {
        counter.fetch_add(1, Ordering::SeqCst);
        match name {
            "gone.sample-site.org" => Ok(Vec::new()),
            _ => Ok(vec![address(PUBLIC)]),
        }
    });
    let (good, gone) = (
        target("http://sample-site.org/"),
        target("http://gone.sample-site.org/"),
    );
    for _ in 0..3 {
        assert!(network.checked_addresses(&good, soon()).is_ok());
        let outcome = network.checked_addresses(&gone, soon());
        assert_eq!(outcome, Err(ResolveError::NotFound));
    }
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    thread::sleep(Duration::from_millis(250));
    assert!(network.checked_addresses(&good, soon()).is_ok());
    assert_eq!(asked.load(Ordering::SeqCst), 3);
}

#[test]
fn the_memory_of_names_is_bounded() {
    let settings = NetworkSettings {
        names_max: 10,
        ..NetworkSettings::default()
    };
    let network = network(settings, |_| Ok(vec![address(PUBLIC)]));
    for index in 0..50 {
        let one = target(&format!("http://n{index}.sample-site.org/"));
        assert!(network.checked_addresses(&one, soon()).is_ok());
    }
    assert!(lock(&network.inner.names).known.len() <= 10);
}

/// Over the real client, with short times.
fn asking(server: &NameServer, change: impl FnOnce(&mut NetworkSettings)) -> Network {
    let mut settings = NetworkSettings {
        free_wait_max: Duration::from_millis(200),
        paid_wait_max: Duration::from_millis(200),
        lookup_max: Duration::from_secs(3),
        ..NetworkSettings::default()
    };
    change(&mut settings);
    let servers = NameServers::Only(vec![server.address]);
    Network::new(settings, servers, HashMap::new(), ForbiddenHosts::default()).expect("a thread")
}

fn public() -> Ipv4Addr {
    PUBLIC.parse().expect("an address in a test")
}

/// A client of the tests.
fn client(number: u8) -> Requester {
    Requester::Client(Some(IpAddr::from([203, 0, 113, number])))
}

/// Asks for many names at once, each from a thread of its own.
fn at_once(
    network: &Network,
    asks: impl IntoIterator<Item = (Requester, String)>,
) -> Vec<thread::JoinHandle<Result<Vec<IpAddr>, ResolveError>>> {
    let asks = asks.into_iter().map(|(requester, url)| {
        let network = network.clone();
        thread::spawn(move || {
            let target = target(&url);
            let looked_up = network.checked(&target, requester, soon());
            network.inner.thread.block_on(looked_up)
        })
    });
    asks.collect()
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(10), "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn name_servers_are_asked_and_their_answers_told_apart() {
    let server = NameServer::start();
    let other = Ipv4Addr::new(93, 184, 216, 35);
    server.put("one.sample-site.org", Told::Addresses(vec![public()]));
    server.put(
        "two.sample-site.org",
        Told::Addresses(vec![public(), other, public()]),
    );
    let many: Vec<Ipv4Addr> = (1..=200)
        .map(|last| Ipv4Addr::new(93, 184, 217, last))
        .collect();
    server.put("long.sample-site.org", Told::Long(many));
    server.put(
        "alias.sample-site.org",
        Told::Alias("real.second-site.org", other),
    );
    server.put("empty.sample-site.org", Told::Addresses(Vec::new()));
    server.put("broken.sample-site.org", Told::Failure);
    server.put("silent.sample-site.org", Told::Silence);
    server.put("garbage.sample-site.org", Told::Garbage);
    server.put("forged.sample-site.org", Told::Forged(public()));
    server.put(
        "v4.sample-site.org",
        Told::AddressesButSilence(vec![public()]),
    );
    let slow = Duration::from_millis(1_500);
    server.put("slow.sample-site.org", Told::Late(slow, vec![public()]));
    server.put(
        "mixed.sample-site.org",
        Told::Addresses(vec![public(), Ipv4Addr::LOCALHOST]),
    );
    let network = asking(&server, |_| {});
    let ask = |name: &str| {
        let url = format!("http://{name}.sample-site.org/");
        network.checked_addresses(&target(&url), soon())
    };
    assert_eq!(ask("one"), Ok(vec![public().into()]));
    assert_eq!(ask("two"), Ok(vec![public().into(), other.into()]));
    assert_eq!(ask("alias"), Ok(vec![other.into()]));
    let long = ask("long").expect("over TCP");
    assert_eq!((long.len(), long[63]), (64, address("93.184.217.64")));
    assert_eq!(ask("nobody"), Err(ResolveError::NotFound));
    assert_eq!(ask("empty"), Err(ResolveError::NotFound));
    assert_eq!(ask("broken"), Err(ResolveError::Failed));
    assert_eq!(ask("silent"), Err(ResolveError::TimedOut));
    assert_eq!(ask("garbage"), Err(ResolveError::TimedOut));
    assert_eq!(ask("forged"), Ok(vec![public().into()]));
    // The last try waits as long as there is time.
    assert_eq!(ask("slow"), Ok(vec![public().into()]));
    let began = Instant::now();
    assert_eq!(ask("v4"), Ok(vec![public().into()]));
    assert!(
        began.elapsed() < Duration::from_secs(2),
        "{:?}",
        began.elapsed()
    );
    assert!(matches!(
        ask("mixed"),
        Err(ResolveError::Refused(TargetError::AddressRefused(_)))
    ));
}

/// RFC 8659 section 3: the records of the nearest name above hold, and those of the name itself go first.
#[test]
fn caa_records_are_found_above_a_name() {
    let server = NameServer::start();
    let record = |value: &'static str| vec![(0x80, "Issue", value)];
    server.put("sample-site.org", Told::Caa(record("ca.example")));
    server.put("own.sample-site.org", Told::Caa(record("letsencrypt.org")));
    server.put("bare.sample-site.org", Told::Addresses(vec![public()]));
    server.put("broken.sample-site.org", Told::Failure);
    server.put("org", Told::Caa(record("wrong.example")));
    let resolver = Resolver::new(NameServers::Only(vec![server.address]));
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let caa = |name: &str| {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(5);
        runtime.block_on(resolver.caa(name, deadline))
    };
    let issue = |value: &str| {
        Ok(vec![CaaRecord {
            is_critical: true,
            tag: "issue".to_owned(),
            value: value.to_owned(),
        }])
    };
    assert_eq!(caa("own.sample-site.org"), issue("letsencrypt.org"));
    assert_eq!(caa("bare.sample-site.org"), issue("ca.example"));
    assert_eq!(caa("a.nobody.sample-site.org"), issue("ca.example"));
    assert_eq!(caa("b.second-site.net"), Ok(Vec::new()));
    assert_eq!(caa("broken.sample-site.org"), Err(Failure::Failed));
}

#[test]
fn a_name_server_that_is_gone_gives_way_to_the_next() {
    let server = NameServer::start();
    server.put("one.sample-site.org", Told::Addresses(vec![public()]));
    // Nothing listens at the first; the second says nothing.
    let free = std::net::UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let gone = free.local_addr().expect("an address");
    drop(free);
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let servers = vec![
        gone,
        silent.local_addr().expect("an address"),
        server.address,
    ];
    let none = HashMap::new();
    let network = Network::new(
        NetworkSettings::default(),
        NameServers::Only(servers),
        none.clone(),
        ForbiddenHosts::default(),
    )
    .expect("a thread");
    let one = target("http://one.sample-site.org/");
    assert_eq!(
        network.checked_addresses(&one, soon()),
        Ok(vec![public().into()])
    );
    let only_gone = NameServers::Only(vec![gone]);
    let settings = NetworkSettings::default();
    let network =
        Network::new(settings, only_gone, none, ForbiddenHosts::default()).expect("a thread");
    let began = Instant::now();
    assert_eq!(
        network.checked_addresses(&one, soon()),
        Err(ResolveError::Failed)
    );
    assert!(began.elapsed() < Duration::from_secs(2));
}

/// A review found that quotes for names whose servers are dead kept every sale from being looked up, also 25 seconds
/// later. Here every place for lookups without payment is taken by such a name, and more wait for one.
#[test]
fn hanging_lookups_that_nobody_pays_for_keep_no_buyer_waiting() {
    let server = NameServer::start();
    for number in 0..100 {
        server.put(&format!("www.dead-{number}.org"), Told::Silence);
    }
    for number in 0..30 {
        let name = format!("n{number}.sample-site.org");
        server.put(&name, Told::Addresses(vec![public()]));
    }
    let network = asking(&server, |_| {});
    let dead = (0..100).map(|number| (client(number), format!("http://www.dead-{number}.org/")));
    let hanging = at_once(&network, dead);
    until("all places are taken", || {
        network.inner.free.available_permits() == 0
    });
    let began = Instant::now();
    for number in 0..30 {
        let url = format!("http://n{number}.sample-site.org/");
        let outcome = network.checked_addresses(&target(&url), soon());
        assert_eq!(outcome, Ok(vec![public().into()]), "{url}");
    }
    assert!(
        began.elapsed() < Duration::from_secs(1),
        "{:?}",
        began.elapsed()
    );
    let ended = hanging
        .into_iter()
        .map(|one| one.join().expect("an outcome"));
    let ended: Vec<ResolveError> = ended.map(|outcome| outcome.expect_err("dead")).collect();
    let count = |error| ended.iter().filter(|one| **one == error).count();
    // A wait in our own queue says nothing of the name.
    assert_eq!(count(ResolveError::TimedOut), FREE_PLACES, "{ended:?}");
    assert_eq!(count(ResolveError::Busy), 100 - FREE_PLACES, "{ended:?}");
    until("places are given back", || {
        network.inner.free.available_permits() == FREE_PLACES
    });
}

#[test]
fn one_client_and_one_domain_have_two_lookups_without_payment_at_once() {
    let server = NameServer::start();
    for name in ["a", "b", "c"] {
        server.put(&format!("{name}.dead-one.org"), Told::Silence);
        server.put(&format!("www.dead-{name}.org"), Told::Silence);
    }
    let fine = [
        "x.dead-one.org",
        "www.sample-site.org",
        "other.sample-site.org",
    ];
    for name in fine {
        server.put(name, Told::Addresses(vec![public()]));
    }
    let outcome = |hanging: &[(Requester, &str)], requester, name: &str| {
        let network = asking(&server, |_| {});
        let hanging = hanging.iter();
        let hanging = hanging.map(|(requester, name)| (*requester, format!("http://{name}/")));
        let hanging = at_once(&network, hanging);
        until("they hang", || {
            lock(&network.inner.names).under_way.len() == hanging.len()
        });
        let mut asked = at_once(&network, [(requester, format!("http://{name}/"))]);
        asked.remove(0).join().expect("an outcome")
    };
    let found = Ok(vec![IpAddr::from(public())]);
    let of_client = [(client(1), "www.dead-a.org"), (client(1), "www.dead-b.org")];
    let busy = Err(ResolveError::Busy);
    assert_eq!(outcome(&of_client, client(1), "www.sample-site.org"), busy);
    assert_eq!(outcome(&of_client, client(2), "www.sample-site.org"), found);
    assert_eq!(
        outcome(&of_client, Requester::Buyer, "www.sample-site.org"),
        found
    );
    assert_eq!(
        outcome(&of_client[..1], client(1), "www.sample-site.org"),
        found
    );
    let of_domain = [(client(1), "a.dead-one.org"), (client(2), "b.dead-one.org")];
    assert_eq!(outcome(&of_domain, client(3), "x.dead-one.org"), busy);
    assert_eq!(
        outcome(&of_domain, client(3), "other.sample-site.org"),
        found
    );
    // A sale of the very same domain goes on.
    assert_eq!(
        outcome(&of_domain, Requester::Buyer, "x.dead-one.org"),
        found
    );
}

/// However many ask for one name, its servers are asked once, and everybody is answered at the deadline.
#[test]
fn callers_of_one_name_share_a_lookup() {
    let server = NameServer::start();
    let slow = Duration::from_millis(300);
    server.put("slow.sample-site.org", Told::Late(slow, vec![public()]));
    server.put("dead.sample-site.org", Told::Silence);
    let network = asking(&server, |settings| {
        settings.lookup_max = Duration::from_millis(900);
    });
    let ask = |name: &str| {
        let url = format!("http://{name}.sample-site.org/");
        let asked = at_once(&network, (0..20).map(|_| (Requester::Buyer, url.clone())));
        let ended = asked.into_iter();
        ended
            .map(|one| one.join().expect("an outcome"))
            .collect::<Vec<_>>()
    };
    assert_eq!(ask("slow"), vec![Ok(vec![public().into()]); 20]);
    assert_eq!(ask("dead"), vec![Err(ResolveError::TimedOut); 20]);
    assert_eq!(
        server.asked(),
        ["slow.sample-site.org", "dead.sample-site.org"]
    );
}

/// A buyer who joins a stranger's lookup shortly before it is given up has the whole time nevertheless.
#[test]
fn a_buyer_does_not_inherit_a_stranger_s_deadline() {
    let server = NameServer::start();
    server.put("late.sample-site.org", Told::Silence);
    let network = asking(&server, |_| {});
    let late = target("http://late.sample-site.org/");
    let strangers = network.clone();
    let stranger = thread::spawn(move || {
        let late = target("http://late.sample-site.org/");
        let deadline = Instant::now() + Duration::from_millis(700);
        let looked_up = strangers.checked(&late, client(1), deadline);
        strangers.inner.thread.block_on(looked_up)
    });
    until("it hangs", || !server.asked().is_empty());
    server.put("late.sample-site.org", Told::Addresses(vec![public()]));
    let outcome = network.checked_addresses(&late, soon());
    assert_eq!(outcome, Ok(vec![public().into()]));
    let stranger = stranger.join().expect("an outcome");
    assert_eq!(stranger, Err(ResolveError::TimedOut));
}

/// A buyer's lookups have places too, and the wait for one is our own shortage.
#[test]
fn a_buyer_without_a_place_is_told_that_we_are_busy() {
    let server = NameServer::start();
    for name in ["a", "b", "c"] {
        server.put(&format!("{name}.sample-site.org"), Told::Silence);
    }
    let network = asking(&server, |settings| settings.paid_places = 2);
    let ask = |name: &str| (Requester::Buyer, format!("http://{name}.sample-site.org/"));
    let hanging = at_once(&network, [ask("a"), ask("b")]);
    until("they hang", || network.inner.paid.available_permits() == 0);
    let outcome = network.checked_addresses(&target("http://c.sample-site.org/"), soon());
    assert_eq!(outcome, Err(ResolveError::Busy));
    for one in hanging {
        assert_eq!(one.join().expect("an outcome"), Err(ResolveError::TimedOut));
    }
}

#[test]
fn a_caller_beyond_those_that_may_wait_is_told_at_once() {
    let server = NameServer::start();
    for number in 0..20 {
        server.put(&format!("n{number}.sample-site.org"), Told::Silence);
    }
    let network = asking(&server, |settings| {
        settings.paid_places = 1;
        settings.paid_wait_max = Duration::from_secs(20);
        settings.lookup_max = Duration::from_secs(20);
    });
    let ask = |number| {
        let url = format!("http://n{number}.sample-site.org/");
        (Requester::Buyer, url)
    };
    let _hanging = at_once(&network, (0..=WAITERS_OF_PLACE_MAX).map(ask));
    until("one hangs and the others wait", || {
        network.inner.paid_waiters.available_permits() == 0
            && network.inner.paid.available_permits() == 0
    });
    let began = Instant::now();
    let outcome = network.checked_addresses(&target(&ask(19).1), soon());
    assert_eq!(outcome, Err(ResolveError::Busy));
    assert!(
        began.elapsed() < Duration::from_secs(1),
        "{:?}",
        began.elapsed()
    );
}

/// What a name server could not tell a stranger is asked again for a buyer; that a name does not exist is not.
#[test]
fn a_buyer_is_not_refused_for_a_failure_that_a_stranger_met() {
    let server = NameServer::start();
    server.put("shaky.sample-site.org", Told::Failure);
    let network = asking(&server, |_| {});
    let ask = |requester, name: &str| {
        let mut asked = at_once(
            &network,
            [(requester, format!("http://{name}.sample-site.org/"))],
        );
        asked.remove(0).join().expect("an outcome")
    };
    assert_eq!(ask(client(1), "shaky"), Err(ResolveError::Failed));
    assert_eq!(ask(client(1), "gone"), Err(ResolveError::NotFound));
    server.put("shaky.sample-site.org", Told::Addresses(vec![public()]));
    server.put("gone.sample-site.org", Told::Addresses(vec![public()]));
    assert_eq!(ask(client(1), "shaky"), Err(ResolveError::Failed));
    assert_eq!(ask(Requester::Buyer, "shaky"), Ok(vec![public().into()]));
    assert_eq!(ask(client(1), "shaky"), Ok(vec![public().into()]));
    assert_eq!(ask(Requester::Buyer, "gone"), Err(ResolveError::NotFound));
}

/// The lab's own name server decides for the lab's hosts too, and opens no way to a private address.
#[test]
fn a_lab_host_is_asked_for_where_the_lab_has_a_name_server() {
    let server = NameServer::start();
    let lab = LabHost::parse("93.184.216.34@127.0.0.1:8081").expect("a lab host");
    let hosts = HashMap::from([("news.sample-site.org".to_owned(), lab)]);
    let servers = NameServers::Only(vec![server.address]);
    let settings = NetworkSettings {
        positive_max: Duration::ZERO,
        negative_max: Duration::ZERO,
        ..NetworkSettings::default()
    };
    let network =
        Network::new(settings, servers, hosts, ForbiddenHosts::default()).expect("a thread");
    let news = target("http://news.sample-site.org/");
    let ask = || network.checked_addresses(&news, soon());
    assert_eq!(ask(), Err(ResolveError::NotFound));
    server.put("news.sample-site.org", Told::Addresses(vec![public()]));
    assert_eq!(ask(), Ok(vec![public().into()]));
    let private = Ipv4Addr::new(10, 0, 0, 1);
    server.put("news.sample-site.org", Told::Addresses(vec![private]));
    assert!(matches!(ask(), Err(ResolveError::Refused(_))));
}

#[test]
fn the_thread_ends_with_the_last_clone() {
    let server = NameServer::start();
    server.put("dead.sample-site.org", Told::Silence);
    let network = asking(&server, |_| {});
    let names = Arc::downgrade(&network.inner.names);
    let deadline = Instant::now() + Duration::from_millis(50);
    let outcome = network.checked_addresses(&target("http://dead.sample-site.org/"), deadline);
    assert_eq!(outcome, Err(ResolveError::TimedOut));
    drop(network.clone());
    assert!(names.upgrade().is_some());
    drop(network);
    until("the lookup is given up", || names.upgrade().is_none());
}

#[test]
fn a_deadline_in_the_past_waits_for_nothing() {
    let server = NameServer::start();
    server.put("sample-site.org", Told::Silence);
    let network = asking(&server, |_| {});
    let started = Instant::now();
    let outcome = network.checked_addresses(&target("http://sample-site.org/"), started);
    assert!(outcome.is_err());
    assert!(started.elapsed() < Duration::from_millis(500));
}
