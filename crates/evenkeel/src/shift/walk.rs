//! Both distances of a labeling that is given as a set of points, a byte of it at a time.
//!
//! ```text
//! height after point i      members so far * others - other points so far * members       n m (F_one - F_other), whole
//! over some points          its rise, and the highest and lowest it stands where a run of equal confidences ends
//! ```
//! The three numbers of eight points without ties follow from their eight bits: they are looked up. Where confidences are tied
//! four points are looked up at a time, by their bits and by where runs end.

use super::bit_counts::count_common;
use super::shift_test::Distances;

/// How the height moves over some points: its rise, and how far above and below its start it stands where runs end.
#[derive(Debug, Clone, Copy)]
struct Stretch<H> {
    rise: H,
    highest: H,
    lowest: H,
}

/// Points in increasing order of confidence, ready for any number of labelings.
pub(super) struct Walk {
    /// Points of the smaller side, points of the other.
    sizes: (u32, u32),
    /// A bit for each point: whether it is the last of its run of equal confidences.
    ends: Vec<u64>,
    /// Points of each class on both sides together; no relabeling changes them.
    totals: Vec<u32>,
    members: MembersByClass,
    heights: Heights,
}

/// How members of a class are counted.
enum MembersByClass {
    /// By the bits of the points of each class, class after class: few classes.
    Bits(Vec<u64>),
    /// By the class of every member: many classes.
    Classes(Vec<u32>),
}

/// Tables by the numbers that heights take.
enum Heights {
    Short(Tables<i32>),
    Long(Tables<i64>),
}

/// Stretches of eight points without ties by their bits, and of four points by their ends and bits.
struct Tables<H> {
    eight: Box<[Stretch<H>; 256]>,
    four: Box<[[Stretch<H>; 16]; 16]>,
}

/// Room for the counts of one labeling.
pub(super) struct Room {
    counts: Vec<u32>,
}

impl Walk {
    /// Points given as classes from 0 and whether each ends a run; `sizes` are those of the smaller and of the larger side.
    pub(super) fn new(points: &[(u32, bool)], totals: Vec<u32>, sizes: (u32, u32)) -> Self {
        let words = points.len().div_ceil(64);
        let mut ends = vec![0_u64; words];
        for (at, (_, end)) in points.iter().enumerate() {
            ends[at / 64] |= u64::from(*end) << (at % 64);
        }
        // Bits take a look at every word for every class, members a few steps each.
        let members = match totals.len() * words <= 3 * sizes.0 as usize {
            true => {
                let mut bits = vec![0_u64; totals.len() * words];
                for (at, (class, _)) in points.iter().enumerate() {
                    bits[*class as usize * words + at / 64] |= 1 << (at % 64);
                }
                MembersByClass::Bits(bits)
            }
            false => MembersByClass::Classes(points.iter().map(|(class, _)| *class).collect()),
        };
        // A walk goes no further than n m.
        let heights = match sizes.0.checked_mul(sizes.1) {
            Some(0..=MOST_PAIRS) => Heights::Short(Tables::new(sizes)),
            _ => Heights::Long(Tables::new(sizes)),
        };
        Self { sizes, ends, totals, members, heights }
    }

    /// Room for the labelings of one thread.
    pub(super) fn room(&self) -> Room {
        Room { counts: vec![0; self.totals.len()] }
    }

    /// The distances of a labeling: the set of the points on its smaller side.
    pub(super) fn distances(&self, set: &[u64], room: &mut Room) -> Distances {
        let confidence = match &self.heights {
            Heights::Short(tables) => u64::from(tables.largest(set, &self.ends).unsigned_abs()),
            Heights::Long(tables) => tables.largest(set, &self.ends).unsigned_abs(),
        };
        self.count(set, &mut room.counts);
        let (members, others) = (i64::from(self.sizes.0), i64::from(self.sizes.1));
        let class = room.counts.iter().zip(&self.totals).map(|(count, total)| {
            let (count, total) = (i64::from(*count), i64::from(*total));
            (count * others - (total - count) * members).unsigned_abs()
        });
        Distances { confidence, class: class.sum() }
    }

    /// Members of each class.
    fn count(&self, set: &[u64], counts: &mut [u32]) {
        match &self.members {
            MembersByClass::Bits(bits) => {
                count_common(set, bits, counts);
            }
            MembersByClass::Classes(classes) => {
                counts.fill(0);
                for (word, classes) in set.iter().zip(classes.chunks(64)) {
                    let mut left = *word;
                    while left != 0 {
                        counts[classes[left.trailing_zeros() as usize] as usize] += 1;
                        left &= left - 1;
                    }
                }
            }
        }
    }
}

/// Whole numbers that heights are counted in.
trait Height:
    Copy + Ord + Default + std::ops::Add<Output = Self> + std::ops::Neg<Output = Self>
{
    /// A step; it fits, as the whole walk does.
    fn of_step(step: u32) -> Self;
    /// Twice as far from zero as any height.
    const FAR: Self;
}

/// Most pairs whose heights are counted in 32 bits.
const MOST_PAIRS: u32 = 1 << 29;

impl Height for i32 {
    fn of_step(step: u32) -> Self {
        step.cast_signed()
    }
    const FAR: Self = 1 << 30;
}

/// There are at most 2^61 pairs.
impl Height for i64 {
    fn of_step(step: u32) -> Self {
        step.into()
    }
    const FAR: Self = 1 << 62;
}

impl<H: Height> Stretch<H> {
    /// Over `count` points, by their bits and by where runs end.
    fn of(count: usize, ends: usize, bits: usize, (members, others): (u32, u32)) -> Self {
        // Where no run ends, nothing is ever as high or as low.
        let mut stretch = Self { rise: H::default(), highest: -H::FAR, lowest: H::FAR };
        for point in 0..count {
            let step = match bits >> point & 1 {
                0 => -H::of_step(members),
                _ => H::of_step(others),
            };
            stretch.rise = stretch.rise + step;
            // Inside a run of equal confidences the height depends on how ties were sorted.
            if ends >> point & 1 == 1 {
                stretch.highest = stretch.highest.max(stretch.rise);
                stretch.lowest = stretch.lowest.min(stretch.rise);
            }
        }
        stretch
    }
}

impl<H: Height> Tables<H> {
    fn new(sizes: (u32, u32)) -> Self {
        let eight = Box::new(std::array::from_fn(|bits| Stretch::of(8, 0xff, bits, sizes)));
        let four = |ends| std::array::from_fn(|bits| Stretch::of(4, ends, bits, sizes));
        Self { eight, four: Box::new(std::array::from_fn(four)) }
    }

    /// How far from zero the height comes where runs end.
    fn largest(&self, set: &[u64], ends: &[u64]) -> H {
        let (mut height, mut highest, mut lowest) = (H::default(), H::default(), H::default());
        let mut walk = |stretch: &Stretch<H>| {
            highest = highest.max(height + stretch.highest);
            lowest = lowest.min(height + stretch.lowest);
            height = height + stretch.rise;
        };
        for (set, ends) in set.iter().zip(ends) {
            if *ends == u64::MAX {
                for byte in 0..8 {
                    walk(&self.eight[(set >> (8 * byte) & 0xff) as usize]);
                }
                continue;
            }
            for four in 0..16 {
                let of = |word: &u64| (word >> (4 * four) & 15) as usize;
                walk(&self.four[of(ends)][of(set)]);
            }
        }
        highest.max(-lowest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// Point by point, as the distances are defined.
    fn by_definition(points: &[(u32, bool)], sizes: (u32, u32), set: &[u64]) -> Distances {
        let (members, others) = (i64::from(sizes.0), i64::from(sizes.1));
        let (mut height, mut largest) = (0_i64, 0);
        let mut classes = std::collections::BTreeMap::<u32, i64>::new();
        for (at, (class, end)) in points.iter().enumerate() {
            let step = if set[at / 64] >> (at % 64) & 1 == 1 { others } else { -members };
            height += step;
            *classes.entry(*class).or_default() += step;
            if *end {
                largest = largest.max(height.unsigned_abs());
            }
        }
        Distances {
            confidence: largest,
            class: classes.values().map(|sum| sum.unsigned_abs()).sum(),
        }
    }

    /// With ties and without, few classes and many, heights of 32 bits and of 64.
    #[test]
    fn distances_are_those_by_definition() {
        let mut stream = Seed::new(5).stream("walk");
        for (smaller, larger) in [(1, 1), (3, 70), (64, 64), (299, 301), (24_000, 30_000)] {
            for (ties, classes) in [(1, 3), (2, 1), (9, 500), (1000, 12)] {
                let count = smaller + larger;
                let mut points: Vec<(u32, bool)> = (0..count)
                    .map(|_| (stream.below(classes) as u32, stream.below(ties) == 0))
                    .collect();
                points[count - 1].1 = true;
                let mut totals = vec![0; classes];
                points.iter().for_each(|(class, _)| totals[*class as usize] += 1);
                let sizes = (smaller as u32, larger as u32);
                let walk = Walk::new(&points, totals, sizes);
                let mut room = walk.room();
                let draw = super::super::drawn_set::SetDraw::new(count, smaller);
                let mut set = vec![0; draw.words()];
                // Far apart once: the smaller side is below all others.
                (0..smaller).for_each(|at| set[at / 64] |= 1 << (at % 64));
                for _ in 0..5 {
                    let expected = by_definition(&points, sizes, &set);
                    assert_eq!(walk.distances(&set, &mut room), expected);
                    draw.draw(|| stream.bits(), &mut set);
                }
            }
        }
    }
}
