//! Score functions against their definitions.

use crate::generators::{ROUNDING, Table, score, table};
use evenkeel::rows::Rows;
use evenkeel::score::{
    Aps, Labels, Probabilities, Randomisation, Raps, Score, ambiguous_scores, softmax_rows,
};
use evenkeel::seed::Seed;
use proptest::prelude::*;

/// Labels that come before `y`: likelier, or as likely with a smaller index.
fn ahead(row: &[f64], y: usize) -> impl Iterator<Item = usize> {
    (0..row.len()).filter(move |k| row[*k] > row[y] || (row[*k] == row[y] && *k < y))
}

fn naive_aps(row: &[f64], y: usize, share: f64) -> f64 {
    ahead(row, y).map(|k| row[k]).sum::<f64>() + share * row[y]
}

fn naive_margin(row: &[f64], y: usize) -> f64 {
    let rivals = (0..row.len()).filter(|k| *k != y).map(|k| row[k]);
    rivals.reduce(f64::max).unwrap_or(0.0) - row[y]
}

/// Checks every candidate score of a table against a definition of the score of one label.
fn check(
    table: &Table,
    score: &Score,
    naive: impl Fn(usize, &[f64], usize) -> f64,
) -> Result<(), TestCaseError> {
    let candidates = table.candidates(score);
    let range = score.range(table.classes);
    for (j, row) in table.values.chunks(table.classes).enumerate() {
        for y in 0..table.classes {
            let (found, expected) = (candidates.row(j)[y], naive(j, row, y));
            prop_assert!((found - expected).abs() <= ROUNDING, "{score:?}: {found} {expected}");
            prop_assert!(range.contains(found), "{score:?}: {found} outside {range:?}");
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn lac_and_margin_match_their_definitions(table in table()) {
        check(&table, &Score::Lac, |_, row, y| 1.0 - row[y])?;
        check(&table, &Score::Margin, |_, row, y| naive_margin(row, y))?;
    }

    #[test]
    fn aps_and_raps_match_their_definitions(
        table in table(),
        lambda in 0.0..0.5f64,
        k_reg in 0usize..8,
    ) {
        check(&table, &Score::Aps(Aps::default()), |_, row, y| naive_aps(row, y, 1.0))?;
        let raps = Score::Raps(Raps::new(lambda, k_reg, Randomisation::Deterministic).unwrap());
        check(&table, &raps, |_, row, y| {
            let rank = ahead(row, y).count() + 1;
            naive_aps(row, y, 1.0) + lambda * rank.saturating_sub(k_reg) as f64
        })?;
    }

    /// One draw a row: the score of the likeliest label reveals it, all others must follow from it.
    #[test]
    fn randomised_scores_use_one_share_a_row(table in table(), seed in any::<u64>()) {
        let randomisation = Randomisation::Uniform(Seed::new(seed));
        let aps = table.candidates(&Score::Aps(Aps { randomisation }));
        let shares: Vec<f64> = table.values.chunks(table.classes).enumerate().map(|(j, row)| {
            let first = (0..row.len()).find(|y| ahead(row, *y).next().is_none()).unwrap();
            aps.row(j)[first] / row[first]
        }).collect();
        prop_assert!(shares.iter().all(|share| (0.0..1.0 + ROUNDING).contains(share)));
        let naive = |j: usize, row: &[f64], y: usize| naive_aps(row, y, shares[j]);
        check(&table, &Score::Aps(Aps { randomisation }), naive)?;
        let raps = Score::Raps(Raps::new(0.1, 2, randomisation).unwrap());
        check(&table, &raps, |j, row, y| {
            naive(j, row, y) + 0.1 * (ahead(row, y).count() + 1).saturating_sub(2) as f64
        })?;
    }

    #[test]
    fn label_scores_are_the_candidate_scores_at_the_labels(table in table(), score in score()) {
        let labeled = score.label_scores(&table.probabilities(), &table.labels()).unwrap();
        prop_assert_eq!(&labeled, &table.candidates(&score).at_labels(&table.labels).unwrap());
    }

    #[test]
    fn single_precision_rows_score_as_their_widened_values(table in table(), score in score()) {
        let narrow: Vec<f32> = table.values.iter().map(|value| *value as f32).collect();
        let wide: Vec<f64> = narrow.iter().map(|value| f64::from(*value)).collect();
        let narrow = Probabilities::new(&narrow, table.classes).unwrap();
        let wide = Probabilities::new(&wide, table.classes).unwrap();
        prop_assert_eq!(
            score.candidate_scores(&narrow).unwrap(),
            score.candidate_scores(&wide).unwrap()
        );
        prop_assert_eq!(
            score.label_scores(&narrow, &table.labels()).unwrap(),
            score.label_scores(&wide, &table.labels()).unwrap()
        );
    }

    /// Rows may miss a sum of one by a rounding or by 1e-3. Whatever is accepted must score inside the range, or the
    /// density on that range would refuse the scores of rows the library took.
    #[test]
    fn accepted_rows_score_inside_the_range(
        table in table(),
        score in score(),
        off in prop_oneof![
            Just(f64::EPSILON), -1e-12..1e-12f64, -1e-9..1e-9f64, -9e-4..9e-4f64
        ],
        certain in any::<bool>(),
    ) {
        let mut table = table;
        if certain {
            for (row, label) in table.values.chunks_mut(table.classes).zip(&table.labels) {
                row.fill(0.0);
                row[*label] = 1.0;
            }
        }
        table.values.iter_mut().for_each(|value| *value *= 1.0 + off);
        let (candidates, range) = (table.candidates(&score), score.range(table.classes));
        for j in 0..table.rows() {
            for found in candidates.row(j) {
                prop_assert!(range.contains(*found), "{score:?}: {found} outside {range:?}");
            }
        }
    }

    #[test]
    fn a_certain_plausibility_vector_is_a_label(table in table(), score in score()) {
        let candidates = table.candidates(&score);
        let mut lambda = vec![0.0; table.values.len()];
        for (row, label) in table.labels.iter().enumerate() {
            lambda[row * table.classes + label] = 1.0;
        }
        let lambda = Probabilities::new(&lambda, table.classes).unwrap();
        let found = ambiguous_scores(&candidates, &lambda).unwrap();
        prop_assert_eq!(found, candidates.at_labels(&table.labels).unwrap());
    }

    #[test]
    fn ambiguous_scores_are_averages_over_labels(table in table(), score in score()) {
        let candidates = table.candidates(&score);
        let found = ambiguous_scores(&candidates, &table.probabilities()).unwrap();
        for (j, (found, lambda)) in found.iter().zip(table.values.chunks(table.classes)).enumerate()
        {
            let scores = candidates.row(j);
            let expected: f64 = (0..table.classes).map(|k| lambda[k] * scores[k]).sum();
            prop_assert!((found - expected).abs() <= ROUNDING);
        }
    }

    /// `T = 1` leaves the plausibility alone; a large `T` forgets everything but which labels are possible at all.
    #[test]
    fn tempering_runs_from_the_model_to_the_uniform_law(table in table(), hot in 1e12..1e15f64) {
        let candidates = table.candidates(&Score::Lac);
        let same = candidates.clone().tempered(1.0).unwrap();
        let flat = candidates.clone().tempered(hot).unwrap();
        for j in 0..table.rows() {
            let before = candidates.plausibility_row(j).unwrap();
            let possible = before.iter().filter(|mass| **mass > 0.0).count() as f64;
            for (y, mass) in before.iter().enumerate() {
                prop_assert!((same.plausibility_row(j).unwrap()[y] - mass).abs() <= ROUNDING);
                let expected = if *mass > 0.0 { 1.0 / possible } else { 0.0 };
                prop_assert!((flat.plausibility_row(j).unwrap()[y] - expected).abs() <= 1e-10);
            }
        }
    }

    #[test]
    fn tempering_probabilities_is_a_softmax_of_their_logarithms(
        table in table(),
        temperature in 0.2..5.0f64,
    ) {
        // exp(-800) is zero: a stand-in for log 0 that logits may hold.
        let logits: Vec<f64> = table.values.iter().map(|p| p.ln().max(-800.0 * temperature)).collect();
        let rows = Rows::new("logits", &logits, table.classes).unwrap();
        let softmax = softmax_rows(rows, temperature).unwrap();
        let tempered = table.candidates(&Score::Lac).tempered(temperature).unwrap();
        for (j, expected) in softmax.chunks(table.classes).enumerate() {
            for (found, expected) in tempered.plausibility_row(j).unwrap().iter().zip(expected) {
                prop_assert!((found - expected).abs() <= ROUNDING);
            }
        }
    }
}

/// The shares are uniform and differ between rows: their mean and variance over 20 000 rows are within five standard
/// errors of 1/2 and 1/12 (standard errors 0.0020 and 0.0005).
#[test]
fn the_shares_of_randomised_scores_are_uniform() {
    let rows = 20_000;
    let certain = vec![1.0_f64; rows];
    let table = Probabilities::new(&certain, 1).unwrap();
    let labels = Labels::new(vec![0; rows], 1).unwrap();
    let score = Score::Aps(Aps { randomisation: Randomisation::Uniform(Seed::new(2)) });
    let shares = score.label_scores(&table, &labels).unwrap();
    let mean = shares.iter().sum::<f64>() / rows as f64;
    let variance = shares.iter().map(|u| (u - mean).powi(2)).sum::<f64>() / rows as f64;
    assert!((mean - 0.5).abs() < 0.0102, "{mean}");
    assert!((variance - 1.0 / 12.0).abs() < 0.0027, "{variance}");
}
