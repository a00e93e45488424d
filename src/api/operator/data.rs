//! Personal data by e-mail address, to hand out or delete: leads, orders and e-mails.

use serde_json::{Value, json};

use crate::api::failure;
use crate::api::operator::leads;
use crate::api::operator::{mails, orders};
use crate::app::Shared;
use crate::domain::ids::OrderId;
use crate::http::{Call, Reply};
use crate::store::{Store, StoreError};

/// Maximum number of orders in a response.
const PERSON_MAX: usize = 1000;

/// GET /operator/person?email=: leads, orders and e-mails of an address.
pub async fn show_person(app: Shared, call: Call) -> Reply {
    let email = call.query.get("email").unwrap_or_default();
    match person(&app.store, &email).await {
        Ok(found) => Reply::json(200, found.to_string()),
        Err(error) => failure::reply(&app, &error.into(), &call),
    }
}

/// POST /operator/forget?email=: deletes them.
pub async fn forget_person(app: Shared, call: Call) -> Reply {
    let email = call.query.get("email").unwrap_or_default();
    match forget(&app.store, &email).await {
        Ok(gone) => Reply::json(200, gone.to_string()),
        Err(error) => failure::reply(&app, &error.into(), &call),
    }
}

/// Leads, orders and e-mails of an address.
pub async fn person(store: &Store, email: &str) -> Result<Value, StoreError> {
    let email = email.trim().to_owned();
    let read = store.read(move |snapshot| {
        let leads = snapshot.leads_of(&email)?;
        let leads = leads.iter().map(|(id, lead)| leads::lead_json(*id, lead));
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

/// Deletes all data about an address, including its delivered reports.
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
    tracing::info!(leads, orders, mails, "personal data deleted");
    Ok(json!({"status": "success", "deleted": {"leads": leads, "orders": orders, "mails": mails}}))
}

/// The same address, ignoring case.
fn is_same(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}
