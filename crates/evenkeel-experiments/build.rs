//! Packs the data that ship, so that the program carries a seventh less of them: each file in four planes, then deflated.
//!
//! ```text
//! b0 b1 b2 b3 b4 b5 ..   ->   b0 b4 .. | b1 b5 .. | b2 b6 .. | b3 b7 ..      signs and exponents of float32 beside each other
//! ```
//! `src/shipped.rs` unpacks them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{Error, Write};
use std::ops::Range;
use std::path::Path;
use std::{env, fs};

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// Bytes of a number.
const PLANES: usize = 4;

fn main() -> Result<(), Error> {
    let variable = |name| env::var(name).map_err(Error::other);
    let (data, out) = (variable("CARGO_MANIFEST_DIR")? + "/data", variable("OUT_DIR")?);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={data}/demo");
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(format!("{data}/demo"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        // Which images they were is nothing that the program asks for.
        let is_used =
            name.ends_with(".csv") || name.ends_with(".npy") && !name.ends_with("_ids.npy");
        if is_used {
            names.push(format!("demo/{name}"));
        }
    }
    names.sort();
    for name in ["classifier.safetensors", "second_classifier.safetensors"] {
        println!("cargo::rerun-if-changed={data}/{name}");
        names.push(name.to_owned());
    }
    let mut packed = Vec::new();
    // Labels are the same under every condition, and packed once.
    let mut seen: BTreeMap<Vec<u8>, Range<usize>> = BTreeMap::new();
    let mut table = String::from("[\n");
    for name in names {
        let bytes = fs::read(Path::new(&data).join(&name))?;
        let length = bytes.len();
        let place = match seen.entry(bytes) {
            Entry::Occupied(same) => same.get().clone(),
            Entry::Vacant(new) => {
                let start = packed.len();
                pack(new.key(), &mut packed)?;
                new.insert(start..packed.len()).clone()
            }
        };
        table += &format!("    ({name:?}, {length}, {place:?}),\n");
    }
    fs::write(Path::new(&out).join("shipped.bin"), packed)?;
    fs::write(Path::new(&out).join("shipped.rs"), table + "]\n")
}

fn pack(bytes: &[u8], packed: &mut Vec<u8>) -> Result<(), Error> {
    let mut encoder = DeflateEncoder::new(packed, Compression::best());
    for plane in 0..PLANES {
        let plane: Vec<u8> = bytes.iter().skip(plane).step_by(PLANES).copied().collect();
        encoder.write_all(&plane)?;
    }
    encoder.finish()?;
    Ok(())
}
