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
    for codec in ["snappy", "gzip", "zstd", "lz4", "brotli", "zstd_v2", "brotli_v2"] {
        let file = fixture(&format!("codec_{codec}.parquet"));
        assert_eq!(read(&file, &["when", "id", "p_cat"], 7).unwrap(), expected, "{codec}");
    }
    let words = read(&fixture("codec_none.parquet"), &["label"], 13).unwrap();
    assert!(words.iter().all(|row| ["cat", "dog", "eel"].contains(&row[0].as_str())));
}

/// A page of nulls alone holds nothing to unpack, whether its header calls it packed or not; one that is no shorter packed lies as it is.
#[test]
fn pages_of_brotli_that_are_not_packed() {
    let expected = read(&fixture("nulls_zstd_v2.parquet"), &["none", "p"], 1000).unwrap();
    assert_eq!(expected.len(), 40);
    assert!(expected.iter().all(|row| row[0].is_empty() && row[1].parse::<f64>().is_ok()));
    let mut bytes = std::fs::read(fixture("nulls_brotli_v2.parquet")).unwrap();
    let scratch = Scratch::new();
    for flag in [0x12, 0x11] {
        // The first page is that of the nulls; its flag stands before its statistics.
        let place = bytes.windows(4).position(|window| window[1..] == [0x1c, 0x36, 0x50]).unwrap();
        bytes[place] = flag;
        let path = scratch.file("a.parquet", &bytes);
        assert_eq!(read(&path, &["none", "p"], 7).unwrap(), expected, "{flag}");
    }
}

/// Statistics in a page header may be longer than what is read of a file at a time, 8192 bytes.
#[test]
fn headers_of_pages_may_be_long() {
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::properties::{EnabledStatistics, WriterProperties};
    const LONGEST: usize = 4096;
    let ids: Vec<String> = (0..7).map(|row| row.to_string().repeat(LONGEST)).collect();
    let values: Vec<ByteArray> = ids.iter().map(|id| id.as_str().into()).collect();
    let written = |statistics: bool| {
        let schema = "message table { required binary id (UTF8); }";
        let schema = parquet::schema::parser::parse_message_type(schema).unwrap().into();
        let properties = WriterProperties::builder()
            .set_statistics_enabled(EnabledStatistics::Page)
            .set_write_page_header_statistics(statistics)
            .set_statistics_truncate_length(None)
            .set_data_page_row_count_limit(2)
            .set_write_batch_size(1)
            .build();
        let mut writer =
            parquet::file::writer::SerializedFileWriter::new(Vec::new(), schema, properties.into())
                .unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.into_inner().unwrap()
    };
    let bytes = written(true);
    // A smallest and a largest id for each of four pages.
    assert!(bytes.len() > written(false).len() + 8 * LONGEST);
    let scratch = Scratch::new();
    for at_a_time in [1, 3, 100] {
        let path = scratch.file("a.parquet", &bytes);
        let found = read(&path, &["id"], at_a_time).unwrap();
        assert!(found.iter().flatten().eq(&ids), "{at_a_time} at a time");
    }
}

#[test]
fn cells_of_arrow_are_those_of_parquet() {
    let names = ["when", "id", "p_cat", "label"];
    let expected = read(&fixture("codec_none.parquet"), &names, 1000).unwrap();
    for name in
        ["table.arrow", "table_zstd.arrow", "table_lz4.arrow", "table.arrows", "table.feather"]
    {
        for at_a_time in [1, 8, 1000] {
            assert_eq!(read(&fixture(name), &names, at_a_time).unwrap(), expected, "{name}");
        }
    }
}

#[test]
fn views_dictionaries_days_and_gaps_of_arrow() {
    let names = ["view", "large", "day", "when", "flag", "code"];
    let rows = read(&fixture("kinds_none.arrow"), &names, 4).unwrap();
    assert_eq!(rows.len(), 23);
    let words = |row: usize| rows[row].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(words(0), ["row 0", "row 0", "1970-01-01", "", "true", "0"]);
    let long = "row 5 is longer than twelve is longer than twelve";
    assert_eq!(words(5), [long, long, "1970-01-06", "1970-01-01T00:00:00.005", "false", "0"]);
    assert_eq!(words(3)[..2], ["", ""]);
    assert_eq!(words(22)[5], "2");
    assert_eq!(read(&fixture("kinds_zstd.arrow"), &names, 9).unwrap(), rows);
    let error = read(&fixture("list.arrow"), &["probs"], 4).unwrap_err();
    assert!(error.contains("holds lists, which cannot be written as text"), "{error}");
}

#[test]
fn lines_of_json_have_cells() {
    let scratch = Scratch::new();
    let text = concat!(
        "\u{feff}{\"id\": \"a \\\"b\\\"\", \"n\": 12345678901234567890123, \"ok\": true}\n\n",
        "{\"ok\": false, \"id\": null}\n",
        "{\"n\": 1.50, \"id\": \"\\u00e9\", \"more\": 3}"
    );
    let path = scratch.file("a.jsonl", text);
    let rows = read(&path, &["id", "n", "ok"], 2).unwrap();
    let expected =
        [["a \"b\"", "12345678901234567890123", "true"], ["", "", "false"], ["é", "1.50", ""]];
    assert_eq!(rows, expected.map(|row| row.map(str::to_owned).to_vec()));
    assert!(
        read(&path, &["none"], 2).unwrap_err().contains("has no column 'none', only id, n, ok")
    );
    let twice = scratch.file("b.ndjson", "{\"id\": 1}\n{\"id\": 2, \"id\": 3}\n");
    assert!(
        read(&twice, &["id"], 2)
            .unwrap_err()
            .contains("line 2: the field \"id\" stands there twice")
    );
    let lists = scratch.file("c.jsonl", "{\"id\": [1, 2]}\n");
    assert!(read(&lists, &["id"], 2).unwrap_err().contains("holds lists"));
}

#[test]
fn folders_are_columns() {
    let scratch = Scratch::new();
    for (folder, cell) in [("day=2/region=a%20b", "x"), ("day=1/region=c", "y")] {
        std::fs::create_dir_all(scratch.path().join("t").join(folder)).unwrap();
        scratch.file(&format!("t/{folder}/a.csv"), format!("id,p\n{cell}1,1\n{cell}2,2\n"));
        scratch
            .file(&format!("t/{folder}/b.jsonl"), format!("{{\"p\": 3, \"id\": \"{cell}3\"}}\n"));
    }
    let folder = scratch.path().join("t").to_str().unwrap().to_owned();
    for at_a_time in [1, 2, 100] {
        let rows = read(&folder, &["region", "id", "day"], at_a_time).unwrap();
        let expected = [
            ["c", "y1", "1"],
            ["c", "y2", "1"],
            ["c", "y3", "1"],
            ["a b", "x1", "2"],
            ["a b", "x2", "2"],
            ["a b", "x3", "2"],
        ];
        assert_eq!(rows, expected.map(|row| row.map(str::to_owned).to_vec()));
        assert_eq!(read(&folder, &["day"], at_a_time).unwrap().len(), 6);
        let days = corpus::read_in_blocks(&format!("{folder}:day"), at_a_time).unwrap();
        assert_eq!(days.values, [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
    }
    // A folder is no class: nothing chooses it but its name.
    std::fs::create_dir_all(scratch.path().join("n/day=3")).unwrap();
    scratch.file("n/day=3/a.csv", "p,q\n0.5,0.25\n");
    let plain = scratch.path().join("n").to_str().unwrap().to_owned();
    assert_eq!(corpus::read_in_blocks(&plain, 4).unwrap().values, [0.5, 0.25]);
    let error = corpus::message(&format!("{folder}:region"));
    assert!(error.contains("the folder says region=c, which is not a number"), "{error}");
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

/// Instants of UTC say so, decimals keep their places, and bytes that are no text are refused, not mutilated.
#[test]
fn ids_of_every_kind_are_written_as_they_are() {
    let names = ["utc", "wall", "money", "wide"];
    let expected = [
        ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00", "12.50", "1000000000000000000000000000000"],
        ["1970-01-01T00:00:01.5Z", "1970-01-01T00:00:01.5", "-0.05", "-7"],
        ["", "", "", ""],
    ];
    for file in ["ids.parquet", "ids-as-integers.parquet", "ids.arrow"] {
        assert_eq!(read(&fixture(file), &names, 2).unwrap(), expected, "{file}");
        let error = read(&fixture(file), &["bytes"], 2).unwrap_err();
        assert!(error.contains("column \"bytes\"") && error.contains("text"), "{file}: {error}");
    }
}
