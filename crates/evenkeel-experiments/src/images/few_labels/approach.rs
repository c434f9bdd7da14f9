//! What is done with `k` labels.

use evenkeel::level::FailureProbability;
use evenkeel::method::auto::AutoSettings;
use evenkeel::method::{FewLabelsSettings, Guarantee, Method};
use evenkeel::score::Score;

use crate::error::Result;
use crate::images::method::DELTA;
use crate::trial::SCORE;

/// A row of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelApproach {
    /// Split conformal prediction on the calibration data: no use of labels.
    Uncorrected,
    /// `auto` without labels.
    Auto,
    /// Split conformal prediction on the labeled target points alone.
    SplitOnLabels,
    /// `few-labels`.
    FewLabels,
    /// `few-labels` with at least the threshold of split conformal prediction on the labels.
    Guaranteed,
    /// `auto` without labels, with the label law as score.
    AutoPlanScore,
    /// `few-labels` with the label law as score.
    FewLabelsPlanScore,
}

/// Which numbers of labels an approach is run with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Uses {
    /// None: one answer for every `k`.
    NoLabels,
    /// At least one.
    Labels,
    /// Any number; without labels it is `auto`.
    LabelsOrAuto,
}

impl LabelApproach {
    /// All, in the order of the tables.
    pub const ALL: [Self; 7] = [
        Self::Uncorrected,
        Self::Auto,
        Self::SplitOnLabels,
        Self::FewLabels,
        Self::Guaranteed,
        Self::AutoPlanScore,
        Self::FewLabelsPlanScore,
    ];

    /// Its id in files.
    pub fn id(self) -> &'static str {
        match self {
            Self::Uncorrected => "uncorrected",
            Self::Auto => "auto",
            Self::SplitOnLabels => "split-on-labels",
            Self::FewLabels => "few-labels",
            Self::Guaranteed => "few-labels-average",
            Self::AutoPlanScore => "auto-plan-score",
            Self::FewLabelsPlanScore => "few-labels-plan-score",
        }
    }

    /// Its name in tables.
    pub fn words(self) -> &'static str {
        match self {
            Self::Uncorrected => "uncorrected",
            Self::Auto => "auto, no labels",
            Self::SplitOnLabels => "split conformal on the labels",
            Self::FewLabels => "few-labels",
            Self::Guaranteed => "few-labels, --guarantee average",
            Self::AutoPlanScore => "auto, no labels, --score plan",
            Self::FewLabelsPlanScore => "few-labels, --score plan",
        }
    }

    pub(super) fn uses(self) -> Uses {
        match self {
            Self::Uncorrected | Self::Auto | Self::AutoPlanScore => Uses::NoLabels,
            Self::SplitOnLabels => Uses::Labels,
            Self::FewLabels | Self::Guaranteed | Self::FewLabelsPlanScore => Uses::LabelsOrAuto,
        }
    }

    /// What it is where there are no labels.
    pub(super) fn without_labels(self) -> Self {
        match self {
            Self::FewLabels | Self::Guaranteed => Self::Auto,
            Self::FewLabelsPlanScore => Self::AutoPlanScore,
            Self::Uncorrected | Self::Auto | Self::SplitOnLabels | Self::AutoPlanScore => self,
        }
    }

    /// What scores labels.
    pub(super) fn score(self) -> Score {
        match self {
            Self::AutoPlanScore | Self::FewLabelsPlanScore => Score::Plan,
            Self::Uncorrected
            | Self::Auto
            | Self::SplitOnLabels
            | Self::FewLabels
            | Self::Guaranteed => SCORE,
        }
    }

    /// What the core is asked for, with labels where it uses them.
    pub(super) fn in_core(self) -> Result<Method> {
        let level = FailureProbability::new(DELTA)?;
        let few = FewLabelsSettings::new(level);
        Ok(match self {
            // On the labels it is split conformal prediction on other points.
            Self::Uncorrected | Self::SplitOnLabels => Method::Uncorrected,
            Self::Auto | Self::AutoPlanScore => Method::Auto(AutoSettings::new(level)),
            Self::FewLabels | Self::FewLabelsPlanScore => Method::FewLabels(few),
            Self::Guaranteed => {
                Method::FewLabels(FewLabelsSettings { guarantee: Guarantee::Average, ..few })
            }
        })
    }
}
