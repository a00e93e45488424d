use super::*;
use crate::domain::lead::{By, LeadEvent};
use crate::store::tests::in_memory;

const NOW: UnixSeconds = UnixSeconds(1_795_000_000);

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
async fn a_contact_s_open_lead_for_a_bundle_is_found_where_there_is_one_alone() {
    let store = in_memory();
    let found = store.write(|tables| {
        let id = |number| LeadId([number; 16]);
        let mut lost = lead("A@example.com ", &["https://d.example/"], NOW.0 + 3);
        let by = By::Operator;
        lost.apply(LeadEvent::Lose, by, "", NOW)
            .expect("may be lost");
        let mut message = lead("a@example.com", &[], NOW.0 + 4);
        message.product = LeadProduct::Contact;
        let others = lead("b@example.com", &["https://a.example/"], NOW.0 + 5);
        tables.put_lead(id(7), &lost)?;
        tables.put_lead(id(6), &message)?;
        tables.put_lead(id(5), &others)?;
        let only = |tables: &Tables<'_>| {
            let found = tables.only_open_lead_of(" a@Example.com")?;
            Ok::<_, StoreError>(found.map(|(id, _)| id))
        };
        let none = only(tables)?;
        let mine = lead("a@example.com", &["https://a.example/"], NOW.0);
        tables.put_lead(id(9), &mine)?;
        let one = only(tables)?;
        // However alike: anybody may have left either.
        tables.put_lead(id(8), &mine)?;
        let two = only(tables)?;
        tables.delete_lead(id(8))?;
        // Of more than are looked at, none is taken for the only one.
        for number in 0..u8::try_from(LEADS_LOOKED_AT_MAX - 3).expect("fits") {
            tables.put_lead(
                LeadId([
                    100 + number / 2,
                    number,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                ]),
                &lost,
            )?;
        }
        let as_many_as_are_looked_at = only(tables)?;
        tables.put_lead(id(99), &lost)?;
        Ok((none, one, two, as_many_as_are_looked_at, only(tables)?))
    });
    let mine = Some(LeadId([9; 16]));
    assert_eq!(found.await, Ok((None, mine, None, mine, None)));
    let all = store.read(|snapshot| Ok(snapshot.leads_of("b@example.com")?.len()));
    assert_eq!(all.await, Ok(1));
}

#[tokio::test]
async fn the_same_form_is_known_again_until_its_lead_is_deleted() {
    let store = in_memory();
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
        let nobody = tables.only_open_lead_of("a@example.com")?.is_none();
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
    let store = in_memory();
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
