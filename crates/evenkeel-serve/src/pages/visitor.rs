//! Who looks at a page, and what its forms carry.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::HOST;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Redirect, Response};

use crate::app::App;
use crate::caller::Caller;
use crate::problem::Problem;
use crate::session::{VISIT_COOKIE, cookie, new_visit};
use crate::tokens::Scope;

/// Who looks at a page.
#[derive(Debug)]
pub(super) struct Visitor {
    /// Whether somebody logged in.
    pub is_logged_in: bool,
    /// As the head of the page calls them.
    pub name: String,
    /// Whom the token names; nobody where it was made without a name.
    pub person: String,
    /// What forms carry.
    pub csrf: String,
    headers: HeaderMap,
    new_visit: Option<String>,
}

impl Visitor {
    /// Of a request; `caller` is none where nobody has logged in yet.
    pub(super) fn new(
        app: &App,
        headers: &HeaderMap,
        caller: Option<&Caller>,
    ) -> Result<Self, Problem> {
        let known =
            cookie(headers, VISIT_COOKIE).filter(|visit| !visit.is_empty()).map(str::to_owned);
        let (visit, new_visit) = match known {
            Some(visit) => (visit, None),
            None => {
                let visit = new_visit().map_err(|error| Problem::system(&error))?;
                (visit.clone(), Some(visit))
            }
        };
        let bearer = caller.filter(|caller| matches!(caller, Caller::Bearer(_)));
        Ok(Self {
            is_logged_in: bearer.is_some(),
            name: bearer.map(Caller::name).unwrap_or_default(),
            person: match caller {
                Some(Caller::Bearer(token)) => token.note.clone(),
                Some(Caller::Local) | None => String::new(),
            },
            csrf: app.forms.field(&visit),
            headers: headers.clone(),
            new_visit,
        })
    }

    /// A visit that begins with this page.
    pub(super) fn new_visit(&self) -> Option<&str> {
        self.new_visit.as_deref()
    }

    /// The head of the request.
    pub(super) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// By what name the server is reached.
    pub(super) fn host(&self) -> String {
        let host = self.headers.get(HOST).and_then(|host| host.to_str().ok());
        host.unwrap_or("127.0.0.1:8750").to_owned()
    }
}

/// A visitor who may read; others are led to the login.
#[derive(Debug)]
pub(super) struct Reader {
    pub visitor: Visitor,
    pub caller: Caller,
}

impl FromRequestParts<Arc<App>> for Reader {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        let Ok(caller) = Caller::from_request_parts(parts, app).await else {
            // A path of this server: it begins with one slash, and is no address of another.
            let next = parts.uri.path();
            return Err(Redirect::to(&format!("/login?next={next}")).into_response());
        };
        let visitor =
            Visitor::new(app, &parts.headers, Some(&caller)).map_err(Problem::into_response)?;
        match caller.require(Scope::Read, None) {
            Ok(()) => Ok(Self { visitor, caller }),
            Err(problem) => Err(super::trouble(&visitor, &problem)),
        }
    }
}
