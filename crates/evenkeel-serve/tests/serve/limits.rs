//! What is too much is refused, within its time and in little memory.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::world::{World, npy, npy_of, parquet_of, parquet_with};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

/// The same of a piece so many times between a head and a tail, without the whole of it in the memory that is looked at.
fn gzip_of_many(head: &str, piece: &str, times: usize, tail: &str) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(head.as_bytes()).unwrap();
    let pieces = piece.repeat(1000);
    for _ in 0..times / 1000 {
        writer.write_all(pieces.as_bytes()).unwrap();
    }
    writer.write_all(tail.as_bytes()).unwrap();
    writer.finish().unwrap()
}

/// Peak of this process's memory, in bytes; none where the system does not say.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

/// Held by tests that look at the peak of memory: it is that of the whole process.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[test]
fn a_gzip_bomb_is_refused_at_the_limit() {
    let _alone = ALONE.lock();
    let world = World::with_model();
    // 10 MB that inflate to 10 GB: a thousandfold, which is all that deflate can do.
    let megabyte = gzip(&vec![0; 1 << 20]);
    let bomb: Vec<u8> = megabyte.iter().copied().cycle().take(megabyte.len() * 10_000).collect();
    assert!(bomb.len() > 8 << 20 && bomb.len() < 32 << 20, "{}", bomb.len());
    let before = peak_memory();
    let headers = [
        ("content-type", "application/x-npy"),
        ("content-encoding", "gzip"),
        ("idempotency-key", "bomb"),
    ];
    let start = Instant::now();
    let answer =
        world.caller.send("POST", "/v1/models/garments/batches", &headers, &bomb).expect(413);
    assert!(answer.json()["detail"].as_str().unwrap().contains("134217728"), "{}", answer.text());
    println!(
        "gzip bomb of {} bytes: 413 after {:?}, peak {before:?} -> {:?} bytes",
        bomb.len(),
        start.elapsed(),
        peak_memory()
    );
    // The bomb itself is held twice by the caller and once by the server; what it inflates to, up to its limit of 128 MB.
    if let (Some(before), Some(after)) = (before, peak_memory()) {
        assert!(after - before < 500 << 20, "{before} -> {after}");
    }
    // The server is as it was.
    world.caller.post_batch("garments", "after", &npy("clean_unlabeled.npy", 0..300)).expect(200);
}

#[test]
fn gzipped_batches_are_taken_and_are_the_same_batches() {
    let world = World::with_model();
    let body = npy("clean_unlabeled.npy", 0..300);
    let headers = [
        ("content-type", "application/x-npy"),
        ("content-encoding", "gzip"),
        ("idempotency-key", "k"),
    ];
    let first = world
        .caller
        .send("POST", "/v1/models/garments/batches", &headers, &gzip(&body))
        .expect(200);
    let again = world.caller.post_batch("garments", "k", &body).expect(200);
    assert_eq!(again.json()["duplicate"], true);
    assert_eq!(first.json()["batch"], again.json()["batch"]);
}

#[test]
fn a_body_that_never_ends_is_given_up() {
    let world = World::with(|settings| settings.limits.body_time = Duration::from_millis(900));
    world.caller.put_model("garments").expect(201);
    drip(
        &world,
        "POST /v1/models/garments/batches HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/x-npy\r\n\
         idempotency-key: slow\r\ncontent-length: 12000\r\n\r\n",
    );
}

/// The login is open to everybody.
#[test]
fn a_form_that_never_ends_is_given_up() {
    let world = World::with(|settings| settings.limits.body_time = Duration::from_millis(900));
    drip(
        &world,
        "POST /login HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/x-www-form-urlencoded\r\n\
         content-length: 12000\r\n\r\n",
    );
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    world.caller.send("POST", "/login", &headers, &[b'x'; 65_537]).expect(413);
}

/// Sends a head, and of its body a byte now and then: 408 within the time.
fn drip(world: &World, head: &str) {
    let mut stream = TcpStream::connect(world.caller.address).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let start = Instant::now();
    let mut dripping = stream.try_clone().unwrap();
    let drip = std::thread::spawn(move || {
        // A byte now and then: the time counts from the head, not from the last byte.
        while start.elapsed() < Duration::from_secs(10) && dripping.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let mut answer = String::new();
    stream.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
    // The server closes the connection after its answer; what is dripped then may reset it.
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        answer.push_str(&String::from_utf8_lossy(&buffer[..count]));
        if answer.contains("within") {
            break;
        }
    }
    let took = start.elapsed();
    println!("slow body: {:?} after {took:?}", answer.lines().next());
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(took < Duration::from_secs(5), "{took:?}");
    drop(stream);
    drip.join().unwrap();
}

#[test]
fn a_head_that_never_ends_is_given_up() {
    let world = World::with(|settings| settings.limits.body_time = Duration::from_millis(900));
    let mut stream = TcpStream::connect(world.caller.address).unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nx: ").unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
    let start = Instant::now();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn sizes_are_limited() {
    let world = World::with(|settings| {
        settings.limits.body_bytes = 1_000_000;
        settings.limits.rows = 1000;
        settings.limits.classes = 20;
    });
    world.caller.put_model("garments").expect(201);
    let json = [("content-type", "application/json")];
    world.caller.send("PUT", "/v1/models/large", &json, &vec![b' '; 1_000_001]).expect(413);
    let wide = npy_of(&[1.0 / 21.0; 21], 21);
    assert!(world.caller.post_batch("garments", "wide", &wide).expect(413).text().contains("21"));
    let tall = npy_of(&[0.1; 10_010], 10);
    assert!(
        world.caller.post_batch("garments", "tall", &tall).expect(413).text().contains("1000 rows")
    );
    // Rows that a table repeats a million times in a few bytes.
    let repeated = parquet_of(&[0.1; 20_000], 10);
    let headers =
        [("content-type", "application/vnd.apache.parquet"), ("idempotency-key", "repeated")];
    world.caller.send("POST", "/v1/models/garments/batches", &headers, &repeated).expect(413);
    world.caller.post_batch("garments", "fits", &npy_of(&[0.1; 10_000], 10)).expect(200);
}

#[test]
fn a_full_queue_says_so_at_once() {
    let world = World::with(|settings| {
        settings.limits.queue = 1;
        settings.threads = Some(1);
    });
    world.caller.put_model("garments").expect(201);
    let body = npy("clean_unlabeled.npy", 0..1000);
    let answers: Vec<_> = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..8)
            .map(|sender| {
                let (caller, body) = (world.caller.clone(), &body);
                scope.spawn(move || {
                    let send =
                        |batch| caller.post_batch("garments", &format!("{sender}-{batch}"), body);
                    (0..4).map(send).collect::<Vec<_>>()
                })
            })
            .collect();
        senders.into_iter().flat_map(|sender| sender.join().unwrap()).collect()
    });
    let refused: Vec<_> = answers.iter().filter(|answer| answer.status == 429).collect();
    let taken = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(refused.len() + taken, answers.len());
    assert!(taken >= 4 && !refused.is_empty(), "{taken} taken, {} refused", refused.len());
    assert!(refused.iter().all(|answer| answer.header("retry-after").is_some()));
    // What was refused was not stored.
    let history = world.caller.get("/v1/models/garments/batches?limit=100").expect(200).json();
    assert_eq!(history["batches"].as_array().unwrap().len(), taken);
}

/// An alarm recalibrates while it holds the store; a thread that helped out with other batches meanwhile waited for itself.
#[test]
fn alarms_under_load_leave_the_server_running() {
    let world = World::with(|settings| settings.threads = Some(4));
    let loud = npy("motion_blur_5_unlabeled.npy", 0..1000);
    for model in 0..6 {
        world.caller.put_model(&format!("m{model}")).expect(201);
    }
    std::thread::scope(|scope| {
        for sender in 0..8 {
            let (caller, loud) = (world.caller.clone(), &loud);
            scope.spawn(move || {
                for batch in 0..6 {
                    let model = format!("m{}", (sender + batch) % 6);
                    caller.post_batch(&model, &format!("{sender}-{batch}"), loud).expect(200);
                }
            });
        }
    });
    for model in 0..6 {
        let found = world.caller.get(&format!("/v1/models/m{model}/proposals")).expect(200);
        assert!(found.text().contains("open"), "{}", found.text());
    }
}

/// Rows of one number are twenty times as large in memory as in JSON: they are counted while they are read.
#[test]
fn rows_of_json_are_counted_while_they_are_read() {
    let _alone = ALONE.lock();
    let world = World::with_model();
    let body = gzip_of_many("{\"probs\":[", "[0],", 30_000_000, "[0]]}");
    let before = peak_memory();
    let headers = [
        ("content-type", "application/json"),
        ("content-encoding", "gzip"),
        ("idempotency-key", "many"),
    ];
    world.caller.send("POST", "/v1/models/garments/batches", &headers, &body).expect(413);
    if let (Some(before), Some(after)) = (before, peak_memory()) {
        assert!(after - before < 400 << 20, "{before} -> {after}");
    }
}

#[test]
fn a_server_without_room_on_its_disk_is_not_ready() {
    let mut world = World::with(|settings| settings.limits.free_bytes = 1);
    world.caller.get("/readyz").expect(200);
    world.restart_with(|settings| settings.limits.free_bytes = u64::MAX);
    let problem = world.caller.get("/readyz").expect(503);
    assert!(problem.text().contains("--min-free"), "{}", problem.text());
    // It lives all the same.
    world.caller.get("/healthz").expect(200);
}

/// The only connection is held by a caller that asks for megabytes and reads none of them; the next one waits until it is given up.
#[test]
fn a_caller_that_never_reads_is_given_up() {
    let limit = Duration::from_millis(1500);
    let mut world = World::with_model();
    world.restart_with(|settings| {
        settings.limits.body_time = limit;
        settings.limits.connections = 1;
    });
    let calibration = world.caller.get("/v1/models/garments/calibration").expect(200).body.len();
    // Keeps its connection alive: another caller with one of its own would wait for it.
    world.caller = crate::world::Caller::new(world.caller.address);
    // Far more than the buffers of the system between the two.
    let requests = (96 << 20) / calibration;
    let mut deaf = TcpStream::connect(world.caller.address).unwrap();
    let start = Instant::now();
    let sending = std::thread::spawn({
        let mut deaf = deaf.try_clone().unwrap();
        move || {
            let one = "GET /v1/models/garments/calibration HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
            // Fails once the server has gone.
            let _ = deaf.write_all(one.repeat(requests).as_bytes());
        }
    });
    let answer = world.caller.get("/healthz").expect(200);
    let took = start.elapsed();
    println!(
        "a caller that never reads: the next one was answered after {took:?}, limit {limit:?}"
    );
    assert_eq!(answer.json()["status"], "ok");
    assert!(took >= limit, "nobody held the connection: {took:?}");
    assert!(took < 5 * limit, "{took:?}");
    // It was cut off in the middle.
    let mut rest = Vec::new();
    let read = deaf.read_to_end(&mut rest);
    assert!(rest.len() < requests * calibration, "{read:?}, {} bytes", rest.len());
    sending.join().unwrap();
}

/// Ids of three bytes of text each are counted while they are read, not when all of them are strings.
#[test]
fn ids_of_late_labels_are_counted_while_they_are_read() {
    let _alone = ALONE.lock();
    let world = World::with_model();
    world.caller.post_batch("garments", "one", &npy("clean_unlabeled.npy", 0..100)).expect(200);
    let body = gzip_of_many("{\"ids\":[", "\"\",", 40_000_000, "\"\"],\"labels\":[1]}");
    let before = peak_memory();
    let headers = [("content-type", "application/json"), ("content-encoding", "gzip")];
    let path = "/v1/models/garments/batches/1/labels";
    let refused = world.caller.send("POST", path, &headers, &body).expect(413);
    assert!(refused.text().contains("1000000 rows"), "{}", refused.text());
    let after = peak_memory();
    println!("40 million ids in {} bytes: 413, peak {before:?} -> {after:?} bytes", body.len());
    if let (Some(before), Some(after)) = (before, after) {
        assert!(after - before < 400 << 20, "{before} -> {after}");
    }
    // Labels of a batch are counted as before.
    let labels: Vec<usize> = vec![0; 100];
    let json = serde_json::json!({ "labels": labels }).to_string();
    let headers = [("content-type", "application/json")];
    world.caller.send("POST", path, &headers, json.as_bytes()).expect(200);
}

/// A decision is a name and a sentence: large ones are refused before they are read, queue or not.
#[test]
fn a_decision_is_short() {
    let world = World::with_model();
    let path = "/v1/models/garments/proposals/1/approve";
    let large = serde_json::json!({ "who": "Ada", "why": "x".repeat(70_000) }).to_string();
    let headers = [("content-type", "application/json")];
    let refused = world.caller.send("POST", path, &headers, large.as_bytes()).expect(413);
    assert!(refused.text().contains("65536"), "{}", refused.text());
    let headers = [("content-type", "application/json"), ("content-encoding", "gzip")];
    world.caller.send("POST", path, &headers, &gzip(large.as_bytes())).expect(413);
}

/// A table says in a few bytes that a long word stands in all of its rows.
#[test]
fn ids_of_a_table_are_counted_while_they_are_read() {
    let world = World::with_model();
    let long = "x".repeat(4000);
    let names: Vec<String> = (0..10).map(|column| format!("p{column}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let body = parquet_with(&[0.1; 400_000], &names, &vec![long.as_str(); 40_000]);
    assert!(body.len() < 1 << 20, "{}", body.len());
    let headers = [
        ("content-type", "application/vnd.apache.parquet"),
        ("idempotency-key", "ids"),
        ("x-row-ids", "id"),
    ];
    let refused = world.caller.send("POST", "/v1/models/garments/batches", &headers, &body);
    assert!(refused.expect(413).text().contains("134217728"));
}
