//! A2A: the agent card and its free message interface.

pub mod card;
pub mod message;

/// The message interface in the HTTP+JSON binding.
pub const SEND_PATH: &str = "/a2a/message:send";
/// Where cards were before A2A 0.3.
pub const OLD_CARD_PATH: &str = "/.well-known/agent.json";
/// The supported A2A versions.
pub const VERSIONS: [&str; 2] = ["1.0", "0.3"];
