//! Is the server alive, and can it work?

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use evenkeel_monitor::History as _;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::disk::Disk;
use crate::problem::{Kind, Problem};

/// It is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Alive {
    /// Always `ok`.
    status: &'static str,
}

/// The process answers.
#[utoipa::path(get, path = "/healthz", tag = "operation", responses((status = 200, description = "It does", body = Alive)))]
pub(crate) async fn healthz() -> Json<Alive> {
    Json(Alive { status: "ok" })
}

/// Batches can be taken: the store can be read, its disk has room, and so has the queue.
#[utoipa::path(
    get, path = "/readyz", tag = "operation",
    responses(
        (status = 200, description = "They can", body = Alive),
        (status = 503, description = "They cannot; the document says why", body = crate::problem::ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn readyz(State(app): State<Arc<App>>) -> Result<Json<Alive>, Problem> {
    let not_ready =
        |why: &str| Problem::new(axum::http::StatusCode::SERVICE_UNAVAILABLE, Kind::System, why);
    if app.queue.depth() >= app.limits.queue {
        return Err(not_ready("the queue is full; batches are refused until some are checked"));
    }
    // The caller need not know what is wrong with the disk: the log does.
    app.read(|store| store.models().map(drop))
        .await
        .map_err(|_| not_ready("the store cannot be read; the log says why"))?;
    let at_work = Arc::clone(&app);
    let disk =
        app.beside(move || Disk::of(&at_work.store).map_err(|error| Problem::system(&error)));
    let disk = disk.await.map_err(|_| not_ready("the disk of the store cannot be asked"))?;
    if let Some(trouble) = disk.and_then(|disk| disk.trouble(app.limits.free_bytes)) {
        return Err(not_ready(&trouble));
    }
    Ok(Json(Alive { status: "ok" }))
}
