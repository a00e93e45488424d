//! The sample page and the sample report.

use crate::domain::time::UnixSeconds;
use crate::evidence::report::Report;
use crate::state::page::PageGoods;

#[derive(Clone, Debug)]
pub struct SamplePage {
    pub url: String,
    pub html: String,
    pub markdown: String,
    pub goods: PageGoods,
    pub made_at: UnixSeconds,
    pub report: SampleReport,
    /// A supported, a contradicted and a not stated answer, for pages that show them side by side.
    pub outcomes: Vec<Report>,
}

/// A whole report for nothing, which never expires.
#[derive(Clone, Debug)]
pub struct SampleReport {
    pub report: Report,
    /// The JSON that is served.
    pub body: Vec<u8>,
    pub source_text: String,
}

impl SamplePage {
    /// The sample's title, for quotes.
    pub fn title(&self) -> Option<String> {
        self.goods.value().ok()?["metadata"]["title"]
            .as_str()
            .map(str::to_owned)
    }
}
