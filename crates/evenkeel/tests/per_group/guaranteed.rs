//! `--per class` with few-labels and a guarantee, 2000 times in a world where the coverage of a threshold is known exactly.

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::method::Method;
use evenkeel::method::few_labels::{
    ChangeBelief, FewLabelsSettings, Guarantee, GuaranteeProbability,
};
use evenkeel::method::label_plan::LabelPlanSettings;
use evenkeel::per_group::{ClassFitOf, SmallGroups};
use evenkeel::seed::Seed;
use evenkeel::side_inputs::{SideInputs, TargetLabels};

use super::classes::read;
use super::world::{Draws, Points, fitted};

const DRAWS: u64 = 2000;
/// Miscoverage rate.
const ALPHA: f64 = 0.2;
/// Target rows, and how many of them are labeled.
const SIZES: (usize, usize) = (60, 40);
/// Scores of a class are uniform below these: the model is far surer than it should be on the target data, of class 0 above all.
const SPREADS: ([f64; 2], [f64; 2]) = ([0.3, 0.3], [0.9, 0.5]);

/// Coverage of both classes at their thresholds in one draw.
fn coverages(guarantee: Guarantee, draw: u64) -> [f64; 2] {
    let (m, k) = SIZES;
    let mut random =
        Draws(Seed::new(61).child("per class", draw).stream("start").below(1 << 40) as u64);
    let calibration = Points::binary([40, 40], SPREADS.0, &mut random);
    // Classes by the toss of a coin, one row after the other: any rows are a random draw.
    let firsts = (0..m).filter(|_| random.next() < 0.5).count();
    let target = Points::binary([firsts, m - firsts], SPREADS.1, &mut random);
    let mut rows: Vec<(f64, usize)> = (0..m).map(|row| (random.next(), row)).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let known: Vec<(u64, usize)> =
        rows[..k].iter().map(|(_, row)| (*row as u64, target.labels[*row])).collect();
    let known = TargetLabels::new(&known, 2).unwrap();
    let settings = FewLabelsSettings {
        change: ChangeBelief::Changed,
        plan: LabelPlanSettings { tolerance: 1e-2, ..LabelPlanSettings::default() },
        guarantee,
    };
    let few_labels = ShiftCalibrator::new(ALPHA).unwrap().method(Method::FewLabels(settings));
    let fit = fitted(&few_labels, &calibration, &target, (2, SideInputs::labels(&known)));
    let (_, labels) = calibration.checked(2);
    // A class of too few rows keeps every label, so that each has a statement of its own.
    let of = ClassFitOf {
        labels: &labels,
        weights: None,
        target_labels: Some(&known),
        small: SmallGroups::AllLabels,
    };
    let thresholds = read(fit, &of, &target, (2, m, false)).thresholds(None);
    std::array::from_fn(|class| (thresholds[class].get() / SPREADS.1[class]).min(1.0))
}

fn means(found: &[[f64; 2]]) -> [f64; 2] {
    [0, 1].map(|class| found.iter().map(|one| one[class]).sum::<f64>() / found.len() as f64)
}

#[test]
fn guarantees_of_labels_hold_for_each_class() {
    let all = |guarantee| -> Vec<[f64; 2]> {
        (0..DRAWS).map(|draw| coverages(guarantee, draw)).collect()
    };
    let none = means(&all(Guarantee::None));
    let average = all(Guarantee::Average);
    let probability = GuaranteeProbability::new(0.8).unwrap();
    let probable = all(Guarantee::Probability { probability });
    for (class, mean) in means(&average).into_iter().enumerate() {
        let variance = average.iter().map(|one| (one[class] - mean).powi(2)).sum::<f64>();
        let error = (variance / (DRAWS * DRAWS) as f64).sqrt();
        assert!(mean + 4.0 * error >= 1.0 - ALPHA, "class {class}: {mean} on average");
        let missed = probable.iter().filter(|one| one[class] < 1.0 - ALPHA).count() as f64;
        let expected = 0.2 * DRAWS as f64;
        assert!(missed <= expected + 4.0 * (0.8 * expected).sqrt(), "class {class}: {missed}");
    }
    // Without a guarantee some class is covered below the level: it is needed here.
    assert!(none.iter().any(|mean| *mean < 1.0 - ALPHA - 0.01), "{none:?}");
}
