//! A store is restored by copying a file.

use evenkeel_monitor::Monitor;

use crate::world::{World, npy};

#[test]
fn a_backup_made_while_it_runs_is_a_whole_store() {
    let mut world = World::with_model();
    let body = npy("clean_unlabeled.npy", 0..300);
    let first = world.caller.post_batch("garments", "before", &body).expect(200).json();
    let copy = world.folder.path().join("backup.sqlite");
    Monitor::open(&world.folder.store()).unwrap().backup(&copy).unwrap();
    world.caller.post_batch("garments", "after", &npy("clean_unlabeled.npy", 300..600)).expect(200);
    // The disk is lost: the file, and what SQLite keeps beside it.
    world.stop();
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", world.folder.store().display()));
    }
    std::fs::copy(&copy, world.folder.store()).unwrap();
    world.restart();
    let history = world.caller.get("/v1/models/garments/batches").expect(200).json();
    assert_eq!(history["batches"].as_array().unwrap().len(), 1);
    // What the backup holds is known; what came after it can be sent again.
    let again = world.caller.post_batch("garments", "before", &body).expect(200).json();
    assert_eq!((&again["duplicate"], &again["batch"]), (&true.into(), &first["batch"]));
    let later = world
        .caller
        .post_batch("garments", "after", &npy("clean_unlabeled.npy", 300..600))
        .expect(200)
        .json();
    assert_eq!(later["duplicate"], false);
}
