//! Certificates, their keys and the authority's account as files. What is written is whole or not there: it is written
//! beside, synchronised and renamed. A certificate and its key are one file, so that there is never one without the other.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::domain::certificate::Certificate;
use crate::domain::time::{DAY_SECONDS, UnixSeconds};

const FILE_BYTES_MAX: u64 = 256 * 1024;
const ACCOUNT: &str = "account.json";
const FAILED: &str = "failed-orders.json";

/// A certificate with its chain and its key, as read from files.
#[derive(Debug)]
pub struct Pair {
    pub chain: Vec<CertificateDer<'static>>,
    pub key: PrivateKeyDer<'static>,
    /// What the first of the chain states.
    pub certificate: Certificate,
}

/// Differs once a file was replaced or written to.
pub type Stamp = (u64, u64, i64, i64);

/// Reads a certificate and its key. They may be one file.
///
/// # Errors
/// As a sentence that names the file.
pub fn read(certificate: &Path, key: &Path) -> Result<Pair, String> {
    let chain = contents(certificate, false)?;
    let chain = CertificateDer::pem_slice_iter(&chain).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| says(certificate, &format!("is not PEM: {error:?}")))?;
    let first = chain.first();
    let facts = first.and_then(|first| Certificate::parse(first));
    let facts = facts.ok_or_else(|| says(certificate, "has no certificate in PEM"))?;
    let bytes = contents(key, true)?;
    let key = PrivateKeyDer::from_pem_slice(&bytes)
        .map_err(|_| says(key, "has no unencrypted private key in PEM"))?;
    Ok(Pair {
        chain,
        key,
        certificate: facts,
    })
}

/// Which version of a file lies there; `None` where none does.
pub fn stamp(path: &Path) -> Option<Stamp> {
    let found = std::fs::metadata(path).ok()?;
    Some((found.ino(), found.len(), found.mtime(), found.mtime_nsec()))
}

fn says(path: &Path, what: &str) -> String {
    format!("{} {what}", path.display())
}

fn contents(path: &Path, is_secret: bool) -> Result<Vec<u8>, String> {
    let failed = |error: io::Error| says(path, &format!("cannot be read: {error}"));
    let file = File::open(path).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    if is_secret && found.mode() & 0o007 != 0 {
        return Err(says(
            path,
            "can be read by every user: take that right away with `chmod o=`",
        ));
    }
    let mut bytes = Vec::new();
    let mut bounded = file.take(FILE_BYTES_MAX);
    bounded.read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// The folder of the authority's account and certificate, mode 0700.
#[derive(Clone, Debug)]
pub struct TlsFolder(PathBuf);

impl TlsFolder {
    pub fn new(path: &Path) -> TlsFolder {
        TlsFolder(path.to_owned())
    }

    /// The file of the certificate for `name` and its key.
    pub fn certificate(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.pem"))
    }

    /// What was stored of the account.
    pub fn account(&self) -> Option<String> {
        std::fs::read_to_string(self.0.join(ACCOUNT)).ok()
    }

    pub fn keep_account(&self, text: &str) -> io::Result<()> {
        self.write(&self.0.join(ACCOUNT), text.as_bytes(), |_| {})
    }

    pub fn forget_account(&self) {
        // What cannot be removed is refused again by the authority.
        let _ = std::fs::remove_file(self.0.join(ACCOUNT));
    }

    /// Puts a certificate and its key in place of the former; `step` hears of what is done.
    pub fn keep_certificate(
        &self,
        name: &str,
        key: &str,
        chain: &str,
        step: impl Fn(&'static str),
    ) -> io::Result<()> {
        let text = format!("{}\n{chain}", key.trim_end());
        self.write(&self.certificate(name), text.as_bytes(), step)
    }

    /// The orders of the last day that have failed or were cut off, oldest first. A clock that was set back forgets those
    /// of its future.
    pub fn failed_orders(&self, now: UnixSeconds) -> Vec<UnixSeconds> {
        let text = std::fs::read_to_string(self.0.join(FAILED)).unwrap_or_default();
        let times: Vec<u64> = serde_json::from_str(&text).unwrap_or_default();
        let times = times.into_iter().map(UnixSeconds);
        times
            .filter(|at| *at <= now && now.since(*at) < DAY_SECONDS)
            .collect()
    }

    pub fn keep_failed_orders(&self, failed: &[UnixSeconds]) -> io::Result<()> {
        let times: Vec<u64> = failed.iter().map(|at| at.0).collect();
        let text = serde_json::to_string(&times).map_err(io::Error::other)?;
        self.write(&self.0.join(FAILED), text.as_bytes(), |_| {})
    }

    fn write(&self, path: &Path, bytes: &[u8], step: impl Fn(&'static str)) -> io::Result<()> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.0)?;
        let beside = path.with_extension("new");
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.open(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        step("acme_written");
        std::fs::rename(&beside, path)?;
        File::open(&self.0)?.sync_all()?;
        step("acme_renamed");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let name = format!("context402-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        path
    }

    #[test]
    fn a_certificate_and_its_key_are_one_file_of_ours_alone() {
        let path = folder("tls-files");
        let files = TlsFolder::new(&path);
        let made = rcgen::generate_simple_self_signed(vec!["a.example.com".to_owned()]);
        let made = made.expect("made");
        let (key, chain) = (made.signing_key.serialize_pem(), made.cert.pem());
        let kept = files.keep_certificate("a.example.com", &key, &chain, |_| {});
        kept.expect("written");
        let file = files.certificate("a.example.com");
        let pair = read(&file, &file).expect("read");
        assert_eq!(pair.chain.len(), 1);
        assert!(pair.certificate.is_for("a.example.com"));
        let mode = |path: &Path| std::fs::metadata(path).expect("there").mode() & 0o777;
        assert_eq!((mode(&path), mode(&file)), (0o700, 0o600));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o604)).expect("set");
        assert!(read(&file, &file).is_err_and(|says| says.contains("every user")));
        std::fs::remove_dir_all(&path).expect("removed");
    }

    #[test]
    fn failed_orders_count_for_a_day_and_never_from_the_future() {
        let path = folder("tls-orders");
        let files = TlsFolder::new(&path);
        let now = UnixSeconds(1_795_000_000);
        assert!(files.failed_orders(now).is_empty());
        let (old, recent) = (UnixSeconds(now.0 - DAY_SECONDS), UnixSeconds(now.0 - 60));
        let kept = files.keep_failed_orders(&[old, recent, now.plus(60)]);
        kept.expect("written");
        assert_eq!(files.failed_orders(now), [recent]);
        std::fs::write(path.join(FAILED), "nonsense").expect("written");
        assert!(files.failed_orders(now).is_empty());
        std::fs::remove_dir_all(&path).expect("removed");
    }
}
