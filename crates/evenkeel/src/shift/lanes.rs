//! Eight relabelings at a time: the same draws and the same distances as one after the other, in vector registers.
//!
//! ```text
//! labeled = (u of) >> 64 < left          u: 64 random bits of the relabeling's own stream
//!         = (u_high of + ((u_low of) >> 32)) >> 32 < left          products of 32 bits, which registers have
//! ```

use super::shift_test::Distances;
use crate::numeric::simd::in_widest_registers;
use crate::seed::Stream;

/// Relabelings walked at a time.
pub(super) const LANES: usize = 8;
/// Points whose draws are made at a time: 4 kB of them.
const POINTS: usize = 64;

/// A number for each relabeling.
type Lanes<T> = [T; LANES];

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
    pub(super) fn distances(&self, mut streams: Lanes<Stream>) -> Lanes<Distances> {
        let (n, m) = self.sizes;
        let mut state = State {
            left: [u64::from(n); LANES],
            difference: [0; LANES],
            largest: [0; LANES],
            counts: vec![[0; LANES]; self.totals.len()],
        };
        let mut draws = [[0; LANES]; POINTS];
        let mut of = self.points.len() as u32;
        for points in self.points.chunks(POINTS) {
            for (lane, stream) in streams.iter_mut().enumerate() {
                draws[..points.len()].iter_mut().for_each(|drawn| drawn[lane] = stream.bits());
            }
            walk(points, &draws, (of, n, m), &mut state);
            of -= points.len() as u32;
        }
        let (up, down) = (i64::from(m), i64::from(n));
        std::array::from_fn(|lane| {
            let class = state.counts.iter().zip(self.totals).map(|(labeled, total)| {
                let (labeled, total) = (labeled[lane].cast_signed(), i64::from(*total));
                (labeled * up - (total - labeled) * down).unsigned_abs()
            });
            Distances { confidence: state.largest[lane], class: class.sum() }
        })
    }
}

/// Where the walks stand.
struct State {
    /// Calibration points not yet placed.
    left: Lanes<u64>,
    /// `n m (F_labeled - F_target)` so far.
    difference: Lanes<i64>,
    /// Its largest absolute value where confidences change.
    largest: Lanes<u64>,
    /// Calibration points of each class.
    counts: Vec<Lanes<u64>>,
}

in_widest_registers! {
    /// Goes on over some points; `of` points are left to place before them.
    fn walk[](
        points: &[(u32, bool)],
        draws: &[Lanes<u64>; POINTS],
        sizes: (u32, u32, u32),
        state: &mut State
    ) -> () {
        let (of, n, m) = sizes;
        let (step, down) = (i64::from(n) + i64::from(m), i64::from(n));
        let State { left, difference, largest, counts } = state;
        for (index, ((class, end), drawn)) in points.iter().zip(draws).enumerate() {
            // Truncated: known to the compiler to have 32 bits.
            let of = u64::from(of - index as u32);
            let mut labeled = [0_u64; LANES];
            for lane in 0..LANES {
                let (high, low) = (drawn[lane] >> 32, drawn[lane] & 0xffff_ffff);
                let place = (high * of + ((low * of) >> 32)) >> 32;
                labeled[lane] = u64::from(place < left[lane]);
            }
            let count = &mut counts[*class as usize];
            for lane in 0..LANES {
                left[lane] -= labeled[lane];
                count[lane] += labeled[lane];
                // Up by m or down by n, without a branch that could not be foreseen.
                difference[lane] += (step & -labeled[lane].cast_signed()) - down;
            }
            // Inside a run of equal confidences the walk depends on how ties were sorted.
            if *end {
                for lane in 0..LANES {
                    largest[lane] = largest[lane].max(difference[lane].unsigned_abs());
                }
            }
        }
    }
}
