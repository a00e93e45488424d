//! The list of a payer's purchases.

use redb::Database;

use super::*;
use crate::domain::time::PURCHASE_SECONDS;
use crate::store::tables::{META, PURCHASES};

/// A payment that was settled at this moment.
fn settled(at: UnixSeconds) -> Payment {
    Payment {
        state: State::Settled {
            transaction: "0xab".to_owned(),
            at: at.0,
        },
        ..payment()
    }
}

async fn listed(store: &Store) -> Vec<PaymentKey> {
    let payer = payment().payer;
    let found = store
        .read(move |snapshot| snapshot.purchases(payer, None, UnixSeconds(0), 10))
        .await;
    found
        .expect("reads")
        .iter()
        .map(|bought| bought.key)
        .collect()
}

#[tokio::test]
async fn a_file_from_before_purchases_were_listed_lists_those_of_the_last_days() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let keys = [1, 2, 3].map(|number| PaymentKey([number; 32]));
    let moments = [
        NOW,
        NOW.plus(PURCHASE_SECONDS),
        NOW.plus(PURCHASE_SECONDS + 5),
    ];
    let written = store.write(move |tables| {
        for (key, at) in keys.into_iter().zip(moments) {
            tables.put_payment(key, &settled(at))?;
        }
        // One that is not settled is no purchase.
        let open = Payment {
            state: State::Unknown,
            ..payment()
        };
        tables.put_payment(PaymentKey([4; 32]), &open)
    });
    written.await.expect("writes");
    assert_eq!(listed(&store).await, [], "only a settlement lists");
    store.close().await.expect("closes");
    let database = Database::open(folder.file()).expect("opens");
    let writing = database.begin_write().expect("begins");
    writing
        .open_table(META)
        .expect("a table")
        .remove("purchases-indexed")
        .expect("removes");
    writing.delete_table(PURCHASES).expect("deletes");
    writing.commit().expect("commits");
    drop(database);
    let store = SETTINGS.open(&folder.file(), false).expect("opens").store;
    assert_eq!(
        listed(&store).await,
        [keys[2], keys[1]],
        "the newest first, the oldest not"
    );
    // The second start finds them listed.
    store.close().await.expect("closes");
    let store = SETTINGS.open(&folder.file(), false).expect("opens").store;
    assert_eq!(listed(&store).await, [keys[2], keys[1]]);
}
