//! Blocks, merges and threads do not change a bit; samples of very large tables change little.

use crate::world::{CLASSES, Sample, sample};
use crate::{collapsed, planner, rows, settings};
use evenkeel::Error;
use evenkeel::method::label_plan::{
    FirstPass, LabelPlan, LabelPlanSettings, LabelPlanner, TargetRows,
};
use evenkeel::reading::ReadingName;
use evenkeel::rows::RowKeys;
use evenkeel::score::{Aps, Randomisation, Score};
use evenkeel::seed::Seed;

fn block(values: &[f64]) -> TargetRows<'_, f64> {
    TargetRows::Probabilities(rows(values))
}

fn keys(first_row: usize) -> RowKeys<'static> {
    RowKeys::From(first_row as u64)
}

/// Both passes in blocks of this many rows, merged back to front.
fn in_blocks(planner: &LabelPlanner, target: &Sample, size: usize) -> LabelPlan {
    let parts = || target.probabilities.chunks(size * CLASSES).enumerate().rev();
    let empty = planner.first_pass();
    let first: FirstPass = parts().fold(empty.clone(), |whole, (index, part)| {
        let part = empty.clone().add(keys(index * size), &block(part)).unwrap();
        part.merge(whole).unwrap()
    });
    assert_eq!(first.rows(), target.labels.len() as u64);
    let prepared = planner.prepare(&first).unwrap();
    let empty = prepared.second_pass();
    let second = parts().fold(empty.clone(), |whole, (index, part)| {
        let part = empty.clone().add(&prepared, keys(index * size), &block(part)).unwrap();
        whole.merge(part).unwrap()
    });
    planner.finish(&prepared, second).unwrap()
}

#[test]
fn blocks_and_merges_do_not_change_a_bit() {
    let labeled = sample(200, 1.0, 1);
    let target = collapsed(&sample(9000, 0.7, 2), 2.0);
    let randomised = Score::Aps(Aps { randomisation: Randomisation::Uniform(Seed::new(3)) });
    for score in [Score::Lac, randomised] {
        let planner = planner(&labeled, score, settings());
        let whole = planner.plan(&block(&target.probabilities)).unwrap();
        assert!(whole.evidence().statistics.mix > 0.0);
        assert_eq!(in_blocks(&planner, &target, 9000), whole);
        assert_eq!(in_blocks(&planner, &target, 1234), whole);
        assert_eq!(in_blocks(&planner, &target, 17), whole);
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let labeled = sample(200, 1.0, 1);
    let target = collapsed(&sample(20_000, 0.7, 2), 2.0);
    let planner = planner(&labeled, Score::Lac, settings());
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| planner.plan(&block(&target.probabilities)).unwrap())
    };
    assert_eq!(with(1), with(3));
}

/// Above the limit the fixed points see a sample: still the same for any blocks, and close to the whole.
#[test]
fn a_sample_of_rows_is_enough_for_the_fixed_points() {
    let labeled = sample(300, 1.0, 1);
    let target = collapsed(&sample(30_000, 0.7, 2), 2.0);
    let few = LabelPlanSettings { kept_cells: 5000 * CLASSES, ..settings() };
    let (exact, sampled) =
        (planner(&labeled, Score::Lac, settings()), planner(&labeled, Score::Lac, few));
    let whole = exact.plan(&block(&target.probabilities)).unwrap();
    let part = sampled.plan(&block(&target.probabilities)).unwrap();
    assert_eq!((whole.evidence().planned_rows, part.evidence().planned_rows), (30_000, 5000));
    assert_eq!(whole.evidence().statistics, part.evidence().statistics);
    assert_eq!(in_blocks(&sampled, &target, 777), part);
    for reading in ReadingName::ALWAYS {
        let [a, b] =
            [&whole, &part].map(|plan| plan.laws().cdf_at(reading, plan.thresholds().scores()));
        let laws = part.laws();
        // Laws that no threshold is made of are read of the sample, and their sampling error says so.
        let of_all = matches!(reading, ReadingName::Calibrated | ReadingName::ClassShares);
        assert_eq!(laws.rows_of(reading), if of_all { 30_000 } else { 5000 });
        let error = |b: f64| if of_all { 0.0 } else { laws.sampling_error(reading, b) };
        let beyond = |(a, b): (&f64, &f64)| (a - b).abs() - error(*b);
        let largest = a.iter().zip(&b).map(beyond).fold(f64::NEG_INFINITY, f64::max);
        let same = reading == ReadingName::Calibrated;
        assert!((a != b || same) && largest < 0.01, "{reading:?}: {largest}");
    }
}

#[test]
fn passes_over_different_rows_are_refused() {
    let labeled = sample(50, 1.0, 1);
    let (target, other) = (sample(60, 0.7, 2), sample(61, 0.7, 3));
    let planner = planner(&labeled, Score::Lac, settings());
    let first = planner.first_pass().add(keys(0), &block(&target.probabilities)).unwrap();
    let prepared = planner.prepare(&first).unwrap();
    let second =
        prepared.second_pass().add(&prepared, keys(0), &block(&other.probabilities)).unwrap();
    assert!(matches!(
        planner.finish(&prepared, second).unwrap_err(),
        Error::LengthMismatch { found: 61, expected: 60, .. }
    ));
    let empty = planner.prepare(&planner.first_pass()).unwrap_err();
    assert!(matches!(empty, Error::Empty { .. }));
}
