//! Conditions a user asks to be alarmed on, and which of them hold.

use serde::Serialize;

use super::Checked;

/// What should count as a failure; nothing by default.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AlarmConditions {
    /// Coverage below this: the estimate, or with labels the upper end of what they show.
    pub below: Option<f64>,
    /// The low end of the estimate's range, or with labels of what they show, below this.
    pub below_worst_case: Option<f64>,
    /// The low end of the guaranteed interval below this.
    pub below_guaranteed: Option<f64>,
    /// Whether any shift that the test detects counts, harmless or not.
    pub on_shift: bool,
}

/// A condition that holds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FailedCondition {
    /// Its name, as the command line spells the option without its dashes.
    pub condition: &'static str,
    /// What the value was compared with.
    pub limit: f64,
    /// What was found.
    pub value: f64,
    /// Whether labels measured it: it is then an end of their interval.
    #[serde(skip)]
    pub measured: bool,
}

impl AlarmConditions {
    /// The conditions that hold.
    pub fn failed(&self, checked: &Checked) -> Vec<FailedCondition> {
        let report = &checked.report;
        let (now, worst) = match checked.decisive() {
            // Labels decide where there are enough: even their most hopeful reading is below the limit. One label must not end an alarm.
            Some(measured) => (measured.high, measured.low),
            None => (report.coverage_estimate.value, report.coverage_estimate.low),
        };
        let labeled = checked.decisive().is_some();
        let floors = [
            ("fail-below", self.below, now),
            ("fail-below-worst-case", self.below_worst_case, worst),
            (
                "fail-below-guaranteed",
                self.below_guaranteed,
                report.coverage_interval.guaranteed[0],
            ),
        ];
        let mut failed: Vec<FailedCondition> = floors
            .into_iter()
            .filter_map(|(condition, limit, value)| {
                let limit = limit.filter(|limit| value < *limit)?;
                let measured = labeled && condition != "fail-below-guaranteed";
                Some(FailedCondition { condition, limit, value, measured })
            })
            .collect();
        if self.on_shift && report.shift.detected {
            let (limit, value) = (report.delta, report.shift.p_value);
            let condition = "fail-on-shift";
            failed.push(FailedCondition { condition, limit, value, measured: false });
        }
        failed
    }
}
