//! Tables by the names of their columns, and rows by their ids.

use evenkeel::calibration::ClassNames;
use serde_json::{Value, json};

use crate::world::{World, calibration_json, floats, labels, npy, parquet_with};

const NAMES: [&str; 10] = ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9"];

const PARQUET: (&str, &str) = ("content-type", "application/vnd.apache.parquet");

/// A server with a model whose calibration knows the names of its columns.
fn named() -> World {
    let world = World::new();
    let made: evenkeel::calibration::Calibration =
        serde_json::from_str(&calibration_json(0.1)).unwrap();
    let columns = Some(NAMES.map(str::to_owned).to_vec());
    let made = made.with_class_names(ClassNames { columns, classes: None }).unwrap();
    let text = serde_json::to_string(&made).unwrap();
    let headers = [("content-type", "application/json")];
    world
        .caller
        .send("PUT", "/v1/models/garments?keep=rows", &headers, text.as_bytes())
        .expect(201);
    world
}

fn post(world: &World, key: &str, headers: &[(&str, &str)], body: &[u8]) -> crate::world::Answer {
    let headers = [&[("idempotency-key", key)], headers].concat();
    world.caller.send("POST", "/v1/models/garments/batches", &headers, body)
}

#[test]
fn columns_in_another_order_are_put_in_order_and_other_columns_are_refused() {
    let world = named();
    let numbers = floats(&npy("fog_3_unlabeled.npy", 0..200));
    let found = |key: &str, body: &[u8]| {
        let answer = post(&world, key, &[PARQUET], body).expect(200).json();
        ["shift", "coverage_estimate", "set_size_mean", "readings"]
            .map(|field| answer[field].clone())
    };
    let plain = found("plain", &parquet_with(&numbers, &NAMES, &[]));
    let turned: Vec<f64> =
        numbers.chunks(10).flat_map(|row| row.iter().rev().copied().collect::<Vec<_>>()).collect();
    let mut names = NAMES;
    names.reverse();
    assert_eq!(found("turned", &parquet_with(&turned, &names, &[])), plain);
    names[0] = "q";
    let problem =
        post(&world, "other", &[PARQUET], &parquet_with(&turned, &names, &[])).expect(422);
    assert!(problem.text().contains("p9") && problem.text().contains("q"), "{}", problem.text());
}

#[test]
fn late_labels_name_rows_by_the_ids_they_came_with() {
    let world = named();
    let numbers = floats(&npy("fog_3_test_probs.npy", 0..60));
    let truth = labels("fog_3_test_labels.npy", 0..60);
    let ids: Vec<String> = (0..60).map(|row| format!("image-{row}")).collect();
    let words: Vec<&str> = ids.iter().map(String::as_str).collect();
    let table = parquet_with(&numbers, &NAMES, &words);
    post(&world, "table", &[PARQUET, ("x-row-ids", "id")], &table).expect(200);
    let probs: Vec<&[f64]> = numbers.chunks(10).collect();
    // Numbers are names too.
    let numbered: Vec<usize> = (1000..1060).collect();
    let body = json!({ "probs": probs, "ids": numbered }).to_string().into_bytes();
    post(&world, "json", &[("content-type", "application/json")], &body).expect(200);
    post(&world, "plain", &[PARQUET], &parquet_with(&numbers, &NAMES, &[])).expect(200);

    let send = |batch: u64, body: &Value| {
        let path = format!("/v1/models/garments/batches/{batch}/labels");
        world.caller.post_json(&path, body)
    };
    let some: Vec<usize> = vec![41, 3, 17];
    let of = |rows: &[usize]| rows.iter().map(|row| truth[*row]).collect::<Vec<_>>();
    let by_row = send(3, &json!({ "rows": some, "labels": of(&some) })).expect(200).json();
    let named: Vec<&str> = some.iter().map(|row| words[*row]).collect();
    let by_id = send(1, &json!({ "ids": named, "labels": of(&some) })).expect(200).json();
    let numbered: Vec<usize> = some.iter().map(|row| 1000 + row).collect();
    let by_number = send(2, &json!({ "ids": numbered, "labels": of(&some) })).expect(200).json();
    for found in [&by_id, &by_number] {
        assert_eq!((&found["coverage"], &found["n_labeled"]), (&by_row["coverage"], &json!(3)));
    }
    // The same once more counts nothing, by whatever name.
    let again = send(1, &json!({ "rows": some, "labels": of(&some) })).expect(200).json();
    assert_eq!(again["new"], 0);
    for (batch, body, words) in [
        (1, json!({"ids": ["image-60"], "labels": [0]}), "ids that were sent"),
        (3, json!({"ids": ["image-1"], "labels": [0]}), "came without ids"),
        (1, json!({"ids": ["image-1"], "rows": [1], "labels": [0]}), "one of them"),
        (1, json!({"ids": ["image-1", "image-2"], "labels": [0]}), "one label for each"),
        (1, json!({"ids": [1.5], "labels": [0]}), "the body"),
    ] {
        let problem = send(batch, &body).expect(422);
        assert!(problem.text().contains(words), "{}", problem.text());
    }
}

#[test]
fn ids_that_are_none_are_refused_and_nothing_is_stored() {
    let world = named();
    let rows = npy("fog_3_unlabeled.npy", 0..2);
    let table = parquet_with(&floats(&rows), &NAMES, &["a", "a"]);
    for (headers, body, words) in [
        (vec![PARQUET, ("x-row-ids", "id")], &table, "stands before another row"),
        (vec![PARQUET, ("x-row-ids", "name")], &table, "name"),
        (
            vec![("content-type", "application/x-npy"), ("x-row-ids", "id")],
            &rows,
            "has none with names",
        ),
    ] {
        let problem = post(&world, "k", &headers, body).expect(422);
        assert!(problem.text().contains(words), "{}", problem.text());
    }
    post(&world, "k", &[PARQUET, ("x-row-ids", " ")], &table).expect(400);
    let history = world.caller.get("/v1/models/garments/batches").expect(200).json();
    assert_eq!(history["batches"], json!([]));
}
