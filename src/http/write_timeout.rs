//! A stream with a write timeout and a minimum read rate, which hyper lacks. Otherwise a client that reads a large response
//! byte by byte would hold it and the connection forever.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use crate::http::idle::Turns;
use crate::http::response_budget::Slot;

/// Every so many bytes that a reader takes give it one more millisecond, up to the limit.
const BYTES_PER_MILLISECOND_MIN: usize = 4;

/// `inner`, with an error once a reader owes us the limit: by reading nothing for so long, or too little for longer.
#[derive(Debug)]
pub(in crate::http) struct WriteTimeout<I> {
    inner: I,
    limit: Duration,
    slot: Arc<Slot>,
    turns: Arc<Turns>,
    /// Armed by the first write of an answer that is pending, until all of the answer is written.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<I> WriteTimeout<I> {
    pub(in crate::http) fn new(
        inner: I,
        limit: Duration,
        slot: Arc<Slot>,
        turns: Arc<Turns>,
    ) -> Self {
        WriteTimeout {
            inner,
            limit,
            slot,
            turns,
            timer: None,
        }
    }

    fn watch(
        &mut self,
        outcome: Poll<io::Result<usize>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let latest = Instant::now() + self.limit;
        match outcome {
            Poll::Ready(Ok(bytes)) => {
                self.slot.note_taken(bytes);
                if let Some(timer) = &mut self.timer {
                    let earned = u64::try_from(bytes / BYTES_PER_MILLISECOND_MIN);
                    let earned = Duration::from_millis(earned.unwrap_or(u64::MAX));
                    let deadline = (timer.deadline() + earned).min(latest);
                    timer.as_mut().reset(deadline);
                }
                outcome
            }
            Poll::Ready(Err(_)) => outcome,
            Poll::Pending => {
                let timer = self
                    .timer
                    .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(latest)));
                match timer.as_mut().poll(context) {
                    Poll::Ready(()) => Poll::Ready(Err(io::Error::new(
                        io::ErrorKind::TimedOut,
                        "the client stopped reading",
                    ))),
                    Poll::Pending => Poll::Pending,
                }
            }
        }
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for WriteTimeout<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.watch(outcome, context)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.inner).poll_flush(context);
        match outcome {
            // hyper flushes once it has written all that it had.
            Poll::Ready(outcome) => {
                self.timer = None;
                match outcome {
                    Ok(()) => self.slot.flushed(),
                    Err(_) => self.slot.read_out(),
                }
                self.turns.flushed();
                Poll::Ready(outcome)
            }
            Poll::Pending => self.watch(Poll::Pending, context).map_ok(|_| ()),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.turns.ends();
        Pin::new(&mut self.inner).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write_vectored(context, buffers);
        self.watch(outcome, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
