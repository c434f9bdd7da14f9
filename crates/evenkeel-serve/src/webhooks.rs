//! Alarms, proposals and decisions, told to whoever the operator named: at least once, signed, with patience.
//!
//! What is to be told is written to the store's outbox in the transaction of what it tells of, so that no kill loses it.
//! A thread takes what is due, sends it, and notes what became of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use evenkeel_monitor::{Instant, MonitorError, Outbox as _, OutboxMessage, SqliteStore};

use crate::address::{origin, without_paths};
use crate::app::App;
use crate::settings::Webhooks;
use crate::signature::{HEADER, signature};

/// How often the outbox is looked into.
const PAUSE: Duration = Duration::from_millis(500);

/// How long a receiver may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Tries before a message is given up. With the pauses below: a bit more than a day.
const MOST_TRIES: u64 = 14;

/// Longest pause between two tries, in seconds.
const LONGEST_PAUSE: i64 = 4 * 3600;

/// Messages taken at a time.
const AT_A_TIME: u64 = 20;

/// Seconds before the next try, after so many: 2, 4, 8, ... up to four hours.
fn pause_after(tries: u64) -> i64 {
    let doubled =
        1_i64.checked_shl(u32::try_from(tries).unwrap_or(u32::MAX)).unwrap_or(LONGEST_PAUSE);
    doubled.clamp(1, LONGEST_PAUSE)
}

/// Sends what is due until `stop` is closed.
pub(crate) fn deliver(app: &Arc<App>, webhooks: &Webhooks, stop: &Receiver<()>) {
    let mut courier = Courier::new(webhooks);
    let mut store = None;
    while let Err(RecvTimeoutError::Timeout) = stop.recv_timeout(PAUSE) {
        if let Err(error) = courier.round(app, &mut store) {
            crate::log::line(format_args!("webhooks: {error}"));
            store = None;
        }
    }
}

struct Courier<'a> {
    webhooks: &'a Webhooks,
    agent: ureq::Agent,
    /// Addresses that have taken a message which others have not: it is not sent to them again, unless we are restarted.
    took: BTreeMap<u64, BTreeSet<String>>,
}

impl<'a> Courier<'a> {
    fn new(webhooks: &'a Webhooks) -> Self {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // Only addresses that the operator gave: a receiver must not send us elsewhere.
            .max_redirects(0)
            .timeout_global(Some(PATIENCE))
            .user_agent(concat!("evenkeel/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { webhooks, agent: agent.into(), took: BTreeMap::new() }
    }

    fn round(&mut self, app: &App, store: &mut Option<SqliteStore>) -> Result<(), MonitorError> {
        let store = match store {
            Some(store) => store,
            None => store.insert(SqliteStore::open(&app.store)?),
        };
        for message in store.due(Instant::now(), AT_A_TIME)? {
            match self.send(&message) {
                Ok(()) => {
                    self.took.remove(&message.id);
                    store.delivered(message.id, Instant::now())?;
                }
                Err(trouble) => {
                    app.metrics.webhook_failures.fetch_add(1, Ordering::Relaxed);
                    let tries = message.attempts + 1;
                    let next = Instant::now().seconds().saturating_add(pause_after(tries));
                    let next = (tries < MOST_TRIES).then(|| Instant::from_seconds(next));
                    if next.is_none() {
                        self.took.remove(&message.id);
                        crate::log::line(format_args!(
                            "webhook {} was given up after {tries} tries: {trouble}",
                            message.id
                        ));
                    }
                    store.failed(message.id, &trouble, next)?;
                }
            }
        }
        Ok(())
    }

    /// Sends to every address that has not taken it yet; an error if one does not.
    fn send(&mut self, message: &OutboxMessage) -> Result<(), String> {
        let took = self.took.entry(message.id).or_default();
        let mut troubles = Vec::new();
        for url in self.webhooks.urls() {
            if took.contains(url) {
                continue;
            }
            match post(&self.agent, url, self.webhooks.secret(), message) {
                Ok(()) => {
                    took.insert(url.clone());
                }
                // What is stored, logged and shown has no paths: they may be secret.
                Err(trouble) => {
                    troubles.push(without_paths(&format!("{}: {trouble}", origin(url))));
                }
            }
        }
        if troubles.is_empty() { Ok(()) } else { Err(troubles.join("; ")) }
    }
}

fn post(
    agent: &ureq::Agent,
    url: &str,
    secret: &[u8],
    message: &OutboxMessage,
) -> Result<(), String> {
    let body = message.payload.as_bytes();
    let request = agent
        .post(url)
        .content_type("application/json")
        .header(HEADER, signature(secret, Instant::now().seconds(), body))
        .header("X-Evenkeel-Event", &message.kind)
        // By which a receiver knows what it has seen: a message may come twice.
        .header("X-Evenkeel-Delivery", message.id.to_string());
    match request.send(body) {
        Ok(answer) if answer.status().is_success() => Ok(()),
        Ok(answer) => Err(format!("answered {}", answer.status())),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_their_limit() {
        assert_eq!([1, 2, 3].map(pause_after), [2, 4, 8]);
        assert_eq!([14, 63, 64, u64::MAX].map(pause_after)[0], LONGEST_PAUSE);
        assert!(
            [63, 64, u64::MAX]
                .iter()
                .all(|tries| (1..=LONGEST_PAUSE).contains(&pause_after(*tries)))
        );
        let all: i64 = (1..MOST_TRIES).map(pause_after).sum();
        assert!((3600..3 * 86_400).contains(&all), "{all} s");
    }
}
