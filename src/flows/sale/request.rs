//! What a sale begins with.

use std::net::IpAddr;
use std::sync::Weak;

use crate::domain::purchase::Purchase;

/// A paid request that has passed validation.
#[derive(Clone, Debug)]
pub struct PaidRequest {
    pub purchase: Purchase,
    pub attribution: Option<String>,
    /// The client's address for rate limits.
    pub client: Option<IpAddr>,
    pub request_id: String,
    /// Alive while the client waits. `None`: there is no client that could disconnect.
    pub waiting: Option<Weak<()>>,
}
