//! `exp(x) = 2^k exp(r)`, `k = round(x / ln 2)`: a vectorisable exponential, and the softmax and sums built on it.
//!
//! The hot loop takes `n` exponentials per step. The platform's `exp` is a call per value and rounds differently from
//! one C library to the next. This one is plain arithmetic that the compiler turns into vector code, with the same bits
//! everywhere.
//!
//! Multiplications and additions are fused, and rounded once: three quarters of the instructions. A processor without fused
//! multiply-adds gets the same bits from the C library, which computes them exactly, in many times the time. So what calls this
//! in a loop stands in `in_widest_registers`, where the compiler knows that the processor has them.

use super::simd::in_widest_registers;

/// `1 / ln 2`, by which an exponent becomes a power of two.
const LOG2_E: f64 = std::f64::consts::LOG2_E;
/// `ln 2` in two parts: the product of the first with a whole number below 2^11 is exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
/// What the first part leaves of `ln 2`; its product need not be exact, it is `1e-10` of the whole.
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Adding and subtracting `1.5 * 2^52` rounds to the nearest whole number, which then stands in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// Below this the result would be subnormal, and the exponent built from bits below would wrap around; 0 is returned.
const SMALLEST_EXPONENT: f64 = -708.0;

/// `exp(x)` for `x <= 0`, to about one unit in the last place; 0 below -708.
///
/// ```text
/// k = round(x log2 e)        r = x - k ln2_high - k ln2_low,  |r| <= ln(2) / 2
/// exp(x) = 2^k (1 + r + r^2/2! + .. + r^12/12!)
/// ```
/// `exp(0)` is exactly 1, and a NaN comes out as a NaN. Above 0 no accuracy is promised.
#[inline(always)]
pub(crate) fn exp_of_negative(x: f64) -> f64 {
    // Not `max`, which would turn a NaN into a number and hide a diverged run.
    let clamped = if x < SMALLEST_EXPONENT { SMALLEST_EXPONENT } else { x };
    let shifted = clamped.mul_add(LOG2_E, ROUNDER);
    // Not `round`, which is a call on processors without SSE4.1 and would stop the loop from
    // vectorising.
    let k = shifted - ROUNDER;
    let r = k.mul_add(-LN_2_LOW, k.mul_add(-LN_2_HIGH, clamped));
    // Taylor to degree 12 on |r| <= ln(2) / 2: the first term left out is below 2e-16.
    let mut sum: f64 = 1.0 / 479_001_600.0;
    for factorial in [
        39_916_800.0,
        3_628_800.0,
        362_880.0,
        40_320.0,
        5_040.0,
        720.0,
        120.0,
        24.0,
        6.0,
        2.0,
        1.0,
        1.0,
    ] {
        sum = sum.mul_add(r, 1.0 / factorial);
    }
    // k + 1023 is between 2 and 1023: the bits of 2^k.
    let scale = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    if x < SMALLEST_EXPONENT { 0.0 } else { sum * scale }
}

/// Independent chains of the sums: fixed, so that the bits do not depend on the vector width.
/// Eight doubles fill one AVX-512 register, two of AVX2 and four of the portable build.
pub(super) const LANES: usize = 8;

/// `sum_i values_i` over eight fixed lanes; 0 of none.
///
/// ```text
/// lane l = values[l] + values[l + 8] + values[l + 16] + ..
/// ```
/// Two sums are equal to the bit if the values and their number are, on any machine.
#[inline(always)]
pub(crate) fn sum_in_lanes(values: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    add_to_lanes(values, &mut lanes);
    add_lanes(lanes)
}

/// Adds values to the lanes of their places.
#[inline(always)]
fn add_to_lanes(values: &[f64], lanes: &mut [f64; LANES]) {
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] += chunk[lane];
        }
    }
    // The rest goes to the first lanes, as if the slice were filled up with zeros.
    for (lane, value) in rest.iter().enumerate() {
        lanes[lane] += value;
    }
}

/// `sum_i a_i b_i` over eight fixed lanes, for slices of one length.
#[inline(always)]
pub(crate) fn dot_in_lanes(a: &[f64], b: &[f64]) -> f64 {
    let ((a_chunks, a_rest), (b_chunks, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [0.0; LANES];
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..LANES {
            // No fused multiply-add: it rounds once where two instructions round twice, and only
            // some processors have it.
            lanes[lane] += a[lane] * b[lane];
        }
    }
    for (lane, (a, b)) in a_rest.iter().zip(b_rest).enumerate() {
        lanes[lane] += a * b;
    }
    add_lanes(lanes)
}

/// The sum of the lanes, as a tree of fixed shape: halves of a register first, as vector code does.
#[inline(always)]
pub(crate) fn add_lanes(lanes: [f64; LANES]) -> f64 {
    ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6]))
        + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
}

/// Stretches summed side by side in [`running_sums`]; part of the result, as the order of a sum is.
const STRETCHES: usize = 4;

/// `out[k] = values[0] + .. + values[k]`.
///
/// A running sum waits for each addition before the next. Four stretches are summed side by side and then shifted by
/// the totals before them. Where they are cut depends on the length only, so the bits do too.
///
/// `out` is as long as `values`. The last entry may differ in its last bits from [`sum_in_lanes`],
/// which adds in another order.
#[inline(always)]
pub(crate) fn running_sums(values: &[f64], out: &mut [f64]) {
    let length = values.len() / STRETCHES;
    let mut sums = [0.0; STRETCHES];
    for k in 0..length {
        for (stretch, sum) in sums.iter_mut().enumerate() {
            let index = stretch * length + k;
            *sum += values[index];
            out[index] = *sum;
        }
    }
    let mut before = 0.0;
    for stretch in 0..STRETCHES {
        for slot in &mut out[stretch * length..(stretch + 1) * length] {
            *slot += before;
        }
        before += sums[stretch];
    }
    for index in STRETCHES * length..values.len() {
        before += values[index];
        out[index] = before;
    }
}

/// Largest value, over fixed lanes; minus infinity of none. A NaN is passed over.
#[inline(always)]
pub(crate) fn largest_in_lanes(values: &[f64]) -> f64 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [f64::NEG_INFINITY; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            // A comparison, not `max`: one instruction, where the care for NaN takes three.
            lanes[lane] = if chunk[lane] > lanes[lane] { chunk[lane] } else { lanes[lane] };
        }
    }
    for (lane, value) in rest.iter().enumerate() {
        lanes[lane] = if *value > lanes[lane] { *value } else { lanes[lane] };
    }
    lanes.iter().fold(f64::NEG_INFINITY, |largest, value| largest.max(*value))
}

/// `out = softmax(x)` of finite `x`, as long as `out`; returns `log sum exp(x)`.
#[inline(always)]
fn softmax_into(x: &[f64], out: &mut [f64]) -> f64 {
    // exp overflows above ~709; shifting by the maximum leaves the softmax unchanged.
    let largest = largest_in_lanes(x);
    for (slot, value) in out.iter_mut().zip(x) {
        *slot = exp_of_negative(value - largest);
    }
    let total = sum_in_lanes(out);
    let scale = 1.0 / total;
    for slot in out.iter_mut() {
        *slot *= scale;
    }
    largest + total.ln()
}

in_widest_registers! {
    /// `out = softmax(x)` of finite `x`, as long as `out`; returns `log sum exp(x)`.
    pub(crate) fn softmax[](x: &[f64], out: &mut [f64]) -> f64 {
        softmax_into(x, out)
    }
}

/// `out = softmax(inverse_temperature * x)` of finite `x`; the inverse is positive.
#[inline(always)]
pub(crate) fn tempered_softmax_into(x: &[f64], inverse_temperature: f64, out: &mut [f64]) {
    tempered_softmax_below(largest_in_lanes(x), x, inverse_temperature, out);
}

/// The same where the largest of `x` is known.
#[inline(always)]
pub(crate) fn tempered_softmax_below(
    largest: f64,
    x: &[f64],
    inverse_temperature: f64,
    out: &mut [f64],
) {
    // Shift before scaling: a logit of 1e308 at temperature 0.3 would overflow.
    for (slot, value) in out.iter_mut().zip(x) {
        *slot = exp_of_negative((value - largest) * inverse_temperature);
    }
    // Never infinite: the largest entry has contributed exp(0) = 1.
    let scale = 1.0 / sum_in_lanes(out);
    for slot in out.iter_mut() {
        *slot *= scale;
    }
}

/// Exponentials made before they are summed, a multiple of the lanes. A loop that does both is not turned into vector code.
const TOGETHER: usize = 32;

/// `(max x, log sum_i exp(inverse_temperature * (x_i - max x)))`, without a buffer of its length.
///
/// The logarithm is at least 0, so that the largest probability is `exp(-log)`.
#[inline(always)]
pub(crate) fn tempered_log_sum_exp(x: &[f64], inverse_temperature: f64) -> (f64, f64) {
    let largest = largest_in_lanes(x);
    let mut lanes = [0.0; LANES];
    let mut made = [0.0; TOGETHER];
    for x in x.chunks(TOGETHER) {
        let made = &mut made[..x.len()];
        for (slot, value) in made.iter_mut().zip(x) {
            *slot = exp_of_negative((value - largest) * inverse_temperature);
        }
        add_to_lanes(made, &mut lanes);
    }
    (largest, add_lanes(lanes).ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_the_platform_exponential() {
        let mut worst = 0.0_f64;
        for step in 0..2_000_000 {
            let x = -f64::from(step) * 3.5e-4;
            let (ours, theirs) = (exp_of_negative(x), x.exp());
            worst = worst.max((ours - theirs).abs() / theirs);
        }
        assert!(worst < 5e-16, "largest relative difference {worst}");
        assert_eq!(exp_of_negative(0.0), 1.0);
        assert_eq!(exp_of_negative(-0.0), 1.0);
        assert_eq!(exp_of_negative(-709.0), 0.0);
        assert_eq!(exp_of_negative(f64::NEG_INFINITY), 0.0);
        assert!(exp_of_negative(f64::NAN).is_nan());
    }

    /// The sum of exponentials is that of the softmax, to the bit, for any number of them.
    #[test]
    fn sums_of_exponentials_are_those_of_the_softmax() {
        let mut stream = crate::seed::Seed::new(9).stream("exp");
        for count in (1..70).chain([127, 128, 129, 1000]) {
            let x: Vec<f64> = (0..count).map(|_| -900.0 * stream.uniform().powi(3)).collect();
            for inverse in [1.0, 0.3, 7.0] {
                let (largest, log_total) = tempered_log_sum_exp(&x, inverse);
                let made: Vec<f64> =
                    x.iter().map(|x| exp_of_negative((x - largest) * inverse)).collect();
                assert_eq!(log_total.to_bits(), sum_in_lanes(&made).ln().to_bits());
            }
        }
    }

    #[test]
    fn lanes_do_not_change_sums() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        for n in 0..100 {
            let expected: f64 = values[..n].iter().sum();
            assert_eq!(sum_in_lanes(&values[..n]), expected);
            let mut running = vec![0.0; n];
            running_sums(&values[..n], &mut running);
            let expected: Vec<f64> = (1..=n).map(|k| values[..k].iter().sum::<f64>()).collect();
            assert_eq!(running, expected);
            let squares: f64 = values[..n].iter().map(|v| v * v).sum();
            assert_eq!(dot_in_lanes(&values[..n], &values[..n]), squares);
        }
    }
}
