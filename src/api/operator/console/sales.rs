//! The views Leads, Orders and Webhook log.

use serde_json::Value;

use crate::api::operator::console::show::{Asked, List};
use crate::api::operator::console::{View, show};
use crate::api::operator::{Search, leads, orders};
use crate::app::Shared;
use crate::domain::bundle::Bundle;
use crate::domain::code::Code;
use crate::domain::figures::cents;
use crate::domain::lead::{LeadEvent, LeadStatus, next};
use crate::domain::order::OrderState;
use crate::domain::refusal::Refusal;
use crate::flows::orders::order_emails::{OrderEmails, PAGE_PATH};
use crate::http::Call;
use crate::pages::console::{Block, Cell, Field, Form, Tone};

/// Maximum length of a note.
const NOTE_CHARACTERS_MAX: usize = 300;

pub(super) async fn leads(app: &Shared, call: &Call) -> Result<View, Refusal> {
    if let Some(id) = call.query.get("id") {
        return lead(app, &id).await;
    }
    let asked = Asked::of(call);
    let found = leads::listed(&app.store, asked.search.clone(), None).await?;
    let list = List {
        view: "leads",
        searched: "Contact, name, source, question or lead",
        states: &LeadStatus::ALL.map(LeadStatus::name),
        caption: "Leads, newest first",
        columns: &[
            ("Created", &|lead| show::opens(lead, "lead_id", "leads")),
            ("Status", &|lead| show::tag(lead, "status", lead_tone)),
            ("Product", &|lead| show::words(lead, "product")),
            ("Pack or bundle", &|lead| show::text(lead, "level")),
            ("Contact", &|lead| show::text(lead, "contact")),
            ("Sources", &|lead| show::number(lead, "source_count")),
            ("From", &|lead| show::text(lead, "source")),
        ],
        records: &found["leads"],
        empty: "No such leads.",
    };
    Ok(View::new("Leads", list.blocks(&asked)))
}

async fn lead(app: &Shared, id: &str) -> Result<View, Refusal> {
    let found = leads::read_one(&app.store, id).await?;
    let search = Search {
        state: None,
        words: id.to_owned(),
    };
    let bought = orders::list(&app.store, search).await?;
    Ok(View::new(
        show::title("Lead", id),
        vec![
            Block::Facts(vec![
                ("Status", show::tag(&found, "status", lead_tone)),
                ("Product", show::words(&found, "product")),
                ("Pack or bundle", show::text(&found, "level")),
                ("Contact", show::text(&found, "contact")),
                ("Name", show::text(&found, "name")),
                ("Question", show::text(&found, "question")),
                ("Use case", show::text(&found, "use_case")),
                ("Budget", show::text(&found, "budget_usdc")),
                ("Notes", show::text(&found, "notes")),
                ("Source", show::text(&found, "source")),
                ("Quote", show::text(&found, "quote_id")),
                ("Lead", show::whole_id(id)),
            ]),
            targets(&found),
            Block::Table {
                caption: "Orders of this lead",
                head: vec!["Order", "State", "Amount"],
                rows: show::rows(&bought, "orders", |order| {
                    vec![
                        show::whole_link(order, "order_id", "orders"),
                        show::tag(order, "state", order_tone),
                        show::number(order, "paid"),
                    ]
                }),
                empty: "No orders.",
            },
            Block::Heading("Next step".to_owned()),
            Block::Forms(steps(&found, id)),
            Block::Heading("History".to_owned()),
            trail(&found),
        ],
    ))
}

/// The possible status changes, and a note.
fn steps(lead: &Value, id: &str) -> Vec<Form> {
    let status = lead["status"].as_str().and_then(LeadStatus::parse);
    let reachable = LeadStatus::ALL.into_iter().filter(|to| {
        let event = LeadEvent::towards(*to);
        let after = status
            .zip(event)
            .and_then(|(status, event)| next(status, event).ok());
        after == Some(*to) && status != Some(*to)
    });
    let mark = |to: LeadStatus| (to.name(), format!("Mark as {}", to.name()));
    let note_only = ("", "Add the note".to_owned());
    let step = Form::button("move-lead", "lead_id", id, "")
        .with(Field::Text {
            name: "note",
            label: "Note",
            kind: "text",
            value: String::new(),
            characters_max: NOTE_CHARACTERS_MAX,
            required: false,
        })
        .choosing("to", reachable.map(mark).chain([note_only]).collect());
    let delete = Form::button("delete-lead", "lead_id", id, "Delete the lead");
    vec![step, delete.confirmed("Yes, permanently")]
}

fn targets(value: &Value) -> Block {
    let rows = value["target_urls"].as_array().into_iter().flatten();
    let rows = rows.map(|target| {
        vec![Cell::ExternalAddress(
            target.as_str().unwrap_or_default().to_owned(),
        )]
    });
    Block::Table {
        caption: "Sources",
        head: vec!["Source"],
        rows: rows.collect(),
        empty: "No sources.",
    }
}

/// The events of a record: when, what, and who did it, if known.
fn trail(value: &Value) -> Block {
    Block::Table {
        caption: "History",
        head: vec!["When", "By", "What"],
        rows: show::rows(value, "trail", |step| {
            vec![
                show::time(step, "at"),
                show::text(step, "by"),
                show::text(step, "what"),
            ]
        }),
        empty: "No events yet.",
    }
}

fn lead_tone(status: &str) -> Tone {
    match status {
        "paid" | "fulfilled" => Tone::Good,
        "new" => Tone::Warn,
        _ => Tone::Plain,
    }
}

pub(super) async fn orders(app: &Shared, call: &Call) -> Result<View, Refusal> {
    if let Some(id) = call.query.get("id") {
        return order(app, &id).await;
    }
    let asked = Asked::of(call);
    let found = orders::list(&app.store, asked.search.clone()).await?;
    let list = List {
        view: "orders",
        searched: "E-mail, question, bundle, lead or order",
        states: &OrderState::NAMES,
        caption: "Orders, newest first",
        columns: &[
            ("Created", &|order| show::opens(order, "order_id", "orders")),
            ("State", &|order| show::tag(order, "state", order_tone)),
            ("Bundle", &|order| show::text(order, "bundle")),
            ("Amount", &|order| show::number(order, "paid")),
            ("E-mail", &|order| show::text(order, "email")),
            ("Sources", &|order| show::number(order, "source_count")),
            ("Reason", &|order| show::text(order, "reason")),
        ],
        records: &found["orders"],
        empty: "No such orders.",
    };
    Ok(View::new("Orders", list.blocks(&asked)))
}

async fn order(app: &Shared, id: &str) -> Result<View, Refusal> {
    let found = orders::show(&app.store, id).await?;
    let progress = match found["progress"].as_object() {
        Some(progress) => Cell::Text(format!("{} of {}", progress["done"], progress["total"])),
        None => Cell::Nothing,
    };
    let actions = actions(app, &found, id).await?;
    Ok(View::new(
        show::title("Order", id),
        vec![
            Block::Facts(vec![
                ("State", show::tag(&found, "state", order_tone)),
                ("Reason", show::text(&found, "reason")),
                ("Progress", progress),
                ("Bundle", show::text(&found, "bundle")),
                ("Amount", show::number(&found, "paid")),
                ("E-mail", show::text(&found, "email")),
                ("Question", show::text(&found, "question")),
                ("Lead", show::whole_link(&found, "lead_id", "leads")),
                ("Order", show::whole_id(id)),
                ("Checkout session", show::text(&found, "session_id")),
                ("Mail", mail_of(&found["mail"])),
                ("Created", show::time(&found, "created_at")),
                ("Fulfilled", show::time(&found, "fulfilled_at")),
            ]),
            targets(&found),
            Block::Heading("Actions".to_owned()),
            Block::Forms(actions),
            Block::Heading("History".to_owned()),
            trail(&found),
            sources(&found),
            Block::Heading("Report".to_owned()),
            report(&found),
        ],
    ))
}

/// Facts about the delivered report; its text is on the buyer's page.
fn report(order: &Value) -> Block {
    let report = &order["report"];
    if report.is_null() {
        return Block::Text("None.".to_owned());
    }
    let session = order["session_id"].as_str().unwrap_or_default();
    Block::Facts(vec![
        (
            "Delivery",
            match session.is_empty() {
                true => Cell::Nothing,
                false => Cell::Link {
                    text: "Open as the buyer sees it".to_owned(),
                    path: format!("{PAGE_PATH}?session_id={session}"),
                },
            },
        ),
        ("Created", show::time(report, "created_at")),
        ("Sources read", show::text(report, "sources_read")),
        ("SHA-256", show::text(report, "sha256")),
        ("SHA-256 of the PDF", show::text(report, "pdf_sha256")),
        ("PDF size in bytes", show::text(report, "pdf_bytes")),
    ])
}

fn mail_of(mail: &Value) -> Cell {
    match (mail["state"].as_str(), mail["problem"].as_str()) {
        (Some(state), Some(problem)) => Cell::Text(format!("{state}: {problem}")),
        (Some(state), None) => Cell::Text(state.to_owned()),
        _ => Cell::Nothing,
    }
}

fn sources(order: &Value) -> Block {
    Block::Table {
        caption: "Sources so far",
        head: vec!["Source", "State", "Code", "Message"],
        rows: show::rows(order, "sources", |source| {
            vec![
                place(source),
                show::words(source, "state"),
                show::text(source, "code"),
                show::text(source, "message"),
            ]
        }),
        empty: "No source is being processed.",
    }
}

/// Which of the order's sources, counted from 1.
fn place(source: &Value) -> Cell {
    let place = source["place"].as_u64();
    place.map_or(Cell::Nothing, |place| Cell::Number((place + 1).to_string()))
}

/// What the buyer's lead asks for, with its price, and what was paid for it.
async fn delivers(app: &Shared, order: &Value) -> Result<String, Refusal> {
    let paid = order["paid"].as_str().unwrap_or("an unknown amount");
    let lead = match order["lead_id"].as_str() {
        Some(id) => leads::read_one(&app.store, id).await.unwrap_or_default(),
        None => Value::Null,
    };
    Ok(match lead["level"].as_str().and_then(Bundle::parse) {
        Some(bundle) => format!(
            "Yes, deliver {} ({} USD) for {paid}",
            bundle.name(),
            cents(bundle.price())
        ),
        None => format!("Yes, deliver what the lead asks for, for {paid}"),
    })
}

/// The acts that the order's state allows.
async fn actions(app: &Shared, order: &Value, id: &str) -> Result<Vec<Form>, Refusal> {
    let state = order["state"].as_str().unwrap_or_default();
    let button = |act, text: &str| Form::button(act, "order_id", id, text);
    let mut forms = Vec::new();
    if state == "needs_review" {
        let attach = button("attach-order", "Attach to the lead").with(Field::Text {
            name: "lead_id",
            label: "Lead",
            kind: "text",
            value: order["lead_id"].as_str().unwrap_or_default().to_owned(),
            characters_max: 64,
            required: true,
        });
        forms.push(attach.confirmed(delivers(app, order).await?));
    }
    if matches!(state, "fulfilled" | "failed") {
        forms.push(button("refulfil-order", "Retry fulfilment"));
    }
    if state == "fulfilled" && OrderEmails::of(app).is_on() {
        forms.push(button("resend-order", "Send the e-mail again"));
    }
    if !matches!(state, "awaiting_payment" | "payment_failed" | "refunded") {
        let form = button("refund-order", "Record a refund");
        forms.push(form.confirmed("Yes, I refunded the payment at the payment provider"));
    }
    forms.push(
        button("delete-order", "Delete the order").confirmed("Yes, permanently, with its report"),
    );
    Ok(forms)
}

fn order_tone(state: &str) -> Tone {
    match state {
        "fulfilled" => Tone::Good,
        "needs_review" | "awaiting_payment" => Tone::Warn,
        "failed" | "payment_failed" => Tone::Bad,
        _ => Tone::Plain,
    }
}

pub(super) async fn events(app: &Shared, call: &Call) -> Result<View, Refusal> {
    let listed = orders::list_events(&app.store).await?;
    if let Some(id) = call.query.get("id") {
        let mut events = listed["events"].as_array().into_iter().flatten();
        let found = events.find(|event| event["event_id"] == *id);
        return found
            .map(event)
            .ok_or_else(|| Refusal::new(Code::NotFound, NO_EVENT));
    }
    let rows = show::rows(&listed, "events", |event| {
        vec![
            show::time(event, "received_at"),
            show::text(event, "type"),
            show::words(event, "outcome"),
            show::link(event, "order_id", "orders"),
            show::link(event, "event_id", "events"),
        ]
    });
    let table = Block::Table {
        caption: "Webhook events, newest first",
        head: vec!["Received", "Type", "Outcome", "Order", "Event"],
        rows,
        empty: "No events in the last 35 days.",
    };
    Ok(View::new("Webhook log", vec![table]))
}

const NO_EVENT: &str = "No such event among the newest. Events are stored for 35 days.";

fn event(event: &Value) -> View {
    View::new(
        show::title("Event", event["event_id"].as_str().unwrap_or_default()),
        vec![
            Block::Facts(vec![
                ("Event", show::text(event, "event_id")),
                ("Type", show::text(event, "type")),
                ("Outcome", show::words(event, "outcome")),
                ("Order", show::link(event, "order_id", "orders")),
                ("Live", show::text(event, "livemode")),
                ("Created", show::time(event, "created_at")),
                ("Received", show::time(event, "received_at")),
            ]),
            Block::Folded {
                caption: "Raw event".to_owned(),
                text: event["raw"].as_str().unwrap_or_default().to_owned(),
            },
        ],
    )
}
