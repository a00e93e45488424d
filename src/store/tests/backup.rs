//! Copies of the data file: what they hold, what is noticed in them, and what they may replace.

use redb::{
    Database, ReadableDatabase as _, ReadableTable as _, TableDefinition, WriteTransaction,
};

use super::*;
use crate::domain::keys::PaymentKey;
use crate::store::migrate::{Migration, schema};
use crate::store::open;
use crate::store::restore::RestoreError;
use crate::store::tables::{META, QUOTES};

/// A file with something in most tables.
async fn filled(folder: &Folder) -> Store {
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    put(&store, "https://example.com/", 1, 500, NOW).await;
    keep(&store, ReportId([9; 16]), 3, true).await;
    let bought = store.write(|tables| {
        tables.put_order(OrderId([1; 16]), &order("cs_test_1", "ann@example.com"))?;
        tables.put_provider_event(&event(OrderId([1; 16])))
    });
    bought.await.expect("writes");
    for name in 0..40_u8 {
        store
            .write(move |tables| tables.put_payment(PaymentKey([name; 32]), &payment()))
            .await
            .expect("writes");
    }
    store
}

fn options() -> CopyOptions {
    CopyOptions {
        free_bytes_min: 0,
        goes_on: Arc::new(|| true),
    }
}

fn rows(verified: &Verified, table: &str) -> u64 {
    let found = verified.rows.iter().find(|(name, _)| *name == table);
    found.unwrap_or_else(|| panic!("{table} in {verified:?}")).1
}

#[tokio::test]
async fn a_copy_made_between_writes_holds_everything_and_is_a_data_file() {
    let folder = Folder::new();
    let (store, copy) = (filled(&folder).await, folder.0.join("copy"));
    let bytes = store.copy_to(&copy, NOW, &options()).expect("copies");
    store
        .write(|tables| tables.put_payment(PaymentKey([99; 32]), &payment()))
        .await
        .expect("sales go on");
    let found = SETTINGS.verify(&copy).expect("sound");
    assert_eq!(
        (found.taken_at, found.bytes, found.schema),
        (Some(NOW), bytes, SCHEMA_VERSION)
    );
    assert_eq!(rows(&found, "payment-places-1"), 40);
    assert_eq!(rows(&found, "reports-1"), 1);
    assert_eq!(rows(&found, "orders-by-email-1"), 1);
    assert!(rows(&found, "blobs-1") >= 2);
    store.close().await.expect("closes");
    // It opens like any other, as cleanly closed, and is a copy no more.
    let opened = SETTINGS.open(&copy, false).expect("opens");
    assert!(opened.was_clean && has(&opened.store, "https://example.com/").await);
    assert_eq!(stored(&opened.store, ReportId([9; 16])).await, {
        let original = SETTINGS.open(&folder.file(), false).expect("opens").store;
        let report = stored(&original, ReportId([9; 16])).await;
        original.close().await.expect("closes");
        report
    });
    opened.store.close().await.expect("closes");
    assert_eq!(SETTINGS.verify(&copy).expect("sound").taken_at, None);
}

/// By construction: whatever this program can keep, it copies. A table that nobody here knows may hold money.
#[tokio::test]
async fn a_table_of_a_newer_program_stops_the_copy_instead_of_being_left_out() {
    const NEWER: TableDefinition<'static, u64, u64> = TableDefinition::new("gift-cards-1");
    let folder = Folder::new();
    filled(&folder).await.close().await.expect("closes");
    let database = Database::open(folder.file()).expect("opens");
    let transaction = database.begin_write().expect("begins");
    transaction.open_table(NEWER).expect("opens");
    transaction.commit().expect("commits");
    drop(database);
    let store = SETTINGS.open(&folder.file(), false).expect("opens").store;
    store
        .copy_to(&folder.0.join("empty"), NOW, &options())
        .expect("an empty table is nothing to lose");
    store.close().await.expect("closes");
    let database = Database::open(folder.file()).expect("opens");
    let transaction = database.begin_write().expect("begins");
    let mut newer = transaction.open_table(NEWER).expect("opens");
    newer.insert(1, 1).expect("inserts");
    drop(newer);
    transaction.commit().expect("commits");
    drop(database);
    let store = SETTINGS.open(&folder.file(), false).expect("opens").store;
    let copy = folder.0.join("copy");
    let refused = store
        .copy_to(&copy, NOW, &options())
        .expect_err("refuses")
        .to_string();
    assert!(refused.contains("gift-cards-1"), "{refused}");
    assert!(!copy.exists(), "nothing half made is left");
    store.close().await.expect("closes");
}

#[tokio::test]
async fn a_copy_goes_nowhere_where_something_is() {
    let folder = Folder::new();
    let store = filled(&folder).await;
    let copy = folder.0.join("copy");
    std::fs::write(&copy, b"something").expect("written");
    assert!(matches!(
        store.copy_to(&copy, NOW, &options()),
        Err(BackupError::Io { .. })
    ));
    assert_eq!(std::fs::read(&copy).expect("there"), b"something");
    store.close().await.expect("closes");
}

/// Flipped, cut short, foreign, empty, missing: each is a clear refusal, and the file is not touched by looking.
#[tokio::test]
async fn whatever_is_not_whole_is_refused() {
    let folder = Folder::new();
    let (store, copy) = (filled(&folder).await, folder.0.join("copy"));
    store.copy_to(&copy, NOW, &options()).expect("copies");
    store.close().await.expect("closes");
    let sound = std::fs::read(&copy).expect("reads");
    let expected = SETTINGS.verify(&copy).expect("sound");
    assert_eq!(
        std::fs::read(&copy).expect("reads"),
        sound,
        "only looked at"
    );
    let mut noticed = 0;
    for position in (0..sound.len()).step_by(sound.len() / 199) {
        let mut flipped = sound.clone();
        flipped[position] ^= 4;
        std::fs::write(&copy, &flipped).expect("writes");
        match SETTINGS.verify(&copy) {
            // Nothing that is read lies there.
            Ok(found) => assert_eq!(found.rows, expected.rows, "byte {position}"),
            Err(OpenError::Damaged { .. }) => noticed += 1,
            Err(error) => panic!("byte {position}: {error}"),
        }
    }
    assert!(noticed > 20, "only {noticed} of 200 flips were noticed");
    for length in [0, 1, 100, 4096, sound.len() / 2, sound.len() - 1] {
        std::fs::write(&copy, &sound[..length]).expect("writes");
        let found = SETTINGS.verify(&copy);
        assert!(
            matches!(found, Err(OpenError::Damaged { .. })),
            "{length} bytes: {found:?}"
        );
    }
    std::fs::write(&copy, b"SQLite format 3\0 and then some").expect("writes");
    assert!(matches!(
        SETTINGS.verify(&copy),
        Err(OpenError::Damaged { .. })
    ));
    std::fs::remove_file(&copy).expect("gone");
    assert!(matches!(SETTINGS.verify(&copy), Err(OpenError::Missing(_))));
}

/// A flipped bit that redb's own checksums cannot see, because it was there when the page was written.
#[tokio::test]
async fn a_record_without_its_checksum_is_refused() {
    let folder = Folder::new();
    filled(&folder).await.close().await.expect("closes");
    let database = Database::open(folder.file()).expect("opens");
    let transaction = database.begin_write().expect("begins");
    let mut quotes = transaction.open_table(QUOTES).expect("opens");
    quotes.insert([1; 16], &b"no record"[..]).expect("inserts");
    drop(quotes);
    transaction.commit().expect("commits");
    drop(database);
    let refused = SETTINGS.verify(&folder.file()).expect_err("damaged");
    assert!(refused.to_string().contains("quotes-1"), "{refused}");
}

#[tokio::test]
async fn a_backup_comes_back_and_what_it_replaces_is_kept() {
    let folder = Folder::new();
    let (store, copy) = (filled(&folder).await, folder.0.join("copy"));
    store.copy_to(&copy, NOW, &options()).expect("copies");
    let restore = |discard_newer| SETTINGS.restore(&copy, &folder.file(), NOW, discard_newer);
    // Over a live file: never.
    assert!(matches!(
        restore(true),
        Err(RestoreError::DataFile(OpenError::InUse(_)))
    ));
    store.close().await.expect("closes");
    // The file was written to long after NOW, by the computer's clock.
    assert!(matches!(
        restore(false),
        Err(RestoreError::KnowsMore { .. })
    ));
    let before = std::fs::read(folder.file()).expect("reads");
    let restored = restore(true).expect("restores");
    let aside = restored.replaced.expect("kept aside");
    assert_eq!(std::fs::read(aside).expect("reads"), before);
    assert_eq!(
        std::fs::read(folder.file()).expect("reads"),
        std::fs::read(&copy).expect("reads")
    );
    // Over a damaged one, and where there is none: without a word.
    std::fs::write(folder.file(), b"rubbish").expect("written");
    let later = NOW.plus(1);
    let restored = SETTINGS.restore(&copy, &folder.file(), later, false);
    assert!(restored.expect("restores").replaced.is_some());
    std::fs::remove_file(folder.file()).expect("gone");
    let restored = restore(false).expect("restores");
    assert_eq!(restored.replaced, None);
    let opened = SETTINGS.open(&folder.file(), false).expect("opens");
    assert!(stored(&opened.store, ReportId([9; 16])).await.is_some());
    opened.store.close().await.expect("closes");
}

#[tokio::test]
async fn a_damaged_backup_replaces_nothing() {
    let folder = Folder::new();
    let (store, copy) = (filled(&folder).await, folder.0.join("copy"));
    store.copy_to(&copy, NOW, &options()).expect("copies");
    store.close().await.expect("closes");
    let before = std::fs::read(folder.file()).expect("reads");
    let half = std::fs::read(&copy).expect("reads");
    std::fs::write(&copy, &half[..half.len() / 2]).expect("written");
    let refused = SETTINGS.restore(&copy, &folder.file(), NOW, true);
    assert!(matches!(refused, Err(RestoreError::Backup(_))));
    assert_eq!(std::fs::read(folder.file()).expect("reads"), before);
}

fn add_one(transaction: &WriteTransaction) -> Result<(), StoreError> {
    let mut meta = transaction.open_table(META)?;
    let steps = meta.get("steps")?.map_or(0, |steps| steps.value());
    meta.insert("steps", steps + 1)?;
    Ok(())
}

fn fail(transaction: &WriteTransaction) -> Result<(), StoreError> {
    add_one(transaction)?;
    Err(StoreError::File("the step failed".to_owned()))
}

fn step(apply: fn(&WriteTransaction) -> Result<(), StoreError>) -> Migration {
    Migration {
        what: "a test",
        apply,
    }
}

fn facts(path: &Path) -> (u64, Option<u64>) {
    let database = Database::open(path).expect("opens");
    let transaction = database.begin_read().expect("begins");
    let meta = transaction.open_table(META).expect("opens");
    let fact = |name| meta.get(name).expect("reads").map(|value| value.value());
    (fact("schema").expect("a schema"), fact("steps"))
}

/// The file goes through every step that it has not seen, once, and lies aside as it was before.
#[tokio::test]
async fn an_older_file_is_kept_aside_and_brought_up_to_date() {
    let folder = Folder::new();
    filled(&folder).await.close().await.expect("closes");
    let before = std::fs::read(folder.file()).expect("reads");
    // The first is one that the file has seen.
    let steps = [step(fail), step(add_one), step(add_one)];
    assert_eq!((SCHEMA_VERSION, schema(&steps)), (2, 4));
    let opened = open::open(&folder.file(), SETTINGS, false, &steps).expect("opens");
    let aside = opened.kept_aside.expect("kept");
    assert!(stored(&opened.store, ReportId([9; 16])).await.is_some());
    opened.store.close().await.expect("closes");
    assert_eq!(facts(&folder.file()), (4, Some(2)));
    // Opened once to learn its schema, so not the same bytes everywhere; the same data all the same.
    assert_eq!(std::fs::read(&aside).expect("reads").len(), before.len());
    assert_eq!(facts(&aside), (2, None));
    // Not a second time.
    let opened = open::open(&folder.file(), SETTINGS, false, &steps).expect("opens");
    assert_eq!(opened.kept_aside, None);
    opened.store.close().await.expect("closes");
    assert_eq!(facts(&folder.file()), (4, Some(2)));
    // And this program, which knows none of these steps, leaves the file alone.
    let refused = SETTINGS.open(&folder.file(), false);
    assert!(matches!(refused, Err(OpenError::Newer { found: 4, .. })));
    let refused = SETTINGS.verify(&folder.file());
    assert!(matches!(refused, Err(OpenError::Newer { found: 4, .. })));
}

#[tokio::test]
async fn a_step_that_fails_leaves_the_file_as_it_was() {
    let folder = Folder::new();
    filled(&folder).await.close().await.expect("closes");
    let steps = [step(fail), step(add_one), step(fail)];
    for _ in 0..2 {
        assert!(open::open(&folder.file(), SETTINGS, false, &steps).is_err());
        assert_eq!(facts(&folder.file()), (2, None));
    }
    let opened = SETTINGS.open(&folder.file(), false).expect("opens");
    assert!(stored(&opened.store, ReportId([9; 16])).await.is_some());
    opened.store.close().await.expect("closes");
}

/// A copy that is half written when it is not wanted any more, or when others have taken the room.
#[tokio::test]
async fn a_copy_that_ends_half_way_is_gone_and_says_why() {
    let folder = Folder::new();
    let (store, copy) = (filled(&folder).await, folder.0.join("copy"));
    for name in 0..8 {
        let page = vec![name; 1024 * 1024];
        let id = Sha256::digest(&page).into();
        let kept = store.write(move |tables| tables.put_blob(id, &page, NOW.plus(60)));
        kept.await.expect("writes");
    }
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let stopped = CopyOptions {
        goes_on: Arc::new(move || count.fetch_add(1, Ordering::Relaxed) < 3),
        ..options()
    };
    let ended = store.copy_to(&copy, NOW, &stopped);
    assert!(matches!(ended, Err(BackupError::Stopped)) && !copy.exists());
    assert!(asked.load(Ordering::Relaxed) > 3, "it was not half way");
    let without_room = CopyOptions {
        free_bytes_min: u64::MAX,
        ..options()
    };
    let ended = store.copy_to(&copy, NOW, &without_room);
    let error = ended.expect_err("there is no room").to_string();
    assert!(error.contains("no room") && !copy.exists(), "{error}");
    // The file that it was copied from is none the worse.
    put(&store, "https://example.com/later", 2, 500, NOW).await;
    store.copy_to(&copy, NOW, &options()).expect("copies");
    SETTINGS.verify(&copy).expect("sound");
    store.close().await.expect("closes");
}
