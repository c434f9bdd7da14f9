//! A gambler against "the ranks are uniform": the simple jumper.
//!
//! ```text
//! bet e in {-1, -1/2, 0, 1/2, 1} returns 1 + e (u - 1/2);   before each rank a share 0.01 of the wealth is dealt anew to all bets
//! ```
//! (V. Vovk, I. Petej, I. Nouretdinov and others, Retrain or not retrain, 2021.) Every bet returns 1 on average while `u` is uniform,
//! so that the wealth is a martingale from 1: it ever reaches `1/d` with probability at most `d` (Ville).

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// How large the bets are, and on which side.
const BETS: [f64; 5] = [-1.0, -0.5, 0.0, 0.5, 1.0];
/// Share of the wealth that is dealt anew before each rank.
const JUMP: f64 = 0.01;

/// The wealth, and how it is divided among the bets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub(super) struct SimpleJumper {
    /// `ln` of the wealth.
    ln_wealth: f64,
    /// Largest it has been.
    ln_highest: f64,
    /// Share of each bet; they sum to one.
    shares: [f64; 5],
}

impl SimpleJumper {
    pub(super) fn new() -> Self {
        Self { ln_wealth: 0.0, ln_highest: 0.0, shares: [1.0 / BETS.len() as f64; 5] }
    }

    /// Bets on the next rank.
    #[inline]
    pub(super) fn bet(&mut self, u: f64) {
        let centred = u - 0.5;
        let dealt = JUMP / BETS.len() as f64;
        let mut returned = [0.0; 5];
        let mut total = 0.0;
        for ((back, share), bet) in returned.iter_mut().zip(self.shares).zip(BETS) {
            *back = ((1.0 - JUMP) * share + dealt) * (1.0 + bet * centred);
            total += *back;
        }
        // At least 1/2: no bet loses more than half of itself.
        self.shares = returned.map(|back| back / total);
        self.ln_wealth += total.ln();
        self.ln_highest = self.ln_highest.max(self.ln_wealth);
    }

    pub(super) fn ln_wealth(&self) -> f64 {
        self.ln_wealth
    }

    pub(super) fn ln_highest(&self) -> f64 {
        self.ln_highest
    }
}

/// As it is stored; checked when read back.
#[derive(Deserialize)]
struct Stored {
    ln_wealth: f64,
    ln_highest: f64,
    shares: [f64; 5],
}

impl TryFrom<Stored> for SimpleJumper {
    type Error = Error;

    fn try_from(Stored { ln_wealth, ln_highest, shares }: Stored) -> Result<Self> {
        let whole = (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9;
        let fits = whole
            && shares.iter().all(|share| (0.0..=1.0).contains(share))
            && ln_wealth.is_finite()
            && ln_highest.is_finite()
            && ln_highest >= ln_wealth.max(0.0);
        match fits {
            true => Ok(Self { ln_wealth, ln_highest, shares }),
            false => Err(Error::Damaged {
                what: "the stream alarm",
                why: "the shares of its bets are not those of one wealth",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// The definition, without normalising.
    #[test]
    fn it_is_the_sum_over_its_bets() {
        let mut stream = Seed::new(1).stream("jumper");
        let (mut jumper, mut wealth) = (SimpleJumper::new(), [0.2_f64; 5]);
        for _ in 0..200 {
            let u = stream.uniform().powi(2);
            jumper.bet(u);
            let total: f64 = wealth.iter().sum();
            for (capital, bet) in wealth.iter_mut().zip(BETS) {
                *capital = (0.99 * *capital + 0.01 * total / 5.0) * (1.0 + bet * (u - 0.5));
            }
            assert!((jumper.ln_wealth() - wealth.iter().sum::<f64>().ln()).abs() < 1e-9);
        }
        assert!(jumper.ln_wealth() > 5.0);
    }
}
