//! `f-u`: labels drawn from the model's belief `f` below, labels drawn uniformly above (eq 10).

use super::{Construction, Sandwich};
use crate::error::{Error, Result};
use crate::measure::WeightedEmpirical;
use crate::score::{CandidateScores, is_allowed};
use crate::seed::Seed;

/// What errors call this pair.
const NAME: &str = "f-u";

/// The exact expectation of eq 10: no sampling noise.
///
/// ```text
/// lower: atoms S[j][y] with mass f[j][y] / m        upper: atoms S[j][y] with mass 1 / (m |Y_j|)
/// ```
/// over the possible labels `Y_j` of each row, `f` renormalised on them.
///
/// # Errors
/// `NoPlausibility` if the table has none, `NoPlausibleLabel` for a row whose possible labels all have plausibility
/// zero.
pub fn model_uniform(candidates: &CandidateScores) -> Result<Sandwich> {
    let m = candidates.rows() as f64;
    let mut pairs: Vec<(f64, f64, f64)> =
        Vec::with_capacity(candidates.rows() * candidates.labels());
    for row in 0..candidates.rows() {
        let Masses { plausibility, mask, model_total, labels } = Masses::of(candidates, row)?;
        for (label, score) in candidates.row(row).iter().enumerate() {
            if is_allowed(mask, label) {
                pairs.push((*score, plausibility[label] / (model_total * m), 1.0 / (labels * m)));
            }
        }
    }
    // One sort serves both laws: they have the same atoms.
    pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let law = |mass: fn(&(f64, f64, f64)) -> f64| {
        let atoms: Vec<(f64, f64)> = pairs.iter().map(|pair| (pair.0, mass(pair))).collect();
        // `m` points, not `m C`: the labels of one point are no independent draws.
        WeightedEmpirical::from_sorted(&atoms, m)
    };
    Ok(Sandwich::new(
        law(|pair| pair.1),
        law(|pair| pair.2),
        Construction::ModelUniformExact,
        candidates.rows(),
    ))
}

/// Eq 10 as printed: one label drawn from `f` and one drawn uniformly for every row.
///
/// `draw` numbers repeated draws (the steps of Alg 1); every draw of a seed is independent of the others.
///
/// # Errors
/// As for [`model_uniform`].
pub fn model_uniform_sampled(
    candidates: &CandidateScores,
    seed: Seed,
    draw: u64,
) -> Result<Sandwich> {
    // The names are part of the results: others would draw other labels.
    let mut stream = seed.child("model-uniform-draws", draw).stream("labels");
    let (mut from_model, mut from_uniform) = (Vec::new(), Vec::new());
    for row in 0..candidates.rows() {
        let masses = Masses::of(candidates, row)?;
        let scores = candidates.row(row);
        from_model.push(scores[masses.model_label(stream.uniform())]);
        from_uniform.push(scores[masses.uniform_label(stream.uniform())]);
    }
    Ok(Sandwich::new(
        WeightedEmpirical::uniform(&from_model)?,
        WeightedEmpirical::uniform(&from_uniform)?,
        Construction::ModelUniformSampled,
        candidates.rows(),
    ))
}

/// The two label distributions of a row, restricted to its possible labels.
struct Masses<'a> {
    /// `f` of the row; shape `(C,)`.
    plausibility: &'a [f64],
    /// Its possible labels; none where all are.
    mask: Option<&'a [bool]>,
    /// Sum of `f` over the possible labels; 1 without a mask.
    model_total: f64,
    /// How many labels are possible.
    labels: f64,
}

impl<'a> Masses<'a> {
    /// The distributions of one row.
    ///
    /// # Errors
    /// If the table has no plausibility, or none of it is on possible labels.
    fn of(candidates: &'a CandidateScores, row: usize) -> Result<Self> {
        let plausibility =
            candidates.plausibility_row(row).ok_or(Error::NoPlausibility { construction: NAME })?;
        let mask = candidates.mask_row(row);
        let Some(allowed) = mask else {
            // Exactly 1, not the sum, which rounding leaves beside it: rows were normalised when
            // they came in.
            return Ok(Self {
                plausibility,
                mask,
                model_total: 1.0,
                labels: plausibility.len() as f64,
            });
        };
        let pairs = plausibility.iter().zip(allowed);
        let model_total = pairs.filter(|(_, allowed)| **allowed).map(|(mass, _)| mass).sum();
        if model_total <= 0.0 {
            return Err(Error::NoPlausibleLabel { row });
        }
        let labels = allowed.iter().filter(|allowed| **allowed).count() as f64;
        Ok(Self { plausibility, mask, model_total, labels })
    }

    /// The label at quantile `u` of the model's distribution; `u` in `[0, 1)`.
    fn model_label(&self, u: f64) -> usize {
        // Rounding may leave the running sum below `u` times the total; the last plausible label then stands in.
        let target = u * self.model_total;
        let mut running = 0.0;
        let mut last = 0;
        for (label, mass) in self.plausibility.iter().enumerate() {
            if is_allowed(self.mask, label) && *mass > 0.0 {
                running += mass;
                last = label;
                if running > target {
                    break;
                }
            }
        }
        last
    }

    /// The label at quantile `u` of the uniform distribution over the possible labels; `u` in
    /// `[0, 1)`.
    fn uniform_label(&self, u: f64) -> usize {
        // `u < 1`, but the product may round up to the number of labels; taking from too short an iterator then ends at
        // the last label.
        let rank = (u * self.labels) as usize;
        let allowed = (0..self.plausibility.len()).filter(|label| is_allowed(self.mask, *label));
        allowed.take(rank + 1).last().unwrap_or(0)
    }
}
