//! Fetched pages and the bytes they stand on: how long they stay.

use super::*;
use crate::store::pages::REPLACED_SECONDS;

#[tokio::test]
async fn pages_leave_by_age_and_their_bytes_a_little_later() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let blob = put(&store, "https://a.example/", b'a', 100, NOW).await;
    // Found unchanged an hour later: its day begins again.
    let touched = NOW.plus(3600);
    store
        .write(move |tables| tables.touch_page("https://a.example/", touched))
        .await
        .expect("writes");
    sweep(&store, NOW.plus(PAGE_SECONDS)).await;
    assert!(has(&store, "https://a.example/").await);
    sweep(&store, touched.plus(PAGE_SECONDS)).await;
    assert!(!has(&store, "https://a.example/").await);
    assert!(has_blob(&store, blob).await, "a sale may be reading it");
    sweep(&store, touched.plus(PAGE_SECONDS + REPLACED_SECONDS)).await;
    assert!(!has_blob(&store, blob).await);
}

/// What the cache lets go has a little longer: a sale may have found it there just before.
#[tokio::test]
async fn a_page_that_makes_room_leaves_its_bytes_for_a_moment() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let blob = put(&store, "https://a.example/", b'a', 6_000, NOW).await;
    put(&store, "https://b.example/", b'b', 6_000, NOW.plus(1)).await;
    assert!(!has(&store, "https://a.example/").await);
    sweep(&store, NOW.plus(REPLACED_SECONDS)).await;
    assert!(has_blob(&store, blob).await);
    sweep(&store, NOW.plus(1 + REPLACED_SECONDS)).await;
    assert!(!has_blob(&store, blob).await);
}

#[tokio::test]
async fn the_oldest_pages_make_room() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let first = put(&store, "https://a.example/", b'a', 4_000, NOW).await;
    put(&store, "https://b.example/", b'b', 4_000, NOW.plus(1)).await;
    put(&store, "https://a.example/", b'c', 4_000, NOW.plus(2)).await;
    put(&store, "https://c.example/", b'd', 4_000, NOW.plus(3)).await;
    assert!(
        has(&store, "https://a.example/").await,
        "it was fetched again"
    );
    assert!(!has(&store, "https://b.example/").await);
    assert!(has(&store, "https://c.example/").await);
    // An answer that needs a blob longer keeps it.
    let until = NOW.plus(10 * PAGE_SECONDS);
    store
        .write(move |tables| tables.keep_blob(first, until))
        .await
        .expect("writes");
    sweep(&store, NOW.plus(5 * PAGE_SECONDS)).await;
    assert!(has_blob(&store, first).await);
}
