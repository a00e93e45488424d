//! Decodes any bytes as a record of each kind, for fuzzers and tests of hostile input.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::domain::keys::PaymentKey;
use crate::domain::lead::Lead;
use crate::domain::order::Order;
use crate::domain::payment::{Delivery, Payment};
use crate::store::orders::{EventRecord, OrderReport, SourceRecord};
use crate::store::record::{beginning, decode, encode, seal, unseal};
use crate::store::{
    BundleQuoteRecord, Discrepancy, LedgerCheck, LedgerDay, MailRecord, NoticeRecord, Overpayment,
    PageRecord, QuoteRecord, ReportRecord, SettlementClaim, quotes,
};

/// What is tried for each kind of record.
struct Kind {
    comes_back: fn(&[u8]) -> bool,
    example: fn(&[u8]) -> Option<Vec<u8>>,
}

const fn kind<T: Serialize + DeserializeOwned + PartialEq + Debug>() -> Kind {
    Kind {
        comes_back: comes_back::<T>,
        example: example::<T>,
    }
}

const KINDS: &[Kind] = &[
    kind::<BundleQuoteRecord>(),
    kind::<Discrepancy>(),
    kind::<EventRecord>(),
    kind::<Lead>(),
    kind::<LedgerDay>(),
    kind::<MailRecord>(),
    kind::<NoticeRecord>(),
    kind::<Order>(),
    kind::<OrderReport>(),
    kind::<Overpayment>(),
    kind::<PageRecord>(),
    kind::<Payment>(),
    kind::<(Payment, Delivery)>(),
    kind::<(PaymentKey, Payment, Delivery)>(),
    kind::<QuoteRecord>(),
    kind::<LedgerCheck>(),
    kind::<ReportRecord>(),
    kind::<SettlementClaim>(),
    kind::<SourceRecord>(),
];
/// Streams of bytes in which examples are looked for, and the parts of 32 bytes of one.
const STREAMS: u8 = 32;
const STREAM_PARTS: u8 = 128;
/// Levels as records hold them. They are tried at the first places of a stream that is no record without one.
const LEVELS: [&[u8]; 2] = [b"\x04deep", b"\x05scout"];
const LEVEL_PLACES: usize = 160;

/// Reads bytes as a record of each kind, behind a good checksum, and gives how many kinds they are.
///
/// # Panics
///
/// When a record that was read is written and then reads as another one.
pub fn try_as_every_record(bytes: &[u8]) -> usize {
    let sealed = seal(bytes.to_vec());
    let kinds = KINDS.iter().filter(|kind| (kind.comes_back)(&sealed));
    kinds.count() + usize::from(quotes::read(&sealed).is_ok())
}

fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(sealed: &[u8]) -> bool {
    const TABLE: &str = "trial";
    let Ok(record) = decode::<T>(sealed, TABLE) else {
        return false;
    };
    let written = encode(&record);
    let again = written.and_then(|bytes| decode(&bytes, TABLE));
    assert_eq!(again.as_ref(), Ok(&record), "a record reads back otherwise");
    true
}

/// Records of every kind as they are written, without their checksums: where anyone who changes bytes may begin. They
/// are what streams of small numbers begin with, so that every field and variant comes up without a list of them.
pub fn examples() -> Vec<Vec<u8>> {
    let streams: Vec<Vec<u8>> = (0..STREAMS).map(stream).collect();
    let found = KINDS
        .iter()
        .flat_map(|kind| streams.iter().filter_map(|bytes| (kind.example)(bytes)));
    found.collect()
}

fn example<T: Serialize + DeserializeOwned>(stream: &[u8]) -> Option<Vec<u8>> {
    let mut with_level = (0..LEVEL_PLACES).flat_map(|at| {
        let (before, behind) = stream.split_at(at);
        LEVELS.map(|level| [before, level, behind].concat())
    });
    let record = beginning::<T>(stream);
    let record = record.or_else(|| with_level.find_map(|bytes| beginning::<T>(&bytes)))?;
    encode(&record).ok().map(unseal)
}

/// Lengths, variants and truths for the most part, some letters, and the mark of a number of four bytes.
fn stream(number: u8) -> Vec<u8> {
    let parts = (0..STREAM_PARTS).flat_map(|part| Sha256::digest([number, part]));
    let bytes = parts.map(|byte| match byte {
        0 => 252,
        1..8 => b'a',
        8..16 => 2,
        _ => byte & 1,
    });
    bytes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_examples_of_every_kind() {
        let streams: Vec<Vec<u8>> = (0..STREAMS).map(stream).collect();
        for (number, kind) in KINDS.iter().enumerate() {
            let examples = streams.iter().filter_map(|bytes| (kind.example)(bytes));
            let examples: Vec<Vec<u8>> = examples.collect();
            assert!(examples.len() >= 2, "kind {number}: {}", examples.len());
            for example in examples {
                assert!((kind.comes_back)(&seal(example)), "kind {number}");
            }
        }
    }
}
