//! `likelihood-ratio` as a method: ratios known, or estimated from a sample of both data sets.
//!
//! ```text
//! known       ratios given -> weights                      target rows are only checked
//! estimated   a sample of target rows -> fit -> ratios at the calibration points -> weights
//! ```

use super::{RatioChoice, RatioEstimator, RatioFit};
use crate::error::{Error, Input, PointSet, Result, SideInput, User};
use crate::method::basis::{Basis, score_vectors};
use crate::method::dispatch::AnyStage;
use crate::method::fit::{Next, Open, Scored, Stage};
use crate::method::ratio_rule::{RatioSource, weighted_by};
use crate::method::row_pass::{CheckedRows, SampledRows};
use crate::method::{About, Evidence, Need, Needs, Sorted};
use crate::rows::{Real, RowKeys, Rows};
use crate::seed::Seed;
use crate::sketch::RowSample;

/// The room's entry in the list of methods; which side inputs it takes depends on `ratio`.
pub(crate) const ABOUT: About = About {
    name: "likelihood-ratio",
    summary: "Weights dQ/dP of scores or features (Tibshirani et al. 2019)",
    assumption: "covariate shift",
    needs: Needs { features: Need::Optional, ratios: Need::Optional, ..Needs::NOTHING },
};

/// Ratios of the calibration points, in the caller's order.
#[derive(Debug)]
pub(crate) struct KnownRatioFit {
    /// Calibration scores, increasing, with their places in the input.
    sorted: Sorted,
    /// `r_i`, finite and not negative; shape `(n,)`.
    ratios: Vec<f64>,
}

/// What describes the calibration points, and what fits the ratio.
#[derive(Debug)]
pub(crate) struct EstimatedRatioFit {
    /// Calibration scores, increasing, with their places in the input.
    sorted: Sorted,
    /// What points are described by, remembered for those to predict.
    basis: Basis,
    /// Rows that describe the calibration points, in the caller's order.
    described: Vec<f64>,
    /// What fits the ratio once the target rows are known.
    estimator: RatioEstimator,
    /// Root of the fit's randomness.
    seed: Seed,
}

/// Takes the ratios, or what they are estimated from.
///
/// # Errors
/// `Missing` if known ratios were not given, or if a calibration row cannot be scored.
pub(crate) fn begin<T: Real>(
    calibration: &Scored<'_, T>,
    settings: RatioChoice,
) -> Result<AnyStage> {
    let classes = calibration.classes();
    let sorted = Sorted::new(calibration.scores);
    let estimator = match settings {
        RatioChoice::Known => {
            let ratios = calibration.side.ratios.ok_or(Error::Missing {
                what: Input::Side(SideInput::Ratios, PointSet::Calibration),
                whose: User::Method(ABOUT.name),
            })?;
            let stage = KnownRatioFit { sorted, ratios: ratios.to_vec() };
            return Ok(Open::new(stage, CheckedRows { classes }).into());
        }
        RatioChoice::Estimated(estimator) => estimator,
    };
    let (score, seed) = (calibration.context.score, calibration.context.seed);
    let basis = Basis::of(&calibration.side);
    let (described, width) = described(calibration)?;
    let pass = SampledRows::described(basis, (classes, width), &score, seed);
    Ok(Open::new(EstimatedRatioFit { sorted, basis, described, estimator, seed }, pass).into())
}

impl Stage for KnownRatioFit {
    type Pass = CheckedRows;

    /// Weights proportional to the given ratios.
    fn end_pass(self, _: CheckedRows, (): (), _: u64) -> Result<Next> {
        Next::done(weighted_by(self.sorted, &self.ratios, RatioSource::Known, None)?)
    }
}

impl Stage for EstimatedRatioFit {
    type Pass = SampledRows;

    /// Fits the ratio and weighs the calibration points by it.
    fn end_pass(self, pass: SampledRows, kept: RowSample<Box<[f64]>>, _: u64) -> Result<Next> {
        let rows = pass.rows_of(kept)?;
        let labeled = Rows::new("calibration features", &self.described, pass.width())?;
        let target = Rows::new("target features", &rows, pass.width())?;
        let RatioFit { model, evidence } = self.estimator.fit(labeled, target, self.seed)?;
        // An error here and not a warning: the ridge alone would decide how large the weights are.
        evidence.require_overlap()?;
        let ratios = model.ratios(labeled)?;
        let source = RatioSource::Model { basis: self.basis, model };
        let evidence = Evidence::LikelihoodRatio(evidence);
        Next::done(weighted_by(self.sorted, &ratios, source, Some(evidence))?)
    }
}

/// The rows that describe calibration points, and their width: features, or the scores of all
/// labels.
///
/// # Errors
/// If a row of probabilities cannot be scored.
pub(crate) fn described<T: Real>(calibration: &Scored<'_, T>) -> Result<(Vec<f64>, usize)> {
    match calibration.side.features {
        Some(features) => Ok((features.values().to_vec(), features.columns())),
        None => {
            // The draws that scored the calibration points: a description must not differ from the
            // scores.
            let score = calibration.context.score.with_draws_for("calibration");
            let table = calibration.probabilities.table();
            Ok((score_vectors(RowKeys::From(0), table, &score)?, calibration.classes()))
        }
    }
}
