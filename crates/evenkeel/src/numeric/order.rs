//! Numbers in increasing order. Every kind is sorted by one function: a sort is compiled anew for each way to compare, to several
//! kilobytes each time.
//!
//! By `total_cmp`, which needs no answer for a NaN and puts -0.0 before 0.0.

/// Sorts numbers.
pub(crate) fn sort_numbers(numbers: &mut [f64]) {
    // Numbers that compare as equal have the same bits, so that nobody can tell in which order they were.
    numbers.sort_unstable_by(f64::total_cmp);
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
