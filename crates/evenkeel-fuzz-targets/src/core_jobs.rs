//! The core on a small world: check, or calibrate, predict and merge.

use std::ops::ControlFlow;

use arbitrary::Unstructured;
use evenkeel::calibration::{Calibration, Rule};
use evenkeel::calibrator::{Ended, Fit, Part, ShiftCalibrator};
use evenkeel::check::{CheckSettings, ShiftReport, check};
use evenkeel::conformal::LabelSets;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::Method;
use evenkeel::rows::{Real, RowKeys, Rows};
use evenkeel::score::{Aps, Labels, Probabilities, Randomisation, Raps, Score};
use evenkeel::seed::Seed;
use evenkeel::side_inputs::{Labeled, SideInputs, TargetLabels};

use crate::drawn_world::{FEATURES, Table, World};
use crate::every_method::every_method;
use crate::set_checks::{Points, round_trips, sets_are_nested, sets_are_what_the_threshold_says};

/// Miscoverage rates, falling: sets must not shrink from one to the next.
const FALLING: [f64; 6] = [0.999_999, 0.5, 0.3, 0.05, 0.01, 1e-9];
/// The largest rate up to which `conditional` promises that.
const MOST_NESTED: f64 = 0.5;

/// A world, a score, a level, and a job.
pub fn core(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    // Too few bytes: the fuzzer learns to give more.
    let Ok(Drawn { method, score, alpha, seed, cut, single, world }) = Drawn::from(&mut bytes)
    else {
        return;
    };
    let calibrator = ShiftCalibrator { method, score, alpha, seed };
    if cut == u8::MAX {
        checked(&world, &calibrator);
    } else if single & 1 == 1 {
        let narrow = |table: &Table| table.probabilities.iter().map(|p| *p as f32).collect();
        let (values, target): (Vec<f32>, Vec<f32>) =
            (narrow(&world.calibration), narrow(&world.target));
        calibrated(&world, &calibrator, &values, &target, cut);
    } else {
        let (values, target) = (&world.calibration.probabilities, &world.target.probabilities);
        calibrated(&world, &calibrator, values, target, cut);
    }
}

#[derive(Debug)]
struct Drawn {
    method: Method,
    score: Score,
    alpha: Miscoverage,
    seed: Seed,
    /// Where the target rows are cut in two; the largest asks for a check.
    cut: u8,
    /// Odd for single precision.
    single: u8,
    world: World,
}

impl Drawn {
    fn from(bytes: &mut Unstructured<'_>) -> Result<Self, ()> {
        let methods = every_method();
        let head: [u8; 6] = bytes.arbitrary().map_err(drop)?;
        let [method, score, alpha, seed, cut, single] = head;
        let seed = Seed::new(u64::from(seed));
        let randomisation = match score & 8 {
            0 => Randomisation::Deterministic,
            _ => Randomisation::Uniform(seed),
        };
        let score = match score & 3 {
            0 => Score::Lac,
            1 => Score::Aps(Aps { randomisation }),
            2 => {
                Score::Raps(Raps::new(0.05, usize::from(score >> 4), randomisation).map_err(drop)?)
            }
            _ => Score::Margin,
        };
        // From 2^-40 to just below one.
        let alpha = match alpha {
            0..=40 => 0.5_f64.powi(i32::from(alpha) + 1),
            _ => f64::from(alpha) / 256.0,
        };
        Ok(Self {
            method: methods[usize::from(method) % methods.len()],
            score,
            alpha: Miscoverage::new(alpha).map_err(drop)?,
            seed,
            cut,
            single,
            world: World::drawn(bytes).map_err(drop)?,
        })
    }
}

fn beside<'a>(table: &'a Table, labels: Option<&'a TargetLabels>) -> SideInputs<'a> {
    SideInputs {
        features: Rows::new("features", &table.features, FEATURES).ok(),
        ratios: Some(&table.ratios),
        weights: Some(&table.ratios),
        labels,
        second: None,
    }
}

fn calibrated<T: Real>(
    world: &World,
    calibrator: &ShiftCalibrator,
    values: &[T],
    target: &[T],
    cut: u8,
) {
    let World { classes, calibration, target: points } = world;
    let Ok(probabilities) = Probabilities::new(values, *classes) else { return };
    let Ok(labels) = Labels::new(calibration.labels.clone(), *classes) else { return };
    let Ok(rows) = Rows::new("target probabilities", target, *classes) else { return };
    // Every other target row is labeled.
    let pairs: Vec<(u64, usize)> =
        (0_u64..).zip(points.labels.iter().copied()).step_by(2).collect();
    let known = TargetLabels::new(&pairs, *classes).ok();
    let known = known.as_ref().filter(|_| matches!(calibrator.method, Method::FewLabels(_)));
    let begin = || {
        let beside = beside(calibration, known);
        calibrator.begin(&Labeled { probabilities: &probabilities, labels: &labels, beside })
    };
    let whole = fitted(begin(), |fit| fit.add(RowKeys::From(0), rows, beside(points, None)));
    let first = usize::from(cut) % rows.rows();
    let parts = fitted(begin(), |fit| in_two(fit, rows, points, first));
    match (whole, parts) {
        (Ok(whole), Ok(parts)) => {
            let text = |found: &Calibration| serde_json::to_string(found).unwrap_or_default();
            assert_eq!(text(&whole), text(&parts), "the cut at row {first} shows");
            round_trips(&whole);
            sets(&whole, &Points { rows, beside: beside(points, None) });
        }
        (whole, parts) => {
            let (whole, parts) = (whole.map(drop), parts.map(drop));
            assert_eq!(whole.is_ok(), parts.is_ok(), "{whole:?}, but cut at row {first} {parts:?}");
        }
    }
}

/// All passes; `read` gives the rows to each.
fn fitted(
    begun: evenkeel::Result<Fit>,
    read: impl Fn(Fit) -> evenkeel::Result<Fit>,
) -> evenkeel::Result<Calibration> {
    let mut fit = begun?;
    loop {
        match read(fit)?.end_pass()? {
            Ended::Again(again) => fit = again,
            Ended::Done(ready) => {
                return Ok(ready.finish(&mut |_| ControlFlow::Continue(()))?.calibration);
            }
        }
    }
}

/// Two workers, the later rows first.
fn in_two<T: Real>(
    fit: Fit,
    rows: Rows<'_, T>,
    points: &Table,
    first: usize,
) -> evenkeel::Result<Fit> {
    let plan = fit.plan()?;
    let all = beside(points, None);
    let worker = |range: std::ops::Range<usize>| -> evenkeel::Result<Vec<u8>> {
        let values = &rows.values()[range.start * rows.columns()..range.end * rows.columns()];
        let share = Rows::new(rows.what(), values, rows.columns())?;
        let keys = RowKeys::From(range.start as u64);
        Part::begin(&plan)?.add(keys, share, all.of_rows(range)?)?.state()
    };
    let fit = fit.absorb(&worker(first..rows.rows())?)?;
    if first == 0 { Ok(fit) } else { fit.absorb(&worker(0..first)?) }
}

fn sets<T: Real>(calibration: &Calibration, points: &Points<'_, T>) {
    let mut before: Option<LabelSets> = None;
    let conditional = matches!(calibration.rule(), Rule::Conditional(_));
    for alpha in FALLING.into_iter().filter(|alpha| !conditional || *alpha <= MOST_NESTED) {
        let Ok(alpha) = Miscoverage::new(alpha) else { continue };
        let found = sets_are_what_the_threshold_says(calibration, points, Some(alpha));
        assert!(found.is_some(), "rows that were read as target data are refused");
        if let (Some(narrower), Some(wider)) = (&before, &found) {
            sets_are_nested(wider, narrower);
        }
        before = found;
    }
}

fn checked(world: &World, calibrator: &ShiftCalibrator) {
    let World { classes, calibration, target } = world;
    let Ok(probabilities) = Probabilities::new(&calibration.probabilities, *classes) else {
        return;
    };
    let Ok(labels) = Labels::new(calibration.labels.clone(), *classes) else { return };
    let Ok(rows) = Probabilities::new(&target.probabilities, *classes) else { return };
    let delta = FailureProbability::FIVE_PERCENT;
    let settings = CheckSettings {
        permutations: 19,
        bound_grid: 20,
        ..CheckSettings::new(calibrator.alpha, delta, calibrator.seed)
    };
    if let Ok(found) = check(&probabilities, &labels, &rows, &calibrator.score, &settings) {
        report(&found.report);
    }
}

/// Numbers that are shares are shares, and intervals have their ends in order.
fn report(report: &ShiftReport) {
    let (interval, estimate) = (&report.coverage_interval, &report.coverage_estimate);
    let confident = &interval.with_confidence;
    for [low, high] in [interval.guaranteed, confident.guaranteed, [estimate.low, estimate.high]] {
        assert!(0.0 <= low && low <= high && high <= 1.0, "[{low}, {high}]");
    }
    let ([low, high], [lower, higher]) = (interval.guaranteed, confident.guaranteed);
    assert!(lower <= low && high <= higher, "an interval of the law inside that of the points");
    assert!(estimate.low <= estimate.value && estimate.value <= estimate.high, "{estimate:?}");
    assert!((0.0..=1.0).contains(&report.shift.p_value), "{:?}", report.shift);
    assert!(serde_json::to_string(report).is_ok());
}
