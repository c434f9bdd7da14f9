//! `conditional` as a method: the calibration points alone decide; target rows are only checked.

use super::ladder::nested_cutoffs;
use super::{
    ConditionalChoice, ConditionalModel, ConditionalRule, ConditionalSettings, FlatIntercept,
    LambdaChoice, PENALTIES, PenaltyChoice,
};
use crate::error::Result;
use crate::level::Miscoverage;
use crate::method::basis::Basis;
use crate::method::fit::{Next, Open, Scored, Stage};
use crate::method::likelihood_ratio::described;
use crate::method::row_pass::CheckedRows;
use crate::method::{About, Concluded, Need, Needs, Rule, Sorted};
use crate::rows::{Real, Rows};
use crate::warning::Warning;

/// The room's entry in the list of methods; features are taken where they are given.
pub(crate) const ABOUT: About = About {
    name: "conditional",
    summary: "Kernel quantile regression at every test point (Gibbs, Cherian & Candes 2025)",
    assumption: "covariate shift within the kernel's reach",
    needs: Needs { features: Need::Optional, ..Needs::NOTHING },
};

/// A conditional calibration in the making: everything is here, but target rows must be valid too.
#[derive(Debug)]
pub(crate) struct ConditionalFit {
    /// Scores in the caller's order, as the features are; shape `(n,)`.
    scores: Vec<f64>,
    /// What points are described by, remembered for those to predict.
    basis: Basis,
    /// Rows that describe the calibration points, and their width.
    described: (Vec<f64>, usize),
    /// Kernel and penalty, not yet checked: fitting does.
    settings: ConditionalSettings,
    /// Miscoverage rate the warning is about.
    alpha: Miscoverage,
    /// Largest score that a label can have.
    largest: f64,
}

/// Takes what describes the calibration points; nothing is fitted before the target rows were
/// checked.
///
/// # Errors
/// If a calibration row cannot be scored.
pub(crate) fn begin<T: Real>(
    calibration: &Scored<'_, T>,
    choice: ConditionalChoice,
) -> Result<Open<ConditionalFit>> {
    let lambda = match choice.penalty {
        PenaltyChoice::Fixed(lambda) => LambdaChoice::Fixed(lambda),
        PenaltyChoice::CrossValidated { folds } => LambdaChoice::CrossValidated {
            folds,
            candidates: PENALTIES.to_vec(),
            // The level asked for: the loss is of one quantile, and no penalty is best for all of
            // them.
            alpha: calibration.context.alpha,
            seed: calibration.context.seed,
        },
    };
    let settings = ConditionalSettings {
        gamma: choice.gamma,
        lambda,
        // Not an option: the smaller end differs only where no dual is inside its box, and then the
        // larger one leaves nothing out that some optimal fit admits.
        flat_intercept: FlatIntercept::default(),
    };
    let stage = ConditionalFit {
        scores: calibration.scores.to_vec(),
        basis: Basis::of(&calibration.side),
        described: described(calibration)?,
        settings,
        alpha: calibration.context.alpha,
        largest: calibration.context.score.range(calibration.classes()).high(),
    };
    Ok(Open::new(stage, CheckedRows { classes: calibration.classes() }))
}

impl Stage for ConditionalFit {
    type Pass = CheckedRows;

    /// Fits the model and makes it the rule. The weights are equal: the model does not use them.
    fn end_pass(self, _: CheckedRows, (): (), _: u64) -> Result<Next> {
        let (values, columns) = &self.described;
        let features = Rows::new("features", values, *columns)?;
        let model = ConditionalModel::fit(features, &self.scores, &self.settings)?;
        let warning = most_sets_hold_every_label(&model, features, self.alpha, self.largest)?;
        let rule = Rule::Conditional(ConditionalRule::new(self.basis, model));
        let mut concluded = Concluded::split(Sorted::new(&self.scores), rule)?;
        concluded.learned.warnings.extend(warning);
        Next::done(concluded)
    }
}

/// Calibration points that are looked at as if they were test points: enough for a share, a few milliseconds at most.
const LOOKED_AT: usize = 64;
/// Share of sets with every label from which on they say nothing.
const MOST: f64 = 0.5;

/// A warning where most cutoffs are above every score that a label can have.
///
/// Calibration points stand for test points: a test point is no nearer to them than they are to themselves, so its cutoff
/// is not likely to be smaller. Cutoffs fall as points are added, because the test point's own term `C (1 - alpha)` does,
/// `C = 1 / (lambda (n + 1))`.
fn most_sets_hold_every_label(
    model: &ConditionalModel,
    features: Rows<'_, f64>,
    alpha: Miscoverage,
    largest: f64,
) -> Result<Option<Warning>> {
    // Too few points for any program: that is `Warning::AllLabels`, which is raised for every method.
    if !model.at(alpha)?.has_program() {
        return Ok(None);
    }
    let (points, columns) = (features.rows(), features.columns());
    let looked_at = points.min(LOOKED_AT);
    // Spread evenly: the order of the points may mean something.
    let chosen = (0..looked_at).map(|k| k * points / looked_at);
    let some: Vec<f64> = chosen
        .flat_map(|row| features.values()[row * columns..][..columns].iter().copied())
        .collect();
    let cutoffs = nested_cutoffs(model, Rows::new("features", &some, columns)?, alpha)?;
    let all = cutoffs.iter().filter(|cutoff| cutoff.admits(largest)).count();
    let share = all as f64 / looked_at as f64;
    Ok((share >= MOST).then_some(Warning::MostSetsHoldEveryLabel { share, looked_at, points }))
}
