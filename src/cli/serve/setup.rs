//! `context402 setup`: from a machine with a domain to a service that sells. It asks for what is missing, checks it,
//! writes the configuration and the secrets, has install.sh install and start the service, and prints a sign-in link.
//! Everything can be repeated, and taken back with `--undo`.

mod answers;
mod manifest;

use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use toml::Table;

use crate::cli::serve::doctor::{self, Finding};
use crate::cli::{Failure, config_failure, failed, say, socket};
use crate::config::{Config, FacilitatorAt, settings};
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
/// Where a Debian package has its units.
const PACKAGED_UNIT: &str = "/usr/lib/systemd/system/context402.service";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sudo context402 setup --domain context.example.com --pay-to 0x… --facilitator https://… --tls
  sudo context402 setup --domain context.example.com --pay-to 0x… --facilitator https://… --proxy caddy
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
    /// The reverse proxy in front, whose configuration is written beside ours
    #[arg(long, value_enum)]
    proxy: Option<Proxy>,
    /// Serve HTTPS without a reverse proxy, on ports 443 and 80, with a certificate from Let's Encrypt, whose terms of
    /// service you accept with it
    #[arg(long, conflicts_with_all = ["proxy", "listen"])]
    tls: bool,
    /// Render pages whose text is made by scripts: installs Chromium (by apt-get, if there is none) and its units
    #[arg(long)]
    with_browser: bool,
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
    #[arg(long, conflicts_with_all = ["domain", "pay_to", "facilitator", "facilitator_auth_file", "network", "email", "proxy", "tls", "with_browser", "listen", "no_start", "dry_run"])]
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
    etc: PathBuf,
    config: PathBuf,
    credentials: PathBuf,
    state: PathBuf,
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
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
        let before = places.configuration()?;
        let text = before.clone().unwrap_or_else(settings::example_file);
        let table: Table = text.parse().map_err(|_| places.broken())?;
        let answers = Answers::gather(&self, &table, io::stdin().is_terminal())?;
        let text = answers.write_into(text, &table, places)?;

        let secrets = answers.secrets(places);
        let config = Work::open(places)?.check(&text, &secrets, places)?;
        check(&config)?;
        if self.dry_run {
            return tell_dry_run(places, before.as_deref(), &text, &secrets);
        }
        fs::create_dir_all(&places.etc)?;
        let mut manifest = Manifest::read(&places.manifest())?;
        manifest.installed |= !places.units_exist();
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
            tell_proxy(&path, self.proxy)?;
        }
        manifest.note(&text, made);
        write(&places.manifest(), &manifest.text(), 0o600)?;
        places.install(&self)?;
        if self.no_start {
            return Ok(());
        }
        finish(places, &config)
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
) -> Result<(), Failure> {
    for (path, _) in made {
        say(format_args!("would write: {}", path.display()))?;
    }
    let shown = places.config.display();
    match before {
        Some(before) if before == text => say(format_args!("{shown} stays as it is"))?,
        _ => say(format_args!("would write: {shown}"))?,
    }
    Ok(say("would run: install.sh, then context402 doctor")?)
}

/// The last words: everything checked, and the way in.
fn finish(places: &Places, config: &Config) -> Result<(), Failure> {
    let doctor = places.run(&["doctor"])?;
    let link = socket::connect(&config.socket)
        .and_then(|stream| socket::post(stream, "/operator/sign-in-link").ok());
    say(format_args!("\nConsole: {}/operator", config.base_url))?;
    if let Some(url) = link.as_ref().and_then(|link| link["url"].as_str()) {
        say(format_args!(
            "Sign in (once, within ten minutes): {url}\nAnother link later: context402 console"
        ))?;
    }
    match doctor {
        true => Ok(()),
        false => Err(failed(
            "the service is installed; what doctor calls BAD above is still to be fixed",
        )),
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
            prefix,
        }
    }

    fn manifest(&self) -> PathBuf {
        self.etc.join("setup.json")
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
        let root = self.prefix.clone().unwrap_or_else(|| PathBuf::from("/"));
        let unit = root.join("etc/systemd/system/context402.service");
        unit.exists() || self.is_packaged()
    }

    /// Whether dpkg looks after program and units.
    fn is_packaged(&self) -> bool {
        self.prefix.is_none() && Path::new(PACKAGED_UNIT).exists()
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
            (Some(prefix), _) => prefix.join("bin/context402"),
            (None, true) => PathBuf::from("/usr/bin/context402"),
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
        fs::remove_file(&path)?;
        Ok(say(format_args!("Still there: {}.", left.join("; ")))?)
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
