//! Numbers as they are typed: what an option takes is said in words, and sizes that no machine holds are refused before any work.

use std::ops::RangeInclusive;

/// Repetitions, points, epochs and grid points of an experiment at most: what is more takes years or more memory than there is.
pub(crate) const MOST: u64 = 10_000_000;

/// Reads a whole number of a range.
pub(crate) fn whole<T: TryFrom<u64> + 'static>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let found = text.parse::<u64>().ok().filter(|found| range.contains(found));
        found.and_then(|found| T::try_from(found).ok()).ok_or_else(|| match range.end() {
            &u64::MAX => format!("it must be a whole number, at least {}", range.start()),
            most => format!("it must be a whole number from {} to {most}", range.start()),
        })
    }
}

/// Reads a number; whether it is in its range is asked where the range is known.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "it must be a number, such as 0.1".to_owned())
}

/// The same where several are sometimes meant: a list is told that one is all that is taken.
pub(crate) fn one_number(text: &str) -> Result<f64, String> {
    match text.contains(',') {
        true => Err("this command takes one number, such as 0.1".to_owned()),
        false => number(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_the_range() {
        let any = whole::<u64>(0..=u64::MAX);
        assert_eq!(any("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(any("-1").err().as_deref(), Some("it must be a whole number, at least 0"));
        let some = whole::<usize>(1..=MOST);
        for text in ["", "0", "1.5", "ten", "10000001", "18446744073709551616"] {
            let words = "it must be a whole number from 1 to 10000000";
            assert_eq!(some(text).err().as_deref(), Some(words));
        }
        assert_eq!(whole::<u32>(0..=u64::MAX)("4294967296").ok(), None);
        assert!(number("x").is_err() && number("1e400").is_ok());
        assert_eq!(one_number("0.2"), Ok(0.2));
        assert!(one_number("0.1,0.2").is_err_and(|words| words.contains("takes one number")));
    }
}
