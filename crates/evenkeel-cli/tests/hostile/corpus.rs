//! The hostile inputs, generated into a scratch directory.

use crate::running::{Scratch, csv, fixture, npy, npy_f64, npy_i64, npz, run};

const ROWS: usize = 40;
const CLASSES: usize = 10;

/// A small world in which everything works until one argument is replaced.
pub(crate) struct World {
    pub(crate) scratch: Scratch,
    probabilities: Vec<f64>,
    labels: Vec<i64>,
}

/// One hostile input: how the program is called, and what its message must contain.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) says: Vec<String>,
}

fn row(name: impl Into<String>, arguments: Vec<String>, says: &[&str]) -> Row {
    Row { name: name.into(), arguments, says: says.iter().map(|words| (*words).into()).collect() }
}

impl World {
    pub(crate) fn new() -> Self {
        let scratch = Scratch::new();
        let probabilities = probabilities(ROWS);
        let labels: Vec<i64> = (0..ROWS).map(|row| i64::try_from(row % CLASSES).unwrap()).collect();
        scratch.file("cal.npy", npy_f64(&probabilities, CLASSES));
        scratch.file("labels.npy", npy_i64(&labels));
        scratch.file("the target data.npy", npy_f64(&probabilities, CLASSES));
        scratch.folder("out");
        scratch.file("out/earlier.npy", "an earlier result");
        scratch.file("out/earlier.json", "an earlier result");
        let world = Self { scratch, probabilities, labels };
        let arguments = world.calibrate(&[("--out", &world.scratch.at("cal.json"))], &[]);
        run(&arguments).done();
        run(&world.check(&[], &[])).done();
        run(&world.evaluate(&[], &[])).done();
        run(&world.compare(&[], &[])).done();
        world
    }

    fn call(
        &self,
        command: &str,
        options: &[(&str, &str)],
        replaced: &[(&str, &str)],
        more: &[&str],
    ) -> Vec<String> {
        let mut arguments = vec![command.to_owned()];
        for (option, name) in options {
            let given = replaced.iter().find(|(replaced, _)| replaced == option);
            let value = given.map_or_else(|| self.scratch.at(name), |(_, value)| (*value).into());
            arguments.extend([(*option).to_owned(), value]);
        }
        for (option, value) in replaced {
            if !options.iter().any(|(known, _)| known == option) {
                arguments.extend([(*option).to_owned(), (*value).to_owned()]);
            }
        }
        arguments.extend(more.iter().map(|word| (*word).to_owned()));
        arguments
    }

    pub(crate) fn check(&self, replaced: &[(&str, &str)], more: &[&str]) -> Vec<String> {
        let files = [
            ("--cal-probs", "cal.npy"),
            ("--cal-labels", "labels.npy"),
            ("--unlabeled", "the target data.npy"),
        ];
        self.call("check", &files, replaced, more)
    }

    pub(crate) fn calibrate(&self, replaced: &[(&str, &str)], more: &[&str]) -> Vec<String> {
        let files = [
            ("--cal-probs", "cal.npy"),
            ("--cal-labels", "labels.npy"),
            ("--unlabeled", "the target data.npy"),
            ("--out", "out/earlier.json"),
        ];
        let ot: &[&str] = if more.iter().any(|word| word.starts_with("--method")) {
            &[]
        } else {
            &["--method=ot"]
        };
        self.call("calibrate", &files, replaced, &[more, ot].concat())
    }

    fn predict(&self, replaced: &[(&str, &str)], more: &[&str]) -> Vec<String> {
        let files = [
            ("--calibration", "cal.json"),
            ("--probs", "the target data.npy"),
            ("--out", "out/earlier.npy"),
        ];
        self.call("predict", &files, replaced, more)
    }

    fn evaluate(&self, replaced: &[(&str, &str)], more: &[&str]) -> Vec<String> {
        let files = [
            ("--calibration", "cal.json"),
            ("--probs", "the target data.npy"),
            ("--labels", "labels.npy"),
        ];
        self.call("evaluate", &files, replaced, more)
    }

    fn compare(&self, replaced: &[(&str, &str)], more: &[&str]) -> Vec<String> {
        let files = [
            ("--cal-probs", "cal.npy"),
            ("--cal-labels", "labels.npy"),
            ("--unlabeled", "the target data.npy"),
            ("--test-probs", "the target data.npy"),
            ("--test-labels", "labels.npy"),
        ];
        self.call("compare", &files, replaced, more)
    }

    /// The matrix with one cell replaced.
    fn spoiled(&self, cell: usize, value: f64) -> Vec<u8> {
        let mut values = self.probabilities.clone();
        values[cell] = value;
        npy_f64(&values, CLASSES)
    }

    /// The labels with the last one replaced.
    fn last_label(&self, label: f64) -> Vec<u8> {
        let mut labels: Vec<f64> = self.labels.iter().map(|label| *label as f64).collect();
        labels[ROWS - 1] = label;
        let data: Vec<u8> = labels.iter().flat_map(|label| label.to_le_bytes()).collect();
        npy("'<f8'", &format!("({ROWS},)"), &data)
    }
}

/// Rows that sum to one, the same in every run.
fn probabilities(rows: usize) -> Vec<f64> {
    let mut state = 1u64;
    let mut values = Vec::new();
    for _ in 0..rows {
        let row: Vec<f64> = (0..CLASSES)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                0.01 + (state >> 40) as f64 / (1u64 << 24) as f64
            })
            .collect();
        let total: f64 = row.iter().sum();
        values.extend(row.iter().map(|value| value / total));
    }
    values
}

/// The corpus.
pub(crate) fn rows(world: &World) -> Vec<Row> {
    let parts: [fn(&World) -> Vec<Row>; 8] = [
        truncated,
        lying_arrays,
        archives_and_tables,
        numbers,
        files_that_do_not_fit,
        paths,
        settings,
        calibrations,
    ];
    parts.iter().flat_map(|part| part(world)).chain(outputs(world)).collect()
}

/// Good files cut off at every eighth.
fn truncated(world: &World) -> Vec<Row> {
    let array = npy_f64(&world.probabilities, CLASSES);
    let text = csv(&world.probabilities, CLASSES);
    let archive = npz(&[("probs.npy", &array)]);
    let parquet = std::fs::read(fixture("fixed-list.parquet")).unwrap();
    let arrow = std::fs::read(fixture("fixed-list.arrow")).unwrap();
    let lines: String = text.lines().map(|line| format!("[{line}]\n")).collect();
    let mut rows = Vec::new();
    for eighths in 0..8 {
        let cut = |bytes: &[u8]| bytes[..bytes.len() * eighths / 8].to_vec();
        // A csv that happens to end with a whole number is a good csv: cut within a row, two cells short.
        let mut short = cut(text.as_bytes());
        if let Some(end) = short.iter().rposition(|byte| *byte == b'\n') {
            short.truncate(end + 1);
            short.extend_from_slice(b"0.5,0.5");
        }
        let files = [
            ("npy", cut(&array)),
            ("npz", cut(&archive)),
            ("csv", short),
            ("parquet", cut(&parquet)),
            ("arrow", cut(&arrow)),
            ("jsonl", cut(lines.as_bytes())),
        ];
        for (extension, bytes) in files {
            let name = format!("cut-{eighths}.{extension}");
            let path = world.scratch.file(&name, bytes);
            let title = format!("{extension} cut at {eighths}/8");
            rows.push(row(title, world.predict(&[("--probs", &path)], &[]), &[&name]));
        }
    }
    rows
}

/// Arrays whose header says something else than the file holds, or something nobody should load.
fn lying_arrays(world: &World) -> Vec<Row> {
    let data = [0u8; 160];
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("wrong magic", b"\x93NUMPX\x01\x00v\x00{}".to_vec(), "not an npy array"),
        ("text named npy", b"0.1,0.9\n".to_vec(), "not an npy array"),
        ("unknown version", b"\x93NUMPY\x09\x00v\x00{}".to_vec(), "version 9"),
        ("header without end", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{".to_vec(), "ends early"),
        ("shape overflow", npy("'<f8'", "(4294967296, 4294967296)", &data), "more bytes than"),
        ("shape beyond 64 bits", npy("'<f8'", "(99999999999999999999, 10)", &data), "more bytes"),
        ("a trillion rows", npy("'<f4'", "(1000000000000, 10)", &data), "cut off"),
        ("negative rows", npy("'<f8'", "(-2, 10)", &data), "negative size"),
        ("negative columns", npy("'<f8'", "(2, -10)", &data), "negative size"),
        ("more data than shape", npy("'<f8'", "(1, 10)", &data), "one array per file"),
        ("zero rows", npy("'<f8'", "(0, 10)", &[]), "no rows"),
        ("zero columns", npy("'<f8'", "(10, 0)", &[]), ""),
        ("scalar", npy("'<f8'", "()", &data[..8]), "shape ()"),
        ("cube", npy("'<f8'", "(2, 5, 2)", &data), "shape (2, 5, 2)"),
        ("pickled objects", npy("'|O'", "(2, 10)", b"\x80\x04cos\nsystem\n."), "pickled"),
        ("structured", npy("[('p', '<f8'), ('q', '<f8')]", "(10,)", &data), "records"),
        ("complex", npy("'<c16'", "(1, 10)", &data), "<c16"),
        ("text elements", npy("'<U5'", "(1, 8)", &data), "<U5"),
        ("dates", npy("'<M8[s]'", "(2, 10)", &data), "<M8[s]"),
        ("code in the header", npy("__import__('os')", "(2, 10)", &data), "header"),
        ("no shape", b"\x93NUMPY\x01\x00\x02\x00{}".to_vec(), "header"),
    ];
    let mut rows = Vec::new();
    for (index, (title, bytes, words)) in cases.into_iter().enumerate() {
        let name = format!("lying-{index}.npy");
        let path = world.scratch.file(&name, bytes);
        rows.push(row(title, world.check(&[("--unlabeled", &path)], &[]), &[&name, words]));
    }
    rows
}

/// An Arrow file whose batch says that it has a trillion rows, in every place that says so.
fn many_rows() -> Vec<u8> {
    let mut bytes = std::fs::read(fixture("plain.arrow")).unwrap();
    let (found, claimed) = (23_i64.to_le_bytes(), 1_000_000_000_000_i64.to_le_bytes());
    for at in 0..bytes.len() - 8 {
        if bytes[at..at + 8] == found {
            bytes[at..at + 8].copy_from_slice(&claimed);
        }
    }
    bytes
}

/// Archives, parquet and csv files with something wrong inside.
fn archives_and_tables(world: &World) -> Vec<Row> {
    let good = npy_f64(&world.probabilities, CLASSES);
    let two = world.scratch.file("two.npz", npz(&[("a.npy", &good), ("b.npy", &good)]));
    let mut flipped = npz(&[("a.npy", &good)]);
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x40;
    let named = |name: &str, bytes: Vec<u8>| world.scratch.file(name, bytes);
    let objects = npy("'|O'", "(2, 10)", b"\x80\x04.");
    let text = csv(&world.probabilities, CLASSES);
    let cases: Vec<(&str, String, &[&str])> = vec![
        ("npz without key", two.clone(), &["two.npz", "a", "b"]),
        ("npz with a wrong key", format!("{two}:c"), &["two.npz:c", "\"c\""]),
        ("npz with an empty key", format!("{two}:"), &["two.npz", "after the ':'"]),
        ("npz without arrays", named("none.npz", npz(&[])), &["none.npz"]),
        ("npz of other files", named("other.npz", npz(&[("a.txt", b"x")])), &["other.npz"]),
        ("npz with a flipped bit", named("flipped.npz", flipped), &["flipped.npz"]),
        ("npz of objects", named("o.npz", npz(&[("a.npy", &objects)])), &["o.npz", "pickled"]),
        ("npy named npz", named("array.npz", good.clone()), &["array.npz"]),
        ("npy with a key", format!("{}:k", world.scratch.at("cal.npy")), &["drop ':k'"]),
        ("npz named npy", named("archive.npy", npz(&[("a.npy", &good)])), &["archive.npy"]),
        ("npy named csv", named("array.csv", good.clone()), &["array.csv", "not text"]),
        ("npy named parquet", named("array.parquet", good), &["array.parquet"]),
        (
            "parquet with a wrong column",
            fixture("list.parquet") + ":nope",
            &["list.parquet", "\"nope\""],
        ),
        ("parquet of text", fixture("bad-text.parquet"), &["bad-text.parquet"]),
        ("parquet with nulls", fixture("bad-null.parquet"), &["bad-null.parquet", "null"]),
        ("parquet with ragged lists", fixture("bad-ragged.parquet"), &["bad-ragged.parquet"]),
        ("parquet with two lists", fixture("bad-two-lists.parquet"), &["several"]),
        ("parquet without rows", fixture("bad-empty.parquet"), &["bad-empty.parquet"]),
        (
            "ragged csv",
            named("ragged.csv", format!("{text}0.5,0.5\n").into()),
            &["ragged.csv, line 41", "2 cells"],
        ),
        (
            "text in a csv",
            named("text.csv", (text.clone() + "a" + &",0.1".repeat(9) + "\n").into()),
            &["text.csv, line 41", "column 0", "\"a\""],
        ),
        (
            "empty cell in a csv",
            named("gap.csv", (text.clone() + &",".repeat(9) + "\n").into()),
            &["gap.csv, line 41", "column 0"],
        ),
        (
            "header and no rows",
            named("header.csv", b"a,b,c,d,e,f,g,h,i,j\n".to_vec()),
            &["header.csv", "no rows"],
        ),
        ("open quote", named("quote.csv", (text.clone() + "\"0.1,0.9").into()), &["quote.csv"]),
        (
            "arrow of magic alone",
            named("magic.arrow", b"ARROW1\0\0".to_vec()),
            &["magic.arrow", "cut off"],
        ),
        (
            "feather of version 1",
            named("old.feather", b"FEA1\0\0\0\0FEA1".to_vec()),
            &["old.feather", "version 2"],
        ),
        (
            "csv named arrow",
            named("text.arrow", text.clone().into()),
            &["text.arrow", "no Arrow file"],
        ),
        (
            "arrow with a head of 2 GB",
            named("head.arrow", [&b"\xff\xff\xff\xff\xff\xff\xff\x7f"[..], &[0; 64]].concat()),
            &["head.arrow", "cut off"],
        ),
        ("arrow with nulls", fixture("bad-null.arrow"), &["bad-null.arrow", "null"]),
        ("arrow with ragged lists", fixture("bad-ragged.arrow"), &["bad-ragged.arrow"]),
        ("arrow without rows", fixture("bad-empty.arrow"), &["bad-empty.arrow", "no rows"]),
        ("arrow with a wrong column", fixture("list.arrow") + ":nope", &["list.arrow", "\"nope\""]),
        (
            "npy named jsonl",
            named("array.jsonl", npy_f64(&world.probabilities, CLASSES)),
            &["array.jsonl, line 1"],
        ),
        (
            "text in json lines",
            named("text.jsonl", format!("[{0},0.1]\n[{0},\"a\"]\n", ["0.1"; 9].join(",")).into()),
            &["text.jsonl, line 2", "\"9\" is \"a\""],
        ),
        (
            "a field too few",
            named("few.jsonl", {
                let fields: Vec<String> =
                    (0..10).map(|class| format!("\"c{class}\": 0.1")).collect();
                format!("{{{}}}\n{{{}}}\n", fields.join(","), fields[..9].join(",")).into()
            }),
            &["few.jsonl, line 2", "\"c9\" is missing"],
        ),
        (
            "json of a million brackets",
            named("deep.jsonl", vec![b'['; 1 << 20]),
            &["deep.jsonl, line 1"],
        ),
        ("empty arrow", named("empty.arrow", vec![]), &["empty.arrow"]),
        ("empty jsonl", named("empty.jsonl", vec![]), &["empty.jsonl"]),
        ("empty npy", named("empty.npy", vec![]), &["empty.npy"]),
        ("empty npz", named("empty.npz", vec![]), &["empty.npz"]),
        ("empty csv", named("empty.csv", vec![]), &["empty.csv"]),
        ("empty parquet", named("empty.parquet", vec![]), &["empty.parquet"]),
    ];
    let refused = |(title, path, says): (&str, String, &[&str])| {
        row(title, world.check(&[("--unlabeled", &path)], &[]), says)
    };
    let header = world.scratch.at("header.csv");
    let says = ["header.csv", "no rows"];
    let mut rows: Vec<Row> = cases.into_iter().map(refused).collect();
    let many = world.scratch.file("many.arrow", many_rows());
    let refused_by_its_header = world.check(&[("--cal-probs", &many)], &[]);
    rows.push(row(
        "arrow of a trillion rows",
        refused_by_its_header,
        &["labels.npy", "1000000000000 are needed"],
    ));
    rows.push(row(
        "header and no rows (predict)",
        world.predict(&[("--probs", &header)], &[]),
        &says,
    ));
    rows.push(row(
        "header and no rows (evaluate)",
        world.evaluate(&[("--probs", &header)], &[]),
        &says,
    ));
    rows
}

/// Numbers that are no probabilities or no labels, in every file that holds some.
fn numbers(world: &World) -> Vec<Row> {
    let mut rows = Vec::new();
    let logits: Vec<f64> = world.probabilities.iter().map(|value| 40.0 * value - 3.0).collect();
    let positive: Vec<f64> = world.probabilities.iter().map(|value| 40.0 * value).collect();
    let files = [
        ("NaN", world.spoiled(123, f64::NAN), "row 12", "NaN"),
        ("infinity", world.spoiled(123, f64::INFINITY), "row 12", "inf"),
        ("minus infinity", world.spoiled(123, f64::NEG_INFINITY), "row 12", "-inf"),
        ("negative", world.spoiled(123, -0.25), "row 12", "-0.25"),
        ("sum above 1", world.spoiled(123, 1.5), "row 12", "within 0.001"),
        ("zeros", npy_f64(&[0.0; ROWS * CLASSES], CLASSES), "row 0", "sums to 0.0"),
        ("logits", npy_f64(&logits, CLASSES), "row 0", "--logits"),
        ("positive logits", npy_f64(&positive, CLASSES), "row 0", "--logits"),
    ];
    for (index, (title, bytes, place, words)) in files.into_iter().enumerate() {
        let name = format!("numbers-{index}.npy");
        let path = world.scratch.file(&name, bytes);
        let calls = [
            ("calibration", world.check(&[("--cal-probs", &path)], &[])),
            ("check", world.check(&[("--unlabeled", &path)], &[])),
            ("calibrate", world.calibrate(&[("--unlabeled", &path)], &[])),
            ("predict", world.predict(&[("--probs", &path)], &[])),
            ("evaluate", world.evaluate(&[("--probs", &path)], &[])),
            ("compare", world.compare(&[("--test-probs", &path)], &[])),
        ];
        for (place_of_file, arguments) in calls {
            let title = format!("{title} as probabilities ({place_of_file})");
            rows.push(row(title, arguments, &[&name, place, words]));
        }
    }
    let nan = world.scratch.at("numbers-0.npy");
    rows.push(row(
        "NaN among logits",
        world.predict(&[("--probs", &nan)], &["--force-logits"]),
        &["numbers-0.npy", "row 12", "NaN"],
    ));
    for (index, (title, label, words)) in [
        ("label 10 of 10 classes", 10.0, "there are 10 classes"),
        ("negative label", -1.0, "whole numbers from 0"),
        ("fractional label", 2.5, "2.5"),
        ("NaN label", f64::NAN, "NaN"),
        ("huge label", 1e300, "1e300"),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("label-{index}.npy");
        let path = world.scratch.file(&name, world.last_label(label));
        let calls = [
            ("check", world.check(&[("--cal-labels", &path)], &[])),
            ("evaluate", world.evaluate(&[("--labels", &path)], &[])),
            ("compare", world.compare(&[("--test-labels", &path)], &[])),
        ];
        for (command, arguments) in calls {
            rows.push(row(
                format!("{title} ({command})"),
                arguments,
                &[&name, "labels[39]", words],
            ));
        }
    }
    rows
}

/// Files that are fine alone and do not belong together.
fn files_that_do_not_fit(world: &World) -> Vec<Row> {
    let (cal, labels) = (world.scratch.at("cal.npy"), world.scratch.at("labels.npy"));
    let five: Vec<f64> = vec![0.2; 5 * ROWS];
    let five = world.scratch.file("five.npy", npy_f64(&five, 5));
    let short = world.scratch.file("short.npy", npy_i64(&world.labels[1..]));
    let mut longer = world.labels.clone();
    longer.push(0);
    let long = world.scratch.file("long.npy", npy_i64(&longer));
    let names = |name: &str, text: &str| world.scratch.file(name, text);
    let (nine, twice) =
        (names("nine.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\n"), names("twice.txt", "a\na\n"));
    let separator = names("separator.txt", "a;b\nc\nd\ne\nf\ng\nh\ni\nj\nk\n");
    let sets = world.scratch.at("out/sets.csv");
    let bytes = world.scratch.file("bytes.txt", b"a\n\xff\n");
    vec![
        row(
            "two files swapped (check)",
            world.check(&[("--cal-probs", &labels), ("--cal-labels", &cal)], &[]),
            &["cal.npy", "labels.npy", "swapped"],
        ),
        row(
            "two files swapped (evaluate)",
            world.evaluate(&[("--probs", &labels), ("--labels", &cal)], &[]),
            &["cal.npy", "swapped"],
        ),
        row(
            "two files swapped (compare)",
            world.compare(&[("--test-probs", &labels), ("--test-labels", &cal)], &[]),
            &["cal.npy", "swapped"],
        ),
        row(
            "labels for probabilities",
            world.predict(&[("--probs", &labels)], &[]),
            &["labels.npy"],
        ),
        row(
            "other classes the target data (check)",
            world.check(&[("--unlabeled", &five)], &[]),
            &["five.npy", "5 columns", "10 classes"],
        ),
        row(
            "other classes the target data (calibrate)",
            world.calibrate(&[("--unlabeled", &five)], &[]),
            &["five.npy", "5 columns", "10 classes"],
        ),
        row(
            "other classes than calibrated (predict)",
            world.predict(&[("--probs", &five)], &[]),
            &["five.npy", "5 columns", "10 classes"],
        ),
        row(
            "other classes than calibrated (evaluate)",
            world.evaluate(&[("--probs", &five)], &[]),
            &["five.npy", "5 columns", "10 classes"],
        ),
        row(
            "other classes than calibrated (compare)",
            world.compare(&[("--test-probs", &five)], &[]),
            &["five.npy", "5 columns", "10 classes"],
        ),
        row(
            "a label too few (check)",
            world.check(&[("--cal-labels", &short)], &[]),
            &["short.npy", "39"],
        ),
        row(
            "a label too many (check)",
            world.check(&[("--cal-labels", &long)], &[]),
            &["long.npy", "41"],
        ),
        row(
            "a label too few (evaluate)",
            world.evaluate(&[("--labels", &short)], &[]),
            &["short.npy", "39 labels", "40 rows"],
        ),
        row(
            "a label too many (evaluate)",
            world.evaluate(&[("--labels", &long)], &[]),
            &["long.npy", "41 labels", "40 rows"],
        ),
        row(
            "a label too few (compare)",
            world.compare(&[("--test-labels", &short)], &[]),
            &["short.npy", "39 labels"],
        ),
        row(
            "too few class names",
            world.check(&[], &["--class-names", &nine]),
            &["nine.txt", "9", "10"],
        ),
        row(
            "class name twice",
            world.predict(&[], &["--class-names", &twice]),
            &["twice.txt, line 2"],
        ),
        row(
            "class names that are no text",
            world.predict(&[], &["--class-names", &bytes]),
            &["bytes.txt"],
        ),
        row(
            "class name with the separator",
            world.predict(&[("--out", &sets)], &["--class-names", &separator]),
            &["sets.csv", "a;b"],
        ),
    ]
}

/// Paths that lead nowhere, or elsewhere.
fn paths(world: &World) -> Vec<Row> {
    let folder = world.scratch.folder("folder.npy");
    // Permissions do not stop root; a path through a file stops everyone.
    let through = world.scratch.at("cal.npy/inner.npy");
    let missing = world.scratch.at("missing.npy");
    let text = world.scratch.file("probs.txt", "0.1 0.9\n");
    let bare = world.scratch.file("probs", "0.1 0.9\n");
    vec![
        row(
            "missing matrix",
            world.check(&[("--cal-probs", &missing)], &[]),
            &["missing.npy", "No such file"],
        ),
        row("missing labels", world.check(&[("--cal-labels", &missing)], &[]), &["missing.npy"]),
        row(
            "missing the target data",
            world.calibrate(&[("--unlabeled", &missing)], &[]),
            &["missing.npy"],
        ),
        row(
            "missing class names",
            world.check(&[], &["--class-names", &missing]),
            &["missing.npy"],
        ),
        row(
            "missing calibration",
            world.predict(&[("--calibration", &missing)], &[]),
            &["missing.npy"],
        ),
        row(
            "directory for a matrix",
            world.predict(&[("--probs", &folder)], &[]),
            &["folder.npy", "directory"],
        ),
        row(
            "directory for labels",
            world.evaluate(&[("--labels", &folder)], &[]),
            &["folder.npy", "directory"],
        ),
        row(
            "directory for a calibration",
            world.evaluate(&[("--calibration", &folder)], &[]),
            &["folder.npy", "not a file"],
        ),
        row(
            "directory for class names",
            world.check(&[], &["--class-names", &folder]),
            &["folder.npy"],
        ),
        row("path through a file", world.check(&[("--unlabeled", &through)], &[]), &["inner.npy"]),
        row(
            "device for a matrix",
            world.check(&[("--unlabeled", "/dev/null")], &[]),
            &["/dev/null"],
        ),
        row(
            "unknown extension",
            world.check(&[("--unlabeled", &text)], &[]),
            &["probs.txt", ".parquet"],
        ),
        row("no extension", world.check(&[("--unlabeled", &bare)], &[]), &["probs", ".npy"]),
        row("empty path", world.check(&[("--unlabeled", "")], &[]), &[]),
        row("empty path of a calibration", world.predict(&[("--calibration", "")], &[]), &[]),
    ]
}

/// Settings outside their range.
fn settings(world: &World) -> Vec<Row> {
    let mut rows = Vec::new();
    for alpha in ["0", "1", "NaN", "-1", "inf", "1e-400"] {
        let alpha = &format!("--alpha={alpha}")[..];
        rows.push(row(format!("check {alpha}"), world.check(&[], &[alpha]), &["alpha"]));
        rows.push(row(format!("predict {alpha}"), world.predict(&[], &[alpha]), &["alpha"]));
    }
    let check = [
        ("--alpha=ten", "--alpha"),
        ("--delta=0", "delta"),
        ("--delta=1", "delta"),
        ("--delta=NaN", "delta"),
        ("--bound-grid=0", "grid"),
        ("--bound-grid=1", "grid"),
        ("--bound-grid=-5", "--bound-grid"),
        ("--permutations=0", "permutations"),
        ("--threads=0", "--threads"),
        ("--threads=-1", "--threads"),
        ("--fail-below=85", "--fail-below"),
        ("--fail-below=NaN", "--fail-below"),
        ("--fail-below-guaranteed=-0.1", "--fail-below-guaranteed"),
        ("--seed=-1", "--seed"),
        ("--seed=1.5", "--seed"),
        ("--score=best", "--score"),
        ("--sore=lac", "--sore"),
    ];
    for (option, words) in check {
        rows.push(row(format!("check {option}"), world.check(&[], &[option]), &[words]));
    }
    let calibrate = [
        ("--steps=0.5", "steps"),
        ("--steps=-1", "--steps"),
        ("--learning-rate=0", "--learning-rate is"),
        ("--learning-rate=NaN", "--learning-rate is"),
        ("--learning-rate=-0.1", "--learning-rate is"),
        ("--learning-rate=inf", "--learning-rate is"),
        ("--grid=0", "grid"),
        ("--grid=1", "grid"),
        ("--bound-grid=1", "grid"),
        ("--bandwidth-factor=-1", "bandwidth"),
        ("--bandwidth-factor=NaN", "bandwidth"),
        ("--min-effective=0", "effective"),
        ("--min-effective=NaN", "effective"),
        ("--tolerance=NaN", "--tolerance is NaN"),
        ("--tolerance=-1", "--tolerance is -1"),
        ("--method=best", "--method"),
        ("--weights=heavy", "--weights"),
    ];
    for (option, words) in calibrate {
        rows.push(row(format!("calibrate {option}"), world.calibrate(&[], &[option]), &[words]));
    }
    for (options, words) in [
        (&["--method=auto", "--shift-level=0"][..], "0"),
        (&["--method=auto", "--shift-level=NaN"], "NaN"),
        (&["--method=auto", "--steps=5"], "method auto does not use --steps; ot does"),
        (&["--method=fixed"], "--weights-file"),
        (&["--method=oracle"], "comparison"),
        (&["--method=likelihood-ratio", "--ratio=known"], "--cal-ratios"),
        (&["--method=likelihood-ratio", "--ratio=best"], "--ratio"),
        (
            &["--method=likelihood-ratio", "--cal-features=the target data.npy"],
            "--unlabeled-features",
        ),
        (&["--method=likelihood-ratio", "--cal-ratios=nowhere.npy"], "nowhere.npy"),
        (&["--method=fixed", "--weights-file=nowhere.npy"], "nowhere.npy"),
        (&["--method=ecp", "--ecp-power=3"], "--ecp-power"),
        (&["--method=ecp", "--score=margin"], "ecp works with the score lac only"),
        (&["--method=qtc", "--qtc-rule=best"], "--qtc-rule"),
        (&["--method=label-shift", "--label-shift=best"], "--label-shift"),
        (&["--method=conditional", "--lambda=0"], "lambda"),
        (&["--method=conditional", "--lambda=best"], "--lambda"),
        (&["--method=conditional", "--gamma=-1"], "gamma"),
    ] {
        rows.push(row(
            format!("calibrate {}", options.join(" ")),
            world.calibrate(&[], options),
            &[words],
        ));
    }
    let raps = ["--score=raps", "--raps-lambda=NaN"];
    rows.push(row("raps with a NaN penalty", world.calibrate(&[], &raps), &["NaN"]));
    let sampled = ["--sandwich=min-max", "--sampling=sampled"];
    rows.push(row("min-max, sampled", world.calibrate(&[], &sampled), &["--sandwich min-max"]));
    for (methods, words) in [
        ("--methods=best", "\"best\""),
        ("--methods=ot,ot", "twice"),
        ("--methods=", "methods"),
        ("--methods=ot,", "methods"),
        ("--methods=all,ot", "all"),
    ] {
        rows.push(row(format!("compare {methods}"), world.compare(&[], &[methods]), &[words]));
    }
    rows.push(row("no such command", vec!["chekc".into()], &["chekc"]));
    rows.push(row("options missing", vec!["check".into()], &["--cal-probs"]));
    rows.push(row("option twice", world.check(&[], &["--seed=1", "--seed=2"]), &["--seed"]));
    rows.push(row("no such shell", vec!["completions".into(), "dos".into()], &["dos"]));
    rows
}

/// Calibration files that are not what `calibrate` wrote.
fn calibrations(world: &World) -> Vec<Row> {
    let good = std::fs::read_to_string(world.scratch.at("cal.json")).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&good).unwrap();
    assert_eq!(value["format"], "evenkeel/calibration");
    assert_eq!(value["version"], 1);
    let count = value["weights"].as_array().unwrap().len();
    let mut cases: Vec<(String, String, &str)> = vec![
        ("empty".into(), String::new(), "evenkeel calibrate"),
        ("not JSON".into(), "weights: [1, 2]".into(), "evenkeel calibrate"),
        ("other JSON".into(), "{\"weights\": [1, 2]}".into(), "format"),
        ("a list".into(), "[1, 2, 3]".into(), "evenkeel calibrate"),
        ("deeply nested".into(), format!("{{\"x\":{}", "[".repeat(100_000)), "EOF while parsing"),
        ("cut off".into(), good[..good.len() / 2].into(), "evenkeel calibrate"),
        ("something after".into(), format!("{good}{good}"), "trailing"),
    ];
    let mut tampered = |title: &str, field: &str, new: serde_json::Value, words: &'static str| {
        let old = std::mem::replace(&mut value[field], new);
        assert!(!old.is_null(), "calibrations have no {field}");
        cases.push((title.into(), value.to_string(), words));
        value[field] = old;
    };
    tampered("other format", "format", "evenkeel/report".into(), "evenkeel/calibration");
    tampered("later version", "version", 2.into(), "version 2");
    tampered("negative version", "version", (-1).into(), "-1");
    tampered("version in words", "version", "one".into(), "one");
    let fields = ["weights", "scores"];
    for field in fields {
        tampered(&format!("{field} empty"), field, serde_json::json!([]), "");
        tampered(&format!("{field} of another length"), field, serde_json::json!([0.5, 0.5]), "");
        tampered(&format!("{field} in words"), field, "none".into(), "none");
    }
    tampered("weights negative", "weights", vec![-1.0; count].into(), "");
    tampered("weights zero", "weights", vec![0.0; count].into(), "");
    let mut huge = vec![0.0; count];
    huge[0] = 1e300;
    tampered("weights huge", "weights", huge.into(), "");
    let mut rows = Vec::new();
    for (index, (title, text, words)) in cases.into_iter().enumerate() {
        let name = format!("calibration-{index}.json");
        let path = world.scratch.file(&name, text);
        let arguments = world.predict(&[("--calibration", &path)], &[]);
        rows.push(row(format!("calibration: {title}"), arguments, &[&name, words]));
    }
    let matrix = world.scratch.at("cal.npy");
    rows.push(row(
        "calibration: a matrix",
        world.evaluate(&[("--calibration", &matrix)], &[]),
        &["cal.npy"],
    ));
    rows
}

/// Outputs that cannot be written.
fn outputs(world: &World) -> Vec<Row> {
    let folder = world.scratch.folder("out/folder.csv");
    let nowhere = |name: &str| world.scratch.at(&format!("nowhere/{name}"));
    let through = world.scratch.at("cal.npy/sets.npy");
    let unknown = world.scratch.at("out/sets.xlsx");
    let bare = world.scratch.at("out/sets");
    let mut rows = vec![
        row(
            "calibrate into a missing folder",
            world.calibrate(&[("--out", &nowhere("cal.json"))], &["--steps=2"]),
            &["nowhere/cal.json", "directory"],
        ),
        row(
            "predict into a missing folder",
            world.predict(&[("--out", &nowhere("sets.npy"))], &[]),
            &["nowhere/sets.npy", "directory"],
        ),
        row(
            "report into a missing folder",
            world.check(&[], &["--html", &nowhere("report.html")]),
            &["nowhere/report.html", "directory"],
        ),
        row(
            "table into a missing folder",
            world.compare(&[], &["--steps=2", "--csv", &nowhere("rows.csv")]),
            &["nowhere/rows.csv", "directory"],
        ),
        row(
            "predict onto a directory",
            world.predict(&[("--out", &folder)], &[]),
            &["folder.csv", "directory"],
        ),
        row(
            "calibrate onto a directory",
            world.calibrate(&[("--out", &folder)], &["--steps=2"]),
            &["folder.csv"],
        ),
        row(
            "report onto a directory",
            world.check(&[], &["--html", &folder]),
            &["folder.csv", "directory"],
        ),
        row("predict through a file", world.predict(&[("--out", &through)], &[]), &["sets.npy"]),
        row(
            "predict to an unknown extension",
            world.predict(&[("--out", &unknown)], &[]),
            &["sets.xlsx", ".jsonl"],
        ),
        row(
            "predict to no extension",
            world.predict(&[("--out", &bare)], &[]),
            &["sets", ".jsonl"],
        ),
        row("predict to an empty path", world.predict(&[("--out", "")], &[]), &[]),
        row("calibrate to an empty path", world.calibrate(&[("--out", "")], &["--steps=2"]), &[]),
        row(
            "demo through a file",
            vec!["demo".into(), "--out".into(), world.scratch.at("cal.npy/demo")],
            &["cal.npy/demo"],
        ),
    ];
    // Only Linux has a device that is always full; links give it the names the formats need.
    if std::path::Path::new("/dev/full").exists() {
        for extension in ["npy", "csv", "jsonl", "parquet"] {
            let link = world.scratch.at(&format!("full.{extension}"));
            if !std::path::Path::new(&link).exists() {
                std::os::unix::fs::symlink("/dev/full", &link).unwrap();
            }
            let arguments = world.predict(&[("--out", &link)], &[]);
            // An npy file needs its row count in front, which a device cannot wait for.
            let words = if extension == "npy" { "row count" } else { "No space left" };
            let says = [&format!("full.{extension}")[..], words];
            rows.push(row(format!("no space left for {extension}"), arguments, &says));
        }
        let full = [("--out", "/dev/full")];
        let says = ["/dev/full", "No space left", "free some space"];
        rows.push(row(
            "no space left for a calibration",
            world.calibrate(&full, &["--steps=2"]),
            &says,
        ));
        rows.push(row(
            "no space left for a report",
            world.check(&[], &["--html", "/dev/full"]),
            &says,
        ));
        rows.push(row(
            "no space left for a table",
            world.compare(&[], &["--steps=2", "--csv", "/dev/full"]),
            &says,
        ));
    }
    rows
}
