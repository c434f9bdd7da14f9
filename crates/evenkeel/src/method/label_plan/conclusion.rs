//! Stages 5 and 6: from the sums of a second pass to weights, thresholds, readings and the certificate.

use super::certificate::{Certificate, enclosed_gap};
use super::evidence::PlanEvidence;
use super::plan::LabelPlan;
use super::planner::LabelPlanner;
use super::prepared::PreparedPlan;
use super::second_pass::SecondPass;
use super::thresholds::PlanThresholds;
use crate::bound::dkw_half_width;
use crate::error::{Error, Result};
use crate::label_law::LabelLawMap;
use crate::learning::projection::project;
use crate::level::Miscoverage;
use crate::method::Sorted;
use crate::reading::{ReadingName, ScoreLaw, ScoreLaws, Standing};
use crate::sketch::contradiction;
use crate::threshold::{TestMass, Threshold, threshold_of_sorted};

/// The laws of target scores under every reading, and the calibration scores: all that thresholds follow from.
#[derive(Debug, Clone)]
pub(crate) struct ReadLaws {
    pub laws: ScoreLaws,
    /// Calibration scores and their places.
    pub sorted: Sorted,
    /// What scored both data sets under the plan score.
    pub label_law: Option<LabelLawMap>,
}

impl ReadLaws {
    /// The threshold of split conformal prediction.
    pub(crate) fn split(&self, alpha: Miscoverage) -> Threshold {
        let scores = &self.sorted.scores;
        let equal = vec![1.0 / scores.len() as f64; scores.len()];
        threshold_of_sorted(scores, &equal, TestMass::exchangeable(scores.len()), alpha)
    }
}

impl LabelPlanner {
    /// Stages 5 and 6, after the second pass over the same rows, for the reading to be preferred.
    ///
    /// # Errors
    /// If the second pass belongs to another plan, or saw another number of rows than the first.
    pub fn finish(&self, prepared: &PreparedPlan, second: SecondPass) -> Result<LabelPlan> {
        let read = self.read(prepared, second)?;
        self.aimed(prepared, &read, prepared.preferred())
    }

    /// The laws of all readings.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub(crate) fn read(&self, prepared: &PreparedPlan, second: SecondPass) -> Result<ReadLaws> {
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
        let label_law = prepared.label_law();
        let sorted = self.sorted_scores(label_law.as_ref());
        let summed = sums.finish();
        let named = prepared.laws.iter().zip(summed.cdfs);
        let mut laws: Vec<ScoreLaw> = named
            .map(|(law, cdf)| {
                let (reading, rows, tail) = (law.reading, prepared.rows, Vec::new());
                ScoreLaw { reading, cdf, tail, rows }
            })
            .collect();
        laws.extend(prepared.known.iter().map(|known| ScoreLaw {
            reading: known.reading,
            cdf: known.cdf.clone(),
            tail: Vec::new(),
            rows: prepared.known_rows,
        }));
        for (reading, (cdf, tail)) in prepared.aims.iter().zip(summed.aims) {
            match laws.iter_mut().find(|law| law.reading == *reading) {
                Some(law) => law.tail = tail,
                None => laws.push(ScoreLaw { reading: *reading, cdf, tail, rows: prepared.rows }),
            }
        }
        let doubtful =
            prepared.evidence.label_shares.as_ref().is_some_and(|shares| !shares.explain());
        let laws = ScoreLaws::new(&prepared.abscissae, laws, prepared.rows)?;
        let laws = if doubtful { laws.doubting_label_shift() } else { laws };
        Ok(ReadLaws { laws, sorted, label_law })
    }

    /// The plan whose thresholds are those of one of the readings that the laws were made for.
    pub(crate) fn aimed(
        &self,
        prepared: &PreparedPlan,
        read: &ReadLaws,
        aim: ReadingName,
    ) -> Result<LabelPlan> {
        let ReadLaws { laws, sorted, label_law } = read;
        let Sorted { order, scores } = sorted.clone();
        let planned = laws.cdf_at(aim, &scores);
        let projected = project(&scores, &planned)?;
        let reached = planned.last().copied().unwrap_or(f64::NAN);
        let certificate = self.certificate(laws, &scores, &projected.cumulative)?;
        let summary = &prepared.evidence;
        let evidence = PlanEvidence {
            n: scores.len(),
            m: summary.rows,
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
            label_shares: summary.label_shares.clone(),
            second_opinions: summary.second_opinions.clone(),
        };
        let tail = laws.tail(aim).to_vec();
        let thresholds = PlanThresholds::new(scores, projected.cumulative, reached, tail)?;
        Ok(LabelPlan {
            aim,
            thresholds,
            order,
            weights: projected.weights,
            laws: laws.clone(),
            evidence,
            label_law: label_law.clone(),
            fitted_law: prepared
                .fitted_law(aim)
                .ok_or_else(|| contradiction("it lacks the law that thresholds are made of"))?,
        })
    }

    /// The bound over the hull of the readings.
    fn certificate(
        &self,
        laws: &ScoreLaws,
        sorted: &[f64],
        cumulative: &[f64],
    ) -> Result<Certificate> {
        let hull = &laws.enclosing();
        let (widened, at_hand) = laws.hulls_at(hull, sorted);
        let value = enclosed_gap(widened.into_iter(), cumulative);
        let delta = self.settings.delta;
        let rows = laws.fewest_rows(hull) as f64;
        let uniform = enclosed_gap(at_hand.into_iter(), cumulative) + dkw_half_width(rows, delta)?;
        Ok(Certificate {
            value,
            // No gap exceeds one.
            with_confidence: uniform.max(value).min(1.0),
            delta: delta.get(),
            standing: Standing::Assumed,
        })
    }
}
