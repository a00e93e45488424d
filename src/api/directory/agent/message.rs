//! The free message interface of the agent card: any message gets the products, their prices and how to buy them. Only
//! URLs in the text are interpreted; nothing is stored or fetched.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::api::body::check_media_type;
use crate::api::directory::agent::VERSIONS;
use crate::api::directory::discovery;
use crate::api::directory::rpc::{self, Fault, INVALID_PARAMS, METHOD_NOT_FOUND, Message};
use crate::api::failure;
use crate::app::{App, Shared};
use crate::domain::check;
use crate::domain::level::Product;
use crate::domain::schema::without_mark;
use crate::domain::shapes::TARGET_URL_CHARACTERS_MAX;
use crate::http::{Call, Reply};
use crate::state::offers;
use crate::x402::json as strict;

const TASK_NOT_FOUND: i64 = -32001;
const UNSUPPORTED: i64 = -32004;
const VERSION_NOT_SUPPORTED: i64 = -32009;
const PARTS_MAX: usize = 32;
const ID_CHARACTERS_MAX: usize = 256;
/// How many addresses of a message are offered as sources. The default bundle takes as many as a check.
const ADDRESSES_MAX: usize = check::SOURCES_MAX;

/// The message format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    /// A2A 0.3: parts have a `kind`.
    Old,
    /// A2A 1.0: a part's kind shows in its member, and a message is wrapped.
    New,
}

/// POST /a2a: JSON-RPC.
pub async fn rpc(app: Shared, call: Call) -> Reply {
    if let Err(refusal) = check_media_type(&call) {
        return failure::reply(&app, &refusal, &call);
    }
    match rpc::read(&call) {
        Ok(Message::Request { id, method, params }) => {
            let asked = || rpc::params(params.as_deref());
            let outcome = match method.as_str() {
                _ if check_version(&call).is_err() => Err(version_fault()),
                "message/send" => {
                    asked().and_then(|asked| answer(&app, &call, Dialect::Old, asked))
                }
                "SendMessage" => asked().and_then(|asked| answer(&app, &call, Dialect::New, asked)),
                "tasks/get" | "GetTask" | "tasks/cancel" | "CancelTask" => Err(Fault::new(
                    TASK_NOT_FOUND,
                    "Tasks are not supported: every message is answered immediately",
                )),
                "message/stream" | "SendStreamingMessage" => Err(Fault::new(
                    UNSUPPORTED,
                    "Streaming is not supported; use message/send or SendMessage",
                )),
                _ => Err(Fault::new(
                    METHOD_NOT_FOUND,
                    "No such method; use message/send or SendMessage",
                )),
            };
            rpc::answer(&id, outcome)
        }
        Ok(Message::Other) => rpc::nothing(),
        Err(fault) => rpc::refuse(400, &Value::Null, &fault),
    }
}

/// POST /a2a/message:send: HTTP+JSON, A2A 1.0.
pub async fn send(app: Shared, call: Call) -> Reply {
    if let Err(refusal) = check_media_type(&call) {
        return failure::reply(&app, &refusal, &call);
    }
    let outcome = check_version(&call).and_then(|()| {
        let body = without_mark(&call.body);
        strict::check(body).map_err(|error| Fault::new(INVALID_PARAMS, error.to_string()))?;
        let asked = serde_json::from_slice(body)
            .map_err(|error| Fault::new(INVALID_PARAMS, error.to_string()))?;
        answer(&app, &call, Dialect::New, asked)
    });
    match outcome {
        Ok(answer) => Reply::json(200, answer.to_string()).no_store(),
        Err(fault) => {
            let problem = json!({"type": "about:blank", "title": "Bad Request", "status": 400, "detail": fault.message});
            Reply::new(400, "application/problem+json", problem.to_string()).no_store()
        }
    }
}

/// Absent, any version is meant.
fn check_version(call: &Call) -> Result<(), Fault> {
    match (call.header_count("a2a-version"), call.header("a2a-version")) {
        (0, _) | (1, Some("")) => Ok(()),
        (1, Some(version)) if VERSIONS.iter().any(|known| version.starts_with(known)) => Ok(()),
        _ => Err(version_fault()),
    }
}

fn version_fault() -> Fault {
    let spoken = VERSIONS.join(" and ");
    Fault::new(
        VERSION_NOT_SUPPORTED,
        format!("Unsupported A2A-Version; supported are {spoken}"),
    )
}

#[derive(Deserialize)]
struct SendMessage {
    message: Said,
}

/// A message, in either dialect.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Said {
    role: String,
    message_id: String,
    parts: Vec<Map<String, Value>>,
    context_id: Option<String>,
}

fn answer(app: &App, call: &Call, dialect: Dialect, asked: SendMessage) -> Result<Value, Fault> {
    let message = asked.message;
    let role = match dialect {
        Dialect::Old => "user",
        Dialect::New => "ROLE_USER",
    };
    let wrong = |what: String| Err(Fault::new(INVALID_PARAMS, what));
    if message.role != role {
        return wrong(format!("message.role should be {role}"));
    }
    if message.message_id.is_empty() || message.message_id.len() > ID_CHARACTERS_MAX {
        return wrong(format!(
            "message.messageId should have 1 to {ID_CHARACTERS_MAX} characters"
        ));
    }
    if message.parts.is_empty() || message.parts.len() > PARTS_MAX {
        return wrong(format!("message.parts should hold 1 to {PARTS_MAX} parts"));
    }
    let context = message
        .context_id
        .filter(|id| (1..=ID_CHARACTERS_MAX).contains(&id.len()));
    let context = context.unwrap_or_else(|| call.request_id.replace("req_", "ctx_"));
    let id = call.request_id.replace("req_", "msg_");
    let (text, data) = (TEXT, offer(app, &addresses(&message.parts)));
    Ok(match dialect {
        Dialect::Old => json!({
            "kind": "message", "role": "agent", "messageId": id, "contextId": context,
            "parts": [{"kind": "text", "text": text}, {"kind": "data", "data": data}],
        }),
        Dialect::New => json!({"message": {
            "role": "ROLE_AGENT", "messageId": id, "contextId": context,
            "parts": [{"text": text}, {"data": data, "mediaType": "application/json"}],
        }}),
    })
}

const TEXT: &str = "This service sells web pages as markdown and evidence reports over HTTP and MCP, paid per call by x402. \
The data part lists prices and requests; quotes and the sample report are free.";

/// The URLs in text parts, each once.
fn addresses(parts: &[Map<String, Value>]) -> Vec<&str> {
    let texts = parts
        .iter()
        .filter_map(|part| part.get("text")?.as_str())
        .flat_map(str::split_whitespace)
        .map(|word| word.trim_start_matches(|c: char| "\"'<([".contains(c)))
        .map(|word| word.trim_end_matches(|c: char| "\"'>)],;.:!?".contains(c)));
    let is_address = |word: &&str| {
        (word.starts_with("http://") || word.starts_with("https://"))
            && word.len() <= TARGET_URL_CHARACTERS_MAX
    };
    let mut found = Vec::new();
    for address in texts.filter(is_address) {
        if found.len() < ADDRESSES_MAX && !found.contains(&address) {
            found.push(address);
        }
    }
    found
}

/// The brief, and a request for each product. The addresses of the message replace those of the example.
fn offer(app: &App, addresses: &[&str]) -> Value {
    let mut offer = discovery::brief(app);
    let requests = Product::ALL.map(|product| {
        let mut body = offers::bazaar(product.default_level().into()).body_example;
        if let Some(first) = addresses.first() {
            match product {
                Product::Context | Product::ProofPack => body["target_url"] = (*first).into(),
                // A bundle needs two sources: the example's second remains.
                Product::ProofBundle if addresses.len() == 1 => {
                    body["target_urls"][0] = (*first).into();
                }
                Product::ProofBundle => body["target_urls"] = addresses.into(),
                Product::Check => body["sources"] = addresses.into(),
            }
        }
        json!({"method": "POST", "url": app.url(product.path()), "body": body})
    });
    offer["requests"] = requests.to_vec().into();
    offer
}
