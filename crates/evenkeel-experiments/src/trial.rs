//! A method on points in memory: the jobs `calibrate` and `evaluate`, as every shell runs them.
//!
//! ```text
//! calibrator, calibration points, target points -> Trial::calibrate -> Calibration
//! labeled test points                           -> Trial::evaluate  -> coverage, sizes
//! law of the test scores                        -> Trial::total_gap -> the gap, with every digit of the tables
//! ```

use evenkeel::calibration::Calibration;
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::evaluation::{Evaluation, total_coverage_gap};
use evenkeel::measure::{WeightedEmpirical, Weights};
use evenkeel::score::{Labels, Score};
use evenkeel::side_inputs::{SideInputs, TargetLabels};
use evenkeel_jobs::{
    AnyRows, LabeledData, MemorySource, SideNames, Unobserved, calibrate, evaluate,
};

use crate::error::Result;

/// Score of all experiments: that of the paper.
pub(crate) const SCORE: Score = Score::Lac;

/// Points of an experiment, which knows the labels of all of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Points<'a> {
    pub(crate) rows: AnyRows<'a>,
    pub(crate) labels: &'a Labels,
    /// Likelihood ratios `dQ/dP`, for the method that is given them.
    pub(crate) ratios: Option<&'a [f64]>,
    /// What another classifier says of the same images, for the method that asks it.
    pub(crate) second: Option<&'a [f64]>,
}

impl<'a> Points<'a> {
    fn side_inputs(&self) -> (SideNames<'static>, SideInputs<'a>) {
        let names = SideNames { ratios: "likelihood ratios", ..SideNames::default() };
        (names, SideInputs { ratios: self.ratios, ..SideInputs::default() })
    }

    /// With their labels, as a job takes calibration data.
    fn labeled(&self) -> Result<LabeledData<'a>> {
        let labels = self.labels.as_slice().to_vec();
        let data = LabeledData::of_rows("labeled points", self.rows, "their labels", labels)?;
        let (names, side) = self.side_inputs();
        Ok(data.with_side_inputs(names, side)?.with_second(self.second.unwrap_or_default())?)
    }

    /// `s(x_i, y_i)`.
    pub(crate) fn scores(&self) -> Result<Vec<f64>> {
        Ok(self.labeled()?.scores(&SCORE)?)
    }

    /// The law of these scores.
    pub(crate) fn law(&self) -> Result<WeightedEmpirical> {
        Ok(WeightedEmpirical::uniform(&self.scores()?)?)
    }
}

/// A calibrated method.
#[derive(Debug)]
pub(crate) struct Trial {
    pub(crate) calibration: Calibration,
    /// The calibration's law, where points were given ratios, but normalised in the order of the points. The calibration sums
    /// in the order of their scores, which may round the last digit otherwise, and the tables are kept with every digit.
    by_ratios: Option<WeightedEmpirical>,
}

impl Trial {
    /// Calibrates on labeled points and on target points, whose labels the job does not see.
    pub(crate) fn calibrate(
        calibrator: &ShiftCalibrator,
        labeled: Points<'_>,
        target: Points<'_>,
    ) -> Result<Self> {
        Self::on(calibrator, &labeled.labeled()?, labeled, target)
    }

    /// The same, with labels of some target points.
    pub(crate) fn calibrate_knowing(
        calibrator: &ShiftCalibrator,
        labeled: Points<'_>,
        target: Points<'_>,
        known: &TargetLabels,
    ) -> Result<Self> {
        Self::on(calibrator, &labeled.labeled()?.with_target_labels(known), labeled, target)
    }

    fn on(
        calibrator: &ShiftCalibrator,
        data: &LabeledData<'_>,
        labeled: Points<'_>,
        target: Points<'_>,
    ) -> Result<Self> {
        let source = MemorySource::new("target points", target.rows);
        let mut source = source.with_second(target.second.unwrap_or_default())?;
        let done = calibrate(calibrator, data, &mut source, &mut Unobserved)?;
        let by_ratios = match labeled.ratios {
            None => None,
            Some(ratios) => {
                let weights = Weights::normalised(ratios.to_vec())?;
                Some(WeightedEmpirical::new(&labeled.scores()?, &weights)?)
            }
        };
        Ok(Self { calibration: done.calibration, by_ratios })
    }

    /// Coverage and sizes on labeled points.
    pub(crate) fn evaluate(&self, test: Points<'_>) -> Result<Evaluation> {
        let (names, side) = test.side_inputs();
        let source = MemorySource::new("test points", test.rows);
        let mut source =
            source.with_labels("their labels", test.labels)?.with_side_inputs(names, side)?;
        Ok(evaluate(&self.calibration, None, &mut source, &mut Unobserved)?.evaluation)
    }

    /// The weighted law of the calibration scores.
    pub(crate) fn law(&self) -> &WeightedEmpirical {
        self.by_ratios.as_ref().unwrap_or(self.calibration.law())
    }

    /// Measured total coverage gap, given the [law](Points::law) of the test scores.
    ///
    /// The evaluation has it too, of test scores counted between calibration scores: the same up to the last digit, which the
    /// tables keep. It has none where every point has a ratio, and so a threshold of its own; the paper's tables then have that
    /// of the weighted calibration scores alone.
    pub(crate) fn total_gap(&self, test_law: &WeightedEmpirical) -> Option<f64> {
        match &self.by_ratios {
            Some(law) => Some(total_coverage_gap(law, test_law)),
            None => self.calibration.total_gap(test_law),
        }
    }
}
