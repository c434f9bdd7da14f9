//! What a browser keeps: the token of who logged in, and a visit by which forms are known to be ours.
//!
//! ```text
//! ek_token   the token                      sent by the browser with every request to this server
//! ek_visit   random bytes                   form field csrf = HMAC(key of this server, visit)
//! ```
//! Both are `HttpOnly` (no script reads them) and `SameSite=Strict` (no other site's page can have them sent).

use axum::http::header::COOKIE;
use axum::http::{HeaderMap, HeaderValue};
use subtle::ConstantTimeEq as _;

use crate::error::ServeError;
use crate::problem::Problem;
use crate::signature::authentication_code;
use crate::tokens::{hexadecimal, random_bytes};

pub(crate) const TOKEN_COOKIE: &str = "ek_token";
pub(crate) const VISIT_COOKIE: &str = "ek_visit";

/// Seconds after which a browser forgets who logged in: a working day.
const LOGIN_SECONDS: u32 = 12 * 3600;

/// A cookie of a request.
pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(COOKIE).into_iter().filter_map(|line| line.to_str().ok());
    let mut pairs =
        lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(found, _)| *found == name).map(|(_, value)| value)
}

/// The header that has a browser keep a cookie; an empty value has it forget.
pub(crate) fn set_cookie(request: &HeaderMap, name: &str, value: &str) -> Option<HeaderValue> {
    // Behind a proxy that speaks TLS the cookie must not travel without it.
    let forwarded = request.get("x-forwarded-proto").and_then(|proto| proto.to_str().ok());
    let secure = if forwarded == Some("https") { "; Secure" } else { "" };
    let age = if value.is_empty() { 0 } else { LOGIN_SECONDS };
    let cookie =
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={age}{secure}");
    HeaderValue::from_str(&cookie).ok()
}

/// The key by which this server knows its own forms. A new one at every start: forms that are older must be loaded again.
pub(crate) struct FormKey([u8; 32]);

impl FormKey {
    /// A fresh key.
    pub(crate) fn draw() -> Result<Self, ServeError> {
        Ok(Self(random_bytes()?))
    }

    /// What a form of this visit carries.
    pub(crate) fn field(&self, visit: &str) -> String {
        hexadecimal(&authentication_code(&self.0, &[b"form ", visit.as_bytes()]))
    }

    /// An error unless the form came from a page that this server gave to this browser.
    pub(crate) fn require(&self, headers: &HeaderMap, field: &str) -> Result<(), Problem> {
        let expected = cookie(headers, VISIT_COOKIE).map(|visit| self.field(visit));
        let is_ours =
            expected.is_some_and(|expected| expected.as_bytes().ct_eq(field.as_bytes()).into());
        match is_ours {
            true => Ok(()),
            false => Err(Problem::forbidden(
                "this form is not from a page that this server gave to this browser since it started; go back, load the \
                 page again and send it once more",
            )),
        }
    }
}

impl std::fmt::Debug for FormKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FormKey(..)")
    }
}

/// A new visit.
pub(crate) fn new_visit() -> Result<String, ServeError> {
    Ok(hexadecimal(&random_bytes::<16>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_of_another_visit_or_server_is_refused() {
        let (key, other) = (FormKey::draw().unwrap(), FormKey::draw().unwrap());
        let mut headers = HeaderMap::new();
        assert!(key.require(&headers, &key.field("v1")).is_err());
        headers.insert(COOKIE, HeaderValue::from_static("a=b; ek_visit=v1; c=d"));
        assert!(key.require(&headers, &key.field("v1")).is_ok());
        for field in ["", &key.field("v2"), &other.field("v1")] {
            assert!(key.require(&headers, field).is_err());
        }
    }

    #[test]
    fn cookies_are_kept_from_scripts_and_other_sites() {
        let mut headers = HeaderMap::new();
        let plain = set_cookie(&headers, TOKEN_COOKIE, "x").unwrap();
        assert_eq!(plain, "ek_token=x; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200");
        headers.insert("x-forwarded-proto", HeaderValue::from_static("https"));
        assert!(
            set_cookie(&headers, TOKEN_COOKIE, "")
                .unwrap()
                .to_str()
                .unwrap()
                .ends_with("Max-Age=0; Secure")
        );
    }
}
