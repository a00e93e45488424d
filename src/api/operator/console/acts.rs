//! The acts of the console's forms. One table holds every act with its confirmation; [`run`] performs them.

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

/// Performed by its button.
const AT_ONCE: bool = false;
/// What cannot be undone requires the checkbox, with or without script.
const CHECKBOX: bool = true;

/// The acts: name in the path, what they require, and confirmation.
#[rustfmt::skip]
const ACTS: [(&str, bool, &str); 23] = [
    ("pause", CHECKBOX, "Sales are paused."),
    ("resume", AT_ONCE, "Sales resumed."),
    ("reconcile", AT_ONCE, "The settlement was looked up."),
    ("check", AT_ONCE, "That day was checked against the chain."),
    ("reload", AT_ONCE, "The configuration was reloaded: settings that need no restart are in force."),
    ("set-setting", AT_ONCE, "The setting is changed and in force."),
    ("unset-setting", AT_ONCE, "The setting has the value of the configuration again."),
    ("purge-report", CHECKBOX, "The report is deleted."),
    ("approve-report", AT_ONCE, "The report is listed among the public reports."),
    ("unlist-report", AT_ONCE, "The report is no longer listed among the public reports."),
    ("retry-mail", AT_ONCE, "The e-mail is being retried."),
    ("delete-mail", CHECKBOX, "The e-mail is deleted."),
    ("forget", CHECKBOX, "All data about that address is deleted."),
    ("move-lead", AT_ONCE, "The lead is changed."),
    ("delete-lead", CHECKBOX, "The lead is deleted."),
    ("attach-order", CHECKBOX, "The order is attached and will be fulfilled."),
    ("refulfil-order", AT_ONCE, "Fulfilment will be retried."),
    ("resend-order", AT_ONCE, "The e-mail will be sent again."),
    ("refund-order", CHECKBOX, "The refund is recorded."),
    ("delete-order", CHECKBOX, "The order is deleted."),
    ("try-mail", AT_ONCE, "The mail server accepted the e-mail. Check that it arrives."),
    ("try-notice", AT_ONCE, "The webhook accepted a test notice."),
    ("try-facilitator", AT_ONCE, "The facilitator answers and supports our payments."),
];

const WRITTEN_TO_FOLDER: &str =
    "Nothing was sent: mail.folder is set, and the e-mail is written to that folder.";

/// The confirmation of an act.
pub(super) fn confirmation(app: &App, name: &str) -> Option<&'static str> {
    if name == "try-mail" && app.mail_folder().is_some() {
        return Some(WRITTEN_TO_FOLDER);
    }
    let act = ACTS.iter().find(|(act, ..)| *act == name);
    act.map(|(.., confirmation)| *confirmation)
}

fn requires_checkbox(name: &str) -> bool {
    let mut acts = ACTS.iter();
    acts.any(|(act, requires, _)| *act == name && *requires == CHECKBOX)
}

pub(super) async fn run(app: &Shared, name: &str, fields: &Fields) -> Result<(), Refusal> {
    let field = |name: &str| fields.get(name).map(|text| text.trim()).unwrap_or_default();
    if requires_checkbox(name) && field("confirm") != "yes" {
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
    let found = leads::newest(&app.store, search, None).await?;
    let begins_so =
        |id: &LeadId| typed.starts_with(LeadId::PREFIX) && id.to_string().starts_with(typed);
    let mut ids = found.into_iter().map(|(id, _)| id).filter(begins_so);
    match (ids.next(), ids.next()) {
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
