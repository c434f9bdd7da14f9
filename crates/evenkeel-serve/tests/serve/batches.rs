//! Batches in: forms, keys, refusals; history out.

use serde_json::{Value, json};

use crate::world::{World, labels, npy, npy_of};

#[test]
fn an_answer_says_what_to_know() {
    let world = World::with_model();
    let body = npy("clean_unlabeled.npy", 0..300);
    let answer = world
        .caller
        .post_batch_at("garments", "night-1", Some("2026-11-01T03:00:00Z"), &body)
        .expect(200);
    let found = answer.json();
    assert_eq!(
        (&found["duplicate"], &found["m"], &found["time"]),
        (&json!(false), &json!(300), &json!("2026-11-01T03:00:00Z"))
    );
    assert!(
        found["shift"]["p_value"].is_number() && found["shift"]["detected"].is_boolean(),
        "{found}"
    );
    for field in [
        "batch",
        "coverage_estimate",
        "coverage_interval",
        "set_size_mean",
        "verdict",
        "alarm",
        "advice",
    ] {
        assert!(found.get(field).is_some(), "{field}: {found}");
    }
}

#[test]
fn a_repeated_key_is_answered_and_not_stored_again() {
    let mut world = World::with_model();
    let body = npy("clean_unlabeled.npy", 0..300);
    let first = world.caller.post_batch("garments", "night-1", &body).expect(200).json();
    let again = world.caller.post_batch("garments", "night-1", &body).expect(200).json();
    assert_eq!((&first["duplicate"], &again["duplicate"]), (&json!(false), &json!(true)));
    let without = |mut value: Value| {
        value.as_object_mut().unwrap().remove("duplicate");
        value
    };
    assert_eq!(without(first.clone()), without(again));
    // Also by a server that was started anew.
    world.restart();
    let later = world.caller.post_batch("garments", "night-1", &body).expect(200).json();
    assert_eq!((&later["duplicate"], &later["batch"]), (&json!(true), &first["batch"]));
    // The same key for other rows is a mistake of the caller.
    let other = npy("clean_unlabeled.npy", 300..600);
    let problem = world.caller.post_batch("garments", "night-1", &other).expect(409).json();
    assert!(problem["detail"].as_str().unwrap().contains("night-1"), "{problem}");
    // Keys belong to their model.
    world.caller.put_model("shoes").expect(201);
    assert_eq!(
        world.caller.post_batch("shoes", "night-1", &other).expect(200).json()["duplicate"],
        false
    );
    let history = world.caller.get("/v1/models/garments/batches").expect(200).json();
    assert_eq!(history["batches"].as_array().unwrap().len(), 1);
}

#[test]
fn a_key_is_needed_and_must_say_something() {
    let world = World::with_model();
    let body = npy("clean_unlabeled.npy", 0..100);
    let npy_type = ("content-type", "application/x-npy");
    let path = "/v1/models/garments/batches";
    world.caller.send("POST", path, &[npy_type], &body).expect(400);
    for key in ["", " ", &"k".repeat(256)] {
        let answer = world
            .caller
            .send("POST", path, &[npy_type, ("idempotency-key", key)], &body)
            .expect(400);
        assert!(answer.text().contains("Idempotency-Key"), "{}", answer.text());
    }
}

#[test]
fn every_form_of_the_same_rows_gives_the_same_answer() {
    let world = World::with_model();
    let body = npy("fog_3_unlabeled.npy", 0..200);
    let numbers = crate::world::floats(&body);
    let probs: Vec<&[f64]> = numbers.chunks(10).collect();
    let as_json = json!({ "probs": probs }).to_string().into_bytes();
    let forms = [
        ("application/x-npy", body.clone()),
        ("application/vnd.apache.parquet", crate::world::parquet_of(&numbers, 10)),
        ("application/json", as_json),
    ];
    let answers = forms.map(|(form, bytes)| {
        let model = format!("m-{}", form.rsplit(['/', '.', '-']).next().unwrap());
        world.caller.put_model(&model).expect(201);
        let headers = [
            ("content-type", form),
            ("idempotency-key", "k"),
            ("x-batch-time", "2026-11-01T00:00:00Z"),
        ];
        let answer = world
            .caller
            .send("POST", &format!("/v1/models/{model}/batches"), &headers, &bytes)
            .expect(200);
        let mut found = answer.json();
        // Whose they are and when they came differs; what was found does not.
        let fields = found.as_object_mut().unwrap();
        fields.retain(|name, _| !["model", "received", "alarm"].contains(&name.as_str()));
        found
    });
    assert_eq!(answers[0]["shift"], answers[1]["shift"]);
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
}

#[test]
fn bad_batches_are_refused_with_the_place_and_nothing_is_stored() {
    let world = World::with_model();
    let mut rows = vec![0.1; 30];
    rows[25] = f64::NAN;
    let cases: [(&str, Vec<u8>, u16, &str); 8] = [
        ("application/x-npy", npy_of(&rows, 10), 422, "row 2"),
        ("application/x-npy", npy_of(&[0.5; 20], 10), 422, "sums to"),
        ("application/x-npy", npy_of(&[0.25; 8], 4), 422, "classes"),
        ("application/x-npy", b"nothing of the kind".to_vec(), 422, "the body"),
        ("application/vnd.apache.parquet", b"PAR1".to_vec(), 422, "the body"),
        ("application/vnd.apache.arrow.stream", vec![0xff; 64], 422, "the body"),
        ("application/json", b"{\"probs\": [[1, 2".to_vec(), 400, "JSON"),
        ("text/html", Vec::new(), 415, "application/x-npy"),
    ];
    for (number, (form, body, status, words)) in cases.into_iter().enumerate() {
        let key = format!("bad-{number}");
        let headers = [("content-type", form), ("idempotency-key", &key[..])];
        let answer = world
            .caller
            .send("POST", "/v1/models/garments/batches", &headers, &body)
            .expect(status);
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(words), "{detail}");
        assert!(
            !detail.contains("spool") && !detail.contains("sqlite"),
            "{detail} names a file of the server"
        );
    }
    let history = world.caller.get("/v1/models/garments/batches").expect(200).json();
    assert_eq!(history["batches"], json!([]));
    // The key of a batch that was refused is free.
    world.caller.post_batch("garments", "bad-0", &npy("clean_unlabeled.npy", 0..50)).expect(200);
}

#[test]
fn history_comes_in_pages_in_the_order_of_arrival() {
    let world = World::with_model();
    for day in 1..=7 {
        let body = npy("clean_unlabeled.npy", (day - 1) * 100..day * 100);
        world
            .caller
            .post_batch_at(
                "garments",
                &format!("day-{day}"),
                Some(&format!("2026-11-{day:02}T03:00:00Z")),
                &body,
            )
            .expect(200);
    }
    let mut seen = Vec::new();
    let mut query = "?limit=3".to_owned();
    loop {
        let page =
            world.caller.get(&format!("/v1/models/garments/batches{query}")).expect(200).json();
        let batches = page["batches"].as_array().unwrap();
        assert!(batches.len() <= 3);
        seen.extend(batches.iter().map(|batch| batch["time"].as_str().unwrap().to_owned()));
        match page["next_cursor"].as_str() {
            Some(cursor) => query = format!("?limit=3&cursor={cursor}"),
            None => break,
        }
    }
    let in_order: Vec<_> = (1..=7).map(|day| format!("2026-11-{day:02}T03:00:00Z")).collect();
    assert_eq!(seen, in_order);
    let some = world
        .caller
        .get("/v1/models/garments/batches?from=2026-11-03T00:00:00Z&to=2026-11-05T00:00:00Z")
        .expect(200)
        .json();
    assert_eq!(some["batches"].as_array().unwrap().len(), 2);
    let one = &some["batches"][0]["batch"];
    let one = one.as_str().map_or_else(|| one.to_string(), str::to_owned);
    assert_eq!(
        world.caller.get(&format!("/v1/models/garments/batches/{one}")).expect(200).json()["time"],
        "2026-11-03T03:00:00Z"
    );
    for query in [
        "?limit=0",
        "?limit=x",
        "?limit=1001",
        "?from=yesterday",
        "?cursor=%00",
        "?cursor=x",
        "?cursor=",
    ] {
        world.caller.get(&format!("/v1/models/garments/batches{query}")).expect(400);
    }
    world.caller.get("/v1/models/garments/batches/999999").expect(404);
    world.caller.get("/v1/models/nobody/batches").expect(404);
}

#[test]
fn labels_may_come_late_in_parts_and_twice() {
    let world = World::with_model();
    let body = npy("clean_test_probs.npy", 0..300);
    let answer = world.caller.post_batch("garments", "k", &body).expect(200).json();
    let batch = answer["batch"].as_str().map_or_else(|| answer["batch"].to_string(), str::to_owned);
    let path = format!("/v1/models/garments/batches/{batch}/labels");
    let all = labels("clean_test_labels.npy", 0..300);
    let part = |rows: std::ops::Range<usize>| json!({"rows": rows.clone().collect::<Vec<_>>(), "labels": &all[rows]});
    let first = world.caller.post_json(&path, &part(0..100)).expect(200).json();
    assert_eq!(first["n_labeled"], 100);
    let again = world.caller.post_json(&path, &part(50..150)).expect(200).json();
    assert_eq!(again["n_labeled"], 150);
    let whole = world.caller.post_json(&path, &json!({"labels": all})).expect(200).json();
    assert_eq!(whole["n_labeled"], 300);
    let coverage = whole["coverage"].as_f64().unwrap();
    assert!((0.84..=0.97).contains(&coverage), "{whole}");
    assert!(
        whole["coverage_interval_cp"][0].as_f64().unwrap() < coverage
            && whole["e_value"].is_number(),
        "{whole}"
    );
    // A row that was another class before, a class that is none, a row that is none.
    let other = if all[0] == 0 { 1 } else { 0 };
    world.caller.post_json(&path, &json!({"rows": [0], "labels": [other]})).expect(409);
    world.caller.post_json(&path, &json!({"rows": [0], "labels": [10]})).expect(422);
    world.caller.post_json(&path, &json!({"rows": [300], "labels": [1]})).expect(422);
    world.caller.post_json(&path, &json!({"rows": [0, 1], "labels": [1]})).expect(422);
    world
        .caller
        .post_json("/v1/models/garments/batches/999999/labels", &json!({"labels": [1]}))
        .expect(404);
}
