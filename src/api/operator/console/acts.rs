//! The acts of the console's forms. One table holds every act with its confirmation, so neither exists without the other.

use std::collections::HashMap;

use crate::api::operator::leads;
use crate::api::operator::orders::carry_out;
use crate::api::operator::{self, Search, data, ledger, mails};
use crate::app::{App, Shared};
use crate::domain::code::Code;
use crate::domain::ids::LeadId;
use crate::domain::refusal::Refusal;
use crate::flows::operations::{overrides, pause, reload, self_test};
use crate::flows::orders::OrderAction;
use crate::flows::orders::order_emails::OrderEmails;
use crate::flows::sale::unknown;

pub(super) type Fields = HashMap<String, String>;

/// The acts: name in the path, and confirmation.
const ACTS: [(&str, &str); 23] = [
    ("pause", "Sales are paused."),
    ("resume", "Sales resumed."),
    ("reconcile", "The settlement was looked up."),
    ("check", "That day was checked against the chain."),
    (
        "reload",
        "The configuration was reloaded: settings that need no restart are in force.",
    ),
    ("set-setting", "The setting is changed and in force."),
    (
        "unset-setting",
        "The setting has the value of the configuration again.",
    ),
    ("purge-report", "The report is deleted."),
    (
        "approve-report",
        "The report is listed among the public reports.",
    ),
    (
        "unlist-report",
        "The report is no longer listed among the public reports.",
    ),
    ("retry-mail", "The e-mail is being retried."),
    ("delete-mail", "The e-mail is deleted."),
    ("forget", "All data about that address is deleted."),
    ("move-lead", "The lead is changed."),
    ("delete-lead", "The lead is deleted."),
    (
        "attach-order",
        "The order is attached and will be fulfilled.",
    ),
    ("refulfil-order", "Fulfilment will be retried."),
    ("resend-order", "The e-mail will be sent again."),
    ("refund-order", "The refund is recorded."),
    ("delete-order", "The order is deleted."),
    (
        "try-mail",
        "The mail server accepted the e-mail. Check that it arrives.",
    ),
    ("try-notice", "The webhook accepted a test notice."),
    (
        "try-facilitator",
        "The facilitator answers and supports our payments.",
    ),
];

const WRITTEN_TO_FOLDER: &str =
    "Nothing was sent: mail.folder is set, and the e-mail is written to that folder.";

/// The confirmation of an act.
pub(super) fn confirmation(app: &App, name: &str) -> Option<&'static str> {
    if name == "try-mail" && app.mail_folder().is_some() {
        return Some(WRITTEN_TO_FOLDER);
    }
    ACTS.iter()
        .find(|(act, _)| *act == name)
        .map(|(_, said)| *said)
}

/// Acts that cannot be undone require the checkbox, with or without script.
const CONFIRMED: [&str; 8] = [
    "pause",
    "attach-order",
    "purge-report",
    "delete-mail",
    "forget",
    "delete-lead",
    "refund-order",
    "delete-order",
];

pub(super) async fn run(app: &Shared, name: &str, fields: &Fields) -> Result<(), Refusal> {
    let field = |name: &str| fields.get(name).map(|text| text.trim()).unwrap_or_default();
    if CONFIRMED.contains(&name) && field("confirm") != "yes" {
        return Err(Refusal::new(
            Code::InvalidRequest,
            "Tick the checkbox to confirm: this cannot be undone.",
        ));
    }
    let (store, now) = (&app.store, app.now());
    match name {
        "pause" => pause::set(app, true).await.map(drop)?,
        "resume" => pause::set(app, false).await.map(drop)?,
        "reconcile" => look_for_end(app, field("key")).await?,
        "check" => ledger::check_day(app, field("day")).await.map(drop)?,
        "reload" => reload::reload(app).await.map(drop)?,
        "set-setting" => {
            let text = field("value").to_owned();
            overrides::set(app, field("key"), Some(text)).await?;
        }
        "unset-setting" => overrides::set(app, field("key"), None).await?,
        "approve-report" => list(app, field("report_id"), true).await?,
        "unlist-report" => list(app, field("report_id"), false).await?,
        "purge-report" => purge(app, field("report_id")).await?,
        "retry-mail" => mails::retry(store, field("key"), now).await.map(drop)?,
        "delete-mail" => mails::delete(store, field("key")).await.map(drop)?,
        "forget" => data::forget(store, field("email")).await.map(drop)?,
        "move-lead" => {
            let (id, note) = (field("lead_id"), field("note").to_owned());
            match field("to") {
                "" => leads::noted(store, id, note, now).await.map(drop)?,
                to => leads::moved(store, id, to, note, now).await.map(drop)?,
            }
        }
        "delete-lead" => leads::deleted(store, field("lead_id")).await.map(drop)?,
        "attach-order" => {
            let lead = lead_named(app, field("lead_id")).await?;
            act_on_order(app, field("order_id"), OrderAction::Attach(lead)).await?;
        }
        "refulfil-order" => act_on_order(app, field("order_id"), OrderAction::Refulfil).await?,
        "resend-order" => act_on_order(app, field("order_id"), OrderAction::Resend).await?,
        "refund-order" => act_on_order(app, field("order_id"), OrderAction::Refund).await?,
        "delete-order" => act_on_order(app, field("order_id"), OrderAction::Delete).await?,
        "try-mail" => self_test::mail(app, field("email").to_owned()).await?,
        "try-notice" => self_test::notice(app).await?,
        "try-facilitator" => self_test::facilitator(app).await?,
        _ => return Err(Refusal::of(Code::NotFound)),
    }
    tracing::info!(act = name, "console act performed");
    Ok(())
}

async fn look_for_end(app: &Shared, key: &str) -> Result<(), Refusal> {
    let key = operator::payment_key(key)?;
    let found = unknown::reconcile(app, key).await?;
    found.map(drop).ok_or_else(operator::no_payment)
}

/// The lead of this identifier, or the only one whose identifier begins so.
async fn lead_named(app: &Shared, typed: &str) -> Result<LeadId, Refusal> {
    if let Some(id) = LeadId::parse(typed) {
        return Ok(id);
    }
    let search = Search {
        state: None,
        words: typed.to_owned(),
    };
    let found = leads::listed(&app.store, search, None).await?;
    let ids = found["leads"].as_array().into_iter().flatten();
    let mut ids = ids
        .filter_map(|lead| lead["lead_id"].as_str())
        .filter(|id| typed.starts_with(LeadId::PREFIX) && id.starts_with(typed));
    match (ids.next().and_then(LeadId::parse), ids.next()) {
        (Some(id), None) => Ok(id),
        (Some(_), Some(_)) => Err(Refusal::new(
            Code::InvalidRequest,
            "Several leads begin like this. Type more of the identifier.",
        )),
        (None, _) => Err(Refusal::new(
            Code::InvalidRequest,
            "No lead begins like this. Copy the identifier from the lead's page; it begins with lead_.",
        )),
    }
}

async fn purge(app: &Shared, id: &str) -> Result<(), Refusal> {
    operator::purge(&app.store, id, app.now()).await.map(drop)
}

async fn list(app: &Shared, id: &str, is_approved: bool) -> Result<(), Refusal> {
    let done = operator::approve(&app.store, id, is_approved, app.now()).await;
    done.map(drop)
}

async fn act_on_order(app: &Shared, id: &str, action: OrderAction) -> Result<(), Refusal> {
    let done = carry_out(&app.store, id, action, OrderEmails::of(app), app.now()).await;
    done.map(drop)
}
