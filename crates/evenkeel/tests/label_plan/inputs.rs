//! Logits, probabilities, tables of the user's own, and what cannot be planned.

use crate::world::{CLASSES, sample};
use crate::{alpha, collapsed, plan, planner, rows, settings};
use evenkeel::Error;
use evenkeel::interval::Interval;
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::label_plan::{
    LabelPlan, LabelPlanSettings, LabelPlanner, LabeledLogits, PlanThresholds, TargetRows,
    ThresholdSource,
};
use evenkeel::reading::ReadingName;
use evenkeel::rows::Rows;
use evenkeel::score::{Aps, CandidateScores, LabelMask, Labels, Probabilities, Raps, Score};
use evenkeel::seed::Seed;

#[test]
fn probabilities_and_their_logarithms_give_the_same_plan() {
    let (labeled, target) = (sample(150, 1.0, 1), sample(130, 0.7, 2));
    let found = plan(&labeled, &target);
    let log = |values: &[f64]| -> Vec<f64> { values.iter().map(|p| p.ln() + 3.0).collect() };
    let (before, after) = (log(&labeled.probabilities), log(&target.probabilities));
    let labeled = LabeledLogits::of_logits(rows(&before), &labeled.labels(), &Score::Lac).unwrap();
    let planner = LabelPlanner::new(labeled, Score::Lac, settings(), Seed::new(0)).unwrap();
    let logits = planner.plan(&TargetRows::Logits(rows(&after))).unwrap();
    assert_eq!(found.evidence().temperature, logits.evidence().temperature);
    let law =
        |plan: &LabelPlan| plan.laws().cdf_at(ReadingName::ClassShares, plan.thresholds().scores());
    for (a, b) in law(&found).iter().zip(&law(&logits)) {
        assert!((a - b).abs() < 1e-9);
    }
    let (a, b) = (found.threshold(alpha(0.1)).score, logits.threshold(alpha(0.1)).score);
    assert!((a - b).abs() < 1e-12);
}

/// The user's own table holding the same scores and plausibilities is the same problem.
#[test]
fn a_table_of_candidates_is_planned_alike_for_every_score() {
    let (labeled, target) = (sample(150, 1.0, 1), collapsed(&sample(130, 0.7, 2), 2.0));
    for score in
        [Score::Lac, Score::Margin, Score::Aps(Aps::default()), Score::Raps(Raps::default())]
    {
        let direct = planner(&labeled, score, settings())
            .plan(&TargetRows::Probabilities(rows(&target.probabilities)))
            .unwrap();
        let before = score.candidate_scores(&labeled.probabilities()).unwrap();
        let after = score.candidate_scores(&target.probabilities()).unwrap();
        let scores = score.label_scores(&labeled.probabilities(), &labeled.labels()).unwrap();
        let labeled = LabeledLogits::of_candidates(&before, &labeled.labels(), &scores).unwrap();
        let range = score.range(CLASSES);
        let planner =
            LabelPlanner::for_candidates(labeled, range, settings(), Seed::new(0)).unwrap();
        let own = planner.plan(&TargetRows::<f64>::Candidates(&after)).unwrap();
        assert_eq!(own, direct, "{}", score.name());
        let weights = direct.weights_as_given();
        let law = |level: f64| direct.threshold(alpha(1.0 - level)).score;
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(law(0.5) <= law(0.9), "{}", score.name());
        assert_eq!(direct.order().len(), 150);
        for (k, index) in direct.order().iter().enumerate() {
            assert_eq!(scores[*index], direct.thresholds().scores()[k]);
        }
    }
}

/// Regression: bins are classes, and the score of a point is that of its value, not of its bin.
#[test]
fn bins_of_a_regression_are_classes() {
    let bins = 20;
    let mut stream = Seed::new(1).stream("regression");
    let mut day = |n: usize, noise: f64| {
        let (mut scores, mut plausible, mut labels, mut own) = (vec![], vec![], vec![], vec![]);
        for _ in 0..n {
            let center = 4.0 + 12.0 * stream.uniform();
            let value = center + noise * (stream.uniform() + stream.uniform() - 1.0);
            labels.push((value.floor().max(0.0) as usize).min(bins - 1));
            own.push((value - center).abs());
            let middles = (0..bins).map(|bin| bin as f64 + 0.5 - center);
            scores.extend(middles.clone().map(f64::abs));
            let raw: Vec<f64> = middles.map(|d| (-0.5 * d * d).exp()).collect();
            let total: f64 = raw.iter().sum();
            plausible.extend(raw.iter().map(|value| value / total));
        }
        let table =
            CandidateScores::new(scores, bins).unwrap().with_plausibility(plausible).unwrap();
        (table, Labels::new(labels, bins).unwrap(), own)
    };
    let ((before, labels, own), (after, ..)) = (day(300, 2.0), day(250, 3.0));
    let labeled = LabeledLogits::of_candidates(&before, &labels, &own).unwrap();
    let range = Interval::new(0.0, 20.0).unwrap();
    let planner = LabelPlanner::for_candidates(labeled, range, settings(), Seed::new(0)).unwrap();
    let plan = planner.plan(&TargetRows::<f64>::Candidates(&after)).unwrap();
    let threshold = plan.threshold(alpha(0.1)).score;
    let split = WeightedEmpirical::uniform(&own).unwrap().quantile(alpha(0.1).level());
    // Bins are one wide, so that a threshold moves by the width of a bin at most where nothing moved.
    assert!(threshold.is_finite() && (threshold - split).abs() < 1.0, "{threshold}, {split}");
}

#[test]
fn tables_that_cannot_be_planned_are_refused() {
    let bare = CandidateScores::new(vec![0.1, 0.9, 0.3, 0.7], 2).unwrap();
    let labels = Labels::new(vec![0, 1], 2).unwrap();
    let refused = |candidates: &CandidateScores| {
        LabeledLogits::of_candidates(candidates, &labels, &[0.1, 0.7]).unwrap_err()
    };
    assert!(refused(&bare).to_string().contains("without a plausibility"));
    let mask = LabelMask::new(vec![true, false, true, true], 2).unwrap();
    let full = bare.clone().with_plausibility(vec![0.5, 0.5, 0.2, 0.8]).unwrap();
    assert!(refused(&full.clone().with_mask(mask).unwrap()).to_string().contains("mask"));

    let labeled = LabeledLogits::of_candidates(&full, &labels, &[0.1, 0.7]).unwrap();
    let planner =
        LabelPlanner::for_candidates(labeled.clone(), Interval::UNIT, settings(), Seed::new(0));
    let planner = planner.unwrap();
    let three = [0.2, 0.3, 0.5];
    let target = TargetRows::Probabilities(Rows::new("probabilities", &three, 3).unwrap());
    assert!(matches!(planner.plan(&target), Err(Error::LengthMismatch { .. })));
    let two = [0.2, 0.8];
    let target = TargetRows::Probabilities(Rows::new("probabilities", &two, 2).unwrap());
    assert!(matches!(planner.plan(&target), Err(Error::Unsupported { .. })));
    assert!(matches!(
        planner.plan(&TargetRows::<f64>::Candidates(&bare)),
        Err(Error::Unsupported { .. })
    ));
    let nan = [f64::NAN, 0.1];
    let target = TargetRows::Logits(Rows::new("logits", &nan, 2).unwrap());
    assert!(matches!(planner.plan(&target), Err(Error::NotFinite { .. })));
    for settings in [
        LabelPlanSettings { tolerance: 0.0, ..settings() },
        LabelPlanSettings { most_iterations: 0, ..settings() },
        LabelPlanSettings { kept_cells: 0, ..settings() },
    ] {
        let made =
            LabelPlanner::for_candidates(labeled.clone(), Interval::UNIT, settings, Seed::new(0));
        assert!(made.is_err());
    }
}

/// One point a side, one class, probabilities of exactly 0 and 1, all scores tied: numbers, and never a panic.
#[test]
fn degenerate_inputs_give_numbers() {
    let sure: Vec<f64> = (0..40).flat_map(|i| [f64::from(i % 2), f64::from(1 - i % 2)]).collect();
    let even = [0.5, 0.5];
    let one = [1.0, 1.0, 1.0];
    let one_hot_wrong = [0.0, 1.0];
    for (before, labels, after, classes) in [
        (&sure[..], (0..40).map(|i| i % 2).collect(), &sure[..], 2),
        (&sure[..], vec![0; 40], &even[..], 2),
        (&even[..], vec![1], &even[..], 2),
        (&even[..], vec![1], &sure[..], 2),
        (&one[..], vec![0, 0, 0], &one[..1], 1),
        (&one_hot_wrong[..], vec![0], &one_hot_wrong[..], 2),
    ] {
        let table = Probabilities::new(before, classes).unwrap();
        let labels = Labels::new(labels, classes).unwrap();
        let labeled = LabeledLogits::of_probabilities(&table, &labels, &Score::Lac).unwrap();
        let planner = LabelPlanner::new(labeled, Score::Lac, settings(), Seed::new(0)).unwrap();
        let target = TargetRows::Probabilities(Rows::new("probabilities", after, classes).unwrap());
        let plan = planner.plan(&target).unwrap();
        let evidence = plan.evidence();
        let threshold = plan.threshold(alpha(0.1)).score;
        assert!((0.0..=1.0).contains(&threshold), "{threshold}");
        for value in [
            evidence.certificate.value,
            evidence.estimated_gap,
            evidence.statistics.mix,
            evidence.statistics.inflation,
            evidence.effective_sample_size,
        ] {
            assert!(value.is_finite() && value >= 0.0, "{evidence:?}");
        }
        assert!(plan.warnings(alpha(0.1)).iter().all(|warning| !warning.to_string().is_empty()));
    }
}

/// Where calibration scores end too early the planned law's own quantile is the threshold.
#[test]
fn an_exhausted_support_falls_back_on_the_target_law() {
    let easy = sample(2000, 1.0, 1);
    // Calibration easy half only: no score above a half.
    let mut labeled = crate::world::Sample { probabilities: vec![], labels: vec![] };
    for ((row, label), score) in
        easy.probabilities.chunks(CLASSES).zip(&easy.labels).zip(easy.scores())
    {
        if score < 0.2 && labeled.labels.len() < 300 {
            labeled.probabilities.extend_from_slice(row);
            labeled.labels.push(*label);
        }
    }
    let target = sample(300, 0.6, 2);
    let plan = plan(&labeled, &target);
    let found = plan.threshold(alpha(0.05));
    assert_eq!(found.source, ThresholdSource::PlannedLaw);
    assert!(found.score > 0.2);
    let tail = plan.thresholds().tail();
    let reached = |score: f64| tail.iter().rfind(|atom| atom.score <= score).unwrap().cdf;
    assert!(reached(found.score) >= 0.95 - 1e-12);
    let before = tail.iter().rfind(|atom| atom.score < found.score).unwrap();
    assert!(before.cdf < 0.95);
    assert!(plan.warnings(alpha(0.05)).iter().any(|w| w.name() == "support-exhausted"));
    // The last atom carries the law to one.
    assert!((tail.last().unwrap().cdf - 1.0).abs() < 1e-12);

    let json = serde_json::to_string(plan.thresholds()).unwrap();
    let back: PlanThresholds = serde_json::from_str(&json).unwrap();
    assert_eq!(&back, plan.thresholds());
    let unsorted = json.replacen("\"cumulative\":[", "\"cumulative\":[0.99,", 1);
    assert!(serde_json::from_str::<PlanThresholds>(&unsorted).is_err());
}

/// A thousand classes on three hundred points share thirty groups.
#[test]
fn many_classes_are_grouped() {
    let classes = 200;
    let mut stream = Seed::new(9).stream("many");
    let mut day = |n: usize, signal: f64| {
        let labels: Vec<usize> = (0..n).map(|_| stream.below(classes)).collect();
        let mut logits = Vec::new();
        for label in &labels {
            let family: Vec<f64> = (0..20).map(|_| 3.0 * stream.uniform()).collect();
            logits.extend((0..classes).map(|class| {
                let lift = if class == *label { signal } else { 0.0 };
                lift + family[class % 20] + stream.uniform()
            }));
        }
        (logits, labels)
    };
    let ((before, labels), (after, _)) = (day(300, 5.0), day(300, 3.0));
    let labels = Labels::new(labels, classes).unwrap();
    let table = Rows::new("logits", &before, classes).unwrap();
    let labeled = LabeledLogits::of_logits(table, &labels, &Score::Lac).unwrap();
    let planner = LabelPlanner::new(labeled, Score::Lac, settings(), Seed::new(0)).unwrap();
    let target = TargetRows::Logits(Rows::new("logits", &after, classes).unwrap());
    let plan = planner.plan(&target).unwrap();
    let groups = plan.evidence().prior.len();
    assert!(groups > 1 && groups <= 30, "{groups}");
    assert!(plan.warnings(alpha(0.1)).iter().any(|w| w.name() == "few-unlabeled"));
}
