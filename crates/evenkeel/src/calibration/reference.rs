//! The labeled rows a calibration was made of, so that it can be asked later whether it still holds.
//!
//! A check compares target rows with calibration rows: their confidences, predicted classes, logits and labels. The
//! scores and weights of a calibration do not hold these, so the rows themselves are kept, as they were given.
//!
//! Kept: up to [`MOST_CELLS`] probabilities, 4 bytes each where single precision holds them exactly and 8 where not, and
//! the labels. Of more rows a uniform sample is kept, the same for the same seed.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize, Serializer};

use crate::error::{Error, Result};
use crate::rows::Real;
use crate::score::{Labels, Probabilities};
use crate::seed::Seed;
use crate::sketch::row_sample::RowSample;

/// Probabilities of the rows that are kept: 5.6 MB of text in single precision, 11 MB in double.
const MOST_CELLS: usize = 1 << 20;

/// Labeled rows of the calibration data, as they were given.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Reference {
    probabilities: ReferenceRows,
    labels: Vec<usize>,
    of: usize,
}

/// Row-major probabilities, in the precision that holds them exactly.
#[derive(Debug, Clone, PartialEq)]
pub enum ReferenceRows {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
}

impl ReferenceRows {
    /// Rows of so many numbers in all, in the narrowest precision that keeps every bit.
    fn narrowest<'a, T: Real, I: Iterator<Item = &'a [T]>>(
        rows: impl Fn() -> I,
        count: usize,
    ) -> Self {
        let mut single = Vec::with_capacity(count);
        for row in rows() {
            let kept = row.iter().all(|value| {
                let wide: f64 = (*value).into();
                f64::from(wide as f32).to_bits() == wide.to_bits()
            });
            if !kept {
                let mut double = Vec::with_capacity(count);
                for row in rows() {
                    double.extend(row.iter().map(|value| -> f64 { (*value).into() }));
                }
                return Self::F64(double);
            }
            single.extend(row.iter().map(|value| (*value).into() as f32));
        }
        Self::F32(single)
    }

    fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }
}

impl Reference {
    /// Of checked rows and their labels; `seed` chooses the rows that are kept of very many.
    ///
    /// # Errors
    /// If there are not as many labels as rows.
    pub fn of<T: Real>(
        probabilities: &Probabilities<'_, T>,
        labels: &Labels,
        seed: Seed,
    ) -> Result<Self> {
        let (rows, classes) = (probabilities.rows(), probabilities.classes());
        let labels = labels.as_slice();
        crate::error::require_same_length("labels", labels.len(), "probability rows", rows)?;
        let most = (MOST_CELLS / classes.max(1)).max(1);
        let mut kept = RowSample::new(seed.child("reference-rows", 0).get(), most);
        kept.expect(rows as u64);
        for row in 0..rows {
            kept.add_with(row as u64, || row);
        }
        let kept = kept.into_values()?;
        let given = || kept.iter().map(|row| probabilities.as_given(*row));
        Ok(Self {
            probabilities: ReferenceRows::narrowest(given, kept.len() * classes),
            labels: kept.iter().map(|row| labels[*row]).collect(),
            of: rows,
        })
    }

    /// The rows as they were given, row-major.
    pub fn probabilities(&self) -> &ReferenceRows {
        &self.probabilities
    }

    /// Their labels.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// Number of calibration rows they were taken from: more than are here if only a sample was kept.
    pub fn of_rows(&self) -> usize {
        self.of
    }

    /// An error unless these are rows of probabilities of so many classes, with labels among them.
    pub(super) fn check(&self, classes: usize) -> Result<()> {
        let cells = self.labels.len().checked_mul(classes);
        if cells != Some(self.probabilities.len()) || self.of < self.labels.len() {
            return Err(damaged("its calibration rows are not whole"));
        }
        match &self.probabilities {
            ReferenceRows::F32(values) => drop(Probabilities::new(values, classes)?),
            ReferenceRows::F64(values) => drop(Probabilities::new(values, classes)?),
        }
        Labels::new(self.labels.clone(), classes).map(drop)
    }
}

/// As it stands in a file: numbers as base64 of their little-endian bytes, which keeps every bit in half the space.
#[derive(Deserialize)]
struct Stored {
    of: usize,
    precision: Precision,
    probabilities: String,
    labels: Vec<usize>,
}

/// The labeled rows of the calibration data: numbers as base64 of their little-endian bytes, which keeps every bit.
#[derive(Serialize)]
struct StoredReference<'a> {
    of: usize,
    precision: Precision,
    probabilities: Base64<'a>,
    labels: &'a [usize],
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Precision {
    Float32,
    Float64,
}

// By hand: `serde(into)` would copy all rows before they become text.
impl Serialize for Reference {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let precision = match &self.probabilities {
            ReferenceRows::F32(_) => Precision::Float32,
            ReferenceRows::F64(_) => Precision::Float64,
        };
        let probabilities = Base64(&self.probabilities);
        let labels = self.labels.as_slice();
        StoredReference { of: self.of, precision, probabilities, labels }.serialize(serializer)
    }
}

/// Bytes of numbers as base64, made while they are written.
struct Base64<'a>(&'a ReferenceRows);

impl Serialize for Base64<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Base64<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ReferenceRows::F32(values) => write_base64(values, f32::to_le_bytes, out),
            ReferenceRows::F64(values) => write_base64(values, f64::to_le_bytes, out),
        }
    }
}

/// Piece by piece, each in the first cache.
fn write_base64<T: Copy, const N: usize>(
    values: &[T],
    bytes_of: impl Fn(T) -> [u8; N],
    out: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    // Whole groups of three bytes, so that nothing but the last piece is padded.
    const PIECE: usize = 3 << 8;
    let mut bytes = Vec::with_capacity(PIECE * N);
    let mut text = String::new();
    for piece in values.chunks(PIECE) {
        bytes.clear();
        piece.iter().for_each(|value| bytes.extend_from_slice(&bytes_of(*value)));
        text.clear();
        STANDARD.encode_string(&bytes, &mut text);
        out.write_str(&text)?;
    }
    Ok(())
}

impl TryFrom<Stored> for Reference {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        let bytes = STANDARD
            .decode(stored.probabilities)
            .map_err(|_| damaged("its calibration rows are not base64"))?;
        let whole = || damaged("its calibration rows are not whole");
        let probabilities = match stored.precision {
            Precision::Float32 => {
                let (words, rest) = bytes.as_chunks();
                rest.is_empty().then_some(()).ok_or_else(whole)?;
                ReferenceRows::F32(words.iter().map(|word| f32::from_le_bytes(*word)).collect())
            }
            Precision::Float64 => {
                let (words, rest) = bytes.as_chunks();
                rest.is_empty().then_some(()).ok_or_else(whole)?;
                ReferenceRows::F64(words.iter().map(|word| f64::from_le_bytes(*word)).collect())
            }
        };
        Ok(Self { probabilities, labels: stored.labels, of: stored.of })
    }
}

fn damaged(why: &'static str) -> Error {
    Error::Damaged { what: "this calibration", why }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(values: &[f64], classes: usize, labels: &[usize]) -> Reference {
        let probabilities = Probabilities::new(values, classes).unwrap();
        let labels = Labels::new(labels.to_vec(), classes).unwrap();
        Reference::of(&probabilities, &labels, Seed::new(3)).unwrap()
    }

    #[test]
    fn rows_come_back_bit_for_bit() {
        for (values, single) in
            [(vec![0.25, 0.75, 0.5, 0.5], true), (vec![0.3, 0.7, 0.1, 0.9], false)]
        {
            let reference = reference(&values, 2, &[1, 0]);
            assert_eq!(matches!(reference.probabilities, ReferenceRows::F32(_)), single);
            let text = serde_json::to_string(&reference).unwrap();
            let read: Reference = serde_json::from_str(&text).unwrap();
            assert_eq!(read, reference);
            read.check(2).unwrap();
        }
    }

    /// Made piece by piece, the text is that of all bytes at once.
    #[test]
    fn text_does_not_show_its_pieces() {
        for count in [0, 1, 2, 3, 767, 768, 769, 10_000] {
            let values: Vec<f64> = (0..count).map(|index| f64::from(index).sqrt()).collect();
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            let single: Vec<f32> = values.iter().map(|value| *value as f32).collect();
            let text = Base64(&ReferenceRows::F64(values)).to_string();
            assert_eq!(text, STANDARD.encode(bytes));
            let bytes: Vec<u8> = single.iter().flat_map(|value| value.to_le_bytes()).collect();
            let text = Base64(&ReferenceRows::F32(single)).to_string();
            assert_eq!(text, STANDARD.encode(bytes));
        }
    }

    #[test]
    fn of_very_many_rows_a_sample_is_kept() {
        let (classes, rows) = (1 << 12, 400);
        let values = vec![1.0 / classes as f64; classes * rows];
        let labels: Vec<usize> = (0..rows).collect();
        let reference = reference(&values, classes, &labels);
        assert_eq!((reference.labels.len(), reference.of), (MOST_CELLS / classes, rows));
        assert!(reference.labels.is_sorted() && reference.labels.iter().any(|label| *label > 256));
        reference.check(classes).unwrap();
    }

    #[test]
    fn damage_is_called_damage() {
        let good = reference(&[0.25, 0.75, 0.5, 0.5], 2, &[1, 0]);
        assert!(good.check(3).is_err());
        assert!(good.check(usize::MAX).is_err());
        assert!(Reference { of: 1, ..good.clone() }.check(2).is_err());
        assert!(Reference { labels: vec![0, 7], ..good.clone() }.check(2).is_err());
        let sums = ReferenceRows::F32(vec![0.5, 0.9, 0.5, 0.5]);
        assert!(Reference { probabilities: sums, ..good.clone() }.check(2).is_err());
        let text = serde_json::to_string(&good).unwrap();
        for (from, to) in
            [("AACAPgAA", "AACAPgA*"), ("AACAPgAA", "AACAPgA"), ("float32", "float16")]
        {
            assert!(text.contains(from), "{text}");
            assert!(serde_json::from_str::<Reference>(&text.replace(from, to)).is_err(), "{to}");
        }
    }
}
