//! Words and numbers as they appear on the page.

mod escape;
mod number;
mod prose;
mod width;

pub(crate) use escape::escape;
pub(crate) use number::{
    coordinate, decimal, grouped, p_value, percent, percent_about, percent_chosen, percent_span,
    percent_tenths, significant,
};
pub(crate) use prose::{plain, prose, sentence};
pub(crate) use width::{shorten, width};
