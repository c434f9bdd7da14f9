//! The names of all JSON fields, in their order: scripts rely on them.

use evenkeel::score::Score;
use evenkeel_jobs::{
    CheckJob, CompareJob, Entrant, IfInapplicable, Unobserved, calibrate, check, compare, evaluate,
    parse_calibration, plainly, predict,
};
use serde::Serialize;

use crate::world::{Points, alpha, calibrator, level, methods, seed};

/// The names at the top of a document, in the order they are written.
fn names(document: &impl Serialize) -> Vec<String> {
    let text = serde_json::to_string_pretty(document).unwrap();
    let top = text.lines().filter_map(|line| line.strip_prefix("  \"")?.split('"').next());
    top.map(str::to_owned).collect()
}

#[test]
fn every_document_has_the_names_people_rely_on() {
    let (cal, target, test) = (Points::calibration(), Points::target(), Points::test());
    let class_names: Vec<String> = ["ant", "bee", "cat"].map(str::to_owned).to_vec();
    let class_names = Some(class_names.as_slice());
    let job = CheckJob::new(Score::Lac, alpha(), level(), seed());
    let checked =
        check(&job, &cal.labeled(), &mut target.source("target"), &mut Unobserved).unwrap();
    assert_eq!(
        names(&checked.document(class_names, &[])),
        [
            "n",
            "m",
            "classes",
            "alpha",
            "delta",
            "shift",
            "threshold",
            "coverage_estimate",
            "readings",
            "band",
            "verdict",
            "loss",
            "accuracy",
            "belief",
            "assumed_model",
            "coverage_interval",
            "bounds",
            "dominance",
            "bound_grid",
            "failed",
            "advice",
            "warnings",
            "per_class",
            "mean_size",
            "examples",
            "recommended"
        ]
    );
    assert_eq!(
        names(checked.recommended.as_ref().unwrap()),
        [
            "method",
            "threshold",
            "effective_sample_size",
            "coverage_estimate",
            "mean_size",
            "certificate",
            "warnings"
        ]
    );
    let document = serde_json::to_value(checked.document(class_names, &[])).unwrap();
    assert_eq!(document["per_class"][1]["name"], "bee");
    let auto = calibrator(methods()[0]);
    let calibrated =
        calibrate(&auto, &cal.labeled(), &mut target.source("target"), &mut Unobserved).unwrap();
    assert_eq!(
        names(&calibrated.document(class_names)),
        [
            "method",
            "alpha",
            "threshold",
            "effective_sample_size",
            "bound_before",
            "bound_after",
            "total_gap_bound_before",
            "total_gap_bound_after",
            "steps",
            "stopped",
            "seconds",
            "n",
            "test_mass",
            "assumption",
            "coverage_estimate",
            "reading",
            "labels_used",
            "certificate",
            "account",
            "evidence",
            "warnings",
            "class_names"
        ]
    );
    let calibration = calibrated.calibration;
    let text = serde_json::to_string(&calibration).unwrap();
    assert!(!text.contains("bee"), "class names are not stored in files of version 1");
    assert_eq!(parse_calibration(&text).unwrap(), calibration);
    let labels = test.checked_labels();
    let mut test = test.source("test").with_labels("labels", &labels).unwrap();
    let predicted =
        predict(&calibration, None, &mut test, &mut |_| Ok(()), &mut Unobserved).unwrap();
    assert_eq!(
        names(&predicted.document()),
        ["n", "alpha", "threshold", "mean_size", "empty", "full"]
    );
    let evaluated = evaluate(&calibration, None, &mut test, &mut Unobserved).unwrap();
    assert_eq!(
        names(&evaluated.document(class_names)),
        [
            "alpha",
            "by_size",
            "coverage",
            "empty",
            "full",
            "mean_size",
            "median_size",
            "n",
            "per_class",
            "total_coverage_gap"
        ]
    );
    let job = CompareJob {
        entrants: vec![Entrant::Method(auto)],
        if_inapplicable: IfInapplicable::LeaveOut,
    };
    let found =
        compare(&job, &cal.labeled(), &mut target.source("target"), &mut test, &mut Unobserved);
    let document = found.unwrap().document(0.1, &plainly);
    assert_eq!(names(&document), ["alpha", "n", "rows", "warnings"]);
    assert_eq!(
        names(&document.rows[0]),
        [
            "method",
            "threshold",
            "coverage",
            "mean_size",
            "total_coverage_gap",
            "effective_sample_size",
            "seconds",
            "assumption"
        ]
    );
}
