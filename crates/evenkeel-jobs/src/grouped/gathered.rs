//! Rows of one group, copied so that they stand together.

use evenkeel::rows::Rows;
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
}

impl Side {
    fn of(side: &SideInputs<'_>, these: &[usize]) -> Self {
        let some = |values: &[f64]| these.iter().map(|row| values[*row]).collect();
        Self {
            features: side.features.map(|features| {
                let values = these.iter().flat_map(|row| features.row(*row).iter().copied());
                (values.collect(), features.columns())
            }),
            ratios: side.ratios.map(some),
            weights: side.weights.map(some),
        }
    }

    fn inputs(&self) -> Result<SideInputs<'_>> {
        let features = match &self.features {
            None => None,
            Some((values, columns)) => Some(Rows::new("features", values, *columns)?),
        };
        let (ratios, weights) = (self.ratios.as_deref(), self.weights.as_deref());
        Ok(SideInputs { features, ratios, weights, ..SideInputs::default() })
    }
}

/// Calibration rows of one group.
#[derive(Debug)]
pub(super) struct GatheredData {
    name: String,
    values: Values,
    classes: usize,
    labels: Vec<usize>,
    side: Side,
}

impl GatheredData {
    /// These rows of the calibration data; there is at least one.
    pub(super) fn of(labeled: &LabeledData<'_>, these: &[usize]) -> Self {
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
    pub(super) fn rows(&self) -> Result<AnyRows<'_>> {
        self.values.rows(self.classes)
    }

    /// What stands beside them.
    pub(super) fn side(&self) -> Result<SideInputs<'_>> {
        self.side.inputs()
    }

    /// As calibration data of their own.
    pub(super) fn data(&self) -> Result<LabeledData<'_>> {
        let data = LabeledData::of_rows(&self.name, self.rows()?, &self.name, self.labels.clone())?;
        let names = SideNames { features: &self.name, ratios: &self.name, weights: &self.name };
        data.with_side_inputs(names, self.side()?)
    }
}

/// Rows of a block that belong to one group, with their keys.
#[derive(Debug)]
pub(super) struct GatheredRows {
    pub keys: Vec<u64>,
    values: Values,
    columns: usize,
    side: Side,
}

impl GatheredRows {
    pub(super) fn of(block: &Block<'_>, these: &[usize]) -> Self {
        Self {
            keys: these.iter().map(|row| (block.first_row + row) as u64).collect(),
            values: Values::of(&block.rows, these),
            columns: block.rows.columns(),
            side: Side::of(&block.side, these),
        }
    }

    pub(super) fn rows(&self) -> Result<AnyRows<'_>> {
        self.values.rows(self.columns)
    }

    pub(super) fn side(&self) -> Result<SideInputs<'_>> {
        self.side.inputs()
    }
}
