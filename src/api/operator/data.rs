//! Personal data, to hand out or delete: leads, orders and e-mails of an e-mail address; payments, purchases and reports of
//! a payer's address, which are accounting records and only handed out.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::api::failure;
use crate::api::operator::{LIST_MAX, Newest, leads, mails, orders, payment_json};
use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::email::comparable;
use crate::domain::evm::Address;
use crate::domain::refusal::Refusal;
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
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// Leads, orders and e-mails of an e-mail address; payments and reports of a payer's.
pub async fn person(store: &Store, email: &str) -> Result<Value, StoreError> {
    if let Some(payer) = Address::parse(email.trim()) {
        return of_payer(store, payer).await;
    }
    let email = comparable(email);
    let read = store.read(move |snapshot| {
        let leads = snapshot.leads_of(&email)?;
        let leads = leads.iter().map(|(id, lead)| leads::lead_json(*id, lead));
        let leads: Vec<Value> = leads.collect();
        let orders = snapshot.orders_of_email(&email, PERSON_MAX + 1)?;
        let is_complete = orders.len() <= PERSON_MAX;
        let orders = orders.iter().take(PERSON_MAX).map(|(id, order)| {
            let mut shown = orders::order_json(*id, order);
            shown["target_urls"] = order.target_urls.clone().into();
            shown
        });
        let orders: Vec<Value> = orders.collect();
        let mut found = Vec::new();
        snapshot.mails(|key, mail| {
            if comparable(&mail.mail.to) == email {
                let mut shown = mails::mail_json(key, &mail);
                shown["text"] = mail.mail.text.into();
                found.push(shown);
            }
            Ok(())
        })?;
        Ok(json!({
            "status": "success", "leads": leads, "orders": orders, "mails": found, "is_complete": is_complete,
        }))
    });
    read.await
}

/// The newest payments of an address with what each has bought, and their reports. The text that a buyer had checked is in
/// the report that was made of it.
async fn of_payer(store: &Store, payer: Address) -> Result<Value, StoreError> {
    let read = store.read(move |snapshot| {
        let (mut payments, mut reports) = (Newest::none(), Newest::none());
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
        Ok(payer_json(payer, payments, reports))
    });
    read.await
}

/// The newest payments and reports, and whether these are all.
fn payer_json(payer: Address, payments: Newest<Value>, reports: Newest<Value>) -> Value {
    let (payments_total, reports_total) = (payments.total, reports.total);
    json!({
        "status": "success", "payer": payer.to_string(),
        "payments_total": payments_total, "reports_total": reports_total,
        "is_complete": payments_total.max(reports_total) <= LIST_MAX,
        "payments": payments.records(), "reports": reports.records(),
    })
}

/// Whether there is anything to delete by this address.
///
/// # Errors
/// It is a payer's: payments are accounting records.
pub fn check_deletable(email: &str) -> Result<(), Refusal> {
    match Address::parse(email.trim()) {
        None => Ok(()),
        Some(_) => Err(Refusal::new(
            Code::InvalidRequest,
            "Payments are kept as accounting records: only data about an e-mail address can be deleted.",
        )),
    }
}

/// Deletes all data about an e-mail address, including its delivered reports.
///
/// # Errors
/// The address is a payer's, or the store does not answer.
pub async fn forget(store: &Store, email: &str) -> Result<Value, Refusal> {
    check_deletable(email)?;
    let email = email.to_owned();
    let gone = store.write(move |tables| {
        let leads = tables.delete_leads_of(&email)?;
        let orders = tables.delete_orders_of(&email)?;
        let mails = tables.delete_mails_to(&email)?;
        Ok((leads, orders, mails))
    });
    let (leads, orders, mails) = gone.await?;
    tracing::info!(leads, orders, mails, "personal data deleted");
    Ok(json!({"status": "success", "deleted": {"leads": leads, "orders": orders, "mails": mails}}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(count: usize) -> Newest<Value> {
        let mut newest = Newest::none();
        for at in 0..count {
            newest.add(at as u64, json!(at));
        }
        newest
    }

    #[test]
    fn a_list_that_is_cut_says_so() {
        for (payments, reports, is_complete) in [
            (LIST_MAX, 1, true),
            (LIST_MAX + 1, 1, false),
            (2 * LIST_MAX + 3, 0, false),
            (1, LIST_MAX + 1, false),
        ] {
            let known = payer_json(Address([7; 20]), counted(payments), counted(reports));
            assert_eq!(known["payments_total"], payments);
            assert_eq!(known["reports_total"], reports);
            assert_eq!(known["is_complete"], is_complete, "{payments} {reports}");
            let shown = known["payments"].as_array().expect("payments");
            assert_eq!(shown.len(), payments.min(LIST_MAX));
            assert_eq!(shown[0], payments - 1, "the newest first");
        }
    }
}
