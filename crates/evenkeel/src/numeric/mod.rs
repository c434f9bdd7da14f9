//! Floating point with the same bits everywhere: exponentials, sums in lanes, and which registers to use; gamma and beta functions.

pub(crate) mod beta;
mod exp;
pub(crate) mod gamma;
pub(crate) mod simd;

pub(crate) use exp::{
    add_lanes, dot_in_lanes, exp_of_negative, running_sums, softmax_into, sum_in_lanes,
    tempered_log_sum_exp, tempered_softmax_into,
};
