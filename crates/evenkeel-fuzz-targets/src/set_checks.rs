//! What must hold of the sets of any calibration.

use evenkeel::calibration::Calibration;
use evenkeel::conformal::LabelSets;
use evenkeel::level::Miscoverage;
use evenkeel::rows::{Real, Rows};
use evenkeel::score::Probabilities;
use evenkeel::side_inputs::SideInputs;

/// Rows that were checked, and what stands beside them.
pub(crate) struct Points<'a, T> {
    pub(crate) rows: Rows<'a, T>,
    pub(crate) beside: SideInputs<'a>,
}

/// `set(x) = {y : s(x, y) <= t}` where all points and labels share one threshold.
pub(crate) fn sets_are_what_the_threshold_says<T: Real>(
    calibration: &Calibration,
    points: &Points<'_, T>,
    alpha: Option<Miscoverage>,
) -> Option<LabelSets> {
    let sets = calibration.predict_beside(0, points.rows, points.beside, alpha).ok()?;
    assert_eq!((sets.rows(), sets.classes()), (points.rows.rows(), points.rows.columns()));
    let score = calibration.provenance().score.with_draws_for("test");
    let probabilities = Probabilities::from_rows(points.rows);
    if let (Some(threshold), Ok(table)) = (calibration.threshold(alpha), probabilities) {
        assert!(!threshold.get().is_nan(), "a threshold that admits nothing");
        let scores = score.candidate_scores(&table);
        assert!(scores.is_ok(), "rows that were predicted have no scores");
        let Ok(scores) = scores else { return Some(sets) };
        for row in 0..scores.rows() {
            for (label, score) in scores.row(row).iter().enumerate() {
                let (found, admitted) = (sets.contains(row, label), threshold.admits(*score));
                assert_eq!(found, admitted, "row {row}, label {label}: {score}, {threshold:?}");
            }
        }
    }
    Some(sets)
}

/// A label that is in a set stays in it as alpha falls.
pub(crate) fn sets_are_nested(wider: &LabelSets, narrower: &LabelSets) {
    assert_eq!(wider.rows(), narrower.rows());
    for row in 0..narrower.rows() {
        for label in narrower.labels(row) {
            assert!(wider.contains(row, label), "row {row}: label {label} leaves as alpha falls");
        }
    }
}

/// Read, written and read again: the same values and the same text.
pub(crate) fn round_trips(calibration: &Calibration) {
    let text = serde_json::to_string(calibration).unwrap_or_default();
    assert!(!text.is_empty(), "a calibration that cannot be written");
    let again = evenkeel_jobs::parse_calibration(&text);
    let error = again.as_ref().err().map(ToString::to_string);
    assert_eq!(error, None, "what was written is refused");
    if let Ok(again) = again {
        assert!(again == *calibration, "other values after writing and reading");
        assert_eq!(serde_json::to_string(&again).unwrap_or_default(), text);
    }
}
