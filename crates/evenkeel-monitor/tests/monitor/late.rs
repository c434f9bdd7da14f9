//! Labels that come after a decision, and proposals that come too late for one.

use evenkeel_monitor::{
    AlarmRule, Choice, Decision, Keep, LabelsReceived, LateLabels, Light, Monitor, Severity,
};

use crate::world::{CLEAR, FADED, Folder, day, name, rows, send, watched};

const ROWS: usize = 200;

/// A model whose first batches set off an alarm, on which somebody has decided.
fn decided(folder: &Folder, choice: Choice) -> Monitor {
    let monitor = watched(&folder.store(), Keep::Rows);
    let fired = (1..=4).find_map(|night| {
        let values = rows(ROWS, FADED, night).0;
        send(&monitor, &format!("{night}"), &values, day(night.cast_signed())).unwrap().proposal
    });
    assert_eq!(fired, Some(1));
    let decision = Decision { proposal: 1, choice, who: "Ada", why: "a test", at: day(5) };
    monitor.decide(&name(), &decision).unwrap();
    monitor
}

/// Labels of the first batch, every one a miss as far as sets are small.
fn missed(monitor: &Monitor) -> LabelsReceived {
    let (_, labels) = rows(ROWS, FADED, 1);
    let wrong: Vec<(u64, u64)> =
        (0..).zip(&labels).map(|(row, label)| (row, (*label as u64 + 1) % 5)).collect();
    let late = LateLabels { batch: 1, labels: &wrong, who: "tests", at: day(6) };
    monitor.add_labels(&name(), &late).unwrap()
}

/// Whoever kept a calibration is told when labels show what it covers.
#[test]
fn labels_of_a_calibration_that_was_kept_set_off_an_alarm_that_stands() {
    let folder = Folder::new();
    let monitor = decided(&folder, Choice::Reject);
    let alarm = missed(&monitor).alarm.expect("an alarm");
    assert_eq!((alarm.rule, alarm.severity), (AlarmRule::Labels, Severity::Serious));
    assert!(alarm.standing);
    assert_eq!(monitor.status(&name()).unwrap().alarms.len(), 1);
}

/// Labels of a calibration that was replaced say nothing of the one in use; they are counted for their batch.
#[test]
fn labels_of_a_calibration_that_was_replaced_set_off_nothing() {
    let folder = Folder::new();
    let monitor = decided(&folder, Choice::Approve);
    let before = monitor.store().due(day(20), 100).unwrap().len();
    let received = missed(&monitor);
    assert_eq!((received.new, received.measured.k), (ROWS as u64, ROWS as u64));
    assert_eq!(received.alarm, None);
    let status = monitor.status(&name()).unwrap();
    assert!(status.alarms.is_empty() && status.proposal.is_none());
    assert_eq!(monitor.store().due(day(20), 100).unwrap().len(), before);
}

/// A batch may look well and labels show that it is not.
#[test]
fn labels_that_show_a_serious_loss_turn_the_light_red() {
    let folder = Folder::new();
    let monitor = watched(&folder.store(), Keep::Sets);
    let (values, labels) = rows(ROWS, CLEAR, 21);
    send(&monitor, "a", &values, day(1)).unwrap();
    assert_eq!(monitor.status(&name()).unwrap().light, Some(Light::Green));
    let wrong: Vec<(u64, u64)> =
        (0..).zip(&labels).map(|(row, label)| (row, (*label as u64 + 1) % 5)).collect();
    let late = LateLabels { batch: 1, labels: &wrong, who: "tests", at: day(2) };
    assert!(monitor.add_labels(&name(), &late).unwrap().alarm.is_some());
    assert_eq!(monitor.status(&name()).unwrap().light, Some(Light::Red));
}

/// A proposal that was made for a watch that is over would replace another calibration than it was compared with.
#[test]
fn a_proposal_for_a_watch_that_is_over_is_not_stored() {
    let folder = Folder::new();
    let monitor = decided(&folder, Choice::Reject);
    let made = monitor.proposals(&name()).unwrap();
    let stale = evenkeel_monitor::NewProposal {
        calibration: monitor.calibration(&name(), None).unwrap().calibration,
        method: "auto".into(),
        batches: vec![1],
        labels: 0,
        threshold_before: None,
        threshold_after: None,
        expected: None,
        mean_size: [1.0, 1.0],
        account: String::new(),
        warnings: Vec::new(),
        baseline: Vec::new(),
    };
    assert_eq!(monitor.store().propose(&name(), 1, &stale, day(7)).unwrap(), None);
    assert_eq!(monitor.proposals(&name()).unwrap(), made);
    assert_eq!(monitor.store().propose(&name(), 2, &stale, day(7)).unwrap(), Some(2));
}
