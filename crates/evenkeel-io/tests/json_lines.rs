//! Rows of JSON lines: objects, lists and numbers, in any order of fields, and what is refused.
#![allow(missing_docs, clippy::unwrap_used, clippy::float_cmp)]

mod corpus;

use corpus::{Scratch, message, read_in_blocks};
use std::io::Write;

fn assert_reads(scratch: &Scratch, text: &str, expected: &[f64], columns: usize) {
    let path = scratch.file("x.jsonl", text);
    for rows in [1, 2, 100] {
        let found = read_in_blocks(&path, rows).unwrap();
        assert_eq!((found.columns, &found.values[..]), (columns, expected), "{text}");
    }
}

#[test]
fn objects_lists_and_numbers_are_rows() {
    let scratch = Scratch::new();
    let objects = "{\"id\": \"a\", \"p\": 0.25, \"q\": 0.75}\r\n\n{\"q\": 1e-1, \"p\": -9E2, \"id\": 3, \"note\": {\"p\": [1]}}";
    assert_reads(&scratch, objects, &[0.25, 0.75, -900.0, 0.1], 2);
    assert_reads(&scratch, "[0.5, 0.5]\n[1,0]\n", &[0.5, 0.5, 1.0, 0.0], 2);
    assert_reads(
        &scratch,
        "{\"probs\": [ 1 , 2 ]}\n{\"probs\":[3,4],\"x\":\"y\"}\n",
        &[1.0, 2.0, 3.0, 4.0],
        2,
    );
    assert_reads(&scratch, "3\n0\n7\n", &[3.0, 0.0, 7.0], 1);
    // Every digit that was written.
    let text = "{\"p\": 0.1234567890123456789, \"q\": 5e-324}\n";
    assert_reads(&scratch, text, &[0.123_456_789_012_345_68, 5e-324], 2);
}

#[test]
fn what_is_compressed_is_read_like_what_is_not() {
    let scratch = Scratch::new();
    let text = "{\"p\": 0.25, \"q\": 0.75}\n".repeat(300);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = scratch.file("a.jsonl.gz", gzip.finish().unwrap());
    let zstd = scratch.file("a.ndjson.zst", zstd::encode_all(text.as_bytes(), 1).unwrap());
    for path in [gzip, zstd] {
        assert_eq!(read_in_blocks(&path, 7).unwrap().values.len(), 600, "{path}");
    }
}

#[test]
fn what_is_no_row_is_named_with_its_line() {
    let scratch = Scratch::new();
    for (text, words) in [
        ("", "holds no rows"),
        ("\n \n", "holds no rows"),
        ("{\"p\": 1}\n{\"p\": }", "line 2: this is not JSON"),
        ("{\"p\": 1}\n{\"q\": 2}", "line 2: the number \"q\" is not in the first line"),
        ("{\"p\": 1, \"q\": 1}\n{\"q\": 2}", "line 2: the field \"p\" is missing"),
        ("{\"p\": 1}\n{\"p\": 2, \"p\": 3}", "line 2: the field \"p\" stands there twice"),
        ("{\"p\": 1, \"p\": 3}", "line 1: the field \"p\" stands there twice"),
        ("{\"p\": 1}\n{\"p\": null}", "line 2: \"p\" is null, not a number; fill the gap"),
        ("{\"p\": null}", "line 1: \"p\" is null"),
        ("{\"p\": 1}\n{\"p\": \"0.5\"}", "without quotes"),
        ("{\"p\": 1}\n[1]", "line 2: found a list where the first line is an object"),
        ("[1]\n{\"p\": 1}", "line 2: found an object where the first line is a list"),
        ("[1, 2]\n[1]", "line 2: 1 numbers where the first line has 2"),
        ("[1]\n[1, 2]", "line 2: 2 numbers where the first line has 1"),
        ("{\"a\": [1], \"b\": [2]}", "several columns of lists"),
        ("{\"a\": \"x\", \"b\": true}", "no numeric column; it has a, b"),
        ("{}", "no numeric column"),
        ("[]", "holds no rows"),
        ("{\"a\": [[1], [2]]}\n", "not a number"),
        ("{\"a\": NaN}", "line 1: this is not JSON"),
        ("{\"a\": 1} {\"a\": 2}", "line 1: this is not JSON"),
        ("\u{1}", "line 1: this is not JSON"),
    ] {
        let found = message(&scratch.file("x.jsonl", text));
        assert!(found.contains(words), "{text:?}: {found}");
    }
    let bytes = scratch.file("y.jsonl", b"{\"p\": \"\xff\"}");
    assert!(message(&bytes).contains("line 1: this is not text"));
    let deep = scratch.file("z.jsonl", "{\"p\": ".repeat(100_000));
    assert!(message(&deep).contains("line 1: this is not JSON"));
}
