//! The documentation of an endpoint: the part of a route's row from which documents are made.

use crate::domain::level::Product;
use crate::domain::rate::RateClass;
use crate::domain::schema::Object;

/// The media type of pages.
pub const HTML: &str = "text/html";

#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    /// One sentence without a final period.
    pub summary: &'static str,
    pub tag: Tag,
    pub takes: Option<&'static Object>,
    /// Other shapes that the body may have instead.
    pub or_takes: &'static [&'static Object],
    pub query: &'static [Parameter],
    /// Names of the query parameters that it cannot do without.
    pub needs_query: &'static [&'static str],
    /// Headers that it cannot do without.
    pub needs: &'static [Parameter],
    /// The schema of the successful answer, or those of which it has one; none for a plain object and for what is not
    /// JSON.
    pub answers: &'static [Answer],
    /// Media type of the 200 answer.
    pub gives: &'static str,
    /// Status of success.
    pub gives_status: u16,
    /// Further statuses that the endpoint documents.
    pub statuses: &'static [u16],
    pub price: Price,
    /// Under which limit its requests are counted; a 429 is documented for each.
    pub rate: RateClass,
    /// Whether programs should know of it; false keeps it out of openapi.json.
    pub in_openapi: bool,
    /// The name under which it is an MCP tool, if it is one.
    pub tool: Option<&'static str>,
}

/// A successful answer that has a schema under `components`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Page,
    Pages,
    Report,
    BundleReport,
    CheckReport,
    /// A challenge, where that is what was asked for.
    PaymentRequired,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    Paid,
    Legacy,
    Quotes,
    Reports,
    Bundles,
    Discovery,
    Pages,
    Operator,
}

/// What calling it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Price {
    Free,
    /// What the levels of a product cost.
    Of(Product),
    /// Paid before: redeems a retry credit.
    Credit,
    /// The tiers, paid before by a transfer of the buyer's own.
    Transfer,
}

#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub doc: &'static str,
    /// The closed set, where there is one.
    pub one_of: &'static [&'static str],
}

impl Endpoint {
    /// A free endpoint that answers JSON.
    pub const fn new(tag: Tag, summary: &'static str) -> Self {
        Endpoint {
            summary,
            tag,
            takes: None,
            or_takes: &[],
            query: &[],
            needs_query: &[],
            needs: &[],
            answers: &[],
            gives: "application/json",
            gives_status: 200,
            statuses: &[],
            price: Price::Free,
            rate: RateClass::Free,
            in_openapi: true,
            tool: None,
        }
    }

    /// A page for people.
    pub const fn page(summary: &'static str) -> Self {
        Endpoint {
            gives: HTML,
            in_openapi: false,
            ..Endpoint::new(Tag::Pages, summary)
        }
    }
}

impl Answer {
    pub const ALL: [Answer; 6] = [
        Answer::Page,
        Answer::Pages,
        Answer::Report,
        Answer::BundleReport,
        Answer::CheckReport,
        Answer::PaymentRequired,
    ];

    /// The name of its schema.
    pub fn name(self) -> &'static str {
        match self {
            Answer::Page => "ContextResponse",
            Answer::Pages => "PagesResponse",
            Answer::Report => "ProofPackResponse",
            Answer::BundleReport => "ProofBundleResponse",
            Answer::CheckReport => "CheckResponse",
            Answer::PaymentRequired => "PaymentRequired",
        }
    }
}

impl Tag {
    pub fn name(self) -> &'static str {
        match self {
            Tag::Paid => "paid",
            Tag::Legacy => "legacy",
            Tag::Quotes => "quotes",
            Tag::Reports => "reports",
            Tag::Bundles => "bundles",
            Tag::Discovery => "discovery",
            Tag::Pages => "pages",
            Tag::Operator => "operator",
        }
    }
}
