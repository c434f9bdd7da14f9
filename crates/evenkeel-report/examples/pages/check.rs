//! Four checks, one for each verdict.

use evenkeel::level::Miscoverage;
use evenkeel_report::{
    Advice, Answer, ClassRow, DataSet, Estimate, ExampleRow, Grounds, MeanSize, Reading,
    ReadingRange, Repair, Report, ShiftOutcome, ShiftTest, Standing, Verdict,
};

use crate::evidence;

const COMMAND: &str = "evenkeel check --cal-probs data/calibration_probs.npy --cal-labels data/calibration_labels.npy \
    --unlabeled data/fog.npy --class-names data/names.txt --html report.html";
const RECALIBRATE: &str = "evenkeel calibrate --cal-probs data/calibration_probs.npy --cal-labels \
    data/calibration_labels.npy --unlabeled data/fog.npy --method auto --out calibration.json";
const LABEL: &str = "evenkeel label --unlabeled data/fog.npy --budget 50 --out rows.csv";

/// What all four share.
fn check(answer: Answer, target: &str, shift: ShiftTest) -> evenkeel::Result<Report> {
    let mut report = Report::new(Miscoverage::new(0.1)?, answer);
    report.date = Some("2026-03-02 06:15 UTC".into());
    report.data = vec![
        DataSet::new(1000, "labeled calibration rows", "calibration_probs.npy"),
        DataSet::new(1000, "unlabeled target rows", target),
    ];
    report.class_count = Some(10);
    report.shift = Some(shift);
    report.classes = evidence::classes();
    for row in &mut report.classes {
        (row.coverage, row.after_repair) = (row.after_repair.map(|share| share - 0.06), None);
    }
    report.classes_under = Some("calibration data, sets in use".into());
    evidence::add(&mut report);
    report.traces.clear();
    report.provenance = evidence::provenance(COMMAND);
    Ok(report)
}

fn readings(values: [f64; 3], band: [f64; 2]) -> Vec<ReadingRange> {
    let error = |value: f64| {
        let half = 1.645 * (value * (1.0 - value) / 1000.0).sqrt();
        [value - half, value + half]
    };
    let kinds = [Reading::Calibrated, Reading::ClassShares, Reading::Matched];
    let mut rows: Vec<ReadingRange> = kinds
        .into_iter()
        .zip(values)
        .map(|(reading, value)| ReadingRange::assumed(reading, value, error(value)))
        .collect();
    rows.push(ReadingRange::range(Reading::Band, band, Standing::Assumed));
    rows.push(ReadingRange::range(Reading::Guaranteed, [0.062, 0.997], Standing::Guaranteed));
    rows
}

fn example(row: u64, top: &str, p: f64, before: &[&str], added: &[&str]) -> ExampleRow {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    ExampleRow {
        row,
        top: Some((top.into(), p)),
        before: names(before),
        after: Some(names(&[before, added].concat())),
        truth: None,
    }
}

pub fn loss() -> evenkeel::Result<Report> {
    let headline = "Coverage is probably about 53 % (range 46 to 61 %), asked for 90 %.";
    let mut answer = Answer::new(Verdict::Loss, headline);
    answer.now = Some(Estimate::assumed(0.53, [0.46, 0.61]));
    answer.repair = Some(Repair {
        method: "auto".into(),
        coverage: Some(Estimate::assumed(0.91, [0.84, 0.97])),
        size: MeanSize { before: Some(1.3), after: Some(4.1) },
    });
    answer.advice = Some(Advice {
        sentence: "Recalibrate with `auto` now, and label 50 rows to be sure.".into(),
        commands: vec![RECALIBRATE.into(), LABEL.into()],
    });
    answer.grounds = Some(Grounds::new(Standing::Assumed));
    let shift = ShiftTest { outcome: ShiftOutcome::Found, p_value: 0.0004 };
    let mut report = check(answer, "fog.npy", shift)?;
    report.run = Some("garment classifier v3".into());
    report.readings = readings([0.58, 0.53, 0.49], [0.47, 0.52]);
    report.examples = vec![
        example(17, "Shirt", 0.44, &["Shirt"], &["T-shirt/top", "Coat"]),
        example(204, "Coat", 0.61, &["Coat", "Pullover"], &["Shirt", "Dress"]),
        example(731, "Bag", 0.99, &["Bag"], &[]),
    ];
    report.warnings = vec![
        "the target data are less like the calibration data than any on which `auto` was tried"
            .into(),
        "the model was too sure of itself on its calibration data already (p < 0.001)".into(),
    ];
    report.account = vec![
        "Every reading is more than 2 points below the level, beyond its sampling error".into(),
    ];
    Ok(report)
}

pub fn ok() -> evenkeel::Result<Report> {
    let headline = "Coverage is probably about 90 % (range 88 to 93 %), as asked for.";
    let mut answer = Answer::new(Verdict::Ok, headline);
    answer.now = Some(Estimate::assumed(0.904, [0.883, 0.927]));
    answer.advice = Some(Advice {
        sentence: "Keep the sets in use. Check again with the next batch.".into(),
        commands: vec![],
    });
    answer.grounds = Some(Grounds::new(Standing::Assumed));
    let shift = ShiftTest { outcome: ShiftOutcome::NotFound, p_value: 0.65 };
    let mut report = check(answer, "monday.npy", shift)?;
    report.readings = readings([0.917, 0.904, 0.901], [0.896, 0.912]);
    Ok(report)
}

pub fn watch() -> evenkeel::Result<Report> {
    let headline = "Coverage is probably about 87 % (range 83 to 90 %), asked for 90 %.";
    let mut answer = Answer::new(Verdict::Watch, headline);
    answer.now = Some(Estimate::assumed(0.87, [0.832, 0.897]));
    answer.repair = Some(Repair {
        method: "auto".into(),
        coverage: Some(Estimate::assumed(0.9, [0.868, 0.93])),
        size: MeanSize { before: Some(1.3), after: Some(1.5) },
    });
    answer.advice = Some(Advice {
        sentence: "Little is lost. Label 50 rows to see how much.".into(),
        commands: vec![LABEL.into()],
    });
    answer.grounds = Some(Grounds::new(Standing::Assumed));
    let shift = ShiftTest { outcome: ShiftOutcome::Found, p_value: 0.012 };
    let mut report = check(answer, "mild_noise.npy", shift)?;
    report.readings = readings([0.884, 0.87, 0.858], [0.845, 0.872]);
    // Many classes: folded.
    report.classes = (0..40_u32)
        .map(|index| ClassRow {
            name: format!("class {index}"),
            points: 20 + index as usize,
            coverage: Some(0.8 + f64::from(index * 7 % 40) / 220.0),
            ..ClassRow::default()
        })
        .collect();
    Ok(report)
}

pub fn unknown() -> evenkeel::Result<Report> {
    let headline =
        "Coverage may be anywhere from 58 to 91 %, asked for 90 %: only labels can tell.";
    let mut answer = Answer::new(Verdict::Unknown, headline);
    answer.now =
        Some(Estimate { value: None, range: Some([0.58, 0.91]), standing: Standing::Assumed });
    answer.repair = Some(Repair {
        method: "auto".into(),
        coverage: Some(Estimate::assumed(0.93, [0.74, 0.99])),
        size: MeanSize { before: Some(1.3), after: Some(2.2) },
    });
    answer.advice = Some(Advice {
        sentence: "Label 50 rows drawn at random: they measure coverage to within 9 points.".into(),
        commands: vec![LABEL.into()],
    });
    answer.grounds = Some(Grounds::new(Standing::Assumed));
    let shift = ShiftTest { outcome: ShiftOutcome::Found, p_value: 0.001 };
    let mut report = check(answer, "shear.npy", shift)?;
    report.readings = readings([0.89, 0.71, 0.62], [0.59, 0.66]);
    report.warnings = vec!["the readings disagree by 27 points".into()];
    Ok(report)
}
