//! References as forms: a calibration, or the rows and labels that one is made of.

use serde_json::Value;

use crate::world::{Answer, World, calibration_json, demo_bytes, labels, npy_of, parquet_of};

/// A part: what stands in its head after `form-data`, its Content-Type, and its content.
type Sent<'a> = (&'a str, Option<&'a str>, &'a [u8]);

fn form(parts: &[Sent<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    for (head, media_type, content) in parts {
        body.extend(format!("--frontier\r\nContent-Disposition: form-data; {head}\r\n").as_bytes());
        if let Some(media_type) = media_type {
            body.extend(format!("Content-Type: {media_type}\r\n").as_bytes());
        }
        body.extend(b"\r\n");
        body.extend(*content);
        body.extend(b"\r\n");
    }
    body.extend(b"--frontier--\r\n");
    body
}

#[track_caller]
fn put(world: &World, path: &str, parts: &[Sent<'_>]) -> Answer {
    let headers = [("content-type", "multipart/form-data; boundary=frontier")];
    world.caller.send("PUT", &format!("/v1/models/{path}"), &headers, &form(parts))
}

fn etag(world: &World, model: &str) -> String {
    let found = world.caller.get(&format!("/v1/models/{model}/calibration")).expect(200);
    found.header("etag").unwrap().to_owned()
}

const PROBS: &str = r#"name="probs"; filename="p.npy""#;
const LABELS: &str = r#"name="labels"; filename="l.npy""#;

#[test]
fn one_reference_is_the_same_calibration_however_it_is_sent() {
    let world = World::new();
    // As `evenkeel calibrate` writes it.
    let file = calibration_json(0.1) + "\n";
    let json = [("content-type", "application/json")];
    world.caller.send("PUT", "/v1/models/json", &json, file.as_bytes()).expect(201);
    let tag = etag(&world, "json");
    let calibration = (r#"name="calibration"; filename="cal.json""#, None, file.as_bytes());
    put(&world, "stored", &[calibration]).expect(201);
    assert_eq!(etag(&world, "stored"), tag);
    let (probs, truth) =
        (demo_bytes("calibration_probs.npy"), demo_bytes("calibration_labels.npy"));
    let by_name: [Sent<'_>; 2] = [
        (PROBS, Some("application/octet-stream"), &probs),
        (LABELS, Some("application/octet-stream"), &truth),
    ];
    put(&world, "made", &by_name).expect(201);
    assert_eq!(etag(&world, "made"), tag);
    // The same model by another road is no change.
    put(&world, "json", &by_name).expect(200);
    world.caller.send("PUT", "/v1/models/made", &json, file.as_bytes()).expect(200);
    // By media types, with the labels before the rows and as text.
    let words: String = labels("calibration_labels.npy", 0..1000)
        .iter()
        .map(|label| format!("{label}\n"))
        .collect();
    let typed: [Sent<'_>; 2] = [
        ("name=labels", Some("text/csv; charset=utf-8"), words.as_bytes()),
        ("name=probs", Some("application/x-npy"), &probs),
    ];
    put(&world, "typed", &typed).expect(201);
    assert_eq!(etag(&world, "typed"), tag);
    // Packed as a whole.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, &form(&by_name)).unwrap();
    let headers = [
        ("content-type", "multipart/form-data; boundary=\"frontier\""),
        ("content-encoding", "gzip"),
    ];
    world.caller.send("PUT", "/v1/models/packed", &headers, &packed.finish().unwrap()).expect(201);
    assert_eq!(etag(&world, "packed"), tag);
}

#[test]
fn a_form_says_how_the_model_is_watched_and_is_told_what_to_know() {
    let world = World::new();
    let (probs, truth) =
        (demo_bytes("calibration_probs.npy"), demo_bytes("calibration_labels.npy"));
    let parts: [Sent<'_>; 5] = [
        (PROBS, None, &probs),
        (LABELS, None, &truth),
        (r#"name="alpha""#, None, b"0.2"),
        (r#"name="delta""#, None, b" 0.01\n"),
        (r#"name="keep""#, None, b"rows"),
    ];
    let made = put(&world, "garments", &parts).expect(201).json();
    assert_eq!((made["alpha"].as_f64(), made["delta"].as_f64()), (Some(0.2), Some(0.01)), "{made}");
    assert_eq!(made["keep"], "rows");
    // What `evenkeel calibrate` says on a terminal.
    let warnings = made["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|one| one.as_str().unwrap().contains("class 6")), "{made}");
    assert_eq!(
        world.caller.get("/v1/models/garments/calibration").expect(200).json(),
        serde_json::from_str::<Value>(&calibration_json(0.2)).unwrap()
    );
    let made = put(&world, "shoes?delta=0.02&keep=nothing", &parts[..2]).expect(201).json();
    assert_eq!((made["delta"].as_f64(), made["keep"].as_str()), (Some(0.02), Some("nothing")));
    let twice = put(&world, "hats?delta=0.02", &parts).expect(422);
    assert!(
        twice.text().contains("delta stands in the address and in the form"),
        "{}",
        twice.text()
    );
    let twice = put(&world, "hats?keep=sets", &parts).expect(422);
    assert!(
        twice.text().contains("keep stands in the address and in the form"),
        "{}",
        twice.text()
    );
}

/// Tables have names for their classes, and labels may be these.
#[test]
fn tables_with_names_keep_them() {
    let world = World::new();
    let table = "cat,dog\n0.9,0.1\n0.2,0.8\n0.7,0.3\n0.4,0.6\n".repeat(10);
    let table = table.replace("cat,dog\n", "");
    let probs = format!("cat,dog\n{table}");
    let labels = "cat\ndog\ncat\ndog\n".repeat(10);
    let parts: [Sent<'_>; 2] = [
        (r#"name="probs"; filename="P.CSV""#, Some("application/vnd.ms-excel"), probs.as_bytes()),
        (r#"name="labels"; filename="l.csv""#, Some("text/plain"), labels.as_bytes()),
    ];
    put(&world, "pets", &parts).expect(201);
    let found = world.caller.get("/v1/models/pets/calibration").expect(200).text();
    assert!(found.contains("\"cat\"") && found.contains("\"dog\""), "{found}");
    let body = b"dog,cat\n0.1,0.9\n0.8,0.2\n";
    let other = [("content-type", "text/csv"), ("idempotency-key", "k")];
    world.caller.send("POST", "/v1/models/pets/batches", &other, body).expect(415);
}

#[test]
fn what_is_wrong_with_a_form_is_said_and_nothing_is_made() {
    let world = World::new();
    let (probs, truth) =
        (demo_bytes("calibration_probs.npy"), demo_bytes("calibration_labels.npy"));
    let file = calibration_json(0.1);
    let cal: Sent<'_> = (r#"name="calibration""#, None, file.as_bytes());
    let (p, l): (Sent<'_>, Sent<'_>) = ((PROBS, None, &probs), (LABELS, None, &truth));
    let alpha = |text: &'static [u8]| -> Sent<'static> { (r#"name="alpha""#, None, text) };
    let long = [b'1'; 100_000];
    let other = npy_of(&[0.5, 0.5], 2);
    let cases: Vec<(Vec<Sent<'_>>, u16, &str)> = vec![
        (vec![], 422, "the form has none of them"),
        (vec![p], 422, "the form has probs; send either"),
        (vec![l], 422, "the form has labels; send either"),
        (vec![cal, p, l], 422, "the form has calibration and probs and labels; send either"),
        (vec![cal, alpha(b"0.1")], 422, "an alpha of its own"),
        (vec![p, p, l], 422, "`probs` came twice"),
        (
            vec![p, l, (r#"name="alarm""#, None, b"day")],
            422,
            "a part \"alarm\"; parts are calibration, probs",
        ),
        (vec![p, l, ("filename=\"x.npy\"", None, b"1")], 422, "part 3 of the form has no name"),
        (vec![p, l, alpha(b"0.1\xff")], 422, "byte 3 is not UTF-8"),
        (vec![p, l, alpha(b"ten")], 422, "`alpha` is \"ten\"; send a number between 0 and 1"),
        (vec![p, l, alpha(b"10")], 422, "a number between 0 and 1"),
        (vec![p, l, alpha(b"NaN")], 422, "a number between 0 and 1"),
        (vec![p, l, (r#"name="delta""#, None, &long)], 422, "`delta` has 100000 bytes"),
        (vec![p, l, (r#"name="keep""#, None, b"all")], 422, "send nothing, sets or rows"),
        (vec![(r#"name="calibration""#, None, b"{\xff}")], 422, "byte 1 is not UTF-8"),
        (vec![(r#"name="calibration""#, None, b"not json")], 422, "is not JSON"),
        (vec![(r#"name="calibration""#, None, b"{}")], 422, "not a calibration"),
        (vec![("name=probs", None, &probs), l], 422, "what the part `probs` is cannot be told"),
        (vec![(r#"name="probs"; filename="p.csv.gz""#, None, &probs), l], 422, "packed by itself"),
        (vec![(PROBS, None, b"no array"), l], 422, "the part `probs`"),
        (vec![(PROBS, None, b""), l], 422, "the part `probs`"),
        (vec![p, (LABELS, None, b"")], 422, "the part `labels`"),
        (vec![(PROBS, None, &other), l], 422, "the part `labels`"),
        // One for the other.
        (vec![(PROBS, None, &truth), (LABELS, None, &probs)], 422, "the part `labels`"),
    ];
    for (parts, status, said) in cases {
        let answer = put(&world, "garments", &parts);
        let text = answer.text();
        assert_eq!(answer.status, status, "{said}: {text}");
        assert!(answer.json()["detail"].as_str().unwrap().contains(said), "{said}: {text}");
        assert!(!text.contains(".spool"), "a name of the server's own: {text}");
    }
    // Broken off, and without a boundary.
    let whole = form(&[p, l]);
    for (media_type, body) in [
        ("multipart/form-data; boundary=frontier", &whole[..whole.len() / 2]),
        ("multipart/form-data; boundary=other", &whole[..]),
        ("multipart/form-data", &whole[..]),
    ] {
        let headers = [("content-type", media_type)];
        world.caller.send("PUT", "/v1/models/garments", &headers, body).expect(400);
    }
    let headers = [("content-type", "text/csv")];
    let answer = world.caller.send("PUT", "/v1/models/garments", &headers, b"1").expect(415);
    assert!(answer.text().contains("multipart/form-data"), "{}", answer.text());
    assert_eq!(world.caller.get("/v1/models").expect(200).json()["models"], serde_json::json!([]));
}

#[test]
fn a_form_is_held_to_every_limit() {
    let probs = demo_bytes("calibration_probs.npy");
    let truth = demo_bytes("calibration_labels.npy");
    let parts: [Sent<'_>; 2] = [(PROBS, None, &probs), (LABELS, None, &truth)];
    let refused = |limits: evenkeel_serve::Limits, said: &str, parts: &[Sent<'_>]| {
        let world = World::with(|settings| settings.limits = limits);
        let answer = put(&world, "garments", parts).expect(413);
        assert!(answer.text().contains(said), "{said}: {}", answer.text());
    };
    let all = evenkeel_serve::Limits::default();
    refused(
        evenkeel_serve::Limits { body_bytes: 10_000, ..all },
        "larger than 10000 bytes",
        &parts,
    );
    refused(evenkeel_serve::Limits { rows: 999, ..all }, "more than 999 rows", &parts);
    refused(evenkeel_serve::Limits { classes: 9, ..all }, "may have 9", &parts);
    refused(evenkeel_serve::Limits { inflated_bytes: 60_000, ..all }, "60000 bytes", &parts);
    // A table that repeats one number claims many rows in few bytes.
    let many = parquet_of(&[0.5; 200_000], 2);
    assert!(many.len() < 10_000, "{}", many.len());
    let table = (r#"name="probs"; filename="p.parquet""#, None, &many[..]);
    refused(
        evenkeel_serve::Limits { rows: 99_999, ..all },
        "more than 99999 rows",
        &[table, parts[1]],
    );
    let column = parquet_of(&[0.0; 200_000], 1);
    let column = (r#"name="labels"; filename="l.parquet""#, None, &column[..]);
    refused(
        evenkeel_serve::Limits { rows: 1000, ..all },
        "more than 1000 rows",
        &[parts[0], column],
    );
}

/// Text that is packed by itself would be unpacked without a limit; an archive, before any limit is asked.
#[test]
fn parts_that_are_packed_by_themselves_are_refused() {
    let world = World::new();
    let truth = demo_bytes("calibration_labels.npy");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, &vec![b'\n'; 1 << 20]).unwrap();
    let gzip = packed.finish().unwrap();
    // The beginning of a frame of zstd, and of one to be passed over.
    let (zstd, skipped) = ([0x28, 0xb5, 0x2f, 0xfd, 0, 0], [0x51, 0x2a, 0x4d, 0x18, 0, 0]);
    let packed: [&[u8]; 3] = [&gzip, &zstd, &skipped];
    for content in packed {
        for (head, media_type) in [
            (r#"name="probs"; filename="p.csv""#, None),
            (r#"name="probs"; filename="p.jsonl""#, None),
            (r#"name="probs"; filename="p.csv.gz""#, Some("text/csv")),
            (r#"name="probs""#, Some("application/x-ndjson")),
        ] {
            let parts: [Sent<'_>; 2] = [(head, media_type, content), (LABELS, None, &truth)];
            let said = put(&world, "garments", &parts).expect(422).text();
            assert!(said.contains("the part `probs` is packed by itself"), "{said}");
        }
    }
    for (head, media_type) in [
        (r#"name="probs"; filename="p.npz""#, None),
        (r#"name="probs"; filename="p""#, Some("x".repeat(100_000))),
    ] {
        let parts: [Sent<'_>; 2] =
            [(head, media_type.as_deref(), b"PK\x03\x04"), (LABELS, None, &truth)];
        let said = put(&world, "garments", &parts).expect(422).text();
        assert!(said.contains("cannot be told") && said.len() < 1000, "{said}");
    }
}

#[test]
fn errors_repeat_no_more_than_a_page_of_what_was_sent() {
    let world = World::new();
    world
        .caller
        .send(
            "PUT",
            "/v1/models/garments",
            &[("content-type", "application/json")],
            calibration_json(0.1).as_bytes(),
        )
        .expect(201);
    let body = format!("{{\"{}\":1}}", "k".repeat(1_000_000));
    let headers = [("content-type", "application/json"), ("idempotency-key", "long")];
    let answer =
        world.caller.send("POST", "/v1/models/garments/batches", &headers, body.as_bytes());
    assert!(answer.text().len() < 6000, "{} bytes", answer.text().len());
}

/// A model stays as it was made, and whoever asks for another delta is told.
#[test]
fn another_delta_of_a_model_that_is_there_is_no_secret() {
    let world = World::new();
    let file = calibration_json(0.1);
    let calibration = (r#"name="calibration"; filename="cal.json""#, None, file.as_bytes());
    put(&world, "garments", &[calibration]).expect(201);
    let same = put(&world, "garments?delta=0.05", &[calibration]).expect(200).json();
    assert_eq!(same["warnings"], serde_json::json!([]), "{same}");
    for asked in ["garments?delta=0.1", "garments?keep=rows"] {
        let other = put(&world, asked, &[calibration]).expect(200).json();
        let said = other["warnings"][0].as_str().unwrap_or_default();
        assert!(said.contains("stays as it is: delta is 0.05, keep is sets"), "{other}");
    }
}
