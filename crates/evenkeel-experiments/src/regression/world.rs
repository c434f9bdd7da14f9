//! Two worlds whose ratio is known (Yang, Kuchibhotla & Tchetgen Tchetgen 2024, as in the paper's App C.4).
//!
//! ```text
//! calibration data (P)   X ~ N(0, I_4)
//! target data (Q)        X ~ N(shift, I_4),   which is P tilted by exp(shift . x)
//! both            Y = 210 + 27.4 x_1 + 13.7 (x_2 + x_3 + x_4) + N(0, 1)
//! ```

use evenkeel::seed::Stream;

use crate::draws::standard_normal;

/// Features of a point.
pub const FEATURES: usize = 4;
/// Exponents of the tilt; also the mean of the target features.
pub const SHIFT: [f64; FEATURES] = [-1.0, 0.5, -0.25, -0.1];

/// Where a sample comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// `P`.
    Labeled,
    /// `Q`.
    TargetScores,
}

/// Points with their targets.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Features; shape `(n, FEATURES)`, row-major.
    pub x: Vec<f64>,
    /// Targets; shape `(n,)`.
    pub y: Vec<f64>,
}

impl Sample {
    /// `n` independent points of a world.
    pub fn draw(world: World, n: usize, stream: &mut Stream) -> Self {
        let mean = match world {
            World::Labeled => [0.0; FEATURES],
            World::TargetScores => SHIFT,
        };
        let (mut x, mut y) = (Vec::with_capacity(n * FEATURES), Vec::with_capacity(n));
        for _ in 0..n {
            let row = mean.map(|mean| mean + standard_normal(stream));
            let signal = 27.4 * row[0] + 13.7 * (row[1] + row[2] + row[3]);
            // The noise is drawn after the features: the order of draws is part of the samples.
            y.push(210.0 + signal + standard_normal(stream));
            x.extend(row);
        }
        Self { x, y }
    }

    /// The tilt of every point, `exp(shift . x)`: the ratio `dQ/dP(x)` up to a constant, which cancels.
    pub fn tilts(&self) -> Vec<f64> {
        let tilt = |row: &[f64]| -> f64 {
            row.iter().zip(SHIFT).map(|(x, shift)| x * shift).sum::<f64>().exp()
        };
        self.x.chunks_exact(FEATURES).map(tilt).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel::seed::Seed;

    /// The mean of the tilt under `P` is `exp(|shift|^2 / 2) = 1.937`, and tilted moments of `P` are moments of `Q`.
    #[test]
    fn tilting_labeled_gives_target() {
        let mut stream = Seed::new(4).stream("world");
        let p = Sample::draw(World::Labeled, 100_000, &mut stream);
        let q = Sample::draw(World::TargetScores, 100_000, &mut stream);
        let tilts = p.tilts();
        let total: f64 = tilts.iter().sum();
        assert!((total / 1e5 - 1.937).abs() < 0.06, "{}", total / 1e5);
        let tilted: f64 = tilts.iter().zip(&p.y).map(|(tilt, y)| tilt * y).sum::<f64>() / total;
        let mean = q.y.iter().sum::<f64>() / 1e5;
        let exact = 210.0 - 27.4 + 13.7 * (0.5 - 0.25 - 0.1);
        assert!((mean - exact).abs() < 0.6 && (tilted - exact).abs() < 1.5, "{mean} {tilted}");
    }
}
