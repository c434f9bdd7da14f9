//! Same inputs, same seed, same bytes: across runs, threads and orders of the calibration points.

use crate::transport;
use crate::world::{CLASSES, sample};
use evenkeel::calibration::Calibration;
use evenkeel::calibrator::TargetScores;
use evenkeel::learning::optimise::StoppingRule;
use evenkeel::method::{ObjectiveChoice, SandwichChoice, TransportSettings, WeightsChoice};
use evenkeel::score::Score;
use rayon::prelude::*;

fn variants() -> Vec<TransportSettings> {
    let stopping = StoppingRule::after(60).unwrap();
    let base = TransportSettings { stopping, ..TransportSettings::paper() };
    vec![
        base,
        TransportSettings { sandwich: SandwichChoice::MinMax, ..base },
        TransportSettings { sandwich: SandwichChoice::ModelUniformSampled, ..base },
        TransportSettings { objective: ObjectiveChoice::Wasserstein, ..base },
        TransportSettings { weights: WeightsChoice::Function, ..base },
    ]
}

fn bytes(calibration: &Calibration) -> String {
    serde_json::to_string(calibration).unwrap()
}

fn run(threads: usize) -> Vec<String> {
    let (labeled, target) = (sample(120, 1.0, 1), sample(150, 0.7, 2));
    let scores = labeled.scores();
    let candidates = Score::Lac.candidate_scores(&target.probabilities()).unwrap();
    let jobs: Vec<(TransportSettings, u64)> = variants()
        .into_iter()
        .flat_map(|settings| (0..4).map(move |seed| (settings, seed)))
        .collect();
    let fit = |(settings, seed): &(TransportSettings, u64)| {
        let target = TargetScores::Candidates(&candidates);
        let range = Score::Lac.range(CLASSES);
        let fitted = transport(*settings, *seed).calibrate_scores(&scores, target, CLASSES, range);
        bytes(&fitted.unwrap())
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| jobs.par_iter().map(fit).collect())
}

#[test]
fn one_thread_and_several_give_the_same_bytes_in_every_run() {
    let once = run(1);
    assert_eq!(once, run(1));
    assert_eq!(once, run(2));
    assert_eq!(once, run(5));
    // Different seeds are different runs, or the comparison above would show nothing.
    assert_ne!(once[0], once[1]);
}

/// Scores are sorted before anything is drawn, so the order of the calibration points does not matter.
#[test]
fn the_order_of_the_calibration_points_does_not_matter() {
    let (labeled, target) = (sample(120, 1.0, 1), sample(150, 0.7, 2));
    let candidates = Score::Lac.candidate_scores(&target.probabilities()).unwrap();
    let mut scores = labeled.scores();
    for settings in variants() {
        let fit = |scores: &[f64]| {
            let target = TargetScores::Candidates(&candidates);
            let range = Score::Lac.range(CLASSES);
            transport(settings, 5).calibrate_scores(scores, target, CLASSES, range).unwrap()
        };
        let forward = bytes(&fit(&scores));
        scores.reverse();
        assert_eq!(forward, bytes(&fit(&scores)));
    }
}

/// Tables of more than two million candidate scores are sketched; the weights are those of the whole table.
#[test]
fn a_table_large_enough_to_be_sketched_gives_the_same_weights() {
    let (labeled, target) = (sample(60, 1.0, 1), sample(210_000, 0.7, 2));
    let stopping = StoppingRule::after(50).unwrap();
    for sandwich in [SandwichChoice::ModelUniform, SandwichChoice::MinMax] {
        let settings = TransportSettings { sandwich, stopping, ..TransportSettings::paper() };
        let calibrator = transport(settings, 0);
        let sketched = calibrator
            .calibrate(&labeled.probabilities(), &labeled.labels(), &target.probabilities())
            .unwrap();
        let candidates = Score::Lac.candidate_scores(&target.probabilities()).unwrap();
        let whole = calibrator
            .calibrate_scores(
                &labeled.scores(),
                TargetScores::Candidates(&candidates),
                CLASSES,
                Score::Lac.range(CLASSES),
            )
            .unwrap();
        for (a, b) in sketched.weights().as_slice().iter().zip(whole.weights().as_slice()) {
            assert!((a - b).abs() < 1e-11, "{a} sketched, {b} from the whole table");
        }
        assert_eq!(sketched.threshold(None), whole.threshold(None));
        let bounds = |calibration: &Calibration| calibration.learned().bound_after.unwrap();
        assert!((bounds(&sketched) - bounds(&whole)).abs() < 1e-10);
    }
}
