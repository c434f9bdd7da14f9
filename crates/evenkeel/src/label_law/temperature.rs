//! Stage 1: the temperature at which the model gives the calibration labels the largest likelihood.
//!
//! ```text
//! T = argmin over 60 log-spaced values in [0.3, 5] of  -1/n sum_i log softmax(logits_i / T)[y_i]
//! ```

use rayon::prelude::*;

use super::labeled_logits::LabeledLogits;
use crate::level::FailureProbability;
use crate::numeric::simd::in_widest_registers;
use crate::numeric::{ABREAST, RowsAbreast, tempered_log_sum_exp};

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
/// The negative log-likelihood is convex in `1 / T`, so along the grid it falls and then rises: the place asked for is the first
/// that is not above the next. It is looked for where a straight line through the last two slopes says, and by bisection where
/// that has not found it: half a dozen evaluations, where bisection alone takes twelve.
pub(crate) fn best_temperature(losses: &Losses<'_>) -> f64 {
    let mut known: [Option<f64>; TEMPERATURES] = [None; TEMPERATURES];
    let mut loss =
        |index: usize| *known[index].get_or_insert_with(|| losses.at(grid_temperature(index)));
    let [left, middle, right] = FIRST_PLACES;
    // A slope between two places is that of the step in their middle.
    let mut slope = |from: usize, to: usize| {
        (0.5 * (from + to - 1) as f64, (loss(to) - loss(from)) / (to - from) as f64)
    };
    let mut slopes = [slope(left, middle), slope(middle, right)];
    let (mut low, mut high) = (0, TEMPERATURES - 1);
    for tried in 0.. {
        if low == high {
            break;
        }
        let [a, b] = slopes;
        let level = b.0 - b.1 * (b.0 - a.0) / (b.1 - a.1);
        let place = match level.is_finite() && tried < MOST_GUESSES {
            true => level.ceil().max(0.0) as usize,
            false => (low + high) / 2,
        };
        let place = place.clamp(low, high - 1);
        let found = slope(place, place + 1);
        // `>=`: of equally good temperatures the smaller, as where every row is flat.
        if found.1 >= 0.0 {
            high = place;
        } else {
            low = place + 1;
        }
        slopes = [b, found];
    }
    grid_temperature(low)
}

/// Places of the grid that are tried first: temperatures of 0.8, 1.0 and 1.3.
const FIRST_PLACES: [usize; 3] = [20, 25, 30];
/// Guesses after which the bracket is halved.
const MOST_GUESSES: usize = 6;

/// How far the true temperature may lie from the fitted one, down and up in `ln T`, if the labels follow the model at one.
///
/// ```text
/// { T : L(T_fit) <= L(T) * 60 / d },   L(T) = prod_i softmax(logits_i / T)[y_i]
/// ```
/// At the true `T` each of the 60 likelihood ratios `L(T_k) / L(T)` has mean 1, so by Markov's inequality one of them reaches
/// `60 / d` with probability `d` at most, for any number of labels. Infinite where the labels set no limit.
pub(crate) fn temperature_error(
    losses: &Losses<'_>,
    fitted: f64,
    failure: FailureProbability,
) -> [f64; 2] {
    let n = losses.labels.len() as f64;
    let allowed = ((TEMPERATURES as f64).ln() - failure.get().ln()) / n;
    let least = losses.at(fitted);
    let excess = |step: f64| losses.at(fitted * step.exp()) - least;
    [-1.0, 1.0].map(|side| {
        let mut outside = FIRST_STEP;
        let mut at_outside = excess(side * outside);
        let mut at_inside = 0.0;
        while at_outside <= allowed {
            outside *= 2.0;
            if outside > LONGEST_STEP {
                return f64::INFINITY;
            }
            (at_inside, at_outside) = (at_outside, excess(side * outside));
        }
        // The loss is convex in 1/T, so the set is an interval: its end lies within the last doubling.
        let inside = if outside > FIRST_STEP { 0.5 * outside } else { 0.0 };
        let place = |part: usize| inside + (outside - inside) * (part as f64 / PARTS as f64);
        // The first of the parts outside the set, between one inside and one outside. The loss grows about as the square of the
        // step, so its root is about straight.
        let (mut low, mut high) = ((0, at_inside), (PARTS, at_outside));
        for tried in 0.. {
            if high.0 - low.0 <= 1 {
                break;
            }
            let straight = |excess: f64| excess.max(0.0).sqrt();
            let share =
                (straight(allowed) - straight(low.1)) / (straight(high.1) - straight(low.1));
            let width = (high.0 - low.0) as f64;
            let share = if tried < MOST_GUESSES { share } else { 0.5 };
            let next = (low.0 as f64 + share * width).ceil();
            let next = (next.max(0.0) as usize).clamp(low.0 + 1, high.0 - 1);
            let found = (next, excess(side * place(next)));
            if found.1 <= allowed {
                low = found;
            } else {
                high = found;
            }
        }
        place(high.0)
    })
}

/// First distance tried in `ln T`.
const FIRST_STEP: f64 = 0.0625;
/// Beyond a factor of e^8 on the temperature every row is flat or certain.
const LONGEST_STEP: f64 = 8.0;
/// Parts of the last doubling: the end is known to a 64th of it, and rounded outward.
const PARTS: usize = 64;

/// Numbers up to which labeled rows are turned round for the search: 8 MB.
pub(super) const MOST_TURNED: usize = 1 << 20;

/// Negative log-likelihoods of labeled rows, at one temperature after another.
pub(crate) struct Losses<'a> {
    logits: &'a [f64],
    classes: usize,
    labels: &'a [usize],
    /// Short rows, where they are not very many.
    turned: Option<RowsAbreast>,
}

impl<'a> Losses<'a> {
    /// Of the rows of a calibration data set.
    pub(crate) fn new(labeled: &'a LabeledLogits) -> Self {
        let (logits, classes) = (labeled.logits(), labeled.classes());
        let turned = match logits.len() <= MOST_TURNED {
            true => RowsAbreast::new(logits.chunks_exact(classes.max(1)), classes),
            false => None,
        };
        Self { logits, classes, labels: labeled.labels(), turned }
    }

    /// `-1/n sum_i log softmax(logits_i / T)[y_i]`, at least 0.
    pub(crate) fn at(&self, temperature: f64) -> f64 {
        let inverse = 1.0 / temperature;
        // Chunks of a fixed size, added in their order: the same bits for any number of threads.
        let sum: f64 = match &self.turned {
            Some(rows) if self.labels.len() <= CHUNK_ROWS => {
                turned_loss(rows, 0, self.labels, inverse)
            }
            Some(rows) => {
                let chunks = self.labels.par_chunks(CHUNK_ROWS).enumerate();
                let loss = |(chunk, labels)| turned_loss(rows, chunk * CHUNK_ROWS, labels, inverse);
                chunks.map(loss).collect::<Vec<f64>>().iter().sum()
            }
            None => self
                .of_rows(inverse)
                .chunks(CHUNK_ROWS)
                .map(|losses| losses.iter().sum::<f64>())
                .sum(),
        };
        sum / self.labels.len() as f64
    }

    /// The loss of each row, by all threads: a few hundred rows of a thousand classes are work for several.
    fn of_rows(&self, inverse: f64) -> Vec<f64> {
        let classes = self.classes;
        let rows = (PIECE_CELLS / classes.max(1)).max(1);
        let mut losses = vec![0.0; self.labels.len()];
        let pieces = self.logits.par_chunks(rows * classes).zip(self.labels.par_chunks(rows));
        pieces.zip(losses.par_chunks_mut(rows)).for_each(|((logits, labels), losses)| {
            row_losses(logits, classes, labels, inverse, losses);
        });
        losses
    }
}

/// The loss of a chunk whose rows were turned round, to the bit.
fn turned_loss(rows: &RowsAbreast, first: usize, labels: &[usize], inverse: f64) -> f64 {
    let groups = first / ABREAST..(first + labels.len()).div_ceil(ABREAST);
    // Minus zero, as a sum begins.
    let mut sum = -0.0;
    rows.for_each(groups, inverse, |row, made| {
        for (index, (label, total)) in labels[row - first..].iter().zip(made.sums).enumerate() {
            sum += total.ln() - rows.shifted(row + index, *label) * inverse;
        }
    });
    sum
}

/// Numbers that a thread takes at a time.
const PIECE_CELLS: usize = 1 << 15;

in_widest_registers! {
    /// `-log softmax(inverse logits_i)[y_i]` of each row of a piece.
    fn row_losses[](logits: &[f64], classes: usize, labels: &[usize], inverse: f64, out: &mut [f64]) -> () {
        // The difference of logarithms, not the logarithm of a softmax: an unlikely label's
        // probability would round to zero and its loss to infinity.
        for ((row, label), out) in logits.chunks_exact(classes).zip(labels).zip(out) {
            let (largest, log_total) = tempered_log_sum_exp(row, inverse);
            *out = log_total - (row[*label] - largest) * inverse;
        }
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
            let losses = all.map(|t| (Losses::new(&labeled).at(t), t));
            // The first of the smallest.
            let exhaustive =
                losses.fold(
                    (f64::INFINITY, 0.0),
                    |best, tried| {
                        if tried.0 < best.0 { tried } else { best }
                    },
                );
            assert_eq!(best_temperature(&Losses::new(&labeled)), exhaustive.1);
        }
    }

    /// Wide rows are cut into pieces for the threads, and their losses added in the order of the rows: the bits of one row after the other.
    #[test]
    fn pieces_of_wide_rows_add_up_to_the_bits_of_rows() {
        let mut stream = Seed::new(5).stream("wide");
        for (n, classes) in [(3, 40), (300, 1000), (5000, 33)] {
            let logits: Vec<f64> = (0..n * classes).map(|_| 9.0 * stream.uniform()).collect();
            let labels: Vec<usize> = (0..n).map(|_| stream.below(classes)).collect();
            let known = Labels::new(labels.clone(), classes).unwrap();
            let rows = Rows::new("logits", &logits, classes).unwrap();
            let labeled = LabeledLogits::of_logits(rows, &known, &Score::Lac).unwrap();
            for temperature in [0.4, 1.0, 3.0] {
                let inverse = 1.0 / temperature;
                let of_rows = logits.chunks_exact(classes).zip(&labels).map(|(row, label)| {
                    let (largest, log_total) = tempered_log_sum_exp(row, inverse);
                    log_total - (row[*label] - largest) * inverse
                });
                let of_rows: Vec<f64> = of_rows.collect();
                let sum: f64 =
                    of_rows.chunks(CHUNK_ROWS).map(|some| some.iter().sum::<f64>()).sum();
                let found = Losses::new(&labeled).at(temperature);
                assert_eq!(found.to_bits(), (sum / n as f64).to_bits(), "{n} x {classes}");
            }
        }
    }

    /// The ends by the likelihoods themselves; and with more labels they close in.
    #[test]
    fn the_error_is_where_the_likelihood_has_fallen() {
        let d = FailureProbability::new(0.05).unwrap();
        let mut widths = Vec::new();
        for n in [100, 1000, 10_000] {
            let labeled = world(n, 1.0, 7);
            let fitted = best_temperature(&Losses::new(&labeled));
            let [down, up] = temperature_error(&Losses::new(&labeled), fitted, d);
            let fall = |log_step: f64| {
                let at = |t: f64| n as f64 * Losses::new(&labeled).at(t);
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
        assert_eq!(temperature_error(&Losses::new(&labeled), 1.0, d), [f64::INFINITY; 2]);
    }

    #[test]
    fn ties_go_to_the_smallest() {
        let labels = Labels::new(vec![0, 1, 1], 2).unwrap();
        let flat = [1.5; 6];
        let rows = Rows::new("logits", &flat, 2).unwrap();
        let labeled = LabeledLogits::of_logits(rows, &labels, &Score::Lac).unwrap();
        assert_eq!(best_temperature(&Losses::new(&labeled)), grid_temperature(0));
    }

    #[test]
    fn the_ends_are_the_ends() {
        assert!((grid_temperature(0) - 0.3).abs() < 1e-15);
        assert!((grid_temperature(TEMPERATURES - 1) - 5.0).abs() < 1e-14);
    }
}
