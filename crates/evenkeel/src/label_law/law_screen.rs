//! Which labels a law admits for certain, in single precision: the rest is left to the law itself.
//!
//! ```text
//! h'(y)                            the law in f32, within `margin` of h(y) relative to it
//! h'(y) > (1 - t) / (1 - margin)   the label is in the set
//! h'(y) < (1 - t) (1 - margin)     it is not
//! otherwise                        nobody knows: the row is scored in f64
//! ```
//! Prediction takes about half the time for it. Few rows are scored twice: fewer than one in fifty in the test of `conformal::law_sets`.
//! Every set is that of the scores in f64, to the bit.

use super::law_map::{LabelLawMap, LawPlan, LawTerm};
use crate::numeric::simd::in_widest_registers;

/// Rows looked at together: one register of AVX-512, two of AVX2.
pub(crate) const ROWS: usize = 16;
/// Labels in one word of a set.
const WORD: usize = u64::BITS as usize;
/// Beyond, the rounding of a sum in f32 widens the margin for nothing.
const MOST_CLASSES: usize = 1 << 14;
/// Plans of one temperature at most: no method makes more.
const MOST_PLANS: usize = 2;
/// Scalings further apart than this could be lost in f32.
const WIDEST_SCALINGS: f64 = 1e20;
/// What a comparison in f64 rounds, many times over.
const ROUNDING: f64 = 1e-12;
/// `log2` of the least probability there is, which stands for zero.
const LOG2_FLOOR: f32 = -149.0;

/// A label law in single precision, with thresholds.
#[derive(Debug)]
pub(crate) struct LawScreen {
    terms: Vec<Term>,
    /// Above the first a label is in, at or below the second it is out; one pair for each label.
    certain: Vec<(f32, f32)>,
    /// Logarithms, powers and masses of [`ROWS`] rows, label after label.
    memory: Vec<f32>,
}

/// A term of the law.
#[derive(Debug)]
struct Term {
    /// One over its temperature.
    inverse: f32,
    own: f32,
    plans: Vec<Plan>,
}

/// A plan's share, its scalings divided by the largest of them.
#[derive(Debug)]
struct Plan {
    share: f32,
    scalings: Vec<f32>,
}

impl LawScreen {
    /// The thresholds are one for each label. None where single precision has no room for the law.
    pub(crate) fn new(law: &LabelLawMap, thresholds: &[f64]) -> Option<Self> {
        let classes = thresholds.len();
        let terms: Option<Vec<Term>> = law.terms().iter().map(Term::new).collect();
        let terms = terms.filter(|_| classes <= MOST_CLASSES)?;
        let margin = margin(&terms, classes);
        let certain = thresholds.iter().map(|threshold| certain(*threshold, margin)).collect();
        Some(Self { terms, certain, memory: vec![0.0; 3 * ROWS * classes] })
    }

    /// Puts a row of probabilities, not yet scaled to sum to one, in place `row` of [`ROWS`].
    pub(crate) fn place(&mut self, row: usize, values: impl Iterator<Item = f32>) {
        for (lanes, value) in self.memory.chunks_exact_mut(ROWS).zip(values) {
            lanes[row] = value;
        }
    }

    /// The sets of the rows that were placed, word after word, those of one word for all rows beside each other; which of the
    /// rows must be scored in f64 after all. Places that were not filled since are as they were left.
    pub(crate) fn sets(&mut self, scales: &[f32; ROWS], words: &mut [[u64; ROWS]]) -> [bool; ROWS] {
        let Self { terms, certain, memory } = self;
        let (logs, rest) = memory.split_at_mut(ROWS * certain.len());
        let (powers, masses) = rest.split_at_mut(ROWS * certain.len());
        let mut unsure = [0_u32; ROWS];
        screen(terms, certain, scales, (logs, powers, masses), words, &mut unsure);
        unsure.map(|flag| flag != 0)
    }
}

impl Term {
    fn new(term: &LawTerm) -> Option<Self> {
        let plans: Option<Vec<Plan>> = term.plans.iter().map(Plan::new).collect();
        let plans = plans.filter(|plans| plans.len() <= MOST_PLANS)?;
        Some(Self { inverse: (1.0 / term.temperature) as f32, own: term.own as f32, plans })
    }
}

impl Plan {
    fn new(plan: &LawPlan) -> Option<Self> {
        let largest = plan.scalings.iter().copied().fold(0.0, f64::max);
        let smallest = plan.scalings.iter().copied().fold(f64::INFINITY, f64::min);
        let scalings = plan.scalings.iter().map(|scaling| (scaling / largest) as f32).collect();
        (largest <= WIDEST_SCALINGS * smallest)
            .then_some(Self { share: plan.share as f32, scalings })
    }
}

/// How far `h'` may be from `h`, relative to it.
///
/// ```text
/// log2 p      off by at most 2^-17 (it is below 2^7, with 24 bits, rounded three times)
/// x           = (log2 p - log2 largest) / T,  off by at most 2^-16 / T + 2^-16 where it is above -126; below, the power is nothing
/// 2^x         relative: ln 2 times that, and 2^-21 of its own
/// a sum       of powers: the same again, and 2^-24 for each addition
/// ```
/// A mass is a power over a sum. Both are taken several times as wide as this.
fn margin(terms: &[Term], classes: usize) -> f64 {
    let coldest = terms.iter().map(|term| f64::from(term.inverse)).fold(0.0, f64::max);
    2.0 * (5e-5 * coldest + 1e-4) + 2.4e-7 * classes as f64
}

/// Above the first a label is admitted for certain, at or below the second it is not.
fn certain(threshold: f64, margin: f64) -> (f32, f32) {
    let least = 1.0 - threshold;
    match least > 0.0 {
        true => {
            let (high, low) =
                ((least + ROUNDING) / (1.0 - margin), (least - ROUNDING) * (1.0 - margin));
            (high as f32, low as f32)
        }
        // No score is above one.
        false => (f32::NEG_INFINITY, f32::NEG_INFINITY),
    }
}

/// `log2 x` of a normal positive number; off by at most 2^-17.
#[inline(always)]
fn log2(x: f32) -> f32 {
    let bits = x.to_bits();
    let fraction = f32::from_bits((bits & 0x007f_ffff) | 0x3f80_0000);
    let is_large = fraction > std::f32::consts::SQRT_2;
    let m = if is_large { 0.5 * fraction } else { fraction };
    // Exponents are below 2^9: exact, put into the fraction of 2^23.
    let exponent = f32::from_bits((bits >> 23) | 0x4b00_0000) - 8_388_608.0;
    let e = if is_large { exponent - 126.0 } else { exponent - 127.0 };
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let series = (((z * (1.0 / 9.0) + 1.0 / 7.0) * z + 1.0 / 5.0) * z + 1.0 / 3.0) * z + 1.0;
    e + 2.0 * std::f32::consts::LOG2_E * s * series
}

/// `2^x` of a number that is not positive, to 2^-21 of its value; nothing below -126.
#[inline(always)]
fn exp2_of_negative(x: f32) -> f32 {
    let clamped = if x < -126.0 { -126.0 } else { x };
    // Adding 1.5 * 2^23 rounds to a whole number, which then stands in the low bits.
    let shifted = clamped + 12_582_912.0;
    let r = (clamped - (shifted - 12_582_912.0)) * std::f32::consts::LN_2;
    let mut sum = 1.0 / 720.0;
    for factorial in [120.0, 24.0, 6.0, 2.0, 1.0, 1.0] {
        sum = sum * r + 1.0 / factorial;
    }
    let scale = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    if x < -126.0 { 0.0 } else { sum * scale }
}

type Lanes = [f32; ROWS];

/// Adds what a term with these plans gives to every label of every row.
#[inline(always)]
fn add_term<const PLANS: usize>(
    term: &Term,
    plans: [&Plan; PLANS],
    (logs, largest): (&[Lanes], &Lanes),
    powers: &mut [Lanes],
    masses: &mut [Lanes],
) {
    let mut own: Lanes = [0.0; ROWS];
    let mut shares: [Lanes; PLANS] = [[0.0; ROWS]; PLANS];
    for (label, (powers, logs)) in powers.iter_mut().zip(logs).enumerate() {
        let scalings = plans.map(|plan| plan.scalings[label]);
        for lane in 0..ROWS {
            let power = exp2_of_negative((logs[lane] - largest[lane]) * term.inverse);
            powers[lane] = power;
            own[lane] += power;
            for plan in 0..PLANS {
                shares[plan][lane] += power * scalings[plan];
            }
        }
    }
    for lane in 0..ROWS {
        own[lane] = term.own / own[lane];
        for plan in 0..PLANS {
            shares[plan][lane] = plans[plan].share / shares[plan][lane];
        }
    }
    for (label, (masses, powers)) in masses.iter_mut().zip(powers.iter()).enumerate() {
        let scalings = plans.map(|plan| plan.scalings[label]);
        for lane in 0..ROWS {
            let mut share = own[lane];
            for plan in 0..PLANS {
                share += shares[plan][lane] * scalings[plan];
            }
            masses[lane] += powers[lane] * share;
        }
    }
}

in_widest_registers! {
    /// [`LawScreen::sets`]: rows beside each other, label after label, so that any number of labels fills the registers.
    fn screen[](
        terms: &[Term],
        certain: &[(f32, f32)],
        scales: &Lanes,
        memory: (&mut [f32], &mut [f32], &mut [f32]),
        words: &mut [[u64; ROWS]],
        unsure: &mut [u32; ROWS]
    ) -> () {
        let (logs, powers, masses) = memory;
        let (logs, _) = logs.as_chunks_mut::<ROWS>();
        let (powers, _) = powers.as_chunks_mut::<ROWS>();
        let (masses, _) = masses.as_chunks_mut::<ROWS>();
        // What stands for zero is not scaled, and all others are: their logarithms are taken without it.
        let mut zero = [0.0; ROWS];
        for lane in 0..ROWS {
            zero[lane] = LOG2_FLOOR - log2(scales[lane]);
        }
        let mut largest = [f32::NEG_INFINITY; ROWS];
        for logs in logs.iter_mut() {
            for lane in 0..ROWS {
                let p = logs[lane];
                // Below the normal numbers bits are missing.
                unsure[lane] |= u32::from(p < f32::MIN_POSITIVE) & u32::from(p > 0.0);
                let log = if p == 0.0 { zero[lane] } else { log2(p) };
                logs[lane] = log;
                largest[lane] = if log > largest[lane] { log } else { largest[lane] };
            }
        }
        masses.fill([0.0; ROWS]);
        for term in terms {
            match &term.plans[..] {
                [] => add_term(term, [], (logs, &largest), powers, masses),
                [plan] => add_term(term, [plan], (logs, &largest), powers, masses),
                [one, two, ..] => add_term(term, [one, two], (logs, &largest), powers, masses),
            }
        }
        let labels = masses.chunks(WORD).zip(certain.chunks(WORD));
        for (word, (masses, certain)) in words.iter_mut().zip(labels) {
            let mut bits = [0_u64; ROWS];
            for (bit, (masses, (high, low))) in masses.iter().zip(certain).enumerate() {
                for lane in 0..ROWS {
                    let (is_in, is_out) = (masses[lane] > *high, masses[lane] <= *low);
                    bits[lane] |= u64::from(is_in) << bit;
                    unsure[lane] |= u32::from(!is_in & !is_out);
                }
            }
            *word = bits;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The margins are a multiple of what the two functions err by.
    #[test]
    fn logarithms_and_powers_are_as_near_as_the_margin_takes_them_to_be() {
        let mut x = f64::from(f32::MIN_POSITIVE);
        while x < 1.0 {
            let single = x as f32;
            let off = (f64::from(log2(single)) - f64::from(single).log2()).abs();
            assert!(off < 2_f64.powi(-17), "{single}: {off}");
            x *= 1.000_137;
        }
        let mut x = -126.0_f32;
        while x < 0.0 {
            let expected = f64::from(x).exp2();
            let off = (f64::from(exp2_of_negative(x)) / expected - 1.0).abs();
            assert!(off < 2_f64.powi(-21), "{x}: {off}");
            x += 0.001_3;
        }
        assert_eq!((exp2_of_negative(0.0), exp2_of_negative(-126.1)), (1.0, 0.0));
    }

    /// A threshold of one or more admits what has no mass at all.
    #[test]
    fn a_threshold_that_excludes_nothing_leaves_nothing_open() {
        for threshold in [1.0, 7.0, f64::INFINITY] {
            assert_eq!(certain(threshold, 1e-3), (f32::NEG_INFINITY, f32::NEG_INFINITY));
        }
    }
}
