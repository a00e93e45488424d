//! The free preview of a page, and in a sandbox its purchase with test funds.

use crate::api::body::check_origin;
use crate::api::{failure, frame};
use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::refusal::{Refusal, With};
use crate::domain::words;
use crate::flows::content::test_purchase;
use crate::flows::quotes::first_words;
use crate::http::{Call, Reply};
use crate::pages::buyer::first_words::{FirstWordsView, Outcome, page};

/// GET /try?target_url=…
pub async fn show(app: Shared, call: Call) -> Reply {
    let typed = call.query.get("target_url").unwrap_or_default();
    let typed = typed.trim();
    if typed.is_empty() {
        return page_reply(&app, 200, typed, Outcome::Nothing);
    }
    // People leave the scheme out.
    let address = match typed.contains("://") {
        true => typed.to_owned(),
        false => format!("https://{typed}"),
    };
    match first_words::first_words(&app, &address, call.peer.client()).await {
        Ok(found) => {
            let outcome = Outcome::Shown {
                target_url: &found.target_url,
                title: found.title.as_deref(),
                markdown: &found.markdown,
                words_shown: words::count(&found.markdown),
                word_count: found.word_count,
            };
            page_reply(&app, 200, typed, outcome)
        }
        Err(refusal) => refused(&app, &address, &refusal),
    }
}

/// POST /try: buys the page with test funds.
pub async fn buy(app: Shared, call: Call) -> Reply {
    if let Err(refusal) = check_origin(&app, &call) {
        return failure::page(&app, &refusal, &call);
    }
    let mut fields = url::form_urlencoded::parse(&call.body);
    let typed = fields.find(|(name, _)| name == "target_url");
    let typed = typed.map_or_else(String::new, |(_, text)| text.trim().to_owned());
    match test_purchase::buy(&app, &typed).await {
        Ok(bought) => {
            let outcome = Outcome::Bought {
                title: bought.title.as_deref(),
                markdown: &bought.markdown,
                receipt: &bought.receipt,
            };
            page_reply(&app, 200, &typed, outcome)
        }
        Err(refusal) => refused(&app, &typed, &refusal),
    }
}

fn refused(app: &Shared, typed: &str, refusal: &Refusal) -> Reply {
    let outcome = Outcome::Refused {
        code: refusal.code.text(),
        message: &refusal.message,
    };
    let reply = page_reply(app, failure::status(refusal.code), typed, outcome);
    match (&refusal.with, refusal.code) {
        (With::Limit(standing), _) => failure::with_standing(reply, standing),
        // The free fetches are counted by the day.
        (_, Code::RateLimited) => {
            let seconds = app.now().seconds_to_next_day();
            reply.header("retry-after", &seconds.to_string())
        }
        _ => reply,
    }
}

fn page_reply(app: &Shared, status: u16, typed: &str, outcome: Outcome<'_>) -> Reply {
    let texts = frame::Texts::of(app);
    let view = FirstWordsView {
        site: frame::site(app, &texts),
        typed,
        outcome,
    };
    frame::with_page_headers(Reply::html(status, page(&view))).no_store()
}
