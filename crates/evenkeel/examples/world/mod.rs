//! A classifier with a known law, on days of known difficulty: shared by the examples and the tests.

use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::seed::{Seed, Stream};

/// Number of classes.
pub const CLASSES: usize = 10;

/// Rows of class probabilities and their labels.
pub struct Sample {
    /// Row after row.
    pub probabilities: Vec<f64>,
    /// One per row.
    pub labels: Vec<usize>,
}

impl Sample {
    /// The rows, checked.
    pub fn probabilities(&self) -> Probabilities<'_, f64> {
        Probabilities::new(&self.probabilities, CLASSES).expect("rows of a softmax")
    }

    /// The labels, checked.
    pub fn labels(&self) -> Labels {
        Labels::new(self.labels.clone(), CLASSES).expect("labels below CLASSES")
    }

    /// `s(x_i, y_i)` under lac.
    pub fn scores(&self) -> Vec<f64> {
        Score::Lac.label_scores(&self.probabilities(), &self.labels()).expect("a label per row")
    }
}

/// Box-Muller.
fn normal(stream: &mut Stream) -> f64 {
    let radius = (-2.0 * (1.0 - stream.uniform()).ln()).sqrt();
    radius * (std::f64::consts::TAU * stream.uniform()).cos()
}

/// How far calibration classes are apart.
const SEPARATION: f64 = 2.5;

/// Features `x = strength * SEPARATION * e_y + z` with `z` standard normal, seen by the Bayes classifier of strength 1,
/// `p(y | x) ~ exp(SEPARATION * x_y)`. On a day of strength 1 it is exactly calibrated; a weaker signal, which is what
/// blur, noise or fog make of an image, leaves it less accurate, less sure, and surer than it should be.
pub fn sample(rows: usize, strength: f64, seed: u64) -> Sample {
    let mut stream = Seed::new(seed).stream("world");
    let mut sample = Sample { probabilities: Vec::new(), labels: Vec::new() };
    for _ in 0..rows {
        let label = stream.below(CLASSES);
        let logits: Vec<f64> = (0..CLASSES)
            .map(|class| {
                let signal = if class == label { strength * SEPARATION } else { 0.0 };
                SEPARATION * (signal + normal(&mut stream))
            })
            .collect();
        let total: f64 = logits.iter().map(|logit| logit.exp()).sum();
        sample.probabilities.extend(logits.iter().map(|logit| logit.exp() / total));
        sample.labels.push(label);
    }
    sample
}
