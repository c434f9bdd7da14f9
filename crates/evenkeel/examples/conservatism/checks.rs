//! What `check`, `label-plan` and `auto` say, as users get it.

use evenkeel::calibration::{Calibration, Evidence};
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::check::{CheckSettings, check};
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::Method;
use evenkeel::method::auto::AutoSettings;
use evenkeel::method::label_plan::LabelPlanSettings;
use evenkeel::score::Score;
use evenkeel::seed::Seed;

use crate::statement::{Statement, room, statements};
use crate::world::sample;
use crate::{DELTA, DRAWS, Result};

/// `integral |F_Q(t(u)) - u| du` over the levels of a calibration.
fn distance_from_level(found: &Calibration, truth: &WeightedEmpirical) -> f64 {
    let triangle = |width: f64| 0.5 * width * width.abs();
    let (mut total, mut before) = (0.0, 0.0);
    for (score, reached) in found.law().atoms().iter().zip(found.law().cumulative()) {
        let covered = truth.cdf(*score);
        total += triangle(reached - covered) - triangle(before - covered);
        before = *reached;
    }
    total
}

/// A classifier of ten classes whose signal has faded to nine tenths, through `check` and `label-plan`.
pub(crate) fn of_a_check() -> Result<Vec<Statement>> {
    let (rows, strength) = (100, 0.9);
    let (alpha, d) = (Miscoverage::new(0.1)?, FailureProbability::new(DELTA)?);
    let truth = WeightedEmpirical::uniform(&sample(200_000, strength, 999).scores())?;
    let names = [
        ("`check`, guaranteed interval with confidence", 1.0 - DELTA),
        ("`label-plan`, certificate with confidence (assumed)", 1.0 - DELTA),
    ];
    statements(DRAWS, names, |draw| {
        let (labeled, target) = (sample(rows, 1.0, 2 * draw), sample(rows, strength, 2 * draw + 1));
        let (probabilities, labels) = (labeled.probabilities(), labeled.labels());
        let settings =
            CheckSettings { permutations: 19, ..CheckSettings::new(alpha, d, Seed::new(draw)) };
        let checked =
            check(&probabilities, &labels, &target.probabilities(), &Score::Lac, &settings)?;
        let coverage = checked.report.threshold.map_or(1.0, |t| truth.cdf(t));
        let [low, high] = checked.report.coverage_interval.with_confidence.guaranteed;
        let calibrator =
            ShiftCalibrator::new(0.1)?.method(Method::LabelPlan(LabelPlanSettings::new(d)));
        let found = calibrator.calibrate(&probabilities, &labels, &target.probabilities())?;
        let Some(Evidence::LabelPlan { plan, .. }) = &found.learned().evidence else {
            return Err("a label plan has its evidence".into());
        };
        let gap = distance_from_level(&found, &truth);
        Ok([room((low, high), coverage), plan.certificate.with_confidence - gap])
    })
}

/// `auto` on a signal that has faded to eight tenths: a certificate wherever its test has found the shift.
pub(crate) fn of_auto() -> Result<Vec<Statement>> {
    let (rows, strength) = (100, 0.8);
    let delta = FailureProbability::new(DELTA)?;
    let truth = WeightedEmpirical::uniform(&sample(200_000, strength, 999).scores())?;
    let names = [("`auto` after a shift, certificate with confidence (assumed)", 1.0 - DELTA)];
    statements(DRAWS, names, |draw| {
        let (labeled, target) = (sample(rows, 1.0, 2 * draw), sample(rows, strength, 2 * draw + 1));
        let settings = AutoSettings { permutations: 99, ..AutoSettings::new(delta) };
        let calibrator = ShiftCalibrator::new(0.1)?.method(Method::Auto(settings));
        let found = calibrator.calibrate(
            &labeled.probabilities(),
            &labeled.labels(),
            &target.probabilities(),
        )?;
        let Some(Evidence::Auto(decision)) = &found.learned().evidence else {
            return Err("`auto` has its evidence".into());
        };
        let gap = distance_from_level(&found, &truth);
        // Without a certificate nothing was said; such a draw is left out below.
        Ok([decision.plan.as_ref().map_or(f64::NAN, |plan| plan.certificate.with_confidence - gap)])
    })
}
