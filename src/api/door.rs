//! What is counted before a request's body is read: by the row's class, and by whether it brings a payment or a credit.

use crate::api::{failure, legacy};
use crate::app::{App, Row};
use crate::domain::endpoint::Price;
use crate::domain::rate::RateClass;
use crate::domain::refusal::Refusal;
use crate::http::Reply;
use crate::http::service::{Admission, Arrived};

/// Counts a request against its client. The operator's socket is not counted.
pub fn admit(app: &App, row: &Row, arrived: &Arrived<'_>) -> Admission {
    let brings = match row.about.rate {
        RateClass::Sale => arrived.headers.contains_key("payment-signature"),
        RateClass::Credit if row.about.price == Price::Transfer => {
            arrived.headers.contains_key(legacy::HASH)
        }
        RateClass::Credit => arrived.headers.contains_key("x-service-retry-credit"),
        _ => false,
    };
    let (Some(client), Some(class)) = (arrived.peer.client(), row.about.rate.at_the_door(brings))
    else {
        return Admission::Granted;
    };
    match app.limits.admit(class, client) {
        // Quotes are asked for in rows by programs that can pace themselves. The other answers are too many, or kept by
        // caches, to say it on each.
        Ok(Some(standing)) if class == RateClass::Quote => {
            Admission::Counted(failure::with_standing(Reply::empty(200), &standing).headers)
        }
        Ok(_) => Admission::Granted,
        Err(standing) => {
            app.metrics.limited(standing.limit);
            let refusal = Refusal::limited(standing);
            Admission::Refused(failure::turned_away(
                app,
                &refusal,
                &standing,
                &arrived.asked,
            ))
        }
    }
}
