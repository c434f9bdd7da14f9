//! Stage 1: the temperature at which the model gives the calibration labels the largest likelihood.
//!
//! ```text
//! T = argmin over 60 log-spaced values in [0.3, 5] of  -1/n sum_i log softmax(logits_i / T)[y_i]
//! ```

use rayon::prelude::*;

use super::labeled_logits::LabeledLogits;
use crate::level::FailureProbability;
use crate::numeric::simd::in_widest_registers;
use crate::numeric::{ROWS_ABREAST, SHORT_ROW, tempered_log_sum_exp, tempered_log_sums_exp};

/// Smallest temperature tried: below 1 the model's probabilities are sharpened.
const SMALLEST: f64 = 0.3;
/// Largest temperature tried: a model whose logits say nothing of the labels would ask for
/// infinity.
const LARGEST: f64 = 5.0;
/// Number of temperatures on the grid, about 5 % apart.
pub(crate) const TEMPERATURES: usize = 60;
/// Rows whose likelihoods are added up together. Part of the result: another number of rows would
/// round the sum in another way.
const CHUNK_ROWS: usize = 1 << 12;

/// The temperature of `index` in `0..60`: log-spaced, both ends included.
pub(crate) fn grid_temperature(index: usize) -> f64 {
    let share = index as f64 / (TEMPERATURES - 1) as f64;
    (SMALLEST.ln() + share * (LARGEST / SMALLEST).ln()).exp()
}

/// The best temperature of the grid; of equally good ones the smallest.
///
/// The negative log-likelihood is convex in `1 / T`, so along the grid it falls and then rises, and the first index that
/// does not fall is found by bisection: twelve evaluations instead of sixty.
pub(crate) fn best_temperature(labeled: &LabeledLogits) -> f64 {
    let loss = |index: usize| negative_log_likelihood(labeled, grid_temperature(index));
    let (mut low, mut high) = (0, TEMPERATURES - 1);
    while low < high {
        let middle = (low + high) / 2;
        // `>=`: of equally good temperatures the smaller, as where every row is flat.
        if loss(middle + 1) >= loss(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    grid_temperature(low)
}

/// How far the true temperature may lie from the fitted one, down and up in `ln T`, if the labels follow the model at one.
///
/// ```text
/// { T : L(T_fit) <= L(T) * 60 / d },   L(T) = prod_i softmax(logits_i / T)[y_i]
/// ```
/// At the true `T` each of the 60 likelihood ratios `L(T_k) / L(T)` has mean 1, so by Markov's inequality one of them reaches
/// `60 / d` with probability `d` at most, for any number of labels. Infinite where the labels set no limit.
pub(crate) fn temperature_error(
    labeled: &LabeledLogits,
    fitted: f64,
    failure: FailureProbability,
) -> [f64; 2] {
    let n = labeled.labels().len() as f64;
    let allowed = ((TEMPERATURES as f64).ln() - failure.get().ln()) / n;
    let least = negative_log_likelihood(labeled, fitted);
    let excess = |step: f64| negative_log_likelihood(labeled, fitted * step.exp()) - least;
    [-1.0, 1.0].map(|side| {
        let mut outside = FIRST_STEP;
        while excess(side * outside) <= allowed {
            outside *= 2.0;
            if outside > LONGEST_STEP {
                return f64::INFINITY;
            }
        }
        // The loss is convex in 1/T, so the set is an interval: its end lies within the last doubling.
        let mut inside = if outside > FIRST_STEP { 0.5 * outside } else { 0.0 };
        for _ in 0..HALVINGS {
            let middle = 0.5 * (inside + outside);
            if excess(side * middle) <= allowed {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        outside
    })
}

/// First distance tried in `ln T`.
const FIRST_STEP: f64 = 0.0625;
/// Beyond a factor of e^8 on the temperature every row is flat or certain.
const LONGEST_STEP: f64 = 8.0;
/// Bisections of the last doubling: the end is known to a 64th of it, and rounded outward.
const HALVINGS: usize = 6;

/// `-1/n sum_i log softmax(logits_i / T)[y_i]`, at least 0.
pub(crate) fn negative_log_likelihood(labeled: &LabeledLogits, temperature: f64) -> f64 {
    let classes = labeled.classes();
    let chunks = labeled
        .logits()
        .par_chunks(CHUNK_ROWS * classes)
        .zip(labeled.labels().par_chunks(CHUNK_ROWS));
    // Chunks of a fixed size, added in their order: the same bits for any number of threads.
    let sums: Vec<f64> = chunks
        .map(|(logits, labels)| chunk_loss(logits, classes, labels, 1.0 / temperature))
        .collect();
    sums.iter().sum::<f64>() / labeled.labels().len() as f64
}

in_widest_registers! {
    /// `-sum_i log softmax(inverse logits_i)[y_i]` over the rows of a chunk, added in their order.
    fn chunk_loss[](logits: &[f64], classes: usize, labels: &[usize], inverse: f64) -> f64 {
        // The difference of logarithms, not the logarithm of a softmax: an unlikely label's
        // probability would round to zero and its loss to infinity.
        let of_label = |row: &[f64], label: usize, (largest, log_total): (f64, f64)| {
            log_total - (row[label] - largest) * inverse
        };
        let mut losses = Vec::with_capacity(labels.len());
        let abreast = if classes <= SHORT_ROW { labels.len() / ROWS_ABREAST * ROWS_ABREAST } else { 0 };
        let (short, rest) = logits.split_at(abreast * classes);
        let (of_short, of_rest) = labels.split_at(abreast);
        let eights = short.chunks_exact(ROWS_ABREAST * classes);
        for (rows, labels) in eights.zip(of_short.chunks_exact(ROWS_ABREAST)) {
            let (largest, sums) = tempered_log_sums_exp(rows, classes, inverse);
            for (index, (row, label)) in rows.chunks_exact(classes).zip(labels).enumerate() {
                losses.push(of_label(row, *label, (largest[index], sums[index].ln())));
            }
        }
        for (row, label) in rest.chunks_exact(classes).zip(of_rest) {
            losses.push(of_label(row, *label, tempered_log_sum_exp(row, inverse)));
        }
        losses.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Rows;
    use crate::score::{Labels, Score};
    use crate::seed::Seed;

    fn world(n: usize, sharpness: f64, seed: u64) -> LabeledLogits {
        let mut stream = Seed::new(seed).stream("temperature");
        let labels: Vec<usize> = (0..n).map(|_| stream.below(4)).collect();
        let mut logits = Vec::new();
        for label in &labels {
            logits.extend((0..4).map(|class| {
                sharpness * (stream.uniform() * 3.0 + f64::from(u8::from(class == *label)))
            }));
        }
        let labels = Labels::new(labels, 4).unwrap();
        LabeledLogits::of_logits(Rows::new("logits", &logits, 4).unwrap(), &labels, &Score::Lac)
            .unwrap()
    }

    #[test]
    fn bisection_finds_what_trying_all_finds() {
        for seed in 0..40 {
            let labeled = world(30, 0.2 + seed as f64 * 0.3, seed);
            let all = (0..TEMPERATURES).map(grid_temperature);
            let losses = all.map(|t| (negative_log_likelihood(&labeled, t), t));
            // The first of the smallest.
            let exhaustive =
                losses.fold(
                    (f64::INFINITY, 0.0),
                    |best, tried| {
                        if tried.0 < best.0 { tried } else { best }
                    },
                );
            assert_eq!(best_temperature(&labeled), exhaustive.1);
        }
    }

    /// The ends by the likelihoods themselves; and with more labels they close in.
    #[test]
    fn the_error_is_where_the_likelihood_has_fallen() {
        let d = FailureProbability::new(0.05).unwrap();
        let mut widths = Vec::new();
        for n in [100, 1000, 10_000] {
            let labeled = world(n, 1.0, 7);
            let fitted = best_temperature(&labeled);
            let [down, up] = temperature_error(&labeled, fitted, d);
            let fall = |log_step: f64| {
                let at = |t: f64| n as f64 * negative_log_likelihood(&labeled, t);
                at(fitted * log_step.exp()) - at(fitted)
            };
            for end in [-down, up] {
                assert!(fall(end) >= (1200.0f64).ln() - 1e-9);
                assert!(fall(0.95 * end) < (1200.0f64).ln());
            }
            widths.push(down + up);
        }
        assert!(widths[0] > 2.0 * widths[1] && widths[1] > 2.0 * widths[2], "{widths:?}");
    }

    #[test]
    fn flat_rows_set_no_limit() {
        let labels = Labels::new(vec![0, 1, 1], 2).unwrap();
        let flat = [1.5; 6];
        let rows = Rows::new("logits", &flat, 2).unwrap();
        let labeled = LabeledLogits::of_logits(rows, &labels, &Score::Lac).unwrap();
        let d = FailureProbability::new(0.05).unwrap();
        assert_eq!(temperature_error(&labeled, 1.0, d), [f64::INFINITY; 2]);
    }

    #[test]
    fn ties_go_to_the_smallest() {
        let labels = Labels::new(vec![0, 1, 1], 2).unwrap();
        let flat = [1.5; 6];
        let rows = Rows::new("logits", &flat, 2).unwrap();
        let labeled = LabeledLogits::of_logits(rows, &labels, &Score::Lac).unwrap();
        assert_eq!(best_temperature(&labeled), grid_temperature(0));
    }

    #[test]
    fn the_ends_are_the_ends() {
        assert!((grid_temperature(0) - 0.3).abs() < 1e-15);
        assert!((grid_temperature(TEMPERATURES - 1) - 5.0).abs() < 1e-14);
    }
}
