//! What was looked at: data sets by size and name.

/// A data set, as the head of the page names it: `1000 labeled calibration rows (calibration.npy)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataSet {
    /// Number of rows.
    pub rows: u64,
    /// What they are, in the plural: `labeled calibration rows`.
    pub what: String,
    /// File or other name, if it has one.
    pub name: Option<String>,
}

impl DataSet {
    /// A data set with its name.
    pub fn new(rows: u64, what: impl Into<String>, name: impl Into<String>) -> Self {
        Self { rows, what: what.into(), name: Some(name.into()) }
    }
}
