//! A slip of the hand is refused, or at least told: nothing is replaced, and no wrong answer comes in silence.

use serde_json::Value;

use crate::running::{Ran, Scratch, demo, npy_f64, run};
use crate::{CLEAN, FOG, call, options};

#[test]
fn a_calibration_is_stored_as_json_and_nothing_else() {
    let scratch = Scratch::new();
    for name in ["cal.npy", "cal", "cal.json.npy", "target.parquet", "json"] {
        let before = scratch.contents();
        let ran = FOG.calibrate(&scratch.at(name), &["--method", "uncorrected"]);
        assert!(ran.code == 2 && ran.stderr.contains("a calibration is a .json file"), "{ran:?}");
        assert_eq!(before, scratch.contents());
    }
    FOG.calibrate(&scratch.at("CAL.JSON"), &["--method", "uncorrected"]).done();
    let ran = FOG.predict(&scratch.at("CAL.JSON"), &scratch.at("sets.txt"), &[]);
    assert!(ran.code == 2 && ran.stderr.contains(".npy, .csv, .jsonl or .parquet"), "{ran:?}");
}

#[test]
fn probabilities_are_not_taken_for_logits() {
    let scratch = Scratch::new();
    let cal = scratch.at("cal.json");
    FOG.calibrate(&cal, &["--method", "uncorrected"]).done();
    let sets = scratch.at("sets.csv");
    let refused = |ran: &Ran, file: &str| {
        assert_eq!(ran.code, 2, "{ran:?}");
        let words = format!(
            "error: {file}: the first 10 rows are probabilities already: they lie in [0, 1] and sum to 1; \
             leave --logits out, or give --force-logits if they are logits all the same\n"
        );
        assert_eq!(ran.stderr, words);
    };
    refused(&FOG.predict(&cal, &sets, &["--logits"]), &FOG.test_probs());
    refused(&FOG.evaluate(&cal, &["--logits"]), &FOG.test_probs());
    refused(&FOG.check(&["--logits"]), &demo("calibration_probs"));
    refused(&FOG.compare(&["--logits"]), &demo("calibration_probs"));
    assert!(!std::fs::exists(&sets).unwrap());
    // Who says so gets it: the softmax of probabilities is nearly uniform, so that sets are all or nothing.
    let found = FOG.predict(&cal, &sets, &["--force-logits", "--json"]).done().json();
    let count = |field: &str| found[field].as_u64().unwrap();
    assert_eq!(count("full") + count("empty"), count("n"), "{found}");
    // Logits pass, also where a single row looks otherwise.
    let mut values: Vec<f64> = (0..40).map(|cell| f64::from(cell % 7) - 3.0).collect();
    values[..10].copy_from_slice(&[0.1; 10]);
    let logits = scratch.file("logits.npy", npy_f64(&values, 10));
    let files = options(&[("--calibration", cal), ("--probs", logits), ("--out", sets)]);
    run(&call("predict", files, &["--logits"])).done();
}

#[test]
fn a_rate_that_was_meant_as_a_level_is_told() {
    let scratch = Scratch::new();
    let cal = scratch.at("cal.json");
    let words = "alpha = 0.9 lets 90.0 % of the sets miss their label, a level of 10.0 %; for a level of 90.0 % give alpha = 0.1";
    let rate = ["--alpha", "0.9"];
    let plain = ["--method", "uncorrected", "--alpha", "0.9"];
    let sets = scratch.at("sets.csv");
    let told = |text: &Ran, document: &Ran| {
        assert_eq!(text.stdout.matches(words).count(), 1, "{text:?}");
        let found = document.json();
        assert!(found["warnings"].as_array().unwrap().contains(&Value::from(words)), "{found}");
    };
    let json = |more: &[&'static str]| [more, &["--json"]].concat();
    told(&FOG.calibrate(&cal, &plain).done(), &FOG.calibrate(&cal, &json(&plain)).done());
    told(&CLEAN.check(&rate).done(), &CLEAN.check(&json(&rate)).done());
    told(&FOG.predict(&cal, &sets, &[]).done(), &FOG.predict(&cal, &sets, &["--json"]).done());
    told(&FOG.evaluate(&cal, &[]).done(), &FOG.evaluate(&cal, &["--json"]).done());
    let two = ["--methods", "uncorrected,oracle", "--alpha", "0.9"];
    told(&FOG.compare(&two).done(), &FOG.compare(&json(&two)).done());
    // The bytes of the file do not change by it, and at one half there is nothing to tell.
    assert!(!std::fs::read_to_string(&cal).unwrap().contains("lets"));
    let found = FOG.evaluate(&cal, &["--json", "--alpha", "0.5"]).done().json();
    assert!(found.get("warnings").is_none(), "{found}");
}

/// What stands in the document of a run that failed, after a look at what people read.
fn error_of(ran: &Ran) -> Value {
    assert_eq!(ran.code, 2, "{ran:?}");
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(document.as_object().unwrap().len(), 1, "{document}");
    let error = document["error"].clone();
    let mut names: Vec<&str> = error.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["column", "file", "kind", "line", "message", "row"]);
    let first = ran.stderr.lines().next().unwrap();
    assert_eq!(first, format!("error: {}", error["message"].as_str().unwrap()));
    error
}

#[test]
fn errors_are_json_where_results_are() {
    let scratch = Scratch::new();
    let labeled = FOG.labeled_and_unlabeled();
    let check = |target: &str, more: &[&str]| {
        let files = options(&[
            ("--cal-probs", labeled[1].clone()),
            ("--cal-labels", labeled[3].clone()),
            ("--unlabeled", target.to_owned()),
        ]);
        error_of(&run(&call("check", files, &[&["--json"], more].concat())))
    };
    let place = |error: &Value| {
        [&error["kind"], &error["row"], &error["column"], &error["line"]].map(Value::clone)
    };
    let row =
        |values: &[f64]| values.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
    let good = row(&[0.1; 10]);
    // A number that is none, with its cell.
    let mut values = vec![0.1; 30];
    values[25] = f64::NAN;
    let nan = scratch.file("nan.npy", npy_f64(&values, 10));
    let error = check(&nan, &[]);
    assert_eq!(error["file"], Value::from(nan));
    assert_eq!(place(&error), [Value::from("data"), 2.into(), "5".into(), Value::Null]);
    // A line of text.
    let words =
        scratch.file("words.csv", format!("{good}{good}0.1,x,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1\n"));
    let error = check(&words, &[]);
    assert_eq!(error["file"], Value::from(words));
    assert_eq!(place(&error), [Value::from("data"), Value::Null, "1".into(), 3.into()]);
    // Files that do not belong together.
    let few = scratch.file("few.csv", "0\n1\n");
    let files = options(&[
        ("--cal-probs", labeled[1].clone()),
        ("--cal-labels", few.clone()),
        ("--unlabeled", labeled[5].clone()),
    ]);
    let error = error_of(&run(&call("check", files, &["--json"])));
    assert_eq!((error["kind"].clone(), error["file"].clone()), ("incompatible".into(), few.into()));
    // A row without a group.
    let table = scratch.file("groups.csv", "p_a,p_b,label,seg\n0.5,0.5,a,x\n0.5,0.5,b,\n");
    let files = options(&[
        ("--cal", table.clone()),
        ("--target", table.clone()),
        ("--label-col", "label".into()),
        ("--prob-cols", "p_*".into()),
        ("--per", "seg".into()),
    ]);
    let error = error_of(&run(&call("check", files, &["--json"])));
    assert_eq!(place(&error), [Value::from("data"), 1.into(), Value::Null, Value::Null], "{error}");
    // Another model, a file that is not there, a wrong name, a setting, no command at all.
    let narrow = scratch.file("narrow.csv", "0.5,0.5\n0.5,0.5\n");
    assert_eq!(check(&narrow, &[])["file"], Value::from(narrow));
    let missing = scratch.at("missing.npy");
    let error = check(&missing, &[]);
    assert_eq!((error["kind"].clone(), error["file"].clone()), ("system".into(), missing.into()));
    assert_eq!(check("target.xls", &[])["kind"], Value::from("usage"));
    assert_eq!(check(&labeled[5], &["--delta", "2"])["kind"], Value::from("usage"));
    let ran = run(&["check", "--json", "--no-such-option"]);
    let error = error_of(&ran);
    assert_eq!(error["kind"], Value::from("usage"));
    assert!(error["message"].as_str().unwrap().contains("--no-such-option"), "{error}");
    // A calibration that is none.
    let broken = scratch.file("cal.json", "{}");
    let error = error_of(&FOG.evaluate(&broken, &["--json"]));
    assert_eq!(
        (error["kind"].clone(), error["file"].clone()),
        ("calibration".into(), broken.into())
    );
    // Without --json stdout stays empty, and help is no failure.
    assert_eq!(run(&["check", "--no-such-option"]).stdout, "");
    let ran = run(&["check", "--json", "--help"]).done();
    assert!(!ran.stdout.contains("\"error\""));
}
