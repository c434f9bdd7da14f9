//! Seconds since 1970-01-01 (UTC), as people write them.

use std::fmt;

use evenkeel::stream::Period;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{MonitorError, Result};

const A_DAY: i64 = 86_400;
/// Instants before the year 0 and after the year 9999 have no text of the usual length.
const FIRST: i64 = -62_167_219_200;
const LAST: i64 = 253_402_300_799;

/// A moment, to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(i64);

impl Instant {
    /// So many seconds after 1970-01-01 (UTC); at the ends of the years 0 to 9999 for anything beyond them.
    pub fn from_seconds(seconds: i64) -> Self {
        Self(seconds.clamp(FIRST, LAST))
    }

    /// What the clock of the machine says.
    pub fn now() -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self::from_seconds(since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(LAST)))
    }

    /// Seconds after 1970-01-01 (UTC).
    pub fn seconds(self) -> i64 {
        self.0
    }

    /// `2026-11-17`, `2026-11-17T02:00:00Z`, `2026-11-17 02:00`, with or without an offset such as `+01:00`.
    ///
    /// # Errors
    /// If it is none of these.
    pub fn parse(text: &str) -> Result<Self> {
        parsed(text.trim())
            .map(Self::from_seconds)
            .ok_or_else(|| MonitorError::BadTime { given: text.to_owned() })
    }

    /// Its day, `2026-11-17`.
    pub fn date(self) -> String {
        evenkeel_io::date_of_day(self.day())
    }

    fn day(self) -> i64 {
        self.0.div_euclid(A_DAY)
    }

    /// Its day and its week, which begins on Monday; both in UTC.
    pub fn period(self) -> Period {
        // 1970-01-01 was a Thursday.
        Period { day: self.day(), week: (self.day() + 3).div_euclid(7) }
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_day = self.0.rem_euclid(A_DAY);
        let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
        write!(f, "{}T{hour:02}:{minute:02}:{second:02}Z", self.date())
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

fn parsed(text: &str) -> Option<i64> {
    let (date, rest) = text.split_at_checked(10)?;
    let day = day_of(date)?;
    if rest.is_empty() {
        return Some(day * A_DAY);
    }
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let (clock, offset) = match rest.find(['Z', 'z', '+', '-']) {
        None => (rest, 0),
        Some(at) => (&rest[..at], offset_of(&rest[at..])?),
    };
    // Fractions of a second are left out: batches are not that close together.
    let clock = clock.split('.').next()?;
    let parts: Vec<i64> = clock.split(':').map(two_digits).collect::<Option<_>>()?;
    let (hour, minute, second) = match parts[..] {
        [hour, minute] => (hour, minute, 0),
        [hour, minute, second] => (hour, minute, second),
        _ => return None,
    };
    (hour < 24 && minute < 60 && second < 61)
        .then(|| day * A_DAY + hour * 3600 + minute * 60 + second - offset)
}

fn offset_of(text: &str) -> Option<i64> {
    if text.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let digits: String = text[1..].chars().filter(|letter| *letter != ':').collect();
    let (hours, minutes) = digits.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { 0 } else { two_digits(minutes)? };
    let hours = two_digits(hours)?;
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

fn two_digits(text: &str) -> Option<i64> {
    (text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| text.parse().ok())?
}

/// Number of a day `2026-11-17`, if there is such a day.
fn day_of(text: &str) -> Option<i64> {
    let mut parts = text.split('-');
    let (year, month, of_month) = (parts.next()?, parts.next()?, parts.next()?);
    let fits =
        parts.next().is_none() && year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit());
    let year: i64 = fits.then(|| year.parse().ok())??;
    let (month, of_month) = (two_digits(month)?, two_digits(of_month)?);
    if !(1..=12).contains(&month) {
        return None;
    }
    // Years from March, as in `date_of_day`.
    let shifted = year - i64::from(month <= 2);
    let era = shifted.div_euclid(400);
    let of_era = shifted.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + of_month - 1;
    let day = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    // February 30 would be a day of March.
    (evenkeel_io::date_of_day(day) == text).then_some(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_seconds_are_two_forms_of_one_moment() {
        for (text, seconds) in [
            ("1970-01-01", 0),
            ("2026-11-17T12:52:54Z", 1_794_919_974),
            ("2024-02-29T23:59:59Z", 1_709_251_199),
            ("1969-12-31T23:59:59Z", -1),
        ] {
            let instant = Instant::parse(text).unwrap();
            assert_eq!(instant.seconds(), seconds, "{text}");
            assert!(instant.to_string().starts_with(text));
            assert_eq!(Instant::parse(&instant.to_string()).unwrap(), instant);
        }
        let same = ["2026-11-17T12:52:54Z", "2026-11-17 13:52:54+01:00", "2026-11-17T12:52:54.9z"];
        assert!(same.iter().all(|text| Instant::parse(text).unwrap().seconds() == 1_794_919_974));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "today",
            "2026-13-01",
            "2026-02-30",
            "26-11-17",
            "2026-11-17T25:00",
            "2026-11-17T1:00",
            "2026-1é-17",
            "2026-11-17T12:00+24:00",
            "2026-11-17T12:00+01:60",
            "2026-11-17T12:00+",
        ] {
            assert!(Instant::parse(text).is_err(), "{text}");
        }
        assert_eq!(Instant::from_seconds(i64::MAX).date(), "9999-12-31");
    }

    #[test]
    fn weeks_begin_on_monday() {
        let week = |text: &str| Instant::parse(text).unwrap().period().week;
        // 2026-11-16 is a Monday.
        assert_eq!(week("2026-11-16"), week("2026-11-22T23:59:59Z"));
        assert_eq!(week("2026-11-15") + 1, week("2026-11-16"));
    }
}
