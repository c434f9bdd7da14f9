//! The data that ship inside the program: the files of the demo, and both classifiers.
//!
//! `build.rs` packs them, and says how.

use std::io::Read;
use std::ops::Range;

use flate2::read::DeflateDecoder;

use crate::error::{Error, Result};

/// All files, packed, one after the other.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/shipped.bin"));
/// Name, length, and place among the packed bytes.
const FILES: &[(&str, usize, Range<usize>)] = &include!(concat!(env!("OUT_DIR"), "/shipped.rs"));
/// Bytes of a number, as `build.rs` has it.
const PLANES: usize = 4;

/// The bytes of a file of the folder `data`, such as `demo/fog_3_unlabeled.npy`.
///
/// # Errors
/// If no such file ships, or the program is damaged.
pub fn shipped(name: &str) -> Result<Vec<u8>> {
    let found = FILES.iter().find(|(known, ..)| *known == name);
    let unpacked = found.and_then(|(_, length, place)| {
        let mut planes = Vec::with_capacity(*length);
        DeflateDecoder::new(PACKED.get(place.clone())?).read_to_end(&mut planes).ok()?;
        (planes.len() == *length).then(|| put_together(&planes))
    });
    unpacked.ok_or_else(|| Error::NotShipped { name: name.to_owned() })
}

/// The bytes whose planes these are; the first planes are the longer ones.
fn put_together(planes: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; planes.len()];
    let mut planes = planes.iter();
    for plane in 0..PLANES {
        for (byte, packed) in bytes.iter_mut().skip(plane).step_by(PLANES).zip(&mut planes) {
            *byte = *packed;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_unpacked_as_it_was() {
        let data = concat!(env!("CARGO_MANIFEST_DIR"), "/data");
        assert_eq!(FILES.len(), 20);
        for (name, ..) in FILES {
            assert!(shipped(name).unwrap() == std::fs::read(format!("{data}/{name}")).unwrap());
        }
        assert!(shipped("demo/no_such_file.npy").unwrap_err().to_string().contains("no_such_file"));
    }

    #[test]
    fn planes_of_any_length_are_put_together() {
        for length in 0..10_u8 {
            let bytes: Vec<u8> = (0..length).collect();
            let plane = |plane| bytes.iter().skip(plane).step_by(PLANES).copied();
            let planes: Vec<u8> = (0..PLANES).flat_map(plane).collect();
            assert_eq!(put_together(&planes), bytes);
        }
    }
}
