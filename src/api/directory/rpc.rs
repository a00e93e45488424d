//! JSON-RPC 2.0 over POST, as MCP and A2A use it: one message, one response. It knows no method.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::domain::schema::without_mark;
use crate::http::{Call, Reply};
use crate::x402::json as strict;

const PARSE_ERROR: i64 = -32700;
pub const INVALID_REQUEST: i64 = -32600;
pub const METHOD_NOT_FOUND: i64 = -32601;
pub const INVALID_PARAMS: i64 = -32602;

/// An incoming message.
#[derive(Debug)]
pub enum Message {
    Request {
        id: Value,
        method: String,
        params: Option<Box<RawValue>>,
    },
    /// A notification, or a response to a request that we never send: needs no reply.
    Other,
}

/// Why a request has no result.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub code: i64,
    pub message: String,
    pub data: Option<Value>,
}

impl Fault {
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Fault {
            code,
            message: message.into(),
            data: None,
        }
    }
}

#[derive(Deserialize)]
struct Wire {
    jsonrpc: Option<String>,
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    method: Option<String>,
    params: Option<Box<RawValue>>,
}

/// Tells `"id": null` from a missing `id`.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Reads one message. A repeated member is refused, because parsers disagree on which one counts.
pub fn read(call: &Call) -> Result<Message, Fault> {
    let body = without_mark(&call.body);
    strict::check(body).map_err(|error| Fault::new(PARSE_ERROR, error.to_string()))?;
    let wire: Wire = serde_json::from_slice(body).map_err(|_| {
        Fault::new(
            INVALID_REQUEST,
            "Send one JSON-RPC 2.0 message as an object; batches are not supported",
        )
    })?;
    if wire.jsonrpc.as_deref() != Some("2.0") {
        return Err(Fault::new(INVALID_REQUEST, "jsonrpc is not \"2.0\""));
    }
    match (wire.method, wire.id) {
        (Some(method), Some(id)) if id.is_string() || id.is_number() => Ok(Message::Request {
            id,
            method,
            params: wire.params,
        }),
        (Some(_), Some(_)) => Err(Fault::new(
            INVALID_REQUEST,
            "id is neither a string nor a number",
        )),
        _ => Ok(Message::Other),
    }
}

/// Params as a type; absent ones are an empty object.
pub fn params<'de, T: Deserialize<'de>>(params: Option<&'de RawValue>) -> Result<T, Fault> {
    let text = params.map_or("{}", RawValue::get);
    serde_json::from_str(text).map_err(|error| Fault::new(INVALID_PARAMS, error.to_string()))
}

/// The response to a request.
pub fn answer(id: &Value, outcome: Result<Value, Fault>) -> Reply {
    let body = match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(fault) => error(id, &fault),
    };
    Reply::json(200, body.to_string()).no_store()
}

/// An error with an HTTP status; the id is null if there is no valid request.
pub fn refuse(status: u16, id: &Value, fault: &Fault) -> Reply {
    Reply::json(status, error(id, fault).to_string()).no_store()
}

/// The response to a notification.
pub fn nothing() -> Reply {
    Reply::empty(202).no_store()
}

fn error(id: &Value, fault: &Fault) -> Value {
    let mut error = json!({"code": fault.code, "message": fault.message});
    if let Some(data) = &fault.data {
        error["data"] = data.clone();
    }
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}
