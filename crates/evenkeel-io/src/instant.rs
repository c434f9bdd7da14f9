//! Days and instants as people write them: `2026-11-16`, `2026-11-16T15:36:28.5`.

const SECONDS_A_DAY: i64 = 86_400;

/// A day counted from 1970-01-01.
///
/// Years begin in March here, so that the leap day is the last of its year and months have fixed lengths before it.
pub fn date(day: i64) -> String {
    // In i128: a damaged file may hold any number.
    let shifted = i128::from(day) + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + 400 * era + i128::from(month <= 2);
    format!("{year:04}-{month:02}-{of_month:02}")
}

/// By which clock an instant is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// One that nobody names: that of a wall.
    Wall,
    /// UTC. A column that names a time zone holds such instants.
    Utc,
}

/// An instant in so many units a second, counted from the same day; with a `Z` where it is of UTC.
pub(crate) fn instant(value: i64, units: i64, clock: Clock) -> String {
    let (seconds, fraction) = (value.div_euclid(units), value.rem_euclid(units));
    let (day, of_day) = (seconds.div_euclid(SECONDS_A_DAY), seconds.rem_euclid(SECONDS_A_DAY));
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let digits = units.ilog10() as usize;
    let fraction = match fraction {
        0 => String::new(),
        fraction => format!(".{fraction:0digits$}").trim_end_matches('0').to_owned(),
    };
    let zone = if clock == Clock::Utc { "Z" } else { "" };
    format!("{}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}", date(day))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_instants_are_written_as_people_do() {
        for (day, text) in
            [(0, "1970-01-01"), (-1, "1969-12-31"), (11_016, "2000-02-29"), (47_541, "2100-03-01")]
        {
            assert_eq!(date(day), text);
        }
        let instant = |value, units| instant(value, units, Clock::Wall);
        assert_eq!(super::instant(0, 1_000, Clock::Utc), "1970-01-01T00:00:00Z");
        assert_eq!(instant(0, 1_000), "1970-01-01T00:00:00");
        assert_eq!(instant(-1, 1_000), "1969-12-31T23:59:59.999");
        assert_eq!(instant(1_794_843_388_500_000, 1_000_000), "2026-11-16T15:36:28.5");
        for wild in [i64::MIN, i64::MAX] {
            assert!(!date(wild).is_empty() && !instant(wild, 1_000_000_000).is_empty());
        }
    }
}
