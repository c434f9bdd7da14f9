//! `f64 -> text`: numbers for people and for SVG paths.

/// A space that neither breaks nor stretches, between digits and in front of `%`.
const NARROW: char = '\u{202f}';
/// A minus as wide as a plus.
const MINUS: char = '\u{2212}';
/// Shown where there is not a number.
pub(crate) const NOTHING: &str = "\u{2013}";

/// A coordinate in user units: two decimals, no trailing zeros, never `-0`.
pub(crate) fn coordinate(value: f64) -> String {
    let text = format!("{value:.2}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    // Equal drawings must have equal bytes: a tiny negative number would otherwise write `-0`.
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A number with fixed decimals, grouped thousands and a real minus; `∞` if infinite, a dash if not a number.
pub(crate) fn decimal(value: f64, decimals: usize) -> String {
    if value.is_nan() {
        return NOTHING.to_owned();
    }
    let sign = if value < 0.0 { MINUS.to_string() } else { String::new() };
    if value.is_infinite() {
        return format!("{sign}∞");
    }
    if value.abs() >= 1e15 {
        return scientific(value, decimals.min(3));
    }
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    // What rounds to zero has no sign: `-0.00` reads like a finding.
    let zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let sign = if zero { "" } else { &sign };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}", group(whole))
}

/// `1.5e-7`, with a real minus.
pub(crate) fn scientific(value: f64, decimals: usize) -> String {
    format!("{value:.decimals$e}").replace('-', &MINUS.to_string())
}

/// About this many significant digits, without an exponent unless the number is very small or large.
pub(crate) fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() || value.abs() < f64::MIN_POSITIVE {
        return decimal(value, 0);
    }
    let magnitude = value.abs().log10().floor();
    if !(-5.0..15.0).contains(&magnitude) {
        return scientific(value, digits.saturating_sub(1));
    }
    decimal(value, (digits as f64 - 1.0 - magnitude).max(0.0) as usize)
}

/// A whole number with grouped thousands.
pub(crate) fn grouped(value: impl ToString + Copy) -> String {
    group(&value.to_string())
}

/// A share as a percentage.
pub(crate) fn percent(share: f64, decimals: usize) -> String {
    // An infinite share is not a percentage of anything, and NaN is shown as a dash without a `%`.
    if share.is_finite() {
        format!("{}{NARROW}%", decimal(100.0 * share, decimals))
    } else {
        decimal(share, 0)
    }
}

/// A share that somebody chose, with as few decimals as say it: `90 %`, `97.5 %`.
pub(crate) fn percent_chosen(share: f64) -> String {
    let exact = |decimals: &i32| {
        let scaled = share * 10.0_f64.powi(decimals + 2);
        (scaled - scaled.round()).abs() < 1e-6
    };
    percent(share, (0..4).find(exact).unwrap_or(4) as usize)
}

/// A share in whole percent that says 0 or 100 only of exactly none and all: one miss in 2000 rows is `99.9 %`.
pub(crate) fn percent_about(share: f64) -> String {
    let rounded = (100.0 * share).round();
    let too_much = (share < 1.0 && rounded >= 100.0) || (share > 0.0 && rounded <= 0.0);
    if too_much { percent_tenths(share) } else { percent(share, 0) }
}

/// The same with one decimal.
pub(crate) fn percent_tenths(share: f64) -> String {
    let part = share > 0.0 && share < 1.0;
    percent(if part { share.clamp(0.001, 0.999) } else { share }, 1)
}

/// Two shares in whole percent: `46 to 61 %`.
pub(crate) fn percent_span([low, high]: [f64; 2]) -> String {
    let (low, high) = (percent_about(low), percent_about(high));
    let bare = low.trim_end_matches(['%', NARROW]);
    if low == high { high } else { format!("{bare} to {high}") }
}

/// `p = 0.028`; below what three digits can say, `p < 0.001`.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 {
        "p\u{a0}<\u{a0}0.001".to_owned()
    } else {
        format!("p\u{a0}=\u{a0}{}", decimal(p, 3))
    }
}

/// Thousands apart, from five digits on.
fn group(digits: &str) -> String {
    if digits.len() < 5 {
        return digits.to_owned();
    }
    let mut out = String::with_capacity(digits.len() * 2);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(NARROW);
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(coordinate(12.0), "12");
        assert_eq!(coordinate(-0.001), "0");
        assert_eq!(coordinate(100.0), "100");
        assert_eq!(decimal(-0.04, 1), "0.0");
        assert_eq!(decimal(f64::NEG_INFINITY, 2), "−∞");
        assert_eq!(decimal(1_234_567.25, 1), "1\u{202f}234\u{202f}567.2");
        assert_eq!(significant(0.012345, 3), "0.0123");
        assert_eq!(significant(300.0, 3), "300");
        assert_eq!(significant(-1.5e-9, 2), "−1.5e−9");
        assert_eq!(percent(0.893, 1), "89.3\u{202f}%");
        assert_eq!(grouped(10_000_u64), "10\u{202f}000");
    }

    #[test]
    fn shares_say_neither_too_much_nor_too_little() {
        assert_eq!(percent_about(0.5349), "53\u{202f}%");
        assert_eq!(percent_about(0.9996), "99.9\u{202f}%");
        assert_eq!(percent_tenths(0.99951), "99.9\u{202f}%");
        assert_eq!(percent_tenths(1.0), "100.0\u{202f}%");
        assert_eq!(percent_about(1.0), "100\u{202f}%");
        assert_eq!(percent_about(0.0002), "0.1\u{202f}%");
        assert_eq!(percent_span([0.46, 0.61]), "46 to 61\u{202f}%");
        assert_eq!(percent_span([1.0, 1.0]), "100\u{202f}%");
        for (share, said) in [(0.9, "90"), (0.975, "97.5"), (1.0 - 0.001, "99.9"), (0.95, "95")] {
            assert_eq!(percent_chosen(share), format!("{said}\u{202f}%"));
        }
    }

    #[test]
    fn a_p_value_is_never_zero() {
        let said = |p| p_value(p).replace('\u{a0}', " ");
        assert_eq!(said(0.0), "p < 0.001");
        assert_eq!(said(0.0009), "p < 0.001");
        assert_eq!(said(0.001), "p = 0.001");
        assert_eq!(said(0.0281), "p = 0.028");
    }
}
