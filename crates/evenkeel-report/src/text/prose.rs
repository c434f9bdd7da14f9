//! `sentence -> HTML`: sentences with code in them, whose percent signs stay with their numbers.

use super::escape;

/// A narrow space that does not break: a line must not start with a percent sign.
const PERCENT: &str = "\u{202f}%";

/// A sentence as HTML: what stands between backticks becomes code, and no backtick is left.
pub(crate) fn prose(text: &str) -> String {
    pieces(text)
        .map(|(code, piece)| {
            let piece = escape(&piece);
            if code { format!("<code>{piece}</code>") } else { piece }
        })
        .collect()
}

/// The same as plain text, for drawings.
pub(crate) fn plain(text: &str) -> String {
    pieces(text).map(|(_, piece)| piece).collect()
}

/// Pieces of a sentence, and whether they are code.
fn pieces(text: &str) -> impl Iterator<Item = (bool, String)> {
    let ticks = text.matches('`').count();
    text.split('`').enumerate().map(move |(index, piece)| {
        // The last of an odd number of backticks opens nothing.
        let code = index % 2 == 1 && index < ticks;
        (code, if code { piece.to_owned() } else { piece.replace(" %", PERCENT) })
    })
}

/// Warnings of the core start small and end without a full stop, fit for any place; here they are sentences.
pub(crate) fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first: String =
        characters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    let stop = if text.is_empty() || text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{stop}", characters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_become_code_and_none_is_left() {
        assert_eq!(prose("use `auto` at 90 %"), "use <code>auto</code> at 90\u{202f}%");
        assert_eq!(prose("`<b>`"), "<code>&lt;b&gt;</code>");
        for odd in ["a ` b", "`", "`a` ` b", "```"] {
            assert!(!prose(odd).contains('`') && !plain(odd).contains('`'), "{odd}");
        }
        assert_eq!(prose("a ` b"), "a  b");
        assert_eq!(plain("use `auto`"), "use auto");
    }

    #[test]
    fn warnings_become_sentences() {
        assert_eq!(sentence("few points"), "Few points.");
        assert_eq!(sentence("Done!"), "Done!");
        assert_eq!(sentence(""), "");
    }
}
