//! `/openapi.json`: the interface, described for programs.

use axum::Json;
use serde_json::{Map, Value};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

use super::{audit, batches, health, labels, metrics, models, proposals};
use crate::problem::Problem;

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
        audit::all, metrics::metrics, health::healthz, health::readyz
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
pub(crate) async fn openapi() -> Result<Json<Value>, Problem> {
    described().map(Json).map_err(|error| Problem::system(&error))
}

/// The description, in which parameters that may be left out are not also null: in a head or an address, null is a word.
fn described() -> serde_json::Result<Value> {
    let mut document = serde_json::to_value(Interface::openapi())?;
    let operations = document["paths"].as_object_mut().into_iter().flat_map(Map::values_mut);
    let operations = operations.filter_map(Value::as_object_mut).flat_map(Map::values_mut);
    for operation in operations {
        let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
        for parameter in parameters.into_iter().flatten() {
            let kinds = parameter.get_mut("schema").and_then(|schema| schema.get_mut("type"));
            let Some(kinds) = kinds else { continue };
            let named = kinds.as_array().and_then(|all| all.iter().find(|kind| *kind != "null"));
            if let Some(named) = named.cloned() {
                *kinds = named;
            }
        }
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_described_with_its_problems() {
        let text = described().unwrap();
        let paths = text["paths"].as_object().unwrap();
        assert_eq!(paths.len(), 13, "{:?}", paths.keys());
        assert!(
            !text["paths"].to_string().contains("\"in\":\"header\",\"schema\":{\"type\":["),
            "a header may be null"
        );
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
