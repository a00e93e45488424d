//! The documentation of an endpoint: the part of a route's row from which documents are made.

use crate::domain::figures::cents;
use crate::domain::level::Product;
use crate::domain::rate::RateClass;
use crate::domain::schema::Object;

/// The media type of pages.
pub const HTML: &str = "text/html";
/// Where tools are called over MCP. A payment is in the body there.
pub const MCP_PATH: &str = "/mcp";

/// Statuses that any request with a body can get before its handler runs.
const OF_BODIES: [u16; 2] = [400, 408];
/// The same with a query.
const OF_QUERIES: [u16; 1] = [414];

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
    pub answers: &'static [Schema],
    /// Media type of the 200 answer.
    pub gives: &'static str,
    /// Another media type of it, for a list: of reports on several sources the text of each.
    pub or_gives: Option<&'static str>,
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
pub enum Schema {
    Page,
    Pages,
    Report,
    BundleReport,
    CheckReport,
    /// What a wallet has bought.
    Purchases,
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

impl Price {
    /// A price in words; `None` if free. It says what the price is multiplied by: an agent compares it with its budget.
    pub fn text(self) -> Option<String> {
        match self {
            Price::Free => None,
            Price::Of(product) => {
                let (least, most) = product.prices();
                let range = format!("{} to {} USDC", cents(least), cents(most));
                Some(match product.priced_by() {
                    None => range,
                    Some(unit) => {
                        let most = product.quantity_max();
                        format!("{range} per {unit} (1 to {most} {unit}s)")
                    }
                })
            }
            Price::Credit => Some("a retry credit".to_owned()),
            Price::Transfer => Some("a transfer of the tier's price".to_owned()),
        }
    }
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
            or_gives: None,
            gives_status: 200,
            statuses: &[],
            price: Price::Free,
            rate: RateClass::Free,
            in_openapi: true,
            tool: None,
        }
    }

    /// All statuses that it documents, in order.
    pub fn all_statuses(&self) -> Vec<u16> {
        // Every route is rate-limited.
        let mut statuses = vec![self.gives_status, 429];
        statuses.extend(self.statuses);
        if self.takes.is_some() {
            statuses.extend(OF_BODIES);
        }
        if !self.query.is_empty() {
            statuses.extend(OF_QUERIES);
        }
        statuses.sort_unstable();
        statuses.dedup();
        statuses
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

impl Schema {
    pub const ALL: [Schema; 7] = [
        Schema::Page,
        Schema::Pages,
        Schema::Report,
        Schema::BundleReport,
        Schema::CheckReport,
        Schema::Purchases,
        Schema::PaymentRequired,
    ];

    /// The name of its schema.
    pub fn name(self) -> &'static str {
        match self {
            Schema::Page => "ContextResponse",
            Schema::Pages => "PagesResponse",
            Schema::Report => "ProofPackResponse",
            Schema::BundleReport => "ProofBundleResponse",
            Schema::CheckReport => "CheckResponse",
            Schema::Purchases => "PurchasesResponse",
            Schema::PaymentRequired => "PaymentRequired",
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
