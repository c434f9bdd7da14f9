//! Csv files as people write them.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::float_cmp)]

mod corpus;

use corpus::{Scratch, message, read_in_blocks};

fn values(text: &str) -> (usize, Vec<f64>) {
    let scratch = Scratch::new();
    let path = scratch.file("a.csv", text);
    let wholes = [1, 2, 100].map(|rows| read_in_blocks(&path, rows).expect(text));
    assert!(wholes.iter().all(|whole| *whole == wholes[0] && !whole.single));
    let [whole, ..] = wholes;
    (whole.columns, whole.values)
}

fn refused(text: impl AsRef<[u8]>) -> String {
    message(&Scratch::new().file("a.csv", text))
}

#[test]
fn headers_delimiters_and_line_ends() {
    let expected = (2, vec![0.25, 0.75, 1.0, -2.0]);
    for text in [
        "0.25,0.75\n1,-2\n",
        "0.25,0.75\n1,-2",
        "0.25;0.75\r\n1;-2\r\n",
        "0.25\t0.75\n1\t-2\n",
        "cat,dog\n0.25,0.75\n1,-2\n",
        "\u{feff}cat,dog\n0.25,0.75\n1,-2\n",
        "\"cat, black\",\"dog\"\n\"0.25\",0.75\n1,-2\n",
        "\n 0.25 , .75 \n\n1.0e0,-2.\n\n",
        "0,1\n0.25,0.75\n1,-2\n",
    ] {
        assert_eq!(values(text), expected, "{text:?}");
    }
}

#[test]
fn a_first_row_of_small_integers_is_a_row() {
    assert_eq!(values("0,1\n1,0\n"), (2, vec![0.0, 1.0, 1.0, 0.0]));
    assert_eq!(values("0\n1\n2\n"), (1, vec![0.0, 1.0, 2.0]));
    assert_eq!(values("label\n0\n1\n"), (1, vec![0.0, 1.0]));
    assert_eq!(values("0,1\n"), (2, vec![0.0, 1.0]));
}

#[test]
fn mistakes_are_named_with_line_and_column() {
    for (text, words) in [
        // The index that pandas writes.
        (",1\n0.25,0.75\n1,-2\n", "column 0"),
        ("0.1,0.9\n0.5\n", "a.csv, line 2: 1 cells where the first line has 2"),
        ("a,b\n0.1,0.9\n\n0.5,0.5,0\n", "line 4: 3 cells"),
        ("a,b\r\n0.1,0.9\r\n0.5,0.5,0\r\n", "line 3: 3 cells"),
        ("a,b\n0.1,0.9,0.0\n", "line 2: 3 cells"),
        ("0.1,0.9\n0.5,oops", "line 2: column 1 is \"oops\", not a number"),
        ("0.1,oops\n0.5,0.5\n", "line 1: column 1 is \"oops\""),
        ("0.1,\n0.5,0.5\n", "line 1: column 1 is \"\", not a number; fill the empty cell"),
        (
            "a;b\n0,1;0,9\n",
            "line 2: column 0 is \"0,1\", not a number; write decimals with a point",
        ),
        ("a\n0.1 0.9\n", "separate cells by"),
        ("0.1,0.9\n1_0,2\n", "line 2: column 0 is \"1_0\""),
        ("0.1,0.9\n0x1,2\n", "line 2: column 0 is \"0x1\""),
    ] {
        let message = refused(text);
        assert!(message.contains(words), "{text:?}: {message}");
    }
}

#[test]
fn files_that_are_no_text_or_never_end() {
    let utf16: Vec<u8> = "0.1,0.9\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(refused(utf16).contains("not text"));
    assert!(refused(b"0.1,0.9\n\xff\xfe,1\n").contains("line 2: column 0"));
    let open_quote = format!("0.1,0.9\n\"{}", "0.5,0.5\n".repeat(9 << 20));
    assert!(refused(open_quote).contains("a quote that is not closed"));
    assert!(refused("1,".repeat((1 << 22) + 5)).contains("more than 4194304 cells"));
}
