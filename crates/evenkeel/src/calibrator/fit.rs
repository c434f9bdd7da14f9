//! A calibration in the making: yesterday's side whole, today's added block by block.

use std::ops::ControlFlow;

use super::beside::{Beside, Yesterday};
use super::{MOST_CANDIDATES, Method, ShiftCalibrator, Today};
use crate::calibration::Calibration;
use crate::error::{Error, Result, require_same_length};
use crate::reweighting::optimise::TracePoint;
use crate::rows::{Real, Rows};
use crate::sandwich::SandwichSketch;
use crate::score::{Probabilities, Score};

/// What is kept of today's side.
#[derive(Debug)]
enum Gathered {
    /// Every probability.
    Kept(Vec<f64>),
    /// More of them than are kept, where two CDFs are all that is needed.
    Sketch(Box<(SandwichSketch, Score)>),
}

/// A calibration in the making. Yesterday's points are whole in memory; today's are added in blocks of rows, in order,
/// so that they may be more than fit there. Any cut into blocks gives the same bits.
#[derive(Debug)]
pub struct Fit {
    calibrator: ShiftCalibrator,
    classes: usize,
    /// Calibration scores in the caller's order.
    scores: Vec<f64>,
    weights: Option<Vec<f64>>,
    today: Option<Gathered>,
    rows: usize,
}

impl ShiftCalibrator {
    /// Takes yesterday's labeled points and waits for today's.
    pub fn begin<T: Real>(&self, yesterday: &Yesterday<'_, T>) -> Result<Fit> {
        let Yesterday { probabilities, labels, beside } = *yesterday;
        beside.check(probabilities.rows())?;
        let scores =
            self.score.with_draws_for("calibration").label_scores(probabilities, labels)?;
        let weights = match (self.method, beside.weights) {
            (Method::Fixed, None) => {
                return Err(Error::Missing {
                    what: "calibration weights",
                    whose: "fixed",
                    instead: "give one weight for each calibration point (--weights-file)",
                });
            }
            (_, weights) => weights.map(<[f64]>::to_vec),
        };
        Ok(Fit {
            calibrator: *self,
            classes: probabilities.classes(),
            scores,
            weights,
            today: Some(Gathered::Kept(Vec::new())),
            rows: 0,
        })
    }
}

impl Fit {
    /// Number of today's rows so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Adds the next of today's probability rows, and what stands beside them.
    pub fn add<T: Real>(&mut self, block: Rows<'_, T>, beside: Beside<'_>) -> Result<()> {
        require_same_length(
            "today's classes",
            block.columns(),
            "yesterday's classes",
            self.classes,
        )?;
        beside.check(block.rows())?;
        let first_row = self.rows;
        self.today = match self.today.take() {
            Some(Gathered::Sketch(sketched)) => {
                let (sketch, score) = *sketched;
                let sketch = sketch.add_probabilities(first_row, block, &score)?;
                Some(Gathered::Sketch(Box::new((sketch, score))))
            }
            Some(Gathered::Kept(mut kept)) => {
                let more = kept.len() + block.values().len();
                match self.calibrator.empty_sketch(&self.scores, self.classes)? {
                    Some((mut sketch, score)) if more > MOST_CANDIDATES => {
                        if !kept.is_empty() {
                            let rows = Rows::new("probabilities", &kept, self.classes)?;
                            sketch = sketch.add_probabilities(0, rows, &score)?;
                        }
                        let sketch = sketch.add_probabilities(first_row, block, &score)?;
                        Some(Gathered::Sketch(Box::new((sketch, score))))
                    }
                    _ => {
                        kept.extend(block.values().iter().map(|value| (*value).into()));
                        Some(Gathered::Kept(kept))
                    }
                }
            }
            None => None,
        };
        self.rows += block.rows();
        Ok(())
    }

    /// The calibration; `observer` sees every recorded point of an optimisation and may end it.
    pub fn finish(
        self,
        observer: &mut dyn FnMut(&TracePoint) -> ControlFlow<()>,
    ) -> Result<Calibration> {
        let (calibrator, classes) = (self.calibrator, self.classes);
        let range = calibrator.score.range(classes);
        let sandwich;
        let candidates;
        let today = match self.today {
            Some(Gathered::Sketch(sketched)) => {
                sandwich = calibrator.sketched_sandwich(&sketched.0)?;
                Today::Sandwich(&sandwich)
            }
            Some(Gathered::Kept(kept)) if !kept.is_empty() => {
                let today = Probabilities::new(&kept, classes)?;
                candidates = calibrator.score.with_draws_for("today").candidate_scores(&today)?;
                Today::Candidates(&candidates)
            }
            _ => return Err(Error::Empty { what: "today's probabilities" }),
        };
        match self.weights {
            Some(weights) if calibrator.method == Method::Fixed => {
                calibrator.fixed(&self.scores, &weights, today, classes)
            }
            _ => calibrator.calibrate_observed(&self.scores, today, classes, range, observer),
        }
    }
}
