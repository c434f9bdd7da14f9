//! What each method keeps of target rows: bounded, and the same for any cut into blocks.

use rayon::prelude::*;

use super::{MOST_CANDIDATES, ShiftCalibrator};
use crate::calibration::score_vectors;
use crate::error::{Error, Result, require_same_length};
use crate::method::entropy_scaling::EntropyScaling;
use crate::method::label_plan::{FirstPass, LabelPlanner, SecondPass, TargetRows};
use crate::method::label_shift::predicted_labels;
use crate::method::quantile_transfer::QuantileTransfer;
use crate::method::{LabelShiftChoice, Method, RatioChoice};
use crate::rows::{Real, Rows};
use crate::score::{Probabilities, Score, row_scale, widen_scaled};
use crate::shift::KeptPredictions;
use crate::side_inputs::SideInputs;
use crate::sketch::SandwichSketch;
use crate::sketch::row_sample::BottomK;

/// Rows of a block that a thread takes at a time.
const SHARE_ROWS: usize = 1 << 12;

/// What is kept of target rows.
#[derive(Debug)]
pub(super) enum Gathered {
    /// Every probability.
    Kept(Vec<f64>),
    /// More of them than are kept, where two CDFs are all that is needed.
    Sketch(Box<(SandwichSketch, Score)>),
    /// Nothing: the method asks nothing of them.
    Nothing,
    /// Their entropies.
    Entropies(EntropyScaling),
    /// Confidences of both worlds.
    Confidences(QuantileTransfer),
    /// Predicted labels.
    Predicted(BottomK<usize>),
    /// Rows of features, scores or probabilities, and their width; a uniform sample if they are many.
    Rows(BottomK<Box<[f64]>>, usize),
    /// A label plan before its fixed points.
    FirstPass(Box<PlanPass>),
    /// A label plan after them.
    SecondPass(Box<(LabelPlanner, SecondPass)>),
}

/// The first pass of a label plan, and the predictions a shift test needs.
#[derive(Debug)]
pub(super) struct PlanPass {
    pub planner: LabelPlanner,
    pub first: FirstPass,
    pub predictions: Option<KeptPredictions>,
}

impl Gathered {
    /// Empty, for a method.
    pub(super) fn for_method(
        calibrator: &ShiftCalibrator,
        classes: usize,
        basis_width: usize,
        planner: Option<LabelPlanner>,
    ) -> Result<Self> {
        let seed = calibrator.seed.child("todays-rows", 0).get();
        let sample = |width: usize| BottomK::new(seed, (MOST_CANDIDATES / width.max(1)).max(1));
        Ok(match calibrator.method {
            Method::Uncorrected | Method::Fixed | Method::OptimalTransport(_) => {
                Self::Kept(Vec::new())
            }
            Method::LikelihoodRatio(RatioChoice::Known) | Method::Conditional(_) => Self::Nothing,
            Method::LikelihoodRatio(RatioChoice::Estimated(_)) => {
                Self::Rows(sample(basis_width), basis_width)
            }
            Method::LabelShift(LabelShiftChoice::ExpectationMaximisation(_)) => {
                Self::Rows(sample(classes), classes)
            }
            Method::LabelShift(LabelShiftChoice::BlackBox) => {
                Self::Predicted(BottomK::new(seed, MOST_CANDIDATES))
            }
            Method::EntropyScaled(power) => Self::Entropies(EntropyScaling::new(classes, power)?),
            Method::QuantileTransfer(_) => Self::Confidences(QuantileTransfer::default()),
            Method::LabelPlan(_) | Method::Auto(_) => {
                let planner = planner.ok_or(Error::Empty { what: "the label plan" })?;
                let predictions = match calibrator.method {
                    Method::Auto(_) => Some(KeptPredictions::new(calibrator.seed)),
                    _ => None,
                };
                let first = planner.first_pass();
                Self::FirstPass(Box::new(PlanPass { planner, first, predictions }))
            }
        })
    }

    /// Adds the next rows; `first_row` is the index of the first of them.
    pub(super) fn add<T: Real>(
        self,
        calibrator: &ShiftCalibrator,
        scores: &[f64],
        first_row: usize,
        block: Rows<'_, T>,
        beside: SideInputs<'_>,
    ) -> Result<Self> {
        Ok(match self {
            Self::Sketch(sketched) => {
                let (sketch, score) = *sketched;
                let sketch = sketch.add_probabilities(first_row, block, &score)?;
                Self::Sketch(Box::new((sketch, score)))
            }
            Self::Kept(mut kept) => {
                let more = kept.len() + block.values().len();
                match calibrator.empty_sketch(scores, block.columns())? {
                    Some((mut sketch, score)) if more > MOST_CANDIDATES => {
                        if !kept.is_empty() {
                            let rows = Rows::new("probabilities", &kept, block.columns())?;
                            sketch = sketch.add_probabilities(0, rows, &score)?;
                        }
                        let sketch = sketch.add_probabilities(first_row, block, &score)?;
                        Self::Sketch(Box::new((sketch, score)))
                    }
                    _ => {
                        kept.extend(block.values().iter().map(|value| (*value).into()));
                        Self::Kept(kept)
                    }
                }
            }
            Self::Nothing => {
                // Not used, but rows that are no probabilities are a mistake whatever the method.
                normalised(first_row, block)?;
                Self::Nothing
            }
            Self::Entropies(mut scaling) => {
                scaling.add(first_row, block)?;
                Self::Entropies(scaling)
            }
            Self::Confidences(mut confidences) => {
                confidences.add_target(first_row, block)?;
                Self::Confidences(confidences)
            }
            Self::Predicted(mut kept) => {
                let values = normalised(first_row, block)?;
                let labels = predicted_labels(&Probabilities::new(&values, block.columns())?);
                for (offset, label) in labels.into_iter().enumerate() {
                    kept.add((first_row + offset) as u64, label);
                }
                Self::Predicted(kept)
            }
            Self::Rows(mut kept, width) => {
                add_rows(&mut kept, width, calibrator, first_row, block, &beside)?;
                Self::Rows(kept, width)
            }
            Self::FirstPass(pass) => {
                let PlanPass { planner, first, predictions } = *pass;
                let predictions = predictions.map(|kept| kept.add(first_row, block)).transpose()?;
                let empty = planner.first_pass();
                let added = in_shares(block, |offset, part| {
                    empty.clone().add(first_row + offset, &TargetRows::Probabilities(part))
                })
                .try_reduce(|| empty.clone(), |merged, part| merged.merge(&part))?;
                let first = first.merge(&added)?;
                Self::FirstPass(Box::new(PlanPass { planner, first, predictions }))
            }
            Self::SecondPass(second) => {
                let (planner, second) = *second;
                let empty = second.emptied();
                let added = in_shares(block, |offset, part| {
                    empty.clone().add(first_row + offset, &TargetRows::Probabilities(part))
                })
                .try_reduce(|| empty.clone(), |merged, part| merged.merge(&part))?;
                Self::SecondPass(Box::new((planner, second.merge(&added)?)))
            }
        })
    }
}

/// Features where there are some, else the scores a ratio works on, or the probabilities EM works on.
fn add_rows<T: Real>(
    kept: &mut BottomK<Box<[f64]>>,
    width: usize,
    calibrator: &ShiftCalibrator,
    first_row: usize,
    block: Rows<'_, T>,
    beside: &SideInputs<'_>,
) -> Result<()> {
    let values = match (calibrator.method, beside.features) {
        (Method::LabelShift(_), _) => normalised(first_row, block)?,
        (_, Some(features)) => {
            let columns = features.columns();
            require_same_length("target features", columns, "calibration features", width)?;
            features.values().to_vec()
        }
        (_, None) => {
            let score = calibrator.score.with_draws_for("today");
            score_vectors(first_row, block, &score)?
        }
    };
    for (offset, row) in values.chunks_exact(width).enumerate() {
        kept.add_with((first_row + offset) as u64, || row.into());
    }
    Ok(())
}

/// Rows of probabilities that sum to one; errors count rows from the start of the whole input.
fn normalised<T: Real>(first_row: usize, block: Rows<'_, T>) -> Result<Vec<f64>> {
    let mut values = vec![0.0; block.values().len()];
    for (offset, place) in values.chunks_exact_mut(block.columns()).enumerate() {
        let row = block.row(offset);
        let scale = row_scale(block.what(), first_row.saturating_add(offset), row)?;
        widen_scaled(row, scale, place);
    }
    Ok(values)
}

/// A block cut into shares for the threads.
fn in_shares<'a, T: Real, P: Send + 'a>(
    block: Rows<'a, T>,
    add: impl Fn(usize, Rows<'a, T>) -> Result<P> + Sync + Send + 'a,
) -> impl ParallelIterator<Item = Result<P>> + 'a {
    let (what, columns) = (block.what(), block.columns());
    let parts = block.values().par_chunks(SHARE_ROWS * columns).enumerate();
    parts.map(move |(index, values)| add(index * SHARE_ROWS, Rows::new(what, values, columns)?))
}
