//! How much room the data file's disk has.

use std::io;
use std::path::Path;

/// Bytes that an unprivileged process may still write beside `path`.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let stats = rustix::fs::statvfs(folder)?;
    Ok(stats.f_bavail.saturating_mul(stats.f_frsize))
}
