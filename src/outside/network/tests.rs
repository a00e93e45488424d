use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

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
    let network = Network::new(NetworkSettings::default(), hosts, ForbiddenHosts::default())
        .expect("threads");
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
    let network = Network::new(NetworkSettings::default(), hosts, ForbiddenHosts::default())
        .expect("threads");
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
    check("http://workshop.sample-site.org/", false);
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
        assert_eq!(outcome, Err(ResolveError::Failed));
    }
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    std::thread::sleep(Duration::from_millis(250));
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
    assert!(lock(&network.shared.names).known.len() <= 10);
}

/// Four callers of a name that never answers hold one thread; the second thread still serves others, and the
/// caller that finds the queue full is told so at once.
#[test]
fn a_hanging_lookup_holds_one_thread_and_no_caller() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    let settings = NetworkSettings {
        threads: 2,
        queue_max: 1,
        lookup_max: Duration::from_millis(100),
        ..NetworkSettings::default()
    };
    let network = network(settings, move |name| {
        counter.fetch_add(1, Ordering::SeqCst);
        if name.starts_with("hang") {
            std::thread::sleep(Duration::from_secs(2));
        }
        Ok(vec![address(PUBLIC)])
    });
    let started = Instant::now();
    let hang = target("http://hang.sample-site.org/");
    for _ in 0..4 {
        let outcome = network.checked_addresses(&hang, soon());
        assert_eq!(outcome, Err(ResolveError::TimedOut));
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert!(
        network
            .checked_addresses(&target("http://sample-site.org/"), soon())
            .is_ok()
    );

    for (name, expected) in [
        ("hang2", ResolveError::TimedOut),
        ("hang3", ResolveError::TimedOut),
        ("hang4", ResolveError::Busy),
    ] {
        let one = target(&format!("http://{name}.sample-site.org/"));
        assert_eq!(
            network.checked_addresses(&one, soon()),
            Err(expected),
            "{name}"
        );
    }
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_deadline_in_the_past_waits_for_nothing() {
    let network = network(NetworkSettings::default(), |_| {
        std::thread::sleep(Duration::from_secs(1));
        Ok(vec![address(PUBLIC)])
    });
    let started = Instant::now();
    let outcome = network.checked_addresses(&target("http://sample-site.org/"), started);
    assert_eq!(outcome, Err(ResolveError::TimedOut));
    assert!(started.elapsed() < Duration::from_millis(500));
}
