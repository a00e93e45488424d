//! Servers that are slow, silent or broken, and which of it may pass.

use super::*;

#[test]
fn a_drip_feed_is_cut_at_the_deadline() {
    let site = Site::start(|_, stream| {
        send(
            stream,
            b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\n",
        );
        for _ in 0..100 {
            send(stream, b"a");
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let mut short = settings();
    short.budget = Duration::from_millis(700);
    let web = web_of(short, &[("news.sample-site.org", &site)]);
    let started = Instant::now();
    let error = read_page(&web, "http://news.sample-site.org/")
        .map(|_| ())
        .expect_err("too slow");
    assert_eq!(
        (error.clone(), error.is_transient()),
        (FetchError::TimedOut, true)
    );
    assert!(started.elapsed() < Duration::from_secs(3));
}

/// The budget is one for all hops: five redirects of 300 ms do not fit into a second.
#[test]
fn the_deadline_is_one_over_all_hops() {
    let site = Site::start(|request, stream| {
        std::thread::sleep(Duration::from_millis(300));
        let response = format!(
            "HTTP/1.1 302 Found\r\nLocation: {}a\r\nContent-Length: 0\r\n\r\n",
            request.path
        );
        send(stream, response.as_bytes());
    });
    let web = web_of(settings(), &[("news.sample-site.org", &site)]);
    let cleared = web
        .clear(&target("http://news.sample-site.org/"))
        .expect("cleared");
    let mut options = options();
    options.deadline = Instant::now() + Duration::from_secs(1);
    let error = web
        .open(cleared, &options)
        .map(|_| ())
        .expect_err("too slow");
    assert_eq!(error, FetchError::TimedOut);
    assert!(site.connections() <= 4);
}

#[test]
fn a_silent_server_is_given_up() {
    let site = Site::start(|_, _| std::thread::sleep(Duration::from_secs(5)));
    let mut short = settings();
    short.read_idle_max = Duration::from_millis(200);
    let web = web_of(short, &[("news.sample-site.org", &site)]);
    let started = Instant::now();
    let error = read_page(&web, "http://news.sample-site.org/")
        .map(|_| ())
        .expect_err("silence");
    assert_eq!(error, FetchError::TimedOut);
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_status_is_transient_or_final() {
    let check = |status: u16, transient: bool| {
        let error = failure(format!(
            "HTTP/1.1 {status} Word\r\nContent-Length: 2\r\n\r\nno"
        ));
        assert_eq!(error, FetchError::Status(status));
        let code = match transient {
            true => Code::UpstreamUnavailable,
            false => Code::UpstreamRefused,
        };
        assert_eq!(
            (error.is_transient(), error.code()),
            (transient, code),
            "{status}"
        );
    };
    for status in [408, 425, 429, 500, 502, 503, 504, 520] {
        check(status, true);
    }
    for status in [201, 206, 300, 400, 401, 403, 404, 410, 418, 451] {
        check(status, false);
    }
    assert_eq!(
        failure("HTTP/1.1 204 No Content\r\n\r\n"),
        FetchError::Status(204)
    );
    assert_eq!(
        failure("HTTP/1.1 304 Not Modified\r\n\r\n"),
        FetchError::Status(304)
    );
}

#[test]
fn a_refused_connection_is_transient_and_a_broken_handshake_is_final() {
    let closed = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let port = closed.local_addr().expect("bound").port();
    drop(closed);
    let web = web_on(settings(), [("news.sample-site.org", port)]);
    let error = read_page(&web, "http://news.sample-site.org/")
        .map(|_| ())
        .expect_err("closed");
    assert_eq!(
        (error.clone(), error.is_transient()),
        (FetchError::Refused, true)
    );

    // Speaks first: a request for TLS holds no empty line that it could wait for.
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let port = listener.local_addr().expect("bound").port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        send(&stream, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let web = web_on(settings(), [("news.sample-site.org", port)]);
    let error = read_page(&web, "https://news.sample-site.org/")
        .map(|_| ())
        .expect_err("no TLS");
    assert_eq!(
        (error.clone(), error.is_transient()),
        (FetchError::Tls, false)
    );
}
