//! Quotes: what each tier would cost and deliver for a target right now, without any supplier work. A quote is kept
//! for 7 days under its id.

use crate::app::Shared;
use crate::domain::ids::QuoteId;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::robots::Verdict;
use crate::domain::tier::{CachePolicy, Tier};
use crate::domain::time::{QUOTE_SECONDS, UnixSeconds};
use crate::flows::deliver::{self, Target, Trouble};
use crate::flows::guardian::{self, Unsold};
use crate::flows::robots;
use crate::outside::chance;
use crate::outside::web::FetchError;
use crate::store::QuoteRecord;

/// A quote for one page.
#[derive(Clone, Debug)]
pub struct TierQuote {
    pub id: QuoteId,
    pub record: QuoteRecord,
    pub is_sample: bool,
    pub host: String,
    pub scheme: String,
    pub port: u16,
    /// As far as it is known already: a quote asks no site.
    pub robots: Verdict,
    /// When the cached copy was stored, if there is one.
    pub stored_at: Option<UnixSeconds>,
    pub offers: Vec<TierOffer>,
}

/// Whether a tier would deliver now, and why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TierOffer {
    pub tier: Tier,
    pub unavailable: Option<&'static str>,
}

const NOT_CACHED: &str = "The page is not in the cache, and this tier never fetches.";
const GAS_UNKNOWN: &str = "What a settlement costs is not known at present.";
const TOO_THIN: &str = "The sale would not cover its costs at present.";

/// Checks a target as a sale would, up to and including the lookup of its name, and keeps the quote.
pub async fn quote(
    app: &Shared,
    target_url: &str,
    attribution: Option<String>,
) -> Result<TierQuote, Refusal> {
    let target =
        Target::parse(app, target_url).map_err(|error| refusal(deliver::refused_target(error)))?;
    if let Target::Web(web_target) = &target {
        app.admit_domain(web_target.domain())?;
        let (web, web_target) = (app.outside.web.clone(), web_target.clone());
        let looked_up = app
            .outside
            .lookups
            .run(move || web.clear(&web_target).map(drop))
            .await;
        looked_up
            .unwrap_or(Err(FetchError::LookupsFull))
            .map_err(|error| refusal(deliver::fetch_trouble(&error)))?;
    }
    let canonical = target.canonical(app).to_owned();
    let kept = deliver::kept_page(app, &canonical).await?;
    let stored_at = kept
        .as_ref()
        .map(|kept| UnixSeconds(kept.record.fetched_at));
    let now = app.now();
    let is_sample = target == Target::Sample;
    let offers = Tier::ALL.map(|tier| TierOffer {
        tier,
        unavailable: unavailable(app, tier, is_sample, stored_at),
    });
    let recommended = Tier::default();
    let record = QuoteRecord {
        target_url: canonical.clone(),
        recommended_tier: recommended.name().to_owned(),
        amount_units: recommended.price().units(),
        content_sha256: match &target {
            Target::Sample => Some(app.sample.goods.content_sha256.clone()),
            Target::Web(_) => kept.map(|kept| kept.record.content_sha256),
        },
        attribution,
        created_at: now.0,
        expires_at: now.plus(QUOTE_SECONDS).0,
    };
    let id = QuoteId(chance::bytes());
    let kept = record.clone();
    app.store
        .write(move |tables| tables.put_quote(id, &kept))
        .await?;
    let parsed = url::Url::parse(&canonical)
        .map_err(|error| super::internal("a canonical target is no URL", &error))?;
    Ok(TierQuote {
        id,
        record,
        is_sample,
        host: parsed.host_str().unwrap_or_default().to_owned(),
        scheme: parsed.scheme().to_owned(),
        port: parsed.port_or_known_default().unwrap_or_default(),
        robots: match &target {
            Target::Web(target) => robots::known(app, target),
            Target::Sample => Verdict::Allowed,
        },
        stored_at,
        offers: offers.to_vec(),
    })
}

fn unavailable(
    app: &Shared,
    tier: Tier,
    is_sample: bool,
    stored_at: Option<UnixSeconds>,
) -> Option<&'static str> {
    match guardian::judge(app, tier.price(), tier.may_fetch() && !is_sample) {
        Ok(_) => {}
        Err(Unsold::TooThin(_)) => return Some(TOO_THIN),
        Err(Unsold::GasUnknown) => return Some(GAS_UNKNOWN),
    }
    match tier.cache() {
        CachePolicy::CacheOnly { sample } if stored_at.is_none() && !(sample && is_sample) => {
            Some(NOT_CACHED)
        }
        _ => None,
    }
}

fn refusal(trouble: Trouble) -> Refusal {
    match trouble {
        Trouble::Refused(refusal) | Trouble::Outage(refusal) => refusal,
    }
}

/// A kept quote. Unknown and expired are told apart as long as the tombstone lasts.
pub async fn read(app: &Shared, id: &str) -> Result<(QuoteId, QuoteRecord), Refusal> {
    let not_found = || Refusal::of(Code::QuoteNotFound);
    let id = QuoteId::parse(id).ok_or_else(not_found)?;
    let record = app
        .store
        .read(move |snapshot| snapshot.quote(id))
        .await?
        .ok_or_else(not_found)?;
    Ok((id, record))
}
