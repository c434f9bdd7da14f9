//! `y += a x` and `x . y` for vectors as long as a narrow layer: their length is known when compiling, so they stay in
//! registers.

/// `y += a x`, entry by entry: lanes do not meet, so the width of registers changes no bit.
#[inline(always)]
pub(super) fn add_scaled<const N: usize>(y: &mut [f64; N], a: f64, x: &[f64; N]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// `sum_k x_k y_k`, in order of `k`: short enough that a sum in lanes would gain nothing.
#[inline(always)]
pub(super) fn dot<const N: usize>(x: &[f64; N], y: &[f64; N]) -> f64 {
    x.iter().zip(y).fold(0.0, |sum, (x, y)| sum + x * y)
}
