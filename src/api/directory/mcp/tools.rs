//! Routes as MCP tools. A call becomes a request to the route's own handler, so a tool has the same limits, checks and
//! price as its endpoint. Payment and receipt travel in `_meta` (x402 transports-v2, MCP).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::api::admission;
use crate::api::buyer::access;
use crate::api::directory::documents::public_rows;
use crate::api::directory::rpc::{Fault, INVALID_PARAMS};
use crate::api::failure::PAYMENT_ERROR;
use crate::app::{App, Row, Shared};
use crate::domain::code::Code;
use crate::domain::endpoint::{Parameter, Price};
use crate::domain::level::Product;
use crate::domain::refusal::Refusal;
use crate::domain::schema::Object;
use crate::flows::sale::refusals::{self, PaidAttempt};
use crate::http::call::Query;
use crate::http::hooks::{Admission, Arrived, RequestFacts};
use crate::http::{Bytes, Call, KeptAlive, Method, OnSent, Reply};
use crate::state::offers::HEADER_REQUIRED;
use crate::x402::encoding;

const PAYMENT: &str = "x402/payment";
const RECEIPT: &str = "x402/payment-response";
/// What a tool's challenge says where that of its endpoint asks for a header.
const PAYMENT_MISSING: &str =
    "Payment is required: repeat the call with it in _meta[\"x402/payment\"]";
const PAYMENT_PLACE: &str = "payment in _meta[\"x402/payment\"]";
/// The parameter that is a list, which a tool takes as an array too.
const LIST: &str = "target_urls";
/// The attribution of buyers who use a tool.
const ATTRIBUTION: &str = "mcp";
/// Documented for every request anyway.
const SOURCE: &str = "source";

/// The routes that are tools.
pub fn rows(app: &App) -> impl Iterator<Item = &'static Row> {
    public_rows(app).filter(|row| row.about.tool.is_some())
}

/// A tool as `tools/list` shows it.
pub fn description(row: &Row, schema: fn(&Parameter) -> Value) -> Value {
    let about = &row.about;
    let price = about.price.text();
    let price = price.map_or("Free".to_owned(), |price| {
        format!("Costs {price}, paid by x402")
    });
    json!({
        "name": about.tool,
        "title": about.summary,
        "description": format!("{}. {price}.", about.summary),
        "inputSchema": input_schema(row, schema),
        "annotations": {
            "title": about.summary,
            "readOnlyHint": about.price == Price::Free,
            "destructiveHint": false,
            "idempotentHint": row.method == Method::Get,
            "openWorldHint": about.price != Price::Free,
        },
    })
}

fn input_schema(row: &Row, schema: fn(&Parameter) -> Value) -> Value {
    let mut properties = Map::new();
    let mut required: Vec<Value> = Vec::new();
    for name in path_parameters(row) {
        properties.insert(name.to_owned(), json!({"type": "string"}));
        required.push(name.into());
    }
    for object in bodies(row) {
        if let Value::Object(fields) = object.json_schema()["properties"].take() {
            for (name, field) in fields {
                properties.entry(name).or_insert(field);
            }
        }
    }
    required.extend(required_fields(row).map(Value::from));
    for parameter in query_parameters(row) {
        let mut argument = schema(parameter);
        if parameter.name == LIST {
            let one = argument["type"].take();
            argument["anyOf"] = json!([{"type": "array", "items": {"type": one}}, {"type": one}]);
            if let Some(members) = argument.as_object_mut() {
                members.shift_remove("type");
            }
        }
        properties.insert(parameter.name.to_owned(), argument);
    }
    for parameter in row.about.needs {
        // Optional: the response to a call without it says what to sign.
        properties.insert(argument_of_header(parameter), schema(parameter));
    }
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    let docs: Vec<&str> = bodies(row).map(|object| object.doc).collect();
    if !docs.is_empty() {
        schema["description"] = docs.join(" ").into();
    }
    schema
}

/// The shapes that the body may have. A retry takes the body of any purchase, and as a tool that of a page.
fn bodies(row: &Row) -> impl Iterator<Item = &'static Object> {
    let others = match row.about.price {
        Price::Of(_) => row.about.or_takes,
        _ => &[],
    };
    row.about.takes.into_iter().chain(others.iter().copied())
}

/// The members that every shape of the body needs.
fn required_fields(row: &Row) -> impl Iterator<Item = &'static str> {
    let first = row.about.takes.map_or(&[][..], |object| object.fields);
    let needed = move |name: &str| {
        let is_required = |object: &Object| {
            let mut fields = object.fields.iter();
            fields.any(|field| field.name == name && field.required)
        };
        bodies(row).all(is_required)
    };
    let fields = first.iter().map(|field| field.name);
    fields
        .filter(move |name| needed(name))
        .collect::<Vec<_>>()
        .into_iter()
}

fn path_parameters(row: &Row) -> impl Iterator<Item = &'static str> {
    let segments = row.path.split('/');
    segments.filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

/// Parameters that the body also has are left to the body.
fn query_parameters(row: &Row) -> impl Iterator<Item = &'static Parameter> {
    let fields = row.about.takes.map_or(&[][..], |object| object.fields);
    row.about.query.iter().filter(move |parameter| {
        parameter.name != SOURCE && !fields.iter().any(|field| field.name == parameter.name)
    })
}

/// A header of the endpoint as an argument of its tool: `SIGN-IN-WITH-X` is `sign_in_with_x`.
fn argument_of_header(parameter: &Parameter) -> String {
    parameter.name.to_ascii_lowercase().replace('-', "_")
}

/// The params of `tools/call`.
#[derive(Debug, Deserialize)]
pub struct Asking {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    #[serde(default, rename = "_meta")]
    meta: BTreeMap<String, Box<RawValue>>,
}

/// Calls a tool. An endpoint's refusal is a result; only an invalid call is a fault.
pub async fn call(app: &Shared, call: &Call, asked: Asking) -> Result<ToolResult, Fault> {
    let is_paid = asked.meta.contains_key(PAYMENT);
    let prepared = prepare(app, call, asked);
    let (row, inner) = prepared.inspect_err(|fault| {
        if is_paid {
            let refusal = Refusal::new(Code::InvalidRequest, &*fault.message);
            refusals::note(app, &refusal, &call.request_id, PaidAttempt::default());
        }
    })?;
    let arrived = Arrived {
        method: row.method,
        headers: &inner.headers,
        peer: inner.peer,
        asked: RequestFacts {
            request_id: &inner.request_id,
            pattern: Some(row.path),
            accepts_html: false,
            payment: None,
        },
    };
    let reply = match admission::admit(app, row, &arrived) {
        Admission::Refused(reply) => reply,
        Admission::Granted | Admission::Counted(_) => (row.handler)(app.clone(), inner).await,
    };
    Ok(ToolResult::of(row, in_terms_of_tools(row, reply)))
}

/// An error says where a payment or a signature goes and how to go on, which over MCP is not by a header.
fn in_terms_of_tools(row: &Row, mut reply: Reply) -> Reply {
    if reply.status < 400 {
        return reply;
    }
    let Ok(Value::Object(mut body)) = serde_json::from_slice(&reply.body) else {
        return reply;
    };
    let headers = row.about.needs.iter().map(|parameter| {
        let argument = format!("argument {}", argument_of_header(parameter));
        (parameter.name, argument)
    });
    let headers: Vec<(&str, String)> = headers.collect();
    let reworded = |text: &str| {
        let text = text
            .replace(HEADER_REQUIRED, PAYMENT_MISSING)
            .replace("PAYMENT-SIGNATURE header", PAYMENT_PLACE);
        headers.iter().fold(text, |text, (header, argument)| {
            text.replace(&format!("header {header}"), argument)
                .replace(&format!("{header} header"), argument)
        })
    };
    match body.get_mut("error") {
        Some(Value::String(error)) => *error = reworded(error),
        Some(Value::Object(error)) => {
            let code = error.get("code").and_then(Value::as_str);
            if let Some(step) = code.and_then(Code::parse).and_then(next_step) {
                error.insert("next_step".to_owned(), step.into());
            }
            for said in error.values_mut() {
                if let Value::String(text) = said {
                    *text = reworded(text);
                }
            }
        }
        _ => return reply,
    }
    if let Some(Value::String(detail)) = body.get_mut("detail") {
        *detail = reworded(detail);
    }
    reply.body = Value::from(body).to_string().into();
    reply
}

/// What to do next where the endpoint's own step is about headers.
fn next_step(code: Code) -> Option<&'static str> {
    match code {
        Code::InvalidPayment => Some(
            "Put the x402 v2 payment payload into _meta[\"x402/payment\"], as a JSON object or as its base64. The tool \
             diagnose_payment says what is wrong with one.",
        ),
        Code::UpstreamUnavailable => Some(
            "Repeat the call later; if it carried a payment, with the same payment: it is charged once at most.",
        ),
        Code::NetworkUnavailable | Code::SettlementUnknown => {
            Some("Repeat the call with the same payment; do not sign again.")
        }
        _ => None,
    }
}

/// The tool's route, and the request for it.
fn prepare(app: &Shared, call: &Call, asked: Asking) -> Result<(&'static Row, Call), Fault> {
    let row = rows(app).find(|row| row.about.tool == Some(asked.name.as_str()));
    let row = row.ok_or_else(|| {
        let names: Vec<&str> = rows(app).filter_map(|row| row.about.tool).collect();
        let names = names.join(", ");
        Fault::new(
            INVALID_PARAMS,
            format!("No such tool; available are {names}"),
        )
    })?;
    Ok((row, request(row, call, asked)?))
}

/// The request for the tool's endpoint.
fn request(row: &Row, call: &Call, asked: Asking) -> Result<Call, Fault> {
    let mut arguments = asked.arguments;
    let mut params = Vec::new();
    for name in path_parameters(row) {
        let value = arguments.shift_remove(name);
        params.push((name, text(name, value.as_ref())?.unwrap_or_default()));
    }
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for parameter in query_parameters(row) {
        let value = arguments.shift_remove(parameter.name);
        let values = match value {
            Some(Value::Array(items)) if parameter.name == LIST => items,
            other => other.into_iter().collect(),
        };
        for value in &values {
            if let Some(text) = text(parameter.name, Some(value))? {
                query.append_pair(parameter.name, &text);
            }
        }
    }
    let mut headers = Reply::json(200, "").fixed("x-service-source", ATTRIBUTION);
    for parameter in row.about.needs {
        let name = argument_of_header(parameter);
        let value = arguments.shift_remove(&name);
        if let Some(value) = text(&name, value.as_ref())? {
            headers = headers.named(parameter.name, &value);
        }
    }
    let body = match (row.about.takes, arguments.keys().next()) {
        (Some(_), _) => Bytes::from(Value::from(arguments).to_string()),
        (None, None) => Bytes::new(),
        (None, Some(unknown)) => {
            let message = format!("The tool {} takes no argument {unknown}", asked.name);
            return Err(Fault::new(INVALID_PARAMS, message));
        }
    };
    if let Some(payment) = asked.meta.get(PAYMENT) {
        headers = headers.header("payment-signature", &payment_header(payment));
    }
    Ok(Call {
        method: row.method,
        path: row.path.to_owned(),
        pattern: row.path,
        params,
        query: Query(query.finish()),
        headers: headers.headers,
        body,
        peer: call.peer,
        request_id: call.request_id.clone(),
        waiting: call.waiting.clone(),
    })
}

/// The payment as its header has it: an object encoded, and base64 as a client of HTTP has it already. The bytes of both stay
/// unchanged, because a repeated payment is recognised by them.
fn payment_header(payment: &RawValue) -> String {
    let text = serde_json::from_str::<String>(payment.get()).ok();
    let is_base64 = |text: &String| encoding::decode(text).is_some();
    text.map(|text| text.trim().to_owned())
        .filter(is_base64)
        .unwrap_or_else(|| encoding::encode(payment.get().as_bytes()))
}

/// An argument as text: strings unchanged, numbers and flags as JSON.
fn text(name: &str, value: Option<&Value>) -> Result<Option<String>, Fault> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(Some(value.to_string())),
        Some(_) => Err(Fault::new(
            INVALID_PARAMS,
            format!("The argument {name} should be a string"),
        )),
    }
}

/// Wraps the endpoint's response as the tool's result. Large bodies are neither parsed nor copied.
#[derive(Debug)]
pub struct ToolResult {
    /// JSON from the opening brace to the last member but `_meta`.
    parts: Vec<Bytes>,
    pub meta: Map<String, Value>,
    ticket: Option<[u8; 32]>,
    held: Option<KeptAlive>,
    on_sent: Option<OnSent>,
}

impl ToolResult {
    fn of(row: &Row, reply: Reply) -> ToolResult {
        let is_error = reply.status >= 400;
        let page = match row.about.price {
            Price::Of(Product::Context) if !is_error => access::text(&reply.body),
            _ => None,
        };
        let mut parts = vec![Bytes::from_static(
            br#"{"content":[{"type":"text","text":""#,
        )];
        match page {
            Some(page) => {
                parts.push(inner(&page.front).into());
                let markdown = page.markdown.get();
                let markdown = &markdown.as_bytes()[1..markdown.len() - 1];
                parts.push(reply.body.slice_ref(markdown));
            }
            None => parts.push(inner(&String::from_utf8_lossy(&reply.body)).into()),
        }
        // Clients read the challenge from the first text; the second is for the model.
        let explained = reply.headers.get(PAYMENT_ERROR);
        if let Some(sentence) = explained.and_then(|value| value.to_str().ok()) {
            let text = inner(sentence);
            parts.push(format!(r#""}},{{"type":"text","text":"{text}"#).into());
        }
        parts.push(format!(r#""}}],"isError":{is_error}"#).into());
        // A source text may begin with a brace as well.
        let is_json = reply
            .headers
            .get("content-type")
            .is_some_and(|kind| kind == "application/json");
        if is_json && reply.body.starts_with(b"{") {
            parts.push(Bytes::from_static(br#","structuredContent":"#));
            parts.push(reply.body.clone());
        }
        let receipt = reply.headers.get("payment-response");
        let receipt = receipt.and_then(|value| encoding::decode(value.to_str().ok()?));
        let receipt = receipt.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        let meta = receipt.map(|receipt| (RECEIPT.to_owned(), receipt));
        ToolResult {
            parts,
            meta: meta.into_iter().collect(),
            ticket: reply.ticket,
            held: reply.held,
            on_sent: reply.on_sent,
        }
    }

    /// The response to the request `id`, with `members` in the result.
    pub fn reply(self, id: &Value, members: &str) -> Reply {
        let mut parts = vec![format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#).into()];
        parts.extend(self.parts);
        if !members.is_empty() {
            parts.push(format!(",{members}").into());
        }
        if !self.meta.is_empty() {
            parts.push(format!(r#","_meta":{}"#, Value::from(self.meta)).into());
        }
        parts.push(Bytes::from_static(b"}}"));
        let mut reply = Reply::in_parts(200, "application/json", parts).no_store();
        reply.ticket = self.ticket;
        reply.held = self.held;
        reply.on_sent = self.on_sent;
        reply
    }
}

/// A text escaped for a JSON string, without quotes.
fn inner(text: &str) -> String {
    let mut quoted = Value::from(text).to_string();
    quoted.pop();
    quoted.remove(0);
    quoted
}
