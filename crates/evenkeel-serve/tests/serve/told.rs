//! Webhooks: signed, repeated until they arrive, given up in sight.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use evenkeel_monitor::{AuditQuery, History as _, Instant, Outbox as _, SqliteStore};
use evenkeel_serve::{SIGNATURE_HEADER, Scope, TokenOrder, Webhooks, add_token, signature};

use crate::world::{World, npy, wait_until};

const SECRET: &[u8] = b"a secret of the operator";

/// What a receiver on this machine was sent: head and body.
type Letter = (Vec<String>, Vec<u8>);

/// A receiver that answers with these statuses, one after the other, and with 200 then.
fn receiver(statuses: &'static [u16]) -> (String, Receiver<Letter>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head = Vec::new();
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) <= 2 {
                    break;
                }
                head.push(line.trim().to_owned());
            }
            let length = head.iter().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok()
            });
            let mut body = vec![0; length.unwrap_or(0)];
            reader.read_exact(&mut body).unwrap();
            let status = statuses.get(number).copied().unwrap_or(200);
            let _ = write!(
                stream,
                "HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
            if tell.send((head, body)).is_err() {
                return;
            }
        }
    });
    (url, told)
}

fn header<'a>(letter: &'a Letter, name: &str) -> &'a str {
    let is_it = |line: &&String| {
        line.split(':').next().is_some_and(|found| found.eq_ignore_ascii_case(name))
    };
    letter.0.iter().find(is_it).and_then(|line| line.split_once(": ")).expect(name).1
}

fn world(url: &str) -> World {
    let webhooks = Webhooks::new(vec![url.to_owned()], SECRET.to_vec()).unwrap();
    let world = World::with(|settings| settings.webhooks = webhooks);
    world.caller.put_model("garments").expect(201);
    world
}

#[test]
fn an_alarm_is_told_signed_and_again_until_it_arrives() {
    let (url, told) = receiver(&[500, 302]);
    let world = world(&url);
    world.caller.post_batch("garments", "quiet", &npy("clean_unlabeled.npy", 0..500)).expect(200);
    assert!(told.recv_timeout(Duration::from_millis(1500)).is_err(), "a quiet batch was told");
    world
        .caller
        .post_batch("garments", "loud", &npy("motion_blur_5_unlabeled.npy", 0..1000))
        .expect(200);
    // The alarm and its proposal, each refused once.
    let letters: Vec<Letter> =
        (0..4).map(|_| told.recv_timeout(Duration::from_secs(30)).expect("no webhook")).collect();
    let mut bodies = std::collections::BTreeMap::<&str, Vec<&[u8]>>::new();
    for letter in &letters {
        let signed = header(letter, SIGNATURE_HEADER);
        let time = signed.strip_prefix("t=").unwrap().split(',').next().unwrap().parse().unwrap();
        assert_eq!(signed, signature(SECRET, time, &letter.1));
        let body: serde_json::Value = serde_json::from_slice(&letter.1).unwrap();
        assert_eq!(body["model"], "garments", "{body}");
        assert_eq!(body["event"], header(letter, "X-Evenkeel-Event"));
        bodies.entry(header(letter, "X-Evenkeel-Delivery")).or_default().push(&letter.1);
    }
    assert_eq!(bodies.len(), 2);
    for sent in bodies.values() {
        assert!(sent.len() == 2 && sent[0] == sent[1], "a repeated webhook differs");
    }
    let events = letters.iter().map(|letter| header(letter, "X-Evenkeel-Event"));
    let events: std::collections::BTreeSet<&str> = events.collect();
    assert_eq!(events.into_iter().collect::<Vec<_>>(), ["alarm", "proposal"]);
    let proposal: serde_json::Value = letters
        .iter()
        .find(|letter| header(letter, "X-Evenkeel-Event") == "proposal")
        .map(|letter| serde_json::from_slice(&letter.1).unwrap())
        .unwrap();
    assert_eq!(proposal["proposal"], 1);
    assert!(proposal["set_size_after"].as_f64() > proposal["set_size_before"].as_f64());
    wait_until("two failures are counted", || {
        world.caller.get("/metrics").text().contains("evenkeel_webhook_failures_total 2\n")
    });
    assert!(world.caller.get("/webhooks").expect(200).text().contains("None."));
}

#[test]
fn a_server_that_was_stopped_tells_later() {
    // Nobody listens there.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut world = world(&format!("http://{port}/"));
    world
        .caller
        .post_batch("garments", "loud", &npy("motion_blur_5_unlabeled.npy", 0..1000))
        .expect(200);
    wait_until("a failure is counted", || {
        !world.caller.get("/metrics").text().contains("evenkeel_webhook_failures_total 0\n")
    });
    let (url, told) = receiver(&[]);
    world.restart_with(|settings| {
        settings.webhooks = Webhooks::new(vec![url], SECRET.to_vec()).unwrap();
    });
    let letter = told.recv_timeout(Duration::from_secs(30)).expect("no webhook after a restart");
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&letter.1).unwrap()["model"],
        "garments"
    );
}

/// What happened while nobody was to be told is not told later; what was to be told before that is.
#[test]
fn switching_webhooks_on_sends_nothing_of_the_time_without() {
    let mut world = World::with(|_| {});
    world.caller.put_model("before").expect(201);
    world.caller.put_model("after").expect(201);
    let loud = npy("motion_blur_5_unlabeled.npy", 0..1000);
    world.caller.post_batch("before", "loud", &loud).expect(200);
    let (url, told) = receiver(&[]);
    world.restart_with(|settings| {
        settings.webhooks = Webhooks::new(vec![url], SECRET.to_vec()).unwrap();
    });
    world.caller.post_batch("after", "loud", &loud).expect(200);
    for event in ["alarm", "proposal"] {
        let letter = told.recv_timeout(Duration::from_secs(30)).expect("no webhook");
        let body: serde_json::Value = serde_json::from_slice(&letter.1).unwrap();
        assert_eq!((&body["model"], &body["event"]), (&"after".into(), &event.into()), "{body}");
    }
    assert!(told.recv_timeout(Duration::from_millis(1500)).is_err(), "an old alarm was told");
    let mut store = SqliteStore::open(&world.folder.store()).unwrap();
    let audit = store.audit(&AuditQuery { model: None, before: None, limit: 1 }).unwrap().remove(0);
    assert_eq!(audit.what, "webhooks switched on");
    assert_eq!(audit.details, "2 messages from before not sent");
}

/// A path may be what a receiver knows the sender by: only the operator sees it, and nothing stores it.
#[test]
fn paths_of_addresses_are_shown_to_the_operator_alone() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{port}/hooks/s3cret?key=s3cret");
    let mut world = world(&url);
    let loud = npy("motion_blur_5_unlabeled.npy", 0..1000);
    world.caller.post_batch("garments", "loud", &loud).expect(200);
    let mut store = SqliteStore::open(&world.folder.store()).unwrap();
    let later = Instant::from_seconds(Instant::now().seconds() + 86_400);
    wait_until("a failure is stored", || {
        store.due(later, 10).unwrap().iter().any(|message| message.error.is_some())
    });
    let failed = store.due(later, 10).unwrap().into_iter().find(|message| message.error.is_some());
    let failed = failed.unwrap();
    let trouble = failed.error.unwrap();
    assert!(trouble.contains(&format!("http://{port}:")), "{trouble}");
    assert!(!trouble.contains("s3cret"), "{trouble}");
    // As an older version wrote it.
    store.failed(failed.id, &format!("{url}: answered 500"), None).unwrap();
    let token = |scope, models: &[&str]| {
        let models = models.iter().map(|name| (*name).to_owned()).collect();
        let order = TokenOrder { note: "test".into(), scopes: vec![scope], models };
        add_token(&world.folder.store(), &order).unwrap().text
    };
    let operator = token(Scope::Admin, &[]);
    let others = [token(Scope::Read, &[]), token(Scope::Admin, &["garments"])];
    world.restart_with(|settings| {
        settings.webhooks = Webhooks::new(vec![url.clone()], SECRET.to_vec()).unwrap();
    });
    let page = world.caller.with_token(&operator).get("/webhooks").expect(200).text();
    assert!(page.contains("/hooks/s3cret?key=s3cret"), "{page}");
    for other in others {
        let page = world.caller.with_token(&other).get("/webhooks").expect(200).text();
        assert!(
            page.contains(&format!("http://{port}")) && page.contains("answered 500"),
            "{page}"
        );
        assert!(!page.contains("s3cret"), "{page}");
    }
}
