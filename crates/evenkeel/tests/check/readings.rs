//! Readings: laws on the line, whatever the score; their hull, the estimate and the evidence of `auto`.

use crate::world::{CLASSES, Sample, sample};
use crate::{checked, checked_with, settings};
use evenkeel::calibration::{Calibration, Evidence};
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::check::{CheckSettings, Checked, ThresholdInQuestion, check};
use evenkeel::level::{Level, Miscoverage};
use evenkeel::reading::{ReadingName, ScoreLaws, Verdict};
use evenkeel::score::{Aps, Labels, Probabilities, Randomisation, Raps, Score};
use evenkeel::seed::{Seed, Stream};
use evenkeel::threshold::Threshold;

fn scores() -> [Score; 5] {
    let draws = Randomisation::Uniform(Seed::new(3));
    [
        Score::Lac,
        Score::Margin,
        Score::Aps(Aps::default()),
        Score::Aps(Aps { randomisation: draws }),
        Score::Raps(Raps::new(0.05, 1, draws).unwrap()),
    ]
}

/// What must hold of any laws at any threshold.
fn assert_laws(laws: &ScoreLaws, thresholds: &[f64], level: f64) {
    let level = Level::new(level).unwrap();
    let mut before = [0.0; 5];
    for t in thresholds {
        let found = laws.readings(Threshold::Finite(*t), level);
        let estimate = found.coverage_estimate;
        for (name, before) in ReadingName::ALWAYS.into_iter().zip(&mut before) {
            let coverage = laws.cdf(name, *t);
            assert!((0.0..=1.0).contains(&coverage) && coverage >= *before, "{name:?} at {t}");
            *before = coverage;
            // The hull holds every law it is made of.
            if ReadingName::HULL.contains(&name) {
                assert!(estimate.low <= coverage && coverage <= estimate.high, "{name:?} at {t}");
            }
        }
        assert_eq!(estimate.value, laws.cdf(ReadingName::ClassShares, *t));
        assert!(0.0 <= estimate.low && estimate.high <= 1.0);
        let (low, high) = laws.unwidened_hull(&ReadingName::HULL, *t);
        assert!(estimate.low <= low && high <= estimate.high);
        for reading in &found.readings {
            assert_eq!(reading.coverage, laws.cdf(reading.name, *t));
            let (f, m) = (reading.coverage, laws.rows_of(reading.name) as f64);
            let expected = 1.645 * ((f * (1.0 - f)).max(1.0 / m) / m).sqrt();
            assert_eq!(reading.sampling_error, expected);
        }
        let points = |coverage: f64| 100.0 * (level.get() - coverage).max(0.0);
        assert_eq!(found.loss.value, points(estimate.value));
        assert!(found.loss.low <= found.loss.value && found.loss.value <= found.loss.high);
        assert_eq!(
            (found.loss.low, found.loss.high),
            (points(estimate.high), points(estimate.low))
        );
    }
    let all = laws.readings(Threshold::AllLabels, level);
    assert!(all.readings.iter().all(|reading| reading.coverage == 1.0));
    assert_eq!((all.threshold, all.verdict, all.band), (None, Verdict::Ok, [1.0; 2]));
    assert_eq!((all.coverage_estimate.value, all.loss.high), (1.0, all.loss.high.max(0.0)));
}

#[test]
fn readings_are_laws_for_every_score() {
    let mut stream = Seed::new(9).stream("thresholds");
    let worlds = [(150, 1.0, 130), (60, 0.8, 300), (300, 0.5, 45), (12, 0.6, 7), (5, 1.0, 1)];
    for (seed, (n, strength, m)) in worlds.into_iter().enumerate() {
        let labeled = sample(n, 1.0, seed as u64);
        let target = sample(m, strength, 100 + seed as u64);
        for score in scores() {
            let checked = checked_with(&labeled, &target, score, &settings());
            let range = score.range(CLASSES);
            let mut thresholds: Vec<f64> =
                (0..60).map(|_| range.low() + range.width() * stream.uniform()).collect();
            thresholds.extend([range.low() - 1.0, range.low(), range.high(), range.high() + 1.0]);
            thresholds.extend(checked.plan.thresholds().scores());
            thresholds.extend(checked.plan.thresholds().tail().iter().map(|atom| atom.score));
            thresholds.sort_by(f64::total_cmp);
            assert_laws(checked.plan.laws(), &thresholds, 0.9);
            let laws = checked.plan.laws();
            assert_eq!(laws.cdf(ReadingName::Matched, range.low() - 1e-9), 0.0);
            assert_eq!(laws.cdf(ReadingName::Matched, range.high() + 1e-3), 1.0);
        }
    }
}

/// `1/m sum_j sum_y softmax(log p_j / T)(y) 1{s_jy <= t}`, by adding up.
fn calibrated(target: &Sample, temperature: f64, score: &Score, t: f64) -> f64 {
    let candidates =
        score.with_draws_for("today").candidate_scores(&target.probabilities()).unwrap();
    let mut sum = 0.0;
    for (index, row) in target.probabilities.chunks_exact(CLASSES).enumerate() {
        let powers: Vec<f64> = row.iter().map(|p| p.powf(1.0 / temperature)).collect();
        let total: f64 = powers.iter().sum();
        let scored = powers.iter().zip(candidates.row(index));
        sum += scored.filter(|(_, s)| **s <= t).map(|(power, _)| power / total).sum::<f64>();
    }
    sum / target.labels.len() as f64
}

/// Exact at every calibration score, and at any threshold in question.
#[test]
fn coverage_at_the_threshold_in_question_is_exact() {
    let (labeled, target) = (sample(200, 1.0, 1), sample(300, 0.7, 2));
    for score in scores() {
        let range = score.range(CLASSES);
        for share in [0.0, 0.111, 0.5, 0.777, 0.9999, 1.0] {
            let t = range.low() + share * range.width();
            let threshold = ThresholdInQuestion::Given(Threshold::Finite(t));
            let settings = CheckSettings { threshold, ..settings() };
            let Checked { report, plan, .. } = checked_with(&labeled, &target, score, &settings);
            let expected = calibrated(&target, plan.evidence().temperature, &score, t);
            let found = report.readings[0].coverage;
            assert!((found - expected).abs() < 1e-9, "{found} against {expected} at {t}");
        }
        let plan = checked_with(&labeled, &target, score, &settings()).plan;
        for t in plan.thresholds().scores() {
            let expected = calibrated(&target, plan.evidence().temperature, &score, *t);
            let found = plan.laws().cdf(ReadingName::Calibrated, *t);
            assert!((found - expected).abs() < 1e-9, "{found} against {expected} at {t}");
        }
    }
}

/// A table of many classes, in families that are confused among themselves.
fn many_classes(rows: usize, classes: usize, strength: f64, seed: u64) -> (Vec<f64>, Vec<usize>) {
    let mut stream = Seed::new(seed).stream("many");
    let noise = |stream: &mut Stream| stream.uniform() + stream.uniform() - 1.0;
    let (mut table, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let label = stream.below(classes);
        let mut row: Vec<f64> = (0..classes)
            .map(|class| {
                let family = if class % 20 == label % 20 { 2.0 * strength } else { 0.0 };
                let own = if class == label { 6.0 * strength } else { 0.0 };
                (family + own + 3.0 * noise(&mut stream)).exp()
            })
            .collect();
        let total: f64 = row.iter().sum();
        row.iter_mut().for_each(|value| *value /= total);
        table.extend(row);
        labels.push(label);
    }
    (table, labels)
}

#[test]
fn a_thousand_classes_are_grouped() {
    let classes = 1000;
    let (before, labels) = many_classes(400, classes, 1.0, 1);
    let (after, _) = many_classes(250, classes, 0.6, 2);
    let labels = Labels::new(labels, classes).unwrap();
    let before = Probabilities::new(&before, classes).unwrap();
    let after = Probabilities::new(&after, classes).unwrap();
    let checked = check(&before, &labels, &after, &Score::Lac, &settings()).unwrap();
    assert!(checked.plan.evidence().prior.len() <= 25);
    let thresholds: Vec<f64> = (0..200).map(|i| f64::from(i) / 199.0).collect();
    assert_laws(checked.plan.laws(), &thresholds, 0.9);
    // Confidence fell: every view of the accuracy is below that on the calibration data.
    let accuracy = checked.report.accuracy.unwrap();
    assert!(accuracy.used < accuracy.statistics.calibration, "{accuracy:?}");
}

fn decision(labeled: &Sample, target: &Sample) -> (Calibration, Evidence) {
    let fitted = ShiftCalibrator::new(0.1)
        .unwrap()
        .calibrate(&labeled.probabilities(), &labeled.labels(), &target.probabilities())
        .unwrap();
    let evidence = fitted.learned().evidence.clone().unwrap();
    (fitted, evidence)
}

/// What `auto` stores is what a check of the same data says.
#[test]
fn the_evidence_of_auto_has_the_readings_of_both_thresholds() {
    let labeled = sample(300, 1.0, 1);
    let (fitted, evidence) = decision(&labeled, &sample(400, 0.6, 2));
    let Evidence::Auto(decision) = evidence else { panic!("not auto") };
    let plan = decision.plan.unwrap();
    let report = checked(&labeled, &sample(400, 0.6, 2)).report;
    let uncorrected = plan.uncorrected.unwrap();
    assert_eq!(uncorrected.threshold, report.threshold);
    assert_eq!(uncorrected.coverage_estimate, report.coverage_estimate);
    assert_eq!(uncorrected.readings, report.readings);
    assert_eq!(plan.accuracy, report.accuracy);
    let corrected = plan.corrected.unwrap();
    assert_eq!(corrected.threshold, fitted.threshold(None).map(Threshold::get));
    // The aimed law reaches the level at the new threshold.
    assert!(corrected.coverage_estimate.value > 0.88, "{corrected:?}");
    assert!(corrected.coverage_estimate.value > uncorrected.coverage_estimate.value + 0.05);
    let json = serde_json::to_string(&fitted).unwrap();
    assert!(json.contains("\"uncorrected\":{") && json.contains("\"corrected\":{"));
    assert_eq!(serde_json::from_str::<Calibration>(&json).unwrap(), fitted);

    let (calm, evidence) = self::decision(&labeled, &sample(300, 1.0, 2));
    let Evidence::Auto(decision) = evidence else { panic!("not auto") };
    assert!(decision.plan.is_none());
    let json = serde_json::to_string(&calm).unwrap();
    assert!(!json.contains("coverage_estimate") && !json.contains("readings"));
}

/// Beyond every calibration score the aimed law is known by its tail.
#[test]
fn a_threshold_beyond_the_calibration_scores_has_readings() {
    let (labeled, target) = (sample(40, 2.0, 1), sample(400, 0.3, 2));
    let checked = checked(&labeled, &target);
    let alpha = Miscoverage::new(0.02).unwrap();
    let found = checked.plan.threshold(alpha);
    let largest = *checked.plan.thresholds().scores().last().unwrap();
    assert!(found.score > largest, "{} of {largest}", found.score);
    let evidence = checked.plan.evidence_at(alpha);
    let corrected = evidence.corrected.unwrap();
    assert_eq!(corrected.threshold, Some(found.score));
    let value = corrected.coverage_estimate.value;
    assert!((0.98 - 1e-12..0.985).contains(&value), "{value}");
    // Other readings are those of an abscissa before: never above the truth, never below the calibration scores.
    for name in ReadingName::ALWAYS {
        let laws = checked.plan.laws();
        assert!(laws.cdf(name, found.score) >= laws.cdf(name, largest));
    }
    let temperature = evidence.temperature;
    let exact = calibrated(&target, temperature, &Score::Lac, found.score);
    assert!(corrected.readings[0].coverage <= exact + 1e-9);
}
