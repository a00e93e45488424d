//! Quotes: the current price and availability of each level for a target, without supplier work. A quote is stored for 7
//! days.

use std::net::IpAddr;
use std::time::Instant;

use crate::app::Shared;
use crate::domain::amount::Amount;
use crate::domain::cache::CachePolicy;
use crate::domain::code::Code;
use crate::domain::ids::QuoteId;
use crate::domain::level::{Level, LineItem};
use crate::domain::purchase::{
    CheckPurchase, Choices, ContextPurchase, ProofBundlePurchase, ProofPackPurchase, Purchase,
    SourceInput,
};
use crate::domain::refusal::Refusal;
use crate::domain::robots::Permission;
use crate::domain::time::QUOTE_SECONDS;
use crate::flows::content::rendering;
use crate::flows::content::robots;
use crate::flows::content::source::{self, Target};
use crate::flows::sale::margin_guard::{self, Unsold, Work};
use crate::outside::chance;
use crate::outside::network::Requester;
use crate::store::{QuoteRecord, Receipt, StoreError};

/// The request.
#[derive(Clone, Debug)]
pub struct LevelRequest {
    pub target_url: String,
    /// The recommended or chosen level.
    pub level: Level,
    pub question: Option<String>,
    pub force_refresh: Option<bool>,
    pub attribution: Option<String>,
    /// The client; `None` is the operator.
    pub client: Option<IpAddr>,
}

/// A quote for one page or report.
#[derive(Clone, Debug)]
pub struct Quote {
    /// Its identifier; `None` if it could not be stored.
    pub id: Option<QuoteId>,
    pub record: QuoteRecord,
    pub target: Inspected,
    /// Every level of the product.
    pub offers: Vec<LevelOffer>,
}

/// A target's facts, without a request to its site.
#[derive(Clone, Debug)]
pub struct Inspected {
    pub target_url: String,
    pub is_sample: bool,
    pub host: String,
    pub scheme: String,
    pub port: u16,
    /// The cached rules: a quote sends no request to the site.
    pub robots: Permission,
    /// Whether a copy is cached. SECURITY: nothing more, because age, title and hash would reveal when others bought the
    /// page.
    pub is_cached: bool,
}

impl Inspected {
    fn known(&self) -> Known {
        Known {
            is_cached: self.is_cached,
            is_sample: self.is_sample,
        }
    }
}

/// Whether a level would deliver now, or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelOffer {
    pub level: Level,
    pub unavailable: Option<&'static str>,
}

const NOT_CACHED: &str = "The page is not cached, and this tier never fetches.";
/// The sample page is compiled in, so it is never among the cached pages.
const SAMPLE_NOT_SOLD: &str =
    "This is our sample page, which this tier does not sell; starter does.";
const GAS_UNKNOWN: &str = "The settlement cost is currently unknown.";
const PAUSED: &str = "Sales are paused.";
const TOO_THIN: &str = "The price would not currently cover our costs.";

/// Checks a target as a sale would, and stores the quote. If the disk is low, the quote is returned but not stored.
pub async fn quote(app: &Shared, asked: LevelRequest) -> Result<Quote, Refusal> {
    let target = inspect(app, &asked.target_url, asked.client).await?;
    let product = asked.level.product();
    let offers = product.levels().map(|level| offer(app, level, &target));
    let offers: Vec<LevelOffer> = offers.collect();
    let (id, now) = (QuoteId(chance::bytes()), app.now());
    let sample = target.is_sample.then_some(&app.sample.goods);
    let record = QuoteRecord {
        purchase: purchase(&asked, target.target_url.clone()),
        amount_units: asked.level.price().units(),
        content_sha256: sample.map(|goods| goods.content_sha256.clone()),
        attribution: asked.attribution,
        created_at: now.0,
        expires_at: now.plus(QUOTE_SECONDS).0,
    };
    let kept = record.clone();
    let kept = app.store.write(move |tables| tables.put_quote(id, &kept));
    let is_kept = match kept.await {
        Err(StoreError::NoRoom) => false,
        kept => kept?,
    };
    Ok(Quote {
        id: is_kept.then_some(id),
        record,
        target,
        offers,
    })
}

fn purchase(asked: &LevelRequest, target_url: String) -> Purchase {
    match asked.level {
        Level::Tier(tier) => Purchase::Context(ContextPurchase {
            target_url,
            tier,
            choices: Choices::new(asked.level, asked.force_refresh.unwrap_or(false), None),
            excerpt: None,
        }),
        Level::Pack(pack) => Purchase::ProofPack(ProofPackPurchase::new(
            target_url,
            pack,
            asked.question.as_deref(),
            asked.force_refresh,
            None,
        )),
        // Several sources have quotes of their own.
        Level::Bundle(bundle) => Purchase::ProofBundle(ProofBundlePurchase::new(
            vec![SourceInput::Page(target_url)],
            bundle,
            asked.question.as_deref(),
            asked.force_refresh,
            None,
        )),
        Level::Check(depth) => Purchase::Check(CheckPurchase {
            text: asked.question.clone().unwrap_or_default(),
            sources: vec![SourceInput::Page(target_url)],
            depth,
            choices: Choices::new(asked.level, asked.force_refresh.unwrap_or(false), None),
        }),
    }
}

/// Checks a target as a sale would, including DNS. `client` is `None` for the operator.
pub async fn inspect(
    app: &Shared,
    target_url: &str,
    client: Option<IpAddr>,
) -> Result<Inspected, Refusal> {
    let target = Target::parse(app, target_url)
        .map_err(|error| source::refused_target(target_url, error).into_refusal())?;
    if let Target::Web(web_target) = &target {
        app.admit_domain(web_target.domain())?;
        let deadline = Instant::now() + app.config.fetch.time_max;
        let web = &app.outside.web;
        web.clear_for(Requester::Client(client), web_target, deadline)
            .await
            .map_err(|error| source::fetch_trouble(&error).into_refusal())?;
    }
    let canonical = target.canonical(app).to_owned();
    let kept = source::kept_page(app, &canonical)?;
    let parsed = url::Url::parse(&canonical)
        .map_err(|error| crate::flows::internal("a canonical target is not a URL", &error))?;
    Ok(Inspected {
        is_sample: target == Target::Sample,
        host: parsed.host_str().unwrap_or_default().to_owned(),
        scheme: parsed.scheme().to_owned(),
        port: parsed.port_or_known_default().unwrap_or_default(),
        robots: match &target {
            Target::Web(target) => robots::known(app, target),
            Target::Sample => Permission::Allowed,
        },
        is_cached: kept.is_some(),
        target_url: canonical,
    })
}

/// Whether a level would deliver this target now.
pub fn offer(app: &Shared, level: Level, target: &Inspected) -> LevelOffer {
    LevelOffer {
        level,
        unavailable: unavailable(app, level.into(), &[target.known()]),
    }
}

/// What decides whether a page would be delivered.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    pub is_cached: bool,
    pub is_sample: bool,
}

/// Why these pages would not be delivered now, at this level and price.
pub fn unavailable(app: &Shared, item: LineItem, pages: &[Known]) -> Option<&'static str> {
    let fetched = pages.iter().filter(|page| !page.is_sample).count();
    let work = work(app, item.level, fetched);
    if app.health.paused_since().is_some() {
        return Some(PAUSED);
    }
    if let Some(reason) = unprofitable(app, item.price(), work) {
        return Some(reason);
    }
    let is_there = |page: &Known| match item.level.cache() {
        CachePolicy::CacheOnly { sample } => page.is_cached || sample && page.is_sample,
        CachePolicy::UpTo { .. } | CachePolicy::Bypass => true,
    };
    let missing = pages.iter().find(|page| !is_there(page))?;
    Some(match missing.is_sample {
        true => SAMPLE_NOT_SOLD,
        false => NOT_CACHED,
    })
}

/// The most work of a sale at this level, of so many pages that are not our own.
pub fn work(app: &Shared, level: Level, pages: usize) -> Work {
    let fetches = if level.cache().may_fetch() { pages } else { 0 };
    let may_render = rendering::may_render(app, level.render());
    Work {
        fetches,
        renders: if may_render { fetches } else { 0 },
        asks_model: level.may_synthesize(),
        settles: true,
    }
}

/// Why a sale at this price is not made now, for what it costs.
fn unprofitable(app: &Shared, price: Amount, work: Work) -> Option<&'static str> {
    match margin_guard::judge(app, price, work) {
        Ok(_) => None,
        Err(Unsold::TooThin(_)) => Some(TOO_THIN),
        Err(Unsold::GasUnknown) => Some(GAS_UNKNOWN),
    }
}

/// The refusal if a quote has to be stored and cannot be.
pub fn not_kept() -> Refusal {
    Refusal::new(
        Code::Overloaded,
        "No more quotes can be stored at the moment. Nothing was charged: try again later. The 402 of the paid endpoint \
        also states the price.",
    )
}

/// A kept quote. Unknown and expired are told apart as long as the tombstone lasts.
pub async fn read(app: &Shared, id: &str) -> Result<(QuoteId, QuoteRecord), Refusal> {
    let not_found = || Refusal::of(Code::QuoteNotFound);
    let id = QuoteId::parse(id).ok_or_else(not_found)?;
    let found = app.store.read(move |snapshot| snapshot.quote(id));
    match found.await?.ok_or_else(not_found)? {
        Receipt::Whole(record) if app.now().0 < record.expires_at => Ok((id, record)),
        Receipt::Whole(_) | Receipt::Expired { .. } => Err(Refusal::of(Code::QuoteExpired)),
    }
}
