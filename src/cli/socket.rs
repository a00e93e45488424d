//! The operator's socket from the command line: one request over the service's own HTTP.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::cli::Failure;

/// Longer than a buyer waits for a settlement: that is what a reconciliation waits for, too.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(120);

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

fn ask(
    mut stream: UnixStream,
    method: &str,
    path: &str,
    time_max: Duration,
) -> Result<Value, Failure> {
    stream.set_read_timeout(Some(time_max))?;
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: operator\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let body = answer
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .map_or(&[][..], |end| &answer[end + 4..]);
    let value: Value = serde_json::from_slice(body)?;
    match value["error"]["message"].as_str() {
        Some(message) => Err(Failure::Failed(message.to_owned())),
        None => Ok(value),
    }
}
