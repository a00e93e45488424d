//! A small HTTP/1.1 server on loopback that may misbehave in every way: its handler is given the socket, or says in
//! [`Step`]s which bytes to write. The unit tests below `src/outside` use it too.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A request as it came in. Header names are lower case.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Request line and headers, byte for byte.
    pub(crate) head: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Whether the connection is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Keep,
    Close,
}

/// What to do with a request.
#[derive(Debug)]
pub(crate) enum Step {
    /// Write and keep the connection.
    Reply(Vec<u8>),
    /// Write and close, which the head says, where there is one: nobody asks again on a connection that is about to end.
    Last(Vec<u8>),
    /// Write and close without having said so.
    Vanish(Vec<u8>),
    /// Say nothing for so long, then close.
    Hang(Duration),
}

/// A server that ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) url: String,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    closing: AtomicBool,
    connections: AtomicUsize,
    requests: Mutex<Vec<Request>>,
}

impl Server {
    /// Answers with what `step` says, one request at a time.
    pub(crate) fn start(step: impl FnMut(&Request) -> Step + Send + 'static) -> Server {
        let step = Mutex::new(step);
        Server::with(move |request, stream| {
            let step = (step.lock().expect("no panic before"))(request);
            take(step, stream)
        })
    }

    /// Leaves every answer to `handler`.
    pub(crate) fn with(
        handler: impl Fn(&Request, &TcpStream) -> Next + Send + Sync + 'static,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        Server::on(listener, handler)
    }

    /// The same on a listener that exists already.
    pub(crate) fn on(
        listener: TcpListener,
        handler: impl Fn(&Request, &TcpStream) -> Next + Send + Sync + 'static,
    ) -> Server {
        let address = listener.local_addr().expect("a bound listener");
        let shared = Arc::<Shared>::default();
        let (seen, handler) = (shared.clone(), Arc::new(handler));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if seen.closing.load(Ordering::SeqCst) {
                    return;
                }
                seen.connections.fetch_add(1, Ordering::SeqCst);
                let (seen, handler) = (seen.clone(), handler.clone());
                thread::spawn(move || serve(&stream, &seen, &*handler));
            }
        });
        Server {
            address,
            url: format!("http://{address}"),
            shared,
        }
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.shared
            .requests
            .lock()
            .expect("no panic before")
            .clone()
    }

    /// The connections so far, whether or not anything was asked on them.
    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        // Wakes the accepting thread, which then sees that it is over.
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(stream: &TcpStream, shared: &Shared, handler: &dyn Fn(&Request, &TcpStream) -> Next) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        let mut requests = shared.requests.lock().expect("no panic before");
        requests.push(request.clone());
        drop(requests);
        if handler(&request, stream) == Next::Close {
            return;
        }
    }
}

fn take(step: Step, mut stream: &TcpStream) -> Next {
    // A client that has left is the test's affair, not ours.
    match step {
        Step::Reply(bytes) if stream.write_all(&bytes).is_ok() => return Next::Keep,
        Step::Reply(_) => {}
        Step::Last(bytes) => drop(stream.write_all(&closing(&bytes))),
        Step::Vanish(bytes) => drop(stream.write_all(&bytes)),
        Step::Hang(time) => thread::sleep(time),
    }
    Next::Close
}

fn closing(bytes: &[u8]) -> Vec<u8> {
    match bytes.windows(2).position(|pair| pair == b"\r\n") {
        Some(end) if bytes.starts_with(b"HTTP/1.1 ") => {
            let (line, rest) = bytes.split_at(end);
            [line, b"\r\nConnection: close", rest].concat()
        }
        _ => bytes.to_vec(),
    }
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut head = line(reader)?;
    let mut words = head.trim_end().split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let line = line(reader)?;
        head.push_str(&line);
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':')?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request {
        method,
        path,
        head,
        headers,
        body: Vec::new(),
    };
    let length = request.header("content-length").unwrap_or("0");
    request.body.resize(length.parse().ok()?, 0);
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}

/// With its end.
fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    let length = reader.read_line(&mut line).ok()?;
    (length > 0).then_some(line)
}

/// Writes a whole response.
pub(crate) fn respond(
    mut stream: &TcpStream,
    status: u16,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Next {
    match stream.write_all(&response(status, headers, body)) {
        Ok(()) => Next::Keep,
        // The client has left; that is what some tests are about.
        Err(_) => Next::Close,
    }
}

/// A whole response with its length.
pub(crate) fn response(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut bytes = head(status, headers, body.len());
    bytes.extend_from_slice(body);
    bytes
}

/// A response's head that announces `length` bytes.
pub(crate) fn head(status: u16, headers: &[(&str, &str)], length: usize) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status} Status\r\nContent-Length: {length}\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.into_bytes()
}

/// Ends a connection with a reset instead of an orderly close.
pub(crate) fn reset(stream: &TcpStream) -> Next {
    let socket = socket2::SockRef::from(stream);
    socket
        .set_linger(Some(Duration::ZERO))
        .expect("a socket takes its linger time");
    Next::Close
}

/// Says nothing until the client gives up.
pub(crate) fn hang(mut stream: &TcpStream) -> Next {
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .expect("a socket takes a timeout");
    let _ = stream.read(&mut [0; 1]);
    Next::Close
}
