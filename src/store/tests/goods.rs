//! The goods of sales: held until a payment ends, and gone with one that fails.

use super::*;
use crate::domain::keys::PaymentKey;
use crate::domain::limit_reached::LimitReached;
use crate::store::HeldPage;
use crate::store::pages::REPLACED_SECONDS;

fn sale(number: u8) -> PaymentKey {
    PaymentKey([number; 32])
}

/// Holds what a sale of a page that was just fetched keeps.
async fn hold(store: &Store, number: u8, name: u8, bytes: usize, at: UnixSeconds) -> [u8; 32] {
    let (record, members) = page(name, bytes, at);
    let blob = record.blob;
    let held = store.write(move |tables| {
        let pages = vec![(String::new(), HeldPage::Fetched(record))];
        tables.hold_goods(sale(number), pages, &[(blob, &members)], at)
    });
    assert_eq!(held.await, Ok(Ok(())));
    blob
}

/// Settles a sale whose answer is a report: nothing but the page is left of what it held.
async fn settle(store: &Store, number: u8, url: &'static str, at: UnixSeconds) {
    let settled = store.write(move |tables| tables.settle_goods(sale(number), url, None, at));
    settled.await.expect("writes");
}

async fn fail(store: &Store, number: u8, at: UnixSeconds) {
    let failed = store.write(move |tables| tables.drop_goods(sale(number), at));
    failed.await.expect("writes");
}

async fn drop_answer(store: &Store, number: u8, blob: [u8; 32], at: UnixSeconds) {
    let dropped =
        store.write(move |tables| tables.drop_settled_answer(sale(number), Some(blob), at));
    dropped.await.expect("writes");
}

async fn facts(store: &Store) -> (u64, u64) {
    let read = store.read(|snapshot| Ok((snapshot.blobs_bytes()?, snapshot.unsettled_bytes()?)));
    read.await.expect("reads")
}

async fn due_rows(store: &Store) -> usize {
    let read = store.read(|snapshot| {
        let rows = snapshot.due(DueKind::Blob, UnixSeconds(u64::MAX), 100)?;
        Ok(rows.len())
    });
    read.await.expect("reads")
}

/// 36 sales that never settled filled the file for a day.
#[tokio::test]
async fn a_sale_that_fails_leaves_nothing_behind() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    for number in 0..36 {
        let blob = hold(&store, number, number, 5_000, NOW).await;
        assert_eq!(facts(&store).await, (5_000, 5_000));
        fail(&store, number, NOW.plus(1)).await;
        assert!(!has_blob(&store, blob).await);
        // A second word on the same sale changes nothing.
        fail(&store, number, NOW.plus(1)).await;
    }
    assert!(!has(&store, "https://a.example/").await);
    assert_eq!((facts(&store).await, due_rows(&store).await), ((0, 0), 0));
}

#[tokio::test]
async fn a_page_enters_the_cache_when_its_sale_settles() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let blob = hold(&store, 1, b'a', 3_000, NOW).await;
    assert!(!has(&store, "https://a.example/").await);
    // However long the settlement takes, the goods are there.
    sweep(&store, NOW.plus(10 * PAGE_SECONDS)).await;
    assert!(has_blob(&store, blob).await);
    settle(&store, 1, "https://a.example/", NOW.plus(60)).await;
    assert!(has(&store, "https://a.example/").await);
    assert_eq!(facts(&store).await, (3_000, 0));
    // One that settles late does not replace what was fetched since, nor does it bring an old page back.
    let old = hold(&store, 2, b'b', 3_000, NOW).await;
    put(&store, "https://a.example/", b'c', 3_000, NOW.plus(100)).await;
    settle(&store, 2, "https://a.example/", NOW.plus(200)).await;
    assert!(!has_blob(&store, old).await);
    let old = hold(&store, 3, b'd', 3_000, NOW).await;
    settle(&store, 3, "https://d.example/", NOW.plus(PAGE_SECONDS)).await;
    assert!(!has(&store, "https://d.example/").await && !has_blob(&store, old).await);
}

/// Blobs are shared: by sales at the same moment, by the cache, by answers that were settled.
#[tokio::test]
async fn a_sale_that_fails_takes_nothing_that_others_need() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    // Two sales of the same page.
    let blob = hold(&store, 1, b'a', 3_000, NOW).await;
    assert_eq!(hold(&store, 2, b'a', 3_000, NOW).await, blob);
    fail(&store, 1, NOW).await;
    assert!(has_blob(&store, blob).await, "the other sale needs it");
    // The other settles: the cache has the page, and its answer is given again for a while.
    let settled = store
        .write(move |tables| tables.settle_goods(sale(2), "https://a.example/", Some(blob), NOW));
    settled.await.expect("writes");
    assert_eq!(facts(&store).await, (3_000, 0));
    hold(&store, 3, b'a', 3_000, NOW).await;
    fail(&store, 3, NOW).await;
    assert!(has_blob(&store, blob).await, "cache and answer need it");
    // An unsettled sale and an answer need what the cache lets go.
    hold(&store, 4, b'a', 3_000, NOW).await;
    put(&store, "https://a.example/", b'b', 3_000, NOW.plus(1)).await;
    sweep(&store, NOW.plus(2 * PAGE_SECONDS)).await;
    fail(&store, 4, NOW.plus(2 * PAGE_SECONDS)).await;
    assert!(has_blob(&store, blob).await, "the answer needs it");
    // The answer is not given again any more.
    drop_answer(&store, 2, blob, NOW.plus(2 * PAGE_SECONDS)).await;
    assert!(!has_blob(&store, blob).await);
    assert_eq!(facts(&store).await, (0, 0));
}

/// In a file of the version before, the goods of open payments were kept by the looks at them.
#[tokio::test]
async fn the_goods_of_an_older_file_are_held() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let blobs = [[b'o'; 700].to_vec(), [b's'; 70].to_vec()];
    let keys = blobs.each_ref().map(|bytes| Sha256::digest(bytes).into());
    let [open, settled]: [[u8; 32]; 2] = keys;
    let old = store.write(move |tables| {
        for (number, key, bytes) in [(1, open, &blobs[0]), (2, settled, &blobs[1])] {
            tables.put_blob(key, bytes, NOW)?;
            let mut payment = payment();
            payment.answer.as_mut().expect("an answer").page = key;
            payment.state = match number {
                1 => State::Unknown,
                _ => State::Settled {
                    transaction: "0xab".to_owned(),
                    at: NOW.0,
                },
            };
            tables.put_payment(sale(number), &payment)?;
        }
        tables.meta.remove("unsettled-bytes")?;
        Ok(())
    });
    old.await.expect("writes");
    store.close().await.expect("closes");
    let store = SETTINGS.open(&folder.file(), false).expect("opens").store;
    assert_eq!(facts(&store).await, (770, 700));
    sweep(&store, NOW.plus(PAGE_SECONDS)).await;
    assert!(has_blob(&store, open).await && has_blob(&store, settled).await);
    fail(&store, 1, NOW.plus(PAGE_SECONDS)).await;
    drop_answer(&store, 2, settled, NOW.plus(PAGE_SECONDS)).await;
    assert_eq!(facts(&store).await, (0, 0));
}

/// Until 2026-11-27 a settled sale kept a row for its answer.
#[tokio::test]
async fn the_row_of_an_answer_goes_with_it() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let blob = hold(&store, 1, b'a', 3_000, NOW).await;
    drop_answer(&store, 1, blob, NOW.plus(1)).await;
    assert!(!has_blob(&store, blob).await);
    assert_eq!(facts(&store).await, (0, 0));
    // A second word on it changes nothing.
    drop_answer(&store, 1, blob, NOW.plus(2)).await;
    assert_eq!(facts(&store).await, (0, 0));
}

/// A replaced page's bytes stayed for another day.
#[tokio::test]
async fn the_bytes_of_a_replaced_page_leave_soon() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let replaced = put(&store, "https://a.example/", b'a', 3_000, NOW).await;
    put(&store, "https://a.example/", b'b', 3_000, NOW.plus(1)).await;
    assert!(has_blob(&store, replaced).await, "a sale may be reading it");
    sweep(&store, NOW.plus(1 + REPLACED_SECONDS)).await;
    assert!(!has_blob(&store, replaced).await);
    assert_eq!(
        due_rows(&store).await,
        1,
        "one row for the page that is there"
    );
    // The same bytes again are the page's own.
    let same = put(&store, "https://a.example/", b'b', 3_000, NOW.plus(9_000)).await;
    sweep(&store, NOW.plus(20_000)).await;
    assert!(has_blob(&store, same).await && due_rows(&store).await == 1);
}

#[tokio::test]
async fn the_goods_of_unsettled_sales_have_a_bound() {
    let folder = Folder::new();
    let settings = Settings {
        unsettled_bytes_max: 10_000,
        ..SETTINGS
    };
    let store = settings.create(&folder.file()).expect("creates").store;
    for number in 0..3 {
        hold(&store, number, number, 3_000, NOW).await;
    }
    let beyond = |number: u8, bytes: usize| {
        let (record, members) = page(number, bytes, NOW);
        store.write(move |tables| {
            tables.hold_goods(sale(number), Vec::new(), &[(record.blob, &members)], NOW)
        })
    };
    assert_eq!(beyond(3, 1_001).await, Ok(Err(LimitReached)));
    assert_eq!(facts(&store).await, (9_000, 9_000), "nothing of it stays");
    assert_eq!(beyond(3, 1_000).await, Ok(Ok(())));
    // The sums are those of the file after a restart, too.
    store.close().await.expect("closes");
    let store = settings.open(&folder.file(), false).expect("opens").store;
    assert_eq!(facts(&store).await, (10_000, 10_000));
    for number in 0..4 {
        fail(&store, number, NOW).await;
    }
    // A large one alone fits.
    hold(&store, 9, 9, 50_000, NOW).await;
}

/// Reports are counted by themselves: neither answers nor replaced pages switch Proof Packs off.
#[tokio::test]
async fn reports_are_counted_by_their_own_sum() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let reports = async |store: &Store| store.read(|snapshot| snapshot.reports_bytes()).await;
    hold(&store, 1, b'a', 5_000, NOW).await;
    put(&store, "https://a.example/", b'b', 5_000, NOW).await;
    keep(&store, ReportId([2; 16]), 2, false).await;
    assert_eq!(reports(&store).await, Ok(0));
    keep(&store, ReportId([3; 16]), 3, true).await;
    keep(&store, ReportId([4; 16]), 4, true).await;
    let each = 1 + b"source".len() as u64;
    assert_eq!(reports(&store).await, Ok(2 * each));
    // In a file from before they were counted they are counted at the start.
    let forget = store.write(|tables| {
        tables.meta.remove("reports-bytes")?;
        tables.report_bytes.retain(|_, _| false)?;
        Ok(())
    });
    forget.await.expect("writes");
    store.close().await.expect("closes");
    let store = SETTINGS.open(&folder.file(), false).expect("opens").store;
    assert_eq!(reports(&store).await, Ok(2 * each));
    let purged = store.write(|tables| tables.purge_report(ReportId([3; 16])));
    assert_eq!(purged.await, Ok(true));
    assert_eq!(reports(&store).await, Ok(each));
    sweep(&store, NOW.plus(REPORT_SECONDS)).await;
    assert_eq!(reports(&store).await, Ok(0));
}
