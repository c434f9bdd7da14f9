//! Words and numbers as they appear on the page.

mod escape;
mod number;
mod width;

pub(crate) use escape::escape;
pub(crate) use number::{coordinate, decimal, grouped, percent, percent_range, significant};
pub(crate) use width::{shorten, width};
