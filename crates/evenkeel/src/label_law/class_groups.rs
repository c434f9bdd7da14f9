//! Stage 2: classes that the unlabeled points are too few to tell apart share a group.
//!
//! ```text
//! groups   each class its own if C <= max(2, floor(m / 10)), else that many by k-means on the classes' profiles
//! profile  column of the calibration logits: rows centred, then the column standardised over the n points
//! prior    pi_g = (labels in g + 1) / (n + G)
//! ```

use serde::{Deserialize, Serialize};

use super::labeled_logits::LabeledLogits;
use crate::numeric::simd::in_widest_registers;
use crate::numeric::sum_in_lanes;

/// Unlabeled points asked for per group: a histogram of `m` points over `G` groups is mostly noise
/// when its cells hold fewer.
pub(crate) const POINTS_PER_GROUP: u64 = 10;
/// Fewest groups, however few the points: one group would leave nothing to transport between.
const LEAST_GROUPS: u64 = 2;
/// Rounds of k-means, a bound on the time; it settles in a few tens.
const MOST_ROUNDS: usize = 100;
/// A centre this close to a profile (in units of the squared norm of one) is the profile.
const SAME_PROFILE: f64 = 1e-12;

/// The group of every class, and how likely each group is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassGroups {
    /// Group of each class; shape `(C,)`.
    pub group_of: Vec<usize>,
    /// `pi_g`; shape `(G,)`.
    pub prior: Vec<f64>,
}

impl ClassGroups {
    /// Groups for `m` unlabeled points, and their prior from the labels of the `n` labeled ones.
    ///
    /// At most `max(2, m / 10)` groups come out, and fewer where profiles coincide.
    pub(crate) fn new(labeled: &LabeledLogits, m: u64) -> Self {
        let classes = labeled.classes();
        let most = (m / POINTS_PER_GROUP).max(LEAST_GROUPS);
        let group_of = if classes as u64 <= most {
            (0..classes).collect()
        } else {
            k_means(&profiles(labeled), labeled.len(), most as usize)
        };
        let groups = group_of.iter().max().map_or(0, |largest| largest + 1);
        // One imagined label in each group: a group without labels would have the log-prior
        // -infinity, and the fixed point of the plan takes the logarithm of every prior.
        let mut counts = vec![1.0; groups];
        labeled.labels().iter().for_each(|label| counts[group_of[*label]] += 1.0);
        let total = (labeled.len() + groups) as f64;
        Self { group_of, prior: counts.iter().map(|count| count / total).collect() }
    }

    /// `G`, the number of groups, in `1..=C`.
    pub(crate) fn len(&self) -> usize {
        self.prior.len()
    }

    /// Whether each class is a group of its own. Groups are numbered without gaps, so that their
    /// number alone decides it.
    pub(crate) fn are_the_classes(&self) -> bool {
        self.len() == self.group_of.len()
    }

    /// `out_g = sum of row_y over the classes y of group g`; shapes `(C,)` into `(G,)`.
    #[inline]
    pub(crate) fn gather(&self, row: &[f64], out: &mut [f64]) {
        if self.are_the_classes() {
            out.copy_from_slice(row);
            return;
        }
        out.fill(0.0);
        for (value, group) in row.iter().zip(&self.group_of) {
            out[*group] += value;
        }
    }
}

/// One profile of length `n` per class, class after class; shape `(C, n)`.
///
/// Each has mean 0 and squared norm `n`. A column that is constant becomes zero.
fn profiles(labeled: &LabeledLogits) -> Vec<f64> {
    let (n, classes) = (labeled.len(), labeled.classes());
    let mut profiles = vec![0.0; n * classes];
    for (point, row) in labeled.logits().chunks_exact(classes).enumerate() {
        // A softmax does not see what is added to a whole row, so profiles must not either.
        let mean = sum_in_lanes(row) / classes as f64;
        for (class, value) in row.iter().enumerate() {
            profiles[class * n + point] = value - mean;
        }
    }
    for profile in profiles.chunks_exact_mut(n) {
        let mean = sum_in_lanes(profile) / n as f64;
        profile.iter_mut().for_each(|value| *value -= mean);
        let spread = (profile.iter().map(|value| value * value).sum::<f64>() / n as f64).sqrt();
        // A class whose centred logit never moves, or moves by rounding only, has no profile.
        let scale = if spread > 1e-12 * (1.0 + mean.abs()) { 1.0 / spread } else { 0.0 };
        profile.iter_mut().for_each(|value| *value *= scale);
    }
    profiles
}

/// Lloyd's algorithm from farthest-point centres: the profile farthest from the mean first, then each time the one
/// farthest from its nearest centre. Nothing is drawn, ties go to the smaller class, and groups are numbered by their
/// first class. Fewer groups than asked for come out where profiles coincide or a group loses its last class.
fn k_means(profiles: &[f64], length: usize, groups: usize) -> Vec<usize> {
    let mean = mean_of(profiles.chunks_exact(length), length);
    // From the mean, not from class 0: the choice would then hang on how the classes are numbered.
    let mut distances: Vec<f64> =
        profiles.chunks_exact(length).map(|profile| squared_distance(profile, &mean)).collect();
    let mut centres: Vec<f64> = Vec::with_capacity(groups * length);
    while centres.len() < groups * length {
        let (farthest, distance) = largest(&distances);
        // Every profile has a centre already: another centre would start an empty group.
        if !centres.is_empty() && distance <= SAME_PROFILE * length as f64 {
            break;
        }
        let centre = profiles[farthest * length..][..length].to_vec();
        let first = centres.is_empty();
        for (nearest, profile) in distances.iter_mut().zip(profiles.chunks_exact(length)) {
            let distance = squared_distance(profile, &centre);
            *nearest = if first { distance } else { nearest.min(distance) };
        }
        centres.extend(centre);
    }
    let count = centres.len() / length;
    let classes = profiles.len() / length;
    // Distances of every class to every centre; only those to centres that moved are taken again.
    let mut distances = vec![0.0; classes * count];
    let mut assigned = vec![usize::MAX; classes];
    let mut moved = vec![true; count];
    for _ in 0..MOST_ROUNDS {
        let again: Vec<usize> = (0..count).filter(|group| moved[*group]).collect();
        measure_again(profiles, &centres, length, &again, &mut distances);
        moved.fill(false);
        for (assigned, row) in assigned.iter_mut().zip(distances.chunks_exact(count)) {
            let nearest = smallest(row);
            if nearest != *assigned {
                moved[nearest] = true;
                // In the first round `assigned` is no group yet, and none loses a class.
                if let Some(left) = moved.get_mut(*assigned) {
                    *left = true;
                }
                *assigned = nearest;
            }
        }
        if !moved.contains(&true) {
            break;
        }
        for group in (0..count).filter(|group| moved[*group]) {
            let members = profiles.chunks_exact(length).zip(&assigned);
            let mut members =
                members.filter(|(_, assigned)| **assigned == group).map(|(profile, _)| profile);
            // A group that lost its last class keeps its centre and may win one back.
            if let Some(first) = members.next() {
                let centre = mean_of(std::iter::once(first).chain(members), length);
                centres[group * length..][..length].copy_from_slice(&centre);
            }
        }
    }
    numbered_by_first_class(&assigned)
}

/// Index of the smallest value; the first of equal ones, so that ties do not depend on the machine.
fn smallest(values: &[f64]) -> usize {
    let mut best = 0;
    for (index, value) in values.iter().enumerate() {
        if *value < values[best] {
            best = index;
        }
    }
    best
}

/// The mean of at least one vector of this length, added in the order given.
fn mean_of<'a>(vectors: impl Iterator<Item = &'a [f64]>, length: usize) -> Vec<f64> {
    let mut mean = vec![0.0; length];
    let mut count = 0.0;
    for vector in vectors {
        mean.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
        count += 1.0;
    }
    mean.iter_mut().for_each(|sum| *sum /= count);
    mean
}

/// Index and value of the largest value; the first of equal ones. `(0, -infinity)` of none.
fn largest(values: &[f64]) -> (usize, f64) {
    let better = |best: (usize, f64), (index, value): (usize, &f64)| {
        if *value > best.1 { (index, *value) } else { best }
    };
    values.iter().enumerate().fold((0, f64::NEG_INFINITY), better)
}

/// Renames groups in the order in which classes first mention them: `[4, 1, 4]` becomes
/// `[0, 1, 0]`.
///
/// Groups that lost all their classes drop out here, so that the numbers have no gaps.
fn numbered_by_first_class(assigned: &[usize]) -> Vec<usize> {
    let mut names: Vec<Option<usize>> = vec![None; assigned.len()];
    let mut next = 0;
    assigned
        .iter()
        .map(|group| {
            *names[*group].get_or_insert_with(|| {
                next += 1;
                next - 1
            })
        })
        .collect()
}

/// Lanes of the sums below, as many as `add_lanes` adds up. Fixed, so that the bits do not depend
/// on the width of the registers.
const LANES: usize = 8;

in_widest_registers! {
    /// `|a - b|^2` of two profiles.
    fn squared_distance[](a: &[f64], b: &[f64]) -> f64 {
        let [distance] = squared_distances(a, [b]);
        distance
    }
}

in_widest_registers! {
    /// Squared distances of all profiles to the centres `again`, into a table `(C, centres)` with a
    /// row per profile. Entries of the other centres stay as they are.
    fn measure_again[](
        profiles: &[f64],
        centres: &[f64],
        length: usize,
        again: &[usize],
        distances: &mut [f64],
    ) -> () {
        let centre = |group: usize| &centres[group * length..][..length];
        let rows = distances.chunks_exact_mut(centres.len() / length);
        let (fours, rest) = again.as_chunks::<4>();
        for (profile, row) in profiles.chunks_exact(length).zip(rows) {
            // Four at a time: a single sum waits for each addition before the next.
            for four in fours {
                let found = squared_distances(profile, four.map(centre));
                for (group, distance) in four.iter().zip(found) {
                    row[*group] = distance;
                }
            }
            for group in rest {
                [row[*group]] = squared_distances(profile, [centre(*group)]);
            }
        }
    }
}

/// `|a - b|^2` for several `b` side by side, each with the bits it would have alone.
#[inline(always)]
fn squared_distances<const N: usize>(a: &[f64], b: [&[f64]; N]) -> [f64; N] {
    let (a_chunks, a_rest) = a.as_chunks::<LANES>();
    let b = b.map(|b| b.as_chunks::<LANES>());
    let mut lanes = [[0.0; LANES]; N];
    for (chunk, a) in a_chunks.iter().enumerate() {
        for (lanes, (b_chunks, _)) in lanes.iter_mut().zip(&b) {
            let b = &b_chunks[chunk];
            for lane in 0..LANES {
                // Not `|a|^2 - 2 ab + |b|^2`: near a centre it cancels, and ties would fall by
                // rounding.
                lanes[lane] += (a[lane] - b[lane]) * (a[lane] - b[lane]);
            }
        }
    }
    for (lanes, (_, b_rest)) in lanes.iter_mut().zip(&b) {
        for (lane, (a, b)) in a_rest.iter().zip(*b_rest).enumerate() {
            lanes[lane] += (a - b) * (a - b);
        }
    }
    lanes.map(crate::numeric::add_lanes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Rows;
    use crate::score::{Labels, Score};
    use crate::seed::Seed;

    /// Classes in families: the logits of a family move together.
    fn families(points: usize, classes: usize, families: usize) -> LabeledLogits {
        let mut stream = Seed::new(5).stream("families");
        let mut logits = Vec::new();
        for _ in 0..points {
            let shared: Vec<f64> = (0..families).map(|_| 6.0 * stream.uniform()).collect();
            logits.extend((0..classes).map(|class| shared[class % families] + stream.uniform()));
        }
        let labels = Labels::new((0..points).map(|i| i % classes).collect(), classes).unwrap();
        let rows = Rows::new("logits", &logits, classes).unwrap();
        LabeledLogits::of_logits(rows, &labels, &Score::Lac).unwrap()
    }

    #[test]
    fn families_of_classes_are_found() {
        let groups = ClassGroups::new(&families(60, 40, 5), 50);
        assert_eq!(groups.len(), 5);
        let expected: Vec<usize> = (0..40).map(|class| class % 5).collect();
        assert_eq!(groups.group_of, expected);
        assert!((groups.prior.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn enough_points_leave_classes_alone() {
        let labeled = families(30, 7, 3);
        assert_eq!(ClassGroups::new(&labeled, 70).group_of, (0..7).collect::<Vec<_>>());
        assert_eq!(ClassGroups::new(&labeled, 69).len(), 6);
        assert_eq!(ClassGroups::new(&labeled, 1).len(), 2);
        // Two classes stay two, however few the points.
        assert!(ClassGroups::new(&families(30, 2, 2), 1).are_the_classes());
    }

    #[test]
    fn profiles_that_coincide_share_a_group() {
        let logits: Vec<f64> = (0..20).flat_map(|i| [f64::from(i); 30]).collect();
        let labels = Labels::new(vec![3; 20], 30).unwrap();
        let rows = Rows::new("logits", &logits, 30).unwrap();
        let labeled = LabeledLogits::of_logits(rows, &labels, &Score::Lac).unwrap();
        let groups = ClassGroups::new(&labeled, 100);
        assert_eq!(groups.len(), 1);
        assert_eq!(groups.prior, vec![1.0]);
    }
}
