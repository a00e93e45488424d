//! A server on loopback for tests of clients: answers with raw bytes, so that it can also say what no real server says.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// One request as it came in. Header names are lower case.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

/// What to do with a request.
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

/// A whole response with its length.
pub(crate) fn response(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut text = format!(
        "HTTP/1.1 {status} Status\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

pub(crate) struct Server {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

type Handler = Box<dyn FnMut(&Request) -> Step + Send>;

impl Server {
    pub(crate) fn start(handler: impl FnMut(&Request) -> Step + Send + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let handler: Arc<Mutex<Handler>> = Arc::new(Mutex::new(Box::new(handler)));
        let log = requests.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (handler, log) = (handler.clone(), log.clone());
                thread::spawn(move || serve(&stream, &handler, &log));
            }
        });
        Server { url, requests }
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("no panic before").clone()
    }
}

fn serve(stream: &TcpStream, handler: &Mutex<Handler>, log: &Mutex<Vec<Request>>) {
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    while let Some(request) = read(&mut reader) {
        log.lock().expect("no panic before").push(request.clone());
        let step = (handler.lock().expect("no panic before"))(&request);
        match step {
            Step::Reply(bytes) => {
                if writer.write_all(&bytes).is_err() {
                    return;
                }
            }
            // A client that has left is the test's affair, not ours.
            Step::Last(bytes) => {
                let _ = writer.write_all(&closing(&bytes));
                return;
            }
            Step::Vanish(bytes) => {
                let _ = writer.write_all(&bytes);
                return;
            }
            Step::Hang(time) => {
                thread::sleep(time);
                return;
            }
        }
    }
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
    let length = request
        .header("content-length")
        .unwrap_or("0")
        .parse()
        .ok()?;
    request.body.resize(length, 0);
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}

fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    let length = reader.read_line(&mut line).ok()?;
    (length > 0).then(|| line.trim_end().to_owned())
}
