//! What is guaranteed holds whatever the model and the shift: simulated, with models that are right, unsure and wrong.

use evenkeel::level::Miscoverage;
use evenkeel::method::few_labels::{
    ChangeBelief, FewLabelsSettings, Guarantee, GuaranteeProbability,
};
use evenkeel::method::label_plan::LabelPlanSettings;
use evenkeel::rows::Rows;
use evenkeel::score::Score;
use evenkeel::seed::Stream;
use evenkeel::side_inputs::TargetLabels;

use crate::world::{Points, evidence, fit, fit_by, points, stream};

const CLASSES: usize = 3;
const POOL: usize = 20_000;

/// Target rows without end: what a threshold covers there is known.
struct Pool {
    points: Points,
    /// Scores of the labels, increasing.
    scores: Vec<f64>,
}

impl Pool {
    fn new(points: Points) -> Self {
        let rows = points.probabilities.chunks(CLASSES).zip(&points.labels);
        let mut scores: Vec<f64> = rows.map(|(row, label)| 1.0 - row[*label]).collect();
        scores.sort_unstable_by(f64::total_cmp);
        Self { points, scores }
    }

    fn coverage(&self, threshold: f64) -> f64 {
        self.scores.partition_point(|score| *score <= threshold) as f64 / POOL as f64
    }

    /// Some rows at random, with their labels.
    fn draw(&self, rows: usize, stream: &mut Stream) -> Points {
        let mut drawn = Points { probabilities: Vec::new(), labels: Vec::new(), classes: CLASSES };
        for _ in 0..rows {
            let row = stream.below(POOL);
            drawn.probabilities.extend(&self.points.probabilities[row * CLASSES..][..CLASSES]);
            drawn.labels.push(self.points.labels[row]);
        }
        drawn
    }
}

/// Worlds: nothing changed, the model lost its signal, it is wrong half of the time, and the label is always the class it likes least.
fn worlds() -> Vec<(&'static str, Pool)> {
    let mut stream = stream("pools");
    let mut least_liked = points(POOL, CLASSES, 4.0, 0.0, &mut stream);
    for (row, label) in least_liked.probabilities.chunks(CLASSES).zip(&mut least_liked.labels) {
        *label = (0..CLASSES).min_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap();
    }
    vec![
        ("unchanged", Pool::new(points(POOL, CLASSES, 4.0, 0.0, &mut stream))),
        ("no signal", Pool::new(points(POOL, CLASSES, 0.5, 0.0, &mut stream))),
        ("half wrong", Pool::new(points(POOL, CLASSES, 4.0, 0.5, &mut stream))),
        ("least liked", Pool::new(least_liked)),
    ]
}

fn settings_of(guarantee: Guarantee) -> FewLabelsSettings {
    FewLabelsSettings {
        change: ChangeBelief::Changed,
        plan: LabelPlanSettings { tolerance: 1e-2, ..LabelPlanSettings::default() },
        guarantee,
    }
}

/// Coverages of the thresholds of repeated draws of `m` rows, `k` of them labeled.
fn coverages(guarantee: Guarantee, pool: &Pool, (k, m): (usize, usize), draws: usize) -> Vec<f64> {
    let mut stream = stream("draws");
    let calibration = points(60, CLASSES, 4.0, 0.0, &mut stream);
    let settings = settings_of(guarantee);
    (0..draws)
        .map(|_| {
            let target = pool.draw(m, &mut stream);
            let found = fit(settings, &calibration, &target, &target.first_labels(k)).unwrap();
            pool.coverage(found.threshold(None).unwrap().get())
        })
        .collect()
}

#[test]
fn the_average_is_at_least_the_level() {
    for (name, pool) in worlds() {
        for (k, m) in [(9, 20), (25, 30)] {
            let draws = 2000;
            let found = coverages(Guarantee::Average, &pool, (k, m), draws);
            let mean = found.iter().sum::<f64>() / draws as f64;
            let variance =
                found.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / draws as f64;
            let band = 4.0 * (variance / draws as f64).sqrt();
            assert!(mean + band >= 0.9, "{name} k {k}: {mean}");
        }
    }
}

#[test]
fn with_a_probability_the_level_is_missed_no_more_often_than_said() {
    let probability = GuaranteeProbability::new(0.8).unwrap();
    for (name, pool) in worlds() {
        let draws = 2000;
        let found = coverages(Guarantee::Probability { probability }, &pool, (30, 40), draws);
        // The pool is finite: its own coverage may miss the level by a rounding of one row.
        let missed = found.iter().filter(|coverage| **coverage < 0.9 - 1.0 / POOL as f64).count();
        let expected = 0.2 * draws as f64;
        assert!(missed as f64 <= expected + 4.0 * (0.8 * expected).sqrt(), "{name}: {missed}");
    }
}

/// Under the plan score labels are scored by a law of the rows without a label: rows that are new cannot be told from labeled ones.
#[test]
fn guarantees_hold_with_the_plan_score() {
    let probability = GuaranteeProbability::new(0.8).unwrap();
    for (name, pool) in worlds() {
        let (mut mean, mut missed, draws) = (0.0, 0, 2000_u32);
        let mut stream = stream("plan");
        let calibration = points(60, CLASSES, 4.0, 0.0, &mut stream);
        let alpha = Miscoverage::new(0.2).unwrap();
        for _ in 0..draws {
            let target = pool.draw(30, &mut stream);
            let covered = |guarantee: Guarantee, fresh: &Points| {
                let (settings, labels) = (settings_of(guarantee), target.first_labels(15));
                let found = fit_by(Score::Plan, settings, &calibration, &target, &labels).unwrap();
                let rows = Rows::new("fresh", &fresh.probabilities, CLASSES).unwrap();
                let sets = found.predict(0, rows, Some(alpha)).unwrap();
                let labeled = sets.iter().zip(&fresh.labels);
                let hits = labeled.filter(|(set, label)| set.clone().any(|one| one == **label));
                hits.count() as f64 / fresh.labels.len() as f64
            };
            let fresh = pool.draw(100, &mut stream);
            mean += covered(Guarantee::Average, &fresh) / f64::from(draws);
            // Three standard errors of a share of 2000 rows: what is counted as missed was missed.
            let fresh = pool.draw(2000, &mut stream);
            let found = covered(Guarantee::Probability { probability }, &fresh);
            missed += u32::from(found < 0.8 - 3.0 * (0.16_f64 / 2000.0).sqrt());
        }
        assert!(mean >= 0.8 - 4.0 * 0.1 / f64::from(draws).sqrt(), "{name}: {mean}");
        let expected = 0.2 * f64::from(draws);
        assert!(f64::from(missed) <= expected + 4.0 * (0.8 * expected).sqrt(), "{name}: {missed}");
    }
}

/// Where every row is labeled no row is left to fit a law to: labels are scored by the model's own law.
#[test]
fn all_rows_may_be_labeled_with_the_plan_score() {
    let mut stream = stream("all labeled");
    let (calibration, target) =
        (points(60, CLASSES, 4.0, 0.0, &mut stream), points(30, CLASSES, 4.0, 0.3, &mut stream));
    let labels = target.first_labels(30);
    let settings = settings_of(Guarantee::Average);
    let found = fit_by(Score::Plan, settings, &calibration, &target, &labels).unwrap();
    assert!(found.threshold(None).unwrap().get().is_finite());
}

/// The guarantee is what the labels alone give, never less; without enough labels every set holds every label, and it is said.
#[test]
fn the_threshold_is_at_least_that_of_the_labels_alone() {
    let mut stream = stream("least");
    let calibration = points(100, CLASSES, 4.0, 0.0, &mut stream);
    let target = points(80, CLASSES, 4.0, 0.4, &mut stream);
    let settings = |guarantee| FewLabelsSettings {
        change: ChangeBelief::Changed,
        guarantee,
        ..FewLabelsSettings::default()
    };
    let average = |k: usize| {
        fit(settings(Guarantee::Average), &calibration, &target, &target.first_labels(k)).unwrap()
    };
    let found = average(30);
    let plain =
        fit(settings(Guarantee::None), &calibration, &target, &target.first_labels(30)).unwrap();
    let (split, posterior) =
        (evidence(&found).split_threshold.unwrap(), plain.threshold(None).unwrap().get());
    assert_eq!(found.threshold(None).unwrap().get(), split.max(posterior));
    let held = evidence(&found).guarantee.unwrap();
    assert_eq!((held.guarantee, held.labels_needed), (Guarantee::Average, 9));
    assert!(found.account().unwrap().contains("on average"));

    let few = average(8);
    assert_eq!(few.threshold(None).unwrap().get(), f64::INFINITY);
    let said = &evidence(&few).warnings;
    assert!(said.iter().any(|warning| warning.name() == "too-few-labels"), "{said:?}");
    // Nine labels are enough, and at a lower level fewer are.
    assert!(average(9).threshold(None).unwrap().get().is_finite());
    assert!(few.threshold(Some(Miscoverage::new(0.2).unwrap())).unwrap().get().is_finite());

    let probability = GuaranteeProbability::new(0.9).unwrap();
    let wilks = settings(Guarantee::Probability { probability });
    for (k, finite) in [(21, false), (22, true)] {
        let found = fit(wilks, &calibration, &target, &target.first_labels(k)).unwrap();
        assert_eq!(found.threshold(None).unwrap().get().is_finite(), finite, "{k}");
        assert_eq!(evidence(&found).guarantee.unwrap().labels_needed, 22);
    }
    let none = TargetLabels::new(&[], CLASSES).unwrap();
    let found = fit(settings(Guarantee::None), &calibration, &target, &none).unwrap();
    assert_eq!(evidence(&found).trust, 1.0);
}
