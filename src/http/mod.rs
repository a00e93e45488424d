//! The HTTP/1.1 shell: hyper is used here and nowhere else. It knows no product: it is handed a table of rows, the
//! state their handlers share, and hooks that put its refusals into the product's words.

pub mod call;
mod crowd;
pub mod forwarded;
mod linger;
mod outgoing;
pub mod pieces;
pub mod reply;
pub mod request_ids;
pub mod route;
pub mod router;
pub mod server;
pub mod service;
mod stall;

pub use call::{Call, Peer, Query};
pub use hyper::HeaderMap;
pub use hyper::body::Bytes;
pub use pieces::Sink;
pub use reply::{HeaderText, Held, Reply};
pub use route::{Answer, Guard, Method, Route, Run};
