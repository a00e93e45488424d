//! From what the operator wrote to what the program uses. Every setting is a row of `settings::SETTINGS`; here the
//! rows' texts become checked values, once, before any socket is opened. The environment is read in this folder and
//! nowhere else.

mod bundles;
pub mod mail;
mod orders;
pub mod settings;
mod sources;
mod supervisor;

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use url::Url;

use crate::domain::amount::Amount;
use crate::domain::margin::Costs;
use crate::limits::Quotas;
use crate::outside::facilitator::PassesOn;
use crate::outside::llm::Style;
use crate::outside::network::LabHost;
use crate::signing::session::{Sessions, TOKEN_CHARACTERS_MIN};
use crate::signing::{PublicKey, SigningKey};
use crate::x402::address::{Address, Network};

pub use bundles::{Bundles, Notify};
pub use orders::Orders;
pub use sources::{Origin, Resolved};
pub use supervisor::Supervisor;

/// The whole configuration, checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// Scheme and host (and port) under which the public reaches us, without a trailing slash.
    pub base_url: String,
    pub listen: SocketAddr,
    /// Blocks of addresses whose forwarding headers are believed.
    pub trusted_proxies: Vec<(IpAddr, u8)>,
    pub data_file: PathBuf,
    /// The operator's Unix socket.
    pub socket: PathBuf,
    pub service_name: String,
    pub contact: Option<String>,
    pub legal: Legal,
    pub payment: Payment,
    /// The network itself, where an RPC endpoint is configured.
    pub chain: Option<Chain>,
    pub guard: Guard,
    /// What offers, receipts and reports are signed with.
    pub signing: Option<Signing>,
    pub fetch: Fetch,
    /// A language model, where one is configured.
    pub llm: Option<Llm>,
    pub bundles: Bundles,
    pub orders: Orders,
    /// How mail leaves, where that is configured.
    pub mail: Option<mail::Mail>,
    /// Who the operator is over the network, where a token is configured.
    pub operator: Option<Sessions>,
    pub limits: Limits,
    pub lab: Lab,
    /// Every setting in force, as the operator may see it: key, value, origin.
    pub lines: Vec<(&'static str, String, String)>,
}

#[derive(Clone, Debug)]
pub struct Payment {
    pub facilitator: FacilitatorAt,
    pub auth: FacilitatorAuth,
    pub passes_on: PassesOn,
    pub verify_time_max: Duration,
    pub settle_time_max: Duration,
    /// How long a buyer is kept waiting for a settlement whose call goes on.
    pub settle_wait_max: Duration,
    pub calls_max: usize,
    pub network: Network,
    pub asset: Address,
    pub asset_name: String,
    pub asset_version: String,
    pub pay_to: Address,
}

/// Who runs the service, as far as its operator says.
#[derive(Clone, Debug, Default)]
pub struct Legal {
    pub name: Option<String>,
    pub address: Option<String>,
    pub email: Option<String>,
    pub law: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FacilitatorAt {
    /// The embedded one: play money on loopback.
    Sandbox,
    Url(String),
}

impl FacilitatorAt {
    /// As the configuration writes it.
    pub fn name(&self) -> &str {
        match self {
            FacilitatorAt::Sandbox => "sandbox",
            FacilitatorAt::Url(url) => url,
        }
    }
}

#[derive(Clone, Debug)]
pub enum FacilitatorAuth {
    None,
    Bearer(Secret),
    Cdp { key_id: String, secret: Secret },
}

#[derive(Clone, Debug)]
pub struct Chain {
    /// Providers put their keys into the address.
    pub rpc_url: Secret,
    pub time_max: Duration,
    pub confirmations: u64,
    /// How old a transfer may be when its hash is first sent, in seconds.
    pub transfer_age_max: u64,
}

#[derive(Clone, Debug)]
pub struct Signing {
    pub key: SigningKey,
    /// Earlier keys, which are published and sign no more.
    pub former: Vec<PublicKey>,
}

#[derive(Clone, Copy, Debug)]
pub struct Guard {
    pub gas: Gas,
    /// How old a gas price may be, in seconds.
    pub gas_age_max: u64,
    pub facilitator_fee: Amount,
    /// What one fetch and conversion costs.
    pub fetch_cost: Amount,
    pub minimum_profit: Amount,
}

/// How a settlement's gas is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gas {
    Fixed(Amount),
    /// What the chain says, for a settlement of so much gas.
    Live {
        settlement_gas: u64,
        coin: Coin,
    },
}

/// How the price of the network's coin is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coin {
    Fixed(Amount),
    /// What a feed on the chain says, if that is not older than so many seconds.
    Feed {
        address: Address,
        age_max: u64,
    },
}

impl Guard {
    pub fn costs(&self, gas: Amount, fetches: bool) -> Costs {
        Costs {
            gas,
            facilitator_fee: self.facilitator_fee,
            supplier: if fetches {
                self.fetch_cost
            } else {
                Amount::ZERO
            },
            minimum_profit: self.minimum_profit,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Fetch {
    pub time_max: Duration,
    pub idle_max: Duration,
    pub fetches_max: usize,
    pub redirects_max: usize,
    /// Hosts that the operator does not fetch; a name covers its subdomains.
    pub blocklist: Vec<String>,
}

/// A model is believed in nothing, so it may also answer over plain http.
#[derive(Clone, Debug)]
pub struct Llm {
    pub base_url: String,
    pub model: String,
    pub key: Option<Secret>,
    pub style: Style,
    pub time_max: Duration,
    pub questions_max: usize,
    pub input_tokens_max: u64,
    pub output_tokens_max: u64,
    /// USDC for a million tokens.
    pub input_price: Amount,
    pub output_price: Amount,
}

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub connections_max: usize,
    pub connections_of_client_max: usize,
    pub header_time_max: Duration,
    pub body_time_max: Duration,
    pub write_stall_max: Duration,
    pub stop_grace: Duration,
    pub store_cache_bytes: usize,
    pub pages_bytes_max: u64,
    pub reports_bytes_max: u64,
    pub free_disk_bytes_min: u64,
    pub quotas: Quotas,
}

/// The test seam. Refused unless `base_url` is on loopback.
#[derive(Clone, Debug, Default)]
pub struct Lab {
    pub hosts: BTreeMap<String, LabHost>,
    pub ca_file: Option<PathBuf>,
    /// Abort the process at this named point of a sale.
    pub crash_at: Option<String>,
}

/// A value that never shows itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// What is wrong with the configuration: the setting, where its value came from, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(pub String);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// Reads a file (if any), the environment and the credentials, and checks all of it.
    pub fn load(file: Option<&Path>) -> Result<Config, ConfigError> {
        Config::from_resolved(&Resolved::from_surroundings(file)?)
    }

    pub fn from_resolved(resolved: &Resolved) -> Result<Config, ConfigError> {
        let base_url = base_url(resolved)?;
        let data_file: PathBuf = resolved.text("data_file")?.into();
        let socket = resolved
            .optional("socket")
            .map_or_else(|| data_file.with_extension("sock"), PathBuf::from);
        let config = Config {
            listen: resolved.parse("listen", "an address and port such as 127.0.0.1:4020")?,
            trusted_proxies: trusted_proxies(resolved)?,
            socket,
            data_file,
            service_name: resolved.checked(
                "service_name",
                "1 to 32 printable ASCII characters",
                |name| {
                    ((1..=32).contains(&name.len())
                        && name.bytes().all(|byte| (b' '..=b'~').contains(&byte)))
                    .then(|| name.to_owned())
                },
            )?,
            contact: resolved.optional("contact").map(str::to_owned),
            legal: Legal {
                name: resolved.optional("legal.name").map(str::to_owned),
                address: resolved.optional("legal.address").map(str::to_owned),
                email: (resolved.optional("legal.email"))
                    .or_else(|| resolved.optional("contact"))
                    .map(str::to_owned),
                law: resolved.optional("legal.law").map(str::to_owned),
            },
            payment: payment(resolved)?,
            chain: chain(resolved)?,
            guard: Guard {
                gas: gas(resolved)?,
                gas_age_max: resolved.seconds("guard.gas_age_seconds_max")?.as_secs(),
                facilitator_fee: resolved.usdc("guard.facilitator_fee_usdc")?,
                fetch_cost: resolved.usdc("guard.fetch_cost_usdc")?,
                minimum_profit: resolved.usdc("guard.minimum_profit_usdc")?,
            },
            signing: signing(resolved)?,
            fetch: Fetch {
                time_max: resolved.seconds("fetch.seconds_max")?,
                idle_max: resolved.seconds("fetch.idle_seconds_max")?,
                fetches_max: resolved.count("fetch.at_once_max")?,
                redirects_max: resolved.count("fetch.redirects_max")?,
                blocklist: resolved
                    .list("fetch.blocklist")
                    .into_iter()
                    .map(|host| host.to_ascii_lowercase())
                    .collect(),
            },
            llm: llm(resolved)?,
            bundles: bundles::bundles(resolved)?,
            orders: orders::orders(resolved)?,
            mail: mail::mail(resolved)?,
            operator: operator(resolved)?,
            limits: limits(resolved)?,
            lab: lab(resolved)?,
            lines: resolved.lines(),
            base_url,
        };
        config.refuse_play_money_in_public()?;
        Ok(config)
    }

    /// Whether `base_url` is on loopback, where the test seams are allowed.
    pub fn is_loopback(&self) -> bool {
        is_loopback_url(&self.base_url)
    }

    fn refuse_play_money_in_public(&self) -> Result<(), ConfigError> {
        if self.is_loopback() {
            return Ok(());
        }
        let refuse = |what: &str| {
            Err(ConfigError(format!(
                "{what} is for tests and only allowed while base_url is on loopback, but base_url is {}. Remove it, \
                 or set base_url to something like http://127.0.0.1:4020",
                self.base_url
            )))
        };
        if !self.lab.hosts.is_empty() {
            return refuse("lab.hosts");
        }
        if self.lab.ca_file.is_some() {
            return refuse("lab.ca_file");
        }
        if self.lab.crash_at.is_some() {
            return refuse("lab.crash_at");
        }
        match &self.payment.facilitator {
            FacilitatorAt::Sandbox => refuse("payment.facilitator_url = \"sandbox\""),
            FacilitatorAt::Url(url) if !url.starts_with("https://") => {
                refuse("a facilitator_url without https")
            }
            FacilitatorAt::Url(_) => Ok(()),
        }
    }
}

fn base_url(resolved: &Resolved) -> Result<String, ConfigError> {
    let expected = "an http or https address without path, query or credentials, such as https://context.example.com";
    resolved.checked("base_url", expected, |text| {
        let url = Url::parse(text).ok()?;
        let plain = matches!(url.scheme(), "http" | "https")
            && url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        (plain && url.has_host()).then(|| url.as_str().trim_end_matches('/').to_owned())
    })
}

fn payment(resolved: &Resolved) -> Result<Payment, ConfigError> {
    let facilitator = resolved.checked(
        "payment.facilitator_url",
        "\"sandbox\" or an https address",
        |text| {
            if text == "sandbox" {
                return Some(FacilitatorAt::Sandbox);
            }
            let url = Url::parse(text).ok()?;
            let fits =
                matches!(url.scheme(), "http" | "https") && url.has_host() && url.query().is_none();
            fits.then(|| FacilitatorAt::Url(url.as_str().trim_end_matches('/').to_owned()))
        },
    )?;
    let auth = match resolved.text("payment.facilitator_auth")? {
        "none" => FacilitatorAuth::None,
        "bearer" => FacilitatorAuth::Bearer(resolved.secret("payment.facilitator_token")?),
        "cdp" => FacilitatorAuth::Cdp {
            key_id: resolved.text("payment.cdp_key_id")?.to_owned(),
            secret: resolved.secret("payment.cdp_key_secret")?,
        },
        _ => return Err(resolved.expected("payment.facilitator_auth", "none, bearer or cdp")),
    };
    let network = resolved.checked(
        "payment.network",
        "an EVM network such as eip155:8453",
        Network::parse,
    )?;
    let address = "0x and 40 hex digits; in mixed case its EIP-55 checksum must be right";
    let vault = "the address that is paid, whose key you hold: 0x and 40 hex digits, not all of them 0; in mixed case \
                 its EIP-55 checksum must be right";
    Ok(Payment {
        facilitator,
        auth,
        passes_on: resolved.checked("payment.facilitator_payload", "whole or bare", |text| {
            match text {
                "whole" => Some(PassesOn::Everything),
                "bare" => Some(PassesOn::Payment),
                _ => None,
            }
        })?,
        verify_time_max: resolved.seconds("payment.verify_seconds_max")?,
        settle_time_max: resolved.seconds("payment.settle_seconds_max")?,
        settle_wait_max: resolved.seconds("payment.settle_wait_seconds_max")?,
        calls_max: resolved.count("payment.calls_max")?,
        network,
        asset: resolved.checked("payment.asset", address, Address::parse_checksummed)?,
        asset_name: resolved.text("payment.asset_name")?.to_owned(),
        asset_version: resolved.text("payment.asset_version")?.to_owned(),
        pay_to: resolved.checked("payment.pay_to", vault, |text| {
            Address::parse_checksummed(text).filter(|address| *address != Address([0; 20]))
        })?,
    })
}

fn chain(resolved: &Resolved) -> Result<Option<Chain>, ConfigError> {
    if resolved.optional("chain.rpc_url").is_none() {
        return Ok(None);
    }
    // Whoever can change its answers on the way decides which payments have settled.
    let expected = "an https address, or http on loopback, without credentials before the host";
    let rpc_url = resolved.checked("chain.rpc_url", expected, |text| {
        let url = Url::parse(text).ok()?;
        let safe = url.scheme() == "https" || (url.scheme() == "http" && is_loopback_url(text));
        let plain = url.username().is_empty() && url.password().is_none();
        (safe && plain && url.has_host()).then(|| Secret::new(url.as_str()))
    })?;
    let confirmations = resolved.count("chain.confirmations")?;
    Ok(Some(Chain {
        rpc_url,
        time_max: resolved.seconds("chain.seconds_max")?,
        confirmations: u64::try_from(confirmations).unwrap_or(u64::MAX),
        transfer_age_max: resolved
            .seconds("chain.transfer_age_seconds_max")?
            .as_secs(),
    }))
}

fn llm(resolved: &Resolved) -> Result<Option<Llm>, ConfigError> {
    if resolved.optional("llm.base_url").is_none() {
        return Ok(None);
    }
    let expected = "an http or https address without query and credentials, and https where a key goes along to another machine";
    let key = resolved.optional("llm.key").map(Secret::new);
    let base_url = resolved.checked("llm.base_url", expected, |text| {
        let url = Url::parse(text).ok()?;
        let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
        let keeps_key = key.is_none() || is_loopback_url(text) || url.scheme() == "https";
        let fits = matches!(url.scheme(), "http" | "https") && url.has_host();
        (plain && keeps_key && fits).then(|| url.as_str().trim_end_matches('/').to_owned())
    })?;
    let tokens = |key| resolved.count(key).map(|count| count as u64);
    Ok(Some(Llm {
        base_url,
        key,
        model: resolved.text("llm.model")?.to_owned(),
        style: match resolved.text("llm.parameters")? {
            "classic" => Style::Classic,
            "reasoning" => Style::Reasoning,
            _ => return Err(resolved.expected("llm.parameters", "classic or reasoning")),
        },
        time_max: resolved.checked(
            "llm.seconds_max",
            "a number of seconds above 0 and up to 60",
            |text| {
                let seconds: f64 = text.parse().ok()?;
                (seconds > 0.0 && seconds <= 60.0).then(|| Duration::from_secs_f64(seconds))
            },
        )?,
        questions_max: resolved.count("llm.at_once_max")?,
        input_tokens_max: tokens("llm.input_tokens_max")?,
        output_tokens_max: tokens("llm.output_tokens_max")?,
        input_price: resolved.usdc("llm.input_usdc_per_million")?,
        output_price: resolved.usdc("llm.output_usdc_per_million")?,
    }))
}

fn gas(resolved: &Resolved) -> Result<Gas, ConfigError> {
    if resolved.text("guard.gas_usdc")? != "live" {
        let expected = "an amount of USDC such as 0.001, or \"live\"";
        let amount = resolved.checked("guard.gas_usdc", expected, Amount::parse_usdc)?;
        return Ok(Gas::Fixed(amount));
    }
    if resolved.optional("chain.rpc_url").is_none() {
        return Err(ConfigError(
            "guard.gas_usdc = \"live\" needs chain.rpc_url: set it to a JSON-RPC endpoint of the network".to_owned(),
        ));
    }
    let settlement_gas = resolved.count("guard.settlement_gas")?;
    Ok(Gas::Live {
        settlement_gas: u64::try_from(settlement_gas).unwrap_or(u64::MAX),
        coin: coin(resolved)?,
    })
}

fn coin(resolved: &Resolved) -> Result<Coin, ConfigError> {
    let age_max = resolved.seconds("guard.coin_age_seconds_max")?.as_secs();
    let expected = "the price of the network's coin in USDC, such as 3000, or chainlink: and the address of a feed, \
                    because guard.gas_usdc is \"live\"";
    resolved.checked("guard.coin_usdc", expected, |text| {
        match text.strip_prefix("chainlink:") {
            Some(address) => {
                let address = Address::parse_checksummed(address)?;
                Some(Coin::Feed { address, age_max })
            }
            None => {
                let price = Amount::parse_usdc(text).filter(|price| *price > Amount::ZERO);
                price.map(Coin::Fixed)
            }
        }
    })
}

fn signing(resolved: &Resolved) -> Result<Option<Signing>, ConfigError> {
    let Some((text, origin)) = resolved.get("signing.key") else {
        return Ok(None);
    };
    // What stands there is not shown: it may be most of a key.
    let key = SigningKey::parse(text).ok_or_else(|| {
        ConfigError(format!(
            "signing.key (from {origin}) is not usable: it must be 64 hex digits that nobody can guess. Make one with \
             `openssl rand -hex 32`"
        ))
    })?;
    let former = resolved.list("signing.former_keys");
    let former = former.iter().map(|text| {
        PublicKey::parse(text).ok_or_else(|| {
            ConfigError(format!(
                "signing.former_keys: \"{text}\" is not usable: each must be the member x of a key in \
                 /.well-known/jwks.json, 43 characters of base64url"
            ))
        })
    });
    let former = former.collect::<Result<_, _>>()?;
    Ok(Some(Signing { key, former }))
}

fn operator(resolved: &Resolved) -> Result<Option<Sessions>, ConfigError> {
    let Some((token, origin)) = resolved.get("operator.token") else {
        return Ok(None);
    };
    // What stands there is not shown: it may be most of a token.
    let sessions = Sessions::new(token).ok_or_else(|| {
        ConfigError(format!(
            "operator.token (from {origin}) is not usable: it must be at least {TOKEN_CHARACTERS_MIN} visible ASCII \
             characters that nobody can guess. Make one with `openssl rand -hex 32`"
        ))
    })?;
    Ok(Some(sessions))
}

fn limits(resolved: &Resolved) -> Result<Limits, ConfigError> {
    Ok(Limits {
        connections_max: resolved.count("limits.connections_max")?,
        connections_of_client_max: resolved.count("limits.connections_of_client_max")?,
        header_time_max: resolved.seconds("limits.header_seconds_max")?,
        body_time_max: resolved.seconds("limits.body_seconds_max")?,
        write_stall_max: resolved.seconds("limits.write_stall_seconds_max")?,
        stop_grace: resolved.seconds("limits.stop_grace_seconds")?,
        store_cache_bytes: resolved.count("limits.store_cache_mib")? * 1024 * 1024,
        pages_bytes_max: resolved.parse::<u64>("limits.page_cache_mib", "a whole number")?
            * 1024
            * 1024,
        reports_bytes_max: resolved.parse::<u64>("limits.report_store_mib", "a whole number")?
            * 1024
            * 1024,
        free_disk_bytes_min: resolved.parse::<u64>("limits.free_disk_mib_min", "a whole number")?
            * 1024
            * 1024,
        quotas: Quotas {
            free: resolved.quota("limits.free_per_minute")?,
            probe: resolved.quota("limits.probes_per_minute")?,
            unpaid: resolved.quota("limits.unpaid_per_minute")?,
            quote: resolved.quota("limits.quotes_per_minute")?,
            lead: resolved.quota("limits.leads_per_minute")?,
            sale: resolved.quota("limits.sales_per_minute")?,
            credit: resolved.quota("limits.credits_per_minute")?,
            login: resolved.quota("limits.logins_per_minute")?,
            recovery: resolved.quota("limits.recoveries_per_minute")?,
            domain: resolved.quota("limits.quotes_of_domain_per_minute")?,
            keys_max: resolved.count("limits.clients_max")?,
        },
    })
}

/// `10.0.0.0/8`, or one address. Bits beyond the length are a mistake, not noise.
fn trusted_proxies(resolved: &Resolved) -> Result<Vec<(IpAddr, u8)>, ConfigError> {
    let blocks = resolved.list("trusted_proxies");
    let parsed = blocks.iter().map(|text| {
        address_block(text).ok_or_else(|| {
            ConfigError(format!(
                "trusted_proxies: \"{text}\" is not usable: each must be an address or a block such as 10.0.0.0/8, \
                 without bits set beyond its length"
            ))
        })
    });
    parsed.collect()
}

fn address_block(text: &str) -> Option<(IpAddr, u8)> {
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, Some(bits.parse::<u8>().ok()?)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().ok()?;
    let width = if address.is_ipv4() { 32 } else { 128 };
    let bits = bits.unwrap_or(width);
    let number = match address {
        IpAddr::V4(v4) => u128::from(u32::from(v4)) << 96,
        IpAddr::V6(v6) => u128::from(v6),
    };
    let beyond = u128::MAX.checked_shr(u32::from(bits)).unwrap_or(0);
    (bits <= width && number & beyond == 0).then_some((address, bits))
}

fn lab(resolved: &Resolved) -> Result<Lab, ConfigError> {
    let mut hosts = BTreeMap::new();
    for (name, text) in resolved.map("lab.hosts") {
        let host = LabHost::parse(&text).map_err(|error| {
            ConfigError(format!(
                "lab.hosts, {name} = \"{text}\": {error}. Write \"93.184.216.34@127.0.0.1:8081\""
            ))
        })?;
        hosts.insert(name.to_ascii_lowercase(), host);
    }
    Ok(Lab {
        hosts,
        ca_file: resolved.optional("lab.ca_file").map(PathBuf::from),
        crash_at: resolved.optional("lab.crash_at").map(str::to_owned),
    })
}

fn is_loopback_url(base_url: &str) -> bool {
    let Ok(url) = Url::parse(base_url) else {
        return false;
    };
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
        Some(url::Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
        None => false,
    }
}

impl Resolved {
    fn expected(&self, key: &str, expected: &str) -> ConfigError {
        match self.get(key) {
            Some((value, origin)) => ConfigError(format!(
                "{key} = \"{}\" (from {origin}) is not usable: it must be {expected}",
                settings::masked(key, value)
            )),
            None => ConfigError(format!("{key} is not set: it must be {expected}")),
        }
    }

    fn text(&self, key: &str) -> Result<&str, ConfigError> {
        self.optional(key)
            .ok_or_else(|| self.expected(key, settings::doc(key)))
    }

    fn checked<T>(
        &self,
        key: &str,
        expected: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, ConfigError> {
        self.optional(key)
            .and_then(parse)
            .ok_or_else(|| self.expected(key, expected))
    }

    fn parse<T: FromStr>(&self, key: &str, expected: &str) -> Result<T, ConfigError> {
        self.checked(key, expected, |text| text.parse().ok())
    }

    fn count(&self, key: &str) -> Result<usize, ConfigError> {
        self.checked(key, "a whole number from 1 to 1000000", |text| {
            text.parse()
                .ok()
                .filter(|count| (1..=1_000_000).contains(count))
        })
    }

    fn quota(&self, key: &str) -> Result<u64, ConfigError> {
        self.checked(key, "a whole number from 0 (no limit) to 1000000", |text| {
            text.parse().ok().filter(|count| *count <= 1_000_000)
        })
    }

    fn seconds(&self, key: &str) -> Result<Duration, ConfigError> {
        self.checked(key, "a number of seconds above 0 and up to 86400", |text| {
            text.parse()
                .ok()
                .filter(|seconds| *seconds > 0.0 && *seconds <= 86_400.0)
                .map(Duration::from_secs_f64)
        })
    }

    fn usdc(&self, key: &str) -> Result<Amount, ConfigError> {
        self.checked(key, "an amount of USDC such as 0.001", Amount::parse_usdc)
    }

    fn secret(&self, key: &str) -> Result<Secret, ConfigError> {
        match self.optional(key) {
            Some(text) if !text.is_empty() => Ok(Secret::new(text)),
            _ => Err(ConfigError(format!(
                "{key} is needed and not set: put it into the file credentials/{} beside the configuration (root's \
                 alone: run this as root), into the file that {key}_file names, or into the environment as {}",
                key.replace('.', "/"),
                settings::environment_name(key)
            ))),
        }
    }
}

#[cfg(test)]
mod tests;
