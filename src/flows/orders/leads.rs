//! Leads: created, redirected to a payment link, announced to the operator, and managed by the operator. `domain::lead` has
//! the status rules.

use crate::app::Shared;
use crate::domain::bundle::Bundle;
use crate::domain::code::Code;
use crate::domain::ids::{EventId, LeadId};
use crate::domain::lead::{By, Lead, LeadEvent, LeadStatus, NotAllowed};
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::outside::chance;
use crate::store::{LeadFilter, NoticeRecord, Store, StoreError, Tables};

/// A lead with the same contact and targets within this time is noted as a duplicate.
const SAME_SECONDS: u64 = 24 * 3600;

/// A stored lead.
#[derive(Clone, Debug)]
pub struct Received {
    pub id: LeadId,
    pub lead: Lead,
}

/// Stores a lead, always as a new one with its own identifier.
///
/// SECURITY: contact and sources of another's request can be guessed. A repeated request gets the usual response, so that
/// it neither reveals nor changes the earlier one. The history notes the duplicate for the operator.
///
/// # Errors
/// `Overloaded` if nothing can be stored: the disk is low, the data file is down, or there are `bundles.leads_max` leads.
pub async fn receive(app: &Shared, lead: Lead) -> Result<Received, Refusal> {
    check_room(app)?;
    let (id, event, now) = (LeadId(chance::bytes()), chance::bytes(), app.now());
    let leads_max = app.config.bundles.leads_max;
    let announces = app.outside.hook.is_some();
    let received = app.store.write(move |tables| {
        if !tables.admits_lead(&lead)? {
            return Ok(None);
        }
        if tables.leads_count()? >= leads_max as u64 {
            return Ok(None);
        }
        let mut lead = lead;
        let alike = alike(tables, &lead, now)?;
        lead.note(By::Buyer, "received", now);
        if let Some((earlier, _)) = &alike {
            let what = format!("same contact and sources as {earlier}");
            lead.note(By::Service, &what, now);
        }
        // A form sent twice is announced once.
        let is_repeated = alike.is_some_and(|(_, earlier)| says_the_same(&earlier, &lead));
        tables.put_lead(id, &lead)?;
        if announces && !is_repeated {
            tables.put_notice(id, &first_notice(event, now), now)?;
        }
        Ok(Some((lead, is_repeated)))
    });
    let (lead, is_repeated) = received.await?.ok_or_else(no_room)?;
    let outcome = match is_repeated {
        true => "duplicate",
        false => "new",
    };
    app.metrics.leads.count([lead.product.name(), outcome]);
    Ok(Received { id, lead })
}

/// The response to a robot: the usual one, but nothing is stored.
pub fn forget(app: &Shared, lead: Lead) -> Received {
    app.metrics.leads.count([lead.product.name(), "robot"]);
    Received {
        id: LeadId(chance::bytes()),
        lead,
    }
}

/// The newest open lead of the last day with the same product, contact and targets.
fn alike(
    tables: &Tables<'_>,
    lead: &Lead,
    now: UnixSeconds,
) -> Result<Option<(LeadId, Lead)>, StoreError> {
    let earlier = tables.lead_like(lead)?;
    Ok(earlier.filter(|(_, earlier)| {
        earlier.status.is_open() && now.since(UnixSeconds(earlier.created_at)) < SAME_SECONDS
    }))
}

/// Whether two leads with the same product, contact and targets are equal in all other fields.
fn says_the_same(one: &Lead, other: &Lead) -> bool {
    let contents = |lead: &Lead| {
        let texts = [
            &lead.level,
            &lead.name,
            &lead.question,
            &lead.use_case,
            &lead.budget_usdc,
            &lead.notes,
        ];
        (texts.map(String::clone), lead.quote.clone())
    };
    contents(one) == contents(other)
}

fn first_notice(event: [u8; 16], now: UnixSeconds) -> NoticeRecord {
    NoticeRecord {
        event: EventId(event).0,
        created_at: now.0,
        attempts: 0,
    }
}

/// An acknowledged lead is never lost: if it cannot be stored, it is refused.
fn check_room(app: &Shared) -> Result<(), Refusal> {
    match app.health.disk_low() || app.health.store_down() {
        true => Err(no_room()),
        false => Ok(()),
    }
}

fn no_room() -> Refusal {
    Refusal::new(
        Code::Overloaded,
        "No more requests can be stored at the moment. Nothing was saved: try again later.",
    )
}

/// Records that a lead's buyer goes to the payment link, if there is one. `None` if there is no such bundle lead. A stored
/// lead's bundle and question never change, so a payment is always for what the buyer saw.
pub async fn start_checkout(app: &Shared, id: LeadId) -> Result<Option<(Lead, Bundle)>, Refusal> {
    let (now, config) = (app.now(), app.reloaded());
    let started = app.store.write(move |tables| {
        let Some(mut lead) = tables.lead(id)? else {
            return Ok(None);
        };
        let Some(bundle) = lead.bundle() else {
            return Ok(None);
        };
        if matches!(lead.status, LeadStatus::Paid | LeadStatus::Fulfilled) {
            return Ok(Some(Err(Refusal::of(Code::AlreadyPaid))));
        }
        if config.bundles.links.of(bundle).is_some() {
            lead.note_checkout(now);
            tables.put_lead(id, &lead)?;
        }
        Ok(Some(Ok((lead, bundle))))
    });
    started.await?.transpose()
}

/// A lead by its identifier.
pub async fn find(store: &Store, id: LeadId) -> Result<Option<Lead>, StoreError> {
    store.read(move |snapshot| snapshot.lead(id)).await
}

/// The newest matching leads, up to a limit.
pub async fn newest(
    store: &Store,
    filter: LeadFilter,
    fits: impl Fn(LeadId, &Lead) -> bool + Send + 'static,
    leads_max: usize,
) -> Result<Vec<(LeadId, Lead)>, StoreError> {
    let found = store.read(move |snapshot| {
        let mut found: Vec<(LeadId, Lead)> = Vec::new();
        snapshot.leads(&filter, |id, lead| {
            if fits(id, &lead) {
                found.push((id, lead));
            }
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

/// Number of leads by status.
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

/// Changes a lead for the operator. `None` if there is no such lead.
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

/// Adds a note to a lead's history. `None` if there is no such lead.
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

/// Deletes a lead. Returns whether it existed.
pub async fn delete(store: &Store, id: LeadId) -> Result<bool, StoreError> {
    store.write(move |tables| tables.delete_lead(id)).await
}

/// Deletes all leads of one contact. Returns their number.
pub async fn delete_of(store: &Store, contact: String) -> Result<usize, StoreError> {
    store
        .write(move |tables| tables.delete_leads_of(&contact))
        .await
}
