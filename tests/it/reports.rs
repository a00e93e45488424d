//! Reports after their sale: read again, checked, asked, refreshed, shared, expired.

use context402::evidence::report::canonical::result_hash;
use context402::signing;
use context402::store::{Due, DueKind};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::harness::ask::raw_bytes;
use crate::harness::{
    Answer, BASE_URL, FERRY, FERRY_CLAIM, PROOF_PACK, Page, Rig, STANDARD, Says, Wallet, for_each,
    price, report_order,
};

const DAY: u64 = 24 * 3600;

/// A report that was bought just now, with its identifier.
fn bought(rig: &Rig) -> (Answer, String) {
    let answer = rig
        .buy_report(&Wallet::new(), FERRY, "standard", FERRY_CLAIM)
        .expect(200);
    let id = answer.json()["report_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    (answer, id)
}

fn api(id: &str) -> String {
    format!("/v1/proof-pack/reports/{id}")
}

#[test]
fn a_report_is_the_bytes_that_were_sold_also_after_a_restart() {
    let mut rig = Rig::start();
    let (sold, id) = bought(&rig);
    let read = rig.get(&api(&id)).expect(200);
    assert_eq!(read.body, sold.body);
    assert_eq!(read.must("content-type"), "application/json");
    assert_eq!(read.must("cache-control"), "private, no-store");
    assert_eq!(read.must("x-robots-tag"), "noindex");
    // Whatever is configured by then.
    rig.reconfigure(|resolved| {
        resolved.set(
            "payment.pay_to",
            "0x1111111111111111111111111111111111111111",
        );
    });
    rig.pass(30 * DAY - 1);
    rig.work_off();
    assert_eq!(rig.get(&api(&id)).expect(200).body, sold.body);
}

#[test]
fn a_report_can_be_had_as_a_document_that_carries_it() {
    let rig = Rig::start();
    let (_, id) = bought(&rig);
    let read = rig.get(&format!("{}/pdf", api(&id))).expect(200);
    assert!(read.body.starts_with(b"%PDF-1.7"));
    assert_eq!(read.must("content-type"), "application/pdf");
    assert_eq!(read.must("cache-control"), "private, no-store");
    assert_eq!(read.must("x-robots-tag"), "noindex");
    assert_eq!(
        read.must("content-disposition"),
        format!("inline; filename=\"context402-{id}.pdf\"")
    );
    // The same document whenever it is asked for.
    assert_eq!(rig.get(&format!("{}/pdf", api(&id))).body, read.body);
    rig.get(&format!("{}/pdf", api("ppr_sample"))).expect(200);
    rig.get(&format!(
        "{}/pdf",
        api("ppr_00000000000000000000000000000000")
    ))
    .refused(404, "report_not_found");
    rig.pass(30 * DAY);
    rig.get(&format!("{}/pdf", api(&id)))
        .refused(410, "report_expired");
}

/// The source text: the bytes that the offsets count and the source hash covers, for whoever may read the report.
#[test]
fn the_source_text_of_a_report_can_be_read() {
    let rig = Rig::start();
    let (sold, id) = bought(&rig);
    let report = sold.json();
    let address = format!("{}/source", api(&id));
    assert_eq!(report["source_text_url"], format!("{BASE_URL}{address}"));
    let read = rig.get(&address).expect(200);
    assert_eq!(read.must("content-type"), "text/markdown; charset=utf-8");
    assert_eq!(read.must("cache-control"), "private, no-store");
    assert_eq!(read.must("x-robots-tag"), "noindex");
    assert_eq!(
        hex::encode(Sha256::digest(&read.body)),
        report["source_hash"]
    );
    let place = |slice: &Value, name: &str| {
        usize::try_from(slice[name].as_u64().expect("an offset")).expect("small")
    };
    for citation in report["citations"].as_array().expect("citations") {
        for slice in [
            citation,
            &citation["context"],
            &citation["before"],
            &citation["after"],
        ] {
            let Some(excerpt) = slice["excerpt"].as_str() else {
                continue;
            };
            let bytes = &read.body[place(slice, "start")..place(slice, "end")];
            assert_eq!(bytes, excerpt.as_bytes());
        }
    }
    rig.get(&format!("{}/source", api("ppr_sample")))
        .expect(200);
    rig.get(&format!(
        "{}/source",
        api("ppr_00000000000000000000000000000000")
    ))
    .refused(404, "report_not_found");
    rig.pass(30 * DAY);
    rig.get(&address).refused(410, "report_expired");
}

#[test]
fn a_report_is_over_after_thirty_days_and_forgotten_after_thirty_more() {
    let rig = Rig::start();
    let (_, id) = bought(&rig);
    let page = format!("/proof-pack/reports/{id}");
    rig.get(&page).expect(200);
    rig.pass(30 * DAY);
    for swept in [false, true] {
        if swept {
            rig.work_off();
        }
        rig.get(&api(&id)).refused(410, "report_expired");
        rig.get(&format!("{}/verify", api(&id)))
            .refused(410, "report_expired");
        rig.post(&format!("{}/follow-up", api(&id)))
            .json(&json!({"question": "Is it free?"}))
            .send()
            .refused(410, "report_expired");
        rig.post(&format!("{}/refresh", api(&id)))
            .send()
            .refused(410, "report_expired");
        rig.get(&page).expect(410);
    }
    rig.pass(30 * DAY - 1);
    rig.work_off();
    rig.get(&api(&id)).refused(410, "report_expired");
    rig.pass(1);
    rig.work_off();
    rig.get(&api(&id)).refused(404, "report_not_found");
}

/// Once it has expired, nothing of what was asked lies in the file any more.
#[test]
fn an_expired_report_leaves_no_text_behind() {
    let rig = Rig::start();
    let (_, id) = bought(&rig);
    rig.pass(30 * DAY + 1);
    rig.work_off();
    let listed = rig.operator("/operator/reports").json();
    let report = &listed["reports"][0];
    assert_eq!(report["report_id"], id.as_str());
    assert_eq!(report["state"], "expired");
    assert_eq!(
        (&report["question"], &report["target_url"]),
        (&json!(""), &json!(""))
    );
}

#[test]
fn reports_that_never_were_are_not_found() {
    let rig = Rig::start();
    let unknown = format!("ppr_{}", "0".repeat(32));
    for id in [
        &*unknown,
        "ppr_",
        "nonsense",
        "%2e%2e",
        &unknown.to_uppercase(),
    ] {
        rig.get(&api(id)).refused(404, "report_not_found");
        rig.get(&format!("{}/verify", api(id)))
            .refused(404, "report_not_found");
        rig.post(&format!("{}/refresh", api(id)))
            .send()
            .refused(404, "report_not_found");
        let page = rig
            .ask("GET", &format!("/proof-pack/reports/{id}"))
            .header("Accept", "text/html")
            .send()
            .expect(404);
        assert_eq!(page.must("content-type"), "text/html; charset=utf-8");
    }
}

/// After a long stop more is due than one pass takes. What open payments still have to deliver is not swept before
/// they were looked at.
#[test]
fn a_report_that_is_owed_outlasts_a_long_stop() {
    let mut rig = Rig::start();
    rig.facilitator.settles(Says::Lost);
    let payment = Wallet::new().sign_pack(&rig, "standard");
    let ask = |rig: &Rig| {
        rig.ask_report(FERRY, "standard", FERRY_CLAIM)
            .paid(&payment.header)
            .send()
    };
    ask(&rig).expect(503);
    let soon = rig.now().plus(5);
    let others = rig.app().store.write(move |tables| {
        (0..=u8::MAX).try_for_each(|number| {
            let (at, kind, key) = (soon, DueKind::Payment, [number; 32]);
            tables.schedule(Due { at, kind, key })
        })
    });
    rig.wait(others).expect("writes");
    rig.stop();
    rig.pass(3600);
    rig.run();
    rig.work_off();
    rig.facilitator.settles(Says::Honest);
    ask(&rig).expect(200);
}

/// Its settlement turns out after the background has given it up, in the last period in which its answer is kept:
/// whoever paid still gets the report, and after 30 days only its record is left.
#[test]
fn a_report_settled_after_it_was_given_up_is_still_given_to_its_buyer() {
    let rig = Rig::start();
    rig.facilitator.settles(Says::Lost);
    let payment = Wallet::new().sign_pack(&rig, "standard");
    let ask = rig
        .ask_report(FERRY, "standard", FERRY_CLAIM)
        .paid(&payment.header);
    ask.send().expect(503);
    for _ in 0..30 {
        rig.pass(3_600);
        rig.work_off();
    }
    let listed = rig.operator("/operator/payments?state=abandoned").json();
    assert_eq!(listed["payments"].as_array().map(Vec::len), Some(1));
    rig.pass(15 * 3_600);
    rig.work_off();
    rig.facilitator.settles(Says::Honest);
    let sold = ask.send().expect(200).json();
    rig.work_off();
    assert_eq!(ask.send().expect(200).json(), sold);
    for _ in 0..31 {
        rig.pass(86_400);
        rig.work_off();
    }
    let id = sold["report_id"].as_str().expect("an id");
    rig.get(&api(id)).refused(410, "report_expired");
    let listed = rig.operator("/operator/reports").json();
    assert_eq!(listed["reports"][0]["target_url"], "");
}

/// As long as nobody knows whether it was paid for, nobody reads it.
#[test]
fn a_report_can_be_read_once_its_payment_is_settled() {
    let rig = Rig::start();
    rig.facilitator.settles(Says::Reset);
    let payment = Wallet::new().sign_pack(&rig, "standard");
    let ask = rig
        .ask_report(FERRY, "standard", FERRY_CLAIM)
        .paid(&payment.header);
    ask.send().expect(503);
    let listed = rig.operator("/operator/reports").json();
    let id = listed["reports"][0]["report_id"].as_str().expect("an id");
    assert_eq!(listed["reports"][0]["state"], "unsettled");
    rig.get(&api(id)).refused(404, "report_not_found");
    // Nor is it purged: it is what its buyer may be charged for.
    rig.operate("POST", &format!("/operator/reports/{id}/purge"))
        .expect(404);
    rig.facilitator.settles(Says::Honest);
    let sold = ask.send().expect(200);
    assert_eq!(sold.json()["report_id"], id);
    assert_eq!(rig.get(&api(id)).expect(200).body, sold.body);
    // It lives as long as any other.
    rig.pass(29 * DAY);
    rig.work_off();
    assert_eq!(rig.get(&api(id)).expect(200).body, sold.body);
}

#[test]
fn a_buyer_recomputes_both_hashes() {
    let rig = Rig::start();
    let (sold, id) = bought(&rig);
    let report = sold.json();
    assert_eq!(report["result_hash"], result_hash(&report));
    let page = rig.buy(&Wallet::new(), FERRY, "cached").expect(200).json();
    let markdown = page["markdown"].as_str().expect("markdown");
    let hash = hex::encode(Sha256::digest(markdown));
    assert_eq!(report["source_hash"], hash);

    let receipt = rig.get(&format!("{}/verify", api(&id))).expect(200).json();
    assert_eq!(receipt["status"], "success");
    assert_eq!(
        (&receipt["valid"], &receipt["retained"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(receipt["report_id"], id.as_str());
    assert_eq!(receipt["result_hash"], report["result_hash"]);
    assert_eq!(receipt["source_hash"], report["source_hash"]);
    assert_eq!(receipt["hash_algorithm"], "sha256");
    assert_eq!(receipt["canonicalization"], "RFC8785");
    assert_eq!(receipt["verified_at"], rig.now().0);
    assert_eq!(receipt["seconds_left"], 30 * DAY);
    assert_eq!(receipt["signature"], json!(null));
    let checks = receipt["checks"].as_array().expect("checks");
    for id in ["result_hash", "source_hash", "citations", "retention"] {
        let check = checks.iter().find(|check| check["id"] == id);
        assert_eq!(check.expect(id)["match"], true, "{id}");
    }
}

/// One flipped byte in the stored report or source, and the report is not valid any more.
#[test]
fn a_flipped_byte_is_noticed() {
    let mut rig = Rig::start();
    let (sold, id) = bought(&rig);
    let source_hash = sold.json()["source_hash"]
        .as_str()
        .expect("a hash")
        .to_owned();
    let file = rig.folder.path("data.redb");
    for (of_source, place) in [
        (true, 0),
        (true, 40),
        (false, 10),
        (false, 400),
        (false, 2_000),
    ] {
        let flip = |of_source: bool, place: usize| {
            flip(&file, &source_hash, of_source, place);
        };
        assert!(rig.stop());
        flip(of_source, place);
        rig.run();
        let receipt = rig.get(&format!("{}/verify", api(&id))).expect(200).json();
        assert_eq!(receipt["valid"], false, "{of_source} {place}: {receipt}");
        assert_eq!(receipt["report_id"], id.as_str());
        // Nothing is served or answered from what is damaged.
        let follow_up = rig
            .post(&format!("{}/follow-up", api(&id)))
            .json(&json!({"question": "Is it free?"}));
        follow_up.send().refused(500, "internal");
        let read = rig.get(&api(&id));
        assert_eq!(read.status, if of_source { 200 } else { 500 });
        assert!(rig.stop());
        flip(of_source, place);
        rig.run();
        let receipt = rig.get(&format!("{}/verify", api(&id))).expect(200).json();
        assert_eq!(receipt["valid"], true, "{of_source} {place}: {receipt}");
    }
}

/// Flips a bit in the blob of the source, or in that of the report.
fn flip(file: &std::path::Path, source_hash: &str, of_source: bool, place: usize) {
    use redb::{ReadableDatabase as _, ReadableTable as _};
    const BLOBS: redb::TableDefinition<'_, [u8; 32], &[u8]> = redb::TableDefinition::new("blobs-1");
    // A read that the stopped service had begun may still hold it.
    let open = |tries: u32| match redb::Database::open(file) {
        Err(redb::DatabaseError::DatabaseAlreadyOpen) if tries < 100 => {
            std::thread::sleep(std::time::Duration::from_millis(50));
            None
        }
        opened => Some(opened.expect("opens")),
    };
    let database = (0..=100).find_map(open).expect("in five seconds");
    let found = {
        let transaction = database.begin_read().expect("reads");
        let table = transaction.open_table(BLOBS).expect("is there");
        let rows = table.iter().expect("iterates").flatten();
        let mut rows = rows.map(|(key, bytes)| (key.value(), bytes.value().to_vec()));
        let is_it = |(key, bytes): &([u8; 32], Vec<u8>)| match of_source {
            true => hex::encode(key) == source_hash,
            false => String::from_utf8_lossy(bytes).contains("ppr_"),
        };
        rows.find(is_it).expect("the blob")
    };
    let (key, mut bytes) = found;
    bytes[place] ^= 1;
    let transaction = database.begin_write().expect("writes");
    let mut table = transaction.open_table(BLOBS).expect("is there");
    table.insert(key, bytes.as_slice()).expect("inserts");
    drop(table);
    transaction.commit().expect("commits");
}

/// The signature alone tells who made the report, without asking us.
#[test]
fn a_configured_key_signs_reports() {
    let mut rig = Rig::with(|resolved| resolved.set("signing.key", "0123456789abcdef".repeat(4)));
    let (sold, id) = bought(&rig);
    let report = sold.json();
    let signature = &report["signature"];
    assert_eq!(signature["alg"], "EdDSA");
    let did = rig.get("/.well-known/did.json").expect(200).json();
    let kid = signature["kid"].as_str().expect("a key's name");
    let key = signing::PublicKey::in_did_document(&did, kid).expect("the key");
    let jws = signature["jws"].as_str().expect("a JWS");
    let signed = signing::verified(jws, &key).expect("our signature");
    let signed: Value = serde_json::from_slice(&signed).expect("JSON");
    for member in [
        "report_id",
        "result_hash",
        "source_hash",
        "created_at",
        "expires_at",
    ] {
        assert_eq!(signed[member], report[member], "{member}");
    }
    let is_checked = |rig: &Rig| {
        let receipt = rig.get(&format!("{}/verify", api(&id))).expect(200).json();
        assert_eq!(receipt["valid"], true);
        assert_eq!(&receipt["signature"], signature);
        let checks = receipt["checks"].as_array().expect("checks").clone();
        let mut signatures = checks.iter().filter(|check| check["id"] == "signature");
        signatures.any(|check| check["match"] == true)
    };
    assert!(is_checked(&rig));

    let former = rig.get("/.well-known/jwks.json").expect(200).json()["keys"][0]["x"].clone();
    let former = former.as_str().expect("a public key").to_owned();
    rig.reconfigure(|resolved| {
        resolved.set("signing.key", "fedcba9876543210".repeat(4));
        resolved.set_list("signing.former_keys", vec![former]);
    });
    assert!(is_checked(&rig), "by the former key");
}

#[test]
fn a_further_question_is_answered_from_the_kept_source() {
    let rig = Rig::start();
    let (sold, id) = bought(&rig);
    let (hits, settlements) = (rig.site.hits("/ferry"), rig.facilitator.settlements());
    rig.site.put("/ferry", Page::Status(500));
    let path = format!("{}/follow-up", api(&id));
    let ask = |question: &str| rig.post(&path).json(&json!({"question": question})).send();
    let answer = ask("Bicycles cost 2 euros on every crossing.")
        .expect(200)
        .json();
    assert_eq!(answer["status"], "success");
    assert_eq!(answer["report_id"], id.as_str());
    assert_eq!(answer["answered_from"], "retained_report");
    assert_eq!(answer["supported"], true);
    assert_eq!(answer["supplier_spend"], 0);
    assert_eq!(answer["source_hash"], sold.json()["source_hash"]);
    let citations = answer["citations"].as_array().expect("citations");
    assert_eq!(
        answer["citation_ids"].as_array().map(Vec::len),
        Some(citations.len())
    );
    assert!(
        citations[0]["excerpt"]
            .as_str()
            .is_some_and(|text| text.contains("Bicycles cost"))
    );
    for member in ["answer", "confidence", "gaps", "recommended_next_call"] {
        assert!(!answer[member].is_null(), "{member}");
    }
    let other = ask("Who won the chess tournament in Lima?")
        .expect(200)
        .json();
    assert_eq!(other["supported"], false);
    // The kept report stays as it was, and nobody was asked.
    assert_eq!(rig.get(&api(&id)).expect(200).body, sold.body);
    assert_eq!(
        (rig.site.hits("/ferry"), rig.facilitator.settlements()),
        (hits, settlements)
    );

    ask("").invalid("string_too_short", &["body", "question"]);
    ask(&"a".repeat(1001)).invalid("string_too_long", &["body", "question"]);
    rig.post(&path)
        .send()
        .invalid("missing", &["body", "question"]);
    // Forms work without script.
    let form = rig
        .post(&path)
        .header("Content-Type", "application/x-www-form-urlencoded")
        .body("question=Do+bicycles+cost+2+euros%3F");
    assert_eq!(
        form.send().expect(200).json()["question"],
        "Do bicycles cost 2 euros?"
    );
    rig.post(&path)
        .header("Content-Type", "text/plain")
        .body("question")
        .send()
        .refused(415, "unsupported_media_type");
}

#[test]
fn a_refresh_is_a_quote_that_knows_the_report() {
    let rig = Rig::start();
    let (sold, id) = bought(&rig);
    let report = sold.json();
    let path = format!("{}/refresh", api(&id));
    let quote = rig.post(&path).send().expect(200).json();
    assert_eq!(quote["report_id"], id.as_str());
    assert_eq!(
        (
            &quote["previous"]["created_at"],
            &quote["previous"]["source_hash"]
        ),
        (&report["created_at"], &report["source_hash"])
    );
    assert_eq!(
        quote["body"],
        json!({"target_url": FERRY, "question": FERRY_CLAIM, "pack": "standard", "force_refresh": true})
    );
    assert_eq!(quote["supplier_spend"], 0);
    // Whoever copies a command buys the fresh report, too, and whoever comes back to the quote.
    let commands = &quote["commands"];
    for (command, words) in [
        (&quote["buyer_command"], "--pack standard --force-refresh "),
        (&commands["curl"], "\"force_refresh\": true"),
        (&commands["node"], "force_refresh: true"),
        (&commands["python"], "\"force_refresh\": True"),
    ] {
        let command = command.as_str().expect("a command");
        assert!(command.contains(words), "{command}");
    }
    let resumed = quote["resume_page"].as_str().expect("an address");
    let resumed = rig.get(&resumed[BASE_URL.len()..]).expect(200).text();
    assert!(resumed.contains("force_refresh"), "{resumed}");
    let other =
        json!({"pack": "quick", "question": "Do bicycles travel free?", "force_refresh": false});
    let quote = rig.post(&path).json(&other).send().expect(200).json();
    assert_eq!(quote["pack"], "quick");
    assert_eq!(quote["body"]["question"], "Do bicycles travel free?");
    assert_eq!(quote["body"]["force_refresh"], false);
    let receipt = quote["receipt_url"].as_str().expect("an address");
    rig.get(&receipt[BASE_URL.len()..]).expect(200);
    rig.post(&path)
        .json(&json!({"pack": "huge"}))
        .send()
        .invalid("literal_error", &["body", "pack"]);
    // The body of the quote buys what was quoted.
    let payment = Wallet::new().sign_pack(&rig, "quick");
    let ask = rig.post("/v1/x402/proof-pack").json(&quote["body"]);
    ask.paid(&payment.header).send().expect(200);
}

#[test]
fn the_sample_report_does_all_of_it_for_nothing() {
    let mut rig = Rig::start();
    let sample = rig.get("/v1/proof-pack/sample").expect(200);
    let read = rig.get(&api("ppr_sample")).expect(200);
    assert_eq!(sample.body, read.body);
    let report = sample.json();
    assert_eq!(report["report_id"], "ppr_sample");
    assert_eq!(report["target_url"], format!("{BASE_URL}/sample"));
    let label = &report["decision"]["label"];
    assert!(
        label == "supported" || label == "partially_supported",
        "{report}"
    );
    assert_eq!(report["payment"]["amount_usdc"], 0.0);
    // What it recommends can be called: it named an address that nobody serves.
    let next = report["recommended_next_call"]["endpoint"].as_str();
    rig.get(next.expect("an address")).expect(200);
    let verify = || {
        rig.get(&format!("{}/verify", api("ppr_sample")))
            .expect(200)
            .json()
    };
    assert_eq!(verify()["valid"], true);
    rig.pass(400 * DAY);
    assert_eq!(
        (verify()["valid"].clone(), verify()["retained"].clone()),
        (json!(true), json!(true))
    );
    let asked = rig
        .post(&format!("{}/follow-up", api("ppr_sample")))
        .json(&json!({"question": "Who won the chess tournament in Lima?"}))
        .send()
        .expect(200);
    assert_eq!(asked.json()["supported"], false);
    let quote = rig
        .post(&format!("{}/refresh", api("ppr_sample")))
        .send()
        .expect(200);
    assert_eq!(
        quote.json()["body"]["target_url"],
        format!("{BASE_URL}/sample")
    );
    rig.get("/proof-pack/reports/ppr_sample").expect(200);
    let page = rig.get("/proof-pack/sample").expect(200);
    assert!(page.text().contains("ppr_sample"));
    // It belongs to nobody who could share it.
    rig.post(&format!("{}/share", api("ppr_sample")))
        .send()
        .refused(404, "not_offered_for_report");
    assert_eq!(
        rig.facilitator.verify_calls() + rig.site.requests().len(),
        0
    );
    rig.restart();
    assert_eq!(
        rig.get("/v1/proof-pack/sample").expect(200).body,
        sample.body
    );
}

#[test]
fn a_report_is_shared_under_another_name_and_taken_back() {
    let rig = Rig::start();
    let (_, id) = bought(&rig);
    let path = format!("{}/share", api(&id));
    let library = || rig.get("/proof-pack/library").expect(200).text();
    assert!(!library().contains(FERRY_CLAIM));
    let shared = rig.post(&path).send().expect(200).json();
    assert_eq!(
        (&shared["shared"], &shared["listed"], &shared["listing"]),
        (&json!(true), &json!(false), &json!("unlisted"))
    );
    let slug = shared["slug"].as_str().expect("a slug").to_owned();
    let page = format!("/proof-pack/share/{slug}");
    assert_eq!(shared["share_page"], format!("{BASE_URL}{page}"));
    let seen = rig.get(&page).expect(200);
    assert_eq!(seen.must("x-robots-tag"), "noindex");
    // Who follows a link has no report's identifier.
    let unknown = rig.get("/proof-pack/share/share_00").expect(404).text();
    assert!(
        unknown.contains("No report is shared under this name")
            && !unknown.contains("begin with ppr_"),
        "{unknown}"
    );
    assert!(seen.text().contains(FERRY_CLAIM));
    assert!(
        !seen.text().contains(&id),
        "the report itself stays private"
    );
    assert!(!library().contains(FERRY_CLAIM), "it is not listed");

    let listed = rig
        .post(&path)
        .json(&json!({"listed": true}))
        .send()
        .expect(200);
    assert_eq!(listed.json()["slug"], slug.as_str(), "the name stays");
    assert_eq!(
        (&listed.json()["listed"], &listed.json()["listing"]),
        (&json!(false), &json!("awaiting_approval"))
    );
    // What a buyer has typed appears on no page of ours that others are led to, before the operator has read it.
    assert!(!library().contains(FERRY_CLAIM) && !library().contains(&slug));
    let waiting = rig.operator("/operator/reports?state=awaiting_approval");
    assert_eq!(waiting.json()["reports"][0]["report_id"], id.as_str());
    let today = rig.operator("/operator/today").json();
    assert_eq!(today["listings_awaiting_approval"], 1);
    let operate = |act: &str| rig.operate("POST", &format!("/operator/reports/{id}/{act}"));
    rig.post(&format!("/operator/reports/{id}/approve"))
        .send()
        .refused(404, "not_found");
    operate("approve").expect(200);
    assert!(library().contains(FERRY_CLAIM) && library().contains(&slug));
    assert!(!library().contains(&id));
    operate("unlist").expect(200);
    assert!(!library().contains(FERRY_CLAIM));
    operate("approve").expect(200);
    assert!(library().contains(FERRY_CLAIM));
    rig.post(&path)
        .json(&json!({"listed": false}))
        .send()
        .expect(200);
    assert!(!library().contains(FERRY_CLAIM));
    operate("approve").refused(404, "report_not_found");

    let taken = rig.ask("DELETE", &path).send().expect(200).json();
    assert_eq!(
        (&taken["shared"], &taken["slug"]),
        (&json!(false), &json!(null))
    );
    rig.get(&page).expect(404);
    rig.ask("DELETE", &path).send().expect(200);
    let again = rig
        .post(&path)
        .json(&json!({"listed": true}))
        .send()
        .expect(200)
        .json();
    assert_ne!(
        again["slug"],
        slug.as_str(),
        "a name that was taken back never leads anywhere again"
    );
    let page = format!(
        "/proof-pack/share/{}",
        again["slug"].as_str().expect("a slug")
    );
    rig.get(&page).expect(200);
    rig.pass(30 * DAY);
    rig.get(&page).expect(410);
    assert!(!library().contains(FERRY_CLAIM));
    rig.work_off();
    rig.get(&page).expect(404);
    rig.post(&path).send().refused(410, "report_expired");
}

#[test]
fn the_report_page_shows_the_evidence_and_asks_without_script() {
    let rig = Rig::start();
    let (_, id) = bought(&rig);
    let path = format!("/proof-pack/reports/{id}");
    let page = rig.get(&path).expect(200);
    assert_eq!(page.must("content-type"), "text/html; charset=utf-8");
    assert_eq!(page.must("x-robots-tag"), "noindex");
    assert_eq!(page.must("referrer-policy"), "no-referrer");
    assert_eq!(page.must("cache-control"), "private, no-store");
    let text = page.text();
    assert!(text.contains("Children under six travel free") && text.contains("/verify"));
    let asked = rig
        .get(&format!("{path}?question=Do+bicycles+cost+2+euros%3F"))
        .expect(200)
        .text();
    assert!(asked.contains("Bicycles cost 2 euros"), "{asked}");
    let hostile = rig
        .get(&format!(
            "{path}?question=%3Cscript%3Ealert(1)%3C/script%3E"
        ))
        .expect(200)
        .text();
    assert!(!hostile.contains("<script>x") && !hostile.contains("<script>alert"));
    let robots = rig.get("/robots.txt").expect(200).text();
    assert!(robots.contains("Disallow: /proof-pack/reports/"));
}

/// A crash after the report was kept, or after the money has moved, loses it no more than any other answer.
#[test]
fn a_crash_in_the_middle_of_a_sale_loses_no_report() {
    for_each(["kept", "settled"], |crash_at| {
        let mut rig = Rig::today();
        let wallet = Wallet::new();
        let payment = wallet.sign_pack(&rig, "standard");
        rig.in_process(&[("lab.crash_at", crash_at)], |_, mut service| {
            let ask = service
                .post(PROOF_PACK)
                .json(&report_order(FERRY, "standard", FERRY_CLAIM))
                .paid(&payment.header);
            let bytes = raw_bytes(service.address, &ask.bytes());
            assert!(bytes.is_empty(), "it died");
            assert!(!service.end().success());
        });
        let unsettled = rig.operator("/operator/reports").json();
        let id = unsettled["reports"][0]["report_id"].clone();
        let id = id.as_str().expect("an id");
        rig.get(&api(id)).refused(404, "report_not_found");
        let ask = rig
            .ask_report(FERRY, "standard", FERRY_CLAIM)
            .paid(&payment.header);
        let sold = ask.send().expect(200);
        assert_eq!(sold.json()["report_id"], id);
        assert_eq!(rig.get(&api(id)).expect(200).body, sold.body);
        assert_eq!(rig.facilitator.spent(wallet.address()), price(STANDARD));
        assert_eq!(rig.site.hits("/ferry"), 1);
    });
}

/// What is published is what the evaluation has written, to the digit.
#[test]
fn the_engine_s_measured_quality_is_published() {
    let rig = Rig::start();
    let published = rig.get("/v1/proof-pack/benchmarks").expect(200).json();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/data/evidence/figures.json");
    let figures = std::fs::read_to_string(file).expect("is there");
    let figures: Value = serde_json::from_str(&figures).expect("JSON");
    let members: Vec<&String> = published.as_object().expect("an object").keys().collect();
    assert_eq!(
        members[..2],
        ["status", "near_misses"],
        "the hardest rows first"
    );
    let near_misses = &published["near_misses"];
    assert_eq!(*near_misses, figures["near_misses"]);
    let first = &near_misses["rows"][0];
    assert_eq!(
        (&first["set"], &first["asked"]),
        (&"others".into(), &"claims".into())
    );
    for measure in ["false_plain", "true_plain", "auroc"] {
        let value = first[measure].as_f64().expect("a figure");
        assert!(value > 0.0 && value < 1.0, "{measure} {value}");
        assert!(near_misses["measures"][measure].is_string());
    }
    assert_eq!(published["sets"], figures["sets"]);
    assert_eq!(published["measured_on"], figures["measured_on"]);
    assert!(published["generated_at"].is_u64());
    let hardest = &figures["sets"][published["corpus"].as_str().expect("a set")];
    let metrics = &published["metrics"];
    assert_eq!(metrics["supported_precision"], hardest["support_precision"]);
    let cited = &figures["citations"];
    assert_eq!(cited["exact"], cited["count"], "every citation is verbatim");
    assert_eq!(metrics["citation_exactness"], 1.0);
    assert_eq!(metrics["p95_ms"], figures["latency"]["p95_ms"]);
    let sum = metrics["unsupported_recall"]
        .as_f64()
        .zip(hardest["false_support"].as_f64());
    assert!(sum.is_some_and(|(recall, false_support)| (recall + false_support - 1.0).abs() < 1e-9));
}
