//! A net under the decoder: it has panicked on damaged pages in a few ways, which [`super::guard`] now refuses, and a way not yet
//! known must be an error like any other.
//!
//! ```text
//! panics unwind      the panic is caught, and is the error
//! panics abort       the program asks for the error before it ends (undecodable_here)
//! ```

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::problem::ParquetProblem;
use crate::error::IoError;

thread_local! {
    /// The file that the decoder is at work on in this thread.
    static DECODING: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

const UNDECODABLE: ParquetProblem = ParquetProblem::Damaged { what: "a page cannot be decoded" };

/// What the decoder makes of a file, or an error where it panics. A reader is not used again after an error.
#[doc(hidden)]
pub fn no_panic<T>(
    origin: &Arc<str>,
    decode: impl FnOnce() -> Result<T, ParquetProblem>,
) -> Result<T, ParquetProblem> {
    let outer = DECODING.replace(Some(Arc::clone(origin)));
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    DECODING.set(outer);
    decoded.unwrap_or(Err(UNDECODABLE))
}

/// What to say of a panic in this thread, if it is the decoder's: for panic hooks.
pub fn undecodable_here() -> Option<IoError> {
    // Neither may be had while the thread ends; the panic is nobody's then.
    let decoding = DECODING.try_with(|decoding| decoding.try_borrow().ok()?.clone());
    let origin = decoding.ok().flatten()?;
    Some(IoError::Parquet { origin, problem: UNDECODABLE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_the_error_that_it_was_said_to_be() {
        let origin = Arc::from("night.parquet");
        let mut said = None;
        let decoded: Result<(), _> = no_panic(&origin, || {
            said = undecodable_here();
            std::panic::resume_unwind(Box::new("bits"))
        });
        assert_eq!(decoded, Err(UNDECODABLE));
        let said = said.unwrap().to_string();
        assert!(said.contains("night.parquet") && said.contains("damaged"), "{said}");
        assert!(undecodable_here().is_none());
        assert_eq!(no_panic(&origin, || Ok(7)), Ok(7));
    }
}
