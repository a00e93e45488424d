//! GET /buy: what is to be bought with a browser's wallet. The sale itself is the paid operation's.

use crate::api::query::check_length;
use crate::api::{failure, frame};
use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::pack::Pack;
use crate::domain::refusal::Refusal;
use crate::domain::tier::Tier;
use crate::flows::quotes::bundles::readable;
use crate::http::{Call, Reply};
use crate::pages::buyer::wallet::{self, Outcome, WalletView};
use crate::pages::layout::WALLET_CSP;

pub async fn page(app: Shared, call: Call) -> Reply {
    let text = |name: &str| call.query.get(name).unwrap_or_default().trim().to_owned();
    let (typed, question) = (text("target_url"), text("question"));
    let (tier, pack) = (text("tier"), text("pack"));
    // People leave the scheme out.
    let address = match typed.is_empty() || typed.contains("://") {
        true => typed.clone(),
        false => format!("https://{typed}"),
    };
    let levels = levels(&tier, &pack);
    let (tier, pack) = levels.clone().unwrap_or_default();
    let found = match (address.as_str(), levels) {
        ("", Ok(_)) => Ok(None),
        (_, Err(refusal)) => Err(refusal),
        (address, Ok(_)) => {
            check_length(&question).and_then(|()| readable(&app, address).map(Some))
        }
    };
    let (status, outcome) = match &found {
        Ok(None) => (200, Outcome::Nothing),
        Ok(Some(target_url)) => (200, Outcome::Offered { target_url }),
        Err(refusal) => {
            let (code, message) = (refusal.code.text(), &refusal.message);
            (
                failure::status(refusal.code),
                Outcome::Refused { code, message },
            )
        }
    };
    let texts = frame::Texts::of(&app);
    let view = WalletView {
        site: frame::site(&app, &texts),
        typed: &typed,
        typed_question: &question,
        tier,
        pack,
        outcome,
    };
    let reply = frame::with_page_headers(Reply::html(status, wallet::page(&view)));
    reply
        .no_store()
        .fixed("content-security-policy", WALLET_CSP)
}

/// The tier and the pack of the form; the default where one is not stated.
fn levels(tier: &str, pack: &str) -> Result<(Tier, Pack), Refusal> {
    let tier = match tier {
        "" => Tier::default(),
        name => Tier::parse(name).ok_or_else(|| Refusal::of(Code::InvalidTier))?,
    };
    let pack = match pack {
        "" => Pack::default(),
        name => Pack::parse(name).ok_or_else(|| Refusal::of(Code::InvalidPack))?,
    };
    Ok((tier, pack))
}
