//! One table in every form that people have it in: the same bits, whatever the order of its columns and rows, or a refusal.

use std::io::Write;
use std::process::Stdio;
use std::sync::Arc;

use crate::running::{Ran, Scratch, finish, fixture, program, run};
use crate::{call, options};

/// Rows of the table of the fixtures, with its names first.
fn table() -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(fixture("table.csv")).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// In two members, as files that were put together have.
fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let member = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let (one, two) = bytes.split_at(bytes.len() / 2);
    [member(one), member(two)].concat()
}

/// A frame to be passed over and two others, as parallel writers make them.
fn zstandard(bytes: &[u8]) -> Vec<u8> {
    let passed_over = [0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4].to_vec();
    let (one, two) = bytes.split_at(bytes.len() / 2);
    let frame = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
    [passed_over, frame(one), frame(two)].concat()
}

fn csv(rows: &[Vec<String>]) -> Vec<u8> {
    rows.iter().map(|row| row.join(",") + "\n").collect::<String>().into_bytes()
}

fn is_number(name: &str) -> bool {
    name.starts_with("p_") || name == "score"
}

fn jsonl(rows: &[Vec<String>]) -> Vec<u8> {
    let (names, rows) = rows.split_first().unwrap();
    let line = |row: &Vec<String>| {
        let field = |(name, cell): (&String, &String)| match is_number(name) {
            true => format!("\"{name}\": {cell}"),
            false => format!("\"{name}\": \"{cell}\""),
        };
        format!("{{{}}}\n", names.iter().zip(row).map(field).collect::<Vec<_>>().join(", "))
    };
    rows.iter().map(line).collect::<String>().into_bytes()
}

fn parquet(rows: &[Vec<String>]) -> Vec<u8> {
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    let (names, rows) = rows.split_first().unwrap();
    let column = |name: &String| match is_number(name) {
        true => format!("required double {name};"),
        false => format!("required binary {name} (STRING);"),
    };
    let schema: String = names.iter().map(column).collect();
    let schema = format!("message table {{ {schema} }}");
    let schema = Arc::new(parquet::schema::parser::parse_message_type(&schema).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    // Groups of rows that are no multiple of anything.
    for rows in rows.chunks(23) {
        let mut group = writer.next_row_group().unwrap();
        for (place, name) in names.iter().enumerate() {
            let mut column = group.next_column().unwrap().unwrap();
            let cells = rows.iter().map(|row| row[place].as_str());
            if is_number(name) {
                let numbers: Vec<f64> = cells.map(|cell| cell.parse().unwrap()).collect();
                column.typed::<DoubleType>().write_batch(&numbers, None, None).unwrap();
            } else {
                let texts: Vec<ByteArray> = cells.map(ByteArray::from).collect();
                column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
            }
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

/// Rows of text as the bytes of a file.
type Written = fn(&[Vec<String>]) -> Vec<u8>;

const FORMS: [(&str, Written); 6] = [
    ("csv", csv),
    ("csv.gz", |rows| gzipped(&csv(rows))),
    ("csv.zst", |rows| zstandard(&csv(rows))),
    ("jsonl", jsonl),
    ("jsonl.zst", |rows| zstandard(&jsonl(rows))),
    ("parquet", parquet),
];

fn calibrate(scratch: &Scratch, cal: &str, target: &str, more: &[&str]) -> Ran {
    let files = options(&[
        ("--cal", cal.to_owned()),
        ("--label-col", "label".into()),
        ("--target", target.to_owned()),
        ("--out", scratch.at("cal.json")),
    ]);
    run(&call("calibrate", files, more))
}

const BY_NAME: [&str; 5] = ["--prob-cols", "p_*", "--method", "ot", "--json"];

/// The bytes of the calibration, and the sets with ids and instants beside them.
fn outcome(scratch: &Scratch, file: &str) -> (Vec<u8>, String) {
    calibrate(scratch, file, file, &BY_NAME).done();
    let files = options(&[
        ("--calibration", scratch.at("cal.json")),
        ("--probs", file.to_owned()),
        ("--out", scratch.at("sets.csv")),
    ]);
    run(&call("predict", files, &["--prob-cols", "p_*", "--id-cols", "id,when,label"])).done();
    let read = |name: &str| std::fs::read(scratch.at(name)).unwrap();
    (read("cal.json"), String::from_utf8(read("sets.csv")).unwrap())
}

#[test]
fn the_same_table_in_every_form_gives_the_same_bits() {
    let scratch = Scratch::new();
    let expected = outcome(&scratch, &fixture("codec_none.parquet"));
    assert!(
        expected.1.starts_with("row,id,when,label,size,labels\n0,row 0,1970-01-01T00:00:00,dog,")
    );
    let mut files: Vec<String> = ["snappy", "gzip", "zstd", "lz4", "brotli"]
        .map(|codec| fixture(&format!("codec_{codec}.parquet")))
        .to_vec();
    let of_arrow =
        ["table.arrow", "table_zstd.arrow", "table_lz4.arrow", "table.arrows", "table.feather"];
    files.extend(of_arrow.map(fixture));
    files.extend(["table.csv", "table.jsonl"].map(fixture));
    for (ending, written) in FORMS {
        files.push(scratch.file(&format!("table.{ending}"), written(&table())));
    }
    files.push(fixture("part_*.parquet"));
    let folder = scratch.folder("parts.parquet");
    for part in 0..3 {
        let day = scratch.folder(&format!("parts.parquet/day={part}"));
        let name = format!("part_{part}.parquet");
        std::fs::copy(fixture(&name), format!("{day}/{name}")).unwrap();
    }
    files.push(folder);
    for file in files {
        assert!(outcome(&scratch, &file) == expected, "{file}");
    }
}

#[test]
fn stdin_takes_every_form() {
    let scratch = Scratch::new();
    let expected = outcome(&scratch, &fixture("table.csv")).0;
    let rows = table();
    let mut inputs: Vec<(String, Vec<u8>)> = ["table.arrow", "table.arrows", "table.feather"]
        .map(|name| (name.to_owned(), std::fs::read(fixture(name)).unwrap()))
        .to_vec();
    inputs.extend(FORMS.map(|(ending, written)| (ending.to_owned(), written(&rows))));
    for (name, bytes) in inputs {
        let files = options(&[
            ("--cal", fixture("table.csv")),
            ("--label-col", "label".into()),
            ("--target", "-".into()),
            ("--out", scratch.at("cal.json")),
        ]);
        let mut child = program()
            .args(call("calibrate", files, &BY_NAME))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        assert!(child.wait().unwrap().success(), "{name}");
        assert!(std::fs::read(scratch.at("cal.json")).unwrap() == expected, "{name}");
    }
}

/// Well-mixed numbers, different for every seed.
fn mixed(seed: u64, place: usize) -> u64 {
    let mut x = (place as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ (seed + 1).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^ (x >> 29)
}

fn shuffled(rows: &[Vec<String>], seed: u64) -> Vec<Vec<String>> {
    let by = |count: usize, seed: u64| {
        let mut places: Vec<usize> = (0..count).collect();
        places.sort_by_key(|place| mixed(seed, *place));
        places
    };
    let columns = by(rows[0].len(), seed);
    let order =
        std::iter::once(0).chain(by(rows.len() - 1, seed + 77).into_iter().map(|row| row + 1));
    order.map(|row| columns.iter().map(|place| rows[row][*place].clone()).collect()).collect()
}

/// Columns and rows in any order, in any form: the same threshold. A column of numbers too many, where nothing says which columns
/// are classes: a refusal, on whichever side it stands.
#[test]
fn any_order_in_any_form_gives_the_same_answer_or_a_refusal() {
    let scratch = Scratch::new();
    let threshold = |ran: Ran| ran.done().json()["threshold"].clone();
    let split = ["--prob-cols", "p_*", "--method", "uncorrected", "--json"];
    let of = |file: &str, more: &[&str]| threshold(calibrate(&scratch, file, file, more));
    let expected = (of(&fixture("table.csv"), &split), of(&fixture("table.csv"), &BY_NAME));
    let check = |file: &str| {
        assert_eq!((of(file, &split), of(file, &BY_NAME)), expected, "{file}");
    };
    for number in 0..2 {
        check(&fixture(&format!("shuffled_{number}.parquet")));
        check(&fixture(&format!("shuffled_{number}.arrows")));
    }
    let rows = table();
    let mut stray = rows.clone();
    stray[0].push("score".into());
    stray[1..].iter_mut().for_each(|row| row.push("0.25".into()));
    for (seed, (ending, written)) in (0_u64..).zip(FORMS.iter().cycle().take(12)) {
        let good = scratch.file(&format!("good.{ending}"), written(&shuffled(&rows, seed)));
        check(&good);
        let bad = scratch.file(&format!("bad.{ending}"), written(&shuffled(&stray, seed)));
        // With the columns named the stray one is none of them.
        check(&bad);
        // Sides in two orders and forms are matched by name.
        let other = fixture("table.feather");
        assert_eq!(threshold(calibrate(&scratch, &good, &other, &BY_NAME)), expected.1, "{good}");
        // Without, csv refuses words, and the others the number that is no class.
        let plain = ["--method", "uncorrected"];
        assert_eq!(calibrate(&scratch, &bad, &good, &plain).code, 2, "{bad}");
        let ran = calibrate(&scratch, &good, &bad, &plain);
        assert!(ran.code == 2 || ending.starts_with("csv"), "{bad}: {ran:?}");
    }
}

#[test]
fn folders_name_ids_groups_and_labels() {
    let scratch = Scratch::new();
    let rows = table();
    let place = |name: &str| rows[0].iter().position(|found| found == name).unwrap();
    let (label, id) = (place("label"), place("id"));
    scratch.folder("by_label");
    let mut plain = vec![rows[0].clone()];
    for class in ["cat", "dog", "eel"] {
        let folder = scratch.folder(&format!("by_label/label={class}"));
        let of_class = rows[1..].iter().filter(|row| row[label] == class);
        plain.extend(of_class.clone().cloned());
        let without = |row: &Vec<String>| {
            let mut row = row.clone();
            row.remove(label);
            row
        };
        let part: Vec<Vec<String>> =
            std::iter::once(&rows[0]).chain(of_class).map(without).collect();
        std::fs::write(format!("{folder}/a.jsonl"), jsonl(&part)).unwrap();
    }
    let plain = scratch.file("plain.csv", csv(&plain));
    assert!(outcome(&scratch, &scratch.at("by_label")) == outcome(&scratch, &plain));
    // The same column as groups.
    let grouped = |table: &str| {
        let per = ["--prob-cols", "p_*", "--method", "uncorrected", "--per", "region", "--json"];
        calibrate(&scratch, table, table, &per)
    };
    for region in ["north", "south"] {
        let folder = scratch.folder(&format!("by_region/region={region}"));
        std::fs::write(format!("{folder}/a.parquet"), parquet(&rows)).unwrap();
    }
    let found = grouped(&scratch.at("by_region")).done().json();
    let names: Vec<&str> = found["per_group"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| {
            group["groups"][0].as_str().unwrap_or_else(|| group["group"].as_str().unwrap())
        })
        .collect();
    assert_eq!(names, ["north", "south"]);
    let files = options(&[
        ("--calibration", scratch.at("cal.json")),
        ("--probs", scratch.at("by_region")),
        ("--out", scratch.at("sets.csv")),
    ]);
    run(&call("predict", files, &["--prob-cols", "p_*", "--id-cols", "region,id"])).done();
    let sets = std::fs::read_to_string(scratch.at("sets.csv")).unwrap();
    assert!(sets.starts_with("row,region,id,size,labels\n0,north,row 0,"), "{}", &sets[..80]);
    assert!(sets.contains(&format!("\n119,south,{},", rows[60][id])), "{sets}");
    assert_eq!(grouped(&plain).code, 2);
}

#[test]
fn several_files_are_one_table() {
    let scratch = Scratch::new();
    let rows = table();
    let part =
        |name: &str, these: std::ops::Range<usize>, written: fn(&[Vec<String>]) -> Vec<u8>| {
            let part: Vec<Vec<String>> =
                std::iter::once(&rows[0]).chain(&rows[these]).cloned().collect();
            scratch.file(name, written(&shuffled_columns(&part)))
        };
    let files = [
        part("a.csv", 1..11, csv),
        part("b.jsonl", 11..32, jsonl),
        part("c.parquet", 32..61, parquet),
    ];
    let whole = outcome(&scratch, &fixture("table.csv")).0;
    let cal = fixture("table.csv");
    let start = ["calibrate", "--cal", &cal, "--label-col", "label", "--out"].map(str::to_owned);
    let out = scratch.at("cal.json");
    let of = |target: &[&str]| {
        let mut arguments = start.to_vec();
        arguments.push(out.clone());
        arguments.extend(target.iter().chain(&BY_NAME).map(|word| (*word).to_owned()));
        arguments
    };
    let [a, b, c] = &files;
    for target in
        [vec!["--unlabeled", a, b, c], vec!["--unlabeled", a, "--unlabeled", b, "--target", c]]
    {
        run(&of(&target)).done();
        assert!(std::fs::read(&out).unwrap() == whole, "{target:?}");
    }
    // Rows in the order given: labels of rows go with them.
    let sheet = scratch.file("sheet.csv", "row,label\n0,dog\n59,cat\n");
    let check = |target: &[&str]| {
        let mut arguments: Vec<String> =
            ["check", "--cal", &cal, "--label-col", "label", "--json"].map(str::to_owned).to_vec();
        let more = ["--prob-cols", "p_*", "--target-labels", &sheet];
        arguments.extend(target.iter().chain(&more).map(|word| (*word).to_owned()));
        run(&arguments)
    };
    let one = check(&["--unlabeled", &cal]).done().json();
    let three = check(&["--unlabeled", a, b, c]).done().json();
    assert_eq!((&one["m"], &one["coverage_measured"]), (&three["m"], &three["coverage_measured"]));
    assert_eq!(one["coverage_estimate"], three["coverage_estimate"]);
    assert!(
        three["command"].as_str().is_none_or(|command| command.contains(&format!("{a} {b} {c}")))
    );
    // A column that one of them lacks.
    let lacking = scratch.file("d.csv", "p_cat,p_dog\n0.5,0.5\n");
    let ran = run(&of(&["--unlabeled", a, &lacking]));
    assert!(ran.code == 2 && ran.stderr.contains("d.csv: it has no column for p_eel"), "{ran:?}");
    let ran = run(&of(&["--unlabeled", a, &scratch.at("none.csv")]));
    assert!(ran.code == 2 && ran.stderr.contains("none.csv"), "{ran:?}");
    // An output that is one of several inputs.
    let json = scratch.file("e.json", "{}");
    let ran = run(&[
        "calibrate",
        "--cal",
        &cal,
        "--label-col",
        "label",
        "--unlabeled",
        a,
        "--out",
        &json,
        "--class-names",
        &json,
    ]);
    assert_eq!(ran.code, 2, "{ran:?}");
}

fn shuffled_columns(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    rows.iter().map(|row| row.iter().rev().cloned().collect()).collect()
}

#[test]
fn sets_go_to_stdout_in_the_format_named() {
    let scratch = Scratch::new();
    outcome(&scratch, &fixture("table.csv"));
    let (cal, table) = (scratch.at("cal.json"), fixture("table.csv"));
    let start = [
        "predict",
        "--calibration",
        &cal,
        "--probs",
        &table,
        "--prob-cols",
        "p_*",
        "--quiet",
        "--out",
    ];
    for (format, file) in [("csv", "s.csv"), ("jsonl", "s.jsonl"), ("parquet", "s.parquet")] {
        run(&[&start[..], &[&scratch.at(file)]].concat()).done();
        let mut command = program();
        let output = command.args(start).args(["-", "--format", format]).output().unwrap();
        assert!(output.status.success());
        assert!(output.stdout == std::fs::read(scratch.at(file)).unwrap(), "{format}");
    }
    let ran = finish(program().args(start).args([&scratch.at("s.csv"), "--format", "csv"]));
    assert!(ran.code == 2 && ran.stderr.contains("whose name says the format"), "{ran:?}");
}

#[test]
fn a_stray_column_of_logits_is_warned_of() {
    let scratch = Scratch::new();
    let mut rows = table();
    let logit = |cell: &str| cell.parse::<f64>().unwrap().ln().to_string();
    for row in &mut rows[1..] {
        (1..4).for_each(|place| row[place] = logit(&row[place]));
        *row = [&row[1..5], &["0.5".to_owned()]].concat();
    }
    rows[0] = ["p_cat", "p_dog", "p_eel", "label", "score"].map(str::to_owned).to_vec();
    let file = scratch.file("logits.parquet", parquet(&rows));
    let more = ["--logits", "--method", "uncorrected", "--json"];
    let found = calibrate(&scratch, &file, &file, &more);
    // The labels are the names of the columns here only with their stems.
    let named = ["--logits", "--method", "uncorrected", "--json", "--prob-cols", "p_*"];
    assert_eq!(
        calibrate(&scratch, &file, &file, &named).done().json()["warnings"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
    assert_eq!(found.code, 2, "words name no class: {found:?}");
    let place = |class: &str| ["cat", "dog", "eel"].iter().position(|name| *name == class).unwrap();
    let labels: String = rows[1..].iter().map(|row| format!("{}\n", place(&row[3]))).collect();
    let labels = scratch.file("labels.csv", labels);
    let run_of = |command: &str, more: &[&str]| {
        let files = options(&[
            ("--cal-probs", file.clone()),
            ("--cal-labels", labels.clone()),
            ("--unlabeled", file.clone()),
        ]);
        run(&call(command, files, &[&["--logits", "--json"], more].concat())).done().json()
    };
    let out = scratch.at("cal.json");
    for found in
        [run_of("check", &[]), run_of("calibrate", &["--out", &out, "--method", "uncorrected"])]
    {
        let warnings = found["warnings"].to_string();
        assert!(
            warnings.contains("column 'score' was taken for a class") && warnings.contains("'p_*'"),
            "{warnings}"
        );
    }
}
