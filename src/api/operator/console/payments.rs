//! The view Payments: a list, one payment, and the latest refusals of paid requests.

use serde_json::Value;

use crate::api::operator;
use crate::api::operator::console::show::{Asked, List};
use crate::api::operator::console::{View, show};
use crate::app::Shared;
use crate::domain::amount::Amount;
use crate::domain::figures::cents;
use crate::domain::refusal::Refusal;
use crate::flows::content::sample::facilitator_mode;
use crate::http::Call;
use crate::pages::console::{Block, Cell, Form, Tone, VIEWS_PATH};
use crate::pages::site::FacilitatorMode;
use crate::state::refusals::REFUSALS_MAX;

/// Number of refusals shown.
const REFUSALS_SHOWN_MAX: usize = 25;

/// What each filter means, in the order of [`operator::PAYMENT_STATES`].
const STATES: &str = "Unknown: the settlement outcome is being looked up on chain. Settling: the response is ready and \
                      settlement is in progress. Authorized: held for a retry, not charged. Settled: paid on chain. \
                      Failed: the settlement failed, not charged. Voided: never charged. \
                      Answered: not charged; answered by an earlier payment for the same purchase. \
                      Retry credit: the buyer can repeat the request without paying again. \
                      Contradicted: the facilitator reported it as settled, and the chain has no such transfer. \
                      Abandoned: an unknown settlement that is no longer looked up.";

pub(super) async fn payments(app: &Shared, call: &Call) -> Result<View, Refusal> {
    if let Some(key) = call.query.get("id") {
        return payment(app, &key).await;
    }
    let asked = Asked::of(call);
    let found = operator::list(&app.store, asked.search.clone()).await?;
    let list = List {
        view: "payments",
        searched: "Payer, transaction, target or key",
        states: &operator::PAYMENT_STATES,
        caption: "Payments, newest first",
        columns: &[
            ("Created", &|payment| {
                show::opens(payment, "key", "payments")
            }),
            ("State", &|payment| show::tag(payment, "state", tone)),
            ("USDC", &|payment| usdc(payment)),
            ("Product", &|payment| sold(payment)),
            ("Target", &|payment| {
                show::external_address(payment, "target_url")
            }),
            ("Payer", &|payment| payer(payment)),
            ("Transaction", &|payment| transaction(app, payment)),
        ],
        records: &found["payments"],
        empty: "No such payments.",
    };
    let mut blocks = list.blocks(&asked);
    blocks.push(Block::Text(STATES.to_owned()));
    blocks.extend(refused(app, &asked.search.words));
    Ok(View::new("Payments", blocks))
}

/// What was sold, and at which tier.
fn sold(payment: &Value) -> Cell {
    match (payment["product"].as_str(), payment["level"].as_str()) {
        (Some(product), Some(level)) => {
            Cell::Text(format!("{} {level}", product.replace('_', " ")))
        }
        _ => Cell::Nothing,
    }
}

/// `0x1234…abcd`, which leads to all payments of this payer.
fn payer(payment: &Value) -> Cell {
    match payment["payer"].as_str() {
        Some(payer) => Cell::Link {
            text: show::short(payer),
            path: format!("{VIEWS_PATH}payments?q={payer}"),
        },
        None => Cell::Nothing,
    }
}

/// The transaction, at the network's explorer where there is one.
fn transaction(app: &Shared, payment: &Value) -> Cell {
    let Some(hash) = payment["transaction"].as_str() else {
        return Cell::Nothing;
    };
    match explorer(app) {
        Some(explorer) => Cell::ExternalLink {
            text: show::short(hash),
            address: format!("{explorer}/tx/{hash}"),
        },
        None => Cell::Code(show::short(hash)),
    }
}

/// The same in full, for the payment's own page.
fn whole_transaction(app: &Shared, payment: &Value) -> Cell {
    match (explorer(app), payment["transaction"].as_str()) {
        (Some(explorer), Some(hash)) => Cell::ExternalAddress(format!("{explorer}/tx/{hash}")),
        _ => show::text(payment, "transaction"),
    }
}

/// The network's block explorer. Nothing of the sandbox reaches a chain.
fn explorer(app: &Shared) -> Option<&'static str> {
    if facilitator_mode(&app.config) == FacilitatorMode::Sandbox {
        return None;
    }
    match app.config.payment.network.to_string().as_str() {
        "eip155:8453" => Some("https://basescan.org"),
        "eip155:84532" => Some("https://sepolia.basescan.org"),
        _ => None,
    }
}

/// The amount in USDC.
fn usdc(payment: &Value) -> Cell {
    let units = payment["amount_units"].as_str();
    let amount = units.and_then(Amount::parse_units);
    amount.map_or(Cell::Nothing, |amount| Cell::Number(cents(amount)))
}

/// What a refusal is found by.
const REFUSAL_NAMES: [&str; 5] = ["request_id", "payer", "code", "reason", "product"];

/// The latest refusals of paid requests that have these words.
fn refused(app: &Shared, words: &str) -> [Block; 3] {
    let words = words.to_lowercase();
    let mut found = operator::refused(app);
    if let Some(refusals) = found["refusals"].as_array_mut() {
        refusals.retain(|refused| operator::is_named(refused, &REFUSAL_NAMES, &words));
    }
    let mut rows = show::rows(&found, "refusals", |refused| {
        vec![
            show::time(refused, "at"),
            Cell::Code(refused["code"].as_str().unwrap_or_default().to_owned()),
            show::text(refused, "reason"),
            show::words(refused, "product"),
            show::text(refused, "level"),
            payer(refused),
            show::text(refused, "request_id"),
        ]
    });
    rows.truncate(REFUSALS_SHOWN_MAX);
    [
        Block::Heading("Refused payments".to_owned()),
        Block::Text(format!(
            "Requests with a payment, refused since the service started. Payer addresses may be unverified. This page \
            shows the latest {REFUSALS_SHOWN_MAX}; `context402 payments refused` lists up to {REFUSALS_MAX}."
        )),
        Block::Table {
            caption: "Refused payments, newest first",
            head: vec![
                "Time",
                "Code",
                "Reason",
                "Product",
                "Tier or pack",
                "Payer",
                "Request",
            ],
            rows,
            empty: match words.is_empty() {
                true => "No payment has been refused since the service started.",
                false => "No such refusal since the service started.",
            },
        },
    ]
}

async fn payment(app: &Shared, key: &str) -> Result<View, Refusal> {
    let found = operator::show(&app.store, key).await?;
    let mut blocks = vec![Block::Facts(vec![
        ("State", show::tag(&found, "state", tone)),
        ("Product", show::words(&found, "product")),
        ("Tier or pack", show::text(&found, "level")),
        ("Target", show::external_address(&found, "target_url")),
        ("USDC", usdc(&found)),
        ("Payer", show::text(&found, "payer")),
        ("Payment method", show::text(&found, "means")),
        ("Source", show::text(&found, "source")),
        ("Transaction", whole_transaction(app, &found)),
        ("Reason", show::text(&found, "reason")),
        ("On chain", show::text(&found["settlement_check"], "result")),
        (
            "Contradicted by",
            show::text(&found["settlement_check"], "reason"),
        ),
        ("Created", show::time(&found, "created_at")),
        ("Changed", show::time(&found, "changed_at")),
        ("Report", report_of(app, key).await?),
        ("Key", show::whole_id(key)),
    ])];
    if !found["credit"].is_null() {
        let credit = &found["credit"];
        blocks.push(Block::Heading("Retry credit".to_owned()));
        blocks.push(Block::Facts(vec![
            ("Attempts left", show::text(credit, "attempts_left")),
            ("Valid until", show::time(credit, "expires_at")),
        ]));
    }
    if matches!(found["state"].as_str(), Some("unknown" | "kept")) {
        let form = Form::button("reconcile", "key", key, "Look up the settlement now");
        blocks.push(Block::Forms(vec![form]));
    }
    // Why a payment was not settled stands with the requests that it came with.
    if found["state"] != "settled" {
        blocks.extend(refused(app, found["payer"].as_str().unwrap_or_default()));
    }
    Ok(View::new(show::title("Payment", key), blocks))
}

/// The report that a payment has bought.
async fn report_of(app: &Shared, key: &str) -> Result<Cell, Refusal> {
    let search = operator::Search {
        state: None,
        words: key.to_owned(),
    };
    let found = operator::list_reports(&app.store, search, app.now()).await?;
    Ok(show::whole_link(
        &found["reports"][0],
        "report_id",
        "reports",
    ))
}

fn tone(state: &str) -> Tone {
    match state {
        "settled" => Tone::Good,
        "unknown" | "kept" | "held" => Tone::Warn,
        "failed" => Tone::Bad,
        _ => Tone::Plain,
    }
}
