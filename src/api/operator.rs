//! What only the operator may ask, over the Unix socket: payments, one by one and all of them.

use serde_json::{Value, json};

use crate::api::failure;
use crate::app::Shared;
use crate::domain::payment::{Payment, PaymentKey, State};
use crate::domain::refusal::{Code, Refusal};
use crate::http::{Call, Reply};
use crate::x402::address::{Address, Nonce};

/// Payments in one list.
const LIST_MAX: usize = 1000;

/// GET /operator/payments: the newest, by state if one is asked for.
pub async fn payments(app: Shared, call: Call) -> Reply {
    let wanted = call.query.get("state").map(|state| state.into_owned());
    let listed = app
        .store
        .read(move |snapshot| {
            let mut found: Vec<(u64, Value)> = Vec::new();
            snapshot.payments(|key, payment| {
                if wanted
                    .as_deref()
                    .is_none_or(|state| state == payment.state.name())
                {
                    found.push((payment.created_at, payment_json(key, &payment)));
                }
                // Newest first, and never more in memory than twice what is shown.
                if found.len() >= 2 * LIST_MAX {
                    found.sort_by_key(|(created_at, _)| std::cmp::Reverse(*created_at));
                    found.truncate(LIST_MAX);
                }
                Ok(())
            })?;
            found.sort_by_key(|(created_at, _)| std::cmp::Reverse(*created_at));
            found.truncate(LIST_MAX);
            Ok(found
                .into_iter()
                .map(|(_, payment)| payment)
                .collect::<Vec<_>>())
        })
        .await;
    match listed {
        Ok(payments) => Reply::json(
            200,
            json!({"status": "success", "payments": payments}).to_string(),
        ),
        Err(error) => failure::reply(&app, &error.into(), &call),
    }
}

/// GET /operator/payments/{key}.
pub async fn payment(app: Shared, call: Call) -> Reply {
    let mut key: PaymentKey = [0; 32];
    let known = hex::decode_to_slice(call.param("key").unwrap_or_default(), &mut key).is_ok();
    let found = app.store.read(move |snapshot| snapshot.payment(key)).await;
    match found {
        Ok(Some(payment)) if known => Reply::json(200, payment_json(key, &payment).to_string()),
        Ok(_) => failure::reply(
            &app,
            &Refusal::new(Code::NotFound, "There is no such payment."),
            &call,
        ),
        Err(error) => failure::reply(&app, &error.into(), &call),
    }
}

fn payment_json(key: PaymentKey, payment: &Payment) -> Value {
    let (transaction, reason) = match &payment.state {
        State::Settled { transaction, .. } => (Some(transaction), None),
        State::Failed { reason } => (None, Some(reason)),
        _ => (None, None),
    };
    json!({
        "key": hex::encode(key),
        "state": payment.state.name(),
        "payer": Address(payment.payer).to_string(),
        "nonce": Nonce(payment.nonce).to_string(),
        "amount_units": payment.amount_units.to_string(),
        "target_url": payment.purchase.target_url(),
        "source": payment.attribution,
        "transaction": transaction,
        "reason": reason,
        "credit": payment.credit.as_ref().map(|credit| json!({"attempts_left": credit.attempts_left, "expires_at": credit.expires_at})),
        "created_at": payment.created_at,
        "changed_at": payment.changed_at,
    })
}
