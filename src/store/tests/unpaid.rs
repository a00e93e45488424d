//! What costs its sender nothing has a bound, and the sums of it are exact.

use super::*;
use crate::domain::bundle::Bundle;
use crate::domain::ids::{BundleQuoteId, LeadId};
use crate::domain::lead::{By, Lead, LeadEvent, LeadProduct};
use crate::store::unpaid::ROW_BYTES;

const DAY: u64 = 24 * 3600;
const BOUND: u64 = 20_000;
const SMALL: Settings = Settings {
    unpaid_bytes_max: BOUND,
    ..SETTINGS
};

fn id(number: u32) -> [u8; 16] {
    let mut id = [0; 16];
    id[..4].copy_from_slice(&number.to_be_bytes());
    id
}

/// The first that was asked for is the oldest.
fn quote(number: u32) -> QuoteRecord {
    let at = NOW.0 + u64::from(number);
    QuoteRecord {
        purchase: payment().purchase,
        amount_units: 30_000,
        content_sha256: None,
        attribution: None,
        created_at: at,
        expires_at: at + 7 * DAY,
    }
}

fn bundle_quote(number: u32) -> BundleQuoteRecord {
    let at = NOW.0 + u64::from(number);
    BundleQuoteRecord {
        bundle: Bundle::Audit,
        target_urls: vec![format!("https://example.com/{}", "x".repeat(1_000))],
        question: None,
        attribution: None,
        created_at: at,
        expires_at: at + 7 * DAY,
        paid_at: None,
    }
}

fn lead(number: u32, contact: &str) -> Lead {
    Lead {
        contact: contact.to_owned(),
        target_urls: vec![format!("https://example.com/{number}")],
        notes: "n".repeat(1_000),
        ..Lead::of(LeadProduct::Bundle, NOW.plus(u64::from(number)))
    }
}

fn paid_lead(number: u32, quote: u32) -> Lead {
    let mut lead = lead(number, "");
    lead.quote = Some(BundleQuoteId(id(quote)).to_string());
    let paid = lead.apply(LeadEvent::Pay, By::Provider, "", NOW);
    paid.expect("an open lead may be paid");
    lead
}

async fn bytes(store: &Store, kind: Unpaid) -> u64 {
    let read = store
        .read(move |snapshot| snapshot.unpaid_bytes(kind))
        .await;
    read.expect("reads")
}

/// The sums as they are in the file, and as they are counted anew.
async fn sums(store: Store, folder: &Folder) -> (Vec<u64>, Vec<u64>) {
    let mut noted = Vec::new();
    for kind in Unpaid::ALL {
        noted.push(bytes(&store, kind).await);
    }
    let forget = store.write(|tables| {
        tables.meta.retain(|name, _| !name.starts_with("unpaid-"))?;
        tables.anonymous_leads.retain(|_, ()| false)?;
        Ok(())
    });
    forget.await.expect("writes");
    store.close().await.expect("closes");
    let again = SMALL.open(&folder.file(), false).expect("opens").store;
    let mut counted = Vec::new();
    for kind in Unpaid::ALL {
        counted.push(bytes(&again, kind).await);
    }
    again.close().await.expect("closes");
    (noted, counted)
}

/// A bundle quote of 25 long addresses took 65 kB for 14 days, and nothing bounded their sum.
#[tokio::test]
async fn quotes_beyond_their_bound_push_out_the_oldest() {
    let folder = Folder::new();
    let store = SMALL.create(&folder.file()).expect("creates").store;
    let flood = store.write(|tables| {
        for number in 0..500 {
            assert!(tables.put_quote(QuoteId(id(number)), &quote(number))?);
            assert!(tables.put_bundle_quote(BundleQuoteId(id(number)), &bundle_quote(number))?);
            assert!(tables.unpaid_bytes(Unpaid::Quotes)? <= BOUND);
            assert!(tables.unpaid_bytes(Unpaid::BundleQuotes)? <= BOUND);
        }
        Ok(())
    });
    flood.await.expect("writes");
    let left = store.read(|snapshot| {
        let mut left = (Vec::new(), Vec::new());
        for number in 0..500 {
            if snapshot.quote(QuoteId(id(number)))?.is_some() {
                left.0.push(number);
            }
            if snapshot.bundle_quote(BundleQuoteId(id(number)))?.is_some() {
                left.1.push(number);
            }
        }
        Ok(left)
    });
    let (quotes, bundles) = left.await.expect("reads");
    // The newest, without a gap, as many as fit.
    for (left, least) in [(quotes, 40), (bundles, 12)] {
        assert!(left.len() >= least && left.len() < 100, "{}", left.len());
        assert_eq!(left, (left[0]..500).collect::<Vec<u32>>());
    }
    let rows = store.read(|snapshot| {
        Ok(snapshot
            .due(DueKind::Quote, UnixSeconds(u64::MAX), 1_000)?
            .len()
            + snapshot
                .due(DueKind::BundleQuote, UnixSeconds(u64::MAX), 1_000)?
                .len())
    });
    assert!(rows.await.expect("reads") < 200, "due rows stay behind");
}

#[tokio::test]
async fn a_quote_that_was_paid_for_does_not_make_room() {
    let folder = Folder::new();
    let store = SMALL.create(&folder.file()).expect("creates").store;
    let flood = store.write(|tables| {
        for number in 0..200 {
            assert!(tables.put_bundle_quote(BundleQuoteId(id(number)), &bundle_quote(number))?);
            if number == 3 {
                tables.put_lead(LeadId(id(3)), &paid_lead(3, 3))?;
            }
        }
        Ok(())
    });
    flood.await.expect("writes");
    let is_paid = |stored: Option<Receipt<BundleQuoteRecord>>| matches!(stored, Some(Receipt::Whole(quote)) if quote.paid_at.is_some());
    let read =
        |number| store.read(move |snapshot| snapshot.bundle_quote(BundleQuoteId(id(number))));
    assert!(is_paid(read(3).await.expect("reads")));
    assert_eq!(read(4).await, Ok(None));
    // It is told as paid for as long as the others are told as expired.
    sweep(&store, NOW.plus(7 * DAY + 200)).await;
    assert!(is_paid(read(3).await.expect("reads")));
    assert!(matches!(read(199).await, Ok(Some(Receipt::Expired { .. }))));
    sweep(&store, NOW.plus(14 * DAY + 200)).await;
    assert_eq!(read(3).await, Ok(None));
    let (noted, counted) = sums(store, &folder).await;
    assert_eq!(noted, counted);
    assert_eq!(noted, [0; 6], "nothing is left, and nothing is counted");
}

/// A tombstone kept the whole record for seven days more.
#[tokio::test]
async fn a_tombstone_holds_an_identifier_and_an_end() {
    let folder = Folder::new();
    let store = SMALL.create(&folder.file()).expect("creates").store;
    let put = store.write(|tables| {
        tables.put_quote(QuoteId(id(1)), &quote(1))?;
        tables.put_bundle_quote(BundleQuoteId(id(1)), &bundle_quote(1))
    });
    put.await.expect("writes");
    assert!(bytes(&store, Unpaid::BundleQuotes).await > ROW_BYTES + 1_000);
    let expires_at = quote(1).expires_at;
    sweep(&store, UnixSeconds(expires_at)).await;
    for kind in [Unpaid::Quotes, Unpaid::BundleQuotes] {
        let left = bytes(&store, kind).await;
        assert!(left > 0 && left < ROW_BYTES + 32, "{kind:?}: {left}");
    }
    let read = store.read(|snapshot| {
        Ok((
            snapshot.quote(QuoteId(id(1)))?,
            snapshot.bundle_quote(BundleQuoteId(id(1)))?,
        ))
    });
    assert_eq!(
        read.await,
        Ok((
            Some(Receipt::Expired { expires_at }),
            Some(Receipt::Expired { expires_at })
        ))
    );
}

/// Leads that nobody can be answered to make room for each other; of the others none is lost.
#[tokio::test]
async fn leads_beyond_their_bound_leave_or_are_refused() {
    let folder = Folder::new();
    let store = SMALL.create(&folder.file()).expect("creates").store;
    let flood = store.write(|tables| {
        let mut refused = 0;
        for number in 0..100 {
            let anonymous = lead(number, "");
            assert!(tables.admits_lead(&anonymous)?);
            tables.put_lead(LeadId(id(number)), &anonymous)?;
            let person = lead(number, "ann@example.com");
            match tables.admits_lead(&person)? {
                true => tables.put_lead(LeadId(id(1_000 + number)), &person)?,
                false => refused += 1,
            }
        }
        // Space is made by the operator, and what is paid takes none.
        assert!(tables.delete_lead(LeadId(id(1_000)))?);
        assert!(tables.admits_lead(&lead(0, "ann@example.com"))?);
        tables.put_lead(LeadId(id(5_000)), &paid_lead(1, 1))?;
        Ok((refused, tables.leads_count()?))
    });
    let (refused, count) = flood.await.expect("writes");
    assert!(refused > 70 && refused < 95, "{refused}");
    assert!(count > 20 && count < 40, "{count}");
    let found = store.read(|snapshot| {
        let is_there =
            |number| Ok::<bool, StoreError>(snapshot.lead(LeadId(id(number)))?.is_some());
        Ok([
            is_there(0)?,
            is_there(99)?,
            is_there(1_001)?,
            is_there(1_099)?,
        ])
    });
    assert_eq!(found.await, Ok([false, true, true, false]));
    let (noted, counted) = sums(store, &folder).await;
    assert_eq!(noted, counted);
    assert!(noted[2] > 0 && noted[3] > 0 && noted.iter().all(|sum| *sum <= BOUND));
}

#[tokio::test]
async fn what_the_provider_sends_is_bounded_and_paid_orders_stay() {
    let folder = Folder::new();
    let store = SMALL.create(&folder.file()).expect("creates").store;
    let flood = store.write(|tables| {
        for number in 0..200_u32 {
            let mut unpaid = order(&format!("cs_{number}"), "ann@example.com");
            unpaid.state = match number {
                5 => OrderState::Queued,
                _ if number % 2 == 0 => OrderState::AwaitingPayment,
                _ => OrderState::PaymentFailed,
            };
            unpaid.created_at += u64::from(number);
            tables.put_order(OrderId(id(number)), &unpaid)?;
            tables.set_mail_only(OrderId(id(number)))?;
            // Written again it counts once.
            tables.put_order(OrderId(id(number)), &unpaid)?;
            let mut sent = event(OrderId(id(number)));
            sent.id = format!("evt_{number}");
            sent.received_at += u64::from(number);
            tables.put_provider_event(&sent)?;
        }
        Ok(())
    });
    flood.await.expect("writes");
    for kind in [Unpaid::Orders, Unpaid::ProviderEvents] {
        let sum = bytes(&store, kind).await;
        assert!(sum > BOUND / 2 && sum <= BOUND, "{kind:?}: {sum}");
    }
    let found = store.read(|snapshot| {
        let is_there =
            |number| Ok::<bool, StoreError>(snapshot.order(OrderId(id(number)))?.is_some());
        let event = |number| snapshot.provider_event(&format!("evt_{number}"));
        let sessions = snapshot.orders_of_email("ann@example.com", 1_000)?.len();
        for number in 0..200 {
            let id = OrderId(id(number));
            assert_eq!(snapshot.is_mail_only(id)?, snapshot.order(id)?.is_some());
        }
        Ok((
            [is_there(0)?, is_there(5)?, is_there(199)?],
            [event(0)?.is_some(), event(199)?.is_some()],
            sessions,
        ))
    });
    let (orders, events, sessions) = found.await.expect("reads");
    assert_eq!((orders, events), ([false, true, true], [false, true]));
    assert!(sessions < 100, "{sessions} are still listed");
    let (noted, counted) = sums(store, &folder).await;
    assert_eq!(noted, counted);
}

/// Where the disk is short of room, what costs nothing leaves before sales stop, and the cached pages with it.
#[tokio::test]
async fn without_room_for_sales_nothing_unpaid_is_kept() {
    let folder = Folder::new();
    let store = SMALL.create(&folder.file()).expect("creates").store;
    let filled = store.write(|tables| {
        for number in 0..20 {
            tables.put_quote(QuoteId(id(number)), &quote(number))?;
            tables.put_bundle_quote(BundleQuoteId(id(number)), &bundle_quote(number))?;
            tables.put_lead(LeadId(id(number)), &lead(number, ""))?;
            tables.put_lead(LeadId(id(100 + number)), &lead(number, "ann@example.com"))?;
        }
        Ok(())
    });
    filled.await.expect("writes");
    put(&store, "https://a.example/", b'a', 4_000, NOW).await;
    put(&store, "https://b.example/", b'b', 4_000, NOW.plus(1)).await;
    assert!(!store.is_short());
    store.close().await.expect("closes");
    // A floor that no disk reaches.
    let short = Settings {
        sales_free_bytes_min: u64::MAX / 4,
        ..SMALL
    };
    let store = short.open(&folder.file(), false).expect("opens").store;
    assert!(store.is_short());
    let kept = store.write(|tables| {
        Ok((
            tables.put_quote(QuoteId(id(50)), &quote(50))?,
            tables.put_bundle_quote(BundleQuoteId(id(50)), &bundle_quote(50))?,
            tables.admits_lead(&lead(50, ""))?,
            tables.admits_lead(&lead(50, "ann@example.com"))?,
        ))
    });
    assert_eq!(kept.await, Ok((false, false, false, false)));
    while store.trim(NOW).await.expect("trims") {}
    for kind in [Unpaid::Quotes, Unpaid::BundleQuotes, Unpaid::AnonymousLeads] {
        assert_eq!(bytes(&store, kind).await, 0, "{kind:?}");
    }
    assert!(
        bytes(&store, Unpaid::Leads).await > 0,
        "a person's request was lost"
    );
    assert!(!has(&store, "https://a.example/").await, "a page stays");
    // With room again they are kept again.
    store.close().await.expect("closes");
    let store = SMALL.open(&folder.file(), false).expect("opens").store;
    let kept = store.write(|tables| tables.put_quote(QuoteId(id(50)), &quote(50)));
    assert_eq!(kept.await, Ok(true));
}

/// A file of the version before had its quotes due at the end of their tombstones.
#[tokio::test]
async fn the_quotes_of_an_older_file_leave_in_their_order() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let old = store.write(|tables| {
        for number in 0..50 {
            let (id, expires_at) = (id(number), UnixSeconds(quote(number).expires_at));
            tables.put_quote(QuoteId(id), &quote(number))?;
            let mut due = Due::of_id(DueKind::Quote, id, expires_at);
            tables.unschedule(due)?;
            due.at = expires_at.plus(7 * DAY);
            tables.schedule(due)?;
        }
        tables.meta.retain(|name, _| !name.starts_with("unpaid-"))?;
        Ok(())
    });
    old.await.expect("writes");
    store.close().await.expect("closes");
    let store = SMALL.open(&folder.file(), false).expect("opens").store;
    let flood = store.write(|tables| {
        for number in 50..90 {
            assert!(tables.put_quote(QuoteId(id(number)), &quote(number))?);
        }
        Ok(())
    });
    flood.await.expect("writes");
    let left = store.read(|snapshot| {
        let is_there =
            |number| Ok::<bool, StoreError>(snapshot.quote(QuoteId(id(number)))?.is_some());
        Ok([is_there(0)?, is_there(15)?, is_there(50)?, is_there(89)?])
    });
    assert_eq!(left.await, Ok([false, false, true, true]));
}

/// A bound that was lowered is reached a part at a time.
#[tokio::test]
async fn a_lowered_bound_is_reached_by_trimming() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let filled = store.write(|tables| {
        for number in 0..3_000 {
            tables.put_quote(QuoteId(id(number)), &quote(number))?;
        }
        Ok(())
    });
    filled.await.expect("writes");
    store.close().await.expect("closes");
    let store = SMALL.open(&folder.file(), false).expect("opens").store;
    let mut parts = 1;
    while store.trim(NOW).await.expect("trims") {
        parts += 1;
    }
    assert!(parts >= 3, "{parts} parts");
    assert!(bytes(&store, Unpaid::Quotes).await <= BOUND);
}

#[tokio::test]
async fn beyond_its_queue_the_data_file_is_busy() {
    let folder = Folder::new();
    let store = SETTINGS.create(&folder.file()).expect("creates").store;
    let (go_on, wait) = std::sync::mpsc::channel::<()>();
    let (say_begun, begun) = tokio::sync::oneshot::channel();
    let write = |work: Box<dyn FnOnce() + Send>| {
        let store = store.clone();
        tokio::spawn(async move {
            let written = store.write(move |_| {
                work();
                Ok(())
            });
            written.await
        })
    };
    let first = write(Box::new(move || {
        let _ = say_begun.send(());
        let _ = wait.recv();
    }));
    begun.await.expect("the writer is at it");
    let waiting: Vec<_> = (0..threads::QUEUE_MAX)
        .map(|_| write(Box::new(|| {})))
        .collect();
    // A yield lets some of the others run, not all.
    for _ in 0..threads::QUEUE_MAX {
        tokio::task::yield_now().await;
    }
    assert_eq!(store.write(|_| Ok(())).await, Err(StoreError::Busy));
    go_on.send(()).expect("the writer waits");
    for written in waiting.into_iter().chain([first]) {
        assert_eq!(written.await.expect("no panic"), Ok(()));
    }
    assert_eq!(store.write(|_| Ok(())).await, Ok(()));
}
