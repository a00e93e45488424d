//! What programs read about the service, and that it is true.

use std::collections::BTreeSet;

use context402::domain::shapes::QUOTE_BELONGINGS;
use context402::http::Guard;
use serde_json::{Value, json};

use crate::harness::{
    ACCESS, ARTICLE, BASE_URL, FERRY, FRESH, PAY_TO, PROOF_PACK, Rig, Wallet, amount, until,
};

#[test]
fn the_root_is_a_brief_for_programs_and_a_page_for_people() {
    let rig = Rig::start();
    let answer = rig.get("/").expect(200);
    assert_eq!(answer.must("content-type"), "application/json");
    assert!(answer.must("vary").contains("Accept"));
    let brief = answer.json();
    assert_eq!(brief["base_url"], BASE_URL);
    assert_eq!(brief["payment"]["pay_to"], PAY_TO);
    assert_eq!(brief["buy"]["url"], format!("{BASE_URL}{ACCESS}"));
    assert_eq!(brief["tiers"].as_array().map(Vec::len), Some(5));
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    let page = rig
        .ask("GET", "/")
        .header("Accept", browser)
        .send()
        .expect(200);
    assert_eq!(page.must("content-type"), "text/html; charset=utf-8");
    assert!(page.must("vary").contains("Accept"));
    let program = rig
        .ask("GET", "/")
        .header("Accept", "application/json, text/html;q=0.5")
        .send();
    assert_eq!(program.must("content-type"), "application/json");
    // Crawlers accept anything, and come for the page.
    let crawler = rig.ask("GET", "/").header("Accept", "*/*").send();
    assert_eq!(crawler.must("content-type"), "text/html; charset=utf-8");
}

/// A page whose facts are a document elsewhere is that document for whoever asks for JSON.
#[test]
fn pages_are_json_where_json_is_asked_for() {
    let rig = Rig::start();
    let receipt = rig.get("/v1/x402/quote").expect(200).json();
    let quote = receipt["quote_id"].as_str().expect("an id");
    for (page, status) in [
        ("/quote", 200),
        ("/proof-pack/quote", 200),
        ("/proof-pack/preview", 200),
        ("/checkout/confidence", 200),
        ("/proof-pack/sample", 200),
        ("/proof-pack/reports/ppr_sample", 200),
        (
            &format!("/proof-pack/bundle/quote?target_urls={ARTICLE}"),
            200,
        ),
        (&format!("/checkout/{quote}"), 200),
        ("/checkout/qt_00000000000000000000000000000000", 404),
        ("/proof-pack/bundle/delivery", 404),
    ] {
        let ask = |accept: &str| rig.ask("GET", page).header("Accept", accept).send();
        for accept in ["*/*", "text/html", "text/html, application/json;q=0.9"] {
            let answer = ask(accept).expect(status);
            let media = answer.must("content-type");
            assert_eq!(media, "text/html; charset=utf-8", "{page}");
        }
        for accept in ["application/json", "application/json, text/plain, */*"] {
            let answer = ask(accept).expect(status);
            assert_eq!(answer.must("content-type"), "application/json", "{page}");
            assert_eq!(answer.must("vary"), "Accept, Accept-Encoding", "{page}");
        }
    }
}

/// One truth for monitors, buyers and the operator: can a buyer buy now, and if not, why.
#[test]
fn health_says_what_can_be_bought() {
    let sales = |rig: &Rig| {
        let health = rig.get("/health").expect(200).json();
        assert_eq!(health["paid_enabled"], health["sales"]["open"], "{health}");
        assert_eq!(health["api_version"], "1.2.0");
        (health["status"].clone(), health["sales"].clone())
    };
    let mut rig = Rig::start();
    let summary = "All tiers and packs are available.";
    assert_eq!(
        sales(&rig),
        (
            json!("ok"),
            json!({"open": true, "since": null, "summary": summary, "obstacles": [], "unavailable": []})
        )
    );
    // A cost that only the dear levels cover.
    rig.reconfigure(|resolved| resolved.set("guard.gas_usdc", "0.04"));
    let (status, some) = sales(&rig);
    assert_eq!((&status, &some["open"]), (&json!("degraded"), &json!(true)));
    assert_eq!(some["obstacles"][0]["code"], "margin");
    let unavailable = some["unavailable"].as_array().expect("a list");
    let tiers = ["starter", "cached", "basic", "fresh"];
    let expected = tiers.map(|tier| json!({"tier": tier, "reason": "margin"}));
    assert_eq!(unavailable[..], expected[..], "{some}");
    for tier in tiers {
        let refused = rig.buy(&Wallet::new(), ARTICLE, tier);
        refused.refused(400, "margin_rejected");
    }
    rig.buy(&Wallet::new(), ARTICLE, "deep").expect(200);
    // One that none covers.
    rig.reconfigure(|resolved| resolved.set("guard.gas_usdc", "30"));
    let (status, none) = sales(&rig);
    assert_eq!(
        (&status, &none["open"]),
        (&json!("degraded"), &json!(false))
    );
    let summary = none["summary"].as_str().expect("a text");
    assert!(
        summary.ends_with(" UTC: the price would not cover the costs."),
        "{summary}"
    );
    assert_eq!(none["since"], rig.now().0);
    let levels = context402::domain::level::Level::ALL.len();
    assert_eq!(none["unavailable"].as_array().map(Vec::len), Some(levels));
    let gauges = rig.get("/metrics?format=prometheus").text();
    assert!(gauges.contains("context402_paid_enabled 0\n"), "{gauges}");
    let obstacle = "context402_sales_obstacle{code=\"margin\"} 1\n";
    assert!(gauges.contains(obstacle), "{gauges}");
    // A facilitator that is gone.
    rig.reconfigure(|resolved| {
        resolved.set("guard.gas_usdc", "0");
        resolved.set("payment.facilitator_url", "http://127.0.0.1:9");
    });
    until("the facilitator was probed", || {
        sales(&rig).1["open"] == false
    });
    assert_eq!(sales(&rig).1["obstacles"][0]["code"], "facilitator_down");
}

#[test]
fn health_says_how_the_service_is() {
    let rig = Rig::start();
    until("the facilitator was probed", || {
        rig.get("/health").json()["checks"]["facilitator"]["status"] != "unknown"
    });
    let answer = rig.get("/health").expect(200);
    assert_eq!(answer.must("cache-control"), "no-store");
    let health = answer.json();
    assert_eq!(health["status"], "ok");
    assert_eq!(health["paid_enabled"], true);
    assert_eq!(health["time"], rig.now().0);
    assert!(health["version"].is_string() && health["uptime_seconds"].is_u64());
    let checks = &health["checks"];
    assert_eq!(checks["database"]["status"], "ok");
    assert_eq!(checks["facilitator"]["status"], "ok");
    assert!(
        checks["facilitator"]["latency_ms"].is_u64()
            && checks["facilitator"]["checked_at"].is_u64()
    );
    // How much is missing to fill the disk is no stranger's to know.
    assert_eq!(checks["disk"], json!({"status": "ok"}));
    assert_eq!(checks["reports"], json!({"status": "ok"}));
    let told = rig.operator("/health").expect(200).json()["checks"].clone();
    assert!(told["disk"]["free_bytes"].is_u64() && told["reports"]["kept_bytes"].is_u64());
    for name in [
        "context402_disk_free_bytes ",
        "context402_reports_kept_bytes ",
        "context402_data_bytes{kind=\"quotes\"} ",
    ] {
        let public = rig.get("/metrics?format=prometheus").expect(200).text();
        assert!(!public.contains(name), "{name}");
        let told = rig.operator("/metrics?format=prometheus").expect(200);
        assert!(told.text().contains(name), "{name}");
    }
    assert_eq!(
        checks["supplier"],
        json!({"status": "ok", "free_places": 16, "places": 16})
    );
    assert_eq!(
        checks["smtp"],
        json!({"status": "not_configured", "checked_at": null})
    );
    assert_eq!(
        rig.get("/health?live=1").expect(200).json(),
        json!({"status": "ok"})
    );
}

/// The operator is told what is wrong, the public only that something is.
#[test]
fn health_keeps_the_trouble_s_details_for_the_operator() {
    let rig = Rig::with(|resolved| resolved.set("payment.facilitator_url", "http://127.0.0.1:9"));
    until("the facilitator was probed", || {
        rig.get("/health").json()["checks"]["facilitator"]["status"] == "down"
    });
    let public = rig.get("/health").expect(200);
    assert_eq!(public.json()["status"], "degraded");
    assert!(
        !public.text().contains("127.0.0.1:9") && !public.text().contains("refused"),
        "{public:?}"
    );
    let operator = rig.operator("/health").json();
    assert!(
        operator["checks"]["facilitator"]["trouble"].is_string(),
        "{operator}"
    );
}

/// Revenue and payers appear only to the operator.
#[test]
fn anybody_sees_that_it_runs_and_the_operator_what_is_sold() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    rig.buy(&wallet, ARTICLE, "fresh").expect(200);
    rig.get("/v1/quotes/qt_00000000000000000000000000000000")
        .expect(404);
    rig.get("/health").expect(200);
    rig.get("/health").expect(200);
    let answer = rig.get("/metrics").expect(200);
    assert_eq!(answer.must("content-type"), "application/json");
    let public = answer.json();
    assert!(
        public["requests_total"]
            .as_u64()
            .is_some_and(|count| count >= 2)
    );
    let members: Vec<&str> = public
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        members,
        ["status", "requests_total", "by_route", "gas_price_gwei"]
    );
    let of_health = json!({"route": "/health", "method": "GET", "status": 200, "requests": 2});
    let rows = public["by_route"].as_array().expect("an array");
    assert_eq!(rows, &[of_health], "nothing that counts sales or buyers");

    let operator = rig.operator("/metrics").json();
    let of_quotes =
        json!({"route": "/v1/quotes/{quote_id}", "method": "GET", "status": 404, "requests": 1});
    let rows = operator["by_route"].as_array().expect("an array");
    assert!(rows.contains(&of_quotes), "{rows:?}");
    let by_route = operator["by_route"].to_string();
    assert!(
        by_route.contains("/v1/quotes/{quote_id}"),
        "labelled by pattern: {by_route}"
    );
    assert!(!by_route.contains("qt_0000"), "{by_route}");
    let payer = wallet.address().to_string();
    assert!(!operator.to_string().contains(&payer), "{operator}");
    assert_eq!(operator["revenue_units"], amount(FRESH));
    assert_eq!(operator["revenue_usdc"], 0.03);
    assert_eq!(operator["paid_total"], 1);
    let prometheus = rig
        .operator("/metrics?format=prometheus")
        .expect(200)
        .text();
    assert!(
        prometheus.contains("context402_revenue_units_total 30000"),
        "{prometheus}"
    );
}

#[test]
fn figures_come_as_prometheus_text_too() {
    let rig = Rig::start();
    let sold = rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200).json();
    let public = rig
        .ask("GET", "/metrics")
        .header("Accept", "text/plain;version=0.0.4;q=0.9,*/*;q=0.1")
        .send()
        .expect(200);
    let text = public.text();
    for family in ["build_info", "uptime_seconds", "paid_enabled"] {
        assert!(text.contains(&format!("context402_{family}")), "{family}");
    }
    // Nothing from which sales could be counted, and nothing of the machine.
    for hidden in [
        "/v1/x402/access",
        "cache_requests",
        "fetch_total",
        "extractions_total",
        "db_bytes",
        "settle_unknown",
        "retry_credits",
        "emails",
        "disk_free_bytes",
        "reports_kept_bytes",
        "backup_timestamp",
        "resident_memory",
        "revenue",
        "payments",
        "refusals",
    ] {
        assert!(!text.contains(hidden), "{hidden}: {text}");
    }
    for answer in [public, rig.operator("/metrics?format=prometheus")] {
        assert!(
            answer
                .must("content-type")
                .starts_with("text/plain; version=0.0.4"),
            "{answer:?}"
        );
        let text = answer.text();
        let mut counts = 0;
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, value) = line.rsplit_once(' ').expect("a name and a value");
            assert!(name.starts_with("context402_"), "{line}");
            assert!(value.parse::<f64>().is_ok(), "{line}");
            counts += 1;
        }
        assert!(counts > 5);
    }
    let text = rig.operator("/metrics?format=prometheus").text();
    for family in [
        "context402_build_info",
        "context402_http_requests_total",
        "context402_http_request_duration_seconds",
        "context402_cache_requests_total",
        "context402_fetch_total",
        "context402_db_bytes",
    ] {
        assert!(text.contains(&format!("# TYPE {family} ")), "{family}");
        assert!(text.contains(&format!("# HELP {family} ")), "{family}");
    }
    assert!(
        text.contains(r#"route="/v1/x402/access",method="POST",code="200""#),
        "{text}"
    );
    let confidence = sold["extraction"]["confidence"].as_f64();
    let tenth = format!(
        "{:.1}",
        (confidence.expect("a share") * 10.0).floor() / 10.0
    );
    let line = format!("context402_extractions_total{{confidence=\"{tenth}\"}} 1\n");
    assert!(text.contains(&line), "{line}: {text}");
}

/// openapi.json is the table: what it lists answers, and what answers is listed.
#[test]
fn openapi_lists_what_there_is() {
    let rig = Rig::start();
    let answer = rig.get("/openapi.json").expect(200);
    assert_eq!(answer.must("content-type"), "application/json");
    let document = answer.json();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["info"]["version"], "1.2.0");
    assert_eq!(document["servers"], json!([{"url": BASE_URL}]));
    let paths = document["paths"].as_object().expect("paths");
    for path in [
        ACCESS,
        PROOF_PACK,
        "/v1/proof-pack/quote",
        "/v1/proof-pack/reports/{report_id}/verify",
        "/v1/x402/retry",
        "/v1/x402/quote",
        "/v1/quotes/{quote_id}",
        "/v1/x402/purchases",
        "/v1/x402/purchases/{purchase_id}",
        "/v1/proof-pack/reports/{report_id}/screenshot",
        "/health",
    ] {
        assert!(paths.contains_key(path), "{path}");
    }
    assert!(paths.keys().all(|path| !path.contains("operator")));
    let mut ids = BTreeSet::new();
    for (path, operations) in paths {
        for (method, operation) in operations.as_object().expect("operations") {
            let id = operation["operationId"].as_str().expect("an id");
            assert!(ids.insert(id.to_owned()), "{id} is there twice");
            assert!(
                operation["summary"].is_string() && operation["tags"].is_array(),
                "{method} {path}"
            );
            assert_eq!(operation["security"], json!([]), "{method} {path}");
            let responses = operation["responses"].as_object().expect("responses");
            let success = match (method.as_str(), path.as_str()) {
                ("post", "/v1/quotes") => "201",
                (
                    _,
                    "/v1/proof-pack/bundle/recover"
                    | "/v1/proof-pack/bundle/leads"
                    | "/v1/proof-pack/leads"
                    | "/v1/contact",
                ) => "202",
                _ => "200",
            };
            assert!(responses.contains_key(success), "{method} {path}");
            assert!(
                responses.keys().any(|status| status.starts_with('4')),
                "{method} {path} documents no 4XX"
            );
            let real = path
                .replace("{source}", "a")
                .replace("{quote_id}", "qt_00000000000000000000000000000000")
                .replace("{report_id}", "ppr_00000000000000000000000000000000");
            let answer = rig.ask(&method.to_ascii_uppercase(), &real).send();
            assert!(
                responses.contains_key(&answer.status.to_string()),
                "{method} {path} answers {} and does not say so",
                answer.status
            );
        }
    }
    let buy = &paths[ACCESS]["post"];
    assert_eq!(
        buy["x-payment-info"]["price"],
        json!({"mode": "dynamic", "currency": "USD", "min": "0.012", "max": "0.05"})
    );
    assert_eq!(
        paths[PROOF_PACK]["post"]["x-payment-info"]["price"],
        json!({"mode": "dynamic", "currency": "USD", "min": "0.1", "max": "1"})
    );
    assert!(buy["responses"]["503"]["headers"]["X-Service-Retry-Credit"].is_object());
    // Every header of a 402 is documented, and none else.
    for path in [ACCESS, PROOF_PACK] {
        let documented = paths[path]["post"]["responses"]["402"]["headers"].as_object();
        let documented = documented.expect("headers").keys();
        let mut documented: BTreeSet<String> = documented.map(|name| name.to_lowercase()).collect();
        // It says why a payment was not accepted.
        assert!(documented.remove("x-service-payment-error"), "{path}");
        let sent = rig.post(path).send().expect(402).headers;
        let sent: BTreeSet<String> = sent
            .into_iter()
            .map(|(name, _)| name)
            .filter(|name| {
                name.starts_with("payment-")
                    || name.starts_with("x-service-")
                    || name == "x-payment-required"
            })
            .collect();
        assert_eq!(documented, sent, "{path}");
    }
    let parameter = |path: &str, name: &str| {
        let all = paths[path]["get"]["parameters"]
            .as_array()
            .expect("parameters");
        let found = all.iter().find(|parameter| parameter["name"] == name);
        found.unwrap_or_else(|| panic!("{path} {name}")).clone()
    };
    // A probe's level may stand in a header, and the listing has defaults.
    assert_eq!(parameter(PROOF_PACK, "X-Service-Pack")["in"], "header");
    assert_eq!(parameter(ACCESS, "X-Service-Tier")["in"], "header");
    for (name, default) in [("limit", 20), ("offset", 0)] {
        let found = parameter("/discovery/resources", name);
        assert_eq!(found["schema"]["default"], default, "{name}");
    }
    let references = references(&document);
    assert!(!references.is_empty());
    for reference in references {
        let pointer = reference.strip_prefix('#').expect("a local reference");
        assert!(
            document.pointer(pointer).is_some(),
            "{reference} leads nowhere"
        );
    }
}

/// A generated client knows what it may send and what comes back.
#[test]
fn openapi_is_no_looser_than_the_service() {
    let rig = Rig::start();
    let document = rig.get("/openapi.json").expect(200).json();
    let mut bare = Vec::new();
    for part in ["paths", "components/schemas"] {
        let part = document.pointer(&format!("/{part}")).expect("a part");
        arrays_without_items(part, String::new(), &mut bare);
    }
    assert!(bare.is_empty(), "{bare:#?}");
    let paths = &document["paths"];
    let operations = paths.as_object().expect("paths").values();
    let operations = operations.map(|methods| methods.as_object().map_or(0, |found| found.len()));
    let operations: usize = operations.sum();
    assert!(operations <= 40, "directories object to {operations}");
    let sources = paths["/v1/proof-pack/bundle/quote"]["get"]["parameters"].to_string();
    assert!(sources.contains(r#""name":"target_urls","in":"query","required":true"#));
    let described = document["info"]["description"].as_str().expect("a text");
    assert!(described.contains("HEAD") && described.contains("HTML pages"));
    // What it leaves out it names, and the other lists have it.
    let full = rig.get("/llms-full.txt").expect(200).text();
    let manifest = rig.get("/manifest.json").expect(200).json();
    let mut omitted = Vec::new();
    for row in context402::routes::ROUTES {
        let (method, path) = (row.method.name(), row.path);
        let is_described = paths[path].get(method.to_ascii_lowercase()).is_some();
        assert_eq!(is_described, row.about.in_openapi, "{method} {path}");
        if is_described || row.guard != Guard::Everyone || !path.starts_with("/v1/") {
            continue;
        }
        assert!(described.contains(path), "{path}: {described}");
        // The payment provider alone calls this one.
        if path == "/v1/webhooks/stripe" {
            continue;
        }
        let named = format!("{method} {path}");
        assert!(described.contains(&named), "{named}: {described}");
        assert!(full.contains(&format!("### {named}\n")), "{named}");
        let endpoints = manifest["endpoints"].as_array().expect("endpoints").iter();
        let mut found = endpoints.filter(|one| one["method"] == method && one["path"] == path);
        assert!(found.next().is_some(), "{named}");
        omitted.push(path);
    }
    assert_eq!(omitted, ["/v1/broker/compute", "/v1/contact"]);
    assert!(paths["/v1/x402/check/quote"]["get"].is_object());
    // What is missing is refused, and the document says that it may not be missing.
    let recover = "/v1/proof-pack/bundle/recover";
    rig.get(recover).invalid("missing", &["query", "email"]);
    let parameters = paths[recover]["get"]["parameters"].as_array();
    let parameters = parameters.expect("parameters").iter();
    assert!(
        parameters.clone().count() == 2 && parameters.clone().all(|one| one["required"] == true)
    );
    let body = |path: &str| {
        let schema = &paths[path]["post"]["requestBody"]["content"]["application/json"];
        let schema = &schema["schema"];
        // Of several shapes the first.
        let schema = schema["anyOf"].get(0).unwrap_or(schema);
        schema["allOf"][1].clone()
    };
    let quote = body("/v1/quotes");
    for (name, needed, foreign) in QUOTE_BELONGINGS {
        let shapes = quote["anyOf"].as_array().expect("shapes").iter();
        let mut shape = shapes.filter(|shape| shape["properties"]["product"]["const"] == name);
        let shape = shape.next().expect("a shape");
        assert_eq!(shape["required"], json!([needed]), "{name}");
        for member in foreign {
            assert_eq!(shape["properties"][member], false, "{name} {member}");
            let mut asked = json!({"product": name, needed: ARTICLE});
            asked[member] = "x".into();
            rig.post("/v1/quotes").json(&asked).send().expect(422);
        }
    }
    for tier in ["starter", "cached"] {
        let refused = &body(ACCESS)["not"]["properties"]["tier"]["enum"];
        assert!(
            refused
                .as_array()
                .is_some_and(|tiers| tiers.contains(&json!(tier)))
        );
    }
    let excluded = |path: &str| {
        let alternatives = body(path)["not"]["anyOf"].clone();
        alternatives.as_array().expect("alternatives").clone()
    };
    let always = json!({"required": ["render"], "properties": {"render": {"const": "always"}}});
    assert!(excluded(ACCESS).contains(&always));
    // A picture belongs to a deep pack, and needs the browser.
    let refused = body(PROOF_PACK)["not"].clone();
    assert_eq!(refused["properties"]["screenshot"]["const"], true);
    assert_eq!(refused["required"], json!(["screenshot"]));
    let deep = json!({"not": {"required": ["pack"], "properties": {"pack": {"const": "deep"}}}});
    let never = json!({"required": ["render"], "properties": {"render": {"const": "never"}}});
    assert_eq!(excluded(PROOF_PACK), [deep, never]);
    for more in [
        json!({}),
        json!({"pack": "quick"}),
        json!({"pack": "standard"}),
        json!({"pack": "deep", "render": "never"}),
    ] {
        let mut asked = json!({"target_url": ARTICLE, "screenshot": true});
        for (name, value) in more.as_object().expect("members") {
            asked[name] = value.clone();
        }
        let pack = asked["pack"].as_str().unwrap_or("standard");
        let payment = Wallet::new().sign_pack(&rig, pack);
        let ask = rig.post(PROOF_PACK).json(&asked).paid(&payment.header);
        ask.send().invalid("value_error", &["body", "screenshot"]);
    }
    for tier in ["starter", "cached"] {
        for several in [false, true] {
            let mut asked = json!({"tier": tier, "render": "always"});
            match several {
                false => asked["target_url"] = ARTICLE.into(),
                true => asked["target_urls"] = json!([ARTICLE, FERRY]),
            }
            let ask = rig.post(ACCESS).json(&asked);
            let payment = Wallet::new().sign_answer(&ask.send().expect(402), rig.now(), None);
            ask.paid(&payment.header)
                .send()
                .invalid("value_error", &["body", "render"]);
        }
    }
    for path in ["/v1/proof-pack/leads", "/v1/proof-pack/bundle/leads"] {
        assert!(
            body(path)["properties"]["contact"]["pattern"].is_string(),
            "{path}"
        );
    }
}

/// Schemas of arrays that do not say of what; examples are no schemas.
fn arrays_without_items(value: &Value, place: String, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if members.get("type") == Some(&json!("array")) && !members.contains_key("items") {
                found.push(place.clone());
            }
            for (name, value) in members {
                if !["example", "examples"].contains(&name.as_str()) {
                    arrays_without_items(value, format!("{place}/{name}"), found);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                arrays_without_items(item, format!("{place}/-"), found);
            }
        }
        _ => {}
    }
}

fn references(value: &Value) -> Vec<String> {
    match value {
        Value::Object(members) => members
            .iter()
            .flat_map(|(name, value)| match (name.as_str(), value) {
                ("$ref", Value::String(reference)) => vec![reference.clone()],
                _ => references(value),
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

/// Every answer of the paid endpoint is one that openapi.json documents.
#[test]
fn the_paid_endpoint_s_statuses_are_documented() {
    let rig = Rig::start();
    let document = rig.get("/openapi.json").expect(200).json();
    for path in [ACCESS, PROOF_PACK, "/v1/x402/retry"] {
        let responses = document["paths"][path]["post"]["responses"]
            .as_object()
            .expect("responses");
        for status in [
            "200", "400", "402", "409", "413", "415", "422", "429", "503",
        ] {
            assert!(responses.contains_key(status), "{path} {status}");
        }
    }
}

/// Whatever advertises an address serves at least a plain page there.
#[test]
fn every_advertised_address_answers() {
    let rig = Rig::start();
    let mut addresses = BTreeSet::new();
    let challenge = rig.post(ACCESS).send().expect(402);
    for (_, value) in &challenge.headers {
        if value.starts_with(BASE_URL) {
            addresses.insert(value.clone());
        }
    }
    assert_eq!(addresses.len(), 4);
    let texts = [
        challenge.text(),
        rig.get("/").text(),
        rig.get("/llms.txt").text(),
        rig.get("/openapi.json").text(),
        rig.get("/v1/x402/quote").text(),
        rig.get("/robots.txt").text(),
        rig.get("/v1/proof-pack/quote").text(),
        rig.get("/v1/proof-pack/preview").text(),
        rig.get("/v1/proof-pack/sample").text(),
        rig.get("/v1/checkout/confidence").text(),
        rig.get("/v1/x402/quote?target_url=nonsense").text(),
    ];
    for text in &texts {
        for found in text.split(BASE_URL).skip(1) {
            let end = found
                .find(|c: char| !c.is_ascii_alphanumeric() && !"/-_.#{}?=&%".contains(c))
                .unwrap_or(found.len());
            addresses.insert(format!("{BASE_URL}{}", found[..end].trim_end_matches('.')));
        }
    }
    assert!(addresses.len() > 10, "{addresses:?}");
    for address in addresses {
        let path = address[BASE_URL.len()..]
            .split('#')
            .next()
            .unwrap_or_default();
        let path = if path.is_empty() { "/" } else { path };
        // These take POST alone.
        if ["/v1/x402/retry", "/v1/access", "/mcp", "/a2a"].contains(&path) {
            rig.get(path).expect(405);
            continue;
        }
        // A quote needs to know what it is for.
        if path == "/v1/proof-pack/bundle/quote" {
            rig.get(path).expect(422);
            continue;
        }
        let is_post = path.ends_with("/follow-up") || path.ends_with("/refresh");
        let answer = match is_post {
            true => {
                let question = json!({"question": "Is it free?"});
                rig.post(path).json(&question).send()
            }
            false => rig.get(path),
        };
        assert_eq!(answer.status, 200, "{address}: {answer:?}");
        // A text fragment names words and no place.
        if let Some((_, fragment)) = address.split_once('#')
            && !fragment.is_empty()
        {
            let page = answer.text();
            assert!(
                page.contains(&format!("id=\"{fragment}\"")),
                "{address} has no such place"
            );
        }
    }
}

/// Every code that an error can carry has its place on /docs, where `docs_url` leads.
#[test]
fn every_error_code_is_explained() {
    let rig = Rig::start();
    let page = rig.get("/docs").expect(200).text();
    for code in context402::domain::code::Code::ALL {
        assert!(
            page.contains(&format!("id=\"{}\"", code.text())),
            "{}",
            code.text()
        );
    }
}

/// In the form of llmstxt.org.
#[test]
fn models_are_told_how_to_buy() {
    let rig = Rig::start();
    let answer = rig.get("/llms.txt").expect(200);
    assert_eq!(answer.must("content-type"), "text/plain; charset=utf-8");
    let text = answer.text();
    let mut lines = text.lines().filter(|line| !line.is_empty());
    assert!(lines.next().is_some_and(|line| line.starts_with("# ")));
    assert!(lines.next().is_some_and(|line| line.starts_with("> ")));
    for price in ["0.012", "0.015", "0.02", "0.03", "0.05"] {
        assert!(text.contains(price), "{price}");
    }
    let links: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("- ["))
        .collect();
    assert!(links.len() >= 4);
    for link in &links {
        assert!(link.contains("): "), "a link without a note: {link}");
    }
    assert_eq!(links.iter().collect::<BTreeSet<_>>().len(), links.len());
    assert!(text.contains("\n## Docs\n") && text.contains("\n## API\n"));
}

#[test]
fn crawlers_are_told_what_they_may_read() {
    let rig = Rig::start();
    let answer = rig.get("/robots.txt").expect(200);
    assert_eq!(answer.must("content-type"), "text/plain; charset=utf-8");
    let text = answer.text();
    for line in [
        "User-agent: *",
        "Content-Signal: search=yes, ai-input=yes, ai-train=no",
        "Allow: /",
        "Disallow: /checkout/",
    ] {
        assert!(
            text.lines().any(|found| found == line),
            "{line} is not in {text}"
        );
    }
}

/// Caches may keep discovery documents: public, max-age=300 and an ETag.
#[test]
fn discovery_documents_can_be_revalidated() {
    let rig = Rig::start();
    for path in [
        "/openapi.json",
        "/llms.txt",
        "/robots.txt",
        "/docs",
        "/assets/style.css",
    ] {
        let answer = rig.get(path).expect(200);
        assert!(
            answer.must("cache-control").starts_with("public, max-age="),
            "{path}"
        );
        let etag = answer.header("etag");
        assert!(etag.is_some(), "{path} has no ETag");
        let again = rig
            .ask("GET", path)
            .header("If-None-Match", etag.unwrap_or_default())
            .send();
        assert_eq!((again.status, again.body.len()), (304, 0), "{path}");
    }
}

#[test]
fn directories_find_every_product_at_the_price_of_their_challenges() {
    let rig = Rig::start();
    let listing = rig.get("/discovery/resources").expect(200).json();
    assert_eq!(listing["x402Version"], 2);
    assert_eq!(
        listing["pagination"],
        json!({"limit": 20, "offset": 0, "total": 5})
    );
    let well_known = rig.get("/.well-known/x402").expect(200);
    assert_eq!(
        well_known.body,
        rig.get("/.well-known/x402.json").expect(200).body
    );
    let well_known = well_known.json();
    for (position, (path, word, level, product)) in [
        (ACCESS, "tier", "fresh", "context"),
        (PROOF_PACK, "pack", "standard", "proof_pack"),
        ("/v1/x402/proof-bundle", "bundle", "builder", "proof_bundle"),
        ("/v1/x402/check", "depth", "standard", "check"),
    ]
    .into_iter()
    .enumerate()
    {
        let offered = rig.post(path).send().expect(402).challenge();
        let offered = &offered["accepts"][0];
        let item = &listing["items"][position];
        assert_eq!(item["resource"], format!("{BASE_URL}{path}"));
        assert_eq!(
            (&item["type"], &item["method"], &item["discoverable"]),
            (&json!("http"), &json!("POST"), &json!(true))
        );
        for member in ["lastUpdated", "metadata", "inputSchema", "outputSchema"] {
            assert!(!item[member].is_null(), "{member}");
        }
        assert!(item["extensions"]["bazaar"]["info"].is_object());
        for accept in [&item["accepts"][0], &well_known["accepts"][position]] {
            for member in [
                "scheme",
                "network",
                "amount",
                "asset",
                "payTo",
                "maxTimeoutSeconds",
            ] {
                assert_eq!(accept[member], offered[member], "{path} {member}");
            }
            let extra = &accept["extra"];
            assert_eq!(
                (&extra["name"], &extra["version"]),
                (&offered["extra"]["name"], &offered["extra"]["version"])
            );
            assert_eq!(
                (&extra["decimals"], &extra[word]),
                (&json!(6), &json!(level))
            );
            assert!(
                extra["price"]
                    .as_str()
                    .is_some_and(|price| price.starts_with('$'))
            );
            // The checkout that it leads to is that of this product.
            let checkout = extra["checkout"].as_str().expect("an address");
            let checkout = checkout.replacen(BASE_URL, "/v1", 1);
            let confidence = rig.get(&checkout).expect(200).json();
            assert_eq!(
                (&confidence["product"], &confidence[word]),
                (&json!(product), &json!(level))
            );
        }
        assert_eq!(
            well_known["resources"][position],
            format!("{BASE_URL}{path}")
        );
        assert_eq!(well_known["routes"][position]["endpoint"], path);
        assert_eq!(
            well_known["items"][position]["resource"]["url"],
            format!("{BASE_URL}{path}")
        );
    }
    // The bundle quote, which takes no payment here, is shown with the query it takes.
    let bundles = &listing["items"][4]["extensions"]["bazaar"];
    assert_eq!(bundles["info"]["input"]["method"], "GET");
    let query = &bundles["info"]["input"]["queryParams"];
    let query: Vec<(String, String)> = query
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect();
    let query = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(query)
        .finish();
    rig.get(&format!("/v1/proof-pack/bundle/quote?{query}"))
        .expect(200);
    assert_eq!(well_known["routes"][1]["price_minor"], 25);
    assert_eq!(well_known["packs"].as_array().map(Vec::len), Some(3));
    assert!(
        well_known["instructions"]
            .as_str()
            .is_some_and(|text| text.len() <= 300)
    );

    let page = |query: &str| rig.get(&format!("/discovery/resources?{query}"));
    assert_eq!(
        page("limit=1&offset=1").expect(200).json()["items"][0]["resource"],
        format!("{BASE_URL}{PROOF_PACK}")
    );
    assert_eq!(
        page("limit=1000").expect(200).json()["pagination"]["limit"],
        100
    );
    assert_eq!(page("offset=7").expect(200).json()["items"], json!([]));
    assert_eq!(
        page("type=http").expect(200).json()["pagination"]["total"],
        5
    );
    let none = page("type=mcp").expect(200).json();
    assert_eq!(
        (&none["items"], &none["pagination"]["total"]),
        (&json!([]), &json!(0))
    );
    page("limit=0").invalid("greater_than_equal", &["query", "limit"]);
    page("limit=-1").invalid("greater_than_equal", &["query", "limit"]);
    page("offset=-1").invalid("greater_than_equal", &["query", "offset"]);
    page("offset=one").invalid("int_parsing", &["query", "offset"]);
}
