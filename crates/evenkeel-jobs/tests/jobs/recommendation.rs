//! What a check recommends is what the job it names delivers.

use evenkeel::calibration::Evidence;
use evenkeel::level::FailureProbability;
use evenkeel::method::Method;
use evenkeel::method::auto::AutoSettings;
use evenkeel::score::Score;
use evenkeel_jobs::{CheckJob, Unobserved, calibrate, check, sentences};

use crate::world::{Points, alpha, calibrator, seed};

#[test]
fn a_check_promises_what_auto_delivers() {
    let mut moved = Vec::new();
    // How sure the model is of the calibration data and of the target data.
    for (delta, before, after) in
        [(0.2, 6.0, 2.0), (0.05, 6.0, 2.0), (0.001, 6.0, 2.0), (0.01, 14.0, 3.0), (0.05, 14.0, 2.0)]
    {
        let (cal, target) = (Points::new(400, before, 1), Points::new(500, after, 2));
        let delta = FailureProbability::new(delta).unwrap();
        let job = CheckJob::new(Score::Lac, alpha(), delta, seed());
        let checked =
            check(&job, &cal.labeled(), &mut target.source("target"), &mut Unobserved).unwrap();
        let promised = checked.recommended.as_ref().unwrap();
        let auto = calibrator(Method::Auto(AutoSettings::new(delta)));
        let done = calibrate(&auto, &cal.labeled(), &mut target.source("target"), &mut Unobserved);
        let delivered = done.unwrap().calibration;
        let Some(Evidence::Auto(decision)) = &delivered.learned().evidence else { panic!() };
        assert_eq!(decision.test.p_value, checked.report.shift.p_value);
        assert_eq!(decision.plan.as_ref().map(|plan| plan.certificate), promised.certificate);
        assert_eq!(delivered.threshold(None).unwrap().get(), promised.threshold.unwrap());
        let said = sentences::evidence::recommendation(promised);
        let does = if decision.plan.is_some() {
            "moves the threshold to"
        } else {
            "keeps the threshold at"
        };
        assert!(said[0].starts_with(&format!("Recommended: auto, which {does}")), "{said:?}");
        assert_eq!(promised.warnings, delivered.warnings());
        assert_eq!(promised.effective_sample_size, delivered.effective_sample_size());
        // Where it keeps the threshold, the readings speak of that.
        let planned = decision.plan.as_ref().and_then(|plan| plan.corrected.as_ref());
        let readings = planned.or(decision.kept.as_ref());
        let corrected = readings.map(|readings| readings.coverage_estimate);
        assert_eq!(promised.coverage_estimate, corrected);
        moved.push(decision.plan.is_some());
    }
    assert!(moved.contains(&true) && moved.contains(&false), "{moved:?}");
}
