//! Lingering close (RFC 9112, 9.6). A response may be sent before the whole request was read. Closing the connection then
//! would reset it at the next byte, and the client would lose the response, or a proxy return 502. So the write side is
//! closed first, and further input is read and discarded for a while.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// Long enough for the answer to reach a client far away and for the end of it to come back.
const TIME_MAX: Duration = Duration::from_secs(2);
/// What a client may still send that reads the answer only afterwards.
const BYTES_MAX: usize = 8 * 1024 * 1024;
const READ_BYTES: usize = 8 * 1024;

/// Whether a client is in the middle of a request, as far as it has been read. Shared by the stream, which sees bytes,
/// and the shell, which sees requests.
#[derive(Debug, Default)]
pub(in crate::http) struct RequestInProgress(AtomicBool);

impl RequestInProgress {
    /// All of the request was read.
    pub(in crate::http) fn ended(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    pub(in crate::http) fn is_under_way(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Debug)]
pub(in crate::http) struct LingeringClose<I> {
    inner: I,
    in_progress: Arc<RequestInProgress>,
    time_max: Duration,
    /// Runs while our side is being closed: over TLS that writes, and a client may not read.
    closing: Option<Pin<Box<Sleep>>>,
    /// Set once our side is closed.
    last: Option<Last>,
}

/// What is left of the time and the bytes.
#[derive(Debug)]
struct Last {
    timer: Pin<Box<Sleep>>,
    bytes: usize,
}

impl<I> LingeringClose<I> {
    /// Lingers for `time_max` at most, and never for longer than anybody needs.
    pub(in crate::http) fn new(
        inner: I,
        in_progress: Arc<RequestInProgress>,
        time_max: Duration,
    ) -> Self {
        LingeringClose {
            inner,
            in_progress,
            time_max: time_max.min(TIME_MAX),
            closing: None,
            last: None,
        }
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for LingeringClose<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let came = buffer.filled().len() > before;
        self.in_progress.0.store(came, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl<I: AsyncRead + Unpin> LingeringClose<I> {
    /// Reads until the client has ended, or has had its time or its bytes.
    fn poll_drain(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let time_max = self.time_max;
        let last = self.last.get_or_insert_with(|| Last {
            timer: Box::pin(tokio::time::sleep(time_max)),
            bytes: BYTES_MAX,
        });
        let mut bytes = [0; READ_BYTES];
        while last.timer.as_mut().poll(context).is_pending() {
            let mut buffer = ReadBuf::new(&mut bytes);
            let outcome = ready!(Pin::new(&mut self.inner).poll_read(context, &mut buffer));
            let came = buffer.filled().len();
            if outcome.is_err() || came == 0 || came > last.bytes {
                break;
            }
            last.bytes -= came;
        }
        Poll::Ready(())
    }
}

impl<I: AsyncRead + AsyncWrite + Unpin> AsyncWrite for LingeringClose<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.last.is_none() {
            if let Poll::Ready(closed) = Pin::new(&mut self.inner).poll_shutdown(context) {
                closed?;
            } else {
                let time_max = self.time_max;
                let closing = self
                    .closing
                    .get_or_insert_with(|| Box::pin(tokio::time::sleep(time_max)));
                ready!(closing.as_mut().poll(context));
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            if !self.in_progress.is_under_way() {
                return Poll::Ready(Ok(()));
            }
        }
        self.poll_drain(context).map(Ok)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

    use super::*;

    /// A client in the middle of a request, and our end of its connection.
    async fn connected(time_max: Duration) -> (DuplexStream, LingeringClose<DuplexStream>) {
        let (mut client, inner) = duplex(READ_BYTES);
        let mut ours = LingeringClose::new(inner, Arc::default(), time_max);
        client.write_all(b"POST").await.expect("room");
        ours.read_exact(&mut [0; 4]).await.expect("it came");
        (client, ours)
    }

    #[tokio::test]
    async fn what_still_comes_is_read_and_the_client_sees_the_end_of_the_answer() {
        let (mut client, mut ours) = connected(TIME_MAX).await;
        ours.write_all(b"413").await.expect("room");
        let closing = tokio::spawn(async move { ours.shutdown().await });
        client
            .write_all(&[b'x'; 10 * READ_BYTES])
            .await
            .expect("read");
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.expect("an end");
        assert_eq!(answer, b"413");
        drop(client);
        closing.await.expect("no panic").expect("closed");
    }

    #[tokio::test]
    async fn who_never_ends_is_cut_off() {
        let (mut client, mut ours) = connected(TIME_MAX).await;
        let closing = tokio::spawn(async move { ours.shutdown().await });
        let mut sent = 0;
        while client.write_all(&[b'x'; READ_BYTES]).await.is_ok() {
            sent += READ_BYTES;
            assert!(sent <= 2 * BYTES_MAX, "{sent} bytes were taken");
        }
        assert!(sent >= BYTES_MAX - READ_BYTES, "{sent} bytes were taken");
        closing.await.expect("no panic").expect("closed");
    }

    #[tokio::test]
    async fn who_says_nothing_more_is_waited_for_and_not_for_ever() {
        let (_client, mut ours) = connected(Duration::from_millis(20)).await;
        assert!(begins_to_close(&mut ours).is_pending());
        ours.shutdown().await.expect("closed");
        let (_client, ours) = connected(Duration::from_secs(60)).await;
        assert_eq!(ours.time_max, TIME_MAX);
    }

    #[tokio::test]
    async fn who_has_been_heard_is_not_waited_for() {
        let (_client, mut ours) = connected(TIME_MAX).await;
        ours.in_progress.ended();
        assert!(begins_to_close(&mut ours).is_ready());
    }

    fn begins_to_close(ours: &mut LingeringClose<DuplexStream>) -> Poll<io::Result<()>> {
        let mut context = Context::from_waker(std::task::Waker::noop());
        Pin::new(ours).poll_shutdown(&mut context)
    }
}
