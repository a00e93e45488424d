//! The command lines that pages print. Every one runs as shown: text that a buyer typed is quoted for a POSIX
//! shell, so that a hostile address cannot end the string it stands in.

use serde_json::Value;

use crate::domain::tier::Tier;
use crate::pages::site::Site;

/// Path of the paid conversion.
pub const ACCESS_PATH: &str = "/v1/x402/access";

/// Asks for a conversion without paying: the answer is the 402 challenge with the price of `tier`.
pub fn challenge_curl(site: &Site<'_>, target_url: &str, tier: Tier) -> String {
    challenge_curl_at(site, ACCESS_PATH, target_url, tier)
}

/// The same against another path of the paid operation, such as the `/from/{source}` alias.
pub fn challenge_curl_at(site: &Site<'_>, path: &str, target_url: &str, tier: Tier) -> String {
    format!(
        "curl -i {} \\\n  -H 'Content-Type: application/json' \\\n  -d {}",
        shell_word(&site.url(path)),
        shell_word(&access_body(target_url, tier)),
    )
}

/// Buys one conversion with the program's own buyer and never pays more than the tier's price.
pub fn buy(site: &Site<'_>, target_url: &str, tier: Tier) -> String {
    format!(
        "context402 buy {} \\\n  --tier {} --max-usdc {} \\\n  --seller {} --key-file buyer.key",
        shell_word(target_url),
        tier.name(),
        tier.price(),
        shell_word(site.base_url),
    )
}

/// The JSON body of a conversion (specification 2.4), a field a line, aligned behind `-d '`.
fn access_body(target_url: &str, tier: Tier) -> String {
    format!(
        "{{\"target_url\": {},\n       \"tier\": {}}}",
        Value::from(target_url),
        Value::from(tier.name())
    )
}

/// A TypeScript program that buys one conversion with the official client; the key is in PRIVATE_KEY.
pub fn typescript(site: &Site<'_>, target_url: &str, tier: Tier) -> String {
    let [address, target, network] = json_words(site, target_url, tier);
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
  body: JSON.stringify({{ target_url: {target}, tier: "{tier}" }}),
}});
if (!response.ok) throw new Error(`${{response.status}}: ${{await response.text()}}`);

const page = await response.json();
const receipt = JSON.parse(atob(response.headers.get("PAYMENT-RESPONSE") ?? "e30="));
console.log(page.markdown);
console.error("paid in", receipt.transaction);"#,
        tier = tier.name(),
    )
}

/// The same in Python.
pub fn python(site: &Site<'_>, target_url: &str, tier: Tier) -> String {
    let [address, target, network] = json_words(site, target_url, tier);
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
            json={{"target_url": {target}, "tier": "{tier}"}},
        )
    response.raise_for_status()
    receipt = json.loads(base64.b64decode(response.headers["PAYMENT-RESPONSE"]))
    print(response.json()["markdown"])
    print("paid in", receipt["transaction"], file=sys.stderr)


asyncio.run(main())"#,
        tier = tier.name(),
    )
}

/// Address, target and network as string literals; JSON's are good in both languages.
fn json_words(site: &Site<'_>, target_url: &str, tier: Tier) -> [String; 3] {
    let address = site.url(&format!("{ACCESS_PATH}?tier={}", tier.name()));
    [address, target_url.to_owned(), site.network.to_owned()]
        .map(|text| Value::String(text).to_string())
}

/// `text` as one word of a POSIX shell. Of control characters only line ends are kept, inside the quotes, where
/// they are text; a terminal could act on the others.
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) {
        return text.to_owned();
    }
    let printable: String = text
        .chars()
        .filter(|&c| c == '\n' || !c.is_control())
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
        let body = access_body("https://example.com/\"quoted\"", Tier::Fresh);
        let value: Value = serde_json::from_str(&body).expect("it is JSON");
        assert_eq!(value["target_url"], "https://example.com/\"quoted\"");
        assert_eq!(value["tier"], "fresh");
    }
}
