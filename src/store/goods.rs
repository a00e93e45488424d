//! The goods of sales. A sale's blobs are held under its payment's key. Its page enters the cache once the payment settles,
//! and the answer is stored while it can be redelivered. A failed sale deletes its goods, except shared blobs.

use serde::{Deserialize, Serialize};

use crate::domain::keys::PaymentKey;
use crate::domain::limit_reached::LimitReached;
use crate::domain::time::{PAGE_SECONDS, UnixSeconds};
use crate::store::record::{decode, decode_as, encode_as, version};
use crate::store::tables::{Hash, Snapshot, Tables};
use crate::store::{PageRecord, StoreError};

const TABLE: &str = "sale-goods-1";
/// The sum of the goods of all unsettled sales.
const UNSETTLED_BYTES: &str = "unsettled-bytes";

/// What the cache gains once a sale is settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HeldPage {
    Fetched(PageRecord),
    /// The cached page was found unchanged at this moment, in Unix seconds.
    Unchanged {
        fetched_at: u64,
    },
}

/// The goods of one sale.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct SaleGoods {
    blobs: Vec<Hash>,
    /// Of the blobs together.
    bytes: u64,
    /// What the cache gains, each under its address.
    pages: Vec<(String, HeldPage)>,
}

/// The goods of a sale as version 1 wrote them: the payment knew the page's address.
#[derive(Serialize, Deserialize)]
struct GoodsOfOnePage {
    blobs: Vec<Hash>,
    bytes: u64,
    page: Option<HeldPage>,
}

/// Of the record of a sale's goods.
const VERSION: u8 = 2;

fn read(bytes: &[u8]) -> Result<SaleGoods, StoreError> {
    if version(bytes) != Some(1) {
        return decode_as(VERSION, bytes, TABLE);
    }
    let GoodsOfOnePage { blobs, bytes, page } = decode(bytes, TABLE)?;
    let pages = page.map(|page| (String::new(), page));
    Ok(SaleGoods {
        blobs,
        bytes,
        pages: pages.into_iter().collect(),
    })
}

impl Tables<'_> {
    /// Keeps a sale's blobs, and the pages that it fetched, until its payment settles or fails. Beyond the bound of
    /// unsettled goods nothing is kept; one sale alone always fits.
    pub fn hold_goods(
        &mut self,
        sale: PaymentKey,
        pages: Vec<(String, HeldPage)>,
        blobs: &[(Hash, &[u8])],
        now: UnixSeconds,
    ) -> Result<Result<(), LimitReached>, StoreError> {
        if self.known_place(sale)?.is_some() {
            self.drop_goods(sale, now)?;
        }
        let mut goods = SaleGoods {
            blobs: Vec::new(),
            bytes: 0,
            pages,
        };
        let mut held: Vec<&[u8]> = Vec::new();
        for (key, bytes) in blobs {
            if !goods.blobs.contains(key) {
                goods.blobs.push(*key);
                goods.bytes += bytes.len() as u64;
                held.push(bytes);
            }
        }
        let others = self.fact(UNSETTLED_BYTES)?;
        if others > 0 && others.saturating_add(goods.bytes) > self.allowed.unsettled {
            return Ok(Err(LimitReached));
        }
        for (key, bytes) in goods.blobs.iter().zip(held) {
            self.hold_blob(*key, bytes, sale)?;
        }
        self.set_fact(UNSETTLED_BYTES, others + goods.bytes)?;
        self.sale_goods
            .insert(sale, encode_as(VERSION, &goods)?.as_slice())?;
        Ok(Ok(()))
    }

    /// The sale is settled: what it fetched enters the cache, unless the cache has something newer. Its answer stays held
    /// under the payment's key until [`Tables::drop_settled_answer`]; what else needs its blobs keeps them before this is
    /// called. No row stays: the payment names its answer, and a table with the goods of open sales alone is small.
    pub fn settle_goods(
        &mut self,
        sale: PaymentKey,
        target_url: &str,
        answer: Option<Hash>,
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        let Some(mut goods) = self.take_goods(sale)? else {
            return Ok(());
        };
        for (address, page) in std::mem::take(&mut goods.pages) {
            // Goods of version 1 leave the address to the payment.
            let address = match address.is_empty() {
                true => target_url,
                false => address.as_str(),
            };
            let (HeldPage::Fetched(PageRecord { fetched_at, .. })
            | HeldPage::Unchanged { fetched_at }) = page;
            let is_old = now.since(UnixSeconds(fetched_at)) >= PAGE_SECONDS;
            if is_old || self.is_cached_since(address, fetched_at, now)? {
                continue;
            }
            match &page {
                HeldPage::Fetched(page) => self.list_page(address, page, now)?,
                HeldPage::Unchanged { .. } => self.touch_page(address, UnixSeconds(fetched_at))?,
            }
        }
        goods.blobs.retain(|blob| Some(*blob) != answer);
        self.release(sale, &goods, now)
    }

    /// The answer of a settled sale is not given again: it goes, unless others need it.
    pub fn drop_settled_answer(
        &mut self,
        sale: PaymentKey,
        answer: Option<Hash>,
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        // In a file from before 2026-11-27 a settled sale has a row for its answer.
        self.drop_goods(sale, now)?;
        answer.map_or(Ok(()), |blob| self.release_hold(blob, sale, now))
    }

    /// The sale has failed: nothing of it stays but what others need.
    pub fn drop_goods(&mut self, sale: PaymentKey, now: UnixSeconds) -> Result<(), StoreError> {
        match self.take_goods(sale)? {
            Some(goods) => self.release(sale, &goods, now),
            None => Ok(()),
        }
    }

    /// Holds the goods of the sales of a file from before they were held.
    pub(in crate::store) fn hold_older_goods(&mut self) -> Result<(), StoreError> {
        if self.meta.get(UNSETTLED_BYTES)?.is_some() {
            return Ok(());
        }
        let mut answers = Vec::new();
        self.payments(|key, payment| {
            if let Some(answer) = payment.answer {
                answers.push((key, answer.page, payment.state.is_open()));
            }
            Ok(())
        })?;
        let mut unsettled = 0;
        for (sale, answer, is_open) in answers {
            let place = self.place(sale)?;
            self.blob_holds.insert((answer, place), ())?;
            if !is_open {
                continue;
            }
            let mut goods = SaleGoods {
                blobs: vec![answer],
                bytes: 0,
                pages: Vec::new(),
            };
            goods.blobs.extend(self.source_of(sale)?);
            for blob in &goods.blobs {
                self.blob_holds.insert((*blob, place), ())?;
                goods.bytes += self.blob_length(*blob)? as u64;
            }
            unsettled += goods.bytes;
            self.sale_goods
                .insert(sale, encode_as(VERSION, &goods)?.as_slice())?;
        }
        self.set_fact(UNSETTLED_BYTES, unsettled)
    }

    fn take_goods(&mut self, sale: PaymentKey) -> Result<Option<SaleGoods>, StoreError> {
        let taken = self.sale_goods.remove(sale)?;
        let taken = taken.map(|bytes| read(bytes.value()));
        let Some(goods) = taken.transpose()? else {
            return Ok(None);
        };
        let bytes = self.fact(UNSETTLED_BYTES)?.saturating_sub(goods.bytes);
        self.set_fact(UNSETTLED_BYTES, bytes)?;
        Ok(Some(goods))
    }

    fn release(
        &mut self,
        sale: PaymentKey,
        goods: &SaleGoods,
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        goods
            .blobs
            .iter()
            .try_for_each(|blob| self.release_hold(*blob, sale, now))
    }
}

impl Snapshot {
    /// Bytes of the goods of unsettled sales.
    pub fn unsettled_bytes(&self) -> Result<u64, StoreError> {
        self.fact(UNSETTLED_BYTES)
    }
}
