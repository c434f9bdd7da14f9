//! Labels that come after a decision, and proposals that come too late for one.

use evenkeel_monitor::{
    AlarmRule, Choice, Decision, Keep, LabelsReceived, LateLabels, Light, Monitor, ProposalState,
    Severity,
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

/// What someone is about to decide on is not replaced by what a few labels say; whoever wants that asks for it.
#[test]
fn a_proposal_that_is_open_stays_until_someone_asks_for_another() {
    let folder = Folder::new();
    let monitor = watched(&folder.store(), Keep::Rows);
    let fired = (1..=4).find_map(|night| {
        let values = rows(ROWS, FADED, night).0;
        send(&monitor, &format!("{night}"), &values, day(night.cast_signed())).unwrap().proposal
    });
    assert_eq!(fired, Some(1));
    let before = monitor.proposals(&name()).unwrap();
    let alarm = missed(&monitor).alarm.expect("an alarm");
    assert_eq!(alarm.rule, AlarmRule::Labels);
    assert_eq!(monitor.proposals(&name()).unwrap(), before);
    assert_eq!(monitor.propose(&name(), day(7)).unwrap(), 2);
    let states: Vec<ProposalState> =
        monitor.proposals(&name()).unwrap().iter().map(|one| one.state).collect();
    assert_eq!(states, [ProposalState::Open, ProposalState::Superseded]);
}

/// The other way round: an alarm without labels leaves a proposal that rests on labels.
#[test]
fn an_alarm_without_labels_leaves_the_proposal_of_an_alarm_by_labels() {
    let folder = Folder::new();
    let monitor = watched(&folder.store(), Keep::Rows);
    send(&monitor, "a", &rows(ROWS, CLEAR, 1).0, day(1)).unwrap();
    assert!(missed(&monitor).alarm.is_some());
    let made = monitor.status(&name()).unwrap().proposal.expect("a proposal");
    assert!(made.labels > 0);
    let fired = (2..=6).find_map(|night| {
        let values = rows(ROWS, FADED, night).0;
        let found = send(&monitor, &format!("{night}"), &values, day(night.cast_signed())).unwrap();
        (!found.record.alarms.is_empty()).then_some(found)
    });
    assert_eq!(fired.expect("an alarm").proposal, None);
    assert_eq!(monitor.status(&name()).unwrap().proposal, Some(made));
}

/// What is known of coverage after an approval is known of another threshold; after a rejection it is as it was.
#[test]
fn the_light_waits_for_the_first_batch_after_an_approval() {
    let folder = Folder::new();
    let monitor = decided(&folder, Choice::Approve);
    let light = |monitor: &Monitor| monitor.status(&name()).unwrap().light;
    let text = |monitor: &Monitor| evenkeel_monitor::prometheus::prometheus(monitor).unwrap();
    assert_eq!(light(&monitor), None);
    assert!(!text(&monitor).contains("evenkeel_light{"), "{}", text(&monitor));
    send(&monitor, "after", &rows(ROWS, FADED, 30).0, day(6)).unwrap();
    assert!(light(&monitor).is_some());
    assert!(text(&monitor).contains("evenkeel_light{"));
    let folder = Folder::new();
    assert!(light(&decided(&folder, Choice::Reject)).is_some());
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
