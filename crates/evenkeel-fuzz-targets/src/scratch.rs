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
#[cfg(not(fuzzing))]
pub(crate) fn written(name: &str, bytes: &[u8]) -> String {
    on_disk(name, bytes)
}

/// The same for the fuzzer: bytes stay in memory, under the name of an empty file, where the reader takes them from there.
#[cfg(fuzzing)]
pub(crate) fn written(name: &str, bytes: &[u8]) -> String {
    thread_local! {
        static PATHS: std::cell::RefCell<Vec<(String, String)>> = const { std::cell::RefCell::new(Vec::new()) };
    }
    // These readers need a file: their libraries read at any place of it.
    if [".parquet", ".arrow", ".sqlite"].iter().any(|ending| name.ends_with(ending)) {
        return on_disk(name, bytes);
    }
    let path = PATHS.with_borrow_mut(|paths| match paths.iter().find(|(known, _)| known == name) {
        Some((_, path)) => path.clone(),
        None => {
            let path = on_disk(name, &[]);
            paths.push((name.to_owned(), path.clone()));
            path
        }
    });
    evenkeel_io::hold(std::path::Path::new(&path), bytes);
    path
}

fn on_disk(name: &str, bytes: &[u8]) -> String {
    let path = FOLDER.with(|folder| folder.0.join(name));
    assert!(std::fs::write(&path, bytes).is_ok(), "{} cannot be written", path.display());
    path.to_string_lossy().into_owned()
}
