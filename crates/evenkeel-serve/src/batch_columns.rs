//! Which columns of a table hold what: those of the calibration in use, by their names.

use evenkeel_io::{LabelNames, TableReading};
use evenkeel_monitor::{ModelName, Monitor, MonitorError};

/// Which columns of a table hold what.
#[derive(Debug, Clone, Default)]
pub(crate) struct BatchColumns {
    /// Columns of the classes, in their order; none where the calibration does not name them.
    classes: Option<Vec<String>>,
    /// The column of the ids of rows; none where rows have none.
    pub ids: Option<String>,
}

impl BatchColumns {
    /// The columns that batches of a model have.
    pub(crate) fn of(
        monitor: &Monitor,
        model: &ModelName,
        ids: Option<String>,
    ) -> Result<Self, MonitorError> {
        let reference = monitor.reference(&monitor.model(model)?)?;
        let named = reference.calibration().class_names();
        Ok(Self { classes: named.and_then(|names| names.columns.clone()), ids })
    }

    /// How a table is read. Columns in another order are put in order, and a class that is missing or one too many is an error: the
    /// numbers alone would not tell.
    pub(crate) fn reading(&self) -> TableReading {
        TableReading {
            patterns: None,
            columns: self.classes.clone(),
            beside: self.ids.iter().cloned().collect(),
            names: LabelNames::None,
        }
    }
}
