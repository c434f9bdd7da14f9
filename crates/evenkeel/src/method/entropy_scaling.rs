//! `ecp`, entropy-scaled conformal prediction \[K24\]: the less sure the classifier is of the target rows, the larger the sets.
//!
//! ```text
//! set(x) = {y : p_y max(1, u)^f >= 1 - q}      u the 1 - alpha quantile of the target entropies, q the split threshold
//! ```

use serde::{Deserialize, Serialize};

use super::fit::{Next, Open, Pass, Scored, Stage};
use super::{About, Concluded, Needs, Rule, Sorted};
use crate::error::{Error, Result, User, require_same_length};
use crate::interval::Interval;
use crate::level::Miscoverage;
use crate::rows::{Real, RowKeys, Rows};
use crate::score::{Score, row_scale, widen_scaled};
use crate::side_inputs::SideInputs;
use crate::sketch::{QuantileCounts, Rounding};
use crate::threshold::Threshold;

/// The room's entry in the list of methods.
pub(crate) const ABOUT: About = About {
    name: "ecp",
    summary: "Thresholds scaled by the entropy of the target probabilities (Kasa et al. 2024)",
    assumption: "none proved",
    needs: Needs::NOTHING,
};

/// `-sum_y p(y) ln p(y)` with `0 ln 0 = 0`, in nats, in `[0, ln C]` up to rounding.
///
/// `probabilities` is one row, shape `(C,)`, not negative and summing to one.
pub fn entropy(probabilities: &[f64]) -> f64 {
    let terms = probabilities.iter().filter(|p| **p > 0.0).map(|p| p * p.ln());
    let entropy: f64 = -terms.sum::<f64>();
    // A row that is sure of its label sums to -0.0.
    entropy.max(0.0)
}

/// The power `f` of the scale `max(1, u)^f`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EntropyPower {
    /// `f = 1`, as the paper prints it.
    #[default]
    One,
    /// `f = 2`, as in the authors' code.
    Two,
}

/// How unsure the classifier is about the target data, and the sets that follow from it.
///
/// ```text
/// u     = (1 - alpha) quantile of the entropies of the target rows
/// C(x)  = {y : p_y max(1, u)^f >= 1 - q},   q = split conformal threshold of the scores 1 - p_y
/// ```
/// The paper prints `s max(1, u) <= q`, which would shrink the sets of an unsure classifier; its code and its intent
/// are the above. Up to [`MOST_EXACT_VALUES`](crate::sketch::MOST_EXACT_VALUES) entropies are kept; more are counted in `2^16`
/// cells of `[0, ln C]`, and `u` is then rounded up, toward larger sets, by less than `ln(C) / 2^16`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct EntropyScaling {
    /// `C`, at least 2; the entropies lie in `[0, ln C]`.
    classes: usize,
    /// `f` of the scale `max(1, u)^f`.
    power: EntropyPower,
    /// One entropy for each target row, kept or counted.
    entropies: QuantileCounts,
}

/// As it is stored; checked when read back. The field names are those of the file.
#[derive(Clone, Serialize, Deserialize)]
struct Stored {
    classes: usize,
    power: EntropyPower,
    entropies: QuantileCounts,
}

impl From<EntropyScaling> for Stored {
    fn from(EntropyScaling { classes, power, entropies }: EntropyScaling) -> Self {
        Self { classes, power, entropies }
    }
}

impl TryFrom<Stored> for EntropyScaling {
    type Error = Error;

    /// An error unless the entropies can be those of this many classes.
    fn try_from(Stored { classes, power, entropies }: Stored) -> Result<Self> {
        // Merging into an empty one checks the range: entropies counted over `[0, ln C]` of another
        // `C` would move every quantile.
        let mut scaling = Self::new(classes, power)?;
        scaling.entropies.merge(&entropies).map_err(|_| Error::Damaged {
            what: "this calibration",
            why: "its entropies are not those of this many classes",
        })?;
        Ok(scaling)
    }
}

impl EntropyScaling {
    /// Before any row was seen.
    ///
    /// # Errors
    /// If there are fewer than two classes: the entropy of one is always zero.
    pub fn new(classes: usize, power: EntropyPower) -> Result<Self> {
        if classes < 2 {
            return Err(Error::TooFew { what: "classes for entropies", found: classes, least: 2 });
        }
        let entropies = QuantileCounts::new(Interval::new(0.0, (classes as f64).ln())?);
        Ok(Self { classes, power, entropies })
    }

    /// Adds a block of target probability rows; keys name rows in errors.
    ///
    /// # Errors
    /// If a row does not hold probabilities, or the block or its keys have another shape.
    pub fn add<T: Real>(&mut self, keys: RowKeys<'_>, block: Rows<'_, T>) -> Result<()> {
        keys.check(block.rows())?;
        let classes = self.classes;
        crate::error::require_same_length("columns", block.columns(), "classes", classes)?;
        let most = (classes as f64).ln();
        // One buffer for all rows: a row is checked, normalised and forgotten.
        let mut row = vec![0.0; classes];
        let mut entropies = Vec::with_capacity(block.rows());
        for (offset, values) in block.iter().enumerate() {
            widen_scaled(values, row_scale(block.what(), keys.key(offset), values)?, &mut row);
            // Rounding can carry the entropy of a uniform row past ln C.
            entropies.push(entropy(&row).min(most));
        }
        self.entropies.add(keys, &entropies)
    }

    /// Adds what another one saw.
    ///
    /// # Errors
    /// If the other has another power or other classes.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        // The classes need no check of their own: their logarithm is the end of the counted range.
        if self.power != other.power {
            return Err(Error::IncompatibleSketches { what: "powers" });
        }
        self.entropies.merge(&other.entropies)
    }

    /// Number of target rows added so far, by blocks and merges.
    pub fn rows(&self) -> u64 {
        self.entropies.len()
    }

    /// `u`: the `1 - alpha` quantile of the entropies.
    ///
    /// # Errors
    /// If no row was added.
    pub fn entropy_quantile(&self, alpha: Miscoverage) -> Result<f64> {
        // Up: beyond what is kept exactly, counting may only enlarge the sets.
        let quantile = self.entropies.quantile(alpha.level(), Rounding::Up);
        quantile.ok_or(Error::Empty { what: "target rows" })
    }

    /// Where the sets are cut, from the split conformal threshold of the scores `1 - p_y` at the
    /// same rate. Never below it: the scale is at least 1.
    pub(crate) fn threshold(&self, split: Threshold, alpha: Miscoverage) -> Threshold {
        // There are rows, which is all that can go wrong; no label is left out if there were none.
        self.cut(split, alpha).map_or(Threshold::AllLabels, EntropyCut::lac_threshold)
    }

    /// The scale and what probabilities must reach at a miscoverage rate.
    ///
    /// # Errors
    /// If no row was added.
    pub fn cut(&self, split: Threshold, alpha: Miscoverage) -> Result<EntropyCut> {
        // Not below 1: the rule may only enlarge sets. Sets of a confident classifier stay as they
        // were.
        let scale = self.entropy_quantile(alpha)?.max(1.0);
        let scale = match self.power {
            EntropyPower::One => scale,
            EntropyPower::Two => scale * scale,
        };
        let needed = match split {
            Threshold::Finite(score) => 1.0 - score,
            // Below every probability, also below 0, so that no rounding of `p scale` can leave a
            // label out.
            Threshold::AllLabels => f64::NEG_INFINITY,
        };
        Ok(EntropyCut { scale, needed })
    }
}

/// `p_y scale >= needed`: a cut on probabilities instead of scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EntropyCut {
    /// `max(1, u)^f`, at least 1.
    scale: f64,
    /// `1 - q`; minus infinity when every label is in.
    needed: f64,
}

impl EntropyCut {
    /// Whether a label of this probability is in the set; one exactly on the cut is.
    pub fn admits(self, probability: f64) -> bool {
        probability * self.scale >= self.needed
    }

    /// Smallest probability in the set, `(1 - q) / max(1, u)^f`; 0 when every label is in.
    pub fn probability_cutoff(self) -> f64 {
        if self.needed > 0.0 { self.needed / self.scale } else { 0.0 }
    }

    /// The cut as a threshold of the score `1 - p_y`, rounded up so that no label on the cut is lost.
    pub fn lac_threshold(self) -> Threshold {
        if self.needed > 0.0 {
            // `1 - (1 - p)` can round above p: without the step up, a label exactly on the cut would be lost.
            Threshold::Finite((1.0 - self.probability_cutoff()).next_up())
        } else {
            Threshold::AllLabels
        }
    }
}

/// Split conformal prediction in the making; the power of its scale is in the pass.
#[derive(Debug)]
pub(crate) struct EntropyScaledFit {
    /// Calibration scores, increasing, with their places in the input.
    sorted: Sorted,
}

/// Sorts the calibration scores; the entropies of the target rows are still to come.
///
/// # Errors
/// `WrongScore` unless the score is `lac`, `TooFew` for fewer than two classes.
pub(crate) fn begin<T: Real>(
    calibration: &Scored<'_, T>,
    power: EntropyPower,
) -> Result<Open<EntropyScaledFit>> {
    // The cut is on probabilities. Only `1 - p_y` turns into a probability and back.
    if calibration.context.score != Score::Lac {
        return Err(Error::WrongScore { whose: User::Method(ABOUT.name), scores: &["lac"] });
    }
    let empty = EntropyScaling::new(calibration.classes(), power)?;
    Ok(Open::new(
        EntropyScaledFit { sorted: Sorted::new(calibration.scores) },
        EntropyPass { empty },
    ))
}

impl Stage for EntropyScaledFit {
    type Pass = EntropyPass;

    /// Equal weights with the scaled rule: the target rows enter through the rule alone.
    fn end_pass(self, _: EntropyPass, scaling: EntropyScaling, _: u64) -> Result<Next> {
        Next::done(Concluded::split(self.sorted, Rule::EntropyScaled { scaling })?)
    }
}

/// Keeps the entropies of the target rows, up to 2^16 of them one by one, counts beyond.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EntropyPass {
    /// No rows yet; holds the classes and the power that workers need.
    empty: EntropyScaling,
}

impl Pass for EntropyPass {
    type State = EntropyScaling;

    /// A copy of the empty one.
    fn empty(&self) -> EntropyScaling {
        self.empty.clone()
    }

    /// The entropy of each row; side inputs are of no use here.
    fn add<T: Real>(
        &self,
        mut state: EntropyScaling,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        _: &SideInputs<'_>,
    ) -> Result<EntropyScaling> {
        state.add(keys, block)?;
        Ok(state)
    }

    /// Joins the entropies of two states; the powers must agree.
    fn merge(&self, mut state: EntropyScaling, other: EntropyScaling) -> Result<EntropyScaling> {
        state.merge(&other)?;
        Ok(state)
    }

    /// An error unless the state counts as many classes; its power is compared when it is merged.
    fn check(&self, state: &EntropyScaling) -> Result<()> {
        require_same_length("classes of a state", state.classes, "classes", self.empty.classes)
    }

    fn classes(&self) -> usize {
        self.empty.classes
    }
}
