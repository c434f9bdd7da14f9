//! What can be wrong in an Arrow file or stream.

/// What was found in an Arrow file or stream, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrowProblem {
    /// The bytes do not begin, or a file does not end, like one.
    #[error("this is no Arrow file or stream, or it was cut off; copy it again")]
    Magic,
    /// The first version of Feather was another format.
    #[error("this is Feather of version 1; write it anew with version 2, or as parquet")]
    FirstFeather,
    /// A message, a count or a length contradicts the rest of the file.
    #[error("the file is damaged ({what}); copy it again or write it anew")]
    Damaged {
        /// Which part contradicts the rest.
        what: &'static str,
    },
    /// Something that writers of tables do not use.
    #[error("the file has {what}, which is not read; write it anew, or as parquet")]
    Unread {
        /// What it has, in words.
        what: &'static str,
    },
    /// The bytes of a column cannot be inflated.
    #[error("a column cannot be inflated ({reason}); copy the file again or write it anew")]
    Undecodable {
        /// What the decoder said.
        reason: String,
    },
}
