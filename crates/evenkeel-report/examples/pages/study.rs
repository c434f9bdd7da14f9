//! The page of a study of many runs.

use evenkeel_report::study::{
    DensityAxis, DensityPlot, DensitySeries, Study, StudyTable, density_plot, render_study,
};

pub fn study() -> String {
    let series = |(label, centre): (&str, f64)| DensitySeries {
        label: label.into(),
        values: (0..80).map(|run| centre + 0.04 * (f64::from(run) * 1.7).sin()).collect(),
    };
    let plot = DensityPlot {
        name: "coverage".into(),
        title: "Coverage over runs".into(),
        caption: "One curve a method, over 80 runs.".into(),
        quantity: "coverage".into(),
        axis: DensityAxis::Percent,
        mark: Some((0.9, "level 90 %".into())),
        series: [("uncorrected", 0.72), ("auto", 0.91), ("ot", 0.88)].map(series).to_vec(),
    };
    let texts = |row: &[&str]| row.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    render_study(&Study {
        title: "Coverage under corruption".into(),
        subtitle: "80 runs a condition".into(),
        lead: vec!["Means over runs, with their standard deviation; `auto` is the default.".into()],
        tables: vec![StudyTable {
            title: "Coverage".into(),
            note: Some("Asked for: 90 %.".into()),
            columns: texts(&["condition", "uncorrected", "auto", "not run"]),
            rows: vec![
                texts(&["fog", "0.53 ± 0.02", "0.96 ± 0.01", ""]),
                texts(&["blur", "0.29 ± 0.02", "0.94 ± 0.02", "–"]),
            ],
        }],
        figures: density_plot(&plot).into_iter().collect(),
        facts: vec![("seed".into(), "0".into())],
    })
}
