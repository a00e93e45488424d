//! Connections to the RPC endpoint: JSON-RPC 2.0 calls with bounded responses.

use std::fmt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use url::Url;

use crate::outside::agent::{self, Failure, agent, body};
use crate::outside::chain::INQUIRIES_MAX;
use crate::outside::chain::error::{ChainError, SettingsError};

/// Longest answer that is read, in bytes after decompression: the receipt of a transaction with thousands of logs.
const REPLY_BYTES_MAX: usize = 4 * 1024 * 1024;
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// Of a refusal's own words.
const MESSAGE_CHARS_MAX: usize = 200;

pub(super) struct Client {
    agent: ureq::Agent,
    url: Url,
    #[cfg(test)]
    pub(super) fake: Option<super::Fake>,
}

/// Without the path, which may be a key.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({})", self.url.host_str().unwrap_or_default())
    }
}

impl Client {
    pub(super) fn open(rpc_url: &str) -> Result<Client, SettingsError> {
        let url = Url::parse(rpc_url).map_err(|_| SettingsError::RpcUrl)?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(SettingsError::RpcUrl);
        }
        Ok(Client {
            agent: agent(CONNECT_MAX, INQUIRIES_MAX + 1, ureq::tls::RootCerts::WebPki),
            url,
            #[cfg(test)]
            fake: None,
        })
    }

    /// The result of one call, `null` included.
    pub(super) fn call(
        &self,
        method: &str,
        params: &Value,
        deadline: Instant,
    ) -> Result<Value, ChainError> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ChainError::TimedOut);
        }
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut response = self
            .agent
            .post(self.url.as_str())
            .content_type("application/json")
            .config()
            .timeout_global(Some(left))
            .build()
            .send(call.to_string())
            .map_err(|error| failure(&error))?;
        let bytes = body(&mut response, REPLY_BYTES_MAX).map_err(|broken| failure(&broken))?;
        let bytes = bytes.ok_or(ChainError::TooLong)?;
        result(response.status().as_u16(), &bytes)
    }
}

/// Nodes refuse with status 200 and an error, with another status and an error, or with a status alone.
fn result(status: u16, bytes: &[u8]) -> Result<Value, ChainError> {
    let answer: Value = match serde_json::from_slice(bytes) {
        Ok(answer) => answer,
        Err(_) if status == 200 => return Err(ChainError::Garbled("it is not JSON")),
        Err(_) => return Err(ChainError::Status(status)),
    };
    match answer {
        // Whatever it says beside it, we ask too often, or with the wrong key.
        _ if matches!(status, 401 | 403 | 429) => Err(ChainError::Status(status)),
        Value::Object(mut answer) => {
            match answer.remove("error").filter(|error| !error.is_null()) {
                Some(error) => Err(refusal(&error)),
                None if status != 200 => Err(ChainError::Status(status)),
                None => answer
                    .remove("result")
                    .ok_or(ChainError::Garbled("it has neither result nor error")),
            }
        }
        _ if status != 200 => Err(ChainError::Status(status)),
        _ => Err(ChainError::Garbled("it is not an object")),
    }
}

fn refusal(error: &Value) -> ChainError {
    let message = error["message"].as_str().unwrap_or_default();
    ChainError::Refused {
        code: error["code"].as_i64().unwrap_or_default(),
        message: message
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .take(MESSAGE_CHARS_MAX)
            .collect(),
    }
}

fn failure(error: &ureq::Error) -> ChainError {
    match agent::failure(error) {
        Failure::TimedOut => ChainError::TimedOut,
        Failure::Unreachable(why) => ChainError::Unreachable(why),
    }
}
