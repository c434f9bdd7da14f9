//! What rests on the order of model and uniform labels, where that order is true and the truth lies at one of its ends: nothing
//! but the margins keeps a statement there.

use crate::DRAWS;
use crate::statements::{TRUTH_ERROR, counted, drawn_label, rows};
use evenkeel::bound::{DkwCorrection, PopulationMargins, exact_gap_between, level_gap_between};
use evenkeel::check::{CheckSettings, ShiftReport, check};
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::measure::{WeightedEmpirical, Weights};
use evenkeel::sandwich::{Sandwich, model_uniform};
use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::seed::{Seed, Stream};

const CLASSES: usize = 3;

/// Which law the labels of a row have: the model's at a temperature, or uniform.
#[derive(Debug, Clone, Copy, PartialEq)]
enum LabelLaw {
    Model { temperature: f64 },
    Uniform,
}

impl LabelLaw {
    fn draw(self, row: &[f64], stream: &mut Stream) -> usize {
        match self {
            LabelLaw::Uniform => stream.below(CLASSES),
            LabelLaw::Model { temperature } => {
                let raw: Vec<f64> = row.iter().map(|p| p.powf(1.0 / temperature)).collect();
                let total: f64 = raw.iter().sum();
                drawn_label(&raw.iter().map(|value| value / total).collect::<Vec<_>>(), stream)
            }
        }
    }
}

/// Labels of the calibration data and of the target data, rows of each, and whether the model's belief is to fail there.
struct World {
    calibration: LabelLaw,
    target: LabelLaw,
    sizes: (usize, usize),
    belief_fails: bool,
}

/// The model as it is, and one that is too timid: its labels follow it at a temperature far below 1.
const AS_GIVEN: LabelLaw = LabelLaw::Model { temperature: 1.0 };
const TIMID: LabelLaw = LabelLaw::Model { temperature: 0.35 };

fn report(world: &World, alpha: f64, delta: f64, draw: u64) -> ShiftReport {
    let mut stream = Seed::new(41).child("assumed", draw).stream("rows");
    let (n, m) = world.sizes;
    let (labeled, labels) = rows(&mut stream, n, |row, stream| world.calibration.draw(row, stream));
    let (target, _) = rows(&mut stream, m, |_, _| 0);
    let settings = CheckSettings {
        permutations: 19,
        ..CheckSettings::new(
            Miscoverage::new(alpha).unwrap(),
            FailureProbability::new(delta).unwrap(),
            Seed::new(draw),
        )
    };
    let tables = |values| Probabilities::new(values, CLASSES).unwrap();
    let labels = Labels::new(labels, CLASSES).unwrap();
    check(&tables(&labeled), &labels, &tables(&target), &Score::Lac, &settings).unwrap().report
}

/// The truth at the model's end, at the uniform end, and at the end of a model whose temperature has to be fitted to few labels,
/// beside so many target rows that their own error is small.
#[test]
fn the_assumed_interval_of_a_check_holds_with_its_confidence() {
    let worlds = [
        World { calibration: AS_GIVEN, target: AS_GIVEN, sizes: (60, 80), belief_fails: false },
        World {
            calibration: AS_GIVEN,
            target: LabelLaw::Uniform,
            sizes: (60, 80),
            belief_fails: false,
        },
        World { calibration: TIMID, target: TIMID, sizes: (60, 600), belief_fails: true },
        World { calibration: TIMID, target: TIMID, sizes: (200, 80), belief_fails: true },
    ];
    for (index, world) in worlds.iter().enumerate() {
        let mut stream = Seed::new(42).stream("population");
        let (values, labels) =
            rows(&mut stream, 200_000, |row, stream| world.target.draw(row, stream));
        let table = Probabilities::new(&values, CLASSES).unwrap();
        let scores =
            Score::Lac.label_scores(&table, &Labels::new(labels, CLASSES).unwrap()).unwrap();
        let population = WeightedEmpirical::uniform(&scores).unwrap();
        for delta in [0.05, 0.2] {
            let [misses, without, doubted] = counted(|draw| {
                let report = report(world, 0.4, delta, draw);
                let coverage = report.threshold.map_or(1.0, |t| population.cdf(t));
                let intervals = report.coverage_interval;
                let misses = |[low, high]: [f64; 2]| {
                    u64::from(!(low - TRUTH_ERROR..=high + TRUTH_ERROR).contains(&coverage))
                };
                // Where too few labels contradict a wrong model, it is assumed to be right as given: that is then false, and the
                // report names it (`assumed_model`).
                let assumed = !(world.belief_fails && report.belief.holds);
                [
                    u64::from(assumed) * misses(intervals.with_confidence.assumed),
                    misses(intervals.assumed),
                    u64::from(!report.belief.holds),
                ]
            });
            let most = delta * DRAWS as f64;
            assert!(misses as f64 <= most, "{misses} at {delta}, world {index}");
            assert!(without > DRAWS / 5, "{without} without a margin: nothing was tested");
            assert_eq!(doubted > DRAWS / 2, world.belief_fails, "{doubted}, world {index}");
        }
    }
}

/// Rows of a model of three labels that knows two kinds of input, with the share of each kind.
const KINDS: [([f64; CLASSES], f64); 2] = [([0.75, 0.125, 0.125], 0.4), ([0.5, 0.375, 0.125], 0.6)];
/// Calibration scores: atoms between those of the target data and tied with them.
const CALIBRATION: [(f64, f64); 3] = [(0.25, 0.5), (0.5, 0.3), (0.625, 0.2)];
/// Calibration scores and target rows of a draw.
const SIZES: (usize, usize) = (60, 40);
const DELTAS: [f64; 4] = [0.2, 0.05, 1e-3, 1e-6];

/// The law of the target scores itself, at one of the two ends: labels by the model, or uniform.
fn end_of_the_order(labels: LabelLaw) -> WeightedEmpirical {
    let (mut scores, mut shares) = (Vec::new(), Vec::new());
    for (row, share) in KINDS {
        for p in row {
            scores.push(1.0 - p);
            shares.push(match labels {
                LabelLaw::Model { .. } => share * p,
                LabelLaw::Uniform => share / CLASSES as f64,
            });
        }
    }
    WeightedEmpirical::new(&scores, &Weights::normalised(shares).unwrap()).unwrap()
}

fn one_of<T: Copy>(choices: &[(T, f64)], stream: &mut Stream) -> T {
    let mut left = stream.uniform();
    let found = choices.iter().find(|(_, share)| {
        left -= share;
        left < 0.0
    });
    found.unwrap_or(&choices[choices.len() - 1]).0
}

fn drawn_pair(stream: &mut Stream) -> Sandwich {
    let values: Vec<f64> = (0..SIZES.1).flat_map(|_| one_of(&KINDS, stream)).collect();
    let table = Probabilities::new(&values, CLASSES).unwrap();
    model_uniform(&Score::Lac.candidate_scores(&table).unwrap()).unwrap()
}

/// `exact` and `level` of f-u, with both kinds of margin, against what they are about.
#[test]
fn f_u_bounds_hold_where_their_order_does() {
    let (scores, shares): (Vec<f64>, Vec<f64>) = CALIBRATION.iter().copied().unzip();
    let p = WeightedEmpirical::new(&scores, &Weights::normalised(shares).unwrap()).unwrap();
    let mut needed = 0;
    for labels in [AS_GIVEN, LabelLaw::Uniform] {
        let q = end_of_the_order(labels);
        let truth = crate::populations::gaps(&p, &p, &q);
        let mut misses = [[0u64; 4]; DELTAS.len()];
        let mut without = 0u64;
        for repetition in 0..DRAWS {
            let mut stream = Seed::new(43).child("f-u", repetition).stream("rows");
            let scores: Vec<f64> =
                (0..SIZES.0).map(|_| one_of(&CALIBRATION, &mut stream)).collect();
            let drawn = WeightedEmpirical::uniform(&scores).unwrap();
            let pair = drawn_pair(&mut stream);
            let at_hand = crate::populations::gaps(&drawn, &p, &q);
            let (exact, level) =
                (exact_gap_between(&drawn, &pair), level_gap_between(&drawn, &pair));
            without += u64::from(exact < truth[0] - 1e-12);
            for (misses, delta) in misses.iter_mut().zip(DELTAS) {
                let delta = FailureProbability::new(delta).unwrap();
                let margins = PopulationMargins::new(SIZES.0, &pair, delta).unwrap();
                let dkw = DkwCorrection::for_sandwich(SIZES.0 as f64, &pair, delta).unwrap();
                let dkw = dkw.calibration + dkw.target;
                let statements = [
                    (exact + margins.total_gap, truth[0]),
                    (level + margins.level_gap, truth[1]),
                    (exact + dkw, at_hand[0]),
                    (level + dkw, at_hand[1]),
                ];
                for (misses, (bound, truth)) in misses.iter_mut().zip(statements) {
                    *misses += u64::from(bound < truth - 1e-12);
                }
            }
        }
        for (misses, delta) in misses.iter().zip(DELTAS) {
            for (misses, failure) in misses.iter().zip([delta, delta, 2.0 * delta, 2.0 * delta]) {
                assert!(
                    *misses as f64 <= failure * DRAWS as f64,
                    "{misses} at {delta}, {labels:?}"
                );
            }
        }
        needed += without;
    }
    // A margin is needed: without one the total gap is missed in more than one draw of ten.
    assert!(needed > DRAWS / 5, "{needed} of {} without a margin", 2 * DRAWS);
}
