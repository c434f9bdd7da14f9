//! Command, inputs, options, version and seed: what is needed to repeat a run.

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// What it was read as: `calibration probabilities`.
    pub role: String,
    /// Path of the file, as it was given.
    pub path: String,
    /// Number of rows, then number of columns if it is a matrix.
    pub shape: Vec<usize>,
    /// Checksum with its kind in front, `sha256:...`, if one was taken.
    pub checksum: Option<String>,
}

/// Inputs, options, version and seed of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Provenance {
    /// The exact command line.
    pub command: Option<String>,
    /// Files read, in the order of the arguments.
    pub inputs: Vec<Input>,
    /// Options in effect, defaults included, as typed and as resolved.
    pub options: Vec<(String, String)>,
    /// Version of the program.
    pub version: Option<String>,
    /// Root of all randomness of the run.
    pub seed: Option<u64>,
}
