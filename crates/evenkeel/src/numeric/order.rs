//! Numbers in increasing order. Every kind is sorted by one function: a sort is compiled anew for each way to compare, to several
//! kilobytes each time.
//!
//! By `total_cmp`, which needs no answer for a NaN and puts -0.0 before 0.0.

/// Fewer numbers are sorted before another thread has begun.
const WORTH_A_THREAD: usize = 1 << 14;

/// Sorts numbers, very many by two threads.
pub(crate) fn sort_numbers(numbers: &mut [f64]) {
    // Numbers that compare as equal have the same bits, so that nobody can tell in which order they were.
    let sort = |numbers: &mut [f64]| numbers.sort_unstable_by(f64::total_cmp);
    if numbers.len() < WORTH_A_THREAD || rayon::current_num_threads() == 1 {
        return sort(numbers);
    }
    let (some, others) = numbers.split_at_mut(numbers.len() / 2);
    rayon::join(|| sort(some), || sort(others));
    // This sort looks for runs first, and merges the two that it finds.
    numbers.sort_by(f64::total_cmp);
}

/// Sorts pairs by the first of each; those that tie keep their order, so that what is summed over them has the same bits.
pub(crate) fn sort_pairs(pairs: &mut [(f64, f64)]) {
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
}

/// Places of numbers in increasing order of the numbers; those that tie keep their order.
pub(crate) fn places_in_order(numbers: &[f64]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..numbers.len()).collect();
    places.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b]));
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn two_threads_sort_as_one() {
        let mut stream = Seed::new(3).stream("order");
        for count in [WORTH_A_THREAD - 1, WORTH_A_THREAD, 3 * WORTH_A_THREAD + 1] {
            let numbers: Vec<f64> = (0..count)
                .map(|_| [0.0, -0.0, 1.0, stream.uniform(), -stream.uniform()][stream.below(5)])
                .collect();
            let sorted = |threads| {
                let mut sorted = numbers.clone();
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| sort_numbers(&mut sorted));
                sorted.into_iter().map(f64::to_bits).collect::<Vec<u64>>()
            };
            let mut expected = numbers.clone();
            expected.sort_by(f64::total_cmp);
            let expected: Vec<u64> = expected.into_iter().map(f64::to_bits).collect();
            assert!(sorted(1) == expected && sorted(2) == expected && sorted(3) == expected);
        }
    }

    #[test]
    fn ties_keep_their_order() {
        let numbers = [0.5, -0.0, 0.5, f64::NAN, 0.0, 0.5, -1.0];
        let places = places_in_order(&numbers);
        assert_eq!(places, [6, 1, 4, 0, 2, 5, 3]);
        let mut pairs: Vec<(f64, f64)> = numbers.into_iter().zip((0_u8..).map(f64::from)).collect();
        sort_pairs(&mut pairs);
        assert!(pairs.iter().zip(&places).all(|(pair, place)| pair.1 as usize == *place));
        let mut sorted = numbers;
        sort_numbers(&mut sorted);
        let bits =
            |numbers: &mut dyn Iterator<Item = f64>| numbers.map(f64::to_bits).collect::<Vec<_>>();
        let taken = bits(&mut places.iter().map(|place| numbers[*place]));
        assert_eq!(bits(&mut sorted.into_iter()), taken);
    }
}
