//! The check of a batch, made again of the rows that were kept: the same result, with all that a page shows.

use std::sync::Arc;

use evenkeel_jobs::Checked;

use crate::batch::BatchRecord;
use crate::error::Result;
use crate::kept_rows::KeptRows;
use crate::model::ModelName;
use crate::monitor::Monitor;
use crate::reference::Reference;

impl Monitor {
    /// Checks a batch against the calibration that it was checked against before; none if its rows were not kept.
    ///
    /// # Errors
    /// If there is no such batch.
    pub fn look_again(
        &self,
        name: &ModelName,
        number: u64,
    ) -> Result<Option<(BatchRecord, Checked, Arc<Reference>)>> {
        let mut model = self.model(name)?;
        let (record, _) = self.batch(name, number)?;
        let Some(bytes) = self.store().kept(name, number)?.rows else { return Ok(None) };
        let rows = KeptRows::from_bytes(&bytes)?;
        model.version = record.version;
        let reference = self.reference(&model)?;
        let checked = reference.check(&mut rows.source("the batch")?)?;
        Ok(Some((record, checked, reference)))
    }
}
