//! What setup has to know: from the command line, else from the configuration as it is, else from the operator.

use std::fs;
use std::io::{self, BufRead as _, Write as _};
use std::path::{Path, PathBuf};

use toml::{Table, Value};
use url::Url;

use crate::cli::serve::setup::{Args, Network, Places, Proxy};
use crate::cli::{Failure, config_failure, failed};
use crate::config::file;
use crate::config::settings::{COMMON_FACILITATOR, is_example};
use crate::domain::evm::Address;
use crate::outside::chance;

/// Where the unit of the render worker listens.
const RENDER_SOCKET: &str = "/run/context402-browser.sock";
/// Tries before an answer is given up.
const TRIES_MAX: usize = 5;

pub(super) struct Answers {
    base_url: String,
    pay_to: String,
    facilitator: String,
    auth: Option<Auth>,
    network: Option<Network>,
    email: Option<String>,
    listen: Option<String>,
    tls: bool,
    with_browser: bool,
    behind_proxy: bool,
}

impl Network {
    /// Its CAIP-2 id, its USDC, and the EIP-712 name of that.
    fn settings(self) -> [(&'static str, &'static str); 3] {
        let (network, asset, name) = match self {
            Network::Base => (
                "eip155:8453",
                "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
                "USD Coin",
            ),
            Network::BaseSepolia => (
                "eip155:84532",
                "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
                "USDC",
            ),
        };
        [
            ("payment.network", network),
            ("payment.asset", asset),
            ("payment.asset_name", name),
        ]
    }
}

/// How the facilitator knows us.
enum Auth {
    Bearer(String),
    Cdp { key_id: String, secret: String },
}

/// One thing to know: its flag, its setting, its question, and how an answer is read.
struct Question {
    flag: &'static str,
    key: &'static str,
    text: String,
    read: fn(&str) -> Result<String, String>,
}

impl Answers {
    pub(super) fn gather(args: &Args, table: &Table, may_ask: bool) -> Result<Answers, Failure> {
        let questions = [
            (
                &args.domain,
                Question {
                    flag: "--domain",
                    key: "base_url",
                    text: "The domain that buyers use (such as context.example.com)".to_owned(),
                    read: base_url,
                },
            ),
            (
                &args.pay_to,
                Question {
                    flag: "--pay-to",
                    key: "payment.pay_to",
                    text: "Your receiving address for USDC (0x and 40 hex digits)".to_owned(),
                    read: address,
                },
            ),
            (
                &args.facilitator,
                Question {
                    flag: "--facilitator",
                    key: "payment.facilitator_url",
                    text: format!("Your facilitator's address (such as {COMMON_FACILITATOR})"),
                    read: facilitator,
                },
            ),
        ];
        let mut missing = Vec::new();
        let mut found = Vec::new();
        for (given, question) in &questions {
            let answer = match (given, set(table, question.key)) {
                (Some(given), _) => {
                    let wrong = |why| Failure::Usage(format!("{} {given}: {why}", question.flag));
                    (question.read)(given).map_err(wrong)?
                }
                (None, Some(known)) => known,
                (None, None) if may_ask => question.ask()?,
                (None, None) => {
                    missing.push(question.flag);
                    String::new()
                }
            };
            found.push(answer);
        }
        if !missing.is_empty() {
            return Err(Failure::Usage(format!(
                "{} required: give it, or run this on a terminal to be asked. See context402 setup --help",
                match &*missing {
                    [one] => format!("{one} is"),
                    more => format!("{} are", more.join(", ")),
                }
            )));
        }
        let [base_url, pay_to, facilitator] = found.try_into().expect("an answer to each");
        let auth = args.facilitator_auth_file.as_deref();
        Ok(Answers {
            base_url,
            pay_to,
            facilitator,
            auth: auth.map(Auth::read).transpose()?,
            network: args.network,
            email: args.email.clone(),
            listen: args.listen.as_deref().map(listen).transpose()?,
            tls: args.tls,
            with_browser: args.with_browser,
            behind_proxy: matches!(args.proxy, Some(Proxy::Caddy | Proxy::Nginx)),
        })
    }

    /// The configuration with these answers; the rest of it as it was.
    pub(super) fn write_into(
        &self,
        text: String,
        table: &Table,
        places: &Places,
    ) -> Result<String, Failure> {
        let mut wanted: Vec<(&str, Value)> = vec![
            ("base_url", self.base_url.as_str().into()),
            ("payment.pay_to", self.pay_to.as_str().into()),
            ("payment.facilitator_url", self.facilitator.as_str().into()),
        ];
        match &self.auth {
            None => {}
            Some(Auth::Bearer(_)) => wanted.push(("payment.facilitator_auth", "bearer".into())),
            Some(Auth::Cdp { key_id, .. }) => {
                wanted.push(("payment.facilitator_auth", "cdp".into()));
                wanted.push(("payment.cdp_key_id", key_id.as_str().into()));
            }
        }
        if let Some(network) = self.network {
            let settings = network.settings().into_iter();
            wanted.extend(settings.map(|(key, value)| (key, value.into())));
        }
        if self.tls {
            wanted.push(("tls.acme", true.into()));
            let email = self.email.as_deref();
            wanted.extend(email.map(|email| ("tls.acme_email", email.into())));
        }
        if self.with_browser && look_up(table, "render.browser").is_none() {
            wanted.push(("render.browser", "auto".into()));
            wanted.push(("render.socket", RENDER_SOCKET.into()));
        }
        let optional = [("contact", &self.email), ("listen", &self.listen)];
        for (key, value) in optional {
            wanted.extend(value.as_deref().map(|value| (key, value.into())));
        }
        if self.behind_proxy && look_up(table, "trusted_proxies").is_none() {
            let proxies = Value::Array(vec!["127.0.0.1".into()]);
            wanted.push(("trusted_proxies", proxies));
        }
        if places.prefix.is_some() && look_up(table, "data_file").is_none() {
            let path = places.state.join("context402.redb");
            wanted.push(("data_file", path.display().to_string().into()));
        }
        wanted
            .into_iter()
            .filter(|(key, value)| look_up(table, key) != Some(value))
            .try_fold(text, |text, (key, value)| file::with(&text, key, &value))
            .map_err(|error| config_failure(&error))
    }

    /// The secrets to write: the facilitator's as given, ours where there is none.
    pub(super) fn secrets(&self, places: &Places) -> Vec<(PathBuf, String)> {
        let at = |name: &str| places.credentials.join(name);
        let random = || hex::encode(chance::bytes::<32>()) + "\n";
        let ours = ["operator/token", "signing/key"];
        let ours = ours.map(at).into_iter().filter(|path| !path.exists());
        let mut secrets: Vec<_> = ours.map(|path| (path, random())).collect();
        match &self.auth {
            None => {}
            Some(Auth::Bearer(token)) => {
                secrets.push((at("payment/facilitator_token"), token.clone()));
            }
            Some(Auth::Cdp { secret, .. }) => {
                secrets.push((at("payment/cdp_key_secret"), secret.clone()));
            }
        }
        secrets
    }
}

impl Question {
    fn ask(&self) -> Result<String, Failure> {
        for _ in 0..TRIES_MAX {
            let mut line = String::new();
            write!(io::stderr(), "{}: ", self.text)?;
            if io::stdin().lock().read_line(&mut line)? == 0 {
                break;
            }
            match (self.read)(line.trim()) {
                Ok(answer) => return Ok(answer),
                Err(why) => writeln!(io::stderr(), "  {why}")?,
            }
        }
        Err(failed(format_args!(
            "no answer: give {} and run this again",
            self.flag
        )))
    }
}

impl Auth {
    /// A CDP API key as it is downloaded, or a bearer token.
    fn read(path: &Path) -> Result<Auth, Failure> {
        let text = fs::read_to_string(path)
            .map_err(|error| failed(format_args!("{}: {error}", path.display())))?;
        let Ok(key) = serde_json::from_str::<serde_json::Value>(&text) else {
            return Ok(Auth::Bearer(text.trim().to_owned()));
        };
        let member = |names: [&str; 2]| {
            let mut found = names.iter().filter_map(|name| key[name].as_str());
            found.next().map(str::to_owned)
        };
        match (
            member(["id", "name"]),
            member(["privateKey", "private_key"]),
        ) {
            (Some(key_id), Some(secret)) => Ok(Auth::Cdp { key_id, secret }),
            _ => Err(failed(format_args!(
                "{} is JSON, but not a CDP API key: it has no id and privateKey",
                path.display()
            ))),
        }
    }
}

fn look_up<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    match key.split_once('.') {
        Some((section, name)) => table.get(section)?.get(name),
        None => table.get(key),
    }
}

/// A setting that was set by somebody.
fn set(table: &Table, key: &str) -> Option<String> {
    let value = look_up(table, key)?.as_str()?;
    (!is_example(key, value)).then(|| value.to_owned())
}

fn base_url(text: &str) -> Result<String, String> {
    let whole = match text.contains("://") {
        true => text.to_owned(),
        false => format!("https://{text}"),
    };
    let url = Url::parse(&whole).ok().filter(|url| {
        let has_name = url
            .host_str()
            .is_some_and(|host| host.contains(['.', ':']) || host == "localhost");
        has_name && url.path() == "/" && url.query().is_none() && url.username().is_empty()
    });
    let url = url.ok_or("it must be a domain such as context.example.com")?;
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

fn address(text: &str) -> Result<String, String> {
    match (Address::parse(text), Address::parse_checksummed(text)) {
        (_, Some(address)) if address.0.iter().any(|byte| *byte != 0) => Ok(address.to_string()),
        (Some(_), None) => {
            Err("its checksum (EIP-55) is wrong: a digit is mistyped, copy it again".to_owned())
        }
        _ => Err("it must be 0x and 40 hex digits, not all of them 0".to_owned()),
    }
}

fn facilitator(text: &str) -> Result<String, String> {
    let is_address = Url::parse(text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https") && url.has_host() && url.query().is_none()
    });
    match is_address || text == "sandbox" {
        true => Ok(text.trim_end_matches('/').to_owned()),
        false => Err(format!(
            "it must be an https address such as {COMMON_FACILITATOR}"
        )),
    }
}

/// `127.0.0.1:4020`, or a port alone on loopback.
fn listen(text: &str) -> Result<String, Failure> {
    let port = text.strip_prefix(':').unwrap_or(text);
    let whole = match port.parse::<u16>() {
        Ok(port) => format!("127.0.0.1:{port}"),
        Err(_) => text.to_owned(),
    };
    match whole.parse::<std::net::SocketAddr>() {
        Ok(address) => Ok(address.to_string()),
        Err(_) => Err(Failure::Usage(format!(
            "--listen {text}: it must be an address and a port such as 127.0.0.1:4020"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_people_write_them() {
        for (typed, expected) in [
            ("context.example.com", Some("https://context.example.com")),
            (
                "https://context.example.com/",
                Some("https://context.example.com"),
            ),
            ("http://127.0.0.1:4020", Some("http://127.0.0.1:4020")),
            ("context", None),
            ("context.example.com/x", None),
            ("", None),
        ] {
            assert_eq!(base_url(typed).ok().as_deref(), expected, "{typed}");
        }
        let right = "0x90F79bf6EB2c4f870365E785982E1f101E93b906";
        assert_eq!(address(&right.to_lowercase()).as_deref(), Ok(right));
        let mistyped = address(&right.replace("90F7", "90f7"));
        assert!(mistyped.is_err_and(|why| why.contains("checksum")));
        assert!(address(&format!("0x{}", "0".repeat(40))).is_err());
        for (typed, expected) in [
            ("4403", "127.0.0.1:4403"),
            (":4403", "127.0.0.1:4403"),
            ("[::1]:1", "[::1]:1"),
        ] {
            assert!(
                listen(typed).is_ok_and(|address| address == expected),
                "{typed}"
            );
        }
        assert!(listen("nowhere").is_err());
    }
}
