//! `ek_<id>_<secret>`: what callers show, and what the store keeps of it.
//!
//! The store keeps the SHA-256 of a token and never the token. A slow hash would add nothing: a secret is 32 bytes from
//! the system's generator, not a word that somebody chose.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::error::ServeError;

const PREFIX: &str = "ek";
const ID_BYTES: usize = 6;
const SECRET_BYTES: usize = 32;

/// Random bytes of the system.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], ServeError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| ServeError::Random { reason: error.to_string() })?;
    Ok(bytes)
}

/// Lower-case hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A token that was just made. Its text is shown once.
#[derive(Clone, PartialEq, Eq)]
pub struct NewToken {
    /// What callers send: `ek_<id>_<secret>`.
    pub text: String,
    /// By which the store finds it; no secret.
    pub id: String,
    /// SHA-256 of the text: what the store keeps.
    pub hash: [u8; 32],
}

// By hand: a derived one would write the secret into whatever prints it.
impl std::fmt::Debug for NewToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewToken").field("id", &self.id).finish_non_exhaustive()
    }
}

impl NewToken {
    /// A token of fresh random bytes.
    ///
    /// # Errors
    /// If the system has no random bytes to give.
    pub fn draw() -> Result<Self, ServeError> {
        let id = hexadecimal(&random_bytes::<ID_BYTES>()?);
        let secret = URL_SAFE_NO_PAD.encode(random_bytes::<SECRET_BYTES>()?);
        let text = format!("{PREFIX}_{id}_{secret}");
        let hash = hash_of(&text);
        Ok(Self { text, id, hash })
    }
}

/// A token as it was shown, taken apart; nothing is known about it yet.
#[derive(Clone, Copy)]
pub(crate) struct ShownToken<'a> {
    /// By which the store finds it.
    pub id: &'a str,
    text: &'a str,
}

impl<'a> ShownToken<'a> {
    /// Takes a token apart; none if it has another form.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.splitn(3, '_');
        let (prefix, id, secret) = (parts.next()?, parts.next()?, parts.next()?);
        let is_id = id.len() == 2 * ID_BYTES && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        (prefix == PREFIX && is_id && !secret.is_empty()).then_some(Self { id, text })
    }

    /// Whether it is the token of this hash. Takes as long wherever the two differ.
    pub(crate) fn is(&self, hash: &[u8; 32]) -> bool {
        hash_of(self.text).ct_eq(hash).into()
    }
}

fn hash_of(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// What a token lets its bearer do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Send batches and labels.
    Ingest,
    /// See models, batches, proposals, calibrations, metrics and pages.
    Read,
    /// Approve and reject proposals.
    Approve,
    /// Everything, and make models.
    Admin,
}

impl Scope {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 4] = [Self::Ingest, Self::Read, Self::Approve, Self::Admin];

    /// Its name, as it is stored and typed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ingest => "ingest",
            Self::Read => "read",
            Self::Approve => "approve",
            Self::Admin => "admin",
        }
    }

    /// The scope of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }

    /// Whether a token of the scope `self` may do what `asked` stands for.
    pub fn includes(self, asked: Self) -> bool {
        self == asked || self == Self::Admin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_its_secret_alone() {
        let (token, other) = (NewToken::draw().unwrap(), NewToken::draw().unwrap());
        let shown = ShownToken::parse(&token.text).unwrap();
        assert_eq!(shown.id, token.id);
        assert!(shown.is(&token.hash) && !shown.is(&other.hash));
        // 32 bytes: 43 letters of base64.
        assert_eq!(token.text.len(), "ek_".len() + 12 + "_".len() + 43);
        assert!(!format!("{token:?}").contains(&token.text[16..]), "debug output shows the secret");
    }

    #[test]
    fn texts_of_another_form_are_no_tokens() {
        for text in [
            "",
            "ek",
            "ek_",
            "ek__",
            "ek_0123456789ab_",
            "xx_0123456789ab_s",
            "ek_0123_s",
            "ek_0123456789aX_s",
        ] {
            assert!(ShownToken::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn only_admin_includes_the_others() {
        for scope in Scope::ALL {
            assert_eq!(Scope::parse(scope.as_str()), Some(scope));
            for asked in Scope::ALL {
                assert_eq!(scope.includes(asked), scope == asked || scope == Scope::Admin);
            }
        }
    }
}
