//! Stage 4: target points transported onto calibration labels.
//!
//! Entropic optimal transport with cost `-log f(y|x)`: the plan has the form `g_j(y) ~ f_j(y) b_group(y)`, rows of unit
//! mass. The scalings `b` are the fixed point of
//!
//! ```text
//! new    = phi (log pi + log b - log mean_j g_j),  centred
//! log b += step (new - log b)                      until the largest change is below the tolerance
//!
//! semi-relaxed  phi = 0.9, step 0.5    the label marginal is pulled toward pi, not forced onto it
//! balanced      phi = 1,   step 1      Sinkhorn: the label marginal is pi
//! ```

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::class_groups::ClassGroups;
use super::kept_rows::KeptRows;
use crate::numeric::simd::in_widest_registers;
use crate::numeric::{ABREAST, add_lanes, dot_in_lanes, tempered_softmax_into};

/// Pull of the label marginal toward the prior: 0 leaves it alone, 1 forces it.
const PHI: f64 = 0.9;
/// Share of the way to the new scalings that a step of the semi-relaxed fixed point goes.
const STEP: f64 = 0.5;
/// Log-scalings stay within this: beyond it products with plausibilities would leave the range of `f64`.
const LARGEST_LOG_SCALING: f64 = 300.0;
/// Marginals below this count as this much: the logarithm of zero is not a number.
const SMALLEST_MARGINAL: f64 = 1e-300;
/// Rows whose plans are added up together. Part of the result, as the order of a sum is.
const CHUNK_ROWS: usize = 1 << 12;

/// How far a fixed point is iterated: whichever of the two comes first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Iterating {
    /// Largest change of a log-scaling at which it has converged; positive.
    pub tolerance: f64,
    /// Iterations after which it ends unconverged; at least 1.
    pub most_iterations: usize,
}

/// Which fixed point: how strongly the mean row is tied to the prior.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marginal {
    /// Pulled toward the prior: the planned law.
    SemiRelaxed,
    /// The same fixed point in whole steps. `d log mean_j g_j / d log b` has its eigenvalues in `[0, 1]`, so a whole step
    /// shrinks every error to at most `phi` of itself and none changes sign: half the iterations of half steps, or fewer.
    SemiRelaxedInWholeSteps,
    /// Forced onto the prior: the accuracy of the matched reading rests on it.
    Balanced,
}

/// Why a fixed point was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PlanStop {
    /// The change fell below the tolerance.
    Converged,
    /// The iterations allowed were used up.
    IterationLimit,
    /// Its share in the planned law is zero, so it was not computed.
    NotNeeded,
}

/// The scalings of a plan and how they came about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TransportPlan {
    /// `log b`, centred; shape `(G,)`.
    pub log_scalings: Vec<f64>,
    /// Fixed-point iterations taken; 0 where no plan was needed.
    pub iterations: usize,
    /// Why the iteration ended.
    pub stopped: PlanStop,
}

impl TransportPlan {
    /// The plan of scalings 1, `g = f`, where no fixed point was run.
    pub(crate) fn not_needed(groups: usize) -> Self {
        Self { log_scalings: vec![0.0; groups], iterations: 0, stopped: PlanStop::NotNeeded }
    }

    /// `b` of each class, that of its group; shape `(C,)`, positive.
    pub(crate) fn class_scalings(&self, groups: &ClassGroups) -> Vec<f64> {
        groups.group_of.iter().map(|group| self.log_scalings[*group].exp()).collect()
    }
}

/// Plausibilities of groups at a temperature, `(rows, G)`, and of the class the model says of each row.
pub(crate) struct GroupTable {
    /// Row after row, each filled up with zeros to `stride`.
    values: Vec<f64>,
    /// Length of a row.
    stride: usize,
    /// `f_j(top_j)`.
    top: Vec<f64>,
    groups: usize,
}

impl GroupTable {
    /// `softmax(logits / temperature)` summed over groups; `top` is the predicted class of each row.
    pub(crate) fn new(
        logits: &[impl AsRef<[f64]> + Sync],
        top: &[usize],
        groups: &ClassGroups,
        temperature: f64,
    ) -> Self {
        let stride = stride_of(groups.len());
        let mut values = vec![0.0; logits.len() * stride];
        let mut top_values = vec![0.0; logits.len()];
        let parts = values
            .par_chunks_mut(CHUNK_ROWS * stride)
            .zip(top_values.par_chunks_mut(CHUNK_ROWS))
            .zip(logits.par_chunks(CHUNK_ROWS).zip(top.par_chunks(CHUNK_ROWS)));
        parts.for_each(|((values, top_values), (logits, top))| {
            let mut row = vec![0.0; groups.group_of.len()];
            let rows = values.chunks_exact_mut(stride).zip(top_values);
            for ((value, top_value), (logits, top)) in rows.zip(logits.iter().zip(top)) {
                tempered_softmax(logits.as_ref(), 1.0 / temperature, &mut row);
                groups.gather(&row, &mut value[..groups.len()]);
                *top_value = row[*top];
            }
        });
        Self { values, stride, top: top_values, groups: groups.len() }
    }

    /// The same of kept rows, to the bit: short ones eight at a time.
    pub(crate) fn of_kept(target: &KeptRows, groups: &ClassGroups, temperature: f64) -> Self {
        let Some(rows) = target.abreast() else {
            return Self::new(target.logits(), target.top(), groups, temperature);
        };
        let stride = stride_of(groups.len());
        let mut values = vec![0.0; rows.rows() * stride];
        let mut top_values = vec![0.0; rows.rows()];
        let parts = values
            .par_chunks_mut(CHUNK_ROWS * stride)
            .zip(top_values.par_chunks_mut(CHUNK_ROWS))
            .zip(target.top().par_chunks(CHUNK_ROWS))
            .enumerate();
        parts.for_each(|(chunk, ((values, top_values), top))| {
            let first = chunk * CHUNK_ROWS;
            let of_chunk = first / ABREAST..(first + top.len()).div_ceil(ABREAST);
            rows.for_each(of_chunk, 1.0 / temperature, |row, made| {
                let places = values[(row - first) * stride..].chunks_exact_mut(stride);
                let places = places.zip(&mut top_values[row - first..]).zip(&top[row - first..]);
                for (index, ((value, top_value), top)) in places.take(ABREAST).enumerate() {
                    let scale = 1.0 / made.sums[index];
                    let of_row = made.made.iter().skip(index).step_by(ABREAST);
                    for (group, exponential) in groups.group_of.iter().zip(of_row) {
                        value[*group] += exponential * scale;
                    }
                    *top_value = made.made[top * ABREAST + index] * scale;
                }
            });
        });
        Self { values, stride, top: top_values, groups: groups.len() }
    }

    /// `mean_j [(1 - mix) f_j(top_j) + mix g_j(top_j)]`; `top` as when the table was made.
    pub(crate) fn mean_top(
        &self,
        mix: f64,
        plan: &TransportPlan,
        groups: &ClassGroups,
        top: &[usize],
    ) -> f64 {
        let rows = self.top.len() as f64;
        if mix <= 0.0 {
            return self.top.iter().sum::<f64>() / rows;
        }
        let scalings: Vec<f64> = plan.log_scalings.iter().map(|log_b| log_b.exp()).collect();
        let said = self.values.chunks_exact(self.stride).zip(&self.top).zip(top);
        let sum: f64 = said
            .map(|((row, f), top)| {
                let b = scalings[groups.group_of[*top]];
                f * ((1.0 - mix) + mix * b / dot_in_lanes(&row[..self.groups], &scalings))
            })
            .sum();
        sum / rows
    }

    /// `mean_j g_j` for scalings `b`; shape `(G,)`, of unit mass.
    pub(super) fn marginal(&self, scalings: &[f64]) -> Vec<f64> {
        let mut filled = scalings.to_vec();
        filled.resize(self.stride, 0.0);
        let mut mean = vec![0.0; self.stride];
        self.write_marginal(&filled, &mut mean);
        mean.truncate(self.groups);
        mean
    }

    /// The same of scalings that are filled up with zeros to whole registers, as is what is written.
    fn write_marginal(&self, scalings: &[f64], mean: &mut [f64]) {
        let rows = (self.values.len() / self.stride) as f64;
        // Chunks of a fixed size, added in their order: the same bits for any number of threads.
        if self.values.len() <= CHUNK_ROWS * self.stride {
            sum_of_plans(&self.values, scalings, mean);
        } else {
            let chunks = self.values.par_chunks(CHUNK_ROWS * self.stride);
            let sums = chunks.map(|rows| {
                let mut sum = vec![0.0; self.stride];
                sum_of_plans(rows, scalings, &mut sum);
                sum
            });
            let sums: Vec<Vec<f64>> = sums.collect();
            mean.fill(0.0);
            for sum in &sums {
                mean.iter_mut().zip(sum).for_each(|(mean, sum)| *mean += sum);
            }
        }
        mean.iter_mut().for_each(|mean| *mean /= rows);
    }
}

in_widest_registers! {
    /// `out = softmax(inverse logits)`; shapes `(C,)`.
    pub(crate) fn tempered_softmax[](logits: &[f64], inverse: f64, out: &mut [f64]) -> () {
        tempered_softmax_into(logits, inverse, out);
    }
}

/// Entries of a register's worth: short rows are filled up to whole ones, whose sums stay in registers.
const REGISTER: usize = 4;
/// Rows of more entries than this many registers hold are left as they are.
const MOST_REGISTERS: usize = 8;

/// The length of rows of so many groups.
fn stride_of(groups: usize) -> usize {
    if groups <= REGISTER * MOST_REGISTERS { groups.next_multiple_of(REGISTER) } else { groups }
}

in_widest_registers! {
    /// `sum_j g_j` over rows of plausibilities, added in their order; shape that of the scalings.
    fn sum_of_plans[](rows: &[f64], scalings: &[f64], sum: &mut [f64]) -> () {
        // By whole registers where they are few: a loop whose length is known keeps its sums in them.
        match (scalings.len() / REGISTER, scalings.len() % REGISTER) {
            (1, 0) => sum_of_short_plans::<1>(rows, scalings, sum),
            (2, 0) => sum_of_short_plans::<2>(rows, scalings, sum),
            (3, 0) => sum_of_short_plans::<3>(rows, scalings, sum),
            (4, 0) => sum_of_short_plans::<4>(rows, scalings, sum),
            (5, 0) => sum_of_short_plans::<5>(rows, scalings, sum),
            (6, 0) => sum_of_short_plans::<6>(rows, scalings, sum),
            (7, 0) => sum_of_short_plans::<7>(rows, scalings, sum),
            (8, 0) => sum_of_short_plans::<8>(rows, scalings, sum),
            _ => sum_of_any_plans(rows, scalings, sum),
        }
    }
}

/// ```text
/// sum += (f b) / (f . b)       the inner product in the eight lanes of `dot_in_lanes`, to which zeros add nothing
/// ```
#[inline(always)]
fn sum_of_short_plans<const REGISTERS: usize>(rows: &[f64], scalings: &[f64], out: &mut [f64]) {
    let mut factors = [[0.0; REGISTER]; REGISTERS];
    factors.copy_from_slice(scalings.as_chunks::<REGISTER>().0);
    let mut sum = [[0.0; REGISTER]; REGISTERS];
    for row in rows.as_chunks::<REGISTER>().0.as_chunks::<REGISTERS>().0 {
        let (mut products, mut lanes) = ([[0.0; REGISTER]; REGISTERS], [0.0; 2 * REGISTER]);
        for register in 0..REGISTERS {
            for entry in 0..REGISTER {
                let product = row[register][entry] * factors[register][entry];
                products[register][entry] = product;
                lanes[register % 2 * REGISTER + entry] += product;
            }
        }
        let scale = 1.0 / add_lanes(lanes);
        for register in 0..REGISTERS {
            for entry in 0..REGISTER {
                sum[register][entry] += products[register][entry] * scale;
            }
        }
    }
    out.copy_from_slice(sum.as_flattened());
}

#[inline(always)]
fn sum_of_any_plans(rows: &[f64], scalings: &[f64], sum: &mut [f64]) {
    sum.fill(0.0);
    for row in rows.chunks_exact(scalings.len()) {
        // Never a division by zero: a row's largest entry is at least 1 / G, and a scaling at
        // least e^-300.
        let scale = 1.0 / dot_in_lanes(row, scalings);
        for ((sum, value), scaling) in sum.iter_mut().zip(row).zip(scalings) {
            *sum += value * scaling * scale;
        }
    }
}

/// `g ~ f b` of one row of classes, in place; both of shape `(C,)`, the result of unit mass.
#[inline(always)]
pub(crate) fn scale_row(row: &mut [f64], scalings: &[f64]) {
    let scale = 1.0 / dot_in_lanes(row, scalings);
    for (value, scaling) in row.iter_mut().zip(scalings) {
        *value *= scaling * scale;
    }
}

/// Iterates the fixed point of the scalings from `b = 1`.
///
/// `prior` has shape `(G,)` and is positive. A plan that did not converge is used all the same, and its
/// `stopped` says so in the evidence.
pub(crate) fn fit_plan(
    table: &GroupTable,
    prior: &[f64],
    marginal: Marginal,
    iterating: Iterating,
) -> TransportPlan {
    fit_plan_from(table, prior, marginal, iterating, vec![0.0; prior.len()])
}

/// The same from other scalings: those of a plan that is nearly this one save most of the iterations.
pub(crate) fn fit_plan_from(
    table: &GroupTable,
    prior: &[f64],
    marginal: Marginal,
    iterating: Iterating,
    mut log_scalings: Vec<f64>,
) -> TransportPlan {
    let (phi, step) = match marginal {
        Marginal::SemiRelaxed => (PHI, STEP),
        Marginal::SemiRelaxedInWholeSteps => (PHI, 1.0),
        Marginal::Balanced => (1.0, 1.0),
    };
    let log_prior: Vec<f64> = prior.iter().map(|pi| pi.ln()).collect();
    let mut stopped = PlanStop::IterationLimit;
    let mut iterations = 0;
    // Memory of an iteration, used for all: there are thousands.
    let (mut scalings, mut mean) = (vec![0.0; table.stride], vec![0.0; table.stride]);
    let mut new = vec![0.0; prior.len()];
    while iterations < iterating.most_iterations {
        iterations += 1;
        scalings.iter_mut().zip(&log_scalings).for_each(|(b, log_b)| *b = log_b.exp());
        table.write_marginal(&scalings, &mut mean);
        for ((new, pi), (log_b, mean)) in
            new.iter_mut().zip(&log_prior).zip(log_scalings.iter().zip(&mean))
        {
            *new = phi * (pi + log_b - mean.max(SMALLEST_MARGINAL).ln());
        }
        // Rows have unit mass, so a common factor of all scalings changes no plan: centring picks
        // one of them, far from the clamp below.
        let centre = new.iter().sum::<f64>() / new.len() as f64;
        new.iter_mut().for_each(|value| *value -= centre);
        let mut change = 0.0_f64;
        for (log_b, new) in log_scalings.iter_mut().zip(&new) {
            let next =
                (*log_b + step * (new - *log_b)).clamp(-LARGEST_LOG_SCALING, LARGEST_LOG_SCALING);
            change = change.max((next - *log_b).abs());
            *log_b = next;
        }
        if change < iterating.tolerance {
            stopped = PlanStop::Converged;
            break;
        }
    }
    TransportPlan { log_scalings, iterations, stopped }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn table(rows: usize, groups: usize, sharpness: f64) -> (GroupTable, ClassGroups) {
        let mut stream = Seed::new(3).stream("plan");
        let logits: Vec<f64> = (0..rows * groups).map(|_| sharpness * stream.uniform()).collect();
        let prior = vec![1.0 / groups as f64; groups];
        let classes = ClassGroups { group_of: (0..groups).collect(), prior };
        let rows: Vec<&[f64]> = logits.chunks_exact(groups).collect();
        (GroupTable::new(&rows, &vec![0; rows.len()], &classes, 1.0), classes)
    }

    #[test]
    fn the_balanced_plan_has_the_prior_as_its_marginal() {
        let (table, _) = table(200, 5, 4.0);
        let prior = [0.4, 0.3, 0.15, 0.1, 0.05];
        let iterating = Iterating { tolerance: 1e-12, most_iterations: 10_000 };
        let plan = fit_plan(&table, &prior, Marginal::Balanced, iterating);
        assert_eq!(plan.stopped, PlanStop::Converged);
        let scalings: Vec<f64> = plan.log_scalings.iter().map(|b| b.exp()).collect();
        for (found, expected) in table.marginal(&scalings).iter().zip(prior) {
            assert!((found - expected).abs() < 1e-10, "{found} against {expected}");
        }
    }

    #[test]
    fn the_semi_relaxed_marginal_lies_on_the_way() {
        let (table, _) = table(200, 5, 4.0);
        let prior = [0.6, 0.1, 0.1, 0.1, 0.1];
        let iterating = Iterating { tolerance: 1e-12, most_iterations: 10_000 };
        let plan = fit_plan(&table, &prior, Marginal::SemiRelaxed, iterating);
        let scalings: Vec<f64> = plan.log_scalings.iter().map(|b| b.exp()).collect();
        let (before, after) = (table.marginal(&[1.0; 5]), table.marginal(&scalings));
        assert!(before[0] < after[0] && after[0] < prior[0], "{before:?} {after:?}");
        // phi (log pi - log marginal) = (1 - phi) log b, up to the centring.
        let rest: Vec<f64> = (0..5)
            .map(|g| PHI * (prior[g].ln() - after[g].ln()) - (1.0 - PHI) * plan.log_scalings[g])
            .collect();
        assert!(rest.iter().all(|value| (value - rest[0]).abs() < 1e-9), "{rest:?}");
    }

    #[test]
    fn whole_steps_and_another_start_lead_to_the_same_plan() {
        for sharpness in [0.5, 4.0, 40.0] {
            let (table, _) = table(200, 5, sharpness);
            let prior = [0.6, 0.1, 0.1, 0.1, 0.1];
            let iterating = Iterating { tolerance: 1e-12, most_iterations: 10_000 };
            let half = fit_plan(&table, &prior, Marginal::SemiRelaxed, iterating);
            let start = vec![1.0, -2.0, 0.5, 0.25, 0.25];
            let marginal = Marginal::SemiRelaxedInWholeSteps;
            let whole = fit_plan_from(&table, &prior, marginal, iterating, start);
            assert_eq!(whole.stopped, PlanStop::Converged);
            assert!(whole.iterations < half.iterations, "{} {}", whole.iterations, half.iterations);
            for (a, b) in half.log_scalings.iter().zip(&whole.log_scalings) {
                assert!((a - b).abs() < 1e-9, "{half:?} {whole:?}");
            }
        }
    }

    /// Rows that were filled up with zeros have the sums of rows that were not, to the bit.
    #[test]
    fn filled_rows_sum_to_the_same_bits() {
        let mut stream = Seed::new(8).stream("filled");
        for groups in 1..=40 {
            let rows: Vec<f64> = (0..57 * groups).map(|_| stream.uniform().powi(5)).collect();
            let scalings: Vec<f64> = (0..groups).map(|_| (9.0 * stream.uniform()).exp()).collect();
            let mut expected = vec![0.0; groups];
            sum_of_any_plans(&rows, &scalings, &mut expected);
            let stride = stride_of(groups);
            let filled = |row: &[f64]| {
                let mut row = row.to_vec();
                row.resize(stride, 0.0);
                row
            };
            let rows: Vec<f64> = rows.chunks_exact(groups).flat_map(filled).collect();
            let mut found = vec![0.0; stride];
            sum_of_plans(&rows, &filled(&scalings), &mut found);
            let bits =
                |sums: &[f64]| sums[..groups].iter().map(|s| s.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&found), bits(&expected), "{groups} groups");
        }
    }

    /// A group no point could belong to has no mass to give; the fixed point ends all the same.
    #[test]
    fn impossible_groups_do_not_break_the_fixed_point() {
        let of = |values: &[f64]| {
            let top = vec![0.0; values.len() / 2];
            GroupTable { values: values.to_vec(), stride: 2, top, groups: 2 }
        };
        let (table, none) = (of(&[1.0, 0.0, 0.5, 0.5, 0.3, 0.7]), of(&[1.0, 0.0, 1.0, 0.0]));
        let iterating = Iterating { tolerance: 1e-4, most_iterations: 1000 };
        for marginal in [Marginal::Balanced, Marginal::SemiRelaxed] {
            for table in [&table, &none] {
                let plan = fit_plan(table, &[0.5, 0.5], marginal, iterating);
                assert!(plan.log_scalings.iter().all(|b| b.is_finite()), "{plan:?}");
            }
        }
    }

    #[test]
    fn the_limit_is_a_reason() {
        let (table, _) = table(50, 4, 9.0);
        let iterating = Iterating { tolerance: 1e-12, most_iterations: 2 };
        let plan = fit_plan(&table, &[0.7, 0.1, 0.1, 0.1], Marginal::Balanced, iterating);
        assert_eq!((plan.stopped, plan.iterations), (PlanStop::IterationLimit, 2));
    }
}
