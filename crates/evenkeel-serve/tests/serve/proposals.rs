//! From an alarm to a decision.

use serde_json::{Value, json};

use crate::world::{World, npy};

/// Two quiet nights and one of fog; the proposal that the alarm made.
pub(crate) fn alarmed() -> (World, Value) {
    let world = World::with_model();
    // Quiet in fact, not only in law: one quiet stream in twenty may alarm, and `clean_unlabeled` as the first night is such a one.
    let nights = [
        ("clean_test_probs.npy", 0..1000),
        ("clean_test_probs.npy", 1000..2000),
        ("motion_blur_5_unlabeled.npy", 0..1000),
    ];
    for (night, (file, rows)) in nights.into_iter().enumerate() {
        let time = format!("2026-11-{:02}T03:00:00Z", night + 1);
        let body = npy(file, rows);
        let answer = world
            .caller
            .post_batch_at("garments", &format!("night-{night}"), Some(&time), &body)
            .expect(200)
            .json();
        assert_eq!(answer["alarm"].is_null(), night < 2, "{}", answer["alarm"]);
    }
    let proposals = world.caller.get("/v1/models/garments/proposals").expect(200).json();
    let proposal = proposals["proposals"][0].clone();
    (world, proposal)
}

#[test]
fn an_alarm_makes_a_proposal_and_changes_nothing() {
    let (world, proposal) = alarmed();
    assert_eq!(
        (&proposal["proposal"], &proposal["state"], &proposal["from_batches"]),
        (&json!(1), &json!("open"), &json!([3]))
    );
    for field in [
        "threshold_before",
        "threshold_after",
        "expected_coverage",
        "set_size_before",
        "set_size_after",
        "account",
        "method",
    ] {
        assert!(!proposal[field].is_null(), "{field}: {proposal}");
    }
    assert!(
        proposal["threshold_after"].as_f64() > proposal["threshold_before"].as_f64(),
        "{proposal}"
    );
    assert_eq!(world.caller.get("/v1/models/garments").expect(200).json()["version"], 1);
}

#[test]
fn an_approval_makes_a_version_that_is_served() {
    let (world, _) = alarmed();
    let before = world.caller.get("/v1/models/garments/calibration").expect(200);
    let path = "/v1/models/garments/proposals/1/approve";
    for (body, status) in [
        (json!({}), 422),
        (json!({"who": "", "why": "x"}), 422),
        (json!({"who": "A", "why": " "}), 422),
        (json!({"who": "A", "why": "x", "more": 1}), 422),
        (json!({"who": "A", "why": "x".repeat(2001)}), 422),
    ] {
        world.caller.post_json(path, &body).expect(status);
    }
    let decision = json!({"who": "A. Nother", "why": "the new camera stays"});
    let model = world.caller.post_json(path, &decision).expect(200).json();
    assert_eq!(model["version"], 2);
    let after = world.caller.get("/v1/models/garments/calibration").expect(200);
    assert_ne!(before.header("etag"), after.header("etag"));
    assert_ne!(before.body, after.body);
    assert_eq!(
        world.caller.get("/v1/models/garments/calibration?version=1").expect(200).body,
        before.body
    );
    // Once.
    world.caller.post_json(path, &decision).expect(409);
    world.caller.post_json("/v1/models/garments/proposals/1/reject", &decision).expect(409);
    world.caller.post_json("/v1/models/garments/proposals/2/approve", &decision).expect(404);
    // The next batch of the same kind is checked against the new threshold, and sets off nothing.
    let answer = world
        .caller
        .post_batch("garments", "night-4", &npy("motion_blur_5_test_probs.npy", 0..1000))
        .expect(200)
        .json();
    assert_eq!((&answer["version"], &answer["alarm"]), (&json!(2), &Value::Null));
}

#[test]
fn a_rejection_keeps_the_calibration() {
    let (world, _) = alarmed();
    let before = world.caller.get("/v1/models/garments/calibration").expect(200);
    let decision = json!({"who": "A. Nother", "why": "a broken camera, replaced today"});
    let model = world
        .caller
        .post_json("/v1/models/garments/proposals/1/reject", &decision)
        .expect(200)
        .json();
    assert_eq!(model["version"], 1);
    assert_eq!(world.caller.get("/v1/models/garments/calibration").expect(200).body, before.body);
}
