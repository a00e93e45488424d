//! The command lines that pages print. Each runs as shown: input is quoted for a POSIX shell, so that a hostile address
//! cannot break out of its string.

use serde_json::Value;

use crate::domain::level::{Level, Product};
use crate::domain::pack::Pack;
use crate::domain::tier::Tier;
use crate::domain::words::is_unseen;
use crate::pages::site::Site;

/// The budget of the excerpts that are shown.
pub const EXCERPT_TOKENS: u64 = 500;

/// What a command buys.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    pub target_url: &'a str,
    pub level: Level,
    /// The question of a report; of a page, the query for its passages within [`EXCERPT_TOKENS`].
    pub question: Option<&'a str>,
    /// Overrides the cache mode of the level.
    pub force_refresh: Option<bool>,
}

impl<'a> Item<'a> {
    pub fn page(target_url: &'a str, tier: Tier) -> Self {
        Item {
            target_url,
            level: Level::Tier(tier),
            question: None,
            force_refresh: None,
        }
    }

    pub fn report(target_url: &'a str, question: &'a str, pack: Pack) -> Self {
        Item {
            target_url,
            level: Level::Pack(pack),
            question: Some(question),
            force_refresh: None,
        }
    }

    /// The members of the request's body, names and values.
    fn members(&self) -> Vec<(&'static str, Value)> {
        let mut members = vec![("target_url", Value::from(self.target_url))];
        match (self.level.product(), self.question) {
            (Product::Context, Some(query)) => {
                members.push(("query", query.into()));
                members.push(("max_tokens", EXCERPT_TOKENS.into()));
            }
            (_, Some(question)) => members.push(("question", question.into())),
            (_, None) => {}
        }
        members.push((self.level.product().level_word(), self.level.name().into()));
        members.extend(
            self.force_refresh
                .map(|refresh| ("force_refresh", refresh.into())),
        );
        members
    }
}

/// Asks for the price without paying: the answer is the 402 challenge.
pub fn challenge_curl(site: &Site<'_>, item: Item<'_>) -> String {
    challenge_curl_at(site, item.level.product().path(), item)
}

/// The same against another path of the paid operation, such as the `/from/{source}` alias.
pub fn challenge_curl_at(site: &Site<'_>, path: &str, item: Item<'_>) -> String {
    format!(
        "curl -i {} \\\n  -H 'Content-Type: application/json' \\\n  -d {}",
        shell_word(&site.url(path)),
        shell_word(&body(item)),
    )
}

/// The same, but prints the decoded header of the response.
pub fn decoded_challenge_curl(site: &Site<'_>, item: Item<'_>) -> String {
    let ask = challenge_curl(site, item).replacen("curl -i", "curl -s -o /dev/null -D -", 1);
    format!(
        "{ask} \\\n  | tr -d '\\r' | awk 'tolower($1) == \"payment-required:\" {{ print $2 }}' | base64 -d"
    )
}

/// Buys with `context402 buy`, for at most the level's price.
pub fn buy(site: &Site<'_>, item: Item<'_>) -> String {
    let (target, level) = (shell_word(item.target_url), item.level);
    let question = item.question.map_or(String::new(), |question| {
        format!("  --question {} \\\n", shell_word(question))
    });
    let refresh = match item.force_refresh {
        None => "",
        Some(true) => " --force-refresh",
        Some(false) => " --force-refresh=false",
    };
    format!(
        "context402 buy {target} \\\n{question}  --{} {}{refresh} --max-usdc {} \\\n  --seller {} --key-file buyer.key",
        level.product().level_word(),
        level.name(),
        level.price(),
        shell_word(site.base_url),
    )
}

/// The JSON body of a purchase, one field per line, aligned after `-d '`.
fn body(item: Item<'_>) -> String {
    let members = item.members();
    let lines = members
        .iter()
        .map(|(name, value)| format!("\"{name}\": {value}"));
    format!("{{{}}}", lines.collect::<Vec<_>>().join(",\n       "))
}

/// The same as one line of JSON.
pub fn request(item: Item<'_>) -> String {
    let members = item.members().into_iter();
    let members = members.map(|(name, value)| (name.to_owned(), value));
    Value::Object(members.collect()).to_string()
}

/// The members of the answer that an example prints.
fn members_to_print(product: Product, member: impl Fn(&[&str]) -> String) -> String {
    let members: Vec<String> = product.shows().iter().map(|path| member(path)).collect();
    members.join(", ")
}

/// A TypeScript program that buys with the official client; the key is in PRIVATE_KEY.
pub fn typescript(site: &Site<'_>, item: Item<'_>) -> String {
    let [address, network] = json_words(site, item);
    let members = item.members();
    let members = members
        .iter()
        .map(|(name, value)| format!("{name}: {value}"));
    let members = members.collect::<Vec<_>>().join(", ");
    let shown = members_to_print(item.level.product(), |path| {
        format!("answer.{}", path.join("."))
    });
    format!(
        r#"import {{ x402Client }} from "@x402/core/client";
import {{ ExactEvmScheme }} from "@x402/evm/exact/client";
import {{ wrapFetchWithPayment }} from "@x402/fetch";
import {{ privateKeyToAccount }} from "viem/accounts";

const account = privateKeyToAccount(process.env.PRIVATE_KEY as `0x${{string}}`);
const client = new x402Client().register({network}, new ExactEvmScheme(account));
const paidFetch = wrapFetchWithPayment(fetch, client);

const response = await paidFetch({address}, {{
  method: "POST",
  headers: {{ "Content-Type": "application/json" }},
  body: JSON.stringify({{ {members} }}),
}});
if (!response.ok) throw new Error(`${{response.status}}: ${{await response.text()}}`);

const answer = await response.json();
const receipt = JSON.parse(atob(response.headers.get("PAYMENT-RESPONSE") ?? "e30="));
console.log({shown});
console.error("paid in", receipt.transaction);"#,
    )
}

/// The same in Python.
pub fn python(site: &Site<'_>, item: Item<'_>) -> String {
    let [address, network] = json_words(site, item);
    let members = item.members();
    let members = members
        .iter()
        .map(|(name, value)| format!("\"{name}\": {}", python_literal(value)));
    let members = members.collect::<Vec<_>>().join(", ");
    let shown = members_to_print(item.level.product(), |path| {
        let keys = path.iter().map(|name| format!("[\"{name}\"]"));
        format!("answer{}", keys.collect::<String>())
    });
    format!(
        r#"import asyncio, base64, json, os, sys

import httpx
from eth_account import Account
from x402 import x402Client
from x402.http.clients import x402_httpx_transport
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact import ExactEvmScheme


async def main() -> None:
    signer = EthAccountSigner(Account.from_key(os.environ["PRIVATE_KEY"]))
    client = x402Client()
    client.register({network}, ExactEvmScheme(signer=signer))
    transport = x402_httpx_transport(client)
    async with httpx.AsyncClient(transport=transport, timeout=60) as http:
        response = await http.post(
            {address},
            json={{{members}}},
        )
    response.raise_for_status()
    receipt = json.loads(base64.b64decode(response.headers["PAYMENT-RESPONSE"]))
    answer = response.json()
    print({shown})
    print("paid in", receipt["transaction"], file=sys.stderr)


asyncio.run(main())"#,
    )
}

/// JSON strings are valid Python, JSON booleans are not.
fn python_literal(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        other => other.to_string(),
    }
}

/// Address and network as JSON string literals, which are valid in both languages.
fn json_words(site: &Site<'_>, item: Item<'_>) -> [String; 2] {
    let product = item.level.product();
    let query = format!("{}={}", product.level_word(), item.level.name());
    let address = site.url(&format!("{}?{query}", product.path()));
    [address, site.network.to_owned()].map(|text| Value::String(text).to_string())
}

/// `text` as one word of a POSIX shell. Line ends stay, inside the quotes; other control characters are removed,
/// because a terminal could act on them.
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) {
        return text.to_owned();
    }
    let printable: String = text
        .chars()
        .filter(|&c| c == '\n' || !(c.is_control() || is_unseen(c)))
        .collect();
    format!("'{}'", printable.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one_word() {
        for (text, expected) in [
            ("https://example.com/a", "https://example.com/a"),
            (
                "https://example.com/?a=1&b=2",
                "'https://example.com/?a=1&b=2'",
            ),
            ("it's", r"'it'\''s'"),
            ("$(reboot)", "'$(reboot)'"),
            ("a\nreboot", "'a\nreboot'"),
            ("a\u{1b}[2J", "'a[2J'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_body_is_json_whatever_the_address_holds() {
        let page = Item::page("https://example.com/\"quoted\"", Tier::Fresh);
        let value: Value = serde_json::from_str(&body(page)).expect("it is JSON");
        assert_eq!(value["target_url"], "https://example.com/\"quoted\"");
        assert_eq!(value["tier"], "fresh");
        let report = Item::report("https://example.com/", "Is it \"free\"?", Pack::Quick);
        let value: Value = serde_json::from_str(&body(report)).expect("it is JSON");
        assert_eq!(value["question"], "Is it \"free\"?");
        assert_eq!(value["pack"], "quick");
        let passages = Item {
            question: Some("Is it \"free\"?"),
            ..Item::page("https://example.com/", Tier::Fresh)
        };
        let value: Value = serde_json::from_str(&body(passages)).expect("it is JSON");
        assert_eq!(value["query"], "Is it \"free\"?");
        assert_eq!(value["max_tokens"], EXCERPT_TOKENS);
    }
}
