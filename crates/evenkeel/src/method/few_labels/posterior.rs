//! How likely each table is, given the labels.
//!
//! ```text
//! prior       h0: 0.5 if the data changed, else 0.9; the rest 1/3 to each family, normal in ln r_a with standard deviation 0.6
//! likelihood  sum_i ln max(h_i(y_i), 10^-12);  for g' with q rho / (1 - q (1 - rho)) in place of q = h_i(y_i)
//! ```

use serde::{Deserialize, Serialize};

use super::tables::{Families, LabelTables, MIDDLE, TEMPERATURES, ratio};
use crate::error::{Error, Result};
use crate::label_law::ClassGroups;
use crate::sketch::contradiction;

const PRIOR_IF_CHANGED: f64 = 0.5;
const PRIOR_IF_UNCHANGED: f64 = 0.9;
/// Standard deviation of `ln r`.
const SPREAD: f64 = 0.6;
/// A label that a table calls impossible is at least this likely: no single label may rule a table out.
pub(super) const LIKELIHOOD_FLOOR: f64 = 1e-12;

/// Whether the target data changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// They did.
    Found,
    /// They did not.
    NotFound,
}

/// Weights of the tables; they sum to one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub(super) struct TableWeights {
    /// Of `h0`.
    pub label_free: f64,
    /// Of the others.
    pub families: Families,
}

/// As they are stored; checked when read back.
#[derive(Deserialize)]
struct Stored {
    label_free: f64,
    families: Families,
}

impl TryFrom<Stored> for TableWeights {
    type Error = Error;

    fn try_from(Stored { label_free, families }: Stored) -> Result<Self> {
        let all = || families.iter().flatten().chain([&label_free]);
        let whole = (all().sum::<f64>() - 1.0).abs() < 1e-9;
        if whole && all().all(|weight| (0.0..=1.0).contains(weight)) {
            Ok(Self { label_free, families })
        } else {
            Err(contradiction("the weights of its label laws do not sum to one"))
        }
    }
}

impl Change {
    /// Trust in the label-free plan before any label.
    pub(super) fn prior_trust(self) -> f64 {
        match self {
            Self::Found => PRIOR_IF_CHANGED,
            Self::NotFound => PRIOR_IF_UNCHANGED,
        }
    }
}

impl TableWeights {
    /// Before any label.
    fn prior(change: Change) -> Self {
        let label_free = change.prior_trust();
        let normal = std::array::from_fn::<f64, TEMPERATURES, _>(|index| {
            (-0.5 * (ratio(index).ln() / SPREAD).powi(2)).exp()
        });
        let total: f64 = normal.iter().sum();
        let family = normal.map(|density| (1.0 - label_free) / 3.0 * density / total);
        Self { label_free, families: [family; 3] }
    }

    /// All weight on the label-free plan.
    pub(super) fn label_free() -> Self {
        Self { label_free: 1.0, families: [[0.0; TEMPERATURES]; 3] }
    }

    /// After the labels: rows of logits, each with its label and that label's `rho`.
    pub(super) fn posterior<'a>(
        tables: &LabelTables,
        change: Change,
        groups: &ClassGroups,
        left_out: &[f64],
        labeled: impl Iterator<Item = (&'a [f64], usize)>,
    ) -> Self {
        let mut scratch = vec![0.0; tables.classes()];
        let mut likelihood = [[0.0; TEMPERATURES]; 3];
        let mut label_free = 0.0;
        let floored = |q: f64| q.max(LIKELIHOOD_FLOOR).ln();
        for (logits, label) in labeled {
            let found = tables.of_label(logits, label, &mut scratch);
            let rho = left_out[groups.group_of[label]];
            for (index, [f, g, q]) in found.into_iter().enumerate() {
                likelihood[0][index] += floored(f);
                likelihood[1][index] += floored(g);
                likelihood[2][index] += floored(q * rho / (1.0 - q * (1.0 - rho)));
            }
            let mix = tables.mix();
            label_free += floored((1.0 - mix) * found[MIDDLE][0] + mix * found[MIDDLE][1]);
        }
        Self::prior(change).times(label_free, &likelihood)
    }

    /// Times the exponentials of log-likelihoods, normalised.
    fn times(self, label_free: f64, likelihood: &Families) -> Self {
        let log = |weight: f64, likelihood: f64| weight.ln() + likelihood;
        let first = log(self.label_free, label_free);
        let mut logs = self.families;
        for (weights, likelihood) in logs.iter_mut().zip(likelihood) {
            weights.iter_mut().zip(likelihood).for_each(|(weight, l)| *weight = log(*weight, *l));
        }
        // Relative to the largest: a hundred labels make likelihoods that no f64 holds.
        let largest = logs.iter().flatten().fold(first, |largest, log| largest.max(*log));
        let raw_first = (first - largest).exp();
        let raw = logs.map(|family| family.map(|log| (log - largest).exp()));
        let total = raw_first + raw.iter().flatten().sum::<f64>();
        Self {
            label_free: raw_first / total,
            families: raw.map(|family| family.map(|weight| weight / total)),
        }
    }

    /// The weights with `h0` told apart into the two tables it is made of.
    pub(super) fn folded(&self, mix: f64) -> Families {
        let mut families = self.families;
        families[0][MIDDLE] += (1.0 - mix) * self.label_free;
        families[1][MIDDLE] += mix * self.label_free;
        families
    }

    /// Weight of each temperature over the three families.
    pub(super) fn of_temperature(&self, index: usize) -> f64 {
        self.families.iter().map(|family| family[index]).sum()
    }
}
