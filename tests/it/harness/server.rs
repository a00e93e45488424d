//! A small HTTP/1.1 server on loopback that may misbehave in every way: its handler is given the socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// A request as it came in. Header names are lower case.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
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

/// A server that ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) address: SocketAddr,
    closing: Arc<AtomicBool>,
}

impl Door {
    pub(crate) fn open(
        listener: TcpListener,
        handler: impl Fn(&Request, &TcpStream) -> Next + Send + Sync + 'static,
    ) -> Door {
        let address = listener.local_addr().expect("a bound listener");
        let closing = Arc::new(AtomicBool::new(false));
        let (closed, handler) = (closing.clone(), Arc::new(handler));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if closed.load(Ordering::SeqCst) {
                    return;
                }
                let handler = handler.clone();
                thread::spawn(move || serve(&stream, &*handler));
            }
        });
        Door { address, closing }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        // Wakes the accepting thread, which then sees that it is over.
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(stream: &TcpStream, handler: &dyn Fn(&Request, &TcpStream) -> Next) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        if handler(&request, stream) == Next::Close {
            return;
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let line = line(reader)?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let line = self::line(reader)?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':')?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request {
        method,
        path,
        headers,
        body: Vec::new(),
    };
    let length = request.header("content-length").unwrap_or("0");
    request.body.resize(length.parse().ok()?, 0);
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}

fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    let length = reader.read_line(&mut line).ok()?;
    (length > 0).then(|| line.trim_end().to_owned())
}

/// Writes a whole response.
pub(crate) fn respond(
    mut stream: &TcpStream,
    status: u16,
    headers: &[(String, String)],
    body: &[u8],
) -> Next {
    let mut bytes = head(status, headers, body.len());
    bytes.extend_from_slice(body);
    match stream.write_all(&bytes) {
        Ok(()) => Next::Keep,
        // The client has left; that is what some tests are about.
        Err(_) => Next::Close,
    }
}

/// A response's head that announces `length` bytes.
pub(crate) fn head(status: u16, headers: &[(String, String)], length: usize) -> Vec<u8> {
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
