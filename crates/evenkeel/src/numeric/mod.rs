//! Floating point with the same bits everywhere: exponentials, sums in lanes, and which registers
//! to use.
//!
//! ```text
//! exp_of_negative         exp(x), x <= 0
//! ln::ln_of_positive      ln(x), x > 0
//! floored_ln              ln max(x, floor), x <= 1, with the bits of glibc
//! softmax                 exp(x_i - max) / sum_k exp(x_k - max)
//! tempered_log_sum_exp    log sum_i exp((x_i - max) / T)
//! RowsAbreast             the same and the softmax of short rows, at one temperature after another
//! sort_numbers            and of pairs by their first, and the places of numbers in order
//! sum_in_lanes            8 partial sums, added in a fixed tree
//! ```
//! A sum of doubles depends on the order of its additions. The order here is a function of the
//! length alone, so that no compiler, register width or thread changes a result.

pub(crate) mod beta;
mod exp;
mod fused_ln;
mod fused_ln_table;
pub(crate) mod gamma;
pub(crate) mod ln;
mod order;
mod rows_abreast;
pub(crate) mod simd;
#[cfg(target_arch = "x86_64")]
pub(crate) mod turned_x86;

pub(crate) use exp::{
    add_lanes, dot_in_lanes, exp_of_negative, largest_in_lanes, running_sums, softmax,
    sum_in_lanes, tempered_log_sum_exp, tempered_softmax_below, tempered_softmax_into,
};
pub(crate) use fused_ln::floored_ln;
pub(crate) use order::{places_in_order, sort_numbers, sort_pairs};
pub(crate) use rows_abreast::{ABREAST, RowsAbreast};
