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

pub(crate) const ABOUT: About = About {
    name: "conditional",
    summary: "Kernel quantile regression at every test point (Gibbs, Cherian & Candes 2025)",
    assumption: "covariate shift within the kernel's reach",
    needs: Needs { features: Need::Optional, ..Needs::NOTHING },
};

/// A conditional calibration in the making.
#[derive(Debug)]
pub(crate) struct ConditionalFit {
    /// In the caller's order, as the features are.
    scores: Vec<f64>,
    basis: Basis,
    described: (Vec<f64>, usize),
    settings: ConditionalSettings,
}

/// Takes what describes the calibration points.
pub(crate) fn begin<T: Real>(
    calibration: &Scored<'_, T>,
    choice: ConditionalChoice,
) -> Result<Open<ConditionalFit>> {
    let lambda = match choice.penalty {
        PenaltyChoice::Fixed(lambda) => LambdaChoice::Fixed(lambda),
        PenaltyChoice::CrossValidated { folds } => LambdaChoice::CrossValidated {
            folds,
            candidates: PENALTIES.to_vec(),
            alpha: calibration.context.alpha,
            seed: calibration.context.seed,
        },
    };
    let settings = ConditionalSettings {
        gamma: choice.gamma,
        lambda,
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

    fn end_pass(self, _: CheckedRows, (): (), _: u64) -> Result<Next> {
        let (values, columns) = &self.described;
        let features = Rows::new("features", values, *columns)?;
        let model = ConditionalModel::fit(features, &self.scores, &self.settings)?;
        let rule = Rule::Conditional(ConditionalRule::new(self.basis, model));
        Next::done(Concluded::split(Sorted::new(&self.scores), rule)?)
    }
}
