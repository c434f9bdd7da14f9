//! Pages, as a browser without a script sees them. `scripts/test-browser` looks at them with a real one.

use evenkeel_serve::{Scope, TokenOrder, add_token};

use crate::proposals::alarmed;
use crate::world::{Answer, World, npy};

/// What stands in the hidden field of the first form.
fn csrf(page: &Answer) -> String {
    let text = page.text();
    let (_, rest) = text.split_once("name=\"csrf\" value=\"").expect("no form");
    rest.split('"').next().unwrap().to_owned()
}

fn visit(page: &Answer) -> String {
    let cookie = page
        .headers
        .iter()
        .find(|(name, value)| name == "set-cookie" && value.starts_with("ek_visit="));
    let (_, cookie) = cookie.expect("no visit");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    cookie.split(';').next().unwrap().to_owned()
}

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

#[test]
fn the_first_screen_says_which_how_bad_since_when_and_what_to_do() {
    let world = World::new();
    let empty = world.caller.get("/").expect(200).text();
    assert!(empty.contains("No models yet") && empty.contains("curl -X PUT"), "{empty}");
    let (world, _) = alarmed();
    world.caller.put_model("shoes").expect(201);
    let page = world.caller.get("/").expect(200).text();
    assert!(page.contains("1 model loses coverage"), "{page}");
    assert!(page.contains("Alarm since 2026-11-03 03:00"), "{page}");
    assert!(page.contains("level 90 %") && page.contains("See the proposal"), "{page}");
    // The worst first.
    assert!(page.find("garments").unwrap() < page.find("shoes").unwrap());
    for words in ["http://", "https://", "<style", "style="] {
        assert!(!page.contains(words), "{words}: {page}");
    }
}

#[test]
fn a_model_shows_its_trend_batches_alarms_and_who_did_what() {
    let (world, _) = alarmed();
    let page = world.caller.get("/models/garments").expect(200).text();
    for words in [
        "id=\"proposals\"",
        "id=\"trend\"",
        "<svg",
        "id=\"batches\"",
        "id=\"audit\"",
        "model added",
        "2026-11-03 03:00",
        "Approve",
        "<a href=\"/models/garments/batches/3\">Batch 3</a>: ",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let batch = world.caller.get("/models/garments/batches/3").expect(200).text();
    assert!(
        batch.contains("An alarm went off with it") && batch.contains("full report"),
        "{batch}"
    );
    let report = world.caller.get("/models/garments/batches/3/report").expect(200);
    assert!(report.text().contains("<svg") && report.text().contains("garments, batch 3"));
    assert!(
        !report.header("content-security-policy").unwrap().contains("script-src"),
        "nothing may run there"
    );
    world.caller.get("/models/garments/batches/4").expect(404);
    world.caller.get("/models/nobody").expect(404);
    world.caller.get("/webhooks").expect(200);
}

#[test]
fn a_form_decides_only_with_its_mark() {
    let (world, _) = alarmed();
    let page = world.caller.get("/models/garments").expect(200);
    let (mark, cookie) = (csrf(&page), visit(&page));
    let post = |mark: &str, cookie: &str| {
        let body = format!("csrf={mark}&who=Robin&why=the+camera+%26+stays&decision=approve");
        world.caller.send(
            "POST",
            "/models/garments/proposals/1",
            &[FORM, ("cookie", cookie)],
            body.as_bytes(),
        )
    };
    post("", &cookie).expect(403);
    post(&mark, "ek_visit=other").expect(403);
    assert_eq!(world.caller.get("/v1/models/garments").expect(200).json()["version"], 1);
    let answer = post(&mark, &cookie).expect(303);
    assert_eq!(answer.header("location"), Some("/models/garments"));
    assert_eq!(world.caller.get("/v1/models/garments").expect(200).json()["version"], 2);
    let page = world.caller.get("/models/garments").expect(200).text();
    assert!(page.contains("Robin") && page.contains("the camera &#38; stays"), "{page}");
    post(&mark, &cookie).expect(409);
    // What was lost before the approval says nothing about the new threshold.
    let first = world.caller.get("/").expect(200).text();
    assert!(first.contains("Version 2 is in use") && !first.contains("loses coverage"), "{first}");
}

#[test]
fn what_people_write_is_shown_and_not_run() {
    let world = World::with_model();
    let key = "<script>alert(1)</script>";
    world.caller.post_batch("garments", key, &npy("clean_unlabeled.npy", 0..200)).expect(200);
    let page = world.caller.get("/models/garments/batches/1").expect(200).text();
    assert!(page.contains("&#60;script&#62;alert") && !page.contains(key), "{page}");
}

#[test]
fn a_login_is_a_token_for_a_cookie() {
    let world = World::with_model();
    let order = TokenOrder { note: "Robin".into(), scopes: vec![Scope::Read], models: Vec::new() };
    let token = add_token(&world.folder.store(), &order).unwrap();
    let led = world.caller.get("/models/garments").expect(303);
    assert_eq!(led.header("location"), Some("/login?next=/models/garments"));
    let login = world.caller.get("/login?next=/models/garments").expect(200);
    let (mark, cookie) = (csrf(&login), visit(&login));
    let post = |token: &str| {
        let body = format!("csrf={mark}&token={token}&next=/models/garments");
        world.caller.send("POST", "/login", &[FORM, ("cookie", &cookie)], body.as_bytes())
    };
    let refused = post("ek_000000000000_x").expect(401);
    assert!(refused.text().contains("not known here") && refused.header("set-cookie").is_none());
    let opened = post(&token.text).expect(303);
    assert_eq!(opened.header("location"), Some("/models/garments"));
    let session = opened.header("set-cookie").unwrap();
    assert!(session.contains("HttpOnly") && session.contains("SameSite=Strict"), "{session}");
    let session = session.split(';').next().unwrap();
    let page = world
        .caller
        .send("GET", "/models/garments", &[("cookie", session)], &[])
        .expect(200)
        .text();
    // Who may only read sees no buttons.
    assert!(
        page.contains("Robin") && page.contains("Log out") && !page.contains("Approve"),
        "{page}"
    );
}

#[test]
fn a_page_of_no_batches_is_a_page() {
    let (world, _) = crate::proposals::alarmed();
    for before in ["0", "1", "2", "18446744073709551615", "x"] {
        world.caller.get(&format!("/models/garments?before={before}")).expect(200);
    }
}
