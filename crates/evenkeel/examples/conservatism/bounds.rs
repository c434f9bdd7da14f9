//! Bounds on gaps between laws of powers of uniform numbers, whose gaps are known.

use evenkeel::bound::{
    DkwCorrection, Integrator, PopulationMargins, coverage_interval, exact_gap_between,
    integrated_gap, integrated_gap_between, labeled_gap_at, level_gap_between, unlabeled_gap_at,
    wasserstein_gap, wasserstein_gap_between,
};
use evenkeel::interval::Interval;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::measure::{
    BANDWIDTH_FACTOR_CLASSIFICATION, BANDWIDTH_FLOOR, Bandwidth, Grid, SmoothedLaw, Support,
    WeightedEmpirical,
};
use evenkeel::sandwich::min_max;
use evenkeel::score::{LabelMask, Probabilities, Score};
use evenkeel::seed::{Seed, Stream};
use evenkeel::threshold::{TestMass, conformal_threshold};

use crate::statement::{Statement, room, statements};
use crate::{DELTA, DRAWS, Result};

/// Scores `u^power` of a uniform `u`: the CDF is `t^(1 / power)`.
fn power_scores(stream: &mut Stream, count: usize, power: f64) -> Vec<f64> {
    (0..count).map(|_| stream.uniform().powf(power)).collect()
}

/// `|1/2 - 1/(1 + p/q)|`: the total gap between the laws of `u^p` and `u^q`.
fn total_gap(p: f64, q: f64) -> f64 {
    (0.5 - 1.0 / (1.0 + p / q)).abs()
}

pub(crate) fn smoothed(scores: &[f64]) -> Result<SmoothedLaw> {
    let bandwidth = Bandwidth::scott(scores, BANDWIDTH_FACTOR_CLASSIFICATION, BANDWIDTH_FLOOR)?;
    let law = WeightedEmpirical::uniform(scores)?;
    Ok(SmoothedLaw::new(law, bandwidth, Support::Bounded(Interval::UNIT))?)
}

/// Powers of the two laws, sizes of the two samples.
const POWERS: (f64, f64) = (1.0, 1.5);
const SIZES: (usize, usize) = (100, 80);

/// Bounds from labels of both data sets, DKW terms added.
pub(crate) fn labeled_bounds() -> Result<Vec<Statement>> {
    let ((p_power, q_power), (n, m)) = (POWERS, SIZES);
    let (grid, alpha) = (Grid::new(Interval::UNIT, 200)?, Miscoverage::new(0.1)?);
    let d = FailureProbability::new(DELTA)?;
    let correction = DkwCorrection::new(n as f64, m as f64, d)?;
    let truth = total_gap(p_power, q_power);
    let names = [
        ("labeled gap, eq 7 at the scores, DKW", correction.confidence()),
        ("labeled gap, eq 7 on the grid, DKW", correction.confidence()),
        ("labeled gap, eq 8, DKW", correction.confidence()),
        ("labeled gap at alpha = 0.1, DKW", correction.confidence()),
    ];
    statements(DRAWS, names, |draw| {
        let mut stream = Seed::new(13).child("labeled", draw).stream("scores");
        let p = smoothed(&power_scores(&mut stream, n, p_power))?;
        let q = WeightedEmpirical::uniform(&power_scores(&mut stream, m, q_power))?;
        let t = p.law().quantile(alpha.level());
        let truth_at = (t.powf(1.0 / p_power) - t.powf(1.0 / q_power)).abs();
        let slack = |bound: evenkeel::bound::GapBound, truth: f64| {
            bound.with_correction(correction).corrected() - truth
        };
        Ok([
            slack(integrated_gap(p.law(), &q, &Integrator::atoms(p.law())), truth),
            slack(integrated_gap(p.law(), &q, &Integrator::density(&p, &grid)?), truth),
            slack(wasserstein_gap(&p, &q, &grid)?, truth),
            slack(labeled_gap_at(p.law(), &q, alpha), truth_at),
        ])
    })
}

/// Target rows whose true label has the score `u^power`; a rule leaves only that label possible in nine rows of ten.
fn target_rows(stream: &mut Stream, rows: usize, power: f64) -> Result<(Vec<f64>, LabelMask)> {
    let (mut values, mut allowed) = (Vec::new(), Vec::new());
    for score in power_scores(stream, rows, power) {
        let label = stream.below(4);
        let shares: Vec<f64> = (0..3).map(|_| 0.01 + stream.uniform()).collect();
        let total: f64 = shares.iter().sum();
        let mut row: Vec<f64> = shares.iter().map(|share| score * share / total).collect();
        row.insert(label, 1.0 - score);
        values.extend(row);
        let ruled = stream.uniform() < 0.9;
        allowed.extend((0..4).map(|y| !ruled || y == label));
    }
    Ok((values, LabelMask::new(allowed, 4)?))
}

/// Bounds without labels of the target data, DKW terms added, and the interval of coverage.
pub(crate) fn min_max_bounds() -> Result<Vec<Statement>> {
    let ((p_power, q_power), (n, m)) = (POWERS, SIZES);
    let (grid, alpha) = (Grid::new(Interval::UNIT, 200)?, Miscoverage::new(0.2)?);
    let d = FailureProbability::new(DELTA)?;
    let correction = DkwCorrection::new(n as f64, m as f64, d)?;
    let (truth, sure) = (total_gap(p_power, q_power), correction.confidence());
    let names = [
        ("min-max, total gap (`exact_population`)", 1.0 - DELTA),
        ("min-max, distance from the level (`level_population`)", 1.0 - DELTA),
        ("min-max, total gap at these thresholds (`exact_dkw`)", sure),
        ("min-max, distance at these thresholds (`level_dkw`)", sure),
        ("min-max, eq 7 on the grid, DKW", sure),
        ("min-max, eq 8, DKW", sure),
        ("min-max, gap at alpha = 0.2, DKW", sure),
        ("min-max, coverage interval, DKW", 1.0 - DELTA),
    ];
    statements(DRAWS, names, |draw| {
        let mut stream = Seed::new(14).child("unlabeled", draw).stream("scores");
        let p = smoothed(&power_scores(&mut stream, n, p_power))?;
        let (values, mask) = target_rows(&mut stream, m, q_power)?;
        let candidates = Score::Lac.candidate_scores(&Probabilities::new(&values, 4)?)?;
        let pair = min_max(&candidates.with_mask(mask)?)?;
        let terms = correction.calibration + correction.target;
        let margins = PopulationMargins::new(n, &pair, d)?;
        let (exact, level) = (exact_gap_between(p.law(), &pair), level_gap_between(p.law(), &pair));
        let [gap_here, distance_here] = gaps_at(p.law(), POWERS);
        let t = p.law().quantile(alpha.level());
        let truth_at = (t.powf(1.0 / p_power) - t.powf(1.0 / q_power)).abs();
        let slack = |bound: evenkeel::bound::GapBound, truth: f64| {
            bound.with_correction(correction).corrected() - truth
        };
        let grid_form = integrated_gap_between(p.law(), &pair, &Integrator::density(&p, &grid)?);
        let threshold = conformal_threshold(p.law(), TestMass::exchangeable(n), alpha);
        let interval = coverage_interval(&pair, threshold, Some(d))?;
        let coverage = threshold.get().min(1.0).powf(1.0 / q_power);
        Ok([
            exact + margins.total_gap - truth,
            level + margins.level_gap - truth,
            exact + terms - gap_here,
            level + terms - distance_here,
            slack(grid_form, truth),
            slack(wasserstein_gap_between(&p, &pair, &grid)?, truth),
            slack(unlabeled_gap_at(p.law(), &pair, alpha), truth_at),
            room((interval.low, interval.high), coverage),
        ])
    })
}

/// Both gaps between the laws of `u^p` and `u^q` at the thresholds of a sample of the first.
fn gaps_at(thresholds: &WeightedEmpirical, (p_power, q_power): (f64, f64)) -> [f64; 2] {
    let triangle = |width: f64| 0.5 * width * width.abs();
    let (mut total, mut distance, mut before) = (0.0, 0.0, 0.0);
    let atoms = thresholds.atoms().iter().zip(thresholds.masses());
    for ((score, mass), reached) in atoms.zip(thresholds.cumulative()) {
        let (f_p, f_q) = (score.powf(1.0 / p_power), score.powf(1.0 / q_power));
        total += mass * (f_p - f_q).abs();
        distance += triangle(reached - f_q) - triangle(before - f_q);
        before = *reached;
    }
    [total, distance]
}
