//! Payments in order of arrival, and a file in which they lay under their keys.

use redb::{Database, ReadableDatabase as _, ReadableTableMetadata as _};

use super::*;
use crate::store::tables::{
    DUE, Hash, KEYED_BLOB_HOLDS, KEYED_PAYMENTS, META, OPEN_PAYMENTS, PAYMENT_PLACES, SCHEMA,
};

const KEYS: [PaymentKey; 3] = [
    PaymentKey([7; 32]),
    PaymentKey([5; 32]),
    PaymentKey([6; 32]),
];

/// The same payment while it is open, once it has ended with an answer, and without.
fn stages() -> [Payment; 3] {
    let open = Payment {
        state: State::Kept,
        ..payment()
    };
    let answered = Payment {
        payload: Vec::new(),
        ..payment()
    };
    let ended = Payment {
        answer: None,
        requirements: Vec::new(),
        ..answered.clone()
    };
    [open, answered, ended]
}

async fn put(store: &Store, key: PaymentKey, payment: &Payment) {
    let payment = payment.clone();
    let write = store.write(move |tables| tables.put_payment(key, &payment));
    write.await.expect("writes");
}

async fn all(store: &Store) -> Vec<(PaymentKey, Payment)> {
    let read = store.read(|snapshot| {
        let mut all = Vec::new();
        snapshot.payments(|key, payment| {
            all.push((key, payment));
            Ok(())
        })?;
        Ok(all)
    });
    read.await.expect("reads")
}

/// Wherever its record lies by now, there is one of it.
#[tokio::test]
async fn a_payment_has_one_record_in_every_stage() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let stages = stages();
    for key in KEYS {
        put(&store, key, &stages[0]).await;
    }
    let there_and_back = [1, 2, 1, 0, 2, 2, 0, 1];
    for stage in there_and_back {
        put(&store, KEYS[1], &stages[stage]).await;
        let found = store.look_up(|snapshot| snapshot.payment(KEYS[1]));
        assert_eq!(found, Ok(Some(stages[stage].clone())));
        let listed = all(&store).await;
        assert_eq!(listed.len(), KEYS.len());
        assert_eq!(listed.iter().filter(|(key, _)| *key == KEYS[1]).count(), 1);
    }
    let in_parts = store.read(|snapshot| {
        let first = snapshot.payments_after(None, 2)?;
        let last = snapshot.payments_after(Some(first[1].0), 2)?;
        Ok([first, last].concat())
    });
    let in_parts = in_parts.await.expect("reads");
    let keys: Vec<PaymentKey> = in_parts.into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys, [KEYS[1], KEYS[2], KEYS[0]], "in the order of keys");
}

/// Due rows of a payment that is gone lead to nothing, and not to a payment that comes later.
#[tokio::test]
async fn a_place_is_given_out_once() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let [open, ..] = stages();
    put(&store, KEYS[0], &open).await;
    let gone = store.write(|tables| {
        tables.schedule_payment(NOW, KEYS[0])?;
        tables.drop_payment(KEYS[0])
    });
    gone.await.expect("writes");
    put(&store, KEYS[1], &open).await;
    let read = store.read(|snapshot| {
        let due = snapshot.due(DueKind::Payment, NOW, 10)?;
        let found = due.iter().map(|due| snapshot.payment_of(*due));
        found.collect::<Result<Vec<_>, _>>()
    });
    assert_eq!(read.await, Ok(vec![None]));
    assert_eq!(all(&store).await, [(KEYS[1], open)]);
}

/// Makes of a new file one of schema 1 with two payments: one by version 1 of its record that is due, is listed and
/// holds a blob, and one by version 2.
fn make_older(file: &Path, blob: Hash) {
    let database = Database::open(file).expect("opens");
    let writing = database.begin_write().expect("begins");
    let table = "a table";
    writing.delete_table(PAYMENT_PLACES).expect(table);
    writing.delete_table(OPEN_PAYMENTS).expect(table);
    let mut meta = writing.open_table(META).expect(table);
    meta.insert(SCHEMA, 1).expect("inserts");
    meta.remove("payments-placed").expect("removes");
    let mut payments = writing.open_table(KEYED_PAYMENTS).expect(table);
    let [open, answered, _] = stages();
    let first = record::encode(&answered).expect("encodes");
    payments.insert(KEYS[0], first.as_slice()).expect("inserts");
    let second = record::encode_as(2, &(&open, open.delivery)).expect("encodes");
    payments
        .insert(KEYS[1], second.as_slice())
        .expect("inserts");
    let mut due = writing.open_table(DUE).expect(table);
    for (kind, key) in [(1, KEYS[0]), (11, KEYS[0]), (1, KEYS[2])] {
        due.insert((kind, NOW.0, key.0), ()).expect("inserts");
    }
    let mut holds = writing.open_table(KEYED_BLOB_HOLDS).expect(table);
    holds.insert((blob, KEYS[0]), ()).expect("inserts");
    drop((meta, payments, due, holds));
    writing.commit().expect("commits");
}

#[tokio::test]
async fn payments_that_lay_under_their_keys_are_brought_into_order() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let bytes = b"a page".to_vec();
    let blob: Hash = Sha256::digest(&bytes).into();
    let kept = store.write(move |tables| tables.put_blob(blob, &bytes, NOW));
    kept.await.expect("writes");
    store.close().await.expect("closes");
    make_older(&folder.file(), blob);

    let opened = SETTINGS.open(&folder.file(), false).expect("opens");
    assert!(opened.kept_aside.is_some());
    let store = opened.store;
    let [open, answered, _] = stages();
    let found = |key| store.look_up(move |snapshot| snapshot.payment(key));
    assert_eq!(found(KEYS[0]), Ok(Some(answered.clone())));
    assert_eq!(found(KEYS[1]), Ok(Some(open)));
    let due = store.read(|snapshot| {
        let mut found = Vec::new();
        for kind in [DueKind::Payment, DueKind::Purchase] {
            for due in snapshot.due(kind, NOW, 10)? {
                found.push(snapshot.payment_of(due)?.map(|(key, _)| key));
            }
        }
        Ok(found)
    });
    let once = Some(KEYS[0]);
    assert_eq!(
        due.await,
        Ok(vec![once, once]),
        "what is due of nothing went"
    );
    // The blob stays as long as the payment holds it.
    sweep(&store, NOW.plus(1)).await;
    assert!(has_blob(&store, blob).await);
    let dropped =
        store.write(move |tables| tables.drop_settled_answer(KEYS[0], Some(blob), NOW.plus(1)));
    dropped.await.expect("writes");
    assert!(!has_blob(&store, blob).await);
    store.close().await.expect("closes");

    let database = Database::open(folder.file()).expect("opens");
    let reading = database.begin_read().expect("begins");
    let older = reading.open_table(KEYED_PAYMENTS).expect("a table");
    assert_eq!(older.len().expect("reads"), 0);
    drop((older, reading, database));
    let opened = SETTINGS.open(&folder.file(), false).expect("opens");
    assert!(opened.kept_aside.is_none());
    assert_eq!(all(&opened.store).await.len(), 2);
}

/// Nothing else checks the bytes of a row: it must not lead to another payment, nor to none.
#[tokio::test]
async fn a_flipped_bit_of_a_place_is_damage() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let [open, ..] = stages();
    for key in KEYS {
        put(&store, key, &open).await;
    }
    for bit in 0..u64::BITS {
        let flipped = move |tables: &mut Tables<'_>| {
            let row = tables.payment_places.get(KEYS[0])?.map(|row| row.value());
            let row = row.expect("it has a place") ^ (1 << bit);
            tables.payment_places.insert(KEYS[0], row).map(drop)
        };
        store.write(flipped).await.expect("writes");
        let found = store.look_up(|snapshot| snapshot.payment(KEYS[0]));
        assert!(
            matches!(found, Err(StoreError::Damaged { .. })),
            "bit {bit}"
        );
        store.write(flipped).await.expect("writes");
    }
    let found = store.look_up(|snapshot| snapshot.payment(KEYS[0]));
    assert_eq!(found, Ok(Some(open)));
}

/// A count of places that was turned back must not cost another payment its record.
#[tokio::test]
async fn a_place_that_is_taken_is_not_written_over() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let [open, _, ended] = stages();
    put(&store, KEYS[0], &ended).await;
    let turned_back = store.write(|tables| tables.set_fact("payments-placed", 0));
    turned_back.await.expect("writes");
    let written = store.write(move |tables| tables.put_payment(KEYS[1], &open));
    assert!(written.await.is_err());
    assert_eq!(all(&store).await, [(KEYS[0], ended)]);
}

#[tokio::test]
async fn a_place_beyond_all_is_damage_and_not_given_out() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let [open, ..] = stages();
    let count = store.write(|tables| tables.set_fact("payments-placed", 1 << 50));
    count.await.expect("writes");
    let written = store.write(move |tables| tables.put_payment(KEYS[0], &open));
    assert!(written.await.is_err());
    assert_eq!(all(&store).await, []);
}
