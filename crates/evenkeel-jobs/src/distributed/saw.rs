//! Which rows a pass saw, whatever it looked for: passes that saw others cannot be put together.

use evenkeel::error::Error;
use evenkeel::rows::{Real, RowKeys, Rows};
use evenkeel::side_inputs::SideInputs;
use evenkeel::wire::RowMarks;
use serde::{Deserialize, Serialize};

use super::readers::TOO_MANY;

/// Rows by their number, keys and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Saw {
    rows: u64,
    keys: RowMarks,
    /// Of keys and probabilities; none where only keys were read, or nothing.
    values: Option<RowMarks>,
    /// Of keys and what second models say; none where they were not given.
    second: Option<RowMarks>,
}

impl Saw {
    /// Rows that were read.
    pub(super) fn of_rows<T: Real>(
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        beside: &SideInputs<'_>,
    ) -> evenkeel::Result<Self> {
        let values = Some(RowMarks::of_rows(keys, block)?);
        let second = beside.second.map(|second| RowMarks::of_rows(keys, second)).transpose()?;
        Ok(Self { values, second, ..Self::of_keys(keys, block.rows())? })
    }

    /// Rows of which only the keys are known.
    pub(super) fn of_keys(keys: RowKeys<'_>, rows: usize) -> evenkeel::Result<Self> {
        let keys = RowMarks::of_keys(keys, rows)?;
        Ok(Self { rows: rows as u64, keys, values: None, second: None })
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// These rows and others of the same pass.
    pub(super) fn and(self, other: Self) -> evenkeel::Result<Self> {
        let both = |mine: Option<RowMarks>, theirs: Option<RowMarks>| match (mine, theirs) {
            (Some(mine), Some(theirs)) => Some(mine.and(theirs)),
            (mine, theirs) => mine.or(theirs),
        };
        Ok(Self {
            rows: self.rows.checked_add(other.rows).ok_or(TOO_MANY)?,
            keys: self.keys.and(other.keys),
            values: both(self.values, other.values),
            second: both(self.second, other.second),
        })
    }

    /// What is known of the rows after a pass that must have seen the same ones.
    pub(super) fn with_same(self, later: Self) -> evenkeel::Result<Self> {
        let same = |before: Option<RowMarks>, now: Option<RowMarks>| match (before, now) {
            (Some(before), Some(now)) => before == now,
            // A pass that does not look at something is not asked for it.
            _ => true,
        };
        let all = (self.rows, self.keys) == (later.rows, later.keys)
            && same(self.values, later.values)
            && same(self.second, later.second);
        match all {
            true => Ok(Self {
                values: self.values.or(later.values),
                second: self.second.or(later.second),
                ..self
            }),
            false => Err(Error::OtherRows { before: self.rows, now: later.rows }),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn saw(keys: &[u64], values: &[f64], second: Option<&[f64]>) -> Saw {
        let beside = SideInputs {
            second: second.map(|values| Rows::new("second", values, 2).unwrap()),
            ..SideInputs::default()
        };
        Saw::of_rows(RowKeys::Each(keys), Rows::new("rows", values, 2).unwrap(), &beside).unwrap()
    }

    #[test]
    fn passes_that_saw_other_rows_do_not_follow_each_other() {
        let (keys, values) = ([4, 9], [0.5, 0.5, 0.25, 0.75]);
        let whole = saw(&keys, &values, None);
        let halves = saw(&keys[1..], &values[2..], None).and(saw(&keys[..1], &values[..2], None));
        assert_eq!(whole.with_same(halves.unwrap()).unwrap(), whole);
        let others = [
            saw(&[4, 8], &values, None),
            saw(&[9, 4], &values, None),
            saw(&keys, &[0.5, 0.5, 0.75, 0.25], None),
            saw(&keys[..1], &values[..2], None),
            Saw::default(),
        ];
        for other in others {
            let found = whole.with_same(other);
            assert!(matches!(found, Err(Error::OtherRows { before: 2, .. })), "{other:?}");
        }
        let with_second = whole.with_same(saw(&keys, &values, Some(&values))).unwrap();
        assert!(with_second.with_same(whole).is_ok(), "not asked for");
        assert!(with_second.with_same(saw(&keys, &values, Some(&[0.5; 4]))).is_err());
    }

    #[test]
    fn a_pass_over_keys_is_compared_by_them_and_leaves_the_values_to_the_next() {
        let (keys, values) = ([4, 9], [0.5, 0.5, 0.25, 0.75]);
        let counted = Saw::of_keys(RowKeys::Each(&keys), 2).unwrap();
        let known = counted.with_same(saw(&keys, &values, None)).unwrap();
        assert!(known.with_same(saw(&keys, &[0.5, 0.5, 0.5, 0.5], None)).is_err());
        assert!(counted.with_same(saw(&[4, 8], &values, None)).is_err());
        assert!(Saw::of_keys(RowKeys::Each(&keys), 3).is_err(), "a row without a key");
    }
}
