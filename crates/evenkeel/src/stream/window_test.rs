//! Are the rows of a window like those of the reference: one p-value, exact while all rows are exchangeable.
//!
//! ```text
//! p = min(1, 2 min(p_confidence, K min over classes of p_class))        K classes occur in the reference or the window
//! ```
//! Twice the smaller of two, and `K` times the smallest of `K`: a union bound, which needs nothing of how they depend on each
//! other. Nothing is drawn at random, and levels of `1e-9` cost no more than those of 5 %.

use serde::{Deserialize, Serialize};

use super::hypergeometric::two_sided;
use super::prediction_counts::PredictionCounts;
use super::smirnov::Distance;
use crate::error::{Error, Result};

/// What a window looks like beside the reference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WindowTest {
    /// Largest difference of the two laws of confidence, in `[0, 1]`.
    pub confidence_distance: f64,
    /// Total variation distance of the predicted classes, in `[0, 1]`.
    pub class_distance: f64,
    /// The class whose share moved most surprisingly.
    pub class: u32,
    /// At most `p` with probability at most `p` while nothing changed.
    pub p_value: f64,
}

/// Compares the rows of a window with those of a reference.
///
/// # Errors
/// If either has no rows.
pub fn window_test(reference: &PredictionCounts, window: &PredictionCounts) -> Result<WindowTest> {
    for (what, counts) in [("reference rows", reference), ("rows of the window", window)] {
        if counts.rows() == 0 {
            return Err(Error::Empty { what });
        }
    }
    let distance = Distance::between(reference, window);
    let (n, m) = (reference.rows(), window.rows());
    let mut counts = std::collections::BTreeMap::<u32, (u64, u64)>::new();
    reference.classes().for_each(|(class, count)| counts.entry(class).or_default().0 += count);
    window.classes().for_each(|(class, count)| counts.entry(class).or_default().1 += count);
    let (mut smallest, mut moved, mut apart) = (1.0_f64, 0, 0.0);
    for (class, (ours, theirs)) in &counts {
        apart += (*ours as f64 / n as f64 - *theirs as f64 / m as f64).abs();
        let p = two_sided(*theirs, m, ours + theirs, n + m);
        if p < smallest {
            (smallest, moved) = (p, *class);
        }
    }
    let of_classes = counts.len() as f64 * smallest;
    Ok(WindowTest {
        confidence_distance: distance.value(),
        class_distance: 0.5 * apart,
        class: moved,
        p_value: (2.0 * distance.p_value().min(of_classes)).min(1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use crate::shift::Prediction;

    fn draws(n: usize, power: i32, shares: &[f64], seed: u64) -> PredictionCounts {
        let mut stream = Seed::new(seed).stream("window");
        let mut one = |_| {
            let confidence = stream.uniform().powi(power);
            let mut left = stream.uniform();
            let drawn = shares.iter().position(|share| {
                left -= share;
                left < 0.0
            });
            Prediction { confidence, class: drawn.unwrap_or(shares.len() - 1) as u32 }
        };
        PredictionCounts::of(&(0..n).map(&mut one).collect::<Vec<_>>())
    }

    /// Under no change p <= 0.1 happens in at most a tenth of the runs, also with ties and rare classes.
    #[test]
    fn its_false_alarm_rate_is_at_most_its_level() {
        for (power, shares) in [(1, vec![0.2; 5]), (0, vec![0.5, 0.5]), (9, vec![0.9, 0.05, 0.05])]
        {
            let runs = 2000;
            let alarms = (0..runs)
                .filter(|run| {
                    let reference = draws(80, power, &shares, 2 * run);
                    let window = draws(50, power, &shares, 2 * run + 1);
                    window_test(&reference, &window).unwrap().p_value <= 0.1
                })
                .count();
            // At most 200 expected, standard deviation 13.4.
            assert!(alarms < 250, "{alarms} of {runs}");
        }
    }

    #[test]
    fn it_sees_confidences_and_classes_move() {
        let reference = draws(500, 1, &[0.25; 4], 1);
        let less_sure = draws(300, 2, &[0.25; 4], 2);
        let other_classes = draws(300, 1, &[0.55, 0.15, 0.15, 0.15], 3);
        assert!(window_test(&reference, &less_sure).unwrap().p_value < 1e-6);
        let found = window_test(&reference, &other_classes).unwrap();
        assert!(found.p_value < 1e-6 && found.class == 0, "{found:?}");
        assert!(window_test(&PredictionCounts::default(), &reference).is_err());
    }
}
