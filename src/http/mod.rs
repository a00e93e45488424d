//! The HTTP/1.1 server, the only user of hyper. It is independent of the product: it gets a route table, shared state, and
//! hooks that format its refusals.

mod bodies;
pub mod call;
pub mod client;
mod coding;
mod connection_limit;
pub mod forwarded;
pub mod hooks;
mod host;
mod idle;
mod lingering_close;
mod method;
pub mod pieces;
pub mod reply;
mod request_body;
pub mod request_ids;
mod response_budget;
pub mod route;
pub mod router;
pub mod server;
pub mod service;
pub mod tls;
pub mod to_https;
mod unparsed;
mod write_timeout;

pub use bodies::Bodies;
pub use call::{Call, Peer, Query};
pub use coding::Encoder;
pub use hyper::HeaderMap;
pub use hyper::body::Bytes;
pub use hyper::header::{HeaderName, HeaderValue};
pub use method::Method;
pub use pieces::Sink;
pub use reply::{HeaderText, KeptAlive, Reply};
pub use response_budget::OnSent;
pub use route::{Answer, Guard, Route, Run};
