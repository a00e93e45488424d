//! Quotes for bundles: which of the listed sources can be read, and what their bundle costs. No name is resolved and
//! nothing is fetched; a quote is stored for 7 days.

use crate::app::Shared;
use crate::domain::bundle::{Bundle, SOURCES_MAX};
use crate::domain::code::Code;
use crate::domain::ids::BundleQuoteId;
use crate::domain::level::Product;
use crate::domain::refusal::{Refusal, With};
use crate::domain::shapes::TARGET_URL_CHARACTERS_MAX;
use crate::domain::source_list::{self, LISTED_MAX};
use crate::domain::time::QUOTE_SECONDS;
use crate::flows::content::source::Target;
use crate::outside::chance;
use crate::store::{BundleQuoteRecord, Receipt};

/// Characters shown of a rejected address.
const SHOWN_CHARACTERS_MAX: usize = 200;

/// The request.
#[derive(Clone, Debug, Default)]
pub struct BundleRequest {
    pub listed: Listed,
    /// The chosen bundle, if any.
    pub bundle: Option<Bundle>,
    pub question: Option<String>,
    pub attribution: Option<String>,
}

/// The listed addresses, unchecked.
#[derive(Clone, Debug, Default)]
pub struct Listed {
    addresses: Vec<String>,
    /// The number beyond the limit.
    unseen: usize,
}

/// A stored quote for a bundle.
#[derive(Clone, Debug)]
pub struct BundleQuote {
    pub id: BundleQuoteId,
    pub record: BundleQuoteRecord,
    pub rejected: Vec<Rejected>,
    /// The smallest bundle for all readable sources.
    pub recommended: Bundle,
}

/// The listed addresses, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sorted {
    pub bundle: Bundle,
    pub recommended: Bundle,
    /// Canonical, without duplicates, up to the bundle's limit.
    pub sources: Vec<String>,
    pub rejected: Vec<Rejected>,
    /// Sources beyond the bundle's limit; `rejected` lists or counts them.
    pub left_out: usize,
}

/// A rejected address, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    pub url: String,
    pub code: &'static str,
    /// A sentence.
    pub reason: String,
}

impl Listed {
    /// Texts with any number of addresses each.
    pub fn in_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Listed {
        let mut listed = Listed::default();
        for text in texts {
            let (addresses, unseen) = source_list::listed(text);
            listed.addresses.extend(addresses);
            listed.unseen += unseen;
        }
        listed.bounded()
    }

    /// Texts with one address each.
    pub fn of_addresses<'a>(texts: impl IntoIterator<Item = &'a str>) -> Listed {
        let addresses = texts.into_iter().filter_map(source_list::address);
        let listed = Listed {
            addresses: addresses.collect(),
            unseen: 0,
        };
        listed.bounded()
    }

    fn bounded(mut self) -> Listed {
        self.unseen += self.addresses.len().saturating_sub(LISTED_MAX);
        self.addresses.truncate(LISTED_MAX);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }
}

/// Checks the sources and stores the quote.
pub async fn quote(app: &Shared, asked: BundleRequest) -> Result<BundleQuote, Refusal> {
    let sorted = sort(app, &asked.listed, asked.bundle);
    if sorted.sources.is_empty() {
        return Err(nothing_left(sorted.rejected));
    }
    let (id, now) = (BundleQuoteId(chance::bytes()), app.now());
    let record = BundleQuoteRecord {
        bundle: sorted.bundle,
        target_urls: sorted.sources,
        question: asked.question.filter(|text| !text.trim().is_empty()),
        attribution: asked.attribution,
        created_at: now.0,
        expires_at: now.plus(QUOTE_SECONDS).0,
        paid_at: None,
    };
    let kept = record.clone();
    let kept = app
        .store
        .write(move |tables| tables.put_bundle_quote(id, &kept));
    // Orders need a stored quote.
    if !kept.await? {
        return Err(not_kept());
    }
    Ok(BundleQuote {
        id,
        record,
        rejected: sorted.rejected,
        recommended: sorted.recommended,
    })
}

/// The smallest bundle that takes every readable source: what the forms choose.
pub fn smallest(app: &Shared, listed: &Listed) -> Bundle {
    sort(app, listed, None).recommended
}

/// Which of the listed sources fit a bundle. Without a choice it is the default, or the smallest that fits all.
pub fn sort(app: &Shared, listed: &Listed, chosen: Option<Bundle>) -> Sorted {
    let (mut sources, mut rejected) = readable_of(app, listed);
    let recommended = Bundle::for_count(sources.len());
    let default = match recommended {
        Bundle::Scout => Bundle::default(),
        larger => larger,
    };
    let bundle = chosen.unwrap_or(default);
    let kept_max = bundle.source_limit().min(sources.len());
    let left_out = sources.len() - kept_max + listed.unseen;
    let reason = beyond(bundle, sources.len());
    leave_out(listed, kept_max, &reason, &mut sources, &mut rejected);
    Sorted {
        bundle,
        recommended,
        sources,
        rejected,
        left_out,
    }
}

/// The readable sources of a list, without duplicates and as many as fit into one purchase beside the buyer's own texts,
/// and the others.
pub fn sorted_up_to(
    app: &Shared,
    listed: &Listed,
    product: Product,
    texts: usize,
) -> (Vec<String>, Vec<Rejected>) {
    let limit = product.quantity_max();
    let what = match product {
        Product::Context => "pages",
        _ => "sources, texts included",
    };
    let (mut sources, mut rejected) = readable_of(app, listed);
    let reason = format!("One purchase takes at most {limit} {what}.");
    leave_out(
        listed,
        limit.saturating_sub(texts),
        &reason,
        &mut sources,
        &mut rejected,
    );
    (sources, rejected)
}

/// Which of the listed sources can be read, without duplicates, and why the others cannot.
fn readable_of(app: &Shared, listed: &Listed) -> (Vec<String>, Vec<Rejected>) {
    let (mut sources, mut rejected): (Vec<String>, Vec<Rejected>) = (Vec::new(), Vec::new());
    for address in &listed.addresses {
        match readable(app, address) {
            Ok(source) if sources.contains(&source) => {
                let reason = "Duplicate of another source in the list.";
                rejected.push(reject(address, "duplicate", reason));
            }
            Ok(source) => sources.push(source),
            Err(refusal) => rejected.push(reject(address, refusal.code.text(), &refusal.message)),
        }
    }
    (sources, rejected)
}

/// Rejects the sources beyond a limit, and counts those that were not looked at.
fn leave_out(
    listed: &Listed,
    most: usize,
    reason: &str,
    sources: &mut Vec<String>,
    rejected: &mut Vec<Rejected>,
) {
    for source in sources.drain(most.min(sources.len())..) {
        rejected.push(reject(&source, "too_many_sources", reason));
    }
    if listed.unseen > 0 {
        let reason = format!("Only the first {LISTED_MAX} addresses of a list are checked.");
        let rest = format!("{} more", listed.unseen);
        rejected.push(reject(&rest, "too_many_sources", &reason));
    }
}

/// Why a source exceeds the bundle.
pub fn beyond(bundle: Bundle, count: usize) -> String {
    let (name, limit) = (bundle.name(), bundle.source_limit());
    let next = Bundle::for_count(count);
    if next == bundle {
        return format!(
            "{name} has at most {limit} sources, and no bundle has more than {SOURCES_MAX}."
        );
    }
    format!(
        "{name} has at most {limit} sources; {} has up to {}.",
        next.name(),
        next.source_limit()
    )
}

/// The canonical form of an allowed source, checked without DNS.
pub fn readable(app: &Shared, address: &str) -> Result<String, Refusal> {
    let target = Target::parse(app, address)
        .map_err(|error| Refusal::new(error.code(), format!("{error}.")))?;
    match &target {
        Target::Web(web) if app.outside.web.is_forbidden(web) => {
            Err(Refusal::of(Code::TargetBlocked))
        }
        _ if target.canonical(app).len() > TARGET_URL_CHARACTERS_MAX => Err(Refusal::new(
            Code::InvalidTarget,
            "The URL has more than 2,048 characters once it is percent-encoded.",
        )),
        _ => Ok(target.canonical(app).to_owned()),
    }
}

fn reject(address: &str, code: &'static str, reason: &str) -> Rejected {
    Rejected {
        url: address.chars().take(SHOWN_CHARACTERS_MAX).collect(),
        code,
        reason: reason.to_owned(),
    }
}

/// No source can be read: the first one's code, and all reasons.
pub fn nothing_left(rejected: Vec<Rejected>) -> Refusal {
    let Some(first) = rejected.first() else {
        return Refusal::new(Code::InvalidTarget, "No source was given.");
    };
    let code = Code::parse(first.code).unwrap_or(Code::InvalidTarget);
    let message = match rejected.len() {
        1 => format!("The source cannot be read. {}", first.reason),
        count => format!(
            "None of the {count} sources can be read; of the first: {}",
            first.reason
        ),
    };
    let pairs = rejected.into_iter().map(|one| (one.url, one.reason));
    Refusal::new(code, message).with(With::Rejected(pairs.collect()))
}

fn not_kept() -> Refusal {
    Refusal::new(
        Code::Overloaded,
        "No more bundle quotes can be stored at the moment. Nothing was saved or charged: try again later.",
    )
}

/// A stored quote. Expired differs from unknown while the tombstone lasts.
pub async fn read(app: &Shared, id: &str) -> Result<(BundleQuoteId, BundleQuoteRecord), Refusal> {
    let not_found = || Refusal::of(Code::QuoteNotFound);
    let id = BundleQuoteId::parse(id).ok_or_else(not_found)?;
    let found = app.store.read(move |snapshot| snapshot.bundle_quote(id));
    match found.await?.ok_or_else(not_found)? {
        Receipt::Whole(record) if !record.is_expired(app.now()) => Ok((id, record)),
        Receipt::Whole(_) | Receipt::Expired { .. } => Err(Refusal::of(Code::QuoteExpired)),
    }
}
