//! Places of bins in memory, where the last bins have several.
//!
//! ```text
//! bins      0 .. F-1 | F            F+1          ..          places   0 .. F-1 | F x 8 copies | F+1 x 8 copies | ..
//! ```
//! Most labels of many are unlikely, and their scores lie in the last few bins. An addition to a bin waits for the one before to the
//! same bin, ten cycles or more; to another copy it does not. Copies are added up when the sums are handed on.

use crate::numeric::simd::in_widest_registers;

/// The last bins, which have several places.
const CROWDED: usize = 8;
/// How many.
const COPIES: usize = 8;

/// Where the bins of a table are summed.
#[derive(Debug, Clone, Copy)]
pub(super) struct CrowdedBins {
    bins: usize,
    /// The first bin with several places.
    first: u32,
}

impl CrowdedBins {
    /// Of so many bins, which 32 bits can number.
    pub(super) fn new(bins: usize) -> Self {
        Self { bins, first: bins.saturating_sub(CROWDED) as u32 }
    }

    /// Number of places.
    pub(super) fn places(&self) -> usize {
        let first = self.first as usize;
        first + COPIES * (self.bins - first)
    }

    /// The bin of a place.
    pub(super) fn bin_of(&self, place: usize) -> usize {
        let first = self.first as usize;
        place.checked_sub(first).map_or(place, |copy| first + copy / COPIES)
    }

    /// Replaces bins by their places. Those beside each other get other copies.
    pub(super) fn find_places(&self, bins: &mut [u32]) {
        find_places_from(self.first, bins);
    }
}

in_widest_registers! {
    fn find_places_from[](first: u32, bins: &mut [u32]) -> () {
        for (index, bin) in bins.iter_mut().enumerate() {
            let copy = first + (index % COPIES) as u32;
            let crowded = copy.wrapping_add(bin.wrapping_sub(first).wrapping_mul(COPIES as u32));
            *bin = if *bin >= first { crowded } else { *bin };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_one_of_its_bin() {
        for bins in [1, 2, 7, 8, 9, 30, 1000] {
            let crowded = CrowdedBins::new(bins);
            let mut taken = vec![0; crowded.places()];
            for shift in 0..COPIES {
                // A bin meets every copy once.
                let all = (0..bins * COPIES).map(|index| ((index / COPIES + shift) % bins) as u32);
                let all: Vec<u32> = all.collect();
                let mut places = all.clone();
                crowded.find_places(&mut places);
                for (place, bin) in places.iter().zip(&all) {
                    assert_eq!(crowded.bin_of(*place as usize), *bin as usize, "{bins} bins");
                    taken[*place as usize] += 1;
                }
            }
            assert!(taken.iter().all(|count| *count > 0), "{bins} bins: {taken:?}");
        }
    }
}
