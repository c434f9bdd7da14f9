//! What a report says: plain values that whoever ran the job fills in.
//!
//! Everything but title, level and answer may stay empty; a section without content is left out of the page. Texts
//! may hold anything, they are escaped. Numbers that are not finite are left out of figures.

mod answer;
mod evidence;
mod laws;
mod methods;
mod provenance;

pub use answer::{Answer, Verdict};
pub use evidence::{BoundRow, CoverageRange, DominanceRow, TraceCurve, WeightsOverScores};
pub use laws::{SandwichLaws, ScoreLaws, StepCurve, ThresholdMark};
pub use methods::{ClassRow, GapCurve, MethodRow, MethodThreshold};
pub use provenance::{Input, Provenance};

use evenkeel::level::Miscoverage;

/// Everything a page can show.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Heading of the page.
    pub title: String,
    /// One line under the heading: what was compared, how many points.
    pub subtitle: Option<String>,
    /// Miscoverage rate of the run; the level is `1 - alpha`.
    pub alpha: Miscoverage,
    /// The answer, first thing on the page.
    pub answer: Answer,
    /// What a reader should know before trusting the answer, one sentence each.
    pub warnings: Vec<String>,
    /// Where coverage lies at a threshold, from unlabeled points alone.
    pub coverage_ranges: Vec<CoverageRange>,
    /// Bounds on the total coverage gap.
    pub bounds: Vec<BoundRow>,
    /// Whether the pairs of laws are ordered.
    pub dominance: Vec<DominanceRow>,
    /// The methods side by side. Their order fixes their colours and markers in all figures.
    pub methods: Vec<MethodRow>,
    /// Coverage gap over alpha, one curve per method (the paper's Fig 2).
    pub gap_curves: Vec<GapCurve>,
    /// Empirical CDFs of the scores (the paper's Fig 1).
    pub score_laws: Option<ScoreLaws>,
    /// The weights that the shown method learned.
    pub weights: Option<WeightsOverScores>,
    /// How the optimisation went, one curve per method.
    pub traces: Vec<TraceCurve>,
    /// Coverage of each class.
    pub classes: Vec<ClassRow>,
    /// The method whose coverage that is, if several are shown.
    pub classes_under: Option<String>,
    /// What is needed to repeat the run.
    pub provenance: Provenance,
}

impl Report {
    /// A report with an answer and nothing else yet.
    pub fn new(title: impl Into<String>, alpha: Miscoverage, answer: Answer) -> Self {
        Self {
            title: title.into(),
            subtitle: None,
            alpha,
            answer,
            warnings: Vec::new(),
            coverage_ranges: Vec::new(),
            bounds: Vec::new(),
            dominance: Vec::new(),
            methods: Vec::new(),
            gap_curves: Vec::new(),
            score_laws: None,
            weights: None,
            traces: Vec::new(),
            classes: Vec::new(),
            classes_under: None,
            provenance: Provenance::default(),
        }
    }

    /// The level `1 - alpha`: the coverage asked for.
    pub(crate) fn level(&self) -> f64 {
        1.0 - self.alpha.get()
    }
}
