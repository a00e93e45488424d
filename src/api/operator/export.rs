//! Exports of all records of a kind, as CSV or JSON. Rows are read and sent in parts, so an export of any length needs the
//! memory of one part. A row that changes meanwhile is exported as it was read.

use serde_json::Value;

use crate::api::failure;
use crate::api::operator::leads;
use crate::api::operator::{self, ledger, mails, orders};
use crate::app::Shared;
use crate::domain::amount::Amount;
use crate::domain::code::Code;
use crate::domain::csv;
use crate::domain::ids::{LeadId, OrderId, ReportId};
use crate::domain::keys::{MailKey, PaymentKey};
use crate::domain::payment::{Payment, state_in_words};
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::http::{Call, Reply, Sink};
use crate::store::{Snapshot, Store, StoreError};

/// Rows per part. A lead has at most 64 KiB.
const PART_ROWS: usize = 200;
/// Days of the ledger, read at once: a hundred years.
const DAYS_MAX: usize = 36_525;

/// The key of the last row read; empty at the start.
type After = Option<Vec<u8>>;

/// Consecutive rows, and the key of the last if there may be more.
struct Part {
    rows: Vec<Value>,
    last: After,
}

/// A kind of export: its name, CSV columns and row source.
#[derive(Debug)]
pub struct Kind {
    pub name: &'static str,
    columns: &'static [&'static str],
    part: fn(&Snapshot, UnixSeconds, &After) -> Result<Part, StoreError>,
}

#[rustfmt::skip]
pub static KINDS: [Kind; 7] = [
    Kind {
        name: "payments",
        columns: &["key", "state", "means", "payer", "nonce", "amount_units", "product", "level", "target_url", "source",
            "transaction", "reason", "created_at", "changed_at", "amount_usdc", "status", "created", "changed"],
        part: |snapshot, _, after| Ok(part(snapshot.payments_after(key(after).map(PaymentKey), PART_ROWS)?, |key| &key.0,
            payment_row)),
    },
    Kind {
        name: "reports",
        columns: &["report_id", "state", "pack", "decision", "target_url", "question", "title", "payment", "shared",
            "listed", "listing", "created_at", "expires_at"],
        part: |snapshot, now, after| {
            let found = snapshot.reports_after(key(after).map(ReportId), PART_ROWS)?.into_iter();
            let found = found.map(|(id, report)| Ok((id, (snapshot.listing(&report)?, report))));
            Ok(part(found.collect::<Result<_, StoreError>>()?, |id| &id.0,
                |id, (listing, report)| operator::report_json(id, report, *listing, now)))
        },
    },
    Kind {
        name: "leads",
        columns: &["lead_id", "product", "level", "status", "contact", "name", "source_count", "target_urls", "question",
            "use_case", "budget_usdc", "notes", "source", "quote_id", "created_at", "changed_at", "trail"],
        part: |snapshot, _, after| Ok(part(snapshot.leads_after(key(after).map(LeadId), PART_ROWS)?, |id| &id.0,
            leads::lead_json)),
    },
    Kind {
        name: "orders",
        columns: &["order_id", "state", "reason", "bundle", "lead_id", "email", "question", "source_count", "amount_total",
            "currency", "livemode", "round", "created_at", "changed_at", "fulfilled_at"],
        part: |snapshot, _, after| Ok(part(snapshot.orders_after(key(after).map(OrderId), PART_ROWS)?, |id| &id.0,
            orders::order_json)),
    },
    Kind {
        name: "mails",
        columns: &["key", "state", "kind", "about", "to", "subject", "attachment", "tries", "next_try", "problem",
            "created_at", "changed_at"],
        part: |snapshot, _, after| Ok(part(snapshot.mails_after(key(after).map(MailKey), PART_ROWS)?, |key| &key.0,
            mails::mail_json)),
    },
    Kind {
        name: "events",
        columns: &["event_id", "type", "livemode", "order_id", "outcome", "created_at", "received_at", "raw"],
        part: |snapshot, _, after| Ok(part(snapshot.provider_events_after(key(after), PART_ROWS)?, |key| key,
            |_, event| orders::event_json(event))),
    },
    Kind {
        name: "ledger",
        columns: &["day", "sales", "revenue_usdc", "gas_usdc", "facilitator_fee_usdc", "supplier_usdc", "profit_usdc",
            "levels", "sources", "ledger_check"],
        part: |snapshot, _, _| days(snapshot),
    },
];

fn key<const N: usize>(after: &After) -> Option<[u8; N]> {
    after.as_deref().and_then(|key| key.try_into().ok())
}

fn part<K: Copy, R>(
    found: Vec<(K, R)>,
    bytes: fn(&K) -> &[u8],
    row: impl Fn(K, &R) -> Value,
) -> Part {
    let is_full = found.len() == PART_ROWS;
    let last = found.last().filter(|_| is_full);
    Part {
        last: last.map(|(key, _)| bytes(key).to_vec()),
        rows: found
            .iter()
            .map(|(key, record)| row(*key, record))
            .collect(),
    }
}

/// A payment, with its figures also as people read them.
fn payment_row(key: PaymentKey, payment: &Payment) -> Value {
    let mut row = operator::payment_json(key, payment);
    let iso = |at: &Value| {
        let at = at.as_u64().and_then(|at| UnixSeconds(at).timestamp());
        at.map(|at| at.to_string())
    };
    let amount = row["amount_units"].as_str().and_then(Amount::parse_units);
    let status = row["state"].as_str().map(state_in_words).map(str::to_owned);
    let (created, changed) = (iso(&row["created_at"]), iso(&row["changed_at"]));
    row["amount_usdc"] = amount.map(Amount::as_usdc).into();
    row["status"] = status.into();
    row["created"] = created.into();
    row["changed"] = changed.into();
    row
}

fn days(snapshot: &Snapshot) -> Result<Part, StoreError> {
    let days = snapshot.ledger(DAYS_MAX)?.into_iter().map(|(day, ledger)| {
        let mut row = ledger::ledger_json(&ledger);
        row["day"] = ledger::date(day).into();
        row["ledger_check"] = snapshot
            .ledger_check(day)?
            .as_ref()
            .map(ledger::check_json)
            .into();
        Ok(row)
    });
    Ok(Part {
        rows: days.collect::<Result<_, StoreError>>()?,
        last: None,
    })
}

/// GET /operator/export/{what}: as JSON, or as CSV with `?format=csv`.
pub async fn export(app: Shared, call: Call) -> Reply {
    let what = call.param("what").unwrap_or_default();
    let format = call.query.get("format");
    match exported(&app, what, format.as_deref()) {
        Ok(reply) => reply,
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// All records of a kind as a file, streamed.
pub fn exported(app: &Shared, what: &str, format: Option<&str>) -> Result<Reply, Refusal> {
    let export = Export::of(what, format, app.now())?;
    let media_type = match export.is_csv {
        true => "text/csv; charset=utf-8",
        false => "application/json",
    };
    let name = format!(
        "attachment; filename=\"{what}.{}\"",
        format.unwrap_or("json")
    );
    let (reply, sink) = Reply::in_pieces(200, media_type);
    app.tasks.spawn(send(app.clone(), export, sink));
    Ok(reply.header("content-disposition", &name).no_store())
}

/// Ends when the reader disconnects or the service stops.
async fn send(app: Shared, mut export: Export, sink: Sink) {
    loop {
        let piece = match app.health.is_stopping() {
            true => Err(StoreError::Closed),
            false => export.piece(&app.store).await,
        };
        match piece {
            Ok(Some(text)) => {
                if sink.send(text).await.is_err() {
                    return;
                }
            }
            Ok(None) => return,
            Err(error) => {
                tracing::error!(what = export.kind.name, %error, "export failed");
                return sink.break_off().await;
            }
        }
    }
}

/// A running export.
#[derive(Debug)]
pub struct Export {
    kind: &'static Kind,
    is_csv: bool,
    now: UnixSeconds,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Begins,
    GoesOn(After),
    Ends,
    Over,
}

impl Export {
    pub fn of(what: &str, format: Option<&str>, now: UnixSeconds) -> Result<Export, Refusal> {
        let kind = KINDS.iter().find(|kind| kind.name == what);
        let kind = kind.ok_or_else(|| {
            let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
            let names = names.join(", ");
            Refusal::new(
                Code::NotFound,
                format!("No such export; use one of {names}."),
            )
        })?;
        let is_csv = match format {
            None | Some("json") => false,
            Some("csv") => true,
            Some(_) => {
                return Err(Refusal::new(
                    Code::InvalidRequest,
                    "The format must be csv or json.",
                ));
            }
        };
        Ok(Export {
            kind,
            is_csv,
            now,
            stage: Stage::Begins,
        })
    }

    /// The next chunk of text; nothing after the last.
    pub async fn piece(&mut self, store: &Store) -> Result<Option<String>, StoreError> {
        let (is_first, after) = match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Begins => (true, None),
            Stage::GoesOn(after) => (false, after),
            Stage::Ends => return Ok(self.foot()),
            Stage::Over => return Ok(None),
        };
        let (kind, now) = (self.kind, self.now);
        let read = store.read(move |snapshot| (kind.part)(snapshot, now, &after));
        let Part { rows, last } = read.await?;
        self.stage = match last {
            Some(key) => Stage::GoesOn(Some(key)),
            None => Stage::Ends,
        };
        Ok(Some(self.written(is_first, &rows)))
    }

    fn written(&self, is_first: bool, rows: &[Value]) -> String {
        let columns = self.kind.columns;
        let mut text = match (is_first, self.is_csv) {
            (false, _) => String::new(),
            (true, true) => csv::row(columns.iter().copied()),
            (true, false) => format!("{{\"status\":\"success\",\"{}\":[", self.kind.name),
        };
        for (index, row) in rows.iter().enumerate() {
            if self.is_csv {
                let cells: Vec<String> = columns.iter().map(|name| cell(&row[name])).collect();
                text.push_str(&csv::row(cells.iter().map(String::as_str)));
            } else {
                text.push_str(if is_first && index == 0 { "" } else { "," });
                text.push_str(&row.to_string());
            }
        }
        text
    }

    fn foot(&self) -> Option<String> {
        (!self.is_csv).then(|| "],\"is_complete\":true}".to_owned())
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
