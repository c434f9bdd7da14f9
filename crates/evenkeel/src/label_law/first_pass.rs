//! The first pass over the target rows: what the model says of them, and rows for the fixed points.
//!
//! ```text
//! said   argmax_y logits_j(y) and max_y softmax(logits_j / T)(y)      of all rows, or of a uniform sample by key
//! kept   the rows themselves                                          of all rows, or of a smaller one
//! ```
//!
//! Needs the temperature. What it leaves is bounded in size and does not depend on how rows were cut into blocks or merged.
//! Below `LabelPlanSettings::kept_cells` all rows take part in everything. Above, the fixed points are those of a uniform sample of as
//! many rows as fit, and the statistics those of 65 536 rows at least, of fewer where rows are very wide: a logarithm and an
//! exponential for every number would cost more than all the rest, and the calibration rows, which are fewer, decide how much the
//! statistics are off.

use serde::{Deserialize, Serialize};

use super::kept_rows::KeptRow;
use super::target_rows::{RowReader, TargetRows, predicted};
use crate::error::{Error, Result, SideInput, require_same_length};
use crate::numeric::simd::in_widest_registers;
use crate::numeric::tempered_log_sum_exp;
use crate::rows::{Real, RowKeys, Rows};
use crate::score::ROWS_TOGETHER;
use crate::shift::Prediction;
use crate::sketch::row_sample::RowSample;
use crate::sketch::{Confidences, contradiction, rows_of_both};

/// Rows whose predictions are counted at least, where there are as many and they have up to 256 classes: their distances from another
/// sample are off by 0.0024, as often as not.
const LEAST_SAID: usize = 1 << 16;
/// Of wider rows as many as have this many numbers: 16 777 of 1000 classes, whose distances are off by 0.0048.
const SAID_CELLS: usize = 1 << 24;
/// Of however wide rows as many as this: 0.0068.
const LEAST_WIDE_SAID: usize = 1 << 13;

/// Rows whose predictions are counted at least.
fn least_said(classes: usize) -> usize {
    (SAID_CELLS / classes.max(1)).clamp(LEAST_WIDE_SAID, LEAST_SAID)
}

/// What is done about rows that are in no sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsampled {
    /// They are read, to refuse those that are no probabilities.
    Read,
    /// They are passed over: whoever calls has read them all, and refused those.
    WereRead,
}

/// What the first pass leaves: what the model says of rows, and kept rows.
///
/// States of parts of the rows merge in any order into the state of all of them, bit for bit.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "StoredFirst")]
pub struct FirstPass {
    /// `C`, the number of classes.
    classes: usize,
    /// `T` of the calibration data, at which confidences are taken; positive.
    pub(crate) temperature: f64,
    /// Predicted class, and largest probability at temperature `T`, of the rows that the statistics are of.
    said: RowSample<Prediction>,
    /// The rows that take part in the fixed points: those of `said` with the smallest hashes.
    pub(crate) kept: RowSample<KeptRow>,
    /// `m`, the rows seen so far.
    pub(crate) rows: u64,
    /// The same of other models' outputs on the same rows.
    pub(crate) others: Vec<FirstPass>,
}

/// As it is stored; checked when read back, because a state may come from another machine.
#[derive(Deserialize)]
struct StoredFirst {
    classes: usize,
    temperature: f64,
    said: RowSample<Prediction>,
    kept: RowSample<KeptRow>,
    rows: u64,
    others: Vec<FirstPass>,
}

impl TryFrom<StoredFirst> for FirstPass {
    type Error = Error;

    fn try_from(stored: StoredFirst) -> Result<Self> {
        let StoredFirst { classes, temperature, said, kept, rows, others } = stored;
        // Counts that disagree would pass every later step and give a wrong law without a word.
        if said.len() as u64 > rows || kept.len() as u64 > rows {
            return Err(contradiction("its counts are not those of its rows"));
        }
        let possible = |said: &Prediction| {
            (said.class as usize) < classes && (0.0..=1.0).contains(&said.confidence)
        };
        if !said.rows().all(|(_, said)| possible(said)) {
            return Err(contradiction("it holds a prediction that no row gives"));
        }
        let warm = temperature.is_finite() && temperature > 0.0;
        if !(warm && kept.rows().all(|(key, row)| row.is_sound(key, classes))) {
            return Err(contradiction(
                "its rows do not hold a probability or a logit for each class",
            ));
        }
        let alike = |other: &Self| {
            other.others.is_empty()
                && other.rows == rows
                && other.classes == classes
                && kept.require_same(&other.kept).is_ok()
                && said.require_same(&other.said).is_ok()
        };
        if !others.iter().all(alike) {
            return Err(contradiction("its models do not speak of the same rows"));
        }
        Ok(Self { classes, temperature, said, kept, rows, others })
    }
}

impl FirstPass {
    /// Before any row was seen. At most `kept_rows` rows will be kept, chosen by `seed`.
    pub(crate) fn new(classes: usize, temperature: f64, seed: u64, kept_rows: usize) -> Self {
        Self {
            classes,
            temperature,
            // By the same seed, so that the smaller sample is part of the larger one.
            said: RowSample::new(seed, kept_rows.max(least_said(classes))),
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
            classes: self.classes,
            temperature: self.temperature,
            said: self.said.emptied(),
            kept: self.kept.emptied(),
            rows: 0,
            others: self.others.iter().map(Self::emptied).collect(),
        }
    }

    /// Told that the whole input has `rows` rows, it looks at no row that will not be kept in the end.
    pub(crate) fn expecting(mut self, rows: usize) -> Self {
        self.said.expect(rows as u64);
        self.kept.expect(rows as u64);
        self.others = self.others.into_iter().map(|other| other.expecting(rows)).collect();
        self
    }

    /// One of several parts that will see so many rows together.
    pub(crate) fn one_of_many(mut self, rows: u64) -> Self {
        self.said.limit_to_share_of(rows);
        self.kept.limit_to_share_of(rows);
        self.others = self.others.into_iter().map(|other| other.one_of_many(rows)).collect();
        self
    }

    /// Adds a block of rows, and what other models say of the same rows: `second` holds their probabilities beside each other,
    /// `C` columns each.
    ///
    /// # Errors
    /// As [`add`](Self::add), and if there are more or fewer models than the pass was begun with.
    pub fn add_with<T: Real>(
        self,
        keys: RowKeys<'_>,
        block: &TargetRows<'_, T>,
        second: Option<Rows<'_, f64>>,
    ) -> Result<Self> {
        self.add_rows_with(keys, block, Unsampled::Read, second)
    }

    /// [`add_with`](Self::add_with), where another reader of the same block may have found its rows sound.
    pub(crate) fn add_rows_with<T: Real>(
        mut self,
        keys: RowKeys<'_>,
        block: &TargetRows<'_, T>,
        unsampled: Unsampled,
        second: Option<Rows<'_, f64>>,
    ) -> Result<Self> {
        let classes = self.classes;
        let given = second.map_or(0, |table| table.columns());
        if given != self.others.len() * classes {
            return Err(Error::OneSided { what: SideInput::Second });
        }
        let others = std::mem::take(&mut self.others);
        self = self.add_rows(keys, block, unsampled)?;
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
    pub fn add<T: Real>(self, keys: RowKeys<'_>, block: &TargetRows<'_, T>) -> Result<Self> {
        self.add_rows(keys, block, Unsampled::Read)
    }

    fn add_rows<T: Real>(
        mut self,
        keys: RowKeys<'_>,
        block: &TargetRows<'_, T>,
        unsampled: Unsampled,
    ) -> Result<Self> {
        keys.check(block.rows())?;
        let classes = self.classes;
        require_same_length("target classes", block.classes(), "calibration classes", classes)?;
        // Many rows of probabilities at once, those that the sample takes too, though reading them asks again: of single precision they
        // are looked at in the time of a few.
        let is_read = unsampled == Unsampled::Read;
        let looks_ahead = is_read && matches!(block, TargetRows::Probabilities(_));
        let mut reader = RowReader::new(classes);
        for offset in 0..block.rows() {
            if looks_ahead && offset % ROWS_TOGETHER == 0 {
                block.require_rows(offset..block.rows().min(offset + ROWS_TOGETHER), keys)?;
            }
            let row = keys.key(offset);
            if !self.said.takes(row) {
                if is_read && !looks_ahead {
                    block.require_rows(offset..offset + 1, keys)?;
                }
                continue;
            }
            reader.read_logits(block, offset, row)?;
            let said = Prediction {
                confidence: confidence(&reader.logits, 1.0 / self.temperature),
                // Of the raw logits: no temperature changes which is largest.
                class: predicted(&reader.logits) as u32,
            };
            self.said.add(row, said);
            // A closure: rows that the sample does not take are not copied.
            self.kept.add_with(row, || reader.kept_row(block));
        }
        self.rows += block.rows() as u64;
        Ok(self)
    }

    /// `C`, the number of classes.
    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    /// What the model says of the rows that the statistics are of.
    ///
    /// # Errors
    /// If two rows have one key, or the pass was cut or made up.
    pub(crate) fn said(&self) -> Result<Said> {
        let found = self.said.values()?;
        if found.len() as u64 != self.rows.min(self.said.capacity() as u64) {
            return Err(contradiction("its sample does not hold as many rows as were seen"));
        }
        let (classes, confidences) =
            found.into_iter().map(|said| (said.class, said.confidence)).unzip();
        Ok(Said { classes, confidences: Confidences::new(confidences) })
    }

    /// Number of rows that take part in the fixed points, with all their probabilities.
    pub(crate) fn kept_rows(&self) -> u64 {
        self.kept.len() as u64
    }

    /// Whether labels of the kept rows can be scored again.
    pub(crate) fn keeps_probabilities(&self) -> bool {
        self.kept.rows().all(|(_, row)| matches!(row, KeptRow::Probabilities(_)))
    }

    /// An error unless another pass is one of the same planner: classes, temperature and sample.
    pub(crate) fn require_same(&self, other: &Self) -> Result<()> {
        // Compared bit for bit: two passes of one job read the temperature from the same
        // calibration data.
        if self.classes != other.classes || self.temperature != other.temperature {
            return Err(Error::IncompatibleSketches { what: "planner" });
        }
        if self.others.len() != other.others.len() {
            return Err(Error::IncompatibleSketches { what: "models" });
        }
        for (mine, theirs) in self.others.iter().zip(&other.others) {
            mine.require_same(theirs)?;
        }
        self.said.require_same(&other.said)?;
        self.kept.require_same(&other.kept)
    }

    /// The pass over both inputs; the order does not matter.
    ///
    /// # Errors
    /// If they are passes of different planners.
    pub fn merge(mut self, other: Self) -> Result<Self> {
        self.require_same(&other)?;
        let rows = rows_of_both(self.rows, other.rows)?;
        self.said.merge(other.said)?;
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

/// What the model says of target rows, or of a uniform sample of them.
pub(crate) struct Said {
    /// Predicted class of each row.
    classes: Vec<u32>,
    /// Their largest probabilities at temperature `T`.
    pub confidences: Confidences,
}

impl Said {
    /// Rows predicted to be of each of some groups of classes; `group_of` has shape `(C,)`.
    pub(crate) fn counts(&self, group_of: &[usize], groups: usize) -> Vec<u64> {
        let mut counts = vec![0; groups];
        let of = self.classes.iter().filter_map(|class| group_of.get(*class as usize));
        of.for_each(|group| counts[*group] += 1);
        counts
    }
}

in_widest_registers! {
    /// Largest entry of `softmax(inverse_temperature logits)`, to 40 binary digits: the last bit depends on the order of the
    /// classes, and a distance of CDFs would tell rows apart that only list the same probabilities in another order.
    pub(crate) fn confidence[](logits: &[f64], inverse_temperature: f64) -> f64 {
        let (_, log_total) = tempered_log_sum_exp(logits, inverse_temperature);
        confidence_of(log_total)
    }
}

/// The same where `log sum_c exp(..)` is known.
#[inline(always)]
pub(super) fn confidence_of(log_total: f64) -> f64 {
    const DIGITS: f64 = (1_u64 << 40) as f64;
    (((-log_total).exp() * DIGITS).round() / DIGITS).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that no sample takes are read all the same, in any form, and the first bad one is named.
    #[test]
    fn bad_rows_are_named_whether_the_sample_takes_them_or_not() {
        let rows = 3 * LEAST_SAID;
        let good = vec![0.25_f32; 4 * rows];
        let pass = || FirstPass::new(4, 1.0, 1, 10).expecting(rows);
        let keys = RowKeys::From(0);
        let (mut taken, mut passed_over) = (0, 0);
        for bad in [0, 1, 63, 64, 70, 5000, rows - 2, rows - 1] {
            match pass().said.takes(bad as u64) {
                true => taken += 1,
                false => passed_over += 1,
            }
            let mut values = good.clone();
            values[4 * bad + 2] = f32::NAN;
            values[4 * rows - 1] = f32::INFINITY;
            let wide: Vec<f64> = values.iter().copied().map(f64::from).collect();
            let (single, double) =
                (Rows::new("rows", &values, 4).unwrap(), Rows::new("rows", &wide, 4).unwrap());
            for error in [
                pass().add(keys, &TargetRows::Probabilities(single)).err(),
                pass().add(keys, &TargetRows::Probabilities(double)).err(),
                pass().add(keys, &TargetRows::Logits(single)).err(),
                pass().add(keys, &TargetRows::Logits(double)).err(),
            ] {
                let error = error.unwrap().to_string();
                assert!(error.contains(&format!("row {bad},")), "{error}");
            }
        }
        assert!(taken > 0 && passed_over > 0, "{taken} and {passed_over}");
    }
}
