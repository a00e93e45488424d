//! System fonts for scripts that the embedded fonts lack: an installed Noto CJK package, and the operator's folder. They are
//! found at start and read on demand.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the usual packages put Noto CJK.
const FOLDERS: [&str; 3] = [
    "/usr/share/fonts/opentype/noto",
    "/usr/share/fonts/noto-cjk",
    "/usr/share/fonts/google-noto-cjk",
];
const CJK: &str = "NotoSansCJK-Regular";
const FILES_MAX: usize = 16;
/// Entries of a folder that are looked at.
const ENTRIES_MAX: usize = 4_096;
const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Of all files that one document is set with.
const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The files that were found.
#[derive(Clone, Debug, Default)]
pub struct FontShelf {
    files: Vec<PathBuf>,
}

impl FontShelf {
    /// Those of the operator's folder first.
    pub fn look(own: Option<&Path>) -> FontShelf {
        let mut files = own.map_or_else(Vec::new, |folder| fonts_in(folder, |_| true));
        for folder in FOLDERS {
            files.extend(fonts_in(Path::new(folder), |name| name.starts_with(CJK)));
        }
        files.truncate(FILES_MAX);
        FontShelf { files }
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The files' bytes. Blocking. What cannot be read by now is left out, and its characters stay missing.
    pub fn read(&self) -> Vec<Arc<Vec<u8>>> {
        let mut left = BYTES_MAX;
        let mut read = Vec::new();
        for file in &self.files {
            let size = fs::metadata(file).map_or(u64::MAX, |about| about.len());
            if size > left {
                continue;
            }
            match fs::read(file) {
                Ok(bytes) => read.push(Arc::new(bytes)),
                Err(error) => {
                    tracing::warn!(file = %file.display(), %error, "a font cannot be read")
                }
            }
            left -= size;
        }
        read
    }
}

/// In the order of their names, so that the same folder gives the same documents.
fn fonts_in(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let entries = entries.take(ENTRIES_MAX).filter_map(Result::ok);
    let files = entries.map(|entry| entry.path()).filter(|path| {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let kind = path
            .extension()
            .and_then(|kind| kind.to_str())
            .unwrap_or_default();
        let is_font = ["ttf", "otf", "ttc", "otc"]
            .iter()
            .any(|known| kind.eq_ignore_ascii_case(known));
        let is_small =
            fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() <= FILE_BYTES_MAX);
        is_font && is_wanted(name) && is_small
    });
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fonts_of_a_folder_are_found_in_order_and_read_when_they_are_needed() {
        let folder = std::env::temp_dir().join(format!("context402-fonts-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        for (name, bytes) in [("b.ttf", "two"), ("a.OTF", "one"), ("note.txt", "none")] {
            fs::write(folder.join(name), bytes).expect("a file");
        }
        let shelf = FontShelf {
            files: fonts_in(&folder, |_| true),
        };
        assert!(!shelf.is_empty());
        assert_eq!(
            shelf.read(),
            [Arc::new(b"one".to_vec()), Arc::new(b"two".to_vec())]
        );
        fs::remove_file(folder.join("a.OTF")).expect("removed");
        assert_eq!(shelf.read(), [Arc::new(b"two".to_vec())]);
        fs::remove_dir_all(&folder).expect("removed");
        assert!(fonts_in(&folder, |_| true).is_empty());
    }
}
