//! `/mcp`: the Model Context Protocol over streamable HTTP, without sessions. Its tools come from the route table. There is
//! no streaming and no server request, so GET and DELETE return 405, as the protocol allows.

pub mod card;
pub mod era;
pub mod tools;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::body::check_media_type;
use crate::api::directory::mcp::era::{Era, HANDSHAKE_VERSIONS};
use crate::api::directory::openapi;
use crate::api::directory::rpc::{
    self, Fault, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Message,
};
use crate::api::failure;
use crate::app::{App, Shared};
use crate::http::{Call, Reply};

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// How long clients may cache the list of tools.
const LIST_MILLISECONDS: u64 = 300_000;

/// POST /mcp.
pub async fn post(app: Shared, call: Call) -> Reply {
    if let Err(refusal) = check_media_type(&call) {
        return failure::reply(&app, &refusal, &call);
    }
    if !may_ask(&app, &call) {
        let fault = Fault::new(
            INVALID_REQUEST,
            "This service is on loopback and does not accept requests from other web pages",
        );
        return rpc::refuse(403, &Value::Null, &fault);
    }
    let (id, method, params) = match rpc::read(&call) {
        Ok(Message::Request { id, method, params }) => (id, method, params),
        Ok(Message::Other) => return rpc::nothing(),
        Err(fault) => return rpc::refuse(400, &Value::Null, &fault),
    };
    let params = params.as_deref();
    let era = match era::of(&call, &method, params) {
        Ok(era) => era,
        Err(fault) => return rpc::refuse(400, &id, &fault),
    };
    if method == "tools/call" {
        return match rpc::params(params) {
            Ok(asked) => call_tool(&app, &call, &id, era, asked).await,
            Err(fault) => rpc::answer(&id, Err(fault)),
        };
    }
    let outcome = match (method.as_str(), era) {
        ("initialize", Era::Handshake) => rpc::params(params).map(|asked| initialize(&app, &asked)),
        ("ping", Era::Handshake) => Ok(json!({})),
        ("server/discover", Era::PerRequest) => Ok(discovered(&app)),
        ("tools/list", _) => rpc::params(params).and_then(|asked| list(&app, &asked)),
        _ => Err(Fault::new(METHOD_NOT_FOUND, "No such method")),
    };
    match (outcome, era) {
        (Ok(result), Era::PerRequest) => rpc::answer(&id, Ok(complete(&app, result))),
        (Err(fault), Era::PerRequest) if fault.code == METHOD_NOT_FOUND => {
            rpc::refuse(404, &id, &fault)
        }
        (outcome, _) => rpc::answer(&id, outcome),
    }
}

async fn call_tool(app: &Shared, call: &Call, id: &Value, era: Era, asked: tools::Asking) -> Reply {
    match (tools::call(app, call, asked).await, era) {
        (Ok(mut result), Era::PerRequest) => {
            result.meta.insert(SERVER_INFO.to_owned(), server(app));
            result.reply(id, r#""resultType":"complete""#)
        }
        (Ok(result), Era::Handshake) => result.reply(id, ""),
        (Err(fault), _) => rpc::answer(id, Err(fault)),
    }
}

/// SECURITY: another site could make its name resolve to loopback and have its page talk to a service there (DNS
/// rebinding). A public service gives such a page nothing that it does not give everybody.
fn may_ask(app: &App, call: &Call) -> bool {
    let is_loopback = |origin: &str| {
        let host = url::Url::parse(origin).ok();
        let host = host
            .as_ref()
            .and_then(url::Url::host_str)
            .unwrap_or_default();
        matches!(host, "localhost" | "127.0.0.1" | "[::1]")
    };
    match call.header_count("origin") {
        0 => true,
        _ if !app.config.is_loopback() => true,
        _ => call.header("origin").is_some_and(is_loopback),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialize {
    protocol_version: String,
}

/// The client's version if supported, else the newest; the client then decides.
fn initialize(app: &App, asked: &Initialize) -> Value {
    let known = HANDSHAKE_VERSIONS
        .iter()
        .find(|version| **version == asked.protocol_version);
    json!({
        "protocolVersion": known.unwrap_or(&HANDSHAKE_VERSIONS[0]),
        "capabilities": capabilities(),
        "serverInfo": server(app),
        "instructions": INSTRUCTIONS,
    })
}

/// The facts of a handshake.
fn discovered(app: &App) -> Value {
    let mut result = json!({
        "supportedVersions": era::versions(),
        "capabilities": capabilities(),
        "serverInfo": server(app),
        "instructions": INSTRUCTIONS,
    });
    keep(&mut result);
    result
}

fn capabilities() -> Value {
    json!({"tools": {"listChanged": false}})
}

fn server(app: &App) -> Value {
    json!({
        "name": app.config.service_name, "title": app.config.service_name, "version": env!("CARGO_PKG_VERSION"),
        "websiteUrl": app.config.base_url,
    })
}

/// The tools change only with the program and are the same for everybody.
fn keep(result: &mut Value) {
    result["ttlMs"] = LIST_MILLISECONDS.into();
    result["cacheScope"] = "public".into();
}

/// Adds the server's facts to a result without handshake.
fn complete(app: &App, mut result: Value) -> Value {
    result["resultType"] = "complete".into();
    result["_meta"][SERVER_INFO] = server(app);
    result
}

const INSTRUCTIONS: &str = "Free tools respond immediately. A paid tool called without payment returns isError and an \
                            x402 PaymentRequired as structuredContent: sign one of its accepts and call again with the \
                            same arguments and the payment in _meta[\"x402/payment\"]. The receipt is in \
                            _meta[\"x402/payment-response\"]. You are charged only if the response is delivered; if it was \
                            lost, repeat the call with the same payment.";

#[derive(Deserialize)]
struct List {
    cursor: Option<Value>,
}

fn list(app: &App, asked: &List) -> Result<Value, Fault> {
    if asked.cursor.is_some() {
        return Err(Fault::new(
            INVALID_PARAMS,
            "The list of tools has only one page",
        ));
    }
    let tools: Vec<Value> = tools::rows(app)
        .map(|row| tools::description(row, openapi::parameters::query_schema))
        .collect();
    let mut result = json!({ "tools": tools });
    keep(&mut result);
    Ok(result)
}
