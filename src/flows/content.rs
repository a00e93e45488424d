//! The content for sale, pages as markdown and reports on them, and the free samples of both.

pub mod bundle;
pub mod check;
pub mod demo;
pub mod excerpts;
pub mod markdown_alternate;
pub mod pdf;
pub mod rendering;
pub mod report;
pub mod reports;
pub mod robots;
pub mod sample;
pub mod screenshot;
pub mod several;
pub mod source;
pub mod synthesis;
pub mod test_purchase;

use std::time::Duration;

/// Maximum wait for memory before a connection is open.
pub const MEMORY_WAIT_MAX: Duration = Duration::from_secs(5);
