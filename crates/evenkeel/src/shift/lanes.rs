//! Eight relabelings at a time: the same draws and the same distances as one after the other, in vector registers.
//!
//! ```text
//! labeled = (u of) >> 64 < left          u: 64 random bits of the relabeling's own stream
//!         = (u_high of + ((u_low of) >> 32)) >> 32 < left          products of 32 bits, which registers have
//! ```

use super::shift_test::Distances;
use super::streams_abreast::{BLOCK_NUMBERS, Block, LANES, Lanes, StreamsAbreast};
use crate::numeric::simd::in_widest_registers;

/// Blocks of random words that are made at a time: 4 kB of them.
const BLOCKS: usize = 8;
/// Points whose draws they are.
const POINTS: usize = BLOCKS * BLOCK_NUMBERS;

/// What relabelings are walked over: points in increasing order of confidence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Walk<'a> {
    /// Calibration points, target points.
    pub sizes: (u32, u32),
    /// Class of each point, and whether it is the last of its run of equal confidences.
    pub points: &'a [(u32, bool)],
    /// Points of each class on both sides together.
    pub totals: &'a [u32],
}

impl Walk<'_> {
    /// Whether the number of points fits a factor of 32 bits.
    pub(super) fn fits(&self) -> bool {
        u32::try_from(self.points.len()).is_ok()
    }

    /// The distances of eight relabelings, each drawn from its own stream.
    pub(super) fn distances(&self, streams: StreamsAbreast) -> [Distances; LANES] {
        let (n, m) = self.sizes;
        // A walk goes no further than n m. Numbers of 32 bits take half the registers.
        match n.checked_mul(m).and_then(|pairs| i32::try_from(pairs).ok()) {
            Some(_) => self.distances_in::<i32>(streams),
            None => self.distances_in::<i64>(streams),
        }
    }

    fn distances_in<H: Height>(&self, mut streams: StreamsAbreast) -> [Distances; LANES] {
        let (n, m) = self.sizes;
        let mut state = State {
            left: [n; LANES],
            difference: [H::default(); LANES],
            largest: [H::default(); LANES],
            counts: vec![[0; LANES]; self.totals.len()],
        };
        let mut draws = [[[0; LANES]; 2 * BLOCK_NUMBERS]; BLOCKS];
        let mut of = self.points.len() as u32;
        for points in self.points.chunks(POINTS) {
            streams.read(&mut draws[..points.len().div_ceil(BLOCK_NUMBERS)]);
            walk(points, &draws, (of, n, m), &mut state);
            of -= points.len() as u32;
        }
        let (up, down) = (i64::from(m), i64::from(n));
        std::array::from_fn(|lane| {
            let class = state.counts.iter().zip(self.totals).map(|(labeled, total)| {
                let (labeled, total) = (i64::from(labeled[lane]), i64::from(*total));
                (labeled * up - (total - labeled) * down).unsigned_abs()
            });
            Distances { confidence: state.largest[lane].size(), class: class.sum() }
        })
    }
}

/// Whole numbers that a walk is counted in.
trait Height: Copy + Default + Send {
    /// A step of the walk; it fits, as the whole walk does.
    fn of_step(step: u32) -> Self;
    /// Up by one step and down by another: `self + (step where labeled) - down`. `labeled` is 0 or 1.
    fn moved(self, step: Self, labeled: u32, down: Self) -> Self;
    /// The larger one of a height and the distance of another from zero.
    fn or_distance(self, other: Self) -> Self;
    /// A height that is not below zero, as it is counted elsewhere.
    fn size(self) -> u64;
}

macro_rules! height {
    ($whole:ty, $of_step:expr) => {
        impl Height for $whole {
            #[inline(always)]
            fn of_step(step: u32) -> Self {
                $of_step(step)
            }
            #[inline(always)]
            fn moved(self, step: Self, labeled: u32, down: Self) -> Self {
                // By a mask, without a branch that could not be foreseen. In between a sum may leave the range, and comes back.
                self.wrapping_add(step & Self::of_step(labeled).wrapping_neg()).wrapping_sub(down)
            }
            #[inline(always)]
            fn or_distance(self, other: Self) -> Self {
                self.max(other.abs())
            }
            fn size(self) -> u64 {
                self.unsigned_abs().into()
            }
        }
    };
}
height!(i32, u32::cast_signed);
height!(i64, i64::from);

/// Where the walks stand.
struct State<H> {
    /// Calibration points not yet placed.
    left: Lanes,
    /// `n m (F_labeled - F_target)` so far.
    difference: [H; LANES],
    /// Its largest absolute value where confidences change.
    largest: [H; LANES],
    /// Calibration points of each class.
    counts: Vec<Lanes>,
}

in_widest_registers! {
    /// Goes on over some points; `of` points are left to place before them.
    fn walk[H: Height](
        points: &[(u32, bool)],
        draws: &[Block; BLOCKS],
        sizes: (u32, u32, u32),
        state: &mut State<H>
    ) -> () {
        let (of, n, m) = sizes;
        let (step, down) = (H::of_step(n.wrapping_add(m)), H::of_step(n));
        let State { left, difference, largest, counts } = state;
        let draws = draws.as_flattened().as_chunks::<2>().0;
        for (index, ((class, end), [low, high])) in points.iter().zip(draws).enumerate() {
            // Truncated: known to the compiler to have 32 bits.
            let of = u64::from(of - index as u32);
            let mut labeled = [0_u32; LANES];
            for lane in 0..LANES {
                let (high, low) = (u64::from(high[lane]) * of, u64::from(low[lane]) * of);
                let place = ((high + (low >> 32)) >> 32) as u32;
                labeled[lane] = u32::from(place < left[lane]);
            }
            let count = &mut counts[*class as usize];
            for lane in 0..LANES {
                left[lane] -= labeled[lane];
                count[lane] += labeled[lane];
                difference[lane] = difference[lane].moved(step, labeled[lane], down);
            }
            // Inside a run of equal confidences the walk depends on how ties were sorted.
            if *end {
                for lane in 0..LANES {
                    largest[lane] = largest[lane].or_distance(difference[lane]);
                }
            }
        }
    }
}
