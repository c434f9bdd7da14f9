//! An alarm for labels that trickle in: coverage fell below the level.
//!
//! ```text
//! e_n = mean over q of (q / alpha)^misses ((1 - q) / (1 - alpha))^hits,    q = alpha + (1 - alpha) {.025, .05, .1, .15, .2, .3, .45, .6}
//! alarm once e_n >= 1 / delta
//! ```
//! While labels miss with probability at most `alpha`, each given those before, `e_n` is a supermartingale that starts at 1, so it ever
//! reaches `1 / delta` with probability at most `delta` (Ville 1939). Each label must be judged against a threshold fixed before the
//! label was seen; the threshold may change between labels.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::level::{FailureProbability, Miscoverage};

/// Shares of the way from `alpha` to 1 at which the bets are placed.
const BETS: [f64; 8] = [0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6];

/// Watches labels for a coverage below the level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct CoverageAlarm {
    alpha: f64,
    delta: f64,
    misses: u64,
    hits: u64,
    fired_at: Option<u64>,
}

/// What is known after a label.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AlarmState {
    /// Labels seen.
    pub labels: u64,
    /// Labels that were not in their sets.
    pub misses: u64,
    /// `ln e_n`.
    pub ln_e_value: f64,
    /// Number of the label at which the alarm went off; it stays off only if it never did.
    pub fired_at: Option<u64>,
}

impl AlarmState {
    /// `e_n`, the evidence against "coverage is at least the level"; infinite where `f64` ends.
    pub fn e_value(&self) -> f64 {
        self.ln_e_value.exp()
    }
}

impl CoverageAlarm {
    /// An alarm for miscoverage above `alpha` that is ever false with probability at most `delta`.
    pub fn new(alpha: Miscoverage, delta: FailureProbability) -> Self {
        Self { alpha: alpha.get(), delta: delta.get(), misses: 0, hits: 0, fired_at: None }
    }

    /// Takes the next label: whether it lay in a set whose threshold was fixed before.
    pub fn update(&mut self, covered: Covered) -> AlarmState {
        match covered {
            Covered::Yes => self.hits = self.hits.saturating_add(1),
            Covered::No => self.misses = self.misses.saturating_add(1),
        }
        let ln_e_value = self.ln_e_value();
        if self.fired_at.is_none() && ln_e_value >= -self.delta.ln() {
            self.fired_at = Some(self.labels());
        }
        self.state()
    }

    /// What is known so far.
    pub fn state(&self) -> AlarmState {
        AlarmState {
            labels: self.labels(),
            misses: self.misses,
            ln_e_value: self.ln_e_value(),
            fired_at: self.fired_at,
        }
    }

    fn labels(&self) -> u64 {
        self.misses.saturating_add(self.hits)
    }

    /// `ln e_n`, from the counts alone.
    fn ln_e_value(&self) -> f64 {
        let (misses, hits) = (self.misses as f64, self.hits as f64);
        let logs = BETS.map(|share| {
            // q / alpha = 1 + share (1 - alpha) / alpha and (1 - q) / (1 - alpha) = 1 - share.
            let odds = share * (1.0 - self.alpha) / self.alpha;
            // Of a rate below 1e-308 the quotient is beyond the largest number, its logarithm is not.
            let gain = if odds.is_finite() { odds.ln_1p() } else { share.ln() - self.alpha.ln() };
            misses * gain + hits * (-share).ln_1p()
        });
        let largest = logs.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = logs.iter().map(|log| (log - largest).exp()).sum();
        largest + (sum / BETS.len() as f64).ln()
    }
}

/// Whether a label lay in its set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covered {
    /// It did.
    Yes,
    /// It did not.
    No,
}

impl From<bool> for Covered {
    fn from(covered: bool) -> Self {
        if covered { Self::Yes } else { Self::No }
    }
}

/// As it is stored; checked when read back.
#[derive(Deserialize)]
struct Stored {
    alpha: f64,
    delta: f64,
    misses: u64,
    hits: u64,
    fired_at: Option<u64>,
}

impl TryFrom<Stored> for CoverageAlarm {
    type Error = Error;

    fn try_from(Stored { alpha, delta, misses, hits, fired_at }: Stored) -> Result<Self> {
        let (alpha, delta) = (Miscoverage::new(alpha)?, FailureProbability::new(delta)?);
        let labels = misses.saturating_add(hits);
        if fired_at.is_some_and(|at| at == 0 || at > labels) {
            return Err(Error::Damaged {
                what: "the alarm",
                why: "it went off at a label it has not seen",
            });
        }
        Ok(Self { misses, hits, fired_at, ..Self::new(alpha, delta) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_label_is_the_formula() {
        let mut alarm = CoverageAlarm::new(
            Miscoverage::new(0.1).unwrap(),
            FailureProbability::new(0.05).unwrap(),
        );
        assert_eq!(alarm.state().ln_e_value, 0.0);
        let q = BETS.map(|share| 0.1 + 0.9 * share);
        let missed = alarm.clone().update(Covered::No).e_value();
        assert!((missed - q.iter().map(|q| q / 0.1).sum::<f64>() / 8.0).abs() < 1e-12);
        let hit = alarm.update(Covered::Yes).e_value();
        assert!((hit - q.iter().map(|q| (1.0 - q) / 0.9).sum::<f64>() / 8.0).abs() < 1e-12);
        // A fair bet: its mean under the level is one.
        assert!((0.1 * missed + 0.9 * hit - 1.0).abs() < 1e-12);
    }

    #[test]
    fn it_stays_on_and_is_stored_whole() {
        let failure = FailureProbability::new(0.05).unwrap();
        let mut alarm = CoverageAlarm::new(Miscoverage::new(0.1).unwrap(), failure);
        for _ in 0..5 {
            alarm.update(Covered::No);
        }
        let fired = alarm.state().fired_at;
        assert!(fired.is_some());
        for _ in 0..500 {
            alarm.update(Covered::Yes);
        }
        assert_eq!(alarm.state().fired_at, fired);
        assert!(alarm.state().e_value() < 1.0);
        let text = serde_json::to_string(&alarm).unwrap();
        assert_eq!(serde_json::from_str::<CoverageAlarm>(&text).unwrap(), alarm);
        for damage in
            [("0.1", "1.5"), ("0.05", "null"), ("\"fired_at\":", "\"fired_at\":9999,\"x\":")]
        {
            assert!(
                serde_json::from_str::<CoverageAlarm>(&text.replace(damage.0, damage.1)).is_err()
            );
        }
    }

    #[test]
    fn no_count_breaks_it() {
        for (alpha, delta) in
            [(1e-300, 1e-300), (1.0 - 1e-16, 0.999), (0.5, 5e-324), (1e-320, 0.05), (5e-324, 0.05)]
        {
            for (misses, hits) in [(u64::MAX, 0), (0, u64::MAX), (u64::MAX, u64::MAX), (0, 300)] {
                let stored = Stored { alpha, delta, misses, hits, fired_at: None };
                let mut alarm = CoverageAlarm::try_from(stored).unwrap();
                assert!(!alarm.state().ln_e_value.is_nan());
                assert!(!alarm.update(Covered::No).ln_e_value.is_nan());
            }
        }
        // Labels that are all covered speak for no loss, however small the rate.
        let mut alarm = CoverageAlarm::try_from(Stored {
            alpha: 1e-320,
            delta: 0.05,
            misses: 0,
            hits: 299,
            fired_at: None,
        })
        .unwrap();
        assert!(alarm.update(Covered::Yes).ln_e_value < 0.0);
    }
}
