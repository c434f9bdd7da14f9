//! From what was gathered to the answer.

use super::assumed::assumed_interval;
use super::checked_calibration::CheckedCalibration;
use super::of_calibration::DensityOnGrid;
use super::report::{
    AssumedModel, ConfidentInterval, CoverageIntervals, DominanceReport, DominanceReports,
    SandwichBounds, SandwichReports, ShiftOutcome, ShiftReport,
};
use super::settings::CheckSettings;
use super::target_laws::TargetLaws;
use crate::bound::{
    DkwCorrection, PopulationMargins, coverage_interval, exact_gap_between, integrated_gap_between,
    level_gap_between, wasserstein_gap_below,
};
use crate::error::Result;
use crate::level::FailureProbability;
use crate::method::label_plan::LabelPlan;
use crate::reading::Readings;
use crate::sandwich::Sandwich;
use crate::shift::ShiftTest;
use crate::threshold::Threshold;

/// What an answer is made of.
pub(super) struct Evidence<'a> {
    pub calibration: &'a CheckedCalibration,
    pub laws: &'a TargetLaws,
    pub plan: &'a LabelPlan,
    pub test: &'a ShiftTest,
}

/// Looks at the calibration side, the laws of the target data and its readings, and answers.
pub(super) fn answer(evidence: &Evidence<'_>) -> Result<ShiftReport> {
    let Evidence { calibration, laws: target, plan, test } = evidence;
    let CheckedCalibration { planner, belief, threshold, score, settings, .. } = calibration;
    let (scores, classes) = (planner.labeled().scores(), planner.labeled().classes());
    let range = score.range(classes);
    let TargetLaws { min_max, f_u, .. } = target;
    let shift = ShiftOutcome {
        statistic: test.statistic,
        confidence_distance: test.confidence_distance,
        class_distance: test.class_distance,
        p_value: test.p_value,
        detected: test.rejects(settings.delta),
        permutations: test.permutations,
    };
    let dominance = f_u.dominance();
    let smoothed = calibration.alone.density(scores, range, settings)?;
    let bounds = |sandwich: &Sandwich| bounds_of(smoothed, sandwich, scores.len(), settings);
    let Readings { coverage_estimate, readings, band, verdict, loss, .. } =
        plan.laws().readings_by(plan.reading(), *threshold, settings.alpha.level());
    Ok(ShiftReport {
        n: scores.len(),
        m: target.rows,
        classes,
        alpha: settings.alpha.get(),
        delta: settings.delta.get(),
        shift,
        threshold: match threshold {
            Threshold::Finite(score) => Some(*score),
            Threshold::AllLabels => None,
        },
        coverage_estimate,
        readings,
        band,
        verdict,
        loss,
        accuracy: plan.evidence().accuracy,
        label_shares: plan.evidence().label_shares.clone(),
        second_opinions: plan.evidence().second_opinions.clone(),
        belief: *belief,
        assumed_model: match belief.holds {
            true => AssumedModel::AsGiven,
            false => AssumedModel::AtTemperature,
        },
        coverage_interval: coverage_intervals(evidence)?,
        bounds: SandwichReports { min_max: bounds(min_max)?, f_u: bounds(f_u)? },
        dominance: DominanceReports {
            f_u: DominanceReport {
                holds: dominance.holds(),
                largest_violation: dominance.largest_violation,
                at: dominance.at,
            },
        },
        bound_grid: settings.bound_grid,
    })
}

fn coverage_intervals(evidence: &Evidence<'_>) -> Result<CoverageIntervals> {
    let Evidence { calibration, laws, .. } = evidence;
    let CheckedCalibration { threshold, settings, .. } = calibration;
    let guaranteed = |confidence: Option<FailureProbability>| {
        coverage_interval(&laws.min_max, *threshold, confidence)
            .map(|found| [found.low, found.high])
    };
    let assumed = |confidence| assumed_interval(evidence, confidence);
    let delta = Some(settings.delta);
    Ok(CoverageIntervals {
        guaranteed: guaranteed(None)?,
        assumed: assumed(None)?,
        with_confidence: ConfidentInterval {
            level: 1.0 - settings.delta.get(),
            guaranteed: guaranteed(delta)?,
            assumed: assumed(delta)?,
        },
    })
}

fn bounds_of(
    smoothed: &DensityOnGrid,
    sandwich: &Sandwich,
    n: usize,
    settings: &CheckSettings,
) -> Result<SandwichBounds> {
    let DensityOnGrid { p, grid, integrator, largest } = smoothed;
    let correction = DkwCorrection::for_sandwich(n as f64, sandwich, settings.delta)?;
    let integrated = integrated_gap_between(p.law(), sandwich, integrator);
    let transport = wasserstein_gap_below(p, sandwich, grid, *largest)?;
    let with_margin = |bound: f64| (bound + correction.calibration + correction.target).min(1.0);
    let margins = PopulationMargins::new(n, sandwich, settings.delta)?;
    let (exact, level) =
        (exact_gap_between(p.law(), sandwich), level_gap_between(p.law(), sandwich));
    Ok(SandwichBounds {
        exact,
        level,
        exact_population: (exact + margins.total_gap).min(1.0),
        level_population: (level + margins.level_gap).min(1.0),
        population_confidence: margins.confidence(),
        exact_dkw: with_margin(exact),
        level_dkw: with_margin(level),
        mass: integrated.mass,
        weighted_cdf: integrated.value,
        wasserstein: transport.value,
        weighted_cdf_dkw: integrated.with_correction(correction).corrected(),
        wasserstein_dkw: transport.with_correction(correction).corrected(),
        dkw_confidence: correction.confidence(),
    })
}
