//! What stands at the head of every answer, and what the head of every request must not say.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::problem::Problem;

/// What a page may load and send: what this server gives, and nothing from anywhere else.
pub(crate) const PAGE_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The same for pages that carry their styles inside them; nothing runs there.
pub(crate) const REPORT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// Everything else is no page.
const DATA_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

/// Adds what every answer has, unless the answer says otherwise.
pub(crate) async fn secure(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let fixed: [(HeaderName, &'static str); 8] = [
        (CONTENT_SECURITY_POLICY, DATA_POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
    ];
    for (name, value) in fixed {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Refuses names of other machines while nobody is asked for a token.
///
/// A page of another site can have its own name lead to 127.0.0.1, and its scripts would then read this server as their
/// own. The name still stands in the head.
pub(crate) async fn require_loopback_name(request: Request, next: Next) -> Response {
    let named = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    match named.is_none_or(is_loopback_name) {
        true => next.run(request).await,
        false => {
            let detail =
                "without tokens this server answers to 127.0.0.1, [::1] and localhost only";
            Problem::forbidden(detail).into_response()
        }
    }
}

fn is_loopback_name(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    let address = name.parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::is_loopback_name;

    #[test]
    fn only_names_of_this_machine_pass() {
        for name in
            ["127.0.0.1", "127.0.0.1:8750", "localhost:80", "LOCALHOST", "[::1]:8750", "[::1]"]
        {
            assert!(is_loopback_name(name), "{name}");
        }
        for name in [
            "evil.example",
            "evil.example:8750",
            "127.0.0.1.evil.example",
            "localhost.evil",
            "10.0.0.1:8750",
            "",
        ] {
            assert!(!is_loopback_name(name), "{name}");
        }
    }
}
