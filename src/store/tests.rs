mod backup;
mod disk_space;
mod goods;
mod order_of_arrival;
mod orders;
mod pages;
mod purchases;
mod reports;
mod unpaid;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::domain::bundle::Bundle;
use crate::domain::evm::{Address, Nonce};
use crate::domain::keys::{CreditHash, Fingerprint, IdentifierKey, PayloadHash, PaymentKey};
use sha2::{Digest, Sha256};

use crate::domain::ids::{OrderId, QuoteId, ReportId, ShareSlug};
use crate::domain::margin::MarginReceipt;
use crate::domain::order::{Order, OrderState};
use crate::domain::payment::{Credit, Delivery, KeptAnswer, Means, Payment, State};
use crate::domain::purchase::{Choices, ContextPurchase, Purchase};
use crate::domain::tier::Tier;
use crate::domain::time::{PAGE_SECONDS, REPORT_SECONDS, UnixSeconds};
use crate::store::open_error::OpenError;

const SETTINGS: Settings = Settings {
    cache_bytes: 1024 * 1024,
    pages_bytes_max: 10_000,
    unpaid_bytes_max: 64 * 1024 * 1024,
    unsettled_bytes_max: 64 * 1024 * 1024,
    sales_free_bytes_min: 0,
    free_bytes_min: 0,
};
const NOW: UnixSeconds = UnixSeconds(1_795_000_000);

pub(in crate::store) fn in_memory() -> Store {
    let opened = SETTINGS.open_on(redb::backends::InMemoryBackend::new());
    opened.expect("opens").store
}

/// A folder of its own, gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "context402-store-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("data.redb")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn page(name: u8, bytes: usize, fetched_at: UnixSeconds) -> (PageRecord, Vec<u8>) {
    use sha2::{Digest, Sha256};
    let members = vec![name; bytes];
    let record = PageRecord {
        blob: Sha256::digest(&members).into(),
        blob_bytes: bytes as u64,
        content_sha256: "0".repeat(64),
        tokens: 1,
        title: None,
        fetched_at: fetched_at.0,
        etag: Some("\"1\"".to_owned()),
        last_modified: None,
    };
    (record, members)
}

async fn put(
    store: &Store,
    url: &'static str,
    name: u8,
    bytes: usize,
    at: UnixSeconds,
) -> [u8; 32] {
    let (record, members) = page(name, bytes, at);
    let blob = record.blob;
    store
        .write(move |tables| tables.put_page(url, &record, &members))
        .await
        .expect("writes");
    blob
}

async fn has(store: &Store, url: &'static str) -> bool {
    store
        .read(move |snapshot| snapshot.page(url))
        .await
        .expect("reads")
        .is_some()
}

async fn has_blob(store: &Store, blob: [u8; 32]) -> bool {
    store
        .read(move |snapshot| snapshot.blob(blob))
        .await
        .expect("reads")
        .is_some()
}

/// Works off everything that is due at `now`.
async fn sweep(store: &Store, now: UnixSeconds) {
    store
        .write(move |tables| {
            for kind in [
                DueKind::Blob,
                DueKind::Page,
                DueKind::Quote,
                DueKind::BundleQuote,
                DueKind::Report,
            ] {
                while let Some(due) = tables.first_due(kind)?.filter(|due| due.at <= now) {
                    match kind {
                        DueKind::Blob => tables.sweep_blob(due, now)?,
                        DueKind::Page => tables.sweep_page(due, now)?,
                        DueKind::Report => tables.sweep_report(due, now)?,
                        _ => tables.sweep_quote(due, now)?,
                    }
                }
            }
            Ok(())
        })
        .await
        .expect("sweeps");
}

fn payment() -> Payment {
    Payment {
        payer: Address([1; 20]),
        nonce: Nonce([2; 32]),
        amount_units: 30_000,
        means: Means::Authorization {
            valid_before: NOW.0 + 300,
        },
        payload_hash: PayloadHash([3; 32]),
        payload: b"{}".to_vec(),
        requirements: b"{}".to_vec(),
        purchase: Purchase::Context(ContextPurchase {
            target_url: "https://example.com/".to_owned(),
            tier: Tier::Fresh,
            choices: Choices::default(),
            excerpt: None,
        }),
        fingerprint: Fingerprint([4; 32]),
        identifier: Some(IdentifierKey([7; 32])),
        attribution: Some("ads".to_owned()),
        state: State::Settled {
            transaction: "0xab".to_owned(),
            at: NOW.0,
        },
        answer: Some(KeptAnswer {
            page: [5; 32],
            own: "\"a\":1".to_owned(),
            content_sha256: "c".to_owned(),
            tokens: 9,
            cache_hit: true,
            margin: MarginReceipt {
                revenue: 30_000,
                gas: 0,
                facilitator_fee: 1_000,
                supplier: 500,
                profit: 28_500,
                minimum_profit: 5_000,
                evaluated_at: NOW.0,
            },
        }),
        credit: Some(Credit {
            hash: CreditHash([6; 32]),
            attempts_left: 3,
            expires_at: NOW.0,
        }),
        redelivered: 1,
        created_at: NOW.0,
        changed_at: NOW.0,
        delivery: Delivery::default(),
    }
}

fn report(payment: u8) -> ReportRecord {
    use sha2::{Digest, Sha256};
    ReportRecord {
        payment: PaymentKey([payment; 32]),
        target_url: "https://example.com/".to_owned(),
        question: "Is it free?".to_owned(),
        pack: "quick".to_owned(),
        label: "supported".to_owned(),
        title: None,
        document: Sha256::digest([payment]).into(),
        source: Sha256::digest(b"source").into(),
        paid: "\"mode\":\"x402\"".to_owned(),
        transaction: None,
        shared: None,
        created_at: NOW.0,
        expires_at: NOW.0 + REPORT_SECONDS,
    }
}

/// Keeps a report as a sale does; `is_settled` tells whether its payment has ended well.
async fn keep(store: &Store, id: ReportId, payment: u8, is_settled: bool) {
    let record = report(payment);
    let kept = store.write(move |tables| {
        let document = [payment];
        let blobs: [([u8; 32], &[u8]); 2] =
            [(record.document, &document), (record.source, b"source")];
        let held = tables.hold_goods(PaymentKey([payment; 32]), Vec::new(), &blobs, NOW)?;
        assert_eq!(held, Ok(()));
        tables.put_report(id, &record)?;
        match is_settled {
            true => {
                tables.release_report(PaymentKey([payment; 32]), "0xab", NOW)?;
                tables.settle_goods(PaymentKey([payment; 32]), &record.target_url, None, NOW)
            }
            false => {
                tables.drop_report_of(PaymentKey([payment; 32]))?;
                tables.drop_goods(PaymentKey([payment; 32]), NOW)
            }
        }
    });
    kept.await.expect("writes");
}

async fn stored(store: &Store, id: ReportId) -> Option<ReportRecord> {
    let found = store.read(move |snapshot| snapshot.report(id)).await;
    found.expect("reads")
}

fn order(session_id: &str, email: &str) -> Order {
    Order {
        session_id: session_id.to_owned(),
        lead: None,
        bundle: Some(Bundle::Builder),
        email: Some(email.to_owned()),
        question: "Is it so?".to_owned(),
        target_urls: vec!["https://example.com/".to_owned()],
        amount_total: Some(700),
        currency: "usd".to_owned(),
        livemode: false,
        state: OrderState::Queued,
        round: 0,
        resent: 0,
        link_key: [7; 32],
        trail: Vec::new(),
        created_at: NOW.0,
        changed_at: NOW.0,
        fulfilled_at: None,
    }
}

fn event(order: OrderId) -> EventRecord {
    EventRecord {
        id: "evt_1".to_owned(),
        kind: "checkout.session.completed".to_owned(),
        livemode: false,
        order: Some(order.0),
        outcome: "queued".to_owned(),
        raw: "{\"email\":\"ann@example.com\"}".to_owned(),
        created_at: NOW.0,
        received_at: NOW.0,
    }
}

#[tokio::test]
async fn a_file_is_never_made_by_accident_nor_over_another() {
    let folder = Folder::new();
    assert!(matches!(
        SETTINGS.open(&folder.file(), false),
        Err(OpenError::Missing(_))
    ));
    std::fs::write(folder.file(), b"").expect("writes");
    assert!(matches!(
        SETTINGS.open(&folder.file(), false),
        Err(OpenError::Damaged { .. })
    ));
    assert!(matches!(
        SETTINGS.create(&folder.file()),
        Err(OpenError::Exists(_))
    ));
    std::fs::write(folder.file(), vec![7; 8192]).expect("writes");
    let foreign = SETTINGS.open(&folder.file(), false);
    let said = foreign.map(drop).map_err(|error| error.to_string());
    assert!(
        said.is_err_and(
            |said| said.contains("is not a data file of context402 and was not changed")
        )
    );
}

#[tokio::test]
async fn a_file_is_open_once_and_remembers_whether_it_was_closed() {
    let folder = Folder::new();
    let first = SETTINGS.create(&folder.file()).expect("creates");
    assert!(matches!(
        SETTINGS.open(&folder.file(), false),
        Err(OpenError::InUse(_))
    ));
    first.store.close().await.expect("closes");
    let second = SETTINGS.open(&folder.file(), false).expect("opens");
    assert!(second.was_clean);
    put(&second.store, "https://a.example/", b'a', 10, NOW).await;
    // The process goes away without closing.
    second.store.threads.stop().await;
    drop(second);
    let third = SETTINGS.open(&folder.file(), false).expect("opens");
    assert!(!third.was_clean);
    assert!(has(&third.store, "https://a.example/").await);
    third.store.close().await.expect("closes");
    assert!(
        SETTINGS
            .open(&folder.file(), true)
            .expect("opens and checks")
            .was_clean
    );
}

/// A bit of a file that was not closed, which redb finds only when it looks at all of it.
#[tokio::test]
async fn a_file_that_was_open_when_the_machine_stopped_is_checked() {
    let folder = Folder::new();
    let opened = SETTINGS.create(&folder.file()).expect("creates");
    put(&opened.store, "https://a.example/", b'q', 2_000, NOW).await;
    opened.store.threads.stop().await;
    drop(opened);
    let mut bytes = std::fs::read(folder.file()).expect("reads");
    let content = [b'q'; 1_000];
    let at = bytes
        .windows(content.len())
        .position(|part| part == content);
    bytes[at.expect("the content lies there")] ^= 1;
    // In place: the process alone has stopped, and the kernel has what it wrote.
    std::fs::write(folder.file(), &bytes).expect("writes");
    let opened = SETTINGS
        .open(&folder.file(), false)
        .expect("is not looked at");
    opened.store.threads.stop().await;
    drop(opened);
    // A copy, as a disk that was lost with its machine.
    let copy = folder.file().with_extension("copy");
    std::fs::copy(folder.file(), &copy).expect("copies");
    assert!(matches!(
        SETTINGS.open(&copy, false),
        Err(OpenError::Damaged { .. })
    ));
}

#[tokio::test]
async fn a_newer_file_is_refused() {
    let folder = Folder::new();
    let opened = SETTINGS.create(&folder.file()).expect("creates");
    opened
        .store
        .write(|tables| tables.meta.insert("schema", 99).map(drop))
        .await
        .expect("writes");
    opened.store.close().await.expect("closes");
    assert!(matches!(
        SETTINGS.open(&folder.file(), false),
        Err(OpenError::Newer { found: 99, .. })
    ));
}

#[tokio::test]
async fn a_write_that_fails_takes_its_batch_along_and_ends_the_store() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let failing = store.write(|tables| {
        tables.put_payment(PaymentKey([9; 32]), &payment())?;
        Err::<(), _>(StoreError::File("the disk".to_owned()))
    });
    assert!(failing.await.is_err());
    store.failed().await;
    assert!(store.write(|_| Ok(())).await.is_err());
    let found = store
        .read(|snapshot| snapshot.payment(PaymentKey([9; 32])))
        .await
        .expect("reads go on");
    assert_eq!(found, None);
}

#[tokio::test]
async fn many_writers_share_commits_and_all_are_durable() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let writes = (0..200_u8).map(|name| {
        let store = store.clone();
        tokio::spawn(async move {
            store
                .write(move |tables| tables.put_payment(PaymentKey([name; 32]), &payment()))
                .await
        })
    });
    for write in writes.collect::<Vec<_>>() {
        write.await.expect("no panic").expect("durable");
    }
    store.threads.stop().await;
    drop(store);
    let store = SETTINGS.open(&folder.file(), false).expect("opens").store;
    let count = Arc::new(AtomicUsize::new(0));
    let seen = count.clone();
    let walked = store.read(move |snapshot| {
        snapshot.payments(|_, found| {
            assert_eq!(found, payment());
            seen.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
    });
    walked.await.expect("reads");
    assert_eq!(count.load(Ordering::Relaxed), 200);
}

#[tokio::test]
async fn quotes_are_forgotten_after_their_tombstone() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let id = QuoteId([8; 16]);
    let quote = QuoteRecord {
        purchase: payment().purchase,
        amount_units: 30_000,
        content_sha256: None,
        attribution: None,
        created_at: NOW.0,
        expires_at: NOW.0 + 7 * 24 * 3600,
    };
    let kept = quote.clone();
    store
        .write(move |tables| tables.put_quote(id, &kept))
        .await
        .expect("writes");
    sweep(&store, UnixSeconds(quote.expires_at)).await;
    assert_eq!(
        store.read(move |snapshot| snapshot.quote(id)).await,
        Ok(Some(Receipt::Expired {
            expires_at: quote.expires_at
        }))
    );
    sweep(&store, UnixSeconds(quote.expires_at + 7 * 24 * 3600)).await;
    assert_eq!(
        store.read(move |snapshot| snapshot.quote(id)).await,
        Ok(None)
    );
}

#[tokio::test]
async fn a_flipped_bit_in_a_closed_file_is_never_read_as_data() {
    // redb alone would give different data for some of these, after a clean stop and without a word.
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    for name in 0..40_u8 {
        store
            .write(move |tables| tables.put_payment(PaymentKey([name; 32]), &payment()))
            .await
            .expect("writes");
    }
    store.close().await.expect("closes");
    let sound = std::fs::read(folder.file()).expect("reads");
    let mut noticed = 0;
    for position in (0..sound.len()).step_by(sound.len() / 97) {
        let mut flipped = sound.clone();
        flipped[position] ^= 4;
        std::fs::write(folder.file(), &flipped).expect("writes");
        let Ok(opened) = SETTINGS.open(&folder.file(), false) else {
            noticed += 1;
            continue;
        };
        for name in 0..40_u8 {
            match opened
                .store
                .read(move |snapshot| snapshot.payment(PaymentKey([name; 32])))
                .await
            {
                Ok(Some(found)) => assert_eq!(found, payment(), "byte {position}"),
                // A lost row is redb's to notice, by the full check; a damaged one is ours.
                Ok(None) | Err(_) => noticed += 1,
            }
        }
        opened.store.threads.stop().await;
    }
    assert!(
        noticed > 0,
        "no flip hit anything that is read: the test has no teeth"
    );
}

/// A payment as version 1 wrote it. It must stay readable for ever.
const OLD_PAYMENT: &str = "\
    0101010101010101010101010101010101010101010202020202020202020202020202020202020202020202020202020202\
    020202fb3075fcec87fd6a0303030303030303030303030303030303030303030303030303030303030303027b7d027b7d00\
    1468747470733a2f2f6578616d706c652e636f6d2f0566726573680004040404040404040404040404040404040404040404\
    0404040404040404040401070707070707070707070707070707070707070707070707070707070707070701036164730404\
    30786162fcc086fd6a010505050505050505050505050505050505050505050505050505050505050505052261223a310163\
    0901fb307500fbe803fbf401fb546ffb8813fcc086fd6a010606060606060606060606060606060606060606060606060606\
    06060606060603fcc086fd6a01fcc086fd6afcc086fd6a23771e7fd6ce9e00";

#[test]
fn an_old_payment_stays_readable() {
    let old = hex::decode(OLD_PAYMENT).expect("hex");
    assert_eq!(record::decode::<Payment>(&old, "payments-1"), Ok(payment()));
    assert_eq!(record::encode(&payment()), Ok(old.clone()));
    assert_eq!(payments::read_keyed(&old), Ok(payment()));
}

/// The greatest number in the place of an authorization's end has always stood for a transfer.
#[test]
fn an_old_transfer_stays_readable() {
    let [head, tail] = ["0101".repeat(10), "02".repeat(32)];
    let marked = format!("{head}{tail}fb3075fdffffffffffffffff");
    let transfer = Payment {
        means: Means::Transfer,
        ..payment()
    };
    let bytes = record::encode(&transfer).expect("encodes");
    assert!(hex::encode(&bytes[1..]).starts_with(&marked));
    assert_eq!(payments::read_keyed(&bytes), Ok(transfer));
}

#[test]
fn a_payment_s_delivery_is_stored_behind_it() {
    let delivery = Delivery {
        is_owed: true,
        answer_until: NOW.0 + 604_800,
        origin: Some([8; 16]),
    };
    let payment = Payment {
        delivery,
        ..payment()
    };
    let key = PaymentKey([9; 32]);
    let bytes = payments::write(key, &payment).expect("encodes");
    assert_eq!(payments::read(&bytes), Ok((key, payment)));
}

/// Blobs are counted as they come and go, and in a file from before they were counted.
#[tokio::test]
async fn the_bytes_of_blobs_are_counted() {
    let folder = Folder::new();
    let opened = SETTINGS.create(&folder.file()).expect("creates");
    let write = opened.store.write(|tables| {
        tables.put_blob([1; 32], &[0; 700], UnixSeconds(10))?;
        tables.put_blob([1; 32], &[0; 700], UnixSeconds(20))?;
        tables.put_blob([2; 32], &[0; 50], UnixSeconds(10))?;
        tables.drop_blob([2; 32])?;
        tables.drop_blob([2; 32])
    });
    write.await.expect("writes");
    let kept = opened.store.read(|snapshot| snapshot.blobs_bytes()).await;
    assert_eq!(kept.expect("reads"), 700);
    let forget = opened.store.write(|tables| {
        tables.meta.remove("blobs-bytes")?;
        Ok(())
    });
    forget.await.expect("writes");
    opened.store.close().await.expect("closes");
    let again = SETTINGS.open(&folder.file(), false).expect("opens");
    let kept = again.store.read(|snapshot| snapshot.blobs_bytes()).await;
    assert_eq!(kept.expect("reads"), 700);
}
