//! The two ways to agree on a protocol version: by an initial handshake, or per request (since 2026-07-28), in headers and
//! `_meta`, which must match.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::api::directory::rpc::{Fault, INVALID_PARAMS};
use crate::http::Call;

const HEADER_MISMATCH: i64 = -32020;
const UNSUPPORTED_VERSION: i64 = -32022;
const VERSION_HEADER: &str = "mcp-protocol-version";
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// The versions agreed on by handshake, newest first.
pub const HANDSHAKE_VERSIONS: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];
/// The versions named per request.
const REQUEST_VERSIONS: [&str; 1] = ["2026-07-28"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    Handshake,
    PerRequest,
}

/// All supported versions.
pub fn versions() -> Vec<&'static str> {
    [&REQUEST_VERSIONS[..], &HANDSHAKE_VERSIONS[..]].concat()
}

#[derive(Default, Deserialize)]
struct Params {
    name: Option<String>,
    #[serde(default, rename = "_meta")]
    meta: BTreeMap<String, Value>,
}

/// Where the request states its version. Intermediaries read only the headers, so requests whose headers and body differ
/// are refused.
pub fn of(call: &Call, method: &str, params: Option<&RawValue>) -> Result<Era, Fault> {
    let said = params.and_then(|params| serde_json::from_str::<Params>(params.get()).ok());
    let said = said.unwrap_or_default();
    let in_header = call.header(VERSION_HEADER);
    let named = |versions: &[&str]| in_header.is_some_and(|version| versions.contains(&version));
    if !said.meta.contains_key(VERSION_KEY) && !named(&REQUEST_VERSIONS) {
        return match call.header_count(VERSION_HEADER) {
            0 => Ok(Era::Handshake),
            _ if named(&HANDSHAKE_VERSIONS) => Ok(Era::Handshake),
            _ => Err(unsupported(in_header.unwrap_or_default())),
        };
    }
    for key in [VERSION_KEY, CAPABILITIES_KEY] {
        if !said.meta.contains_key(key) {
            return Err(Fault::new(
                INVALID_PARAMS,
                format!("params._meta lacks {key}"),
            ));
        }
    }
    let version = said.meta.get(VERSION_KEY).and_then(Value::as_str);
    let mismatch = |name: &str| {
        Err(Fault::new(
            HEADER_MISMATCH,
            format!("The header {name} and the body differ"),
        ))
    };
    if version.is_none() || in_header != version {
        return mismatch("MCP-Protocol-Version");
    }
    if call.header("mcp-method") != Some(method) {
        return mismatch("Mcp-Method");
    }
    if method == "tools/call"
        && said.name.is_some()
        && call.header("mcp-name") != said.name.as_deref()
    {
        return mismatch("Mcp-Name");
    }
    match version {
        Some(version) if REQUEST_VERSIONS.contains(&version) => Ok(Era::PerRequest),
        version => Err(unsupported(version.unwrap_or_default())),
    }
}

fn unsupported(requested: &str) -> Fault {
    Fault {
        data: Some(json!({"supported": versions(), "requested": requested})),
        ..Fault::new(UNSUPPORTED_VERSION, "Unsupported protocol version")
    }
}
