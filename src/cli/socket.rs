//! One HTTP request to the running service, usually over the operator's socket.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::app::store_settings;
use crate::cli::progress::Progress;
use crate::cli::{Failure, failed, run_async};
use crate::config::Config;
use crate::http::client::{self, Answer};
use crate::store::{OpenError, Opened, Store};

/// Longer than a settlement, because a reconciliation waits for one.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(120);

const HEALTH_TIME_MAX: Duration = Duration::from_secs(5);

/// How long a stopping service may still hold the data file.
const LET_GO_TIME_MAX: Duration = Duration::from_secs(2);
const LET_GO_PAUSE: Duration = Duration::from_millis(50);

/// A connection to the running service. `None` if no service listens.
pub(in crate::cli) fn connect(socket: &Path) -> Option<UnixStream> {
    UnixStream::connect(socket).ok()
}

/// The JSON response to GET `path`. An error response becomes a failure with its message.
pub(in crate::cli) fn get(stream: UnixStream, path: &str) -> Result<Value, Failure> {
    ask(stream, "GET", path, ANSWER_TIME_MAX)
}

/// The same for a POST without a body.
pub(in crate::cli) fn post(stream: UnixStream, path: &str) -> Result<Value, Failure> {
    post_within(stream, path, ANSWER_TIME_MAX)
}

/// The same with a longer timeout.
pub(in crate::cli) fn post_within(
    stream: UnixStream,
    path: &str,
    time_max: Duration,
) -> Result<Value, Failure> {
    ask(stream, "POST", path, time_max)
}

/// The result of /health at the public port.
pub(in crate::cli) fn health_at(listen: SocketAddr) -> Result<Value, Failure> {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    let address = SocketAddr::new(ip, listen.port());
    let stream = TcpStream::connect_timeout(&address, HEALTH_TIME_MAX).map_err(|error| {
        failed(format_args!(
            "no service responds at {address}: {error}. Start it, or see `journalctl -u context402`"
        ))
    })?;
    stream.set_nonblocking(true)?;
    let body = run_async(1, async {
        let stream = tokio::net::TcpStream::from_std(stream)?;
        let answer = client::send(stream, "GET", "/health", HEALTH_TIME_MAX).await?;
        Ok(answer.whole().await?)
    });
    read(&body.map_err(|error| {
        failed(format_args!(
            "the service at {address} does not respond ({error}); see `journalctl -u context402`"
        ))
    })?)
}

/// Streams the response to GET `path`.
pub(in crate::cli) fn copy(
    stream: UnixStream,
    path: &str,
    mut write: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), Failure> {
    run_async(1, async {
        let mut answer = send(stream, "GET", path, ANSWER_TIME_MAX).await?;
        if !answer.is_success {
            read(&answer.whole().await?)?;
            return Err(failed("invalid response from the service"));
        }
        while let Some(piece) = answer.piece().await.map_err(|_| broken_off())? {
            write(&piece)?;
        }
        Ok(())
    })
}

fn broken_off() -> Failure {
    failed("the response was cut off, so the output is incomplete. Try again")
}

/// Uses the running service, or the file of a stopped one.
pub(in crate::cli) fn ask_or_open(
    config: &Config,
    (method, path): (&str, &str),
    look: impl AsyncFnOnce(&Store) -> Result<Value, Failure>,
) -> Result<Value, Failure> {
    let _progress = Progress::start("Working on the records");
    match connect(&config.socket) {
        Some(stream) => ask(stream, method, path, ANSWER_TIME_MAX),
        None => open(config, look),
    }
}

/// Opens the file of a stopped service.
pub(in crate::cli) fn open<T>(
    config: &Config,
    look: impl AsyncFnOnce(&Store) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let opened = opened(config)?;
    run_async(1, async {
        let answer = look(&opened.store).await;
        opened.store.close().await.map_err(failed)?;
        answer
    })
}

/// The file of a stopped service; waits briefly for a stopping one.
pub(in crate::cli) fn opened(config: &Config) -> Result<Opened, Failure> {
    let until = Instant::now() + LET_GO_TIME_MAX;
    loop {
        match store_settings(config).open(&config.data_file, false) {
            Err(OpenError::InUse(_)) if Instant::now() < until => {
                std::thread::sleep(LET_GO_PAUSE);
            }
            outcome => return outcome.map_err(failed),
        }
    }
}

fn ask(stream: UnixStream, method: &str, path: &str, time_max: Duration) -> Result<Value, Failure> {
    let body = run_async(1, async {
        let answer = send(stream, method, path, time_max).await?;
        Ok(answer.whole().await?)
    });
    read(&body?)
}

async fn send(
    stream: UnixStream,
    method: &str,
    path: &str,
    time_max: Duration,
) -> io::Result<Answer> {
    stream.set_nonblocking(true)?;
    let stream = tokio::net::UnixStream::from_std(stream)?;
    client::send(stream, method, path, time_max).await
}

fn read(body: &[u8]) -> Result<Value, Failure> {
    let value: Value = serde_json::from_slice(body)?;
    match value["error"]["message"].as_str() {
        Some(message) => Err(Failure::Failed(message.to_owned())),
        None => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::Shutdown;

    use super::*;

    /// What a command makes of an answer.
    fn copied(answer: &str) -> (Result<(), Failure>, String) {
        let (ours, mut theirs) = UnixStream::pair().expect("a pair of sockets");
        let answer = answer.to_owned();
        std::thread::spawn(move || {
            let mut request = BufReader::new(&theirs).lines();
            while request
                .next()
                .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
            {}
            theirs.write_all(answer.as_bytes()).expect("room");
            theirs.shutdown(Shutdown::Write).expect("an open socket");
        });
        let mut told = Vec::new();
        let outcome = copy(ours, "/", |piece| {
            told.extend_from_slice(piece);
            Ok(())
        });
        (outcome, String::from_utf8_lossy(&told).into_owned())
    }

    #[test]
    fn an_answer_in_chunks_is_told_whole_or_not_taken_for_whole() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let (outcome, told) = copied(&format!("{head}5\r\na\r\nbc\r\n2\r\nde\r\n0\r\n\r\n"));
        assert!(outcome.is_ok() && told == "a\r\nbcde", "{told:?}");
        for rest in [
            "",
            "5\r\nab",
            "2\r\nab",
            "2\r\nab\r\n",
            "2\r\nabc\r\n",
            "x\r\n",
        ] {
            let (outcome, told) = copied(&format!("{head}{rest}"));
            assert!(outcome.is_err(), "{rest:?}: {told:?}");
        }
    }

    #[test]
    fn an_error_in_place_of_chunks_is_told_as_one() {
        let error = r#"{"status":"error","error":{"message":"There is no such export."}}"#;
        let (outcome, told) = copied(&format!("HTTP/1.1 404 Not Found\r\n\r\n{error}"));
        let Err(Failure::Failed(message)) = outcome else {
            panic!("it is no failure")
        };
        assert_eq!((&*message, &*told), ("There is no such export.", ""));
    }
}
