//! Removable files beside the data file.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::domain::time::UnixSeconds;

/// Removes the files whose path begins with `beginning` and that were last written so many seconds before `now`. They
/// are nobody's any more; what cannot be removed is tried again the next time.
pub fn remove_older(beginning: &Path, now: UnixSeconds, seconds: u64) {
    let Some((folder, beginning)) = beginning.parent().zip(beginning.file_name()) else {
        return;
    };
    for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let begins_so = file
            .file_name()
            .as_encoded_bytes()
            .starts_with(beginning.as_encoded_bytes());
        let written = file.metadata().map(|data| data.mtime());
        let is_old = written
            .is_ok_and(|at| u64::try_from(at).is_ok_and(|at| now.since(UnixSeconds(at)) > seconds));
        if begins_so && is_old {
            let _ = std::fs::remove_file(file.path());
        }
    }
}
