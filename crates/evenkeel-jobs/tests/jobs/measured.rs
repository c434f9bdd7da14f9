//! The interval that labels give in a check, 2000 times in a world whose coverage is known: at a threshold that did not look at the
//! labels, and at one that was chosen with them.

use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::Method;
use evenkeel::method::few_labels::FewLabelsSettings;
use evenkeel::score::Score;
use evenkeel::seed::{Seed, Stream};
use evenkeel_jobs::{CheckJob, CoverageMeasured, TargetLabels, Unobserved, calibrate, check};
use rayon::prelude::*;

use crate::world::{CLASSES, Points, alpha, calibrator, level, seed};

const DRAWS: u64 = 2000;
/// Labeled rows, which are the first: rows are drawn independently, so that any of them are a random draw.
const LABELS: usize = 20;
/// Three standard errors of a share of 200 000 rows.
const TRUTH_ERROR: f64 = 0.0034;

/// Rows of a model that is as right as it says, sharper or duller.
fn points(rows: usize, sharpness: f64, stream: &mut Stream) -> Points {
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let raw: Vec<f64> = (0..CLASSES).map(|_| (sharpness * stream.uniform()).exp()).collect();
        let total: f64 = raw.iter().sum();
        let (mut left, mut label) = (total * stream.uniform(), 0);
        while label + 1 < CLASSES && left > raw[label] {
            left -= raw[label];
            label += 1;
        }
        values.extend(raw.iter().map(|raw| raw / total));
        labels.push(label);
    }
    Points { values, labels }
}

fn labels_of(target: &Points) -> TargetLabels {
    let pairs = target.labels.iter().copied().enumerate().take(LABELS).collect();
    TargetLabels::new("labels", pairs, CLASSES).unwrap()
}

/// What a check counts, and the threshold it asks about.
fn measured(mut job: CheckJob, cal: &Points, target: &Points) -> (CoverageMeasured, Option<f64>) {
    job.labels = labels_of(target);
    job.settings.permutations = 19;
    let found = check(&job, &cal.labeled(), &mut target.source("target"), &mut Unobserved).unwrap();
    (found.measured.unwrap(), found.report.threshold)
}

#[test]
fn coverage_lies_in_the_interval_of_the_labels_as_often_as_said() {
    let mut stream = Seed::new(51).stream("population");
    let many = points(200_000, 2.0, &mut stream);
    let scores = many.labels.iter().zip(many.values.chunks_exact(CLASSES));
    let scores: Vec<f64> = scores.map(|(label, row)| 1.0 - row[*label]).collect();
    let population = WeightedEmpirical::uniform(&scores).unwrap();
    let misses = |draw: u64| -> [u64; 2] {
        let mut stream = Seed::new(52).child("measured", draw).stream("rows");
        let (cal, target) = (points(60, 6.0, &mut stream), points(50, 2.0, &mut stream));
        let missed = |found: &CoverageMeasured, threshold: Option<f64>| {
            let coverage = threshold.map_or(1.0, |t| population.cdf(t));
            let within = found.low - TRUTH_ERROR..=found.high + TRUTH_ERROR;
            u64::from(!within.contains(&coverage))
        };
        let job = CheckJob::new(Score::Lac, alpha(), level(), seed());
        let (found, threshold) = measured(job, &cal, &target);
        assert!(!found.chosen_with_labels && found.confidence == 0.95);
        let before = missed(&found, threshold);

        let labels = labels_of(&target).of_rows(CLASSES).unwrap();
        let labeled = cal.labeled().with_target_labels(&labels);
        let few_labels = calibrator(Method::FewLabels(FewLabelsSettings::default()));
        let source = &mut target.source("target");
        let fitted = calibrate(&few_labels, &labeled, source, &mut Unobserved).unwrap().calibration;
        let job = CheckJob::of_calibration(&fitted, "cal", None, level()).unwrap();
        let (found, threshold) = measured(job, &cal, &target);
        assert!(found.chosen_with_labels && found.confidence == 0.95);
        [before, missed(&found, threshold)]
    };
    let found: Vec<[u64; 2]> = (0..DRAWS).into_par_iter().map(misses).collect();
    let [before, chosen] = [0, 1].map(|form| found.iter().map(|misses| misses[form]).sum::<u64>());
    let most = 0.05 * DRAWS as f64;
    assert!(before as f64 <= most, "{before} at a threshold of the calibration data");
    assert!(chosen as f64 <= most, "{chosen} at a threshold that the labels chose");
    assert!(before > 0, "never missed: nothing was tested");
}
