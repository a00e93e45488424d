//! The operator's data on its way out: everything of a kind as CSV or JSON, and everything of one person, to be handed
//! out or forgotten.

use serde_json::{Value, json};

use crate::api::operator::{books, mails, orders};
use crate::api::{failure, operator, operator_leads};
use crate::app::Shared;
use crate::domain::csv;
use crate::domain::ids::OrderId;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::UnixSeconds;
use crate::http::{Call, Reply};
use crate::store::{LeadFilter, Snapshot, Store, StoreError};

/// Rows of one export. It is made in memory as a whole.
const ROWS_MAX: usize = 100_000;
/// Orders of one person in one answer.
const PERSON_MAX: usize = 1000;

/// One kind of export: its name, the columns of its CSV, and where its rows come from.
#[derive(Debug)]
pub struct Kind {
    pub name: &'static str,
    columns: &'static [&'static str],
    rows: fn(&Snapshot, UnixSeconds, &mut Rows) -> Result<(), StoreError>,
}

#[rustfmt::skip]
pub static KINDS: [Kind; 7] = [
    Kind {
        name: "payments",
        columns: &["key", "state", "means", "payer", "nonce", "amount_units", "product", "level", "target_url", "source",
            "transaction", "reason", "created_at", "changed_at"],
        rows: |snapshot, _, rows| snapshot.payments(|key, payment| rows.add(operator::payment_json(key, &payment))),
    },
    Kind {
        name: "reports",
        columns: &["report_id", "state", "pack", "decision", "target_url", "question", "title", "payment", "shared",
            "listed", "created_at", "expires_at"],
        rows: |snapshot, now, rows| snapshot.reports(|id, report| rows.add(operator::report_json(id, &report, now))),
    },
    Kind {
        name: "leads",
        columns: &["lead_id", "product", "level", "status", "contact", "name", "source_count", "target_urls", "question",
            "use_case", "budget_usdc", "notes", "source", "quote_id", "created_at", "changed_at", "trail"],
        rows: |snapshot, _, rows| snapshot.leads(&LeadFilter::default(),
            |id, lead| rows.add(operator_leads::lead_json(id, &lead))),
    },
    Kind {
        name: "orders",
        columns: &["order_id", "state", "reason", "bundle", "lead_id", "email", "question", "source_count", "amount_total",
            "currency", "livemode", "round", "created_at", "changed_at", "fulfilled_at"],
        rows: |snapshot, _, rows| snapshot.orders(|id, order| rows.add(orders::order_json(id, &order))),
    },
    Kind {
        name: "mails",
        columns: &["key", "state", "kind", "about", "to", "subject", "attachment", "tries", "next_try", "problem",
            "created_at", "changed_at"],
        rows: |snapshot, _, rows| snapshot.mails(|key, mail| rows.add(mails::mail_json(key, &mail))),
    },
    Kind {
        name: "events",
        columns: &["event_id", "type", "livemode", "order_id", "outcome", "created_at", "received_at", "raw"],
        rows: |snapshot, _, rows| snapshot.provider_events(|event| rows.add(orders::event_json(&event))),
    },
    Kind {
        name: "ledger",
        columns: &["day", "sales", "revenue_usdc", "gas_usdc", "facilitator_fee_usdc", "supplier_usdc", "profit_usdc",
            "levels", "sources", "reckoning"],
        rows: |snapshot, _, rows| snapshot.ledger(ROWS_MAX)?.into_iter().try_for_each(|(day, ledger)| {
            let mut row = books::ledger_json(&ledger);
            row["day"] = books::date(day).into();
            row["reckoning"] = snapshot.reckoning(day)?.as_ref().map(books::reckoning_json).into();
            rows.add(row)
        }),
    },
];

/// The rows of an export, as far as there is room.
#[derive(Debug, Default)]
struct Rows {
    rows: Vec<Value>,
    is_cut: bool,
}

impl Rows {
    #[expect(
        clippy::unnecessary_wraps,
        reason = "it ends each visitor of the store, and those may fail"
    )]
    fn add(&mut self, row: Value) -> Result<(), StoreError> {
        if self.rows.len() < ROWS_MAX {
            self.rows.push(row);
        } else {
            self.is_cut = true;
        }
        Ok(())
    }
}

/// GET /operator/export/{what}: as JSON, or as CSV with `?format=csv`.
pub async fn export(app: Shared, call: Call) -> Reply {
    let what = call.param("what").unwrap_or_default();
    let format = call.query.get("format");
    match exported(&app.store, what, format.as_deref(), app.now()).await {
        Ok(reply) => reply,
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// GET /operator/person?email=: what leads, orders and outbox know of an address.
pub async fn show_person(app: Shared, call: Call) -> Reply {
    let email = call.query.get("email").unwrap_or_default();
    match person(&app.store, &email).await {
        Ok(found) => Reply::json(200, found.to_string()),
        Err(error) => failure::reply(&app, &error.into(), &call),
    }
}

/// POST /operator/forget?email=: deletes all of it.
pub async fn forget_person(app: Shared, call: Call) -> Reply {
    let email = call.query.get("email").unwrap_or_default();
    match forget(&app.store, &email).await {
        Ok(gone) => Reply::json(200, gone.to_string()),
        Err(error) => failure::reply(&app, &error.into(), &call),
    }
}

/// A file of everything of a kind.
pub async fn exported(
    store: &Store,
    what: &str,
    format: Option<&str>,
    now: UnixSeconds,
) -> Result<Reply, Refusal> {
    let text = text(store, what, format, now).await?;
    let reply = match format {
        Some("csv") => Reply::new(200, "text/csv; charset=utf-8", text),
        _ => Reply::json(200, text),
    };
    let name = format!(
        "attachment; filename=\"{what}.{}\"",
        format.unwrap_or("json")
    );
    Ok(reply
        .header("content-disposition", &name)
        .fixed("cache-control", "no-store"))
}

/// The same as a text.
pub async fn text(
    store: &Store,
    what: &str,
    format: Option<&str>,
    now: UnixSeconds,
) -> Result<String, Refusal> {
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    let kind = KINDS.iter().find(|kind| kind.name == what);
    let kind = kind.ok_or_else(|| {
        Refusal::new(
            Code::NotFound,
            format!("There is no such export: take one of {}.", names.join(", ")),
        )
    })?;
    let Some(is_csv) = (match format {
        None | Some("json") => Some(false),
        Some("csv") => Some(true),
        Some(_) => None,
    }) else {
        return Err(Refusal::new(
            Code::InvalidRequest,
            "An export's format is csv or json.",
        ));
    };
    let read = store.read(move |snapshot| {
        let mut rows = Rows::default();
        (kind.rows)(snapshot, now, &mut rows)?;
        Ok(rows)
    });
    let found = read.await?;
    if found.is_cut {
        tracing::warn!(what, rows = ROWS_MAX, "an export was cut");
    }
    Ok(match is_csv {
        true => table(kind, &found.rows),
        false => {
            json!({"status": "success", what: found.rows, "is_complete": !found.is_cut}).to_string()
        }
    })
}

fn table(kind: &Kind, rows: &[Value]) -> String {
    let mut text = csv::row(kind.columns.iter().copied());
    for row in rows {
        let cells: Vec<String> = kind.columns.iter().map(|name| cell(&row[name])).collect();
        text.push_str(&csv::row(cells.iter().map(String::as_str)));
    }
    text
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What leads, orders and outbox know of an address.
pub async fn person(store: &Store, email: &str) -> Result<Value, StoreError> {
    let email = email.trim().to_owned();
    let read = store.read(move |snapshot| {
        let leads = snapshot.leads_of(&email)?;
        let leads = leads
            .iter()
            .map(|(id, lead)| operator_leads::lead_json(*id, lead));
        let leads: Vec<Value> = leads.collect();
        let orders = snapshot.orders_of_email(&email, PERSON_MAX)?;
        let orders = orders.iter().map(|(id, order)| {
            let mut shown = orders::order_json(*id, order);
            shown["target_urls"] = order.target_urls.clone().into();
            shown
        });
        let orders: Vec<Value> = orders.collect();
        let mut found = Vec::new();
        snapshot.mails(|key, mail| {
            if is_same(&mail.mail.to, &email) {
                let mut shown = mails::mail_json(key, &mail);
                shown["text"] = mail.mail.text.into();
                found.push(shown);
            }
            Ok(())
        })?;
        Ok(json!({"status": "success", "leads": leads, "orders": orders, "mails": found}))
    });
    read.await
}

/// Deletes what is known of an address, with the reports that were delivered to it.
pub async fn forget(store: &Store, email: &str) -> Result<Value, StoreError> {
    let email = email.trim().to_owned();
    let looked_for = email.clone();
    let found = store.read(move |snapshot| snapshot.orders_of_email(&looked_for, usize::MAX));
    let found: Vec<OrderId> = found.await?.into_iter().map(|(id, _)| id).collect();
    let gone = store.write(move |tables| {
        let leads = tables.delete_leads_of(&email)?;
        let mut orders = 0;
        for id in found {
            orders += usize::from(tables.delete_order(id)?);
        }
        let mails = tables.delete_mails_to(&email)?;
        Ok((leads, orders, mails))
    });
    let (leads, orders, mails) = gone.await?;
    tracing::info!(leads, orders, mails, "forgot a person");
    Ok(json!({"status": "success", "deleted": {"leads": leads, "orders": orders, "mails": mails}}))
}

/// The same address, in whatever case.
fn is_same(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}
