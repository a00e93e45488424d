use super::*;
use crate::store::disk_space::DiskSpace;

/// More than any disk has.
const NEVER: u64 = u64::MAX;

fn with_floor(store: &Store, file: &Path, free_bytes_min: u64) -> Store {
    Store {
        room: Arc::new(DiskSpace::beside(file, free_bytes_min)),
        ..store.clone()
    }
}

#[tokio::test]
async fn without_room_nothing_is_written_and_nothing_fails() {
    let folder = Folder::new();
    let opened = SETTINGS.create(&folder.file()).expect("a new file");
    let store = opened.store;
    put(&store, "a", b'a', 10, NOW).await;
    let full = with_floor(&store, &folder.file(), NEVER);
    assert!(!full.has_room());
    let refused = full.write(|_| Ok(())).await;
    assert_eq!(refused, Err(StoreError::NoRoom));
    assert!(has(&full, "a").await);
    // With room again it goes on, without having been opened anew.
    assert!(store.has_room());
    put(&store, "b", b'b', 10, NOW).await;
    store.close().await.expect("it closes");
}

#[tokio::test]
async fn a_start_without_room_says_so_and_leaves_the_file_alone() {
    let folder = Folder::new();
    let full = Settings {
        free_bytes_min: NEVER,
        ..SETTINGS
    };
    let said = |settings: Settings| {
        let opened = settings.open(&folder.file(), false);
        opened.expect_err("there is no room").to_string()
    };
    let created = full.create(&folder.file());
    assert!(matches!(created, Err(OpenError::NoRoom { .. })));
    assert!(!folder.file().exists());
    SETTINGS
        .create(&folder.file())
        .expect("a new file")
        .store
        .close()
        .await
        .expect("it closes");
    let before = std::fs::read(folder.file()).expect("it is there");
    let line = said(full);
    for part in [
        "its disk is full",
        "KiB are free",
        "Nothing is lost",
        "free_disk_mib_min",
    ] {
        assert!(line.contains(part), "{part} is not in {line}");
    }
    assert!(!line.contains("estore a backup"), "{line}");
    assert_eq!(std::fs::read(folder.file()).expect("it is there"), before);
}

/// What the file system says when it is full, over its quota, or when the file may not grow: none of it is damage.
#[test]
fn an_error_that_says_full_is_no_damage() {
    use std::io::{Error, ErrorKind};
    let opened = |kind: ErrorKind| {
        let error = redb::DatabaseError::Storage(redb::StorageError::Io(Error::from(kind)));
        open_error::from_redb(Path::new("data.redb"), error)
    };
    for kind in [
        ErrorKind::StorageFull,
        ErrorKind::QuotaExceeded,
        ErrorKind::FileTooLarge,
    ] {
        assert!(matches!(opened(kind), OpenError::NoRoom { .. }), "{kind}");
    }
    assert!(matches!(
        opened(ErrorKind::InvalidData),
        OpenError::Damaged { .. }
    ));
}
