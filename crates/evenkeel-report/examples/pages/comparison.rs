//! A comparison of methods: the same parts, and no verdict.

use evenkeel::level::Miscoverage;
use evenkeel_report::{
    Advice, Answer, DataSet, Estimate, Grounds, MeanSize, Repair, Report, Standing,
};

use crate::evidence;

pub fn comparison() -> evenkeel::Result<Report> {
    let headline = "auto covers 96 % with 3.1 labels in a set; closest to 90 % on this batch: conditional, 91 % \
        with 5.8 labels.";
    let mut answer = Answer::new(None, headline);
    answer.now = Some(Estimate::measured(0.534, [0.502, 0.565], 1000));
    answer.repair = Some(Repair {
        method: "auto".into(),
        coverage: Some(Estimate::measured(0.961, [0.947, 0.972], 1000)),
        size: MeanSize { before: Some(1.27), after: Some(3.1) },
    });
    answer.advice = Some(Advice {
        sentence: "One batch crowns no method: repeat this on a second one before you choose."
            .into(),
        commands: vec![],
    });
    answer.grounds = Some(Grounds::new(Standing::Measured { labels: 1000 }));
    let mut report = Report::new(Miscoverage::new(0.1)?, answer);
    report.title = "Which method keeps coverage?".into();
    report.date = Some("2026-03-02".into());
    report.data = vec![
        DataSet::new(1000, "labeled calibration rows", "calibration_probs.npy"),
        DataSet::new(1000, "unlabeled target rows", "fog.npy"),
        DataSet::new(1000, "labeled test rows", "fog_test.npy"),
    ];
    report.class_count = Some(10);
    report.warnings =
        vec!["label-shift was left out: it needs every class in the calibration data".into()];
    evidence::add(&mut report);
    report.methods = evidence::methods();
    report.gap_curves = evidence::gap_curves();
    report.classes = evidence::classes();
    report.classes_under = Some("auto".into());
    report.provenance = evidence::provenance(
        "evenkeel compare --methods uncorrected,ot,conditional,auto --html c.html",
    );
    Ok(report)
}
