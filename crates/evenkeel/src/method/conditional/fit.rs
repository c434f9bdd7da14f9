//! `conditional` as a method: the calibration points alone decide; target rows are only checked.

use super::{
    ConditionalChoice, ConditionalModel, ConditionalRule, ConditionalSettings, FlatIntercept,
    LambdaChoice, PENALTIES, PenaltyChoice,
};
use crate::error::Result;
use crate::method::basis::Basis;
use crate::method::fit::{Next, Open, Scored, Stage};
use crate::method::likelihood_ratio::described;
use crate::method::row_pass::CheckedRows;
use crate::method::{About, Concluded, Need, Needs, Rule, Sorted};
use crate::rows::{Real, Rows};

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
        let rule = Rule::Conditional(ConditionalRule::new(self.basis, model));
        Next::done(Concluded::split(Sorted::new(&self.scores), rule)?)
    }
}
