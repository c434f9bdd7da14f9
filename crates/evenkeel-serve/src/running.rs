//! A server from its start to its end.

use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use evenkeel_monitor::{Instant, SqliteStore, Telling, Tokens as _};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use crate::app::App;
use crate::error::ServeError;
use crate::listen::answer;
use crate::lock::StoreLock;
use crate::routes::routes;
use crate::settings::Settings;

/// Threads that talk to callers. They only wait and copy; the work is done on others.
const TALKING_THREADS: usize = 2;

/// A server that runs.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    answering: Option<JoinHandle<()>>,
    workers: Vec<(mpsc::Sender<()>, JoinHandle<()>)>,
    /// Let go last.
    _lock: StoreLock,
}

/// Starts a server.
///
/// # Errors
/// If the store is served already or cannot be used, the address cannot be had, or it is public and there are no tokens.
pub fn start(settings: &Settings) -> Result<Running, ServeError> {
    let lock = StoreLock::take(&settings.store)?;
    let address = settings.listen;
    if !address.ip().is_loopback()
        && SqliteStore::open_or_create(&settings.store)?.tokens()?.is_empty()
    {
        return Err(ServeError::PublicWithoutTokens { address });
    }
    let threads = |error: std::io::Error| ServeError::Threads { reason: error.to_string() };
    let runtime = Builder::new_multi_thread()
        .worker_threads(TALKING_THREADS)
        .max_blocking_threads(32)
        .thread_name("serve")
        .enable_all()
        .build()
        .map_err(threads)?;
    let bound = |error| ServeError::Listen { address, error };
    let listener = runtime.block_on(TcpListener::bind(address)).map_err(bound)?;
    let address = listener.local_addr().map_err(bound)?;
    let app = Arc::new(App::open(settings)?);
    let mut workers = Vec::new();
    let telling = if settings.webhooks.urls().is_empty() { Telling::Off } else { Telling::On };
    app.monitor.store().set_telling(telling, Instant::now())?;
    if telling == Telling::On {
        let (app, webhooks) = (Arc::clone(&app), settings.webhooks.clone());
        workers.push(worker("webhooks", move |stop| {
            crate::webhooks::deliver(&app, &webhooks, &stop);
        })?);
    }
    if let Some(folder) = settings.watch.clone() {
        let app = Arc::clone(&app);
        workers.push(worker("watch", move |stop| crate::watch::watch(&app, &folder, &stop))?);
    }
    let (stop, stopped) = oneshot::channel();
    let limits = settings.limits;
    let answering = thread::Builder::new()
        .name("answering".into())
        .spawn(move || run(&runtime, listener, app, limits, stopped))
        .map_err(threads)?;
    Ok(Running { address, stop: Some(stop), answering: Some(answering), workers, _lock: lock })
}

fn run(
    runtime: &Runtime,
    listener: TcpListener,
    app: Arc<App>,
    limits: crate::limits::Limits,
    stopped: oneshot::Receiver<()>,
) {
    let until = async move {
        // A sender that is gone without a word is a stop too.
        let _ = stopped.await;
    };
    runtime.block_on(answer(listener, routes(app), &limits, until));
}

fn worker(
    name: &str,
    work: impl FnOnce(mpsc::Receiver<()>) + Send + 'static,
) -> Result<(mpsc::Sender<()>, JoinHandle<()>), ServeError> {
    let (stop, stopped) = mpsc::channel();
    let thread = thread::Builder::new().name(name.into()).spawn(move || work(stopped));
    let thread = thread.map_err(|error| ServeError::Threads { reason: error.to_string() })?;
    Ok((stop, thread))
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections, lets what is being answered be answered, and ends.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if let Some(stop) = self.stop.take() {
            // It may have ended by itself.
            let _ = stop.send(());
        }
        if let Some(answering) = self.answering.take() {
            let _ = answering.join();
        }
        for (stop, thread) in self.workers.drain(..) {
            drop(stop);
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}
