//! Where a redirect may lead, and where it ends.

use super::*;

#[test]
fn a_redirect_is_followed_to_where_the_policy_allows() {
    let news = Site::redirecting(&[
        ("/old", "/new"),
        ("/new", "//other.sample-site.org/page?x#y"),
        ("/space", "/a b"),
    ]);
    let other = Site::saying(page("text/plain", "arrived"));
    let web = web_of(
        settings(),
        &[
            ("news.sample-site.org", &news),
            ("other.sample-site.org", &other),
        ],
    );
    let (body, drained, redirects) =
        read_page(&web, "http://news.sample-site.org/old").expect("a page");
    assert_eq!(
        body.final_url.as_str(),
        "http://other.sample-site.org/page?x"
    );
    assert_eq!((drained.bytes, redirects), (7, 2));
    let (body, _, _) = read_page(&web, "http://news.sample-site.org/space").expect("a page");
    assert_eq!(body.final_url.as_str(), "http://news.sample-site.org/a%20b");
}

#[test]
fn a_redirect_to_what_is_refused_is_not_followed() {
    for location in [
        "http://127.0.0.1/",
        "http://10.0.0.1/",
        "http://100.64.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://168.63.129.16/",
        "http://224.0.0.1/",
        "http://0.0.0.0/",
        "http://0x7f.1/",
        "http://2130706433/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[fd00:ec2::254]/",
        "http://[64:ff9b::7f00:1]/",
        "http://localhost/",
        "http://metadata.google.internal/",
        "http://printer/",
        "//127.0.0.1/",
        "http://news.sample-site.org:8080/",
        "http://user:pw@news.sample-site.org/new",
        "//user@news.sample-site.org/new",
        "http://shop.sample-site.org/",
        "http://private.sample-site.org/",
        "/\\127.0.0.1/",
        "http:\\\\127.0.0.1/",
        "/a\tb",
        "file:///etc/passwd",
        "gopher://news.sample-site.org/",
        "javascript:alert(1)",
    ] {
        let news = Site::redirecting(&[("/", location)]);
        let private = Site::saying(page("text/plain", "never read"));
        let mut hosts = lab([("news.sample-site.org", news.port())]);
        let text = format!("10.0.0.1@127.0.0.1:{}", private.port());
        hosts.insert(
            "private.sample-site.org".to_owned(),
            LabHost::parse(&text).expect("a lab host"),
        );
        let forbidden = ForbiddenHosts::new(["shop.sample-site.org"]);
        let network = Network::new(
            NetworkSettings::default(),
            NameServers::System,
            hosts,
            forbidden,
        )
        .expect("a thread");
        let web = Web::new(settings(), network).expect("no lab roots to read");
        let error = read_page(&web, "http://news.sample-site.org/")
            .map(|_| ())
            .expect_err(location);
        assert_eq!(
            (error.code().text(), error.is_transient()),
            ("redirect_blocked", false),
            "{location}: {error}"
        );
        assert_eq!(
            (news.connections(), private.connections()),
            (1, 0),
            "{location}"
        );
    }
}

#[test]
fn a_location_of_nine_kilobytes_is_refused() {
    let error = failure(format!(
        "HTTP/1.1 301 Moved\r\nLocation: /{}\r\nContent-Length: 0\r\n\r\n",
        "a".repeat(9 * 1024)
    ));
    assert_eq!(
        error,
        FetchError::Redirect(RedirectError::Target(TargetError::TooLong))
    );
}

#[test]
fn redirects_end_after_five_in_a_circle_and_without_a_location() {
    let steps: Vec<(String, String)> = (0..9)
        .map(|n| (format!("/{n}"), format!("/{}", n + 1)))
        .collect();
    let table: Vec<(&str, &str)> = steps
        .iter()
        .map(|(from, to)| (from.as_str(), to.as_str()))
        .collect();
    let site = Site::redirecting(&table);
    let web = web_of(settings(), &[("news.sample-site.org", &site)]);
    let (_, _, redirects) =
        read_page(&web, "http://news.sample-site.org/4").expect("five redirects");
    assert_eq!(redirects, 5);
    let error = read_page(&web, "http://news.sample-site.org/3")
        .map(|_| ())
        .expect_err("six redirects");
    assert_eq!(error, FetchError::TooManyRedirects(5));
    assert_eq!(error.code(), Code::TooManyRedirects);

    let site = Site::redirecting(&[("/a", "/b"), ("/b", "/a#again")]);
    let web = web_of(settings(), &[("news.sample-site.org", &site)]);
    let error = read_page(&web, "http://news.sample-site.org/a")
        .map(|_| ())
        .expect_err("a circle");
    assert_eq!(error, FetchError::Redirect(RedirectError::Loop));
    assert_eq!(error.code(), Code::TooManyRedirects);
    assert_eq!(site.connections(), 2);

    assert_eq!(
        failure("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"),
        FetchError::Status(302)
    );
}

#[test]
fn a_redirect_never_leaves_https() {
    let web = web_of(settings(), &[]);
    let from = target("https://news.sample-site.org/");
    let visited = [from.clone()];
    let next = |location: &str| web.next_hop(&from, location, &visited);
    assert_eq!(
        next("http://other.sample-site.org/"),
        Err(FetchError::Redirect(RedirectError::Downgrade))
    );
    assert!(next("https://other.sample-site.org/").is_ok());
}

/// A name whose answer changes from public to loopback between the check and the dialling, and between two hops.
#[test]
fn rebinding_never_reaches_loopback() {
    let news = Site::redirecting(&[("/again", "/page")]);
    let hosts = lab([("news.sample-site.org", news.port())]);
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    let settings_without_memory = NetworkSettings {
        positive_max: Duration::ZERO,
        ..NetworkSettings::default()
    };
    let lookup = move |_: &str| {
        let answer = match counter.fetch_add(1, Ordering::SeqCst) {
            0 => PUBLIC,
            _ => "127.0.0.1",
        };
        Ok(vec![answer.parse::<IpAddr>().expect("an address")])
    };
    let network = Network::with_lookup(
        settings_without_memory,
        hosts,
        ForbiddenHosts::default(),
        lookup,
    )
    .expect("threads");
    let web = Web::new(settings(), network).expect("no lab roots to read");

    let cleared = web
        .clear(&target("http://news.sample-site.org/page"))
        .expect("public at first");
    // The name now leads to loopback. The page is read all the same, from the address that was checked.
    assert!(
        web.clear(&target("http://news.sample-site.org/page"))
            .is_err()
    );
    assert!(matches!(
        web.open(cleared.clone(), &options()),
        Ok(Opened::Page { .. })
    ));
    assert_eq!(asked.load(Ordering::SeqCst), 2, "fetching looks nothing up");

    let mut again = cleared;
    again.target = target("http://news.sample-site.org/again");
    let error = web
        .open(again, &options())
        .map(|_| ())
        .expect_err("the second hop is looked up again");
    assert!(matches!(
        error,
        FetchError::Redirect(RedirectError::Target(TargetError::AddressRefused(_)))
    ));
    assert_eq!(asked.load(Ordering::SeqCst), 3, "once per hop");
}
