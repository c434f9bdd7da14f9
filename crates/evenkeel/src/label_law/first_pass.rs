//! The first pass over the target rows: predicted classes counted, confidences, and rows for the
//! fixed points.
//!
//! ```text
//! predicted_k   #{j : argmax_y logits_j(y) = k}
//! confidences   max_y softmax(logits_j / T)(y)
//! kept          logits of all rows, or of a uniform sample by key
//! ```
//!
//! Needs the temperature. What it leaves is bounded in size and does not depend on how rows were cut into blocks or merged.
//! Below `LabelPlanSettings::kept_cells` all rows take part in the fixed points; above, a
//! uniform sample of as many rows as fit does, the same for any order. Everything else uses every row.

use serde::{Deserialize, Serialize};

use super::target_rows::{RowReader, TargetRows, predicted};
use crate::error::{Error, Result, SideInput, require_same_length};
use crate::numeric::simd::in_widest_registers;
use crate::numeric::tempered_log_sum_exp;
use crate::rows::{Real, RowKeys, Rows};
use crate::sketch::row_sample::RowSample;
use crate::sketch::{ConfidenceCounts, contradiction, rows_of_both, sum_of_counts};

/// What the first pass leaves: counts `(C,)`, the multiset of confidences, and kept rows of logits.
///
/// States of parts of the rows merge in any order into the state of all of them, bit for bit.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "StoredFirst")]
pub struct FirstPass {
    /// `T` of the calibration data, at which confidences are taken; positive.
    pub(crate) temperature: f64,
    /// Rows predicted to be of each class; shape `(C,)`, summing to `rows`.
    pub(crate) predicted: Vec<u64>,
    /// Largest probability of each row at temperature `T`, in `[0, 1]`.
    pub(crate) confidences: ConfidenceCounts,
    /// Logits `(C,)` of the rows that take part in the fixed points.
    pub(crate) kept: RowSample<Box<[f64]>>,
    /// `m`, the rows seen so far.
    pub(crate) rows: u64,
    /// The same of other models' outputs on the same rows.
    pub(crate) others: Vec<FirstPass>,
}

/// As it is stored; checked when read back, because a state may come from another machine.
#[derive(Deserialize)]
struct StoredFirst {
    temperature: f64,
    predicted: Vec<u64>,
    confidences: ConfidenceCounts,
    kept: RowSample<Box<[f64]>>,
    rows: u64,
    others: Vec<FirstPass>,
}

impl TryFrom<StoredFirst> for FirstPass {
    type Error = Error;

    fn try_from(stored: StoredFirst) -> Result<Self> {
        let StoredFirst { temperature, predicted, confidences, kept, rows, others } = stored;
        // Counts that disagree would pass every later step and give a wrong law without a word.
        if sum_of_counts(predicted.iter().copied())? != rows
            || confidences.len() != rows
            || kept.len() as u64 > rows
        {
            return Err(contradiction("its counts are not those of its rows"));
        }
        let fits =
            |row: &[f64]| row.len() == predicted.len() && row.iter().all(|logit| logit.is_finite());
        let warm = temperature.is_finite() && temperature > 0.0;
        if !(warm && kept.rows().all(|(_, row)| fits(row))) {
            return Err(contradiction("its logits are not finite numbers, one for each class"));
        }
        let alike = |other: &Self| {
            other.others.is_empty()
                && other.rows == rows
                && other.predicted.len() == predicted.len()
                && kept.require_same(&other.kept).is_ok()
        };
        if !others.iter().all(alike) {
            return Err(contradiction("its models do not speak of the same rows"));
        }
        Ok(Self { temperature, predicted, confidences, kept, rows, others })
    }
}

impl FirstPass {
    /// Before any row was seen. At most `kept_rows` rows will be kept, chosen by `seed`.
    pub(crate) fn new(classes: usize, temperature: f64, seed: u64, kept_rows: usize) -> Self {
        Self {
            temperature,
            predicted: vec![0; classes],
            confidences: ConfidenceCounts::new(),
            kept: RowSample::new(seed, kept_rows),
            rows: 0,
            others: Vec::new(),
        }
    }

    /// The same with passes of other models, which keep the same rows.
    pub(crate) fn with_others(mut self, temperatures: impl Iterator<Item = f64>) -> Self {
        let other = |temperature| Self { temperature, ..self.clone() };
        let others = temperatures.map(other).collect();
        self.others = others;
        self
    }

    /// A pass of the same planner that has seen nothing; it copies no row that this one would drop.
    pub(crate) fn emptied(&self) -> Self {
        Self {
            temperature: self.temperature,
            predicted: vec![0; self.predicted.len()],
            confidences: self.confidences.emptied(),
            kept: self.kept.emptied(),
            rows: 0,
            others: self.others.iter().map(Self::emptied).collect(),
        }
    }

    /// Told that the whole input has `rows` rows, it copies no row that will not be kept in the end.
    pub(crate) fn expecting(mut self, rows: usize) -> Self {
        self.kept.expect(rows as u64);
        self.others = self.others.into_iter().map(|other| other.expecting(rows)).collect();
        self
    }

    /// One of several parts that will see so many rows together.
    pub(crate) fn one_of_many(mut self, rows: u64) -> Self {
        self.kept.limit_to_share_of(rows);
        self.confidences.expect(rows);
        self.others = self.others.into_iter().map(|other| other.one_of_many(rows)).collect();
        self
    }

    /// An error unless confidences are counted where they are many and kept where they are few, which all bits rest on.
    pub(crate) fn require_form(&self) -> Result<()> {
        self.confidences.require_form()?;
        self.others.iter().try_for_each(Self::require_form)
    }

    /// Adds a block of rows, and what other models say of the same rows: `second` holds their probabilities beside each other,
    /// `C` columns each.
    ///
    /// # Errors
    /// As [`add`](Self::add), and if there are more or fewer models than the pass was begun with.
    pub fn add_with<T: Real>(
        mut self,
        keys: RowKeys<'_>,
        block: &TargetRows<'_, T>,
        second: Option<Rows<'_, f64>>,
    ) -> Result<Self> {
        let classes = self.predicted.len();
        let given = second.map_or(0, |table| table.columns());
        if given != self.others.len() * classes {
            return Err(Error::OneSided { what: SideInput::Second });
        }
        let others = std::mem::take(&mut self.others);
        self = self.add(keys, block)?;
        let Some(table) = second else { return Ok(self) };
        require_same_length("rows of the second model", table.rows(), "rows", block.rows())?;
        let mut values = vec![0.0; table.rows() * classes];
        for (index, other) in others.into_iter().enumerate() {
            for (row, out) in table.iter().zip(values.chunks_exact_mut(classes)) {
                out.copy_from_slice(&row[index * classes..][..classes]);
            }
            let rows = Rows::new(table.what(), &values, classes)?;
            self.others.push(other.add(keys, &TargetRows::Probabilities(rows))?);
        }
        Ok(self)
    }

    /// Adds a block of rows with these keys. Taken by value: a block that fails half-way leaves no
    /// state behind that someone could go on with.
    ///
    /// # Errors
    /// If a value is not finite or not a probability, or the block or its keys have another shape.
    pub fn add<T: Real>(mut self, keys: RowKeys<'_>, block: &TargetRows<'_, T>) -> Result<Self> {
        keys.check(block.rows())?;
        let classes = self.predicted.len();
        require_same_length("target classes", block.classes(), "calibration classes", classes)?;
        let mut reader = RowReader::new(classes);
        for offset in 0..block.rows() {
            let row = keys.key(offset);
            reader.read_logits(block, offset, row)?;
            // Of the raw logits: no temperature changes which is largest.
            self.predicted[predicted(&reader.logits)] += 1;
            self.confidences.add(confidence(&reader.logits, 1.0 / self.temperature));
            // A closure: rows that the sample does not take are not copied.
            self.kept.add_with(row, || reader.logits.clone().into_boxed_slice());
        }
        self.rows += block.rows() as u64;
        Ok(self)
    }

    /// `C`, the number of classes.
    pub(crate) fn classes(&self) -> usize {
        self.predicted.len()
    }

    /// An error unless another pass is one of the same planner: classes, temperature and sample.
    pub(crate) fn require_same(&self, other: &Self) -> Result<()> {
        // Compared bit for bit: two passes of one job read the temperature from the same
        // calibration data.
        if self.predicted.len() != other.predicted.len() || self.temperature != other.temperature {
            return Err(Error::IncompatibleSketches { what: "planner" });
        }
        if self.others.len() != other.others.len() {
            return Err(Error::IncompatibleSketches { what: "models" });
        }
        for (mine, theirs) in self.others.iter().zip(&other.others) {
            mine.require_same(theirs)?;
        }
        self.kept.require_same(&other.kept)
    }

    /// The pass over both inputs; the order does not matter.
    ///
    /// # Errors
    /// If they are passes of different planners.
    pub fn merge(mut self, other: Self) -> Result<Self> {
        self.require_same(&other)?;
        // Before the counts are added: if the rows fit, none of the sums below can overflow.
        let rows = rows_of_both(self.rows, other.rows)?;
        self.predicted.iter_mut().zip(&other.predicted).for_each(|(mine, other)| *mine += other);
        self.confidences.merge(&other.confidences);
        self.kept.merge(other.kept)?;
        self.rows = rows;
        let pairs = self.others.into_iter().zip(other.others);
        self.others = pairs.map(|(mine, theirs)| mine.merge(theirs)).collect::<Result<_>>()?;
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
    pub(crate) fn confidence[](logits: &[f64], inverse_temperature: f64) -> f64 {
        const DIGITS: f64 = (1_u64 << 40) as f64;
        let (_, log_total) = tempered_log_sum_exp(logits, inverse_temperature);
        (((-log_total).exp() * DIGITS).round() / DIGITS).min(1.0)
    }
}
