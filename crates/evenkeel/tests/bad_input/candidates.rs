//! Candidate scores, plausibilities and regression inputs.

use crate::{Bad, Outcome, check, input, misfit, parameter};
use evenkeel::score::{
    CandidateScores, Probabilities, Randomisation, Raps, absolute_residuals, ambiguous_scores,
    conformalised_quantile_scores,
};

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

fn candidates() -> CandidateScores {
    CandidateScores::new(vec![0.1, 0.9, 0.4, 0.6], 2).unwrap()
}

fn plausible(values: &[f64]) -> Outcome {
    candidates().with_plausibility(values.to_vec()).map(drop)
}

#[test]
fn candidate_scores_and_plausibilities_that_are_not() {
    fn table_of(values: &[f64], labels: usize) -> Outcome {
        CandidateScores::new(values.to_vec(), labels).map(drop)
    }
    fn tempered(temperature: f64) -> Outcome {
        let plausible = candidates().with_plausibility(vec![0.5; 4])?;
        plausible.tempered(temperature).map(drop)
    }
    fn ambiguous(lambda: &[f64], classes: usize) -> Outcome {
        ambiguous_scores(&candidates(), &Probabilities::new(lambda, classes)?).map(drop)
    }
    let table: Vec<Bad> = vec![
        input(
            "nan score",
            || table_of(&[0.1, 0.2, NAN, 0.3], 2),
            &["candidate scores[row 1, column 0] is NaN", "impute"],
        ),
        input(
            "inf score",
            || table_of(&[0.1, INF], 2),
            &["candidate scores[row 0, column 1] is inf", "impute"],
        ),
        input("no scores", || table_of(&[], 2), &["candidate scores is empty", "at least one"]),
        parameter(
            "no labels",
            || table_of(&[0.1], 0),
            &["columns of a matrix: 0 given", "at least 1"],
        ),
        input("ragged scores", || table_of(&[0.1, 0.2, 0.3], 2), &["3 values", "check the shape"]),
        input(
            "plausibility too short",
            || plausible(&[0.5, 0.5]),
            &["plausibility has 2 entries", "scores has 4"],
        ),
        input(
            "plausibility nan",
            || plausible(&[0.5, 0.5, NAN, 0.5]),
            &["plausibility[row 1, column 0] is NaN", "impute"],
        ),
        input(
            "plausibility negative",
            || plausible(&[1.5, -0.5, 0.5, 0.5]),
            &["plausibility[row 0, column 1] is -0.5", "zero or positive"],
        ),
        input(
            "plausibility unnormalised",
            || plausible(&[0.5, 0.5, 2.0, 1.0]),
            &["plausibility row 1 sums to 3", "must sum to 1"],
        ),
        parameter(
            "temperature 0",
            || tempered(0.0),
            &["the temperature is 0", "positive and finite"],
        ),
        parameter(
            "temperature negative",
            || tempered(-1.0),
            &["the temperature is -1", "positive and finite"],
        ),
        parameter(
            "temperature nan",
            || tempered(NAN),
            &["the temperature is NaN", "positive and finite"],
        ),
        misfit(
            "nothing to temper",
            || candidates().tempered(2.0).map(drop),
            &["plausibility for every candidate label", "give one"],
        ),
        input(
            "too few ambiguous labels",
            || ambiguous(&[0.5, 0.5], 2),
            &["label plausibilities has 1", "rows has 2"],
        ),
        input(
            "ambiguous labels of other classes",
            || ambiguous(&[0.5, 0.25, 0.25, 1.0, 0.0, 0.0], 3),
            &["label classes has 3", "labels has 2"],
        ),
        parameter(
            "negative penalty",
            || Raps::new(-0.1, 5, Randomisation::Deterministic).map(drop),
            &["lambda is -0.1", "between 0 and 1e6"],
        ),
        parameter(
            "nan penalty",
            || Raps::new(NAN, 5, Randomisation::Deterministic).map(drop),
            &["lambda is NaN", "between 0 and 1e6"],
        ),
    ];
    check(&table);
}

#[test]
fn regression_inputs_that_do_not_fit() {
    let table: Vec<Bad> = vec![
        input(
            "no predictions",
            || absolute_residuals(&[], &[]).map(drop),
            &["predictions is empty", "at least one"],
        ),
        input(
            "other lengths",
            || absolute_residuals(&[1.0], &[1.0, 2.0]).map(drop),
            &["y has 2", "predictions has 1"],
        ),
        input(
            "nan prediction",
            || absolute_residuals(&[NAN], &[1.0]).map(drop),
            &["predictions[0] is NaN", "impute"],
        ),
        input("inf y", || absolute_residuals(&[1.0], &[INF]).map(drop), &["y[0] is inf", "impute"]),
        input(
            "no quantiles",
            || conformalised_quantile_scores(&[], &[], &[]).map(drop),
            &["lower quantiles is empty"],
        ),
        input(
            "quantiles differ",
            || conformalised_quantile_scores(&[1.0], &[], &[1.0]).map(drop),
            &["upper quantiles has 0", "lower quantiles has 1"],
        ),
        input(
            "y differs",
            || conformalised_quantile_scores(&[1.0], &[2.0], &[]).map(drop),
            &["y has 0", "same points"],
        ),
        input(
            "nan quantile",
            || conformalised_quantile_scores(&[1.0], &[NAN], &[1.0]).map(drop),
            &["upper quantiles[0] is NaN", "impute"],
        ),
    ];
    check(&table);
}
