//! What another model says of the first one's predictions.
//!
//! ```text
//! seen_P  mean_i softmax(B's logits_i / T_B)(top_i of A)                on the calibration rows
//! seen    mean_j softmax(B's carried logits_j / T_B)(top_j of A)        on the target rows
//! a_B     min(a_P, a_P seen / seen_P)                                   the accuracy of A that B implies
//! trust   softmax over {A, B, ..} of 10 x own accuracy
//! a       sum of trust x accuracy of A as each sees it
//! ```

use serde::{Deserialize, Serialize};

use super::accuracy::{AccuracyStatistics, FittedModel};
use super::kept_rows::KeptRows;

/// How sharply trust follows a model's own accuracy.
const TRUST: f64 = 10.0;

/// The first model's accuracy as a second one sees it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SecondOpinion {
    /// The second model's own accuracy on the target rows.
    pub own: f64,
    /// Mean probability it gives the first one's predictions there, its outputs carried.
    pub seen: f64,
    /// The same on the calibration rows.
    pub seen_calibration: f64,
    /// `a_B`: the accuracy of the first model that this implies.
    pub implied: f64,
}

/// The first model's accuracy as the second sees it. Rows of both are the same, in the same order; `own` is the second
/// model's accuracy by [`accuracy_statistics`](super::accuracy_statistics).
pub(crate) fn second_opinion(
    (first, first_target, first_accuracy): (FittedModel<'_>, &KeptRows, &AccuracyStatistics),
    (second, second_target, own): (FittedModel<'_>, &KeptRows, f64),
) -> SecondOpinion {
    let seen = second.mean_carried(second_target, first_target.top());
    let seen_calibration = second.mean_probability(first.predicted());
    let calibration = first_accuracy.calibration;
    // A model that gave the first one's predictions no chance even on the calibration rows has no opinion of them.
    let implied = if seen_calibration > 0.0 {
        calibration.min(calibration * seen / seen_calibration)
    } else {
        calibration
    };
    SecondOpinion { own, seen, seen_calibration, implied }
}

/// All opinions of the first model's accuracy, and what follows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SecondOpinions {
    /// The first model's own view.
    pub own: AccuracyStatistics,
    /// That of each of the others.
    pub others: Vec<SecondOpinion>,
    /// Trust in the first model and in each of the others; sums to one.
    pub trust: Vec<f64>,
    /// `a`, averaged over all views by trust.
    pub accuracy: f64,
}

impl SecondOpinions {
    /// The numbers are such as rows give.
    pub(crate) fn is_sound(&self) -> bool {
        let share = |value: f64| (0.0..=1.0).contains(&value);
        let sound = |other: &SecondOpinion| {
            let SecondOpinion { own, seen, seen_calibration, implied } = *other;
            [own, seen, seen_calibration, implied].into_iter().all(share)
        };
        self.own.is_sound()
            && self.others.iter().all(sound)
            && self.trust.len() == self.others.len() + 1
            && self.trust.iter().all(|trust| share(*trust))
            && share(self.accuracy)
    }

    pub(crate) fn new(own: AccuracyStatistics, others: Vec<SecondOpinion>) -> Self {
        let all = std::iter::once(own.estimate).chain(others.iter().map(|other| other.own));
        let raw: Vec<f64> = all.map(|accuracy| (TRUST * accuracy).exp()).collect();
        let total: f64 = raw.iter().sum();
        let trust: Vec<f64> = raw.iter().map(|value| value / total).collect();
        let views = std::iter::once(own.estimate).chain(others.iter().map(|other| other.implied));
        let accuracy = trust.iter().zip(views).map(|(trust, view)| trust * view).sum();
        Self { own, others, trust, accuracy }
    }
}
