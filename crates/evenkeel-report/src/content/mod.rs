//! What a report says: plain values that whoever ran the job fills in.
//!
//! Everything but level and answer may stay empty; a part without content is left out of the page. Texts may hold
//! anything, they are escaped. Numbers that are not finite are left out.

mod answer;
mod conditions;
mod data;
mod evidence;
mod examples;
mod laws;
mod methods;
mod provenance;
mod readings;
mod standing;

pub use answer::{Advice, Answer, Grounds, MeanSize, Repair, Verdict};
pub use conditions::{ConditionRow, Conditions};
pub use data::DataSet;
pub use evidence::{
    BoundRow, DominanceRow, ShiftOutcome, ShiftTest, TraceCurve, WeightsOverScores,
};
pub use examples::ExampleRow;
pub use laws::{SandwichLaws, ScoreLaws, StepCurve, ThresholdMark};
pub use methods::{ClassRow, GapCurve, MethodRow, MethodThreshold};
pub use provenance::{Input, Provenance};
pub use readings::{Reading, ReadingRange};
pub use standing::{Estimate, Standing};

use evenkeel::level::Miscoverage;

/// Everything a page can show, in the order of the page.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Heading of the page: a question.
    pub title: String,
    /// Name of the model or of the run, if it has one.
    pub run: Option<String>,
    /// When the run was made, as it is to be read.
    pub date: Option<String>,
    /// What was looked at.
    pub data: Vec<DataSet>,
    /// Number of classes.
    pub class_count: Option<usize>,
    /// Miscoverage rate of the run; the level is `1 - alpha`.
    pub alpha: Miscoverage,
    /// Verdict, number, repair and what to do.
    pub answer: Answer,
    /// What a reader should know before trusting the answer, one sentence each.
    pub warnings: Vec<String>,
    /// A few rows with their sets, before and after.
    pub examples: Vec<ExampleRow>,
    /// Several conditions, days or batches.
    pub conditions: Conditions,
    /// Coverage of each class.
    pub classes: Vec<ClassRow>,
    /// The method and data whose coverage that is.
    pub classes_under: Option<String>,
    /// What was done and why, a paragraph each.
    pub account: Vec<String>,
    /// Whether the model's outputs changed.
    pub shift: Option<ShiftTest>,
    /// Coverage of the sets in use under each reading.
    pub readings: Vec<ReadingRange>,
    /// Bounds on the total coverage gap.
    pub bounds: Vec<BoundRow>,
    /// Whether the pairs of laws are ordered.
    pub dominance: Vec<DominanceRow>,
    /// Empirical CDFs of the scores (the paper's Fig 1).
    pub score_laws: Option<ScoreLaws>,
    /// The weights that the shown method learned.
    pub weights: Option<WeightsOverScores>,
    /// The methods side by side. Their order fixes their colours and markers in all figures.
    pub methods: Vec<MethodRow>,
    /// Coverage gap over alpha, one curve per method (the paper's Fig 2).
    pub gap_curves: Vec<GapCurve>,
    /// How the optimisation went, one curve per method.
    pub traces: Vec<TraceCurve>,
    /// What is needed to repeat the run.
    pub provenance: Provenance,
}

impl Report {
    /// The question most pages answer.
    pub const QUESTION: &'static str = "Does coverage still hold?";

    /// A report with an answer to [`Report::QUESTION`] and nothing else yet.
    pub fn new(alpha: Miscoverage, answer: Answer) -> Self {
        Self {
            title: Self::QUESTION.to_owned(),
            run: None,
            date: None,
            data: Vec::new(),
            class_count: None,
            alpha,
            answer,
            warnings: Vec::new(),
            examples: Vec::new(),
            conditions: Conditions::default(),
            classes: Vec::new(),
            classes_under: None,
            account: Vec::new(),
            shift: None,
            readings: Vec::new(),
            bounds: Vec::new(),
            dominance: Vec::new(),
            score_laws: None,
            weights: None,
            methods: Vec::new(),
            gap_curves: Vec::new(),
            traces: Vec::new(),
            provenance: Provenance::default(),
        }
    }

    /// The level `1 - alpha`: the coverage asked for.
    pub(crate) fn level(&self) -> f64 {
        1.0 - self.alpha.get()
    }
}
