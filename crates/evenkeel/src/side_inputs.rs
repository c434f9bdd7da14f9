//! What a method may need of points beside their probabilities.

use serde::{Deserialize, Serialize};

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
    /// Labels of some of the target rows, by their keys; given with the calibration data, before the first target row is read.
    pub labels: Option<&'a TargetLabels>,
    /// What other models say of the same rows: the probabilities of each, beside each other, `C` columns a model.
    pub second: Option<Rows<'a, f64>>,
}

impl<'a> SideInputs<'a> {
    /// Features alone, for methods that take nothing else.
    pub fn features(features: Rows<'a, f64>) -> Self {
        Self { features: Some(features), ..Self::default() }
    }

    /// Labels of target rows alone.
    pub fn labels(labels: &'a TargetLabels) -> Self {
        Self { labels: Some(labels), ..Self::default() }
    }

    /// Probabilities of other models alone, `C` columns a model.
    pub fn second(second: Rows<'a, f64>) -> Self {
        Self { second: Some(second), ..Self::default() }
    }

    /// Which of them are given, in the order of `SideInput::ALL`.
    pub(crate) fn given(&self) -> Vec<SideInput> {
        let features = self.features.map(|_| SideInput::Features);
        let ratios = self.ratios.map(|_| SideInput::Ratios);
        let weights = self.weights.map(|_| SideInput::Weights);
        let labels = self.labels.map(|_| SideInput::Labels);
        let second = self.second.map(|_| SideInput::Second);
        [features, ratios, weights, labels, second].into_iter().flatten().collect()
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
        let table = |what, table: Option<Rows<'a, f64>>| match table {
            None => Ok(None),
            Some(table) => {
                let cells = rows.start * table.columns()..rows.end * table.columns();
                let values = table.values().get(cells);
                let values = values.ok_or_else(|| short(what, table.rows()))?;
                Rows::new(table.what(), values, table.columns()).map(Some)
            }
        };
        let features = table("rows of features", self.features)?;
        let second = table("rows of the second models", self.second)?;
        let ratios = numbers("ratios", self.ratios)?;
        let weights = numbers("weights", self.weights)?;
        Ok(Self { features, ratios, weights, labels: self.labels, second })
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
        if let Some(second) = self.second {
            // Whether they are probabilities is found where they are read, model by model.
            require_same_length("rows of the second models", second.rows(), "rows", rows)?;
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

/// Labels of some of the target rows, each with the key of its row: row numbers for files and arrays, ids elsewhere.
///
/// Every labeled row must be one of the target rows, drawn from them at random. Labeled rows that are not among them yet are
/// appended by adding them as target rows under keys of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredLabels")]
pub struct TargetLabels {
    /// Increasing.
    keys: Vec<u64>,
    labels: Vec<usize>,
    /// Shares in proportion to one over the probability of being labeled; empty where all rows were as likely.
    shares: Vec<f64>,
    classes: usize,
}

/// As they are stored; checked when read back.
#[derive(Deserialize)]
struct StoredLabels {
    keys: Vec<u64>,
    labels: Vec<usize>,
    shares: Vec<f64>,
    classes: usize,
}

impl TryFrom<StoredLabels> for TargetLabels {
    type Error = Error;

    fn try_from(StoredLabels { keys, labels, shares, classes }: StoredLabels) -> Result<Self> {
        require_same_length("labels", labels.len(), "keys of labeled rows", keys.len())?;
        let pairs: Vec<(u64, usize)> = keys.into_iter().zip(labels).collect();
        let checked = Self::new(&pairs, classes)?;
        if shares.is_empty() {
            return Ok(checked);
        }
        let inverse: Vec<f64> = shares.iter().map(|share| 1.0 / share).collect();
        let whole = (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9;
        match whole {
            // The shares as they were, to the bit.
            true => {
                Self::sampled_with(&pairs, &inverse, classes).map(|_| Self { shares, ..checked })
            }
            false => Err(Error::ZeroTotal { what: "shares of labeled rows" }),
        }
    }
}

impl TargetLabels {
    /// Labels of rows that were all as likely to be labeled, in any order.
    ///
    /// # Errors
    /// If a row has two labels, or a label is not below `classes`.
    pub fn new(pairs: &[(u64, usize)], classes: usize) -> Result<Self> {
        if let Some((index, (_, label))) =
            pairs.iter().enumerate().find(|(_, (_, label))| *label >= classes)
        {
            let (what, label) = ("labels of target rows", *label);
            return Err(Error::LabelOutOfRange { what, index, label, classes });
        }
        let mut sorted = pairs.to_vec();
        sorted.sort_unstable_by_key(|(key, _)| *key);
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::LabeledTwice { key: pair[0].0 });
        }
        let (keys, labels) = sorted.into_iter().unzip();
        Ok(Self { keys, labels, shares: Vec::new(), classes })
    }

    /// Labels of rows that were drawn with different probabilities, one for each label, up to a common factor.
    ///
    /// # Errors
    /// As [`new`](Self::new), or if a probability is not positive and finite.
    pub fn sampled_with(
        pairs: &[(u64, usize)],
        probabilities: &[f64],
        classes: usize,
    ) -> Result<Self> {
        const WHAT: &str = "probabilities of being labeled";
        require_same_length(WHAT, probabilities.len(), "labels of target rows", pairs.len())?;
        require_finite(WHAT, probabilities)?;
        if let Some(index) = probabilities.iter().position(|q| *q <= 0.0 || !(1.0 / q).is_finite())
        {
            let expected = "positive";
            return Err(Error::OutOfRange { what: WHAT, value: probabilities[index], expected });
        }
        let unweighted = Self::new(pairs, classes)?;
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_unstable_by_key(|index| pairs[*index].0);
        // Relative to the rarest: a sum of inverses could be infinite.
        let rarest = probabilities.iter().fold(f64::INFINITY, |least, q| least.min(*q));
        let raw: Vec<f64> = order.iter().map(|index| rarest / probabilities[*index]).collect();
        let total: f64 = raw.iter().sum();
        let shares = raw.iter().map(|weight| weight / total).collect();
        Ok(Self { shares, ..unweighted })
    }

    /// Number of labeled rows, `k`.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Keys of the labeled rows, increasing.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Their labels, in the order of the keys.
    pub fn as_slice(&self) -> &[usize] {
        &self.labels
    }

    /// Number of classes.
    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    /// Their shares in what stands for all rows; empty where they are equal.
    pub(crate) fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// Place of a row among the labeled ones.
    pub fn place_of(&self, key: u64) -> Option<usize> {
        self.keys.binary_search(&key).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_labels_are_refused() {
        assert!(matches!(
            TargetLabels::new(&[(4, 0), (2, 1), (4, 1)], 3),
            Err(Error::LabeledTwice { key: 4 })
        ));
        assert!(matches!(
            TargetLabels::new(&[(4, 0), (2, 3)], 3),
            Err(Error::LabelOutOfRange { index: 1, label: 3, classes: 3, .. })
        ));
        for q in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-320] {
            assert!(TargetLabels::sampled_with(&[(1, 0), (2, 0)], &[0.5, q], 3).is_err(), "{q}");
        }
        assert!(TargetLabels::sampled_with(&[(1, 0)], &[0.5, 0.5], 3).is_err());
    }

    #[test]
    fn they_are_kept_in_the_order_of_their_keys_and_stored_whole() {
        let pairs = [(9, 2), (1, 0), (5, 1)];
        let equal = TargetLabels::new(&pairs, 3).unwrap();
        assert_eq!((equal.keys(), equal.as_slice()), (&[1, 5, 9][..], &[0, 1, 2][..]));
        assert_eq!((equal.place_of(5), equal.place_of(6)), (Some(1), None));
        let unequal = TargetLabels::sampled_with(&pairs, &[0.1, 0.2, 0.4], 3).unwrap();
        for (found, expected) in unequal.shares().iter().zip([2.0 / 7.0, 1.0 / 7.0, 4.0 / 7.0]) {
            assert!((found - expected).abs() < 1e-15);
        }
        for labels in [equal, unequal, TargetLabels::new(&[], 3).unwrap()] {
            let bytes = postcard::to_allocvec(&labels).unwrap();
            assert_eq!(postcard::from_bytes::<TargetLabels>(&bytes).unwrap(), labels);
        }
        let text = r#"{"keys":[1,1],"labels":[0,0],"shares":[],"classes":3}"#;
        assert!(serde_json::from_str::<TargetLabels>(text).is_err());
        let text = r#"{"keys":[1,2],"labels":[0,0],"shares":[0.9,0.9],"classes":3}"#;
        assert!(serde_json::from_str::<TargetLabels>(text).is_err());
    }
}
