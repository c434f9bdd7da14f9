//! Prediction sets against double loops over the definition.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use evenkeel::conformal::{LabelSets, SetSizes, label_scores_of_rows, predict_rows};
use evenkeel::rows::{Real, Rows};
use evenkeel::score::{
    Aps, CandidateScores, LabelMask, Labels, Probabilities, Randomisation, Raps, RowScratch, Score,
};
use evenkeel::seed::Seed;
use evenkeel::threshold::Threshold;
use proptest::prelude::*;

fn scores() -> Vec<Score> {
    let drawn = Randomisation::Uniform(Seed::new(11));
    vec![
        Score::Lac,
        Score::Aps(Aps::default()),
        Score::Aps(Aps { randomisation: drawn }),
        Score::Raps(Raps::new(0.02, 2, drawn).unwrap()),
        Score::Margin,
    ]
}

/// `s(x, y) <= threshold` for every row and label, one at a time.
fn by_definition<T: Real>(
    first_row: usize,
    values: &[T],
    classes: usize,
    score: &Score,
    thresholds: &[Threshold],
) -> Vec<bool> {
    let probabilities = Probabilities::new(values, classes).unwrap();
    let mut scratch = RowScratch::default();
    let (mut row, mut scored) = (vec![0.0; classes], vec![0.0; classes]);
    let mut members = Vec::new();
    for (index, threshold) in thresholds.iter().enumerate() {
        probabilities.read_row(index, &mut row);
        score.score_row((first_row + index) as u64, &row, &mut scratch, &mut scored);
        members.extend(scored.iter().map(|score| threshold.admits(*score)));
    }
    members
}

/// A table of probability rows in single precision, scaled off one by up to `1e-3 * off`.
fn tables() -> impl Strategy<Value = (Vec<f32>, usize)> {
    let shape = (1usize..150, 1usize..30, -0.99..0.99f64, 0.5..12.0f64);
    shape.prop_flat_map(|(classes, rows, off, sharpness)| {
        let raw = prop::collection::vec(0.0..1.0f64, rows * classes);
        raw.prop_map(move |raw| {
            let mut values = Vec::new();
            for (index, row) in raw.chunks_exact(classes).enumerate() {
                let row: Vec<f64> =
                    row.iter().map(|u| (u * sharpness).exp() - 1.0 + 1e-9).collect();
                // Some rows sum to one up to rounding and some do not.
                let off = if index % 3 == 0 { 9e-4 * off } else { 0.0 };
                let total: f64 = row.iter().sum::<f64>() / (1.0 + off);
                values.extend(row.iter().map(|value| (value / total) as f32));
            }
            (values, classes)
        })
    })
}

proptest! {
    #[test]
    fn lac_sets_are_those_of_the_definition_also_at_the_boundary(
        (values, classes) in tables(),
        picks in prop::collection::vec((any::<prop::sample::Index>(), -2i32..=2), 6),
    ) {
        let rows = values.len() / classes;
        let wide: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
        let block = Rows::new("probabilities", &values, classes).unwrap();
        let wide_block = Rows::new("probabilities", &wide, classes).unwrap();
        let table = Score::Lac.candidate_scores(&Probabilities::new(&values, classes).unwrap()).unwrap();
        for (pick, steps) in picks {
            // Thresholds are scores of the table, or one or two steps away from one.
            let cell = pick.index(values.len());
            let mut t = table.row(cell / classes)[cell % classes];
            for _ in 0..steps.abs() {
                t = if steps > 0 { t.next_up() } else { t.next_down() };
            }
            let threshold = Threshold::Finite(t);
            let expected = by_definition(0, &values, classes, &Score::Lac, &vec![threshold; rows]);
            let sets = predict_rows(0, block, &Score::Lac, threshold).unwrap();
            prop_assert_eq!(&sets.to_bools(), &expected);
            prop_assert_eq!(&predict_rows(0, wide_block, &Score::Lac, threshold).unwrap(), &sets);
            prop_assert_eq!(&LabelSets::from_candidate_scores(&table, threshold).unwrap(), &sets);
        }
    }

    #[test]
    fn every_score_and_any_cut_into_blocks_gives_the_same_sets(
        (values, classes) in tables(),
        levels in prop::collection::vec(-0.1..1.1f64, 30),
        cut in 1usize..30,
    ) {
        let rows = values.len() / classes;
        let thresholds: Vec<Threshold> = levels[..rows]
            .iter()
            .map(|t| if *t > 1.05 { Threshold::AllLabels } else { Threshold::Finite(*t) })
            .collect();
        let block = Rows::new("probabilities", &values, classes).unwrap();
        for score in scores() {
            let whole = predict_rows(5, block, &score, &thresholds).unwrap();
            let expected = by_definition(5, &values, classes, &score, &thresholds);
            prop_assert_eq!(&whole.to_bools(), &expected);
            let parts: Vec<LabelSets> = values
                .chunks(cut * classes)
                .zip(thresholds.chunks(cut))
                .enumerate()
                .map(|(k, (part, thresholds))| {
                    let part = Rows::new("probabilities", part, classes).unwrap();
                    predict_rows(5 + k * cut, part, &score, thresholds).unwrap()
                })
                .collect();
            prop_assert_eq!(&LabelSets::concatenate(&parts).unwrap(), &whole);
        }
    }

    #[test]
    fn packed_sets_answer_as_a_table_of_bools(
        (members, classes) in (1usize..200).prop_flat_map(|classes| {
            (0usize..9).prop_flat_map(move |rows| {
                prop::collection::vec(any::<bool>(), rows * classes)
            }).prop_map(move |members| (members, classes))
        }),
    ) {
        let sets = LabelSets::from_bools(&members, classes).unwrap();
        prop_assert_eq!(sets.rows(), members.len() / classes);
        prop_assert_eq!(&sets.to_bools(), &members);
        for first in 0..=sets.rows() {
            let rest = &members[first * classes..];
            let mut bytes = vec![7; rest.len()];
            sets.write_bytes(first, &mut bytes);
            prop_assert!(bytes.iter().zip(rest).all(|(byte, member)| *byte == u8::from(*member)));
        }
        let each = members.chunks_exact(classes);
        let sizes = SetSizes {
            labels: members.iter().filter(|member| **member).count() as u64,
            empty: each.clone().filter(|row| !row.contains(&true)).count() as u64,
            full: each.filter(|row| !row.contains(&false)).count() as u64,
        };
        prop_assert_eq!(sets.sizes(), sizes);
        prop_assert_eq!(sets.iter().len(), sets.rows());
        for (row, expected) in members.chunks_exact(classes).enumerate() {
            let labels: Vec<usize> = (0..classes).filter(|label| expected[*label]).collect();
            prop_assert_eq!(sets.size(row), labels.len());
            prop_assert_eq!(sets.labels(row).len(), labels.len());
            prop_assert!((0..classes).all(|label| sets.contains(row, label) == expected[label]));
            prop_assert!(!sets.contains(row, classes) && !sets.contains(row, usize::MAX));
            prop_assert_eq!(sets.labels(row).collect::<Vec<_>>(), labels);
        }
    }
}

#[test]
fn extreme_thresholds_give_all_labels_or_none() {
    for classes in [1, 3, 8, 10, 16, 17, 64, 100, 129] {
        // Rows of one certain label each, zeros of both signs elsewhere.
        let mut values = vec![0.0_f32; 20 * classes];
        for row in 0..20 {
            values[row * classes + row % classes] = 1.0;
            if classes > 1 {
                values[row * classes + (row + 1) % classes] = -0.0;
            }
        }
        let block = Rows::new("probabilities", &values, classes).unwrap();
        let wide: Vec<f64> = values.iter().copied().map(f64::from).collect();
        let wide_block = Rows::new("probabilities", &wide, classes).unwrap();
        let sizes = |threshold| -> Vec<usize> {
            let sets = predict_rows(0, block, &Score::Lac, threshold).unwrap();
            let each: Vec<usize> = (0..20).map(|row| sets.size(row)).collect();
            let doubled = predict_rows(0, wide_block, &Score::Lac, threshold).unwrap();
            assert_eq!(doubled, sets, "{classes} classes, {threshold:?}");
            let all = sets.sizes();
            assert_eq!(all.labels, each.iter().sum::<usize>() as u64);
            assert_eq!(all.empty, each.iter().filter(|size| **size == 0).count() as u64);
            assert_eq!(all.full, each.iter().filter(|size| **size == classes).count() as u64);
            each
        };
        assert_eq!(sizes(Threshold::AllLabels), vec![classes; 20]);
        assert_eq!(sizes(Threshold::Finite(1.0)), vec![classes; 20]);
        assert_eq!(sizes(Threshold::Finite(1.0_f64.next_down())), vec![1; 20]);
        assert_eq!(sizes(Threshold::Finite(0.0)), vec![1; 20]);
        for none in [-1e-300, -0.5, -1.0, -3.0, f64::MIN, f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(sizes(Threshold::Finite(none)), vec![0; 20], "threshold {none}");
        }
    }
}

#[test]
fn labels_that_the_mask_forbids_are_in_no_set() {
    let mask = LabelMask::from_subsets(&[vec![0, 2], vec![1]], 3).unwrap();
    let table = CandidateScores::new(vec![0.1, 0.2, 0.9, 0.3, 0.4, 0.5], 3).unwrap();
    let table = table.with_mask(mask).unwrap();
    let sets = LabelSets::from_candidate_scores(&table, Threshold::AllLabels).unwrap();
    assert_eq!(sets.to_bools(), [true, false, true, false, true, false]);
}

#[test]
fn label_scores_of_blocks_are_those_of_the_table() {
    let values = [0.7, 0.2, 0.1, 0.1, 0.8, 0.1, 0.2, 0.2, 0.6];
    let labels = Labels::new(vec![0, 2, 1], 3).unwrap();
    for score in scores() {
        let probabilities = Probabilities::new(&values, 3).unwrap();
        let whole = score.label_scores(&probabilities, &labels).unwrap();
        let parts: Vec<f64> = (0..3)
            .flat_map(|row| {
                let block = Rows::new("probabilities", &values[3 * row..][..3], 3).unwrap();
                label_scores_of_rows(row, block, &score, &[labels.as_slice()[row]]).unwrap()
            })
            .collect();
        assert_eq!(parts, whole);
    }
}

/// The message of a failure, wherever in a block of ordinary rows the given row stands.
fn messages(classes: usize, spoil: impl Fn(&mut [f32]), score: &Score) -> Vec<String> {
    (0..12)
        .map(|bad| {
            let mut values = vec![1.0 / classes as f32; 12 * classes];
            spoil(&mut values[bad * classes..][..classes]);
            let block = Rows::new("probabilities", &values, classes).unwrap();
            let error = predict_rows(100, block, score, Threshold::Finite(0.5)).unwrap_err();
            error.to_string().replace(&format!("row {}", 100 + bad), "row #")
        })
        .collect()
}

#[test]
fn a_row_that_is_no_probability_vector_is_named() {
    for classes in [2, 10, 16, 40, 100] {
        for score in scores() {
            for message in messages(classes, |row| row[1] = f32::NAN, &score) {
                assert!(message.contains("[row #, column 1] is NaN"), "{message}");
            }
            for message in messages(classes, |row| row[0] = f32::INFINITY, &score) {
                assert!(message.contains("[row #, column 0] is inf"), "{message}");
            }
            let negative = |row: &mut [f32]| {
                row[0] += 0.25;
                row[1] -= 0.25 + 1.0 / row.len() as f32;
            };
            if classes > 2 {
                for message in messages(classes, negative, &score) {
                    assert!(message.contains("[row #, column 1] is -0."), "{message}");
                }
            }
            for message in messages(classes, |row| row[1] += 0.002, &score) {
                assert!(message.contains("row # sums to 1.00"), "{message}");
            }
            // The first of two is named.
            let mut values = vec![1.0 / classes as f32; 12 * classes];
            values[3 * classes] = f32::NAN;
            values[5 * classes] = f32::NAN;
            let block = Rows::new("probabilities", &values, classes).unwrap();
            let error = predict_rows(0, block, &score, Threshold::Finite(0.5)).unwrap_err();
            assert!(error.to_string().contains("row 3"), "{error}");
        }
    }
}

#[test]
fn pieces_that_do_not_fit_are_refused() {
    let values = [0.5, 0.5, 0.2, 0.8];
    let block = Rows::new("probabilities", &values, 2).unwrap();
    let one = [Threshold::Finite(0.5)];
    let error = predict_rows(0, block, &Score::Lac, one.as_slice()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "thresholds has 1 entries but rows has 2; the two must describe the same points"
    );
    let table = CandidateScores::new(vec![0.1, 0.2], 2).unwrap();
    let three = vec![Threshold::AllLabels; 3];
    assert!(LabelSets::from_candidate_scores(&table, &three).is_err());
    assert!(label_scores_of_rows(0, block, &Score::Lac, &[0]).is_err());
    let error = label_scores_of_rows(7, block, &Score::Lac, &[0, 2]).unwrap_err();
    assert!(error.to_string().starts_with("labels[8] is 2 but there are 2 classes"), "{error}");
    assert!(LabelSets::empty(0).is_err());
    assert!(LabelSets::from_bools(&[true; 5], 2).is_err());
    assert!(LabelSets::concatenate(&[]).is_err());
    let mut two = LabelSets::empty(2).unwrap();
    assert!(two.append(&LabelSets::empty(3).unwrap()).is_err());
}
