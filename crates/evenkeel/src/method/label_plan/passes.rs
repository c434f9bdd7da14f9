//! The two passes over target rows.
//!
//! ```text
//! pass 1   needs the temperature       leaves predicted classes counted, confidences, rows for the fixed points
//! pass 2   needs the fitted scalings   leaves the three laws at the calibration scores, and the planned law's tail
//! ```
//! What a pass leaves is bounded in size and does not depend on how rows were cut into blocks or merged. Below
//! [`LabelPlanSettings::kept_cells`](super::LabelPlanSettings) all rows take part in the fixed points; above, a uniform
//! sample of as many rows as fit does, the same for any order. Everything else uses every row.

use std::sync::Arc;

use super::prepared::PreparedPlan;
use super::target_rows::{RowReader, TargetRows, predicted};
use super::transport_plan::scale_row;
use crate::error::{Error, Result, require_same_length};
use crate::numeric::simd::in_widest_registers;
use crate::numeric::{dot_in_lanes, tempered_log_sum_exp, tempered_softmax_into};
use crate::rows::Real;
use crate::sketch::ConfidenceCounts;
use crate::sketch::LawSums;
use crate::sketch::row_sample::BottomK;

/// What the first pass leaves.
#[derive(Debug, Clone)]
pub struct FirstPass {
    pub(super) temperature: f64,
    /// Rows predicted to be of each class.
    pub(super) predicted: Vec<u64>,
    pub(super) confidences: ConfidenceCounts,
    /// Logits of rows for the fixed points.
    pub(super) kept: BottomK<Box<[f64]>>,
    pub(super) rows: u64,
}

impl FirstPass {
    pub(super) fn new(classes: usize, temperature: f64, seed: u64, kept_rows: usize) -> Self {
        Self {
            temperature,
            predicted: vec![0; classes],
            confidences: ConfidenceCounts::new(),
            kept: BottomK::new(seed, kept_rows),
            rows: 0,
        }
    }

    /// Told that the whole input has `rows` rows, it copies no row that will not be kept in the end.
    pub fn expecting(mut self, rows: usize) -> Self {
        self.kept.expect(rows as u64);
        self
    }

    /// Adds a block; `first_row` is the index of its first row in the whole input.
    pub fn add<T: Real>(mut self, first_row: usize, block: &TargetRows<'_, T>) -> Result<Self> {
        let classes = self.predicted.len();
        require_same_length("target classes", block.classes(), "calibration classes", classes)?;
        let mut reader = RowReader::new(classes);
        for offset in 0..block.rows() {
            let row = first_row.saturating_add(offset);
            reader.read_logits(block, offset, row)?;
            self.predicted[predicted(&reader.logits)] += 1;
            self.confidences.add(confidence(&reader.logits, 1.0 / self.temperature));
            self.kept.add_with(row as u64, || reader.logits.clone().into_boxed_slice());
        }
        self.rows += block.rows() as u64;
        Ok(self)
    }

    /// The pass over both inputs; the order does not matter.
    pub fn merge(mut self, other: &Self) -> Result<Self> {
        if self.predicted.len() != other.predicted.len() || self.temperature != other.temperature {
            return Err(Error::IncompatibleSketches { what: "planner" });
        }
        self.predicted.iter_mut().zip(&other.predicted).for_each(|(mine, other)| *mine += other);
        self.confidences.merge(&other.confidences);
        self.kept.merge(&other.kept);
        self.rows += other.rows;
        Ok(self)
    }

    /// Number of rows seen.
    pub fn rows(&self) -> u64 {
        self.rows
    }
}

in_widest_registers! {
    /// Largest entry of `softmax(inverse_temperature logits)`, to 40 binary digits: the last bit depends on the order of the
    /// classes, and a distance of CDFs would tell rows apart that only list the same probabilities in another order.
    pub(super) fn confidence[](logits: &[f64], inverse_temperature: f64) -> f64 {
        const DIGITS: f64 = (1_u64 << 40) as f64;
        let (_, log_total) = tempered_log_sum_exp(logits, inverse_temperature);
        (((-log_total).exp() * DIGITS).round() / DIGITS).min(1.0)
    }
}

/// What the second pass leaves.
#[derive(Debug, Clone)]
pub struct SecondPass {
    pub(super) prepared: Arc<PreparedPlan>,
    pub(super) sums: LawSums,
}

impl SecondPass {
    pub(super) fn new(prepared: Arc<PreparedPlan>) -> Self {
        let sums = LawSums::new(&prepared.abscissae);
        Self { prepared, sums }
    }

    /// Adds a block; `first_row` is the index of its first row in the whole input.
    pub fn add<T: Real>(mut self, first_row: usize, block: &TargetRows<'_, T>) -> Result<Self> {
        let prepared = &self.prepared;
        let classes = prepared.groups.group_of.len();
        require_same_length("target classes", block.classes(), "calibration classes", classes)?;
        let mut reader = RowReader::new(classes);
        let mut laws = RowLaws::new(classes);
        for offset in 0..block.rows() {
            let row = first_row.saturating_add(offset);
            reader.read(block, offset, row, prepared.score.as_ref())?;
            laws.fill(prepared, &reader.logits);
            let plausible = [&laws.planned[..], &laws.upper[..], &laws.lower[..]];
            self.sums.add_row(row, &reader.scores, &prepared.abscissae, plausible)?;
        }
        Ok(self)
    }

    /// A pass of the same plan that has seen nothing.
    pub fn emptied(&self) -> Self {
        Self::new(Arc::clone(&self.prepared))
    }

    /// The pass over both inputs; the order does not matter.
    pub fn merge(mut self, other: &Self) -> Result<Self> {
        if !Arc::ptr_eq(&self.prepared, &other.prepared) {
            return Err(Error::IncompatibleSketches { what: "plan" });
        }
        self.sums.merge(&other.sums);
        Ok(self)
    }

    /// Number of rows seen.
    pub fn rows(&self) -> u64 {
        self.sums.rows
    }
}

/// Plausibilities of one row's labels under the three laws.
struct RowLaws {
    planned: Vec<f64>,
    upper: Vec<f64>,
    lower: Vec<f64>,
}

impl RowLaws {
    fn new(classes: usize) -> Self {
        let row = vec![0.0; classes];
        Self { planned: row.clone(), upper: row.clone(), lower: row }
    }

    fn fill(&mut self, prepared: &PreparedPlan, logits: &[f64]) {
        let inverses = [
            1.0 / prepared.planned_temperature(),
            1.0 / prepared.upper_temperature(),
            1.0 / prepared.temperature,
        ];
        let scalings = [&prepared.planned_scalings[..], &prepared.upper_scalings[..]];
        let out = [&mut self.planned[..], &mut self.upper[..], &mut self.lower[..]];
        row_laws(logits, inverses, prepared.statistics.mix, scalings, out);
    }
}

in_widest_registers! {
    /// `(1 - mix) f + mix g` at the first temperature, the scaled row at the second, `f` at the third.
    fn row_laws[](
        logits: &[f64],
        inverses: [f64; 3],
        mix: f64,
        scalings: [&[f64]; 2],
        out: [&mut [f64]; 3],
    ) -> () {
        let [planned, upper, lower] = out;
        tempered_softmax_into(logits, inverses[0], planned);
        if mix > 0.0 {
            let share = mix / dot_in_lanes(planned, scalings[0]);
            for (f, scaling) in planned.iter_mut().zip(scalings[0]) {
                *f *= (1.0 - mix) + share * scaling;
            }
        }
        tempered_softmax_into(logits, inverses[1], upper);
        scale_row(upper, scalings[1]);
        tempered_softmax_into(logits, inverses[2], lower);
    }
}
