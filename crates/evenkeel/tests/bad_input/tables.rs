//! Probability rows, logits, labels and masks.

use crate::{Bad, Outcome, check, input, parameter};
use evenkeel::rows::{Real, Rows};
use evenkeel::score::{CandidateScores, LabelMask, Labels, Probabilities, Score, softmax_rows};

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

fn rows<T: Real>(values: &[T], classes: usize) -> Outcome {
    Probabilities::new(values, classes).map(drop)
}

fn logits(values: &[f64], temperature: f64) -> Outcome {
    softmax_rows(Rows::new("logits", values, 2)?, temperature).map(drop)
}

fn candidates() -> CandidateScores {
    CandidateScores::new(vec![0.1, 0.9, 0.4, 0.6], 2).unwrap()
}

#[test]
fn rows_that_are_no_probabilities() {
    const IMPUTE: &str = "remove the point or impute";
    let table: Vec<Bad> = vec![
        input(
            "nan f64",
            || rows(&[0.5, 0.5, NAN, 1.0], 2),
            &["probabilities[row 1, column 0] is NaN", IMPUTE],
        ),
        input(
            "nan f32",
            || rows(&[0.5f32, 0.5, 1.0, f32::NAN], 2),
            &["[row 1, column 1] is NaN", IMPUTE],
        ),
        input(
            "nan in a wide row",
            || {
                let mut wide = vec![1.0 / 40.0; 40];
                wide[37] = NAN;
                rows(&wide, 40)
            },
            &["[row 0, column 37] is NaN", IMPUTE],
        ),
        input("inf f64", || rows(&[INF, 0.0], 2), &["[row 0, column 0] is inf", IMPUTE]),
        input("inf f32", || rows(&[0.0, f32::INFINITY], 2), &["[row 0, column 1] is inf", IMPUTE]),
        input("-inf f64", || rows(&[1.0, -INF], 2), &["[row 0, column 1] is -inf", IMPUTE]),
        input("-inf f32", || rows(&[f32::NEG_INFINITY, 1.0], 2), &["is -inf", IMPUTE]),
        input("inf and -inf", || rows(&[INF, -INF], 2), &["[row 0, column 0] is inf", IMPUTE]),
        input(
            "negative f64",
            || rows(&[0.5, 0.5, 1.25, -0.25], 2),
            &["[row 1, column 1] is -0.25", "zero or positive"],
        ),
        input(
            "negative f32",
            || rows(&[1.25f32, -0.25], 2),
            &["[row 0, column 1] is -0.25", "zero or positive"],
        ),
        input(
            "sum above one f64",
            || rows(&[0.5, 0.5, 0.75, 0.5], 2),
            &["row 1 sums to 1.25", "within 0.001"],
        ),
        input(
            "sum below one f32",
            || rows(&[0.25f32, 0.5], 2),
            &["row 0 sums to 0.75", "within 0.001"],
        ),
        input(
            "sum overflows",
            || rows(&[1e308, 1e308], 2),
            &["row 0 sums to inf", "must sum to 1"],
        ),
        input("all zero", || rows(&[0.0, 0.0], 2), &["row 0 sums to 0", "must sum to 1"]),
        input(
            "negative logits",
            || rows(&[2.0, -1.0, 0.5], 3),
            &["column 1] is -1", "apply a softmax first", "softmax"],
        ),
        input(
            "positive logits",
            || rows(&[2.0f32, 1.0, 3.0], 3),
            &["row 0 sums to 6", "apply a softmax first", "softmax"],
        ),
        input("empty f64", || rows::<f64>(&[], 3), &["probabilities is empty", "at least one"]),
        input("empty f32", || rows::<f32>(&[], 3), &["probabilities is empty", "at least one"]),
        parameter(
            "no columns",
            || rows(&[1.0], 0),
            &["columns of a matrix: 0 given", "at least 1"],
        ),
        input(
            "ragged",
            || rows(&[0.5, 0.5, 1.0], 2),
            &["3 values", "rows of 2 columns", "check the shape"],
        ),
        input(
            "nan logit",
            || logits(&[1.0, NAN], 1.0),
            &["logits[row 0, column 1] is NaN", IMPUTE],
        ),
        input(
            "inf logit",
            || logits(&[0.0, 0.0, INF, 0.0], 1.0),
            &["logits[row 1, column 0] is inf", IMPUTE],
        ),
        parameter(
            "logits at temperature 0",
            || logits(&[1.0, 2.0], 0.0),
            &["the temperature is 0", "positive and finite"],
        ),
        parameter(
            "logits at temperature nan",
            || logits(&[1.0, 2.0], NAN),
            &["the temperature is NaN", "positive"],
        ),
        parameter(
            "logits at temperature inf",
            || logits(&[1.0, 2.0], INF),
            &["the temperature is inf", "finite"],
        ),
    ];
    check(&table);
}

#[test]
fn labels_and_masks_that_do_not_fit() {
    const START: &str = "check that labels start at 0";
    fn scored(labels: Vec<usize>, classes: usize) -> Outcome {
        let values = [0.5, 0.5, 0.25, 0.75];
        let labels = Labels::new(labels, classes)?;
        Score::Lac.label_scores(&Probabilities::new(&values, 2)?, &labels).map(drop)
    }
    fn masked(allowed: Vec<bool>, labels: usize) -> Outcome {
        candidates().with_mask(LabelMask::new(allowed, labels)?).map(drop)
    }
    let table: Vec<Bad> = vec![
        input(
            "no labels",
            || Labels::new(vec![], 3).map(drop),
            &["labels is empty", "at least one"],
        ),
        input(
            "label too large",
            || scored(vec![0, 2], 2),
            &["labels[1] is 2", "2 classes", "from 0 to 1", START],
        ),
        input(
            "label of another matrix",
            || scored(vec![0, 4], 5),
            &["labels[1] is 4", "2 classes", START],
        ),
        input("largest label", || scored(vec![usize::MAX, 0], 2), &["labels[0] is", START]),
        input(
            "fewer labels than rows",
            || scored(vec![0], 2),
            &["labels has 1 entries", "probabilities has 2", "same points"],
        ),
        input(
            "more labels than rows",
            || scored(vec![0, 1, 0], 2),
            &["labels has 3 entries", "probabilities has 2"],
        ),
        input(
            "chosen label too large",
            || candidates().at_labels(&[0, 2]).map(drop),
            &["labels[1] is 2", START],
        ),
        input(
            "chosen labels too few",
            || candidates().at_labels(&[0]).map(drop),
            &["labels has 1", "rows has 2"],
        ),
        input(
            "mask forbids a row",
            || masked(vec![true, false, false, false], 2),
            &["no label in row 1", "allow at least one"],
        ),
        input("mask empty", || masked(vec![], 2), &["mask is empty", "at least one"]),
        parameter("mask without labels", || masked(vec![], 0), &["labels: 0 given", "at least 1"]),
        input("mask ragged", || masked(vec![true; 3], 2), &["3 values", "check the shape"]),
        input(
            "mask with too few rows",
            || masked(vec![true; 2], 2),
            &["label mask rows has 1", "rows has 2"],
        ),
        input(
            "mask of another width",
            || masked(vec![true; 6], 3),
            &["label mask columns has 3", "labels has 2"],
        ),
        input(
            "subset names no class",
            || LabelMask::from_subsets(&[vec![0], vec![5]], 3).map(drop),
            &["label subsets[1] is 5", START],
        ),
        input(
            "subset empty",
            || LabelMask::from_subsets(&[vec![0], vec![]], 3).map(drop),
            &["no label in row 1", "allow at least one"],
        ),
        input(
            "no subsets",
            || LabelMask::from_subsets(&[], 3).map(drop),
            &["mask is empty", "at least one"],
        ),
    ];
    check(&table);
}
