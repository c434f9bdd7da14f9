//! Files that lie about themselves are refused before anything is allocated for the lie.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::float_cmp)]

mod corpus;

use corpus::{Scratch, fixture, message, npy};

fn header(descr: &str, shape: &str) -> String {
    format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n")
}

#[test]
fn shapes_that_are_not_there() {
    let scratch = Scratch::new();
    for (shape, words) in [
        ("(1000000000000, 10)", "needs 40000000000000 bytes of data, but there are 16"),
        ("(4294967296, 4294967296)", "more bytes than any file"),
        ("(99999999999999999999, 1)", "more bytes than any file"),
        ("(4611686018427387904, 1)", "more bytes than any file"),
        ("(-1, 4)", "negative size"),
        ("(4, -1)", "negative size"),
        ("(3,)", "needs 12 bytes of data, but there are 16; save one array per file"),
        ("(2, 3)", "needs 24 bytes of data, but there are 16; the file was cut off"),
        ("(4, 0)", "needs 0 bytes"),
        ("()", "shape ()"),
        ("(1, 2, 2)", "shape (1, 2, 2)"),
        ("(2 2)", "',' or ')'"),
        ("(a,)", "a size"),
        ("4", "'('"),
        ("(4,", "a size"),
        ("[4]", "'('"),
    ] {
        let path = scratch.file("a.npy", npy(&header("'<f4'", shape), &[0; 16]));
        let message = message(&path);
        assert!(message.contains(words), "{shape}: {message}");
    }
}

#[test]
fn headers_that_cannot_be_understood() {
    let scratch = Scratch::new();
    let good = header("'<f4'", "(4,)");
    for (text, words) in [
        (String::new(), "expected '{'"),
        ("{".into(), "expected a quoted string"),
        ("{}".into(), "expected 'descr', 'fortran_order' and 'shape'"),
        (good.replace("False", "Maybe"), "True or False"),
        (good.replace("'shape'", "'form'"), "'descr', 'fortran_order' or 'shape'"),
        (good.replace("'shape'", "'shape"), "expected"),
        (good.replace('\n', "x"), "nothing after"),
        (header("'|O'", "(4,)"), "pickled Python objects"),
        (header("[('a', '<f4')]", "(4,)"), "records"),
        (header("'|V4'", "(4,)"), "records"),
        (header("'<f16'", "(1,)"), "type '<f16' cannot be read"),
        (header("'<M8[ns]'", "(2,)"), "cannot be read"),
        (header("''", "(4,)"), "cannot be read"),
        (header("'<é4'", "(4,)"), "cannot be read"),
    ] {
        let path = scratch.file("a.npy", npy(&text, &[0; 16]));
        let message = message(&path);
        assert!(message.contains(words), "{text}: {message}");
    }
}

#[test]
fn lengths_beyond_the_file() {
    let scratch = Scratch::new();
    let long = {
        let mut bytes = b"\x93NUMPY\x02\x00".to_vec();
        bytes.extend(0xffff_fff0_u32.to_le_bytes());
        bytes.extend(header("'<f4'", "(4,)").as_bytes());
        bytes
    };
    let padded = {
        let text = header("'<f4'", "(4,)") + &" ".repeat(100_000);
        let mut bytes = b"\x93NUMPY\x03\x00".to_vec();
        bytes.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.extend([0; 16]);
        bytes
    };
    for (bytes, words) in [
        (long, "ends early"),
        (padded, "at most 65536 are read"),
        (b"\x93NUMPY\x09\x00\x10\x00".to_vec(), "version 9 is unknown"),
        (b"\x93NUMPX\x01\x00\x10\x00".to_vec(), "not an npy array"),
        (b"PK\x03\x04 and more".to_vec(), "not an npy array"),
        (b"\x93NUM".to_vec(), "not an npy array"),
        (Vec::new(), "ends early"),
    ] {
        let message = message(&scratch.file("a.npy", bytes));
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn files_under_the_wrong_name() {
    let scratch = Scratch::new();
    let read = |name: &str| std::fs::read(fixture(name)).unwrap();
    for (name, bytes, words) in [
        ("a.npz", read("f4-little-c.npy"), "not a readable npz archive"),
        ("a.npy", read("stored.npz"), "not an npy array"),
        ("a.parquet", read("reference.csv"), "not a parquet file"),
        ("a.csv", read("plain.parquet"), "not text"),
        ("a.csv", read("f4-little-c.npy"), "not text"),
        ("b.npz", Vec::new(), "not a readable npz archive"),
        ("b.parquet", Vec::new(), "not a parquet file"),
        ("b.csv", Vec::new(), "holds no rows"),
        ("b.csv", b"a,b,c\n".to_vec(), "holds no rows"),
        ("b.csv", b"\n\n\n".to_vec(), "holds no rows"),
    ] {
        let message = message(&scratch.file(name, bytes));
        assert!(message.contains(words), "{name}: {message}");
    }
}

#[test]
fn paths_that_lead_to_no_file() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path().join("d.npy")).unwrap();
    let directory = scratch.path().join("d.npy").display().to_string();
    assert!(message(&directory).contains("is a directory, not a file"));
    let missing = scratch.path().join("none.npz").display().to_string();
    let words = message(&format!("{missing}:probs"));
    assert!(words.ends_with("none.npz: cannot be opened: No such file or directory; check the path and its permissions"), "{words}");
}

#[test]
fn a_deflated_array_of_impossible_size() {
    let scratch = Scratch::new();
    let mut bytes = std::fs::read(fixture("one.npz")).unwrap();
    // The central directory's uncompressed size is at offset 24 of its entry.
    let entry = bytes.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    bytes[entry + 24..entry + 28].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    let message = message(&scratch.file("a.npz", &bytes));
    assert!(message.contains("claims 2147483647 bytes"), "{message}");
}

#[test]
fn a_damaged_array_fails_its_checksum() {
    let scratch = Scratch::new();
    let mut bytes = std::fs::read(fixture("stored.npz")).unwrap();
    let data = bytes.windows(6).position(|window| window == b"\x93NUMPY").unwrap() + 128;
    bytes[data + 8] ^= 1;
    let message = message(&format!("{}:probs", scratch.file("a.npz", &bytes)));
    assert!(message.contains("checksum does not match"), "{message}");
}
