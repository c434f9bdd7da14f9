//! A calibration in the making: calibration side whole, target added block by block.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::gathered::{Gathered, PlanPass};
use super::{ShiftCalibrator, increasing_order};
use crate::calibration::{Basis, Calibration, score_vectors};
use crate::error::{Error, Result, require_same_length};
use crate::learning::optimise::TracePoint;
use crate::method::auto::Chosen;
use crate::method::label_plan;
use crate::method::label_plan::LabelPlanner;
use crate::method::label_shift::predicted_labels;
use crate::method::quantile_transfer::TransferRule;
use crate::method::{Method, RatioChoice};
use crate::rows::{Real, Rows};
use crate::score::{Labels, Score};
use crate::shift::{Prediction, ShiftTest, predictions, shift_test};
use crate::side_inputs::{Labeled, SideInputs};

/// A calibration in the making. Calibration points are whole in memory; target are added in blocks of rows, in order,
/// so that they may be more than fit there. Any cut into blocks gives the same bits.
#[derive(Debug)]
pub struct Fit {
    pub(super) calibrator: ShiftCalibrator,
    pub(super) known: Known,
    target: Option<Gathered>,
    rows: usize,
    /// The shift test of `auto`, once the first pass is over.
    test: Option<ShiftTest>,
}

/// What is known of calibration points.
#[derive(Debug)]
pub(super) struct Known {
    pub classes: usize,
    /// Calibration scores in the caller's order.
    pub scores: Vec<f64>,
    pub labels: Labels,
    /// Predicted labels, for BBSE.
    pub predicted: Vec<usize>,
    /// What the model says, for the shift test.
    pub predictions: Vec<Prediction>,
    /// What points are described by, its width, and calibration rows of it.
    pub basis: Basis,
    pub described: (Vec<f64>, usize),
    pub ratios: Option<Vec<f64>>,
    pub weights: Option<Vec<f64>>,
    /// Confidences for QTC are read off the probabilities at once.
    pub confidences: Vec<f64>,
}

/// What a pass over target rows leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextPass {
    /// Add all rows once more, then ask again.
    Again,
    /// Nothing more is needed: finish.
    Enough,
}

impl ShiftCalibrator {
    /// Takes calibration labeled points and waits for the target data's.
    pub fn begin<T: Real>(&self, labeled: &Labeled<'_, T>) -> Result<Fit> {
        let Labeled { probabilities, labels, beside } = *labeled;
        beside.check(probabilities.rows())?;
        self.require_what_it_needs(&beside)?;
        let classes = probabilities.classes();
        let drawn = self.score.with_draws_for("calibration");
        let scores = drawn.label_scores(probabilities, labels)?;
        let basis = Basis::of(&beside);
        let described = match (self.method, beside.features) {
            (Method::LikelihoodRatio(_) | Method::Conditional(_), Some(features)) => {
                (features.values().to_vec(), features.columns())
            }
            (Method::LikelihoodRatio(_) | Method::Conditional(_), None) => {
                (score_vectors(0, probabilities.table(), &drawn)?, classes)
            }
            _ => (Vec::new(), classes),
        };
        let planner = match self.method {
            Method::LabelPlan(settings) => Some(settings),
            Method::Auto(settings) => Some(settings.plan),
            _ => None,
        }
        .map(|settings| {
            let labeled =
                label_plan::LabeledLogits::of_probabilities(probabilities, labels, &self.score)?;
            LabelPlanner::new(labeled, self.score, settings, self.seed)
        })
        .transpose()?;
        let needs_predictions =
            matches!(self.method, Method::Auto(_) | Method::QuantileTransfer(_));
        let said = if needs_predictions { predictions(probabilities) } else { Vec::new() };
        let known = Known {
            classes,
            scores,
            labels: labels.clone(),
            predicted: match self.method {
                Method::LabelShift(_) => predicted_labels(probabilities),
                _ => Vec::new(),
            },
            confidences: said.iter().map(|prediction| prediction.confidence).collect(),
            predictions: said,
            basis,
            ratios: beside.ratios.map(<[f64]>::to_vec),
            weights: beside.weights.map(<[f64]>::to_vec),
            described,
        };
        let target = Gathered::for_method(self, classes, known.described.1, planner)?;
        Ok(Fit { calibrator: *self, known, target: Some(target), rows: 0, test: None })
    }

    /// An error if the method lacks something, or cannot work with the score.
    fn require_what_it_needs(&self, beside: &SideInputs<'_>) -> Result<()> {
        match self.method {
            Method::Fixed if beside.weights.is_none() => Err(Error::Missing {
                what: "calibration weights",
                whose: "fixed",
                instead: "give one weight for each calibration point (--weights-file)",
            }),
            Method::LikelihoodRatio(RatioChoice::Known) if beside.ratios.is_none() => {
                Err(Error::Missing {
                    what: "the likelihood ratios of the calibration points",
                    whose: "likelihood-ratio",
                    instead: "give one ratio for each (--cal-ratios), or choose an estimator (--ratio logistic)",
                })
            }
            Method::QuantileTransfer(TransferRule::SourceThreshold)
                if !matches!(self.score, Score::Lac | Score::Aps(_)) =>
            {
                Err(Error::Unsupported {
                    what: "QTC-ST with a score outside [0, 1]",
                    instead: "it reads the threshold as a level; use lac or aps, or another QTC rule",
                })
            }
            Method::EntropyScaled(_) if self.score != Score::Lac => Err(Error::Unsupported {
                what: "`ecp` with another score than lac",
                instead: "it scales probabilities; use --score lac",
            }),
            _ => Ok(()),
        }
    }
}

impl Fit {
    /// Number of target rows so far in this pass.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Adds the next of target probability rows, and what stands beside them.
    pub fn add<T: Real>(&mut self, block: Rows<'_, T>, beside: SideInputs<'_>) -> Result<()> {
        let (found, expected) = (block.columns(), self.known.classes);
        require_same_length("target classes", found, "calibration classes", expected)?;
        beside.check(block.rows())?;
        if self.known.basis != Basis::of(&beside) && self.wants_features() {
            return Err(Error::Missing {
                what: "features of both calibration and target points, or of neither",
                whose: self.calibrator.method.name().as_str(),
                instead: "give both, or leave both out",
            });
        }
        let gathered =
            self.target.take().ok_or(Error::Empty { what: "the fit after a failed block" })?;
        let (calibrator, scores) = (&self.calibrator, &self.known.scores);
        self.target = Some(gathered.add(calibrator, scores, self.rows, block, beside)?);
        self.rows += block.rows();
        Ok(())
    }

    fn wants_features(&self) -> bool {
        matches!(self.calibrator.method, Method::LikelihoodRatio(RatioChoice::Estimated(_)))
    }

    /// Ends a pass over target rows: most methods need one, the label plan two.
    pub fn end_pass(&mut self) -> Result<NextPass> {
        if self.rows == 0 {
            return Err(Error::Empty { what: "target probabilities" });
        }
        let Some(Gathered::FirstPass(pass)) =
            self.target.take_if(|gathered| matches!(gathered, Gathered::FirstPass(_)))
        else {
            return Ok(NextPass::Enough);
        };
        if let (Method::Auto(settings), Some(kept)) = (self.calibrator.method, &pass.predictions) {
            let before =
                crate::shift::sampled(self.known.predictions.clone(), self.calibrator.seed);
            let test =
                shift_test(&before, &kept.values(), settings.permutations, self.calibrator.seed)?;
            self.test = Some(test);
            if Chosen::by(&test, settings.level) == Chosen::Uncorrected {
                self.target = Some(Gathered::FirstPass(pass));
                return Ok(NextPass::Enough);
            }
        }
        let PlanPass { planner, first, predictions: _ } = *pass;
        let second = Arc::new(planner.prepare(first)?).second_pass();
        self.target = Some(Gathered::SecondPass(Box::new((planner, second))));
        self.rows = 0;
        Ok(NextPass::Again)
    }

    /// The calibration; `observer` sees every recorded point of an optimisation and may end it.
    pub fn finish(
        self,
        observer: &mut dyn FnMut(&TracePoint) -> ControlFlow<()>,
    ) -> Result<Calibration> {
        if self.rows == 0 {
            return Err(Error::Empty { what: "target probabilities" });
        }
        let Self { calibrator, known, target, rows, test } = self;
        let gathered = target.ok_or(Error::Empty { what: "the fit after a failed block" })?;
        calibrator.conclude(&known, gathered, rows, test, observer)
    }
}

impl Known {
    /// The order of increasing scores, and the scores in it.
    pub(super) fn sorted(&self) -> (Vec<usize>, Vec<f64>) {
        let order = increasing_order(&self.scores);
        let scores = order.iter().map(|index| self.scores[*index]).collect();
        (order, scores)
    }
}
