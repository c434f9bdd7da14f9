//! Readings at one threshold: a coverage for each, an estimate with its range, a verdict and the loss.

use serde::{Deserialize, Serialize};

use super::score_laws::ScoreLaws;
use super::{ReadingName, Standing, Verdict};
use crate::level::Level;
use crate::threshold::Threshold;

/// What one reading says of a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Which.
    pub name: ReadingName,
    /// `F(t)`, the coverage of the target data under it.
    pub coverage: f64,
    /// `e = 1.645 sqrt(max(F (1 - F), 1/k) / k)`; `k` rows, all or a sample, give the coverage.
    pub sampling_error: f64,
    /// How it is known.
    pub standing: Standing,
}

/// The coverage of the target data at a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CoverageEstimate {
    /// Coverage under the reading it is named after.
    pub value: f64,
    /// Lowest coverage among the readings and both ends of the band, each with its sampling error.
    pub low: f64,
    /// Highest.
    pub high: f64,
    /// The reading that gives the value.
    pub reading: ReadingName,
    /// How it is known.
    pub standing: Standing,
}

/// Coverage lost against the level, in percentage points; zero where nothing was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CoverageLoss {
    /// By the estimate.
    pub value: f64,
    /// By the highest coverage of its range.
    pub low: f64,
    /// By the lowest.
    pub high: f64,
}

/// All that the readings say of one threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Readings {
    /// The threshold; none is infinite.
    pub threshold: Option<f64>,
    /// The coverage asked for.
    pub level: f64,
    /// One number with its range.
    pub coverage_estimate: CoverageEstimate,
    /// What each reading says: calibrated, class-shares, matched, and those that were given or found beside them.
    pub readings: Vec<Reading>,
    /// Coverage under the laws matched to both ends of the band around the accuracy.
    pub band: [f64; 2],
    /// What to make of them.
    pub verdict: Verdict,
    /// What is lost.
    pub loss: CoverageLoss,
}

impl ScoreLaws {
    /// What the readings say of a threshold that should cover `level`; the value is that of `class-shares`.
    pub fn readings(&self, threshold: Threshold, level: Level) -> Readings {
        self.readings_by(ReadingName::ClassShares, threshold, level)
    }

    /// The same with the value of a chosen reading.
    pub fn readings_by(&self, chosen: ReadingName, threshold: Threshold, level: Level) -> Readings {
        let (at, level) = (threshold.get(), level.get());
        let reading = |name: ReadingName| {
            let coverage = self.cdf(name, at);
            let sampling_error = self.sampling_error(name, coverage);
            Reading { name, coverage, sampling_error, standing: Standing::Assumed }
        };
        let judged: Vec<(f64, f64)> = self
            .judged()
            .into_iter()
            .map(reading)
            .map(|reading| (reading.coverage, reading.sampling_error))
            .collect();
        let (low, high) = self.hull(&self.enclosing(), at);
        let value = self.cdf(chosen, at);
        let lost = |coverage: f64| 100.0 * (level - coverage).max(0.0);
        Readings {
            threshold: at.is_finite().then_some(at),
            level,
            coverage_estimate: CoverageEstimate {
                value,
                // The chosen reading may be none of the hull.
                low: low.min(value),
                high: high.max(value),
                reading: chosen,
                standing: Standing::Assumed,
            },
            readings: self.shown().into_iter().map(reading).collect(),
            band: [ReadingName::BandLow, ReadingName::BandHigh].map(|name| self.cdf(name, at)),
            verdict: match Verdict::of(&judged, level) {
                // All see a loss; how large it is depends on a cause that the outputs leave open.
                Verdict::Loss if self.cause_is_open(at) => Verdict::Unknown,
                verdict => verdict,
            },
            loss: CoverageLoss {
                value: lost(value),
                low: lost(high.max(value)),
                high: lost(low.min(value)),
            },
        }
    }
}
