//! Stage 9: what a calibration run leaves behind. Thresholds and sets follow from it for any `alpha`.
//!
//! ```text
//! t(alpha) = smallest s with (1 - w_test) sum_{i: s_i <= s} w_i >= 1 - alpha,   set(x) = {y : s(x, y) <= t(alpha)}
//! ```
//! That is the rule of plain weights; other rules scale or move the quantile, or take one per label or per point.

mod class_names;
mod diagnosis;
mod file;
mod gap;
mod reference;

pub use crate::conformal::{Cutoffs, ThresholdsDifferBy};
pub use crate::method::{
    Basis, ConditionalRule, Evidence, Learned, RatioRule, RatioSource, RecordedOptions, Rule,
};
pub use crate::warning::{Warning, WeightsBy};
pub use class_names::ClassNames;
pub(crate) use diagnosis::diagnose;
use file::CalibrationFile;
pub use file::CalibrationHeader;
pub use reference::{Reference, ReferenceRows};

use serde::{Deserialize, Serialize};

use crate::conformal::{
    LabelSets, Scoring, Thresholds, label_scores_by, lac_sets_of_columns, predict_scored,
};
use crate::error::{Error, Result, require_same_length};
use crate::label_law::LabelLawMap;
use crate::level::Miscoverage;
use crate::measure::{WeightedEmpirical, Weights};
use crate::method::MethodName;
use crate::rows::{Real, RowKeys, Rows};
use crate::score::{Probabilities, Score};
use crate::seed::Seed;
use crate::side_inputs::SideInputs;
use crate::threshold::{TestMass, Threshold};

/// Where a calibration comes from: what was asked for, not what came out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Provenance {
    /// Name of the method that made it; the rule must be one of its rules.
    pub method: MethodName,
    /// Score function of the calibration points and of every set.
    pub score: Score,
    /// Number of classes (candidate labels).
    pub classes: usize,
    /// Miscoverage rate asked for when none is named later.
    pub alpha: Miscoverage,
    /// Root of all randomness; sets of randomised scores draw from it too.
    pub seed: Seed,
}

/// Weighted calibration scores: one fit serves every alpha.
///
/// It needs neither data set any more. Of the calibration points it keeps scores and weights, and
/// what the rule asks for: `conditional` keeps the rows that describe them.
///
/// It serialises with serde as the JSON of a calibration file; reading one checks everything again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "CalibrationFile", try_from = "CalibrationFile")]
pub struct Calibration {
    /// Method, score, classes, level and seed.
    provenance: Provenance,
    /// Calibration scores, increasing; shape `(n,)`.
    scores: Vec<f64>,
    /// One for each score, in the same order.
    weights: Weights,
    /// The test point's share, at infinity.
    test_mass: TestMass,
    /// Scores and weights as a law, made once; not stored.
    law: WeightedEmpirical,
    /// How thresholds follow from law and test mass.
    rule: Rule,
    /// How the weights came about, with warnings and evidence.
    learned: Learned,
    reference: Option<Reference>,
    /// What scores labels under the plan score; none where that is the model's own law.
    label_law: Option<LabelLawMap>,
    /// What the user calls the classes; none where nothing is named.
    class_names: Option<ClassNames>,
}

impl Calibration {
    /// From increasing scores and their weights.
    ///
    /// # Errors
    /// If weights and scores differ in number, or the rule does not belong to them.
    pub(crate) fn new(
        provenance: Provenance,
        scores: Vec<f64>,
        weights: Weights,
        test_mass: TestMass,
        rule: Rule,
        learned: Learned,
    ) -> Result<Self> {
        require_same_length("weights", weights.len(), "scores", scores.len())?;
        let classes = provenance.classes;
        // Also for rules made a moment ago: files and fits come through the same door.
        rule.check(provenance.method, &scores, weights.as_slice(), classes)?;
        let law = WeightedEmpirical::new(&scores, &weights)?;
        let (reference, label_law, class_names) = (None, None, None);
        Ok(Self {
            provenance,
            scores,
            weights,
            test_mass,
            law,
            rule,
            learned,
            reference,
            label_law,
            class_names,
        })
    }

    /// With the label law that scored its points.
    ///
    /// # Errors
    /// If the score is not `plan`, the law is one of other classes, or there is none where the rule was found with one.
    pub(crate) fn with_label_law(mut self, label_law: Option<LabelLawMap>) -> Result<Self> {
        let damaged = |why| Err(Error::Damaged { what: "this calibration", why });
        let planned = matches!(self.rule, Rule::Planned { .. } | Rule::FewLabels { .. });
        // `auto` keeps split conformal prediction, on the scores of the law it has fitted, where no reading says that coverage was lost.
        let kept =
            matches!(self.rule, Rule::Quantile) && self.provenance.method == MethodName::Auto;
        match (&label_law, self.provenance.score) {
            (Some(law), Score::Plan) if planned || kept => {
                law.require_classes(self.provenance.classes)?;
            }
            (Some(_), _) => return damaged("it has a label law that scores nothing"),
            // Without it thresholds of one score would cut another.
            (None, Score::Plan) if planned => {
                return damaged("its score is plan, and its label law is missing");
            }
            (None, _) => {}
        }
        self.label_law = label_law;
        Ok(self)
    }

    /// The label law that scores labels, where there is one.
    pub(crate) fn label_law(&self) -> Option<&LabelLawMap> {
        self.label_law.as_ref()
    }

    /// Whether labels are scored by a label law that was fitted to target data, and not by a function of the probabilities.
    pub fn is_scored_by_a_fitted_law(&self) -> bool {
        self.label_law.is_some()
    }

    /// With the labeled rows it was made of, so that a later check can compare target rows with them.
    ///
    /// # Errors
    /// If they are not rows of probabilities of as many classes.
    pub fn with_reference(mut self, reference: Reference) -> Result<Self> {
        reference.check(self.provenance.classes)?;
        self.reference = Some(reference);
        Ok(self)
    }

    /// Without the labeled rows: what prediction needs, and no more.
    #[must_use]
    pub fn without_reference(mut self) -> Self {
        self.reference = None;
        self
    }

    /// With what the user calls the classes; names that are none are not kept.
    ///
    /// # Errors
    /// If there is not one name for each class, or two classes have the same one.
    pub fn with_class_names(mut self, names: ClassNames) -> Result<Self> {
        names.check(self.provenance.classes)?;
        self.class_names = Some(names).filter(|names| !names.is_empty());
        Ok(self)
    }

    /// What the user calls the classes; none in files that do not say.
    pub fn class_names(&self) -> Option<&ClassNames> {
        self.class_names.as_ref()
    }

    /// The labeled rows it was made of, or a sample of them; none in files that do not keep any.
    pub fn reference(&self) -> Option<&Reference> {
        self.reference.as_ref()
    }

    /// Where it comes from: method, score, classes, level and seed.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// How its weights came about: bounds, steps, trace, warnings, evidence.
    pub fn learned(&self) -> &Learned {
        &self.learned
    }

    /// Calibration scores, increasing; shape `(n,)`. Half of the points where a function was
    /// fitted.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Their weights, in the same order; they sum to one without the test point's share.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The test point's share of the mass, in `[0, 1]`.
    pub fn test_mass(&self) -> TestMass {
        self.test_mass
    }

    /// The weighted law of calibration scores, without the test point.
    pub fn law(&self) -> &WeightedEmpirical {
        &self.law
    }

    /// `n_w = 1 / sum_i w_i^2` of the weights, in `[1, n]`.
    pub fn effective_sample_size(&self) -> f64 {
        self.weights.effective_sample_size()
    }

    /// How thresholds follow from the weighted scores, as it is stored.
    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    /// The threshold at a miscoverage rate, that of the run if none is given; none where points or labels have their own.
    pub fn threshold(&self, alpha: Option<Miscoverage>) -> Option<Threshold> {
        let alpha = alpha.unwrap_or(self.provenance.alpha);
        self.rule.threshold(&self.law, self.test_mass, alpha)
    }

    /// Whether features must stand beside the points to predict: without them prediction is an
    /// error.
    pub fn needs_features(&self) -> bool {
        self.rule.needs_features()
    }

    /// What thresholds differ by; [`threshold`](Self::threshold) is none unless they do not.
    pub fn thresholds_differ_by(&self) -> ThresholdsDifferBy {
        self.rule.thresholds_differ_by()
    }

    /// Whether likelihood ratios must be given with the points to predict.
    pub fn needs_ratios(&self) -> bool {
        self.rule.needs_ratios()
    }

    /// What a user should know before trusting it, in words.
    pub fn warnings(&self) -> Vec<String> {
        let learned = self.learned.warnings.iter().map(ToString::to_string);
        learned.chain(self.learned.evidence.iter().flat_map(Evidence::warnings)).collect()
    }

    /// What was done and why, for the methods that decide something themselves.
    pub fn account(&self) -> Option<String> {
        self.learned.evidence.as_ref().and_then(Evidence::account)
    }

    /// The thresholds of a block of probability rows; `first_row` is the index of its first row in the whole input.
    ///
    /// # Errors
    /// If a side input that the method needs is missing, has another length than the block or is not finite, or a row does
    /// not hold probabilities.
    pub fn cutoffs<T: Real>(
        &self,
        first_row: usize,
        block: Rows<'_, T>,
        beside: SideInputs<'_>,
        alpha: Option<Miscoverage>,
    ) -> Result<Cutoffs> {
        self.keyed_cutoffs(RowKeys::From(first_row as u64), block, beside, alpha)
    }

    fn keyed_cutoffs<T: Real>(
        &self,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        beside: SideInputs<'_>,
        alpha: Option<Miscoverage>,
    ) -> Result<Cutoffs> {
        beside.check(block.rows())?;
        if let Some(threshold) = self.threshold(alpha) {
            return Ok(Cutoffs::Shared(threshold));
        }
        let alpha = alpha.unwrap_or(self.provenance.alpha);
        // Draws of their own: a test row that shared the draw of the calibration row with its index would not be exchangeable.
        let score = self.provenance.score.with_draws_for("test");
        // None means one threshold for all, which was taken above; no label is left out should it
        // happen.
        let own = self.rule.own_cutoffs(keys, block.any(), &beside, &score, alpha)?;
        Ok(own.unwrap_or(Cutoffs::Shared(Threshold::AllLabels)))
    }

    /// The sets of a block of probability rows; `first_row` is the index of its first row in the whole input.
    ///
    /// # Errors
    /// If the block has other classes than the calibration, a row does not hold probabilities, or the method needs side
    /// inputs: [`predict_beside`](Self::predict_beside) takes them.
    pub fn predict<T: Real>(
        &self,
        first_row: usize,
        block: Rows<'_, T>,
        alpha: Option<Miscoverage>,
    ) -> Result<LabelSets> {
        self.predict_beside(first_row, block, SideInputs::default(), alpha)
    }

    /// The sets of a table of probabilities, at the level that was asked for.
    ///
    /// # Errors
    /// If the table has other classes than the calibration, or the method needs more than probabilities.
    pub fn predict_set<T: Real>(&self, probabilities: &Probabilities<'_, T>) -> Result<LabelSets> {
        self.predict(0, probabilities.table(), None)
    }

    /// The same for methods that take more than probabilities.
    ///
    /// # Errors
    /// If the block has other classes than the calibration, a row does not hold probabilities, or a side input that the
    /// method needs is missing or does not fit the block.
    pub fn predict_beside<T: Real>(
        &self,
        first_row: usize,
        block: Rows<'_, T>,
        beside: SideInputs<'_>,
        alpha: Option<Miscoverage>,
    ) -> Result<LabelSets> {
        self.predict_keyed(RowKeys::From(first_row as u64), block, beside, alpha)
    }

    /// The same for rows with any keys: rows of a group, or of a table spread over machines, do not follow each other.
    ///
    /// # Errors
    /// As [`predict_beside`](Self::predict_beside), and if there is not one key for each row.
    pub fn predict_keyed<T: Real>(
        &self,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        beside: SideInputs<'_>,
        alpha: Option<Miscoverage>,
    ) -> Result<LabelSets> {
        self.require_columns(block.columns())?;
        // The classes are checked before: a threshold for each label would be asked of other
        // labels.
        let cutoffs = self.keyed_cutoffs(keys, block, beside, alpha)?;
        self.predict_cut(keys, block, cutoffs.as_thresholds())
    }

    /// The sets of rows whose table lies column after column, straight from the columns: where scores are `1 - p`, all rows have one
    /// threshold, and this processor can do it faster than by rows. None else, and where a row does not hold probabilities:
    /// [`predict`](Self::predict) says so.
    pub fn predict_columns<T: Real>(
        &self,
        columns: &[&[T]],
        alpha: Option<Miscoverage>,
    ) -> Option<LabelSets> {
        let score = self.provenance.score.with_draws_for("test");
        let threshold = self.threshold(alpha)?;
        if !self.scoring(&score).is_lac() || columns.len() != self.provenance.classes {
            return None;
        }
        lac_sets_of_columns(columns, threshold)
    }

    /// The sets of a block by its scores, at thresholds from elsewhere.
    pub(crate) fn predict_cut<T: Real>(
        &self,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        thresholds: Thresholds<'_>,
    ) -> Result<LabelSets> {
        self.require_columns(block.columns())?;
        let score = self.provenance.score.with_draws_for("test");
        predict_scored(keys, block.any(), self.scoring(&score), thresholds)
    }

    /// An error unless there is a column for each class.
    fn require_columns(&self, columns: usize) -> Result<()> {
        let classes = self.provenance.classes;
        require_same_length("columns", columns, "the calibration's classes", classes)
    }

    /// `s(x_i, y_i)` of a block of labeled rows, as its sets are cut; shape `(rows,)`.
    ///
    /// # Errors
    /// If there is not one label per row, a label names no class, or a row does not hold probabilities.
    pub fn label_scores<T: Real>(
        &self,
        first_row: usize,
        block: Rows<'_, T>,
        labels: &[usize],
    ) -> Result<Vec<f64>> {
        self.label_scores_keyed(RowKeys::From(first_row as u64), block, labels)
    }

    /// The same for rows with any keys.
    ///
    /// # Errors
    /// As [`label_scores`](Self::label_scores), and if there is not one key for each row.
    pub fn label_scores_keyed<T: Real>(
        &self,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        labels: &[usize],
    ) -> Result<Vec<f64>> {
        self.require_columns(block.columns())?;
        let score = self.provenance.score.with_draws_for("test");
        label_scores_by(keys, block.any(), self.scoring(&score), labels)
    }

    fn scoring<'a>(&'a self, score: &'a Score) -> Scoring<'a> {
        self.label_law.as_ref().map_or(Scoring::Function(score), Scoring::LabelLaw)
    }
}
