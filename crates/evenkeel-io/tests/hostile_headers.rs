//! Files that lie about themselves are refused before anything is allocated for the lie.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::float_cmp)]

mod corpus;

use corpus::{Scratch, fixture, message, npy};
use evenkeel_io::{
    FileSource, LabeledFiles, MatrixSource, PointFiles, SideFiles, ValueKind, read_labels,
};

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

/// Files whose numbers cannot be read, with headers in order: an error about their length shows that nothing was read.
#[test]
fn a_header_is_enough_to_refuse_a_length() {
    let scratch = Scratch::new();
    let mut npz = std::fs::read(fixture("stored.npz")).unwrap();
    for at in npz
        .windows(6)
        .enumerate()
        .filter(|(_, window)| *window == b"\x93NUMPY")
        .map(|(at, _)| at)
        .collect::<Vec<_>>()
    {
        npz[at + 130] ^= 1;
    }
    let npz = scratch.file("a.npz", &npz);
    let mut parquet = std::fs::read(fixture("list-and-label.parquet")).unwrap();
    let end = parquet.len() - 8;
    let footer = u32::from_le_bytes(*parquet[end..].first_chunk().unwrap()) as usize;
    parquet[4..end - footer].fill(0xff);
    let parquet = scratch.file("a.parquet", &parquet);
    let probs = scratch.file("p.csv", "0.5,0.5\n0.25,0.75\n");
    let labels = scratch.file("l.csv", "0\n1\n");
    for damaged in [format!("{npz}:labels"), format!("{parquet}:label")] {
        assert!(!message(&damaged).contains("are needed"), "the damage is found by whoever reads");
        let source = MatrixSource::parse(&damaged).unwrap();
        let error = read_labels(&source, Some(2)).unwrap_err().to_string();
        assert!(error.contains("23 labels, but 2 are needed"), "{error}");
        let kind = ValueKind::Probabilities;
        let side = SideFiles { weights: Some(&damaged), ..SideFiles::default() };
        let error = LabeledFiles::read(&probs, &labels, kind)
            .unwrap()
            .with_side_files(side)
            .unwrap_err()
            .to_string();
        assert!(error.contains("has 23 weights"), "{error}");
        // The other way round: a matrix that is not read, because its header does not fit the labels.
        let two = scratch.file("l.npy", npy(&header("'|u1'", "(2,)"), &[0, 1]));
        let error = LabeledFiles::read(&damaged, &two, kind).unwrap_err();
        assert!(error.to_string().contains("2 labels, but 23 are needed"), "{error}");
    }
    let matrix =
        scratch.file("p.npy", npy(&header("'<f4'", "(1, 2)"), &[0, 0, 0, 63, 0, 0, 0, 63]));
    let labels = format!("{parquet}:label");
    let files = PointFiles { labels: Some(&labels), ..PointFiles::probs(&matrix) };
    let error = FileSource::open(files, ValueKind::Probabilities).unwrap_err().to_string();
    assert!(error.contains("has 23 labels but") && error.contains("has 1 rows"), "{error}");
}

/// Cells without bytes fill no buffer of bytes.
#[test]
fn a_line_of_commas_is_too_wide_before_it_is_too_long() {
    let scratch = Scratch::new();
    let message = message(&scratch.file("a.csv", vec![b','; 9 << 20]));
    assert!(message.ends_with("line 1: the row has more than 4194304 cells, the most that can be read; is the matrix transposed?"), "{message}");
}

/// Pages packed by brotli whose headers claim another length, and such that are damaged: the error says so and names the file.
#[test]
fn pages_of_brotli_that_lie() {
    let scratch = Scratch::new();
    // The start of the header of the first page of numbers, to its unpacked size, and where the header ends: a dictionary of 480 bytes,
    // and a page of the second version of 482, levels and numbers.
    for (name, start, end) in [
        ("codec_brotli.parquet", &[0x15, 0x04, 0x15, 0xc0, 0x07][..], &[0x12, 0x00, 0x00][..]),
        ("codec_brotli_v2.parquet", &[0x15, 0x06, 0x15, 0xc4, 0x07], &[0x11, 0x00, 0x00, 0x00]),
    ] {
        let bytes = std::fs::read(fixture(name)).unwrap();
        let after = |first: usize, sought: &[u8]| {
            let found = bytes[first..].windows(sought.len()).position(|window| window == sought);
            first + found.unwrap() + sought.len()
        };
        let size = after(0, start) - 2;
        let packed = after(size, end);
        let claim = (u64::from(bytes[size + 1]) << 7 | u64::from(bytes[size] & 0x7f)) / 2;
        for (change, words) in [(-1, "longer"), (1, "shorter"), (-200, "longer"), (200, "shorter")]
        {
            let claim = claim.checked_add_signed(change).unwrap();
            let mut bytes = bytes.clone();
            bytes[size] = (2 * claim) as u8 | 0x80;
            bytes[size + 1] = (claim >> 6) as u8;
            let message = message(&scratch.file(name, &bytes));
            let expected = format!("a page packed with brotli is {words} than the {claim} bytes");
            assert!(message.contains(&expected) && message.contains(name), "{message}");
        }
        // Half of what was packed, and noise.
        let mut half = bytes.clone();
        half[size + 3..size + 5].copy_from_slice(&[0xd8, 0x04]);
        let mut noise = bytes.clone();
        noise[packed + 2..packed + 400].fill(0xff);
        for bytes in [half, noise] {
            let message = message(&scratch.file(name, &bytes));
            assert!(message.contains(name), "{message}");
        }
    }
}
