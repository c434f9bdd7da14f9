//! What rests on the order of model and uniform labels, in worlds where the truth lies at one end of it.

use evenkeel::bound::{
    DkwCorrection, Integrator, PopulationMargins, exact_gap_between, integrated_gap_between,
    level_gap_between, wasserstein_gap_between,
};
use evenkeel::check::{CheckSettings, check};
use evenkeel::interval::Interval;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::measure::{Grid, WeightedEmpirical};
use evenkeel::sandwich::model_uniform;
use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::seed::{Seed, Stream};

use crate::bounds::smoothed;
use crate::statement::{Statement, room, statements};
use crate::{DELTA, DRAWS, Result};

const CLASSES: usize = 3;

/// The law of the labels of a row.
#[derive(Debug, Clone, Copy)]
enum LabelLaw {
    Likeliest,
    Model { temperature: f64 },
    Uniform,
}

impl LabelLaw {
    fn draw(self, row: &[f64], stream: &mut Stream) -> usize {
        let temperature = match self {
            Self::Uniform => return stream.below(CLASSES),
            Self::Likeliest => 1e-3,
            Self::Model { temperature } => temperature,
        };
        let raw: Vec<f64> = row.iter().map(|p| p.powf(1.0 / temperature)).collect();
        let mut left = raw.iter().sum::<f64>() * stream.uniform();
        let found = raw.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        found.unwrap_or(CLASSES - 1)
    }
}

/// Rows of a classifier that is never very sure.
fn rows(stream: &mut Stream, count: usize, law: LabelLaw) -> (Vec<f64>, Vec<usize>) {
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let raw: Vec<f64> = (0..CLASSES).map(|_| (2.0 * stream.uniform()).exp()).collect();
        let total: f64 = raw.iter().sum();
        let row: Vec<f64> = raw.iter().map(|value| value / total).collect();
        labels.push(law.draw(&row, stream));
        values.extend(row);
    }
    (values, labels)
}

fn scores(stream: &mut Stream, count: usize, law: LabelLaw) -> Result<Vec<f64>> {
    let (values, labels) = rows(stream, count, law);
    let (table, labels) = (Probabilities::new(&values, CLASSES)?, Labels::new(labels, CLASSES)?);
    Ok(Score::Lac.label_scores(&table, &labels)?)
}

fn population(law: LabelLaw) -> Result<WeightedEmpirical> {
    let mut stream = Seed::new(42).stream("population");
    Ok(WeightedEmpirical::uniform(&scores(&mut stream, 200_000, law)?)?)
}

/// Both gaps between two laws at the thresholds of a third.
fn gaps(at: &WeightedEmpirical, p: &WeightedEmpirical, q: &WeightedEmpirical) -> [f64; 2] {
    let triangle = |width: f64| 0.5 * width * width.abs();
    let (mut total, mut to_level, mut before) = (0.0, 0.0, 0.0);
    for ((score, mass), reached) in at.atoms().iter().zip(at.masses()).zip(at.cumulative()) {
        let covered = q.cdf(*score);
        total += mass * (p.cdf(*score) - covered).abs();
        to_level += triangle(reached - covered) - triangle(before - covered);
        before = *reached;
    }
    [total, to_level]
}

/// Labels of the calibration data are the likeliest, those of the target data uniform: the far end of the order.
pub(crate) fn model_order_bounds() -> Result<Vec<Statement>> {
    let (n, m) = (100, 80);
    let (p_law, q_law) = (population(LabelLaw::Likeliest)?, population(LabelLaw::Uniform)?);
    let [total, distance] = gaps(&p_law, &p_law, &q_law);
    let (grid, d) = (Grid::new(Interval::UNIT, 200)?, FailureProbability::new(DELTA)?);
    let names = [
        ("f-u, total gap (`exact_population`, assumed)", 1.0 - DELTA),
        ("f-u, distance from the level (`level_population`, assumed)", 1.0 - DELTA),
        ("f-u, total gap at these thresholds (`exact_dkw`, assumed)", 1.0 - 2.0 * DELTA),
        ("f-u, distance at these thresholds (`level_dkw`, assumed)", 1.0 - 2.0 * DELTA),
        ("f-u, eq 7 on the grid, DKW (assumed)", 1.0 - 2.0 * DELTA),
        ("f-u, eq 8, DKW (assumed)", 1.0 - 2.0 * DELTA),
    ];
    statements(DRAWS, names, |draw| {
        let mut stream = Seed::new(45).child("order", draw).stream("rows");
        let p = smoothed(&scores(&mut stream, n, LabelLaw::Likeliest)?)?;
        let (values, _) = rows(&mut stream, m, LabelLaw::Uniform);
        let table = Probabilities::new(&values, CLASSES)?;
        let pair = model_uniform(&Score::Lac.candidate_scores(&table)?)?;
        let (exact, level) = (exact_gap_between(p.law(), &pair), level_gap_between(p.law(), &pair));
        let margins = PopulationMargins::new(n, &pair, d)?;
        let terms = DkwCorrection::for_sandwich(n as f64, &pair, d)?;
        let both = terms.calibration + terms.target;
        let [total_here, distance_here] = gaps(p.law(), &p_law, &q_law);
        let seven = integrated_gap_between(p.law(), &pair, &Integrator::density(&p, &grid)?);
        let eight = wasserstein_gap_between(&p, &pair, &grid)?;
        Ok([
            exact + margins.total_gap - total,
            level + margins.level_gap - distance,
            exact + both - total_here,
            level + both - distance_here,
            seven.with_correction(terms).corrected() - total,
            eight.with_correction(terms).corrected() - total,
        ])
    })
}

/// The assumed interval of `check`, with labels of both data sets by one law.
fn interval(name: &'static str, law: LabelLaw, (n, m): (usize, usize)) -> Result<Vec<Statement>> {
    let truth = population(law)?;
    let (alpha, d) = (Miscoverage::new(0.4)?, FailureProbability::new(DELTA)?);
    let fitted = matches!(law, LabelLaw::Model { temperature } if temperature < 1.0);
    statements(DRAWS, [(name, 1.0 - DELTA)], |draw| {
        let mut stream = Seed::new(41).child("assumed", draw).stream("rows");
        let (labeled, labels) = rows(&mut stream, n, law);
        let (target, _) = rows(&mut stream, m, law);
        let settings =
            CheckSettings { permutations: 19, ..CheckSettings::new(alpha, d, Seed::new(draw)) };
        let found = check(
            &Probabilities::new(&labeled, CLASSES)?,
            &Labels::new(labels, CLASSES)?,
            &Probabilities::new(&target, CLASSES)?,
            &Score::Lac,
            &settings,
        )?
        .report;
        // Where too few labels contradict a wrong model the report assumes that it is right as given, which is false here.
        if fitted && found.belief.holds {
            return Ok([f64::NAN]);
        }
        let coverage = found.threshold.map_or(1.0, |t| truth.cdf(t));
        let [low, high] = found.coverage_interval.with_confidence.assumed;
        Ok([room((low, high), coverage)])
    })
}

/// Labels that follow the model.
pub(crate) fn model_as_given() -> Result<Vec<Statement>> {
    let law = LabelLaw::Model { temperature: 1.0 };
    interval("`check`, assumed interval, model as given", law, (100, 100))
}

/// A model that is too timid, whose temperature is fitted to a hundred labels.
pub(crate) fn temperature_fitted() -> Result<Vec<Statement>> {
    let law = LabelLaw::Model { temperature: 0.35 };
    interval("`check`, assumed interval, temperature fitted", law, (100, 100))
}
