//! `\x93NUMPY, header, elements`: NumPy arrays, in C and in Fortran order.

mod c_order;
mod element;
mod fortran;
mod header;
mod problem;

pub use header::MAX_HEADER_BYTES;
pub use problem::NpyProblem;

pub(crate) use c_order::CRows;
pub(crate) use fortran::FortranRows;
pub(crate) use header::{Header, Order};

use crate::error::{IoError, Result};
use crate::input::open_input;
use crate::reader::RowStream;
use std::path::Path;
use std::sync::Arc;

/// Opens an npy file.
pub(crate) fn open(path: &Path, origin: &Arc<str>) -> Result<Box<dyn RowStream>> {
    let (mut file, length) = open_input(path)?;
    let header = Header::read(&mut file, length, origin)?;
    Ok(match header.order {
        Order::C => Box::new(CRows::new(file, header, origin)),
        Order::Fortran => {
            let start = header.bytes;
            Box::new(FortranRows::new(file, start, header, origin))
        }
    })
}

/// An I/O error inside an array: an early end has its own words.
pub(crate) fn read_error(origin: &Arc<str>, error: std::io::Error) -> IoError {
    let origin = Arc::clone(origin);
    if error.kind() == std::io::ErrorKind::UnexpectedEof {
        IoError::Npy { origin, problem: NpyProblem::EndsEarly }
    } else {
        IoError::Read { origin, error }
    }
}
