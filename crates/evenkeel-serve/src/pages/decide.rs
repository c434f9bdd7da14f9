//! The form under a proposal.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use evenkeel_monitor::Choice;
use serde::Deserialize;

use super::filled_form::Filled;
use super::visitor::Reader;
use crate::app::App;
use crate::problem::Problem;
use crate::routes::Numbered;
use crate::routes::proposals::{DecisionBody, decide as decide_on};
use crate::tokens::Scope;

#[derive(Debug, Deserialize)]
pub(super) struct DecisionForm {
    csrf: String,
    who: String,
    why: String,
    decision: String,
}

pub(super) async fn decide(
    State(app): State<Arc<App>>,
    Reader { visitor, caller }: Reader,
    at: Result<Numbered, Problem>,
    form: Result<Filled<DecisionForm>, Problem>,
) -> Response {
    let decided = async {
        let Numbered { model, number } = at?;
        let Filled(form) = form?;
        app.forms.require(visitor.headers(), &form.csrf)?;
        caller.require(Scope::Approve, Some(model.as_str()))?;
        let choice = match form.decision.as_str() {
            "approve" => Choice::Approve,
            "reject" => Choice::Reject,
            _ => return Err(Problem::usage("a decision is approve or reject")),
        };
        let body = DecisionBody { who: form.who, why: form.why };
        let (at_work, of) = (Arc::clone(&app), model.clone());
        app.beside(move || decide_on(&at_work.monitor, &of, number, choice, &body)).await?;
        Ok(model)
    };
    match decided.await {
        // See other: loading the page again must not send the decision again.
        Ok(model) => Redirect::to(&format!("/models/{model}")).into_response(),
        Err(problem) => super::trouble(&visitor, &problem),
    }
}
