//! Five days with labels, as a demonstration shows them.

use evenkeel_report::{
    ConditionRow, Conditions, Estimate, Grounds, MeanSize, ReadingRange, Report, Standing, Verdict,
};

use crate::{check, evidence};

pub fn demo() -> evenkeel::Result<Report> {
    let mut report = check::loss()?;
    report.run = Some("Evenkeel demo: Fashion-MNIST, fog".into());
    report.answer.headline = "Coverage is 53 % (95 % interval 50 to 56 %), asked for 90 %.".into();
    report.answer.now = Some(Estimate::measured(0.534, [0.502, 0.565], 1000));
    report.answer.grounds = Some(Grounds::new(Standing::Measured { labels: 1000 }));
    if let Some(repair) = &mut report.answer.repair {
        repair.coverage = Some(Estimate::measured(0.9995, [0.994, 1.0], 1000));
        repair.size = MeanSize { before: Some(1.27), after: Some(6.41) };
    }
    report.readings.push(ReadingRange::measured(0.534, [0.502, 0.565], 1000));
    report.conditions = Conditions {
        title: Some("Five days".into()),
        note: Some("Every row that ships was used.".into()),
        labels: Some(50),
        rows: days(),
    };
    for (row, truth) in report.examples.iter_mut().zip(["Coat", "Pullover", "Bag"]) {
        row.truth = Some(truth.into());
    }
    report.classes = evidence::classes();
    report.classes_under = Some("fog".into());
    report.methods = evidence::methods();
    report.gap_curves = evidence::gap_curves();
    report.methods.retain(|row| row.method != "conditional");
    report.gap_curves.retain(|curve| curve.method != "conditional");
    Ok(report)
}

fn days() -> Vec<ConditionRow> {
    let day =
        |name: &str, estimate: (f64, [f64; 2]), shares: [f64; 3], sizes: (f64, f64), verdict| {
            ConditionRow {
                estimated: Some(Estimate::assumed(estimate.0, estimate.1)),
                measured: Some(shares[0]),
                after_repair: Some(shares[1]),
                with_labels: Some(shares[2]),
                size: MeanSize { before: Some(sizes.0), after: Some(sizes.1) },
                verdict: Some(verdict),
                ..ConditionRow::new(name)
            }
        };
    vec![
        day("no change", (0.9, [0.88, 0.93]), [0.911, 0.911, 0.908], (1.2, 1.2), Verdict::Ok),
        day("mild noise", (0.85, [0.8, 0.89]), [0.835, 0.913, 0.904], (1.3, 1.8), Verdict::Watch),
        day("fog", (0.53, [0.46, 0.61]), [0.534, 0.9995, 0.922], (1.3, 6.4), Verdict::Loss),
        day("blur", (0.29, [0.18, 0.36]), [0.291, 0.98, 0.915], (1.3, 7.0), Verdict::Loss),
        day("shear", (0.6, [0.42, 0.9]), [0.373, 0.76, 0.887], (1.4, 3.2), Verdict::Unknown),
    ]
}
