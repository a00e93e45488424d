//! `context402 tls …`: the certificate that is served, and a test order that keeps nothing.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::net::TcpListener;

use crate::cli::list::Format;
use crate::cli::progress;
use crate::cli::{ConfigFile, Failure, failed, run_async, say, socket};
use crate::config::{CertificateSource, Config, Tls};
use crate::domain::certificate::Certificate;
use crate::domain::time::{DAY_SECONDS, UnixSeconds};
use crate::flows::operations::certificates;
use crate::http::server::{self, Server, Transport};
use crate::http::tls::Certificates;
use crate::http::to_https::ToHttps;
use crate::http::{self, Route};
use crate::outside::acme::{AcmeError, Authority, ChallengeKind, Issued, Progress, Proof, STAGING};
use crate::outside::chance;
use crate::outside::clock::Clock;
use crate::outside::probe;
use crate::outside::tls_files::TlsFolder;
use crate::sync::lock;

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Args {
    /// Show the certificate: names, issuer, expiry, next renewal
    Show {
        #[command(flatten)]
        file: ConfigFile,
        #[command(flatten)]
        format: Format,
    },
    /// Order a test certificate from the authority's staging directory; nothing is stored. The service must be stopped
    Test(ConfigFile),
}

const OFF: &str = "[tls] is not set: a reverse proxy is expected to serve HTTPS. Set tls.acme = true, or tls.certificate \
                   and tls.key";

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let (Args::Show { file, .. } | Args::Test(file)) = &self;
        let config = file.load()?;
        let tls = config.tls.as_ref().ok_or_else(|| failed(OFF))?;
        match self {
            Args::Show { format, .. } => show(&config, tls, format),
            Args::Test(_) => test(&config, tls),
        }
    }
}

fn show(config: &Config, tls: &Tls, format: Format) -> Result<(), Failure> {
    let now = Clock::System.now();
    let certificate = certificates::stored(tls).map_err(failed)?;
    let certificate = certificate.map(|pair| pair.certificate);
    let is_acme = matches!(tls.source, CertificateSource::Acme { .. });
    // The running service knows what the authority suggests.
    let health = socket::connect(&config.socket).filter(|_| is_acme);
    let health = health.map(|stream| socket::get(stream, "/health"));
    let check = health.transpose()?.unwrap_or_default()["checks"]["tls"].take();
    let suggested = check["renew_at"].as_u64().map(UnixSeconds);
    let renew_at = certificate.as_ref().map(Certificate::renew_at);
    let renew_at = suggested.or(renew_at).filter(|_| is_acme);
    let trouble = check["trouble"].as_str();
    let failures = match is_acme {
        true => TlsFolder::new(&tls.folder).failed_orders(now).len(),
        false => 0,
    };
    if format.json {
        let certificate = certificate.map(|found| {
            json!({"names": found.names, "issuer": found.issuer, "not_after": found.not_after.0})
        });
        let members = json!({
            "certificate": certificate,
            "renewed_by_service": is_acme,
            "renew_at": renew_at.map(|at| at.0),
            "trouble": trouble,
            "failed_orders_last_day": failures,
        });
        return Ok(say(serde_json::to_string_pretty(&members)?)?);
    }
    match &certificate {
        None => say("Certificate:  none yet")?,
        Some(certificate) => describe(certificate, now)?,
    }
    if !is_acme {
        say("Renewal:      not by this service; changed files are reloaded")?;
    }
    if let Some(at) = renew_at {
        say(format_args!("Next renewal: {}", moment(at)))?;
    }
    if let Some(trouble) = trouble {
        say(format_args!("Last failure: {trouble}"))?;
    }
    if failures > 0 {
        say(format_args!("Failed orders in the last day: {failures}"))?;
    }
    Ok(())
}

fn describe(certificate: &Certificate, now: UnixSeconds) -> Result<(), Failure> {
    let left = certificate.not_after.since(now) / DAY_SECONDS;
    say(format_args!(
        "Names:        {}",
        certificate.names.join(", ")
    ))?;
    say(format_args!("Issuer:       {}", certificate.issuer))?;
    say(format_args!(
        "Valid until:  {} ({left} days left)",
        moment(certificate.not_after)
    ))?;
    Ok(())
}

fn moment(at: UnixSeconds) -> String {
    at.timestamp()
        .map_or_else(|| at.to_string(), |at| at.to_string())
}

fn test(config: &Config, tls: &Tls) -> Result<(), Failure> {
    let CertificateSource::Acme { email } = &tls.source else {
        let pair = certificates::stored(tls).map_err(failed)?;
        let Some(pair) = pair else { return Ok(()) };
        let certificate = pair.certificate;
        let served = Certificates::default().serve(pair.chain, pair.key);
        served.map_err(failed)?;
        say("The certificate and its key belong together and can be served.")?;
        return describe(&certificate, Clock::System.now());
    };
    if socket::connect(&config.socket).is_some() {
        return Err(failed(
            "the service is running and uses the ports: stop it for this test with `systemctl stop context402.socket \
            context402.service`",
        ));
    }
    let directory = config.lab.acme_directory.as_deref().unwrap_or(STAGING);
    let root = config.lab.acme_root.as_deref().map(std::fs::read);
    let authority = Authority::new(directory, root.transpose()?.as_deref(), email.as_deref());
    let authority = authority.map_err(failed)?;
    say(format_args!("Directory:    {directory}"))?;
    match probe::resolve(&tls.name) {
        Ok(found) => {
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            say(format_args!(
                "DNS:          {} is {}",
                tls.name,
                found.join(", ")
            ))?;
        }
        Err(error) => {
            return Err(failed(format_args!(
                "{} cannot be resolved: {error}. Point its DNS records to this machine first",
                tls.name
            )));
        }
    }
    run_async(4, async {
        let test_order = TestOrder::listen(config, tls).await?;
        let issued = test_order.order(&authority, tls).await.map_err(failed)?;
        let facts = facts(&issued).ok_or_else(|| failed("the certificate cannot be read"))?;
        describe(&facts, Clock::System.now())?;
        say(
            "The order succeeded. Nothing was stored; `context402 serve` orders the real certificate when it starts.",
        )?;
        Ok(())
    })
}

fn facts(issued: &Issued) -> Option<Certificate> {
    use rustls_pki_types::CertificateDer;
    use rustls_pki_types::pem::PemObject as _;
    let first = CertificateDer::pem_slice_iter(issued.chain.as_bytes()).next();
    Certificate::parse(&first?.ok()?)
}

/// The service's ports with nothing behind them but proofs.
struct TestOrder {
    name: String,
    /// Between two steps.
    waiting: Mutex<Option<progress::Progress>>,
    certificates: Arc<Certificates>,
    _server: Arc<Server<(), ()>>,
}

static NO_ROWS: &[Route<(), ()>] = &[];
const WAITING: &str = "Waiting for the authority";

impl TestOrder {
    async fn listen(config: &Config, tls: &Tls) -> Result<TestOrder, Failure> {
        let certificates = Arc::<Certificates>::default();
        let server = server::plain(NO_ROWS, Arc::new(()), chance::bytes());
        let bind = async |address| {
            TcpListener::bind(address).await.map_err(|error| {
                failed(format_args!(
                    "cannot listen on {address}: {error}. Run this as root, and stop whatever uses the port"
                ))
            })
        };
        let speaks = Transport::Tls(http::tls::Tls::new(certificates.clone())?);
        server.listen(bind(config.listen).await?, speaks);
        if let Some(address) = tls.http_listen {
            let to_https = ToHttps::new(&config.base_url, certificates.clone());
            server.listen(bind(address).await?, Transport::ToHttps(Arc::new(to_https)));
        }
        Ok(TestOrder {
            name: tls.name.clone(),
            waiting: Mutex::default(),
            certificates,
            _server: server,
        })
    }

    /// A line of the outcome, in place of what is shown while waiting.
    fn say(&self, line: impl std::fmt::Display) {
        let mut waiting = lock(&self.waiting);
        *waiting = None;
        let _ = say(line);
        *waiting = Some(progress::Progress::start(WAITING));
    }

    /// By each challenge in turn, as the service does.
    async fn order(&self, authority: &Authority, tls: &Tls) -> Result<Issued, AcmeError> {
        *lock(&self.waiting) = Some(progress::Progress::start(WAITING));
        let (account, _) = authority.account(None).await?;
        let first = account
            .order(&self.name, ChallengeKind::TlsAlpn, self)
            .await;
        let outcome = match first {
            Err(error) if certificates::challenge_type(tls, 1) == ChallengeKind::Http => {
                // Shown where the rest of the outcome is.
                self.say(format_args!("TLS-ALPN-01:  {error}"));
                account.order(&self.name, ChallengeKind::Http, self).await
            }
            outcome => outcome,
        };
        self.certificates.end_proof();
        *lock(&self.waiting) = None;
        outcome
    }
}

impl Progress for TestOrder {
    fn show(&self, proof: Proof) -> Result<(), String> {
        match proof {
            Proof::Handshake { certificate, key } => (self.certificates)
                .prove(&self.name, certificate, &key)
                .map_err(|error| error.to_string()),
            Proof::Text { token, text } => {
                self.certificates.prove_by_text(&token, &text);
                Ok(())
            }
        }
    }

    fn step(&self, name: &'static str) {
        match name {
            "acme_order" => self.say("Order:        accepted"),
            "acme_proven" => self.say("Proof:        verified by the authority"),
            _ => {}
        }
    }
}
