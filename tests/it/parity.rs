//! One table, many documents: prices, addresses, fields and statuses agree between openapi.json, the x402 documents,
//! the cards, llms.txt, the reference page, the MCP tools and the live 402.

use std::collections::{BTreeMap, BTreeSet};

use context402::domain::endpoint::{HTML, Price};
use context402::domain::figures::cents;
use context402::domain::level::{Level, Product};
use context402::http::{Guard, Method};
use context402::routes::ROUTES;
use serde_json::{Value, json};

use crate::harness::{BASE_URL, Rig};

/// The machine surface of one service, fetched once.
struct Surface {
    openapi: Value,
    x402: Value,
    listing: Value,
    manifest: Value,
    brief: Value,
    card: Value,
    tools: Vec<Value>,
    llms: String,
    full: String,
    docs: String,
}

impl Surface {
    fn of(rig: &Rig) -> Surface {
        let json = |path: &str| rig.get(path).expect(200).json();
        let text = |path: &str| rig.get(path).expect(200).text();
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let tools = rig.post("/mcp").json(&list).send().expect(200).json();
        Surface {
            openapi: json("/openapi.json"),
            x402: json("/.well-known/x402"),
            listing: json("/discovery/resources"),
            manifest: json("/manifest.json"),
            brief: json("/"),
            card: json("/.well-known/agent-card.json"),
            tools: tools["result"]["tools"]
                .as_array()
                .cloned()
                .unwrap_or_default(),
            llms: text("/llms.txt"),
            full: text("/llms-full.txt"),
            docs: text("/docs"),
        }
    }

    fn tool(&self, name: &str) -> &Value {
        let tool = self.tools.iter().find(|tool| tool["name"] == name);
        tool.unwrap_or_else(|| panic!("{name} is no tool"))
    }
}

/// The live 402 of a level.
fn live(rig: &Rig, level: Level) -> Value {
    rig.post(&address(level)).send().expect(402).challenge()
}

fn address(level: Level) -> String {
    let product = level.product();
    format!(
        "{}?{}={}",
        product.path(),
        product.level_word(),
        level.name()
    )
}

fn lists(product: Product) -> [&'static str; 2] {
    [product.levels_word(), product.level_word()]
}

#[test]
fn every_document_names_the_price_of_the_live_challenge() {
    let rig = Rig::start();
    let surface = Surface::of(&rig);
    for level in Level::ALL {
        let (product, amount) = (
            level.product(),
            live(&rig, level)["accepts"][0]["amount"].clone(),
        );
        let units: u64 = amount
            .as_str()
            .and_then(|text| text.parse().ok())
            .expect("units");
        #[expect(clippy::cast_precision_loss, reason = "prices are small")]
        let usdc = units as f64 / 1e6;
        let [list, word] = lists(product);
        for (document, prices) in [
            ("x402", &surface.x402[list]),
            ("manifest", &surface.manifest["pricing"][list]),
            ("brief", &surface.brief[list]),
        ] {
            let row = prices
                .as_array()
                .and_then(|rows| rows.iter().find(|row| row[word] == level.name()));
            let row = row.unwrap_or_else(|| panic!("{document} has no {}", level.name()));
            assert_eq!(row["amount"], amount, "{document} {}", level.name());
            assert!(
                (row["price_usdc"].as_f64().unwrap_or_default() - usdc).abs() < 1e-9,
                "{document}"
            );
        }
        let line = format!("- {}: {} (", level.name(), cents(level.price()));
        assert!(
            surface.llms.contains(&line) && surface.full.contains(&line),
            "{line}"
        );
        assert_eq!(level.price().units(), units);
    }
}

#[test]
fn every_document_names_the_terms_of_the_live_challenge() {
    let rig = Rig::start();
    let surface = Surface::of(&rig);
    for product in Product::ALL {
        let challenge = live(&rig, product.default_level());
        let offered = &challenge["accepts"][0];
        let address = format!("{BASE_URL}{}", product.path());
        assert_eq!(challenge["resource"]["url"], address);
        let item = surface.listing["items"]
            .as_array()
            .and_then(|items| items.iter().find(|item| item["resource"] == address));
        let item = item.unwrap_or_else(|| panic!("{address} is not listed"));
        let advertised = surface.x402["resources"]
            .as_array()
            .and_then(|all| all.iter().position(|url| *url == address));
        let advertised = advertised.unwrap_or_else(|| panic!("{address} is not advertised"));
        for accept in [
            &item["accepts"][0],
            &surface.x402["accepts"][advertised],
            &surface.x402["items"][advertised]["accepts"][0],
        ] {
            for member in [
                "scheme",
                "network",
                "amount",
                "asset",
                "payTo",
                "maxTimeoutSeconds",
            ] {
                assert_eq!(accept[member], offered[member], "{address} {member}");
            }
        }
        for terms in [&surface.manifest["payment"], &surface.brief["payment"]] {
            assert_eq!(terms["network"], offered["network"]);
            assert_eq!(terms["asset"], offered["asset"]);
            assert_eq!(terms["pay_to"], offered["payTo"]);
        }
        // What a directory is told of the body is what the body is checked by.
        let bazaar = &challenge["extensions"]["bazaar"]["schema"]["properties"]["input"]["properties"]
            ["body"]["properties"];
        assert_eq!(
            fields(bazaar),
            fields(&product.request().json_schema()["properties"])
        );
        assert_eq!(item["inputSchema"], product.request().json_schema());
    }
}

fn fields(properties: &Value) -> BTreeSet<String> {
    properties
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect()
}

/// Prices of paid operations in words: openapi's payment info, the tools, the skills, the manifest and the page.
#[test]
fn paid_operations_cost_the_same_everywhere() {
    let rig = Rig::start();
    let surface = Surface::of(&rig);
    let paid = ROUTES.iter().filter(|row| row.about.takes.is_some());
    for row in paid {
        let Price::Of(product) = row.about.price else {
            continue;
        };
        let (least, most) = product.prices();
        let words = row.about.price.text().expect("a price");
        let operation = &surface.openapi["paths"][row.path]["post"];
        let price = &operation["x-payment-info"]["price"];
        assert_eq!(
            *price,
            json!({"mode": "dynamic", "currency": "USD", "min": least.to_string(), "max": most.to_string()})
        );
        let name = row.about.tool.expect("what is sold is a tool");
        assert!(
            surface.tool(name)["description"]
                .as_str()
                .is_some_and(|text| text.contains(&words)),
            "{name}"
        );
        let id = name.replace('_', "-");
        let skill = surface.card["skills"]
            .as_array()
            .and_then(|all| all.iter().find(|skill| skill["id"] == id));
        assert!(
            skill
                .and_then(|skill| skill["description"].as_str())
                .is_some_and(|text| text.contains(&words)),
            "{id}"
        );
        let endpoint = surface.manifest["endpoints"].as_array().and_then(|all| {
            all.iter()
                .find(|endpoint| endpoint["path"] == row.path && endpoint["method"] == "POST")
        });
        assert_eq!(
            endpoint.map(|endpoint| endpoint["price"].clone()),
            Some(json!(words))
        );
        assert!(surface.docs.contains(&words), "{words}");
    }
}

/// What programs call: described in openapi.json, or named there.
fn is_operation(row: &context402::app::Row) -> bool {
    let is_called = row.path.starts_with("/v1/") && row.path != "/v1/webhooks/stripe";
    row.guard == Guard::Everyone && (row.about.in_openapi || is_called)
}

/// What is in one list of endpoints is in all, and nothing of the operator's is in any.
#[test]
fn the_lists_of_endpoints_are_one_list() {
    let rig = Rig::start();
    let surface = Surface::of(&rig);
    let rows: BTreeSet<(String, String)> = ROUTES
        .iter()
        .filter(|row| is_operation(row))
        .map(|row| (row.method.name().to_owned(), row.path.to_owned()))
        .collect();
    let manifest = surface.manifest["endpoints"]
        .as_array()
        .into_iter()
        .flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let manifest: BTreeSet<_> = manifest
        .map(|endpoint| (text(&endpoint["method"]), text(&endpoint["path"])))
        .collect();
    assert_eq!(manifest, rows);
    let openapi: BTreeSet<_> = surface.openapi["paths"]
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(path, _)| !path.starts_with("/from/"))
        .flat_map(|(path, operations)| {
            let methods = operations.as_object().into_iter().flatten();
            methods.map(|(method, _)| (method.to_ascii_uppercase(), path.clone()))
        })
        .collect();
    // openapi.json has what is there to be read besides.
    let read = ROUTES.iter().filter(|row| {
        row.guard == Guard::Everyone && (row.method == Method::Get || row.about.gives == HTML)
    });
    let mut read: BTreeSet<_> = read
        .map(|row| (row.method.name().to_owned(), row.path.to_owned()))
        .collect();
    // HEAD is described for the paid endpoints.
    read.extend(Product::ALL.map(|product| ("HEAD".to_owned(), product.path().to_owned())));
    let described: BTreeSet<(String, String)> = ROUTES
        .iter()
        .filter(|row| row.about.in_openapi)
        .map(|row| (row.method.name().to_owned(), row.path.to_owned()))
        .collect();
    assert!(described.is_subset(&openapi), "{described:?}");
    let more: BTreeSet<_> = openapi.difference(&rows).cloned().collect();
    assert!(more.is_subset(&read), "{:?}", more.difference(&read));
    for (method, path) in &rows {
        assert!(
            surface.full.contains(&format!("### {method} {path}\n")),
            "{path}"
        );
        assert!(surface.docs.contains(path.as_str()), "{path}");
    }
    let everything = [&surface.full, &surface.llms, &surface.docs];
    assert!(
        everything
            .iter()
            .all(|text| !text.contains("/operator/payments"))
    );
    assert!(!surface.manifest.to_string().contains("/operator/payments"));
}

#[test]
fn request_bodies_have_the_same_fields_everywhere() {
    let rig = Rig::start();
    let surface = Surface::of(&rig);
    for row in ROUTES.iter().filter(|row| row.about.in_openapi) {
        let Some(object) = row.about.takes else {
            continue;
        };
        let schema = &surface.openapi["components"]["schemas"][object.name];
        assert_eq!(*schema, object.json_schema(), "{}", object.name);
        let method = row.method.name().to_ascii_lowercase();
        let body = &surface.openapi["paths"][row.path][&method]["requestBody"]["content"]["application/json"];
        let reference = format!("#/components/schemas/{}", object.name);
        assert!(
            body["schema"].to_string().contains(&reference),
            "{}",
            row.path
        );
        let named = fields(&schema["properties"]);
        if let Some(name) = row.about.tool {
            let taken = fields(&surface.tool(name)["inputSchema"]["properties"]);
            assert!(named.is_subset(&taken), "{name} takes {taken:?}");
        }
        assert!(surface.docs.contains(object.doc), "{}", object.doc);
        assert!(surface.full.contains(object.doc), "{}", object.doc);
        for field in named {
            assert!(surface.full.contains(&format!("- `{field}` (")), "{field}");
            assert!(surface.docs.contains(&field), "{field}");
        }
    }
}

/// A tool takes what its endpoint takes in path, query and body, but for the label of where the buyer came from.
#[test]
fn tools_take_what_their_endpoints_take() {
    let rig = Rig::start();
    let surface = Surface::of(&rig);
    let mut count = 0;
    for row in ROUTES {
        let Some(name) = row.about.tool else { continue };
        count += 1;
        let method = row.method.name().to_ascii_lowercase();
        let operation = &surface.openapi["paths"][row.path][&method];
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let mut expected: BTreeSet<String> = parameters
            .filter(|parameter| parameter["in"] != "header" && parameter["name"] != "source")
            .filter_map(|parameter| parameter["name"].as_str().map(str::to_owned))
            .collect();
        // A header that it cannot do without is an argument in small letters.
        let needs = row.about.needs.iter();
        expected.extend(needs.map(|one| one.name.to_ascii_lowercase().replace('-', "_")));
        let others = match row.about.price {
            Price::Of(_) => row.about.or_takes,
            _ => &[],
        };
        for object in row.about.takes.iter().chain(others) {
            expected.extend(object.fields.iter().map(|field| field.name.to_owned()));
        }
        let schema = &surface.tool(name)["inputSchema"];
        assert_eq!(fields(&schema["properties"]), expected, "{name}");
        assert_eq!(
            surface.tool(name)["annotations"]["readOnlyHint"],
            row.about.price == Price::Free,
            "{name}"
        );
        for needed in schema["required"].as_array().into_iter().flatten() {
            assert!(
                expected.contains(needed.as_str().unwrap_or_default()),
                "{name} {needed}"
            );
        }
    }
    assert_eq!(count, surface.tools.len());
    assert_eq!(surface.card["skills"].as_array().map(Vec::len), Some(count));
}

/// The statuses that openapi.json documents are those of the reference for models, and examples carry them.
#[test]
fn documented_statuses_agree_and_their_examples_are_real() {
    let rig = Rig::start();
    let surface = Surface::of(&rig);
    let codes: BTreeMap<&str, u16> = context402::domain::code::Code::ALL
        .iter()
        .map(|code| (code.text(), context402::api::failure::status(*code)))
        .collect();
    for row in ROUTES.iter().filter(|row| row.about.in_openapi) {
        let method = row.method.name().to_ascii_lowercase();
        let responses = &surface.openapi["paths"][row.path][&method]["responses"];
        let statuses = responses.as_object().into_iter().flatten();
        let statuses: BTreeSet<&str> = statuses.map(|(status, _)| status.as_str()).collect();
        let statuses: Vec<&str> = statuses.into_iter().collect();
        let section = surface
            .full
            .split(&format!("### {} {}\n", row.method.name(), row.path))
            .nth(1);
        let section = section
            .and_then(|rest| rest.split("\n### ").next())
            .unwrap_or_default();
        let line = format!("- responses: {}\n", statuses.join(", "));
        assert!(section.contains(&line), "{} {line} {section}", row.path);
        for (status, answer) in responses.as_object().into_iter().flatten() {
            let example = &answer["content"]["application/json"]["example"];
            if let Some(code) = example["error"]["code"].as_str() {
                assert_eq!(codes[code].to_string(), *status, "{} {code}", row.path);
            }
        }
    }
    // The example of a challenge is the challenge, that of a report the sample report.
    for product in Product::ALL {
        let example = made(&surface.openapi, product.path(), "post", "402");
        assert_eq!(example, live(&rig, product.default_level()));
    }
    let sample = rig.get("/v1/proof-pack/sample").json();
    for (path, method) in [
        ("/v1/proof-pack/sample", "get"),
        ("/v1/x402/proof-pack", "post"),
    ] {
        assert_eq!(
            made(&surface.openapi, path, method, "200"),
            sample,
            "{path}"
        );
    }
    let page = made(&surface.openapi, "/v1/x402/access", "post", "200");
    assert_eq!(page["target_url"], format!("{BASE_URL}/sample"));
    assert!(
        page["markdown"]
            .as_str()
            .is_some_and(|text| text.starts_with("# "))
    );
}

/// The shared example that an answer refers to.
fn made(openapi: &Value, path: &str, method: &str, status: &str) -> Value {
    let answer = &openapi["paths"][path][method]["responses"][status];
    let reference = &answer["content"]["application/json"]["examples"]["made"]["$ref"];
    let pointer = reference.as_str().and_then(|text| text.strip_prefix('#'));
    let example = openapi.pointer(pointer.unwrap_or("nowhere"));
    example.map_or(Value::Null, |example| example["value"].clone())
}

/// What can be sent as it stands is what is shown: no example of a body is refused for its shape.
#[test]
fn example_bodies_are_taken() {
    let rig = Rig::on_chain(|resolved| resolved.set("legacy.access", "true"));
    let document = Surface::of(&rig).openapi;
    let mut count = 0;
    for (path, operations) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in operations.as_object().into_iter().flatten() {
            let example = &operation["requestBody"]["content"]["application/json"]["example"];
            if example.is_null() {
                continue;
            }
            count += 1;
            let real = path
                .replace("{report_id}", "ppr_sample")
                .replace("{source}", "a");
            let ask = rig.ask(&method.to_ascii_uppercase(), &real).json(example);
            let answer = ask.header("x402-token", "any").send();
            assert_ne!(answer.status, 422, "{path} {example}: {answer:?}");
            assert!(answer.status < 500, "{path}: {answer:?}");
        }
    }
    assert!(count >= 9, "only {count} bodies are shown");
}

/// The 402 of an empty unpaid POST stays small enough for every facilitator, header and body alike.
#[test]
fn challenges_stay_small_with_every_extension() {
    let rig = Rig::with(|resolved| resolved.set("signing.key", "0123456789abcdef".repeat(4)));
    for level in Level::ALL {
        let answer = rig
            .ask(Method::Post.name(), &address(level))
            .send()
            .expect(402);
        assert!(
            answer.body.len() <= 2_900,
            "{} has {} bytes",
            level.name(),
            answer.body.len()
        );
        let decoded = context402::x402::encoding::decode(answer.must("payment-required"));
        assert_eq!(decoded.as_deref(), Some(answer.body.as_slice()));
        assert_eq!(
            answer.must("payment-required"),
            answer.must("x-payment-required")
        );
        let extensions = &answer.challenge()["extensions"];
        for extension in ["bazaar", "payment-identifier", "offer-receipt"] {
            assert!(
                extensions[extension].is_object(),
                "{} lacks {extension}",
                level.name()
            );
        }
    }
}
