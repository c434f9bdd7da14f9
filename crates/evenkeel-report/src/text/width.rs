//! `text -> width in user units`: how wide text will be, without asking a font.
//!
//! The page uses whatever sans-serif font the reader has. Estimates lean to the wide side (DejaVu, Verdana), so that
//! labels laid out by them do not touch in any other.

/// Width of a text at a font size of 1.
fn em(character: char) -> f64 {
    match character {
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' => 0.0,
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | '\u{202f}' => 0.34,
        ' ' | 'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' => 0.4,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '∞' | '…' => 1.0,
        'A'..='Z' => 0.75,
        '\u{20}'..='\u{24f}' => 0.64,
        '\u{2000}'..='\u{22ff}' => 0.85,
        '\u{370}'..='\u{5ff}' => 0.7,
        _ => 1.1,
    }
}

/// Width of a text at a font size.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    size * text.chars().map(em).sum::<f64>()
}

/// The text, cut with an ellipsis if it is wider than `room`.
pub(crate) fn shorten(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut used = size * em('…');
    let mut out = String::new();
    for character in text.chars() {
        used += size * em(character);
        if used > room {
            break;
        }
        out.push(character);
    }
    // No blank in front of the ellipsis.
    out.truncate(out.trim_end().len());
    out.push('…');
    out
}
