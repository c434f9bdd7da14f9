//! A file for bytes: readers take paths.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of this thread, removed when the thread ends.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

thread_local! {
    static FOLDER: Folder = {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("evenkeel-fuzz-{}-{count}", std::process::id()));
        assert!(std::fs::create_dir_all(&path).is_ok(), "{} cannot be made", path.display());
        Folder(path)
    };
}

/// Writes a file of this name and gives its path.
pub(crate) fn written(name: &str, bytes: &[u8]) -> String {
    let path = FOLDER.with(|folder| folder.0.join(name));
    assert!(std::fs::write(&path, bytes).is_ok(), "{} cannot be written", path.display());
    path.to_string_lossy().into_owned()
}
