//! The one error type of the experiments: what was found, where, and what to do.

use std::path::{Path, PathBuf};

use crate::fashion_mnist::DEFAULT_DIRECTORY;

/// Result of every fallible operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong between the files and the numbers.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of the data set is not where it was looked for.
    #[error(
        "{} was not found, with or without .gz; `apt-get install dataset-fashion-mnist` puts the data set in \
         {DEFAULT_DIRECTORY}, or name the folder that holds it", path.display()
    )]
    MissingDataSet {
        /// The path without `.gz`.
        path: PathBuf,
    },
    /// A file that starts like no IDX file of the expected kind.
    #[error(
        "{} starts with {found:#010x} where an IDX file of {kind} starts with {expected:#010x}; \
         reinstall the package dataset-fashion-mnist", path.display()
    )]
    NotIdx {
        /// The file.
        path: PathBuf,
        /// What the file should hold.
        kind: &'static str,
        /// Its first four bytes.
        found: u32,
        /// The four bytes of such a file.
        expected: u32,
    },
    /// An IDX file that is shorter or longer than its header says.
    #[error(
        "{} holds {found} bytes where its header asks for {expected}; reinstall the package dataset-fashion-mnist",
        path.display()
    )]
    WrongLength {
        /// The file.
        path: PathBuf,
        /// Bytes found; at most one more than expected are counted.
        found: usize,
        /// Bytes the header asks for.
        expected: usize,
    },
    /// Images of another size.
    #[error("{} holds images of {rows} x {columns} pixels; expected 28 x 28", path.display())]
    WrongImageSize {
        /// The file.
        path: PathBuf,
        /// Rows of an image.
        rows: usize,
        /// Columns of an image.
        columns: usize,
    },
    /// As many labels as images are needed.
    #[error("{images} images came with {labels} labels; the two files must be of the same split")]
    CountMismatch {
        /// Number of images.
        images: usize,
        /// Number of labels.
        labels: usize,
    },
    /// An image id beyond the data set.
    #[error("image {id} was asked for, but the data set ends at image {}", count - 1)]
    NoSuchImage {
        /// The id asked for.
        id: usize,
        /// Number of images.
        count: usize,
    },
    /// Fewer images than the demo's roles need.
    #[error("the demo needs {needed} images, found {found}; give the whole test split")]
    TooFewImages {
        /// Images needed.
        needed: usize,
        /// Images found.
        found: usize,
    },
    /// A severity that is no whole number from 0 to 5.
    #[error("severity {found} is out of range; expected 0 (clean) to 5")]
    NoSuchSeverity {
        /// The number found.
        found: u32,
    },
    /// A name that is not a condition.
    #[error(
        "{found:?} is not a condition; expected `clean` or a corruption and a severity, as in `fog_3`"
    )]
    NoSuchCondition {
        /// The name found.
        found: String,
    },
    /// Data that should be inside the program.
    #[error("{name} should be inside the program and is not; install or build the program anew")]
    NotShipped {
        /// The file's name in the folder `data`.
        name: String,
    },
    /// A file that cannot be parsed as safetensors.
    #[error(
        "the classifier file cannot be read: {source}; retrain it with the example train_classifier"
    )]
    NotSafetensors {
        /// What the parser says.
        source: safetensors::SafeTensorError,
    },
    /// A tensor of another shape or type.
    #[error(
        "tensor {name} of the classifier file is {found}; expected {expected}; \
         retrain it with the example train_classifier"
    )]
    WrongTensor {
        /// Name of the tensor.
        name: &'static str,
        /// Type and shape found.
        found: String,
        /// Type and shape expected.
        expected: String,
    },
    /// A method no table has.
    #[error("{found:?} is not a method of this experiment; expected some of {known}")]
    NoSuchMethod {
        /// The name found.
        found: String,
        /// The names there are.
        known: String,
    },
    /// A training setting outside its range.
    #[error("{what} is {found}; expected {expected}")]
    BadSetting {
        /// Name of the setting.
        what: &'static str,
        /// The value found.
        found: f64,
        /// The range.
        expected: &'static str,
    },
    /// A line of the airfoil file that is not six numbers with positive frequency and thickness.
    #[error(
        "{}, line {line}: {found:?} does not fit; expected six numbers separated by white space, the first and the fifth \
         positive, as in airfoil_self_noise.dat of the UCI repository", path.display()
    )]
    BadAirfoilRow {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The line or the word that does not fit.
        found: String,
    },
    /// An airfoil file too short to split.
    #[error("{} holds {found} rows; the experiment needs {least}, and the UCI file has 1503", path.display())]
    TooFewAirfoilRows {
        /// The file.
        path: PathBuf,
        /// Rows found.
        found: usize,
        /// Rows needed.
        least: usize,
    },
    /// A file that cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file of a run that is not the JSON it should be.
    #[error("{}: {source}; remove the file to have it made again", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// A folder that holds a run of another configuration.
    #[error(
        "{} belongs to another run: {differences}; choose another --out, or remove that folder", path.display()
    )]
    OtherConfiguration {
        /// The configuration found.
        path: PathBuf,
        /// Which fields differ.
        differences: String,
    },
    /// A folder of softmax files that lacks one.
    #[error(
        "{} was not found; a data folder holds clean.npz and files such as fog_3.npz (a name, a severity), each with the \
         arrays probs or logits, labels and image_id", path.display()
    )]
    MissingSoftmax {
        /// The file or the folder.
        path: PathBuf,
    },
    /// An image that another classifier's file does not show.
    #[error(
        "image {id} is not in the softmax file of the second classifier; give one that shows the same images"
    )]
    NotInSecond {
        /// Its id.
        id: usize,
    },
    /// A softmax file whose arrays do not fit the others.
    #[error("{}: {what} is {found}; expected {expected}", path.display())]
    UnfitSoftmax {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        what: &'static str,
        /// How much was found.
        found: usize,
        /// How much was expected.
        expected: usize,
    },
    /// Fewer labeled or unlabeled points than an experiment needs.
    #[error(
        "{what} has {found} rows; the experiment needs at least {needed}: use smaller sizes or more data"
    )]
    TooFewRows {
        /// Which table.
        what: String,
        /// Rows found.
        found: usize,
        /// Rows needed.
        needed: usize,
    },
    /// Label shift that leaves hardly a row.
    #[error(
        "of {draws} label marginals none allowed a sample of {least} rows, the largest had {largest}: give more rows of the \
         rare classes, or leave label shift out"
    )]
    SmallLabelShift {
        /// Rows of the largest sample.
        largest: usize,
        /// Rows needed.
        least: usize,
        /// Marginals drawn.
        draws: usize,
    },
    /// A list that names something twice.
    #[error("{option} names {found} twice; name it once")]
    Repeated {
        /// The option.
        option: &'static str,
        /// What is named twice.
        found: String,
    },
    /// A file whose name writes its severity in another way than this crate does.
    #[error("{}: severities are written without leading zeros or signs; rename it to {expected}", path.display())]
    OtherSpelling {
        /// The file.
        path: PathBuf,
        /// The name it should have.
        expected: String,
    },
    /// Rows of a softmax file that are not valid probabilities.
    #[error("{}, array {array}: {source}; an array of logits must be named logits", path.display())]
    NoProbabilities {
        /// The file.
        path: PathBuf,
        /// The array in it.
        array: &'static str,
        /// What the core found.
        source: Box<evenkeel::Error>,
    },
    /// Labels of a softmax file that are not class indices.
    #[error("{}, array labels: {source}", path.display())]
    UnfitLabels {
        /// The file.
        path: PathBuf,
        /// What the core found.
        source: Box<evenkeel::Error>,
    },
    /// An image that appears twice in one file.
    #[error("image_id {id} appears twice in {}; every row needs an id of its own", path.display())]
    RepeatedImage {
        /// The file.
        path: PathBuf,
        /// The id.
        id: usize,
    },
    /// A zip archive that cannot be written.
    #[error("{}: {source}", path.display())]
    Archive {
        /// The file.
        path: PathBuf,
        /// What the writer says.
        source: zip::result::ZipError,
    },
    /// What the readers and writers of files refuse.
    #[error(transparent)]
    File(#[from] evenkeel_io::IoError),
    /// What a job refuses.
    #[error(transparent)]
    Job(#[from] evenkeel_jobs::JobError),
    /// What the core refuses.
    #[error(transparent)]
    Core(#[from] evenkeel::Error),
}

impl Error {
    /// For `map_err`: an input or output error at `path`.
    pub fn at(path: &Path) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |source| Self::Io { path, source }
    }
}
