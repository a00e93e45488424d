//! Files and folders that hold what was paid for: their owner's alone, and there after a power cut.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Nobody but its owner reads it.
pub(in crate::store) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600)
}

/// The folder of a data file that is the first there, its owner's alone.
pub(in crate::store) fn make_folder(data_file: &Path) -> io::Result<()> {
    let folder = data_file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    folder.map_or(Ok(()), |folder| {
        let mut maker = DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut maker, 0o700);
        maker.recursive(true).create(folder)
    })
}

/// Sees to it that a file and its name survive a power cut; gives its length.
pub(in crate::store) fn durable(path: &Path) -> io::Result<u64> {
    let file = File::open(path)?;
    file.sync_all()?;
    sync_folder(path)?;
    Ok(file.metadata()?.len())
}

pub(in crate::store) fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}
