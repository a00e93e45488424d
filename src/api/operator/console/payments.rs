//! The view Payments: a list, one payment, and the latest refusals of paid requests.

use crate::api::operator::console::show::{Asked, List};
use crate::api::operator::console::{View, show};
use crate::api::operator::{self, FoundPayment, SettlementCheck};
use crate::app::Shared;
use crate::domain::amount::Amount;
use crate::domain::evm::Address;
use crate::domain::figures::cents;
use crate::domain::level::{Level, Product};
use crate::domain::payment::{Payment, State};
use crate::domain::refusal::Refusal;
use crate::flows::content::sample::facilitator_mode;
use crate::http::Call;
use crate::pages::console::{Block, Cell, Form, Tone, VIEWS_PATH};
use crate::pages::site::FacilitatorMode;
use crate::state::refusals::{REFUSALS_MAX, RefusedPayment};

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
    let found = operator::newest_payments(&app.store, asked.search.clone()).await?;
    let list = List {
        view: "payments",
        searched: "Payer, transaction, target or key",
        states: &operator::PAYMENT_STATES,
        caption: "Payments, newest first",
        records: &found,
        columns: &[
            ("Created", &|FoundPayment { key, payment, .. }| {
                show::opens(payment.created_at, key, "payments")
            }),
            ("State", &|found| {
                show::tag(found.payment.state.name(), tone)
            }),
            ("USDC", &|found| usdc(&found.payment)),
            ("Product", &|found| sold(found.payment.purchase.level())),
            ("Target", &|found| {
                show::external_address(found.payment.purchase.target_url())
            }),
            ("Payer", &|found| payer(Some(found.payment.payer))),
            ("Transaction", &|found| transaction(app, &found.payment)),
        ],
        empty: "No such payments.",
    };
    let mut blocks = list.blocks(&asked);
    blocks.push(Block::Text(STATES.to_owned()));
    blocks.extend(refused(app, &asked.search.words));
    Ok(View::new("Payments", blocks))
}

/// What was sold, and at which tier.
fn sold(level: Level) -> Cell {
    let product = level.product().name().replace('_', " ");
    Cell::Text(format!("{product} {}", level.name()))
}

/// `0x1234…abcd`, which leads to all payments of this payer.
fn payer(payer: Option<Address>) -> Cell {
    payer.map_or(Cell::Nothing, |payer| Cell::Link {
        text: show::short(&payer.to_string()),
        path: format!("{VIEWS_PATH}payments?q={payer}"),
    })
}

/// The transaction, at the network's explorer where there is one.
fn transaction(app: &Shared, payment: &Payment) -> Cell {
    let Some(hash) = payment.state.transaction() else {
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
fn whole_transaction(app: &Shared, payment: &Payment) -> Cell {
    match (explorer(app), payment.state.transaction()) {
        (Some(explorer), Some(hash)) => Cell::ExternalAddress(format!("{explorer}/tx/{hash}")),
        (_, hash) => show::text(hash),
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
fn usdc(payment: &Payment) -> Cell {
    Cell::Number(cents(Amount::from_units(payment.amount_units)))
}

/// What a refusal is found by.
fn is_refusal_named(words: &str, refused: &RefusedPayment) -> bool {
    let payer = refused.payer.map(|payer| payer.to_string());
    let texts = [
        Some(&*refused.request_id),
        payer.as_deref(),
        Some(refused.code.text()),
        Some(&*refused.reason),
        refused.product.map(Product::name),
    ];
    operator::is_named(words, texts)
}

/// The latest refusals of paid requests that have these words.
fn refused(app: &Shared, words: &str) -> [Block; 3] {
    let words = words.to_lowercase();
    let found = app.refusals.newest().into_iter();
    let found = found.filter(|refused| is_refusal_named(&words, refused));
    let rows = found.take(REFUSALS_SHOWN_MAX).map(|refused| {
        vec![
            Cell::Time(refused.at),
            Cell::Code(refused.code.text().to_owned()),
            show::text(refused.reason.as_str()),
            show::words(refused.product.map(Product::name)),
            show::text(refused.level.map(Level::name)),
            payer(refused.payer),
            show::text(refused.request_id.as_str()),
        ]
    });
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
            rows: rows.collect(),
            empty: match words.is_empty() {
                true => "No payment has been refused since the service started.",
                false => "No such refusal since the service started.",
            },
        },
    ]
}

async fn payment(app: &Shared, key: &str) -> Result<View, Refusal> {
    let FoundPayment { payment, check, .. } = operator::one_payment(&app.store, key).await?;
    let check = check.as_ref();
    let mut blocks = vec![Block::Facts(vec![
        ("State", show::tag(payment.state.name(), tone)),
        ("Product", show::words(payment.purchase.product().name())),
        ("Tier or pack", show::text(payment.purchase.level().name())),
        (
            "Target",
            show::external_address(payment.purchase.target_url()),
        ),
        ("USDC", usdc(&payment)),
        ("Payer", Cell::Text(payment.payer.to_string())),
        ("Payment method", show::text(payment.means.name())),
        ("Source", show::text(payment.attribution.as_deref())),
        ("Transaction", whole_transaction(app, &payment)),
        ("Reason", show::text(payment.state.reason())),
        ("On chain", show::text(check.map(SettlementCheck::result))),
        (
            "Contradicted by",
            show::text(check.and_then(SettlementCheck::reason)),
        ),
        ("Created", show::time(payment.created_at)),
        ("Changed", show::time(payment.changed_at)),
        ("Report", report_of(app, key).await?),
        ("Key", show::whole_id(key)),
    ])];
    if let Some(credit) = &payment.credit {
        blocks.push(Block::Heading("Retry credit".to_owned()));
        blocks.push(Block::Facts(vec![
            (
                "Attempts left",
                Cell::Text(credit.attempts_left.to_string()),
            ),
            ("Valid until", show::time(credit.expires_at)),
        ]));
    }
    if payment.state.is_open() {
        let form = Form::button("reconcile", "key", key, "Look up the settlement now");
        blocks.push(Block::Forms(vec![form]));
    }
    // Why a payment was not settled stands with the requests that it came with.
    if !matches!(payment.state, State::Settled { .. }) {
        blocks.extend(refused(app, &payment.payer.to_string()));
    }
    Ok(View::new(show::title("Payment", key), blocks))
}

/// The report that a payment has bought.
async fn report_of(app: &Shared, key: &str) -> Result<Cell, Refusal> {
    let search = operator::Search {
        state: None,
        words: key.to_owned(),
    };
    let found = operator::newest_reports(&app.store, search, app.now()).await?;
    let id = found.first().map(|report| report.id);
    Ok(show::whole_link(id, "reports"))
}

fn tone(state: &str) -> Tone {
    match state {
        "settled" => Tone::Good,
        "unknown" | "kept" | "held" => Tone::Warn,
        "failed" => Tone::Bad,
        _ => Tone::Plain,
    }
}
