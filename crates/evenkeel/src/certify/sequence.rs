//! An interval for a coverage that holds after every label at once.
//!
//! ```text
//! for every p of a grid:  K+ = prod 1 + l+ (x_t - p),  K- = prod 1 - l- (x_t - p),   l+ = min(l_t, 1/(2p)), l- = min(l_t, 1/(2(1-p)))
//! l_t = sqrt(2 ln(2/d) / (v_(t-1) t ln(t + 1))),   v_t = (1/4 + sum (x_i - m_i)^2) / (t + 1),   m_t = (1/2 + sum x_i) / (t + 1)
//! interval: the p that max(K+, K-)/2 never brought to 1/d
//! ```
//! (Waudby-Smith & Ramdas, Estimating means of bounded random variables by betting, 2024: hedged capital.) If coverage is `p`, both
//! capitals are martingales, so `p` is ever left out with probability at most `d`.
//!
//! The grid has 2000 cells, judged at their middles, and the ends are those of the outermost cells left: exact to half a cell, a
//! fortieth of a point. With labels that are covered or not, `K+` falls and `K-` rises with `p`, so what is left is always one run of cells.

use serde::{Deserialize, Serialize};

use super::alarm::Covered;
use crate::error::{Error, Result};
use crate::level::FailureProbability;

const CELLS: usize = 2000;
/// The largest share of the capital at stake.
const STAKE: f64 = 0.5;

/// A running interval for the coverage of labels that come one by one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct CoverageSequence {
    delta: f64,
    labels: u64,
    covered: u64,
    /// `1/4 + sum (x_i - m_i)^2`.
    spread: f64,
    /// First cell left.
    first: usize,
    /// `K+` of the cells left.
    rising: Vec<f64>,
    /// `K-` of them.
    falling: Vec<f64>,
    standing: SequenceStanding,
}

/// Whether one coverage explains all labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SequenceStanding {
    /// Some coverage does.
    Holds,
    /// No coverage does: it changed along the way (or this is the one case in `1/d`). The interval is the last that held.
    NoCoverageFits,
}

/// What is known after a label.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SequenceState {
    /// Labels seen.
    pub labels: u64,
    /// Labels that were in their sets.
    pub covered: u64,
    /// Lowest coverage, in `[0, 1]`; it never falls.
    pub low: f64,
    /// Highest coverage, in `[0, 1]`; it never rises.
    pub high: f64,
    /// Confidence `1 - d` with which all intervals hold together.
    pub confidence: f64,
    /// Whether one coverage explains all labels.
    pub standing: SequenceStanding,
}

impl CoverageSequence {
    /// A sequence of intervals that all hold together with probability `1 - d`.
    pub fn new(failure: FailureProbability) -> Self {
        Self {
            delta: failure.get(),
            labels: 0,
            covered: 0,
            spread: 0.25,
            first: 0,
            rising: vec![1.0; CELLS],
            falling: vec![1.0; CELLS],
            standing: SequenceStanding::Holds,
        }
    }

    /// Takes the next label: whether it lay in its set.
    pub fn update(&mut self, covered: Covered) -> SequenceState {
        let t = self.labels.saturating_add(1) as f64;
        let x = match covered {
            Covered::Yes => 1.0,
            Covered::No => 0.0,
        };
        if self.standing == SequenceStanding::Holds {
            let variance = self.spread / t;
            let bet = (2.0 * (2.0 / self.delta).ln() / (variance * t * (t + 1.0).ln())).sqrt();
            self.settle(bet, covered);
            self.leave_out();
        }
        self.labels = self.labels.saturating_add(1);
        self.covered = self.covered.saturating_add(u64::from(covered == Covered::Yes));
        let mean = (0.5 + self.covered as f64) / (t + 1.0);
        self.spread += (x - mean) * (x - mean);
        self.state()
    }

    /// Multiplies every capital by what the bet returns.
    fn settle(&mut self, bet: f64, covered: Covered) {
        let capitals = self.rising.iter_mut().zip(&mut self.falling);
        for (cell, (rising, falling)) in (self.first..).zip(capitals) {
            let p = middle(cell);
            // l+ p and l- (1 - p) are the stakes; what a covered label returns is in proportion.
            let (up, down) = (bet.min(STAKE / p), bet.min(STAKE / (1.0 - p)));
            match covered {
                Covered::Yes => {
                    *rising *= 1.0 + up * (1.0 - p);
                    *falling *= 1.0 - down * (1.0 - p);
                }
                Covered::No => {
                    *rising *= 1.0 - up * p;
                    *falling *= 1.0 + down * p;
                }
            }
        }
    }

    /// Drops the cells at both ends whose capital has reached `2/d`.
    fn leave_out(&mut self) {
        let enough = 2.0 / self.delta;
        let below = self.rising.iter().take_while(|capital| **capital >= enough).count();
        let above = self.falling.iter().rev().take_while(|capital| **capital >= enough).count();
        let cells = self.rising.len();
        if below + above >= cells {
            self.standing = SequenceStanding::NoCoverageFits;
            // No bet is placed any more, and a capital of a lost game may be too large to be stored.
            self.rising.iter_mut().chain(&mut self.falling).for_each(|capital| *capital = 0.0);
            return;
        }
        for capitals in [&mut self.rising, &mut self.falling] {
            capitals.truncate(cells - above);
            capitals.drain(..below);
        }
        self.first += below;
    }

    /// What is known so far.
    pub fn state(&self) -> SequenceState {
        SequenceState {
            labels: self.labels,
            covered: self.covered,
            low: self.first as f64 / CELLS as f64,
            high: (self.first + self.rising.len()) as f64 / CELLS as f64,
            confidence: 1.0 - self.delta,
            standing: self.standing,
        }
    }
}

fn middle(cell: usize) -> f64 {
    (cell as f64 + 0.5) / CELLS as f64
}

/// As it is stored; checked when read back.
#[derive(Deserialize)]
struct Stored {
    delta: f64,
    labels: u64,
    covered: u64,
    spread: f64,
    first: usize,
    rising: Vec<f64>,
    falling: Vec<f64>,
    standing: SequenceStanding,
}

impl TryFrom<Stored> for CoverageSequence {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        let Stored { delta, labels, covered, spread, first, rising, falling, standing } = stored;
        FailureProbability::new(delta)?;
        let capital = |value: &f64| value.is_finite() && *value >= 0.0;
        let cells = rising.len();
        let fits = covered <= labels
            && spread.is_finite()
            && spread >= 0.25
            && cells == falling.len()
            && cells > 0
            && first.checked_add(cells).is_some_and(|last| last <= CELLS)
            && rising.iter().chain(&falling).all(capital);
        if fits {
            Ok(Self { delta, labels, covered, spread, first, rising, falling, standing })
        } else {
            Err(Error::Damaged {
                what: "the coverage sequence",
                why: "its capitals are not those of its labels",
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn sequence(delta: f64) -> CoverageSequence {
        CoverageSequence::new(FailureProbability::new(delta).unwrap())
    }

    /// The definition, without the order of the capitals: every cell of the grid on its own, in logarithms.
    #[test]
    fn it_is_what_every_cell_says_on_its_own() {
        let mut stream = Seed::new(4).stream("cells");
        let mut found = sequence(0.1);
        let mut logs = vec![(0.0_f64, 0.0_f64, true); CELLS];
        let (mut sum, mut spread) = (0.5, 0.25);
        for t in 1..=300 {
            let covered = stream.uniform() < 0.8;
            let (time, x) = (f64::from(t), f64::from(u8::from(covered)));
            let bet = (2.0 * 20.0_f64.ln() / (spread / time * time * (time + 1.0).ln())).sqrt();
            for (cell, (up, down, left)) in logs.iter_mut().enumerate() {
                let p = middle(cell);
                *up += (1.0 + bet.min(0.5 / p) * (x - p)).ln();
                *down += (1.0 - bet.min(0.5 / (1.0 - p)) * (x - p)).ln();
                *left &= up.max(*down) < 20.0_f64.ln();
            }
            sum += x;
            spread += (x - sum / (time + 1.0)).powi(2);
            let state = found.update(covered.into());
            let cells: Vec<usize> = (0..CELLS).filter(|cell| logs[*cell].2).collect();
            assert_eq!(state.low, cells[0] as f64 / 2000.0);
            assert_eq!(state.high, (cells[cells.len() - 1] + 1) as f64 / 2000.0);
        }
    }

    #[test]
    fn a_coverage_that_changes_is_said() {
        let mut found = sequence(0.05);
        for _ in 0..400 {
            found.update(Covered::Yes);
        }
        let before = found.state();
        assert_eq!(before.standing, SequenceStanding::Holds);
        for _ in 0..2000 {
            found.update(Covered::No);
        }
        let after = found.state();
        assert_eq!(after.standing, SequenceStanding::NoCoverageFits);
        assert!(after.low >= before.low && after.low < after.high && after.high <= 1.0);
        assert_eq!((after.labels, after.covered), (2400, 400));
    }

    #[test]
    fn stored_half_way_it_goes_on_the_same() {
        let mut stream = Seed::new(9).stream("stored");
        let (mut one, mut other) = (sequence(0.05), sequence(0.05));
        for _ in 0..200 {
            let covered = Covered::from(stream.uniform() < 0.9);
            one.update(covered);
            let text = serde_json::to_string(&other).unwrap();
            other = serde_json::from_str(&text).unwrap();
            other.update(covered);
        }
        assert_eq!(one, other);
        let text = serde_json::to_string(&one).unwrap();
        for (from, to) in
            [("\"covered\":", "\"covered\":9"), ("\"first\":", "\"first\":19"), ("0.05", "0.0")]
        {
            assert!(
                serde_json::from_str::<CoverageSequence>(&text.replace(from, to)).is_err(),
                "{from}"
            );
        }
    }

    #[test]
    fn any_confidence_and_stream_end_well() {
        for delta in [f64::MIN_POSITIVE, 0.5, 1.0 - f64::EPSILON] {
            for turn in [1_u32, 2, 7, 1000] {
                let mut found = sequence(delta);
                for t in 0..3000 {
                    let state = found.update(Covered::from(t % turn == 0));
                    assert!(0.0 <= state.low && state.low < state.high && state.high <= 1.0);
                }
            }
        }
    }
}
