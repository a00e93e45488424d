//! `context402 setup`: from a machine with a domain to a service that sells. It asks for what is missing, checks it,
//! writes the configuration and the secrets, has install.sh install and start the service, and prints a sign-in link.
//! Everything can be repeated, and taken back with `--undo`.

mod answers;
mod candidate;
mod installer;
mod manifest;
mod places;
mod purchase;
mod system;
mod undo;

use std::fs;
use std::io::{self, IsTerminal as _};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use toml::Table;

use crate::cli::buyer::buy;
use crate::cli::progress::Progress;
use crate::cli::serve::doctor::{self, Finding};
use crate::cli::{Failure, failed, say, socket};
use crate::config::{CertificateSource, Config, FacilitatorAt, Tls, settings};
use crate::flows::operations::certificates;
use crate::outside::buyer::Wallet;
use answers::Answers;
use candidate::Candidate;
use installer::{CADDYFILE, NGINX};
use manifest::Manifest;
use places::Places;
use system::{is_enabled, private_folder, write};

/// What the proxies' files say in place of the domain and the address.
const EXAMPLE_DOMAIN: &str = "context.example.com";
const EXAMPLE_LISTEN: &str = "127.0.0.1:4020";
const CERTIFICATE_TIME_MAX: Duration = Duration::from_secs(30);
const CERTIFICATE_PAUSE: Duration = Duration::from_millis(200);
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sudo context402 setup --domain context.example.com --pay-to 0x… --facilitator https://… --tls
  sudo context402 setup --domain context.example.com --pay-to 0x… --facilitator https://… --caddy
  sudo context402 setup --network base-sepolia --facilitator https://x402.org/facilitator …")]
pub(in crate::cli) struct Args {
    /// The domain that buyers use, such as context.example.com
    #[arg(long, value_name = "DOMAIN")]
    domain: Option<String>,
    /// Your receiving address for USDC: 0x and 40 hex digits
    #[arg(long, value_name = "ADDRESS")]
    pay_to: Option<String>,
    /// Your x402 facilitator's https address
    #[arg(long, value_name = "URL")]
    facilitator: Option<String>,
    /// A file with the facilitator's bearer token, or a CDP API key as downloaded (JSON)
    #[arg(long, value_name = "FILE")]
    facilitator_auth_file: Option<PathBuf>,
    /// The network that buyers pay on; base-sepolia is for test funds
    #[arg(long, value_enum)]
    network: Option<Network>,
    /// The contact shown to buyers and site owners; with --tls the certificate authority's too
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
    /// The reverse proxy in front, whose configuration is written beside ours; an installed Caddy is made to use it
    #[arg(long, value_enum)]
    proxy: Option<Proxy>,
    /// The same as --proxy caddy
    #[arg(long, conflicts_with_all = ["proxy", "tls"])]
    caddy: bool,
    /// Serve HTTPS without a reverse proxy, on ports 443 and 80, with a certificate from Let's Encrypt. Using this
    /// option accepts its terms of service
    #[arg(long, conflicts_with_all = ["proxy", "listen"])]
    tls: bool,
    /// Render pages whose text is made by scripts: installs Chromium (by apt-get, if there is none) and its units
    #[arg(long)]
    with_browser: bool,
    /// Once everything runs, buy the sample page from the service, for at most 0.012 USDC of the wallet whose private key
    /// is in this file
    #[arg(long, value_name = "FILE", conflicts_with = "no_start")]
    buyer_key_file: Option<PathBuf>,
    /// Where to accept connections; by default 127.0.0.1:4020
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Write and install everything, and start nothing
    #[arg(long)]
    no_start: bool,
    /// Check everything and print what would be written
    #[arg(long)]
    dry_run: bool,
    /// Remove what setup created: units, program, secrets and configuration; data and backups stay
    #[arg(long, conflicts_with_all = ["domain", "pay_to", "facilitator", "facilitator_auth_file", "network", "email", "proxy", "caddy", "tls", "with_browser", "buyer_key_file", "listen", "no_start", "dry_run"])]
    undo: bool,
    /// Put everything below this folder, as with install.sh, for a look or a test
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Proxy {
    Caddy,
    Nginx,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Network {
    Base,
    BaseSepolia,
}

impl Args {
    pub(in crate::cli) fn run(mut self) -> Result<(), Failure> {
        if self.caddy {
            self.proxy = Some(Proxy::Caddy);
        }
        let places = Places::below(self.prefix.clone());
        let is_root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
        if self.prefix.is_none() && !self.dry_run && !is_root {
            return Err(failed(
                "this needs root: run it with sudo, or preview it with --dry-run",
            ));
        }
        match self.undo {
            true => places.undo(),
            false => self.set_up(&places),
        }
    }

    fn set_up(self, places: &Places) -> Result<(), Failure> {
        let buyer = self.buyer_key_file.as_deref().map(buy::wallet);
        let buyer = buyer.transpose()?;
        let before = places.configuration()?;
        let text = before.clone().unwrap_or_else(settings::example_file);
        let table: Table = text.parse().map_err(|_| places.broken())?;
        let answers = Answers::gather(&self, &table, io::stdin().is_terminal())?;
        let text = answers.write_into(text, &table, places)?;

        let secrets = answers.secrets(places);
        let config = Candidate::open(places)?.check(&text, &secrets, places)?;
        check(&config)?;
        if self.dry_run {
            return tell_dry_run(places, before.as_deref(), &text, &secrets, self.proxy);
        }
        fs::create_dir_all(&places.etc)?;
        let mut manifest = Manifest::read(&places.manifest())?;
        manifest.installed |= !places.units_exist();
        manifest.enabled |= places.is_packaged() && !self.no_start && !is_enabled();
        let mut made = Vec::new();
        for (path, secret) in &secrets {
            path.parent().map_or(Ok(()), private_folder)?;
            if !path.exists() {
                made.push(path.clone());
            }
            write(path, secret, 0o600)?;
        }
        let changed = before.as_deref() != Some(&*text);
        if changed {
            let copy = before.as_ref().map(|_| places.copy_configuration());
            let copy = copy.transpose()?;
            let edited = before
                .as_deref()
                .is_some_and(|before| !manifest.is_ours(before));
            if edited {
                manifest.replaced = copy.clone();
            }
            write(&places.config, &text, 0o644)?;
            let shown = places.config.display();
            say(match copy {
                Some(copy) => format!("{shown} written; the one before is {}.", copy.display()),
                None => format!("{shown} written."),
            })?;
        }
        if let Some((path, text)) = self.proxy_file(places, &config) {
            write(&path, &text, 0o644)?;
            made.push(path.clone());
            if !self.uses_caddy(places) {
                tell_proxy(&path, self.proxy)?;
            }
        }
        let drop_ins = places.drop_ins();
        manifest.note(&text, made);
        write(&places.manifest(), &manifest.text(), 0o600)?;
        let installed = places.install(&self);
        // Also after a failure, so that it can be undone.
        let mut added = places.drop_ins();
        added.retain(|file| !drop_ins.contains(file));
        manifest.note(&text, added);
        let imported = match self.uses_caddy(places) && installed.is_ok() {
            true => places.import(!self.no_start),
            false => Ok(false),
        };
        manifest.imported |= matches!(imported, Ok(true));
        write(&places.manifest(), &manifest.text(), 0o600)?;
        installed.and(imported)?;
        if self.no_start {
            return Ok(());
        }
        finish(places, &config, buyer.as_ref())
    }

    /// Whether an installed Caddy is made to use our file.
    fn uses_caddy(&self, places: &Places) -> bool {
        self.proxy == Some(Proxy::Caddy) && places.caddy().exists()
    }

    /// The reverse proxy's file, with this domain and this address.
    fn proxy_file(&self, places: &Places, config: &Config) -> Option<(PathBuf, String)> {
        let (name, text) = match self.proxy? {
            Proxy::Caddy => ("Caddyfile", CADDYFILE),
            Proxy::Nginx => ("nginx.conf", NGINX),
            Proxy::None => return None,
        };
        let (_, domain) = config.base_url.split_once("://")?;
        let text = text
            .replace(EXAMPLE_DOMAIN, domain)
            .replace(EXAMPLE_LISTEN, &config.listen.to_string());
        Some((places.etc.join(name), text))
    }
}

fn tell_proxy(path: &Path, proxy: Option<Proxy>) -> io::Result<()> {
    let path = path.display();
    match proxy {
        Some(Proxy::Caddy) => say(format_args!(
            "{path} written. To use it, add the line `import {path}` to /etc/caddy/Caddyfile and run `systemctl reload \
             caddy`."
        )),
        _ => say(format_args!(
            "{path} written. To use it, get a certificate (certbot certonly), link the file into /etc/nginx/conf.d and \
             run `systemctl reload nginx`."
        )),
    }
}

/// What has to be right before anything is written. What can be fixed later is only reported.
fn check(config: &Config) -> Result<(), Failure> {
    let mut bad = 0;
    let mut tell = |what: &str, finding: Finding| {
        bad += usize::from(matches!(finding, Finding::Bad(_)));
        doctor::line(what, &finding)
    };
    let pay_to = config.payment.pay_to;
    tell("pay_to", Finding::Good(pay_to.to_string()))?;
    if let Some(host) = doctor::host(&config.base_url) {
        let found = match doctor::name(&host) {
            Finding::Bad(text) => Finding::Note(format!("{text}. Buyers need it")),
            found => found,
        };
        tell("domain", found)?;
    }
    tell("port", port(config, config.listen))?;
    if let Some(plain) = config.tls.as_ref().and_then(|tls| tls.http_listen) {
        tell("port of HTTP", port(config, plain))?;
    }
    if let FacilitatorAt::Url(url) = &config.payment.facilitator {
        tell(
            "facilitator",
            doctor::ask(doctor::facilitator(config, url))?,
        )?;
    }
    match bad {
        0 => Ok(()),
        _ => Err(failed("nothing was changed: fix this and run it again")),
    }
}

/// Whether we can listen, or do already.
fn port(config: &Config, listen: SocketAddr) -> Finding {
    match TcpListener::bind(listen) {
        Ok(_) => Finding::Good(format!("{listen} is free")),
        Err(_) if socket::health_at(listen).is_ok_and(|health| health["version"].is_string()) => {
            Finding::Good(format!("{listen} is served by context402"))
        }
        // Over HTTPS it cannot be asked at its port.
        Err(_) if config.tls.is_some() && socket::connect(&config.socket).is_some() => {
            Finding::Good(format!("{listen} is in use, and context402 runs"))
        }
        Err(error) => Finding::Bad(format!(
            "{listen} cannot be used: {error}. Stop what listens there, or choose another address with --listen"
        )),
    }
}

fn tell_dry_run(
    places: &Places,
    before: Option<&str>,
    text: &str,
    made: &[(PathBuf, String)],
    proxy: Option<Proxy>,
) -> Result<(), Failure> {
    for (path, _) in made {
        say(format_args!("would write: {}", path.display()))?;
    }
    let shown = places.config.display();
    match before {
        Some(before) if before == text => say(format_args!("{shown} stays as it is"))?,
        _ => say(format_args!("would write: {shown}"))?,
    }
    match proxy {
        Some(Proxy::Caddy) => say(format_args!(
            "would write: {}, and import it in {} if that is there",
            places.etc.join("Caddyfile").display(),
            places.caddy().display()
        ))?,
        Some(Proxy::Nginx) => say(format_args!(
            "would write: {}",
            places.etc.join("nginx.conf").display()
        ))?,
        Some(Proxy::None) | None => {}
    }
    Ok(say("would run: install.sh, then context402 doctor")?)
}

/// Everything checked, a sale if there is a wallet, and the way in.
fn finish(places: &Places, config: &Config, buyer: Option<&Wallet>) -> Result<(), Failure> {
    await_certificate(config);
    let doctor = places.run(&["doctor"])?;
    let bought = buyer.map(|wallet| purchase::purchase(config, wallet));
    let link = socket::connect(&config.socket)
        .and_then(|stream| socket::post(stream, "/operator/sign-in-link").ok());
    say(format_args!("\nConsole: {}/operator", config.base_url))?;
    if let Some(url) = link.as_ref().and_then(|link| link["url"].as_str()) {
        say(format_args!(
            "Sign in (once, within ten minutes): {url}\nAnother link later: context402 console"
        ))?;
    }
    match doctor {
        true => bought.unwrap_or(Ok(())),
        false => Err(failed(
            "the service is installed; what doctor calls BAD above is still to be fixed",
        )),
    }
}

/// The authority takes its seconds over the first certificate. Doctor says what is wrong if there is none.
fn await_certificate(config: &Config) {
    let acme = |tls: &&Tls| matches!(tls.source, CertificateSource::Acme { .. });
    let Some(tls) = config.tls.as_ref().filter(acme) else {
        return;
    };
    let _progress = Progress::start("Waiting for the certificate");
    let until = Instant::now() + CERTIFICATE_TIME_MAX;
    while Instant::now() < until && certificates::stored(tls).is_ok_and(|found| found.is_none()) {
        thread::sleep(CERTIFICATE_PAUSE);
    }
}
