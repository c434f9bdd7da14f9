//! The calibration side of every bound: a discrete law and its kernel density, kept together.

use super::bandwidth::Bandwidth;
use super::empirical::WeightedEmpirical;
use super::kde::{GaussianKde, Support};
use crate::error::Result;

/// A weighted calibration law `P_w` with its density `p_w`.
#[derive(Debug, Clone, PartialEq)]
pub struct SmoothedLaw {
    law: WeightedEmpirical,
    density: GaussianKde,
}

impl SmoothedLaw {
    /// The law and its density with the given bandwidth and support.
    pub fn new(law: WeightedEmpirical, bandwidth: Bandwidth, support: Support) -> Result<Self> {
        let density = GaussianKde::new(&law, bandwidth, support)?;
        Ok(Self { law, density })
    }

    /// The discrete law.
    pub fn law(&self) -> &WeightedEmpirical {
        &self.law
    }

    /// Its density.
    pub fn density(&self) -> &GaussianKde {
        &self.density
    }
}
