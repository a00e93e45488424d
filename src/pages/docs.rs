//! `/docs`: the reference. Endpoints, fields and error codes come from the caller's tables through the view, so
//! the page cannot say something else than what the server does; the prose around them is here.

use maud::{Markup, html};

use crate::domain::tier::Tier;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::{FacilitatorMode, Site};

/// The tables of the reference.
#[derive(Clone, Debug)]
pub struct DocsView<'a> {
    pub site: Site<'a>,
    /// Shown in this order, grouped where neighbours share a `group`.
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
    /// Such as `0.012 to 0.05 USDC`; `None` is free.
    pub price: Option<String>,
}

/// A request body.
#[derive(Clone, Debug)]
pub struct Body<'a> {
    /// Such as `AccessRequest`.
    pub name: &'a str,
    /// Which endpoints take it, as a sentence.
    pub used_by: &'a str,
    pub fields: Vec<Field<'a>>,
    /// Whether other properties are refused.
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

/// One way the service says no. `docs_url` of an error points at `#code`.
#[derive(Clone, Copy, Debug)]
pub struct ErrorCode<'a> {
    pub code: &'a str,
    pub status: u16,
    pub meaning: &'a str,
    pub next_step: &'a str,
}

const CONTENTS: [(&str, &str); 9] = [
    ("start", "Start here"),
    ("tiers", "Tiers"),
    ("endpoints", "Endpoints"),
    ("bodies", "Request bodies"),
    ("headers", "Headers"),
    ("answer", "The answer"),
    ("retry", "Retry credits"),
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
            markdown: None,
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
                    (endpoints(&view.endpoints))
                    (bodies(&view.bodies))
                    (headers())
                    (answer())
                    (retry())
                    (errors(&view.errors))
                    (limits())
                }
            }
        },
    )
}

fn start(site: &Site<'_>) -> Markup {
    html! {
        p.lead {
            "Everything is HTTP and JSON under " code { (site.base_url) } ". Paid operations answer 402 with their price "
            "until a payment comes with the request; all else is free."
        }
        h2 #start { "Start here" }
        ul {
            li { a href="/quickstart" { "Quickstart" } ": buy a page from the shell, TypeScript or Python." }
            li { a href="/paid-test" { "Paid test" } ": a live challenge of this service, field by field." }
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
                    FacilitatorMode::Sandbox => "embedded sandbox facilitator, play money",
                    FacilitatorMode::Real => "external facilitator, after the answer is ready",
                }
            }
        }
    }
}

fn tiers() -> Markup {
    html! {
        h2 #tiers { "Tiers" }
        p {
            "State the tier in the body, and in the query (" code { "?tier=fresh" } ") or the header "
            code { "X-Service-Tier" } " so that the challenge asks for the right amount. They must not disagree. "
            "Without any, it is " strong { (Tier::default().name()) } "."
        }
        (parts::tier_table())
    }
}

fn endpoints(rows: &[Endpoint<'_>]) -> Markup {
    html! {
        h2 #endpoints { "Endpoints" }
        @for group in rows.chunk_by(|a, b| a.group == b.group) {
            h3 { (group[0].group) }
            (parts::scrolling(group[0].group, &endpoint_table(group)))
        }
    }
}

fn endpoint_table(rows: &[Endpoint<'_>]) -> Markup {
    html! {
        table {
            thead { tr { th { "Method" } th { "Path" } th { "What it does" } th { "Price" } } }
            tbody {
                @for row in rows {
                    tr {
                        td.tight { code { (row.method) } }
                        td.tight { code { (row.path) } }
                        td.long { (row.summary) }
                        td.tight {
                            @match &row.price { Some(price) => (price), None => span.muted { "free" } }
                        }
                    }
                }
            }
        }
    }
}

fn bodies(bodies: &[Body<'_>]) -> Markup {
    html! {
        h2 #bodies { "Request bodies" }
        p {
            "Bodies are JSON with " code { "Content-Type: application/json" } ". A body that does not fit is answered 422 "
            "with the place of each fault in " code { "detail" } "."
        }
        @for body in bodies {
            h3 id=(body.name) { (body.name) }
            p { (body.used_by) @if body.closed { " No other properties are allowed." } }
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
                        td.long { (field.doc) }
                    }
                }
            }
        }
    }
}

/// Header, who sends it, what it means (specification sections 5 and 7).
const HEADERS: [(&str, &str, &str); 11] = [
    (
        "PAYMENT-SIGNATURE",
        "you",
        "The signed payment, base64 of an x402 PaymentPayload.",
    ),
    (
        "X-Service-Tier",
        "you",
        "The tier, when it is not in the query.",
    ),
    (
        "X-Service-Retry-Credit",
        "you, us",
        "A retry credit: given with a 503, spent at /v1/x402/retry.",
    ),
    (
        "X-Service-Source",
        "you",
        "Where you heard of us. Optional, and not a credential.",
    ),
    (
        "PAYMENT-REQUIRED",
        "us",
        "With a 402: the challenge, base64 of the body.",
    ),
    (
        "X-Payment-Required",
        "us",
        "The same as PAYMENT-REQUIRED, for older clients.",
    ),
    (
        "PAYMENT-RESPONSE",
        "us",
        "The settlement receipt, base64 of JSON; the authority on whether you paid.",
    ),
    (
        "X-Service-Payment-Tier",
        "us",
        "With a 402: the tier that was priced.",
    ),
    (
        "X-Markdown-Tokens",
        "us",
        "About how many tokens the markdown has.",
    ),
    ("Retry-After", "us", "Seconds to wait before you try again."),
    (
        "X-Request-Id",
        "us",
        "Names this request; quote it when you ask for help.",
    ),
];

fn headers() -> Markup {
    let table = html! {
        table {
            thead { tr { th { "Header" } th { "Sent by" } th { "Meaning" } } }
            tbody {
                @for (name, sender, meaning) in HEADERS {
                    tr { td.tight { code { (name) } } td.tight { (sender) } td.long { (meaning) } }
                }
            }
        }
    };
    html! { h2 #headers { "Headers" } (parts::scrolling("Headers", &table)) }
}

/// Field and meaning of the context answer (specification 2.7).
const ANSWER: [(&str, &str); 9] = [
    ("status", "Always success in a 200."),
    (
        "target_url, final_url",
        "What you asked for, and where redirects led.",
    ),
    ("tier", "The tier as resolved."),
    ("markdown", "The cleaned page."),
    (
        "metadata, headings, links",
        "Title, author, dates and language; the outline; every link that was kept.",
    ),
    (
        "content_sha256, source_sha256",
        "SHA-256 of the markdown, and of the bytes it was made from.",
    ),
    (
        "warnings, policy",
        "What to be careful about; what the site says on robots and AI use.",
    ),
    (
        "cache",
        "Whether a kept copy was used, how old it is, and until when it is kept.",
    ),
    (
        "payment, ueg_receipt",
        "What was paid, by whom, in which transaction; what it cost us to deliver.",
    ),
];

fn answer() -> Markup {
    let table = html! {
        table {
            thead { tr { th { "Fields" } th { "Meaning" } } }
            tbody {
                @for (names, meaning) in ANSWER {
                    tr { td.long { (field_names(names)) } td.long { (meaning) } }
                }
            }
        }
    };
    html! {
        h2 #answer { "The answer" }
        p {
            "A paid conversion answers 200 with this JSON. With " code { "Accept: text/markdown" } " the body is the "
            "markdown alone, under a short front matter. Fields may be added later; none is taken away."
        }
        (parts::scrolling("Fields of a paid answer", &table))
    }
}

fn field_names(names: &str) -> Markup {
    html! {
        @for (index, name) in names.split(", ").enumerate() {
            @if index > 0 { ", " }
            code { (name) }
        }
    }
}

fn retry() -> Markup {
    html! {
        h2 #retry { "Retry credits" }
        p {
            "When your payment was accepted and then an outage kept us from delivering, the answer is 503 with "
            code { "X-Service-Retry-Credit" } ". Send the same body to " code { "POST /v1/x402/retry" }
            " with that header. You do not pay again."
        }
        ul {
            li { "A credit is good for three attempts and at most 15 minutes, for the same target, tier and cache mode." }
            li { "If your payment was not settled yet, it is settled only when the retry delivers." }
            li { "Never sign a new payment after a 503: the first one may still settle." }
        }
    }
}

fn errors(rows: &[ErrorCode<'_>]) -> Markup {
    let table = html! {
        table {
            thead { tr { th { "Code" } th.num { "Status" } th { "Meaning" } th { "What to do" } } }
            tbody {
                @for row in rows {
                    tr id=(row.code) {
                        td.tight { a href={ "#" (row.code) } { code { (row.code) } } }
                        td.num { (row.status) }
                        td.long { (row.meaning) }
                        td.long { (row.next_step) }
                    }
                }
            }
        }
    };
    html! {
        h2 #errors { "Errors" }
        p {
            "An error names its code, says whether anything was " code { "charged" } ", and links to its row here. "
            "Read " code { "charged" } " before you decide to pay again."
        }
        (parts::code("Shape of an error", ERROR_EXAMPLE))
        (parts::scrolling("Error codes", &table))
    }
}

const ERROR_EXAMPLE: &str = r#"{
  "status": "error",
  "error": {
    "code": "target_blocked",
    "message": "Target resolves to a private address.",
    "retryable": false,
    "charged": false,
    "docs_url": "…/docs#target_blocked"
  },
  "detail": "Target resolves to a private address.",
  "request_id": "req_…"
}"#;

/// Limit and value (specification section 8 and decisions, Numbers).
const LIMITS: [(&str, &str); 8] = [
    ("Page size", "5,242,880 bytes"),
    ("Target ports", "80 and 443"),
    ("Target address", "2,048 characters"),
    ("Request body", "64 KiB"),
    ("Validity of a payment", "300 seconds"),
    ("Retry credit", "3 attempts, 15 minutes at most"),
    ("Quote receipt", "7 days"),
    ("Kept pages", "24 hours"),
];

fn limits() -> Markup {
    html! {
        h2 #limits { "Limits" }
        dl.facts { @for (name, value) in LIMITS { dt { (name) } dd { (value) } } }
        p {
            "Rates are limited by client, by payer and by target domain. A 429 carries " code { "Retry-After" } "."
        }
    }
}
