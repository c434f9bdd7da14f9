//! A line by least squares.

use super::data::{Airfoil, FEATURES};

const COLUMNS: usize = FEATURES + 1;

/// `y = b'x + b_0`, minimising the squared residuals.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    coefficients: [f64; COLUMNS],
    means: [f64; FEATURES],
}

impl Line {
    /// Fits some rows. Features are centred first: the columns differ by orders of magnitude, and the normal equations
    /// square their condition. A direction without spread gets coefficient 0.
    pub fn fit(data: &Airfoil, rows: &[usize]) -> Self {
        let mut means = [0.0; FEATURES];
        for row in rows {
            for (mean, value) in means.iter_mut().zip(data.row(*row)) {
                *mean += value / rows.len() as f64;
            }
        }
        let mut line = Self { coefficients: [0.0; COLUMNS], means };
        let mut system = [[0.0; COLUMNS + 1]; COLUMNS];
        for row in rows {
            let x = line.centred(data.row(*row));
            for i in 0..COLUMNS {
                for j in 0..COLUMNS {
                    system[i][j] += x[i] * x[j];
                }
                system[i][COLUMNS] += x[i] * data.levels[*row];
            }
        }
        line.coefficients = solve(system);
        line
    }

    fn centred(&self, row: &[f64]) -> [f64; COLUMNS] {
        let mut x = [1.0; COLUMNS];
        for ((slot, value), mean) in x.iter_mut().zip(row).zip(&self.means) {
            *slot = value - mean;
        }
        x
    }

    /// The prediction at a row.
    pub fn predict(&self, row: &[f64]) -> f64 {
        self.centred(row).iter().zip(&self.coefficients).map(|(x, b)| x * b).sum()
    }
}

/// Gauss-Jordan on a symmetric system, largest diagonal pivot first.
fn solve(mut system: [[f64; COLUMNS + 1]; COLUMNS]) -> [f64; COLUMNS] {
    let scale: Vec<f64> = (0..COLUMNS).map(|i| system[i][i]).collect();
    let mut open: Vec<usize> = (0..COLUMNS).collect();
    let mut solved = [0.0; COLUMNS];
    let mut pivots = Vec::new();
    // Relative to where each pivot began: the columns differ by orders of magnitude.
    while let Some(place) = (0..open.len()).max_by(|a, b| {
        let relative = |k: usize| system[open[k]][open[k]] / scale[open[k]].max(f64::MIN_POSITIVE);
        relative(*a).total_cmp(&relative(*b))
    }) {
        let pivot = open.swap_remove(place);
        let size = system[pivot][pivot];
        // What is left is a combination of the pivots before; dividing by it would amplify
        // rounding.
        if size <= 1e-12 * scale[pivot] {
            break;
        }
        let pivot_row = system[pivot].map(|entry| entry / size);
        for (i, row) in system.iter_mut().enumerate() {
            let factor = row[pivot];
            if i != pivot {
                for (entry, above) in row.iter_mut().zip(&pivot_row) {
                    *entry -= factor * above;
                }
            }
        }
        system[pivot] = pivot_row;
        pivots.push(pivot);
    }
    for pivot in pivots {
        solved[pivot] = system[pivot][COLUMNS];
    }
    solved
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::standard_normal;
    use evenkeel::seed::Seed;

    #[test]
    fn a_line_is_found_and_a_constant_column_ignored() {
        let mut stream = Seed::new(1).stream("line");
        let mut data = Airfoil { features: Vec::new(), levels: Vec::new() };
        for _ in 0..50 {
            let x = [
                standard_normal(&mut stream),
                1e-3 * stream.uniform(),
                7.0,
                50.0 * stream.uniform(),
                stream.uniform(),
            ];
            data.levels.push(3.0 * x[0] - 2000.0 * x[1] + 0.1 * x[3] - x[4] + 120.0);
            data.features.extend(x);
        }
        let rows: Vec<usize> = (0..50).collect();
        let line = Line::fit(&data, &rows);
        for row in rows {
            assert!((line.predict(data.row(row)) - data.levels[row]).abs() < 1e-9);
        }
    }
}
