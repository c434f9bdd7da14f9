//! `airfoil_self_noise.dat`: 1503 rows of six numbers.

use std::path::Path;

use crate::error::{Error, Result};

/// Features of a row.
pub const FEATURES: usize = 5;
/// Fewer rows cannot be split into a line, a calibration set and a test set.
const LEAST_ROWS: usize = 100;
/// Frequency and displacement thickness enter as logarithms, as in the paper.
const LOGARITHMS: [usize; 2] = [0, 4];

/// Rows of the data set.
#[derive(Debug, Clone, PartialEq)]
pub struct Airfoil {
    /// `(rows, FEATURES)`, row after row: log frequency, angle, chord, velocity, log displacement thickness.
    pub features: Vec<f64>,
    /// Sound pressure level in decibel, one per row.
    pub levels: Vec<f64>,
}

impl Airfoil {
    /// Reads the file: six numbers per line, separated by white space.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(Error::at(path))?;
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self> {
        let mut data = Self { features: Vec::new(), levels: Vec::new() };
        for (index, line) in text.lines().enumerate() {
            // Editors end files with a blank line.
            if line.trim().is_empty() {
                continue;
            }
            let bad = |found: &str| Error::BadAirfoilRow {
                path: path.to_path_buf(),
                line: index + 1,
                // The start of it: a binary file is one endless line.
                found: found.chars().take(80).collect(),
            };
            let number = |word: &str| {
                word.parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(|| bad(word))
            };
            let numbers: Vec<f64> = line.split_whitespace().map(number).collect::<Result<_>>()?;
            let [features @ .., level] = numbers.as_slice() else { return Err(bad(line)) };
            // A frequency of zero has no logarithm, and is surely a slip.
            if features.len() != FEATURES || LOGARITHMS.iter().any(|k| features[*k] <= 0.0) {
                return Err(bad(line));
            }
            let transformed = features.iter().enumerate().map(|(column, value)| {
                if LOGARITHMS.contains(&column) { value.ln() } else { *value }
            });
            data.features.extend(transformed);
            data.levels.push(*level);
        }
        if data.rows() < LEAST_ROWS {
            let (path, found) = (path.to_path_buf(), data.rows());
            return Err(Error::TooFewAirfoilRows { path, found, least: LEAST_ROWS });
        }
        Ok(data)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.levels.len()
    }

    /// Features of a row.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.features[index * FEATURES..][..FEATURES]
    }

    /// The features of some rows, one after the other.
    pub(super) fn features_of(&self, rows: &[usize]) -> Vec<f64> {
        rows.iter().flat_map(|row| self.row(*row)).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_columns_become_logarithms() {
        let text = "800\t0\t0.3048\t71.3\t0.00266337\t126.201\n".repeat(100);
        let data = Airfoil::parse(Path::new("x.dat"), &text).unwrap();
        assert_eq!(data.rows(), 100);
        assert_eq!(data.row(99), [800f64.ln(), 0.0, 0.3048, 71.3, 0.00266337f64.ln()]);
        assert_eq!(data.levels[0], 126.201);
    }

    #[test]
    fn broken_files_name_the_line() {
        let good = "800 0 0.3 71.3 0.002 126.2\n".repeat(120);
        for bad in [
            "800 0 0.3 71.3 0.002",
            "800 0 0.3 71.3 0.002 x",
            "0 0 0.3 71.3 0.002 1",
            "nan 0 0 0 1 1",
        ] {
            let text = format!("{good}{bad}\n");
            let error = Airfoil::parse(Path::new("x.dat"), &text).unwrap_err();
            assert!(matches!(error, Error::BadAirfoilRow { line: 121, .. }), "{error}");
        }
        let few = Airfoil::parse(Path::new("x.dat"), "1 1 1 1 1 1\n");
        assert!(matches!(few, Err(Error::TooFewAirfoilRows { found: 1, .. })));
    }
}
