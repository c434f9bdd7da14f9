//! Sandwiches, sketches and bins.

use crate::{Bad, Outcome, check, input, misfit, parameter};
use evenkeel::Result;
use evenkeel::interval::Interval;
use evenkeel::measure::{Grid, WeightedEmpirical};
use evenkeel::rows::{Real, RowKeys, Rows};
use evenkeel::sandwich::{
    LabelBins, custom, custom_from_scores, model_uniform, model_uniform_sampled,
    residual_candidates,
};
use evenkeel::score::{CandidateScores, LabelMask, Score};
use evenkeel::seed::Seed;
use evenkeel::sketch::Abscissae;
use evenkeel::sketch::{SandwichSketch, SketchedLaws};

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

fn sketch(points: usize, laws: SketchedLaws) -> Result<SandwichSketch> {
    Ok(SandwichSketch::new(Abscissae::of_grid(&Grid::new(Interval::UNIT, points)?), laws))
}

/// Adds two-class probability rows that start at row 1000 of the whole input.
fn add_rows<T: Real>(values: &[T], laws: SketchedLaws) -> Result<SandwichSketch> {
    sketch(5, laws)?.add_probabilities(
        RowKeys::From(1000),
        Rows::new("probabilities", values, 2)?,
        &Score::Lac,
    )
}

/// Adds two-label score rows that start at row 1000.
fn add_scores(
    scores: &[f64],
    plausibility: Option<&[f64]>,
    allowed: Option<&[bool]>,
    laws: SketchedLaws,
) -> Result<SandwichSketch> {
    let scores = Rows::new("scores", scores, 2)?;
    let plausibility = plausibility.map(|f| Rows::new("plausibility", f, 2)).transpose()?;
    let mask = allowed.map(|allowed| LabelMask::new(allowed.to_vec(), 2)).transpose()?;
    sketch(5, laws)?.add_scores(1000, scores, plausibility, mask.as_ref())
}

/// Two rows; the second may only have its second label, to which the model gives `mass`.
fn candidates_with_mass(mass: f64) -> Result<CandidateScores> {
    let mask = LabelMask::new(vec![true, true, false, true], 2)?;
    let scores = CandidateScores::new(vec![0.1, 0.9, 0.4, 0.6], 2)?;
    scores.with_plausibility(vec![0.5, 0.5, 1.0 - mass, mass])?.with_mask(mask)
}

fn plain() -> Result<CandidateScores> {
    CandidateScores::new(vec![0.1, 0.9, 0.4, 0.6], 2)
}

#[test]
fn sandwiches_that_cannot_be_made() {
    let table: Vec<Bad> = vec![
        misfit(
            "f-u without plausibility",
            || model_uniform(&plain()?).map(drop),
            &["f-u sandwich needs a plausibility", "use min-max"],
        ),
        misfit(
            "sampled f-u without plausibility",
            || model_uniform_sampled(&plain()?, Seed::new(1), 0).map(drop),
            &["f-u sandwich needs a plausibility", "use min-max"],
        ),
        input(
            "f-u on an impossible label",
            || model_uniform(&candidates_with_mass(0.0)?).map(drop),
            &["plausibility of row 1 is zero", "widen the mask"],
        ),
        input(
            "sampled f-u on an impossible label",
            || model_uniform_sampled(&candidates_with_mass(0.0)?, Seed::new(1), 0).map(drop),
            &["plausibility of row 1 is zero", "widen the mask"],
        ),
        parameter(
            "custom without a sample",
            || {
                let law = WeightedEmpirical::uniform(&[0.5])?;
                custom(law.clone(), law, 0).map(drop)
            },
            &["unlabeled points behind a sandwich: 0 given", "at least 1"],
        ),
        input(
            "custom of no scores",
            || custom_from_scores(&[], &[0.5]).map(drop),
            &["scores is empty", "at least one"],
        ),
        input(
            "custom of nan",
            || custom_from_scores(&[0.5], &[NAN]).map(drop),
            &["scores[0] is NaN", "impute"],
        ),
    ];
    check(&table);
}

#[test]
fn sketches_of_bad_rows() {
    use SketchedLaws::{Both, Extremes, ModelUniform};
    const FAR: &str = "widen the range";
    let table: Vec<Bad> = vec![
        // The fast path for extremes and the general path check rows on their own.
        input(
            "nan, extremes",
            || add_rows(&[0.5, 0.5, NAN, 1.0], Extremes).map(drop),
            &["probabilities[row 1001, column 0] is NaN", "impute"],
        ),
        input(
            "nan f32, both",
            || add_rows(&[0.5, 0.5, 1.0, f32::NAN], Both).map(drop),
            &["[row 1001, column 1] is NaN", "impute"],
        ),
        input(
            "inf f32, extremes",
            || add_rows(&[f32::INFINITY, 0.0], Extremes).map(drop),
            &["[row 1000, column 0] is inf", "impute"],
        ),
        input(
            "negative, extremes",
            || add_rows(&[1.5, -0.5], Extremes).map(drop),
            &["[row 1000, column 1] is -0.5", "softmax"],
        ),
        input(
            "negative, f-u",
            || add_rows(&[1.5, -0.5], ModelUniform).map(drop),
            &["[row 1000, column 1] is -0.5", "softmax"],
        ),
        input(
            "logits f32, extremes",
            || add_rows(&[1.5f32, 2.5], Extremes).map(drop),
            &["row 1000 sums to 4", "apply a softmax first"],
        ),
        input(
            "logits, both",
            || add_rows(&[1.5, 2.5], Both).map(drop),
            &["row 1000 sums to 4", "apply a softmax first"],
        ),
        input(
            "nan score",
            || add_scores(&[0.5, NAN], None, None, Extremes).map(drop),
            &["scores[row 1000, column 1] is NaN", "impute"],
        ),
        input(
            "inf score",
            || add_scores(&[0.5, 0.5, INF, 0.5], None, None, Extremes).map(drop),
            &["scores[row 1001, column 0] is inf", "impute"],
        ),
        input(
            "score far outside",
            || add_scores(&[0.5, 1e300], None, None, Extremes).map(drop),
            &["row 1000 is 1", "[0.0, 1.0]", FAR],
        ),
        input(
            "f-u score far outside",
            || add_scores(&[-1e300, 0.5], Some(&[0.5, 0.5]), None, ModelUniform).map(drop),
            &["row 1000 is -1", FAR],
        ),
        misfit(
            "f-u scores without plausibility",
            || add_scores(&[0.5, 0.6], None, None, Both).map(drop),
            &["f-u sandwich needs a plausibility", "use min-max"],
        ),
        input(
            "plausibility of other rows",
            || add_scores(&[0.5, 0.6], Some(&[0.5; 4]), None, Both).map(drop),
            &["plausibility rows has 2", "score rows has 1"],
        ),
        input(
            "plausibility of another width",
            || {
                let (scores, f) =
                    (Rows::new("scores", &[0.5, 0.6], 2)?, Rows::new("f", &[1.0], 1)?);
                sketch(5, Both)?.add_scores(0, scores, Some(f), None).map(drop)
            },
            &["plausibility columns has 1", "labels has 2"],
        ),
        input(
            "plausibility unnormalised",
            || add_scores(&[0.5, 0.6], Some(&[0.5, 1.0]), None, Both).map(drop),
            &["plausibility row 1000 sums to 1.5", "must sum to 1"],
        ),
        input(
            "mask of other rows",
            || add_scores(&[0.5, 0.6], None, Some(&[true; 4]), Extremes).map(drop),
            &["label mask rows has 2", "score rows has 1"],
        ),
        input(
            "mask of another width",
            || {
                let mask = LabelMask::new(vec![true; 3], 3)?;
                let scores = Rows::new("scores", &[0.5, 0.6], 2)?;
                sketch(5, Extremes)?.add_scores(0, scores, None, Some(&mask)).map(drop)
            },
            &["label mask columns has 3", "labels has 2"],
        ),
        input(
            "impossible label",
            || add_scores(&[0.5, 0.6], Some(&[0.0, 1.0]), Some(&[true, false]), Both).map(drop),
            &["plausibility of row 1000 is zero", "widen the mask"],
        ),
    ];
    check(&table);
}

#[test]
fn sketches_that_do_not_fit() {
    use SketchedLaws::{Both, Extremes, ModelUniform};
    fn abscissae(further: &[f64]) -> Outcome {
        Abscissae::of_grid_and_points(&Grid::new(Interval::UNIT, 3)?, further).map(drop)
    }
    let table: Vec<Bad> = vec![
        input(
            "abscissa outside",
            || abscissae(&[0.5, 1.5]),
            &["abscissae[1] is 1.5", "[0.0, 1.0]", "widen the range"],
        ),
        input("abscissa nan", || abscissae(&[NAN]), &["abscissae[0] is NaN", "impute"]),
        misfit(
            "other abscissae",
            || sketch(5, Both)?.merge(&sketch(6, Both)?).map(drop),
            &["differ in their abscissae", "same settings"],
        ),
        misfit(
            "other laws",
            || sketch(5, Both)?.merge(&sketch(5, Extremes)?).map(drop),
            &["differ in their laws", "same settings"],
        ),
        misfit(
            "laws apart",
            || sketch(5, ModelUniform)?.merge(&sketch(5, Extremes)?).map(drop),
            &["differ in their laws", "same settings"],
        ),
        input(
            "empty sketch",
            || sketch(5, Both)?.min_max().map(drop),
            &["the sketch is empty", "at least one"],
        ),
        input(
            "summary of an empty sketch",
            || sketch(5, Both)?.model_uniform_summary().map(drop),
            &["the sketch is empty"],
        ),
        misfit(
            "extremes not kept",
            || add_rows(&[0.5, 0.5], ModelUniform)?.min_max().map(drop),
            &["does not keep the min-max laws", "build it with them"],
        ),
        misfit(
            "f-u not kept",
            || add_rows(&[0.5, 0.5], Extremes)?.model_uniform().map(drop),
            &["does not keep the f-u laws", "build it with them"],
        ),
        misfit(
            "f-u summary not kept",
            || add_rows(&[0.5, 0.5], Extremes)?.model_uniform_summary().map(drop),
            &["does not keep the f-u laws"],
        ),
    ];
    check(&table);
}

#[test]
fn bins_that_cannot_be() {
    fn over(y: &[f64], count: usize) -> Outcome {
        LabelBins::over(y, count).map(drop)
    }
    fn residuals(predictions: &[f64], residuals: &[f64]) -> Outcome {
        let bins = LabelBins::new(Interval::UNIT, 4)?;
        residual_candidates(predictions, residuals, &bins).map(drop)
    }
    let table: Vec<Bad> = vec![
        parameter(
            "constant y",
            || over(&[3.0, 3.0], 50),
            &["the range of y runs from 3.0 to 3.0", "low end must be below"],
        ),
        input("no y", || over(&[], 50), &["y is empty", "at least one"]),
        input("nan y", || over(&[1.0, NAN], 50), &["y[1] is NaN", "impute"]),
        parameter("no bins", || over(&[1.0, 2.0], 0), &["label bins: 0 given", "at least 1"]),
        parameter(
            "too many bins to count",
            || {
                let bins = LabelBins::new(Interval::UNIT, usize::MAX)?;
                residual_candidates(&[0.5, 0.6], &[0.1], &bins).map(drop)
            },
            &["label bins", "at most"],
        ),
        input("no predictions", || residuals(&[], &[0.1]), &["predictions is empty"]),
        input("no residuals", || residuals(&[0.1], &[]), &["calibration residuals is empty"]),
        input("nan prediction", || residuals(&[NAN], &[0.1]), &["predictions[0] is NaN", "impute"]),
        input(
            "inf residual",
            || residuals(&[0.1], &[INF]),
            &["calibration residuals[0] is inf", "impute"],
        ),
    ];
    check(&table);
}
