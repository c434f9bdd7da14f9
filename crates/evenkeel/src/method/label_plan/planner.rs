//! The calibration side of the method: what its stages are made from.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::plan::LabelPlan;
use super::second_pass::SecondPass;
use super::settings::LabelPlanSettings;
use crate::error::{Error, Result};
use crate::interval::Interval;
use crate::label_law::{
    CalibrationOutputs, ClassGroups, FirstPass, FittedModel, Iterating, LabelLawMap, LabeledLogits,
    Losses, PredictedCalibration, Said, ShiftStatistics, TargetRows, best_temperature, in_blocks,
    shift_statistics, tempered_softmax,
};
use crate::method::Sorted;
use crate::rows::{Real, RowKeys, Rows};
use crate::score::{Labels, Probabilities, Score};
use crate::seed::Seed;
use crate::sketch::Abscissae;

/// Abscissae beyond the largest calibration score, at halved distances from the end of the range: where a threshold lies there
/// the readings are known to the abscissa before it.
const TAIL_POINTS: i32 = 16;

/// `softmax` of each row of logits.
fn softmax_rows(logits: &[f64], classes: usize) -> Vec<f64> {
    let mut out = vec![0.0; logits.len()];
    let rows = logits.chunks_exact(classes).zip(out.chunks_exact_mut(classes));
    rows.for_each(|(logits, out)| tempered_softmax(logits, 1.0, out));
    out
}

/// What was found so far of the calibration data alone.
#[derive(Debug, Default)]
struct OfCalibration {
    /// What the model says of the rows.
    outputs: OnceLock<CalibrationOutputs>,
    /// The scores and their places.
    sorted: OnceLock<Sorted>,
    /// Thresholds in question, and the abscissae with them.
    abscissae: OnceLock<(Vec<f64>, Abscissae, f64)>,
}

/// Calibration side of the method, ready for target rows.
// Hidden: see the seam above.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct LabelPlanner {
    pub(super) labeled: LabeledLogits,
    pub(super) score: Option<Score>,
    range: Interval,
    pub(super) settings: LabelPlanSettings,
    seed: Seed,
    pub(super) temperature: f64,
    /// Probabilities of the calibration points, kept for the plan score alone: a label law must give them the bits that it gives
    /// equal rows of a test.
    probabilities: Vec<f64>,
    /// The same rows as other models see them.
    pub(super) others: Vec<LabelPlanner>,
    /// What plans need of the calibration data alone: shared by clones, which answer for many batches.
    alone: Arc<OfCalibration>,
    /// A label law that scores both data sets whatever the plan will be: that of a calibration in use.
    pub(super) given_law: Option<LabelLawMap>,
}

impl LabelPlanner {
    /// Fits the temperature. `score` scores target rows and must be the one that scored the calibration rows; `seed`
    /// chooses the rows of very large tables that take part in the fixed points.
    ///
    /// # Errors
    /// If a setting is out of its range.
    pub fn new(
        labeled: LabeledLogits,
        score: Score,
        settings: LabelPlanSettings,
        seed: Seed,
    ) -> Result<Self> {
        let range = score.range(labeled.classes());
        Self::with(labeled, Some(score.with_draws_for("today")), range, settings, seed)
    }

    /// The same for the user's own scores, which lie in `range`.
    ///
    /// # Errors
    /// If a setting is out of its range.
    pub fn for_candidates(
        labeled: LabeledLogits,
        range: Interval,
        settings: LabelPlanSettings,
        seed: Seed,
    ) -> Result<Self> {
        Self::with(labeled, None, range, settings, seed)
    }

    fn with(
        labeled: LabeledLogits,
        score: Option<Score>,
        range: Interval,
        settings: LabelPlanSettings,
        seed: Seed,
    ) -> Result<Self> {
        settings.check(labeled.classes())?;
        let temperature = best_temperature(&Losses::new(&labeled));
        let probabilities = match score {
            Some(Score::Plan) => softmax_rows(labeled.logits(), labeled.classes()),
            _ => Vec::new(),
        };
        let (others, given_law) = (Vec::new(), None);
        Ok(Self {
            labeled,
            score,
            range,
            settings,
            seed,
            temperature,
            probabilities,
            others,
            alone: Arc::default(),
            given_law,
        })
    }

    /// With the probabilities that the logits are rounded logarithms of.
    pub(crate) fn with_probabilities<T: Real>(mut self, table: &Probabilities<'_, T>) -> Self {
        if self.score == Some(Score::Plan) {
            let rows = self.probabilities.chunks_exact_mut(table.classes());
            rows.enumerate().for_each(|(index, row)| table.read_row(index, row));
        }
        self
    }

    /// With both data sets scored by a law that is known already. The planner must be one of the plan score.
    ///
    /// # Errors
    /// If it is a law of other classes.
    pub(crate) fn scored_by(mut self, law: LabelLawMap) -> Result<Self> {
        law.require_classes(self.labeled.classes())?;
        let scores = self.scores_by(Some(&law)).into_owned();
        self.labeled = self.labeled.with_scores(scores);
        self.given_law = Some(law);
        self.alone = Arc::default();
        Ok(self)
    }

    /// With what other models say of the calibration rows: planners of the same rows and labels.
    ///
    /// # Errors
    /// If their rows, labels or classes are others.
    pub fn with_others(mut self, others: Vec<LabelPlanner>) -> Result<Self> {
        let same = |other: &Self| {
            other.labeled.labels() == self.labeled.labels()
                && other.labeled.classes() == self.labeled.classes()
        };
        if !others.iter().all(same) {
            return Err(Error::IncompatibleSketches { what: "rows" });
        }
        self.others = others;
        Ok(self)
    }

    /// With the probabilities that other models give the calibration rows, beside each other.
    ///
    /// # Errors
    /// If they are not probabilities of as many classes.
    pub(crate) fn with_second(
        self,
        second: Option<Rows<'_, f64>>,
        labels: &Labels,
    ) -> Result<Self> {
        let Some(table) = second else { return Ok(self) };
        let classes = self.labeled.classes();
        if table.columns() % classes != 0 {
            return Err(Error::LengthMismatch {
                what: "columns of the second models",
                found: table.columns(),
                other: "classes of each",
                expected: classes,
            });
        }
        let mut others = Vec::new();
        for model in 0..table.columns() / classes {
            let values: Vec<f64> = table
                .iter()
                .flat_map(|row| row[model * classes..][..classes].iter().copied())
                .collect();
            let probabilities =
                Probabilities::from_rows(Rows::new(table.what(), &values, classes)?)?;
            // Only its logits count; no score of theirs is ever used.
            let labeled = LabeledLogits::of_probabilities(&probabilities, labels, &Score::Lac)?;
            others.push(Self::new(labeled, Score::Lac, self.settings, self.seed)?);
        }
        self.with_others(others)
    }

    /// The labeled side.
    pub(crate) fn labeled(&self) -> &LabeledLogits {
        &self.labeled
    }

    /// Scores of the calibration points: those they came with, or those of a label law.
    pub(crate) fn scores_by(&self, law: Option<&LabelLawMap>) -> Cow<'_, [f64]> {
        let Some(law) = law else {
            return Cow::Borrowed(self.labeled.scores());
        };
        let classes = self.labeled.classes();
        let (mut room, mut scores) = (Vec::new(), vec![0.0; classes]);
        let rows = self.probabilities.chunks_exact(classes).zip(self.labeled.labels());
        let score = |(probabilities, label): (&[f64], &usize)| {
            law.scores(classes, probabilities, &mut room, &mut scores);
            scores[*label]
        };
        Cow::Owned(rows.map(score).collect())
    }

    pub(super) fn model(&self) -> FittedModel<'_> {
        FittedModel {
            labeled: &self.labeled,
            temperature: self.temperature,
            outputs: self.outputs(),
        }
    }

    pub(super) fn iterating(&self) -> Iterating {
        let LabelPlanSettings { tolerance, most_iterations, .. } = self.settings;
        Iterating { tolerance, most_iterations }
    }

    /// An empty first pass.
    pub fn first_pass(&self) -> FirstPass {
        let classes = self.labeled.classes();
        let kept_rows = (self.settings.kept_cells / classes).max(1);
        let seed = self.seed.child("label-plan-rows", 0).get();
        FirstPass::new(classes, self.temperature, seed, kept_rows)
            .with_others(self.others.iter().map(|other| other.temperature))
    }

    /// Groups of the classes, by default the planner's own, the distances between the two data sets, and what the model says of the
    /// target rows.
    pub(super) fn compare(
        &self,
        first: &FirstPass,
        groups: Option<&ClassGroups>,
    ) -> Result<(ClassGroups, ShiftStatistics, Said)> {
        if first.rows == 0 {
            return Err(Error::Empty { what: "target table" });
        }
        let groups = groups.cloned().unwrap_or_else(|| ClassGroups::new(&self.labeled, first.rows));
        let said = first.said()?;
        let statistics = self.statistics(&groups, &said);
        Ok((groups, statistics, said))
    }

    /// How far target rows are from the calibration data.
    pub(crate) fn statistics(&self, groups: &ClassGroups, said: &Said) -> ShiftStatistics {
        let counts = said.counts(&groups.group_of, groups.len());
        shift_statistics(&self.predicted_calibration(groups), &counts, &said.confidences)
    }

    /// Both passes over a table in memory, read by the threads of the current rayon pool.
    ///
    /// # Errors
    /// If a row does not hold finite values of the right number, or there is none.
    pub fn plan<T: Real>(&self, target: &TargetRows<'_, T>) -> Result<LabelPlan> {
        let empty = self.first_pass().expecting(target.rows());
        let keys = |first_row: usize| RowKeys::From(first_row as u64);
        let first = in_blocks(target, |row, block| empty.clone().add(keys(row), block))
            .try_reduce(|| empty.clone(), FirstPass::merge)?;
        let prepared = self.prepare(&first)?;
        let empty = prepared.second_pass();
        let second = in_blocks(target, |row, block| empty.clone().add(&prepared, keys(row), block))
            .try_reduce(|| empty.clone(), SecondPass::merge)?;
        self.finish(&prepared, second)
    }

    /// `T`, the temperature of the calibration labels.
    pub(crate) fn temperature(&self) -> f64 {
        self.temperature
    }

    /// What the model says of the calibration rows.
    fn outputs(&self) -> &CalibrationOutputs {
        let outputs = &self.alone.outputs;
        outputs.get_or_init(|| CalibrationOutputs::of(&self.labeled, self.temperature))
    }

    /// The calibration scores and their places; of a label law where one scores them.
    pub(super) fn sorted_scores(&self, law: Option<&LabelLawMap>) -> Sorted {
        match law {
            // Equal scores keep the order of the input, so that stored weights can be given back to their rows.
            Some(_) => Sorted::new(&self.scores_by(law)),
            None => self.alone.sorted.get_or_init(|| Sorted::new(self.labeled.scores())).clone(),
        }
    }

    pub(crate) fn predicted_calibration(&self, groups: &ClassGroups) -> PredictedCalibration<'_> {
        let outputs = self.outputs();
        let groups = outputs.top.iter().map(|class| groups.group_of[*class]).collect();
        PredictedCalibration { groups, outputs }
    }

    /// The distinct calibration scores, by a label law where there is one, further thresholds and a few points beyond; and the
    /// largest calibration score.
    pub(super) fn abscissae(
        &self,
        law: Option<&LabelLawMap>,
        further: &[f64],
    ) -> Result<(Abscissae, f64)> {
        let known = self.alone.abscissae.get().filter(|known| law.is_none() && known.0 == further);
        if let Some((_, abscissae, largest)) = known {
            return Ok((abscissae.clone(), *largest));
        }
        let mut points = self.sorted_scores(law).scores;
        let low = points.first().map_or(self.range.low(), |first| first.min(self.range.low()));
        let high = points.last().map_or(self.range.high(), |last| last.max(self.range.high()));
        let range = Interval::new(low, high)?;
        let largest = points.last().copied().unwrap_or(low);
        points.extend(further.iter().filter(|point| range.contains(**point)));
        let beyond = |halvings: i32| high - (high - largest) * 0.5_f64.powi(halvings);
        points.extend((1..TAIL_POINTS).map(beyond));
        points.push(high);
        points.sort_unstable_by(f64::total_cmp);
        points.dedup();
        let abscissae = Abscissae::of_points(range, points);
        if law.is_none() {
            // Those of the first question: a service asks the same one of every batch.
            self.alone.abscissae.get_or_init(|| (further.to_vec(), abscissae.clone(), largest));
        }
        Ok((abscissae, largest))
    }
}
