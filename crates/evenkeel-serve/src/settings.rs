//! What a server is told at its start.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use crate::error::ServeError;
use crate::limits::Limits;

/// Where a server listens unless it is told otherwise: this machine only.
pub const DEFAULT_ADDRESS: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8750);

/// Fewest bytes of a secret for webhooks: what can be guessed signs nothing.
pub const LEAST_SECRET_BYTES: usize = 16;

/// What a server is told at its start.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The store, made where there is none.
    pub store: PathBuf,
    /// Where to listen; port 0 lets the system choose.
    pub listen: SocketAddr,
    /// A folder to take batches from, `DIR/MODEL/FILE`.
    pub watch: Option<PathBuf>,
    /// Whom to tell of alarms, proposals and decisions.
    pub webhooks: Webhooks,
    /// What requests may bring.
    pub limits: Limits,
    /// Threads that check batches; none means as many as there are cores.
    pub threads: Option<usize>,
}

impl Settings {
    /// The defaults for a store.
    pub fn new(store: impl Into<PathBuf>) -> Self {
        Self {
            store: store.into(),
            listen: DEFAULT_ADDRESS,
            watch: None,
            webhooks: Webhooks::default(),
            limits: Limits::default(),
            threads: None,
        }
    }
}

/// Whom to tell, and the secret to sign with.
#[derive(Clone, Default)]
pub struct Webhooks {
    urls: Vec<String>,
    secret: Vec<u8>,
}

impl Webhooks {
    /// Addresses that the operator gave, and the secret.
    ///
    /// # Errors
    /// If an address is not http or https, or the secret is too short.
    pub fn new(urls: Vec<String>, secret: Vec<u8>) -> Result<Self, ServeError> {
        let wrong = |url: &String| {
            let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
            match rest {
                None => Some("it begins with another scheme"),
                Some(rest) if rest.is_empty() || rest.starts_with('/') => Some("it names no host"),
                Some(rest) if rest.contains(char::is_whitespace) => Some("it holds a space"),
                // Pages show hosts; a password would be shown with them.
                Some(rest) if rest.split('/').next().is_some_and(|host| host.contains('@')) => {
                    Some("it holds a password")
                }
                Some(_) => None,
            }
        };
        if let Some((url, why)) = urls.iter().find_map(|url| Some((url, wrong(url)?))) {
            return Err(ServeError::WebhookAddress { url: url.clone(), why });
        }
        if !urls.is_empty() && secret.len() < LEAST_SECRET_BYTES {
            return Err(ServeError::WebhookSecret { least: LEAST_SECRET_BYTES });
        }
        Ok(Self { urls, secret })
    }

    /// The addresses.
    pub fn urls(&self) -> &[String] {
        &self.urls
    }

    /// What webhooks are signed with.
    pub(crate) fn secret(&self) -> &[u8] {
        &self.secret
    }
}

// By hand: a derived one would write the secret, and paths that may be one, into whatever prints it.
impl std::fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let urls: Vec<&str> = self.urls.iter().map(|url| crate::address::origin(url)).collect();
        f.debug_struct("Webhooks").field("urls", &urls).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_webhooks_are_http_and_without_passwords() {
        let secret = || b"0123456789abcdef".to_vec();
        let one = |url: &str| Webhooks::new(vec![url.to_owned()], secret());
        for url in ["http://127.0.0.1:9/x", "https://alerts.example/evenkeel?x=@"] {
            assert!(one(url).is_ok(), "{url}");
        }
        for url in [
            "",
            "ftp://a/b",
            "file:///etc/passwd",
            "http://",
            "http:///x",
            "http://u:p@host/",
            "http://a b/",
        ] {
            assert!(matches!(one(url), Err(ServeError::WebhookAddress { .. })), "{url}");
        }
        let short = Webhooks::new(vec!["http://127.0.0.1/".into()], b"short".to_vec());
        assert!(matches!(short, Err(ServeError::WebhookSecret { least: 16 })));
    }
}
