//! `1, 2 or 5 times 10^k`: where the ticks of an axis stand and what they say.

use super::range::Range;
use crate::text::{decimal, percent, significant};

/// How tick values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TickText {
    /// Values as plain numbers.
    Plain,
    /// Ten to the power of them, as whole numbers.
    PowersOfTen,
    /// Shares in `[0, 1]`, written as percentages.
    Percent,
    /// Not at all: the axis has no ticks.
    Nothing,
}

/// Round values inside a range.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ticks {
    /// Where the ticks stand, increasing, in the units of the data.
    pub(crate) values: Vec<f64>,
    step: f64,
}

impl Ticks {
    /// At most about `most` multiples of 1, 2 or 5 times a power of ten.
    pub(crate) fn within(range: Range, most: usize) -> Self {
        let step = round_step(range, most);
        // A tick that rounding puts just outside the range still belongs to it: 0.3 / 0.1 is
        // 2.999...
        let first = (range.low() / step - 1e-9).ceil();
        let last = (range.high() / step + 1e-9).floor();
        // Bounded: a range whose ends nearly coincide could ask for billions.
        let count = ((last - first).max(0.0) as usize).min(2 * most);
        // Adding 0 turns -0 into 0.
        let mut values: Vec<f64> =
            (0..=count).map(|index| (first + index as f64) * step + 0.0).collect();
        values.dedup();
        Self { values, step }
    }

    /// The range extended to the next ticks on both sides.
    pub(crate) fn extend(range: Range, most: usize) -> Range {
        let step = round_step(range, most);
        let low = (range.low() / step + 1e-9).floor() * step;
        let high = (range.high() / step - 1e-9).ceil() * step;
        if low.is_finite() && high.is_finite() { Range::new(low, high) } else { range }
    }

    /// What a tick says: as many decimals as tell neighbours apart.
    pub(crate) fn label(&self, value: f64, text: TickText) -> String {
        match text {
            TickText::Nothing => String::new(),
            TickText::Percent => percent(value, decimals(100.0 * self.step).min(3)),
            TickText::PowersOfTen => decimal(10.0_f64.powf(value), 0),
            TickText::Plain => {
                let decimals = decimals(self.step);
                let largest = self.values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
                // Longer labels would run into each other; powers of ten stay short.
                if decimals > 5 || largest >= 1e7 {
                    significant(value, 2)
                } else {
                    decimal(value, decimals)
                }
            }
        }
    }
}

/// Decimals of a step.
fn decimals(step: f64) -> usize {
    (-(step.log10() + 1e-9).floor()).clamp(0.0, 12.0) as usize
}

/// The smallest round step that cuts the range into at most `most` pieces.
fn round_step(range: Range, most: usize) -> f64 {
    let rough = (range.high() - range.low()) / most as f64;
    let power = 10.0_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough * (1.0 - 1e-9))
        .unwrap_or(10.0 * power);
    if step.is_normal() { step } else { f64::MIN_POSITIVE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        let ticks = Ticks::within(Range::UNIT, 5);
        let labels: Vec<String> =
            ticks.values.iter().map(|value| ticks.label(*value, TickText::Plain)).collect();
        assert_eq!(labels, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(Ticks::extend(Range::new(0.13, 0.87), 5), Range::UNIT);
    }

    #[test]
    fn any_range_has_a_few_ticks() {
        for (low, high) in
            [(0.0, 1e-300), (-1e300, 1e300), (1e15, 1e15 + 1.0), (-3.0, 1e-9), (5.0, 5.0)]
        {
            let ticks = Ticks::within(Range::new(low, high), 5);
            assert!((1..=11).contains(&ticks.values.len()), "{low} {high}: {ticks:?}");
            assert!(ticks.values.iter().all(|value| value.is_finite()));
        }
    }
}
