//! The answer in sentences, for every place that shows it to people.

use super::report::ShiftReport;

impl ShiftReport {
    /// Shift or not, what coverage to expect, what to do: a sentence each.
    pub fn sentences(&self) -> [String; 3] {
        let interval = &self.coverage_interval;
        let shift = if self.shift.detected { "Shift detected" } else { "No shift detected" };
        let threshold = self.threshold;
        let threshold = threshold.map_or_else(|| "infinite".to_owned(), |t| format!("{t:.4}"));
        let range =
            |[low, high]: [f64; 2]| format!("{:.1} % to {:.1} %", 100.0 * low, 100.0 * high);
        [
            format!(
                "{shift}: confidence moved by {:.3} (KS distance) and predicted classes by {:.3} (total variation), p = {:.3}, \
                 between {} labeled points and {} unlabeled ones.",
                self.shift.confidence_distance,
                self.shift.class_distance,
                self.shift.p_value,
                self.n,
                self.m,
            ),
            format!(
                "Coverage to expect at the uncorrected threshold {threshold} (level {:.1} %): {} if the model's and \
                 uniform labels enclose the truth, {} in any case ({} at {:.0} % confidence).",
                100.0 * (1.0 - self.alpha),
                range(interval.assumed),
                range(interval.guaranteed),
                range(interval.with_confidence.guaranteed),
                100.0 * interval.with_confidence.level,
            ),
            self.advice.clone(),
        ]
    }

    /// Whether what is said under the assumption can hold.
    pub fn order_sentence(&self) -> String {
        let dominance = &self.dominance.f_u;
        match dominance.at {
            None => "The two assumed score distributions are ordered, as they must be. Whether they bracket the true one cannot be verified without labels.".into(),
            Some(at) => format!(
                "The assumed laws cross by {:.4} at score {at:.4}: what is said under the assumption does not hold.",
                dominance.largest_violation
            ),
        }
    }
}
