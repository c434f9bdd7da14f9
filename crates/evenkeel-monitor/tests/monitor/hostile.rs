//! What is wrong with a store, a batch or a calibration is said, and nothing is half stored.

use std::fs;

use evenkeel_jobs::{AnyRows, MemorySource};
use evenkeel_monitor::{
    Keep, Kind, ModelName, Monitor, MonitorError, NewBatch, NewModel, SqliteStore,
};

use crate::world::{CLEAR, Folder, calibration, day, name, rows, send, send_named, watched};

#[test]
fn a_file_that_is_no_store_is_refused() {
    let folder = Folder::new();
    let missing = Monitor::open(&folder.store()).unwrap_err();
    assert!(matches!(missing, MonitorError::NoStore { .. }), "{missing}");
    fs::write(folder.store(), "these are notes, not a database".repeat(100)).unwrap();
    for found in [Monitor::open(&folder.store()), Monitor::open_or_create(&folder.store())] {
        let error = found.unwrap_err();
        assert!(matches!(error, MonitorError::NotAStore { .. }), "{error}");
    }
    // Somebody else's database.
    let other = folder.0.join("other.sqlite");
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    assert!(matches!(Monitor::open_or_create(&other).unwrap_err(), MonitorError::NotAStore { .. }));
}

#[test]
fn a_store_of_another_version_is_refused() {
    let folder = Folder::new();
    drop(watched(&folder.store(), Keep::Sets));
    let connection = rusqlite::Connection::open(folder.store()).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let error = Monitor::open(&folder.store()).unwrap_err();
    assert!(matches!(error, MonitorError::OtherVersion { found: 99, .. }), "{error}");
}

#[test]
fn a_store_of_an_earlier_version_is_brought_to_this_one() {
    let folder = Folder::new();
    let monitor = watched(&folder.store(), Keep::Sets);
    send(&monitor, "before", &rows(40, CLEAR, 1).0, day(1)).unwrap();
    drop(monitor);
    let connection = rusqlite::Connection::open(folder.store()).unwrap();
    connection.execute_batch("DROP TABLE row_ids; PRAGMA user_version = 1").unwrap();
    drop(connection);
    let monitor = Monitor::open(&folder.store()).unwrap();
    assert_eq!(monitor.model(&name()).unwrap().batches, 1);
    let ids: Vec<String> = (0..40).map(|row| format!("row {row}")).collect();
    send_named(&monitor, "after", &rows(40, CLEAR, 2).0, Some(&ids), day(2)).unwrap();
    assert_eq!(monitor.rows_of_ids(&name(), 2, &ids[3..5]).unwrap(), [3, 4]);
    monitor.store().verify().unwrap();
}

#[test]
fn ids_that_cannot_tell_rows_apart_are_refused() {
    let folder = Folder::new();
    let monitor = watched(&folder.store(), Keep::Sets);
    let (values, _) = rows(3, CLEAR, 1);
    let ids = |ids: [&str; 3]| ids.map(str::to_owned).to_vec();
    for (wrong, words) in [
        (ids(["a", "b", "a"]), "stands before another row"),
        (ids(["a", "", "b"]), "row 1 has none"),
        (ids(["a", "b", &"c".repeat(201)]), "201 characters"),
        (ids(["a", "b", "c"])[..2].to_vec(), "2 ids and 3 rows"),
    ] {
        let error = send_named(&monitor, "k", &values, Some(&wrong), day(1)).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
    assert_eq!(monitor.model(&name()).unwrap().batches, 0);
    send_named(&monitor, "k", &values, Some(&ids(["a", "b", "c"])), day(1)).unwrap();
    let of = |id: &str| monitor.rows_of_ids(&name(), 1, &[id.to_owned()]);
    assert_eq!(of("c").unwrap(), [2]);
    assert!(of("d").unwrap_err().to_string().contains("ids that were sent"));
    send(&monitor, "without", &values, day(2)).unwrap();
    let error = monitor.rows_of_ids(&name(), 2, &["a".to_owned()]).unwrap_err();
    assert!(error.to_string().contains("number its rows from 0"), "{error}");
}

#[test]
fn ids_are_not_kept_where_nothing_is() {
    let folder = Folder::new();
    let monitor = watched(&folder.store(), Keep::Nothing);
    let ids = ["a", "b", "c"].map(str::to_owned);
    send_named(&monitor, "k", &rows(3, CLEAR, 1).0, Some(&ids), day(1)).unwrap();
    let connection = rusqlite::Connection::open(folder.store()).unwrap();
    let kept: i64 =
        connection.query_row("SELECT count(*) FROM row_ids", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 0);
}

#[test]
fn damage_is_an_error_and_never_a_panic() {
    let folder = Folder::new();
    let monitor = watched(&folder.store(), Keep::Sets);
    for night in 1..=5 {
        send(&monitor, &format!("{night}"), &rows(40, CLEAR, night).0, day(night.cast_signed()))
            .unwrap();
    }
    monitor.backup(&folder.0.join("good.sqlite")).unwrap();
    drop(monitor);
    let good = fs::read(folder.0.join("good.sqlite")).unwrap();
    let path = folder.0.join("bad.sqlite");
    let mut refused = 0;
    for at in (0..good.len()).step_by(good.len() / 60 + 1) {
        let mut bytes = good.clone();
        let end = (at + 200).min(bytes.len());
        bytes[at..end].fill(0xA5);
        for file in ["bad.sqlite-wal", "bad.sqlite-shm"] {
            let _ = fs::remove_file(folder.0.join(file));
        }
        fs::write(&path, bytes).unwrap();
        let tried = Monitor::open(&path).and_then(|monitor| {
            monitor.store().verify()?;
            monitor.status(&name())?;
            send(&monitor, "new", &rows(40, CLEAR, 9).0, day(9))
        });
        refused +=
            usize::from(tried.is_err_and(|error| {
                error.kind() == Kind::Storage || !error.to_string().is_empty()
            }));
    }
    assert!(refused > 10, "{refused}");
    // States whose bytes were changed are found by their checksums.
    fs::write(&path, &good).unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute("UPDATE watches SET stream = zeroblob(100)", []).unwrap();
    drop(connection);
    let error =
        send(&Monitor::open(&path).unwrap(), "new", &rows(40, CLEAR, 9).0, day(9)).unwrap_err();
    assert!(matches!(error, MonitorError::DamagedStore { .. }), "{error}");
}

#[test]
fn a_store_that_is_locked_says_so() {
    let folder = Folder::new();
    drop(watched(&folder.store(), Keep::Sets));
    let holder = rusqlite::Connection::open(folder.store()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut store = SqliteStore::open(&folder.store()).unwrap();
    store.set_patience(std::time::Duration::from_millis(50)).unwrap();
    let monitor = Monitor::over(Box::new(store));
    let error = send(&monitor, "k", &rows(40, CLEAR, 1).0, day(1)).unwrap_err();
    assert_eq!(error.kind(), Kind::Busy, "{error}");
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(send(&monitor, "k", &rows(40, CLEAR, 1).0, day(1)).unwrap().record.batch, 1);
}

#[test]
fn batches_that_do_not_fit_leave_nothing_behind() {
    let folder = Folder::new();
    let monitor = watched(&folder.store(), Keep::Sets);
    let try_rows = |values: &[f64], columns: usize| {
        let mut rows = MemorySource::new("batch.npy", AnyRows::f64(values, columns).unwrap());
        let new = NewBatch {
            ids: None,
            key: "k",
            content: [1; 32],
            name: "batch.npy",
            time: day(1),
            received: day(1),
            rows: &mut rows,
        };
        monitor.receive(&name(), new).unwrap_err()
    };
    let classes = try_rows(&[0.5, 0.5, 1.0, 0.0], 2);
    assert!(
        classes.to_string().contains("2 columns") && classes.to_string().contains("5 classes"),
        "{classes}"
    );
    let no_probabilities = try_rows(&[3.0, 1.0, 2.0, 0.0, 0.1], 5);
    assert!(no_probabilities.to_string().contains("batch.npy"), "{no_probabilities}");
    try_rows(&[f64::NAN, 1.0, 0.0, 0.0, 0.0], 5);
    assert_eq!(monitor.model(&name()).unwrap().batches, 0);
    let unknown = monitor.model(&ModelName::new("other").unwrap()).unwrap_err();
    assert!(unknown.to_string().contains("garments"), "{unknown}");
    for (what, error) in [
        ("batch", monitor.batch(&name(), 7).err()),
        ("version", monitor.calibration(&name(), Some(9)).err()),
    ] {
        let error: MonitorError = error.unwrap();
        assert_eq!(error.kind(), Kind::NotFound, "{what}");
    }
}

#[test]
fn clocks_may_go_back() {
    let folder = Folder::new();
    let monitor = watched(&folder.store(), Keep::Nothing);
    for (night, at) in [(1, 10), (2, 11), (3, 2), (4, -400), (5, 12)] {
        let found =
            send(&monitor, &format!("{night}"), &rows(40, CLEAR, night).0, day(at)).unwrap();
        assert_eq!(found.record.batch, night);
    }
    assert_eq!(monitor.model(&name()).unwrap().batches, 5);
}

#[test]
fn a_batch_of_the_future_does_not_hold_its_day_open() {
    let folder = Folder::new();
    let monitor = watched(&folder.store(), Keep::Nothing);
    let send_at = |key: &str, time, received, seed| {
        let (values, _) = rows(30, CLEAR, seed);
        let mut source = MemorySource::new("batch", AnyRows::f64(&values, 5).unwrap());
        let (content, rows) = ([seed as u8; 32], &mut source);
        let new = NewBatch { key, content, name: key, time, received, ids: None, rows };
        monitor.receive(&name(), new).unwrap().record
    };
    send_at("a", day(1), day(1), 1);
    let ahead = send_at("b", day(100_000), day(1), 2);
    assert_eq!(ahead.time, day(100_000), "what was said is kept");
    let next = send_at("c", day(2), day(2), 3);
    let windows: Vec<String> =
        next.stream.tested.iter().map(|tested| format!("{:?}", tested.window)).collect();
    assert!(windows.contains(&"Day".to_owned()), "{windows:?}");
}

#[test]
fn calibrations_that_cannot_be_watched_are_refused() {
    let folder = Folder::new();
    let monitor = Monitor::open_or_create(&folder.store()).unwrap();
    let good = calibration(60);
    let mut without: serde_json::Value = serde_json::from_str(&good).unwrap();
    let _ = without.as_object_mut().unwrap().remove("reference");
    for text in ["", "{}", "[1, 2]", &good[..good.len() / 2], &without.to_string()] {
        let new = NewModel {
            name: name(),
            calibration: text,
            delta: 0.05,
            keep: Keep::Sets,
            who: "t",
            at: day(0),
        };
        assert!(monitor.add_model(&new, None).is_err());
    }
    let new = NewModel {
        name: name(),
        calibration: &good,
        delta: 0.05,
        keep: Keep::Sets,
        who: "t",
        at: day(0),
    };
    for delta in [0.0, 1.0, f64::NAN, -1.0] {
        assert!(monitor.add_model(&NewModel { delta, ..new.clone() }, None).is_err());
    }
    assert!(monitor.models().unwrap().is_empty());
    monitor.add_model(&new, None).unwrap();
    // Again: the same is fine, another calibration is not.
    monitor.add_model(&new, None).unwrap();
    let other = calibration(80);
    assert!(matches!(
        monitor.add_model(&NewModel { calibration: &other, ..new }, None).unwrap_err(),
        MonitorError::ModelExists { .. }
    ));
}
