//! Columns of numbers that were taken for classes and may be none: `score` beside `logit_0`, `logit_1`, ...
//!
//! Probabilities of a row sum to one, which a stray column breaks. Logits sum to anything: nothing but its name and the labels
//! can tell a stray column from a class.

use std::collections::BTreeMap;

/// Fewest calibration points for each class before a class without any is worth a word.
const POINTS_A_CLASS: usize = 20;
/// Fewest columns that make a family.
const FAMILY: usize = 3;

/// What is doubtful about columns that all hold logits, in sentences; `labels` are those of the calibration points.
pub(crate) fn doubts(columns: &[String], labels: &[usize]) -> Vec<String> {
    let outside = outside_family(columns);
    if !outside.is_empty() {
        return outside
            .into_iter()
            .map(|(name, family)| {
                format!(
                    "column '{name}' was taken for a class, and its name is unlike those of the others; if it is none, say which columns are \
                     (--prob-cols '{family}*')"
                )
            })
            .collect();
    }
    if labels.len() < POINTS_A_CLASS * columns.len() {
        return Vec::new();
    }
    let mut named = vec![false; columns.len()];
    labels.iter().filter_map(|label| named.get_mut(*label).map(|named| *named = true)).count();
    let silent = columns.iter().zip(&named).filter(|(_, named)| !**named);
    silent
        .map(|(name, _)| {
            format!(
                "column '{name}' was taken for a class that none of the {} calibration labels names; if it is none, say which columns are \
                 (--prob-cols)",
                labels.len()
            )
        })
        .collect()
}

/// The same of columns of probabilities: a stray column breaks their sums, unless it is zero throughout, as a flag or a count may be.
pub(crate) fn doubts_of_zeros(columns: &[String], labels: &[usize], values: &[f64]) -> Vec<String> {
    let is_stray = |place: usize| {
        let mut column = values.iter().skip(place).step_by(columns.len());
        column.all(|value| *value == 0.0) && !labels.contains(&place)
    };
    let stray = columns.iter().enumerate().filter(|(place, _)| is_stray(*place));
    stray
        .map(|(_, name)| {
            format!(
                "column '{name}' was taken for a class, and it is 0 in every calibration row and named by no label; if it is none, say \
                 which columns are (--prob-cols)"
            )
        })
        .collect()
}

/// The columns whose names are unlike those of most, with what those of most begin with.
fn outside_family(columns: &[String]) -> Vec<(&String, &str)> {
    [numbered_stem as fn(&str) -> Option<&str>, first_word]
        .into_iter()
        .find_map(|stem| {
            let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
            for stem in columns.iter().filter_map(|name| stem(name)) {
                *sizes.entry(stem).or_default() += 1;
            }
            let (family, size) = sizes.into_iter().max_by_key(|(_, size)| *size)?;
            let others = columns.iter().filter(|name| stem(name) != Some(family));
            let found: Vec<(&String, &str)> = others.map(|name| (name, family)).collect();
            (size >= FAMILY && 2 * size > columns.len()).then_some(found)
        })
        .unwrap_or_default()
}

/// `logit_` of `logit_12`.
pub(crate) fn numbered_stem(name: &str) -> Option<&str> {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    (stem.len() < name.len() && !stem.is_empty()).then_some(stem)
}

/// `p_` of `p_cat`.
fn first_word(name: &str) -> Option<&str> {
    let end = name.find(['_', '.', '-', ' '])?;
    (end > 0 && end + 1 < name.len()).then(|| &name[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(columns: &[&str], labels: &[usize]) -> String {
        let columns: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
        doubts(&columns, labels).join("; ")
    }

    #[test]
    fn a_stray_column_is_named() {
        let logits: Vec<String> = (0..10).map(|class| format!("logit_{class}")).collect();
        let names: Vec<&str> = logits.iter().map(String::as_str).collect();
        assert_eq!(said(&names, &[]), "");
        let stray = [&["score"][..], &names[..]].concat();
        assert!(said(&stray, &[]).contains("'score'") && said(&stray, &[]).contains("'logit_*'"));
        let words = ["z_cat", "z_dog", "z_eel", "amount"];
        assert!(said(&words, &[]).starts_with("column 'amount'"));
        // Names without a family: only labels can tell.
        let plain = ["cat", "dog", "eel", "score"];
        let labels: Vec<usize> = (0..90).map(|row| row % 3).collect();
        assert_eq!(said(&plain, &[0, 1, 2]), "");
        assert!(
            said(&plain, &labels).contains("'score' was taken for a class that none of the 90")
        );
        assert_eq!(said(&plain[..3], &labels), "");
        assert_eq!(said(&["0", "1", "2"], &labels), "");
    }

    #[test]
    fn a_stray_column_of_zeros_is_named() {
        let columns = ["cat", "dog", "flag"].map(str::to_owned);
        let found = |values: &[f64], labels: &[usize]| doubts_of_zeros(&columns, labels, values);
        assert!(found(&[0.5, 0.5, 0.0, 1.0, 0.0, 0.0], &[0, 1])[0].starts_with("column 'flag'"));
        assert!(found(&[0.5, 0.5, 0.0, 0.9, 0.0, 0.1], &[0, 1]).is_empty());
        assert!(found(&[0.5, 0.5, 0.0, 1.0, 0.0, 0.0], &[0, 2]).is_empty());
    }
}
