//! The picture of the page that a buyer may ask for beside a report.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::closed_set::closed_set;
use crate::evidence::report::SHA256;

/// What came of the picture that was asked for: one of the two members is null.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Screenshot {
    pub image: Option<Image>,
    /// Why there is no picture.
    pub warning: Option<NoImage>,
}

/// A picture of the page, which `screenshot_url` gives. Taken by a browser once the report was made, so that a page that
/// changes may show something else than the text that was examined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Image {
    /// SHA-256 of the file, in hex.
    #[schemars(regex(pattern = SHA256))]
    pub sha256: String,
    pub media_type: MediaType,
    pub bytes: usize,
    /// In pixels.
    pub width: u32,
    pub height: u32,
    /// The address at which the browser ended.
    pub final_url: String,
    /// Seconds since 1970.
    pub captured_at: u64,
    /// The citation whose passage is highlighted in it; null where the page does not show the whole passage as it was
    /// cited. The picture is then of the part around its first words, or begins at the top.
    pub citation_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoImage {
    pub code: NoImageCode,
    pub message: String,
}

closed_set! {
    pub enum MediaType {
        Png = "image/png",
    }
}

closed_set! {
    /// Why there is no picture.
    pub enum NoImageCode {
        /// No browser was free or working.
        Unavailable = "screenshot_unavailable",
        /// The browser could not show the page, or not within time and size.
        Failed = "screenshot_failed",
    }
}
