//! `ln(x) = k ln 2 + ln c_i + ln(1 + r)`, `r = z / c_i - 1`: the logarithm of glibc on processors with fused multiply-adds, for
//! many numbers at once.
//!
//! The platform's `ln` is a call for every number, and its last bit depends on the C library and the processor. The fused
//! multiply-adds are written down here, so that the bits are those of glibc where it uses them, and the same everywhere else.

use super::fused_ln_table::{INVERSES, LN_2, LOGARITHMS, NEAR_ONE, SMALL};

/// Bits where `z` in `[0.6875, 1.375)` begins.
const OFFSET: u64 = 0x3fe6_0000_0000_0000;
/// Bits of `2^52`: a whole number below it, put into its fraction, is added to it.
const TWO_52: u64 = 1075 << 52;
/// From here to one, `k ln 2` and `ln c_i` would cancel.
const NEARLY_ONE: f64 = 0.9375;

/// `out = ln max(x, floor)`, for `x` up to one; `floor` is positive and normal. Both slices have one length.
pub(crate) fn floored_ln(values: &[f64], floor: f64, out: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn fused(values: &[f64], floor: f64, out: &mut [f64]) {
            floored_ln_of_each(values, floor, out);
        }
        if super::simd::has_avx2() {
            #[expect(unsafe_code, reason = "the processor was asked on the line above")]
            // SAFETY: the function needs these instructions and no others, and this processor has them.
            return unsafe { fused(values, floor, out) };
        }
    }
    // The same numbers: where the processor does not fuse, `mul_add` computes what it would have given.
    floored_ln_of_each(values, floor, out);
}

#[inline(always)]
fn floored_ln_of_each(values: &[f64], floor: f64, out: &mut [f64]) {
    let mut any_near_one = false;
    for (out, value) in out.iter_mut().zip(values) {
        // Not `max`, whose care for NaN costs instructions; here a NaN is not larger, and becomes the floor as well.
        let x = if *value > floor { *value } else { floor };
        *out = ln_away_from_one(x);
        any_near_one |= x >= NEARLY_ONE;
    }
    // Of probabilities of one row at most one: apart, so that the loop above has no branch and becomes vector code.
    if any_near_one {
        for (out, value) in out.iter_mut().zip(values).filter(|(_, value)| **value >= NEARLY_ONE) {
            *out = if *value == 1.0 { 0.0 } else { ln_near_one(*value) };
        }
    }
}

/// ```text
/// x = 2^k z       w = k ln2_high + ln_i       high = w + r       low = w - high + r + k ln2_low
/// ln x = low + A0 r^2 + r^3 (A1 + A2 r + r^2 (A3 + A4 r)) + high
/// ```
#[inline(always)]
fn ln_away_from_one(x: f64) -> f64 {
    let bits = x.to_bits();
    let from_offset = bits.wrapping_sub(OFFSET);
    let part = (from_offset >> 45) as usize % INVERSES.len();
    // Not a conversion of whole numbers, for which AVX2 has no instruction: it would stop the loop from vectorising.
    let k = f64::from_bits((from_offset.wrapping_add(1024 << 52) >> 52) | TWO_52)
        - f64::from_bits(TWO_52)
        - 1024.0;
    let z = f64::from_bits(bits.wrapping_sub(from_offset & (0xfff << 52)));
    let r = z.mul_add(INVERSES[part], -1.0);
    let w = k.mul_add(LN_2[0], LOGARITHMS[part]);
    let high = w + r;
    let low = k.mul_add(LN_2[1], (w - high) + r);
    let square = r * r;
    let outer = r.mul_add(SMALL[4], SMALL[3]);
    let sum = outer.mul_add(square, r.mul_add(SMALL[2], SMALL[1]));
    (r * square).mul_add(sum, square.mul_add(SMALL[0], low)) + high
}

/// ```text
/// r = x - 1 = r_high + r_low       high = r + B0 r_high^2       ln x = high + (r - high + B0 r_high^2 + B0 r_low (r_high + r)) + r^3 B(r)
/// ```
#[inline(always)]
fn ln_near_one(x: f64) -> f64 {
    const SPLITTER: f64 = (1u64 << 27) as f64;
    let b = &NEAR_ONE;
    let r = x - 1.0;
    let (square, cube) = (r * r, r * (r * r));
    let inner = square.mul_add(b[3], r.mul_add(b[2], b[1]));
    let middle = square.mul_add(b[6], r.mul_add(b[5], b[4]));
    let outer = cube.mul_add(b[10], square.mul_add(b[9], r.mul_add(b[8], b[7])));
    let sum = outer.mul_add(cube, middle).mul_add(cube, inner);
    let r_high = (-SPLITTER).mul_add(r, r.mul_add(SPLITTER, r));
    let r_low = r - r_high;
    let high = (r_high * r_high).mul_add(b[0], r);
    let low = (r_high * r_high).mul_add(b[0], r - high);
    let low = (b[0] * r_low).mul_add(r_high + r, low);
    high + sum.mul_add(cube, low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// Small and large numbers, many near one, both sides of every seam.
    fn hostile_numbers() -> Vec<f64> {
        let mut stream = Seed::new(31).stream("ln");
        let mut numbers = vec![1.0, 1.0_f64.next_down(), NEARLY_ONE, NEARLY_ONE.next_down()];
        for part in 0..128_u64 {
            let seam = f64::from_bits(OFFSET + (part << 45));
            let scales = [1.0, 0.5, 0.25, 2f64.powi(-30)].map(|scale| seam * scale);
            numbers.extend(scales.iter().flat_map(|x| [x.next_down(), *x, x.next_up()]));
        }
        for _ in 0..300_000 {
            let u = stream.uniform();
            numbers.extend([u, u.powi(30), 1.0 - 0.08 * u, (-100.0 * u).exp(), 1.0 - u.powi(40)]);
        }
        numbers.retain(|x| *x <= 1.0);
        numbers
    }

    const FLOOR: f64 = 1.401_298_464_324_817e-45;

    /// Bit by bit where glibc fuses; it was its function that wrote every stored calibration.
    #[test]
    fn it_is_the_platforms_logarithm() {
        let mut numbers = hostile_numbers();
        numbers.extend([0.0, -0.0, 5e-324, f64::NAN, FLOOR, 1e-300]);
        let mut found = vec![0.0; numbers.len()];
        floored_ln(&numbers, FLOOR, &mut found);
        #[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
        let same_bits = std::arch::is_x86_feature_detected!("fma");
        #[cfg(not(all(target_arch = "x86_64", target_env = "gnu")))]
        let same_bits = false;
        for (x, found) in numbers.iter().zip(&found) {
            let expected = x.max(FLOOR).ln();
            if same_bits {
                assert_eq!(found.to_bits(), expected.to_bits(), "{x:e}: {found:e} {expected:e}");
            } else {
                let error = (found - expected).abs();
                assert!(
                    error <= 2.0 * f64::EPSILON * expected.abs(),
                    "{x:e}: {found:e} {expected:e}"
                );
            }
        }
    }

    /// The loop without vector registers gives the same bits, whatever the length and the place in a slice.
    #[test]
    fn the_width_does_not_matter() {
        let numbers = &hostile_numbers()[..5000];
        let mut whole = vec![0.0; numbers.len()];
        floored_ln(numbers, FLOOR, &mut whole);
        let mut portable = vec![0.0; numbers.len()];
        floored_ln_of_each(numbers, FLOOR, &mut portable);
        assert!(whole.iter().zip(&portable).all(|(a, b)| a.to_bits() == b.to_bits()));
        let mut parts = vec![0.0; numbers.len()];
        for (index, (numbers, out)) in numbers.chunks(7).zip(parts.chunks_mut(7)).enumerate() {
            let cut = index % 7 % numbers.len();
            floored_ln(&numbers[..cut], FLOOR, &mut out[..cut]);
            floored_ln(&numbers[cut..], FLOOR, &mut out[cut..]);
        }
        assert!(whole.iter().zip(&parts).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
}
