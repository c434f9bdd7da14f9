//! kill -9 under load: what was answered is stored, once, and what was sent again is known.
//!
//! `scripts/serve-kills` runs the same with a thousand kills (`EVENKEEL_KILLS=1000`).

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::world::{Caller, Folder, npy_of, start_in, wait_until};

/// Says where the store of a server in a process of its own is; without it the test below does nothing.
const STORE: &str = "EVENKEEL_SERVE_TEST_FOLDER";

/// Not a test of its own: the body of the processes that `no_kill_loses_what_was_answered` starts and kills.
#[test]
fn a_server_in_a_process_of_its_own() {
    let Ok(folder) = std::env::var(STORE) else { return };
    let mut settings =
        evenkeel_serve::Settings::new(std::path::Path::new(&folder).join("ek.sqlite"));
    settings.listen.set_port(0);
    let running = evenkeel_serve::start(&settings).unwrap();
    println!("LISTENING {}", running.address());
    // Until it is killed.
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

fn start_process(folder: &Folder) -> (Child, SocketAddr) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kills::a_server_in_a_process_of_its_own", "--nocapture"])
        .env(STORE, folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = lines.map_while(Result::ok).find(|line| line.contains("LISTENING ")).unwrap();
    let (_, address) = line.rsplit_once("LISTENING ").unwrap();
    (child, address.trim().parse().unwrap())
}

/// A small batch, another one for every number: the check must not be what the kills wait for.
fn body(number: u64) -> Vec<u8> {
    let rows = (0..40).flat_map(|row| {
        let high =
            0.5 + 0.4 * f64::from(u8::try_from((number * 31 + row * 7) % 100).unwrap()) / 100.0;
        let mut masses = vec![(1.0 - high) / 9.0; 10];
        masses[usize::try_from((number + row) % 10).unwrap()] = high;
        masses
    });
    npy_of(&rows.collect::<Vec<f64>>(), 10)
}

#[test]
fn no_kill_loses_what_was_answered() {
    let kills: u32 = std::env::var("EVENKEEL_KILLS").map_or(6, |kills| kills.parse().unwrap());
    let folder = Folder::new();
    // Number of the batch -> its id, of every batch that was answered with 200.
    let answered: Arc<Mutex<BTreeMap<u64, String>>> = Arc::default();
    let (sent, next) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (mut child, mut address) = start_process(&folder);
    Caller::new(address).put_model("garments").expect(201);
    for kill in 0..kills {
        let stop = Arc::new(AtomicBool::new(false));
        let senders: Vec<_> = (0..4)
            .map(|_| {
                let (answered, sent, next) =
                    (Arc::clone(&answered), Arc::clone(&sent), Arc::clone(&next));
                let stop = Arc::clone(&stop);
                let caller = Caller::new(address);
                std::thread::spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        sent.fetch_add(1, Ordering::Relaxed);
                        let key = format!("batch-{number}");
                        let headers =
                            [("content-type", "application/x-npy"), ("idempotency-key", &key[..])];
                        let path = "/v1/models/garments/batches";
                        // No answer, or half of one: the server was killed.
                        let Ok(answer) = caller.try_send("POST", path, &headers, &body(number))
                        else {
                            return;
                        };
                        if answer.status == 200 {
                            let id = answer.json()["batch"].to_string();
                            answered.lock().unwrap().insert(number, id);
                        }
                    }
                })
            })
            .collect();
        // Once it answers, and then at another moment every time: in the middle of a check, a transaction, an answer.
        let before = answered.lock().unwrap().len();
        wait_until("an answer", || answered.lock().unwrap().len() > before);
        std::thread::sleep(Duration::from_millis(u64::from(kill * 37 % 90)));
        child.kill().unwrap();
        child.wait().unwrap();
        stop.store(true, Ordering::Relaxed);
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        (child, address) = start_process(&folder);
        // Now and then: reading the whole history after every kill would be most of a long run.
        if kill % 50 == 49 || kill + 1 == kills {
            let answered = answered.lock().unwrap();
            let stored = everything_stored(&Caller::new(address));
            for (number, id) in answered.iter() {
                let times = stored.get(id).copied().unwrap_or(0);
                assert_eq!(
                    times, 1,
                    "batch {number} was answered as {id} and is stored {times} times after {kill} kills"
                );
            }
            println!(
                "{} kills: {} sent, {} answered, {} stored, none lost, none twice",
                kill + 1,
                sent.load(Ordering::Relaxed),
                answered.len(),
                stored.len()
            );
            // A sample is sent again: it is known, with the same answer.
            let caller = Caller::new(address);
            for (number, id) in answered.iter().rev().take(5) {
                let again = caller
                    .post_batch("garments", &format!("batch-{number}"), &body(*number))
                    .expect(200);
                assert_eq!(
                    (again.json()["duplicate"].as_bool(), again.json()["batch"].to_string()),
                    (Some(true), id.clone())
                );
            }
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let answered = answered.lock().unwrap().len();
    assert!(answered >= kills as usize, "only {answered} batches were answered in {kills} kills");
}

/// Every batch of the model, by id, with how often it is in the history.
fn everything_stored(caller: &Caller) -> BTreeMap<String, u32> {
    let mut stored = BTreeMap::new();
    let mut cursor = String::new();
    loop {
        let page = caller
            .get(&format!("/v1/models/garments/batches?limit=1000{cursor}"))
            .expect(200)
            .json();
        for batch in page["batches"].as_array().unwrap() {
            *stored.entry(batch["batch"].to_string()).or_insert(0) += 1;
        }
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return stored,
        }
    }
}

#[test]
fn a_second_server_on_the_same_store_is_refused() {
    let folder = Folder::new();
    let running = start_in(&folder, |_| {});
    let mut settings = evenkeel_serve::Settings::new(folder.store());
    settings.listen.set_port(0);
    let error = evenkeel_serve::start(&settings).map(drop).unwrap_err();
    assert!(error.to_string().contains("is served already"), "{error}");
    running.stop();
    start_in(&folder, |_| {}).stop();
}
