//! `context402 doctor`: checks the service's environment, one line per check, with the fix for each failure. It changes
//! nothing and pays nothing.

mod browser;
pub(in crate::cli::serve) mod payment;
mod sandbox;
mod tls;

use std::fmt;
use std::io::IsTerminal as _;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use url::Url;

use crate::app;
use crate::cli::list::Format;
use crate::cli::serve::healthcheck;
use crate::cli::{ConfigFile, Failure, failed, run_async, say, socket};
use crate::config::mail::{Mail, Transport};
use crate::config::{CertificateSource, Config, FacilitatorAt, wants_colour};
use crate::domain::bundle::Bundle;
use crate::domain::figures::size;
use crate::domain::time::UnixSeconds;
use crate::outside::clock::Clock;
use crate::outside::mailer::MailError;
use crate::outside::probe;
use crate::store;

/// Payments have a validity window: with a larger clock error, valid ones are refused.
const SKEW_SECONDS_MAX: u64 = 10;
/// The label of our own host name among those that are resolved.
const OWN_NAME: &str = "base_url DNS";

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    file: ConfigFile,
    #[command(flatten)]
    format: Format,
}

pub(in crate::cli::serve) enum Finding {
    Good(String),
    /// It works but could be better.
    Note(String),
    Bad(String),
}

use Finding::{Bad, Good, Note};

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let config = self.file.load()?;
        let mut bad = 0;
        let mut found = Vec::new();
        let mut tell = |(what, finding): (&str, Finding)| {
            bad += usize::from(matches!(finding, Bad(_)));
            match self.format.json {
                false => line(what, &finding),
                true => {
                    let result = finding.word().to_lowercase();
                    found.push(
                        json!({"check": what, "result": result, "text": finding.to_string()}),
                    );
                    Ok(())
                }
            }
        };
        tell(("configuration", configuration(&config)))?;
        for warning in &config.warnings {
            tell(("configuration", Note(warning.clone())))?;
        }
        tell(("data file", data_file(&config)))?;
        tell(("disk", free_disk(&config)))?;
        tell(("service", service(&config)))?;
        let mut hosts = hosts(&config);
        for (what, host) in &hosts {
            tell((what, name(host)))?;
        }
        if let Some(Transport::Smtp(server)) = config.mail.as_ref().map(|mail| &mail.transport) {
            hosts.push(("mail server", server.host.clone()));
        }
        if let Some(finding) = sandbox::sandbox(&hosts) {
            tell(("sandbox", finding))?;
        }
        let mut clocks = Vec::new();
        tell(("base_url", base_url(&config)))?;
        if let Some(tls) = &config.tls {
            tell(("certificate", tls::certificate(tls, Clock::System.now())))?;
            tell(("plain http", tls::plain_http(tls)))?;
            if matches!(tls.source, CertificateSource::Acme { .. }) {
                tell(("CAA records", tls::authority(&config, &tls.name)?))?;
            }
        }
        if let FacilitatorAt::Url(url) = &config.payment.facilitator {
            // One on this machine has this machine's clock.
            if !is_on_loopback(url)
                && let Ok(probed) = probe::get(url)
            {
                clocks.extend(probed.date);
            }
            tell(("facilitator", ask(payment::facilitator(&config, url))?))?;
        }
        if let Some(render) = &config.render {
            let found = match &render.unit {
                // The socket's client has a runtime of its own, which none may start within another.
                Some(unit) => browser::unit_browser(&config, unit),
                None => ask(browser::browser(&config, render.jit))?,
            };
            tell(("browser", found))?;
        }
        tell(("chain", ask(payment::chain(&config))?))?;
        tell(("clock", clock(Clock::System.now(), &clocks)))?;
        tell(("signing", signing(&config)))?;
        tell(("bundles", bundles(&config)))?;
        tell(("mail", ask(mail(&config))?))?;
        if self.format.json {
            say(serde_json::to_string_pretty(&found)?)?;
        }
        match bad {
            0 => Ok(()),
            bad => Err(failed(format_args!(
                "{bad} of these must be fixed: see BAD above"
            ))),
        }
    }
}

/// A line for one check.
pub(in crate::cli::serve) fn line(what: &str, finding: &Finding) -> std::io::Result<()> {
    let word = format!("{:<5}", finding.word());
    let colour = match finding {
        Good(_) => "32",
        Note(_) => "33",
        Bad(_) => "1;31",
    };
    let word = match std::io::stdout().is_terminal() && wants_colour() {
        true => format!("\x1b[{colour}m{word}\x1b[0m"),
        false => word,
    };
    say(format_args!("{word} {what:<15} {finding}"))
}

impl Finding {
    fn word(&self) -> &'static str {
        match self {
            Good(_) => "ok",
            Note(_) => "note",
            Bad(_) => "BAD",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Good(text) | Note(text) | Bad(text)) = self;
        f.write_str(text)
    }
}

fn configuration(config: &Config) -> Finding {
    let text = format!("{} on {}", config.base_url, config.listen);
    match &config.payment.facilitator {
        FacilitatorAt::Sandbox => Note(format!(
            "{text}, with test funds: set payment.facilitator_url to sell for real"
        )),
        FacilitatorAt::Url(_) if !config.base_url.starts_with("https://") => Note(format!(
            "{text}: buyers and directories expect an https base_url"
        )),
        FacilitatorAt::Url(_) => Good(text),
    }
}

fn data_file(config: &Config) -> Finding {
    let path = &config.data_file;
    let shown = path.display();
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Bad(format!(
                "{shown} does not exist: create it with `context402 init`, or restore a backup with `context402 restore`"
            ));
        }
        Err(error) => return Bad(format!("{shown}: {error}")),
    };
    if metadata.permissions().mode() & 0o077 != 0 {
        return Bad(format!(
            "{shown} is readable by others: run `chmod 600 {shown}`"
        ));
    }
    if metadata.len() == 0 {
        return Bad(format!("{shown} is empty: restore a backup"));
    }
    Good(format!("{shown}, {}, mode 0600", size(metadata.len())))
}

fn free_disk(config: &Config) -> Finding {
    let used = std::fs::metadata(&config.data_file).map_or(0, |metadata| metadata.len());
    let floor = config.limits.free_disk_bytes_min;
    match store::free_bytes(&config.data_file) {
        Err(error) => Bad(format!("free disk space cannot be read: {error}")),
        Ok(free) if free < floor => Bad(format!(
            "{} free; sales stop below {} (limits.free_disk_mib_min): free some space",
            size(free),
            size(floor)
        )),
        Ok(free) if free < floor.saturating_add(used) => Note(format!(
            "{} free: too little for a backup on the same disk",
            size(free)
        )),
        Ok(free) => Good(format!("{} free", size(free))),
    }
}

fn seconds(count: u64) -> String {
    match count {
        1 => "1 second".to_owned(),
        count => format!("{count} seconds"),
    }
}

fn service(config: &Config) -> Finding {
    let shown = config.socket.display();
    let Some(stream) = socket::connect(&config.socket) else {
        return Note(match config.socket.exists() {
            true => {
                format!("no response at {shown}: not running, or this user has no access")
            }
            false => format!("not running ({shown} does not exist)"),
        });
    };
    match socket::get(stream, "/health") {
        Err(failure) => Bad(format!("no health report: {failure}")),
        Ok(health) => match healthcheck::line(&health) {
            Ok(line) => Good(line),
            Err(line) => Bad(line),
        },
    }
}

/// The names to resolve.
fn hosts(config: &Config) -> Vec<(&'static str, String)> {
    let facilitator = match &config.payment.facilitator {
        FacilitatorAt::Url(url) => Some(url.as_str()),
        FacilitatorAt::Sandbox => None,
    };
    let chain = config.chain.as_ref().map(|chain| chain.rpc_url.expose());
    let model = config.llm.as_ref().map(|llm| llm.base_url.as_str());
    let urls = [
        (OWN_NAME, Some(config.base_url.as_str())),
        ("facilitator DNS", facilitator),
        ("chain DNS", chain),
        ("model DNS", model),
    ];
    urls.into_iter()
        .filter_map(|(what, url)| Some((what, host(url?)?)))
        .collect()
}

/// The name in an address, if it has one.
pub(in crate::cli::serve) fn host(url: &str) -> Option<String> {
    match Url::parse(url).ok()?.host()? {
        url::Host::Domain(name) => Some(name.to_owned()),
        _ => None,
    }
}

fn is_on_loopback(url: &str) -> bool {
    match Url::parse(url).ok().as_ref().and_then(Url::host) {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

pub(in crate::cli::serve) fn name(host: &str) -> Finding {
    match probe::resolve(host) {
        Ok(found) if found.is_empty() => Bad(format!("{host} has no address")),
        Ok(found) => {
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            Good(format!("{host} is {}", found.join(", ")))
        }
        Err(error) => Bad(format!(
            "{host} cannot be resolved: {error}; check the name and /etc/resolv.conf"
        )),
    }
}

/// What is trusted in place of the public authorities, in a lab.
pub(in crate::cli::serve) fn roots(config: &Config) -> std::io::Result<Option<Vec<u8>>> {
    let file = config.lab.acme_root.as_deref();
    file.map(std::fs::read).transpose()
}

/// Whether this service responds there.
fn base_url(config: &Config) -> Finding {
    let url = format!("{}/health", config.base_url);
    let is_running = socket::connect(&config.socket).is_some();
    let roots = match roots(config) {
        Ok(roots) => roots,
        Err(error) => return Bad(format!("lab.acme_root cannot be read: {error}")),
    };
    match probe::get_trusting(&url, roots.as_deref()) {
        Err(error) if is_running => Bad(format!(
            "{url} does not respond: {error}. Check the certificate, the reverse proxy if there is one, and the firewall"
        )),
        Err(_) => Note(format!(
            "{url} does not respond, because the service is not running"
        )),
        Ok(probed) => {
            let body: Value = serde_json::from_slice(&probed.body).unwrap_or_default();
            match body["version"].as_str() {
                Some(env!("CARGO_PKG_VERSION")) => Good(format!("{url} returns {}", probed.status)),
                Some(version) => Note(format!(
                    "{url} runs version {version}, this is {}",
                    env!("CARGO_PKG_VERSION")
                )),
                None => Bad(format!(
                    "{url} returns {}, but not from this service: check the reverse proxy's upstream",
                    probed.status
                )),
            }
        }
    }
}

pub(in crate::cli::serve) fn ask(asked: impl Future<Output = Finding>) -> Result<Finding, Failure> {
    run_async(2, async { Ok(asked.await) })
}

/// Compares our clock with the Date headers of upstreams.
fn clock(now: UnixSeconds, others: &[UnixSeconds]) -> Finding {
    let apart = |other: &UnixSeconds| now.since(*other).max(other.since(now));
    match others.iter().map(apart).max() {
        None => Note("no server outside this machine reported a time to compare with".to_owned()),
        Some(apart) if apart > SKEW_SECONDS_MAX => Bad(format!(
            "{} off from other servers: enable NTP (`timedatectl set-ntp true`); otherwise valid payments \
            are refused or expired ones accepted",
            seconds(apart)
        )),
        Some(apart) => Good(format!("{} off from other servers", seconds(apart))),
    }
}

fn signing(config: &Config) -> Finding {
    match &config.signing {
        Some(_) => Good("offers, receipts and reports are signed".to_owned()),
        None => Note("signing.key is not set: nothing is signed".to_owned()),
    }
}

fn sells_bundles(config: &Config) -> bool {
    let mut bundles = Bundle::ALL.iter();
    bundles.any(|bundle| config.bundles.links.of(*bundle).is_some())
}

/// Whether payments by link are recorded.
fn bundles(config: &Config) -> Finding {
    match config.orders.webhook_secrets.len() {
        _ if !sells_bundles(config) => {
            Note("no payment link is set: buyers request bundles by form".to_owned())
        }
        0 => Bad(
            "payment links are set, but bundles.webhook_secrets is not: payments are not recorded"
                .to_owned(),
        ),
        _ if !config.orders.is_live => {
            Note("only test payments count: set bundles.livemode to accept live ones".to_owned())
        }
        secrets => Good(format!("payments are recorded; {secrets} signing secrets")),
    }
}

async fn mail(config: &Config) -> Finding {
    let mailer = match app::mailer(config) {
        Ok(mailer) => mailer,
        Err(error) => return Bad(error.to_string()),
    };
    match mailer.check().await {
        _ if !mailer.is_on() && sells_bundles(config) => {
            Bad("mail.smtp_host is not set: buyers of bundles get no e-mail".to_owned())
        }
        _ if !mailer.is_on() => Note("mail.smtp_host is not set: no e-mail is sent".to_owned()),
        Ok(()) => match config.mail.as_ref().and_then(Mail::folder) {
            None => Good("mail server login ok".to_owned()),
            Some(folder) => Note(format!(
                "nothing is sent: e-mails are written to the folder {}, which mail.folder names",
                folder.display()
            )),
        },
        Err(MailError::Temporary(text) | MailError::Permanent(text)) => {
            Bad(format!("e-mail cannot be sent: {text}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::serve::doctor::*;

    /// Our own Date would only show that this machine's clock agrees with itself.
    #[test]
    fn a_server_on_this_machine_is_no_second_clock() {
        for (url, expected) in [
            ("http://127.0.0.1:4020", true),
            ("http://localhost:1", true),
            ("http://[::1]:4020/x", true),
            ("https://facilitator.example.com", false),
            ("https://93.184.216.34", false),
        ] {
            assert_eq!(is_on_loopback(url), expected, "{url}");
        }
    }

    #[test]
    fn a_clock_is_judged_by_the_one_that_is_farthest_off() {
        let now = UnixSeconds(1_000_000);
        assert!(matches!(clock(now, &[]), Note(_)));
        assert!(matches!(clock(now, &[now.plus(3), now]), Good(_)));
        for other in [now.plus(11), UnixSeconds(999_989)] {
            let found = clock(now, &[now, other]);
            assert!(
                matches!(&found, Bad(text) if text.starts_with("11 seconds off")),
                "{found}"
            );
        }
    }
}
