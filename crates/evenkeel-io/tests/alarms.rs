//! The alarm someone on call sets, on the data that ship: quiet when nothing happened, loud when coverage is lost.

#![allow(missing_docs)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::ops::Range;

use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::reading::Verdict;
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel_io::{MatrixSource, read_labels, read_matrix};
use evenkeel_jobs::{
    AlarmConditions, AnyRows, CheckJob, Checked, LabeledData, MemorySource, TargetLabels,
    Unobserved, check, sentences,
};

const CLASSES: usize = 10;
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/demo");

/// Labeled rows.
#[derive(Clone, Default)]
struct Rows {
    values: Vec<f64>,
    labels: Vec<usize>,
}

impl Rows {
    fn read(name: &str) -> Self {
        let source =
            |what: &str| MatrixSource::parse(&format!("{FOLDER}/{name}_{what}.npy")).unwrap();
        let values = read_matrix(&source("probs")).unwrap().into_values().to_f64();
        Self { values, labels: read_labels(&source("labels"), None).unwrap() }
    }

    fn push(&mut self, other: &Self, row: usize) {
        self.values.extend(&other.values[row * CLASSES..(row + 1) * CLASSES]);
        self.labels.push(other.labels[row]);
    }

    fn chosen(&self, rows: &[usize]) -> Self {
        let mut chosen = Self::default();
        rows.iter().for_each(|row| chosen.push(self, *row));
        chosen
    }

    /// Every clean row with a label.
    fn clean() -> Self {
        let (mut all, test) = (Self::read("calibration"), Self::read("clean_test"));
        (0..test.labels.len()).for_each(|row| all.push(&test, row));
        all
    }
}

/// The numbers of a range, shuffled.
fn shuffled(rows: Range<usize>, seed: Seed) -> Vec<usize> {
    let mut stream = seed.stream("shuffle");
    let mut order: Vec<usize> = rows.collect();
    for last in (1..order.len()).rev() {
        order.swap(last, stream.below(last + 1));
    }
    order
}

fn checked(calibration: &Rows, target: &Rows, labeled_rows: &[usize]) -> Checked {
    let alpha = Miscoverage::new(0.1).unwrap();
    let delta = FailureProbability::new(0.05).unwrap();
    let mut job = CheckJob::new(Score::Lac, alpha, delta, Seed::new(0));
    // The verdict does not look at the test, which takes most of the time.
    job.settings.permutations = 39;
    let pairs = labeled_rows.iter().map(|row| (*row, target.labels[*row])).collect();
    job.labels = TargetLabels::new("labels", pairs, CLASSES).unwrap();
    let labels = calibration.labels.clone();
    let labeled = LabeledData::new("cal", &calibration.values, CLASSES, "labels", labels).unwrap();
    let rows = AnyRows::f64(&target.values, CLASSES).unwrap();
    check(&job, &labeled, &mut MemorySource::new("target", rows), &mut Unobserved).unwrap()
}

fn alarm(checked: &Checked) -> bool {
    let conditions = AlarmConditions { below: Some(0.85), ..AlarmConditions::default() };
    !conditions.failed(checked).is_empty()
}

/// The first target row whose label the sets in use hold.
fn covered_row(checked: &Checked, target: &Rows) -> usize {
    let threshold = checked.threshold();
    let mut rows = target.values.chunks_exact(CLASSES).zip(&target.labels);
    rows.position(|(row, label)| threshold.admits(1.0 - row[*label])).unwrap()
}

/// Share of the target rows whose label the sets in use hold.
fn true_coverage(checked: &Checked, target: &Rows) -> f64 {
    let threshold = checked.threshold();
    let rows = target.values.chunks_exact(CLASSES).zip(&target.labels);
    let covered = rows.filter(|(row, label)| threshold.admits(1.0 - row[**label])).count();
    covered as f64 / target.labels.len() as f64
}

#[test]
fn clean_splits_seldom_alarm() {
    let clean = Rows::clean();
    let mut alarms = 0;
    let mut lost = Vec::new();
    for split in 0..200 {
        let order = shuffled(0..clean.labels.len(), Seed::new(1000 + split));
        let (calibration, target) =
            (clean.chosen(&order[..1000]), clean.chosen(&order[1000..2000]));
        let checked = checked(&calibration, &target, &[]);
        alarms += usize::from(alarm(&checked));
        if checked.verdict == Verdict::Loss {
            lost.push(true_coverage(&checked, &target));
        }
    }
    assert!(alarms <= 4, "{alarms} of 200 clean splits alarmed");
    println!("{alarms} alarms; called a loss, with their true coverage: {lost:?}");
    // The verdict is about this threshold on these rows. By chance of the split some cover less than was asked for.
    let unlucky = lost.iter().filter(|coverage| **coverage >= 0.9).count();
    assert!(unlucky <= 4, "{unlucky} of 200 clean splits cover the level and were called a loss");
}

#[test]
fn lost_coverage_alarms() {
    let clean = Rows::clean();
    let (mut lost, mut alarms, mut in_range) = (0, 0, 0);
    for condition in ["gaussian_noise_1", "fog_3", "motion_blur_5", "shear_5"] {
        let shifted = Rows::read(&format!("{condition}_test"));
        for split in 0..25 {
            let order = shuffled(0..clean.labels.len(), Seed::new(split));
            let rows = shuffled(0..shifted.labels.len(), Seed::new(77 + split));
            let (calibration, target) =
                (clean.chosen(&order[..1000]), shifted.chosen(&rows[..500]));
            let checked = checked(&calibration, &target, &[]);
            let truth = true_coverage(&checked, &target);
            let estimate = checked.report.coverage_estimate;
            in_range += usize::from((estimate.low..=estimate.high).contains(&truth));
            if truth < 0.75 {
                lost += 1;
                alarms += usize::from(alarm(&checked));
            }
        }
    }
    assert!(lost >= 70, "{lost} splits with lost coverage");
    assert!(alarms * 100 >= lost * 95, "{alarms} of {lost} alarmed");
    assert!(in_range >= 95, "the range holds in {in_range} of 100");
}

/// Twenty clean nights, five of growing noise, five of growing fog: alarms on nights with loss and on no other.
#[test]
fn thirty_nights() {
    let clean = Rows::clean();
    let (noise, fog) = (Rows::read("gaussian_noise_1_test"), Rows::read("fog_3_test"));
    let order = shuffled(0..clean.labels.len(), Seed::new(5));
    let calibration = clean.chosen(&order[..1000]);
    for night in 1_usize..=30 {
        let mut target = Rows::default();
        let own = shuffled(1000..order.len(), Seed::new(night as u64));
        let (shifted, share) = match night {
            ..=20 => (&noise, 0),
            21..=25 => (&noise, 20 * (night - 20)),
            _ => (&fog, 20 * (night - 25)),
        };
        let other = shuffled(0..shifted.labels.len(), Seed::new(100 + night as u64));
        for row in 0..500 {
            match row * 100 / 500 < share {
                true => target.push(shifted, other[row]),
                false => target.push(&clean, order[own[row]]),
            }
        }
        let checked = checked(&calibration, &target, &[]);
        let truth = true_coverage(&checked, &target);
        let alarm = alarm(&checked);
        if truth >= 0.87 {
            assert!(
                !alarm,
                "night {night} covers {truth} and alarmed: {:?}",
                checked.report.coverage_estimate
            );
        }
        if truth < 0.75 {
            assert!(alarm, "night {night} covers {truth}: {:?}", checked.report.coverage_estimate);
        }
        assert!(night > 20 || checked.verdict != Verdict::Loss, "night {night}");
    }
}

#[test]
fn labels_decide_where_there_are_any() {
    let clean = Rows::clean();
    let fog = Rows::read("fog_3_test");
    let order = shuffled(0..clean.labels.len(), Seed::new(9));
    let calibration = clean.chosen(&order[..1000]);
    let rows: Vec<usize> = shuffled(0..fog.labels.len(), Seed::new(1))[..60].to_vec();
    let found = checked(&calibration, &fog, &rows);
    let measured = found.measured.unwrap();
    let truth = true_coverage(&found, &fog);
    assert_eq!((measured.k, found.verdict), (60, Verdict::Loss));
    assert!((measured.low..=measured.high).contains(&truth), "{measured:?} and {truth}");
    assert!(alarm(&found));
    assert!(sentences::check::headline(&found).starts_with("Coverage is lost: "));
    // One label excludes nothing: what the rows say stands, and the alarm with it.
    let one = checked(&calibration, &fog, &[covered_row(&found, &fog)]);
    assert!(one.decisive().is_none() && one.verdict == Verdict::Loss && alarm(&one));
    assert!(sentences::check::rests_on(&one).contains("1 label (1 covered) cannot decide"));
    let target = clean.chosen(&order[1000..1500]);
    let quiet = checked(&calibration, &target, &(0..80).collect::<Vec<usize>>());
    assert!(quiet.verdict != Verdict::Loss && !alarm(&quiet), "{:?}", quiet.measured);
}

/// The answer is short enough to be read at night: sixty words, the command aside.
#[test]
fn the_answer_is_short() {
    let clean = Rows::clean();
    let order = shuffled(0..clean.labels.len(), Seed::new(2));
    let calibration = clean.chosen(&order[..1000]);
    for condition in ["clean", "gaussian_noise_1", "fog_3", "motion_blur_5", "shear_5"] {
        let target = Rows::read(&format!("{condition}_test"));
        for labels in [0, 1, 40] {
            let found = checked(&calibration, &target, &(0..labels).collect::<Vec<usize>>());
            let answer = sentences::check::answer(&found).join(" ");
            let words = answer.split_whitespace().count();
            assert!(words <= 60, "{words} words: {answer}");
            assert!(!answer.contains('`'), "{answer}");
        }
    }
}
