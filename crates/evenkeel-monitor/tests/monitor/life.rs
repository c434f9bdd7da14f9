//! From the first quiet night to the alarm, the decision, and the nights after it.

use evenkeel_monitor::{
    AuditQuery, BatchQuery, Choice, Decision, Keep, LateLabels, Light, Monitor, ProposalState,
};

use crate::world::{CLEAR, FADED, Folder, day, name, rows, send, watched};

const ROWS: usize = 200;

#[test]
fn an_alarm_leads_to_a_proposal_and_a_decision_begins_anew() {
    let folder = Folder::new();
    let monitor = watched(&folder.store(), Keep::Sets);
    for night in 1..=6 {
        let quiet = send(
            &monitor,
            &format!("q{night}"),
            &rows(ROWS, CLEAR, 100 + night).0,
            day(night.cast_signed()),
        )
        .unwrap();
        assert!(quiet.record.alarms.is_empty() && !quiet.duplicate, "{:?}", quiet.record.alarms);
        assert_eq!(quiet.record.batch, night);
    }
    // The signal fades: at once, or within a few nights.
    let fired = (7..=10).find_map(|night| {
        let found = send(
            &monitor,
            &format!("f{night}"),
            &rows(ROWS, FADED, 200 + night).0,
            day(night.cast_signed()),
        )
        .unwrap();
        (!found.record.alarms.is_empty()).then_some(found)
    });
    let fired = fired.expect("an alarm");
    assert_eq!(fired.record.summary.light(), Light::Red);
    let status = monitor.status(&name()).unwrap();
    let proposal = status.proposal.clone().expect("a proposal");
    assert_eq!(Some(proposal.proposal), fired.proposal);
    assert!(proposal.set_size_after > proposal.set_size_before, "{proposal:?}");
    let after = proposal.expected_coverage.expect("an expectation")[0];
    assert!(after > fired.record.summary.estimate, "{after}");
    assert_eq!(status.alarms.len(), 1);
    // Nothing changes by itself.
    assert_eq!(monitor.calibration(&name(), None).unwrap().version, 1);
    let first = monitor.calibration(&name(), None).unwrap().etag;

    let decision = Decision {
        proposal: 1,
        choice: Choice::Approve,
        who: "Ada",
        why: "new camera",
        at: day(11),
    };
    let model = monitor.decide(&name(), &decision).unwrap();
    assert_eq!((model.version, model.watch), (2, 2));
    assert_ne!(monitor.calibration(&name(), None).unwrap().etag, first);
    assert_eq!(monitor.calibration(&name(), Some(1)).unwrap().etag, first);
    assert!(monitor.status(&name()).unwrap().alarms.is_empty());
    // Rows like those of the proposal are quiet now.
    for night in 12..=16 {
        let found = send(
            &monitor,
            &format!("n{night}"),
            &rows(ROWS, FADED, 300 + night).0,
            day(night.cast_signed()),
        )
        .unwrap();
        assert!(found.record.alarms.is_empty(), "{:?}", found.record.alarms);
        assert_eq!((found.record.version, found.record.watch), (2, 2));
    }
    assert!(monitor.decide(&name(), &decision).is_err(), "decided already");
    let audit =
        monitor.audit(&AuditQuery { model: Some(&name()), before: None, limit: 10 }).unwrap();
    assert!(audit.iter().any(|line| line.what == "proposal approved"
        && line.who == "Ada"
        && line.details.contains("new camera")));
    // One message for the alarm, one for its proposal, one for the decision.
    let due = monitor.store().due(day(20), 10).unwrap();
    assert_eq!(
        due.iter().map(|message| message.kind.as_str()).collect::<Vec<_>>(),
        ["alarm", "proposal", "decision"]
    );
}

#[test]
fn a_rejected_proposal_keeps_the_calibration_and_begins_anew() {
    let folder = Folder::new();
    let monitor = watched(&folder.store(), Keep::Nothing);
    let fired = (1..=4).find_map(|night| {
        send(&monitor, &format!("{night}"), &rows(ROWS, FADED, night).0, day(night.cast_signed()))
            .unwrap()
            .proposal
    });
    assert_eq!(fired, Some(1));
    let decision =
        Decision { proposal: 1, choice: Choice::Reject, who: "Ada", why: "known", at: day(5) };
    let model = monitor.decide(&name(), &decision).unwrap();
    assert_eq!((model.version, model.watch), (1, 2));
    assert_eq!(monitor.proposals(&name()).unwrap()[0].state, ProposalState::Rejected);
    for missing in
        [Decision { who: " ", ..decision.clone() }, Decision { why: "", ..decision.clone() }]
    {
        assert!(monitor.decide(&name(), &missing).is_err());
    }
}

#[test]
fn a_batch_counts_once() {
    let folder = Folder::new();
    let monitor = watched(&folder.store(), Keep::Sets);
    let (values, _) = rows(50, CLEAR, 3);
    let first = send(&monitor, "k", &values, day(1)).unwrap();
    let again = send(&monitor, "k", &values, day(1)).unwrap();
    assert!(again.duplicate && again.record == first.record && again.document == first.document);
    let other = send(&monitor, "k", &rows(50, CLEAR, 4).0, day(2)).unwrap_err();
    assert!(other.to_string().contains("other contents"), "{other}");
    assert!(send(&monitor, " ", &values, day(1)).is_err());
    assert_eq!(monitor.model(&name()).unwrap().batches, 1);
    // The document has the fields of `check --json` and those of a monitor.
    let json = first.json();
    for field in [
        "coverage_estimate",
        "shift",
        "verdict",
        "advice",
        "batch",
        "duplicate",
        "stream",
        "alarm",
        "light",
    ] {
        assert!(json.get(field).is_some(), "{field}");
    }
}

#[test]
fn late_labels_are_judged_by_the_sets_of_their_batch() {
    let folder = Folder::new();
    let monitor = watched(&folder.store(), Keep::Rows);
    let (values, labels) = rows(ROWS, CLEAR, 21);
    send(&monitor, "a", &values, day(1)).unwrap();
    let all: Vec<(u64, u64)> =
        labels.iter().enumerate().map(|(row, label)| (row as u64, *label as u64)).collect();
    let late = |labels: &[(u64, u64)]| {
        monitor.add_labels(&name(), &LateLabels { batch: 1, labels, who: "tests", at: day(2) })
    };
    let half = late(&all[..100]).unwrap();
    assert_eq!((half.new, half.measured.k), (100, 100));
    let whole = late(&all).unwrap();
    assert_eq!((whole.new, whole.measured.k, whole.since_approval.alarm.labels), (100, 200, 200));
    assert!(whole.measured.value > 0.8 && whole.alarm.is_none(), "{whole:?}");
    assert!((whole.measured.low..=whole.measured.high).contains(&whole.measured.value));
    // Another label for a row that has one, rows and labels that are not there: nothing is counted.
    for wrong in [(0, (all[0].1 + 1) % 5), (999, 0), (0, 5)] {
        assert!(late(&[wrong]).is_err(), "{wrong:?}");
    }
    assert_eq!(monitor.batch(&name(), 1).unwrap().0.measured.unwrap().k, 200);
    // Labels that miss, one batch after another, set off the alarm by labels, and rows that were kept make a proposal.
    let wrong: Vec<(u64, u64)> = all.iter().map(|(row, label)| (*row, (label + 1) % 5)).collect();
    send(&monitor, "b", &rows(ROWS, CLEAR, 22).0, day(3)).unwrap();
    let alarmed = monitor
        .add_labels(
            &name(),
            &LateLabels { batch: 2, labels: &wrong[..80], who: "tests", at: day(4) },
        )
        .unwrap();
    assert!(alarmed.alarm.is_some());
    let proposal = monitor.status(&name()).unwrap().proposal.unwrap();
    assert_eq!((proposal.labels, proposal.from_batches.clone()), (80, vec![2]), "{proposal:?}");
}

#[test]
fn a_week_is_the_merge_of_its_days_and_history_is_paged() {
    let folder = Folder::new();
    let monitor = watched(&folder.store(), Keep::Nothing);
    for night in 1..=9 {
        send(
            &monitor,
            &format!("{night}"),
            &rows(60, CLEAR, 40 + night).0,
            day(night.cast_signed()),
        )
        .unwrap();
    }
    let page = |after: u64| {
        let query = BatchQuery { after, limit: Some(4), ..BatchQuery::default() };
        monitor
            .history(&name(), &query)
            .unwrap()
            .iter()
            .map(|batch| batch.batch)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (page(0), page(4), page(8), page(9)),
        (vec![1, 2, 3, 4], vec![5, 6, 7, 8], vec![9], vec![])
    );
    let some = BatchQuery { from: Some(day(3)), to: Some(day(5)), ..BatchQuery::default() };
    assert_eq!(monitor.history(&name(), &some).unwrap().len(), 2);
    let week = monitor.status(&name()).unwrap().week.unwrap();
    assert!(week.p_value > 0.001, "{week:?}");
    assert!(
        monitor
            .window(&name(), &BatchQuery { from: Some(day(99)), ..BatchQuery::default() })
            .unwrap()
            .is_none()
    );
}

#[test]
fn a_copy_is_a_store() {
    let folder = Folder::new();
    let monitor = watched(&folder.store(), Keep::Rows);
    for night in 1..=3 {
        send(&monitor, &format!("{night}"), &rows(40, CLEAR, night).0, day(night.cast_signed()))
            .unwrap();
    }
    let copy = folder.0.join("copy.sqlite");
    monitor.backup(&copy).unwrap();
    assert!(monitor.backup(&copy).is_err(), "it exists");
    // Lost and restored: the next batch goes on where the copy stopped.
    let before = monitor.status(&name()).unwrap();
    drop(monitor);
    for file in ["ek.sqlite", "ek.sqlite-wal", "ek.sqlite-shm"] {
        let _ = std::fs::remove_file(folder.0.join(file));
    }
    std::fs::copy(&copy, folder.store()).unwrap();
    let restored = Monitor::open(&folder.store()).unwrap();
    assert_eq!(restored.status(&name()).unwrap(), before);
    restored.store().verify().unwrap();
    assert_eq!(send(&restored, "4", &rows(40, CLEAR, 4).0, day(4)).unwrap().record.batch, 4);
    assert!(send(&restored, "3", &rows(40, CLEAR, 3).0, day(3)).unwrap().duplicate);
}

/// The same batches give the same results, whatever the number of threads.
#[test]
fn results_do_not_depend_on_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let folder = Folder::new();
            let monitor = watched(&folder.store(), Keep::Sets);
            for night in 1..=3 {
                send(
                    &monitor,
                    &format!("{night}"),
                    &rows(90, FADED, night).0,
                    day(night.cast_signed()),
                )
                .unwrap();
            }
            serde_json::to_string(&monitor.history(&name(), &BatchQuery::default()).unwrap())
                .unwrap()
        })
    };
    assert_eq!(run(1), run(3));
}
