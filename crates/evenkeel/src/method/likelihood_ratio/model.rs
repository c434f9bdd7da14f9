//! A fitted ratio: plain data that can be stored, checked when read back.
//!
//! ```text
//! log dQ/dP(x) = clip(form((x - mean) / sd), -600, 600)
//! ```

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::logistic::LinearLogit;
use super::network::HiddenLayer;
use super::standardisation::{Standardisation, require_finite_rows};
use super::telescoping::Telescope;
use crate::error::{Error, Result, require_same_length};
use crate::rows::{Real, Rows};

/// Log ratios are cut to `[-600, 600]`: `exp` of them and the sum of up to `1e47` such ratios stay finite, and at that
/// size a threshold no longer depends on the number.
pub const LOG_RATIO_LIMIT: f64 = 600.0;

/// Rows evaluated by one task. Rows do not meet in any sum, so the number is about speed alone.
const ROWS_PER_TASK: usize = 1024;

/// `log dQ/dP` as a function of features. Reading one back checks shapes and numbers.
///
/// Anything may be asked of it: features far from those of the fit are cut when they are
/// standardised, and the answer is cut to [`LOG_RATIO_LIMIT`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct RatioModel {
    /// Means and deviations over both data sets of the fit.
    standardisation: Standardisation,
    /// What is evaluated on standardised rows.
    form: Form,
}

/// The function on standardised features; the word of a variant stands in files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Form {
    /// Linear: an exponential tilt.
    Logistic(LinearLogit),
    /// Piecewise linear: it continues along lines beyond the rows of the fit.
    Network(HiddenLayer),
    /// A sum of quadratic ones: a bridge for each step from Q to P.
    Telescoping(Telescope),
}

/// A model as it is stored; the field names are those of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Parts {
    standardisation: Standardisation,
    form: Form,
}

impl From<RatioModel> for Parts {
    fn from(RatioModel { standardisation, form }: RatioModel) -> Self {
        Self { standardisation, form }
    }
}

impl TryFrom<Parts> for RatioModel {
    type Error = Error;

    /// An error unless all parts are for the same number of features and hold finite numbers.
    fn try_from(Parts { standardisation, form }: Parts) -> Result<Self> {
        let features = standardisation.columns();
        if features == 0 {
            return Err(Error::TooFew { what: "features of a ratio", found: 0, least: 1 });
        }
        standardisation.check(features)?;
        match &form {
            Form::Logistic(logit) => logit.check(features)?,
            Form::Network(network) => network.check(features)?,
            Form::Telescoping(telescope) => telescope.check(features)?,
        }
        Ok(Self { standardisation, form })
    }
}

impl RatioModel {
    /// A fit gives finite numbers or none: the same check as for a model that is read back.
    pub(super) fn new(standardisation: Standardisation, form: Form) -> Result<Self> {
        Parts { standardisation, form }.try_into()
    }

    /// Number `d` of features it takes, at least one.
    pub fn features(&self) -> usize {
        self.standardisation.columns()
    }

    /// `log dQ/dP` at every row, within [`LOG_RATIO_LIMIT`] of zero. Rows are independent of each other: any cut into
    /// blocks and any number of threads gives the same bits.
    ///
    /// # Errors
    /// If a feature is not finite, or a row has another number of them than the fit.
    pub fn log_ratios<T: Real>(&self, rows: Rows<'_, T>) -> Result<Vec<f64>> {
        require_same_length(
            "feature columns",
            rows.columns(),
            "the ratio's features",
            self.features(),
        )?;
        require_finite_rows(rows)?;
        let mut out = vec![0.0; rows.rows()];
        out.par_chunks_mut(ROWS_PER_TASK).enumerate().for_each(|(task, slots)| {
            let mut z = vec![0.0; self.features()];
            for (offset, slot) in slots.iter_mut().enumerate() {
                self.standardisation.apply(rows.row(task * ROWS_PER_TASK + offset), &mut z);
                *slot = self.log_ratio(&z);
            }
        });
        Ok(out)
    }

    /// `dQ/dP` at every row, in `[exp(-600), exp(600)]`: positive and finite.
    pub fn ratios<T: Real>(&self, rows: Rows<'_, T>) -> Result<Vec<f64>> {
        let mut ratios = self.log_ratios(rows)?;
        ratios.iter_mut().for_each(|ratio| *ratio = ratio.exp());
        Ok(ratios)
    }

    /// The log ratio at a standardised row, cut to the limit.
    fn log_ratio(&self, z: &[f64]) -> f64 {
        let value = match &self.form {
            Form::Logistic(logit) => logit.log_ratio(z),
            Form::Network(network) => network.log_ratio(z),
            Form::Telescoping(telescope) => telescope.log_ratio(z),
        };
        // Stored coefficients near 1e308 can cancel to no number at all; such a row says nothing about the ratio.
        if value.is_nan() { 0.0 } else { value.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT) }
    }
}
