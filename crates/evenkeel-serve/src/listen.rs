//! Connections: so many at once, heads within their time, answers read within theirs, and none cut off when the server stops.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::limits::Limits;
use crate::patient_stream::PatientStream;

/// How long requests that are being answered may take once the server was told to stop.
const GRACE: Duration = Duration::from_secs(30);

/// Bytes of a head: enough for a token and a long path.
const HEAD_BYTES: usize = 16 << 10;

/// Answers connections until `stop` is done, then lets those that are open finish.
///
/// Not `axum::serve`: it lets a head and the reading of an answer take for ever, and as many connections in as there are.
pub(crate) async fn answer(
    listener: TcpListener,
    routes: Router,
    limits: &Limits,
    stop: impl Future<Output = ()>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.head_time())
        .max_buf_size(HEAD_BYTES.max(8192));
    let places = Arc::new(Semaphore::new(limits.connections));
    let open = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        // A place first: connections beyond the limit wait in the system's queue and cost nothing here.
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place,
            () = &mut stop => break,
        };
        let Ok(place) = place else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of files, or a connection that was gone before it was taken: neither is a reason to stop.
                crate::log::line(format_args!("a connection could not be taken: {error}"));
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        // Answers are small: waiting for more of them to send would only delay them.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(routes.clone());
        let stream = PatientStream::new(stream, limits.answer_time());
        let connection = http.serve_connection(TokioIo::new(stream), service);
        let connection = open.watch(connection);
        tokio::spawn(async move {
            // A caller that hangs up or sends no HTTP is its own affair.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    if tokio::time::timeout(GRACE, open.shutdown()).await.is_err() {
        crate::log::line(format_args!(
            "some requests were not done after {GRACE:?}; they are cut off"
        ));
    }
}
