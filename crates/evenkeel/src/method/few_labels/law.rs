//! The law of the target scores under the posterior mean table, and how far the tables disagree about it.
//!
//! ```text
//! F(t)      = 1/m sum_j sum_y h_j(y) 1{s_jy <= t}
//! spread(t) = sum_w w (F_w(t) - F(t))^2          over the 28 tables
//! ```
//! All atoms while they are at most 16 384, else those at which `F` passes a multiple of 1/16 384, the labeled scores, and the
//! scores that the level asked for depends on.

use serde::{Deserialize, Serialize};

use super::posterior::TableWeights;
use super::tables::{Families, LabelTables, MIDDLE, TEMPERATURES};
use crate::label_law::{LabelLawMap, floored_logs};
use crate::numeric::{sort_numbers, sort_pairs};
use crate::score::{RowScratch, Score};
use crate::sketch::Abscissae;

/// Most atoms kept one by one, and levels between those kept of more.
pub(super) const MOST_ATOMS: usize = 1 << 14;

/// What labels are scored by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Scoring {
    /// A score of the probabilities.
    By(Score),
    /// The posterior mean table.
    ByPosterior,
    /// A law that was fixed before any label was seen.
    ByLaw(LabelLawMap),
}

/// Reads kept rows of probabilities: logits, scores and the mean table.
pub(super) struct TableReader<'a> {
    tables: &'a LabelTables,
    weights: Families,
    /// None under the plan score.
    score: Option<Score>,
    /// What scores labels under the plan score.
    label_law: Option<LabelLawMap>,
    scratch: RowScratch,
    room: Vec<f64>,
    /// Memory of the label law.
    law_room: Vec<f64>,
    pub logits: Vec<f64>,
    pub scores: Vec<f64>,
    /// `h_j`.
    pub mean: Vec<f64>,
}

impl<'a> TableReader<'a> {
    pub(super) fn new(tables: &'a LabelTables, weights: &TableWeights, scoring: &Scoring) -> Self {
        let row = vec![0.0; tables.classes()];
        let weights = weights.folded(tables.mix());
        let label_law = match scoring {
            Scoring::By(_) => None,
            Scoring::ByPosterior => Some(tables.law_map(&weights)),
            Scoring::ByLaw(law) => Some(law.clone()),
        };
        Self {
            tables,
            weights,
            score: match scoring {
                Scoring::By(score) => Some(*score),
                Scoring::ByPosterior | Scoring::ByLaw(_) => None,
            },
            label_law,
            scratch: RowScratch::default(),
            room: row.clone(),
            law_room: Vec::new(),
            logits: row.clone(),
            scores: row.clone(),
            mean: row,
        }
    }

    /// Logits and scores of a row that sums to one.
    pub(super) fn read(&mut self, key: u64, probabilities: &[f64]) {
        floored_logs(probabilities, &mut self.logits);
        if let Some(score) = self.score {
            score.score_row(key, probabilities, &mut self.scratch, &mut self.scores);
        }
        if let Some(law) = &self.label_law {
            law.scores(probabilities.len(), probabilities, &mut self.law_room, &mut self.scores);
        }
    }

    /// What scores labels under the plan score; none under any other.
    pub(super) fn label_law(&self) -> Option<&LabelLawMap> {
        self.label_law.as_ref()
    }

    /// The posterior's mean label law, whatever the score.
    pub(super) fn fitted_law(&self) -> LabelLawMap {
        self.tables.law_map(&self.weights)
    }

    /// The same and `h_j`.
    pub(super) fn read_mean(&mut self, key: u64, probabilities: &[f64]) {
        self.read(key, probabilities);
        self.tables.mean_row(&self.logits, &self.weights, &mut self.room, &mut self.mean);
    }
}

/// `F` at increasing scores.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScoreLaw {
    pub scores: Vec<f64>,
    pub cdf: Vec<f64>,
}

impl ScoreLaw {
    /// All atoms of the rows.
    pub(super) fn of_rows(reader: &mut TableReader<'_>, rows: &[(u64, Box<[f64]>)]) -> Self {
        let mut atoms: Vec<(f64, f64)> = Vec::with_capacity(rows.len() * reader.mean.len());
        for (key, probabilities) in rows {
            reader.read_mean(*key, probabilities);
            atoms.extend(reader.scores.iter().copied().zip(reader.mean.iter().copied()));
        }
        // Stable: equal scores keep the order of the keys, so that their masses add up to the same bits.
        sort_pairs(&mut atoms);
        let total: f64 = atoms.iter().map(|(_, mass)| mass).sum();
        let (mut scores, mut cdf): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut reached = 0.0;
        for (score, mass) in atoms {
            reached += mass;
            let level = (reached / total).min(1.0);
            // 0 and -0 are one score.
            match (scores.last(), cdf.last_mut()) {
                (Some(last), Some(at_last)) if *last == score => *at_last = level,
                _ => {
                    scores.push(score);
                    cdf.push(level);
                }
            }
        }
        if let Some(last) = cdf.last_mut() {
            *last = 1.0;
        }
        Self { scores, cdf }
    }

    /// The scores to keep: all while they are few, else where `F` passes a level, and those `needed`.
    pub(super) fn places(&self, needed: &[f64]) -> Vec<f64> {
        let levels = MOST_ATOMS as f64;
        let mut kept: Vec<f64> = if self.scores.len() <= MOST_ATOMS {
            self.scores.clone()
        } else {
            let mut passed = -1.0;
            let atoms = self.scores.iter().zip(&self.cdf);
            // The last atom of each level: F there is the largest below the next one.
            let mut kept: Vec<f64> = Vec::new();
            for (score, cdf) in atoms {
                let level = (cdf * levels).floor();
                if level > passed {
                    passed = level;
                    kept.push(*score);
                }
            }
            kept.extend(self.scores.last());
            kept
        };
        kept.extend(needed.iter().filter(|score| score.is_finite()));
        sort_numbers(&mut kept);
        kept.dedup();
        kept
    }

    /// `F` at some of the atoms, or between them.
    pub(super) fn at(&self, places: Vec<f64>) -> Self {
        let cdf = places
            .iter()
            .map(|place| match self.scores.partition_point(|score| score <= place) {
                0 => 0.0,
                count => self.cdf[count - 1],
            })
            .collect();
        Self { scores: places, cdf }
    }
}

/// `spread` at some places.
pub(super) fn spread_at(
    reader: &mut TableReader<'_>,
    rows: &[(u64, Box<[f64]>)],
    weights: &TableWeights,
    places: &Abscissae,
) -> Vec<f64> {
    let count = places.points().len();
    let tables = reader.tables;
    let temperatures: Vec<usize> =
        (0..TEMPERATURES).filter(|index| weigh_something(&reader.weights, *index)).collect();
    // Masses of every table in every bin; the last bin lies beyond the last place.
    let mut bins = vec![[[0.0; 3]; TEMPERATURES]; count + 1];
    let mut located = vec![0; tables.classes()];
    for (key, probabilities) in rows {
        reader.read(*key, probabilities);
        for (bin, score) in located.iter_mut().zip(&reader.scores) {
            *bin = places.locate(*score);
        }
        tables.each_mass(
            &reader.logits,
            &temperatures,
            &mut reader.room,
            |index, label, masses| {
                let bin = &mut bins[located[label]][index];
                bin.iter_mut().zip(masses).for_each(|(sum, mass)| *sum += mass);
            },
        );
    }
    let m = rows.len() as f64;
    let mut reached = [[0.0; 3]; TEMPERATURES];
    bins[..count]
        .iter()
        .map(|bin| {
            for (sums, masses) in reached.iter_mut().zip(bin) {
                sums.iter_mut().zip(masses).for_each(|(sum, mass)| *sum += mass / m);
            }
            spread(&reached, weights, tables.mix())
        })
        .collect()
}

/// Whether the tables of a temperature are believed at all: labels leave few that are, and the others cost as much.
fn weigh_something(weights: &Families, index: usize) -> bool {
    const NOTHING: f64 = 1e-14;
    weights.iter().any(|family| family[index] > NOTHING)
}

/// `sum_w w (F_w - F)^2` from the values of the tables at a score.
fn spread(laws: &[[f64; 3]; TEMPERATURES], weights: &TableWeights, mix: f64) -> f64 {
    let label_free = (1.0 - mix) * laws[MIDDLE][0] + mix * laws[MIDDLE][1];
    let others = || {
        let of_family = |family: usize| {
            (0..TEMPERATURES)
                .map(move |index| (weights.families[family][index], laws[index][family]))
        };
        of_family(0)
            .chain(of_family(1))
            .chain(of_family(2))
            .chain([(weights.label_free, label_free)])
    };
    let mean: f64 = others().map(|(weight, value)| weight * value).sum();
    others().map(|(weight, value)| weight * (value - mean) * (value - mean)).sum()
}
