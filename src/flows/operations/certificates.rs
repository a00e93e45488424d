//! The certificate of the service's own HTTPS: loaded at the start, renewed in time, and read again when its files change.
//! Whatever fails, the former certificate is served until it ends.

use std::time::{Duration, Instant};

use crate::app::{App, Shared};
use crate::config::{CertificateSource, Lab, Tls};
use crate::domain::certificate::{Certificate, retry_at};
use crate::domain::closed_set::closed_set;
use crate::domain::time::UnixSeconds;
use crate::outside::acme::{
    AcmeError, Authority, ChallengeKind, Issued, PRODUCTION, Progress, Proof,
};
use crate::outside::chance;
use crate::outside::tls_files::{self, Pair, Stamp, TlsFolder};
use crate::state::health::TlsHealth;

/// How often the files, and the time to renew, are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How often the authority is asked when it wants a renewal.
const ASK_EVERY: Duration = Duration::from_secs(6 * 3600);
/// After an authority that could not be reached: at first, and at most.
const UNREACHED_SECONDS: (u64, u64) = (60, 3600);
/// A certificate that is new by the file's time is not replaced for so long: with a wrong clock it looks due at once, and
/// authorities limit how many certificates a name gets.
const NEW_SECONDS: u64 = 6 * 3600;

/// What an attempt came to that brought no certificate.
#[derive(Debug)]
enum Failed {
    /// Before an order was made.
    Unreached(String),
    /// It counts among the failed orders of the day.
    Order(String),
}

/// The pair that is configured or was stored. `None` where an authority has not given one yet.
///
/// # Errors
/// If the files cannot be used, as a sentence.
pub fn stored(tls: &Tls) -> Result<Option<Pair>, String> {
    match &tls.source {
        CertificateSource::Files { certificate, key } => {
            let pair = tls_files::read(certificate, key)?;
            match pair.certificate.is_for(&tls.name) {
                true => Ok(Some(pair)),
                false => Err(format!(
                    "{} is for {}, not for {}, the host of base_url",
                    certificate.display(),
                    pair.certificate.names.join(", "),
                    tls.name
                )),
            }
        }
        CertificateSource::Acme { .. } => {
            let path = TlsFolder::new(&tls.folder).certificate(&tls.name);
            match tls_files::stamp(&path) {
                None => Ok(None),
                Some(_) => tls_files::read(&path, &path).map(Some),
            }
        }
    }
}

/// Serves the configured or stored certificate from now on. Says whether there is one.
///
/// # Errors
/// If it cannot be used, as a sentence. Then the former one is still served.
pub fn load(app: &App) -> Result<bool, String> {
    let (Some(tls), Some(certificates)) = (&app.config.tls, &app.certificates) else {
        return Ok(false);
    };
    let Some(pair) = stored(tls)? else {
        return Ok(false);
    };
    let served = certificates.serve(pair.chain, pair.key);
    served.map_err(|error| format!("the certificate cannot be used: {error}"))?;
    if app.health.tls().certificate.as_ref() != Some(&pair.certificate) {
        tracing::info!(
            names = pair.certificate.names.join(", "),
            issuer = pair.certificate.issuer,
            not_after = pair.certificate.not_after.0,
            "certificate loaded"
        );
    }
    app.health.change_tls(|health| {
        *health = TlsHealth {
            renew_at: pair.certificate.renew_at(),
            certificate: Some(pair.certificate.clone()),
            trouble: None,
        }
    });
    Ok(true)
}

/// The same before anything is accepted. A service without a certificate starts all the same where an authority gives one.
///
/// # Errors
/// If configured files cannot be used, as a sentence.
pub fn load_first(app: &App) -> Result<(), String> {
    let is_acme = (app.config.tls.as_ref())
        .is_some_and(|tls| matches!(tls.source, CertificateSource::Acme { .. }));
    match load(app) {
        Ok(true) => {}
        Ok(false) => {
            tracing::warn!("no certificate yet; HTTPS handshakes fail until the first one")
        }
        Err(trouble) if is_acme => note_trouble(app, trouble),
        Err(trouble) => return Err(trouble),
    }
    Ok(())
}

/// Keeps the certificate current for as long as the service runs.
pub async fn watch(app: Shared) {
    match app.config.tls.clone() {
        None => {}
        Some(tls) => match &tls.source {
            CertificateSource::Files { certificate, key } => {
                let stamps = || (tls_files::stamp(certificate), tls_files::stamp(key));
                watch_files(&app, stamps).await;
            }
            CertificateSource::Acme { email } => renew(&app, &tls, email.as_deref()).await,
        },
    }
}

async fn watch_files(app: &Shared, stamps: impl Fn() -> (Option<Stamp>, Option<Stamp>)) {
    // Of before the start: what changed while the service was starting is read once more.
    let mut loaded = None;
    loop {
        let found = stamps();
        if loaded != Some(found) {
            match load(app) {
                // Files that changed while they were read belong together only by chance.
                Ok(_) => loaded = Some(found).filter(|found| *found == stamps()),
                Err(trouble) => note_trouble(app, trouble),
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Reports a trouble once, however often it is met.
fn note_trouble(app: &App, trouble: String) {
    app.health.change_tls(|health| {
        if health.trouble.as_deref() != Some(trouble.as_str()) {
            tracing::error!(trouble, "the certificate was not renewed");
        }
        health.trouble = Some(trouble);
    });
}

/// The ACME directory of the authority.
pub fn directory(lab: &Lab) -> &str {
    lab.acme_directory.as_deref().unwrap_or(PRODUCTION)
}

async fn renew(app: &Shared, tls: &Tls, email: Option<&str>) {
    let lab = &app.config.lab;
    let directory = directory(lab);
    let root = lab.acme_root.as_deref().map(std::fs::read).transpose();
    let authority = match root {
        Ok(root) => Authority::new(directory, root.as_deref(), email),
        Err(error) => return note_trouble(app, format!("lab.acme_root cannot be read: {error}")),
    };
    let authority = match authority {
        Ok(authority) => authority,
        Err(error) => return note_trouble(app, error.to_string()),
    };
    let files = TlsFolder::new(&tls.folder);
    let mut asked_at: Option<Instant> = None;
    let mut unreached: Option<Unreached> = None;
    loop {
        if asked_at.is_none_or(|at| at.elapsed() >= ASK_EVERY) {
            asked_at = Some(Instant::now());
            ask_when(app, &authority, &files).await;
        }
        let now = app.now();
        if now >= due(app, tls, &files, unreached.as_ref()) {
            match attempt(app, tls, &authority, &files).await {
                Ok(()) => (asked_at, unreached) = (None, None),
                Err(Failed::Order(trouble)) => note_trouble(app, trouble),
                Err(Failed::Unreached(trouble)) => {
                    unreached = Some(Unreached::after(unreached, app.now()));
                    note_trouble(app, trouble);
                }
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// The authority could not be reached at `at`, and is not asked again for `pause` seconds.
#[derive(Clone, Copy, Debug)]
struct Unreached {
    at: UnixSeconds,
    unjittered: u64,
    pause: u64,
}

impl Unreached {
    /// Pauses double. The jitter is drawn once for each: drawn at each look, the lowest would count.
    fn after(before: Option<Unreached>, at: UnixSeconds) -> Unreached {
        let (first, most) = UNREACHED_SECONDS;
        let unjittered = before.map_or(first, |before| {
            before.unjittered.saturating_mul(2).min(most)
        });
        Unreached {
            at,
            unjittered,
            pause: jittered(unjittered),
        }
    }
}

/// When the next order may be made.
fn due(app: &App, tls: &Tls, files: &TlsFolder, unreached: Option<&Unreached>) -> UnixSeconds {
    let now = app.now();
    let health = app.health.tls();
    let mut due = health.renew_at;
    let written = tls_files::stamp(&files.certificate(&tls.name)).map(|(_, _, at, _)| at);
    let written = written
        .and_then(|at| u64::try_from(at).ok())
        .map(UnixSeconds);
    if let (Some(certificate), Some(written)) = (&health.certificate, written)
        && written <= now
    {
        let lifetime = certificate.not_after.since(certificate.not_before);
        due = due.max(written.plus(NEW_SECONDS.min(lifetime / 3)));
    }
    // A clock that was set back must not delay it.
    if let Some(last) = unreached.filter(|last| last.at <= now) {
        due = due.max(last.at.plus(last.pause));
    }
    due.max(retry_at(&files.failed_orders(now)))
}

/// Up to a tenth more, so that many installations do not come back at the same moment.
fn jittered(seconds: u64) -> u64 {
    let [byte] = chance::bytes::<1>();
    seconds + seconds * u64::from(byte) / 2560
}

/// Takes over the time that the authority wants for a renewal, where it says one.
async fn ask_when(app: &App, authority: &Authority, files: &TlsFolder) {
    let Some(certificate) = app.health.tls().certificate else {
        return;
    };
    let Some(stored) = files.account() else {
        return;
    };
    let window = match authority.account(Some(&stored)).await {
        Ok((account, _)) => account.renewal_window(&certificate).await,
        Err(error) => Err(error),
    };
    match window {
        Ok(Some((start, end))) => {
            let renew_at = certificate.renew_within(start, end);
            app.health.change_tls(|health| health.renew_at = renew_at);
        }
        Ok(None) => {}
        // Then two thirds of the lifetime hold, and a renewal tells of what is wrong.
        Err(error) => tracing::debug!(%error, "the authority was not asked when to renew"),
    }
}

/// One order, counted as failed before it is made, so that one that is cut off counts too.
async fn attempt(
    app: &App,
    tls: &Tls,
    authority: &Authority,
    files: &TlsFolder,
) -> Result<(), Failed> {
    app.crash_point("acme_begun");
    let unreached = |error: AcmeError| {
        if error.is_account_gone {
            files.forget_account();
        }
        Failed::Unreached(error.to_string())
    };
    let written = |error: std::io::Error| {
        Failed::Unreached(format!(
            "{} cannot be written: {error}",
            tls.folder.display()
        ))
    };
    let account = authority.account(files.account().as_deref()).await;
    let (account, made) = account.map_err(unreached)?;
    if let Some(made) = made {
        files.keep_account(&made).map_err(written)?;
        app.crash_point("acme_account");
    }
    let mut failed = files.failed_orders(app.now());
    let challenge = challenge_type(tls, failed.len());
    failed.push(app.now());
    files.keep_failed_orders(&failed).map_err(written)?;
    let progress = InProgress { app, tls };
    tracing::info!(name = tls.name, ?challenge, "ordering a certificate");
    let issued = account.order(&tls.name, challenge, &progress).await;
    app.certificates
        .iter()
        .for_each(|certificates| certificates.end_proof());
    let issued = issued.map_err(|error| {
        if error.is_account_gone {
            files.forget_account();
        }
        let next = retry_at(&failed);
        let next = next
            .timestamp()
            .map_or_else(|| next.to_string(), |at| at.to_string());
        Failed::Order(format!("{error}. The next try is not before {next}"))
    })?;
    keep(app, tls, files, &issued).map_err(Failed::Order)?;
    files.keep_failed_orders(&[]).map_err(written)
}

/// The second try, and every other after it, proves the name over plain HTTP where that port is there: behind a load
/// balancer that ends TLS itself, no other way works.
pub fn challenge_type(tls: &Tls, failed: usize) -> ChallengeKind {
    match tls.http_listen.is_some() && failed % 2 == 1 {
        true => ChallengeKind::Http,
        false => ChallengeKind::TlsAlpn,
    }
}

fn keep(app: &App, tls: &Tls, files: &TlsFolder, issued: &Issued) -> Result<(), String> {
    let step = |name| app.crash_point(name);
    files
        .keep_certificate(&tls.name, &issued.key, &issued.chain, step)
        .map_err(|error| format!("{} cannot be written: {error}", tls.folder.display()))?;
    load(app).map(|_| ())
}

/// Shows proofs in the service's own listeners.
struct InProgress<'a> {
    app: &'a App,
    tls: &'a Tls,
}

impl Progress for InProgress<'_> {
    fn show(&self, proof: Proof) -> Result<(), String> {
        let Some(certificates) = &self.app.certificates else {
            return Err("HTTPS is off".to_owned());
        };
        match proof {
            Proof::Handshake { certificate, key } => certificates
                .prove(&self.tls.name, certificate, &key)
                .map_err(|error| error.to_string()),
            Proof::Text { token, text } => {
                certificates.prove_by_text(&token, &text);
                Ok(())
            }
        }
    }

    fn step(&self, name: &'static str) {
        self.app.crash_point(name);
    }
}

/// Seconds until the certificate ends; 0 where there is none. `None` without HTTPS of our own.
pub fn expires_in(app: &App) -> Option<u64> {
    app.config.tls.as_ref()?;
    let certificate = app.health.tls().certificate;
    Some(certificate.map_or(0, |certificate: Certificate| {
        certificate.not_after.since(app.now())
    }))
}

/// The certificate ends within this time, and should have been renewed long before.
pub const WARN_SECONDS: u64 = 14 * 24 * 3600;

closed_set! {
    /// Whether the certificate is in order.
    pub enum CertificateStatus {
        Good = "ok",
        Expiring = "expiring",
        Expired = "expired",
        Missing = "missing",
    }
}

pub fn status(app: &App) -> CertificateStatus {
    let health = app.health.tls();
    let Some(certificate) = health.certificate else {
        return CertificateStatus::Missing;
    };
    let lifetime = certificate.not_after.since(certificate.not_before);
    match certificate.not_after.since(app.now()) {
        0 => CertificateStatus::Expired,
        // A certificate may live for less than that from the beginning.
        left if left < WARN_SECONDS.min(lifetime / 6) => CertificateStatus::Expiring,
        _ => CertificateStatus::Good,
    }
}
