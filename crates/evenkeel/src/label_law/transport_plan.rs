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
use crate::numeric::{ABREAST, dot_in_lanes, sum_in_lanes, tempered_softmax_into};

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

/// Plausibilities of groups at a temperature, and of the class the model says of each row.
///
/// ```text
/// a block     f_0(0) f_1(0) .. f_63(0)   f_0(1) f_1(1) ..    group after group, the rows of the block beside each other
/// ```
/// Beside each other rows fill vector registers, however few groups there are, and are divided together.
pub(crate) struct GroupTable {
    /// Block after block; rows that are missing from the last are zeros.
    values: Vec<f64>,
    /// `f_j(top_j)`, one for each row.
    top: Vec<f64>,
    groups: usize,
}

/// Rows of a block at most.
const MOST_BLOCK: usize = 64;
/// Numbers of a block, as far as its rows can be fewer: the first cache holds them.
const BLOCK_CELLS: usize = 1 << 12;

/// Rows of a block of so many groups: a power of two. Part of the result, as the order of a sum is.
fn block_rows(groups: usize) -> usize {
    1 << (BLOCK_CELLS / groups.max(1)).clamp(2 * ABREAST, MOST_BLOCK).ilog2()
}

impl GroupTable {
    /// `softmax(logits / temperature)` summed over groups; `top` is the predicted class of each row.
    pub(crate) fn new(
        logits: &[impl AsRef<[f64]> + Sync],
        top: &[usize],
        groups: &ClassGroups,
        temperature: f64,
    ) -> Self {
        let mut table = Self::zeros(logits.len(), groups.len());
        let parts =
            table.parts().zip(logits.par_chunks(CHUNK_ROWS).zip(top.par_chunks(CHUNK_ROWS)));
        parts.for_each(|((values, top_values), (logits, top))| {
            let mut row = vec![0.0; groups.group_of.len()];
            let mut gathered = vec![0.0; groups.len()];
            let rows = logits.iter().zip(top).zip(top_values).enumerate();
            for (place, ((logits, top), top_value)) in rows {
                tempered_softmax(logits.as_ref(), 1.0 / temperature, &mut row);
                groups.gather(&row, &mut gathered);
                for (slot, value) in slots_of(values, groups.len(), place).zip(&gathered) {
                    *slot = *value;
                }
                *top_value = row[*top];
            }
        });
        table
    }

    /// The same of kept rows, to the bit: short ones eight at a time.
    pub(crate) fn of_kept(target: &KeptRows, groups: &ClassGroups, temperature: f64) -> Self {
        let Some(rows) = target.abreast() else {
            return Self::new(target.logits(), target.top(), groups, temperature);
        };
        let mut table = Self::zeros(rows.rows(), groups.len());
        let block = block_rows(groups.len());
        let parts = table.parts().zip(target.top().par_chunks(CHUNK_ROWS)).enumerate();
        parts.for_each(|(chunk, ((values, top_values), top))| {
            let first = chunk * CHUNK_ROWS;
            let of_chunk = first / ABREAST..(first + top.len()).div_ceil(ABREAST);
            rows.for_each(of_chunk, 1.0 / temperature, |row, made| {
                let place = row - first;
                let here = ABREAST.min(top.len() - place);
                let scales = made.sums.map(|sum| 1.0 / sum);
                // Eight rows beside each other, there as here.
                let slots = &mut values[place / block * block * groups.len() + place % block..];
                for (group, made) in groups.group_of.iter().zip(made.made.as_chunks::<ABREAST>().0)
                {
                    let slots = &mut slots[group * block..][..here];
                    for ((slot, made), scale) in slots.iter_mut().zip(made).zip(&scales) {
                        *slot += made * scale;
                    }
                }
                let tops = top_values[place..].iter_mut().zip(&top[place..]);
                for (index, (top_value, top)) in tops.take(here).enumerate() {
                    *top_value = made.made[top * ABREAST + index] * scales[index];
                }
            });
        });
        table
    }

    /// Zeros for so many rows.
    fn zeros(rows: usize, groups: usize) -> Self {
        let values = vec![0.0; rows.next_multiple_of(block_rows(groups)) * groups];
        Self { values, top: vec![0.0; rows], groups }
    }

    /// What stands for each [`CHUNK_ROWS`] rows, to be written: the plausibilities of groups and of the class that is said.
    fn parts(&mut self) -> impl IndexedParallelIterator<Item = (&mut [f64], &mut [f64])> {
        let values = self.values.par_chunks_mut(CHUNK_ROWS * self.groups);
        values.zip(self.top.par_chunks_mut(CHUNK_ROWS))
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
        let block = block_rows(self.groups);
        let mut totals = vec![0.0; block];
        let mut sum = 0.0;
        let blocks = self.values.chunks_exact(block * self.groups);
        let said = self.top.chunks(block).zip(top.chunks(block));
        for (values, (f, top)) in blocks.zip(said) {
            inner_products(values, &scalings, &mut totals);
            for ((f, top), total) in f.iter().zip(top).zip(&totals) {
                let b = scalings[groups.group_of[*top]];
                sum += f * ((1.0 - mix) + mix * b / total);
            }
        }
        sum / rows
    }

    /// `mean_j g_j` for scalings `b`; shape `(G,)`, of unit mass.
    pub(super) fn marginal(&self, scalings: &[f64]) -> Vec<f64> {
        let mut mean = vec![0.0; self.groups];
        self.write_marginal(scalings, &mut self.sums(), &mut mean);
        mean
    }

    /// Memory for the sums of a block.
    fn sums(&self) -> Vec<f64> {
        vec![0.0; block_rows(self.groups) * self.groups]
    }

    /// The same into memory that is there.
    fn write_marginal(&self, scalings: &[f64], sums: &mut [f64], mean: &mut [f64]) {
        let rows = self.top.len();
        // Chunks of a fixed size, added in their order: the same bits for any number of threads.
        if rows <= CHUNK_ROWS {
            sum_of_plans(&self.values, rows, scalings, sums, mean);
        } else {
            let chunks = self.values.par_chunks(CHUNK_ROWS * self.groups).enumerate();
            let sums = chunks.map(|(chunk, values)| {
                let (mut sums, mut sum) = (self.sums(), vec![0.0; self.groups]);
                let rows = rows - chunk * CHUNK_ROWS;
                sum_of_plans(values, rows, scalings, &mut sums, &mut sum);
                sum
            });
            let sums: Vec<Vec<f64>> = sums.collect();
            mean.fill(0.0);
            for sum in &sums {
                mean.iter_mut().zip(sum).for_each(|(mean, sum)| *mean += sum);
            }
        }
        mean.iter_mut().for_each(|mean| *mean /= rows as f64);
    }
}

/// Where the groups of a row stand in blocks.
fn slots_of(values: &mut [f64], groups: usize, row: usize) -> impl Iterator<Item = &mut f64> {
    let block = block_rows(groups);
    let of_block = &mut values[row / block * block * groups..][..block * groups];
    of_block[row % block..].iter_mut().step_by(block)
}

in_widest_registers! {
    /// `out = softmax(inverse logits)`; shapes `(C,)`.
    pub(crate) fn tempered_softmax[](logits: &[f64], inverse: f64, out: &mut [f64]) -> () {
        tempered_softmax_into(logits, inverse, out);
    }
}

in_widest_registers! {
    /// `sum_j g_j` over blocks of plausibilities, of which so many rows are there; shape that of the scalings.
    ///
    /// ```text
    /// sum_j f_j b / (f_j . b) = b sum_j f_j scale_j,    scale_j = 1 / (f_j . b)
    /// ```
    /// `sums` is memory of a block: rows at the same place of their blocks are added up there.
    fn sum_of_plans[](
        values: &[f64],
        rows: usize,
        scalings: &[f64],
        sums: &mut [f64],
        out: &mut [f64],
    ) -> () {
        let block = block_rows(scalings.len());
        let mut scales = [0.0; MOST_BLOCK];
        let scales = &mut scales[..block];
        sums.fill(0.0);
        for (index, values) in values.chunks_exact(block * scalings.len()).enumerate() {
            inner_products(values, scalings, scales);
            // Never a division by zero: a row's largest entry is at least 1 / G, and a scaling at least e^-300.
            scales.iter_mut().for_each(|scale| *scale = 1.0 / *scale);
            // But for rows that are not there.
            if let Some(missing) = scales.get_mut(rows.saturating_sub(index * block)..) {
                missing.fill(0.0);
            }
            for (sums, column) in sums.chunks_exact_mut(block).zip(values.chunks_exact(block)) {
                for (sum, (f, scale)) in sums.iter_mut().zip(column.iter().zip(&*scales)) {
                    *sum += f * scale;
                }
            }
        }
        for ((out, sums), b) in out.iter_mut().zip(sums.chunks_exact(block)).zip(scalings) {
            *out = b * sum_in_lanes(sums);
        }
    }
}

/// `out_j = f_j . b` of the rows of a block, one group after the other: long loops, which become vector code.
#[inline(always)]
fn inner_products(values: &[f64], scalings: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (column, b) in values.chunks_exact(out.len()).zip(scalings) {
        for (out, f) in out.iter_mut().zip(column) {
            *out += f * b;
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
    let (mut scalings, mut mean) = (vec![0.0; table.groups], vec![0.0; table.groups]);
    let mut sums = table.sums();
    let mut new = vec![0.0; prior.len()];
    while iterations < iterating.most_iterations {
        iterations += 1;
        scalings.iter_mut().zip(&log_scalings).for_each(|(b, log_b)| *b = log_b.exp());
        table.write_marginal(&scalings, &mut sums, &mut mean);
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

    /// A table of rows as they are given.
    fn table_of(rows: &[f64], groups: usize) -> GroupTable {
        let mut table = GroupTable::zeros(rows.len() / groups, groups);
        for (row, values) in rows.chunks_exact(groups).enumerate() {
            for (slot, value) in slots_of(&mut table.values, groups, row).zip(values) {
                *slot = *value;
            }
        }
        table
    }

    /// Blocks of any shape, the last of them full or not, have the mean of their rows one by one.
    #[test]
    fn blocks_have_the_mean_of_their_rows() {
        let mut stream = Seed::new(8).stream("blocks");
        for groups in (1..=40).chain([64, 65, 100, 300, 1000]) {
            for count in [1, 15, 16, 57, 64, 65, 130] {
                let rows: Vec<f64> =
                    (0..count * groups).map(|_| stream.uniform().powi(5)).collect();
                let scalings: Vec<f64> =
                    (0..groups).map(|_| (9.0 * stream.uniform()).exp()).collect();
                let mut expected = vec![0.0; groups];
                for row in rows.chunks_exact(groups) {
                    let total: f64 = row.iter().zip(&scalings).map(|(f, b)| f * b).sum();
                    for ((mean, f), b) in expected.iter_mut().zip(row).zip(&scalings) {
                        *mean += f * b / total / count as f64;
                    }
                }
                let found = table_of(&rows, groups).marginal(&scalings);
                for (found, expected) in found.iter().zip(&expected) {
                    let error = (found - expected).abs();
                    assert!(error <= 1e-13 * expected, "{count} rows of {groups}: {error}");
                }
            }
        }
    }

    /// Short rows eight at a time make the table of rows one by one, to the bit.
    #[test]
    fn kept_rows_make_the_same_table() {
        let mut stream = Seed::new(9).stream("kept");
        for (count, classes) in [(1, 3), (8, 10), (77, 10), (130, 32)] {
            let logits: Vec<f64> = (0..count * classes).map(|_| 9.0 * stream.uniform()).collect();
            let rows: Vec<&[f64]> = logits.chunks_exact(classes).collect();
            let top: Vec<usize> = (0..count).map(|_| stream.below(classes)).collect();
            for few in [classes, 2] {
                let group_of: Vec<usize> = (0..classes).map(|class| class % few).collect();
                let groups = ClassGroups { group_of, prior: vec![1.0 / few as f64; few] };
                let one_by_one = GroupTable::new(&rows, &top, &groups, 1.3);
                let kept = KeptRows::of_logits(&logits, classes, &top);
                let abreast = GroupTable::of_kept(&kept, &groups, 1.3);
                let bits = |table: &GroupTable| -> Vec<u64> {
                    table.values.iter().chain(&table.top).map(|value| value.to_bits()).collect()
                };
                assert_eq!(bits(&one_by_one), bits(&abreast), "{count} rows of {few} groups");
            }
        }
    }

    /// A group no point could belong to has no mass to give; the fixed point ends all the same.
    #[test]
    fn impossible_groups_do_not_break_the_fixed_point() {
        let table = table_of(&[1.0, 0.0, 0.5, 0.5, 0.3, 0.7], 2);
        let none = table_of(&[1.0, 0.0, 1.0, 0.0], 2);
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
