//! Leads: taken in, led to a payment link, announced to the operator, and moved on by the operator. What may follow what
//! is in `domain::lead`.

use crate::app::Shared;
use crate::domain::bundle::Bundle;
use crate::domain::ids::{BundleQuoteId, EventId, LeadId};
use crate::domain::lead::{By, Lead, LeadEvent, LeadProduct, LeadStatus, NotAllowed};
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::UnixSeconds;
use crate::outside::chance;
use crate::store::{BundleQuoteRecord, LeadFilter, NoticeRecord, Store, StoreError, Tables};

/// The same form again within this time is the same lead.
const SAME_SECONDS: u64 = 24 * 3600;

/// A lead that was taken in.
#[derive(Clone, Debug)]
pub struct Received {
    pub id: LeadId,
    pub lead: Lead,
    /// Whether it was known already.
    pub duplicate: bool,
}

/// Takes a lead in. The same product, contact and targets again within a day are the same lead, with what was said last.
/// `is_chosen` tells whether its level was named; else it is the default, or what the sources ask for.
pub async fn receive(app: &Shared, lead: Lead, is_chosen: bool) -> Result<Received, Refusal> {
    check_room(app)?;
    let (fresh, event, now) = (LeadId(chance::bytes()), chance::bytes(), app.now());
    let leads_max = app.config.bundles.leads_max;
    let announces = app.outside.hook.is_some();
    let received = app.store.write(move |tables| {
        if let Some((id, known)) = known(tables, &lead, now)? {
            let lead = again(known, lead, is_chosen, now);
            tables.put_lead(id, &lead)?;
            let duplicate = true;
            return Ok(Some(Received {
                id,
                lead,
                duplicate,
            }));
        }
        if tables.leads_count()? >= leads_max as u64 {
            return Ok(None);
        }
        let mut lead = lead;
        lead.note(By::Buyer, "received", now);
        tables.put_lead(fresh, &lead)?;
        if announces {
            tables.put_notice(fresh, &first_notice(event, now), now)?;
        }
        Ok(Some(Received {
            id: fresh,
            lead,
            duplicate: false,
        }))
    });
    let received = received.await?.ok_or_else(no_room)?;
    let outcome = match received.duplicate {
        true => "duplicate",
        false => "new",
    };
    app.metrics.lead(received.lead.product.name(), outcome);
    Ok(received)
}

/// What a robot is told: the same as everybody, and nothing is kept.
pub fn forget(app: &Shared, lead: Lead) -> Received {
    app.metrics.lead(lead.product.name(), "robot");
    Received {
        id: LeadId(chance::bytes()),
        lead,
        duplicate: false,
    }
}

fn known(
    tables: &Tables<'_>,
    lead: &Lead,
    now: UnixSeconds,
) -> Result<Option<(LeadId, Lead)>, StoreError> {
    let known = tables.lead_like(lead)?;
    Ok(known.filter(|(_, known)| {
        known.status.is_open() && now.since(UnixSeconds(known.created_at)) < SAME_SECONDS
    }))
}

/// What was said last counts; what was not said again stays.
fn again(known: Lead, said: Lead, is_chosen: bool, now: UnixSeconds) -> Lead {
    let level = match is_chosen {
        true => said.level,
        false => known.level,
    };
    let last = |said: String, known: String| if said.is_empty() { known } else { said };
    let mut lead = Lead {
        name: last(said.name, known.name),
        question: last(said.question, known.question),
        use_case: last(said.use_case, known.use_case),
        budget_usdc: last(said.budget_usdc, known.budget_usdc),
        notes: last(said.notes, known.notes),
        level,
        quote: said.quote.or(known.quote),
        source: known.source.or(said.source),
        ..known
    };
    note_once(&mut lead, "sent again", now);
    lead
}

/// Who presses a button many times is written down once.
fn note_once(lead: &mut Lead, what: &str, now: UnixSeconds) {
    if lead.trail.last().is_none_or(|step| step.what != what) {
        lead.note(By::Buyer, what, now);
    }
}

fn first_notice(event: [u8; 16], now: UnixSeconds) -> NoticeRecord {
    NoticeRecord {
        event: EventId(event).0,
        created_at: now.0,
        attempts: 0,
    }
}

/// A lead that is acknowledged is never lost: where it cannot be kept, it is not taken.
fn check_room(app: &Shared) -> Result<(), Refusal> {
    match app.health.disk_low() || app.health.store_down() {
        true => Err(no_room()),
        false => Ok(()),
    }
}

fn no_room() -> Refusal {
    Refusal::new(
        Code::Overloaded,
        "There is no room for another request at the moment. Nothing was kept: try again later.",
    )
}

/// What a buyer who is on the way to a payment link has chosen.
#[derive(Clone, Debug)]
pub struct Checkout {
    pub id: LeadId,
    pub lead: Lead,
    pub bundle: Bundle,
    /// Whether there is a payment link to go to.
    pub is_linked: bool,
}

/// Notes that a lead's buyer goes to pay, where the bundle has a payment link to go to. `None` when there is no such lead
/// for a bundle with sources.
pub async fn start_checkout(
    app: &Shared,
    id: LeadId,
    chosen: Option<Bundle>,
) -> Result<Option<Checkout>, Refusal> {
    let (now, bundles) = (app.now(), app.config.bundles.clone());
    let started = app.store.write(move |tables| {
        let lead = tables.lead(id)?;
        let Some(mut lead) = lead.filter(|lead| lead.product == LeadProduct::Bundle) else {
            return Ok(None);
        };
        if matches!(lead.status, LeadStatus::Paid | LeadStatus::Fulfilled) {
            return Ok(Some(Err(Refusal::of(Code::AlreadyPaid))));
        }
        let bundle = bundle_of(&lead, chosen);
        let is_linked = bundles.link(bundle).is_some();
        if is_linked {
            lead.level = bundle.name().to_owned();
            note_once(
                &mut lead,
                &format!("checkout started: {}", bundle.name()),
                now,
            );
            tables.put_lead(id, &lead)?;
        }
        Ok(Some(Ok(Checkout {
            id,
            lead,
            bundle,
            is_linked,
        })))
    });
    let started = started.await?.transpose()?;
    if started.as_ref().is_some_and(|checkout| checkout.is_linked) {
        app.metrics
            .lead(LeadProduct::Bundle.name(), "checkout_started");
    }
    Ok(started)
}

/// The chosen bundle, unless it does not take all of the lead's sources.
fn bundle_of(lead: &Lead, chosen: Option<Bundle>) -> Bundle {
    let own = Bundle::parse(&lead.level).unwrap_or_default();
    let takes_all = |bundle: &Bundle| bundle.source_limit() >= lead.target_urls.len();
    chosen.filter(takes_all).unwrap_or(own)
}

/// The lead of a buyer who goes to pay for a quote without telling who they are; the payment link asks them.
pub async fn lead_of_quote(
    app: &Shared,
    id: BundleQuoteId,
    quote: BundleQuoteRecord,
) -> Result<Received, Refusal> {
    let lead = Lead {
        level: quote.bundle.name().to_owned(),
        target_urls: quote.target_urls,
        question: quote.question.unwrap_or_default(),
        source: quote.attribution,
        quote: Some(id.to_string()),
        ..Lead::of(LeadProduct::Bundle, app.now())
    };
    receive(app, lead, true).await
}

/// A lead by its identifier.
pub async fn find(store: &Store, id: LeadId) -> Result<Option<Lead>, StoreError> {
    store.read(move |snapshot| snapshot.lead(id)).await
}

/// The newest leads that fit, at most so many.
pub async fn newest(
    store: &Store,
    filter: LeadFilter,
    leads_max: usize,
) -> Result<Vec<(LeadId, Lead)>, StoreError> {
    let found = store.read(move |snapshot| {
        let mut found: Vec<(LeadId, Lead)> = Vec::new();
        snapshot.leads(&filter, |id, lead| {
            found.push((id, lead));
            if found.len() >= 2 * leads_max {
                newest_first(&mut found, leads_max);
            }
            Ok(())
        })?;
        newest_first(&mut found, leads_max);
        Ok(found)
    });
    found.await
}

/// How many leads stand at each status.
pub async fn by_status(store: &Store) -> Result<Vec<(LeadStatus, u64)>, StoreError> {
    let counted = store.read(|snapshot| {
        let mut counts = LeadStatus::ALL.map(|status| (status, 0));
        snapshot.leads(&LeadFilter::default(), |_, lead| {
            let here = counts.iter_mut().find(|(status, _)| *status == lead.status);
            here.into_iter().for_each(|(_, count)| *count += 1);
            Ok(())
        })?;
        Ok(counts.to_vec())
    });
    counted.await
}

fn newest_first(found: &mut Vec<(LeadId, Lead)>, leads_max: usize) {
    found.sort_by(|(id, lead), (other_id, other)| {
        (other.created_at, other_id.0).cmp(&(lead.created_at, id.0))
    });
    found.truncate(leads_max);
}

/// What the operator does with a lead. `None` when there is none.
pub async fn advance(
    store: &Store,
    id: LeadId,
    event: LeadEvent,
    note: String,
    now: UnixSeconds,
) -> Result<Option<Result<Lead, NotAllowed>>, StoreError> {
    let advanced = store.write(move |tables| {
        let Some(mut lead) = tables.lead(id)? else {
            return Ok(None);
        };
        if let Err(refused) = lead.apply(event, By::Operator, &note, now) {
            return Ok(Some(Err(refused)));
        }
        tables.put_lead(id, &lead)?;
        Ok(Some(Ok(lead)))
    });
    advanced.await
}

/// Writes something into a lead's trail. `None` when there is none.
pub async fn annotate(
    store: &Store,
    id: LeadId,
    note: String,
    now: UnixSeconds,
) -> Result<Option<Lead>, StoreError> {
    let annotated = store.write(move |tables| {
        let Some(mut lead) = tables.lead(id)? else {
            return Ok(None);
        };
        lead.note(By::Operator, &note, now);
        tables.put_lead(id, &lead)?;
        Ok(Some(lead))
    });
    annotated.await
}

/// Forgets a lead. Tells whether it was there.
pub async fn delete(store: &Store, id: LeadId) -> Result<bool, StoreError> {
    store.write(move |tables| tables.delete_lead(id)).await
}

/// Forgets every lead of one contact. Tells how many there were.
pub async fn delete_of(store: &Store, contact: String) -> Result<usize, StoreError> {
    store
        .write(move |tables| tables.delete_leads_of(&contact))
        .await
}
