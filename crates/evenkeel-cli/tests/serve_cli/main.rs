//! `evenkeel serve`: its help, its tokens, and what it refuses before it listens. Needs the feature of its name.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../running/mod.rs"]
mod running;

use running::{Ran, Scratch, assert_snapshot, finish, program};

fn serve(scratch: &Scratch, words: &str) -> Ran {
    let mut command = program();
    command.arg("serve").args(words.split_whitespace()).current_dir(scratch.path());
    finish(&mut command)
}

#[test]
fn help_names_every_limit_and_the_way_to_a_token() {
    let scratch = Scratch::new();
    let help = serve(&scratch, "--help").done().stdout;
    for option in [
        "--store",
        "--listen",
        "--watch",
        "--webhook",
        "--webhook-secret-file",
        "--max-body",
        "--max-inflated",
        "--max-rows",
        "--max-classes",
        "--max-seconds",
        "--max-queue",
        "--min-free",
        "--threads",
    ] {
        assert!(help.contains(option), "{option}: {help}");
    }
    assert_snapshot("serve_cli/snapshots/help.txt", &help);
    let new = serve(&scratch, "token new --help").done().stdout;
    assert!(new.contains("--scopes") && new.contains("--models"), "{new}");
}

#[test]
fn what_cannot_be_served_is_refused_with_a_sentence() {
    let scratch = Scratch::new();
    scratch.file("notes.sqlite", "these are notes, not a database".repeat(100));
    scratch.file("short.txt", "short\n");
    scratch.file("secret.txt", "0123456789abcdef\n");
    for (words, said) in [
        ("", "--store"),
        ("--store ek.sqlite --listen 0.0.0.0:0", "has no tokens"),
        ("--store ek.sqlite --listen nowhere", "--listen"),
        ("--store notes.sqlite --listen 127.0.0.1:0", "not a store of Evenkeel"),
        ("--store none/ek.sqlite --listen 127.0.0.1:0", "none/ek.sqlite"),
        ("--store ek.sqlite --webhook http://127.0.0.1:9/x", "--webhook-secret-file"),
        ("--store ek.sqlite --webhook ftp://a/b --webhook-secret-file secret.txt", "http"),
        (
            "--store ek.sqlite --webhook http://127.0.0.1:9/x --webhook-secret-file short.txt",
            "at least 16 bytes",
        ),
        ("--store ek.sqlite --webhook http://127.0.0.1:9/x --webhook-secret-file no.txt", "no.txt"),
        ("--store ek.sqlite --max-rows 0", "--max-rows is 0"),
        ("--store ek.sqlite --max-seconds nan", "--max-seconds"),
        ("--store ek.sqlite --max-queue -1", "--max-queue"),
        ("token new --store ek.sqlite --scopes everything", "no scope"),
        ("token new --store ek.sqlite --scopes read --models a/b", "cannot be the name of a model"),
        ("token list --store none.sqlite", "there is no store"),
        ("token revoke --store none.sqlite 0123456789ab", "there is no store"),
    ] {
        let ran = serve(&scratch, words);
        assert_eq!(ran.code, 2, "{words}: {}", ran.stdout);
        assert!(
            ran.stderr.starts_with("error: ") && ran.stderr.contains(said),
            "{words}: {}",
            ran.stderr
        );
    }
}

#[test]
fn tokens_are_made_listed_and_taken_back() {
    let scratch = Scratch::new();
    let made = serve(
        &scratch,
        "token new --store ek.sqlite --scopes ingest,read --models shirts,shoes --name nightly",
    )
    .done();
    let token = made.stdout.trim().to_owned();
    assert!(token.starts_with("ek_") && made.stderr.contains("cannot be shown again"), "{made:?}");
    let id = token.split('_').nth(1).unwrap().to_owned();
    let listed = serve(&scratch, "token list --store ek.sqlite").done().stdout;
    assert!(
        listed.contains(&id)
            && listed.contains("ingest,read  shirts,shoes")
            && listed.contains("nightly"),
        "{listed}"
    );
    assert!(!listed.contains(&token), "the secret is shown again");
    let all = serve(&scratch, "token list --store ek.sqlite --json").done().json();
    assert_eq!(all["tokens"][0]["models"], serde_json::json!(["shirts", "shoes"]));
    serve(&scratch, &format!("token revoke --store ek.sqlite {id}")).done();
    let again = serve(&scratch, &format!("token revoke --store ek.sqlite {id}"));
    assert_eq!(again.code, 2);
    assert!(serve(&scratch, "token list --store ek.sqlite").done().stdout.contains("revoked"));
}
