//! What scores labels in a check: a function of the probabilities, or the label law that a calibration in use keeps.

use evenkeel::calibration::Calibration;
use evenkeel::calibrator::{Fit, ShiftCalibrator};
use evenkeel::check::{Check, CheckSettings};
use evenkeel::conformal::{LabelSets, label_scores_of_rows, predict_rows};
use evenkeel::method::Method;
use evenkeel::method::auto::AutoSettings;
use evenkeel::rows::{Real, Rows};
use evenkeel::score::Score;
use evenkeel::side_inputs::TargetLabels;
use evenkeel::threshold::Threshold;

use super::{CheckJob, LabelsUsed};
use crate::any_rows::with_rows;
use crate::blocks::each_block;
use crate::error::Result;
use crate::labeled::LabeledData;
use crate::observer::{Observer, Stage};
use crate::source::RowSource;

/// What scores labels.
#[derive(Debug, Clone, Copy)]
pub(super) enum ScoredBy<'a> {
    /// A function, with the draws of the target data: a row has one score in a check.
    Function(Score),
    /// The label law that a calibration keeps under the plan score.
    LawOf(&'a Calibration),
}

impl ScoredBy<'_> {
    /// `s(x, y)` of labeled rows.
    pub(super) fn label_scores<T: Real>(
        self,
        first_row: usize,
        rows: Rows<'_, T>,
        labels: &[usize],
    ) -> evenkeel::Result<Vec<f64>> {
        match self {
            Self::Function(score) => label_scores_of_rows(first_row, rows, &score, labels),
            Self::LawOf(calibration) => calibration.label_scores(first_row, rows, labels),
        }
    }
}

impl CheckJob {
    pub(super) fn scored_by(&self) -> ScoredBy<'_> {
        match &self.law_of {
            Some(calibration) => ScoredBy::LawOf(calibration),
            None => ScoredBy::Function(self.score.with_draws_for("today")),
        }
    }

    /// A check of the calibration data, at the threshold of the settings.
    pub(crate) fn begin(
        &self,
        labeled: &LabeledData<'_>,
        settings: &CheckSettings,
    ) -> evenkeel::Result<Check> {
        match &self.law_of {
            Some(calibration) => labeled.begin_check_as(calibration, settings),
            None => labeled.begin_check(&self.score, settings),
        }
    }

    /// Scores of the calibration labels.
    pub(crate) fn scores(&self, labeled: &LabeledData<'_>) -> Result<Vec<f64>> {
        match &self.law_of {
            Some(calibration) => labeled.scores_as(calibration),
            None => labeled.scores(&self.score),
        }
    }

    /// Sets of a few rows at the threshold in question.
    pub(super) fn sets(&self, rows: Rows<'_, f64>, at: Threshold) -> evenkeel::Result<LabelSets> {
        match &self.law_of {
            Some(calibration) => calibration.predict(0, rows, Some(self.settings.alpha)),
            None => predict_rows(0, rows, &self.score, at),
        }
    }

    /// What labels say of the threshold in question: a fit of `auto` whose scores are those of the check, and the most steps it may
    /// take. The labels stand with the calibration data.
    pub(crate) fn begin_with_labels(&self, labeled: &LabeledData<'_>) -> Result<(Fit, usize)> {
        let CheckSettings { alpha, delta, seed, .. } = self.settings;
        let method = Method::Auto(AutoSettings::new(delta));
        let calibrator = ShiftCalibrator { method, score: self.score, alpha, seed };
        let begun = labeled.begin(&calibrator)?;
        let begun = match &self.law_of {
            Some(calibration) => begun.scored_as(calibration)?,
            None => begun,
        };
        Ok((begun, calibrator.method.most_steps()))
    }

    /// `auto` at the rates and the seed of the check.
    pub(crate) fn by_auto(&self) -> ShiftCalibrator {
        let CheckSettings { alpha, seed, .. } = self.settings;
        let method = Method::Auto(self.settings.auto());
        ShiftCalibrator { method, score: self.score, alpha, seed }
    }

    /// The same with the plan score, which fits a law of its own.
    pub(crate) fn by_plan(&self) -> ShiftCalibrator {
        ShiftCalibrator { score: Score::Plan, ..self.by_auto() }
    }

    /// The calibration data with labels of target rows, where they are used.
    pub(crate) fn labels_for<'a>(
        &self,
        labels: LabelsUsed,
        labeled: &LabeledData<'a>,
        of_rows: &'a TargetLabels,
    ) -> LabeledData<'a> {
        match labels {
            LabelsUsed::Used => labeled.clone().with_target_labels(of_rows),
            LabelsUsed::LeftOut => labeled.clone(),
        }
    }
}

/// Mean number of labels in the sets of a calibration. One more pass over the rows.
pub(super) fn mean_set_size(
    calibration: &Calibration,
    (target, observer): (&mut dyn RowSource, &mut dyn Observer),
) -> Result<f64> {
    let classes = calibration.provenance().classes;
    let (mut labels, mut rows) = (0_u64, 0_u64);
    each_block(target, classes, (Stage::Reading, observer), |block| {
        let sets = with_rows!(block.rows, |rows| calibration.predict(block.first_row, rows, None))?;
        labels += (0..sets.rows()).map(|row| sets.size(row) as u64).sum::<u64>();
        rows += sets.rows() as u64;
        Ok(())
    })?;
    Ok(labels as f64 / rows.max(1) as f64)
}
