//! What stands at the head and the foot of a page: names, date, inputs, options, command.

use std::time::{SystemTime, UNIX_EPOCH};

use evenkeel_report::{Input, Provenance};

use crate::files::shape_of;

/// Names of options as words of a page.
pub(crate) fn in_words(options: &[(&'static str, String)]) -> Vec<(String, String)> {
    options.iter().map(|(name, value)| (name.replace('-', " "), value.clone())).collect()
}

/// What a colleague needs to repeat the run.
pub(crate) fn provenance(
    inputs: &[(&str, &String)],
    options: Vec<(String, String)>,
    seed: u64,
) -> Provenance {
    let input = |(role, path): &(&str, &String)| Input {
        role: (*role).to_owned(),
        path: (*path).clone(),
        shape: shape_of(path),
        checksum: None,
    };
    Provenance {
        command: Some(command_line()),
        inputs: inputs.iter().map(input).collect(),
        options,
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        seed: Some(seed),
    }
}

/// What was typed, as a shell takes it again; bytes that are no text are shown as such.
fn command_line() -> String {
    let words = std::env::args_os().map(|word| quoted(&word.to_string_lossy()));
    words.collect::<Vec<String>>().join(" ")
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:,=@%+~".contains(letter);
    // A shell takes ~ at the beginning for a folder of its own.
    if !word.is_empty() && !word.starts_with('~') && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The day of the run (UTC), or of `SOURCE_DATE_EPOCH` where pages must come out the same on any day.
pub(crate) fn date() -> Option<String> {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs());
    given.or_else(now).map(|seconds| civil_date(seconds / 86_400))
}

/// `year-month-day` of a day counted from 1970-01-01.
///
/// Years begin in March here, so that the leap day is the last of its year and months have fixed lengths before it.
fn civil_date(day: u64) -> String {
    let shifted = day + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + 400 * era + u64::from(month <= 2);
    format!("{year}-{month:02}-{of_month:02}")
}

#[cfg(test)]
mod tests {
    use super::civil_date;

    #[test]
    fn days_have_their_dates() {
        for (day, date) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (19_782, "2024-02-29"),
            (20_773, "2026-11-16"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(civil_date(day), date);
        }
    }
}
