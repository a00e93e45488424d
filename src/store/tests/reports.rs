//! Reports: kept, purged, shared.

use super::*;

#[tokio::test]
async fn a_report_lives_as_long_as_it_was_sold_for() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let (sold, unsold) = (ReportId([1; 16]), ReportId([2; 16]));
    keep(&store, sold, 1, true).await;
    keep(&store, unsold, 2, false).await;
    assert_eq!(stored(&store, unsold).await, None);
    sweep(&store, NOW.plus(REPORT_SECONDS - 1)).await;
    let found = stored(&store, sold).await.expect("is there");
    assert_eq!(found.transaction.as_deref(), Some("0xab"));
    assert!(has_blob(&store, found.document).await && has_blob(&store, found.source).await);
    assert!(
        !has_blob(&store, report(2).document).await,
        "nobody paid for it"
    );
    sweep(&store, NOW.plus(REPORT_SECONDS)).await;
    let found = stored(&store, sold).await.expect("is known as expired");
    assert_eq!(
        (found.question.as_str(), found.transaction.as_deref()),
        ("", Some(""))
    );
    assert!(
        !has_blob(&store, report(1).document).await && !has_blob(&store, report(1).source).await
    );
    sweep(&store, NOW.plus(2 * REPORT_SECONDS)).await;
    assert_eq!(stored(&store, sold).await, None);
}

#[tokio::test]
async fn a_purged_report_takes_its_source_along_unless_another_needs_it() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let (one, other) = (ReportId([1; 16]), ReportId([2; 16]));
    keep(&store, one, 1, true).await;
    keep(&store, other, 2, true).await;
    let purge = |id| store.write(move |tables| tables.purge_report(id));
    assert_eq!(purge(one).await, Ok(true));
    assert_eq!(purge(one).await, Ok(false));
    assert!(!has_blob(&store, report(1).document).await);
    assert!(
        has_blob(&store, report(2).source).await,
        "the other was made of it"
    );
    assert_eq!(purge(other).await, Ok(true));
    assert!(!has_blob(&store, report(2).source).await);
    // What is left of them in the table of what is due leads to nothing.
    sweep(&store, NOW.plus(3 * REPORT_SECONDS)).await;
}

#[tokio::test]
async fn only_what_is_paid_for_and_not_over_can_be_shared() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let id = ReportId([1; 16]);
    let share = |slug: u8, is_listed, now| {
        store.write(move |tables| tables.share_report(id, ShareSlug([slug; 16]), is_listed, now))
    };
    assert_eq!(share(1, true, NOW).await, Ok(None));
    keep(&store, id, 1, true).await;
    let listed = || store.read(|snapshot| snapshot.approved_reports(10));
    let approve =
        |is_approved, now| store.write(move |tables| tables.approve_report(id, is_approved, now));
    assert_eq!(approve(true, NOW).await, Ok(false), "it is not shared");
    let shared = share(1, true, NOW).await.expect("writes").expect("a name");
    assert_eq!((shared.slug, shared.is_listed), ([1; 16], true));
    let waiting = || store.read(Snapshot::listings_waiting);
    assert_eq!((listed().await, waiting().await), (Ok(Vec::new()), Ok(1)));
    assert_eq!(approve(true, NOW).await, Ok(true));
    assert_eq!(listed().await.expect("reads").len(), 1);
    assert_eq!(waiting().await, Ok(0));
    // Asked for again, it stays.
    share(3, true, NOW).await.expect("writes");
    assert_eq!(listed().await.expect("reads").len(), 1);
    let again = share(2, false, NOW.plus(9))
        .await
        .expect("writes")
        .expect("a name");
    assert_eq!(
        (again.slug, again.at, again.is_listed),
        ([1; 16], NOW.0, false)
    );
    assert_eq!(listed().await, Ok(Vec::new()));
    assert_eq!(
        approve(true, NOW).await,
        Ok(false),
        "its buyer wants it no more"
    );
    // Asked for anew, it waits again.
    share(4, true, NOW).await.expect("writes");
    assert_eq!((listed().await, waiting().await), (Ok(Vec::new()), Ok(1)));
    approve(true, NOW).await.expect("writes");
    approve(false, NOW).await.expect("writes");
    assert_eq!((listed().await, waiting().await), (Ok(Vec::new()), Ok(1)));
    let by_slug =
        |slug: u8| store.read(move |snapshot| snapshot.report_by_slug(ShareSlug([slug; 16])));
    assert_eq!(
        (by_slug(1).await, by_slug(2).await),
        (Ok(Some(id)), Ok(None))
    );
    assert_eq!(share(1, true, NOW.plus(REPORT_SECONDS)).await, Ok(None));
    sweep(&store, NOW.plus(REPORT_SECONDS)).await;
    assert_eq!(by_slug(1).await, Ok(None));
    assert_eq!((listed().await, waiting().await), (Ok(Vec::new()), Ok(0)));
}
