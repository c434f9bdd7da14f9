//! What pages are dressed with. Compiled in: a server is one file.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::IntoResponse;

/// A file with its type; browsers ask again after an hour, so that a new version is seen.
fn file<T: IntoResponse>(kind: &'static str, text: T) -> impl IntoResponse + use<T> {
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, "private, max-age=3600")], text)
}

pub(super) async fn style() -> impl IntoResponse {
    let figures = evenkeel_report::figure_style_sheet();
    file("text/css; charset=utf-8", figures + include_str!("../../static/style.css"))
}

pub(super) async fn script() -> impl IntoResponse {
    file("text/javascript; charset=utf-8", include_str!("../../static/page.js"))
}

pub(super) async fn icon() -> impl IntoResponse {
    file("image/svg+xml", include_str!("../../static/icon.svg"))
}
