//! Addresses of webhooks without what may be secret in them: many receivers know a sender by the path.

/// `https://alerts.example` of `https://alerts.example/hooks/secret?key=secret`.
pub(crate) fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find(['/', '?', '#']).map_or(url.len(), |at| host + at);
    &url[..end]
}

/// A text in which every address ends with its host.
pub(crate) fn without_paths(text: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = ["http://", "https://"].iter().filter_map(|word| rest.find(word)).min() {
        let (before, from) = rest.split_at(at);
        let end = from.find(|letter: char| letter.is_whitespace() || "\"'<>".contains(letter));
        let (url, after) = from.split_at(end.unwrap_or(from.len()));
        // What ends a part of a sentence is no part of an address.
        let bare = url.trim_end_matches([':', ';', ',']);
        kept += before;
        kept += origin(bare);
        if origin(bare).len() < bare.len() {
            kept += "/...";
        }
        kept += &url[bare.len()..];
        rest = after;
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_queries_are_left_out() {
        for (url, expected) in [
            ("https://alerts.example/hooks/T0/s3cret", "https://alerts.example"),
            ("http://127.0.0.1:9?key=s3cret", "http://127.0.0.1:9"),
            ("https://a#s3cret", "https://a"),
            ("https://a", "https://a"),
            ("no address", "no address"),
        ] {
            assert_eq!(origin(url), expected);
        }
        let told = "https://a/s3cret?x=1: answered 500; http://b:9/s3cret: bad uri: 'http://b:9/s3cret', https://c: gone";
        assert_eq!(
            without_paths(told),
            "https://a/...: answered 500; http://b:9/...: bad uri: 'http://b:9/...', https://c: gone"
        );
        assert_eq!(without_paths("é timed out"), "é timed out");
    }
}
