//! Models, and the calibrations that serving systems poll.

use serde_json::{Value, json};

use crate::world::{World, demo_bytes};

#[test]
fn the_calibration_can_be_polled() {
    let world = World::with_model();
    let first = world.caller.get("/v1/models/garments/calibration").expect(200);
    let tag = first.header("etag").unwrap().to_owned();
    assert!(tag.starts_with('"'), "{tag}");
    // As it was given, to the byte: serving systems read the file that `evenkeel predict` reads.
    assert_eq!(
        first.json(),
        serde_json::from_str::<Value>(&crate::world::calibration_json(0.1)).unwrap()
    );
    let same = world
        .caller
        .send("GET", "/v1/models/garments/calibration", &[("if-none-match", &tag)], &[])
        .expect(304);
    assert!(same.body.is_empty() && same.header("etag") == Some(&tag));
    world
        .caller
        .send("GET", "/v1/models/garments/calibration", &[("if-none-match", "\"other\"")], &[])
        .expect(200);
    world.caller.get("/v1/models/garments/calibration?version=1").expect(200);
    world.caller.get("/v1/models/garments/calibration?version=2").expect(404);
    world.caller.get("/v1/models/garments/calibration?version=x").expect(400);
    world.caller.get("/v1/models/nobody/calibration").expect(404);
}

#[test]
fn models_are_made_of_calibrations_and_of_nothing_else() {
    let world = World::new();
    let put = |model: &str, body: &[u8]| {
        world.caller.send(
            "PUT",
            &format!("/v1/models/{model}"),
            &[("content-type", "application/json")],
            body,
        )
    };
    put("garments", b"{}").expect(422);
    put("garments", b"not json").expect(400);
    put("garments", &demo_bytes("calibration_probs.npy")).expect(400);
    for name in ["..", "a%2Fb", "%20", "a%00b", &"m".repeat(129), "Ünder"] {
        put(&name.replace('Ü', "%C3%9C"), b"{}").expect(400);
    }
    assert_eq!(world.caller.get("/v1/models").expect(200).json()["models"], json!([]));
    world.caller.put_model("garments").expect(201);
    // Once more the same is no change.
    world.caller.put_model("garments").expect(200);
    assert_eq!(world.caller.get("/v1/models").expect(200).json()["models"][0]["name"], "garments");
}
