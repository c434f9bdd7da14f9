//! Options as typed: where they stand in the help, which are refused, and that one command's promise is another's result.

use crate::running::{Ran, Scratch, run};
use crate::{FOG, call};

/// An option that the chosen method does not use is refused, with the methods that do.
#[test]
fn options_without_a_use_are_refused() {
    let scratch = Scratch::new();
    let (out, ones) = (scratch.at("cal.json"), scratch.at("ones.csv"));
    for (more, words) in [
        (
            &["--method", "ot", "--gamma", "3"][..],
            "error: method ot does not use --gamma; conditional does\n",
        ),
        (
            &["--method", "ot", "--ecp-power", "2"],
            "error: method ot does not use --ecp-power; ecp does\n",
        ),
        (
            &["--method", "auto", "--steps", "5"],
            "error: method auto does not use --steps; ot does\n",
        ),
        (&["--raps-k", "5"], "error: score lac does not use --raps-k; raps does\n"),
        (
            &["--method", "ot", "--cal-features", &ones, "--unlabeled-features", &ones],
            "error: method ot does not use --cal-features; likelihood-ratio and conditional do\n",
        ),
    ] {
        let ran = FOG.calibrate(&out, more);
        assert_eq!((ran.code, ran.stderr.as_str()), (2, words), "{more:?}");
    }
    let ran = FOG.compare(&["--methods", "uncorrected,ot", "--gamma", "3"]);
    assert_eq!(ran.stderr, "error: this comparison does not use --gamma; conditional does\n");
    FOG.compare(&["--methods", "uncorrected,ecp", "--ecp-power", "2"]).done();
}

/// Values out of their range are shown with the range.
#[test]
fn values_out_of_range() {
    let scratch = Scratch::new();
    for (more, words) in [
        (
            &["--method", "ot", "--learning-rate", "-1"][..],
            "--learning-rate is -1.0; it must be a positive, finite number",
        ),
        (
            &["--method", "ecp", "--ecp-power", "3"],
            "--ecp-power is 3; it must be a whole number from 1 to 2",
        ),
        (
            &["--method", "ot", "--sandwich", "min-max", "--sampling", "sampled"],
            "--sampling sampled does not go with --sandwich min-max, which draws no labels",
        ),
    ] {
        let ran = FOG.calibrate(&scratch.at("cal.json"), more);
        assert!(ran.code == 2 && ran.stderr.contains(words), "{more:?}: {}", ran.stderr);
    }
    let ran = FOG.check(&["--permutations", "5"]);
    let words = "the shift test cannot reach a false-alarm rate of 0.05: the smallest p-value of 5 permutations is 1/6, so it could \
                 never reject; ask for a rate of 1/6 or more, or for at least 19 permutations where their number can be chosen";
    assert_eq!((ran.code, ran.stderr), (2, format!("error: {words}\n")));
    // No option sets the permutations of `auto`: the rate is what can be changed.
    let out = scratch.at("cal.json");
    let ran = FOG.calibrate(&out, &["--method", "auto", "--shift-level", "1e-9"]);
    let words = "the shift test cannot reach a false-alarm rate of 1e-9: the smallest p-value of 1000000 permutations is 1/1000001, so \
                 it could never reject; ask for a rate of 1/1000001 or more";
    assert_eq!((ran.code, ran.stderr), (2, format!("error: {words}\n")));
    // No more relabelings are advised than can be asked for: ten million.
    for (delta, advised) in [("1e-12", false), ("2e-7", true)] {
        let ran = FOG.check(&["--delta", delta]);
        assert!(ran.code == 2 && ran.stderr.contains("could never reject"), "{}", ran.stderr);
        assert_eq!(ran.stderr.contains("permutations where"), advised, "{}", ran.stderr);
    }
    assert!(!std::fs::exists(&out).unwrap());
}

/// A number with a minus is a number out of range, and a slip that adds zeros is a sentence, not a run without an end.
#[test]
fn numbers_out_of_range_are_told_their_range() {
    let check = |more: &[&str]| FOG.check(more);
    let told = |ran: Ran, words: &str| {
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    };
    told(check(&["--alpha", "-1"]), "alpha is -1.0; it must be between 0 and 1");
    let at_least_0 = "it must be a whole number, at least 0";
    told(
        check(&["--seed", "-1"]),
        &format!("invalid value '-1' for '--seed <SEED>': {at_least_0}"),
    );
    told(check(&["--threads", "-1"]), &format!("'-1' for '--threads <THREADS>': {at_least_0}"));
    told(
        check(&["--permutations", "1e3"]),
        &format!("'1e3' for '--permutations <N>': {at_least_0}"),
    );
    told(check(&["--delta", "five"]), "it must be a number, such as 0.1");
    told(
        check(&["--permutations", "1000000000000000"]),
        "permutations is 1000000000000000.0; it must be at most 10 000 000",
    );
    let scratch = Scratch::new();
    let more = ["--method", "ot", "--steps", "1000000000000", "--out", &scratch.at("cal.json")];
    let calibrate = run(&call("calibrate", FOG.labeled_and_unlabeled(), &more));
    told(calibrate, "from 0 to 100000000");
    // Of these, 2^64 - 1 ended in a panic, and a million million in a folder of nothing.
    for (option, others) in [
        ("--simulations", ["--samples", "20", "--epochs", "1"]),
        ("--samples", ["--simulations", "1", "--epochs", "1"]),
        ("--epochs", ["--simulations", "1", "--samples", "20"]),
    ] {
        for count in ["18446744073709551615", "1000000000000", "0", "1e6"] {
            let mut arguments = vec!["reproduce", "regression", option, count];
            arguments.extend(others);
            let out = scratch.at("run");
            arguments.extend(["--out", &out]);
            told(run(&arguments), "to 10000000");
            assert!(scratch.contents().is_empty(), "{option} {count}");
        }
    }
}

/// What `check` at a delta promises is what `auto` at that level delivers: the same test, threshold and certificate.
#[test]
fn auto_delivers_what_check_promises() {
    let scratch = Scratch::new();
    for level in ["0.05", "0.01", "0.001"] {
        let check = FOG.check(&["--json", "--delta", level]);
        let check = check.json();
        let more = ["--json", "--method", "auto", "--shift-level", level];
        let auto = FOG.calibrate(&scratch.at("cal.json"), &more).done().json();
        let (test, plan) = (&auto["evidence"]["test"], &auto["evidence"]["plan"]);
        assert_eq!(check["shift"]["p_value"], test["p_value"], "at {level}");
        assert_eq!(check["shift"]["permutations"], test["permutations"], "at {level}");
        assert_eq!(check["recommended"]["threshold"], auto["threshold"], "at {level}");
        assert_eq!(check["recommended"]["certificate"], plan["certificate"], "at {level}");
    }
}

/// Every option stands under the heading it belongs to.
#[test]
fn headings_do_not_leak() {
    for command in ["calibrate", "compare", "check"] {
        let help = run(&call(command, vec![], &["--help"])).stdout;
        let mut heading = "";
        let mut found = Vec::new();
        for line in help.lines() {
            if !line.starts_with(' ') && line.ends_with(':') {
                heading = line.trim_end_matches(':');
            }
            let word = line.trim_start().split(' ').next().unwrap_or_default();
            if word.starts_with("--") && line.starts_with("      --") {
                found.push((word, heading));
            }
        }
        let mut belongs = vec![
            ("--cal-probs", "Options"),
            ("--score", "Score"),
            ("--raps-k", "Score"),
            ("--logits", "Reading"),
        ];
        belongs.extend(
            ["--alpha", "--seed", "--threads", "--json", "--quiet"]
                .map(|flag| (flag, "Everywhere")),
        );
        if command != "check" {
            belongs.extend([
                ("--steps", "Options of ot"),
                ("--shift-level", "Options of auto and few-labels"),
                ("--gamma", "Options of conditional"),
                ("--cal-ratios", "Extra inputs, one row per point"),
            ]);
        } else {
            belongs.push(("--bound-grid", "Options"));
        }
        for row in belongs {
            assert!(found.contains(&row), "{command}: {row:?} is not in {found:?}");
        }
    }
}

/// A calibration whose parts contradict each other is called damaged, not a sketch.
#[test]
fn a_damaged_calibration_is_called_damaged() {
    let scratch = Scratch::new();
    let path = scratch.at("cal.json");
    FOG.calibrate(&path, &["--method", "ecp"]).done();
    let text = std::fs::read_to_string(&path).unwrap();
    let damaged =
        scratch.file("damaged.json", text.replacen("\"method\":\"ecp\"", "\"method\":\"ot\"", 1));
    let ran = FOG.evaluate(&damaged, &[]);
    let words = "this calibration is damaged: its rule does not belong to its method";
    assert!(ran.code == 2 && ran.stderr.contains(words), "{}", ran.stderr);
}

#[test]
fn thresholds_of_labels_are_called_so() {
    let scratch = Scratch::new();
    let said =
        |method: &str| FOG.calibrate(&scratch.at("cal.json"), &["--method", method]).done().stdout;
    assert!(said("label-shift").starts_with("A threshold for each label at alpha = 0.1"));
    assert!(said("conditional").starts_with("A threshold for each point at alpha = 0.1"));
}
