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
    let (cal, target) = (Points::calibration(), Points::target());
    for delta in [0.2, 0.05, 0.01, 0.001] {
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
        assert!(said[0].starts_with("Recommended: auto, which moves the threshold to"), "{said:?}");
        assert_eq!(promised.warnings, delivered.warnings());
        assert_eq!(promised.effective_sample_size, delivered.effective_sample_size());
        let plan = decision.plan.as_ref().unwrap();
        let corrected = plan.corrected.as_ref().map(|readings| readings.coverage_estimate);
        assert_eq!(promised.coverage_estimate, corrected);
    }
}
