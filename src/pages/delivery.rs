//! `/proof-pack/bundle/delivery` and `/proof-pack/bundle/recover`: an order for its buyer, from the wait for the payment
//! to the report, and the form by which a lost link is asked for. What the report says arrives as its members.

use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::domain::time::UnixSeconds;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

const RECOVER_PATH: &str = "/proof-pack/bundle/recover";

#[derive(Clone, Debug)]
pub struct DeliveryView<'a> {
    pub site: Site<'a>,
    pub stage: Stage,
    /// What the order has come to, as a sentence or two.
    pub message: &'a str,
    pub order_id: Option<&'a str>,
    /// Sources that are done, and all of them.
    pub progress: Option<(u32, u32)>,
    /// The buyer's address, masked.
    pub email: Option<&'a str>,
    /// The members of a bundle's report; none before it is delivered.
    pub report: &'a Map<String, Value>,
    pub json_url: Option<&'a str>,
    pub pdf_url: Option<&'a str>,
    /// The link that leads back, and its end.
    pub way_back: Option<(String, UnixSeconds)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The page looks again by itself.
    UnderWay,
    /// It has looked long enough.
    TakingLong,
    /// Nothing more will come.
    Ended,
    Delivered,
}

#[derive(Clone, Debug)]
pub struct RecoverView<'a> {
    pub site: Site<'a>,
    /// What became of a request; none before one is made.
    pub message: Option<&'a str>,
    pub links: Vec<String>,
}

pub fn page(view: &DeliveryView<'_>) -> String {
    let content = match view.stage {
        Stage::Delivered => delivered(view),
        _ => waiting(view),
    };
    layout(
        Layout {
            site: view.site,
            title: "Your Evidence Bundle",
            description: "What several public sources establish together, for whoever ordered it.",
            path: "/proof-pack/bundle/delivery",
            noindex: true,
            markdown: None,
        },
        content,
    )
}

fn waiting(view: &DeliveryView<'_>) -> Markup {
    html! {
        h1 { "Your Evidence Bundle" }
        p.lead role="status" { (view.message) }
        @if let Some((done, total)) = view.progress {
            p {
                progress value=(done) max=(total) { (done) " of " (total) }
                " " (done) " of " (total) " sources are done."
            }
        }
        @match view.stage {
            Stage::UnderWay => p { "This page looks again by itself. You can close it" (told_later(view)) "." },
            Stage::TakingLong => p {
                "It takes longer than usual. " a href=(RECOVER_PATH) { "Have the link sent to you" } " when it is ready."
            },
            _ => {},
        }
        @if let Some(contact) = view.site.contact { p { "Questions: " (parts::contact(contact)) } }
        (order_line(view))
    }
}

fn told_later(view: &DeliveryView<'_>) -> Markup {
    html! {
        @if let Some(email) = view.email { ": what is ready can also be found again with your address " (email) }
    }
}

fn order_line(view: &DeliveryView<'_>) -> Markup {
    html! { @if let Some(id) = view.order_id { p.small.muted { "Order " code { (id) } } } }
}

fn delivered(view: &DeliveryView<'_>) -> Markup {
    let report = view.report;
    let synthesis = &report.get("synthesis").unwrap_or(&Value::Null);
    html! {
        p.kicker { "Decision: " strong { (text(&report_value(report, "decision")["label"]).replace('_', " ")) } }
        h1 { (text(&report_value(report, "question"))) }
        p.lead { (text(&report_value(report, "answer"))) }
        p { (text(&report_value(report, "executive_summary"))) }
        (downloads(view))
        h2 #sources { "Sources" }
        (sources(report))
        (section("Where they agree", "agreements", &synthesis["agreements"], agreement))
        (section("Where they differ", "conflicts", &synthesis["conflicts"], conflict))
        (section("What they leave open", "gaps", &synthesis["gaps"], gap))
        (section("Risks", "risks", &report_value(report, "risk_notes"), risk))
        h2 #citations { "Excerpts" }
        (excerpts(report))
        (hashes(report))
        (order_line(view))
    }
}

fn report_value(report: &Map<String, Value>, name: &str) -> Value {
    report.get(name).cloned().unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn downloads(view: &DeliveryView<'_>) -> Markup {
    html! {
        ul {
            @if let Some(url) = view.pdf_url { li { a href=(url) { "Download the PDF" } } }
            @if let Some(url) = view.json_url { li { a href=(url) { "Download the JSON" } } }
            @if let Some((url, end)) = &view.way_back {
                li {
                    "A link that leads back here until " (parts::time(*end)) ": " a href=(url) { "keep it" }
                    ". Whoever has it may read the report."
                }
            }
        }
    }
}

fn sources(report: &Map<String, Value>) -> Markup {
    let sources = report_value(report, "sources");
    let unreachable = report_value(report, "unreachable");
    let why = |id: &Value| {
        let mut all = unreachable.as_array().into_iter().flatten();
        let found = all.find(|other| &other["source_id"] == id);
        found
            .map(|found| text(&found["message"]).to_owned())
            .unwrap_or_default()
    };
    let table = html! {
        table.stack {
            thead { tr { th { "" } th { "Source" } th { "What it says" } th { "Independent group" } } }
            tbody {
                @for source in sources.as_array().into_iter().flatten() {
                    tr {
                        th scope="row" { (text(&source["id"])) }
                        td.long {
                            (parts::foreign_link(text(&source["target_url"])))
                            @if let Some(title) = source["title"].as_str() { br; (title) }
                        }
                        @if source["status"] == "read" {
                            td { (text(&source["label"]).replace('_', " ")) }
                            td { (text(&source["group_id"])) }
                        } @else {
                            td.long { "Could not be read. " (why(&source["id"])) }
                            td { "–" }
                        }
                    }
                }
            }
        }
    };
    parts::scrolling("Sources and what they say", &table)
}

/// A heading with a list; nothing where the list is empty.
fn section(heading: &str, anchor: &str, items: &Value, item: fn(&Value) -> Markup) -> Markup {
    let items = items.as_array().map_or(&[][..], Vec::as_slice);
    html! {
        @if !items.is_empty() {
            h2 id=(anchor) { (heading) }
            ul { @for one in items { li { (item(one)) } } }
        }
    }
}

fn agreement(agreement: &Value) -> Markup {
    html! {
        (text(&agreement["statement"])) " "
        span.muted {
            (agreement["group_count"].to_string()) " independent sources (" (names(&agreement["source_ids"])) ")"
            @if agreement["disputed"] == true { "; another says otherwise" }
        }
    }
}

fn conflict(conflict: &Value) -> Markup {
    html! {
        (text(&conflict["claim"]))
        " " span.muted { "(" (text(&conflict["kind"])) ", " (text(&conflict["certainty"])) ")" }
        ul {
            @for side in conflict["sides"].as_array().into_iter().flatten() {
                li {
                    @if let Some(value) = side["value"].as_str() { strong { (value) } ": " }
                    q { (text(&side["excerpt"])) } " " span.muted { (names(&side["source_ids"])) }
                    @if let Some(dated) = side["dated"].as_str() { " " span.muted { "dated " (dated) } }
                }
            }
        }
    }
}

fn gap(gap: &Value) -> Markup {
    html! { (text(gap)) }
}

fn risk(risk: &Value) -> Markup {
    html! {
        strong { (text(&risk["severity"])) } ": " (text(&risk["text"])) " "
        span.muted { (names(&risk["source_ids"])) }
    }
}

fn names(ids: &Value) -> String {
    let ids: Vec<&str> = ids
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    ids.join(", ")
}

fn excerpts(report: &Map<String, Value>) -> Markup {
    let citations = report_value(report, "citations");
    let citations = citations.as_array().map_or(&[][..], Vec::as_slice);
    html! {
        @if citations.is_empty() { p.muted { "Nothing in the sources bears on the question." } }
        @for citation in citations {
            figure.code.fold {
                figcaption { (text(&citation["id"])) " " (text(&citation["source_id"])) }
                pre tabindex="0" { code { (text(&citation["excerpt"])) } }
            }
        }
    }
}

fn hashes(report: &Map<String, Value>) -> Markup {
    html! {
        h2 #verify { "Check it" }
        p {
            "Each excerpt is a verbatim slice of its source as it was read. A source hash is SHA-256 of that text; the "
            "result hash is SHA-256 of the report in the form of RFC 8785."
        }
        dl.facts {
            dt { "Result hash" } dd { code { (text(&report_value(report, "result_hash"))) } }
            @for hash in report_value(report, "source_hashes").as_array().into_iter().flatten() {
                dt { (text(&hash["source_id"])) }
                dd {
                    code { (text(&hash["sha256"])) }
                    @if let Some(at) = hash["fetched_at"].as_u64() { " read " (parts::time(UnixSeconds(at))) }
                }
            }
        }
    }
}

/// The form by which a lost link is asked for, and what became of it.
pub fn recover_page(view: &RecoverView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: "Find a delivery again",
            description: "Has the link to a paid Evidence Bundle sent again to the address that it was bought with.",
            path: RECOVER_PATH,
            noindex: true,
            markdown: None,
        },
        html! {
            h1 { "Find a delivery again" }
            @if let Some(message) = view.message { p.lead role="status" { (message) } }
            @if !view.links.is_empty() {
                ul { @for link in &view.links { li { a href=(link) { "The order and its report" } } } }
            }
            form.ask action=(RECOVER_PATH) method="post" {
                label for="email" { "The e-mail address that you gave at the checkout" }
                .row {
                    input #email name="email" type="email" maxlength="254" required autocomplete="email";
                }
                label for="target_url" { "One of the sources that you submitted" }
                .row {
                    input #target_url name="target_url" type="text" inputmode="url" maxlength="2048" required
                        autocomplete="off" spellcheck="false" placeholder="https://example.com/pricing";
                    button type="submit" { "Send the link" }
                }
            }
            p.hint {
                "The answer is the same whether or not an order fits, so that nobody learns from it who has bought what."
            }
        },
    )
}
