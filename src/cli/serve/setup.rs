//! `context402 setup`: from a machine with a domain to a service that sells. It asks for what is missing, checks it,
//! writes the configuration and the secrets, has install.sh install and start the service, and prints a sign-in link.
//! Everything can be repeated, and taken back with `--undo`.

mod answers;
mod manifest;
mod purchase;

use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use toml::Table;

use crate::cli::buyer::buy;
use crate::cli::progress::Progress;
use crate::cli::serve::doctor::{self, Finding};
use crate::cli::{Failure, config_failure, failed, say, socket};
use crate::config::{CertificateSource, Config, FacilitatorAt, Tls, settings};
use crate::flows::operations::certificates;
use crate::outside::buyer::Wallet;
use crate::outside::chance;
use crate::outside::clock::Clock;
use answers::Answers;
use manifest::Manifest;

/// The script that installs the program, its units and its manual: the only place that knows how.
const INSTALLER: &str = include_str!("../../../install.sh");
/// What it installs beside the program, below `systemd`.
const FILES: [(&str, &str); 14] = [
    (
        "context402.service",
        include_str!("../../../systemd/context402.service"),
    ),
    (
        "context402.socket",
        include_str!("../../../systemd/context402.socket"),
    ),
    (
        "context402-init.service",
        include_str!("../../../systemd/context402-init.service"),
    ),
    (
        "context402-backup.service",
        include_str!("../../../systemd/context402-backup.service"),
    ),
    (
        "context402-backup.timer",
        include_str!("../../../systemd/context402-backup.timer"),
    ),
    (
        "context402.socket.d/tls.conf",
        include_str!("../../../systemd/context402.socket.d/tls.conf"),
    ),
    (
        "context402-browser.service",
        include_str!("../../../systemd/context402-browser.service"),
    ),
    (
        "context402-browser.socket",
        include_str!("../../../systemd/context402-browser.socket"),
    ),
    (
        "context402-egress.socket",
        include_str!("../../../systemd/context402-egress.socket"),
    ),
    (
        "context402.service.d/browser.conf",
        include_str!("../../../systemd/context402.service.d/browser.conf"),
    ),
    (
        "OPERATING.md",
        include_str!("../../../systemd/OPERATING.md"),
    ),
    ("TLS.md", include_str!("../../../systemd/TLS.md")),
    ("caddy/Caddyfile", CADDYFILE),
    ("nginx/context402.conf", NGINX),
];
const CADDYFILE: &str = include_str!("../../../systemd/caddy/Caddyfile");
const NGINX: &str = include_str!("../../../systemd/nginx/context402.conf");
/// What the proxies' files say in place of the domain and the address.
const EXAMPLE_DOMAIN: &str = "context.example.com";
const EXAMPLE_LISTEN: &str = "127.0.0.1:4020";
const CERTIFICATE_TIME_MAX: Duration = Duration::from_secs(30);
const CERTIFICATE_PAUSE: Duration = Duration::from_millis(200);
/// Where a Debian package has its units.
const PACKAGED_UNIT: &str = "usr/lib/systemd/system/context402.service";
/// Where an administrator's units lie.
const UNITS: &str = "etc/systemd/system";
/// What install.sh adds there to a package's units.
const DROP_INS: [&str; 3] = [
    "context402.socket.d/listen.conf",
    "context402.socket.d/tls.conf",
    "context402.service.d/browser.conf",
];
/// The package's units that install.sh enables.
const ENABLED: [&str; 6] = [
    "context402-backup.timer",
    "context402.socket",
    "context402.service",
    "context402-browser.socket",
    "context402-egress.socket",
    "context402-browser.service",
];

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
    /// Remove what setup has made: units, program, secrets and configuration; data and backups stay
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

/// Where everything lies.
struct Places {
    prefix: Option<PathBuf>,
    root: PathBuf,
    etc: PathBuf,
    config: PathBuf,
    credentials: PathBuf,
    state: PathBuf,
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
        let config = Work::open(places)?.check(&text, &secrets, places)?;
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

/// What has to be right before anything is written. What can be put right later is only told.
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

impl Places {
    fn below(prefix: Option<PathBuf>) -> Places {
        let root = prefix.clone().unwrap_or_else(|| PathBuf::from("/"));
        let etc = root.join("etc/context402");
        Places {
            config: etc.join("config.toml"),
            credentials: etc.join("credentials"),
            state: root.join("var/lib/context402"),
            etc,
            root,
            prefix,
        }
    }

    fn manifest(&self) -> PathBuf {
        self.etc.join("setup.json")
    }

    /// The configuration of an installed Caddy.
    fn caddy(&self) -> PathBuf {
        self.root.join("etc/caddy/Caddyfile")
    }

    /// The line by which Caddy imports our file.
    fn import_line(&self) -> String {
        format!("import {}", self.etc.join("Caddyfile").display())
    }

    /// Has Caddy import our file, once. Whether the line was added.
    fn import(&self, is_started: bool) -> Result<bool, Failure> {
        let (path, line) = (self.caddy(), self.import_line());
        let before = fs::read_to_string(&path)?;
        let is_new = !before.lines().any(|found| found.trim() == line);
        if is_new {
            let end = if before.ends_with('\n') { "" } else { "\n" };
            write(&path, &format!("{before}{end}{line}\n"), 0o644)?;
            say(format_args!("{}: added the line `{line}`.", path.display()))?;
        }
        if is_started && systemctl(&["reload-or-restart", "caddy"]).is_err() {
            // Caddy would not start again with it.
            if is_new {
                write(&path, &before, 0o644)?;
            }
            return Err(failed(format_args!(
                "Caddy refuses {}, which is as it was again; see `journalctl -u caddy`. Often the domain is in it already",
                path.display()
            )));
        }
        Ok(is_new)
    }

    /// Takes the line back.
    fn stop_importing(&self) -> Result<(), Failure> {
        let line = self.import_line();
        let Ok(text) = fs::read_to_string(self.caddy()) else {
            return Ok(());
        };
        let rest = text.lines().filter(|found| found.trim() != line);
        let rest: String = rest.flat_map(|line| [line, "\n"]).collect();
        write(&self.caddy(), &rest, 0o644)?;
        say(format_args!(
            "{}: `{line}` removed.",
            self.caddy().display()
        ))?;
        match systemctl(&["reload-or-restart", "caddy"]) {
            Ok(()) => Ok(()),
            Err(why) => Ok(say(why)?),
        }
    }

    /// The text of the configuration, if there is one.
    fn configuration(&self) -> Result<Option<String>, Failure> {
        match fs::read_to_string(&self.config) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(format_args!("{}: {error}", self.config.display()))),
        }
    }

    fn broken(&self) -> Failure {
        match Config::load(Some(&self.config)) {
            Err(error) => config_failure(&error),
            Ok(_) => failed(format_args!("{} cannot be read", self.config.display())),
        }
    }

    fn units_exist(&self) -> bool {
        let unit = self.root.join(UNITS).join("context402.service");
        unit.exists() || self.is_packaged()
    }

    /// Whether dpkg installed the program and its units.
    fn is_packaged(&self) -> bool {
        self.root.join(PACKAGED_UNIT).exists()
    }

    /// The additions to a package's units that are there.
    fn drop_ins(&self) -> Vec<PathBuf> {
        let units = self.root.join(UNITS);
        let all = DROP_INS.map(|name| units.join(name)).into_iter();
        all.filter(|file| self.is_packaged() && file.exists())
            .collect()
    }

    /// A dated copy of the configuration.
    fn copy_configuration(&self) -> Result<PathBuf, Failure> {
        let now = Clock::System.now().timestamp().map(|at| {
            let at = at.strftime("%Y%m%dT%H%M%SZ");
            self.etc.join(format!("config.toml.{at}"))
        });
        let copy = now.ok_or_else(|| failed("the clock is wrong"))?;
        fs::copy(&self.config, &copy)?;
        Ok(copy)
    }

    /// The installed program with a command and this configuration. Whether it succeeded.
    fn run(&self, arguments: &[&str]) -> Result<bool, Failure> {
        let program = match (&self.prefix, self.is_packaged()) {
            (_, true) => self.root.join("usr/bin/context402"),
            (Some(prefix), false) => prefix.join("bin/context402"),
            (None, false) => PathBuf::from("/usr/local/bin/context402"),
        };
        let mut command = Command::new(program);
        command.args(arguments).arg("--config").arg(&self.config);
        Ok(command.status()?.success())
    }

    fn install(&self, args: &Args) -> Result<(), Failure> {
        let mut arguments = Vec::new();
        if self.is_packaged() {
            if args.no_start {
                return Ok(());
            }
            arguments.push("--start-package");
        } else if args.no_start {
            arguments.push("--no-start");
        }
        let flags = [("--tls", args.tls), ("--with-browser", args.with_browser)];
        arguments.extend(
            flags
                .iter()
                .filter(|(_, given)| *given)
                .map(|(flag, _)| flag),
        );
        self.installer(&arguments)
    }

    /// Runs install.sh with this program and its units.
    fn installer(&self, arguments: &[&str]) -> Result<(), Failure> {
        let folder = scratch_folder()?;
        let outcome = self.installer_in(&folder, arguments);
        fs::remove_dir_all(&folder)?;
        match outcome? {
            true => Ok(()),
            false => Err(failed(
                "install.sh failed, see above; running this again continues where it stopped",
            )),
        }
    }

    fn installer_in(&self, folder: &Path, arguments: &[&str]) -> io::Result<bool> {
        let script = folder.join("install.sh");
        fs::write(&script, INSTALLER)?;
        for (name, text) in FILES {
            let file = folder.join("systemd").join(name);
            fs::create_dir_all(file.parent().unwrap_or(folder))?;
            fs::write(file, text)?;
        }
        symlink(std::env::current_exe()?, folder.join("context402"))?;
        let mut command = Command::new("sh");
        command.arg(&script).args(arguments);
        if let Some(prefix) = &self.prefix {
            command.arg("--prefix").arg(prefix);
        }
        Ok(command.status()?.success())
    }

    /// Takes back what the manifest names, and says what stays.
    fn undo(&self) -> Result<(), Failure> {
        let path = self.manifest();
        if !path.exists() {
            return Err(failed(format_args!(
                "{} does not exist: setup has made nothing here",
                path.display()
            )));
        }
        let manifest = Manifest::read(&path)?;
        let mut left = vec![format!("{} (data and backups)", self.state.display())];
        match manifest.installed {
            true => self.installer(&["--uninstall"])?,
            false => left.push("the program and its units, which were there before".to_owned()),
        }
        if manifest.imported {
            self.stop_importing()?;
        }
        match (manifest.installed, manifest.enabled) {
            (_, true) => systemctl(&[&["disable", "--now"], &ENABLED[..]].concat())?,
            (false, false) => left.push("the service as it runs, until it is restarted".to_owned()),
            (true, false) => {}
        }
        match (self.configuration()?, &manifest.replaced) {
            (Some(text), _) if !manifest.is_ours(&text) => left.push(format!(
                "{}, because it was changed after setup",
                self.config.display()
            )),
            (Some(_), Some(before)) => {
                fs::rename(before, &self.config)?;
                say(format_args!(
                    "{} is again as it was before setup.",
                    self.config.display()
                ))?;
            }
            (Some(_), None) => {
                fs::remove_file(&self.config)?;
                say(format_args!("{} removed.", self.config.display()))?;
            }
            (None, _) => {}
        }
        for file in &manifest.files {
            if file.exists() {
                fs::remove_file(file)?;
                say(format_args!("{} removed.", file.display()))?;
            }
        }
        let units = self.root.join(UNITS);
        let drop_ins = manifest
            .files
            .iter()
            .filter(|file| file.starts_with(&units));
        let mut folders: Vec<_> = drop_ins.filter_map(|file| file.parent()).collect();
        folders.dedup();
        for folder in &folders {
            // It stays if it has other files.
            let _ = fs::remove_dir(folder);
        }
        if !folders.is_empty() {
            systemctl(&["daemon-reload"])?;
        }
        fs::remove_file(&path)?;
        Ok(say(format_args!("Still there: {}.", left.join("; ")))?)
    }
}

fn is_enabled() -> bool {
    let mut command = Command::new("systemctl");
    command.args(["--quiet", "is-enabled", "context402.service"]);
    command.status().is_ok_and(|status| status.success())
}

fn systemctl(arguments: &[&str]) -> Result<(), Failure> {
    let status = Command::new("systemctl").args(arguments).status();
    match status.is_ok_and(|status| status.success()) {
        true => Ok(()),
        false => Err(failed(format_args!(
            "systemctl {} failed; running this again continues where it stopped",
            arguments.join(" ")
        ))),
    }
}

/// A folder of its own in which the new configuration is read with the secrets it will have, before anything is written
/// where it counts.
struct Work {
    folder: PathBuf,
}

impl Work {
    fn open(places: &Places) -> Result<Self, Failure> {
        let work = Work {
            folder: scratch_folder()?,
        };
        for section in entries(&places.credentials) {
            let shown = work
                .credentials()
                .join(section.file_name().unwrap_or_default());
            private_folder(&shown)?;
            for secret in entries(&section) {
                symlink(&secret, shown.join(secret.file_name().unwrap_or_default()))?;
            }
        }
        Ok(work)
    }

    fn credentials(&self) -> PathBuf {
        self.folder.join("credentials")
    }

    /// The configuration that the text makes with these new secrets.
    fn check(
        &self,
        text: &str,
        secrets: &[(PathBuf, String)],
        places: &Places,
    ) -> Result<Config, Failure> {
        for (path, secret) in secrets {
            let Ok(name) = path.strip_prefix(&places.credentials) else {
                continue;
            };
            let path = self.credentials().join(name);
            path.parent().map_or(Ok(()), private_folder)?;
            write(&path, secret, 0o600)?;
        }
        let candidate = self.folder.join("config.toml");
        write(&candidate, text, 0o644)?;
        Config::load(Some(&candidate)).map_err(|error| {
            let ours = self.folder.display().to_string();
            let shown = places.etc.display().to_string();
            Failure::Config(error.to_string().replace(&ours, &shown))
        })
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A new folder that only we can enter.
fn scratch_folder() -> io::Result<PathBuf> {
    let name = format!("context402-setup-{}", hex::encode(chance::bytes::<8>()));
    let folder = std::env::temp_dir().join(name);
    fs::DirBuilder::new().mode(0o700).create(&folder)?;
    Ok(folder)
}

fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(path)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.flatten().map(|entry| entry.path()).collect()
}

/// Writes a file, whole or not at all.
fn write(path: &Path, text: &str, mode: u32) -> Result<(), Failure> {
    let place = |error: io::Error| failed(format_args!("{}: {error}", path.display()));
    let mut new = path.as_os_str().to_owned();
    new.push(".tmp");
    let new = PathBuf::from(new);
    let _ = fs::remove_file(&new);
    let mut options = fs::OpenOptions::new();
    let options = options.write(true).create_new(true).mode(mode);
    let mut file = options.open(&new).map_err(place)?;
    file.write_all(text.as_bytes()).map_err(place)?;
    file.sync_all().map_err(place)?;
    fs::rename(&new, path).map_err(place)
}
