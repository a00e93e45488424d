//! Personal data, to hand out or delete: leads, orders and e-mails of an e-mail address; payments, purchases and reports of
//! a payer's address, which are kept as accounts and only handed out.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::api::failure;
use crate::api::operator::{Newest, leads, mails, orders, payment_json};
use crate::app::Shared;
use crate::domain::evm::Address;
use crate::domain::ids::OrderId;
use crate::http::{Call, Reply};
use crate::store::{Store, StoreError};

/// Maximum number of orders in a response.
const PERSON_MAX: usize = 1000;

/// GET /operator/person?email=: leads, orders and e-mails of an e-mail address, or what a payer's address has bought.
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

/// Leads, orders and e-mails of an e-mail address; payments and reports of a payer's.
pub async fn person(store: &Store, email: &str) -> Result<Value, StoreError> {
    if let Some(payer) = Address::parse(email.trim()) {
        return of_payer(store, payer).await;
    }
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

/// The newest payments of an address with what each has bought, and their reports. The text that a buyer had checked is in
/// the report that was made of it.
async fn of_payer(store: &Store, payer: Address) -> Result<Value, StoreError> {
    let read = store.read(move |snapshot| {
        let (mut payments, mut reports) = (Newest::default(), Newest::default());
        let mut keys = HashSet::new();
        snapshot.payments(|key, payment| {
            if payment.payer == payer {
                keys.insert(key);
                let mut shown = payment_json(key, &payment);
                let purchase = &payment.purchase;
                shown["target_urls"] = purchase.target_urls().collect::<Vec<_>>().into();
                shown["question"] = purchase.question().into();
                shown["query"] = purchase
                    .excerpt()
                    .and_then(|excerpt| excerpt.query.clone())
                    .into();
                payments.add(payment.created_at, shown);
            }
            Ok(())
        })?;
        snapshot.reports(|id, report| {
            if keys.contains(&report.payment) {
                let shown = json!({
                    "report_id": id.to_string(), "target_url": report.target_url, "question": report.question,
                    "created_at": report.created_at, "expires_at": report.expires_at,
                });
                reports.add(report.created_at, shown);
            }
            Ok(())
        })?;
        Ok(json!({
            "status": "success", "payer": payer.to_string(), "payments": payments.values(), "reports": reports.values(),
        }))
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
