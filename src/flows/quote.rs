//! Quotes: what each level of a product would cost and deliver for a target right now, without any supplier work. A
//! quote is kept for 7 days under its id.

use crate::app::Shared;
use crate::domain::cache::CachePolicy;
use crate::domain::ids::QuoteId;
use crate::domain::level::Level;
use crate::domain::purchase::{ContextPurchase, ProofPackPurchase, Purchase};
use crate::domain::refusal::{Code, Refusal};
use crate::domain::robots::Verdict;
use crate::domain::time::{QUOTE_SECONDS, UnixSeconds};
use crate::flows::guardian::{self, Unsold, Work};
use crate::flows::robots;
use crate::flows::source::{self, Target, Trouble};
use crate::outside::chance;
use crate::outside::web::FetchError;
use crate::store::QuoteRecord;

/// What is to be quoted.
#[derive(Clone, Debug)]
pub struct Asked {
    pub target_url: String,
    /// Of the levels of its product, the one that is recommended or was chosen.
    pub level: Level,
    pub question: Option<String>,
    pub force_refresh: Option<bool>,
    pub attribution: Option<String>,
}

/// A quote for one page or report.
#[derive(Clone, Debug)]
pub struct Quote {
    pub id: QuoteId,
    pub record: QuoteRecord,
    pub target: Inspected,
    /// Every level of the product.
    pub offers: Vec<LevelOffer>,
}

/// What is known of a target without asking its site.
#[derive(Clone, Debug)]
pub struct Inspected {
    pub target_url: String,
    pub is_sample: bool,
    pub host: String,
    pub scheme: String,
    pub port: u16,
    /// As far as it is known already: a quote asks no site.
    pub robots: Verdict,
    pub kept: Option<KeptSource>,
}

/// The cached copy of a target.
#[derive(Clone, Debug)]
pub struct KeptSource {
    pub stored_at: UnixSeconds,
    pub content_sha256: String,
    pub title: Option<String>,
}

/// Whether a level would deliver now, and why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelOffer {
    pub level: Level,
    pub unavailable: Option<&'static str>,
}

const NOT_CACHED: &str = "The page is not in the cache, and this tier never fetches.";
const GAS_UNKNOWN: &str = "What a settlement costs is not known at present.";
const TOO_THIN: &str = "The sale would not cover its costs at present.";

/// Checks a target as a sale would, and keeps the quote.
pub async fn quote(app: &Shared, asked: Asked) -> Result<Quote, Refusal> {
    let target = inspect(app, &asked.target_url).await?;
    let product = asked.level.product();
    let offers = product.levels().map(|level| offer(app, level, &target));
    let offers: Vec<LevelOffer> = offers.collect();
    let (id, now) = (QuoteId(chance::bytes()), app.now());
    let content_sha256 = match &target.kept {
        _ if target.is_sample => Some(app.sample.goods.content_sha256.clone()),
        kept => kept.as_ref().map(|kept| kept.content_sha256.clone()),
    };
    let record = QuoteRecord {
        purchase: purchase(&asked, target.target_url.clone()),
        amount_units: asked.level.price().units(),
        content_sha256,
        attribution: asked.attribution,
        created_at: now.0,
        expires_at: now.plus(QUOTE_SECONDS).0,
    };
    let kept = record.clone();
    app.store
        .write(move |tables| tables.put_quote(id, &kept))
        .await?;
    Ok(Quote {
        id,
        record,
        target,
        offers,
    })
}

fn purchase(asked: &Asked, target_url: String) -> Purchase {
    match asked.level {
        Level::Tier(tier) => Purchase::Context(ContextPurchase {
            target_url,
            tier: tier.name().to_owned(),
            force_refresh: asked.force_refresh.unwrap_or(false),
        }),
        Level::Pack(pack) => Purchase::ProofPack(ProofPackPurchase::new(
            target_url,
            pack,
            asked.question.as_deref(),
            asked.force_refresh,
        )),
    }
}

/// Checks a target as a sale would, up to and including the lookup of its name.
pub async fn inspect(app: &Shared, target_url: &str) -> Result<Inspected, Refusal> {
    let target =
        Target::parse(app, target_url).map_err(|error| refusal(source::refused_target(error)))?;
    if let Target::Web(web_target) = &target {
        app.admit_domain(web_target.domain())?;
        let (web, web_target) = (app.outside.web.clone(), web_target.clone());
        let looked_up = app
            .outside
            .lookups
            .run(move || web.clear(&web_target).map(drop))
            .await;
        looked_up
            .unwrap_or(Err(FetchError::Overloaded))
            .map_err(|error| refusal(source::fetch_trouble(&error)))?;
    }
    let canonical = target.canonical(app).to_owned();
    let kept = source::kept_page(app, &canonical).await?;
    let parsed = url::Url::parse(&canonical)
        .map_err(|error| super::internal("a canonical target is no URL", &error))?;
    Ok(Inspected {
        is_sample: target == Target::Sample,
        host: parsed.host_str().unwrap_or_default().to_owned(),
        scheme: parsed.scheme().to_owned(),
        port: parsed.port_or_known_default().unwrap_or_default(),
        robots: match &target {
            Target::Web(target) => robots::known(app, target),
            Target::Sample => Verdict::Allowed,
        },
        kept: kept.map(|kept| KeptSource {
            stored_at: UnixSeconds(kept.fetched_at),
            content_sha256: kept.content_sha256,
            title: kept.title,
        }),
        target_url: canonical,
    })
}

/// Whether a level would deliver this target now.
pub fn offer(app: &Shared, level: Level, target: &Inspected) -> LevelOffer {
    LevelOffer {
        level,
        unavailable: unavailable(app, level, target),
    }
}

fn unavailable(app: &Shared, level: Level, target: &Inspected) -> Option<&'static str> {
    let cache = level.cache();
    let work = Work {
        fetches: cache.may_fetch() && !target.is_sample,
        asks_model: level.may_synthesize(),
        settles: true,
    };
    match guardian::judge(app, level.price(), work) {
        Ok(_) => {}
        Err(Unsold::TooThin(_)) => return Some(TOO_THIN),
        Err(Unsold::GasUnknown) => return Some(GAS_UNKNOWN),
    }
    match cache {
        CachePolicy::CacheOnly { sample }
            if target.kept.is_none() && !(sample && target.is_sample) =>
        {
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
