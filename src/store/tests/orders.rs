//! Orders and what finds them.

use super::*;
use crate::domain::keys::MailKey;

#[tokio::test]
async fn an_order_is_found_by_its_session_and_by_its_buyer_until_it_is_deleted() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let id = OrderId([1; 16]);
    let work = move |tables: &mut Tables<'_>| {
        tables.put_order(id, &order("cs_test_1", "Ann@Example.com"))?;
        tables.put_provider_event(&event(id))?;
        let read = SourceRecord::Read {
            fetched_at: NOW.0,
            document: Sha256::digest(b"source").into(),
        };
        tables.put_order_source(id, 0, &read, Some(b"source"))?;
        let waiting = SourceRecord::Waiting {
            tries: 1,
            again_at: NOW.0,
            code: String::new(),
            message: String::new(),
        };
        tables.put_order_source(id, 1, &waiting, None)?;
        let report = OrderReport {
            document: Sha256::digest(b"report").into(),
            pdf: Some(Sha256::digest(b"pdf").into()),
            pdf_bytes: 3,
            sources_read: 1,
            created_at: NOW.0,
        };
        tables.put_order_report(id, &report, b"report", Some(b"pdf"))?;
        tables.order_sources_done(id)
    };
    assert_eq!(store.write(work).await, Ok(1));
    let found = store.read(move |snapshot| {
        let of_session = snapshot.order_of_session("cs_test_1")?;
        let of_buyer = snapshot.orders_of_email(" ann@example.COM", 10)?;
        assert_eq!(snapshot.orders_of_email("bob@example.com", 10)?, []);
        Ok((of_session.map(|(id, _)| id), of_buyer.len()))
    });
    assert_eq!(found.await, Ok((Some(id), 1)));
    assert!(has_blob(&store, Sha256::digest(b"source").into()).await);

    let deleted = store.write(move |tables| tables.delete_order(id)).await;
    assert_eq!(deleted, Ok(true));
    for gone in [&b"source"[..], b"report", b"pdf"] {
        assert!(!has_blob(&store, Sha256::digest(gone).into()).await);
    }
    let left = store.read(move |snapshot| {
        assert_eq!(snapshot.orders_of_email("ann@example.com", 10)?, []);
        assert_eq!(snapshot.order_of_session("cs_test_1")?, None);
        assert_eq!(snapshot.order_sources(id)?, []);
        assert_eq!(snapshot.order_report(id)?, None);
        snapshot.provider_event("evt_1")
    });
    let left = left.await.expect("reads").expect("the event stays known");
    assert_eq!(left.raw, "", "nothing is left of the buyer");
}

/// Anyone who knows a buyer's address and a source causes such a mail every ten minutes.
#[tokio::test]
async fn a_mail_that_leads_back_to_an_order_is_kept_for_a_day() {
    use crate::domain::mail::MailKind;
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let mail = |kind| Mail {
        kind,
        about: "ord_1".to_owned(),
        to: "ann@example.com".to_owned(),
        subject: String::new(),
        text: String::new(),
        html: String::new(),
        message_id: "ord_1".to_owned(),
        attachment: None,
    };
    let failed = MailOutcome::Failed {
        why: "gone".to_owned(),
        is_permanent: true,
    };
    let (sent, refused, delivery) = ([1; 32], [2; 32], [3; 32]);
    let write = store.write(move |tables| {
        tables.enqueue_mail(MailKey(sent), mail(MailKind::Recovery), NOW)?;
        tables.enqueue_mail(MailKey(refused), mail(MailKind::Recovery), NOW)?;
        tables.enqueue_mail(MailKey(delivery), mail(MailKind::Delivery), NOW)?;
        tables.note_mail(MailKey(sent), MailOutcome::Sent, NOW)?;
        tables.note_mail(MailKey(refused), failed, NOW)?;
        tables.note_mail(MailKey(delivery), MailOutcome::Sent, NOW)
    });
    write.await.expect("writes");
    let sweep = |now| {
        store.write(move |tables| {
            while let Some(due) = tables.first_due(DueKind::Mail)?.filter(|due| due.at <= now) {
                tables.sweep_mail(due)?;
            }
            Ok([
                tables.mail(MailKey(sent))?.is_some(),
                tables.mail(MailKey(refused))?.is_some(),
                tables.mail(MailKey(delivery))?.is_some(),
            ])
        })
    };
    const DAY: u64 = 24 * 3600;
    assert_eq!(sweep(NOW.plus(DAY - 1)).await, Ok([true, true, true]));
    assert_eq!(sweep(NOW.plus(DAY)).await, Ok([false, false, true]));
    assert_eq!(sweep(NOW.plus(30 * DAY)).await, Ok([false, false, false]));
}
