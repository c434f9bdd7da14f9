//! The minimiser of the exact bound is one: no other weights do better, by trying, and by another way to solve it.

use crate::generators::ROUNDING;
use evenkeel::bound::level_gap_between;
use evenkeel::learning::minimise_exactly;
use evenkeel::level::Miscoverage;
use evenkeel::measure::{WeightedEmpirical, Weights};
use evenkeel::sandwich::{Sandwich, custom_from_scores};
use evenkeel::seed::Seed;
use evenkeel::threshold::{TestMass, Threshold, conformal_threshold};
use proptest::prelude::*;

/// The leaning to equal weights may cost this much of the bound, and no more.
const LEANING: f64 = 1e-6;

/// On a lattice or anywhere: ties among scores and with the laws are common.
fn score() -> impl Strategy<Value = f64> {
    prop_oneof![(0u8..=8).prop_map(|k| f64::from(k) / 8.0), 0.0..=1.0f64]
}

/// Increasing scores and two ordered laws.
fn world() -> impl Strategy<Value = (Vec<f64>, Sandwich)> {
    let scores = prop::collection::vec(score(), 1..16);
    let pairs = prop::collection::vec((score(), score()), 1..12);
    (scores, pairs).prop_map(|(mut scores, pairs)| {
        scores.sort_by(f64::total_cmp);
        let lower: Vec<f64> = pairs.iter().map(|(a, b)| a.min(*b)).collect();
        let upper: Vec<f64> = pairs.iter().map(|(a, b)| a.max(*b)).collect();
        (scores, custom_from_scores(&lower, &upper).unwrap())
    })
}

fn bound(scores: &[f64], weights: &Weights, sandwich: &Sandwich) -> f64 {
    level_gap_between(&WeightedEmpirical::new(scores, weights).unwrap(), sandwich)
}

/// The smallest bound with cumulative weights on a lattice of `cells`, by dynamic programming over the atoms: an
/// independent way to solve the same convex problem, up to the lattice.
fn by_dynamic_programming(scores: &[f64], sandwich: &Sandwich, cells: usize) -> f64 {
    let mut atoms = scores.to_vec();
    atoms.dedup();
    let gap = |atom: f64, u: f64| {
        let (up, low) = (sandwich.upper().cdf(atom), sandwich.lower().cdf(atom));
        0.5 * ((u - up).abs() + (u - low).abs() + low - up)
    };
    // best[k]: least cost of the atoms so far if the last of them reaches the level k / cells.
    let mut best = vec![f64::INFINITY; cells + 1];
    best[0] = 0.0;
    for atom in &atoms {
        // Midpoints are exact for pieces without a kink inside; a kink costs at most a cell squared.
        let piece: Vec<f64> = (0..cells)
            .map(|k| gap(*atom, (k as f64 + 0.5) / cells as f64) / cells as f64)
            .collect();
        let mut next = best.clone();
        for level in 1..=cells {
            next[level] = best[level].min(next[level - 1] + piece[level - 1]);
        }
        best = next;
    }
    best[cells]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_other_weights_have_a_smaller_bound((scores, sandwich) in world(), seed in 0u64..1000) {
        let least = bound(&scores, &minimise_exactly(&scores, &sandwich).unwrap(), &sandwich);
        let best = minimise_exactly(&scores, &sandwich).unwrap();
        let mut stream = Seed::new(seed).stream("perturbations");
        // Together with the other cases of this test, 10 000 perturbations.
        for round in 0..50 {
            let size = 10f64.powi(-(round % 5));
            let moved: Vec<f64> = best
                .as_slice()
                .iter()
                .map(|weight| (1.0 - size) * weight + size * -stream.uniform().max(1e-300).ln())
                .collect();
            let other = bound(&scores, &Weights::normalised(moved).unwrap(), &sandwich);
            prop_assert!(least <= other + LEANING, "{least} and {other}");
        }
        let uniform = bound(&scores, &Weights::uniform(scores.len()).unwrap(), &sandwich);
        prop_assert!(least <= uniform + ROUNDING);
    }

    #[test]
    fn another_solver_finds_the_same_bound((scores, sandwich) in world()) {
        const CELLS: usize = 2000;
        let least = bound(&scores, &minimise_exactly(&scores, &sandwich).unwrap(), &sandwich);
        let other = by_dynamic_programming(&scores, &sandwich, CELLS);
        // The lattice moves each cumulative weight by up to a cell, where the bound has slope at most 2.
        let slack = 3.0 * scores.len() as f64 / CELLS as f64;
        prop_assert!((least - other).abs() <= slack, "{least} and {other}");
    }

    /// A bound on coverage cannot depend on the scale that scores are written on.
    #[test]
    fn a_monotone_change_of_the_score_changes_nothing((scores, sandwich) in world(), alpha in 0.02..0.5f64) {
        let logit = |s: &f64| ((s + 0.001) / (1.001 - s)).ln();
        let mapped: Vec<f64> = scores.iter().map(logit).collect();
        let atoms = |law: &WeightedEmpirical| -> Vec<f64> {
            // Masses are multiples of one over the number of points, so repeating atoms gives the law back.
            let points = law.points() as f64;
            law.atoms()
                .iter()
                .zip(law.masses())
                .flat_map(|(atom, mass)| vec![*atom; (mass * points).round() as usize])
                .collect()
        };
        let there: Vec<f64> = atoms(sandwich.lower()).iter().map(logit).collect();
        let beyond: Vec<f64> = atoms(sandwich.upper()).iter().map(logit).collect();
        let elsewhere = custom_from_scores(&there, &beyond).unwrap();
        let here = minimise_exactly(&scores, &sandwich).unwrap();
        let mapped_weights = minimise_exactly(&mapped, &elsewhere).unwrap();
        prop_assert_eq!(&here, &mapped_weights);
        let threshold = |scores: &[f64]| {
            let law = WeightedEmpirical::new(scores, &here).unwrap();
            conformal_threshold(&law, TestMass::exchangeable(scores.len()), Miscoverage::new(alpha).unwrap())
        };
        match (threshold(&scores), threshold(&mapped)) {
            (Threshold::Finite(s), Threshold::Finite(t)) => prop_assert_eq!(logit(&s), t),
            (a, b) => prop_assert!(a == b),
        }
    }

    #[test]
    fn equal_scores_have_equal_weights((scores, sandwich) in world()) {
        let weights = minimise_exactly(&scores, &sandwich).unwrap();
        for (pair, both) in scores.windows(2).zip(weights.as_slice().windows(2)) {
            prop_assert!(pair[0] != pair[1] || both[0] == both[1]);
        }
    }
}

/// Where both laws are one, the best weights have a closed form: levels half-way between neighbours.
#[test]
fn a_closed_sandwich_gives_the_projection() {
    let scores: Vec<f64> = (0..50).map(|k| f64::from(k) / 50.0).collect();
    // Every score is an atom of the law too: where the law is flat between two scores many weights are as good.
    let law: Vec<f64> = scores.iter().copied().chain([0.0; 10]).collect();
    let sandwich = custom_from_scores(&law, &law).unwrap();
    let weights = minimise_exactly(&scores, &sandwich).unwrap();
    let at = sandwich.lower().cdf_at_increasing(&scores);
    let mut reached = 0.0;
    for (weight, pair) in weights.as_slice().iter().zip(at.windows(2)) {
        reached += weight;
        let half_way = 0.5 * (pair[0] + pair[1]);
        assert!((reached - half_way).abs() < 2.0 * LEANING, "{reached} and {half_way}");
    }
}
