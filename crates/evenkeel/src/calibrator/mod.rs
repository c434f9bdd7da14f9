//! Stage 8: from calibration and target data to a [`Calibration`], by any method.
//!
//! ```text
//! scores -> the method's room: what to keep of the target rows -> passes over them -> weights, rule -> calibration
//! ```
//! One call does it for tables in memory ([`ShiftCalibrator::calibrate`]). For anything larger a [`Fit`] takes the target rows
//! block by block, or the states that other threads, processes or machines made of their rows ([`Part`]).

use std::ops::ControlFlow;

use crate::calibration::{Calibration, Provenance, diagnose};
use crate::check::Checked;
use crate::error::{Error, Result, require_finite, require_same_length, require_some};
use crate::interval::Interval;
use crate::learning::optimise::TracePoint;
use crate::level::{FailureProbability, Miscoverage};
use crate::measure::{WeightedEmpirical, Weights};
use crate::method::auto::AutoSettings;
use crate::method::fit::Context;
use crate::method::{Concluded, Method, MethodName, Rule, Sorted, oracle};
use crate::rows::{Real, RowKeys};
use crate::score::{Labels, Probabilities, Score};
use crate::seed::Seed;
use crate::side_inputs::{Labeled, SideInputs};
use crate::threshold::TestMass;

mod fit;
mod part;

pub use fit::{Ended, Fit, FitShare, Fitted, Ready};
pub use part::Part;

pub use crate::method::TargetScores;

/// Turns labeled calibration data and unlabeled target data into a [`Calibration`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `alpha` | none | miscoverage rate: one minus the level asked for | `(0, 1)` |
/// | `method` | auto | how weights, or thresholds, are found | |
/// | `score` | lac | what scores labels | |
/// | `seed` | 0 | root of all randomness | |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShiftCalibrator {
    /// How weights, or thresholds, are found, with the settings of the method.
    pub method: Method,
    /// Score function of both data sets.
    pub score: Score,
    /// Miscoverage rate of the traced thresholds and the default of the calibration; any other can be asked for later.
    pub alpha: Miscoverage,
    /// Root of all randomness: equal seeds and data give equal bytes.
    pub seed: Seed,
}

impl ShiftCalibrator {
    /// The defaults at a miscoverage rate: method `auto`, score `lac`, seed 0.
    ///
    /// # Errors
    /// If `alpha` is not between 0 and 1.
    pub fn new(alpha: f64) -> Result<Self> {
        Ok(Self {
            method: Method::Auto(AutoSettings::new(FailureProbability::FIVE_PERCENT)),
            score: Score::default(),
            alpha: Miscoverage::new(alpha)?,
            seed: Seed::default(),
        })
    }

    /// The same calibrator with another method; alpha, score and seed stay.
    #[must_use]
    pub fn method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// The same calibrator with this score function, for both data sets.
    #[must_use]
    pub fn score(self, score: Score) -> Self {
        Self { score, ..self }
    }

    /// The same calibrator with this seed.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed: Seed::new(seed), ..self }
    }

    /// From probabilities: `(n, C)` labeled ones of the calibration data and `(m, C)` unlabeled ones of the target data.
    ///
    /// # Errors
    /// If the two have different classes, the method needs more than probabilities, or it cannot work with these.
    pub fn calibrate<T: Real, U: Real>(
        &self,
        calibration: &Probabilities<'_, T>,
        labels: &Labels,
        target: &Probabilities<'_, U>,
    ) -> Result<Calibration> {
        let beside = SideInputs::default();
        let labeled = Labeled { probabilities: calibration, labels, beside };
        self.calibrate_beside(&labeled, target, beside)
    }

    /// The same for methods that take more than probabilities of the calibration and target points.
    ///
    /// # Errors
    /// As [`calibrate`](Self::calibrate), or if what is given beside the points does not belong to them.
    pub fn calibrate_beside<T: Real, U: Real>(
        &self,
        labeled: &Labeled<'_, T>,
        target: &Probabilities<'_, U>,
        beside: SideInputs<'_>,
    ) -> Result<Calibration> {
        // The same way as blocks and processes take, with one block: there is no second
        // implementation whose bits could differ.
        let mut fit = self.begin(labeled)?;
        loop {
            match fit.add(RowKeys::From(0), target.table(), beside)?.end_pass()? {
                Ended::Again(again) => fit = again,
                Ended::Done(ready) => {
                    return Ok(ready.finish(&mut |_| ControlFlow::Continue(()))?.calibration);
                }
            }
        }
    }

    /// From scores: `(n,)` of the calibration labels, and the target candidates or the laws around the target scores. `range`
    /// must contain all of the calibration scores; the grids cover it.
    ///
    /// # Errors
    /// If there are no scores or one is not finite, or the method needs more than scores.
    pub fn calibrate_scores(
        &self,
        scores: &[f64],
        target: TargetScores<'_>,
        classes: usize,
        range: Interval,
    ) -> Result<Calibration> {
        self.calibrate_observed(scores, target, classes, range, &mut |_| ControlFlow::Continue(()))
    }

    /// The same; `observer` sees every recorded point of the optimisation and may end it.
    ///
    /// # Errors
    /// As [`calibrate_scores`](Self::calibrate_scores).
    pub fn calibrate_observed(
        &self,
        scores: &[f64],
        target: TargetScores<'_>,
        classes: usize,
        range: Interval,
        observer: &mut dyn FnMut(&TracePoint) -> ControlFlow<()>,
    ) -> Result<Calibration> {
        let fitted = self.fit_scores(scores, target, classes, range, observer)?;
        Ok(fitted.calibration)
    }

    /// The same, with the order of the scores.
    ///
    /// # Errors
    /// As [`calibrate_scores`](Self::calibrate_scores).
    pub fn fit_scores(
        &self,
        scores: &[f64],
        target: TargetScores<'_>,
        classes: usize,
        range: Interval,
        observer: &mut dyn FnMut(&TracePoint) -> ControlFlow<()>,
    ) -> Result<Fitted> {
        // Checked here once: what follows sorts and sums, and a NaN would pass through both.
        require_some("calibration scores", scores)?;
        require_finite("calibration scores", scores)?;
        if classes == 0 {
            return Err(Error::TooFew { what: "classes", found: 0, least: 1 });
        }
        if let TargetScores::Candidates(candidates) = target {
            require_same_length("candidate labels", candidates.labels(), "classes", classes)?;
        }
        let sorted = Sorted::new(scores);
        let concluded =
            self.method.conclude_scores(self.context(), sorted, target, range, observer)?;
        self.finish(self.method.name(), concluded, classes)
    }

    /// Split conformal prediction from labeled scores alone, whatever the method: with labels of the target data this is the
    /// oracle that other methods try to match without them.
    ///
    /// # Errors
    /// If there are no scores, or one is not finite.
    pub fn oracle(&self, scores: &[f64], classes: usize) -> Result<Calibration> {
        Ok(self.fit_oracle(scores, classes)?.calibration)
    }

    /// The same, with the order of the scores.
    ///
    /// # Errors
    /// As [`oracle`](Self::oracle).
    pub fn fit_oracle(&self, scores: &[f64], classes: usize) -> Result<Fitted> {
        self.finish(MethodName::Oracle, oracle::from_scores(scores)?, classes)
    }

    /// A calibration of scores whose weights were found elsewhere; `method` must cut sets by the plain quantile, as `uncorrected` and
    /// `fixed` do. Weights are in the order of the scores, shapes `(n,)`.
    ///
    /// # Errors
    /// If there are no scores, one is not finite, weights and scores differ in number, or the method has another rule.
    pub fn fit_weighted(
        &self,
        method: MethodName,
        scores: &[f64],
        (weights, test_mass): (&Weights, TestMass),
        classes: usize,
    ) -> Result<Fitted> {
        require_some("calibration scores", scores)?;
        require_finite("calibration scores", scores)?;
        require_same_length("weights", weights.len(), "calibration scores", scores.len())?;
        let sorted = Sorted::new(scores);
        let weights = Weights::already_normalised(sorted.arrange(weights.as_slice()))?;
        let concluded = Concluded::given(sorted, weights, test_mass, Rule::Quantile);
        self.finish(method, concluded, classes)
    }

    /// The calibration that `auto` makes of the data of a check, which found a shift: the bits of a fit of its own, without two
    /// more passes. None where no shift was found.
    ///
    /// # Errors
    /// If the check does not belong to as many classes.
    // Hidden: for the jobs, which turn a check into what they recommend.
    #[doc(hidden)]
    pub fn of_check(&self, checked: &Checked) -> Result<Option<Fitted>> {
        let Some(concluded) = &checked.auto else { return Ok(None) };
        let classes = checked.report.classes;
        self.finish(MethodName::Auto, (**concluded).clone(), classes).map(Some)
    }

    /// The part of the settings that every method sees.
    fn context(&self) -> Context {
        Context { score: self.score, alpha: self.alpha, seed: self.seed }
    }

    /// Weights, thresholds and what a user should know about them, as a calibration.
    ///
    /// # Errors
    /// If the rule does not belong to the weighted scores, which no method's does.
    fn finish(&self, method: MethodName, concluded: Concluded, classes: usize) -> Result<Fitted> {
        let Concluded {
            sorted,
            weights,
            test_mass,
            rule,
            mut learned,
            sandwich,
            label_law,
            fitted_law,
        } = concluded;
        let law = WeightedEmpirical::new(&sorted.scores, &weights)?;
        // Whatever its weight: the law drops points without any, and the support is about the
        // scores.
        let largest_score = sorted.scores.last().copied().unwrap_or(f64::NAN);
        let found = diagnose(
            &law,
            largest_score,
            test_mass,
            sandwich.as_ref(),
            self.alpha,
            (learned.stopped, &learned.trace),
        );
        // Before what the method itself has to say.
        learned.warnings.splice(0..0, found);
        let provenance =
            Provenance { method, score: self.score, classes, alpha: self.alpha, seed: self.seed };
        let Sorted { order, scores } = sorted;
        let calibration = Calibration::new(provenance, scores, weights, test_mass, rule, learned)?;
        let calibration = calibration.with_label_law(label_law)?;
        Ok(Fitted { calibration, order, fitted_law, fitted_to: None })
    }
}
