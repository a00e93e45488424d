//! systemd integration: notification datagrams, and socket activation, so that no connection is refused during a restart.

use std::ffi::OsStr;
use std::io;
use std::net::SocketAddr;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixDatagram};
use std::path::Path;
use std::time::Duration;

use listenfd::ListenFd;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, UnixStream};

/// Says how the service is; says nothing where nobody wants to hear it.
#[derive(Debug)]
pub struct Notifier(Option<(UnixDatagram, UnixAddr)>);

impl Notifier {
    pub fn new(socket: Option<&OsStr>) -> io::Result<Notifier> {
        let Some(name) = socket else {
            return Ok(Notifier(None));
        };
        let address = match name.as_bytes().strip_prefix(b"@") {
            Some(name) => UnixAddr::from_abstract_name(name)?,
            None => UnixAddr::from_pathname(name)?,
        };
        let from = UnixDatagram::unbound()?;
        // A supervisor that does not listen must not hold the service up.
        from.set_nonblocking(true)?;
        Ok(Notifier(Some((from, address))))
    }

    /// Lines such as `READY=1`.
    pub fn tell(&self, lines: &str) {
        if let Some((from, address)) = &self.0
            && let Err(error) = from.send_to_addr(lines.as_bytes(), address)
        {
            tracing::warn!(error = %error, "the supervisor could not be told how the service is");
        }
    }
}

/// The listeners that the supervisor has bound for us.
#[derive(Debug)]
pub struct Inherited {
    pub tcp: Vec<std::net::TcpListener>,
    pub unix: Vec<std::os::unix::net::UnixListener>,
}

/// To be asked for before there are threads: it takes its variables out of the environment.
pub fn inherited() -> io::Result<Inherited> {
    let mut handed_over = ListenFd::from_env();
    let mut inherited = Inherited {
        tcp: Vec::new(),
        unix: Vec::new(),
    };
    for at in 0..handed_over.len() {
        // One of the other kind is left where it is.
        match handed_over.take_unix_listener(at) {
            Ok(listener) => inherited.unix.extend(listener),
            Err(_) => inherited.tcp.extend(handed_over.take_tcp_listener(at)?),
        }
    }
    Ok(inherited)
}

/// The Unix sockets of them.
pub fn inherited_unix() -> io::Result<Vec<std::os::unix::net::UnixListener>> {
    Ok(inherited()?.unix)
}

/// Which of them is the service's and which, by its port, is for plain HTTP beside HTTPS.
pub fn by_port(
    inherited: Vec<std::net::TcpListener>,
    http: Option<SocketAddr>,
) -> io::Result<(Option<TcpListener>, Option<TcpListener>)> {
    let (mut own, mut plain) = (Vec::new(), Vec::new());
    for listener in inherited {
        let port = listener.local_addr()?.port();
        match http.is_some_and(|http| http.port() == port) {
            true => plain.push(listener),
            false => own.push(listener),
        }
    }
    if own.len() > 1 || plain.len() > 1 {
        let number = own.len() + plain.len();
        return Err(io::Error::other(format!(
            "{number} sockets were handed over; the socket unit must name one ListenStream, and with HTTPS another one \
             with the port of tls.http_listen"
        )));
    }
    let own = own.pop().map(listener).transpose()?;
    Ok((own, plain.pop().map(listener).transpose()?))
}

/// The same as the async side takes it.
fn listener(inherited: std::net::TcpListener) -> io::Result<TcpListener> {
    inherited.set_nonblocking(true)?;
    TcpListener::from_std(inherited)
}

/// Whether the service answers a request over its operator's socket, where no crowd of clients can keep us out.
pub async fn answers(socket: &Path, within: Duration) -> bool {
    const REQUEST: &[u8] =
        b"GET /health?live=1 HTTP/1.1\r\nHost: operator\r\nConnection: close\r\n\r\n";
    const STATUS: &[u8] = b"HTTP/1.1 200 ";
    let asked = async {
        let mut stream = UnixStream::connect(socket).await?;
        stream.write_all(REQUEST).await?;
        let mut answer = [0; STATUS.len()];
        stream.read_exact(&mut answer).await?;
        io::Result::Ok(answer == *STATUS)
    };
    matches!(tokio::time::timeout(within, asked).await, Ok(Ok(true)))
}
