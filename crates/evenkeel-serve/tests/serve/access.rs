//! Who may do what.

use evenkeel_serve::{Scope, ServeError, TokenOrder, add_token, revoke_token};

use crate::world::{Caller, Folder, World, npy, start_in};

struct Guarded {
    world: World,
}

impl Guarded {
    /// A server whose store has an admin's token, and that token's bearer.
    fn new() -> (Self, Caller) {
        let mut world = World::new();
        let token = add_token(&world.folder.store(), &order(&[Scope::Admin], &[])).unwrap();
        world.restart();
        let admin = world.caller.with_token(&token.text);
        (Self { world }, admin)
    }

    fn bearer(&self, scopes: &[Scope], models: &[&str]) -> Caller {
        let token = add_token(&self.world.folder.store(), &order(scopes, models)).unwrap();
        self.world.caller.with_token(&token.text)
    }
}

fn order(scopes: &[Scope], models: &[&str]) -> TokenOrder {
    let models = models.iter().map(|model| (*model).to_owned()).collect();
    TokenOrder { note: "test".into(), scopes: scopes.to_vec(), models }
}

#[test]
fn a_public_address_needs_tokens() {
    let folder = Folder::new();
    let settings = |folder: &Folder| {
        let mut settings = evenkeel_serve::Settings::new(folder.store());
        settings.listen = "0.0.0.0:0".parse().unwrap();
        settings
    };
    let refused = evenkeel_serve::start(&settings(&folder)).map(drop);
    assert!(matches!(refused, Err(ServeError::PublicWithoutTokens { .. })), "{refused:?}");
    // Loopback needs none.
    start_in(&folder, |_| {}).stop();
}

#[test]
fn every_scope_opens_its_own_doors_only() {
    let (guarded, admin) = Guarded::new();
    admin.put_model("garments").expect(201);
    admin.put_model("shoes").expect(201);
    let body = npy("clean_unlabeled.npy", 0..100);
    let nobody = guarded.world.caller.clone();
    for path in [
        "/v1/models/garments/batches",
        "/v1/models/garments/proposals",
        "/v1/models/garments/calibration",
        "/metrics",
    ] {
        let answer = nobody.get(path).expect(401);
        assert!(answer.header("www-authenticate").is_some());
        assert_eq!(answer.json()["kind"], "access");
    }
    for path in ["/healthz", "/readyz", "/openapi.json"] {
        nobody.get(path).expect(200);
    }
    let ingest = guarded.bearer(&[Scope::Ingest], &["garments"]);
    let batch = ingest.post_batch("garments", "k", &body).expect(200).json()["batch"].clone();
    ingest.post_batch("shoes", "k", &body).expect(403);
    ingest.get("/v1/models/garments/batches").expect(403);
    ingest.get("/metrics").expect(403);
    ingest.put_model("garments").expect(403);
    let read = guarded.bearer(&[Scope::Read], &["garments"]);
    read.get("/v1/models/garments/batches").expect(200);
    read.get("/v1/models/shoes/batches").expect(403);
    read.post_batch("garments", "k2", &body).expect(403);
    let decision = serde_json::json!({"who": "a", "why": "b"});
    read.post_json("/v1/models/garments/proposals/1/approve", &decision).expect(403);
    // A bearer of one model learns nothing of the others.
    let metrics = read.get("/metrics").expect(200).text();
    assert!(metrics.contains("garments") && !metrics.contains("shoes"), "{metrics}");
    let approve = guarded.bearer(&[Scope::Approve], &[]);
    approve.post_json("/v1/models/garments/proposals/1/approve", &decision).expect(404);
    let labels = serde_json::json!({"labels": [0, 1]});
    let path = format!(
        "/v1/models/garments/batches/{}/labels",
        batch.as_str().map_or_else(|| batch.to_string(), str::to_owned)
    );
    read.post_json(&path, &labels).expect(403);
}

#[test]
fn wrong_tokens_are_all_alike() {
    let (guarded, admin) = Guarded::new();
    let good = admin.token.clone().unwrap();
    let id = good.split('_').nth(1).unwrap();
    for token in [
        "",
        "x",
        "ek_",
        &format!("ek_{id}_wrong"),
        &format!("{good}x"),
        &good[..good.len() - 1],
        "ek_000000000000_x",
    ] {
        let answer = guarded.world.caller.with_token(token).get("/metrics").expect(401);
        assert_eq!(answer.text(), guarded.world.caller.get("/metrics").text(), "{token}");
    }
    admin.get("/metrics").expect(200);
}

#[test]
fn a_token_that_was_taken_back_opens_nothing() {
    let (guarded, admin) = Guarded::new();
    admin.put_model("garments").expect(201);
    let read = guarded.bearer(&[Scope::Read], &[]);
    read.get("/v1/models/garments/batches").expect(200);
    let id = read.token.as_deref().unwrap().split('_').nth(1).unwrap();
    evenkeel_serve::revoke_token(&guarded.world.folder.store(), id).unwrap();
    read.get("/v1/models/garments/batches").expect(401);
}

#[test]
fn other_sites_pages_are_kept_out() {
    let world = World::with_model();
    let get = |headers: &[(&str, &str)]| {
        world.caller.send("GET", "/v1/models/garments/batches", headers, &[])
    };
    // A name of another site that leads here.
    get(&[("host", "evil.example")]).expect(403);
    get(&[("host", "localhost:1")]).expect(200);
    let json = ("content-type", "application/json");
    let post = |headers: &[(&str, &str)]| {
        world.caller.send(
            "POST",
            "/v1/models/garments/proposals/1/approve",
            headers,
            b"{\"who\":\"a\",\"why\":\"b\"}",
        )
    };
    post(&[json]).expect(404);
    post(&[json, ("sec-fetch-site", "cross-site")]).expect(403);
    post(&[json, ("origin", "http://evil.example")]).expect(403);
    // What a form can send.
    post(&[("content-type", "text/plain")]).expect(415);
}

#[test]
fn every_answer_says_what_browsers_may_do() {
    let world = World::with_model();
    for path in [
        "/",
        "/models/garments",
        "/v1/models/garments/batches",
        "/metrics",
        "/nothing",
        "/static/style.css",
    ] {
        let answer = world.caller.get(path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        assert!(!policy.contains("script-src 'unsafe"), "{path}: {policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{path}");
    }
}

#[test]
fn a_token_may_be_for_several_models() {
    let (guarded, admin) = Guarded::new();
    for model in ["garments", "shoes", "hats"] {
        admin.put_model(model).expect(201);
    }
    let two = guarded.bearer(&[Scope::Read], &["garments", "hats"]);
    for (model, status) in [("garments", 200), ("hats", 200), ("shoes", 403)] {
        two.get(&format!("/v1/models/{model}")).expect(status);
        two.get(&format!("/v1/models/{model}/batches")).expect(status);
    }
    let seen = two.get("/v1/models").expect(200).json();
    let names: Vec<&str> = seen["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["garments", "hats"]);
    let wrong = add_token(&guarded.world.folder.store(), &order(&[Scope::Read], &["a b"]));
    assert!(wrong.is_err());
}

/// Tokens that were made and revoked stand in the log: for the operator on the page and in the interface, for others those of their models.
#[test]
fn the_audit_log_tells_of_tokens() {
    let (guarded, admin) = Guarded::new();
    admin.put_model("garments").expect(201);
    admin.put_model("shoes").expect(201);
    let of_garments = guarded.bearer(&[Scope::Read], &["garments"]);
    let of_both = guarded.bearer(&[Scope::Ingest], &["garments", "shoes"]);
    let id = |caller: &Caller| caller.token.as_ref().unwrap()[3..15].to_owned();
    assert!(revoke_token(&guarded.world.folder.store(), &id(&of_both)).unwrap());
    assert!(!revoke_token(&guarded.world.folder.store(), &id(&of_both)).unwrap(), "revoked twice");
    let lines = |caller: &Caller, path: &str| -> Vec<String> {
        let found = caller.get(path).expect(200).json();
        let entries = found["entries"].as_array().unwrap();
        entries.iter().map(|line| format!("{}: {}", line["what"], line["details"])).collect()
    };
    let all = lines(&admin, "/v1/audit");
    assert_eq!(all.iter().filter(|line| line.contains("token made")).count(), 3, "{all:?}");
    assert!(all[0].contains("token revoked") && all[0].contains(&id(&of_both)), "{all:?}");
    let page = admin.get("/audit").expect(200).text();
    assert!(page.contains("token revoked") && page.contains(&id(&of_garments)), "{page}");
    assert!(page.contains("model added"), "{page}");
    // Whoever reads one model sees what was done to it, and its own tokens.
    let some = lines(&of_garments, "/v1/audit");
    assert_eq!(some.len(), 2, "{some:?}");
    assert!(some[0].contains(&id(&of_garments)) && some[1].contains("model added"), "{some:?}");
    let page = of_garments.get("/audit").expect(200).text();
    assert!(!page.contains(&id(&of_both)) && !page.contains("shoes"), "{page}");
    of_both.get("/v1/audit").expect(401);
    guarded.bearer(&[Scope::Ingest], &[]).get("/v1/audit").expect(403);
    // Page by page, the same lines.
    let (mut paged, mut path) = (Vec::new(), "/v1/audit?limit=2".to_owned());
    loop {
        paged.extend(lines(&admin, &path));
        match admin.get(&path).json()["next_cursor"].as_str() {
            Some(next) => path = format!("/v1/audit?limit=2&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(paged, lines(&admin, "/v1/audit"));
    admin.get("/v1/audit?limit=0").expect(400);
    admin.get("/v1/audit?cursor=x").expect(400);
}
