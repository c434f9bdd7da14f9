//! `evenkeel serve`: the monitor over HTTP, until a signal ends it.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use evenkeel_serve::{
    Limits, Scope, ServeError, Settings, TokenOrder, Webhooks, add_token, revoke_token, start,
    tokens,
};
use serde_json::json;

use crate::exit::Outcome;
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::serve_args::{NewTokenArgs, ServeArgs, ServeCommand, TokenCommand};

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Self {
        Self::Serve(error)
    }
}

/// Serves, or does something about tokens.
pub(crate) fn run(args: &ServeArgs) -> Result<Outcome, Failure> {
    match &args.about_tokens {
        Some(ServeCommand::Token(command)) => about_tokens(command),
        None => serve(args),
    }
}

fn serve(args: &ServeArgs) -> Result<Outcome, Failure> {
    // clap asks for it unless tokens are in question.
    let store = args
        .store
        .as_deref()
        .ok_or_else(|| Failure::Argument("give the store with --store FILE".into()))?;
    let mut settings = Settings::new(store);
    settings.listen = args.listen;
    settings.watch.clone_from(&args.watch);
    settings.threads = args.threads;
    settings.webhooks = webhooks(args)?;
    settings.limits = limits(args)?;
    let stop = crate::signals::wait_for_stop();
    let running = start(&settings)?;
    // On stderr: stdout is for results, and a server has none.
    let _ =
        writeln!(std::io::stderr(), "listening on http://{}; stop with Ctrl-C", running.address());
    // An error means that no signal can be waited for; whoever ends the process ends the server.
    let _ = stop.recv();
    let _ = writeln!(std::io::stderr(), "stopping: what is being answered will be answered");
    running.stop();
    // 0: it was told to end, and did.
    Ok(Outcome::Done)
}

fn webhooks(args: &ServeArgs) -> Result<Webhooks, Failure> {
    let secret = match &args.webhooks.webhook_secret_file {
        Some(path) => {
            let read = std::fs::read(path);
            let text = read.map_err(|error| {
                Failure::Argument(format!("--webhook-secret-file {}: {error}", path.display()))
            })?;
            // Editors end files with a line break that nobody means.
            text.trim_ascii_end().to_vec()
        }
        None => Vec::new(),
    };
    Ok(Webhooks::new(args.webhooks.webhook.clone(), secret)?)
}

fn limits(args: &ServeArgs) -> Result<Limits, Failure> {
    let given = &args.limits;
    let at_least_one = [
        ("--max-body", given.max_body),
        ("--max-inflated", given.max_inflated),
        ("--max-rows", given.max_rows),
        ("--max-classes", given.max_classes),
        ("--max-queue", given.max_queue),
    ];
    if let Some((flag, _)) = at_least_one.iter().find(|(_, value)| *value == 0) {
        return Err(Failure::Argument(format!(
            "{flag} is 0, and nothing would be taken; give at least 1"
        )));
    }
    let seconds = given.max_seconds;
    if !(0.1..=3600.0).contains(&seconds) {
        return Err(Failure::Argument(format!("--max-seconds is {seconds}; give 0.1 to 3600")));
    }
    let defaults = Limits::default();
    Ok(Limits {
        body_bytes: given.max_body,
        inflated_bytes: given.max_inflated,
        bodies_bytes: defaults.bodies_bytes.max(given.max_body),
        rows: given.max_rows,
        classes: given.max_classes,
        body_time: Duration::from_secs_f64(seconds),
        queue: given.max_queue,
        free_bytes: given.min_free,
        ..defaults
    })
}

fn about_tokens(command: &TokenCommand) -> Result<Outcome, Failure> {
    match command {
        TokenCommand::New(args) => new_token(args),
        TokenCommand::List(at) => list(&at.store, if at.json { Form::Json } else { Form::Text }),
        TokenCommand::Revoke(args) => {
            if !revoke_token(&args.at.store, &args.id)? {
                return Err(Failure::Argument(format!(
                    "there is no token {:?}; `evenkeel serve token list` shows all",
                    args.id
                )));
            }
            match args.at.json {
                true => print_json(&json!({ "revoked": args.id }))?,
                false => print(&format!("{} opens nothing any more.\n", args.id))?,
            }
            Ok(Outcome::Done)
        }
    }
}

fn new_token(args: &NewTokenArgs) -> Result<Outcome, Failure> {
    let scope = |name: &String| {
        Scope::parse(name).ok_or_else(|| ServeError::NoSuchScope { name: name.clone() })
    };
    let scopes: Vec<Scope> = args.scopes.iter().map(scope).collect::<Result<_, _>>()?;
    let order = TokenOrder { note: args.name.clone(), scopes, models: args.models.clone() };
    let token = add_token(&args.at.store, &order)?;
    match args.at.json {
        true => print_json(&json!({ "id": token.id, "token": token.text }))?,
        // Alone on stdout, so that a script can take it.
        false => {
            print(&format!("{}\n", token.text))?;
            let _ = writeln!(std::io::stderr(), "Keep it: it cannot be shown again.");
        }
    }
    Ok(Outcome::Done)
}

/// How a list is shown.
#[derive(Debug, Clone, Copy)]
enum Form {
    Text,
    Json,
}

fn list(store: &Path, form: Form) -> Result<Outcome, Failure> {
    let all = tokens(store)?;
    match form {
        Form::Json => print_json(&json!({ "tokens": all }))?,
        Form::Text => {
            let line = |token: &evenkeel_serve::Token| {
                let models =
                    token.models.as_ref().map_or("all models".to_owned(), |names| names.join(","));
                let state = token.revoked.map_or_else(String::new, |at| format!(", revoked {at}"));
                format!(
                    "{}  {}  {models}  made {}{state}  {}\n",
                    token.id, token.scopes, token.created, token.note
                )
            };
            print(&all.iter().map(line).collect::<String>())?;
        }
    }
    Ok(Outcome::Done)
}
