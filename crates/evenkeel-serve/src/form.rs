//! The parts of a form (`multipart/form-data`): each is known, has a name, and comes once.

use std::collections::BTreeMap;

use axum::body::{Body, Bytes};
use axum::extract::multipart::MultipartError;
use axum::extract::{DefaultBodyLimit, FromRequest as _, Multipart, Request};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;

use crate::problem::Problem;

/// Longest name of a part that an error repeats.
pub(crate) const SHOWN_CHARACTERS: usize = 80;

/// One part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Part {
    /// Name of the file it was, where the caller says so.
    pub file_name: Option<String>,
    /// Its own media type, without parameters and in lower case.
    pub media_type: Option<String>,
    /// What it holds.
    pub bytes: Bytes,
}

/// The parts of a form, by their names.
pub(crate) type Parts = BTreeMap<&'static str, Part>;

/// Reads a form whose body has come in whole, within the limits of bodies. `known` are the names that parts may have.
///
/// # Errors
/// If it is no form, it breaks off, or a part has no name, is not known, or came before.
pub(crate) async fn parts_of(
    headers: &HeaderMap,
    content: Vec<u8>,
    known: &[&'static str],
) -> Result<Parts, Problem> {
    let mut form = opened(headers, content).await?;
    let mut parts = Parts::new();
    while let Some(field) = form.next_field().await.map_err(|error| broken(&error))? {
        let name = known_name(field.name(), parts.len(), known)?;
        if parts.contains_key(name) {
            return Err(Problem::data(format!("the part `{name}` came twice; send it once")));
        }
        let file_name = field.file_name().map(str::to_owned);
        let media_type = field.content_type().map(plain_media_type);
        let bytes = field.bytes().await.map_err(|error| broken(&error))?;
        parts.insert(name, Part { file_name, media_type, bytes });
    }
    Ok(parts)
}

async fn opened(headers: &HeaderMap, content: Vec<u8>) -> Result<Multipart, Problem> {
    let mut request = Request::new(Body::from(content));
    if let Some(media_type) = headers.get(CONTENT_TYPE) {
        request.headers_mut().insert(CONTENT_TYPE, media_type.clone());
    }
    // Counted when it was received and inflated; the extractor's own limit is smaller and has no flag.
    DefaultBodyLimit::disable().apply(&mut request);
    Multipart::from_request(request, &()).await.map_err(|_| {
        Problem::usage(
            "the Content-Type of the form names no boundary; send `multipart/form-data; boundary=...`, as `curl -F` does by itself",
        )
    })
}

/// The name of a part, if it is one of those that are known. `before` are the parts before it.
fn known_name(
    name: Option<&str>,
    before: usize,
    known: &[&'static str],
) -> Result<&'static str, Problem> {
    let list = known.join(", ");
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Err(Problem::data(format!(
            "part {} of the form has no name that can be read; name each part, one of {list}",
            before + 1
        )));
    };
    known.iter().find(|one| **one == name).copied().ok_or_else(|| {
        let shown: String = name.chars().take(SHOWN_CHARACTERS).collect();
        Problem::data(format!("the form has a part {shown:?}; parts are {list}"))
    })
}

/// A media type without its parameters and in lower case.
pub(crate) fn plain_media_type(value: &str) -> String {
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn broken(error: &MultipartError) -> Problem {
    Problem::usage(format!(
        "the form cannot be read: {}; send it whole, as `curl -F` does",
        error.body_text()
    ))
}

impl Part {
    /// The part `name` as text.
    ///
    /// # Errors
    /// If it is not UTF-8.
    pub(crate) fn text(&self, name: &str) -> Result<&str, Problem> {
        std::str::from_utf8(&self.bytes).map_err(|error| {
            let at = error.valid_up_to();
            Problem::data(format!("the part `{name}` is text, and its byte {at} is not UTF-8"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 2] = ["alpha", "probs"];

    fn read(media_type: &str, content: &[u8]) -> Result<Parts, Problem> {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, media_type.parse().unwrap())]);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(parts_of(&headers, content.to_vec(), &KNOWN))
    }

    const FORM: &str = "multipart/form-data; boundary=xx";

    #[test]
    fn parts_are_read_with_their_names_and_types() {
        let content = b"--xx\r\nContent-Disposition: form-data; name=\"alpha\"\r\n\r\n0.1\r\n\
            --xx\r\nContent-Disposition: form-data; name=\"probs\"; filename=\"a.npy\"\r\nContent-Type: Text/CSV; charset=utf-8\r\n\r\n\
            \r\n--x\r\n--xx--\r\n";
        let parts = read(FORM, content).unwrap();
        assert_eq!(parts["alpha"].text("alpha").unwrap(), "0.1");
        let probs = &parts["probs"];
        assert_eq!(probs.file_name.as_deref(), Some("a.npy"));
        assert_eq!(probs.media_type.as_deref(), Some("text/csv"));
        assert_eq!(&probs.bytes[..], b"\r\n--x");
        assert_eq!(read(FORM, b"--xx--\r\n").unwrap(), Parts::new());
    }

    #[test]
    fn what_is_wrong_with_a_form_is_said() {
        let part =
            |head: &str| format!("--xx\r\nContent-Disposition: form-data{head}\r\n\r\n1\r\n");
        let whole = |parts: &[&str]| {
            let parts: String = parts.iter().map(|head| part(head)).collect();
            format!("{parts}--xx--\r\n")
        };
        for (media_type, content, status, said) in [
            ("multipart/form-data", whole(&[]), 400, "boundary"),
            (FORM, String::new(), 400, "cannot be read"),
            (FORM, "no boundary anywhere".into(), 400, "cannot be read"),
            (FORM, part("; name=\"alpha\""), 400, "cannot be read"),
            (FORM, "--xx\r\nContent-Disposition: form".into(), 400, "cannot be read"),
            (FORM, whole(&["; name=\"alpha\"", "; name=\"alpha\""]), 422, "`alpha` came twice"),
            (FORM, whole(&["; name=\"alpha\"", ""]), 422, "part 2 of the form has no name"),
            (FORM, whole(&["; name=\"\""]), 422, "part 1 of the form has no name"),
            (FORM, whole(&["; name=\"beta\""]), 422, "\"beta\"; parts are alpha, probs"),
            (FORM, whole(&[&format!("; name=\"{}\"", "b".repeat(9000))]), 422, "parts are alpha"),
        ] {
            let problem = read(media_type, content.as_bytes()).unwrap_err();
            assert_eq!(problem.status().as_u16(), status, "{content}: {}", problem.detail());
            assert!(problem.detail().contains(said), "{content}: {}", problem.detail());
            assert!(problem.detail().len() < 400, "{}", problem.detail());
        }
    }

    #[test]
    fn names_and_texts_that_are_not_utf_8_are_said() {
        let content =
            b"--xx\r\nContent-Disposition: form-data; name=\"a\xff\"\r\n\r\n1\r\n--xx--\r\n";
        let problem = read(FORM, content).unwrap_err();
        assert!(problem.detail().contains("no name that can be read"), "{}", problem.detail());
        let part = Part { bytes: Bytes::from_static(b"0.\xff"), ..Part::default() };
        let problem = part.text("alpha").unwrap_err();
        assert!(problem.detail().contains("byte 2 is not UTF-8"), "{}", problem.detail());
    }
}
