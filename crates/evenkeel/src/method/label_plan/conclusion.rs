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
use crate::learning::projection::project;
use crate::reading::{ReadingName, ScoreLaws, Standing};

impl LabelPlanner {
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
        let label_law = prepared.label_law();
        let given = self.scores_by(label_law.as_ref());
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
        let (weights, fitted_law) = (projected.weights, prepared.fitted_law());
        Ok(LabelPlan { thresholds, order, weights, laws, evidence, label_law, fitted_law })
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
}
