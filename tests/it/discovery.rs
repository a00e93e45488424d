//! What programs read about the service, and that it is true.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{ACCESS, ARTICLE, BASE_URL, PAY_TO, PROOF_PACK, Rig, Wallet, until};

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
    assert!(checks["disk"]["free_bytes"].is_u64());
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

/// Revenue and payers appear only to the operator (decisions).
#[test]
fn figures_are_public_and_revenue_is_not() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    rig.buy(&wallet, ARTICLE, "fresh").expect(200);
    rig.get("/v1/quotes/qt_00000000000000000000000000000000")
        .expect(404);
    let answer = rig.get("/metrics").expect(200);
    assert_eq!(answer.must("content-type"), "application/json");
    let public = answer.json();
    assert!(
        public["requests_total"]
            .as_u64()
            .is_some_and(|count| count >= 2)
    );
    let of_quotes =
        json!({"route": "/v1/quotes/{quote_id}", "method": "GET", "status": 404, "requests": 1});
    let rows = public["by_route"].as_array().expect("an array");
    assert!(rows.contains(&of_quotes), "{rows:?}");
    let by_route = public["by_route"].to_string();
    assert!(
        by_route.contains("/v1/quotes/{quote_id}"),
        "labelled by pattern: {by_route}"
    );
    assert!(!by_route.contains("qt_0000"), "{by_route}");
    let text = answer.text();
    assert!(
        !text.contains("revenue") && !text.contains("paid_total"),
        "{text}"
    );
    let payer = wallet.address().to_string();
    assert!(
        !text.contains(&payer) && !text.contains("payments"),
        "{text}"
    );

    let operator = rig.operator("/metrics").json();
    assert_eq!(operator["revenue_units"], "30000");
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
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    let by_query = rig.get("/metrics?format=prometheus").expect(200);
    let by_accept = rig
        .ask("GET", "/metrics")
        .header("Accept", "text/plain;version=0.0.4;q=0.9,*/*;q=0.1")
        .send()
        .expect(200);
    for answer in [by_query, by_accept] {
        assert!(
            answer
                .must("content-type")
                .starts_with("text/plain; version=0.0.4"),
            "{answer:?}"
        );
        let text = answer.text();
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
        assert!(!text.contains("revenue"), "{text}");
        let mut counts = 0;
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, value) = line.rsplit_once(' ').expect("a name and a value");
            assert!(name.starts_with("context402_"), "{line}");
            assert!(value.parse::<f64>().is_ok(), "{line}");
            counts += 1;
        }
        assert!(counts > 10);
        assert!(
            text.contains(r#"route="/v1/x402/access",method="POST",code="200""#),
            "{text}"
        );
    }
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
        "/from/{source}/v1/x402/access",
        PROOF_PACK,
        "/from/{source}/v1/x402/proof-pack",
        "/v1/proof-pack/quote",
        "/v1/proof-pack/reports/{report_id}/verify",
        "/v1/x402/retry",
        "/v1/x402/quote",
        "/v1/quotes/{quote_id}",
        "/",
        "/health",
        "/metrics",
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
                (_, "/v1/proof-pack/bundle/recover") => "202",
                (_, "/proof-pack/bundle/pay" | "/proof-pack/bundle/checkout") => "303",
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
    // Every header of a 402 (specification 7) is documented, and none else.
    for path in [ACCESS, PROOF_PACK] {
        let documented = paths[path]["post"]["responses"]["402"]["headers"].as_object();
        let documented = documented.expect("headers").keys();
        let documented: BTreeSet<String> = documented.map(|name| name.to_lowercase()).collect();
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
    // Specification 4.1: a probe's level may stand in a header; 4.5: the defaults of the listing.
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

/// Whatever advertises an address serves at least a plain page there (decisions, Addresses).
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
        let is_post = path.ends_with("/follow-up") || path.ends_with("/refresh");
        let answer = match is_post {
            true => {
                let question = json!({"question": "Is it free?"});
                rig.post(path).json(&question).send()
            }
            false => rig.get(path),
        };
        assert_eq!(answer.status, 200, "{address}: {answer:?}");
        if let Some((_, fragment)) = address.split_once('#') {
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
    for code in context402::domain::refusal::Code::ALL {
        assert!(
            page.contains(&format!("id=\"{}\"", code.text())),
            "{}",
            code.text()
        );
    }
}

/// llmstxt.org, and `discovery`.
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

/// Discovery documents may be kept by caches and revalidated (discovery, Common: public, max-age=300 + ETag).
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

/// Specification 2.10 and `discovery`: both products, as their live challenges price them.
#[test]
fn directories_find_both_products_at_the_price_of_their_challenges() {
    let rig = Rig::start();
    let listing = rig.get("/discovery/resources").expect(200).json();
    assert_eq!(listing["x402Version"], 2);
    assert_eq!(
        listing["pagination"],
        json!({"limit": 20, "offset": 0, "total": 3})
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
    let bundles = &listing["items"][2]["extensions"]["bazaar"];
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
        3
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
