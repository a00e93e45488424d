//! Any request line and body through the route table, the query and every shape of a body.

use std::path::Path;
use std::sync::LazyLock;

use context402::app::App;
use context402::domain::endpoint::Endpoint;
use context402::domain::schema::Object;
use context402::domain::shapes;
use context402::http::router::{Found, Router};
use context402::http::{Guard, Method, Peer, Query, Route};
use context402::routes::ROUTES;

use super::mutation::{files, mutated};
use super::random::Random;

const WORDS: [&str; 48] = [
    "/",
    "//",
    "/.",
    "/..",
    "%2f",
    "%2F",
    "%61",
    "%00",
    "%",
    "%zz",
    "%c0%af",
    ";",
    "?",
    "&",
    "=",
    "+",
    "#",
    "\\",
    "\0",
    "\r\n",
    "/from/",
    "/from/ads",
    "/v1",
    "/V1",
    "/v1/x402/access",
    "/v1/x402/retry",
    "/operator",
    "/operator/payments",
    "/v1/quotes",
    "target_url=",
    "tier=",
    "source=",
    "question=",
    "{",
    "}",
    "[",
    "\"",
    ":",
    ",",
    "\"target_url\":",
    "\"tier\":",
    "\"a\":1,",
    "null",
    "1e999",
    "\\u0000",
    "\\ud800",
    "[[[[[[[[[[[[[[[[",
    "\u{e9}",
];
const METHODS: [Method; 5] = [
    Method::Get,
    Method::Head,
    Method::Post,
    Method::Delete,
    Method::Options,
];
const COMPLAINTS_MAX: usize = 64;

static ROUTER: LazyLock<Router<App, Endpoint>> = LazyLock::new(|| Router::new(ROUTES));

pub(crate) fn corpus(tests: &Path) -> Vec<Vec<u8>> {
    let mut seeds = files(&tests.join("fuzz/corpus/request"));
    seeds.extend(
        ROUTES
            .iter()
            .map(|row| format!("{} {} {{}}", row.method.name(), row.path).into_bytes()),
    );
    seeds
}

pub(crate) fn input(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    mutated(random, seeds, &WORDS)
}

/// `METHOD target body`. The method is the first letter's; target and body are split at a blank.
pub(crate) fn body(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut words = text.splitn(3, ' ');
    let method = words
        .next()
        .and_then(|word| METHODS.iter().find(|method| method.name() == word));
    let target = words.next().unwrap_or_default();
    let body = words.next().unwrap_or_default().as_bytes();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let public = Peer::Network(([192, 0, 2, 1], 4_020).into());
    for method in method.map_or(&METHODS[..], std::slice::from_ref) {
        for peer in [public, Peer::Operator] {
            match ROUTER.find(*method, path, peer) {
                Found::Row(row, params) => is_row(row, &params, path, peer),
                Found::OtherMethods(methods) => assert!(!methods.is_empty(), "{path}"),
                Found::Nothing => {}
            }
        }
    }
    let query = Query(query.to_owned());
    for name in ["target_url", "tier", "source", "question", "limit", ""] {
        assert_eq!(query.get(name), query.all(name).next());
    }
    for object in shapes::ALL {
        validated(object, body);
    }
}

/// No other spelling of a path reaches a row, and what a parameter holds stood in the path.
fn is_row(row: &Route<App, Endpoint>, params: &[(&'static str, String)], path: &str, peer: Peer) {
    assert!(
        row.guard == Guard::Everyone || peer == Peer::Operator,
        "{path} is the operator's"
    );
    for (name, value) in params {
        assert!(
            !value.is_empty() && !value.contains('/') && path.contains(value.as_str()),
            "{name} of {path}"
        );
    }
    let filled = params
        .iter()
        .fold(row.path.to_owned(), |path, (name, value)| {
            path.replace(&format!("{{{name}}}"), value)
        });
    let source = params.iter().find(|(name, _)| *name == "source");
    let alias = source.map(|(_, source)| format!("/from/{source}{}", row.path));
    assert!(
        filled == path || alias.as_deref() == Some(path),
        "{path} is no spelling of {}",
        row.path
    );
}

fn validated(object: &Object, body: &[u8]) {
    match object.validate(body) {
        Ok(_) => assert!(
            serde_json::from_slice::<serde_json::Value>(body).is_ok_and(|value| value.is_object())
        ),
        Err(errors) => {
            assert!(
                !errors.is_empty() && errors.len() <= COMPLAINTS_MAX,
                "{} complaints",
                errors.len()
            );
            for error in errors {
                assert!(error.to_json()["loc"].is_array());
            }
        }
    }
}
