//! Coverage, set size and gap of methods side by side, and of classes.

use evenkeel::threshold::Threshold;

/// Where a method cuts its sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MethodThreshold {
    /// At one threshold for all points.
    One(Threshold),
    /// At a separate threshold for every point.
    PerPoint,
}

impl From<Threshold> for MethodThreshold {
    fn from(threshold: Threshold) -> Self {
        Self::One(threshold)
    }
}

/// What one method achieved; a row of the table of methods.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodRow {
    /// Its name on the command line.
    pub method: String,
    /// What must hold for its coverage to be right, in a few words.
    pub assumption: String,
    /// The threshold at which it cuts its sets.
    pub threshold: MethodThreshold,
    /// Share of labeled test points whose set holds their label, in `[0, 1]`.
    pub coverage: Option<f64>,
    /// Mean number of labels in a set.
    pub mean_size: Option<f64>,
    /// Average over all alpha of `|coverage - (1 - alpha)|`.
    pub total_coverage_gap: Option<f64>,
    /// Effective sample size `n_w` of its weights.
    pub effective_sample_size: Option<f64>,
    /// Wall time of the fit, in seconds.
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

/// Coverage of one class. A column that no row fills is left out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClassRow {
    /// Name of the class.
    pub name: String,
    /// Number of labeled rows of the class.
    pub points: usize,
    /// Share of them whose set holds the class, in `[0, 1]`.
    pub coverage: Option<f64>,
    /// The same with the repair.
    pub after_repair: Option<f64>,
    /// Mean number of labels in their sets.
    pub mean_size: Option<f64>,
}
