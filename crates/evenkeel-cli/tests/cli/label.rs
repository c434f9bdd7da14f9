//! Sheets of rows to label: drawn, filled in, resumed, used; and labels that come later.

use std::fs;

use crate::running::{Array, Ran, Scratch, assert_snapshot, demo, run};
use crate::{FOG, call, normalise, options};

fn label(more: &[&str]) -> Ran {
    run(&call("label", options(&[("--unlabeled", demo("fog_3_unlabeled"))]), more))
}

/// The cells of a column of a sheet without quotes.
fn column(sheet: &str, name: &str) -> Vec<String> {
    let text = fs::read_to_string(sheet).unwrap();
    let mut lines = text.lines();
    let at = lines.next().unwrap().split(',').position(|found| found == name).unwrap();
    lines.map(|line| line.split(',').nth(at).unwrap().to_owned()).collect()
}

fn class_names(scratch: &Scratch) -> String {
    let names: String = (0..10).map(|class| format!("kind {class}\n")).collect();
    scratch.file("names.txt", names)
}

/// Files that claim rows which are not there: 5000 of 60, and 2^37, which took for ever to draw from.
#[test]
fn rows_that_are_not_there_are_not_drawn() {
    let scratch = Scratch::new();
    let fixture =
        |name: &str| format!("{}/../evenkeel-io/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    let sheet = scratch.at("rows.csv");
    let claims = [
        vec![
            "--unlabeled".to_owned(),
            fixture("bad-claims-5000-rows.parquet"),
            "--prob-cols".to_owned(),
            "p_*".to_owned(),
        ],
        vec!["--unlabeled".to_owned(), fixture("bad-claims-rows.arrow:probs")],
    ];
    for files in claims {
        for more in [
            &["--budget", "5", "--out", &sheet][..],
            &["--budget", "5", "--out", &sheet, "--blind"],
        ] {
            let ran = run(&call("label", files.clone(), more));
            assert!(ran.code == 2 && ran.stderr.contains("damaged"), "{ran:?}");
            assert!(scratch.contents().is_empty());
        }
    }
}

#[test]
fn a_sheet_is_drawn_filled_in_and_used() {
    let scratch = Scratch::new();
    let (cal, sheet, names) =
        (scratch.at("cal.json"), scratch.at("rows.csv"), class_names(&scratch));
    FOG.calibrate(&cal, &["--method", "uncorrected"]).done();
    let more = ["--budget", "40", "--calibration", &cal, "--class-names", &names, "--out", &sheet];
    let ran = label(&more);
    assert_snapshot("cli/snapshots/label.txt", &normalise(&ran, &scratch));
    let text = fs::read_to_string(&sheet).unwrap();
    assert!(text.starts_with("row,label,predicted,set\n"), "{text}");
    let sets = scratch.at("sets.csv");
    let predicting = [("--calibration", cal.clone()), ("--probs", demo("fog_3_unlabeled"))];
    run(&call("predict", options(&predicting), &["--out", &sets, "--class-names", &names])).done();
    let (all, rows) = (column(&sets, "labels"), column(&sheet, "row"));
    for (row, set) in rows.iter().zip(column(&sheet, "set")) {
        assert_eq!(set, all[row.parse::<usize>().unwrap()]);
    }
    // Half of it by name, as the labeler reads them.
    let half: String = text
        .lines()
        .enumerate()
        .map(|(line, text)| match line {
            1..=20 => text.replacen(",,", ",kind 3,", 1) + "\n",
            _ => text.to_owned() + "\n",
        })
        .collect();
    fs::write(&sheet, half).unwrap();
    let labels = ["--target-labels", &sheet, "--class-names", &names];
    let document = FOG.check(&[&labels[..], &["--json"]].concat()).json();
    assert_eq!(document["coverage_measured"]["k"], 20);
    assert_eq!(document["with_labels"]["class_shares"].as_array().unwrap().len(), 10);
    let refused = FOG.check(&["--target-labels", &sheet]);
    assert!(refused.code == 2 && refused.stderr.contains("line 2: found 'kind 3'"), "{refused:?}");
    let out = scratch.at("few.json");
    let used = FOG.calibrate(&out, &[&labels[..], &["--method", "auto", "--json"]].concat()).json();
    assert_eq!((&used["labels_used"], &used["method"]), (&20.into(), &"few-labels".into()));
}

#[test]
fn a_resumed_sheet_keeps_what_was_filled_in_and_repeats_no_row() {
    let scratch = Scratch::new();
    let [first, second, whole] = ["a.csv", "b.csv", "c.csv"].map(|name| scratch.at(name));
    label(&["--budget", "15", "--out", &first]).done();
    label(&["--budget", "40", "--blind", "--out", &whole]).done();
    assert_eq!(fs::read_to_string(&whole).unwrap().lines().next(), Some("row,label"));
    let filled = fs::read_to_string(&first).unwrap().replacen(",,", ",7,", 3).replace('\n', "\r\n");
    fs::write(&first, filled).unwrap();
    let ran = label(&["--budget", "25", "--resume", &first, "--out", &second, "--json"]).json();
    assert_eq!((&ran["rows"], &ran["filled"], &ran["m"]), (&40.into(), &3.into(), &1000.into()));
    assert_eq!(ran["drawn"].as_array().unwrap().len(), 25);
    assert_eq!(column(&second, "row"), column(&whole, "row"));
    let labels = column(&second, "label");
    assert!(labels[..3].iter().all(|label| label == "7"), "{labels:?}");
    assert!(labels[3..].iter().all(String::is_empty), "{labels:?}");
    // Labels that were filled in are not written over.
    let ran = label(&["--budget", "15", "--out", &first]);
    assert!(ran.code == 2 && ran.stderr.contains("holds 3 labels"), "{ran:?}");
    // Blind: nothing of what the model said of the earlier rows is left either.
    let blind = scratch.at("blind.csv");
    label(&["--budget", "25", "--blind", "--resume", &first, "--out", &blind]).done();
    assert_eq!(fs::read_to_string(&blind).unwrap().lines().next(), Some("row,label"));
    assert_eq!(column(&blind, "label"), labels);
    // Rows of another table do not get the labels of these.
    let other = [("--unlabeled", demo("shear_5_unlabeled")), ("--resume", first.clone())];
    let ran = run(&call("label", options(&other), &["--budget", "9", "--out", &whole]));
    assert!(ran.code == 2 && ran.stderr.contains("was predicted"), "{ran:?}");
    // Another seed: other rows, none of them twice.
    let third = scratch.at("d.csv");
    label(&["--budget", "60", "--seed", "9", "--resume", &second, "--out", &third]).done();
    let mut rows = column(&third, "row");
    assert_eq!(rows[..40], column(&second, "row"));
    rows.sort_unstable();
    rows.dedup();
    assert_eq!(rows.len(), 100);
}

/// The same sheet from a csv file, whose rows are counted by reading, and for any number of threads.
#[test]
fn a_sheet_does_not_depend_on_the_format_or_the_threads() {
    let scratch = Scratch::new();
    let [plain, threads, from_csv] = ["a.csv", "b.csv", "c.csv"].map(|name| scratch.at(name));
    label(&["--budget", "20", "--out", &plain]).done();
    label(&["--budget", "20", "--threads", "1", "--out", &threads]).done();
    let table = crate::running::Array::read(&demo("fog_3_unlabeled"));
    let text = crate::running::csv(&table.floats(), 10);
    let text = scratch.file("target.csv", text);
    let reading = options(&[("--unlabeled", text), ("--out", from_csv.clone())]);
    run(&call("label", reading, &["--budget", "20"])).done();
    assert_eq!(fs::read(&plain).unwrap(), fs::read(&threads).unwrap());
    assert_eq!(fs::read(&plain).unwrap(), fs::read(&from_csv).unwrap());
}

#[test]
fn columns_of_the_user_are_passed_through() {
    let scratch = Scratch::new();
    let out = scratch.at("rows.csv");
    let lines: String =
        (0..1000).map(|row| format!("img_{row},\"site {}, east\",x\n", row % 7)).collect();
    let ids = scratch.file("ids.csv", format!("image,site,note\n{lines}"));
    label(&["--budget", "9", "--blind", "--ids", &ids, "--id-cols", "image", "--out", &out]).done();
    let expected: Vec<String> =
        column(&out, "row").iter().map(|row| format!("img_{row}")).collect();
    assert_eq!(column(&out, "image"), expected);
    label(&["--budget", "9", "--blind", "--ids", &ids, "--out", &out]).done();
    let text = fs::read_to_string(&out).unwrap();
    assert!(
        text.starts_with("row,image,site,note,label\n174,img_174,\"site 6, east\",x,\n"),
        "{text}"
    );
    // Labels behind a cell with a comma in it are still labels.
    fs::write(&out, text.replace(",x,\n", ",x,5\n")).unwrap();
    let document = FOG.check(&["--target-labels", &out, "--json"]).json();
    assert_eq!(document["coverage_measured"]["k"], 9);
    let out = scratch.at("other.csv");
    let short = scratch.file("short.csv", "image\na\nb\n");
    for (ids, columns, words) in [
        (&short, "image", "has 2 lines below its header but"),
        (&ids, "size", "has no column 'size', only image, site, note"),
    ] {
        let ran = label(&["--budget", "9", "--ids", ids, "--id-cols", columns, "--out", &out]);
        assert!(ran.code == 2 && ran.stderr.contains(words), "{ran:?}");
    }
    let own = scratch.file("own.csv", format!("label\n{}", "a\n".repeat(1000)));
    let ran = label(&["--budget", "9", "--ids", &own, "--out", &out]);
    assert!(ran.code == 2 && ran.stderr.contains("a column 'label'"), "{ran:?}");
}

#[test]
fn what_labels_buy_is_said_without_data() {
    let ran = run(&["label", "--for", "5"]).done();
    assert_eq!(
        ran.stdout,
        "Knowing a coverage near 90 % to within 5 points takes 155 labels at 95 % confidence.\n"
    );
    let found = run(&["label", "--for", "3", "--alpha", "0.05", "--delta", "0.1", "--json"]).json();
    assert!(found["for"]["labels"].as_u64().unwrap() > 100, "{found}");
    assert_eq!(found["for"]["level"], 0.95);
}

#[test]
fn sheets_that_cannot_be_made_are_refused_and_nothing_is_written() {
    let scratch = Scratch::new();
    let out = scratch.at("rows.csv");
    let other = scratch.file("other.csv", "row,label\n5000,\n");
    let twice = scratch.file("twice.csv", "row,label\n5,\n5,1\n");
    let damaged = scratch.file("damaged.csv", "row,label\nfive,\n");
    let no_sheet = scratch.file("none.csv", "a,b\n1,2\n");
    let before = scratch.contents();
    for (more, words) in [
        (&["--budget", "0", "--out", &out][..], "at least 1"),
        (&["--budget", "1001", "--out", &out], "at most 1000"),
        (&["--budget", "5", "--out", "rows.npy"], "is a .csv file"),
        (&["--budget", "5", "--resume", &other, "--out", &out], "other.csv: row 5000"),
        (
            &["--budget", "5", "--resume", &twice, "--out", &out],
            "line 3: found '5'; expected each row once",
        ),
        (&["--budget", "5", "--resume", &damaged, "--out", &out], "line 2: found 'five'"),
        (&["--budget", "5", "--resume", &no_sheet, "--out", &out], "no column 'row'"),
        (&["--budget", "5", "--resume", &other, "--out", &other], "is the file of --resume"),
        (&["--budget", "5", "--out", &out, "--for", "0"], "--for is 0"),
        (&["--budget", "5"], "--out <FILE>"),
        (&["--out", &out], "--budget <N>"),
    ] {
        let ran = label(more);
        assert!(ran.code == 2 && ran.stderr.contains(words), "{more:?}: {ran:?}");
        assert_eq!(scratch.contents(), before);
    }
    assert!(run(&["label"]).stderr.contains("--unlabeled"));
}

#[test]
fn an_update_has_the_bytes_of_all_labels_at_once() {
    let scratch = Scratch::new();
    let sheet = demo("fifty_labels").replace(".npy", ".csv");
    let text = fs::read_to_string(&sheet).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let part = |name: &str, from: usize, to: usize| {
        scratch.file(name, format!("row,label\n{}\n", lines[from..to].join("\n")))
    };
    let (first, rest) = (part("a.csv", 1, 31), part("b.csv", 25, lines.len()));
    let [some, more, all] = ["a.json", "b.json", "c.json"].map(|name| scratch.at(name));
    let guaranteed = ["--method", "few-labels", "--guarantee", "0.8", "--alpha", "0.2"];
    FOG.calibrate(&some, &[&guaranteed[..], &["--target-labels", &first]].concat()).done();
    FOG.calibrate(&all, &[&guaranteed[..], &["--target-labels", &sheet]].concat()).done();
    let target = demo("fog_3_unlabeled");
    let update = |extra: &[&str]| {
        let files = [
            ("--update", some.clone()),
            ("--unlabeled", target.clone()),
            ("--target-labels", rest.clone()),
            ("--out", more.clone()),
        ];
        run(&call("calibrate", options(&files), extra))
    };
    update(&[]).done();
    assert_eq!(fs::read(&more).unwrap(), fs::read(&all).unwrap());
    assert_ne!(fs::read(&more).unwrap(), fs::read(&some).unwrap());
    for (extra, words) in [
        (&["--alpha", "0.1"][..], "--alpha"),
        (&["--method", "ot"], "--method"),
        (&["--guarantee", "average"], "--guarantee has no use with --update"),
        (&["--score", "aps"], "--score has no use with --update"),
        (&["--cal-probs", &target], "--cal-probs"),
    ] {
        let ran = update(extra);
        assert!(ran.code == 2 && ran.stderr.contains(words), "{extra:?}: {ran:?}");
    }
    let (row, label) = lines[1].split_once(',').unwrap();
    let other = (label.parse::<usize>().unwrap() + 1) % 10;
    let wrong = scratch.file("wrong.csv", format!("row,label\n{row},{other}\n"));
    let files =
        [("--update", all.clone()), ("--unlabeled", target.clone()), ("--out", more.clone())];
    let ran = run(&call("calibrate", options(&files), &["--target-labels", &wrong]));
    let words = format!(
        "row {row} has the label {other}, but the calibration was made with the label {label} for it"
    );
    assert!(ran.code == 2 && ran.stderr.contains(&words), "{ran:?}");
    let files = [("--update", all.clone()), ("--unlabeled", target), ("--target-labels", rest)];
    let ran = run(&call("calibrate", options(&files), &["--out", &all]));
    assert!(ran.code == 2 && ran.stderr.contains("is the file of --update"), "{ran:?}");
}

#[test]
fn labels_of_the_surest_rows_are_warned_of_once() {
    let scratch = Scratch::new();
    let table = crate::running::Array::read(&demo("fog_3_unlabeled")).floats();
    let sure = |row: &usize| table[10 * row..][..10].iter().fold(0.0_f64, |a, b| a.max(*b));
    let mut rows: Vec<usize> = (0..1000).collect();
    rows.sort_by(|a, b| sure(b).total_cmp(&sure(a)));
    let lines: String = rows[..50].iter().map(|row| format!("{row},1\n")).collect();
    let sheet = scratch.file("sure.csv", format!("row,label\n{lines}"));
    let said = FOG.check(&["--target-labels", &sheet]).stdout;
    assert_eq!(said.matches("do not look like a random draw").count(), 1, "{said}");
    let html = scratch.at("page.html");
    FOG.check(&["--target-labels", &sheet, "--html", &html]).done();
    let page = fs::read_to_string(html).unwrap();
    let (above, _) = page.split_once("id=\"how-we-know\"").unwrap();
    assert_eq!(above.matches("do not look like a random draw").count(), 1);
    assert_eq!(page.matches("do not look like a random draw").count(), 1);
    assert!(page.contains("As believed from both"));
}

/// A column that lost its row numbers would put labels on rows they do not belong to.
#[test]
fn a_column_of_another_length_is_refused_by_every_command() {
    let scratch = Scratch::new();
    let labels = scratch.file("labels.csv", "label\n3\n\n1\n");
    let out = scratch.at("new.json");
    let words = "it has 3 entries and the target data have 1000 rows";
    for ran in [
        FOG.check(&["--target-labels", &labels]),
        FOG.calibrate(&out, &["--method", "auto", "--target-labels", &labels]),
    ] {
        assert!(ran.code == 2 && ran.stderr.contains(words), "{ran:?}");
    }
    let empty = scratch.file("empty.csv", "row,label\n4,\n");
    for ran in [
        FOG.check(&["--target-labels", &empty]),
        FOG.calibrate(&out, &["--method", "auto", "--target-labels", &empty]),
    ] {
        assert!(ran.code == 2 && ran.stderr.contains("there is no label in it"), "{ran:?}");
    }
    assert!(!std::path::Path::new(&out).exists());
}

/// What a check advises for a calibration in use: the data it keeps, the score it has.
#[test]
fn a_calibration_gives_its_data_to_the_next() {
    let scratch = Scratch::new();
    let (old, direct, new) =
        (scratch.at("old.json"), scratch.at("direct.json"), scratch.at("new.json"));
    FOG.calibrate(&old, &["--method", "uncorrected", "--score", "margin"]).done();
    FOG.calibrate(&direct, &["--method", "auto", "--score", "margin"]).done();
    let target = demo("fog_3_unlabeled");
    let files = [("--calibration", old.clone()), ("--unlabeled", target)];
    let ran = run(&call("check", options(&files), &["--json"])).done();
    let command = ran.json()["command"].as_str().unwrap().to_owned();
    assert!(command.contains(" --calibration ") && !command.contains("--score"), "{command}");
    run(&call("calibrate", options(&files), &["--out", &new])).done();
    assert_eq!(fs::read_to_string(&new).unwrap(), fs::read_to_string(&direct).unwrap());
    let ran = run(&call("calibrate", options(&files), &["--out", &old]));
    assert!(ran.code == 2 && ran.stderr.contains("is the file of --calibration"), "{ran:?}");
}

/// The sheet for a pipe: lines on stdout, words on stderr, no file of that name.
#[test]
fn a_sheet_goes_to_stdout() {
    let scratch = Scratch::new();
    let (ran, file) = (label(&["--budget", "7", "--out", "-"]), scratch.at("rows.csv"));
    label(&["--budget", "7", "--out", &file]).done();
    assert_eq!((ran.code, ran.stdout), (0, fs::read_to_string(&file).unwrap()));
    assert!(ran.stderr.contains("are written to stdout"), "{}", ran.stderr);
    assert!(!fs::exists("-").unwrap());
    let refused = label(&["--budget", "7", "--out", "-", "--json"]);
    assert!(refused.code == 2 && refused.stderr.contains("both write to stdout"), "{refused:?}");
}

/// The next command is one that runs: with thresholds for each class there is no single one to check.
#[test]
fn the_next_command_is_not_one_that_is_refused() {
    let scratch = Scratch::new();
    let (cal, sheet) = (scratch.at("cal.json"), scratch.at("rows.csv"));
    FOG.calibrate(&cal, &["--method", "conditional"]).done();
    let said = label(&["--budget", "5", "--calibration", &cal, "--out", &sheet]).done().stdout;
    assert!(said.contains("Next: evenkeel check --cal-probs FILE --cal-labels FILE"), "{said}");
}

/// A calibration scored by its label law is checked by that law: it expects on its own rows what it expected when it was made, and
/// advises a command that runs.
#[test]
fn a_calibration_scored_by_plan_is_checked() {
    let scratch = Scratch::new();
    let (cal, sheet) = (scratch.at("cal.json"), scratch.at("rows.csv"));
    let made = FOG.calibrate(&cal, &["--method", "label-plan", "--score", "plan", "--json"]).json();
    let said = label(&["--budget", "5", "--calibration", &cal, "--out", &sheet]).done().stdout;
    assert!(said.contains(&format!("Next: evenkeel check --calibration {cal}")), "{said}");
    let check = |condition: &str| {
        let inputs = [("--calibration", cal.clone()), ("--unlabeled", demo(condition))];
        run(&call("check", options(&inputs), &["--json"])).json()
    };
    let same = check("fog_3_unlabeled");
    assert_eq!(same["threshold"], made["threshold"]);
    let (seen, expected) =
        (&same["coverage_estimate"]["value"], &made["coverage_estimate"]["value"]);
    assert!(
        (seen.as_f64().unwrap() - expected.as_f64().unwrap()).abs() < 1e-9,
        "{seen} {expected}"
    );
    let worse = check("motion_blur_5_unlabeled");
    assert!(worse["recommended"]["mean_size"]["after"].as_f64().unwrap() > 1.0, "{worse}");
}

/// Labels of the rows that the model is surest of flatter it: they decide neither the verdict nor the repair.
#[test]
fn picked_labels_decide_nothing() {
    let scratch = Scratch::new();
    let probs = demo("motion_blur_5_test_probs");
    let rows = Array::read(&probs).floats();
    let labels = Array::read(&demo("motion_blur_5_test_labels")).integers();
    let confidence = |row: usize| rows[10 * row..10 * row + 10].iter().copied().fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|a, b| confidence(*b).total_cmp(&confidence(*a)));
    let lines = order[..60].iter().map(|row| format!("{row},{}\n", labels[*row]));
    let sheet = scratch.file("picked.csv", format!("row,label\n{}", lines.collect::<String>()));
    let inputs = [
        ("--cal-probs", demo("calibration_probs")),
        ("--cal-labels", demo("calibration_labels")),
        ("--unlabeled", probs),
    ];
    let check = |more: &[&str]| run(&call("check", options(&inputs), more)).json();
    let (without, with) = (check(&["--json"]), check(&["--json", "--target-labels", &sheet]));
    assert!(with["coverage_measured"]["value"].as_f64() > Some(0.5));
    for field in ["verdict", "loss", "recommended", "command"] {
        assert_eq!(without[field], with[field], "{field}");
    }
    let warned = with["warnings"].to_string();
    assert!(warned.contains("do not look like a random draw"), "{warned}");
    let said = run(&call("check", options(&inputs), &["--target-labels", &sheet])).stdout;
    assert!(said.contains("do not decide: their rows do not look drawn at random"), "{said}");
}
