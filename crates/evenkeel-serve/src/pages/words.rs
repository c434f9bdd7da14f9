//! Numbers and times as people read them.

use evenkeel_monitor::{Instant, Light};

/// `84 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// `84 % (78-89)`.
pub(super) fn percent_range(value: f64, low: f64, high: f64) -> String {
    format!("{} ({:.0}-{:.0})", percent(value), 100.0 * low, 100.0 * high)
}

/// `2026-11-17 03:00`, to the minute.
pub(super) fn minute(at: Instant) -> String {
    let text = at.to_string();
    text.get(..16).unwrap_or(&text).replace('T', " ")
}

/// `0.0321`, or that it is smaller than can be told.
pub(super) fn p_value(p: f64) -> String {
    if p < 0.0015 { "< 0.001".into() } else { format!("{p:.3}") }
}

/// The class that colours a light, and the sign in it: colour alone tells not everybody.
pub(super) fn tone(light: Light) -> (&'static str, &'static str, &'static str) {
    match light {
        Light::Green => ("ok", "\u{2713}", "coverage holds"),
        Light::Amber => ("watch", "!", "look at it"),
        Light::Red => ("loss", "\u{2715}", "coverage is lost"),
    }
}
