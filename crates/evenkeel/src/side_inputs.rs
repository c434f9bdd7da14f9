//! What a method may need of points beside their probabilities.

use crate::error::{At, Error, Result, require_finite, require_same_length};
pub use crate::error::{PointSet, SideInput};
use crate::rows::Rows;
use crate::score::{Labels, Probabilities};

/// What a method may need of points beside their probabilities, one row or number each.
///
/// Borrowed like the probabilities, and given with every block of them. What a method does not use
/// is refused where one method was chosen, and left out where several are compared.
#[derive(Debug, Clone, Copy, Default)]
pub struct SideInputs<'a> {
    /// Features that likelihood ratios and conditional calibration work on; without them they work on the vector of scores.
    pub features: Option<Rows<'a, f64>>,
    /// Known likelihood ratios `dQ/dP`, finite, zero or positive; shape `(rows,)`.
    pub ratios: Option<&'a [f64]>,
    /// Weights of the calibration points, zero or positive, shape `(n,)`; used by `fixed`.
    pub weights: Option<&'a [f64]>,
}

impl<'a> SideInputs<'a> {
    /// Features alone, for methods that take nothing else.
    pub fn features(features: Rows<'a, f64>) -> Self {
        Self { features: Some(features), ..Self::default() }
    }

    /// Which of them are given, in the order of `SideInput::ALL`.
    pub(crate) fn given(&self) -> Vec<SideInput> {
        let features = self.features.map(|_| SideInput::Features);
        let ratios = self.ratios.map(|_| SideInput::Ratios);
        let weights = self.weights.map(|_| SideInput::Weights);
        [features, ratios, weights].into_iter().flatten().collect()
    }

    /// What belongs to these of the points: the side inputs of a block.
    pub fn of_rows(&self, rows: std::ops::Range<usize>) -> Result<Self> {
        // A range past the end is an error, not a panic: it may come from the rows of another file.
        let short =
            |what, found| Error::LengthMismatch { what, found, other: "rows", expected: rows.end };
        let numbers = |what, values: Option<&'a [f64]>| match values {
            None => Ok(None),
            Some(values) => {
                values.get(rows.clone()).map(Some).ok_or_else(|| short(what, values.len()))
            }
        };
        let features = match self.features {
            None => None,
            Some(table) => {
                let cells = rows.start * table.columns()..rows.end * table.columns();
                let values = table.values().get(cells);
                let values = values.ok_or_else(|| short("rows of features", table.rows()))?;
                Some(Rows::new(table.what(), values, table.columns())?)
            }
        };
        let ratios = numbers("ratios", self.ratios)?;
        let weights = numbers("weights", self.weights)?;
        Ok(Self { features, ratios, weights })
    }

    /// An error unless everything given is finite and there for each of `rows` points.
    ///
    /// Called once where data come in; after it rooms index and divide without asking.
    pub fn check(&self, rows: usize) -> Result<()> {
        if let Some(features) = self.features {
            require_same_length("rows of features", features.rows(), "rows", rows)?;
            // A single NaN makes every kernel and every logit NaN, and a NaN threshold admits nothing without a word.
            if let Some(index) = features.values().iter().position(|value| !value.is_finite()) {
                let (row, column) = (index / features.columns(), index % features.columns());
                let (at, value) = (At::Cell { row, column }, features.values()[index]);
                return Err(Error::NotFinite { what: "features", at, value });
            }
        }
        for (what, given) in [("ratios", self.ratios), ("weights", self.weights)] {
            let Some(values) = given else { continue };
            require_same_length(what, values.len(), "rows", rows)?;
            require_finite(what, values)?;
            if let Some(index) = values.iter().position(|value| *value < 0.0) {
                let at = At::Index(index);
                return Err(Error::Negative { what, at, value: values[index] });
            }
        }
        Ok(())
    }
}

/// The calibration data: labeled points, with their probabilities and whatever else a method takes of them.
#[derive(Debug, Clone, Copy)]
pub struct Labeled<'a, T> {
    /// Class probabilities, shape `(n, C)`.
    pub probabilities: &'a Probabilities<'a, T>,
    /// True label of each row, shape `(n,)`.
    pub labels: &'a Labels,
    /// Features, ratios and weights of the same rows, for the methods that take them.
    pub beside: SideInputs<'a>,
}
