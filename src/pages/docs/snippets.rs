//! The examples beside the endpoints of `/docs`: a request in three languages and the response to it. Each is a whole
//! program in `snippets/`, shown as it stands there; `tests/interop/checks/snippets.mjs` takes them from the page, runs
//! them and compares what they get with the response that is shown.

use maud::{Markup, html};

use crate::pages::parts;
use crate::pages::site::Site;

/// One example.
#[derive(Clone, Copy, Debug)]
pub struct Snippet {
    /// Unique among the examples; part of their anchors.
    pub name: &'static str,
    pub title: &'static str,
    /// The endpoint that it calls, as in the route table.
    pub method: &'static str,
    pub path: &'static str,
    /// What the reader has to know before running it; may be empty.
    pub note: &'static str,
    shell: &'static str,
    typescript: &'static str,
    python: &'static str,
    /// JSON in which `{base_url}` stands for the service and `…` for what differs each time.
    response: &'static str,
}

macro_rules! snippet {
    ($name:literal, $method:literal $path:literal, $title:literal, $note:expr) => {
        Snippet {
            name: $name,
            title: $title,
            method: $method,
            path: $path,
            note: $note,
            shell: include_str!(concat!("snippets/", $name, ".sh")),
            typescript: include_str!(concat!("snippets/", $name, ".ts")),
            python: include_str!(concat!("snippets/", $name, ".py")),
            response: include_str!(concat!("snippets/", $name, ".json")),
        }
    };
}

/// What stands for a report's id in the examples.
const SAMPLE_REPORT: &str =
    "`ppr_sample` is the free sample report; replace it with the id of your report.";

/// Every example, in the order of the page.
#[rustfmt::skip]
pub const SNIPPETS: [Snippet; 14] = [
    snippet!("access", "POST" "/v1/x402/access", "One page", ""),
    snippet!("pages", "POST" "/v1/x402/access", "Several pages",
             "Priced as that many pages. If one cannot be read, nothing is charged and the response lists those that can."),
    snippet!("excerpt", "POST" "/v1/x402/access", "The passages that answer a query",
             "Costs the same as the whole page; the response stays within the token budget."),
    snippet!("proof-pack", "POST" "/v1/x402/proof-pack", "A report on one source", ""),
    snippet!("proof-bundle", "POST" "/v1/x402/proof-bundle", "A report on several sources",
             "Sold if at least two sources, and at least half of them, can be read. The official clients refuse to pay more \
              than 1 USD at once, so the programs raise that limit to the price."),
    snippet!("check", "POST" "/v1/x402/check", "A text checked claim by claim",
             "Priced per source. Where that comes to more than 1 USD, raise the clients' limit as for a bundle."),
    snippet!("retry", "POST" "/v1/x402/retry", "Redeem a retry credit",
             "`RETRY_CREDIT` is `X-Service-Retry-Credit` from the 503 response; repeat the body you paid for."),
    snippet!("purchases", "GET" "/v1/x402/purchases", "What this wallet has bought",
             "The service supplies a statement (EIP-4361), and the wallet signs it; nothing is paid."),
    snippet!("quote", "GET" "/v1/x402/quote", "What a page costs now", ""),
    snippet!("pack-quote", "GET" "/v1/proof-pack/quote", "What a report costs now", ""),
    snippet!("bundle-quote", "GET" "/v1/proof-pack/bundle/quote", "Which bundle takes these sources",
             "Sources in `rejected_urls` do not count towards the price."),
    snippet!("report", "GET" "/v1/proof-pack/reports/{report_id}", "A report, read again", SAMPLE_REPORT),
    snippet!("verify", "GET" "/v1/proof-pack/reports/{report_id}/verify", "A report's hashes and citations, checked", SAMPLE_REPORT),
    snippet!("follow-up", "POST" "/v1/proof-pack/reports/{report_id}/follow-up", "Another question to the same source", SAMPLE_REPORT),
];

/// The examples of an endpoint.
pub fn of(method: &str, path: &str) -> impl Iterator<Item = &'static Snippet> {
    SNIPPETS
        .iter()
        .filter(move |snippet| (snippet.method, snippet.path) == (method, path))
}

impl Snippet {
    /// Label, file name and text of each language.
    fn languages(&self) -> [(&'static str, String, &'static str); 3] {
        [
            ("curl", "Shell".to_owned(), self.shell),
            ("TypeScript", format!("{}.ts", self.name), self.typescript),
            ("Python", format!("{}.py", self.name), self.python),
        ]
    }

    /// The request in tabs, and the response beside it, under a heading of the page's level.
    pub fn markup(&self, site: &Site<'_>, heading: &Markup) -> Markup {
        let blocks = self
            .languages()
            .map(|(label, caption, text)| (label, parts::code(&caption, text.trim_end())));
        let response = self.response.replace("{base_url}", site.base_url);
        html! {
            .example #{ "example-" (self.name) } {
                a.title href={ "#example-" (self.name) } { (heading) }
                @if !self.note.is_empty() { p.muted { (parts::with_code(self.note)) } }
                .pair {
                    (parts::tabs(&format!("language-{}", self.name), "Request", &blocks))
                    (parts::tall_code("Response, shortened", response.trim_end()))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use crate::domain::level::Product;
    use crate::pages::docs::snippets::*;

    #[test]
    fn every_program_calls_its_endpoint() {
        for snippet in &SNIPPETS {
            for (label, _, text) in snippet.languages() {
                let path = snippet.path.replace("{report_id}", "ppr_sample");
                assert!(text.contains(&path), "{} {label}", snippet.name);
                assert!(text.contains("BASE_URL"), "{} {label}", snippet.name);
            }
        }
    }

    /// What the response says that it cost is what its level costs; a URL to verify is not the report's own.
    #[test]
    fn responses_show_our_prices() {
        let mut prices = 0;
        for snippet in &SNIPPETS {
            let response: Value = serde_json::from_str(snippet.response).expect(snippet.name);
            let price_of = |shown: &Value| {
                let mut levels = Product::ALL.into_iter();
                let level = levels.find_map(|product| {
                    product.level(shown[product.level_word()].as_str().unwrap_or_default())
                });
                level.expect(snippet.name).price()
            };
            // As many as the request has sources.
            let quantity = match snippet.name {
                "check" => 2,
                _ => response["pages"].as_array().map_or(1, Vec::len),
            };
            if let Some(amount) = response["payment"].get("amount_usdc") {
                let expected = price_of(&response).times(quantity).as_usdc();
                assert_eq!(amount.as_f64(), Some(expected), "{}", snippet.name);
                prices += 1;
            }
            let lists = ["tiers", "packs", "bundles"];
            let levels = lists
                .into_iter()
                .filter_map(|list| response[list].as_array());
            for level in levels.flatten() {
                let expected = price_of(level).as_usdc();
                assert_eq!(level["price_usdc"].as_f64(), Some(expected), "{level}");
                prices += 1;
            }
            assert!(
                response["verify_url"].is_null()
                    || response["verify_url"] != response["report_url"],
                "{}",
                snippet.name
            );
        }
        assert_eq!(prices, 14);
    }

    #[test]
    fn responses_are_json() {
        for snippet in &SNIPPETS {
            let response: Value = serde_json::from_str(snippet.response).expect(snippet.name);
            assert!(response["status"].is_string(), "{}", snippet.name);
        }
    }
}
