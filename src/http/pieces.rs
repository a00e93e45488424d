//! Response bodies: complete, or streamed in pieces with backpressure. A stream that breaks off is visible as incomplete.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::mpsc;

use crate::http::response_budget::{OnSent, Slot};
use crate::sync::lock;

/// Pieces that wait for their reader.
const WAITING_MAX: usize = 1;

/// The end at which pieces come out. An answer can be cloned; its pieces come out once.
#[derive(Clone, Debug)]
pub struct Pieces(Arc<Mutex<mpsc::Receiver<Piece>>>);

type Piece = Result<Bytes, BrokenOff>;

/// The end at which they are put in. Dropped, it ends the answer.
#[derive(Debug)]
pub struct Sink(mpsc::Sender<Piece>);

/// The reader has left.
#[derive(Clone, Copy, Debug)]
pub struct Left;

/// An answer that could not be made to its end.
#[derive(Clone, Copy, Debug)]
pub struct BrokenOff;

pub(in crate::http) fn channel() -> (Sink, Pieces) {
    let (sink, pieces) = mpsc::channel(WAITING_MAX);
    (Sink(sink), Pieces(Arc::new(Mutex::new(pieces))))
}

impl Sink {
    /// Waits until there is room for a piece.
    pub async fn send(&self, piece: impl Into<Bytes>) -> Result<(), Left> {
        self.0.send(Ok(piece.into())).await.map_err(|_| Left)
    }

    /// Ends the answer in such a way that its reader knows that there was more.
    pub async fn break_off(self) {
        // A reader who has left need not be told.
        let _ = self.0.send(Err(BrokenOff)).await;
    }
}

impl fmt::Display for BrokenOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer broke off")
    }
}

impl std::error::Error for BrokenOff {}

/// What hyper sends.
#[derive(Debug)]
pub(in crate::http) enum Content {
    /// The parts that are not sent yet, none of them empty.
    Whole(VecDeque<Bytes>),
    /// The same, and somebody wants to know when all of it has been sent.
    Watched {
        parts: VecDeque<Bytes>,
        slot: Arc<Slot>,
        on_sent: OnSent,
    },
    Pieces(Pieces),
}

impl Content {
    pub(in crate::http) fn parts(parts: impl Iterator<Item = Bytes>) -> Content {
        Content::Whole(parts.filter(|part| !part.is_empty()).collect())
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        let piece = match &mut *self {
            Content::Whole(parts) => parts.pop_front().map(Ok),
            Content::Watched {
                parts,
                slot,
                on_sent,
            } => {
                let part = parts.pop_front();
                if parts.is_empty() {
                    // What is left is in hyper's hands: its next complete flush sends it.
                    slot.call_when_flushed(on_sent.clone());
                }
                part.map(Ok)
            }
            Content::Pieces(Pieces(pieces)) => {
                // Held for single polls, in which nothing panics.
                let mut pieces = lock(pieces);
                ready!(pieces.poll_recv(context))
            }
        };
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Content::Whole(parts) | Content::Watched { parts, .. } => parts.is_empty(),
            Content::Pieces(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Content::Whole(parts) | Content::Watched { parts, .. } => {
                SizeHint::with_exact(parts.iter().map(|part| part.len() as u64).sum())
            }
            Content::Pieces(_) => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn pieces_come_out_in_their_order_and_end_with_the_sink() {
        let (sink, pieces) = channel();
        let putting = tokio::spawn(async move {
            for piece in ["a", "b", "c"] {
                sink.send(piece).await.expect("somebody reads");
            }
        });
        let whole = Content::Pieces(pieces).collect().await;
        assert_eq!(&*whole.expect("whole").to_bytes(), b"abc");
        putting.await.expect("no panic");
    }

    #[tokio::test]
    async fn what_breaks_off_is_not_whole_and_who_has_left_is_not_waited_for() {
        let (sink, pieces) = channel();
        tokio::spawn(async move {
            let _ = sink.send("a").await;
            sink.break_off().await;
        });
        assert!(Content::Pieces(pieces).collect().await.is_err());
        let (sink, pieces) = channel();
        drop(pieces);
        assert!(sink.send("a").await.is_err());
    }
}
