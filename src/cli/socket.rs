//! The operator's socket from the command line: one GET over the service's own HTTP.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::cli::Failure;

const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);

/// The running service's end of the socket. `None` when no service listens there.
pub(in crate::cli) fn connect(socket: &Path) -> Option<UnixStream> {
    UnixStream::connect(socket).ok()
}

/// The JSON answer to GET `path`. An error answer becomes a failure with its message.
pub(in crate::cli) fn get(mut stream: UnixStream, path: &str) -> Result<Value, Failure> {
    stream.set_read_timeout(Some(ANSWER_TIME_MAX))?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: operator\r\nConnection: close\r\n\r\n");
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
