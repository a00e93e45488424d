//! Admission and rate limits, decided before a request's body is read: by the route's class, and by whether the request
//! carries a payment or a credit.

use crate::api::buyer::paid;
use crate::api::failure;
use crate::api::orders::webhook;
use crate::app::{App, Row};
use crate::domain::endpoint::Price;
use crate::domain::rate::RateClass;
use crate::domain::refusal::Refusal;
use crate::http::hooks::{Admission, Arrived};
use crate::http::{HeaderMap, Method, Reply};
use crate::state::health::NotSelling;

/// Whether a request carries the operator's token; never if none is configured. The console's cookie does not count here:
/// it is only valid for the console's pages, whose forms are protected against cross-site requests.
pub fn knows_operator(app: &App, headers: &HeaderMap) -> bool {
    let Some(sessions) = &app.config.operator else {
        return false;
    };
    let mut values = headers.get_all("authorization").iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return false;
    };
    let shown = value.to_str().ok().and_then(|text| {
        let (scheme, token) = text.split_once(' ')?;
        scheme
            .eq_ignore_ascii_case("bearer")
            .then_some(token.trim())
    });
    shown.is_some_and(|token| sessions.is_token(token))
}

/// Counts a request against its client. The operator's socket is exempt.
pub fn admit(app: &App, row: &Row, arrived: &Arrived<'_>) -> Admission {
    let brings = match row.about.rate {
        RateClass::Sale => arrived.headers.contains_key("payment-signature"),
        RateClass::Credit if row.about.price == Price::Transfer => {
            arrived.headers.contains_key(paid::TRANSFER_HASH)
        }
        RateClass::Credit => arrived.headers.contains_key("x-service-retry-credit"),
        _ => false,
    };
    // Nobody should sign or transfer while sales are off. Requests that are already paid get through.
    if arrived.method == Method::Post
        && row.about.price != Price::Free
        && !brings
        && app.health.paused_since().is_some()
    {
        let refusal = NotSelling::Paused.into();
        return Admission::Refused(failure::plain(app, &refusal, arrived.asked.request_id));
    }
    let admission = counted(app, arrived, row.about.rate.at_admission(brings));
    // The body of an event that is not the provider's is not received. It is counted, so that such events have a limit.
    if row.path == webhook::PATH
        && matches!(admission, Admission::Granted)
        && let Err(refusal) = webhook::check_head(app, arrived.headers)
    {
        return Admission::Refused(failure::plain(app, &refusal, arrived.asked.request_id));
    }
    admission
}

fn counted(app: &App, arrived: &Arrived<'_>, class: Option<RateClass>) -> Admission {
    let (Some(client), Some(class)) = (arrived.peer.client(), class) else {
        return Admission::Granted;
    };
    match app.limits.admit(class, client) {
        // Programs request many quotes in a row and can pace themselves. Other responses are too frequent, or cached.
        Ok(Some(standing)) if class == RateClass::Quote => {
            Admission::Counted(failure::with_standing(Reply::empty(200), &standing).headers)
        }
        Ok(_) => Admission::Granted,
        Err(standing) => {
            app.metrics.limited.count([standing.limit]);
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
