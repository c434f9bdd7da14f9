//! A random forest of probability trees (Breiman 2001; Malley et al. 2012), as far as the experiment needs it.

use evenkeel::seed::{Seed, Stream};

/// Probabilities are kept this far from 0 and 1, so that odds stay finite, as in the paper's experiment.
const PROBABILITY_MARGIN: f64 = 0.01;

/// How a forest grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForestSettings {
    /// Number of trees.
    pub trees: usize,
    /// Fewest rows of a leaf: probability trees must not grow to single rows.
    pub least_leaf: usize,
    /// Features tried at a split.
    pub tried: usize,
}

impl Default for ForestSettings {
    fn default() -> Self {
        Self { trees: 100, least_leaf: 10, tried: 2 }
    }
}

/// Trees whose leaves hold shares of the second class.
#[derive(Debug, Clone, PartialEq)]
pub struct Forest {
    trees: Vec<Vec<Node>>,
    /// Rows of the first class per row of the second: odds times this are the ratio of densities.
    imbalance: f64,
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Leaf {
        share: f64,
    },
    /// Rows with a value at or below the cut go to the next node, the others to `right`.
    Split {
        feature: usize,
        cut: f64,
        right: usize,
    },
}

impl Forest {
    /// Grows a forest that tells rows of `second` from rows of `first`.
    pub fn grow(
        first: &[f64],
        second: &[f64],
        features: usize,
        settings: ForestSettings,
        seed: Seed,
    ) -> Self {
        let rows: Vec<(&[f64], bool)> = first
            .chunks_exact(features)
            .map(|row| (row, false))
            .chain(second.chunks_exact(features).map(|row| (row, true)))
            .collect();
        let tree = |index: usize| {
            // A stream for each tree: one more tree leaves the others as they are.
            let mut stream = seed.child("trees", index as u64).stream("bootstrap");
            let mut drawn: Vec<usize> = (0..rows.len()).map(|_| stream.below(rows.len())).collect();
            let mut nodes = Vec::new();
            Grower { rows: &rows, features, settings }.grow(&mut drawn, &mut stream, &mut nodes);
            nodes
        };
        let trees = (0..settings.trees).map(tree).collect();
        Self { trees, imbalance: first.len() as f64 / second.len() as f64 }
    }

    /// Probability that a row is of the second class, the mean of the trees.
    pub fn probability(&self, row: &[f64]) -> f64 {
        let share = |nodes: &Vec<Node>| {
            let mut at = 0;
            loop {
                match nodes[at] {
                    Node::Leaf { share } => return share,
                    Node::Split { feature, cut, right } => {
                        at = if row[feature] <= cut { at + 1 } else { right };
                    }
                }
            }
        };
        self.trees.iter().map(share).sum::<f64>() / self.trees.len() as f64
    }

    /// Ratio of the second class's density to the first's.
    pub fn ratio(&self, row: &[f64]) -> f64 {
        let p = self.probability(row).clamp(PROBABILITY_MARGIN, 1.0 - PROBABILITY_MARGIN);
        p / (1.0 - p) * self.imbalance
    }
}

struct Grower<'a> {
    rows: &'a [(&'a [f64], bool)],
    features: usize,
    settings: ForestSettings,
}

impl Grower<'_> {
    fn grow(&self, drawn: &mut [usize], stream: &mut Stream, nodes: &mut Vec<Node>) {
        let Some((feature, cut)) = self.best_split(drawn, stream) else {
            let second = drawn.iter().filter(|row| self.rows[**row].1).count();
            nodes.push(Node::Leaf { share: second as f64 / drawn.len() as f64 });
            return;
        };
        drawn.sort_by(|a, b| self.rows[*a].0[feature].total_cmp(&self.rows[*b].0[feature]));
        let left = drawn.partition_point(|row| self.rows[*row].0[feature] <= cut);
        let own = nodes.len();
        // Filled in below: where the right side starts is known once the left side is grown.
        nodes.push(Node::Split { feature, cut, right: 0 });
        let (left, right) = drawn.split_at_mut(left);
        self.grow(left, stream, nodes);
        let start = nodes.len();
        if let Node::Split { right, .. } = &mut nodes[own] {
            *right = start;
        }
        self.grow(right, stream, nodes);
    }

    /// The cut that lowers Gini's impurity most among the features tried; none if no cut leaves two full leaves.
    fn best_split(&self, drawn: &[usize], stream: &mut Stream) -> Option<(usize, f64)> {
        let (n, least) = (drawn.len(), self.settings.least_leaf.max(1));
        let total = drawn.iter().filter(|row| self.rows[**row].1).count();
        if n < 2 * least || total == 0 || total == n {
            return None;
        }
        let impurity = |second: usize, count: usize| {
            let share = second as f64 / count as f64;
            count as f64 * share * (1.0 - share)
        };
        let mut best: Option<(f64, usize, f64)> = None;
        let mut order: Vec<usize> = (0..self.features).collect();
        for place in 0..self.settings.tried.min(self.features) {
            // The first steps of a shuffle: features are tried without repeats.
            order.swap(place, place + stream.below(self.features - place));
            let feature = order[place];
            let mut values: Vec<(f64, bool)> =
                drawn.iter().map(|row| (self.rows[*row].0[feature], self.rows[*row].1)).collect();
            values.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut second = 0;
            for count in 1..=n - least {
                second += usize::from(values[count - 1].1);
                // No cut falls between equal values.
                if count < least || values[count - 1].0 >= values[count].0 {
                    continue;
                }
                let left = impurity(second, count) + impurity(total - second, n - count);
                if best.is_none_or(|(smallest, ..)| left < smallest) {
                    best =
                        Some((left, feature, f64::midpoint(values[count - 1].0, values[count].0)));
                }
            }
        }
        // A cut that gains nothing would only cost depth.
        best.filter(|(left, ..)| *left < impurity(total, n)).map(|(_, feature, cut)| (feature, cut))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Densities 1 and `2x` on `[0, 1]`: the ratio is `2x`.
    #[test]
    fn a_known_ratio_is_found() {
        let mut stream = Seed::new(2).stream("forest");
        let first: Vec<f64> = (0..3000).map(|_| stream.uniform()).collect();
        let second: Vec<f64> = (0..1500).map(|_| stream.uniform().sqrt()).collect();
        let settings = ForestSettings { least_leaf: 100, tried: 1, ..ForestSettings::default() };
        let forest = Forest::grow(&first, &second, 1, settings, Seed::new(1));
        for x in [0.2, 0.4, 0.6, 0.8] {
            let ratio = forest.ratio(&[x]);
            assert!((ratio - 2.0 * x).abs() < 0.35, "at {x}: {ratio}");
        }
        assert_eq!(forest, Forest::grow(&first, &second, 1, settings, Seed::new(1)));
    }

    #[test]
    fn one_sided_and_constant_rows_make_a_leaf() {
        let forest =
            Forest::grow(&[1.0; 40], &[1.0; 40], 1, ForestSettings::default(), Seed::new(1));
        assert!((forest.probability(&[1.0]) - 0.5).abs() < 0.05);
        assert!((forest.ratio(&[5.0]) - 1.0).abs() < 0.2);
    }
}
