//! `--watch`: files of a folder are batches.

use crate::world::{Folder, World, npy, wait_until};

#[test]
fn files_are_taken_once_each_when_they_are_whole() {
    let folder = Folder::new();
    let inbox = folder.path().join("inbox");
    std::fs::create_dir_all(inbox.join("garments")).unwrap();
    std::fs::create_dir_all(inbox.join("nobody")).unwrap();
    let watched = inbox.clone();
    let world = World::with(|settings| settings.watch = Some(watched));
    world.caller.put_model("garments").expect(201);
    let body = npy("clean_unlabeled.npy", 0..300);
    std::fs::write(inbox.join("garments/night-1.npy"), &body).unwrap();
    // The same rows under another name are the same batch.
    std::fs::write(inbox.join("garments/copy.npy"), &body).unwrap();
    std::fs::write(inbox.join("garments/broken.npy"), b"not npy").unwrap();
    std::fs::write(inbox.join("garments/notes.txt"), b"not a table").unwrap();
    std::fs::write(inbox.join("garments/.half.npy"), &body).unwrap();
    std::fs::write(inbox.join("nobody/night-1.npy"), &body).unwrap();
    let batches = || {
        world.caller.get("/v1/models/garments/batches").expect(200).json()["batches"]
            .as_array()
            .unwrap()
            .clone()
    };
    wait_until("two failures", || {
        world.caller.get("/metrics").text().contains("evenkeel_watch_failures_total 2\n")
    });
    wait_until("a batch", || batches().len() == 1);
    std::fs::write(inbox.join("garments/night-2.npy"), npy("clean_unlabeled.npy", 300..600))
        .unwrap();
    wait_until("two batches", || batches().len() == 2);
    let names: Vec<_> =
        batches().iter().map(|batch| batch["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["copy.npy", "night-2.npy"]);
    // A model that is made later gets what waited for it: what is missing may come, what is broken stays so.
    world.caller.put_model("nobody").expect(201);
    wait_until("the batch that waited for its model", || {
        world.caller.get("/v1/models/nobody").expect(200).json()["batches"] == 1
    });
    // The files are the operator's.
    assert!(inbox.join("garments/night-1.npy").exists());
}
