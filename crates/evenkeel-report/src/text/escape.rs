//! `& < > " ' -> entities`: text that means nothing to a parser.

/// Escapes text for element content and quoted attributes of HTML and XML alike.
///
/// Characters that XML 1.0 cannot hold in any form (control characters, non-characters) become U+FFFD: one of them in
/// a path would make a downloaded figure unreadable. Directional overrides become visible too, lest a path read
/// backwards.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Numbered, not named: `&apos;` is unknown to HTML 4, and the text may end up in an XML
            // file.
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' => out.push(character),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ if character.is_control() => out.push('\u{fffd}'),
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn markup_and_quotes_are_spelled_out() {
        assert_eq!(escape("<a b='c'>\"&"), "&lt;a b=&#39;c&#39;&gt;&quot;&amp;");
    }

    #[test]
    fn other_scripts_stay_and_control_characters_do_not() {
        assert_eq!(escape("Ärmel 袖 🧥"), "Ärmel 袖 🧥");
        assert_eq!(
            escape("a\u{0}b\u{7f}c\u{85}d\u{ffff}e\r\u{202e}f"),
            "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e\u{fffd}\u{fffd}f"
        );
    }
}
