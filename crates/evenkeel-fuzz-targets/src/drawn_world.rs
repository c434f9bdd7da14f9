//! A small world drawn from bytes: tables of probabilities with ties, ones, tiny numbers and, now and then, nonsense.

use arbitrary::{Result, Unstructured};

/// Rows of one table at most. Every form of tie and every rank occurs in fewer.
const MOST_ROWS: usize = 16;
/// Classes at most.
const MOST_CLASSES: usize = 5;
/// Columns of the features.
pub(crate) const FEATURES: usize = 2;

/// Numbers that no probability should be, and some that it may be.
const ODD: [f64; 12] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    -0.0,
    0.0,
    1.0,
    -1.0,
    f64::MIN_POSITIVE,
    5e-324,
    1.0 - 1e-16,
    f64::MAX,
    0.1,
];

/// Points of one data set; labels are there for all of them.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) probabilities: Vec<f64>,
    pub(crate) labels: Vec<usize>,
    pub(crate) features: Vec<f64>,
    /// Zero or positive: ratios, and weights too.
    pub(crate) ratios: Vec<f64>,
}

/// Whether numbers are such as a classifier gives, or anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manners {
    Probabilities,
    Anything,
}

/// Both data sets.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) classes: usize,
    pub(crate) calibration: Table,
    pub(crate) target: Table,
}

impl World {
    pub(crate) fn drawn(bytes: &mut Unstructured<'_>) -> Result<Self> {
        let classes = bytes.int_in_range(1..=MOST_CLASSES)?;
        // One in sixteen: nonsense is refused at once, and nothing behind it would be reached.
        let manners = match bytes.arbitrary::<u8>()? {
            0xf0..=0xff => Manners::Anything,
            _ => Manners::Probabilities,
        };
        let calibration = Table::drawn(bytes, classes, manners)?;
        let target = Table::drawn(bytes, classes, manners)?;
        Ok(Self { classes, calibration, target })
    }
}

impl Table {
    fn drawn(bytes: &mut Unstructured<'_>, classes: usize, manners: Manners) -> Result<Self> {
        let rows = bytes.int_in_range(0..=MOST_ROWS)?;
        let mut table = Self {
            probabilities: Vec::new(),
            labels: Vec::new(),
            features: Vec::new(),
            ratios: Vec::new(),
        };
        let mut row = vec![1.0 / classes as f64; classes];
        for _ in 0..rows {
            row = drawn_row(bytes, row, manners)?;
            table.probabilities.extend(&row);
            let label = usize::from(bytes.arbitrary::<u8>()?);
            table.labels.push(if manners == Manners::Anything { label } else { label % classes });
            for _ in 0..FEATURES {
                let number = f64::from(bytes.arbitrary::<i8>()?) / 16.0;
                table.features.push(odd_or(bytes, manners, number)?);
            }
            let number = f64::from(bytes.arbitrary::<u8>()?) / 64.0;
            table.ratios.push(odd_or(bytes, manners, number)?);
        }
        Ok(table)
    }
}

fn odd_or(bytes: &mut Unstructured<'_>, manners: Manners, number: f64) -> Result<f64> {
    match manners {
        Manners::Probabilities => Ok(number),
        Manners::Anything if bytes.ratio(1_u8, 8_u8)? => Ok(*bytes.choose(&ODD)?),
        Manners::Anything => Ok(number),
    }
}

/// The next row; `before` is repeated for ties.
fn drawn_row(bytes: &mut Unstructured<'_>, before: Vec<f64>, manners: Manners) -> Result<Vec<f64>> {
    let classes = before.len();
    let numbers = |bytes: &mut Unstructured<'_>, of: fn(u8) -> f64| -> Result<Vec<f64>> {
        (0..classes).map(|_| Ok(of(bytes.arbitrary()?))).collect()
    };
    Ok(match bytes.arbitrary::<u8>()? % 8 {
        0 | 1 => normalised(numbers(bytes, f64::from)?),
        2 => before,
        3 => {
            let sure = usize::from(bytes.arbitrary::<u8>()?) % classes;
            (0..classes).map(|class| f64::from(u8::from(class == sure))).collect()
        }
        4 => vec![1.0 / classes as f64; classes],
        // From 1 down to below the smallest normal number.
        5 => normalised(numbers(bytes, |exponent| (-5.0 * f64::from(exponent)).exp())?),
        // A few levels, as trees and nearest neighbours give them.
        6 => normalised(numbers(bytes, |level| f64::from(level % 4))?),
        _ if manners == Manners::Anything => {
            (0..classes).map(|_| bytes.choose(&ODD).copied()).collect::<Result<_>>()?
        }
        _ => normalised((0..classes).map(|rank| 1.0 + rank as f64).collect()),
    })
}

fn normalised(mut row: Vec<f64>) -> Vec<f64> {
    let total: f64 = row.iter().sum();
    let uniform = 1.0 / row.len() as f64;
    row.iter_mut().for_each(|value| *value = if total > 0.0 { *value / total } else { uniform });
    row
}
