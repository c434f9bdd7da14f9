//! What a field trial found and no other test holds: docs/reliability.md names the test of each of its defects.

use crate::running::{demo, run};
use crate::{CLEAN, FOG};

/// An alarm that was always on: also where the target data are the calibration data.
#[test]
fn an_alarm_is_silent_where_nothing_changed() {
    let (probs, labels) = (demo("calibration_probs"), demo("calibration_labels"));
    let same = [
        "check",
        "--cal-probs",
        &probs,
        "--cal-labels",
        &labels,
        "--unlabeled",
        &probs,
        "--fail-below",
    ];
    for floor in ["0.5", "0.85"] {
        let ran = run(&[&same[..], &[floor]].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{floor}: {}", ran.stdout);
        assert_eq!(CLEAN.check(&["--fail-below", floor]).code, 0);
        let fog = FOG.check(&["--fail-below", floor]);
        assert_eq!(fog.code, 1);
        assert!(fog.stderr.contains(&format!("failed: --fail-below {floor}: coverage is about")));
    }
}

/// The control condition of the demo was called a shift, and the page held one condition alone.
#[test]
fn the_demo_finds_nothing_on_a_quiet_day_and_shows_every_day() {
    let scratch = crate::Scratch::new();
    let out = scratch.at("demo");
    let days = run(&["demo", "--out", &out, "--json"]).done().json()["days"].clone();
    assert_eq!((&days[0]["day"], &days[0]["verdict"]), (&"clean".into(), &"ok".into()));
    assert_eq!(days[0]["shift_detected"], false);
    let page = std::fs::read_to_string(scratch.at("demo/report.html")).unwrap();
    for day in days.as_array().unwrap() {
        assert!(page.contains(day["what"].as_str().unwrap()), "{day}");
    }
}

/// Advice for one method was given to all, and twice by `compare`.
#[test]
fn advice_is_about_the_method_that_was_used() {
    let scratch = crate::Scratch::new();
    let out = scratch.at("cal.json");
    let (probs, labels, target) =
        (demo("calibration_probs"), demo("calibration_labels"), demo("motion_blur_5_unlabeled"));
    let warned = |more: &[&str]| {
        let files =
            ["--cal-probs", &probs, "--cal-labels", &labels, "--unlabeled", &target, "--out", &out];
        let document = run(&[&["calibrate", "--json"], &files[..], more].concat()).done().json();
        let all = document["warnings"].as_array().unwrap().clone();
        let mut all = all.iter().filter_map(|said| said.as_str());
        all.find(|said| said.contains("the weights amount to")).unwrap().to_owned()
    };
    let descent = warned(&["--method", "ot", "--steps", "300", "--learning-rate", "0.05"]);
    assert!(descent.contains("give the descent a floor"), "{descent}");
    for method in ["ot", "auto"] {
        let said = warned(&["--method", method]);
        assert!(!said.contains("descent") && !said.contains("ot "), "{said}");
    }
    let said = FOG.compare(&["--methods", "ot,auto,label-plan,uncorrected"]).done().stdout;
    let mut warnings: Vec<&str> = said.lines().filter(|line| line.starts_with("Warning")).collect();
    let found = warnings.len();
    warnings.sort_unstable();
    warnings.dedup();
    assert_eq!(warnings.len(), found, "said twice: {said}");
}

/// A sentence that was none, and a p-value of 0.000.
#[test]
fn too_few_permutations_are_told_how_many_it_takes() {
    let ran = CLEAN.check(&["--permutations", "9"]);
    assert_eq!(ran.code, 2);
    assert_eq!(
        ran.stderr,
        "error: the shift test cannot reach a false-alarm rate of 0.05: the smallest p-value of 9 permutations is 1/10, so it could \
         never reject; ask for a rate of 1/10 or more, or for at least 19 permutations where their number can be chosen\n"
    );
    assert_eq!(CLEAN.check(&["--permutations", "19"]).code, 0);
    let said = FOG.check(&["--explain"]).done().stdout;
    assert!(said.contains("p < 0.001") && !said.contains("p = 0.000"), "{said}");
}
