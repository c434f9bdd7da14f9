//! `(P_w, p_w)`: a discrete law and its kernel density, kept together; the calibration side of every bound.

use super::bandwidth::Bandwidth;
use super::empirical::WeightedEmpirical;
use super::kde::{GaussianKde, Support};
use crate::error::Result;

/// A weighted calibration law `P_w` with its density `p_w`.
///
/// Kept together so that no bound can take its CDF from one law and its density from another.
#[derive(Debug, Clone, PartialEq)]
pub struct SmoothedLaw {
    law: WeightedEmpirical,
    density: GaussianKde,
}

impl SmoothedLaw {
    /// The law and its density with the given bandwidth and support.
    ///
    /// # Errors
    /// `OutsideRange` if a bounded support does not contain every atom of `law`.
    pub fn new(law: WeightedEmpirical, bandwidth: Bandwidth, support: Support) -> Result<Self> {
        let density = GaussianKde::new(&law, bandwidth, support)?;
        Ok(Self { law, density })
    }

    /// The discrete law `P_w`.
    pub fn law(&self) -> &WeightedEmpirical {
        &self.law
    }

    /// The density `p_w` of the law.
    pub fn density(&self) -> &GaussianKde {
        &self.density
    }
}
