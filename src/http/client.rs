//! The client's side: one request over a connection that is open already, by which the command line asks the running
//! service.

use std::io;
use std::time::Duration;

use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use crate::http::Bytes;

/// An answer whose head has come.
#[derive(Debug)]
pub struct Answer {
    pub is_success: bool,
    body: Incoming,
    pause_max: Duration,
}

/// Sends a request without a body. `pause_max` bounds the wait for the head, and for each piece of the body.
pub async fn send<S>(stream: S, method: &str, path: &str, pause_max: Duration) -> io::Result<Answer>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, "operator")
        .header(header::CONNECTION, "close")
        .body(Empty::<Bytes>::new())
        .map_err(io::Error::other)?;
    let handshake = http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(io::Error::other)?;
    // An error of the connection reaches the futures that await the head or the body.
    tokio::spawn(connection);
    let answer = timeout(pause_max, sender.send_request(request)).await?;
    let answer = answer.map_err(io::Error::other)?;
    Ok(Answer {
        is_success: answer.status().is_success(),
        body: answer.into_body(),
        pause_max,
    })
}

impl Answer {
    /// The next piece of the body; `None` at its end. A body that ends early is an error.
    pub async fn piece(&mut self) -> io::Result<Option<Bytes>> {
        while let Some(frame) = timeout(self.pause_max, self.body.frame()).await? {
            if let Ok(data) = frame.map_err(io::Error::other)?.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    pub async fn whole(mut self) -> io::Result<Vec<u8>> {
        let mut whole = Vec::new();
        while let Some(piece) = self.piece().await? {
            whole.extend_from_slice(&piece);
        }
        Ok(whole)
    }
}
