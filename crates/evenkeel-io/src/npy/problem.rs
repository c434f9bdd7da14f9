//! What can be wrong in an npy array: magic, version, header, element type, shape, size.

/// What was found in an npy array, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NpyProblem {
    /// The file does not start like one.
    #[error(
        "this is not an npy array (it does not start with \\x93NUMPY); write it with numpy.save"
    )]
    Magic,
    /// A format version that does not exist yet.
    #[error("npy format version {major} is unknown; save it again with numpy.save")]
    Version {
        /// Major version found in the file.
        major: u8,
    },
    /// A header longer than any numeric array has.
    #[error("the header claims {claimed} bytes, at most {limit} are read; the file is damaged")]
    HeaderTooLong {
        /// Length of the header that the file claims, in bytes.
        claimed: u64,
        /// Length that is read at most.
        limit: usize,
    },
    /// The file ends before what its header promises.
    #[error("the file ends early; it was cut off, copy or save it again")]
    EndsEarly,
    /// The header is not a dictionary of the three known entries.
    #[error(
        "the header cannot be understood at byte {at}: expected {expected}; the file is damaged"
    )]
    HeaderSyntax {
        /// Position in the header's text.
        at: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// Pickled Python objects: loading them would run code from the file.
    #[error(
        "it holds pickled Python objects, which are never loaded; save numbers \
         (array.astype('float32'))"
    )]
    Objects,
    /// Records with named fields.
    #[error("it holds records with several fields; save one plain array of numbers")]
    Records,
    /// Elements that are not real numbers.
    #[error("elements of type '{descr}' cannot be read; save float16/32/64, integers or booleans")]
    ElementType {
        /// Start of the type string found, as NumPy writes it.
        descr: String,
    },
    /// Not a vector and not a matrix.
    #[error(
        "it has shape {shape}; a matrix (rows, columns) or a vector (rows,) is needed, reshape it"
    )]
    Dimensions {
        /// The shape, as NumPy writes it.
        shape: String,
    },
    /// A size below zero.
    #[error("the shape has a negative size; the file is damaged")]
    NegativeSize,
    /// Sizes whose product exceeds any file.
    #[error("the shape describes more bytes than any file can hold; the file is damaged")]
    Overflow,
    /// The file is shorter or longer than the shape says.
    #[error(
        "shape {shape} of type '{descr}' needs {expected} bytes of data, but there are {found}; {}",
        if found < expected { "the file was cut off, copy or save it again" }
        else { "save one array per file" }
    )]
    Size {
        /// The shape, as NumPy writes it.
        shape: String,
        /// The element type, as NumPy writes it (`<f4`).
        descr: String,
        /// Bytes the shape needs.
        expected: u64,
        /// Bytes that follow the header.
        found: u64,
    },
}
