//! Every statement with a confidence, 2000 times or more in worlds whose truth is known: how often it holds, and with how much room.
//!
//! ```sh
//! cargo run --release -p evenkeel --example conservatism
//! ```
//! ```text
//! held    share of the draws in which the statement is true
//! slack   bound - truth, or the distance of the truth from the nearer end of an interval, in percentage points; its mean
//! ```
//! A slack is negative where a statement fails. The worlds are those of `tests/validity`, `tests/certify` and `tests/check`.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods, clippy::expect_used)]
#![allow(unreachable_pub)]

mod world;

use std::error::Error;
use std::io::Write;

use evenkeel::bound::{
    DkwCorrection, Integrator, PopulationMargins, coverage_interval, exact_gap_between,
    integrated_gap, integrated_gap_between, labeled_gap_at, level_gap_between, unlabeled_gap_at,
    wasserstein_gap, wasserstein_gap_between,
};
use evenkeel::calibration::{Calibration, Evidence};
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::certify::{
    CoverageAlarm, CoverageSequence, Covered, CoveredLabels, clopper_pearson, same_labels_interval,
    tolerance_rank,
};
use evenkeel::check::{CheckSettings, check};
use evenkeel::interval::Interval;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::measure::{
    BANDWIDTH_FACTOR_CLASSIFICATION, BANDWIDTH_FLOOR, Bandwidth, Grid, SmoothedLaw, Support,
    WeightedEmpirical,
};
use evenkeel::method::Method;
use evenkeel::method::label_plan::LabelPlanSettings;
use evenkeel::sandwich::min_max;
use evenkeel::score::{LabelMask, Probabilities, Score};
use evenkeel::seed::{Seed, Stream};
use evenkeel::threshold::{TestMass, conformal_threshold};
use rayon::prelude::*;
use world::sample;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const DRAWS: u64 = 2000;
/// For statements that are exact or nearly so: chance moves the share of 2000 draws by one point, which is all that is left.
const MANY_DRAWS: u64 = 1_000_000;

/// A statement, what it promises, and its slack in every draw; no slack where none can be measured, only whether it held.
struct Statement {
    name: &'static str,
    promised: f64,
    slacks: Vec<f64>,
}

impl Statement {
    fn row(&self) -> String {
        let held = self.slacks.iter().filter(|slack| **slack >= 0.0).count() as f64;
        let draws = self.slacks.len() as f64;
        let mean = 100.0 * self.slacks.iter().sum::<f64>() / draws;
        let slack = if mean.is_finite() { format!("{mean:.1}") } else { "-".to_owned() };
        let (promised, held) = (100.0 * self.promised, 100.0 * held / draws);
        format!("| {} | {promised:.0} % | {held:.2} % of {draws} | {slack} |", self.name)
    }
}

/// The statements of one world: `draw` gives the slack of each in one of the draws.
fn statements<const K: usize>(
    draws: u64,
    names: [(&'static str, f64); K],
    draw: impl Fn(u64) -> Result<[f64; K]> + Sync + Send,
) -> Result<Vec<Statement>> {
    let draws: Vec<[f64; K]> = (0..draws).into_par_iter().map(draw).collect::<Result<_>>()?;
    let of = |(index, (name, promised))| Statement {
        name,
        promised,
        slacks: draws.iter().map(|slacks: &[f64; K]| slacks[index]).collect(),
    };
    Ok(names.into_iter().enumerate().map(of).collect())
}

fn room((low, high): (f64, f64), truth: f64) -> f64 {
    (truth - low).min(high - truth)
}

/// Scores `u^power` of a uniform `u`: the CDF is `t^(1 / power)`.
fn power_scores(stream: &mut Stream, count: usize, power: f64) -> Vec<f64> {
    (0..count).map(|_| stream.uniform().powf(power)).collect()
}

/// `|1/2 - 1/(1 + p/q)|`: the total gap between the laws of `u^p` and `u^q`.
fn total_gap(p: f64, q: f64) -> f64 {
    (0.5 - 1.0 / (1.0 + p / q)).abs()
}

fn smoothed(scores: &[f64]) -> Result<SmoothedLaw> {
    let bandwidth = Bandwidth::scott(scores, BANDWIDTH_FACTOR_CLASSIFICATION, BANDWIDTH_FLOOR)?;
    let law = WeightedEmpirical::uniform(scores)?;
    Ok(SmoothedLaw::new(law, bandwidth, Support::Bounded(Interval::UNIT))?)
}

/// Powers of the two laws, sizes of the two samples, failure probability.
const POWERS: (f64, f64) = (1.0, 1.5);
const SIZES: (usize, usize) = (100, 80);
const DELTA: f64 = 0.05;

/// Bounds from labels of both data sets, DKW terms added.
fn labeled_bounds() -> Result<Vec<Statement>> {
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
fn min_max_bounds() -> Result<Vec<Statement>> {
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

/// What fifty labels prove at once: coverage 90 %, level 90 %.
fn label_statements() -> Result<Vec<Statement>> {
    let (d, sure) = (FailureProbability::new(DELTA)?, 1.0 - DELTA);
    let (k, p, alpha) = (50_u64, 0.9, Miscoverage::new(0.1)?);
    let counted = |x| CoveredLabels::new(x, k);
    let exact = (0..=k).map(|x| Ok(clopper_pearson(counted(x)?, d))).collect::<Result<Vec<_>>>()?;
    let same =
        (0..=k).map(|x| Ok(same_labels_interval(counted(x)?, d))).collect::<Result<Vec<_>>>()?;
    let rank = tolerance_rank(k, alpha, d).ok_or("fifty labels have a tolerance rank")?;
    let place = usize::try_from(rank)? - 1;
    let names = [
        ("Clopper-Pearson, 50 labels, coverage 90 %", sure),
        ("same-labels band, 50 labels, worst threshold", sure),
        ("tolerance rank (`few-labels --guarantee`), 50 labels", sure),
    ];
    statements(MANY_DRAWS, names, |draw| {
        let mut stream = Seed::new(1).child("labels", draw).stream("labels");
        let covered = (0..k).filter(|_| stream.uniform() < p).count();
        // Uniform scores: the coverage of a threshold is the threshold.
        let mut scores: Vec<f64> = (0..k).map(|_| stream.uniform()).collect();
        scores.sort_unstable_by(f64::total_cmp);
        // Just below the next score x labels are covered, at the x-th too. The ends 0 and 1 hold of themselves.
        let above = scores.iter().zip(&same[1..]).map(|(score, ends)| score - ends.low);
        let below = scores.iter().zip(&same).map(|(score, ends)| ends.high - score);
        Ok([
            room((exact[covered].low, exact[covered].high), p),
            above.chain(below).fold(f64::INFINITY, f64::min),
            scores[place] - (1.0 - alpha.get()),
        ])
    })
}

/// What labels that keep coming prove, after each of them.
fn running_statements() -> Result<Vec<Statement>> {
    let (d, sure) = (FailureProbability::new(DELTA)?, 1.0 - DELTA);
    let (p, alpha) = (0.9, Miscoverage::new(0.1)?);
    let names = [
        ("running sequence, all of 1000 labels", sure),
        ("alarm at alpha = 0.1, silent over 2000 labels at 90 %", sure),
    ];
    statements(DRAWS, names, |draw| {
        let mut stream = Seed::new(2).child("running", draw).stream("labels");
        let mut sequence = CoverageSequence::new(d);
        for _ in 0..1000 {
            sequence.update(Covered::from(stream.uniform() < p));
        }
        // Ends only ever close in: the last interval is in all the others.
        let last = sequence.state();
        let mut alarm = CoverageAlarm::new(alpha, d);
        let fired =
            (0..2000).any(|_| alarm.update(Covered::from(stream.uniform() < p)).fired_at.is_some());
        // An alarm is silent or not: there is no distance to measure.
        let silent = if fired { f64::NEG_INFINITY } else { f64::INFINITY };
        Ok([room((last.low, last.high), p), silent])
    })
}

/// `integral |F_Q(t(u)) - u| du` over the levels of a calibration.
fn distance_from_level(found: &Calibration, truth: &WeightedEmpirical) -> f64 {
    let triangle = |width: f64| 0.5 * width * width.abs();
    let (mut total, mut before) = (0.0, 0.0);
    for (score, reached) in found.law().atoms().iter().zip(found.law().cumulative()) {
        let covered = truth.cdf(*score);
        total += triangle(reached - covered) - triangle(before - covered);
        before = *reached;
    }
    total
}

/// A classifier of ten classes whose signal has faded to nine tenths, through `check` and `label-plan`.
fn of_a_check() -> Result<Vec<Statement>> {
    let (rows, strength) = (100, 0.9);
    let (alpha, d) = (Miscoverage::new(0.1)?, FailureProbability::new(DELTA)?);
    let truth = WeightedEmpirical::uniform(&sample(200_000, strength, 999).scores())?;
    let names = [
        ("`check`, guaranteed interval with confidence", 1.0 - DELTA),
        ("`label-plan`, certificate with confidence (assumed)", 1.0 - DELTA),
    ];
    statements(DRAWS, names, |draw| {
        let (labeled, target) = (sample(rows, 1.0, 2 * draw), sample(rows, strength, 2 * draw + 1));
        let (probabilities, labels) = (labeled.probabilities(), labeled.labels());
        let settings =
            CheckSettings { permutations: 19, ..CheckSettings::new(alpha, d, Seed::new(draw)) };
        let checked =
            check(&probabilities, &labels, &target.probabilities(), &Score::Lac, &settings)?;
        let coverage = checked.report.threshold.map_or(1.0, |t| truth.cdf(t));
        let [low, high] = checked.report.coverage_interval.with_confidence.guaranteed;
        let calibrator =
            ShiftCalibrator::new(0.1)?.method(Method::LabelPlan(LabelPlanSettings::new(d)));
        let found = calibrator.calibrate(&probabilities, &labels, &target.probabilities())?;
        let Some(Evidence::LabelPlan { plan, .. }) = &found.learned().evidence else {
            return Err("a label plan has its evidence".into());
        };
        let gap = distance_from_level(&found, &truth);
        Ok([room((low, high), coverage), plan.certificate.with_confidence - gap])
    })
}

fn main() -> Result<()> {
    let mut out = std::io::stdout();
    writeln!(
        out,
        "| statement | promised | held, of draws | mean slack, points |\n|---|---|---|---|"
    )?;
    for world in [labeled_bounds, min_max_bounds, label_statements, running_statements, of_a_check]
    {
        for statement in world()? {
            writeln!(out, "{}", statement.row())?;
        }
    }
    Ok(())
}
