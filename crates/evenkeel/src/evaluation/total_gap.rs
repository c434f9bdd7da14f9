//! `sum_i w_i |F_P(s_i) - F_Q(s_i)|`: the measured total coverage gap, from labeled scores in memory or counted block
//! by block.

use serde::{Deserialize, Serialize};

use crate::bound::{Integrator, integrated_gap};
use crate::error::{At, Error, Result, require_some};
use crate::measure::WeightedEmpirical;
use crate::numeric::sort_numbers;
use crate::sketch::{contradiction, rows_of_both, sum_of_counts};

/// Average over all miscoverage rates of how far the coverage on `Q` is from the nominal one:
///
/// ```text
/// sum_i w_i |F_P(s_i) - F_Q(s_i)|
/// ```
/// with `P` the weighted calibration law and `Q` the law of the scores at the true labels (Prop A.3).
pub fn total_coverage_gap(p: &WeightedEmpirical, q: &WeightedEmpirical) -> f64 {
    integrated_gap(p, q, &Integrator::atoms(p)).value
}

/// Labeled scores as counts between the calibration scores: all that the total coverage gap and the gap curve ask of
/// them, in memory that does not grow with their number. Parts merge into the whole, bit for bit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct LabelScoreCounts {
    /// Places where the counted law is exact: strictly increasing, finite.
    atoms: Vec<f64>,
    /// Scores in `(atoms[k - 1], atoms[k]]`; the last count is of those above all atoms.
    counts: Vec<u64>,
}

/// As they are stored; checked when read back. Same fields in the same order as the counts, for
/// formats without names.
#[derive(Deserialize)]
struct Stored {
    atoms: Vec<f64>,
    counts: Vec<u64>,
}

impl TryFrom<Stored> for LabelScoreCounts {
    type Error = Error;

    /// An error unless the counts lie between strictly increasing, finite scores.
    fn try_from(Stored { atoms, counts }: Stored) -> Result<Self> {
        sum_of_counts(counts.iter().copied())?;
        let increase = atoms.windows(2).all(|pair| pair[0] < pair[1]);
        let finite = atoms.iter().all(|atom| atom.is_finite());
        if counts.len() != atoms.len() + 1 || !increase || !finite {
            return Err(contradiction("its counts do not lie between increasing scores"));
        }
        Ok(Self { atoms, counts })
    }
}

impl LabelScoreCounts {
    /// Nothing counted yet, against a calibration law.
    pub fn new(p: &WeightedEmpirical) -> Self {
        Self::at(p.atoms().to_vec())
    }

    /// Nothing counted yet; the law of the counted scores will be exact at these places.
    pub(crate) fn at(mut places: Vec<f64>) -> Self {
        // `dedup` compares by value: -0.0 and 0.0, which sort apart, are one place.
        sort_numbers(&mut places);
        places.dedup();
        let counts = vec![0; places.len() + 1];
        Self { atoms: places, counts }
    }

    /// Adds the scores of a block at its true labels; `first_row` is the index of the block's first row in the whole
    /// input, for errors.
    ///
    /// # Errors
    /// `NotFinite` for a score that is NaN or infinite, counted from `first_row`.
    pub fn add(mut self, first_row: usize, scores: &[f64]) -> Result<Self> {
        for (row, score) in scores.iter().enumerate() {
            if !score.is_finite() {
                let at = At::Index(first_row.saturating_add(row));
                return Err(Error::NotFinite { what: "scores", at, value: *score });
            }
            // Strictly below: a score equal to an atom counts at it, as the CDF is right-continuous.
            self.counts[self.atoms.partition_point(|atom| atom < score)] += 1;
        }
        Ok(self)
    }

    /// The counts of these scores and the other's, made against the same calibration law.
    ///
    /// # Errors
    /// `IncompatibleSketches` unless both were made against the same calibration scores.
    pub fn merge(mut self, other: &Self) -> Result<Self> {
        if self.atoms != other.atoms {
            return Err(Error::IncompatibleSketches { what: "calibration scores" });
        }
        let total = |counts: &[u64]| sum_of_counts(counts.iter().copied());
        rows_of_both(total(&self.counts)?, total(&other.counts)?)?;
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
        Ok(self)
    }

    /// A law whose CDF is that of the scores at every calibration score, with each score moved up to the next of them.
    ///
    /// Its effective sample size is the number of scores; its points are the places they were moved to.
    ///
    /// # Errors
    /// `Empty` if nothing was counted.
    pub fn law(&self) -> Result<WeightedEmpirical> {
        let n: u64 = self.counts.iter().sum();
        if n == 0 {
            return Err(Error::Empty { what: "scores" });
        }
        require_some("calibration scores", &self.atoms)?;
        // The next number above, not infinity: a law has finite atoms, and nothing asks for its CDF between the two.
        let beyond = self.atoms.last().map(|atom| atom.next_up());
        let places = self.atoms.iter().copied().chain(beyond);
        let pairs: Vec<(f64, f64)> =
            places.zip(self.counts.iter().map(|count| *count as f64)).collect();
        Ok(WeightedEmpirical::from_sorted(&pairs, n as f64))
    }
}
