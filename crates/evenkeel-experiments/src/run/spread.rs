//! Mean and standard deviation of repeated runs.

/// Mean and standard deviation (divisor `n - 1`; 0 for one value) of some values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
    /// Number of values.
    pub count: usize,
}

impl Spread {
    /// Of some values; none of none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().collect();
        let count = values.len();
        if count == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count as f64;
        // Around the mean, in a second pass: sums of squares cancel for coverages that hardly
        // differ.
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = if count > 1 { (squares / (count as f64 - 1.0)).sqrt() } else { 0.0 };
        Some(Self { mean, deviation, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        let spread = Spread::of([1.0, 2.0, 3.0, 6.0]).unwrap();
        assert_eq!((spread.mean, spread.count), (3.0, 4));
        assert!((spread.deviation - (14.0_f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(Spread::of([5.0]).unwrap().deviation, 0.0);
        assert_eq!(Spread::of([]), None);
    }
}
