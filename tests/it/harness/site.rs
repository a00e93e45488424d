//! The web that targets live on: pages by path, on one loopback port for all host names.

use std::collections::HashMap;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use crate::harness::server::{Next, Request, Server, hang, head, reset, respond};

/// What is at a path.
#[derive(Clone, Debug)]
pub(crate) enum Page {
    Whole {
        content_type: &'static str,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
    },
    /// A status with a little text.
    Status(u16),
    Redirect(String),
    /// The connection breaks before a byte was sent.
    Reset,
    /// Nothing is said.
    Hang,
    /// Less comes than was announced.
    Truncated,
    /// Another page, after a while.
    Slow(Duration, Box<Page>),
}

impl Page {
    pub(crate) fn html(title: &str, text: &str) -> Page {
        let body = format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
             <meta name=\"description\" content=\"About {title}\"></head><body><nav><a href=\"/\">Home</a></nav>\
             <main><article><h1>{title}</h1><p>{text}</p><h2>More</h2><p>Read <a href=\"/more\">the rest of the \
             story</a> where it goes on for a while, with enough words to count as a page that somebody would \
             want to read to the end.</p></article></main></body></html>"
        );
        Page::of("text/html; charset=utf-8", body)
    }

    pub(crate) fn of(content_type: &'static str, body: impl Into<Vec<u8>>) -> Page {
        Page::Whole {
            content_type,
            headers: Vec::new(),
            body: body.into(),
        }
    }

    /// The same page with a validator: a request that names it gets 304.
    pub(crate) fn tagged(self, etag: &str) -> Page {
        self.with("ETag", etag)
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Page {
        if let Page::Whole { headers, .. } = &mut self {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    pub(crate) fn slow(self, time: Duration) -> Page {
        Page::Slow(time, Box::new(self))
    }
}

#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    /// A port that refuses connections until [`Site::raise`].
    pub(crate) down: SocketAddr,
    shared: Arc<Shared>,
    bound: Mutex<Option<socket2::Socket>>,
    servers: Mutex<Vec<Server>>,
}

#[derive(Debug, Default)]
struct Shared {
    pages: Mutex<HashMap<String, Page>>,
    requests: Mutex<Vec<Request>>,
}

impl Site {
    pub(crate) fn start() -> Site {
        let shared = Arc::new(Shared::default());
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let server = open(listener, &shared);
        let bound = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None)
            .expect("a socket");
        let any: SocketAddr = ([127, 0, 0, 1], 0).into();
        bound.bind(&any.into()).expect("a free port");
        let down = bound.local_addr().expect("bound").as_socket();
        Site {
            address: server.address,
            down: down.expect("an address of IPv4"),
            shared,
            bound: Mutex::new(Some(bound)),
            servers: Mutex::new(vec![server]),
        }
    }

    /// The port that was down answers like the other from now on.
    pub(crate) fn raise(&self) {
        let mut bound = self.bound.lock().expect("no panic before");
        let socket = bound.take().expect("raised once");
        socket.listen(128).expect("a bound socket listens");
        let server = open(socket.into(), &self.shared);
        self.servers.lock().expect("no panic before").push(server);
    }

    pub(crate) fn put(&self, path: &str, page: Page) {
        let mut pages = self.shared.pages.lock().expect("no panic before");
        pages.insert(path.to_owned(), page);
    }

    pub(crate) fn requests(&self) -> MutexGuard<'_, Vec<Request>> {
        self.shared.requests.lock().expect("no panic before")
    }

    /// How often a path was asked for.
    pub(crate) fn hits(&self, path: &str) -> usize {
        let asked = self.requests();
        asked.iter().filter(|request| request.path == path).count()
    }
}

fn open(listener: TcpListener, shared: &Arc<Shared>) -> Server {
    let shared = shared.clone();
    Server::on(listener, move |request, stream| {
        let mut requests = shared.requests.lock().expect("no panic before");
        requests.push(request.clone());
        drop(requests);
        let pages = shared.pages.lock().expect("no panic before");
        let page = pages.get(&request.path).cloned();
        drop(pages);
        serve(page.unwrap_or(Page::Status(404)), request, stream)
    })
}

fn serve(page: Page, request: &Request, mut stream: &TcpStream) -> Next {
    match page {
        Page::Whole {
            content_type,
            headers,
            body,
        } => {
            let etag = headers.iter().find(|(name, _)| name == "ETag");
            let known = request.header("if-none-match");
            let headers = headers.iter().map(|(name, value)| (&**name, &**value));
            let mut headers: Vec<(&str, &str)> = headers.collect();
            if etag.is_some() && etag.map(|(_, value)| value.as_str()) == known {
                return respond(stream, 304, &headers, b"");
            }
            headers.push(("Content-Type", content_type));
            respond(stream, 200, &headers, &body)
        }
        Page::Status(status) => respond(stream, status, &[], b"no"),
        Page::Redirect(location) => respond(stream, 302, &[("Location", &location)], b""),
        Page::Reset => reset(stream),
        Page::Hang => hang(stream),
        Page::Truncated => {
            let headers = [("Content-Type", "text/html")];
            let mut bytes = head(200, &headers, 10_000);
            bytes.extend_from_slice(b"<html><body><h1>Half of it</h1>");
            let _ = stream.write_all(&bytes);
            Next::Close
        }
        Page::Slow(time, page) => {
            thread::sleep(time);
            serve(*page, request, stream)
        }
    }
}
