//! Random laws, probability tables, labels and masks.

use evenkeel::measure::{WeightedEmpirical, Weights};
use evenkeel::score::{
    Aps, CandidateScores, LabelMask, Labels, Probabilities, Randomisation, Raps, Score,
};
use evenkeel::seed::Seed;
use proptest::prelude::*;

/// What rounding may move a CDF, a distance or a bound by.
pub const ROUNDING: f64 = 1e-12;

/// `(score, raw weight)` pairs on `[0, 1]`; a coarse lattice makes ties within and between samples common.
pub fn sample() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let score = prop_oneof![(0u8..=8).prop_map(|k| f64::from(k) / 8.0), 0.0..=1.0f64];
    let weight = prop_oneof![4 => 0.01..1.0f64, 1 => Just(0.0)];
    prop::collection::vec((score, weight), 1..30)
        .prop_filter("some mass", |sample| sample.iter().any(|(_, weight)| *weight > 0.0))
}

/// The law of a sample.
pub fn law(sample: &[(f64, f64)]) -> WeightedEmpirical {
    let (scores, raw): (Vec<f64>, Vec<f64>) = sample.iter().copied().unzip();
    WeightedEmpirical::new(&scores, &Weights::normalised(raw).unwrap()).unwrap()
}

/// Rows of probabilities with a true label and a set of possible labels for each.
#[derive(Debug, Clone)]
pub struct Table {
    pub classes: usize,
    pub values: Vec<f64>,
    pub labels: Vec<usize>,
    /// Every row allows its true label.
    pub allowed: Vec<bool>,
}

impl Table {
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    pub fn probabilities(&self) -> Probabilities<'_, f64> {
        Probabilities::new(&self.values, self.classes).unwrap()
    }

    pub fn labels(&self) -> Labels {
        Labels::new(self.labels.clone(), self.classes).unwrap()
    }

    pub fn mask(&self) -> LabelMask {
        LabelMask::new(self.allowed.clone(), self.classes).unwrap()
    }

    /// Candidate scores, all labels possible.
    pub fn candidates(&self, score: &Score) -> CandidateScores {
        score.candidate_scores(&self.probabilities()).unwrap()
    }

    /// Candidate scores, with the mask or without.
    pub fn maybe_masked(&self, score: &Score, masked: bool) -> CandidateScores {
        let candidates = self.candidates(score);
        if masked { candidates.with_mask(self.mask()).unwrap() } else { candidates }
    }

    /// The law of the true labels' scores.
    pub fn truth(&self, score: &Score) -> WeightedEmpirical {
        let scores = score.label_scores(&self.probabilities(), &self.labels()).unwrap();
        WeightedEmpirical::uniform(&scores).unwrap()
    }
}

/// A table of up to 40 rows and 20 classes; some probabilities are exactly zero, never the true label's.
///
/// Twenty classes pass the sixteen lanes of the row sum, so both its loops run.
pub fn table() -> impl Strategy<Value = Table> {
    (1usize..=20, 1usize..=40).prop_flat_map(|(classes, rows)| {
        let mass = prop_oneof![
            4 => 0.001..1.0f64,
            2 => (1u8..=4).prop_map(|k| f64::from(k) / 4.0),
            1 => Just(0.0)
        ];
        let values = prop::collection::vec(mass, rows * classes);
        let labels = prop::collection::vec(0..classes, rows);
        let allowed = prop::collection::vec(any::<bool>(), rows * classes);
        (values, labels, allowed).prop_map(move |(mut values, labels, mut allowed)| {
            for (row, label) in labels.iter().enumerate() {
                allowed[row * classes + label] = true;
                let values = &mut values[row * classes..][..classes];
                values[*label] += 0.05;
                let total: f64 = values.iter().sum();
                values.iter_mut().for_each(|value| *value /= total);
            }
            Table { classes, values, labels, allowed }
        })
    })
}

/// Every score function of the library, deterministic and randomised.
pub fn score() -> impl Strategy<Value = Score> {
    let randomisation = prop_oneof![
        Just(Randomisation::Deterministic),
        any::<u64>().prop_map(|seed| Randomisation::Uniform(Seed::new(seed)))
    ];
    (0u8..4, randomisation, 0.0..0.3f64, 0usize..6).prop_map(
        |(which, randomisation, lambda, k_reg)| match which {
            0 => Score::Lac,
            1 => Score::Aps(Aps { randomisation }),
            2 => Score::Raps(Raps::new(lambda, k_reg, randomisation).unwrap()),
            _ => Score::Margin,
        },
    )
}
