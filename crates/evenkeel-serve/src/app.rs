//! What all requests share.

use std::sync::{Arc, Mutex, PoisonError};

use evenkeel_monitor::{History as _, ModelName, Monitor, MonitorError, SqliteStore, Tokens as _};

use crate::body::BodyMemory;
use crate::error::ServeError;
use crate::limits::Limits;
use crate::metrics::ServerMetrics;
use crate::problem::Problem;
use crate::queue::CheckQueue;
use crate::session::FormKey;
use crate::settings::Settings;
use crate::spool::Spool;

/// What all requests share.
pub(crate) struct App {
    /// What batches, labels and decisions go through.
    pub monitor: Monitor,
    /// Connections for reading, beside those that write.
    readers: Mutex<Vec<SqliteStore>>,
    /// The store.
    pub store: std::path::PathBuf,
    pub queue: CheckQueue,
    pub bodies: BodyMemory,
    pub spool: Spool,
    pub limits: Limits,
    pub forms: FormKey,
    pub metrics: ServerMetrics,
    /// Whom alarms are told.
    pub webhook_urls: Vec<String>,
    /// Whether only this machine can reach the server.
    pub is_local: bool,
}

impl App {
    /// Opens the store.
    pub(crate) fn open(settings: &Settings) -> Result<Self, ServeError> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = settings.threads.unwrap_or(cores).max(1);
        Ok(Self {
            monitor: Monitor::open_or_create(&settings.store)?,
            readers: Mutex::default(),
            store: settings.store.clone(),
            queue: CheckQueue::start(threads, settings.limits.queue)?,
            bodies: BodyMemory::new(settings.limits.bodies_bytes),
            spool: Spool::open(&settings.store)?,
            limits: settings.limits,
            forms: FormKey::draw()?,
            metrics: ServerMetrics::default(),
            webhook_urls: settings.webhooks.urls().to_vec(),
            is_local: settings.listen.ip().is_loopback(),
        })
    }

    /// Reads from the store, on a thread that may wait for the disk.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut SqliteStore) -> Result<T, MonitorError> + Send + 'static,
    ) -> Result<T, Problem> {
        let app = Arc::clone(self);
        blocking(move || {
            let idle = app.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut store = match idle {
                Some(store) => store,
                None => SqliteStore::open(&app.store)?,
            };
            let done = work(&mut store);
            app.readers.lock().unwrap_or_else(PoisonError::into_inner).push(store);
            Ok(done?)
        })
        .await
    }

    /// Does the work of a person, on a thread that may wait for the disk: beside the batches, and not in their queue.
    pub(crate) async fn beside<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        blocking(work).await
    }

    /// Whether callers need no token: the store has none, and only this machine can reach the server.
    pub(crate) async fn is_open(self: &Arc<Self>) -> Result<bool, Problem> {
        match self.is_local {
            true => self.read(|store| Ok(store.tokens()?.is_empty())).await,
            false => Ok(false),
        }
    }

    /// An error unless there is such a model.
    pub(crate) async fn require_model(self: &Arc<Self>, model: &ModelName) -> Result<(), Problem> {
        let model = model.clone();
        self.read(move |store| store.model(&model).map(drop)).await
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(Problem::system(&error)))
}
