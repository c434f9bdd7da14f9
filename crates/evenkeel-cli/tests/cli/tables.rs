//! Tables as people have them: classes by the names of their columns, labels as words, ids beside them.

use serde_json::Value;

use crate::running::{Array, Ran, Scratch, demo, run};
use crate::{FOG, call, options};

const NAMES: [&str; 10] =
    ["top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"];

/// A table with a column for each class, and whatever stands beside them.
struct Table {
    /// Name and cells of every column.
    columns: Vec<(String, Vec<String>)>,
}

impl Table {
    /// The probabilities of a file of the demo, in columns `p_top`, `p_trouser`, ...
    fn of(file: &str) -> Self {
        let array = Array::read(file);
        let values = array.floats();
        let column = |class: usize| values.iter().skip(class).step_by(10).map(|p| format!("{p:?}"));
        let columns = NAMES
            .iter()
            .enumerate()
            .map(|(class, name)| (format!("p_{name}"), column(class).collect()));
        Self { columns: columns.collect() }
    }

    fn rows(&self) -> usize {
        self.columns[0].1.len()
    }

    fn with(mut self, place: usize, name: &str, cell: impl Fn(usize) -> String) -> Self {
        let cells = (0..self.rows()).map(cell).collect();
        self.columns.insert(place, (name.to_owned(), cells));
        self
    }

    fn csv(&self) -> String {
        let line = |row: Option<usize>| {
            let cell = |column: &(String, Vec<String>)| {
                row.map_or_else(|| column.0.clone(), |row| column.1[row].clone())
            };
            self.columns.iter().map(cell).collect::<Vec<_>>().join(",") + "\n"
        };
        (0..self.rows()).map(Some).fold(line(None), |text, row| text + &line(row))
    }

    /// Columns, or rows, in another order.
    fn columns_by(mut self, key: impl Fn(usize) -> u64) -> Self {
        let mut places: Vec<usize> = (0..self.columns.len()).collect();
        places.sort_by_key(|place| key(*place));
        self.columns = places.iter().map(|place| self.columns[*place].clone()).collect();
        self
    }

    fn rows_by(mut self, key: impl Fn(usize) -> u64) -> Self {
        let mut places: Vec<usize> = (0..self.rows()).collect();
        places.sort_by_key(|place| key(*place));
        for (_, cells) in &mut self.columns {
            *cells = places.iter().map(|place| cells[*place].clone()).collect();
        }
        self
    }
}

/// Well-mixed numbers, different for every seed.
fn mixed(seed: u64) -> impl Fn(usize) -> u64 {
    move |place| {
        let mut x = (place as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ seed.wrapping_mul(0xd6e8_feb8_6659_fd93);
        x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        x ^ (x >> 29)
    }
}

fn labels() -> Vec<usize> {
    let found = Array::read(&demo("calibration_labels")).integers();
    found.into_iter().map(|label| usize::try_from(label).unwrap()).collect()
}

fn test_labels() -> Vec<usize> {
    let found = Array::read(&FOG.test_labels()).integers();
    found.into_iter().map(|label| usize::try_from(label).unwrap()).collect()
}

/// The calibration data as a table with everything in it.
fn calibration() -> Table {
    let labels = labels();
    Table::of(&demo("calibration_probs"))
        .with(0, "id", |row| format!("a{row}"))
        .with(3, "label", |row| NAMES[labels[row]].to_owned())
        .with(12, "when", |row| format!("2026-11-{:02}", row % 28 + 1))
        .with(13, "amount", |row| format!("{}.5", row % 7))
}

fn target() -> Table {
    Table::of(&demo("fog_3_unlabeled"))
}

const METHODS: [&[&str]; 2] = [&["--method", "uncorrected"], &["--method", "ot"]];

fn threshold(ran: Ran) -> Value {
    ran.done().json()["threshold"].clone()
}

/// The threshold of the same data as plain arrays.
fn plain(scratch: &Scratch, method: &[&str]) -> Value {
    let out = scratch.at("plain.json");
    let more = [&["--json", "--out", &out], method].concat();
    threshold(run(&call("calibrate", FOG.labeled_and_unlabeled(), &more)))
}

fn of_table(scratch: &Scratch, cal: &str, target: &str, more: &[&str]) -> Ran {
    let files = options(&[
        ("--cal", cal.to_owned()),
        ("--label-col", "label".to_owned()),
        ("--target", target.to_owned()),
        ("--out", scratch.at("cal.json")),
    ]);
    run(&call("calibrate", files, more))
}

#[test]
fn one_table_holds_everything() {
    let scratch = Scratch::new();
    let cal = scratch.file("cal.csv", calibration().csv());
    let unlabeled = scratch.file("target.csv", target().with(0, "id", |row| row.to_string()).csv());
    for method in METHODS {
        let more = [&["--prob-cols", "p_*", "--json"], method].concat();
        let ran = of_table(&scratch, &cal, &unlabeled, &more);
        assert_eq!(threshold(ran), plain(&scratch, method));
    }
    let ranged = ["--prob-cols", "p_top..p_boot", "--method", "uncorrected"];
    let ran = of_table(&scratch, &cal, &unlabeled, &ranged);
    assert!(ran.code == 2 && ran.stderr.contains("not a number"), "a label in the range: {ran:?}");
    of_table(&scratch, &cal, &unlabeled, &["--prob-cols", "p_*", "--method", "uncorrected"]).done();
    // Every later command knows the columns and the names.
    let stored = std::fs::read_to_string(scratch.at("cal.json")).unwrap();
    assert!(stored.contains("\"class_names\":{\"columns\":[\"p_top\""), "{}", &stored[..300]);
    let known = test_labels();
    let test = Table::of(&FOG.test_probs())
        .with(4, "truth", |row| NAMES[known[row]].to_owned())
        .with(0, "id", |row| format!("\"x,{row}\""))
        .columns_by(mixed(5));
    let test = scratch.file("test.csv", test.csv());
    let evaluate = |labels: &[&str]| {
        let files =
            options(&[("--calibration", scratch.at("cal.json")), ("--probs", test.clone())]);
        run(&call("evaluate", files, &[&["--json", "--prob-cols", "p_*"], labels].concat()))
            .done()
            .json()
    };
    let found = evaluate(&["--label-col", "truth"]);
    let direct = FOG.evaluate(&scratch.at("plain.json"), &["--json"]);
    assert_eq!(found["per_class"][0]["name"], Value::from("top"));
    assert_eq!(found["n"], direct.done().json()["n"]);
    assert_eq!(found, evaluate(&["--labels", &format!("{test}:truth")]));
    // A check of the stored calibration on the shuffled table, and one of the tables themselves.
    let files = [("--calibration", scratch.at("cal.json")), ("--unlabeled", test.clone())];
    let stored =
        run(&call("check", options(&files), &["--json", "--prob-cols", "p_*"])).done().json();
    let files =
        [("--cal", cal), ("--label-col", "label".to_owned()), ("--unlabeled", test.clone())];
    let direct =
        run(&call("check", options(&files), &["--json", "--prob-cols", "p_*"])).done().json();
    assert_eq!(stored["shift"], direct["shift"]);
    assert_eq!(direct["per_class"][9]["name"], Value::from("boot"));
}

#[test]
fn groups_stand_in_the_same_table() {
    let scratch = Scratch::new();
    // A number: it must not be taken for a class.
    let site = |row: usize| (row % 3).to_string();
    let cal = scratch.file("cal.csv", calibration().with(2, "site", site).csv());
    let unlabeled = scratch.file("target.csv", target().with(5, "site", site).csv());
    let per = ["--prob-cols", "p_*", "--per", "site", "--method", "uncorrected", "--json"];
    let of_tables = of_table(&scratch, &cal, &unlabeled, &per).done().json();
    let groups = [format!("{cal}:site"), format!("{unlabeled}:site"), scratch.at("plain.json")];
    let more = [
        &["--cal-groups", &groups[0], "--unlabeled-groups", &groups[1], "--out", &groups[2]],
        &per[2..],
    ];
    let of_files = run(&call("calibrate", FOG.labeled_and_unlabeled(), &more.concat()));
    assert_eq!(of_tables["per_group"], of_files.done().json()["per_group"]);
    assert_eq!(of_tables["per_group"].as_array().unwrap().len(), 3);
    // Rows to predict bring their groups along, and the sets have the names of the classes.
    let known = test_labels();
    let test = Table::of(&FOG.test_probs())
        .with(1, "site", site)
        .with(0, "label", |row| NAMES[known[row]].to_owned())
        .columns_by(mixed(9));
    let test = scratch.file("test.csv", test.csv());
    let files = |calibration: &str, probs: &str| {
        options(&[("--calibration", scratch.at(calibration)), ("--probs", probs.to_owned())])
    };
    let labeled = ["--label-col", "label", "--prob-cols", "p_*", "--json", "--alpha", "0.1,0.2"];
    let found = run(&call("evaluate", files("cal.json", &test), &labeled)).done().json();
    let groups = format!("{test}:site");
    let beside = ["--labels", &FOG.test_labels(), "--groups", &groups, "--json"];
    let plain = run(&call("evaluate", files("plain.json", &FOG.test_probs()), &beside));
    assert_eq!(found["per_group"], plain.done().json()["per_group"]);
    assert_eq!(found["levels"].as_array().unwrap().len(), 2);
    let out = scratch.at("sets.csv");
    let more = ["--prob-cols", "p_*", "--out", &out];
    run(&call("predict", files("cal.json", &test), &more)).done();
    assert!(std::fs::read_to_string(&out).unwrap().contains("boot"));
    let checked = [("--cal", cal.clone()), ("--unlabeled", unlabeled.clone())];
    let more = ["--label-col", "label", "--prob-cols", "p_*", "--per", "site", "--json"];
    let checked = run(&call("check", options(&checked), &more)).done().json();
    assert_eq!(checked["per_group"].as_array().unwrap().len(), 3);
    // What cannot be done is said.
    for (option, value, words) in
        [("--per", "nowhere", "no column 'nowhere'"), ("--alpha", "0.1,0.2", "--per takes one")]
    {
        let mut more = per.to_vec();
        match option {
            "--per" => more[3] = value,
            _ => more.extend([option, value]),
        }
        let refused = of_table(&scratch, &cal, &unlabeled, &more);
        assert!(refused.code == 2 && refused.stderr.contains(words), "{refused:?}");
    }
}

#[test]
fn second_models_are_matched_by_name() {
    let scratch = Scratch::new();
    let cal = scratch.file("cal.csv", calibration().csv());
    let unlabeled = scratch.file("target.csv", target().csv());
    let reordered = [
        scratch.file("b_cal.csv", Table::of(&demo("calibration_probs")).columns_by(mixed(3)).csv()),
        scratch.file("b_target.csv", target().columns_by(mixed(4)).csv()),
    ];
    let thresholds = [&[cal.clone(), unlabeled.clone()], &reordered].map(|[of_cal, of_target]| {
        let pair = ["--second-cal-probs", of_cal, "--second-probs", of_target];
        let more = [&pair[..], &["--prob-cols", "p_*", "--method", "label-plan", "--json"]];
        threshold(of_table(&scratch, &cal, &unlabeled, &more.concat()))
    });
    assert_eq!(thresholds[0], thresholds[1]);
}

#[test]
fn ids_are_passed_through() {
    let scratch = Scratch::new();
    let cal = scratch.file("cal.csv", calibration().csv());
    let unlabeled = scratch.file("target.csv", target().csv());
    of_table(&scratch, &cal, &unlabeled, &["--prob-cols", "p_*", "--method", "uncorrected"]).done();
    let test = Table::of(&FOG.test_probs())
        .with(0, "id", |row| format!("\"x,{row}\""))
        .with(3, "when", |row| format!("2026-11-{:02}", row % 28 + 1))
        .columns_by(mixed(1));
    let test = scratch.file("test.csv", test.csv());
    let predict = |out: &str, ids: &[&str]| {
        let files = options(&[
            ("--calibration", scratch.at("cal.json")),
            ("--probs", test.clone()),
            ("--out", scratch.at(out)),
        ]);
        run(&call("predict", files, ids))
    };
    predict("sets.csv", &["--id-cols", "id,when"]).done();
    let text = std::fs::read_to_string(scratch.at("sets.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("row,id,when,size,labels"));
    let first = lines.next().unwrap();
    assert!(first.starts_with("0,\"x,0\",2026-11-01,"), "{first}");
    assert!(text.contains("boot"));
    assert_eq!(lines.count() + 1, Array::read(&FOG.test_probs()).rows);
    predict("sets.jsonl", &["--id-cols", "when, id"]).done();
    let text = std::fs::read_to_string(scratch.at("sets.jsonl")).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!((first["when"].clone(), first["id"].clone()), ("2026-11-01".into(), "x,0".into()));
    assert!(first["labels"].is_array());
    predict("sets.parquet", &["--id-cols", "id,when"]).done();
    // The sets are those of the plain arrays, whatever stands beside them.
    FOG.calibrate(&scratch.at("plain.json"), &["--method", "uncorrected"]).done();
    FOG.predict(&scratch.at("plain.json"), &scratch.at("plain.npy"), &[]).done();
    predict("sets.npy", &["--prob-cols", "p_*"]).done();
    let bytes = |name: &str| std::fs::read(scratch.at(name)).unwrap();
    assert_eq!(bytes("plain.npy"), bytes("sets.npy"));
    for (out, ids, words) in [
        ("sets.npy", &["--id-cols", "id,when"][..], "holds sets and nothing else"),
        ("sets.csv", &["--id-cols", "id,when,no"], "has no column 'no'"),
        ("sets.csv", &["--id-cols", "id,id,when"], "cannot be passed through"),
        ("sets.csv", &[], "id, when are not among the columns"),
        ("sets.csv", &["--prob-cols", "q_*"], "has no column 'q_*'"),
        ("sets.csv", &["--prob-cols", "*_*"], "two stars"),
    ] {
        let ran = predict(out, ids);
        assert!(ran.code == 2 && ran.stderr.contains(words), "{ids:?}: {ran:?}");
    }
}

/// Rows and columns of calibration, target and test tables in any order: the same thresholds and sets, to the bit.
#[test]
fn the_order_of_columns_and_rows_does_not_matter() {
    let scratch = Scratch::new();
    for (seed, method) in (0..6).zip(METHODS.iter().cycle()) {
        let cal = calibration().columns_by(mixed(seed)).rows_by(mixed(seed + 100));
        let cal = scratch.file("cal.csv", cal.csv());
        let rows = target().columns_by(mixed(seed + 200)).rows_by(mixed(seed + 300));
        let unlabeled = scratch.file("target.csv", rows.csv());
        let more = [&["--prob-cols", "p_*", "--json"], *method].concat();
        let found = threshold(of_table(&scratch, &cal, &unlabeled, &more));
        assert_eq!(found, plain(&scratch, method), "seed {seed}");
    }
}

#[test]
fn a_class_too_few_or_too_many_is_named() {
    let scratch = Scratch::new();
    let labeled = FOG.labeled_and_unlabeled();
    let cal = scratch.file("cal.csv", Table::of(&labeled[1]).csv());
    let check = |table: Table, more: &[&str]| {
        let unlabeled = scratch.file("target.csv", table.csv());
        let files = options(&[
            ("--cal-probs", cal.clone()),
            ("--cal-labels", labeled[3].clone()),
            ("--unlabeled", unlabeled),
        ]);
        run(&call("check", files, more))
    };
    check(target().columns_by(mixed(3)), &[]).done();
    let mut few = target();
    few.columns.remove(4);
    let mut other = target();
    other.columns[2].0 = "p_jumper".to_owned();
    for (table, words) in [
        (few, "it has no column for p_coat, which the calibration data have"),
        (target().with(3, "score", |_| "0.25".into()), "score are not among the columns"),
        (other, "it has no column for p_pullover, and p_jumper are not among"),
    ] {
        let ran = check(table, &[]);
        assert!(ran.code == 2 && ran.stderr.contains(words), "{ran:?}");
    }
    // A number that is no logit is not the eleventh class.
    let ran = check(target().with(3, "score", |_| "2.5".into()), &["--force-logits"]);
    assert!(ran.code == 2 && ran.stderr.contains("score"), "{ran:?}");
    // Twice the same name leads nowhere, and is no class of its own.
    let mut twice = target();
    twice.columns[2].0 = "p_top".to_owned();
    let ran = check(twice, &["--prob-cols", "p_*"]);
    assert!(ran.code == 2 && ran.stderr.contains("two columns are called 'p_top'"), "{ran:?}");
    let mut twice = target();
    twice.columns[2].0 = "p_top".to_owned();
    assert_eq!(check(twice, &[]).code, 2);
}

#[test]
fn labels_are_words() {
    let scratch = Scratch::new();
    let known = labels();
    let probs = demo("calibration_probs");
    let calibrate = |labels: &str, more: &[&str]| {
        let files = options(&[
            ("--cal-probs", probs.clone()),
            ("--cal-labels", labels.to_owned()),
            ("--unlabeled", demo("fog_3_unlabeled")),
            ("--out", scratch.at("cal.json")),
        ]);
        run(&call("calibrate", files, &[&["--method", "uncorrected", "--json"], more].concat()))
    };
    let expected = plain(&scratch, METHODS[0]);
    let words = |name: &dyn Fn(usize) -> String| -> String {
        known.iter().map(|label| name(*label) + "\n").collect()
    };
    let names = scratch.file("names.txt", NAMES.join("\n"));
    let worded = scratch.file("words.csv", words(&|label| NAMES[label].to_owned()));
    let headed =
        scratch.file("headed.csv", format!("label\n{}", words(&|label| NAMES[label].to_owned())));
    for file in [&worded, &headed] {
        assert_eq!(threshold(calibrate(file, &["--class-names", &names])), expected);
    }
    // From the data, sorted; and said so.
    let sorted = scratch.file(
        "sorted.csv",
        words(&|label| format!("{}{}", char::from(b'a' + label as u8), NAMES[label])),
    );
    let ran = calibrate(&sorted, &[]).done().json();
    assert_eq!(ran["threshold"], expected);
    assert_eq!(ran["class_names"][9], Value::from("jboot"));
    FOG.predict(&scratch.at("cal.json"), &scratch.at("sets.csv"), &[]).done();
    assert!(std::fs::read_to_string(scratch.at("sets.csv")).unwrap().contains("jboot"));
    // A word that is no class, or one word too few; a slip among numbers stays what it is.
    let cow =
        scratch.file("cow.csv", words(&|label| NAMES[label].to_owned()).replacen("coat", "cow", 1));
    let ran = calibrate(&cow, &["--class-names", &names]);
    assert!(
        ran.code == 2 && ran.stderr.contains("has the label 'cow', which names no class"),
        "{ran:?}"
    );
    let few = scratch.file("few.csv", words(&|label| NAMES[label % 9].to_owned()));
    let ran = calibrate(&few, &[]);
    assert!(ran.code == 2 && ran.stderr.contains("9 words"), "{ran:?}");
    let slip = scratch.file("slip.csv", words(&|label| label.to_string()).replacen('3', "x", 1));
    let ran = calibrate(&slip, &[]);
    assert!(ran.code == 2 && ran.stderr.contains("\"x\", not a number"), "{ran:?}");
    // Classes that are numbers of their own: the label 1 is the class of the column p_1.
    let mut shifted = Table::of(&probs);
    for (class, (name, _)) in shifted.columns.iter_mut().enumerate() {
        *name = format!("p_{}", class + 1);
    }
    let shifted = shifted.with(0, "label", |row| (known[row] + 1).to_string());
    let mut unlabeled = target();
    for (class, (name, _)) in unlabeled.columns.iter_mut().enumerate() {
        *name = format!("p_{}", class + 1);
    }
    let cal = scratch.file("cal.csv", shifted.csv());
    let unlabeled = scratch.file("target.csv", unlabeled.csv());
    let more = ["--prob-cols", "p_*", "--method", "uncorrected", "--json"];
    assert_eq!(threshold(of_table(&scratch, &cal, &unlabeled, &more)), expected);
}

#[test]
fn names_are_kept_and_files_without_them_stay_as_they_are() {
    let scratch = Scratch::new();
    let names = scratch.file("names.txt", NAMES.join("\n"));
    let cal = scratch.at("cal.json");
    FOG.calibrate(&cal, &["--method", "uncorrected"]).done();
    let before = std::fs::read_to_string(&cal).unwrap();
    assert!(!before.contains("class_names"));
    FOG.calibrate(&cal, &["--method", "uncorrected", "--class-names", &names]).done();
    let named = std::fs::read_to_string(&cal).unwrap();
    let listed = NAMES.map(|name| format!("\"{name}\"")).join(",");
    let field = format!(",\"class_names\":{{\"classes\":[{listed}]}}}}");
    assert_eq!(named.trim_end(), before.trim_end().strip_suffix('}').unwrap().to_owned() + &field);
    FOG.predict(&cal, &scratch.at("sets.csv"), &[]).done();
    assert!(std::fs::read_to_string(scratch.at("sets.csv")).unwrap().contains("boot"));
    let damaged = named.replace("\"boot\"", "\"bag\"");
    let ran = FOG.predict(&scratch.file("two.json", damaged), &scratch.at("sets.csv"), &[]);
    assert!(ran.code == 2 && ran.stderr.contains("two classes have the same name"), "{ran:?}");
}
