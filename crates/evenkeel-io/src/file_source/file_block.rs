//! A block of rows of the files, with what stands beside them: on loan, or given away to a thread.

use evenkeel::rows::Rows;
use evenkeel::side_inputs::SideInputs;
use evenkeel_jobs::{
    AnyRows, Block, JobError, SecondTable, SeenRows, TakenBlock, ValueKind, beside_each_other,
};

use crate::reader::MatrixReader;

/// Rows of the files, and what is made of them.
#[derive(Debug)]
pub(super) struct FileBlock {
    kind: ValueKind,
    /// What the rows are called, in errors about second models.
    pub(super) name: String,
    pub(super) rows: crate::Block,
    pub(super) labels: Vec<usize>,
    /// Row after row, and the columns of one.
    pub(super) features: Option<(Vec<f64>, usize)>,
    pub(super) ratios: Option<Vec<f64>>,
    /// The output of each second model.
    pub(super) second: Vec<SecondRows>,
    softmax: Vec<f64>,
    /// What second models say, beside each other.
    beside: Vec<f64>,
}

/// Rows of a second model, of some file.
#[derive(Debug)]
pub(super) struct SecondRows {
    pub(super) file: String,
    pub(super) values: Vec<f64>,
    pub(super) columns: usize,
}

impl FileBlock {
    /// Memory for the rows of a reader.
    pub(super) fn new(kind: ValueKind, reader: &MatrixReader) -> Self {
        Self {
            kind,
            name: String::new(),
            rows: reader.empty_block(),
            labels: Vec::new(),
            features: None,
            ratios: None,
            second: Vec::new(),
            softmax: Vec::new(),
            beside: Vec::new(),
        }
    }
}

impl TakenBlock for FileBlock {
    fn block(&mut self) -> Result<Block<'_>, JobError> {
        let first_row = self.rows.first_row();
        let rows = self.rows.probabilities(self.kind, &mut self.softmax)?;
        let mut side = SideInputs::default();
        if let Some((values, columns)) = &self.features {
            side.features = Some(Rows::new("features", values, *columns)?);
        }
        side.ratios = self.ratios.as_deref();
        if !self.second.is_empty() {
            let tables = self.second.iter().map(|SecondRows { file, values, columns }| {
                let rows = AnyRows::f64(values, *columns)?;
                Ok(SecondTable { name: file, rows, first_row })
            });
            let tables: Vec<SecondTable<'_>> = tables.collect::<Result<_, JobError>>()?;
            let (count, classes) = (rows.rows(), rows.columns());
            let seen = SeenRows { name: &self.name, rows: count, classes };
            self.beside = beside_each_other(&tables, self.kind, seen)?;
            let what = "probabilities of second models";
            side.second = Some(Rows::new(what, &self.beside, classes * tables.len())?);
        }
        Ok(Block { first_row, rows, side, labels: &self.labels })
    }
}
