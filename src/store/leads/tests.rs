use redb::backends::InMemoryBackend;

use super::*;
use crate::domain::lead::{By, LeadEvent};
use crate::store::{Settings, Store};

const NOW: UnixSeconds = UnixSeconds(1_795_000_000);

fn store() -> Store {
    let settings = Settings {
        cache_bytes: 1024 * 1024,
        pages_bytes_max: 10_000,
        free_bytes_min: 0,
    };
    let opened = settings.open_on(InMemoryBackend::new());
    opened.expect("opens").store
}

fn lead(contact: &str, targets: &[&str], created_at: u64) -> Lead {
    Lead {
        level: "scout".to_owned(),
        contact: contact.to_owned(),
        target_urls: targets.iter().map(|&target| target.to_owned()).collect(),
        question: "q".to_owned(),
        ..Lead::of(LeadProduct::Bundle, UnixSeconds(created_at))
    }
}

#[tokio::test]
async fn a_payment_without_reference_finds_the_newest_open_lead_for_a_bundle() {
    let store = store();
    let found = store.write(|tables| {
        let id = |number| LeadId([number; 16]);
        let mut lost = lead("A@example.com ", &["https://d.example/"], NOW.0 + 3);
        let by = By::Operator;
        lost.apply(LeadEvent::Lose, by, "", NOW)
            .expect("may be lost");
        let mut message = lead("a@example.com", &[], NOW.0 + 4);
        message.product = LeadProduct::Contact;
        let others = lead("b@example.com", &["https://a.example/"], NOW.0 + 5);
        // The identifiers run against time, which alone counts.
        tables.put_lead(
            id(9),
            &lead("a@example.com", &["https://a.example/"], NOW.0),
        )?;
        tables.put_lead(
            id(8),
            &lead("a@example.com", &["https://b.example/"], NOW.0 + 1),
        )?;
        tables.put_lead(id(7), &lost)?;
        tables.put_lead(id(6), &message)?;
        tables.put_lead(id(5), &others)?;
        tables.newest_open_lead_of(" a@Example.com")
    });
    let (id, found) = found.await.expect("writes").expect("is there");
    assert_eq!(id, LeadId([8; 16]));
    let same = store.read(|snapshot| snapshot.newest_open_lead_of("a@example.com"));
    assert_eq!(same.await, Ok(Some((id, found))));
    let all = store.read(|snapshot| Ok(snapshot.leads_of("a@example.com")?.len()));
    assert_eq!(all.await, Ok(4));
}

#[tokio::test]
async fn the_same_form_is_known_again_until_its_lead_is_deleted() {
    let store = store();
    let seen = store.write(|tables| {
        let (first, second) = (LeadId([1; 16]), LeadId([2; 16]));
        let form = lead(
            "a@example.com",
            &["https://a.example/", "https://b.example/"],
            NOW.0,
        );
        let turned = lead(
            "A@example.com",
            &["https://b.example/", "https://a.example/"],
            NOW.0 + 9,
        );
        let other = lead("a@example.com", &["https://a.example/"], NOW.0);
        tables.put_lead(first, &form)?;
        let known = tables.lead_like(&turned)?.map(|(id, _)| id);
        let unknown = tables.lead_like(&other)?.is_some();
        tables.put_lead(second, &turned)?;
        // The older one goes, and the form still belongs to the newer.
        let deleted = tables.delete_lead(first)? && !tables.delete_lead(first)?;
        let newer = tables.lead_like(&form)?.map(|(id, _)| id);
        tables.delete_lead(second)?;
        let gone = tables.lead_like(&form)?.is_none() && tables.leads_count()? == 0;
        let nobody = tables.newest_open_lead_of("a@example.com")?.is_none();
        Ok((known, unknown, deleted, newer, gone && nobody))
    });
    let expected = (
        Some(LeadId([1; 16])),
        false,
        true,
        Some(LeadId([2; 16])),
        true,
    );
    assert_eq!(seen.await, Ok(expected));
}

#[tokio::test]
async fn leads_are_found_by_status_and_product() {
    let store = store();
    let written = store.write(|tables| {
        let mut paid = lead("a@example.com", &["https://a.example/"], NOW.0);
        paid.status = LeadStatus::Paid;
        tables.put_lead(LeadId([1; 16]), &paid)?;
        tables.put_lead(LeadId([2; 16]), &lead("b@example.com", &[], NOW.0))
    });
    written.await.expect("writes");
    let count = |filter: LeadFilter| {
        store.read(move |snapshot| {
            let mut found = Vec::new();
            snapshot.leads(&filter, |id, _| {
                found.push(id.0[0]);
                Ok(())
            })?;
            Ok(found)
        })
    };
    let paid = LeadFilter {
        status: Some(LeadStatus::Paid),
        ..LeadFilter::default()
    };
    let packs = LeadFilter {
        product: Some(LeadProduct::Pack),
        ..LeadFilter::default()
    };
    assert_eq!(count(LeadFilter::default()).await, Ok(vec![1, 2]));
    assert_eq!(count(paid).await, Ok(vec![1]));
    assert_eq!(count(packs).await, Ok(vec![]));
}
