//! Cells of tables as text: words, ids and instants, from csv and parquet, whole or in parts.
#![allow(clippy::unwrap_used)]

mod corpus;

use corpus::{Scratch, fixture};
use evenkeel_io::{MatrixSource, TextRows};

fn read(argument: &str, names: &[&str], at_a_time: usize) -> Result<Vec<Vec<String>>, String> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let source = MatrixSource::parse(argument).map_err(|error| error.to_string())?;
    let mut text = TextRows::open(&source, Some(&names)).map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    loop {
        let more = text.next_rows(at_a_time).map_err(|error| error.to_string())?;
        if more.is_empty() {
            return Ok(rows);
        }
        rows.extend(more);
    }
}

#[test]
fn cells_of_parquet_are_written_as_people_write_them() {
    let expected = read(&fixture("codec_none.parquet"), &["when", "id", "p_cat"], 1000).unwrap();
    assert_eq!(expected.len(), 60);
    assert_eq!(expected[59][..2], ["1970-01-01T00:00:59".to_owned(), "row 59".to_owned()]);
    assert!(expected[0][2].parse::<f64>().unwrap() < 1.0);
    for codec in ["snappy", "gzip", "zstd", "lz4", "brotli"] {
        let file = fixture(&format!("codec_{codec}.parquet"));
        assert_eq!(read(&file, &["when", "id", "p_cat"], 7).unwrap(), expected, "{codec}");
    }
    let words = read(&fixture("codec_none.parquet"), &["label"], 13).unwrap();
    assert!(words.iter().all(|row| ["cat", "dog", "eel"].contains(&row[0].as_str())));
}

#[test]
fn parts_follow_each_other() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path().join("t/day=2")).unwrap();
    std::fs::create_dir_all(scratch.path().join("t/day=1")).unwrap();
    scratch.file("t/day=1/a.csv", "id,x\none,1\n\"t,wo\",2\n");
    scratch.file("t/day=2/a.csv", "x,id\n3,three\n");
    scratch.file("t/_note.csv", "nothing");
    let folder = scratch.path().join("t").to_str().unwrap().to_owned();
    for at_a_time in [1, 2, 100] {
        let rows = read(&folder, &["id"], at_a_time).unwrap();
        assert_eq!(rows, [["one"], ["t,wo"], ["three"]].map(|row| row.map(str::to_owned).to_vec()));
    }
    let numbers =
        evenkeel_io::read_matrix(&MatrixSource::parse(&format!("{folder}:x")).unwrap()).unwrap();
    assert_eq!(numbers.values().to_f64(), [1.0, 2.0, 3.0]);
}

#[test]
fn what_is_no_text_is_refused_by_name() {
    let scratch = Scratch::new();
    let table = scratch.file("t.csv", "id,x\na,1\nb\n");
    for (argument, names, words) in [
        (table.as_str(), &["no"][..], "has no column 'no', only id, x"),
        (&table, &["id"], "line 3"),
        (&fixture("list.parquet"), &["probs"], "cannot be written as text"),
        (&fixture("bool.npy"), &["x"], "no names to choose by"),
    ] {
        let error = read(argument, names, 10).unwrap_err();
        assert!(error.contains(words), "{argument}: {error}");
    }
}
