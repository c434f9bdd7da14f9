//! Methods side by side.

use evenkeel::threshold::Threshold;

/// Where a method cuts its sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MethodThreshold {
    /// At one threshold for all points.
    One(Threshold),
    /// At a threshold of its own for every point.
    PerPoint,
}

impl From<Threshold> for MethodThreshold {
    fn from(threshold: Threshold) -> Self {
        Self::One(threshold)
    }
}

/// One method's result.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodRow {
    /// Its name on the command line.
    pub method: String,
    /// What must hold for its coverage to be right, in a few words.
    pub assumption: String,
    /// Where it cuts.
    pub threshold: MethodThreshold,
    /// Share of labeled test points whose set holds their label.
    pub coverage: Option<f64>,
    /// Mean number of labels in a set.
    pub mean_size: Option<f64>,
    /// Average over all alpha of `|coverage - (1 - alpha)|`.
    pub total_coverage_gap: Option<f64>,
    /// `n_w` of its weights.
    pub effective_sample_size: Option<f64>,
    /// Time taken.
    pub seconds: Option<f64>,
}

/// `|coverage - (1 - alpha)|` over alpha for one method (the paper's Fig 2).
#[derive(Debug, Clone, PartialEq)]
pub struct GapCurve {
    /// Its name, as in [`MethodRow::method`].
    pub method: String,
    /// `(alpha, gap)`, by increasing alpha.
    pub points: Vec<(f64, f64)>,
}

/// Coverage of one class.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassRow {
    /// Name of the class.
    pub name: String,
    /// Number of labeled test points.
    pub points: usize,
    /// Their coverage.
    pub coverage: Option<f64>,
    /// Mean size of their sets.
    pub mean_size: Option<f64>,
}
