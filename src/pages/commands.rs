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
