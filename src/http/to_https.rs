//! The plain HTTP port beside HTTPS: it redirects reads, refuses everything else, and answers the authority's requests for
//! a proof. It serves nothing.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Method, Request};

use crate::http::reply::Reply;
use crate::http::tls::Certificates;

/// Where an ACME authority asks for a proof (RFC 8555, 8.3).
const PROOFS: &str = "/.well-known/acme-challenge/";

/// What the plain port needs to know.
#[derive(Debug)]
pub struct ToHttps {
    /// The https origin, without a trailing slash.
    base_url: String,
    certificates: Arc<Certificates>,
}

impl ToHttps {
    pub fn new(base_url: &str, certificates: Arc<Certificates>) -> ToHttps {
        ToHttps {
            base_url: base_url.to_owned(),
            certificates,
        }
    }

    /// Where a request should have been sent.
    pub(in crate::http) fn address(&self, request: &Request<Incoming>) -> String {
        let path = request.uri().path_and_query();
        let path = path.map_or("/", |path| path.as_str());
        match path.starts_with('/') {
            true => format!("{}{path}", self.base_url),
            false => self.base_url.clone(),
        }
    }

    /// The answer to a read. `None` for any other request: a redirect of that would make clients repeat it in clear, with
    /// the payment that it may carry.
    pub(in crate::http) fn read(&self, request: &Request<Incoming>) -> Option<Reply> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return None;
        }
        let proof = request.uri().path().strip_prefix(PROOFS);
        if let Some(text) = proof.and_then(|token| self.certificates.text(token)) {
            return Some(Reply::text(200, text));
        }
        let address = self.address(request);
        Some(Reply::redirect(308, &address))
    }
}
