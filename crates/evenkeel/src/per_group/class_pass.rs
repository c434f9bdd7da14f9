//! A pass over the target rows for the laws of all classes: its recipe, and what rows leave behind. Both travel between processes.
//!
//! ```text
//! sample   rows, and the scores of labeled ones at their labels      which scores matter?
//! sums     masses between neighbouring places of every part          how much lies at or below each?
//! ```

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::class_sums::{ClassReading, ClassRow};
use crate::error::{Error, Result, require_same_length};
use crate::method::fit::Pass;
use crate::rows::{Real, RowKeys, Rows};
use crate::side_inputs::{SideInputs, TargetLabels};
use crate::sketch::row_sample::RowSample;
use crate::sketch::{RowMarks, contradiction, marks_of_rows};

/// Rows that a thread takes at a time.
pub(super) const SHARE_ROWS: usize = 1 << 11;

/// How rows are read in a pass.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub(super) struct ClassPass {
    pub reading: ClassReading,
    /// Labels of target rows, where there are any.
    pub labels: Option<TargetLabels>,
    pub asks: Asks,
}

/// What a pass asks of the rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Asks {
    /// A sample of them, as large as this.
    Sample { seed: u64, capacity: usize },
    /// Masses between increasing places of every part, and the part of every class.
    Sums { part_of: Vec<usize>, places: Vec<Vec<f64>> },
}

/// As it is stored; checked when read back: rows are added by indices of these lists.
#[derive(Deserialize)]
struct Stored {
    reading: ClassReading,
    labels: Option<TargetLabels>,
    asks: Asks,
}

impl TryFrom<Stored> for ClassPass {
    type Error = Error;

    fn try_from(Stored { reading, labels, asks }: Stored) -> Result<Self> {
        reading.check()?;
        let classes = reading.classes;
        let labels_fit = labels.as_ref().is_none_or(|labels| labels.classes() == classes);
        let fits = match &asks {
            Asks::Sample { .. } => true,
            Asks::Sums { part_of, places } => {
                let increasing = |places: &Vec<f64>| {
                    places.iter().all(|place| place.is_finite()) && places.is_sorted()
                };
                part_of.len() == classes
                    && part_of.iter().all(|part| *part < places.len())
                    && places.iter().all(increasing)
            }
        };
        if !labels_fit || !fits {
            return Err(contradiction("its classes, labels and places do not fit each other"));
        }
        Ok(Self { reading, labels, asks })
    }
}

/// What rows leave behind.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum ClassState {
    /// Rows; and key, label and score of labeled ones, by increasing key.
    Sample { rows: RowSample<Box<[f64]>>, labeled: Vec<(u64, usize, f64)> },
    /// Of every part, one more than its places: the last lies beyond.
    Sums { masses: Vec<Vec<u128>> },
}

const OTHER_PASS: Error = Error::IncompatibleSketches { what: "pass" };

impl ClassPass {
    /// The label of a target row, where it has one.
    fn label_of(&self, key: u64) -> Option<usize> {
        let labels = self.labels.as_ref()?;
        labels.place_of(key).map(|place| labels.as_slice()[place])
    }

    fn take(&self, state: &mut ClassState, row: &ClassRow<'_>) {
        match (state, &self.asks) {
            (ClassState::Sample { rows, labeled }, _) => {
                rows.add_with(row.key, || row.probabilities.into());
                if let Some(label) = self.label_of(row.key) {
                    labeled.push((row.key, label, row.scores[label]));
                }
            }
            (ClassState::Sums { masses }, Asks::Sums { part_of, places }) => {
                for (label, part) in part_of.iter().enumerate() {
                    let places = &places[*part];
                    let at = places.partition_point(|place| *place < row.scores[label]);
                    masses[*part][at] += u128::from(row.masses[label]);
                }
            }
            // `add` has compared the two.
            (ClassState::Sums { .. }, Asks::Sample { .. }) => {}
        }
    }
}

impl Pass for ClassPass {
    type State = ClassState;

    fn empty(&self) -> ClassState {
        match &self.asks {
            Asks::Sample { seed, capacity } => {
                ClassState::Sample { rows: RowSample::new(*seed, *capacity), labeled: Vec::new() }
            }
            Asks::Sums { places, .. } => {
                let masses = places.iter().map(|places| vec![0; places.len() + 1]).collect();
                ClassState::Sums { masses }
            }
        }
    }

    fn empty_of(&self, rows: u64) -> ClassState {
        let mut state = self.empty();
        if let ClassState::Sample { rows: sample, .. } = &mut state {
            sample.limit_to_share_of(rows);
        }
        state
    }

    fn add<T: Real>(
        &self,
        state: ClassState,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        _: &SideInputs<'_>,
    ) -> Result<ClassState> {
        let of_share = |(keys, part): (RowKeys<'_>, Rows<'_, T>)| {
            let mut state = self.empty();
            self.reading.each_row(keys, part, |row| self.take(&mut state, &row))?;
            Ok(state)
        };
        let added = block
            .shares(keys, SHARE_ROWS)
            .map(of_share)
            .try_reduce(|| self.empty(), |mine, theirs| self.merge(mine, theirs))?;
        self.merge(state, added)
    }

    fn merge(&self, state: ClassState, other: ClassState) -> Result<ClassState> {
        match (state, other) {
            (
                ClassState::Sample { mut rows, mut labeled },
                ClassState::Sample { rows: theirs, labeled: others },
            ) => {
                rows.merge(theirs)?;
                labeled.extend(others);
                // Bytes of a state must not depend on the order of the parts.
                labeled.sort_unstable_by_key(|(key, ..)| *key);
                Ok(ClassState::Sample { rows, labeled })
            }
            (ClassState::Sums { mut masses }, ClassState::Sums { masses: theirs }) => {
                for (mine, theirs) in masses.iter_mut().zip(theirs) {
                    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
                }
                Ok(ClassState::Sums { masses })
            }
            _ => Err(OTHER_PASS),
        }
    }

    fn check(&self, state: &ClassState) -> Result<()> {
        match (state, &self.asks) {
            (ClassState::Sample { rows, labeled }, Asks::Sample { seed, capacity }) => {
                rows.require(*seed, *capacity)?;
                for (_, row) in rows.rows() {
                    require_same_length("a kept row", row.len(), "classes", self.reading.classes)?;
                }
                let known = |(key, label, score): &(u64, usize, f64)| {
                    score.is_finite() && self.label_of(*key) == Some(*label)
                };
                if labeled.iter().all(known) {
                    return Ok(());
                }
                Err(contradiction("it has labels of rows that are not labeled"))
            }
            (ClassState::Sums { masses }, Asks::Sums { places, .. }) => {
                let shaped = masses.len() == places.len()
                    && masses.iter().zip(places).all(|(mine, it)| mine.len() == it.len() + 1);
                // So many that adding two states cannot overflow.
                let small = masses.iter().flatten().all(|mass| *mass <= u128::MAX >> 40);
                if shaped && small {
                    return Ok(());
                }
                Err(contradiction("its masses are not those of the places of the pass"))
            }
            _ => Err(OTHER_PASS),
        }
    }

    fn classes(&self) -> usize {
        self.reading.classes
    }

    fn marks<T: Real>(&self, keys: RowKeys<'_>, block: Rows<'_, T>) -> RowMarks {
        marks_of_rows(keys, block)
    }
}
