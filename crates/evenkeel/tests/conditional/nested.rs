//! Sets do not lose labels as alpha falls, and points too few for thresholds of their own are named.

use evenkeel::calibration::{Calibration, Warning};
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::conformal::Cutoffs;
use evenkeel::level::Miscoverage;
use evenkeel::method::Method;
use evenkeel::method::conditional::{
    ConditionalChoice, ConditionalModel, ConditionalSettings, FlatIntercept, LambdaChoice,
    PenaltyChoice,
};
use evenkeel::rows::Rows;
use evenkeel::score::{Labels, Probabilities};
use evenkeel::seed::Seed;
use evenkeel::side_inputs::{Labeled, SideInputs};
use evenkeel::threshold::Threshold;
use proptest::prelude::*;

/// Rungs of the ladder from 0.01 on: at these, cutoffs are those of fits.
const LEVELS: [f64; 9] = [0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5];
const CLASSES: usize = 4;

/// Probabilities, labels and one feature. How sure the model is changes along the feature, from rows like `(1, 0, 0, 0)`
/// up to rounding to rows that say nothing.
struct World {
    probabilities: Vec<f64>,
    labels: Vec<usize>,
    features: Vec<f64>,
}

impl World {
    fn new(points: usize, seed: u64) -> Self {
        let mut stream = Seed::new(seed).stream("world");
        let mut world =
            Self { probabilities: Vec::new(), labels: Vec::new(), features: Vec::new() };
        for _ in 0..points {
            let feature = stream.uniform();
            let sharpness = 40.0 * feature * stream.uniform();
            let weights: Vec<f64> =
                (0..CLASSES).map(|_| (sharpness * stream.uniform()).exp()).collect();
            let total: f64 = weights.iter().sum();
            let row: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
            let mut left = stream.uniform();
            let label = row.iter().position(|p| {
                left -= p;
                left < 0.0
            });
            world.labels.push(label.unwrap_or(CLASSES - 1));
            world.probabilities.extend(row);
            world.features.push(feature);
        }
        world
    }

    fn features(&self) -> Rows<'_, f64> {
        Rows::new("features", &self.features, 1).unwrap()
    }

    fn calibrate(&self, penalty: PenaltyChoice, alpha: f64) -> Calibration {
        let probabilities = Probabilities::new(&self.probabilities, CLASSES).unwrap();
        let labels = Labels::new(self.labels.clone(), CLASSES).unwrap();
        let beside = SideInputs::features(self.features());
        let labeled = Labeled { probabilities: &probabilities, labels: &labels, beside };
        let choice = ConditionalChoice { penalty, ..ConditionalChoice::default() };
        let calibrator = ShiftCalibrator::new(alpha).unwrap().method(Method::Conditional(choice));
        calibrator.calibrate_beside(&labeled, &probabilities, beside).unwrap()
    }

    /// Cutoffs of the fits themselves, one after the other.
    fn fits(&self, calibration: &Calibration, lambda: f64, test: &Self, alpha: f64) -> Vec<f64> {
        let settings = ConditionalSettings {
            lambda: LambdaChoice::Fixed(lambda),
            flat_intercept: FlatIntercept::default(),
            ..ConditionalSettings::default()
        };
        let scores: Vec<f64> = self
            .probabilities
            .chunks_exact(CLASSES)
            .zip(&self.labels)
            .map(|(row, label)| 1.0 - row[*label])
            .collect();
        assert_eq!(scores.len(), calibration.scores().len());
        let model = ConditionalModel::fit(self.features(), &scores, &settings).unwrap();
        let cutoffs = model.cutoffs(test.features(), Miscoverage::new(alpha).unwrap()).unwrap();
        cutoffs.into_iter().map(Threshold::get).collect()
    }
}

fn cutoffs(calibration: &Calibration, test: &World, alpha: f64) -> Vec<f64> {
    let rows = Rows::new("probabilities", &test.probabilities, CLASSES).unwrap();
    let beside = SideInputs::features(test.features());
    let alpha = Some(Miscoverage::new(alpha).unwrap());
    match calibration.cutoffs(0, rows, beside, alpha).unwrap() {
        Cutoffs::PerRow(each) => each.into_iter().map(Threshold::get).collect(),
        other => panic!("{other:?}"),
    }
}

/// Quantile fits at two rates may cross. The cutoffs that are used do not, and are the fits' own wherever those do not.
#[test]
fn sets_are_nested_in_alpha() {
    let (mut crossed, mut kept) = (0, 0);
    for seed in 0..12 {
        let (world, test) = (World::new(120, seed), World::new(60, 100 + seed));
        let lambda = [0.005, 0.001, 0.0002][(seed % 3) as usize];
        let calibration = world.calibrate(PenaltyChoice::Fixed(lambda), 0.1);
        let used: Vec<Vec<f64>> =
            LEVELS.iter().map(|alpha| cutoffs(&calibration, &test, *alpha)).collect();
        let fits: Vec<Vec<f64>> =
            LEVELS.iter().map(|alpha| world.fits(&calibration, lambda, &test, *alpha)).collect();
        for point in 0..60 {
            for level in 1..LEVELS.len() {
                assert!(used[level][point] <= used[level - 1][point], "{seed} {point} {level}");
            }
            for level in 0..LEVELS.len() {
                let above = fits[level + 1..].iter().map(|fit| fit[point]).fold(f64::MIN, f64::max);
                let (fit, used) = (fits[level][point], used[level][point]);
                if above > fit {
                    crossed += 1;
                    assert_eq!(used.to_bits(), above.to_bits());
                } else {
                    kept += 1;
                    assert_eq!(used.to_bits(), fit.to_bits());
                }
            }
        }
    }
    // Both happen, or this test shows nothing.
    assert!(crossed >= 5 && kept > 20 * crossed, "{crossed} of {kept} crossed");
}

/// Any rate, small ones as often as large ones, rungs and their neighbours among them.
fn rate() -> impl Strategy<Value = f64> {
    prop_oneof![
        (-4.5..0.0f64).prop_map(|exponent| 10f64.powf(exponent).min(0.999)),
        0.001..0.999f64,
        prop::sample::select(LEVELS.to_vec()),
        prop::sample::select(LEVELS.to_vec()).prop_map(|rung| 1.0 - (1.0 - rung)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// A smaller rate never has the smaller cutoff, and no cutoff is below that of the fit at the rung it stands on, which is the
    /// rate's own promise or a stronger one.
    #[test]
    fn sets_are_nested_at_any_pair_of_rates(
        (first, second) in (rate(), rate()),
        (seed, tested) in (0u64..12, 100u64..1000),
        lambda in prop::sample::select(vec![0.005, 0.001, 0.0002]),
    ) {
        let (world, test) = (World::new(120, seed), World::new(20, tested));
        let calibration = world.calibrate(PenaltyChoice::Fixed(lambda), 0.1);
        let (smaller, larger) = (first.min(second), first.max(second));
        let [wide, narrow] = [smaller, larger].map(|alpha| cutoffs(&calibration, &test, alpha));
        for point in 0..20 {
            prop_assert!(narrow[point] <= wide[point], "{point}: {} {}", narrow[point], wide[point]);
        }
        let below = LEVELS.into_iter().rfind(|rung| *rung <= larger + 1e-12);
        if let Some(rung) = below {
            let fits = world.fits(&calibration, lambda, &test, rung);
            for point in 0..20 {
                prop_assert!(fits[point] <= narrow[point], "{point}: {} {}", fits[point], narrow[point]);
            }
        }
    }
}

/// With few points the test point's own term decides: sets hold every label, and the calibration says so.
#[test]
fn too_few_points_for_thresholds_of_their_own_are_named() {
    let warned = |points: usize| {
        let world = World::new(points, 5);
        let calibration = world.calibrate(PenaltyChoice::Fixed(0.005), 0.1);
        let test = World::new(200, 6);
        let all = cutoffs(&calibration, &test, 0.1).iter().filter(|cutoff| **cutoff >= 1.0).count();
        (names(&calibration).contains(&FEW), names(&calibration).contains(&"all-labels"), all)
    };
    for points in [12, 20] {
        let (few, none, all) = warned(points);
        assert!(few && !none && all > 100, "{points}: {few} {none} {all}");
    }
    for points in [400, 1000] {
        let (few, none, all) = warned(points);
        assert!(!few && !none && all < 100, "{points}: {few} {none} {all}");
    }
    // Fewer than the level needs at all: one warning, the one that every method has.
    assert_eq!((warned(8).0, warned(8).1), (false, true));
    let words = World::new(20, 5).calibrate(PenaltyChoice::Fixed(0.005), 0.1).warnings();
    let expected = "20 calibration points are too few for a threshold at each point";
    assert!(words[0].contains(expected), "{words:?}");
}

/// The same with nothing given beside the probabilities, where points are further apart: what users have by default.
#[test]
fn too_few_points_are_named_with_the_default_features() {
    for (points, few) in [(20, true), (50, true), (2000, false)] {
        let (world, test) = (World::new(points, 7), World::new(200, 8));
        let probabilities = Probabilities::new(&world.probabilities, CLASSES).unwrap();
        let labels = Labels::new(world.labels.clone(), CLASSES).unwrap();
        let method = Method::Conditional(ConditionalChoice::default());
        let calibrator = ShiftCalibrator::new(0.1).unwrap().method(method);
        let calibration = calibrator.calibrate(&probabilities, &labels, &probabilities).unwrap();
        let rows = Rows::new("probabilities", &test.probabilities, CLASSES).unwrap();
        let sets = calibration.predict(0, rows, None).unwrap();
        let all = (0..200).filter(|row| sets.size(*row) == CLASSES).count();
        assert_eq!(names(&calibration).contains(&FEW), few, "{points}: {all} of 200 hold all");
        assert_eq!(all >= 100, few, "{points}: {all} of 200 hold all");
    }
}

const FEW: &str = "most-sets-hold-every-label";

fn names(calibration: &Calibration) -> Vec<&'static str> {
    calibration.learned().warnings.iter().map(Warning::name).collect()
}
