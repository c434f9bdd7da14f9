//! Rows of one group, copied so that they stand together.

use evenkeel::rows::{RowKeys, Rows};
use evenkeel::side_inputs::SideInputs;

use crate::any_rows::AnyRows;
use crate::error::Result;
use crate::labeled::{LabeledData, SideNames};
use crate::source::Block;

/// Numbers in the precision they came in.
#[derive(Debug)]
enum Values {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl Values {
    fn of(rows: &AnyRows<'_>, these: &[usize]) -> Self {
        match rows {
            AnyRows::F32(rows) => {
                Self::F32(these.iter().flat_map(|row| rows.row(*row).iter().copied()).collect())
            }
            AnyRows::F64(rows) => {
                Self::F64(these.iter().flat_map(|row| rows.row(*row).iter().copied()).collect())
            }
        }
    }

    fn rows(&self, columns: usize) -> Result<AnyRows<'_>> {
        Ok(match self {
            Self::F32(values) => AnyRows::f32(values, columns)?,
            Self::F64(values) => AnyRows::f64(values, columns)?,
        })
    }
}

/// Features, ratios and weights of some rows.
#[derive(Debug)]
struct Side {
    features: Option<(Vec<f64>, usize)>,
    ratios: Option<Vec<f64>>,
    weights: Option<Vec<f64>>,
    second: Option<(Vec<f64>, usize)>,
}

impl Side {
    fn of(side: &SideInputs<'_>, these: &[usize]) -> Self {
        let some = |values: &[f64]| these.iter().map(|row| values[*row]).collect();
        let table = |table: Rows<'_, f64>| {
            let values = these.iter().flat_map(|row| table.row(*row).iter().copied());
            (values.collect(), table.columns())
        };
        Self {
            features: side.features.map(table),
            second: side.second.map(table),
            ratios: side.ratios.map(some),
            weights: side.weights.map(some),
        }
    }

    fn inputs(&self) -> Result<SideInputs<'_>> {
        let (ratios, weights) = (self.ratios.as_deref(), self.weights.as_deref());
        let features = table("features", self.features.as_ref())?;
        let second = table("probabilities of second models", self.second.as_ref())?;
        Ok(SideInputs { features, ratios, weights, second, labels: None })
    }
}

/// A kept table as rows again.
fn table<'a>(
    what: &'static str,
    kept: Option<&'a (Vec<f64>, usize)>,
) -> evenkeel::Result<Option<Rows<'a, f64>>> {
    kept.map(|(values, columns)| Rows::new(what, values, *columns)).transpose()
}

/// Calibration rows of one group.
#[derive(Debug)]
pub(crate) struct GatheredData {
    name: String,
    values: Values,
    classes: usize,
    labels: Vec<usize>,
    side: Side,
}

impl GatheredData {
    /// These rows of the calibration data; there is at least one.
    pub(crate) fn of(labeled: &LabeledData<'_>, these: &[usize]) -> Self {
        let labels = labeled.labels().as_slice();
        Self {
            name: labeled.name().to_owned(),
            values: Values::of(&labeled.rows_as_given(), these),
            classes: labeled.classes(),
            labels: these.iter().map(|row| labels[*row]).collect(),
            side: Side::of(&labeled.side_inputs(), these),
        }
    }

    /// The rows as they were given.
    pub(crate) fn rows(&self) -> Result<AnyRows<'_>> {
        self.values.rows(self.classes)
    }

    /// What stands beside them.
    pub(crate) fn side(&self) -> Result<SideInputs<'_>> {
        self.side.inputs()
    }

    /// As calibration data of their own.
    pub(crate) fn data(&self) -> Result<LabeledData<'_>> {
        let data = LabeledData::of_rows(&self.name, self.rows()?, &self.name, self.labels.clone())?;
        let names = SideNames { features: &self.name, ratios: &self.name, weights: &self.name };
        data.with_side_inputs(names, self.side()?)
    }
}

/// The key of a row; none where there are not as many keys as rows, which whoever takes the rows finds out.
pub(crate) fn key_of(keys: RowKeys<'_>, row: usize) -> Option<u64> {
    match keys {
        RowKeys::From(first) => Some(first.wrapping_add(row as u64)),
        RowKeys::Each(keys) => keys.get(row).copied(),
    }
}

/// Rows of a block that belong to one group, with their keys.
#[derive(Debug)]
pub(crate) struct GatheredRows {
    pub keys: Vec<u64>,
    values: Values,
    columns: usize,
    side: Side,
}

impl GatheredRows {
    /// These rows of a block of a file or an array.
    pub(crate) fn of_block(block: &Block<'_>, these: &[usize]) -> Self {
        Self::of(RowKeys::From(block.first_row as u64), (&block.rows, &block.side), these)
    }

    /// These of some rows with their keys.
    pub(crate) fn of(
        keys: RowKeys<'_>,
        (rows, side): (&AnyRows<'_>, &SideInputs<'_>),
        these: &[usize],
    ) -> Self {
        Self {
            keys: these.iter().filter_map(|row| key_of(keys, *row)).collect(),
            values: Values::of(rows, these),
            columns: rows.columns(),
            side: Side::of(side, these),
        }
    }

    pub(crate) fn rows(&self) -> Result<AnyRows<'_>> {
        self.values.rows(self.columns)
    }

    pub(crate) fn side(&self) -> Result<SideInputs<'_>> {
        self.side.inputs()
    }
}
