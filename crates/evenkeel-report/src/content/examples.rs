//! Single rows with their sets, before and after.

/// A row of the target data and its prediction sets.
#[derive(Debug, Clone, PartialEq)]
pub struct ExampleRow {
    /// Number of the row, as the reader counts in the file.
    pub row: u64,
    /// The class the model holds most likely, and its probability.
    pub top: Option<(String, f64)>,
    /// Names of the classes in the set in use, most likely first.
    pub before: Vec<String>,
    /// Names of the classes in the set with the repair, if there is one.
    pub after: Option<Vec<String>>,
    /// Name of the true class, if it is known.
    pub truth: Option<String>,
}
