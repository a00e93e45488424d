//! The configuration. Every setting is a row of `settings::SETTINGS`; here their texts become validated values, once, before
//! any socket is opened. Only this folder reads the environment.

pub mod file;
mod resolved;
pub mod settings;
mod sources;
mod suggest;
mod values;

mod bundles;
mod chain;
mod guard;
mod keys;
mod legacy;
mod limits;
pub mod live;
mod llm;
pub mod mail;
mod orders;
mod payment;
mod render;
mod supervisor;
mod tls;
mod web;

#[cfg(test)]
mod tests;

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use url::Url;

use crate::outside::mailer::Sender;
use crate::signing::session::Sessions;

pub use bundles::{Bundles, Links, Notify};
pub use chain::Chain;
pub use guard::{Coin, Gas, Guard};
pub use keys::Signing;
pub use legacy::Legacy;
pub use limits::Limits;
pub use llm::Llm;
pub use orders::Orders;
pub use payment::{FacilitatorAt, FacilitatorAuth, Payment, VerifySettlement};
pub use render::{Render, RenderUnit};
pub use resolved::Resolved;
pub use sources::Origin;
pub use supervisor::{Supervisor, journal_listens, log_filter, wants_colour};
pub use tls::{CertificateSource, Tls};
pub use values::{ConfigError, Secret};
pub use web::{Fetch, Lab};

use settings::COMMON_FACILITATOR;
use web::is_loopback_url;

/// The validated configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// The public origin, without a trailing slash.
    pub base_url: String,
    /// Where HTTP, or with a certificate HTTPS, is accepted.
    pub listen: SocketAddr,
    /// HTTPS without a reverse proxy, if configured.
    pub tls: Option<Tls>,
    /// Address blocks whose forwarding headers are trusted.
    pub trusted_proxies: Vec<(IpAddr, u8)>,
    pub data_file: PathBuf,
    /// The operator's Unix socket.
    pub socket: PathBuf,
    pub service_name: String,
    pub contact: Option<String>,
    /// Where buyers can download this program.
    pub download_url: Option<Url>,
    pub legal: Legal,
    pub payment: Payment,
    /// The chain, if an RPC endpoint is configured.
    pub chain: Option<Chain>,
    pub legacy: Legacy,
    pub guard: Guard,
    /// The key for offers, receipts and reports.
    pub signing: Option<Signing>,
    pub fetch: Fetch,
    /// The browser, if configured.
    pub render: Option<Render>,
    /// Whether the built-in entailment model and the sentence encoder beside it are used.
    pub entailment_model: bool,
    /// The language model, if configured.
    pub llm: Option<Llm>,
    pub bundles: Bundles,
    pub orders: Orders,
    /// The mail transport, if configured.
    pub mail: Option<mail::Mail>,
    /// The operator's token, if configured.
    pub operator: Option<Sessions>,
    pub limits: Limits,
    pub lab: Lab,
    /// All effective settings for display: key, value, origin.
    pub lines: Vec<(&'static str, String, String)>,
    /// What has no effect, or one that is hardly meant.
    pub warnings: Vec<String>,
}

/// The operator's identity, if configured.
#[derive(Clone, Debug, Default)]
pub struct Legal {
    pub name: Option<String>,
    pub address: Option<String>,
    /// Without it, `contact` is shown.
    pub email: Option<String>,
    pub law: Option<String>,
}

impl Config {
    /// Reads and validates the file (if any), the environment and the credentials.
    pub fn load(file: Option<&Path>) -> Result<Config, ConfigError> {
        Config::from_resolved(&Resolved::from_surroundings(file)?)
    }

    /// Checks every setting.
    ///
    /// # Errors
    /// All mistakes at once: a wrong setting gets a good value in its place, and the checks go on.
    pub fn from_resolved(resolved: &Resolved) -> Result<Config, ConfigError> {
        let mut mistakes = resolved.mistakes().to_vec();
        let mut corrected = resolved.clone();
        loop {
            let found = match Config::checked(&corrected) {
                Ok(config) if mistakes.is_empty() => return Ok(config),
                Ok(_) => break,
                Err(ConfigError(found)) => found,
            };
            let mut goes_on = false;
            for mistake in found {
                goes_on |= match corrected.put_placeholder(&mistake.key) {
                    true => {
                        mistakes.push(resolved.placed(&mistake));
                        true
                    }
                    // The placeholder is refused as well: without the setting, the rest can be checked.
                    false if corrected.forget(&mistake.key) => true,
                    false => {
                        mistakes.push(resolved.placed(&mistake));
                        false
                    }
                };
            }
            if !goes_on {
                break;
            }
        }
        let nothing = resolved.no_configuration();
        Err(nothing.unwrap_or(ConfigError(mistakes)))
    }

    fn checked(resolved: &Resolved) -> Result<Config, ConfigError> {
        let base_url = web::base_url(resolved)?;
        let data_file: PathBuf = resolved.checked("data_file", "the path of a file", |path| {
            (!path.is_empty()).then(|| path.into())
        })?;
        let socket = resolved
            .optional("socket")
            .map_or_else(|| data_file.with_extension("sock"), PathBuf::from);
        let tls = tls::tls(resolved, &base_url, data_file.with_file_name("tls"))?;
        let mut config = Config {
            listen: tls::listen(resolved, tls.as_ref())?,
            tls,
            trusted_proxies: web::trusted_proxies(resolved)?,
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
            contact: resolved.lines_of("contact")?,
            download_url: bundles::link(resolved, "download_url")?,
            legal: Legal {
                name: resolved.lines_of("legal.name")?,
                address: resolved.lines_of("legal.address")?,
                email: resolved.lines_of("legal.email")?,
                law: resolved.lines_of("legal.law")?,
            },
            payment: payment::payment(resolved)?,
            chain: chain::chain(resolved)?,
            legacy: legacy::legacy(resolved)?,
            guard: guard::guard(resolved)?,
            signing: keys::signing(resolved)?,
            fetch: web::fetch(resolved)?,
            render: render::render(resolved)?,
            entailment_model: resolved.parse("evidence.model", "true or false")?,
            llm: llm::llm(resolved)?,
            bundles: bundles::bundles(resolved)?,
            orders: orders::orders(resolved)?,
            mail: mail::mail(resolved)?,
            operator: keys::operator(resolved)?,
            limits: limits::limits(resolved)?,
            lab: web::lab(resolved)?,
            lines: resolved.lines(),
            warnings: resolved.warnings(),
            base_url,
        };
        config.warnings.extend(config.guard.warning());
        config
            .warnings
            .extend(config.orders.warning(&config.bundles));
        config.refuse_play_money_in_public(resolved)?;
        Ok(config)
    }

    /// Whether `base_url` is on loopback, where the test seams are allowed.
    pub fn is_loopback(&self) -> bool {
        is_loopback_url(&self.base_url)
    }

    /// Who reads answers to e-mails: the configured address, else `contact` if it is one.
    pub fn reply_to(&self) -> Option<Sender> {
        let configured = self.mail.as_ref().and_then(|mail| mail.reply_to.clone());
        configured.or_else(|| self.contact.as_deref().and_then(Sender::parse))
    }

    fn refuse_play_money_in_public(&self, resolved: &Resolved) -> Result<(), ConfigError> {
        if self.is_loopback() {
            return Ok(());
        }
        // Nothing is known of a base_url that is still to be set.
        let is_set = resolved
            .get("base_url")
            .is_some_and(|(_, origin)| *origin != Origin::Placeholder);
        let lab = [
            ("lab.hosts", !self.lab.hosts.is_empty()),
            ("lab.name_server", self.lab.name_server.is_some()),
            ("lab.acme_directory", self.lab.acme_directory.is_some()),
            ("lab.acme_root", self.lab.acme_root.is_some()),
            ("lab.ca_file", self.lab.ca_file.is_some()),
            ("lab.render_worker", self.lab.render_worker.is_some()),
            ("lab.crash_at", self.lab.crash_at.is_some()),
        ];
        if let Some((key, _)) = lab.into_iter().find(|(_, is_set)| *is_set) {
            let text = match is_set {
                true => format!(
                    "{key} is only for tests on loopback, and base_url is public: remove it"
                ),
                false => format!(
                    "{key} is only for tests on loopback: remove it, unless base_url will be on loopback"
                ),
            };
            return Err(ConfigError::of(key, text));
        }
        let key = "payment.facilitator_url";
        let why = match &self.payment.facilitator {
            FacilitatorAt::Sandbox => "\"sandbox\" (the default) moves only test funds on loopback",
            FacilitatorAt::Url(url) if !url.starts_with("https://") => "it must be https",
            FacilitatorAt::Url(_) => return Ok(()),
        };
        let (public, unless) = match is_set {
            true => (", and base_url is public", ""),
            false => ("", ", unless base_url will be on loopback"),
        };
        Err(ConfigError::of(
            key,
            format!(
                "{key}: {why}{public}: set payment.facilitator_url to your facilitator's https address, such as \
                 {COMMON_FACILITATOR}{unless}"
            ),
        ))
    }
}
