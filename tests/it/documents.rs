//! The documents that crawlers, directories and browsers look for by themselves.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::harness::{ACCESS, BASE_URL, PROOF_PACK, Rig};

/// Every document: path, media type.
const DOCUMENTS: [(&str, &str); 15] = [
    ("/manifest.json", "application/json"),
    ("/.well-known/agent-card.json", "application/json"),
    ("/.well-known/agent.json", "application/json"),
    ("/.well-known/api-catalog", "application/linkset+json"),
    ("/.well-known/ai-catalog.json", "application/json"),
    ("/.well-known/ard.json", "application/json"),
    (
        "/.well-known/mcp/server-card.json",
        "application/mcp-server-card+json",
    ),
    ("/mcp/server-card", "application/mcp-server-card+json"),
    ("/.well-known/security.txt", "text/plain"),
    ("/llms-full.txt", "text/plain"),
    ("/robots.txt", "text/plain"),
    ("/sitemap.xml", "application/xml"),
    ("/favicon.ico", "image/x-icon"),
    ("/assets/social.png", "image/png"),
    ("/icon.png", "image/png"),
];

#[test]
fn each_document_may_be_kept_and_read_from_anywhere() {
    let rig = Rig::start();
    for (path, media_type) in DOCUMENTS {
        let answer = rig.get(path).expect(200);
        let found = answer.must("content-type").split(';').next();
        assert_eq!(found, Some(media_type), "{path}");
        assert_eq!(answer.must("access-control-allow-origin"), "*", "{path}");
        assert!(
            answer.must("cache-control").starts_with("public, max-age="),
            "{path}"
        );
        let again = rig
            .ask("GET", path)
            .header("If-None-Match", answer.must("etag"))
            .send();
        assert_eq!((again.status, again.body.len()), (304, 0), "{path}");
        let head = rig.ask("HEAD", path).send();
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
    }
}

/// Every address of ours in a text.
fn addresses(text: &str) -> BTreeSet<String> {
    let ends = |c: char| !c.is_ascii_alphanumeric() && !"/-_.#{}?=&%:".contains(c);
    // A port of another address may begin as ours.
    let found = text
        .split(BASE_URL)
        .skip(1)
        .filter(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
    found
        .map(|rest| {
            let end = rest.find(ends).unwrap_or(rest.len());
            rest[..end].trim_end_matches(['.', ':']).to_owned()
        })
        .collect()
}

#[test]
fn what_the_documents_name_is_there() {
    let rig = Rig::start();
    let mut named = BTreeSet::new();
    for (path, media_type) in DOCUMENTS {
        if !media_type.starts_with("image/") {
            named.extend(addresses(&rig.get(path).text()));
        }
    }
    named.extend(addresses(&rig.get("/llms.txt").text()));
    named.extend(addresses(&rig.get("/v1/agent/trust").text()));
    assert!(named.len() > 25, "{named:?}");
    for address in named {
        let path = address.split('#').next().unwrap_or_default();
        let answer = rig.get(if path.is_empty() { "/" } else { path });
        // These take POST alone.
        let is_interface = ["/mcp", "/a2a", "/v1/agent/diagnose"].contains(&path);
        let templates =
            path.contains('{') || path.ends_with("/follow-up") || path.ends_with("/refresh");
        if !templates {
            let expected = match path {
                _ if is_interface => 405,
                // A quote needs to know what it is for.
                "/v1/proof-pack/bundle/quote" => 422,
                _ => 200,
            };
            assert_eq!(answer.status, expected, "{address}");
        }
    }
}

#[test]
fn crawlers_of_models_are_told_in_a_group_of_their_own() {
    let rig = Rig::start();
    let text = rig.get("/robots.txt").expect(200).text();
    let groups: Vec<&str> = text.trim_end().split("\n\n").collect();
    assert_eq!(groups.len(), 3, "{text}");
    for group in &groups[..2] {
        for line in [
            "Allow: /",
            "Disallow: /operator",
            "Disallow: /checkout/",
            "Disallow: /proof-pack/reports/",
            "Disallow: /proof-pack/bundle/delivery",
        ] {
            assert!(
                group.lines().any(|found| found == line),
                "{line} is not in {group}"
            );
        }
    }
    assert!(
        groups[1].contains("User-agent: GPTBot\n") && groups[1].contains("User-agent: ClaudeBot\n")
    );
    assert_eq!(groups[2], format!("Sitemap: {BASE_URL}/sitemap.xml"));
}

#[test]
fn the_sitemap_lists_pages_that_may_be_indexed() {
    let rig = Rig::start();
    let text = rig.get("/sitemap.xml").expect(200).text();
    let listed: Vec<&str> = text
        .split("<loc>")
        .skip(1)
        .filter_map(|rest| rest.split("</loc>").next())
        .collect();
    assert!(listed.len() >= 8, "{text}");
    assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), listed.len());
    assert_eq!(text.matches("<lastmod>20").count(), listed.len());
    for address in listed {
        let path = address.strip_prefix(BASE_URL).expect("an address of ours");
        let answer = rig
            .ask("GET", path)
            .header("Accept", "text/html")
            .send()
            .expect(200);
        assert!(
            answer
                .header("x-robots-tag")
                .is_none_or(|tag| !tag.contains("noindex")),
            "{path}"
        );
        assert!(
            !answer.text().contains("noindex"),
            "{path} asks not to be indexed"
        );
    }
    assert!(text.contains(&format!("<loc>{BASE_URL}/docs</loc>")) && !text.contains("/checkout/"));
}

/// RFC 9116.
#[test]
fn a_weakness_can_be_reported() {
    let rig = Rig::start();
    let text = rig.get("/.well-known/security.txt").expect(200).text();
    assert!(
        text.contains(&format!("Contact: {BASE_URL}/contact\n")),
        "{text}"
    );
    let expires = text
        .lines()
        .find_map(|line| line.strip_prefix("Expires: "))
        .expect("an end");
    let end: jiff::Timestamp = expires.parse().expect("RFC 3339");
    let days = (end.as_second() - i64::try_from(rig.now().0).expect("small")) / 86_400;
    assert!((150..365).contains(&days), "{expires}");
    let named = Rig::with(|resolved| resolved.set("contact", "desk@example.com"));
    let text = named.get("/.well-known/security.txt").expect(200).text();
    assert!(
        text.contains("Contact: mailto:desk@example.com\n"),
        "{text}"
    );
}

#[test]
fn the_manifest_describes_an_app_and_a_service() {
    let rig = Rig::start();
    let manifest = rig.get("/manifest.json").expect(200).json();
    for member in [
        "name",
        "short_name",
        "start_url",
        "display",
        "theme_color",
        "version",
        "base_url",
    ] {
        assert!(manifest[member].is_string(), "{member}");
    }
    for icon in manifest["icons"].as_array().expect("icons") {
        rig.get(icon["src"].as_str().expect("a path")).expect(200);
    }
    assert_eq!(manifest["payment"]["facilitator"], rig.facilitator.url);
    assert_eq!(
        manifest["legacy"],
        serde_json::json!(["/v1/access", "/v1/broker/compute"])
    );
    let catalogue = rig.get("/.well-known/api-catalog").expect(200).json();
    assert_eq!(catalogue["linkset"][0]["anchor"], BASE_URL);
    let entries = rig.get("/.well-known/ai-catalog.json").expect(200).json();
    for entry in entries["entries"].as_array().expect("entries") {
        let url = entry["url"]
            .as_str()
            .and_then(|url| url.strip_prefix(BASE_URL));
        rig.get(url.expect("an address of ours")).expect(200);
        assert!(
            (2..=5).contains(
                &entry["representativeQueries"]
                    .as_array()
                    .map_or(0, Vec::len)
            )
        );
    }
    let card = rig
        .get("/.well-known/mcp/server-card.json")
        .expect(200)
        .json();
    assert_eq!(card["remotes"][0]["url"], format!("{BASE_URL}/mcp"));
}

/// The whole reference: every endpoint, field and error, and JSON in it that is what the service sends.
#[test]
fn models_can_read_everything_in_one_file() {
    let rig = Rig::start();
    let text = rig.get("/llms-full.txt").expect(200).text();
    for row in context402::routes::ROUTES
        .iter()
        .filter(|row| row.about.in_openapi)
    {
        let heading = format!("### {} {}\n", row.method.name(), row.path);
        assert!(text.contains(&heading), "{heading}");
    }
    for object in context402::domain::shapes::ALL {
        assert!(
            text.contains(&format!("### {}\n", object.name)),
            "{}",
            object.name
        );
    }
    for code in context402::domain::code::Code::ALL {
        assert!(
            text.contains(&format!("- `{}` (", code.text())),
            "{}",
            code.text()
        );
    }
    let blocks: Vec<Value> = text
        .split("```json\n")
        .skip(1)
        .filter_map(|rest| serde_json::from_str(rest.split("\n```").next()?).ok())
        .collect();
    assert_eq!(blocks.len(), 2 + context402::domain::shapes::ALL.len());
    assert_eq!(blocks[0], rig.post(ACCESS).send().expect(402).json());
    assert_eq!(
        blocks[1],
        rig.get("/v1/proof-pack/sample").expect(200).json()
    );
    assert!(text.contains(PROOF_PACK));
}
