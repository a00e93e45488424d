//! `/docs`: the API reference. Endpoints, fields and error codes come from the server's own tables through the view, so
//! they cannot diverge from its behaviour; the prose is here.

mod fixed;
pub mod snippets;

pub mod about;
pub mod explorer;
pub mod faq;
pub mod legal;
pub mod notices;
pub mod quickstart;

use maud::{Markup, html};

use crate::domain::figures::capitalized;
use crate::domain::pack::Pack;
use crate::domain::tier::Tier;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::price_lists;
use crate::pages::site::{FacilitatorMode, Site};

/// The tables of the reference.
#[derive(Clone, Debug)]
pub struct DocsView<'a> {
    pub site: Site<'a>,
    /// Shown in this order, by group.
    pub endpoints: Vec<Endpoint<'a>>,
    pub bodies: Vec<Body<'a>>,
    pub errors: Vec<ErrorCode<'a>>,
}

/// One row of the route table.
#[derive(Clone, Debug)]
pub struct Endpoint<'a> {
    /// A heading such as `Paid` or `Quotes`.
    pub group: &'a str,
    pub method: &'a str,
    pub path: &'a str,
    pub summary: &'a str,
    /// Such as `0.10 to 1.00 USDC`; `None` is free.
    pub price: Option<String>,
    /// Its query parameters.
    pub query: Vec<Parameter<'a>>,
    /// Its required headers.
    pub headers: Vec<Parameter<'a>>,
    /// The bodies that it accepts, one per request.
    pub bodies: Vec<&'a str>,
    /// The media type of its response.
    pub gives: &'a str,
    pub statuses: Vec<u16>,
}

#[derive(Clone, Copy, Debug)]
pub struct Parameter<'a> {
    pub name: &'a str,
    pub doc: &'a str,
    /// The allowed values, if they are few.
    pub one_of: &'a [&'a str],
}

/// A request body.
#[derive(Clone, Debug)]
pub struct Body<'a> {
    /// Such as `AccessRequest`.
    pub name: &'a str,
    /// What it is for, in sentences.
    pub doc: &'a str,
    /// The paths that accept it.
    pub used_by: Vec<&'a str>,
    pub fields: Vec<Field<'a>>,
    /// Whether additional properties are rejected.
    pub closed: bool,
}

#[derive(Clone, Debug)]
pub struct Field<'a> {
    pub name: &'a str,
    /// Such as `string` or `boolean`.
    pub kind: String,
    pub required: bool,
    /// Limits, choices and the default; may be empty.
    pub rules: String,
    pub doc: &'a str,
}

/// An error code. `docs_url` of an error points at `#code`.
#[derive(Clone, Copy, Debug)]
pub struct ErrorCode<'a> {
    pub code: &'a str,
    pub status: u16,
    pub meaning: &'a str,
    pub next_step: &'a str,
}

const CONTENTS: [(&str, &str); 14] = [
    ("start", "Start here"),
    ("tiers", "Tiers"),
    ("packs", "Packs"),
    ("endpoints", "Endpoints"),
    ("bodies", "Request bodies"),
    ("headers", "Headers"),
    ("answer", "Page response"),
    ("report", "Report"),
    ("retry", "Retry credits"),
    ("purchases", "Read purchases again"),
    ("transfers", "Direct transfers"),
    ("signatures", "Signed offers and receipts"),
    ("errors", "Errors"),
    ("limits", "Limits"),
];

/// The reference page.
pub fn page(view: &DocsView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: "Docs",
            description: "Reference of the context402 API: endpoints, prices, request fields, headers and every error \
                          code with its next step.",
            path: "/docs",
            noindex: false,
        },
        html! {
            .with-toc {
                nav.toc aria-label="On this page" {
                    p { "On this page" }
                    ul { @for (anchor, label) in CONTENTS { li { a href={ "#" (anchor) } { (label) } } } }
                }
                div {
                    h1 { "Reference" }
                    (start(&view.site))
                    (tiers())
                    (packs(&view.site))
                    (endpoints(&view.site, &view.endpoints))
                    (bodies(&view.bodies))
                    (fixed::headers())
                    (fixed::answer())
                    (fixed::retry())
                    (fixed::purchases())
                    (fixed::transfers())
                    (fixed::signatures())
                    (errors(&view.errors))
                    (fixed::limits())
                }
            }
        },
    )
}

fn start(site: &Site<'_>) -> Markup {
    html! {
        p.lead {
            "A JSON API over HTTP at " code { (site.base_url) } ". Paid operations respond with 402 and their price until a "
            "request carries a payment; everything else is free."
        }
        h2 #start { "Start here" }
        ul {
            li { a href="/quickstart" { "Quickstart" } ": buy a page from the shell, TypeScript or Python." }
            li { a href="/paid-test" { "Test purchase" } ": this service’s live challenge, field by field." }
            li { a href="/openapi.json" { "openapi.json" } ": the same reference for machines." }
            li { a href="/llms.txt" { "llms.txt" } ": the short form for language models." }
        }
        dl.facts {
            dt { "Protocol" } dd { "x402 version 2, scheme " code { "exact" } }
            dt { "Network" } dd { (site.network_name()) " (" code { (site.network) } ")" }
            dt { "Token" } dd { "USDC, 6 decimals, " code { (site.asset) } }
            dt { "Paid to" } dd { code { (site.pay_to) } }
            dt { "Settlement" } dd {
                @match site.facilitator {
                    FacilitatorMode::Sandbox => "embedded sandbox facilitator, test funds",
                    FacilitatorMode::Real => "external facilitator, once the response is ready",
                }
            }
        }
    }
}

fn tiers() -> Markup {
    html! {
        h2 #tiers { "Tiers" }
        p {
            "Set the tier in the body, in the query as " code { "?tier=fresh" } " or in the header "
            code { "X-Service-Tier" } ". If you set it in more than one place, all must agree. "
            "The default is " strong { (Tier::default().name()) } "."
        }
        (price_lists::tier_table())
    }
}

fn packs(site: &Site<'_>) -> Markup {
    html! {
        h2 #packs { "Packs" }
        p {
            "A " a href="/proof-pack" { "Proof Pack" } " is a report on one source. Set the pack like a tier: in the "
            "body, in the query as " code { "?pack=standard" } " or in the header " code { "X-Service-Pack" }
            ". The default is " strong { (Pack::default().name()) } "."
        }
        (price_lists::pack_table(site.has_model))
    }
}

fn endpoints(site: &Site<'_>, rows: &[Endpoint<'_>]) -> Markup {
    html! {
        h2 #endpoints { "Endpoints" }
        p {
            "Each example is a whole program. Set " code { "BASE_URL" } " to " code { (site.base_url) } " and "
            code { "PRIVATE_KEY" } " to a key that holds no more than you are willing to spend. "
            a href="/quickstart#buyer" { "The quickstart" } " lists what to install."
        }
        @for group in groups(rows) {
            h3 { (capitalized(group)) }
            ul.endpoints { @for row in rows.iter().filter(|row| row.group == group) { (endpoint(site, row)) } }
        }
    }
}

/// Each group once, in order of first appearance.
fn groups<'a>(rows: &[Endpoint<'a>]) -> Vec<&'a str> {
    let mut groups = Vec::new();
    for row in rows {
        if !groups.contains(&row.group) {
            groups.push(row.group);
        }
    }
    groups
}

fn endpoint(site: &Site<'_>, row: &Endpoint<'_>) -> Markup {
    let anchor = row.anchor();
    html! {
        li id=(anchor) {
            p.line {
                span class={ "method " (row.method.to_lowercase()) } { (row.method) } " "
                a href={ "#" (anchor) } { code { (row.path) } } " "
                @match &row.price {
                    Some(price) => span.tag.good { (price) },
                    None => span.tag { "free" },
                }
            }
            p { (row.summary) "." }
            @if row.has_details() {
                dl.facts {
                    (parameters("Query", &row.query))
                    (parameters("Header", &row.headers))
                    @if !row.bodies.is_empty() {
                        dt { "Body" }
                        dd {
                            @for (index, body) in row.bodies.iter().enumerate() {
                                @if index > 0 { " or " }
                                a href={ "#" (body) } { (body) }
                            }
                        }
                    }
                    dt { "Responses" }
                    dd { (answers(row)) }
                }
            }
            @for snippet in snippets::of(row.method, row.path) { (snippet.markup(site, &html! { h4 { (snippet.title) } })) }
        }
    }
}

impl Endpoint<'_> {
    /// `post-v1-x402-access` of `POST /v1/x402/access`.
    fn anchor(&self) -> String {
        let words = format!("{}{}", self.method.to_lowercase(), self.path);
        let words = words.split(|c: char| !c.is_ascii_alphanumeric());
        words
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join("-")
    }

    /// Absent for plain pages.
    fn has_details(&self) -> bool {
        !self.gives.starts_with("text/html")
    }
}

fn parameters(label: &str, parameters: &[Parameter<'_>]) -> Markup {
    html! {
        @if !parameters.is_empty() {
            dt { (label) }
            dd {
                @for parameter in parameters {
                    div {
                        code { (parameter.name) } " "
                        span.muted { (parts::with_code(parameter.doc)) @if !parameter.one_of.is_empty() { " One of " (parameter.one_of.join(", ")) "." } }
                    }
                }
            }
        }
    }
}

fn answers(row: &Endpoint<'_>) -> Markup {
    html! {
        @for (index, status) in row.statuses.iter().enumerate() {
            @if index > 0 { ", " }
            @match status {
                200..300 => { (status) " " code { (row.gives) } },
                _ => a href={ "#status-" (status) } { (status) },
            }
        }
    }
}

fn bodies(bodies: &[Body<'_>]) -> Markup {
    html! {
        h2 #bodies { "Request bodies" }
        p {
            "Bodies are JSON with " code { "Content-Type: application/json" } ". An invalid body returns 422 with the location of "
            "each error in " code { "detail" } "."
        }
        @for body in bodies {
            h3 id=(body.name) { (body.name) }
            p {
                (body.doc) " Used by "
                @for (index, path) in body.used_by.iter().enumerate() {
                    @if index > 0 { ", " }
                    code { (path) }
                }
                "." @if body.closed { " No other properties are allowed." }
            }
            (parts::scrolling(body.name, &field_table(&body.fields)))
        }
    }
}

fn field_table(fields: &[Field<'_>]) -> Markup {
    html! {
        table {
            thead { tr { th { "Field" } th { "Type" } th { "Required" } th { "Rules" } th { "Meaning" } } }
            tbody {
                @for field in fields {
                    tr {
                        td.tight { code { (field.name) } }
                        td.tight { (field.kind) }
                        td.tight { @if field.required { strong { "yes" } } @else { span.muted { "no" } } }
                        td.long { (field.rules) }
                        td.long { (parts::with_code(field.doc)) }
                    }
                }
            }
        }
    }
}

fn errors(rows: &[ErrorCode<'_>]) -> Markup {
    let table = html! {
        table {
            thead { tr { th { "Code" } th.num { "Status" } th { "Meaning" } th { "What to do" } } }
            tbody {
                @for (index, row) in rows.iter().enumerate() {
                    @let is_first = index == 0 || rows[index - 1].status != row.status;
                    tr id=(row.code) {
                        td.tight { a href={ "#" (row.code) } { code { (row.code) } } }
                        td.num { span id=[is_first.then(|| format!("status-{}", row.status))] { (row.status) } }
                        td.long { (parts::with_code(row.meaning)) }
                        td.long { (parts::with_code(row.next_step)) }
                    }
                }
            }
        }
    };
    html! {
        h2 #errors { "Errors" }
        p {
            "An error has a code, states whether anything was " code { "charged" } ", and links to its row here. "
            "Check " code { "charged" } " before you pay again."
        }
        (parts::code("Example error", ERROR_EXAMPLE))
        (parts::scrolling("Error codes", &table))
    }
}

const ERROR_EXAMPLE: &str = r#"{
  "status": "error",
  "error": {
    "code": "target_blocked",
    "message": "The target is a private address (RFC 1918); only public addresses are read.",
    "retryable": false,
    "charged": false,
    "next_step": "Use a page on the public web.",
    "docs_url": "…/docs#target_blocked"
  },
  "detail": "The target is a private address (RFC 1918); only public addresses are read.",
  "request_id": "req_…"
}"#;
