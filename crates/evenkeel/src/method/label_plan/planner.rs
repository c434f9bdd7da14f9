//! The calibration side of the method, and its stages in order.

use rayon::prelude::*;

use super::certificate::{Certificate, enclosed_gap};
use super::evidence::{FixedPoint, MatchedEvidence, PlanEvidence};
use super::plan::LabelPlan;
use super::prepared::{PlanSummary, PreparedPlan};
use super::second_pass::SecondPass;
use super::settings::LabelPlanSettings;
use super::thresholds::PlanThresholds;
use crate::bound::dkw_half_width;
use crate::error::{Error, Result, require_finite};
use crate::interval::Interval;
use crate::label_law::{
    ClassGroups, FirstPass, FittedModel, GroupTable, Iterating, KeptRows, LabeledLogits, Marginal,
    MatchedPlan, Matching, PlanMixture, PredictedCalibration, SecondOpinion, SecondOpinions,
    ShiftStatistics, TargetRows, TransportPlan, accuracy_statistics, best_temperature,
    clip_to_shares, confidence, fit_plan, in_blocks, predicted, second_opinion, shift_statistics,
};
use crate::learning::projection::project;
use crate::reading::{ReadingName, ScoreLaws, Standing};
use crate::rows::{Real, RowKeys};
use crate::score::Score;
use crate::seed::Seed;
use crate::sketch::Abscissae;

/// Abscissae beyond the largest calibration score, at halved distances from the end of the range: where a threshold lies there
/// the readings are known to the abscissa before it.
const TAIL_POINTS: i32 = 16;

/// Rows times groups that take part in the accuracy and the matched laws, which take some forty fixed points: a uniform sample of
/// the kept rows beyond. Accuracy and laws share the rows, so that their noise cancels in the factors.
const MATCHED_CELLS: usize = 1 << 18;

/// Where the accuracy of the matched reading comes from.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Accuracy {
    /// The model's outputs alone.
    #[default]
    Estimated,
    /// Delayed feedback, an audit, other models: a share of right predictions on the target data.
    Known(f64),
}

/// What a plan is asked beside its weights.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanQuestion {
    /// The reading whose law the weights aim at.
    pub aim: ReadingName,
    /// The accuracy of the matched reading.
    pub accuracy: Accuracy,
    /// Thresholds, beside the calibration scores, at which coverages must be exact.
    pub thresholds: Vec<f64>,
}

impl Default for PlanQuestion {
    fn default() -> Self {
        Self { aim: ReadingName::ClassShares, accuracy: Accuracy::default(), thresholds: vec![] }
    }
}

/// Calibration side of the method, ready for target rows.
// Hidden: see the seam above.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct LabelPlanner {
    labeled: LabeledLogits,
    score: Option<Score>,
    range: Interval,
    settings: LabelPlanSettings,
    seed: Seed,
    temperature: f64,
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
        settings.check()?;
        let temperature = best_temperature(&labeled);
        Ok(Self { labeled, score, range, settings, seed, temperature })
    }

    /// The labeled side.
    pub(crate) fn labeled(&self) -> &LabeledLogits {
        &self.labeled
    }

    fn model(&self) -> FittedModel<'_> {
        FittedModel { labeled: &self.labeled, temperature: self.temperature }
    }

    fn iterating(&self) -> Iterating {
        let LabelPlanSettings { tolerance, most_iterations, .. } = self.settings;
        Iterating { tolerance, most_iterations }
    }

    /// An empty first pass.
    pub fn first_pass(&self) -> FirstPass {
        let classes = self.labeled.classes();
        let kept_rows = (self.settings.kept_cells / classes).max(1);
        let seed = self.seed.child("label-plan-rows", 0).get();
        FirstPass::new(classes, self.temperature, seed, kept_rows)
    }

    /// Stages 2 to 4, after the first pass over all target rows.
    ///
    /// # Errors
    /// If no row was added, two rows have one key, or the pass was cut or made up.
    pub fn prepare(&self, first: FirstPass) -> Result<PreparedPlan> {
        self.prepare_for(first, &PlanQuestion::default())
    }

    /// The same, with the laws of all readings at further thresholds, for a known accuracy, or with another reading to aim at.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare), and if a threshold is not finite or the accuracy not a share.
    pub fn prepare_for(&self, first: FirstPass, question: &PlanQuestion) -> Result<PreparedPlan> {
        require_finite("thresholds in question", &question.thresholds)?;
        let rows = first.rows;
        let (groups, statistics) = self.compare(&first, None)?;
        let target = KeptRows::of(first)?;
        let (iterating, classes) = (self.iterating(), self.labeled.classes());
        let plan = match statistics.mix > 0.0 {
            true => {
                let planned = self.temperature * statistics.inflation;
                let table = GroupTable::new(target.logits(), target.top(), &groups, planned);
                fit_plan(&table, &groups.prior, Marginal::SemiRelaxed, iterating)
            }
            false => TransportPlan::not_needed(groups.len()),
        };
        let planned_rows = target.len();
        let target = target.thinned((MATCHED_CELLS / groups.len()).max(1));
        let (accuracy, balanced) =
            accuracy_statistics(self.model(), &groups, &statistics, &target, iterating);
        let used = match question.accuracy {
            Accuracy::Estimated => accuracy.estimate,
            Accuracy::Known(share) if (0.0..=1.0).contains(&share) => {
                clip_to_shares(share, classes)
            }
            Accuracy::Known(value) => {
                let what = "the accuracy on the target data";
                return Err(Error::OutOfRange { what, value, expected: "between 0 and 1" });
            }
        };
        let (temperature, mix) = (self.temperature, accuracy.mix);
        let matching = Matching { target: &target, groups: &groups, temperature, mix, iterating };
        let band = accuracy.band_around(used);
        let matched: Vec<_> =
            [used, used - band, used + band].into_par_iter().map(|a| matching.to(a)).collect();
        let [matched, low, high] = match <[_; 3]>::try_from(matched) {
            Ok(matched) => matched,
            // Three went in and three come out.
            Err(_) => return Err(Error::Empty { what: "matched plans" }),
        };
        let mixture = |matched: &MatchedPlan| {
            PlanMixture::of_plan(temperature * matched.factor, mix, &matched.plan, &groups)
        };
        let laws = [
            PlanMixture::tempered(temperature, classes),
            PlanMixture::of_plan(
                temperature * statistics.inflation,
                statistics.mix,
                &plan,
                &groups,
            ),
            mixture(&matched),
            mixture(&low),
            mixture(&high),
        ];
        let (abscissae, largest) = self.abscissae(&question.thresholds)?;
        Ok(PreparedPlan {
            laws,
            aim: question.aim,
            abscissae,
            largest,
            score: self.score,
            rows,
            groups,
            evidence: PlanSummary {
                temperature,
                statistics,
                plan: FixedPoint::from(&plan),
                balanced: FixedPoint::from(&balanced),
                planned_rows,
                accuracy: MatchedEvidence::new(
                    accuracy,
                    used,
                    target.len(),
                    [&matched, &low, &high],
                ),
            },
        })
    }

    /// Groups of the classes, by default the planner's own, and the distances between the two data sets.
    fn compare(
        &self,
        first: &FirstPass,
        groups: Option<&ClassGroups>,
    ) -> Result<(ClassGroups, ShiftStatistics)> {
        if first.rows == 0 {
            return Err(Error::Empty { what: "target table" });
        }
        let groups = groups.cloned().unwrap_or_else(|| ClassGroups::new(&self.labeled, first.rows));
        let mut target_counts = vec![0; groups.len()];
        for (count, group) in first.predicted.iter().zip(&groups.group_of) {
            target_counts[*group] += count;
        }
        let predicted = self.predicted_calibration(&groups);
        let statistics = shift_statistics(&predicted, &target_counts, &first.confidences);
        Ok((groups, statistics))
    }

    /// What other models say of this one's accuracy: their planners were made of the same calibration rows and labels, and
    /// their passes are over the same target rows.
    ///
    /// # Errors
    /// If a pass has no rows or was cut, or the models do not speak of the same rows and classes.
    pub fn second_opinions(
        &self,
        first: FirstPass,
        others: Vec<(&Self, FirstPass)>,
    ) -> Result<SecondOpinions> {
        let (groups, statistics) = self.compare(&first, None)?;
        let of = |planner: &Self, statistics: &ShiftStatistics, target: &KeptRows| {
            accuracy_statistics(planner.model(), &groups, statistics, target, self.iterating()).0
        };
        for (other, other_first) in &others {
            let same = self.labeled.labels() == other.labeled.labels()
                && self.labeled.classes() == other.labeled.classes()
                && first.kept.same_keys(&other_first.kept)
                && first.rows == other_first.rows;
            if !same {
                return Err(Error::IncompatibleSketches { what: "rows" });
            }
        }
        let most = (MATCHED_CELLS / groups.len()).max(1);
        let target = KeptRows::of(first)?.thinned(most);
        let own = of(self, &statistics, &target);
        let opinion = |(other, first): (&Self, FirstPass)| {
            let (_, statistics) = other.compare(&first, Some(&groups))?;
            let seen = KeptRows::of(first)?.thinned(most);
            let accuracy = of(other, &statistics, &seen).estimate;
            Ok(second_opinion((self.model(), &target, &own), (other.model(), &seen, accuracy)))
        };
        let others: Vec<SecondOpinion> = others.into_iter().map(opinion).collect::<Result<_>>()?;
        Ok(SecondOpinions::new(own, others))
    }

    /// Stages 5 and 6, after the second pass over the same rows.
    ///
    /// # Errors
    /// If the second pass belongs to another plan, or saw another number of rows than the first.
    pub fn finish(&self, prepared: &PreparedPlan, second: SecondPass) -> Result<LabelPlan> {
        second.require_plan(prepared)?;
        let SecondPass { sums, .. } = second;
        if sums.rows != prepared.rows {
            return Err(Error::LengthMismatch {
                what: "the second pass",
                found: sums.rows as usize,
                other: "the first pass",
                expected: prepared.rows as usize,
            });
        }
        let given = self.labeled.scores();
        // A stable sort: equal scores keep the order of the input, so that stored weights can be given back to their rows.
        let mut order: Vec<usize> = (0..given.len()).collect();
        order.sort_by(|a, b| given[*a].total_cmp(&given[*b]));
        let sorted: Vec<f64> = order.iter().map(|index| given[*index]).collect();

        let (cdfs, tail) = sums.finish();
        let tail_of = (prepared.aim, tail.clone());
        let laws = ScoreLaws::new(&prepared.abscissae, cdfs, tail_of, prepared.rows)?;
        let planned = laws.cdf_at(prepared.aim, &sorted);
        let projected = project(&sorted, &planned)?;
        let reached = planned.last().copied().unwrap_or(f64::NAN);
        let certificate = self.certificate(&laws, &sorted, &projected.cumulative)?;
        let summary = &prepared.evidence;
        let evidence = PlanEvidence {
            n: given.len(),
            m: prepared.rows,
            classes: self.labeled.classes(),
            temperature: self.temperature,
            group_of: prepared.groups.group_of.clone(),
            prior: prepared.groups.prior.clone(),
            statistics: summary.statistics,
            plan: summary.plan,
            balanced: summary.balanced,
            planned_rows: summary.planned_rows,
            effective_sample_size: projected.weights.effective_sample_size(),
            support_reached: reached,
            estimated_gap: projected.gap,
            certificate,
            accuracy: Some(summary.accuracy),
            uncorrected: None,
            corrected: None,
        };
        let thresholds = PlanThresholds::new(sorted, projected.cumulative, reached, tail)?;
        Ok(LabelPlan { thresholds, order, weights: projected.weights, laws, evidence })
    }

    /// The bound over the hull of the readings.
    fn certificate(
        &self,
        laws: &ScoreLaws,
        sorted: &[f64],
        cumulative: &[f64],
    ) -> Result<Certificate> {
        let hull = &ReadingName::HULL;
        let value = enclosed_gap(sorted.iter().map(|score| laws.hull(hull, *score)), cumulative);
        let at_hand = sorted.iter().map(|score| laws.unwidened_hull(hull, *score));
        let delta = self.settings.delta;
        let uniform =
            enclosed_gap(at_hand, cumulative) + dkw_half_width(laws.rows() as f64, delta)?;
        Ok(Certificate {
            value,
            // No gap exceeds one.
            with_confidence: uniform.max(value).min(1.0),
            delta: delta.get(),
            standing: Standing::Assumed,
        })
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
        let prepared = self.prepare(first)?;
        let empty = prepared.second_pass();
        let second = in_blocks(target, |row, block| empty.clone().add(&prepared, keys(row), block))
            .try_reduce(|| empty.clone(), SecondPass::merge)?;
        self.finish(&prepared, second)
    }

    fn predicted_calibration(&self, groups: &ClassGroups) -> PredictedCalibration {
        let rows = self.labeled.logits().chunks_exact(self.labeled.classes());
        let (groups, confidences) = rows
            .map(|row| (groups.group_of[predicted(row)], confidence(row, 1.0 / self.temperature)))
            .unzip();
        PredictedCalibration { groups, confidences }
    }

    /// The distinct calibration scores, further thresholds and a few points beyond; and the largest calibration score.
    fn abscissae(&self, further: &[f64]) -> Result<(Abscissae, f64)> {
        let mut points = self.labeled.scores().to_vec();
        points.sort_unstable_by(f64::total_cmp);
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
        Ok((Abscissae::of_points(range, points), largest))
    }
}
