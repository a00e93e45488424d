//! A row of the route table. `S` is the handlers' shared state, `D` the product's documentation of the row.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::http::call::Call;
use crate::http::method::Method;
use crate::http::reply::Reply;

/// Whether a run ends when its client leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    Attached,
    /// Runs to its end on its own task: hyper drops a handler when its connection closes, and work that moves money
    /// must not stop between two steps.
    Detached,
}

/// Who may call a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    Everyone,
    /// Only the operator: over the Unix socket, or with a proof that the product knows. To others the row is not there.
    Operator,
}

pub type Answer = Pin<Box<dyn Future<Output = Reply> + Send>>;
pub type Handler<S> = fn(Arc<S>, Call) -> Answer;

pub struct Route<S: 'static, D: 'static> {
    pub method: Method,
    /// Segments are literal, or `{name}` for exactly one non-empty segment.
    pub path: &'static str,
    pub handler: Handler<S>,
    pub run: Run,
    pub guard: Guard,
    /// Whether `/from/{source}` in front of the path answers as well.
    pub from_alias: bool,
    /// Whether `.md` behind the path answers with the page as markdown.
    pub has_markdown: bool,
    /// Largest request body, where it is not the shell's.
    pub body_bytes_max: Option<usize>,
    pub about: D,
}

impl<S, D> Route<S, D> {
    pub const fn new(method: Method, path: &'static str, handler: Handler<S>, about: D) -> Self {
        // A POST changes something; only a GET may be dropped half way.
        let run = if matches!(method, Method::Get) {
            Run::Attached
        } else {
            Run::Detached
        };
        Route {
            method,
            path,
            handler,
            run,
            guard: Guard::Everyone,
            from_alias: false,
            has_markdown: false,
            body_bytes_max: None,
            about,
        }
    }
}

impl<S, D: fmt::Debug> fmt::Debug for Route<S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Route")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("run", &self.run)
            .field("guard", &self.guard)
            .field("about", &self.about)
            .finish_non_exhaustive()
    }
}
