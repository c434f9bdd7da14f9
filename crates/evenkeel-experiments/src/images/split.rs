//! Which rows play which role; no image plays two.

use std::collections::BTreeSet;

use evenkeel::seed::{Seed, Stream};
use serde::{Deserialize, Serialize};

use super::softmax::SoftmaxTable;
use crate::draws::{dirichlet, permutation};
use crate::error::{Error, Result};

/// Whether the labels of the target data have the class frequencies of the calibration data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelMarginal {
    /// With the class frequencies of the calibration data.
    Same,
    /// With frequencies drawn from a Dirichlet law around those of the calibration data.
    Shifted,
}

impl LabelMarginal {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Same, Self::Shifted];

    /// In the names of cells.
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same-labels",
            Self::Shifted => "label-shift",
        }
    }

    /// In tables.
    pub fn words(self) -> &'static str {
        match self {
            Self::Same => "no label shift",
            Self::Shifted => "with label shift",
        }
    }
}

/// Concentration of the Dirichlet law, as in the paper: `c_k = 10 P(k)`.
pub const LABEL_SHIFT_GAMMA: f64 = 10.0;

/// Fewest rows a sample with label shift may hold, unlabeled and test rows together; a marginal that allows fewer is drawn
/// again. With many classes, or one that the target table hardly holds, `N = min_k count_k / q_k` falls to a handful.
pub const LABEL_SHIFT_LEAST: usize = 100;

/// Marginals drawn at most before a cell is left out.
pub const LABEL_SHIFT_DRAWS: usize = 100;

/// How many rows play which role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoleSizes {
    /// Labeled clean rows.
    pub calibration: usize,
    /// Unlabeled rows of the target data; half of what there is, if label shift leaves fewer than twice as many.
    pub unlabeled: usize,
    /// Labeled rows of the target data at most.
    pub test: usize,
}

/// Rows by role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Rows of the clean table.
    pub calibration: Vec<usize>,
    /// Rows of the shifted table, unlabeled.
    pub unlabeled: Vec<usize>,
    /// Rows of the shifted table, for measuring.
    pub test: Vec<usize>,
    /// Label marginals that were drawn and allowed fewer than [`LABEL_SHIFT_LEAST`] rows.
    pub redraws: usize,
}

impl Split {
    /// Deals rows out: calibration rows from the clean table; then, among the shifted rows that show none of their images,
    /// unlabeled and test rows. [`Error::SmallLabelShift`] if no marginal drawn allows [`LABEL_SHIFT_LEAST`] rows.
    pub fn deal(
        clean: &SoftmaxTable,
        shifted: &SoftmaxTable,
        sizes: RoleSizes,
        labels: LabelMarginal,
        seed: Seed,
    ) -> Result<Self> {
        if clean.rows() < sizes.calibration {
            let what = "the clean table".to_owned();
            let (found, needed) = (clean.rows(), sizes.calibration);
            return Err(Error::TooFewRows { what, found, needed });
        }
        let mut calibration = permutation(&mut seed.stream("calibration-rows"), clean.rows());
        calibration.truncate(sizes.calibration);
        // By image and not by row: the two tables may list their images in different orders.
        let taken: BTreeSet<usize> = calibration.iter().map(|row| clean.image_ids[*row]).collect();
        let order = permutation(&mut seed.stream("shifted-rows"), shifted.rows());
        let free: Vec<usize> =
            order.into_iter().filter(|row| !taken.contains(&shifted.image_ids[*row])).collect();
        let (mut target, redraws) = match labels {
            LabelMarginal::Same => (free, 0),
            LabelMarginal::Shifted => with_label_shift(&free, clean, shifted, seed)?,
        };
        let unlabeled = match labels {
            LabelMarginal::Same => sizes.unlabeled,
            // Label shift leaves as many rows as the rarest class allows; half of them must remain
            // for testing.
            LabelMarginal::Shifted => sizes.unlabeled.min(target.len() / 2),
        };
        if unlabeled == 0 || target.len() <= unlabeled {
            let what = "the shifted table, without the calibration images,".to_owned();
            return Err(Error::TooFewRows {
                what,
                found: target.len(),
                needed: unlabeled.max(1) + 1,
            });
        }
        let mut test = target.split_off(unlabeled);
        test.truncate(sizes.test);
        Ok(Self { calibration, unlabeled: target, test, redraws })
    }
}

impl Split {
    /// The same rows with unlabeled and test rows dealt anew, in a random order.
    ///
    /// A sample with label shift holds the first rows of every class, as many as its share asks for: classes of small shares run
    /// out early, and the first rows have other class shares than the last. Labels of unlabeled rows then speak of other rows than
    /// those the coverage is measured on. Mixed, both are random draws of one sample.
    #[must_use]
    pub fn mixed(self, seed: Seed) -> Self {
        let Self { calibration, unlabeled, test, redraws } = self;
        let rows = [&unlabeled[..], &test].concat();
        let order = permutation(&mut seed.stream("mixed-target-rows"), rows.len());
        let mut target: Vec<usize> = order.into_iter().map(|place| rows[place]).collect();
        let test = target.split_off(unlabeled.len());
        Self { calibration, unlabeled: target, test, redraws }
    }
}

/// A large enough sample that follows a drawn label marginal, and how many marginals allowed none.
///
/// Drawing again makes the law of marginals milder than the Dirichlet law; how often it happened is therefore told.
fn with_label_shift(
    rows: &[usize],
    clean: &SoftmaxTable,
    shifted: &SoftmaxTable,
    seed: Seed,
) -> Result<(Vec<usize>, usize)> {
    let mut stream = seed.stream("label-marginal");
    let mut largest = 0;
    for redraws in 0..LABEL_SHIFT_DRAWS {
        let sample = resampled(rows, shifted, &shifted_marginal(clean, &mut stream));
        if sample.len() >= LABEL_SHIFT_LEAST {
            return Ok((sample, redraws));
        }
        largest = largest.max(sample.len());
    }
    Err(Error::SmallLabelShift { largest, least: LABEL_SHIFT_LEAST, draws: LABEL_SHIFT_DRAWS })
}

/// A label marginal from `Dirichlet(gamma P)`, `P` being the clean table's.
fn shifted_marginal(clean: &SoftmaxTable, stream: &mut Stream) -> Vec<f64> {
    let mut counts = vec![0.0; clean.classes];
    clean.labels.iter().for_each(|label| counts[*label] += 1.0);
    let scale = LABEL_SHIFT_GAMMA / clean.rows() as f64;
    let concentrations: Vec<f64> = counts.iter().map(|count| count * scale).collect();
    dirichlet(stream, &concentrations)
}

/// The largest sample without replacement that follows a label marginal: `floor(N q_k)` rows of class `k`, with
/// `N = min_k count_k / q_k`. Rows keep their order.
fn resampled(rows: &[usize], table: &SoftmaxTable, marginal: &[f64]) -> Vec<usize> {
    let mut counts = vec![0_usize; marginal.len()];
    rows.iter().for_each(|row| counts[table.labels[*row]] += 1);
    // A class that target table does not hold cannot be asked for.
    let possible =
        counts.iter().zip(marginal).filter(|(count, share)| **count > 0 && **share > 0.0);
    let total: f64 = possible.clone().map(|(_, share)| share).sum();
    let size =
        possible.map(|(count, share)| *count as f64 * total / share).fold(f64::INFINITY, f64::min);
    let mut left: Vec<usize> = counts
        .iter()
        .zip(marginal)
        // The class that limits the size is taken whole, whatever its product rounds to.
        .map(|(count, share)| ((size * share / total + 1e-9) as usize).min(*count))
        .collect();
    let take = |row: &&usize| {
        let left = &mut left[table.labels[**row]];
        let taken = *left > 0;
        *left -= usize::from(taken);
        taken
    };
    rows.iter().filter(take).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows in order, or reversed, so that a row number alone does not tell the image.
    fn table(rows: usize, reversed: bool) -> SoftmaxTable {
        let id = |row: usize| if reversed { rows - 1 - row } else { row };
        SoftmaxTable {
            probabilities: vec![0.25; 4 * rows],
            classes: 4,
            labels: (0..rows).map(|row| id(row) % 4).collect(),
            image_ids: (0..rows).map(id).collect(),
        }
    }

    #[test]
    fn no_calibration_image_reappears_target() {
        let (clean, shifted) = (table(400, false), table(400, true));
        let sizes = RoleSizes { calibration: 100, unlabeled: 60, test: usize::MAX };
        for seed in 0..20 {
            for labels in LabelMarginal::ALL {
                let split = Split::deal(&clean, &shifted, sizes, labels, Seed::new(seed)).unwrap();
                let calibration: BTreeSet<usize> =
                    split.calibration.iter().map(|row| clean.image_ids[*row]).collect();
                assert_eq!(calibration.len(), 100);
                let target: Vec<usize> = [&split.unlabeled[..], &split.test]
                    .concat()
                    .iter()
                    .map(|row| shifted.image_ids[*row])
                    .collect();
                assert!(target.iter().all(|id| !calibration.contains(id)));
                assert_eq!(target.iter().collect::<BTreeSet<_>>().len(), target.len());
                if labels == LabelMarginal::Same {
                    assert_eq!((split.unlabeled.len(), split.test.len()), (60, 240));
                }
            }
        }
    }

    /// Class 3 has twelve rows in the target data but a quarter of the calibration labels: most marginals allow fewer
    /// than a hundred rows.
    #[test]
    fn marginals_that_a_rare_class_makes_small_are_drawn_again() {
        let (clean, mut shifted) = (table(400, false), table(400, true));
        let mut left = 12;
        for label in shifted.labels.iter_mut().filter(|label| **label == 3) {
            if left == 0 {
                *label = 0;
            } else {
                left -= 1;
            }
        }
        let sizes = RoleSizes { calibration: 1, unlabeled: 60, test: usize::MAX };
        let mut redraws = 0;
        for seed in 0..20 {
            let seed = Seed::new(seed);
            let split = Split::deal(&clean, &shifted, sizes, LabelMarginal::Shifted, seed).unwrap();
            assert!(split.unlabeled.len() + split.test.len() >= LABEL_SHIFT_LEAST);
            assert!(split.unlabeled.len() >= LABEL_SHIFT_LEAST / 2);
            redraws += split.redraws;
        }
        assert!(redraws > 20, "{redraws}");
    }

    #[test]
    fn a_table_too_small_for_any_marginal_is_no_cell() {
        let (clean, shifted) = (table(400, false), table(90, true));
        let sizes = RoleSizes { calibration: 1, unlabeled: 20, test: usize::MAX };
        let found = Split::deal(&clean, &shifted, sizes, LabelMarginal::Shifted, Seed::new(1));
        assert!(matches!(found, Err(Error::SmallLabelShift { largest: 1..90, .. })), "{found:?}");
    }

    /// As dealt, the class shares of unlabeled and test rows differ by far more than chance; mixed, they do not.
    #[test]
    fn mixing_gives_unlabeled_and_test_rows_one_law() {
        let (clean, shifted) = (table(4000, false), table(4000, true));
        let sizes = RoleSizes { calibration: 100, unlabeled: 300, test: usize::MAX };
        let distance = |split: &Split| {
            let shares = |rows: &[usize]| {
                let mut counts = [0.0; 4];
                rows.iter().for_each(|row| counts[shifted.labels[*row]] += 1.0 / rows.len() as f64);
                counts
            };
            let (unlabeled, test) = (shares(&split.unlabeled), shares(&split.test));
            unlabeled.iter().zip(test).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0
        };
        let (mut dealt, mut mixed) = (0.0, 0.0);
        for seed in 0..20 {
            let seed = Seed::new(seed);
            let split = Split::deal(&clean, &shifted, sizes, LabelMarginal::Shifted, seed).unwrap();
            dealt += distance(&split) / 20.0;
            let before: BTreeSet<usize> =
                split.unlabeled.iter().chain(&split.test).copied().collect();
            let split = split.mixed(seed);
            assert_eq!(split.unlabeled.len(), 300);
            assert_eq!(
                split.unlabeled.iter().chain(&split.test).copied().collect::<BTreeSet<_>>(),
                before
            );
            mixed += distance(&split) / 20.0;
        }
        // 300 rows of four classes differ from their law by 0.035 on average.
        assert!(mixed < 0.06 && dealt > 2.0 * mixed, "{dealt} {mixed}");
    }

    #[test]
    fn resampling_follows_the_marginal_and_takes_as_much_as_it_can() {
        let table = table(400, false);
        let rows: Vec<usize> = (0..400).collect();
        let sample = resampled(&rows, &table, &[0.5, 0.25, 0.25, 0.0]);
        let mut counts = [0; 4];
        sample.iter().for_each(|row| counts[table.labels[*row]] += 1);
        assert_eq!(counts, [100, 50, 50, 0]);
    }
}
