//! A token for a cookie.

use std::sync::Arc;

use askama::Template;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use serde::Deserialize;

use super::filled_form::Filled;
use super::visitor::Visitor;
use crate::app::App;
use crate::caller::Caller;
use crate::problem::Problem;
use crate::session::{TOKEN_COOKIE, set_cookie};

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    visitor: &'a Visitor,
    trouble: &'a str,
    next: &'a str,
}

#[derive(Debug, Deserialize)]
pub(super) struct NextQuery {
    #[serde(default)]
    next: String,
}

/// A page of this server to go to; anything else is the first page.
fn own_path(next: &str) -> &str {
    // What is no letter of an address cannot stand in a head.
    let is_plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let is_ours = next.starts_with('/') && !next.starts_with("//") && is_plain;
    if is_ours { next } else { "/" }
}

pub(super) async fn page(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    query: Result<Query<NextQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let visitor = Visitor::new(&app, &headers, None)?;
    let next = query.map(|Query(query)| query.next).unwrap_or_default();
    let page = LoginPage { visitor: &visitor, trouble: "", next: own_path(&next) };
    Ok(super::page(&visitor, StatusCode::OK, &page))
}

#[derive(Debug, Deserialize)]
pub(super) struct LoginForm {
    csrf: String,
    token: String,
    #[serde(default)]
    next: String,
}

pub(super) async fn log_in(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Filled(form): Filled<LoginForm>,
) -> Result<Response, Problem> {
    app.forms.require(&headers, &form.csrf)?;
    let (token, next) = (form.token.trim().to_owned(), own_path(&form.next));
    match Caller::of_token(&app, Some(token.clone())).await {
        Ok(Caller::Bearer(_)) => {
            let mut response = Redirect::to(next).into_response();
            if let Some(cookie) = set_cookie(&headers, TOKEN_COOKIE, &token) {
                response.headers_mut().append(SET_COOKIE, cookie);
            }
            Ok(response)
        }
        // Nobody needs to log in.
        Ok(Caller::Local) => Ok(Redirect::to(next).into_response()),
        Err(_) => {
            let visitor = Visitor::new(&app, &headers, None)?;
            let page =
                LoginPage { visitor: &visitor, trouble: "This token is not known here.", next };
            Ok(super::page(&visitor, StatusCode::UNAUTHORIZED, &page))
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct LogoutForm {
    csrf: String,
}

pub(super) async fn log_out(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Filled(form): Filled<LogoutForm>,
) -> Result<Response, Problem> {
    app.forms.require(&headers, &form.csrf)?;
    let mut response = Redirect::to("/login").into_response();
    if let Some(cookie) = set_cookie(&headers, TOKEN_COOKIE, "") {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::own_path;

    #[test]
    fn a_login_leads_to_pages_of_this_server_only() {
        assert_eq!(own_path("/models/a"), "/models/a");
        for other in [
            "",
            "https://evil.example/",
            "//evil.example/",
            "/\\evil.example",
            "javascript:alert(1)",
            "/a\r\nx: y",
            "/\u{1}",
            "/é",
        ] {
            assert_eq!(own_path(other), "/", "{other}");
        }
    }
}
