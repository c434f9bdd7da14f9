//! `X-Evenkeel-Signature: t=<seconds>,v1=<hex>`: by which a receiver knows that a webhook is this server's and is fresh.
//!
//! ```text
//! v1 = HMAC-SHA256(secret, "<t>.<body>")
//! ```

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::tokens::hexadecimal;

/// Name of the header.
pub const HEADER: &str = "X-Evenkeel-Signature";

/// HMAC-SHA256 of some parts, one after the other.
pub(crate) fn authentication_code(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    // HMAC takes keys of any length: the error of `new_from_slice` cannot come up, and an empty code would verify nothing.
    let Ok(mut code) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    for part in parts {
        code.update(part);
    }
    code.finalize().into_bytes().to_vec()
}

/// The value of the header for a body sent at `seconds` since 1970.
///
/// The time is signed too: a receiver that refuses old ones cannot be sent the same webhook again by whoever listened.
pub fn signature(secret: &[u8], seconds: i64, body: &[u8]) -> String {
    let time = seconds.to_string();
    let code = authentication_code(secret, &[time.as_bytes(), b".", body]);
    format!("t={time},v1={}", hexadecimal(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_that_of_rfc_4231() {
        // Test case 2.
        let code = authentication_code(b"Jefe", &[b"what do ya want ", b"for nothing?"]);
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(hexadecimal(&code), expected);
    }

    #[test]
    fn secret_time_and_body_are_signed() {
        let signed = signature(b"secret", 17, b"{}");
        assert!(signed.starts_with("t=17,v1=") && signed.len() == 8 + 64);
        for other in [
            signature(b"Secret", 17, b"{}"),
            signature(b"secret", 18, b"{}"),
            signature(b"secret", 17, b"{ }"),
        ] {
            assert_ne!(signed[8..], other[8..]);
        }
    }
}
