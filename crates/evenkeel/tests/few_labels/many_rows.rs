//! More rows than are kept: a second pass adds up the law, and the threshold is nearly that of all rows.

use evenkeel::calibration::{Calibration, Rule};
use evenkeel::level::Miscoverage;
use evenkeel::method::Method;
use evenkeel::method::few_labels::{ChangeBelief, FewLabelsSettings, LabelThresholds};
use evenkeel::method::label_plan::LabelPlanSettings;

use crate::world::{evidence, fit_method, points, stream};

fn thresholds(calibration: &Calibration) -> &LabelThresholds {
    match calibration.rule() {
        Rule::FewLabels { thresholds } => thresholds,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_second_pass_gives_nearly_the_same_thresholds() {
    let mut stream = stream("many rows");
    let calibration = points(300, 5, 4.0, 0.0, &mut stream);
    let target = points(30_000, 5, 4.0, 0.3, &mut stream);
    let labels = target.first_labels(50);
    let settings = |kept_cells: usize| FewLabelsSettings {
        change: ChangeBelief::Changed,
        plan: LabelPlanSettings { kept_cells, ..LabelPlanSettings::default() },
        ..FewLabelsSettings::default()
    };
    let fitted = |kept_cells: usize| {
        let method = Method::FewLabels(settings(kept_cells));
        fit_method(method, &calibration, &target, &labels).unwrap()
    };
    let (one_pass, all) = fitted(1 << 21);
    let (two_passes, sampled) = fitted(50_000);
    assert_eq!((one_pass, two_passes), (1, 2));
    assert_eq!(evidence(&sampled).planned_rows, 10_000);
    for rate in [0.02, 0.05, 0.1, 0.2, 0.5] {
        let alpha = Miscoverage::new(rate).unwrap();
        let threshold = sampled.threshold(Some(alpha)).unwrap().get();
        // Coverage under the law of all rows: the level, give or take what 10 000 rows say of temperatures and plans.
        let reached = thresholds(&all).posterior_law(alpha, threshold);
        assert!((reached - (1.0 - rate)).abs() < 0.005, "{rate}: {reached}");
        let (found, exact) = (thresholds(&sampled).at(alpha), thresholds(&all).at(alpha));
        assert!((found.expected_error - exact.expected_error).abs() < 0.002, "{found:?} {exact:?}");
    }
    // 150 000 atoms are kept as at most 16 384, the labels and what the level asked for needs.
    let text = serde_json::to_string(&all).unwrap();
    assert!(text.len() < 1_500_000, "{}", text.len());
}
