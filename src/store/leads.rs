//! Leads, stored until the operator deletes them, and their unsent notices.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::ids::{BundleQuoteId, LeadId};
use crate::domain::lead::{Lead, LeadProduct, LeadStatus};
use crate::domain::time::UnixSeconds;
use crate::store::lazy_table::Transaction;
use crate::store::orders::email_key;
use crate::store::record::{decode, encode};
use crate::store::tables::{Hash, Records, Snapshot, Tables};
use crate::store::unpaid::row_bytes;
use crate::store::{Due, DueKind, StoreError, Unpaid};

const TABLE: &str = "leads-1";
const NOTICES_TABLE: &str = "notices-1";
/// Leads of one contact that are looked through for the one that a payment is for.
const LEADS_LOOKED_AT_MAX: usize = 100;

/// Which leads are meant; everything that is absent fits.
#[derive(Clone, Debug, Default)]
pub struct LeadFilter {
    pub status: Option<LeadStatus>,
    pub product: Option<LeadProduct>,
}

/// A notice of a new lead that its receiver has not taken yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeRecord {
    /// The notice's own identifier: the same at every attempt.
    pub event: [u8; 16],
    pub created_at: u64,
    pub attempts: u8,
}

impl LeadFilter {
    fn fits(&self, lead: &Lead) -> bool {
        self.status.is_none_or(|status| status == lead.status)
            && self.product.is_none_or(|product| product == lead.product)
    }
}

impl<T: Transaction> Records<T> {
    pub fn lead(&self, id: LeadId) -> Result<Option<Lead>, StoreError> {
        self.leads.record(id.0, TABLE)
    }

    pub fn notice(&self, id: LeadId) -> Result<Option<NoticeRecord>, StoreError> {
        self.notices.record(id.0, NOTICES_TABLE)
    }
}

impl Tables<'_> {
    /// Writes a lead, new or changed. The quote of one that is paid is paid.
    pub fn put_lead(&mut self, id: LeadId, lead: &Lead) -> Result<(), StoreError> {
        self.unlist_lead(id)?;
        let quote = lead.quote.as_deref().and_then(BundleQuoteId::parse);
        if let (Some(quote), LeadStatus::Paid) = (quote, lead.status) {
            self.pay_bundle_quote(quote, UnixSeconds(lead.changed_at))?;
        }
        if !lead.contact.trim().is_empty() {
            let key = email_key(&lead.contact);
            self.leads_by_contact
                .insert((key, lead.created_at, id.0), ())?;
        }
        self.leads_by_form.insert(form_key(lead), id.0)?;
        let bytes = encode(lead)?;
        if let Some(kind) = Unpaid::of_lead(lead) {
            self.add_unpaid(kind, bytes.len())?;
            if kind == Unpaid::AnonymousLeads {
                self.anonymous_leads.insert((lead.created_at, id.0), ())?;
            }
        }
        self.leads.insert(id.0, bytes.as_slice())?;
        Ok(())
    }

    /// Forgets a lead and everything that is known of it. Tells whether it was there.
    pub fn delete_lead(&mut self, id: LeadId) -> Result<bool, StoreError> {
        self.unlist_lead(id)?;
        self.notices.remove(id.0)?;
        Ok(self.leads.remove(id.0)?.is_some())
    }

    fn unlist_lead(&mut self, id: LeadId) -> Result<(), StoreError> {
        let stored = self.leads.get(id.0)?;
        let stored =
            stored.map(|bytes| (bytes.value().len(), decode::<Lead>(bytes.value(), TABLE)));
        let Some((value, lead)) = stored else {
            return Ok(());
        };
        let lead = lead?;
        if let Some(kind) = Unpaid::of_lead(&lead) {
            self.take_unpaid(kind, value)?;
            self.anonymous_leads.remove((lead.created_at, id.0))?;
        }
        self.leads_by_contact
            .remove((email_key(&lead.contact), lead.created_at, id.0))?;
        // A later lead of the same form keeps its place.
        let form = form_key(&lead);
        let holder = self.leads_by_form.get(form)?.map(|holder| holder.value());
        if holder == Some(id.0) {
            self.leads_by_form.remove(form)?;
        }
        Ok(())
    }

    /// Lets the oldest unpaid lead go that has no contact. Tells whether there was one.
    pub(in crate::store) fn evict_anonymous_lead(&mut self) -> Result<bool, StoreError> {
        let oldest = self.anonymous_leads.first()?;
        let Some((at, id)) = oldest.map(|(key, _)| key.value()) else {
            return Ok(false);
        };
        self.anonymous_leads.remove((at, id))?;
        self.delete_lead(LeadId(id))?;
        Ok(true)
    }

    /// What the unpaid leads of a kind count in a file from before they were counted.
    pub(in crate::store) fn count_leads(&mut self, kind: Unpaid) -> Result<u64, StoreError> {
        let mut bytes = 0;
        for row in self.leads.iter()? {
            let (id, value) = row?;
            let lead: Lead = decode(value.value(), TABLE)?;
            if Unpaid::of_lead(&lead) == Some(kind) {
                bytes += row_bytes(value.value().len());
                if kind == Unpaid::AnonymousLeads {
                    let row = (lead.created_at, id.value());
                    self.anonymous_leads.insert(row, ())?;
                }
            }
        }
        Ok(bytes)
    }

    /// Forgets every lead of one contact. Tells how many there were.
    pub fn delete_leads_of(&mut self, contact: &str) -> Result<usize, StoreError> {
        let mut ids = Vec::new();
        for row in self.leads_by_contact.range(range_of(contact))? {
            ids.push(row?.0.value().2);
        }
        for id in &ids {
            self.delete_lead(LeadId(*id))?;
        }
        Ok(ids.len())
    }

    /// The newest lead with the same product, contact and targets.
    pub fn lead_like(&self, lead: &Lead) -> Result<Option<(LeadId, Lead)>, StoreError> {
        let id = self.leads_by_form.get(form_key(lead))?;
        let Some(id) = id.map(|id| LeadId(id.value())) else {
            return Ok(None);
        };
        Ok(self.lead(id)?.map(|lead| (id, lead)))
    }

    /// The open lead for a bundle that this contact has left. `None` where there is none, where there are several, and
    /// where the contact has left more than [`LEADS_LOOKED_AT_MAX`] leads: anybody can leave one in another's name.
    pub fn only_open_lead_of(&self, contact: &str) -> Result<Option<(LeadId, Lead)>, StoreError> {
        let mut found = None;
        let rows = self.leads_by_contact.range(range_of(contact))?;
        for (position, row) in rows.enumerate() {
            if position >= LEADS_LOOKED_AT_MAX {
                return Ok(None);
            }
            let id = LeadId(row?.0.value().2);
            let wanted = |lead: &Lead| lead.product == LeadProduct::Bundle && lead.status.is_open();
            let Some(lead) = self.lead(id)?.filter(wanted) else {
                continue;
            };
            if found.is_some() {
                return Ok(None);
            }
            found = Some((id, lead));
        }
        Ok(found)
    }

    pub fn leads_count(&self) -> Result<u64, StoreError> {
        self.leads.len()
    }

    /// Writes a notice that is due at `at`.
    pub fn put_notice(
        &mut self,
        id: LeadId,
        notice: &NoticeRecord,
        at: UnixSeconds,
    ) -> Result<(), StoreError> {
        self.notices.insert(id.0, encode(notice)?.as_slice())?;
        self.schedule(Due::of_id(DueKind::Notice, id.0, at))
    }

    pub fn drop_notice(&mut self, id: LeadId) -> Result<(), StoreError> {
        self.notices.remove(id.0)?;
        Ok(())
    }
}

impl Snapshot {
    /// Every lead that fits, in the order of their identifiers.
    pub fn leads(
        &self,
        filter: &LeadFilter,
        mut visit: impl FnMut(LeadId, Lead) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for row in self.leads.iter()? {
            let (id, bytes) = row?;
            let lead: Lead = decode(bytes.value(), TABLE)?;
            if filter.fits(&lead) {
                visit(LeadId(id.value()), lead)?;
            }
        }
        Ok(())
    }

    /// The leads after one, in the order of their identifiers.
    pub fn leads_after(
        &self,
        after: Option<LeadId>,
        rows_max: usize,
    ) -> Result<Vec<(LeadId, Lead)>, StoreError> {
        let found = self
            .leads
            .records_after(TABLE, after.map(|id| id.0), rows_max)?;
        let lead = |(id, lead)| (LeadId(id), lead);
        Ok(found.into_iter().map(lead).collect())
    }

    /// Every lead of one contact, oldest first: what a person's data are.
    pub fn leads_of(&self, contact: &str) -> Result<Vec<(LeadId, Lead)>, StoreError> {
        let mut found = Vec::new();
        for row in self.leads_by_contact.range(range_of(contact))? {
            let (_, _, id) = row?.0.value();
            found.extend(self.lead(LeadId(id))?.map(|lead| (LeadId(id), lead)));
        }
        Ok(found)
    }
}

type ByContact = (Hash, u64, [u8; 16]);

fn range_of(contact: &str) -> std::ops::RangeInclusive<ByContact> {
    let key = email_key(contact);
    (key, 0, [0; 16])..=(key, u64::MAX, [u8::MAX; 16])
}

/// What makes two leads the same: product, contact and targets, in whatever order.
fn form_key(lead: &Lead) -> Hash {
    let mut targets: Vec<&str> = lead.target_urls.iter().map(String::as_str).collect();
    targets.sort_unstable();
    let mut hash = Sha256::new();
    hash.update(lead.product.name());
    hash.update(email_key(&lead.contact));
    // A message is told from others by what it says, and a lead without a person by its quote.
    if lead.product == LeadProduct::Contact {
        hash.update(Sha256::digest(&lead.notes));
    }
    if lead.contact.trim().is_empty() {
        hash.update(Sha256::digest(lead.quote.as_deref().unwrap_or_default()));
    }
    for target in targets {
        hash.update(Sha256::digest(target));
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests;
