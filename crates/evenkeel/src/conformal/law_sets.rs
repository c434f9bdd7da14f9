//! `C(x) = {y : 1 - h(y) <= t}`: the sets of a label law.
//!
//! Most rows are decided in single precision ([`LawScreen`]); the few that are not are scored by the law itself, so that every set is
//! that of its scores.

use super::label_sets::{LabelSets, WORD};
use super::thresholds::Thresholds;
use crate::error::Result;
use crate::label_law::{LabelLawMap, LawScreen, SCREENED_ROWS};
use crate::rows::{Real, RowKeys, Rows};
use crate::score::{row_scale, widen_scaled};
use crate::threshold::Threshold;

/// The sets of a block of probability rows; the thresholds have its shape, and there is a key for each row.
///
/// # Errors
/// For the first row that is not a probability vector.
pub(super) fn law_sets<T: Real>(
    keys: RowKeys<'_>,
    block: Rows<'_, T>,
    law: &LabelLawMap,
    thresholds: Thresholds<'_>,
) -> Result<LabelSets> {
    match each_label(thresholds, block.columns()).and_then(|each| LawScreen::new(law, &each)) {
        Some(screen) => screened_sets(keys, block, (law, screen), thresholds),
        None => scored_sets(keys, block, law, thresholds),
    }
}

/// A threshold for each label, where they do not differ by row.
fn each_label(thresholds: Thresholds<'_>, labels: usize) -> Option<Vec<f64>> {
    match thresholds {
        Thresholds::Shared(threshold) => Some(vec![threshold.get(); labels]),
        Thresholds::PerLabel(each) => Some(each.iter().copied().map(Threshold::get).collect()),
        Thresholds::PerRow(_) => None,
    }
}

/// By a screen, and by the law where that leaves something open.
fn screened_sets<T: Real>(
    keys: RowKeys<'_>,
    block: Rows<'_, T>,
    (law, mut screen): (&LabelLawMap, LawScreen),
    thresholds: Thresholds<'_>,
) -> Result<LabelSets> {
    let classes = block.columns();
    let mut sets = LabelSets::with_capacity(block.rows(), classes);
    let mut words = vec![[0; SCREENED_ROWS]; classes.div_ceil(WORD)];
    let (mut probabilities, mut scores, mut room) =
        (vec![0.0; classes], vec![0.0; classes], Vec::new());
    for first in (0..block.rows()).step_by(SCREENED_ROWS) {
        let rows = SCREENED_ROWS.min(block.rows() - first);
        let mut scales = [1.0; SCREENED_ROWS];
        for (row, scale) in scales.iter_mut().enumerate().take(rows) {
            let values = block.row(first + row);
            *scale = row_scale(block.what(), keys.key(first + row), values)?;
            screen.place(row, values.iter().map(|value| (*value).into() as f32));
        }
        let unsure = screen.sets(&scales.map(|scale| scale as f32), &mut words);
        let filled = sets.extend(rows).chunks_exact_mut(words.len());
        for (row, set) in filled.enumerate() {
            set.iter_mut().zip(&words).for_each(|(to, from)| *to = from[row]);
            if unsure[row] {
                widen_scaled(block.row(first + row), scales[row], &mut probabilities);
                law.scores(classes, &probabilities, &mut room, &mut scores);
                fill_row(set, &scores, |label, score| thresholds.admit(first + row, label, score));
            }
        }
    }
    Ok(sets)
}

/// The set of the labels whose score is admitted.
fn fill_row(set: &mut [u64], scores: &[f64], admits: impl Fn(usize, f64) -> bool) {
    for (index, (word, scores)) in set.iter_mut().zip(scores.chunks(WORD)).enumerate() {
        let bits = scores.iter().enumerate();
        *word = bits.fold(0, |word, (bit, score)| {
            word | u64::from(admits(index * WORD + bit, *score)) << bit
        });
    }
}

/// By the scores, several rows at a time: one row of a few classes leaves most of a register empty.
fn scored_sets<T: Real>(
    keys: RowKeys<'_>,
    block: Rows<'_, T>,
    law: &LabelLawMap,
    thresholds: Thresholds<'_>,
) -> Result<LabelSets> {
    let classes = block.columns();
    let mut sets = LabelSets::with_capacity(block.rows(), classes);
    let at_a_time = LabelLawMap::rows_at_a_time(classes);
    let mut probabilities = vec![0.0; at_a_time * classes];
    let (mut scores, mut room) = (probabilities.clone(), Vec::new());
    for first in (0..block.rows()).step_by(at_a_time) {
        let rows = at_a_time.min(block.rows() - first);
        let (probabilities, scores) =
            (&mut probabilities[..rows * classes], &mut scores[..rows * classes]);
        for (offset, out) in (first..).zip(probabilities.chunks_exact_mut(classes)) {
            let (key, values) = (keys.key(offset), block.row(offset));
            widen_scaled(values, row_scale(block.what(), key, values)?, out);
        }
        law.scores(classes, probabilities, &mut room, scores);
        for (offset, scores) in (first..).zip(scores.chunks_exact(classes)) {
            sets.push_row(|label| thresholds.admit(offset, label, scores[label]));
        }
    }
    Ok(sets)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::label_law::{LawPlan, LawTerm};

    fn law(classes: usize) -> impl Strategy<Value = LabelLawMap> {
        let scalings = prop::collection::vec(-8.0_f64..8.0, classes);
        let plan = (0.0_f64..1.0, scalings).prop_map(|(share, logs)| LawPlan {
            share,
            scalings: logs.into_iter().map(f64::exp).collect(),
        });
        let plans = prop::collection::vec(plan, 0..3);
        let term = (-3.4_f64..4.0, 0.001_f64..1.0, plans).prop_map(|(log, own, plans)| LawTerm {
            temperature: log.exp(),
            own,
            plans,
        });
        prop::collection::vec(term, 1..4).prop_map(LabelLawMap::of_terms)
    }

    /// Logits of all sizes, so that zeros, subnormal numbers and ties come up.
    fn world() -> impl Strategy<Value = (usize, LabelLawMap, Vec<f64>)> {
        (2_usize..70, 1_usize..40).prop_flat_map(|(classes, rows)| {
            let width = prop::sample::select(vec![0.5, 5.0, 60.0, 130.0]);
            let row =
                (width, prop::collection::vec(-1.0_f64..0.0, classes)).prop_map(|(width, row)| {
                    let logits: Vec<f64> =
                        row.iter().map(|value| (value * width * 4.0).round() / 4.0).collect();
                    let mut probabilities = vec![0.0; logits.len()];
                    crate::numeric::softmax(&logits, &mut probabilities);
                    probabilities
                });
            let rows = prop::collection::vec(row, rows).prop_map(|rows| rows.concat());
            (Just(classes), law(classes), rows)
        })
    }

    proptest! {
        /// A screen changes no set, of singles or doubles, also where the threshold is the score of one of the rows.
        #[test]
        fn screened_sets_are_those_of_the_scores(
            (classes, law, table) in world(),
            at in 0_usize..2000,
            nudge in prop::sample::select(vec![-1e-3, -1e-15, 0.0, 1e-15, 1e-9, 1e-4, 2.0]),
        ) {
            let mut scores = vec![0.0; table.len()];
            law.scores(classes, &table, &mut Vec::new(), &mut scores);
            let shared = Threshold::Finite(scores[at % scores.len()] + nudge);
            let each: Vec<Threshold> =
                (0..classes).map(|label| Threshold::Finite(scores[label] + nudge)).collect();
            let single: Vec<f32> = table.iter().map(|value| *value as f32).collect();
            for thresholds in [Thresholds::Shared(shared), Thresholds::PerLabel(&each)] {
                let rows = Rows::new("probabilities", &table, classes).unwrap();
                let found = law_sets(RowKeys::From(0), rows, &law, thresholds).unwrap();
                prop_assert_eq!(found, scored_sets(RowKeys::From(0), rows, &law, thresholds).unwrap());
                let rows = Rows::new("probabilities", &single, classes).unwrap();
                let found = law_sets(RowKeys::From(0), rows, &law, thresholds).unwrap();
                prop_assert_eq!(found, scored_sets(RowKeys::From(0), rows, &law, thresholds).unwrap());
            }
        }
    }

    /// The screen is there to decide: fewer than one row in fifty is left to the scores.
    #[test]
    fn few_rows_are_left_open() {
        let (classes, rows) = (20, 4000);
        let mut stream = crate::seed::Seed::new(3).stream("rows");
        let mut table = vec![0.0; classes * rows];
        for row in table.chunks_exact_mut(classes) {
            let logits: Vec<f64> = (0..classes).map(|_| 6.0 * stream.uniform()).collect();
            crate::numeric::softmax(&logits, row);
        }
        let term = LawTerm { temperature: 1.3, own: 1.0, plans: Vec::new() };
        let law = LabelLawMap::of_terms(vec![term]);
        let mut screen = LawScreen::new(&law, &vec![0.9; classes]).unwrap();
        let mut words = vec![[0; SCREENED_ROWS]];
        let mut open = 0;
        for block in table.chunks_exact(classes * SCREENED_ROWS) {
            for (row, values) in block.chunks_exact(classes).enumerate() {
                screen.place(row, values.iter().map(|value| *value as f32));
            }
            let unsure = screen.sets(&[1.0; SCREENED_ROWS], &mut words);
            open += unsure.into_iter().filter(|unsure| *unsure).count();
        }
        assert!(open < rows / 50, "{open}");
    }
}
