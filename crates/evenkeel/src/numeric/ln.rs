//! `ln(x) = e ln 2 + ln m`, `m` in `[1/sqrt 2, sqrt 2)`: a vectorisable logarithm.
//!
//! The platform's `ln` is a call per value. Where every entry of a table of any size needs one, that call is most of the time.

/// `ln 2` in two parts: the product of the first with a whole number below 2^11 is exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
/// What the first part leaves of `ln 2`.
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Bits of the fraction of a double.
const FRACTION: u64 = (1 << 52) - 1;
/// Bits of `1.0`: the exponent of a number in `[1, 2)`.
const ONE: u64 = 1023 << 52;
/// Bits of `2^52`: a whole number below it, put into its fraction, is added to it.
const TWO_52: u64 = 1075 << 52;

/// `ln x` of a positive normal number, to about one unit in the last place; no promise for others.
///
/// ```text
/// x = 2^e m,   s = (m - 1) / (m + 1),   ln m = 2 s (1 + s^2/3 + s^4/5 + .. + s^20/21),   |s| <= 0.172
/// ```
#[inline(always)]
pub(crate) fn ln_of_positive(x: f64) -> f64 {
    let bits = x.to_bits();
    let fraction = f64::from_bits((bits & FRACTION) | ONE);
    // Not a conversion of whole numbers, for which AVX2 has no instruction: it would stop the loop from vectorising.
    let exponent = f64::from_bits((bits >> 52) | TWO_52) - f64::from_bits(TWO_52) - 1023.0;
    // Around one, so that the logarithms of the two parts never cancel.
    let is_large = fraction > std::f64::consts::SQRT_2;
    let m = if is_large { 0.5 * fraction } else { fraction };
    let e = if is_large { exponent + 1.0 } else { exponent };
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let mut sum = 1.0 / 21.0;
    for odd in [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        sum = sum * z + 1.0 / odd;
    }
    e * LN_2_HIGH + (2.0 * s * sum + e * LN_2_LOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_logarithm() {
        assert_eq!(ln_of_positive(1.0), 0.0);
        let mut x = 1.401_298_464_324_817e-45;
        while x < 1e3 {
            let (found, expected) = (ln_of_positive(x), x.ln());
            let error = (found - expected).abs();
            assert!(
                error <= 4.0 * f64::EPSILON * expected.abs().max(1e-3),
                "{x}: {found} {expected}"
            );
            x *= 1.000_37;
        }
    }
}
