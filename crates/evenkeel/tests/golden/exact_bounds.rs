//! The exact bound on the distance from the level, at the weights the file gives.

use crate::case::{assert_close, number, numbers};
use crate::exact_transport::for_every_pair;
use evenkeel::bound::level_gap_between;
use evenkeel::measure::{WeightedEmpirical, Weights};

/// What the file's values agree to.
const VALUES: f64 = 1e-9;

#[test]
fn the_distance_from_the_level_is_that_of_the_file() {
    for_every_pair(|what, _, scores, sandwich, expected| {
        let agrees = |weights: &Weights, value: &str| {
            let law = WeightedEmpirical::new(scores, weights).unwrap();
            let found = level_gap_between(&law, sandwich);
            assert_close(&format!("{what} {value}"), &[found], &[number(&expected[value])], VALUES);
        };
        agrees(&Weights::uniform(scores.len()).unwrap(), "uniform_value");
        for (weights, value) in
            [("weights", "value"), ("adam_100_steps_lr_0_01_weights", "adam_value")]
        {
            agrees(&Weights::normalised(numbers(&expected[weights])).unwrap(), value);
        }
    });
}
