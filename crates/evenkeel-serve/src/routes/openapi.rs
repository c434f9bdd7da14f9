//! `/openapi.json`: the interface, described for programs.

use axum::Json;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

use super::{batches, health, labels, metrics, models, proposals};

/// The interface.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Evenkeel",
        description = "Coverage of prediction sets over time: batches in; alarms, proposals and calibrations out. \
            Every problem is an `application/problem+json` with what was found and what to do.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    paths(
        models::all, models::one, models::put, models::calibration,
        batches::send, batches::history, batches::one, labels::send,
        proposals::all, proposals::approve, proposals::reject,
        metrics::metrics, health::healthz, health::readyz
    ),
    components(schemas(crate::problem::ProblemDocument)),
    modifiers(&Bearer)
)]
struct Interface;

/// Tokens are sent as `Authorization: Bearer ek_...`; without tokens in the store, callers of this machine need none.
struct Bearer;

impl Modify for Bearer {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let components = openapi.components.get_or_insert_with(Default::default);
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme("token", scheme);
    }
}

/// The description itself.
pub(crate) async fn openapi() -> Json<utoipa::openapi::OpenApi> {
    Json(Interface::openapi())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_described_with_its_problems() {
        let text = serde_json::to_value(Interface::openapi()).unwrap();
        let paths = text["paths"].as_object().unwrap();
        assert_eq!(paths.len(), 12, "{:?}", paths.keys());
        for (path, operations) in paths.iter().filter(|(path, _)| path.starts_with("/v1")) {
            for (method, operation) in operations.as_object().unwrap() {
                for status in ["400", "401", "403"] {
                    assert!(
                        operation["responses"].get(status).is_some(),
                        "{method} {path} lacks {status}"
                    );
                }
            }
        }
    }
}
