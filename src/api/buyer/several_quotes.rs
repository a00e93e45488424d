//! What several pages in one purchase cost, and a check against several sources. Nothing is kept: the 402 of the purchase
//! states the same price.

use serde_json::{Value, json};

use crate::api::orders::bundles::rejected_json;
use crate::api::quoted::{add_rendering, offer_json, payment_json};
use crate::api::{failure, query};
use crate::app::{App, Shared};
use crate::domain::level::{LineItem, Product};
use crate::domain::refusal::Refusal;
use crate::domain::schema::ValidationError;
use crate::flows::quotes::bundles::Listed;
use crate::flows::quotes::several::{self, Quote, SeveralRequest};
use crate::http::{Call, Reply};

/// The parameter that lists pages.
const LIST: &str = "target_urls";
/// What the body of a check calls them.
const SOURCES: &str = "sources";
/// The parameter that counts texts of the buyer's own.
const TEXTS: &str = "texts";

/// GET /v1/x402/check/quote.
pub async fn checks(app: Shared, call: Call) -> Reply {
    answer(&app, &call, Product::Check)
}

/// Whether a quote for pages is asked for several at once.
pub fn is_asked_for(call: &Call) -> bool {
    call.query.all(LIST).any(|list| !list.trim().is_empty())
}

/// GET /v1/x402/quote with a list of pages.
pub fn pages(app: &Shared, call: &Call) -> Reply {
    answer(app, call, Product::Context)
}

fn answer(app: &Shared, call: &Call, product: Product) -> Reply {
    let quoted = request_in_query(app, call, product).and_then(|asked| several::quote(app, &asked));
    match quoted {
        Ok(quote) => Reply::json(200, quote_json(app, product, &quote).to_string()).no_store(),
        Err(refusal) => failure::reply(app, &refusal, call),
    }
}

fn request_in_query(app: &App, call: &Call, product: Product) -> Result<SeveralRequest, Refusal> {
    let texts = match product {
        Product::Check => texts(call, product.quantity_max())?,
        _ => 0,
    };
    let names: &[&str] = match product {
        Product::Check => &[LIST, SOURCES],
        _ => &[LIST],
    };
    let lists = names.iter().flat_map(|name| call.query.all(name));
    let lists: Vec<_> = lists.collect();
    let mut listed = Listed::in_texts(lists.iter().map(|list| &**list));
    if listed.is_empty() && texts == 0 {
        query::check_names_target(app, call, LIST)?;
        listed = Listed::of_addresses([app.sample.url.as_str()]);
    }
    if product == Product::Context && call.query.get("target_url").is_some() {
        let why = "send either target_url or target_urls";
        let error = ValidationError::value(&["query", LIST], why, None);
        return Err(Refusal::validation(vec![error]));
    }
    Ok(SeveralRequest {
        product,
        listed,
        texts,
    })
}

/// How many texts of the buyer's own are sources.
fn texts(call: &Call, most: usize) -> Result<usize, Refusal> {
    let Some(text) = query::once(call, TEXTS)? else {
        return Ok(0);
    };
    let count = text.parse().ok().filter(|count| *count <= most);
    count.ok_or_else(|| {
        let message = format!("Input should be an integer from 0 to {most}");
        let given = Some(text.as_ref().into());
        let error = ValidationError::new(&["query", TEXTS], "value_error", message, given);
        Refusal::validation(vec![error])
    })
}

fn quote_json(app: &App, product: Product, quote: &Quote) -> Value {
    let pages = quote.sources.iter();
    let pages = pages.map(|page| json!({"target_url": page.target_url, "cached": page.is_cached}));
    let offers = quote.offers.iter().map(|offer| {
        let LineItem { level, quantity } = offer.item;
        offer_json(app, level, Some(quantity), offer.unavailable)
    });
    let (address, word) = (app.url(product.path()), product.level_word());
    let mut body = json!({
        "status": "success",
        "quote_id": null,
        "kept": false,
        "product": product.name(),
        "quantity": quote.sources.len() + quote.texts,
        "target_urls": quote.sources.iter().map(|page| &page.target_url).collect::<Vec<_>>(),
        "sources": pages.collect::<Vec<_>>(),
        "texts": quote.texts,
        "rejected_urls": rejected_json(&quote.rejected),
        product.levels_word(): offers.collect::<Vec<_>>(),
        "payment": payment_json(app),
        "supplier_spend": 0,
        "next_steps": [
            format!("POST {address} with the sources and the {word} you choose; the response is a 402 with the price of all."),
            "Sign the challenge in PAYMENT-REQUIRED and repeat the request with PAYMENT-SIGNATURE.",
        ],
    });
    // Each level renders as it does for one page.
    add_rendering(app, &mut body, None);
    body
}
