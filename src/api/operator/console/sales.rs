//! The views Leads, Orders and Webhook log.

use crate::api::operator::console::show::{Asked, List};
use crate::api::operator::console::{View, show};
use crate::api::operator::orders::FoundOrder;
use crate::api::operator::{Search, leads, orders};
use crate::app::Shared;
use crate::domain::bundle::Bundle;
use crate::domain::code::Code;
use crate::domain::figures::cents;
use crate::domain::ids::OrderId;
use crate::domain::lead::{LeadEvent, LeadStatus, next};
use crate::domain::order::{Order, OrderState};
use crate::domain::refusal::Refusal;
use crate::flows::orders::leads::find;
use crate::flows::orders::order_emails::{OrderEmails, PAGE_PATH};
use crate::http::Call;
use crate::pages::console::{Block, Cell, Field, Form, Tone};
use crate::store::{EventRecord, MailRecord, SourceRecord};

/// Maximum length of a note.
const NOTE_CHARACTERS_MAX: usize = 300;

pub(super) async fn leads(app: &Shared, call: &Call) -> Result<View, Refusal> {
    if let Some(id) = call.query.get("id") {
        return lead(app, &id).await;
    }
    let asked = Asked::of(call);
    let found = leads::newest(&app.store, asked.search.clone(), None).await?;
    let list = List {
        view: "leads",
        searched: "Contact, name, source, question or lead",
        states: &LeadStatus::ALL.map(LeadStatus::name),
        caption: "Leads, newest first",
        records: &found,
        columns: &[
            ("Created", &|(id, lead)| {
                show::opens(lead.created_at, id, "leads")
            }),
            ("Status", &|(_, lead)| {
                show::tag(lead.status.name(), lead_tone)
            }),
            ("Product", &|(_, lead)| show::words(lead.product.name())),
            ("Pack or bundle", &|(_, lead)| {
                show::text(lead.level.as_str())
            }),
            ("Contact", &|(_, lead)| show::text(lead.contact.as_str())),
            ("Sources", &|(_, lead)| show::number(lead.target_urls.len())),
            ("From", &|(_, lead)| show::text(lead.source.as_deref())),
        ],
        empty: "No such leads.",
    };
    Ok(View::new("Leads", list.blocks(&asked)))
}

async fn lead(app: &Shared, id: &str) -> Result<View, Refusal> {
    let (_, lead) = leads::one(&app.store, id).await?;
    let search = Search {
        state: None,
        words: id.to_owned(),
    };
    let bought = orders::newest(&app.store, search).await?;
    let row = |(id, order): &(OrderId, Order)| {
        vec![
            show::whole_link(Some(id), "orders"),
            show::tag(order.state.name(), order_tone),
            amount(order),
        ]
    };
    let steps_taken = lead.trail.iter();
    let steps_taken = steps_taken.map(|step| (step.at, step.by.name(), step.what.as_str()));
    Ok(View::new(
        show::title("Lead", id),
        vec![
            Block::Facts(vec![
                ("Status", show::tag(lead.status.name(), lead_tone)),
                ("Product", show::words(lead.product.name())),
                ("Pack or bundle", show::text(lead.level.as_str())),
                ("Contact", show::text(lead.contact.as_str())),
                ("Name", show::text(lead.name.as_str())),
                ("Question", show::text(lead.question.as_str())),
                ("Use case", show::text(lead.use_case.as_str())),
                ("Budget", show::text(lead.budget_usdc.as_str())),
                ("Notes", show::text(lead.notes.as_str())),
                ("Source", show::text(lead.source.as_deref())),
                ("Quote", show::text(lead.quote.as_deref())),
                ("Lead", show::whole_id(id)),
            ]),
            targets(&lead.target_urls),
            Block::Table {
                caption: "Orders of this lead",
                head: vec!["Order", "State", "Amount"],
                rows: bought.iter().map(row).collect(),
                empty: "No orders.",
            },
            Block::Heading("Next step".to_owned()),
            Block::Forms(steps(lead.status, id)),
            Block::Heading("History".to_owned()),
            trail(steps_taken),
        ],
    ))
}

/// The possible status changes, and a note.
fn steps(status: LeadStatus, id: &str) -> Vec<Form> {
    let reachable = LeadStatus::ALL.into_iter().filter(|to| {
        let after = LeadEvent::towards(*to).and_then(|event| next(status, event).ok());
        after == Some(*to) && status != *to
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

fn targets(target_urls: &[String]) -> Block {
    let rows = target_urls.iter();
    let rows = rows.map(|target| vec![Cell::ExternalAddress(target.clone())]);
    Block::Table {
        caption: "Sources",
        head: vec!["Source"],
        rows: rows.collect(),
        empty: "No sources.",
    }
}

/// The events of a record: when, who did it (empty where that is not known), and what.
fn trail<'a>(steps: impl Iterator<Item = (u64, &'a str, &'a str)>) -> Block {
    let rows = steps.map(|(at, by, what)| vec![show::time(at), show::text(by), show::text(what)]);
    Block::Table {
        caption: "History",
        head: vec!["When", "By", "What"],
        rows: rows.collect(),
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
    let found = orders::newest(&app.store, asked.search.clone()).await?;
    let list = List {
        view: "orders",
        searched: "E-mail, question, bundle, lead or order",
        states: &OrderState::NAMES,
        caption: "Orders, newest first",
        records: &found,
        columns: &[
            ("Created", &|(id, order)| {
                show::opens(order.created_at, id, "orders")
            }),
            ("State", &|(_, order)| {
                show::tag(order.state.name(), order_tone)
            }),
            ("Bundle", &|(_, order)| {
                show::text(order.bundle.map(Bundle::name))
            }),
            ("Amount", &|(_, order)| amount(order)),
            ("E-mail", &|(_, order)| show::text(order.email.as_deref())),
            ("Sources", &|(_, order)| {
                show::number(order.target_urls.len())
            }),
            ("Reason", &|(_, order)| {
                show::text(order.state.reason().as_deref())
            }),
        ],
        empty: "No such orders.",
    };
    Ok(View::new("Orders", list.blocks(&asked)))
}

async fn order(app: &Shared, id: &str) -> Result<View, Refusal> {
    let found = orders::one(&app.store, id).await?;
    let order = &found.order;
    let progress = match order.state {
        OrderState::Processing { done, total, .. } => Cell::Text(format!("{done} of {total}")),
        _ => Cell::Nothing,
    };
    let actions = actions(app, order, id).await;
    let steps_taken = order.trail.iter();
    let steps_taken = steps_taken.map(|step| (step.at, "", step.what.as_str()));
    Ok(View::new(
        show::title("Order", id),
        vec![
            Block::Facts(vec![
                ("State", show::tag(order.state.name(), order_tone)),
                ("Reason", show::text(order.state.reason().as_deref())),
                ("Progress", progress),
                ("Bundle", show::text(order.bundle.map(Bundle::name))),
                ("Amount", amount(order)),
                ("E-mail", show::text(order.email.as_deref())),
                ("Question", show::text(order.question.as_str())),
                ("Lead", show::whole_link(order.lead_id(), "leads")),
                ("Order", show::whole_id(id)),
                ("Checkout session", show::text(order.session_id.as_str())),
                ("Mail", found.mail.as_ref().map_or(Cell::Nothing, mail_of)),
                ("Created", show::time(order.created_at)),
                ("Fulfilled", show::time(order.fulfilled_at)),
            ]),
            targets(&order.target_urls),
            Block::Heading("Actions".to_owned()),
            Block::Forms(actions),
            Block::Heading("History".to_owned()),
            trail(steps_taken),
            sources(&found.sources),
            Block::Heading("Report".to_owned()),
            report(&found),
        ],
    ))
}

fn amount(order: &Order) -> Cell {
    orders::paid(order).map_or(Cell::Nothing, show::number)
}

/// Facts about the delivered report; its text is on the buyer's page.
fn report(found: &FoundOrder) -> Block {
    let Some(report) = &found.report else {
        return Block::Text("None.".to_owned());
    };
    let session = &found.order.session_id;
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
        ("Created", show::time(report.created_at)),
        ("Sources read", Cell::Text(report.sources_read.to_string())),
        ("SHA-256", Cell::Text(hex::encode(report.document))),
        (
            "SHA-256 of the PDF",
            show::text(report.pdf.map(hex::encode).as_deref()),
        ),
        (
            "PDF size in bytes",
            Cell::Text(report.pdf_bytes.to_string()),
        ),
    ])
}

fn mail_of(mail: &MailRecord) -> Cell {
    let state = mail.state.name();
    Cell::Text(match &mail.problem {
        Some(problem) => format!("{state}: {problem}"),
        None => state.to_owned(),
    })
}

/// The sources by their place, which is shown counted from 1.
fn sources(sources: &[(u32, SourceRecord)]) -> Block {
    let row = |(place, source): &(u32, SourceRecord)| {
        let (code, message) = match source {
            SourceRecord::Read { .. } => ("", ""),
            SourceRecord::Waiting { code, message, .. }
            | SourceRecord::Unreachable { code, message, .. } => (code.as_str(), message.as_str()),
        };
        vec![
            show::number(u64::from(*place) + 1),
            show::text(source.state()),
            show::text(code),
            show::text(message),
        ]
    };
    Block::Table {
        caption: "Sources so far",
        head: vec!["Source", "State", "Code", "Message"],
        rows: sources.iter().map(row).collect(),
        empty: "No source is being processed.",
    }
}

/// What the buyer's lead asks for, with its price, and what was paid for it.
async fn delivers(app: &Shared, order: &Order) -> String {
    let paid = orders::paid(order).unwrap_or_else(|| "an unknown amount".to_owned());
    let lead = match order.lead_id() {
        Some(id) => find(&app.store, id).await.ok().flatten(),
        None => None,
    };
    match lead.and_then(|lead| lead.bundle()) {
        Some(bundle) => format!(
            "Yes, deliver {} ({} USD) for {paid}",
            bundle.name(),
            cents(bundle.price())
        ),
        None => format!("Yes, deliver what the lead asks for, for {paid}"),
    }
}

/// The acts that the order's state allows.
async fn actions(app: &Shared, order: &Order, id: &str) -> Vec<Form> {
    let state = &order.state;
    let button = |act, text: &str| Form::button(act, "order_id", id, text);
    let mut forms = Vec::new();
    if matches!(state, OrderState::NeedsReview { .. }) {
        let attach = button("attach-order", "Attach to the lead").with(Field::Text {
            name: "lead_id",
            label: "Lead",
            kind: "text",
            value: order.lead_id().map(|id| id.to_string()).unwrap_or_default(),
            characters_max: 64,
            required: true,
        });
        forms.push(attach.confirmed(delivers(app, order).await));
    }
    if matches!(state, OrderState::Fulfilled | OrderState::Failed { .. }) {
        forms.push(button("refulfil-order", "Retry fulfilment"));
    }
    if *state == OrderState::Fulfilled && OrderEmails::of(app).is_on() {
        forms.push(button("resend-order", "Send the e-mail again"));
    }
    if !matches!(
        state,
        OrderState::AwaitingPayment | OrderState::PaymentFailed | OrderState::Refunded
    ) {
        let form = button("refund-order", "Record a refund");
        forms.push(form.confirmed("Yes, I refunded the payment at the payment provider"));
    }
    forms.push(
        button("delete-order", "Delete the order").confirmed("Yes, permanently, with its report"),
    );
    forms
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
    let events = orders::newest_events(&app.store).await?;
    if let Some(id) = call.query.get("id") {
        let found = events.iter().find(|event| event.id == *id);
        return found
            .map(event)
            .ok_or_else(|| Refusal::new(Code::NotFound, NO_EVENT));
    }
    let rows = events.iter().map(|event| {
        vec![
            show::time(event.received_at),
            show::text(event.kind.as_str()),
            show::words(event.outcome.as_str()),
            show::link(event.order.map(OrderId), "orders"),
            show::link(Some(&event.id), "events"),
        ]
    });
    let table = Block::Table {
        caption: "Webhook events, newest first",
        head: vec!["Received", "Type", "Outcome", "Order", "Event"],
        rows: rows.collect(),
        empty: "No events in the last 35 days.",
    };
    Ok(View::new("Webhook log", vec![table]))
}

const NO_EVENT: &str = "No such event among the newest. Events are stored for 35 days.";

fn event(event: &EventRecord) -> View {
    View::new(
        show::title("Event", &event.id),
        vec![
            Block::Facts(vec![
                ("Event", show::text(event.id.as_str())),
                ("Type", show::text(event.kind.as_str())),
                ("Outcome", show::words(event.outcome.as_str())),
                ("Order", show::link(event.order.map(OrderId), "orders")),
                ("Live", Cell::Text(event.livemode.to_string())),
                ("Created", show::time(event.created_at)),
                ("Received", show::time(event.received_at)),
            ]),
            Block::Folded {
                caption: "Raw event".to_owned(),
                text: event.raw.clone(),
            },
        ],
    )
}
