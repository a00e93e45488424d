//! A purchase with test funds, made by the service itself for somebody who looks at it in a browser: the whole exchange
//! over HTTP, by a throwaway wallet. Only in a sandbox.

use serde_json::{Value, json};

use crate::app::Shared;
use crate::config::FacilitatorAt;
use crate::domain::code::Code;
use crate::domain::level::Product;
use crate::domain::refusal::Refusal;
use crate::domain::tier::Tier;
use crate::outside::buyer::{Buyer, BuyerSettings, SellerRequest, Wallet};

/// The tier that is bought.
pub const TIER: Tier = Tier::Fresh;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestPurchase {
    pub title: Option<String>,
    pub markdown: String,
    /// What was quoted, signed and settled, in this order.
    pub receipt: Vec<(&'static str, String)>,
}

/// `NotFound` where money is real.
pub async fn buy(app: &Shared, target_url: &str) -> Result<TestPurchase, Refusal> {
    if !matches!(app.config.payment.facilitator, FacilitatorAt::Sandbox) {
        return Err(Refusal::of(Code::NotFound));
    }
    let address = app.url(Product::Context.path());
    let body = json!({"target_url": target_url, "tier": TIER.name()});
    let (request, now) = (SellerRequest::post_json(&address, &body), app.now());
    let bought = app.outside.free_checks.run(move || {
        let wallet = Wallet::throwaway().ok_or("no random bytes for a wallet")?;
        let buyer = Buyer::new(BuyerSettings::default()).map_err(|error| error.to_string())?;
        let bought = buyer.pay(&wallet, &request, TIER.price(), now, None);
        bought.map_err(|error| error.to_string())
    });
    let bought: Result<_, String> = bought.await.map_err(|_| Refusal::of(Code::Overloaded))?;
    let bought = bought.map_err(|message| failed(&message))?;
    let body: Value = serde_json::from_slice(&bought.reply.body).unwrap_or_default();
    let settlement = bought
        .paid
        .as_ref()
        .and_then(|paid| paid.settlement.as_ref());
    let (Some(paid), Some(settlement), Some(markdown)) =
        (&bought.paid, settlement, body["markdown"].as_str())
    else {
        let error = &body["error"];
        let message = error["message"].as_str();
        let code = error["code"].as_str().and_then(Code::parse);
        let refusal = failed(message.unwrap_or("the response is not a page"));
        return Err(Refusal {
            code: code.unwrap_or(refusal.code),
            ..refusal
        });
    };
    let (offer, signed) = (&paid.choice.requirements, &paid.payment.authorization);
    Ok(TestPurchase {
        title: body["metadata"]["title"].as_str().map(str::to_owned),
        markdown: markdown.to_owned(),
        receipt: vec![
            (
                "Price",
                format!("{} USDC, as the 402 response asked", offer.amount),
            ),
            ("Paid to", offer.pay_to.to_string()),
            ("Paid by", signed.from.to_string()),
            ("Nonce", signed.nonce.to_string()),
            ("Transaction", settlement.transaction.clone()),
        ],
    })
}

fn failed(message: &str) -> Refusal {
    let message = message.trim_end_matches('.');
    Refusal::new(
        Code::InvalidTarget,
        format!("The test purchase failed, and nothing was charged: {message}."),
    )
}
