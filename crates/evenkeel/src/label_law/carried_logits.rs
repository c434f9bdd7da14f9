//! Carried logits: target logits moved, class by class, to the mean and spread they have on the calibration data.
//!
//! ```text
//! x   = logits minus their row's mean
//! x'  = (x - mu_Q) sigma_P / sigma_Q + mu_P         per class; mu_P where sigma_Q = 0
//! ```
//! A shift that only moves or stretches the outputs of a class is undone by it, so what the model's own calibration says of
//! carried logits is what it would have said of the target rows had their outputs kept their scale.

/// A class whose spread is below this, relative to its mean, does not move but for rounding.
const NO_SPREAD: f64 = 1e-12;

/// Mean and standard deviation of each class's centred logit; shapes `(C,)`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClassMoments {
    mean: Vec<f64>,
    /// Zero where a class does not move, or has no finite moments.
    deviation: Vec<f64>,
}

impl ClassMoments {
    /// Of rows of `classes` logits each.
    pub(crate) fn of<'a>(rows: impl Iterator<Item = &'a [f64]> + Clone, classes: usize) -> Self {
        let count = rows.clone().count().max(1) as f64;
        let mut centred = vec![0.0; classes];
        let mut mean = vec![0.0; classes];
        for row in rows.clone() {
            centre(row, &mut centred);
            mean.iter_mut().zip(&centred).for_each(|(sum, x)| *sum += x);
        }
        mean.iter_mut().for_each(|sum| *sum /= count);
        // Around the mean, in a second run: a difference of squares would lose a small spread around a large mean.
        let mut deviation = vec![0.0; classes];
        for row in rows {
            centre(row, &mut centred);
            for ((sum, x), mean) in deviation.iter_mut().zip(&centred).zip(&mean) {
                *sum += (x - mean) * (x - mean);
            }
        }
        for (square, mean) in deviation.iter_mut().zip(&mut mean) {
            let spread = (*square / count).sqrt();
            *square = if spread.is_finite() && spread > NO_SPREAD * (1.0 + mean.abs()) {
                spread
            } else {
                0.0
            };
            // Sums of logits near the end of all numbers overflow; such a class says nothing.
            if !mean.is_finite() {
                *mean = 0.0;
            }
        }
        Self { mean, deviation }
    }

    /// Writes `x'` of a row: from these moments onto others.
    pub(crate) fn carry(&self, onto: &Self, logits: &[f64], out: &mut [f64]) {
        centre(logits, out);
        for (class, x) in out.iter_mut().enumerate() {
            let (from, to) = (self.deviation[class], onto.deviation[class]);
            let moved = (*x - self.mean[class]) * to / from;
            *x = if from > 0.0 && moved.is_finite() { moved } else { 0.0 } + onto.mean[class];
        }
    }
}

/// Subtracts the row's mean.
fn centre(row: &[f64], out: &mut [f64]) {
    let mean = row.iter().sum::<f64>() / row.len() as f64;
    out.iter_mut().zip(row).for_each(|(out, value)| *out = value - mean);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn rows(count: usize, classes: usize, scale: f64, shift: f64) -> Vec<Vec<f64>> {
        let mut stream = Seed::new(2).stream("moments");
        let mut row = || -> Vec<f64> {
            (0..classes)
                .map(|class| scale * (class as f64 + 1.0) * stream.uniform() + shift * class as f64)
                .collect()
        };
        (0..count).map(|_| row()).collect()
    }

    fn moments(rows: &[Vec<f64>]) -> ClassMoments {
        ClassMoments::of(rows.iter().map(|row| &row[..]), rows[0].len())
    }

    #[test]
    fn carried_logits_have_the_moments_of_the_calibration_data() {
        let (p, q) = (rows(80, 4, 3.0, 1.0), rows(70, 4, 0.7, -2.0));
        let (of_p, of_q) = (moments(&p), moments(&q));
        let mut carried = q.clone();
        carried.iter_mut().zip(&q).for_each(|(out, row)| of_q.carry(&of_p, row, out));
        for class in 0..4 {
            let values: Vec<f64> = carried.iter().map(|row| row[class]).collect();
            let mean = values.iter().sum::<f64>() / 70.0;
            let spread =
                (values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 70.0).sqrt();
            assert!((mean - of_p.mean[class]).abs() < 1e-12, "{mean}");
            assert!((spread - of_p.deviation[class]).abs() < 1e-12, "{spread}");
        }
    }

    #[test]
    fn classes_that_do_not_move_go_to_the_mean() {
        let still = vec![vec![0.3, 0.3 + 1e-17, 1.7]; 9];
        let (p, q) = (moments(&rows(40, 3, 2.0, 0.0)), moments(&still));
        assert_eq!(q.deviation, vec![0.0; 3]);
        let mut carried = [0.0; 3];
        q.carry(&p, &still[0], &mut carried);
        assert_eq!(carried.to_vec(), p.mean);
    }

    /// Finite logits may have sums that are not.
    #[test]
    fn logits_at_the_end_of_all_numbers_stay_numbers() {
        let wild = vec![vec![1e308, 1e308, -1e308], vec![-1e308, 1e308, 0.0]];
        let (p, q) = (moments(&rows(40, 3, 2.0, 0.0)), moments(&wild));
        let mut carried = [0.0; 3];
        for (from, onto) in [(&q, &p), (&p, &q), (&q, &q)] {
            for row in &wild {
                from.carry(onto, row, &mut carried);
                assert!(carried.iter().all(|x| x.is_finite()), "{carried:?}");
            }
        }
    }
}
