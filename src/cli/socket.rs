//! The running service from the command line: one request over its own HTTP, mostly by the operator's socket.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::app::store_settings;
use crate::cli::{Failure, failed, run_async};
use crate::config::Config;
use crate::store::Store;

/// Longer than a buyer waits for a settlement: that is what a reconciliation waits for, too.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(120);

const HEALTH_TIME_MAX: Duration = Duration::from_secs(5);

/// The running service's end of the socket. `None` when no service listens there.
pub(in crate::cli) fn connect(socket: &Path) -> Option<UnixStream> {
    UnixStream::connect(socket).ok()
}

/// The JSON answer to GET `path`. An error answer becomes a failure with its message.
pub(in crate::cli) fn get(stream: UnixStream, path: &str) -> Result<Value, Failure> {
    ask(stream, "GET", path, ANSWER_TIME_MAX)
}

/// The same for a POST without a body.
pub(in crate::cli) fn post(stream: UnixStream, path: &str) -> Result<Value, Failure> {
    post_within(stream, path, ANSWER_TIME_MAX)
}

/// The same for what may take longer.
pub(in crate::cli) fn post_within(
    stream: UnixStream,
    path: &str,
    time_max: Duration,
) -> Result<Value, Failure> {
    ask(stream, "POST", path, time_max)
}

/// What /health says at the public port, from this machine.
pub(in crate::cli) fn health_at(listen: SocketAddr) -> Result<Value, Failure> {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    let address = SocketAddr::new(ip, listen.port());
    let stream = TcpStream::connect_timeout(&address, HEALTH_TIME_MAX)
        .map_err(|error| failed(format_args!("no service answers at {address}: {error}")))?;
    stream.set_read_timeout(Some(HEALTH_TIME_MAX))?;
    let silent = |why: &str| {
        failed(format_args!(
            "what listens at {address} gives no answer ({why}); see `journalctl -u context402`"
        ))
    };
    let answer = exchange(stream, "GET", "/health").map_err(|error| silent(&error.to_string()))?;
    if answer.is_empty() {
        return Err(silent("it hangs up"));
    }
    read(&answer)
}

/// The answer to GET `path` as a text, which is told as it stands.
pub(in crate::cli) fn text(stream: UnixStream, path: &str) -> Result<String, Failure> {
    stream.set_read_timeout(Some(ANSWER_TIME_MAX))?;
    let body = exchange(stream, "GET", path)?;
    if is_error(&body) {
        read(&body)?;
    }
    String::from_utf8(body).map_err(Failure::from)
}

/// Asks the running service, or looks into the file of a stopped one: the operator notices no difference.
pub(in crate::cli) fn ask_or_open(
    config: &Config,
    (method, path): (&str, &str),
    look: impl AsyncFnOnce(&Store) -> Result<Value, Failure>,
) -> Result<Value, Failure> {
    match connect(&config.socket) {
        Some(stream) => ask(stream, method, path, ANSWER_TIME_MAX),
        None => open(config, look),
    }
}

/// Looks into the file of a stopped service.
pub(in crate::cli) fn open<T>(
    config: &Config,
    look: impl AsyncFnOnce(&Store) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let opened = store_settings(config)
        .open(&config.data_file, false)
        .map_err(failed)?;
    run_async(1, async {
        let answer = look(&opened.store).await;
        opened.store.close().await.map_err(failed)?;
        answer
    })
}

fn ask(stream: UnixStream, method: &str, path: &str, time_max: Duration) -> Result<Value, Failure> {
    stream.set_read_timeout(Some(time_max))?;
    read(&exchange(stream, method, path)?)
}

fn exchange(mut stream: impl Read + Write, method: &str, path: &str) -> Result<Vec<u8>, Failure> {
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: operator\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let end = answer
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .map_or(answer.len(), |end| end + 4);
    Ok(answer.split_off(end))
}

fn is_error(body: &[u8]) -> bool {
    body.starts_with(br#"{"status":"error""#)
}

fn read(body: &[u8]) -> Result<Value, Failure> {
    let value: Value = serde_json::from_slice(body)?;
    match value["error"]["message"].as_str() {
        Some(message) => Err(Failure::Failed(message.to_owned())),
        None => Ok(value),
    }
}
