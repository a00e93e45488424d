//! Buyers read again what they have paid for: the wallet signs in, in place of paying.

use std::io::Write as _;

use context402::store::purchase_id;
use context402::x402::encoding;
use context402::x402::sign_in::{EXTENSION, HEADER};
use serde_json::{Value, json};

use crate::harness::{ARTICLE, Answer, FRESH, Rig, Says, Wallet, amount, price, until};

const PURCHASES: &str = "/v1/x402/purchases";
const QUESTION: &str = "When do the boats leave?";
const DAY: u64 = 86_400;

/// The text of EIP-4361 for what the official client takes from a challenge.
fn text(info: &Value, chain: &str, address: &str) -> String {
    let member = |name: &str| info[name].as_str().expect("text").to_owned();
    format!(
        "{} wants you to sign in with your Ethereum account:\n{address}\n\n{}\n\nURI: {}\nVersion: {}\nChain ID: {}\n\
         Nonce: {}\nIssued At: {}\nExpiration Time: {}",
        member("domain"),
        member("statement"),
        member("uri"),
        member("version"),
        chain.trim_start_matches("eip155:"),
        member("nonce"),
        member("issuedAt"),
        member("expirationTime"),
    )
}

/// Gets a challenge and signs it, as the official client does: from the header of the 402.
fn signed(rig: &Rig, wallet: &Wallet) -> String {
    let asked = rig.get(PURCHASES).refused(402, "sign_in_required");
    let challenge = encoding::decode(asked.must("payment-required")).expect("base64");
    let challenge: Value = serde_json::from_slice(&challenge).expect("JSON");
    assert_eq!(challenge["accepts"], json!([]), "there is nothing to pay");
    assert_eq!(asked.json()["extensions"], challenge["extensions"]);
    let extension = &challenge["extensions"][EXTENSION];
    let chain = extension["supportedChains"][0]["chainId"]
        .as_str()
        .expect("text");
    let address = wallet.address().to_string();
    let mut payload = extension["info"].clone();
    payload["signature"] = wallet.sign_text(&text(&payload, chain, &address)).into();
    payload["address"] = address.into();
    payload["chainId"] = chain.into();
    payload["type"] = extension["supportedChains"][0]["type"].clone();
    encoding::encode(payload.to_string().as_bytes())
}

fn read(rig: &Rig, wallet: &Wallet, path: &str) -> Answer {
    let header = signed(rig, wallet);
    rig.ask("GET", path).header(HEADER, header).send()
}

fn list(rig: &Rig, wallet: &Wallet) -> Vec<Value> {
    let answer = read(rig, wallet, PURCHASES).expect(200);
    assert_eq!(answer.must("cache-control"), "private, no-store");
    let body = answer.json();
    assert_eq!(body["payer"], wallet.address().to_string());
    let purchases = body["purchases"].as_array().expect("a list").clone();
    is_described(rig, &purchases);
    purchases
}

/// Insists that purchases have the members that openapi.json describes, and all that it promises.
fn is_described(rig: &Rig, purchases: &[Value]) {
    let document = rig.get("/openapi.json").expect(200).json();
    let schema = &document["components"]["schemas"]["PurchasesResponse"]["properties"]["purchases"];
    let item = &schema["items"];
    let required = item["required"].as_array().expect("a list");
    for purchase in purchases {
        let members = purchase.as_object().expect("an object");
        for name in members.keys() {
            assert!(item["properties"][name].is_object(), "{name}");
        }
        for name in required {
            assert!(members.contains_key(name.as_str().expect("text")), "{name}");
        }
    }
}

fn path_of(purchase: &Value) -> String {
    let id = purchase["purchase_id"].as_str().expect("an identifier");
    format!("{PURCHASES}/{id}")
}

/// An agent has tools and no headers: the statement is an argument.
#[test]
fn the_tools_for_purchases_take_the_statement_as_an_argument() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let page = rig.buy(&wallet, ARTICLE, "fresh").expect(200);
    let call = |tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let ask = rig
            .post("/mcp")
            .header("Accept", "application/json, text/event-stream");
        ask.json(&body).send().expect(200).json()["result"].clone()
    };
    let asked = call("list_purchases", json!({}));
    assert_eq!(asked["isError"], true);
    let challenge = &asked["structuredContent"];
    assert_eq!(challenge["accepts"], json!([]), "there is nothing to pay");
    assert!(challenge["extensions"][EXTENSION].is_object(), "{asked}");
    let next = challenge["error"]["next_step"].to_string();
    assert!(
        next.contains("the argument sign_in_with_x") && !next.contains("SIGN-IN-WITH-X"),
        "{next}"
    );
    let statement = signed(&rig, &wallet);
    let listed = call(
        "list_purchases",
        json!({"sign_in_with_x": statement, "limit": "5"}),
    );
    assert_eq!(listed["isError"], false, "{listed}");
    let purchases = &listed["structuredContent"]["purchases"];
    assert_eq!(purchases[0]["target_url"], ARTICLE);
    // A statement counts once, by whichever way it comes.
    let again = rig.ask("GET", PURCHASES).header(HEADER, statement).send();
    again.refused(402, "sign_in_invalid");
    let arguments = json!({"sign_in_with_x": signed(&rig, &wallet), "purchase_id": purchases[0]["purchase_id"]});
    let read = call("read_purchase", arguments);
    assert_eq!(read["structuredContent"], page.json(), "{read}");
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

#[test]
fn a_payer_lists_and_reads_what_it_bought_and_nobody_else_does() {
    let mut rig = Rig::start();
    let (wallet, stranger) = (Wallet::new(), Wallet::new());
    assert_eq!(list(&rig, &wallet), Vec::<Value>::new());
    let page = rig.buy(&wallet, ARTICLE, "fresh").expect(200);
    rig.pass(60);
    let report = rig
        .buy_report(&wallet, ARTICLE, "quick", QUESTION)
        .expect(200);
    let spent = rig.facilitator.spent(wallet.address());
    for restarts in [false, true] {
        if restarts {
            rig.restart();
        }
        let purchases = list(&rig, &wallet);
        assert_eq!(purchases.len(), 2, "newest first: {purchases:?}");
        let (second, first) = (&purchases[0], &purchases[1]);
        assert_eq!(first["product"], "context");
        assert_eq!(first["tier"], "fresh");
        assert_eq!(first["quantity"], 1);
        assert_eq!(first["target_url"], ARTICLE);
        assert_eq!(first["target_urls"], json!([ARTICLE]));
        assert_eq!(first["amount"], amount(FRESH));
        assert_eq!(first["transaction"], page.settlement()["transaction"]);
        assert_eq!(first["answer_kept"], true);
        assert_eq!(second["product"], "proof_pack");
        assert_eq!(second["pack"], "quick");
        assert_eq!(second["question"], QUESTION);
        assert_eq!(second["report_id"], report.json()["report_id"]);
        assert_eq!(second["report_url"], report.json()["report_url"]);
        assert!(second["settled_at"].as_u64() > first["settled_at"].as_u64());
        // The same bytes as they were sold.
        assert_eq!(
            read(&rig, &wallet, &path_of(first)).expect(200).body,
            page.body
        );
        assert_eq!(
            read(&rig, &wallet, &path_of(second)).expect(200).body,
            report.body
        );
        // Who did not pay sees nothing, not even that there is something.
        assert_eq!(list(&rig, &stranger), Vec::<Value>::new());
        read(&rig, &stranger, &path_of(first)).refused(404, "purchase_not_found");
        rig.get(&path_of(first)).refused(402, "sign_in_required");
    }
    assert_eq!(
        rig.facilitator.spent(wallet.address()),
        spent,
        "reading is free"
    );
    assert_eq!(rig.site.hits("/article"), 1);
}

#[test]
fn a_page_goes_with_its_answer_and_a_purchase_after_thirty_days() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    rig.buy(&wallet, ARTICLE, "fresh").expect(200);
    rig.pass(60);
    let report = rig
        .buy_report(&wallet, ARTICLE, "quick", QUESTION)
        .expect(200);
    until("it is on record that both answers were sent", || {
        let owed = rig.wait(rig.app().store.read(|snapshot| {
            let mut owed = 0;
            snapshot.payments(|_, payment| {
                owed += usize::from(payment.delivery.is_owed);
                Ok(())
            })?;
            Ok(owed)
        }));
        owed == Ok(0)
    });
    rig.pass(DAY);
    rig.work_off();
    let purchases = list(&rig, &wallet);
    let (second, first) = (&purchases[0], &purchases[1]);
    assert_eq!(first["answer_kept"], false);
    assert_eq!(second["answer_kept"], true);
    read(&rig, &wallet, &path_of(first)).refused(410, "answer_expired");
    let body = read(&rig, &wallet, &path_of(second)).expect(200).body;
    assert_eq!(body, report.body);
    rig.pass(30 * DAY);
    // Before and after the background has dropped the rows.
    assert_eq!(list(&rig, &wallet), Vec::<Value>::new());
    read(&rig, &wallet, &path_of(second)).refused(404, "purchase_not_found");
    rig.work_off();
    let rows = rig.wait(rig.app().store.read(|snapshot| {
        let mut rows = 0;
        snapshot.payments(|key, payment| {
            let id = purchase_id(key, &payment).expect("settled");
            let since = context402::domain::time::UnixSeconds(0);
            rows += usize::from(snapshot.purchase(payment.payer, id, since)?.is_some());
            Ok(())
        })?;
        Ok(rows)
    }));
    assert_eq!(rows, Ok(0));
}

#[test]
fn a_list_is_read_in_parts() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    for _ in 0..5 {
        rig.buy(&wallet, ARTICLE, "fresh").expect(200);
    }
    let all = list(&rig, &wallet);
    let mut parts = Vec::new();
    let mut next = format!("{PURCHASES}?limit=2");
    for expected in [2, 2, 1] {
        let body = read(&rig, &wallet, &next).expect(200).json();
        let part = body["purchases"].as_array().expect("a list");
        assert_eq!(part.len(), expected);
        parts.extend(part.clone());
        let address = body["pagination"]["next"].as_str().unwrap_or_default();
        next = address
            .split_once("/v1/")
            .map_or_else(String::new, |(_, rest)| format!("/v1/{rest}"));
    }
    assert_eq!(next, "");
    let ids = |list: &[Value]| -> Vec<Value> {
        list.iter().map(|one| one["purchase_id"].clone()).collect()
    };
    assert_eq!(ids(&parts), ids(&all));
    for query in ["limit=0", "limit=-1", "limit=x", "before=x"] {
        rig.get(&format!("{PURCHASES}?{query}")).expect(422);
    }
}

#[test]
fn each_signature_is_good_once_and_for_five_minutes() {
    let mut rig = Rig::start();
    let wallet = Wallet::new();
    let ask = |rig: &Rig, header: &str| rig.ask("GET", PURCHASES).header(HEADER, header).send();
    let reason = |answer: Answer| answer.json()["error"]["reason"].clone();
    let header = signed(&rig, &wallet);
    ask(&rig, &header).expect(200);
    let replayed = ask(&rig, &header).refused(402, "sign_in_invalid");
    // The refusal carries a fresh challenge.
    assert!(replayed.header("payment-required").is_some());
    assert_eq!(reason(replayed), "nonce_used");
    let late = signed(&rig, &wallet);
    rig.pass(301);
    assert_eq!(reason(ask(&rig, &late)), "too_old");
    let before = signed(&rig, &wallet);
    rig.restart();
    assert_eq!(reason(ask(&rig, &before)), "nonce_unknown");
    assert_eq!(reason(ask(&rig, "no base64!")), "not_base64");
    let header = signed(&rig, &wallet);
    let twice = rig.ask("GET", PURCHASES).header(HEADER, header.as_str());
    assert_eq!(reason(twice.header(HEADER, header).send()), "malformed");
    // Each left a trace for the operator.
    let traced = rig.app().refusals.newest();
    assert!(
        traced
            .iter()
            .filter(|refused| refused.code.text() == "sign_in_invalid")
            .count()
            >= 3
    );
}

#[test]
fn a_signature_of_another_wallet_or_for_another_service_opens_nothing() {
    let rig = Rig::start();
    let (wallet, thief) = (Wallet::new(), Wallet::new());
    rig.buy(&wallet, ARTICLE, "fresh").expect(200);
    let altered = |name: &str, value: Value| {
        let header = signed(&rig, &thief);
        let mut payload: Value =
            serde_json::from_slice(&encoding::decode(&header).expect("base64")).expect("JSON");
        payload[name] = value;
        let header = encoding::encode(payload.to_string().as_bytes());
        let answer = rig.ask("GET", PURCHASES).header(HEADER, header).send();
        let answer = answer.refused(402, "sign_in_invalid");
        answer.json()["error"]["reason"].clone()
    };
    assert_eq!(
        altered("address", wallet.address().to_string().into()),
        "signature"
    );
    assert_eq!(altered("domain", "evil.example".into()), "domain");
    assert_eq!(altered("uri", "https://evil.example/".into()), "uri");
    assert_eq!(altered("chainId", "eip155:1".into()), "chain");
    assert_eq!(altered("nonce", "0".repeat(80).into()), "signature");
}

/// Whoever never got its answer reads it here, and is owed nothing any more.
#[test]
fn what_is_owed_is_listed_and_given() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    rig.facilitator.settles(Says::Lost);
    rig.buy(&wallet, ARTICLE, "fresh")
        .refused_charged(503, "settlement_unknown");
    rig.facilitator.settles(Says::Honest);
    // It is not known to be bought yet.
    assert_eq!(list(&rig, &wallet), Vec::<Value>::new());
    rig.pass(35);
    rig.work_off();
    let purchases = list(&rig, &wallet);
    assert_eq!(purchases[0]["answer_owed"], true);
    let answer = read(&rig, &wallet, &path_of(&purchases[0])).expect(200);
    assert!(answer.text().contains("Boats"));
    until("it is owed no longer", || {
        list(&rig, &wallet)[0]["answer_owed"] == false
    });
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// A client that leaves in the middle of its header takes no nonce.
#[test]
fn half_a_request_uses_no_nonce() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let header = signed(&rig, &wallet);
    let ask = rig.ask("GET", PURCHASES).header(HEADER, header);
    let bytes = ask.bytes();
    let mut stream = crate::harness::ask::connect(rig.address);
    stream.write_all(&bytes[..bytes.len() - 2]).expect("writes");
    drop(stream);
    ask.send().expect(200);
}
