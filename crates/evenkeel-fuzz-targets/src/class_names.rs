//! Class names: refused, or names that differ and can be written and read again.

use std::path::Path;

use evenkeel_io::read_class_names;

use crate::scratch::written;

/// A file of class names.
pub fn class_names(data: &[u8]) {
    let path = written("names.txt", data);
    let Ok(names) = read_class_names(Path::new(&path), None) else { return };
    assert!(!names.is_empty() && names.iter().all(|name| !name.is_empty() && name.trim() == name));
    let count = names.len();
    assert_eq!(read_class_names(Path::new(&path), Some(count)).ok().as_ref(), Some(&names));
    assert!(read_class_names(Path::new(&path), Some(count + 1)).is_err());
    // A mark at the head of a file is no part of a name, so a name that begins with one cannot come first again.
    if !names[0].starts_with('\u{feff}') {
        let again = written("again.txt", names.join("\n").as_bytes());
        assert_eq!(read_class_names(Path::new(&again), None).ok(), Some(names));
    }
}
