//! Who asks, and what they may do.

use std::sync::Arc;

use axum::extract::{FromRef, FromRequestParts};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use evenkeel_monitor::{Token, Tokens as _};

use crate::app::App;
use crate::problem::Problem;
use crate::session::{TOKEN_COOKIE, cookie};
use crate::tokens::{Scope, ShownToken};

/// Who asks.
#[derive(Debug, Clone)]
pub(crate) enum Caller {
    /// Somebody on this machine, while the store has no tokens.
    Local,
    /// The bearer of a token.
    Bearer(Token),
}

impl Caller {
    /// An error unless they may do this with the model; `None` stands for the server as a whole.
    pub(crate) fn require(&self, asked: Scope, model: Option<&str>) -> Result<(), Problem> {
        let Self::Bearer(token) = self else { return Ok(()) };
        let mut scopes = token.scopes.split(',').filter_map(Scope::parse);
        if !scopes.any(|scope| scope.includes(asked)) {
            let detail =
                format!("this token lacks the scope {}; ask for one that has it", asked.as_str());
            return Err(Problem::forbidden(detail));
        }
        match model {
            Some(model) if !self.may_see(model) => Err(Problem::forbidden(
                "this token is for other models; ask for one that is for this",
            )),
            _ => Ok(()),
        }
    }

    /// Whether the model is one of theirs.
    pub(crate) fn may_see(&self, model: &str) -> bool {
        match self {
            Self::Local => true,
            // A token without a model is for all of them.
            Self::Bearer(token) => {
                token.models.as_ref().is_none_or(|names| names.iter().any(|name| name == model))
            }
        }
    }

    /// Whether they run this server: what concerns all models and the server itself is for them.
    pub(crate) fn is_operator(&self) -> bool {
        match self {
            Self::Local => true,
            Self::Bearer(token) => {
                token.models.is_none() && self.require(Scope::Admin, None).is_ok()
            }
        }
    }

    /// As they stand in the audit log.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Local => "local".to_owned(),
            Self::Bearer(token) if token.note.is_empty() => format!("token {}", token.id),
            Self::Bearer(token) => token.note.clone(),
        }
    }

    /// Who shows this token; an error if the store has tokens and this is none of them.
    pub(crate) async fn of_token(app: &Arc<App>, shown: Option<String>) -> Result<Self, Problem> {
        let found = app.read(move |store| {
            // A store whose tokens were all taken back is not open again: somebody wanted it closed.
            let Some(shown) = shown.as_deref().and_then(ShownToken::parse) else {
                return Ok((!store.tokens()?.is_empty(), None));
            };
            let token = store.token(shown.id)?.filter(|token| token.revoked.is_none());
            let token = token.filter(|token| shown.is(&token.hash));
            Ok((token.is_some() || !store.tokens()?.is_empty(), token))
        });
        match found.await? {
            (_, Some(token)) => Ok(Self::Bearer(token)),
            (false, None) if app.is_local => Ok(Self::Local),
            (_, None) => Err(Problem::unknown_caller()),
        }
    }
}

/// The token of a request: a program sends it in its head, a browser in the cookie of its login.
fn shown_token(headers: &HeaderMap) -> Option<String> {
    if let Some(value) = headers.get(AUTHORIZATION) {
        let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
        return scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned());
    }
    cookie(headers, TOKEN_COOKIE).map(str::to_owned)
}

impl<S: Send + Sync> FromRequestParts<S> for Caller
where
    Arc<App>: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let app = Arc::<App>::from_ref(state);
        Self::of_token(&app, shown_token(&parts.headers)).await
    }
}
