//! Any bytes as a record of each kind: what the fuzzers and the tests of hostile input call. It opens no file.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::domain::payment::{Payment, State};
use crate::domain::purchase::{ContextPurchase, Purchase};
use crate::store::record::{decode, encode, seal, unseal};
use crate::store::{PageRecord, QuoteRecord, ReportRecord, Shared, quotes};

/// Reads bytes as a record of each kind, behind a good checksum, and gives how many kinds they are.
///
/// # Panics
///
/// When a record that was read is written and then reads as another one.
pub fn try_as_every_record(bytes: &[u8]) -> usize {
    let sealed = seal(bytes.to_vec());
    let kinds = [
        comes_back::<Payment>(&sealed),
        comes_back::<PageRecord>(&sealed),
        comes_back::<ReportRecord>(&sealed),
        comes_back::<QuoteRecord>(&sealed),
        quotes::read(&sealed).is_ok(),
    ];
    kinds.iter().filter(|is| **is).count()
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

/// Records as they are written, without their checksums: where whoever changes bytes may begin.
pub fn examples() -> Vec<Vec<u8>> {
    let text = || "https://example.com/".to_owned();
    let page = PageRecord {
        blob: [1; 32],
        blob_bytes: 300,
        content_sha256: text(),
        tokens: 70_000,
        title: Some(text()),
        fetched_at: 1_795_000_000,
        etag: Some(text()),
        last_modified: None,
    };
    let purchase = Purchase::Context(ContextPurchase {
        target_url: text(),
        tier: "fresh".to_owned(),
        force_refresh: true,
    });
    let quote = QuoteRecord {
        purchase: purchase.clone(),
        amount_units: 30_000,
        content_sha256: Some(text()),
        attribution: None,
        created_at: 1_795_000_000,
        expires_at: 1_795_600_000,
    };
    let report = ReportRecord {
        payment: [2; 32],
        target_url: text(),
        question: text(),
        pack: "quick".to_owned(),
        label: text(),
        title: None,
        document: [3; 32],
        source: [4; 32],
        paid: text(),
        transaction: Some(text()),
        shared: Some(Shared {
            slug: [5; 16],
            at: 1_795_000_000,
            is_listed: true,
        }),
        created_at: 1_795_000_000,
        expires_at: 1_797_600_000,
    };
    let payment = Payment {
        payer: [6; 20],
        nonce: [7; 32],
        amount_units: 30_000,
        valid_before: 1_795_000_300,
        payload_hash: [8; 32],
        payload: b"{}".to_vec(),
        requirements: b"{}".to_vec(),
        fingerprint: purchase.fingerprint(),
        purchase,
        identifier: Some([9; 32]),
        attribution: Some("ads".to_owned()),
        state: State::Settled {
            transaction: text(),
            at: 1_795_000_000,
        },
        answer: None,
        credit: None,
        redelivered: 1,
        created_at: 1_795_000_000,
        changed_at: 1_795_000_000,
    };
    let written = [
        encode(&page),
        encode(&quote),
        encode(&report),
        encode(&payment),
    ];
    let bare = written.into_iter().flatten().map(unseal);
    bare.collect()
}
